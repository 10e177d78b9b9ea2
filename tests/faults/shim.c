/* Preloaded into a program, makes the n-th call of one kind fail: for tests/faults/run.py.
 *
 *     FAULT=alloc:17        the 17th allocation gives NULL             FAULT=alloc:17+  so does every later one
 *     FAULT=write:3=ENOSPC  the third write fails so; also EIO, EINTR, and "short" for half of the bytes
 *     FAULT_COUNT=FILE      at the end, how many calls of each kind there were
 *
 * Kinds: alloc (malloc, calloc, realloc, posix_memalign, aligned_alloc), open, read, write, close (of files with a name
 * that are open for writing, and fclose of pipes too; they are closed all the same, as Linux does), fsync, rename,
 * mmap. Calls are counted from main on, in the whole program, whichever library makes them; calls inside the C library
 * are not seen. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum kind { ALLOC, OPEN, READ, WRITE, CLOSE, FSYNC, RENAME, MMAP, KINDS };
static const char *const names[KINDS] = {"alloc", "open", "read", "write", "close", "fsync", "rename", "mmap"};

static long counts[KINDS], at;
static enum kind failing = KINDS;
static bool onwards, cut, active;
static int code = EIO;
static const char *report;

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

static bool fails(enum kind kind) {
    if (!__atomic_load_n(&active, __ATOMIC_RELAXED)) return false;
    long n = __atomic_add_fetch(&counts[kind], 1, __ATOMIC_RELAXED);
    if (kind != failing || !(n == at || (onwards && n > at))) return false;
    errno = kind == ALLOC ? ENOMEM : code;
    return true;
}

void *malloc(size_t n) { return fails(ALLOC) ? NULL : __libc_malloc(n); }
void *calloc(size_t n, size_t size) { return fails(ALLOC) ? NULL : __libc_calloc(n, size); }
void *realloc(void *memory, size_t n) { return fails(ALLOC) ? NULL : __libc_realloc(memory, n); }
void *aligned_alloc(size_t alignment, size_t n) { return fails(ALLOC) ? NULL : __libc_memalign(alignment, n); }
int posix_memalign(void **memory, size_t alignment, size_t n) {
    if (fails(ALLOC)) return ENOMEM;
    void *block = __libc_memalign(alignment, n);
    if (!block) return ENOMEM;
    *memory = block;
    return 0;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static mode_t mode_of(int flags, va_list args) { return flags & (O_CREAT | __O_TMPFILE) ? va_arg(args, mode_t) : 0; }

int open(const char *path, int flags, ...) {
    va_list args;
    va_start(args, flags);
    mode_t mode = mode_of(flags, args);
    va_end(args);
    return fails(OPEN) ? -1 : openat(AT_FDCWD, path, flags, mode);
}
FILE *fopen(const char *path, const char *mode) { return fails(OPEN) ? NULL : REAL(fopen)(path, mode); }
ssize_t read(int fd, void *to, size_t n) {
    if (!fails(READ)) return REAL(read)(fd, to, n);
    return cut ? REAL(read)(fd, to, (n + 1) / 2) : -1;
}
ssize_t pread(int fd, void *to, size_t n, off_t offset) {
    if (!fails(READ)) return REAL(pread)(fd, to, n, offset);
    return cut ? REAL(pread)(fd, to, (n + 1) / 2, offset) : -1;
}
ssize_t write(int fd, const void *from, size_t n) {
    if (!fails(WRITE)) return REAL(write)(fd, from, n);
    return cut ? REAL(write)(fd, from, (n + 1) / 2) : -1;
}
static bool for_writing(int fd, bool pipes) {
    struct stat about;
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && fstat(fd, &about) == 0 &&
           ((S_ISREG(about.st_mode) && about.st_nlink > 0) || (pipes && S_ISFIFO(about.st_mode)));
}
int close(int fd) {
    bool failed = for_writing(fd, false) && fails(CLOSE);
    int code = errno, closed = REAL(close)(fd);
    if (failed) errno = code;
    return failed ? -1 : closed;
}
int fclose(FILE *file) {
    bool failed = for_writing(fileno(file), true) && fails(CLOSE);
    int code = errno, closed = REAL(fclose)(file);
    if (failed) errno = code;
    return failed ? EOF : closed;
}
int fsync(int fd) { return fails(FSYNC) ? -1 : REAL(fsync)(fd); }
int rename(const char *from, const char *to) { return fails(RENAME) ? -1 : REAL(rename)(from, to); }
void *mmap(void *place, size_t n, int protection, int flags, int fd, off_t offset) {
    /* Those of the C library's own threads and files are not files of ours. */
    if (fd >= 0 && fails(MMAP)) return MAP_FAILED;
    return REAL(mmap)(place, n, protection, flags, fd, offset);
}

static void parse(const char *fault) {
    static const struct {
        const char *name;
        int code;
    } codes[] = {{"ENOSPC", ENOSPC}, {"EIO", EIO}, {"EINTR", EINTR}, {"ENOMEM", ENOMEM}, {"EACCES", EACCES}};
    for (int i = 0; i < KINDS; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(fault, names[i], length) == 0 && fault[length] == ':') failing = (enum kind)i;
    }
    char *end = strchr(fault, ':');
    at = end ? strtol(end + 1, &end, 10) : 0;
    onwards = end && *end == '+';
    const char *equals = strchr(fault, '=');
    if (!equals) return;
    cut = strcmp(equals + 1, "short") == 0;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (strcmp(equals + 1, codes[i].name) == 0) code = codes[i].code;
}

__attribute__((constructor)) static void begin(void) {
    const char *fault = getenv("FAULT");
    report = getenv("FAULT_COUNT");
    if (fault) parse(fault);
    active = true;
}

__attribute__((destructor)) static void end(void) {
    active = false;
    FILE *file = report ? REAL(fopen)(report, "w") : NULL;
    if (!file) return;
    for (int i = 0; i < KINDS; i++) fprintf(file, "%s %ld\n", names[i], counts[i]);
    fclose(file);
}
