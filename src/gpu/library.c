/* The run-time loader of vendor libraries. */
#define _GNU_SOURCE
#include "gpu/library.h"

#include "core/folder.h"
#include "core/fork.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_COPIES = 4 };

/* ---- what is remembered ---- */

/* A copy of a text in the opener's own memory; what no longer fits is cut. */
__attribute__((format(printf, 2, 3))) static const char *keep(struct wick__opener *opener, const char *format, ...) {
    char *to = opener->text + opener->used;
    size_t left = sizeof opener->text - opener->used;
    if (left < 2) return "";
    va_list args;
    va_start(args, format);
    int length = vsnprintf(to, left, format, args);
    va_end(args);
    opener->used += length < 0 ? 1 : (size_t)length < left ? (size_t)length + 1 : left;
    return to;
}

static void attempted(struct wick__opener *opener, const char *path, const char *error) {
    if (opener->count == WICK__ATTEMPTS) return;
    opener->attempts[opener->count++] = (struct wick__attempt){.path = keep(opener, "%s", path), .error = error};
    if (error) opener->fault = error;
}

/* ---- copies in the process ---- */

struct copies {
    const char *name;
    int count;
    char paths[MAX_COPIES][PATH_MAX];
};

/* "libamdhip64" is in libamdhip64.so.6 and, as wheels rename their libraries, in libamdhip64-1f2e3d.so. */
static bool is_library(const char *base, const char *name) {
    size_t length = strlen(name);
    return strncmp(base, name, length) == 0 && (base[length] == '.' || base[length] == '-') && strstr(base, ".so");
}

static int note_copy(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size;
    struct copies *copies = data;
    const char *slash = strrchr(info->dlpi_name, '/');
    if (!is_library(slash ? slash + 1 : info->dlpi_name, copies->name)) return 0;
    if (copies->count < MAX_COPIES) snprintf(copies->paths[copies->count], PATH_MAX, "%s", info->dlpi_name);
    copies->count++;
    return 0;
}

int wick__library_copies(const char *name, char *path, size_t size) {
    struct copies copies = {.name = name};
    dl_iterate_phdr(note_copy, &copies);
    if (copies.count) snprintf(path, size, "%s", copies.paths[0]);
    return copies.count;
}

/* ---- one attempt ---- */

static bool resolve(struct wick__opener *opener, void *handle, void *functions, const char *path) {
    for (int i = 0; i < opener->symbol_count; i++) {
        const struct wick__symbol *symbol = &opener->symbols[i];
        void *address = dlsym(handle, symbol->name);
        if (!address && symbol->required) {
            attempted(opener, path, keep(opener, "%s has no %s", path, symbol->name));
            return false;
        }
        memcpy((char *)functions + symbol->offset, &address, sizeof address);
    }
    return true;
}

/* The file a library was opened from. */
static const char *path_of(struct wick__opener *opener, void *handle, const char *path) {
    struct link_map *map;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map->l_name && *map->l_name)
        return keep(opener, "%s", map->l_name);
    return keep(opener, "%s", path);
}

static bool attempt(struct wick__opener *opener, const char *path, int flags, void *functions) {
    dlerror();
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | flags);
    if (!handle) {
        const char *error = dlerror();
        attempted(opener, path, keep(opener, "%s", error ? error : "can't be opened"));
        return false;
    }
    if (!resolve(opener, handle, functions, path)) return false;
    attempted(opener, path, NULL);
    opener->handle = handle;
    opener->path = path_of(opener, handle, path);
    opener->fault = NULL;
    return true;
}

/* ---- places ---- */

static bool in_process(struct wick__opener *opener, void *functions) {
    struct copies copies = {.name = opener->name};
    dl_iterate_phdr(note_copy, &copies);
    for (int i = 0; i < copies.count && i < MAX_COPIES; i++)
        if (attempt(opener, copies.paths[i], RTLD_NOLOAD, functions)) return true;
    return false;
}

/* Tries the library's names in a folder, for those that are there. */
static bool in_folder(struct wick__opener *opener, const char *folder, void *functions) {
    char path[PATH_MAX];
    for (const char *const *version = opener->versions; *version; version++) {
        int length = snprintf(path, sizeof path, "%s/%s%s", folder, opener->name, *version);
        if (length < 0 || (size_t)length >= sizeof path || access(path, F_OK) != 0) continue;
        if (attempt(opener, path, 0, functions)) return true;
    }
    return false;
}

struct folder_search {
    struct wick__opener *opener;
    void *functions;
};
static bool try_folder(void *context, const char *path) {
    struct folder_search *search = context;
    return in_folder(search->opener, path, search->functions);
}

/* Tries the folders that match a pattern, the highest version first. */
static bool in_folders(struct wick__opener *opener, const char *pattern, void *functions) {
    struct folder_search search = {opener, functions};
    return wick__folder_match(pattern, true, try_folder, &search);
}

/* A root is a variable's name, or, with a '/' in it, a pattern of folders. */
static bool in_root(struct wick__opener *opener, const char *root, void *functions) {
    if (strchr(root, '/')) return in_folders(opener, root, functions);
    const char *value = secure_getenv(root);
    if (!value || !*value) return false;
    static const char *const folders[] = {"lib", "lib64", "targets/x86_64-linux/lib"};
    char path[PATH_MAX];
    int count = opener->count;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "%s/%s", value, folders[i]);
        if (in_folder(opener, path, functions)) return true;
    }
    if (opener->count == count)
        attempted(opener, value, keep(opener, "%s=%s: no %s in lib or lib64", root, value, opener->name));
    return false;
}

/* Folders of wheels that carry vendor libraries, below an environment's prefix. */
static bool in_wheels(struct wick__opener *opener, const char *prefix, void *functions) {
    static const char *const folders[] = {"lib/python3*/site-packages/nvidia/*/lib",
                                          "lib/python3*/site-packages/_rocm_sdk_*/lib",
                                          "lib/python3*/site-packages/torch/lib", "lib"};
    char pattern[PATH_MAX];
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        int length = snprintf(pattern, sizeof pattern, "%s/%s", prefix, folders[i]);
        if (length > 0 && (size_t)length < sizeof pattern && in_folders(opener, pattern, functions)) return true;
    }
    return false;
}

/* The prefix of the Python that this process is; false when it is not one. */
static bool python_prefix(char prefix[PATH_MAX]) {
    ssize_t length = readlink("/proc/self/exe", prefix, PATH_MAX - 1);
    if (length <= 0) return false;
    prefix[length] = 0;
    char *slash = strrchr(prefix, '/');
    if (!slash || strncmp(slash + 1, "python", 6) != 0) return false;
    *slash = 0;
    slash = strrchr(prefix, '/');
    if (!slash || slash == prefix) return false;
    *slash = 0;
    return true;
}

/* Whether there is a device that the library could drive. On a simulated machine of wick doctor's tests that is not
 * asked: its nodes are not files. */
static bool has_node(const struct wick__opener *opener) {
    if (!opener->nodes || secure_getenv("WICK_DOCTOR_ROOT")) return true;
    for (const char *const *node = opener->nodes; *node; node++)
        if (access(*node, F_OK) == 0) return true;
    return false;
}

static bool search(struct wick__opener *opener, void *functions) {
    const char *path = secure_getenv(opener->variable);
    if (path && *path) return attempt(opener, path, 0, functions);
    if (in_process(opener, functions)) return true;
    if (!has_node(opener)) return false;
    char name[128], prefix[PATH_MAX];
    for (const char *const *version = opener->versions; *version; version++) {
        snprintf(name, sizeof name, "%s%s", opener->name, *version);
        if (attempt(opener, name, 0, functions)) return true;
    }
    for (const char *const *root = opener->roots; *root; root++)
        if (in_root(opener, *root, functions)) return true;
    static const char *const environments[] = {"VIRTUAL_ENV", "CONDA_PREFIX"};
    for (size_t i = 0; i < sizeof environments / sizeof *environments; i++) {
        const char *value = secure_getenv(environments[i]);
        if (value && *value && in_wheels(opener, value, functions)) return true;
    }
    return python_prefix(prefix) && in_wheels(opener, prefix, functions);
}

/* ---- the whole ---- */

/* Why none was taken: a library that was there and would not do says more than one that was not. */
static const char *verdict(struct wick__opener *opener) {
    for (int i = 0; i < opener->count; i++)
        if (!strstr(opener->attempts[i].error, "No such file")) return opener->attempts[i].error;
    const char *path = secure_getenv(opener->variable);
    if (path && *path) return keep(opener, "%s=%s: no such file", opener->variable, path);
    if (!has_node(opener)) return keep(opener, "%s is not looked for: there is no %s", opener->name, opener->nodes[0]);
    return keep(opener, "no %s%s or other version of it was found", opener->name, opener->versions[0]);
}

/* The openers that were tried. In a forked child their locks are made anew: the threads that held them stayed behind.
 */
static _Atomic(struct wick__opener *) openers;

static void forget(void) {
    for (struct wick__opener *opener = openers; opener; opener = opener->other)
        pthread_mutex_init(&opener->mutex, NULL);
}
__attribute__((constructor)) static void watch_forks(void) { (void)pthread_atfork(NULL, NULL, forget); }

static void note(struct wick__opener *opener) {
    opener->tried = true;
    opener->forks = wick__forks();
    opener->other = openers;
    while (!atomic_compare_exchange_weak(&openers, &opener->other, opener)) {
    }
}

bool wick__library_forked(const struct wick__opener *opener) {
    return opener->tried && (opener->handle || !opener->fault) && opener->forks != wick__forks();
}

bool wick__library_open(struct wick__opener *opener, void *functions) {
    if (opener->tried) return opener->handle != NULL;
    note(opener);
    if (search(opener, functions)) return true;
    opener->fault = verdict(opener);
    return false;
}

bool wick__library_within(struct wick__opener *opener, const struct wick__opener *other, void *functions) {
    if (!other->handle || !resolve(opener, other->handle, functions, other->path)) return false;
    attempted(opener, other->path, NULL);
    opener->handle = other->handle;
    opener->path = other->path;
    opener->fault = NULL;
    return true;
}

void wick__library_beside(const struct wick__opener *opener, const char *name) {
    char path[PATH_MAX];
    const char *slash = opener->path ? strrchr(opener->path, '/') : NULL;
    int length = slash ? snprintf(path, sizeof path, "%.*s/%s", (int)(slash - opener->path), opener->path, name) : -1;
    if (length > 0 && (size_t)length < sizeof path) (void)dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

void *wick__library_symbol(const struct wick__opener *opener, const char *name) {
    return opener->handle ? dlsym(opener->handle, name) : NULL;
}

void wick__library_refuse(struct wick__opener *opener, const char *reason) {
    opener->fault = keep(opener, "%s", reason);
    if (opener->count) opener->attempts[opener->count - 1].error = opener->fault;
    opener->path = NULL;
    opener->handle = NULL;
}

void wick__library_describe(const struct wick__opener *opener, struct wick__library *library) {
    *library = (struct wick__library){.name = opener->name,
                                      .path = opener->path,
                                      .fault = opener->fault,
                                      .attempts = opener->attempts,
                                      .count = opener->count};
}
