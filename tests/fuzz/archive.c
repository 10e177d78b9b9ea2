/* Runs the archive functions over hostile bytes. */
#include "tests/fuzz/fuzz.h"

#include <wick/wick.h>

#include <stdlib.h>

enum { MOST = 64 << 20 };

void (*fuzz_at_allocation)(void);

static void *limited_alloc(void *context, size_t nbytes, size_t alignment) {
    void *memory = NULL;
    (void)context;
    if (fuzz_at_allocation) fuzz_at_allocation();
    return nbytes <= MOST && posix_memalign(&memory, alignment, nbytes) == 0 ? memory : NULL;
}

static void limited_free(void *context, void *memory, size_t nbytes) {
    (void)context;
    (void)nbytes;
    free(memory);
}

void fuzz_limit_memory(void) {
    static const struct wick_allocator limited = {NULL, limited_alloc, limited_free};
    static int done;
    if (!done && wick_allocator_set(&limited) != WICK_OK) abort();
    done = 1;
}

static void read_tensor(struct wick_archive *archive, int64_t i, struct wick_device *cpu) {
    struct wick_archive_entry entry;
    if (wick_archive_describe(archive, i, &entry) != WICK_OK) return;
    if (wick_archive_find(archive, entry.name) != i) abort();
    struct wick_tensor *x = wick_archive_load_at(archive, i, cpu);
    if (!x) return;
    /* Every element is read. */
    if (entry.nbytes <= 1 << 20) {
        static unsigned char data[1 << 20];
        if (wick_read(x, data, (size_t)entry.nbytes) != WICK_OK && wick_error_status() == WICK_INVALID) abort();
    }
    wick_release(x);
}

static void read_metadata(struct wick_archive *archive, int64_t i) {
    struct wick_metadata metadata;
    char text[100];
    if (wick_archive_metadata(archive, i, &metadata) != WICK_OK) abort();
    if (wick_archive_metadata_text(archive, i, -1, text, sizeof text) < 0) abort();
    if (metadata.type != WICK_METADATA_ARRAY || metadata.length == 0) return;
    if (wick_archive_metadata_text(archive, i, 0, text, sizeof text) < 0) abort();
    if (wick_archive_metadata_text(archive, i, metadata.length - 1, text, sizeof text) < 0) abort();
    if (wick_archive_metadata_text(archive, i, metadata.length, text, sizeof text) != -1) abort();
}

static void open_once(const uint8_t *data, size_t nbytes, const struct wick_archive_options *options,
                      struct wick_device *cpu) {
    wick_error_clear();
    struct wick_archive *archive = wick_archive_open_memory(data, nbytes, options);
    if (!archive && !*wick_error()) abort();
    for (int64_t i = 0; i < wick_archive_count(archive) && i < 64; i++) {
        wick_error_clear();
        read_tensor(archive, i, cpu);
    }
    for (int64_t i = 0; i < wick_archive_metadata_count(archive) && i < 64; i++) read_metadata(archive, i);
    wick_archive_close(archive);
}

void fuzz_archive(const uint8_t *data, size_t nbytes) {
    static struct wick_device *cpu;
    static size_t held;
    struct wick_archive_options lenient = {.lenient = true};
    fuzz_limit_memory();
    if (!cpu) {
        cpu = wick_device_open("cpu");
        if (!cpu || wick_memory_set_cache(cpu, 0) != WICK_OK) abort();
        held = wick_host_memory_used();
    }
    open_once(data, nbytes, NULL, cpu);
    open_once(data, nbytes, &lenient, cpu);
    wick_error_clear();
    if (wick_host_memory_used() > held) abort();
}
