/* Hostile tokenizer files, and the same bytes as text. Inputs that begin with a byte 1 stand for tokenizer_config.json,
 * a newline, and vocab.txt; all others for tokenizer.json. */
#include "tests/fuzz/fuzz.h"

#include <wick/wick.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/wick-fuzz-XXXXXX";
static char paths[3][64];

static void clean_up(void) {
    for (int i = 0; i < 3; i++) unlink(paths[i]);
    rmdir(folder);
}

static void prepare(void) {
    static const char *const names[] = {"tokenizer.json", "tokenizer_config.json", "vocab.txt"};
    if (*paths[0]) return;
    fuzz_limit_memory();
    if (!mkdtemp(folder)) abort();
    for (int i = 0; i < 3; i++) snprintf(paths[i], sizeof paths[i], "%s/%s", folder, names[i]);
    atexit(clean_up);
}

static void write_file(const char *path, const uint8_t *data, size_t nbytes) {
    FILE *file = fopen(path, "wb");
    if (!file || (nbytes && fwrite(data, 1, nbytes, file) != nbytes) || fclose(file) != 0) abort();
}

static void encode(const struct wick_tokenizer *tokenizer, const char *text, size_t nbytes) {
    int32_t ids[64];
    int64_t all = 0, n = 0;
    if (wick_tokenizer_encode(tokenizer, text, nbytes, 0, NULL, &all) != WICK_OK) return;
    if (wick_tokenizer_encode(tokenizer, text, nbytes, 64, ids, &n) != WICK_OK) return;
    if (n != all) abort();
    for (int64_t i = 0; i < n && i < 64; i++)
        if (ids[i] < 0 || ids[i] >= wick_tokenizer_vocab_size(tokenizer)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes) {
    static const char text[] = "[X] y Hello hellos [SEP] \xC3\x89\xCC\x81\xE4\xBD\xA0 \xFF a,b\xE0\xA5\x8D";
    prepare();
    for (int i = 0; i < 3; i++) unlink(paths[i]);
    if (nbytes && data[0] == 1) {
        const uint8_t *newline = memchr(data, '\n', nbytes);
        size_t config = newline ? (size_t)(newline - data) : nbytes;
        write_file(paths[1], data + 1, config - 1);
        write_file(paths[2], newline ? newline + 1 : data, newline ? nbytes - config - 1 : 0);
    } else {
        write_file(paths[0], data, nbytes);
    }
    struct wick_tokenizer *tokenizer = wick_tokenizer_open(folder);
    if (tokenizer) {
        encode(tokenizer, text, sizeof text - 1);
        encode(tokenizer, (const char *)data, nbytes);
    } else if (wick_error_status() == WICK_OK) {
        abort();
    }
    wick_tokenizer_close(tokenizer);
    wick_error_clear();
    if (wick_host_memory_used() != 0) abort();
    return 0;
}
