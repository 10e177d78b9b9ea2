/* Reading and writing kernel packs. All numbers are little-endian:
 *
 *   header, 96 bytes: "WICKPACK", u32 version 2, u32 modules, u64 bytes of the file, target[64], u32 CRC-32 of header
 *     and index with this field 0, u32 0
 *   index, 112 bytes a module: name[48], SHA-256 of its sources, u64 offset, u64 bytes packed, u64 bytes unpacked, u32
 *     CRC-32 of the unpacked bytes, u32 0
 *   the modules, each a Zstandard frame. */
#define _GNU_SOURCE
#include "gpu/code/pack.h"

#include "core/folder.h"
#include "core/memory.h"
#include "core/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum {
    HEADER = 96,
    ENTRY = 112,
    NAME = 48,
    TARGET = 64,
    CHECK_AT = 88,
    MOST_MODULES = 4096,
    VERSION = 2,
    LEVEL = 19 /* of compression */
};
static const char magic[8] = {'W', 'I', 'C', 'K', 'P', 'A', 'C', 'K'};
static const uint64_t most_bytes = (uint64_t)1 << 28; /* of a module */

struct entry {
    const unsigned char *name, *key;
    uint64_t offset, packed, plain;
    uint32_t check;
};

static uint32_t get32(const unsigned char *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}
static uint64_t get64(const unsigned char *p) { return get32(p) | (uint64_t)get32(p + 4) << 32; }
static void put32(unsigned char *p, uint32_t v) {
    for (int i = 0; i < 4; i++) p[i] = (unsigned char)(v >> 8 * i);
}
static void put64(unsigned char *p, uint64_t v) {
    put32(p, (uint32_t)v);
    put32(p + 4, (uint32_t)(v >> 32));
}

static struct entry entry_at(const unsigned char *p) {
    return (struct entry){.name = p,
                          .key = p + NAME,
                          .offset = get64(p + 80),
                          .packed = get64(p + 88),
                          .plain = get64(p + 96),
                          .check = get32(p + 104)};
}

/* Whether a field of `size` bytes, 0-terminated within it, is `text`. */
static bool field_is(const unsigned char *field, size_t size, const char *text) {
    size_t length = strlen(text);
    return length < size && memcmp(field, text, length + 1) == 0;
}

/* Whether the header's target serves the query, any without one: "gfx942", or "compute_80" for a device of at least
 * sm_80. */
static bool serves(const unsigned char *field, const struct wick__pack_query *query) {
    int oldest = 0;
    if (!query) return memchr(field, 0, TARGET) != NULL;
    if (query->target) return field_is(field, TARGET, query->target);
    if (memcmp(field, "compute_", 8) != 0) return false;
    for (int i = 8; i < 12 && field[i] >= '0' && field[i] <= '9'; i++) oldest = oldest * 10 + (field[i] - '0');
    return oldest > 0 && oldest <= query->ptx;
}

static bool read_at(int fd, void *to, uint64_t nbytes, uint64_t offset) {
    unsigned char *p = to;
    while (nbytes > 0) {
        ssize_t n = pread(fd, p, nbytes, (off_t)offset);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        p += n;
        offset += (uint64_t)n;
        nbytes -= (uint64_t)n;
    }
    return true;
}

/* Reads and checks header and index; the index comes in *index. */
static enum wick__pack_result read_index(int fd, const struct wick__pack_query *query, unsigned char **index,
                                         uint32_t *count, uint64_t *file, const char **why) {
    unsigned char header[HEADER];
    struct stat info;
    *why = "is cut short";
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return WICK__PACK_BAD;
    if (query && !query->named && wick__distrust(&info)) {
        *why = wick__distrust(&info);
        return WICK__PACK_BAD;
    }
    if (info.st_size < HEADER || !read_at(fd, header, HEADER, 0)) return WICK__PACK_BAD;
    *file = (uint64_t)info.st_size;
    *why = "is not a kernel pack";
    if (memcmp(header, magic, sizeof magic) != 0) return WICK__PACK_BAD;
    *why = "has a format this library does not know";
    if (get32(header + 8) != VERSION) return WICK__PACK_BAD;
    *why = "is for another target";
    if (!serves(header + 24, query)) return !query || query->target ? WICK__PACK_BAD : WICK__PACK_ABSENT;
    *why = "is cut short";
    *count = get32(header + 12);
    if (get64(header + 16) != *file || *count > MOST_MODULES || *file < HEADER + (uint64_t)*count * ENTRY)
        return WICK__PACK_BAD;
    *index = wick__alloc_quiet((size_t)*count * ENTRY);
    if (!*index) return WICK__PACK_MEMORY;
    *why = "is damaged";
    if (read_at(fd, *index, (uint64_t)*count * ENTRY, HEADER)) {
        uint32_t check = get32(header + CHECK_AT);
        put32(header + CHECK_AT, 0);
        uLong sum = crc32(crc32(0, NULL, 0), header, HEADER);
        if (crc32(sum, *index, *count * ENTRY) == check) return WICK__PACK_FOUND;
    }
    wick__free(*index, (size_t)*count * ENTRY);
    return WICK__PACK_BAD;
}

static enum wick__pack_result unpack(int fd, const struct entry *entry, void **data, const char **why) {
    enum wick__pack_result result = WICK__PACK_BAD;
    const size_t nbytes = (size_t)entry->plain;
    unsigned char *packed = wick__alloc_quiet((size_t)entry->packed);
    unsigned char *plain = packed ? wick__alloc_quiet(nbytes + 1) : NULL;
    *why = "is damaged";
    if (!plain)
        result = WICK__PACK_MEMORY;
    else if (read_at(fd, packed, entry->packed, entry->offset) &&
             ZSTD_decompress(plain, nbytes, packed, (size_t)entry->packed) == nbytes &&
             crc32(crc32(0, NULL, 0), plain, (uInt)nbytes) == entry->check)
        result = WICK__PACK_FOUND;
    wick__free(packed, (size_t)entry->packed);
    if (result != WICK__PACK_FOUND) {
        wick__free(plain, nbytes + 1);
        return result;
    }
    plain[nbytes] = 0;
    *data = plain;
    return result;
}

static enum wick__pack_result find(int fd, const struct wick__pack_query *query, void **data, size_t *nbytes,
                                   const char **why) {
    unsigned char *index = NULL;
    uint32_t count;
    uint64_t file;
    enum wick__pack_result result = read_index(fd, query, &index, &count, &file, why);
    if (result != WICK__PACK_FOUND) return result;
    result = WICK__PACK_ABSENT;
    *why = "";
    for (uint32_t i = 0; i < count && result == WICK__PACK_ABSENT; i++) {
        struct entry entry = entry_at(index + (size_t)i * ENTRY);
        if (!field_is(entry.name, NAME, query->module)) continue;
        result = WICK__PACK_STALE;
        if (memcmp(entry.key, query->key, WICK__HASH) != 0) break;
        result = WICK__PACK_BAD;
        *why = "is damaged";
        if (entry.offset > file || entry.packed > file - entry.offset || entry.plain == 0 || entry.plain > most_bytes)
            break;
        *nbytes = (size_t)entry.plain;
        result = query->look ? WICK__PACK_FOUND : unpack(fd, &entry, data, why);
    }
    wick__free(index, (size_t)count * ENTRY);
    return result;
}

enum wick__pack_result wick__pack_find(const struct wick__pack_query *query, void **data, size_t *nbytes, char *reason,
                                       size_t size) {
    const char *why = "";
    int fd = open(query->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        bool absent = errno == ENOENT || errno == ENOTDIR;
        snprintf(reason, size, "%s: %s", query->path, strerror(errno));
        return absent ? WICK__PACK_ABSENT : WICK__PACK_BAD;
    }
    enum wick__pack_result result = find(fd, query, data, nbytes, &why);
    close(fd);
    if (result == WICK__PACK_ABSENT && !*why) why = "does not hold it";
    if (result == WICK__PACK_STALE) why = "was made from other sources";
    if (result == WICK__PACK_MEMORY) why = "out of memory";
    snprintf(reason, size, "%s %s", query->path, why);
    return result;
}

bool wick__pack_target(const char *path, char target[64], char *reason, size_t size) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    unsigned char *index = NULL;
    const char *why = "";
    uint32_t count;
    uint64_t file;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        snprintf(reason, size, "%s: %s", path, strerror(errno));
        return false;
    }
    enum wick__pack_result result = read_index(fd, NULL, &index, &count, &file, &why);
    if (result == WICK__PACK_FOUND) {
        wick__free(index, (size_t)count * ENTRY);
        if (!read_at(fd, target, TARGET, 24)) result = WICK__PACK_BAD;
    }
    close(fd);
    if (result == WICK__PACK_FOUND && *target && target[strspn(target, letters)] == '\0') return true;
    snprintf(reason, size, "%s %s", path, *why ? why : "is for no target");
    return false;
}

static bool write_all(int fd, const void *from, size_t nbytes) {
    const unsigned char *p = from;
    while (nbytes > 0) {
        ssize_t n = write(fd, p, nbytes);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        p += n;
        nbytes -= (size_t)n;
    }
    return true;
}

/* Packs modules one after the other behind the index, whose rows it fills. */
static bool write_modules(int fd, unsigned char *index, const struct wick__pack_module *modules, int count,
                          uint64_t *end) {
    for (int i = 0; i < count; i++) {
        unsigned char *row = index + (size_t)i * ENTRY;
        const size_t room = ZSTD_compressBound(modules[i].nbytes);
        unsigned char *packed = wick__alloc(room);
        if (!packed) {
            errno = ENOMEM;
            return false;
        }
        const size_t length = ZSTD_compress(packed, room, modules[i].data, modules[i].nbytes, LEVEL);
        const bool done = !ZSTD_isError(length) && write_all(fd, packed, length);
        wick__free(packed, room);
        if (!done) return false;
        snprintf((char *)row, NAME, "%s", modules[i].name);
        memcpy(row + NAME, modules[i].key, WICK__HASH);
        put64(row + 80, *end);
        put64(row + 88, length);
        put64(row + 96, modules[i].nbytes);
        put32(row + 104, (uint32_t)crc32(crc32(0, NULL, 0), modules[i].data, (uInt)modules[i].nbytes));
        *end += length;
    }
    return true;
}

static bool write_pack(int fd, const char *target, const struct wick__pack_module *modules, int count) {
    size_t nbytes = HEADER + (size_t)count * ENTRY;
    unsigned char *head = wick__calloc(1, nbytes);
    uint64_t end = nbytes;
    if (!head) {
        errno = ENOMEM;
        return false;
    }
    bool done = write_all(fd, head, nbytes) && write_modules(fd, head + HEADER, modules, count, &end);
    if (done) {
        memcpy(head, magic, sizeof magic);
        put32(head + 8, VERSION);
        put32(head + 12, (uint32_t)count);
        put64(head + 16, end);
        snprintf((char *)head + 24, TARGET, "%s", target);
        put32(head + CHECK_AT, (uint32_t)crc32(crc32(0, NULL, 0), head, (uInt)nbytes));
        done = lseek(fd, 0, SEEK_SET) == 0 && write_all(fd, head, nbytes);
    }
    wick__free(head, nbytes);
    return done;
}

bool wick__pack_write(const char *path, const char *target, const struct wick__pack_module *modules, int count,
                      char *reason, size_t size) {
    char aside[4096 + 32], prefix[4096 + 8];
    const char *slash = strrchr(path, '/');
    snprintf(aside, sizeof aside, "%s.%ld.tmp", path, (long)getpid());
    snprintf(prefix, sizeof prefix, "%s.", slash ? slash + 1 : path); /* others' files are not ours to remove */
    wick__folder_sweep(path, prefix, ".tmp");
    int fd = open(aside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    bool done = fd >= 0 && write_pack(fd, target, modules, count) && fsync(fd) == 0;
    if (fd >= 0 && close(fd) != 0) done = false;
    if (done && rename(aside, path) == 0 && wick__folder_sync(path)) return true;
    snprintf(reason, size, "%s: %s", path, strerror(errno));
    if (fd >= 0) unlink(aside);
    return false;
}
