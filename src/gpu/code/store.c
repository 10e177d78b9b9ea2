/* Finds the machine code of a module: in the kernel pack, the disk cache, or by compiling its source. */
#define _GNU_SOURCE
#include "gpu/code/store.h"

#include "core/memory.h"
#include "core/setting.h"
#include "core/trust.h"
#include "gpu/code/cache.h"
#include "gpu/code/pack.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH = 4096, FOLDERS = 5, REASON = 240, LOG = 600, KERNEL_ABI = 1, HEADERS = 128 };

/* What is being looked for, and why each route did not have it. */
struct search {
    const struct wick__vendor *vendor;
    const struct wick__properties *properties;
    enum wick__gpu_module module;
    unsigned char key[WICK__HASH];
    char base[64]; /* the target without its features: "gfx942" of "gfx942:sramecc+:xnack-" */
    char pack[REASON], cache[REASON], compile[LOG];
};

static struct search begin(const struct wick__vendor *vendor, const struct wick__properties *properties,
                           enum wick__gpu_module module) {
    struct search search = {.vendor = vendor, .properties = properties, .module = module};
    wick__store_source_key(module, search.key);
    snprintf(search.base, sizeof search.base, "%.*s", (int)strcspn(properties->target, ":"), properties->target);
    return search;
}

/* ---- the pack ---- */

/* The folder that the library lies in, or the program where it is linked into one. */
static bool library_folder(char *path, size_t size) {
    Dl_info info;
    struct link_map *map = NULL;
    ssize_t n = -1;
    if (dladdr1(&wick__store_source_count, &info, (void **)&map, RTLD_DL_LINKMAP) != 0 && map && *map->l_name) {
        char real[PATH_MAX];
        if (realpath(map->l_name, real)) n = snprintf(path, size, "%s", real);
    } else {
        n = readlink("/proc/self/exe", path, size - 1);
    }
    if (n <= 0 || (size_t)n >= size) return false;
    path[n] = '\0';
    char *slash = strrchr(path, '/');
    if (!slash) return false;
    *slash = '\0';
    return true;
}

/* Folders that may hold packs, best first. The cache's holds those that were imported. A privileged process looks
 * nowhere but where packs are installed: whoever can copy or link the program can choose what lies beside it. */
static int pack_folders(char (*folders)[PATH]) {
    const char *own = secure_getenv("WICK_KERNEL_PACK");
    char base[PATH - 128], reason[REASON];
    int n = 0;
    if (own && *own) {
        static atomic_flag told = ATOMIC_FLAG_INIT;
        struct stat info;
        snprintf(folders[n++], PATH, "%s", own);
        int why = stat(own, &info) != 0 ? errno : S_ISDIR(info.st_mode) ? 0 : ENOTDIR;
        if (why && !atomic_flag_test_and_set(&told))
            wick__log(WICK_LOG_WARNING, "WICK_KERNEL_PACK=%.800s: %s", own, strerror(why));
    } else {
        if (!wick__privileged() && library_folder(base, sizeof base)) {
            snprintf(folders[n++], PATH, "%s/wick-kernels", base);
            snprintf(folders[n++], PATH, "%s/../wick-kernels", base);
            snprintf(folders[n++], PATH, "%s/../" WICK__LIBDIR "/wick-kernels", base);
        }
        snprintf(folders[n++], PATH, "%s", WICK__PACKS);
    }
    return n + wick__cache_folder(folders[n], PATH, reason, sizeof reason);
}

/* Looks into one folder. */
static enum wick__pack_result try_folder(struct wick__pack_query *query, const char *folder, const char *name,
                                         struct wick__image *image, char *reason, size_t size) {
    char path[PATH + 96];
    struct stat info;
    size_t nbytes = 0;
    void *data = NULL;
    if (stat(folder, &info) == 0 && (info.st_mode & S_IWOTH)) {
        snprintf(reason, size, "%s can be written by everyone", folder);
        return WICK__PACK_BAD;
    }
    snprintf(path, sizeof path, "%s/%s.pack", folder, name);
    query->path = path;
    enum wick__pack_result result = wick__pack_find(query, &data, &nbytes, reason, size);
    if (result == WICK__PACK_FOUND && image)
        *image = (struct wick__image){.data = data, .nbytes = nbytes, .room = nbytes + 1, .route = WICK__ROUTE_PACK};
    return result;
}

/* Tries one file; the reason stays in search->pack, and is logged, once, when there is a pack but not a good one. */
static enum wick__pack_result try_pack(struct search *search, struct wick__pack_query *query, const char *name,
                                       struct wick__image *image) {
    static _Atomic unsigned told; /* a bit for each result */
    char(*folders)[PATH] = wick__alloc_quiet(FOLDERS * PATH), reason[PATH + 160];
    enum wick__pack_result result = WICK__PACK_ABSENT;
    if (!folders) return WICK__PACK_MEMORY;
    int count = strchr(name, '/') ? 0 : pack_folders(folders);
    for (int i = 0; i < count && result != WICK__PACK_FOUND && result != WICK__PACK_MEMORY; i++) {
        result = try_folder(query, folders[i], name, image, reason, sizeof reason);
        if (result != WICK__PACK_STALE && result != WICK__PACK_BAD) continue;
        snprintf(search->pack, sizeof search->pack, "%.*s", REASON - 1, reason);
        if (!(told & 1u << result)) wick__log(WICK_LOG_WARNING, "kernel pack: %s", reason);
        told |= 1u << result;
    }
    wick__free(folders, FOLDERS * PATH);
    return result;
}

/* Packs that serve a target: its own; for sm_XY also those of sm_XZ with Z < Y; last PTX. */
static enum wick__pack_result find_pack(struct search *search, struct wick__image *image) {
    struct wick__pack_query query = {
        .target = search->base, .module = wick__gpu_module_names[search->module], .look = !image};
    enum wick__pack_result result;
    char name[64], *end;
    memcpy(query.key, search->key, WICK__HASH);
    snprintf(search->pack, sizeof search->pack, "no %s.pack", search->base);
    result = try_pack(search, &query, search->base, image);
    if (result == WICK__PACK_FOUND || strncmp(search->base, "sm_", 3) != 0) return result;
    long own = strtol(search->base + 3, &end, 10);
    if (*end || own < 10 || own > 9999) return result;
    query.target = name;
    for (long older = own - 1; older >= own - own % 10; older--) {
        snprintf(name, sizeof name, "sm_%ld", older);
        result = try_pack(search, &query, name, image);
        if (result == WICK__PACK_FOUND) return result;
    }
    query.target = NULL;
    query.ptx = (int)own;
    return try_pack(search, &query, "ptx", image);
}

/* ---- the compiler ---- */

static bool forbidden(void) {
    static const char *const words[] = {"never", "auto", NULL};
    return wick__setting_word("WICK_COMPILE", words, 1) == 0;
}

static int options_of(const struct search *search, const char *options[4], char *wave, size_t size) {
    bool nvidia = strncmp(search->base, "sm_", 3) == 0;
    int n = 0;
    snprintf(wave, size, "-DGPU_WAVE=%d", search->properties->wave);
    options[n++] = "-std=c++14";
    options[n++] = nvidia ? "--fmad=false" : "-ffp-contract=off";
    options[n++] = wave;
    return n;
}

static void cache_key(const struct search *search, struct wick__cache_key *key) {
    const char *options[4], *version = search->vendor->compiler_version ? search->vendor->compiler_version() : "";
    char wave[32], digits[2 * WICK__HASH + 1];
    int n = options_of(search, options, wave, sizeof wave);
    wick__hash_text(search->key, WICK__HASH, digits);
    snprintf(key->name, sizeof key->name, "%.30s-%.60s", wick__gpu_module_names[search->module],
             search->properties->target);
    int at =
        snprintf(key->text, sizeof key->text, "abi=%d\nfamily=%s\nmodule=%s\ntarget=%s\nsource=%s\n", KERNEL_ABI,
                 search->vendor->family, wick__gpu_module_names[search->module], search->properties->target, digits);
    for (int i = 0; i < n; i++)
        at += snprintf(key->text + at, sizeof key->text - (size_t)at, "option=%s\n", options[i]);
    snprintf(key->compiler, sizeof key->compiler, "%s", version ? version : "");
}

/* Compiles, one at a time in a process: not every vendor's compiler can do more. */
static enum wick_status compile(struct search *search, struct wick__image *image) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    const char *names[HEADERS], *texts[HEADERS], *options[4];
    char wave[32];
    int n_options = options_of(search, options, wave, sizeof wave), n = 0;
    for (int i = WICK__GPU_MODULES; i < wick__store_source_count && n < HEADERS; i++, n++) {
        names[n] = wick__store_source(i)->name;
        texts[n] = wick__store_source(i)->text;
    }
    const struct wick__source_job job = {.target = search->base,
                                         .name = wick__store_source((int)search->module)->name,
                                         .source = wick__store_source((int)search->module)->text,
                                         .n_headers = n,
                                         .header_names = names,
                                         .headers = texts,
                                         .n_options = n_options,
                                         .options = options};
    struct wick__error error = {0};
    wick__error_swap(&error);
    pthread_mutex_lock(&mutex);
    enum wick_status status = search->vendor->compile(&job, &image->data, &image->nbytes);
    pthread_mutex_unlock(&mutex);
    wick__error_swap(&error);
    if (status != WICK_OK) snprintf(search->compile, sizeof search->compile, "%.*s", LOG - 1, error.text);
    image->room = image->nbytes;
    image->route = WICK__ROUTE_COMPILE;
    return status;
}

/* Compiles and keeps; or takes what another process compiled meanwhile. */
static enum wick_status compile_once(struct search *search, const struct wick__cache_key *key, bool cached,
                                     struct wick__image *image) {
    int lock = wick__cache_lock(key);
    enum wick_status status = WICK_OK;
    if (!cached || wick__cache_find(key, image, search->cache, sizeof search->cache) != WICK__CACHE_FOUND) {
        status = compile(search, image);
        if (status == WICK_OK) wick__cache_put(key, image->data, image->nbytes);
    }
    wick__cache_unlock(key, lock);
    return status;
}

/* ---- the store ---- */

static enum wick_status nowhere(const struct search *search) {
    return wick__fail(WICK_DEVICE, "no code of kernel module %s for %s: pack: %s; cache: %s; compiler: %s",
                      wick__gpu_module_names[search->module], search->properties->target, search->pack, search->cache,
                      search->compile);
}

enum wick_status wick__store_find(const struct wick__vendor *vendor, const struct wick__properties *properties,
                                  enum wick__gpu_module module, enum wick__route after, struct wick__image *image) {
    struct search search = begin(vendor, properties, module);
    snprintf(search.pack, sizeof search.pack, "refused by the driver");
    snprintf(search.cache, sizeof search.cache, "refused by the driver");
    snprintf(search.compile, sizeof search.compile, "refused by the driver");
    if (after < WICK__ROUTE_PACK) {
        enum wick__pack_result result = find_pack(&search, image);
        if (result == WICK__PACK_FOUND) return WICK_OK;
        if (result == WICK__PACK_MEMORY) return wick__fail(WICK_MEMORY, "out of memory unpacking kernels");
    }
    if (after >= WICK__ROUTE_COMPILE) return nowhere(&search);
    struct wick__cache_key key;
    cache_key(&search, &key);
    if (after < WICK__ROUTE_CACHE) {
        enum wick__cache_result result = wick__cache_find(&key, image, search.cache, sizeof search.cache);
        if (result == WICK__CACHE_FOUND) return WICK_OK;
        if (result == WICK__CACHE_MEMORY) return wick__fail(WICK_MEMORY, "out of memory reading kernels");
    } else if (after == WICK__ROUTE_CACHE) {
        wick__cache_drop(&key);
    }
    if (forbidden()) {
        snprintf(search.compile, sizeof search.compile, "forbidden by WICK_COMPILE=never");
    } else {
        enum wick_status status = compile_once(&search, &key, after < WICK__ROUTE_CACHE, image);
        if (status == WICK_OK) return WICK_OK;
        if (status == WICK_MEMORY) return wick__fail(WICK_MEMORY, "out of memory compiling kernels");
    }
    return nowhere(&search);
}

void wick__store_release(struct wick__image *image) {
    wick__free(image->data, image->room);
    *image = (struct wick__image){0};
}

enum wick__route wick__store_route(const struct wick__vendor *vendor, const struct wick__properties *properties,
                                   enum wick__gpu_module module) {
    struct search search = begin(vendor, properties, module);
    struct wick__cache_key key;
    if (find_pack(&search, NULL) == WICK__PACK_FOUND) return WICK__ROUTE_PACK;
    cache_key(&search, &key);
    if (wick__cache_find(&key, NULL, search.cache, sizeof search.cache) == WICK__CACHE_FOUND) return WICK__ROUTE_CACHE;
    return *key.compiler && !forbidden() ? WICK__ROUTE_COMPILE : WICK__ROUTE_NONE;
}
