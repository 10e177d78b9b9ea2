/* Hostile vocabularies of GGUF files, and the same bytes as text and as ids. */
#include "tests/fuzz/fuzz.h"

#include <wick/wick.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/wick-fuzz-XXXXXX";

static void clean_up(void) { unlink(path); }

static void write_file(const uint8_t *data, size_t nbytes) {
    if (!strcmp(path + sizeof path - 7, "XXXXXX")) {
        fuzz_limit_memory();
        int made = mkstemp(path);
        if (made < 0) abort();
        close(made);
        atexit(clean_up);
    }
    FILE *file = fopen(path, "wb");
    if (!file || (nbytes && fwrite(data, 1, nbytes, file) != nbytes) || fclose(file) != 0) abort();
}

static void encode(const struct wick_tokenizer *tokenizer, const char *text, size_t nbytes) {
    int32_t room[64];
    struct wick_ids all = {0}, ids = {.ids = room, .max = 64};
    struct wick_text back;
    if (wick_tokenizer_encode_with(tokenizer, text, nbytes, WICK_ENCODE_PLAIN, &all) != WICK_OK) return;
    if (wick_tokenizer_encode_with(tokenizer, text, nbytes, WICK_ENCODE_PLAIN, &ids) != WICK_OK) return;
    if (ids.n != all.n) abort();
    int64_t n = ids.n < 64 ? ids.n : 64;
    for (int64_t i = 0; i < n; i++)
        if (room[i] < 0 || room[i] >= wick_tokenizer_vocab_size(tokenizer)) abort();
    if (wick_tokenizer_decode(tokenizer, n, room, &back) == WICK_OK) wick_text_free(&back);
}

/* Each four bytes an id. */
static void decode(const struct wick_tokenizer *tokenizer, const uint8_t *data, size_t nbytes) {
    static const char *const stops[] = {"l", "lo w", "\xC3\x89"};
    struct wick_decoder *decoder = wick_decoder_open_with(tokenizer, 3, stops);
    const char *text;
    size_t n;
    for (size_t at = 0; decoder && at + 4 <= nbytes && at < 4096; at += 4) {
        int32_t id;
        memcpy(&id, data + at, 4);
        if (wick_decoder_push(decoder, at % 8 ? id : id & 15, &text, &n) == WICK_OK && n && memchr(text, 'l', n))
            abort();
    }
    if (decoder && wick_decoder_end(decoder, &text, &n) == WICK_OK && n && memchr(text, 'l', n)) abort();
    wick_decoder_close(decoder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes) {
    static const char text[] = "<s> Hello  hello\n\xC3\x89\xCC\x81\xE4\xBD\xA0 \xFF a,b 12\xE0\xA5\x8D";
    write_file(data, nbytes);
    struct wick_tokenizer *tokenizer = wick_tokenizer_open(path);
    if (tokenizer) {
        encode(tokenizer, text, sizeof text - 1);
        encode(tokenizer, (const char *)data, nbytes);
        decode(tokenizer, data, nbytes);
    } else if (wick_error_status() == WICK_OK) {
        abort();
    }
    wick_tokenizer_close(tokenizer);
    wick_error_clear();
    if (wick_host_memory_used() != 0) abort();
    return 0;
}
