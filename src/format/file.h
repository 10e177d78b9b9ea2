/* The bytes of a file that is read, and files that are written aside and renamed. */
#ifndef WICK_FORMAT_FILE_H
#define WICK_FORMAT_FILE_H

#include "core/aside.h"

#include <wick/status.h>

#include <stdatomic.h>
#include <string.h>

#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "The file formats are read and written in place, which needs a little-endian machine."
#endif

/* The bytes of a file, counted: the archive holds one reference, each tensor that views the mapping another. */
struct wick__file {
    atomic_int refs;
    enum { WICK__FILE_MAPPED, WICK__FILE_OWNED, WICK__FILE_BORROWED } kind;
    unsigned char *data; /* private to this process: writing does not reach the file */
    size_t nbytes;
    size_t name_size;
    char name[]; /* for error texts */
};

/* Maps the regular file at `path`, following symlinks, or reads it, with `copy` or where it can't be mapped. WICK_IO
 * for what can't be opened and for folders, pipes and devices, which are not waited for. `op` goes in front of the
 * error text. */
struct wick__file *wick__file_open(const char *op, const char *path, bool copy);

/* Borrows the caller's memory. */
struct wick__file *wick__file_borrow(const void *data, size_t nbytes, const char *name);

struct wick__file *wick__file_ref(struct wick__file *file);
void wick__file_unref(struct wick__file *file);
/* wick__file_unref with the type of a tensor's release callback. */
void wick__file_release(void *file);

/* Little-endian numbers at any address. */
static inline uint16_t wick__get16(const unsigned char *p) {
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return v;
}
static inline uint32_t wick__get32(const unsigned char *p) {
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}
static inline uint64_t wick__get64(const unsigned char *p) {
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* `text` for an error text: cut after 80 bytes, control characters replaced. Returns `quoted`. */
enum { WICK__QUOTED = 88 };
const char *wick__quote(char quoted[WICK__QUOTED], const char *text);

/* A file being written under another name in the folder where it is to appear. */
struct wick__output {
    const char *op, *path;
    int64_t position;        /* bytes written */
    enum wick_status status; /* the first failure; later writes do nothing */
    struct wick__aside aside;
};

/* On failure nothing is left behind, and wick__output_close must not be called. */
enum wick_status wick__output_open(struct wick__output *output, const char *op, const char *path);
void wick__output_write(struct wick__output *output, const void *data, size_t nbytes);
/* Flushes and renames when all went well; removes the file otherwise. Pass WICK_OK, or why to give up. */
enum wick_status wick__output_close(struct wick__output *output, enum wick_status status);

#endif
