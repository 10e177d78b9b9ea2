/* Kernels: the code that runs on GPUs, and where a device gets it.
 *
 * The set is finite: a few modules, each a list of kernels that serve every shape. A module's machine code comes from
 * the first of three routes that has it: a kernel pack made ahead of time, the disk cache, or compilation of the source
 * inside the library, whose result goes into the cache. The first launch of one of its kernels loads it.
 * docs/kernels.md says where Wick looks for packs and the cache. */
#ifndef WICK_KERNELS_H
#define WICK_KERNELS_H

#include <wick/device.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How many modules there are, and the name of the i-th; NULL for any other i. Static strings. */
WICK_API int wick_kernels_modules(void);
WICK_API const char *wick_kernels_module(int i);

/* How many kernels a module has, 0 if there is no such module, and the name of its k-th; NULL for any other k. Static
 * strings. */
WICK_API int wick_kernels_count(int module);
WICK_API const char *wick_kernels_name(int module, int k);

enum wick_route {
    WICK_ROUTE_NONE,     /* no route has it: its ops fail, with the reasons */
    WICK_ROUTE_PACK,     /* made ahead of time */
    WICK_ROUTE_CACHE,    /* compiled before */
    WICK_ROUTE_COMPILE,  /* would be compiled when first used */
    WICK_ROUTE_BUILT_IN, /* the CPU's code is in the library */
};

/* "none", "pack", "cache", "compile", "built in". Static strings. */
WICK_API const char *wick_route_name(enum wick_route route);

/* The route by which the device would get a module now. Compiles and loads nothing. */
WICK_API enum wick_route wick_kernels_route(const struct wick_device *device, int module);

/* Loads every module, and compiles those that have no other route. Afterwards no op waits for a compiler, in this
 * process or, with a disk cache, in later ones. WICK_DEVICE if a module has no route; the others are still loaded. */
WICK_API WICK_CHECKED enum wick_status wick_kernels_warm(struct wick_device *device);

/* Writes a pack with every module for this device's kind of GPU, folder/TARGET.pack ("gfx942.pack"), and makes the
 * folder if it is missing. Other machines use the pack through WICK_KERNEL_PACK or wick_kernels_import.
 * WICK_UNSUPPORTED on the CPU, WICK_DEVICE if a module has no route, WICK_IO if the file can't be written. */
WICK_API WICK_CHECKED enum wick_status wick_kernels_export(struct wick_device *device, const char *folder);

/* Copies packs, a file or a folder of TARGET.pack files, into the disk cache's folder, where Wick finds them from now
 * on. It needs no device, so it can serve one that has no other route. WICK_FORMAT if a pack is damaged, WICK_INVALID
 * if it was made from other sources than this library's, WICK_IO if there is no pack or no folder to write to. If one
 * pack of a folder fails, those already copied stay. */
WICK_API WICK_CHECKED enum wick_status wick_kernels_import(const char *path);

#ifdef __cplusplus
}
#endif
#endif
