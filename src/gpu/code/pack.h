/* Kernel packs: files of compiled modules, one a target, which tools/kernels writes and docs/kernels.md describes. */
#ifndef WICK_GPU_CODE_PACK_H
#define WICK_GPU_CODE_PACK_H

#include "gpu/code/hash.h"
#include "gpu/code/store.h"

/* How a look into a pack ended. */
enum wick__pack_result {
    WICK__PACK_FOUND,
    WICK__PACK_ABSENT, /* no such file, or the module is not in it */
    WICK__PACK_STALE,  /* made from other sources than those in the library */
    WICK__PACK_BAD,    /* no pack, damaged, of a later format, another target's, or one that others than this user and
                        * root own or may write: the text says which */
    WICK__PACK_MEMORY
};

struct wick__pack_query {
    const char *path;
    const char *target; /* what the pack must be for; NULL: PTX for sm_N, or an older one, N being `ptx` */
    int ptx;
    const char *module;
    unsigned char key[WICK__HASH]; /* of the module's sources */
    bool look;                     /* only whether it is there */
    bool named;                    /* by the caller, who answers for it: no matter whose file it is */
};

/* Looks a module up in a pack and, unless told only to look, unpacks it: *data is nbytes + 1 bytes long, the last one 0
 * (PTX is a text), and is given back with wick__free. The file is hostile: nothing of it is believed unchecked. */
enum wick__pack_result wick__pack_find(const struct wick__pack_query *query, void **data, size_t *nbytes, char *reason,
                                       size_t size);

/* What target a pack is for, letters, digits and '_' only; false with the reason when it is no good pack. */
bool wick__pack_target(const char *path, char target[64], char *reason, size_t size);

/* A module to be put into a pack. */
struct wick__pack_module {
    const char *name;
    unsigned char key[WICK__HASH];
    const void *data;
    size_t nbytes;
};
/* Writes a pack beside `path` and renames it; false with the reason when it can't. */
bool wick__pack_write(const char *path, const char *target, const struct wick__pack_module *modules, int count,
                      char *reason, size_t size);

#endif
