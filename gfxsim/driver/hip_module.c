/* HIP's modules, launches, and the kernels that are compiled into a program. */
#include "gfxsim/driver/hip.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- modules ---- */

static int module_load(void **module, const void *image, size_t nbytes) {
    int code = hip_refusal();
    if (!code && !module) code = DRIVER_VALUE;
    return code ? code : driver_module_load(hip_device(hip_current), image, nbytes, (struct driver_module **)module);
}
/* All of a file, which the caller frees; a code. */
static int read_file(const char *path, void **bytes, size_t *nbytes) {
    FILE *file = fopen(path, "rb");
    if (!file) return DRIVER_FILE;
    long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    rewind(file);
    int code = size > 0 && size < LONG_MAX ? DRIVER_OK : DRIVER_IMAGE; /* LONG_MAX: a folder */
    *bytes = code ? NULL : malloc((size_t)size);
    if (!code && !*bytes) code = DRIVER_MEMORY;
    if (!code && fread(*bytes, 1, (size_t)size, file) != (size_t)size) code = DRIVER_IMAGE;
    *nbytes = code ? 0 : (size_t)size;
    fclose(file);
    return code;
}
API int hipModuleLoad(void **module, const char *path) {
    ENTER(hipModuleLoad);
    if (!module || !path) RETURN(DRIVER_VALUE);
    void *image = NULL;
    size_t nbytes = 0;
    int code = read_file(path, &image, &nbytes);
    if (!code) code = module_load(module, image, nbytes);
    free(image);
    RETURN(code);
}
API int hipModuleLoadData(void **module, const void *image) {
    ENTER(hipModuleLoadData);
    RETURN(module_load(module, image, SIZE_MAX));
}
API int hipModuleLoadDataEx(void **module, const void *image, unsigned n, int *options, void **values) {
    (void)n, (void)options, (void)values;
    ENTER(hipModuleLoadDataEx);
    RETURN(module_load(module, image, SIZE_MAX));
}
API int hipModuleUnload(void *module) {
    ENTER(hipModuleUnload);
    RETURN(driver_module_unload(module));
}
API int hipModuleGetFunction(void **function, void *module, const char *name) {
    ENTER(hipModuleGetFunction);
    if (!function || !name) RETURN(DRIVER_VALUE);
    RETURN(driver_module_function(module, name, (struct driver_function **)function));
}
API int hipModuleGetGlobal(void **at, size_t *size, void *module, const char *name) {
    ENTER(hipModuleGetGlobal);
    if (!name) RETURN(DRIVER_VALUE);
    if (!driver_is_module(module)) RETURN(DRIVER_HANDLE);
    size_t n = 0;
    void *global = engine_global(((struct driver_module *)module)->code, name, &n);
    if (!global) RETURN(DRIVER_NOT_FOUND);
    if (at) *at = global;
    if (size) *size = n;
    RETURN(DRIVER_OK);
}
API int hipFuncSetAttribute(const void *function, int which, int value) {
    (void)which;
    ENTER(hipFuncSetAttribute);
    if (!driver_is_function(function)) RETURN(DRIVER_VALUE);
    const struct driver_device *device = ((const struct driver_function *)function)->module->device;
    RETURN(value < 0 || (size_t)value > device->shared ? DRIVER_VALUE : DRIVER_OK);
}
API int hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int threads, size_t shared) {
    ENTER(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor);
    if (!blocks || threads <= 0) RETURN(DRIVER_VALUE);
    if (!driver_is_function(function)) RETURN(DRIVER_HANDLE);
    *blocks = engine_occupancy(function, (unsigned)threads, shared);
    RETURN(DRIVER_OK);
}

/* ---- launches ---- */

struct launch {
    struct driver_function *function;
    struct driver_shape shape;
    size_t shared; /* which the shape gets once it is small enough */
    void **args, **extra;
    void *before, *after; /* events */
};
/* `extra` is a list of keys and values that ends with key 3: 1 is for the address of the parameters, 2 for that of the
 * number of their bytes. */
static int launch(struct launch *l, struct driver_stream *stream) {
    struct driver_parameters parameters = {.each = l->args};
    if (l->args && l->extra) return DRIVER_VALUE;
    for (void **extra = l->extra; extra && *extra != (void *)3; extra += 2) {
        if (*extra == (void *)1) parameters.packed = extra[1];
        if (*extra == (void *)2) parameters.size = *(size_t *)extra[1];
    }
    if (l->shared > stream->device->shared) return DRIVER_VALUE;
    l->shape.shared = (unsigned)l->shared;
    int code = l->before ? driver_event_record(l->before, stream) : DRIVER_OK;
    if (!code) code = driver_launch(l->function, &l->shape, &parameters, stream);
    if (!code && l->after) code = driver_event_record(l->after, stream);
    return code;
}
API int hipModuleLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                              unsigned block_y, unsigned block_z, unsigned shared, void *stream, void **args,
                              void **extra) {
    ENTER(hipModuleLaunchKernel);
    STREAM(on, stream);
    struct launch l = {.function = function, .shared = shared, .args = args, .extra = extra};
    l.shape = (struct driver_shape){.grid = {grid_x, grid_y, grid_z}, .block = {block_x, block_y, block_z}};
    RETURN(launch(&l, on));
}
API int hipModuleLaunchCooperativeKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                         unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                                         void *stream, void **args) {
    ENTER(hipModuleLaunchCooperativeKernel);
    STREAM(on, stream);
    struct launch l = {.function = function, .shared = shared, .args = args};
    l.shape = (struct driver_shape){.grid = {grid_x, grid_y, grid_z}, .block = {block_x, block_y, block_z}};
    l.shape.cooperative = true;
    RETURN(launch(&l, on));
}
/* `work` is threads, not blocks. Code that is not compiled for blocks of one size may have the last one smaller. */
API int hipExtModuleLaunchKernel(void *function, unsigned work_x, unsigned work_y, unsigned work_z, unsigned block_x,
                                 unsigned block_y, unsigned block_z, size_t shared, void *stream, void **args,
                                 void **extra, void *before, void *after, unsigned flags) {
    (void)flags; /* whether it may run out of order */
    ENTER(hipExtModuleLaunchKernel);
    STREAM(on, stream);
    unsigned work[3] = {work_x, work_y, work_z}, block[3] = {block_x, block_y, block_z};
    struct launch l = {
        .function = function, .shared = shared, .args = args, .extra = extra, .before = before, .after = after};
    for (int i = 0; i < 3; i++) {
        if (work[i] == 0 || block[i] == 0) RETURN(DRIVER_VALUE);
        if (block[i] > work[i]) block[i] = work[i];
        l.shape.rest[i] = work[i] % block[i];
        l.shape.grid[i] = work[i] / block[i] + (l.shape.rest[i] ? 1 : 0);
        l.shape.block[i] = block[i];
    }
    RETURN(launch(&l, on));
}
#if HIP_GENERATION < 6
/* It was a C++ function then. */
extern __typeof__(hipExtModuleLaunchKernel) hip_ext_launch __asm__(
    "_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j")
    __attribute__((alias("hipExtModuleLaunchKernel"), visibility("default")));
#endif

/* ---- kernels that are compiled into a program: its start tells of them, their code is loaded with their first launch
 * ---- */

struct dim3 {
    unsigned x, y, z;
};
/* What the compiler puts into a program. */
struct fat_wrapper {
    unsigned magic, version;
    const void *bundle;
    void *unused;
};
enum { FAT_MAGIC = 0x48495046 }; /* "HIPF" */

struct fat {
    struct fat *next;
    const void *bundle;
    struct driver_module *modules[DRIVER_DEVICES];
};
struct registered {
    struct registered *next;
    const void *stub; /* the function of the program that stands for the kernel */
    struct fat *fat;
    char name[];
};
enum { BUCKETS = 4096 };
static struct fat *fats;
static struct registered *registered[BUCKETS];

static unsigned bucket(const void *stub) { return (unsigned)((uintptr_t)stub >> 4) % BUCKETS; }

/* These three report no failure: a program without a kernel fails when it launches it. */
API void **__hipRegisterFatBinary(const void *data) {
    static struct driver_entry entry = {.name = "__hipRegisterFatBinary"};
    const struct fat_wrapper *wrapper = data;
    struct fat *fat = NULL;
    if (!driver_enter(&entry) && wrapper && wrapper->magic == FAT_MAGIC) fat = calloc(1, sizeof *fat);
    if (fat) {
        fat->bundle = wrapper->bundle;
        fat->next = fats;
        fats = fat;
    }
    driver_leave(DRIVER_OK);
    return (void **)fat;
}
API void __hipRegisterFunction(void **handle, const void *stub, char *device_name, const char *name, unsigned threads,
                               void *thread, void *block, struct dim3 *block_size, struct dim3 *grid, int *wave) {
    static struct driver_entry entry = {.name = "__hipRegisterFunction"};
    (void)device_name, (void)threads, (void)thread, (void)block, (void)block_size, (void)grid, (void)wave;
    struct registered *r = NULL;
    if (!driver_enter(&entry) && handle) r = calloc(1, sizeof *r + strlen(name) + 1);
    if (r) {
        r->stub = stub;
        r->fat = (struct fat *)handle;
        strcpy(r->name, name);
        r->next = registered[bucket(stub)];
        registered[bucket(stub)] = r;
    }
    driver_leave(DRIVER_OK);
}
API void __hipUnregisterFatBinary(void **handle) {
    static struct driver_entry entry = {.name = "__hipUnregisterFatBinary"};
    driver_enter(&entry);
    struct fat *fat = (struct fat *)handle;
    for (int i = 0; i < BUCKETS && fat; i++)
        for (struct registered **link = &registered[i]; *link;) {
            struct registered *r = *link;
            if (r->fat != fat) {
                link = &r->next;
                continue;
            }
            *link = r->next;
            free(r);
        }
    for (struct fat **link = &fats; *link; link = &(*link)->next)
        if (*link == fat) {
            *link = fat->next;
            for (int i = 0; i < DRIVER_DEVICES; i++)
                if (fat->modules[i]) driver_module_unload(fat->modules[i]);
            free(fat);
            break;
        }
    driver_leave(DRIVER_OK);
}

static int find_registered(const void *stub, struct driver_function **function) {
    const struct registered *r = registered[bucket(stub)];
    while (r && r->stub != stub) r = r->next;
    if (!r) return DRIVER_DEVICE_FUNCTION;
    struct driver_module **module = &r->fat->modules[hip_current];
    int code = *module ? DRIVER_OK : driver_module_load(hip_device(hip_current), r->fat->bundle, SIZE_MAX, module);
    return code ? code : driver_module_function(*module, r->name, function);
}

API int hipLaunchKernel(const void *stub, struct dim3 grid, struct dim3 block, void **args, size_t shared,
                        void *stream) {
    ENTER(hipLaunchKernel);
    STREAM(on, stream);
    struct driver_function *function = NULL;
    int code = find_registered(stub, &function);
    if (code) RETURN(code);
    struct launch l = {.function = function, .shared = shared, .args = args};
    l.shape = (struct driver_shape){.grid = {grid.x, grid.y, grid.z}, .block = {block.x, block.y, block.z}};
    RETURN(launch(&l, on));
}

/* kernel<<<grid, block, shared, stream>>>(...) pushes, then calls the stub, which pops and launches. */
struct configuration {
    struct dim3 grid, block;
    size_t shared;
    void *stream;
};
enum { NESTED = 16 };
static _Thread_local struct configuration pushed[NESTED];
static _Thread_local int n_pushed;

API int __hipPushCallConfiguration(struct dim3 grid, struct dim3 block, size_t shared, void *stream) {
    if (n_pushed == NESTED) return hip_last(DRIVER_CONFIGURATION);
    pushed[n_pushed++] = (struct configuration){grid, block, shared, stream};
    return DRIVER_OK;
}
API int __hipPopCallConfiguration(struct dim3 *grid, struct dim3 *block, size_t *shared, void **stream) {
    if (n_pushed == 0) return hip_last(DRIVER_NO_CONFIGURATION);
    const struct configuration *c = &pushed[--n_pushed];
    *grid = c->grid;
    *block = c->block;
    *shared = c->shared;
    *stream = c->stream;
    return DRIVER_OK;
}
