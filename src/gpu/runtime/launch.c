/* Kernels: found in the store, loaded module by module when first used, and launched. */
#include "gpu/code/store.h"
#include "gpu/runtime/gpu.h"

#include "core/checked.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum wick_status wick__gpu_check(struct wick__gpu *gpu, int code, const char *what, ...) {
    char reason[256], doing[160];
    va_list args;
    if (code == 0) return WICK_OK;
    va_start(args, what);
    vsnprintf(doing, sizeof doing, what, args);
    va_end(args);
    gpu->vendor->error_text(code, reason, sizeof reason);
    return wick__fail(gpu->vendor->out_of_memory(code) ? WICK_MEMORY : WICK_DEVICE, "%s: %s: %s", gpu->device->name,
                      doing, reason);
}

enum wick_status wick__gpu_use(struct wick__gpu *gpu) {
    int code = gpu->vendor->use(gpu->ordinal, gpu->context);
    return code == 0 ? WICK_OK : wick__gpu_check(gpu, code, "use");
}

/* Loads a module by the first route whose code the driver takes. Called with the mutex held. */
static enum wick_status load(struct wick__gpu *gpu, enum wick__gpu_module module) {
    enum wick__route after = WICK__ROUTE_NONE;
    for (;;) {
        struct wick__image image = {0};
        WICK__TRY(wick__store_find(gpu->vendor, &gpu->properties, module, after, &image));
        int code = gpu->vendor->module_load(&gpu->modules[module], image.data);
        enum wick__route route = image.route;
        gpu->native[module] = image.nbytes > 4 && memcmp(image.data, "\177ELF", 4) == 0;
        wick__store_release(&image);
        if (code == 0) return WICK_OK;
        gpu->modules[module] = NULL;
        after = route;
        if (route + 1 < WICK__ROUTE_LIMIT) {
            char reason[256];
            gpu->vendor->error_text(code, reason, sizeof reason);
            wick__log(WICK_LOG_WARNING, "%s: the driver refused module %s: %s", gpu->device->name,
                      wick__gpu_module_names[module], reason);
            continue;
        }
        return wick__gpu_check(gpu, code, "load module %s", wick__gpu_module_names[module]);
    }
}

enum wick_status wick__gpu_load(struct wick__gpu *gpu, enum wick__gpu_module module) {
    pthread_mutex_lock(&gpu->mutex);
    enum wick_status status = gpu->modules[module] ? WICK_OK : load(gpu, module);
    pthread_mutex_unlock(&gpu->mutex);
    return status;
}

bool wick__gpu_is_native(struct wick__gpu *gpu, enum wick__gpu_module module) {
    if (wick__gpu_load(gpu, module) != WICK_OK) return false;
    pthread_mutex_lock(&gpu->mutex);
    bool native = gpu->native[module];
    pthread_mutex_unlock(&gpu->mutex);
    return native;
}

/* The slow way of the first launch of a kernel. */
static enum wick_status find(struct wick__gpu *gpu, enum wick__gpu_kernel kernel, unsigned shared, void **function) {
    enum wick__gpu_module module = wick__gpu_entries[kernel].module;
    const char *name = wick__gpu_entries[kernel].name;
    enum wick_status status = WICK_OK;
    pthread_mutex_lock(&gpu->mutex);
    if (!gpu->modules[module]) status = load(gpu, module);
    if (status == WICK_OK) {
        int code = gpu->vendor->module_function(function, gpu->modules[module], name);
        status = wick__gpu_check(gpu, code, "find kernel %s", name);
    }
    if (status == WICK_OK && shared > 0)
        status = wick__gpu_check(gpu, gpu->vendor->function_shared(*function, shared), "give %u bytes of LDS to %s",
                                 shared, name);
    if (status == WICK_OK) atomic_store_explicit(&gpu->functions[kernel], *function, memory_order_release);
    pthread_mutex_unlock(&gpu->mutex);
    return status;
}

enum wick_status wick__gpu_launch(struct wick__gpu *gpu, const struct wick__launch *launch, void *params) {
    struct wick__blocks blocks = {
        .grid = {launch->grid[0], launch->grid[1] ? launch->grid[1] : 1, launch->grid[2] ? launch->grid[2] : 1},
        .threads = launch->threads ? launch->threads : GPU_BLOCK,
        .shared = launch->shared};
    void *function = atomic_load_explicit(&gpu->functions[launch->kernel], memory_order_acquire);
    if (blocks.grid[0] == 0) return WICK_OK;
    if (launch->together && (!gpu->properties.together || wick__gpu_records(gpu))) return WICK_UNSUPPORTED;
    WICK__TRY(wick__gpu_use(gpu));
    if (!function) WICK__TRY(find(gpu, launch->kernel, launch->most ? launch->most : launch->shared, &function));
    /* PTX is of an older capability: it does not wait. */
    blocks.follows = gpu->properties.follows && gpu->native[wick__gpu_entries[launch->kernel].module] && !launch->apart;
    blocks.together = launch->together;
    void *args[] = {params};
    int code = gpu->vendor->launch(function, &blocks, wick__gpu_queue(gpu), args);
    if (launch->together && code == WICK__TOO_LARGE) return WICK_UNSUPPORTED;
    return code == 0 ? WICK_OK : wick__gpu_check(gpu, code, "launch %s", wick__gpu_entries[launch->kernel].name);
}

void wick__gpu_modules_close(struct wick__gpu *gpu) {
    for (int i = 0; i < WICK__GPU_MODULES; i++)
        if (gpu->modules[i]) gpu->vendor->module_unload(gpu->modules[i]);
}

unsigned wick__gpu_blocks(const struct wick__gpu *gpu, int64_t items, int per_thread) {
    int64_t per_block = (int64_t)per_thread * GPU_BLOCK, wanted = items / per_block + (items % per_block != 0);
    /* As many blocks as are resident at once, some times over, so that the last ones leave no unit idle for long. */
    int64_t resident = (int64_t)gpu->properties.units * wick__max(gpu->properties.threads / GPU_BLOCK, 1);
    return (unsigned)wick__min(wanted, resident * 8);
}
