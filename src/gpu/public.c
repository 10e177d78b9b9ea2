/* What GPUs alone offer in public: their kernel store (wick/kernels.h), and which BLAS they use. */
#include "core/memory.h"
#include "gpu/code/cache.h"
#include "gpu/code/pack.h"
#include "gpu/routes/route.h"

#include <wick/kernels.h>

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH = 4096 };

static struct wick__gpu *gpu_of(const struct wick_device *device) {
    bool gpu = device && (device->backend == &wick__cuda_backend || device->backend == &wick__rocm_backend);
    return gpu ? device->state : NULL;
}

int wick_kernels_modules(void) { return WICK__GPU_MODULES; }

const char *wick_kernels_module(int i) { return i >= 0 && i < WICK__GPU_MODULES ? wick__gpu_module_names[i] : NULL; }

int wick_kernels_count(int module) {
    int count = 0;
    for (int i = 0; i < WICK__GPU_KERNELS; i++) count += (int)wick__gpu_entries[i].module == module;
    return count;
}

const char *wick_kernels_name(int module, int k) {
    for (int i = 0; i < WICK__GPU_KERNELS && k >= 0; i++)
        if ((int)wick__gpu_entries[i].module == module && k-- == 0) return wick__gpu_entries[i].name;
    return NULL;
}

const char *wick_route_name(enum wick_route route) {
    static const char *const names[] = {"none", "pack", "cache", "compile", "built in"};
    return (unsigned)route < sizeof names / sizeof *names ? names[route] : "?";
}

enum wick_route wick_kernels_route(const struct wick_device *device, int module) {
    const struct wick__gpu *gpu = gpu_of(device);
    if (!device || module < 0 || module >= WICK__GPU_MODULES) return WICK_ROUTE_NONE;
    if (!gpu) return WICK_ROUTE_BUILT_IN;
    return (enum wick_route)wick__store_route(gpu->vendor, &gpu->properties, (enum wick__gpu_module)module);
}

enum wick_status wick_kernels_warm(struct wick_device *device) {
    struct wick__gpu *gpu = gpu_of(device);
    if (!device) return wick__fail(WICK_INVALID, "kernels_warm: device is NULL");
    enum wick_status status = gpu ? wick__gpu_use(gpu) : WICK_OK;
    for (int module = 0; gpu && module < WICK__GPU_MODULES; module++) {
        enum wick_status one = wick__gpu_load(gpu, (enum wick__gpu_module)module);
        if (status == WICK_OK) status = one;
    }
    return status;
}

/* ---- packs ---- */

struct modules {
    struct wick__image images[WICK__GPU_MODULES];
    struct wick__pack_module rows[WICK__GPU_MODULES];
    int count;
};

static void add(struct modules *modules, int module, const unsigned char key[WICK__HASH]) {
    struct wick__image *image = &modules->images[modules->count];
    struct wick__pack_module *row = &modules->rows[modules->count++];
    *row = (struct wick__pack_module){
        .name = wick__gpu_module_names[module], .data = image->data, .nbytes = image->nbytes};
    memcpy(row->key, key, WICK__HASH);
}

static enum wick_status write(struct modules *modules, const char *target, const char *folder, const char *who) {
    char path[PATH + 80], reason[PATH + 160];
    snprintf(path, sizeof path, "%s/%s.pack", folder, strncmp(target, "compute_", 8) == 0 ? "ptx" : target);
    if (wick__pack_write(path, target, modules->rows, modules->count, reason, sizeof reason)) return WICK_OK;
    return wick__fail(WICK_IO, "%s: %.900s", who, reason);
}

static void release(struct modules *modules) {
    for (int i = 0; i < modules->count; i++) wick__store_release(&modules->images[i]);
    wick__free(modules, sizeof *modules);
}

/* "gfx942" of "gfx942:sramecc+:xnack-". */
static void base_target(const struct wick__gpu *gpu, char base[64]) {
    snprintf(base, 64, "%.*s", (int)strcspn(gpu->properties.target, ":"), gpu->properties.target);
}

enum wick_status wick_kernels_export(struct wick_device *device, const char *folder) {
    struct wick__gpu *gpu = gpu_of(device);
    enum wick_status status = WICK_OK;
    char base[64];
    if (!device || !folder) return wick__fail(WICK_INVALID, "kernels_export: %s is NULL", device ? "folder" : "device");
    if (!gpu) return wick__fail(WICK_UNSUPPORTED, "kernels_export: %s has no kernel packs", device->name);
    struct modules *modules = wick__calloc(1, sizeof *modules);
    if (!modules) return WICK_MEMORY;
    base_target(gpu, base);
    for (int module = 0; module < WICK__GPU_MODULES && status == WICK_OK; module++) {
        unsigned char key[WICK__HASH];
        wick__store_source_key((enum wick__gpu_module)module, key);
        status = wick__store_find(gpu->vendor, &gpu->properties, (enum wick__gpu_module)module, WICK__ROUTE_NONE,
                                  &modules->images[modules->count]);
        if (status == WICK_OK) add(modules, module, key);
    }
    if (status == WICK_OK && mkdir(folder, 0755) != 0 && errno != EEXIST)
        status = wick__fail(WICK_IO, "kernels_export: %s: %s", folder, strerror(errno));
    if (status == WICK_OK) status = write(modules, base, folder, "kernels_export");
    release(modules);
    return status;
}

/* Reads every module of a pack. */
static enum wick_status read_pack(struct modules *modules, const char *path, const char *target) {
    enum wick__pack_result result = WICK__PACK_FOUND;
    char reason[PATH + 160] = "";
    for (int module = 0; module < WICK__GPU_MODULES && result != WICK__PACK_BAD && result != WICK__PACK_MEMORY;
         module++) {
        struct wick__pack_query query = {
            .path = path, .target = target, .module = wick__gpu_module_names[module], .named = true};
        struct wick__image *image = &modules->images[modules->count];
        wick__store_source_key((enum wick__gpu_module)module, query.key);
        result = wick__pack_find(&query, &image->data, &image->nbytes, reason, sizeof reason);
        image->room = image->nbytes + 1;
        if (result == WICK__PACK_FOUND) add(modules, module, query.key);
    }
    if (result == WICK__PACK_MEMORY) return wick__fail(WICK_MEMORY, "kernels_import: out of memory");
    if (result == WICK__PACK_BAD) return wick__fail(WICK_FORMAT, "kernels_import: %.900s", reason);
    if (modules->count > 0) return WICK_OK;
    return wick__fail(result == WICK__PACK_STALE ? WICK_INVALID : WICK_IO, "kernels_import: %.900s", reason);
}

/* Takes one pack. */
static enum wick_status import(const char *path, const char *folder) {
    char target[64], reason[PATH + 160];
    struct stat info;
    if (stat(path, &info) != 0) return wick__fail(WICK_IO, "kernels_import: %s: %s", path, strerror(errno));
    if (!wick__pack_target(path, target, reason, sizeof reason))
        return wick__fail(WICK_FORMAT, "kernels_import: %.900s", reason);
    struct modules *modules = wick__calloc(1, sizeof *modules);
    if (!modules) return WICK_MEMORY;
    enum wick_status status = read_pack(modules, path, target);
    if (status == WICK_OK) status = write(modules, target, folder, "kernels_import");
    release(modules);
    return status;
}

enum wick_status wick_kernels_import(const char *path) {
    char file[PATH + 300], folder[PATH], reason[PATH + 80];
    enum wick_status status = WICK_OK;
    int count = 0;
    if (!path) return wick__fail(WICK_INVALID, "kernels_import: path is NULL");
    if (!wick__cache_make(folder, sizeof folder, reason, sizeof reason))
        return wick__fail(WICK_IO, "kernels_import: %.900s", reason);
    DIR *entries = opendir(path);
    if (!entries) return import(path, folder);
    for (struct dirent *entry; status == WICK_OK && (entry = readdir(entries));) {
        size_t length = strlen(entry->d_name);
        if (length < 6 || strcmp(entry->d_name + length - 5, ".pack") != 0) continue;
        snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
        status = import(file, folder);
        count++;
    }
    closedir(entries);
    return status == WICK_OK && count == 0 ? wick__fail(WICK_IO, "kernels_import: no pack in %s", path) : status;
}

/* ---- routes ---- */

static enum wick_status routed_gpu(const char *op, struct wick_device *device, struct wick__gpu **gpu) {
    WICK__TRY(wick__device_check(op, device));
    *gpu = gpu_of(device);
    return *gpu ? WICK_OK : wick__fail(WICK_UNSUPPORTED, "%s: %s has kernels of our own alone", op, device->name);
}

enum wick_status wick_blas_set(struct wick_device *device, enum wick_blas choice) {
    struct wick__gpu *gpu;
    if ((unsigned)choice > WICK_BLAS_VENDOR)
        return wick__fail(WICK_INVALID, "blas_set: there is no choice %d", (int)choice);
    WICK__TRY(routed_gpu("blas_set", device, &gpu));
    return wick__routes_set(gpu, WICK__CHOOSE_BLAS, (enum wick__choice)choice);
}

enum wick_status wick_dnn_set(struct wick_device *device, enum wick_dnn choice) {
    struct wick__gpu *gpu;
    if ((unsigned)choice > WICK_DNN_VENDOR)
        return wick__fail(WICK_INVALID, "dnn_set: there is no choice %d", (int)choice);
    WICK__TRY(routed_gpu("dnn_set", device, &gpu));
    return wick__routes_set(gpu, WICK__CHOOSE_DNN, (enum wick__choice)choice);
}

enum wick_status wick_tune_set(struct wick_device *device, enum wick_tune tune) {
    struct wick__gpu *gpu;
    if ((unsigned)tune > WICK_TUNE_ALL) return wick__fail(WICK_INVALID, "tune_set: there is no choice %d", (int)tune);
    WICK__TRY(routed_gpu("tune_set", device, &gpu));
    return wick__routes_tune(gpu, tune);
}

int wick_tune_count(const struct wick_device *device) {
    struct wick__gpu *gpu = device && wick__device_check("tune_count", device) == WICK_OK ? gpu_of(device) : NULL;
    return gpu ? wick__routes_tuned(gpu) : 0;
}

enum wick_status wick_tune_describe(struct wick_device *device, int row, struct wick_tune_info *info) {
    struct wick__gpu *gpu;
    if (!info) return wick__fail(WICK_INVALID, "tune_describe: info is NULL");
    WICK__TRY(routed_gpu("tune_describe", device, &gpu));
    if (row < 0 || !wick__routes_describe_tuned(gpu, row, info))
        return wick__fail(WICK_INVALID, "tune_describe: %s has no row %d", device->name, row);
    return WICK_OK;
}

enum wick_status wick_blas_describe(struct wick_device *device, bool check_all, struct wick_blas_info *info) {
    struct wick__gpu *gpu;
    if (!info) return wick__fail(WICK_INVALID, "blas_describe: info is NULL");
    WICK__TRY(routed_gpu("blas_describe", device, &gpu));
    return wick__routes_blas(gpu, check_all, info);
}

int wick_route_count(const struct wick_device *device) {
    struct wick__gpu *gpu = device && wick__device_check("route_count", device) == WICK_OK ? gpu_of(device) : NULL;
    return gpu ? wick__routes_count(gpu) : 0;
}

enum wick_status wick_route_describe(struct wick_device *device, int route, bool check, struct wick_route_info *info) {
    struct wick__gpu *gpu;
    if (!info) return wick__fail(WICK_INVALID, "route_describe: info is NULL");
    WICK__TRY(routed_gpu("route_describe", device, &gpu));
    if (route < 0 || route >= wick__routes_count(gpu))
        return wick__fail(WICK_INVALID, "route_describe: %s has no route %d", device->name, route);
    return wick__routes_describe(gpu, route, check, info);
}
