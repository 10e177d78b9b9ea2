/* Launching kernels from tests, without a HIP runtime between. */
#ifndef GFXSIM_TEST_RUN_H
#define GFXSIM_TEST_RUN_H

#include "gfxsim/gfxsim.h"
#include "tests/test.h"

/* "gfx942=path" as an argument of the program. Ends the program when it cannot be loaded. */
static inline struct sim_code *load_code(const char *argument) {
    char name[64], why[256];
    const char *path = strchr(argument, '=');
    if (!path || (size_t)(path - argument) >= sizeof name) exit(2);
    memcpy(name, argument, (size_t)(path - argument));
    name[path - argument] = 0;
    FILE *file = fopen(path + 1, "rb");
    if (!file) {
        perror(path + 1);
        exit(2);
    }
    fseek(file, 0, SEEK_END);
    size_t nbytes = (size_t)ftell(file);
    rewind(file);
    char *image = malloc(nbytes);
    if (!image || fread(image, 1, nbytes, file) != nbytes) exit(2);
    fclose(file);
    enum sim_target target = sim_target_of(name);
    struct sim_code *code = target ? sim_code_load(target, image, nbytes, why) : NULL;
    free(image);
    if (!code) {
        fprintf(stderr, "%s: %s\n", argument, target ? why : "no such target");
        exit(2);
    }
    return code;
}

/* Device memory with a copy of n bytes, or, from NULL, not written. The caller frees it with sim_memory_free. */
static inline void *device_copy(const void *from, size_t nbytes) {
    void *memory = sim_memory_new(nbytes, from ? SIM_DEFINED : SIM_UNDEFINED);
    if (!memory) exit(2);
    if (from) memcpy(memory, from, nbytes);
    return memory;
}

/* Arguments one after the other, each aligned to its size: the layout of a kernel whose arguments are scalars and
 * pointers. */
struct arguments {
    char bytes[512];
    size_t n;
};
static inline void add_argument(struct arguments *arguments, const void *value, size_t nbytes, size_t align) {
    arguments->n = (arguments->n + align - 1) / align * align;
    memcpy(arguments->bytes + arguments->n, value, nbytes);
    arguments->n += nbytes;
}
#define ARGUMENT(arguments, type, ...) add_argument(arguments, &(type){__VA_ARGS__}, sizeof(type), _Alignof(type))

/* Returns what sim_launch_run does, or -1 when there is no such kernel. */
static inline int launch(struct sim_code *code, const char *kernel, const u32 grid[3], const u32 block[3], u32 shared,
                         const struct arguments *arguments) {
    static u32 serial;
    struct sim_launch launch = {.kernel = sim_code_kernel(code, kernel),
                                .grid = {grid[0], grid[1], grid[2]},
                                .block = {block[0], block[1], block[2]},
                                .shared = shared,
                                .args = arguments->bytes,
                                .nbytes = arguments->n,
                                .serial = ++serial};
    TEST_CHECK_(launch.kernel, "there is no kernel %s", kernel);
    if (!launch.kernel) return -1;
    return sim_launch_run(&launch);
}
#define DIM(...) ((const u32[3]){__VA_ARGS__})

#endif
