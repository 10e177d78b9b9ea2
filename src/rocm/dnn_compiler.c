/* Whether MIOpen can compile its kernels. Most have hipRTC or comgr for it, in the process. Those built without, that
 * of Debian for example, start compilers by paths that are in the library, and what these say of a failure goes to the
 * terminal. So they are tried first, quietly. */
#define _GNU_SOURCE /* dlinfo, memmem */
#include "rocm/rocm.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What is read of the library: the parts of its file that are in memory and constant. */
struct text {
    ElfW(Addr) base;
    bool compiles;    /* it has a compiler in the process */
    const char *hip;  /* the one that it starts for HIP */
    const char *lost; /* one of those that it starts, if that is not there */
};

/* Takes the path of a compiler around `name`, "/usr/bin/clang++-21". */
static void note_compiler(struct text *t, const char *name, const char *begin, const char *end) {
    const char *from = name, *to = name + strlen("/clang");
    while (from > begin && from[-1]) from--;
    bool hip = *to == '+';
    while (to < end && *to && strchr("+-.0123456789", *to)) to++;
    if (to == end || *to || *from != '/' || memchr(from, ' ', (size_t)(to - from))) return;
    if (access(from, X_OK) != 0)
        t->lost = from;
    else if (hip)
        t->hip = from;
}

static int read_text(struct dl_phdr_info *info, size_t size, void *context) {
    struct text *t = context;
    (void)size;
    if (info->dlpi_addr != t->base) return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || (part->p_flags & PF_W)) continue;
        const char *begin = (const char *)(t->base + part->p_vaddr), *end = begin + part->p_filesz, *at = begin;
        t->compiles = t->compiles || memmem(begin, part->p_filesz, "libhiprtc.so", 12) ||
                      memmem(begin, part->p_filesz, "libamd_comgr.so", 15);
        while (!t->compiles && (at = memmem(at, (size_t)(end - at), "/clang", 6)) != NULL)
            note_compiler(t, at++, begin, end);
    }
    return 1;
}

/* Whether a compiler can compile nothing for a target, with the folder of headers that MIOpen names. */
static bool compiles(const char *compiler, const char *gfx) {
    char arch[48];
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = 0;
    snprintf(arch, sizeof arch, "--offload-arch=%s", gfx);
    const char *const arguments[] = {compiler,    "-x",       "hip",          "--cuda-device-only",
                                     arch,        "-isystem", "/usr/include", "-c",
                                     "/dev/null", "-o",       "/dev/null",    NULL};
    union {
        const char *const *as_given;
        char *const *as_taken;
    } list = {.as_given = arguments};
    if (posix_spawn_file_actions_init(&actions) != 0) return true;
    for (int fd = 0; fd < 3; fd++) posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
    bool started = posix_spawn(&child, compiler, &actions, NULL, list.as_taken, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    if (!started) return false;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return true; /* someone else has waited for it */
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* ---- what is known of it, for as long as the process lives: a compiler takes a while to start ---- */

enum { TARGETS = 16 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* of all below */
static bool is_read;
static struct text text;
static struct {
    char gfx[32];
    bool compiles;
} tried[TARGETS];
static int tried_count;

static const struct text *text_of_library(void) {
    struct link_map *map = NULL;
    if (!is_read && dlinfo(wick__miopen_opener.handle, RTLD_DI_LINKMAP, &map) == 0) {
        text.base = map->l_addr;
        dl_iterate_phdr(read_text, &text);
        is_read = true;
    }
    return &text;
}

static bool compiles_for(const char *compiler, const char *gfx) {
    for (int i = 0; i < tried_count; i++)
        if (strcmp(tried[i].gfx, gfx) == 0) return tried[i].compiles;
    bool does = compiles(compiler, gfx);
    if (tried_count < TARGETS) {
        snprintf(tried[tried_count].gfx, sizeof tried->gfx, "%s", gfx);
        tried[tried_count++].compiles = does;
    }
    return does;
}

const char *wick__miopen_compiler_fault(const char *target) {
    static _Thread_local char reason[PATH_MAX + 128];
    char gfx[32];
    const char *fault = reason;
    snprintf(gfx, sizeof gfx, "%.*s", (int)strcspn(target, ":"), target);
    pthread_mutex_lock(&mutex);
    const struct text *t = text_of_library();
    if (t->compiles)
        fault = NULL;
    else if (t->lost)
        snprintf(reason, sizeof reason, "it compiles its kernels by %s, which is not there", t->lost);
    else if (t->hip && !compiles_for(t->hip, gfx))
        snprintf(reason, sizeof reason, "it compiles its kernels by %s, which fails to compile for %s", t->hip, gfx);
    else
        fault = NULL;
    pthread_mutex_unlock(&mutex);
    return fault;
}

const char *wick__miopen_compiler(void) {
    pthread_mutex_lock(&mutex);
    const struct text *t = text_of_library();
    const char *compiler = t->compiles ? NULL : t->hip;
    pthread_mutex_unlock(&mutex);
    return compiler;
}
