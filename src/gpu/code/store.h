/* Where the machine code of kernels comes from: the kernel pack, the disk cache, or the run-time compiler. */
#ifndef WICK_GPU_CODE_STORE_H
#define WICK_GPU_CODE_STORE_H

#include "gpu/code/hash.h"
#include "gpu/code/kernels.h"
#include "gpu/vendor.h"

enum wick__route { WICK__ROUTE_NONE, WICK__ROUTE_PACK, WICK__ROUTE_CACHE, WICK__ROUTE_COMPILE, WICK__ROUTE_LIMIT };

/* A code object ready for vendor->module_load. */
struct wick__image {
    void *data;
    size_t nbytes;
    enum wick__route route;
    size_t room; /* bytes of the block at data */
};

/* The machine code of a module for a device: found in the pack, else in the cache, else compiled and put into the
 * cache. `after` says which routes to pass over: those up to and including it, for when the driver refused what they
 * gave (a refused cache entry is deleted). WICK_DEVICE, naming module and target and every route's reason, when none
 * has it. Give back with wick__store_release. */
enum wick_status wick__store_find(const struct wick__vendor *vendor, const struct wick__properties *properties,
                                  enum wick__gpu_module module, enum wick__route after, struct wick__image *image);
void wick__store_release(struct wick__image *image);

/* Which route a module would take now, without compiling; for `wick doctor` and `wick kernels`. */
enum wick__route wick__store_route(const struct wick__vendor *vendor, const struct wick__properties *properties,
                                   enum wick__gpu_module module);

/* The source of a module and of the headers it includes, as they lie in kernels/. */
struct wick__source {
    const char *name; /* "copy.hip" */
    const char *text; /* ends with a 0 */
};
extern const int wick__store_source_count;
/* By number: modules in the order of enum wick__gpu_module, then headers. The first call unpacks all of them. */
const struct wick__source *wick__store_source(int i);

/* The key of a module's sources: SHA-256 over each file's name, length and text, the module first, then what it
 * includes, each once, in the order they are met. */
void wick__store_source_key(enum wick__gpu_module module, unsigned char key[WICK__HASH]);

#endif
