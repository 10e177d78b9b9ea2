/* What the driver asks of the stand-in: settings, devices, and kernel modules, which are shared objects for the
 * processor, opened from memory. */
#include "standin.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

const char engine_name[] = "standin", engine_default_devices[] = "gfx90a,sm_90";
struct standin_settings standin_settings;

void engine_settings(void) {
    standin_settings.protect = strcmp(driver_setting("PROTECT"), "1") == 0;
    standin_settings.page = strcmp(driver_setting("GUARD"), "page") == 0;
    standin_settings.seed = strtoul(driver_setting("SEED"), NULL, 0);
    standin_settings.idle = strtol(driver_setting("IDLE"), NULL, 0);
    standin_settings.blas = driver_setting("BLAS");
    standin_settings.slow = driver_setting("SLOW");
    standin_settings.without = driver_setting("WITHOUT");
}

/* Any target there might be. */
bool engine_device(struct driver_device *device) {
    bool wide = strncmp(device->target, "gfx9", 4) == 0 || strcmp(device->target, "host64") == 0;
    snprintf(device->name, sizeof device->name, "Stand-in GPU %s", device->target);
    device->wave = wide ? 64 : 32;
    device->major = wide ? 9 : 11;
    device->units = 4;
    device->unit_threads = 2048;
    device->clock = 1000000;
    device->memory = (size_t)16 << 30;
    device->shared = 65536;
    return true;
}

/* What tests look up. */
__attribute__((visibility("default"))) long standin_live(void);
__attribute__((visibility("default"))) long standin_calls(const char *function);
__attribute__((visibility("default"))) int standin_complaints(void);
long standin_live(void) { return driver_live(); }
long standin_calls(const char *function) { return driver_calls(function); }
int standin_complaints(void) { return driver_complaints(); }

/* ---- modules ---- */

/* Bytes of an ELF file in memory: up to the end of its section headers and sections. */
static size_t elf_size(const unsigned char *image) {
    Elf64_Ehdr header;
    memcpy(&header, image, sizeof header);
    size_t size = header.e_shoff + (size_t)header.e_shnum * header.e_shentsize;
    for (int i = 0; i < header.e_shnum; i++) {
        Elf64_Shdr section;
        memcpy(&section, image + header.e_shoff + (size_t)i * header.e_shentsize, sizeof section);
        if (section.sh_type != SHT_NOBITS && section.sh_offset + section.sh_size > size)
            size = section.sh_offset + section.sh_size;
    }
    return size;
}

static int kind_of(const unsigned char *image) {
    if (memcmp(image, ELFMAG, SELFMAG) != 0) return DRIVER_IMAGE;
    Elf64_Ehdr header;
    memcpy(&header, image, sizeof header);
    return header.e_machine == EM_X86_64 && header.e_type == ET_DYN ? DRIVER_OK : DRIVER_NO_BINARY;
}

/* The file stays open while the library is: the loader knows libraries by their names. */
static void *open_library(const void *image, size_t size, int *file) {
    char path[64];
    *file = memfd_create("wick-kernels", MFD_CLOEXEC);
    if (*file < 0) return NULL;
    for (size_t done = 0; done < size;) {
        ssize_t n = write(*file, (const char *)image + done, size - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return NULL;
        done += (size_t)n;
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", *file);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) driver_complain("a module does not load: %s", dlerror());
    return library;
}

int engine_load(struct driver_device *device, const void *image, size_t nbytes, void **out) {
    int kind = nbytes < sizeof(Elf64_Ehdr) ? DRIVER_IMAGE : kind_of(image);
    if (kind) return kind;
    struct standin_code *code = calloc(1, sizeof *code);
    if (!code) return DRIVER_MEMORY;
    code->library = open_library(image, elf_size(image), &code->file);
    struct gpu_host *(*about)(void) = NULL;
    if (code->library) *(void **)&about = dlsym(code->library, "wick_host_module");
    if (about) code->host = about();
    if (!code->host || code->host->format != GPU_HOST_FORMAT || code->host->wave != (u32)device->wave) {
        if (code->library) dlclose(code->library);
        if (code->file >= 0) close(code->file);
        free(code);
        return DRIVER_NO_BINARY;
    }
    code->size = elf_size(image);
    *out = code;
    return DRIVER_OK;
}

/* A copy of a module that has variables of its own, opened when a launch first wants so many; NULL. */
const struct standin_copy *standin_copy(struct standin_code *code, unsigned number) {
    struct standin_copy *copy = &code->copies[number];
    struct gpu_host *(*about)(void) = NULL;
    if (copy->library) return copy;
    const void *image = mmap(NULL, code->size, PROT_READ, MAP_PRIVATE, code->file, 0);
    if (image == MAP_FAILED) return NULL;
    void *library = open_library(image, code->size, &copy->file);
    munmap((void *)image, code->size);
    if (library) *(void **)&about = dlsym(library, "wick_host_module");
    if (!about) return NULL;
    copy->library = library;
    copy->host = about();
    return copy;
}

void engine_unload(void *module) {
    struct standin_code *code = module;
    for (int i = 0; i < STANDIN_TOGETHER && code->copies[i].library; i++) {
        dlclose(code->copies[i].library);
        close(code->copies[i].file);
    }
    dlclose(code->library);
    close(code->file);
    free(code);
}

const struct gpu_host_kernel *standin_kernel(void *library, const char *name) {
    char symbol[160];
    const struct gpu_host_kernel *(*about)(void) = NULL;
    if (snprintf(symbol, sizeof symbol, "wick_host_%s", name) >= (int)sizeof symbol) return NULL;
    *(void **)&about = dlsym(library, symbol);
    return about ? about() : NULL;
}

/* A kernel of ours has one parameter. */
bool engine_function(void *module, struct driver_function *function) {
    const struct gpu_host_kernel *kernel = standin_kernel(((struct standin_code *)module)->library, function->name);
    if (!kernel) return false;
    struct driver_argument *argument = malloc(sizeof *argument);
    if (!argument) return false;
    *argument = (struct driver_argument){0, (uint32_t)kernel->size};
    function->kernel = kernel;
    function->nbytes = kernel->size;
    function->args = argument;
    function->n_args = 1;
    return true;
}

void *engine_global(void *module, const char *name, size_t *size) {
    (void)module, (void)name, (void)size;
    return NULL;
}

/* Blocks run one after the other, and can't wait for each other, but in a launch that says so each has a thread. */
int engine_accepts(const struct driver_function *function, const struct driver_shape *shape) {
    const unsigned *block = shape->block, *rest = shape->rest;
    if (rest[0] || rest[1] || rest[2]) return DRIVER_VALUE;
    const struct gpu_host_kernel *kernel = function->kernel;
    const unsigned *grid = shape->grid;
    if (shape->cooperative && (grid[0] > STANDIN_TOGETHER || (uint64_t)grid[0] * grid[1] * grid[2] > STANDIN_TOGETHER))
        return DRIVER_COOPERATIVE_TOO_LARGE;
    return block[1] != 1 || block[2] != 1 || block[0] > kernel->threads ? DRIVER_VALUE : DRIVER_OK;
}

int engine_run(const struct driver_function *function, const struct driver_shape *shape, const void *params,
               size_t nbytes) {
    static atomic_long ran;
    (void)nbytes;
    if (standin_settings.idle && atomic_fetch_add(&ran, 1) >= standin_settings.idle) return DRIVER_OK;
    return standin_run(function, shape, params);
}

/* As many as there are threads for, and shared memory. */
int engine_occupancy(const struct driver_function *function, unsigned threads, size_t shared) {
    const struct driver_device *device = function->module->device;
    size_t blocks = (size_t)device->unit_threads / threads, fit = shared ? device->shared / shared : blocks;
    return (int)(fit < blocks ? fit : blocks);
}
