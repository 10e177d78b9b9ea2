/* The finite list of kernels, made from the .def files of kernels/: WICK__GPU_K_copy_b4 and so on, grouped in modules,
 * one a file of kernels/. */
#ifndef WICK_GPU_CODE_KERNELS_H
#define WICK_GPU_CODE_KERNELS_H

#include "kernels/params.h"

#include <wick/dtype.h>

enum wick__gpu_module {
#define GPU_MODULE(name) WICK__GPU_M_##name,
#include "kernels/modules.def"
#undef GPU_MODULE
    WICK__GPU_MODULES
};

enum wick__gpu_kernel {
#define GPU_ENTRY(module, name) WICK__GPU_K_##name,
#include "kernels/kernels.def"
#undef GPU_ENTRY
    WICK__GPU_KERNELS
};

struct wick__gpu_entry {
    const char *name;
    enum wick__gpu_module module;
};
extern const struct wick__gpu_entry wick__gpu_entries[WICK__GPU_KERNELS];
extern const char *const wick__gpu_module_names[WICK__GPU_MODULES];

/* The kernel of a dtype among ten that GPU_ENTRIES_ALL listed, given the one of u8; likewise for the five floats given
 * the one of bf16 and the five integers given the one of u8. */
static inline enum wick__gpu_kernel wick__gpu_of_all(enum wick__gpu_kernel first, enum wick_dtype dtype) {
    return (enum wick__gpu_kernel)((int)first + (int)dtype - WICK_DTYPE_u8);
}
static inline enum wick__gpu_kernel wick__gpu_of_floats(enum wick__gpu_kernel first, enum wick_dtype dtype) {
    return (enum wick__gpu_kernel)((int)first + (int)dtype - WICK_DTYPE_bf16);
}

/* The kernel of an element size of 1, 2, 4 or 8 bytes among four that GPU_ENTRIES_SIZES listed. */
static inline enum wick__gpu_kernel wick__gpu_of_size(enum wick__gpu_kernel first, size_t size) {
    return (enum wick__gpu_kernel)((int)first + (size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3));
}

#endif
