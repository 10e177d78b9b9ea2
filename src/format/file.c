/* Reading files by mapping them, and writing them aside. */
#define _DEFAULT_SOURCE /* MAP_NORESERVE */

#include "format/file.h"

#include "core/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* What one read or write moves at most; Linux stops short of 2 GiB. */
enum { CHUNK = 1 << 30 };

static struct wick__file *file_new(const char *name) {
    size_t name_size = strlen(name) + 1;
    struct wick__file *file = wick__calloc(1, sizeof *file + name_size);
    if (!file) return NULL;
    atomic_init(&file->refs, 1);
    file->name_size = name_size;
    memcpy(file->name, name, name_size);
    return file;
}

/* Reads the whole file where it can't or shall not be mapped. */
static enum wick_status read_whole(const char *op, struct wick__file *file, int fd) {
    unsigned char *data = wick__alloc(file->nbytes);
    if (!data) return WICK_MEMORY;
    size_t at = 0;
    while (at < file->nbytes) {
        size_t want = file->nbytes - at < CHUNK ? file->nbytes - at : CHUNK;
        ssize_t got = pread(fd, data + at, want, (off_t)at);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) {
            const char *why = got == 0 ? "it became shorter while it was read" : strerror(errno);
            wick__free(data, file->nbytes);
            return wick__fail(WICK_IO, "%s: %s: %s", op, file->name, why);
        }
        at += (size_t)got;
    }
    file->data = data;
    file->kind = WICK__FILE_OWNED;
    return WICK_OK;
}

static enum wick_status fill(const char *op, struct wick__file *file, int fd, bool copy) {
    struct stat stat;
    if (fstat(fd, &stat) != 0) return wick__fail(WICK_IO, "%s: %s: %s", op, file->name, strerror(errno));
    if (!S_ISREG(stat.st_mode)) return wick__fail(WICK_IO, "%s: %s: it is not a regular file", op, file->name);
    if (stat.st_size < 0 || (uintmax_t)stat.st_size > PTRDIFF_MAX)
        return wick__fail(WICK_IO, "%s: %s: its size is out of range", op, file->name);
    file->nbytes = (size_t)stat.st_size;
    if (copy || file->nbytes == 0) return read_whole(op, file, fd);
    /* Writable but private: an in-place op on a tensor that views the file must neither fault nor change the file. */
    void *data = mmap(NULL, file->nbytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
    if (data == MAP_FAILED) return read_whole(op, file, fd);
    file->data = data;
    file->kind = WICK__FILE_MAPPED;
    return WICK_OK;
}

struct wick__file *wick__file_open(const char *op, const char *path, bool copy) {
    /* Not blocking on pipes, not taking a terminal. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0) {
        wick__fail(WICK_IO, "%s: %s: %s", op, path, strerror(errno));
        return NULL;
    }
    struct wick__file *file = file_new(path);
    if (file && fill(op, file, fd, copy) != WICK_OK) {
        wick__free(file, sizeof *file + file->name_size);
        file = NULL;
    }
    close(fd);
    return file;
}

struct wick__file *wick__file_borrow(const void *data, size_t nbytes, const char *name) {
    struct wick__file *file = file_new(name);
    if (!file) return NULL;
    file->kind = WICK__FILE_BORROWED;
    file->data = (unsigned char *)(uintptr_t)data;
    file->nbytes = nbytes;
    return file;
}

struct wick__file *wick__file_ref(struct wick__file *file) {
    atomic_fetch_add(&file->refs, 1);
    return file;
}

void wick__file_unref(struct wick__file *file) {
    if (!file || atomic_fetch_sub(&file->refs, 1) != 1) return;
    if (file->kind == WICK__FILE_MAPPED) munmap(file->data, file->nbytes);
    if (file->kind == WICK__FILE_OWNED) wick__free(file->data, file->nbytes);
    wick__free(file, sizeof *file + file->name_size);
}

void wick__file_release(void *file) { wick__file_unref(file); }

const char *wick__quote(char quoted[WICK__QUOTED], const char *text) {
    size_t n = strlen(text), keep = n <= 80 ? n : 77;
    /* Do not cut a UTF-8 sequence. */
    while (keep < n && keep > 0 && ((unsigned char)text[keep] & 0xc0) == 0x80) keep--;
    for (size_t i = 0; i < keep; i++) {
        unsigned char c = (unsigned char)text[i];
        quoted[i] = c < 0x20 || c == 0x7f ? '?' : text[i];
    }
    memcpy(quoted + keep, keep < n ? "..." : "", keep < n ? 4 : 1);
    return quoted;
}

/* ---- writing ---- */

enum wick_status wick__output_open(struct wick__output *output, const char *op, const char *path) {
    *output = (struct wick__output){.op = op, .path = path};
    if (!path || !*path) return wick__fail(WICK_INVALID, "%s: path is %s", op, path ? "empty" : "NULL");
    const char *why = wick__aside_open(&output->aside, path);
    return why ? wick__fail(WICK_IO, "%s: %s: %s", op, path, why) : WICK_OK;
}

void wick__output_write(struct wick__output *output, const void *data, size_t nbytes) {
    const char *from = data;
    while (nbytes > 0 && output->status == WICK_OK) {
        ssize_t written = write(output->aside.fd, from, nbytes < CHUNK ? nbytes : CHUNK);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) {
            output->status = wick__fail(WICK_IO, "%s: %s: %s", output->op, output->path,
                                        written == 0 ? "nothing could be written" : strerror(errno));
            return;
        }
        from += written;
        nbytes -= (size_t)written;
        output->position += written;
    }
}

enum wick_status wick__output_close(struct wick__output *output, enum wick_status status) {
    if (status == WICK_OK) status = output->status;
    if (!wick__aside_close(&output->aside, status == WICK_OK))
        status = wick__fail(WICK_IO, "%s: %s: %s", output->op, output->path, strerror(errno));
    return status;
}
