/* GGUF files that change while they are opened, and while they are open: the first eight bytes say how, the others are
 * the file. */
#include "tests/fuzz/fuzz.h"

#include <wick/wick.h>

#include <stdlib.h>
#include <string.h>

/* Reads the items of an array from both ends, and the whole. */
static void read_all(struct wick_archive *archive) {
    for (int64_t i = 0; i < wick_archive_metadata_count(archive) && i < 64; i++) {
        struct wick_metadata metadata;
        char text[64];
        if (wick_archive_metadata(archive, i, &metadata) != WICK_OK) abort();
        if (wick_archive_metadata_text(archive, i, -1, text, sizeof text) < 0) abort();
        for (int64_t k = 0; metadata.type == WICK_METADATA_ARRAY && k < metadata.length && k < 64; k++) {
            if (wick_archive_metadata_text(archive, i, k, text, sizeof text) < 0) abort();
            if (wick_archive_metadata_text(archive, i, metadata.length - 1 - k, NULL, 0) < 0) abort();
        }
    }
}

static uint64_t state;
static uint8_t *file;
static size_t file_size;

/* Changes every byte, one in two, one in four, ... */
static void change(void) {
    uint64_t mask = state & 7 ? ((uint64_t)1 << (state & 7)) - 1 : 0;
    for (size_t i = 0; i < file_size; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
        if ((state >> 40 & mask) == 0) file[i] = (uint8_t)(state >> 32);
    }
}

/* Changes one byte, at one allocation in eight. Of keys and names, what was read once and what was copied differ then.
 */
static void change_one(void) {
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
    if (file_size > 0 && (state >> 60 & 7) == 0) file[(state >> 16) % file_size] = (uint8_t)(state >> 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes) {
    fuzz_limit_memory();
    if (nbytes < sizeof state) return 0;
    memcpy(&state, data, sizeof state);
    file_size = nbytes - sizeof state;
    file = malloc(file_size ? file_size : 1);
    if (!file) return 0;
    memcpy(file, data + sizeof state, file_size);
    wick_error_clear();
    fuzz_at_allocation = state & 8 ? change_one : NULL;
    struct wick_archive *archive = wick_archive_open_memory(file, file_size, NULL);
    fuzz_at_allocation = NULL;
    change();
    read_all(archive);
    wick_archive_close(archive);
    free(file);
    return 0;
}
