/* Files built byte by byte, and opened from memory, for the tests of the format readers. */
#ifndef WICK_TESTS_FORMAT_BYTES_H
#define WICK_TESTS_FORMAT_BYTES_H

#include "tests/test.h"

struct bytes {
    unsigned char *data;
    size_t n, room;
};

static inline void put(struct bytes *bytes, const void *data, size_t n) {
    if (bytes->room - bytes->n < n) {
        bytes->room = (bytes->room + n) * 2;
        bytes->data = realloc(bytes->data, bytes->room);
        if (!bytes->data) exit(1);
    }
    if (n > 0) memcpy(bytes->data + bytes->n, data, n);
    bytes->n += n;
}

static inline void put8(struct bytes *bytes, unsigned value) {
    unsigned char byte = (unsigned char)value;
    put(bytes, &byte, 1);
}
static inline void put16(struct bytes *bytes, unsigned value) {
    uint16_t v = (uint16_t)value;
    put(bytes, &v, sizeof v);
}
static inline void put32(struct bytes *bytes, uint32_t value) { put(bytes, &value, sizeof value); }
static inline void put64(struct bytes *bytes, uint64_t value) { put(bytes, &value, sizeof value); }
static inline void put_text(struct bytes *bytes, const char *text) { put(bytes, text, strlen(text)); }
static inline void put_zeros(struct bytes *bytes, size_t n) {
    while (n-- > 0) put8(bytes, 0);
}

/* Opens a copy of exactly n bytes, so that the address sanitizer sees a read past them, describes and loads every
 * tensor on the CPU, and closes it. Frees `bytes`. Returns this thread's status. */
static inline enum wick_status open_all(struct bytes *bytes, const struct wick_archive_options *options) {
    unsigned char *exact = malloc(bytes->n ? bytes->n : 1);
    if (!exact) exit(1);
    if (bytes->n) memcpy(exact, bytes->data, bytes->n);
    struct wick_device *cpu = wick_device_open("cpu");
    struct wick_archive *archive = wick_archive_open_memory(exact, bytes->n, options);
    for (int64_t i = 0; i < wick_archive_count(archive); i++) {
        struct wick_archive_entry entry;
        if (wick_archive_describe(archive, i, &entry) != WICK_OK) continue;
        wick_release(wick_archive_load_at(archive, i, cpu));
    }
    for (int64_t i = 0; i < wick_archive_metadata_count(archive); i++) {
        char text[64];
        wick_archive_metadata_text(archive, i, -1, text, sizeof text);
    }
    wick_archive_close(archive);
    wick_device_close(cpu);
    free(exact);
    free(bytes->data);
    *bytes = (struct bytes){0};
    return wick_error_status();
}

/* The bytes are refused, at opening or loading, with this text after "archive_open: (memory): ". */
#define CHECK_REFUSED(bytes, status, text) CHECK_FAILS(open_all(bytes, NULL), status, "archive_open: (memory): " text)

/* The bytes open, and all their tensors load. */
#define CHECK_ACCEPTED(bytes, options)                                                                                 \
    do {                                                                                                               \
        wick_error_clear();                                                                                            \
        open_all(bytes, options);                                                                                      \
        CHECK_TEXT(wick_error(), "");                                                                                  \
    } while (0)

#endif
