/* Hostile indexes of wick search. The first byte picks what the others are: a file that stands in an index's place, or
 * the rows of one, which is written with a good checksum, so that what lies behind it is reached. */
#include "tests/fuzz/fuzz.h"

#include "cli/command.h"
#include "cli/search_index.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT = 64, DIM = 2, MOST = 64 };

static char folder[] = "/tmp/wick-fuzz-XXXXXX";

static void remove_folder(void) {
    char command[64];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0) abort();
}

/* What search_index.c and options.c ask of the rest of the program: indexes lie in the target's own folder, and no
 * command line is parsed. */
bool text_cache_path(const char *name, char *path, size_t size) {
    return snprintf(path, size, "%s/%s", folder, name) < (int)size;
}
void command_synopsis(const char *command, bool options) {
    (void)command, (void)options;
    abort();
}
int command_usage(const char *command, const char *format, ...) {
    (void)command, (void)format;
    abort();
}

static void write_file(const char *path, const void *data, size_t nbytes) {
    FILE *file = fopen(path, "wb");
    if (!file || (nbytes && fwrite(data, 1, nbytes, file) != nbytes) || fclose(file) != 0) abort();
}

/* Reads what the index gives, whole, as the search does. False when it is refused. */
static bool load(const struct index_key *key, struct passages *passages) {
    static volatile unsigned sum;
    float *vectors = NULL;
    char *text = malloc(TEXT); /* of its own, so that a sanitizer sees a read past its end */
    if (!text) abort();
    memset(text, 'a', TEXT);
    bool good = index_load(key, DIM, TEXT, passages, &vectors);
    if (!good && (vectors || passages->items)) abort();
    for (int64_t i = 0; i < passages->n; i++) {
        unsigned bits;
        for (size_t k = 0; k < passages->items[i].nbytes; k++) sum += (unsigned char)text[passages->items[i].start + k];
        for (int64_t k = 0; k < DIM; k++) memcpy(&bits, &vectors[i * DIM + k], sizeof bits), sum += bits;
    }
    free(vectors);
    free(text);
    return good;
}

/* Passages from anywhere: those that lie in the text come back as they were, all others make the index void. */
static void save_and_load(const struct index_key *key, const uint8_t *data, size_t nbytes) {
    struct passage items[MOST];
    float vectors[MOST * DIM];
    int64_t n = (int64_t)(nbytes / sizeof *items < MOST ? nbytes / sizeof *items : MOST);
    bool inside = true;
    if (n) memcpy(items, data, (size_t)n * sizeof *items);
    for (int64_t i = 0; i < n; i++) {
        inside = inside && items[i].start <= TEXT && items[i].nbytes <= TEXT - items[i].start;
        for (int k = 0; k < DIM; k++) memcpy(&vectors[i * DIM + k], data + (i * DIM + k) * 4, sizeof *vectors);
    }
    const struct passages given = {.n = n, .capacity = n, .items = items};
    struct passages got = {0};
    unlink(key->file);
    index_save(key, DIM, &given, vectors);
    if (access(key->file, F_OK) != 0) abort();
    bool good = load(key, &got);
    if (good != inside || (good && (got.n != n || (n && memcmp(got.items, items, (size_t)n * sizeof *items) != 0))))
        abort();
    free(got.items);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes) {
    static struct index_key key = {.content = "0", .model = "0", .settings = "1 100"};
    struct passages passages = {0};
    if (!*key.file) {
        fuzz_limit_memory();
        if (!mkdtemp(folder)) abort();
        atexit(remove_folder);
        stderr = fopen("/dev/null", "we"); /* each refusal is a line */
        if (!stderr || !text_cache_path("index", key.file, sizeof key.file)) abort();
    }
    if (nbytes == 0) return 0;
    if (data[0] & 1) {
        save_and_load(&key, data + 1, nbytes - 1);
        return 0;
    }
    write_file(key.file, data + 1, nbytes - 1);
    load(&key, &passages);
    free(passages.items);
    return 0;
}
