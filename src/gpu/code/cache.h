/* The disk cache of compiled modules: one file an entry, in a folder of the user's. */
#ifndef WICK_GPU_CODE_CACHE_H
#define WICK_GPU_CODE_CACHE_H

#include "gpu/code/store.h"

/* What an entry is for. `text` is all that the code depends on, one "name=value" a line, and `compiler` apart from it:
 * where there is no compiler an entry that any compiler made is taken. */
struct wick__cache_key {
    char name[96]; /* what its file's name begins with: "copy-gfx942" */
    char text[768];
    char compiler[128];
};

enum wick__cache_result {
    WICK__CACHE_FOUND,
    WICK__CACHE_ABSENT,
    WICK__CACHE_NONE, /* there is no usable folder */
    WICK__CACHE_MEMORY
};

/* The folder: WICK_CACHE_DIR, else XDG_CACHE_HOME/wick/kernels, else HOME/.cache/wick/kernels. False, with the reason,
 * when none of them is set, or the folder is not there, not ours or root's, or one that others can write. */
bool wick__cache_folder(char *path, size_t size, char *reason, size_t reason_size);

/* The same, making the folder (mode 0700) when it is not there. */
bool wick__cache_make(char *path, size_t size, char *reason, size_t reason_size);

/* Looks an entry up and, when `image` is given, reads it. A damaged or foreign entry is deleted, with a line in the
 * log, and absent. */
enum wick__cache_result wick__cache_find(const struct wick__cache_key *key, struct wick__image *image, char *reason,
                                         size_t size);
/* Puts an entry in; a failure is a line in the log, once. Makes the folder. */
void wick__cache_put(const struct wick__cache_key *key, const void *data, size_t nbytes);
/* Deletes an entry that the driver refused. */
void wick__cache_drop(const struct wick__cache_key *key);

/* Keeps other processes from compiling the same entry meanwhile: waits, but not for ever. Answers a handle for
 * wick__cache_unlock; without a folder to write in it does nothing. */
int wick__cache_lock(const struct wick__cache_key *key);
void wick__cache_unlock(const struct wick__cache_key *key, int lock);

#endif
