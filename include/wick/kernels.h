/* Kernels: the code that runs on GPUs, and where a device takes it from.
 *
 * The set is finite: a few modules, each a list of kernels that serve every shape. A module's machine code comes from
 * the first of three routes that has it: a kernel pack made ahead of time, the disk cache, or compilation of the source
 * inside the library, whose result goes into the cache. It is loaded when one of its kernels is first launched.
 * docs/kernels.md tells where packs and cache are looked for. */
#ifndef WICK_KERNELS_H
#define WICK_KERNELS_H

#include <wick/device.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How many modules there are, and the name of the i-th; NULL for any other i. Static strings. */
WICK_API int wick_kernels_modules(void);
WICK_API const char *wick_kernels_module(int i);

/* How many kernels a module has, 0 for none such, and the name of its k-th; NULL for any other k. Static strings. */
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

/* The route by which a module would come to a device now. Compiles and loads nothing. */
WICK_API enum wick_route wick_kernels_route(const struct wick_device *device, int module);

/* Loads every module, compiling those that have to be: after it no op waits for a compiler, in this process or, with a
 * disk cache, a later one. WICK_DEVICE when a module can't be had; the others are loaded all the same. */
WICK_API WICK_CHECKED enum wick_status wick_kernels_warm(struct wick_device *device);

/* Writes a pack with every module for this device's kind of GPU, folder/TARGET.pack ("gfx942.pack"); makes the folder
 * when it is not there. Other machines use it through WICK_KERNEL_PACK or wick_kernels_import. WICK_UNSUPPORTED on the
 * CPU, WICK_DEVICE when a module can't be had, WICK_IO when the file can't be written. */
WICK_API WICK_CHECKED enum wick_status wick_kernels_export(struct wick_device *device, const char *folder);

/* Takes packs, a file or a folder of TARGET.pack files, into the disk cache's folder, where they are found from now on.
 * It needs no device, so that one can be opened afterwards that has no other route. WICK_FORMAT when a pack is damaged,
 * WICK_INVALID when it was made from other sources than this library's, WICK_IO when there is none, or no folder to
 * write in; packs of a folder that were taken before one failed stay. */
WICK_API WICK_CHECKED enum wick_status wick_kernels_import(const char *path);

#ifdef __cplusplus
}
#endif
#endif
