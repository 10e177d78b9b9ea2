/* Opening a vendor's library at run time, and remembering how that went.
 *
 * The search ends at the first library that opens and has every required symbol:
 *  1. the file that the library's own variable names (WICK_HIP_PATH, ...); when it is set, nothing else is tried;
 *  2. a copy that is in the process already, whatever file it came from: a second one would not know its handles;
 *  3. its versioned names, in the order given (newest first), then the unversioned one, as the dynamic linker finds
 * them;
 *  4. the folders that the vendor's variables name (ROCM_PATH, CUDA_PATH, ...), then those where it is usually
 * installed;
 *  5. Python wheels' folders of the environment that is active.
 * The environment counts as secure_getenv gives it: not at all in a set-uid program.
 * Libraries are opened RTLD_LOCAL and never closed: the runtimes do not survive it, and nothing of theirs may be called
 * as the process ends. What is kept of the search lies in static memory for the same reason. */
#ifndef WICK_GPU_LIBRARY_H
#define WICK_GPU_LIBRARY_H

#include "gpu/vendor.h"

#include <pthread.h>

enum { WICK__ATTEMPTS = 32, WICK__ATTEMPT_TEXT = 8192 };

/* A function of a library, and where its address goes in the library's struct of function pointers. */
struct wick__symbol {
    const char *name;
    bool required;
    size_t offset;
};
enum { WICK__NEED_optional, WICK__NEED_required };
#define WICK__SYMBOL(need, functions, name_)                                                                           \
    { .name = #name_, .required = WICK__NEED_##need, .offset = offsetof(functions, name_) }

/* A library to look for. The first part is constant but for `versions`; the second is how it went. */
struct wick__opener {
    const char *name;            /* "libamdhip64" */
    const char *variable;        /* "WICK_HIP_PATH" */
    const char *const *versions; /* ends of its names in the order to try, NULL at the end: ".so.7", ..., ".so" */
    const char *const *roots;    /* variables that name an installation, then patterns of folders; NULL at the end */
    const char *const *nodes;    /* without one of these device nodes steps 3 to 5 are left out; NULL: none is needed */
    const struct wick__symbol *symbols;
    int symbol_count;

    pthread_mutex_t mutex;
    bool tried;
    unsigned forks;             /* wick__forks when it was tried */
    struct wick__opener *other; /* that was tried before */
    void *handle;
    const char *path, *fault;
    int count;
    struct wick__attempt attempts[WICK__ATTEMPTS];
    size_t used;
    char text[WICK__ATTEMPT_TEXT];
};

#define WICK__OPENER(name_, variable_, versions_, roots_, symbols_)                                                    \
    {                                                                                                                  \
        .name = name_, .variable = variable_, .versions = versions_, .roots = roots_, .symbols = symbols_,             \
        .symbol_count = sizeof symbols_ / sizeof *symbols_, .mutex = PTHREAD_MUTEX_INITIALIZER                         \
    }

/* Opens the library, once, and fills `functions`. Whether it is open; its mutex must be held. */
bool wick__library_open(struct wick__opener *opener, void *functions);
/* Takes the functions from a library that is open already, where an older version of it had them. */
bool wick__library_within(struct wick__opener *opener, const struct wick__opener *other, void *functions);
/* Whether a parent of this process opened the library, or began to: it is of no use to a child. */
bool wick__library_forked(const struct wick__opener *opener);
/* Opens the file of this name in the library's own folder, if it is there: a library that asks for it by its bare name
 * then gets it, where the dynamic linker would not look. */
void wick__library_beside(const struct wick__opener *opener, const char *name);
/* A further symbol of a library that is open; NULL when it has none. */
void *wick__library_symbol(const struct wick__opener *opener, const char *name);
/* Gives the library up after all, for the reason given. */
void wick__library_refuse(struct wick__opener *opener, const char *reason);
/* How the search went. Strings live as long as the process. */
void wick__library_describe(const struct wick__opener *opener, struct wick__library *library);
/* Copies of a library that are in the process; `path`, of `size` bytes, gets the file of the first. */
int wick__library_copies(const char *name, char *path, size_t size);

#endif
