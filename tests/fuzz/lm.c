/* Hostile keys of language models: each line of the input is a key, a type and a value that replace a key of a small
 * model, or "-", a tensor and the name that it gets. What opens must also run. */
#include "tests/fuzz/fuzz.h"

#include <wick/wick.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINES = 16, TENSORS = 64 };

static char path[] = "/tmp/wick-fuzz-XXXXXX";
static struct wick_device *cpu;
static struct wick_archive *base;
static struct wick_tensor *tensors[TENSORS];
static int64_t n_tensors;

static void remove_file(void) { unlink(path); }

static void prepare(void) {
    cpu = wick_device_open("cpu");
    base = wick_archive_open(WICK_MODELS "/llama.gguf", NULL);
    int file = mkstemp(path);
    if (!cpu || !base || file < 0) abort();
    close(file);
    atexit(remove_file);
    n_tensors = wick_archive_count(base);
    if (n_tensors > TENSORS || wick_memory_set_limit(cpu, (size_t)256 << 20) != WICK_OK) abort();
    for (int64_t i = 0; i < n_tensors; i++)
        if (!(tensors[i] = wick_archive_load_at(base, i, cpu))) abort();
}

/* Cuts a line into three words; false when it has fewer. */
static bool cut(char *line, const char *words[3]) {
    char *rest = line;
    for (int i = 0; i < 3; i++) {
        words[i] = rest;
        if (!rest) return false;
        char *end = i < 2 ? strchr(rest, ' ') : NULL;
        if (end) *end++ = 0;
        rest = end;
    }
    return true;
}

static void run(void) {
    static const int32_t ids[3] = {3, 4, 5};
    const struct wick_sequence_options options = {.context = 16};
    struct wick_lm_info info;
    if (wick_lm_inspect(path, NULL, &info) != WICK_OK) wick_error_clear();
    struct wick_lm *lm = wick_lm_open(path, cpu, NULL);
    struct wick_sequence *sequence = lm ? wick_sequence_open(lm, &options) : NULL;
    struct wick_tensor *logits = sequence ? wick_sequence_append(sequence, 3, ids) : NULL;
    if (!logits && !*wick_error()) abort(); /* each failure has a text */
    wick_release(logits);
    wick_sequence_close(sequence);
    wick_lm_close(lm);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes) {
    if (!cpu) prepare();
    if (nbytes > 4096) return 0;
    char *text = malloc(nbytes + 1);
    const char *names[TENSORS], *metadata[3 * LINES + 1];
    int n = 0;
    if (!text) return 0;
    memcpy(text, data, nbytes);
    text[nbytes] = 0;
    for (int64_t i = 0; i < n_tensors; i++) names[i] = wick_archive_name(base, i);
    for (char *line = text, *next; line && n < LINES; line = next) {
        const char *words[3];
        if ((next = strchr(line, '\n'))) *next++ = 0;
        if (!cut(line, words)) continue;
        int64_t i = strcmp(words[0], "-") == 0 ? wick_archive_find(base, words[1]) : -1;
        if (i >= 0)
            names[i] = words[2];
        else
            memcpy(&metadata[3 * n++], words, sizeof words);
    }
    metadata[3 * n] = NULL;
    wick_error_clear();
    if (wick_gguf_save(path, n_tensors, names, (const struct wick_tensor *const *)tensors, base, metadata) == WICK_OK)
        run();
    wick_error_clear();
    free(text);
    return 0;
}
