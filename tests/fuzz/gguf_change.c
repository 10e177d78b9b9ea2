/* GGUF files that change while they are open: the first eight bytes say how, the others are the file. */
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes) {
    uint64_t random;
    fuzz_limit_memory();
    if (nbytes < sizeof random) return 0;
    memcpy(&random, data, sizeof random);
    nbytes -= sizeof random;
    uint8_t *file = malloc(nbytes ? nbytes : 1);
    if (!file) return 0;
    memcpy(file, data + sizeof random, nbytes);
    wick_error_clear();
    struct wick_archive *archive = wick_archive_open_memory(file, nbytes, NULL);
    /* Every byte changes, one in two, one in four, ... */
    uint64_t mask = random & 7 ? ((uint64_t)1 << (random & 7)) - 1 : 0;
    for (size_t i = 0; i < nbytes; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        if ((random >> 40 & mask) == 0) file[i] = (uint8_t)(random >> 32);
    }
    read_all(archive);
    wick_archive_close(archive);
    free(file);
    return 0;
}
