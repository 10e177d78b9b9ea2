/* The disk cache of compiled modules. An entry NAME-HASH-COMPILER.code is
 *
 *   header, 32 bytes: "WICKCODE", u32 version 1, u32 bytes of the key, u64 bytes of code, u32 CRC-32 of the code, u32 0
 *   the key: all that the code depends on, the compiler's version last
 *   the code
 *
 * in the machine's byte order: a cache is for one machine, or for ones alike. Files are written aside and renamed, so
 * that a reader sees a whole entry or none; what is not ours or root's, or what others may write, is not read. */
#define _GNU_SOURCE
#include "gpu/code/cache.h"

#include "core/folder.h"
#include "core/memory.h"
#include "core/trust.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

enum { PATH = 4096, MOST_KEY = 1024, LOCK_STEP_MS = 10, LOCK_MOST_MS = 120000 };
static const uint64_t most_bytes = (uint64_t)1 << 28;

struct header {
    char magic[8];
    uint32_t version, key;
    uint64_t code;
    uint32_t check, zero;
};
static const struct header blank = {{'W', 'I', 'C', 'K', 'C', 'O', 'D', 'E'}, 1, 0, 0, 0, 0};

/* ---- the folder ---- */

static bool folder_path(char *path, size_t size) {
    const char *own = secure_getenv("WICK_CACHE_DIR"), *xdg = secure_getenv("XDG_CACHE_HOME");
    const char *home = secure_getenv("HOME");
    int n = -1;
    if (own && *own)
        n = snprintf(path, size, "%s", own);
    else if (xdg && *xdg == '/')
        n = snprintf(path, size, "%s/wick/kernels", xdg);
    else if (home && *home == '/')
        n = snprintf(path, size, "%s/.cache/wick/kernels", home);
    return n > 0 && (size_t)n < size;
}

bool wick__cache_folder(char *path, size_t size, char *reason, size_t reason_size) {
    struct stat info;
    if (!folder_path(path, size)) {
        snprintf(reason, reason_size, "none of WICK_CACHE_DIR, XDG_CACHE_HOME and HOME is set");
        return false;
    }
    if (stat(path, &info) != 0) {
        snprintf(reason, reason_size, "%s: %s", path, strerror(errno));
        return false;
    }
    const char *wrong = S_ISDIR(info.st_mode) ? wick__distrust(&info) : "is not a folder";
    if (wrong) snprintf(reason, reason_size, "%s %s", path, wrong);
    return !wrong;
}

static void make_folder(void) {
    char path[PATH];
    if (!folder_path(path, sizeof path)) return;
    for (char *p = path + 1; *p; p++) {
        if (*p != '/') continue;
        *p = '\0';
        (void)mkdir(path, 0700);
        *p = '/';
    }
    (void)mkdir(path, 0700);
}

/* A line in the log about a cache that can't be used, once a process. */
static void complain(const char *what, const char *reason) {
    static _Atomic bool done;
    if (!done) wick__log(WICK_LOG_WARNING, "kernel cache: %s: %s", what, reason);
    done = true;
}

/* ---- names ---- */

/* "copy-gfx942-0123456789abcdef-" of all but the compiler. */
static void stem(const struct wick__cache_key *key, char *text, size_t size) {
    unsigned char digest[WICK__HASH];
    char digits[33];
    struct wick__hash hash;
    wick__hash_begin(&hash);
    wick__hash_add(&hash, key->text, strlen(key->text));
    wick__hash_end(&hash, digest);
    wick__hash_text(digest, 8, digits);
    int n = snprintf(text, size, "%s-%s-", key->name, digits);
    for (int i = 0; i < n && (size_t)i < size; i++)
        if (text[i] == ':' || text[i] == '/') text[i] = '_';
}

/* Path of the entry; without a compiler the first there is of any, and false when there is none. */
static bool entry_path(const struct wick__cache_key *key, const char *folder, char *path, size_t size) {
    char start[160];
    stem(key, start, sizeof start);
    if (*key->compiler) {
        unsigned char digest[WICK__HASH];
        char digits[17];
        struct wick__hash hash;
        wick__hash_begin(&hash);
        wick__hash_add(&hash, key->compiler, strlen(key->compiler));
        wick__hash_end(&hash, digest);
        wick__hash_text(digest, 4, digits);
        return (size_t)snprintf(path, size, "%s/%s%s.code", folder, start, digits) < size;
    }
    bool found = false;
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries && !found && (entry = readdir(entries));) {
        size_t length = strlen(entry->d_name);
        found = strncmp(entry->d_name, start, strlen(start)) == 0 && length > 5 &&
                strcmp(entry->d_name + length - 5, ".code") == 0 &&
                (size_t)snprintf(path, size, "%s/%s", folder, entry->d_name) < size;
    }
    if (entries) closedir(entries);
    return found;
}

/* ---- reading ---- */

static bool read_all(int fd, void *to, size_t nbytes) {
    for (char *p = to; nbytes > 0;) {
        ssize_t n = read(fd, p, nbytes);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        p += n;
        nbytes -= (size_t)n;
    }
    return true;
}

/* NULL when the file holds an entry of this key, or what is wrong with it; "" for out of memory. */
static const char *read_entry(int fd, const struct wick__cache_key *key, struct wick__image *image) {
    struct stat info;
    struct header header;
    char text[MOST_KEY], wanted[MOST_KEY];
    size_t length = (size_t)snprintf(wanted, sizeof wanted, "%scompiler=%s", key->text, key->compiler);
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return "is not a file";
    if (wick__distrust(&info)) return wick__distrust(&info);
    if (!read_all(fd, &header, sizeof header)) return "is cut short";
    if (memcmp(header.magic, blank.magic, sizeof blank.magic) != 0 || header.version != blank.version)
        return "is not a cache entry";
    if (header.key >= MOST_KEY || header.code == 0 || header.code > most_bytes ||
        (uint64_t)info.st_size != sizeof header + header.key + header.code)
        return "is cut short";
    if (!read_all(fd, text, header.key)) return "is cut short";
    text[header.key] = '\0';
    /* Without a compiler, `wanted` ends after "compiler=" and any may follow. */
    if (*key->compiler ? strcmp(text, wanted) != 0 : strncmp(text, wanted, length) != 0) return "is of another key";
    if (!image) return NULL;
    size_t nbytes = (size_t)header.code;
    unsigned char *code = wick__alloc_quiet(nbytes + 1);
    if (!code) return "";
    if (!read_all(fd, code, nbytes) || crc32(crc32(0, NULL, 0), code, (uInt)nbytes) != header.check) {
        wick__free(code, nbytes + 1);
        return "is damaged";
    }
    code[nbytes] = 0;
    *image = (struct wick__image){.data = code, .nbytes = nbytes, .room = nbytes + 1, .route = WICK__ROUTE_CACHE};
    return NULL;
}

enum wick__cache_result wick__cache_find(const struct wick__cache_key *key, struct wick__image *image, char *reason,
                                         size_t size) {
    char folder[PATH], path[PATH + 256];
    if (!wick__cache_folder(folder, sizeof folder, reason, size)) return WICK__CACHE_NONE;
    snprintf(reason, size, "not in %s", folder);
    if (!entry_path(key, folder, path, sizeof path)) return WICK__CACHE_ABSENT;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        if (errno != ENOENT) snprintf(reason, size, "%s: %s", path, strerror(errno));
        return WICK__CACHE_ABSENT;
    }
    const char *wrong = read_entry(fd, key, image);
    close(fd);
    if (!wrong) return WICK__CACHE_FOUND;
    if (!*wrong) return WICK__CACHE_MEMORY;
    snprintf(reason, size, "%s %s", path, wrong);
    if (unlink(path) == 0)
        wick__log(WICK_LOG_WARNING, "kernel cache: %s; deleted", reason);
    else
        complain("can't delete", reason);
    return WICK__CACHE_ABSENT;
}

void wick__cache_drop(const struct wick__cache_key *key) {
    char folder[PATH], path[PATH + 256], reason[PATH + 64];
    if (wick__cache_folder(folder, sizeof folder, reason, sizeof reason) &&
        entry_path(key, folder, path, sizeof path) && unlink(path) == 0)
        wick__log(WICK_LOG_WARNING, "kernel cache: %s was refused by the driver; deleted", path);
}

/* ---- writing ---- */

static bool write_all(int fd, const void *from, size_t nbytes) {
    for (const char *p = from; nbytes > 0;) {
        ssize_t n = write(fd, p, nbytes);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        p += n;
        nbytes -= (size_t)n;
    }
    return true;
}

bool wick__cache_make(char *path, size_t size, char *reason, size_t reason_size) {
    if (wick__cache_folder(path, size, reason, reason_size)) return true;
    make_folder();
    return wick__cache_folder(path, size, reason, reason_size);
}

void wick__cache_put(const struct wick__cache_key *key, const void *data, size_t nbytes) {
    static _Atomic unsigned serial;
    char folder[PATH], path[PATH + 256], aside[PATH + 64], text[MOST_KEY], reason[PATH + 64];
    struct header header = blank;
    struct timespec now;
    if (!*key->compiler || nbytes == 0 || nbytes > most_bytes) return;
    if (!wick__cache_make(folder, sizeof folder, reason, sizeof reason)) {
        complain("there is none", reason);
        return;
    }
    if (!entry_path(key, folder, path, sizeof path)) return;
    header.key = (uint32_t)snprintf(text, sizeof text, "%scompiler=%s", key->text, key->compiler);
    header.code = nbytes;
    header.check = (uint32_t)crc32(crc32(0, NULL, 0), data, (uInt)nbytes);
    clock_gettime(CLOCK_REALTIME, &now);
    wick__folder_sweep(path, ".new-", "");
    wick__folder_sweep(path, ".lock-", "");
    snprintf(aside, sizeof aside, "%s/.new-%ld-%u-%lx", folder, (long)getpid(), serial++, (long)now.tv_nsec);
    int fd = open(aside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    bool done = fd >= 0 && fchmod(fd, 0644) == 0 && write_all(fd, &header, sizeof header) &&
                write_all(fd, text, header.key) && write_all(fd, data, nbytes);
    if (fd >= 0 && close(fd) != 0) done = false;
    if (done && rename(aside, path) == 0) return;
    complain(folder, strerror(errno));
    if (fd >= 0) (void)unlink(aside);
}

/* ---- one compiles, the others wait ---- */

static bool lock_path(const struct wick__cache_key *key, char *path, size_t size) {
    char folder[PATH], start[160], reason[PATH + 64];
    stem(key, start, sizeof start);
    return wick__cache_folder(folder, sizeof folder, reason, sizeof reason) &&
           (size_t)snprintf(path, size, "%s/.lock-%s", folder, start) < size;
}

int wick__cache_lock(const struct wick__cache_key *key) {
    char path[PATH + 256];
    make_folder();
    int fd = lock_path(key, path, sizeof path) ? open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600) : -1;
    for (int waited = 0; fd >= 0 && waited < LOCK_MOST_MS && flock(fd, LOCK_EX | LOCK_NB) != 0;
         waited += LOCK_STEP_MS) {
        struct timespec step = {.tv_nsec = LOCK_STEP_MS * 1000000L};
        if (errno != EWOULDBLOCK && errno != EINTR) break;
        nanosleep(&step, NULL);
    }
    return fd;
}

void wick__cache_unlock(const struct wick__cache_key *key, int lock) {
    char path[PATH + 256];
    if (lock < 0) return;
    if (lock_path(key, path, sizeof path)) (void)unlink(path);
    close(lock);
}
