/* Kernel modules: shared objects for the processor, opened from memory. */
#include "standin.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MODULE = 0x6d6f64, FUNCTION = 0x66756e };

static struct standin_module *modules;

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
    if (memcmp(image, ELFMAG, SELFMAG) != 0) return STANDIN_IMAGE;
    Elf64_Ehdr header;
    memcpy(&header, image, sizeof header);
    return header.e_machine == EM_X86_64 && header.e_type == ET_DYN ? STANDIN_OK : STANDIN_NO_BINARY;
}

/* The file stays open while the library is: the loader knows libraries by their names. */
static void *open_library(const void *image, size_t size, int *file) {
    char path[64];
    *file = memfd_create("wick-kernels", MFD_CLOEXEC);
    if (*file < 0) return NULL;
    for (size_t done = 0; done < size;) {
        ssize_t n = write(*file, (const char *)image + done, size - done);
        if (n <= 0) return NULL;
        done += (size_t)n;
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", *file);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) standin_complain("a module does not load: %s", dlerror());
    return library;
}

int standin_module_load(struct standin_device *device, const void *image, struct standin_module **out) {
    *out = NULL;
    if (!image) return STANDIN_VALUE;
    int code = kind_of(image);
    if (code) return code;
    struct standin_module *module = calloc(1, sizeof *module);
    if (!module) return STANDIN_MEMORY;
    module->library = open_library(image, elf_size(image), &module->file);
    struct gpu_host *(*about)(void) = NULL;
    if (module->library) *(void **)&about = dlsym(module->library, "wick_host_module");
    if (about) module->host = about();
    if (!module->host || module->host->format != GPU_HOST_FORMAT || module->host->wave != (u32)device->wave) {
        if (module->library) dlclose(module->library);
        if (module->file >= 0) close(module->file);
        free(module);
        return STANDIN_NO_BINARY;
    }
    module->magic = MODULE;
    module->device = device;
    module->next = modules;
    modules = module;
    standin_live_of[STANDIN_MODULE]++;
    *out = module;
    return STANDIN_OK;
}

/* Whether a handle is a module in use: compares addresses only, so that any value can be asked about. */
static bool is_module(const void *handle) {
    for (const struct standin_module *m = modules; m; m = m->next)
        if (m == handle) return m->magic == MODULE;
    return false;
}

bool standin_is_function(const void *handle) {
    for (const struct standin_module *m = modules; m; m = m->next)
        for (const struct standin_function *f = m->functions; f; f = f->next)
            if (f == handle) return m->magic == MODULE;
    return false;
}

/* What the module was is kept, so that its handles are told from new ones. */
int standin_module_unload(struct standin_module *module) {
    if (!is_module(module)) return STANDIN_HANDLE;
    standin_device_synchronize(module->device);
    dlclose(module->library);
    close(module->file);
    module->magic = STANDIN_DEAD;
    standin_live_of[STANDIN_MODULE]--;
    return STANDIN_OK;
}

int standin_module_function(struct standin_module *module, const char *name, struct standin_function **out) {
    *out = NULL;
    if (!is_module(module)) return STANDIN_HANDLE;
    for (struct standin_function *f = module->functions; f; f = f->next)
        if (strcmp(f->name, name) == 0) {
            *out = f;
            return STANDIN_OK;
        }
    char symbol[160];
    const struct gpu_host_kernel *(*about)(void) = NULL;
    snprintf(symbol, sizeof symbol, "wick_host_%s", name);
    *(void **)&about = dlsym(module->library, symbol);
    if (!about || strlen(name) >= sizeof(((struct standin_function *)0)->name)) return STANDIN_NOT_FOUND;
    struct standin_function *function = calloc(1, sizeof *function);
    if (!function) return STANDIN_MEMORY;
    strcpy(function->name, name);
    function->magic = FUNCTION;
    function->module = module;
    function->kernel = about();
    function->next = module->functions;
    module->functions = function;
    *out = function;
    return STANDIN_OK;
}
