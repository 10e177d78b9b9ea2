/* The allocator hook, and the count of what is held through it. */
#include "core/memory.h"

#include "core/checked.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };

static void *default_alloc(void *context, size_t nbytes, size_t alignment) {
    void *memory = NULL;
    (void)context;
    return posix_memalign(&memory, alignment, nbytes) == 0 ? memory : NULL;
}

static void default_free(void *context, void *memory, size_t nbytes) {
    (void)context;
    (void)nbytes;
    free(memory);
}

static struct wick_allocator hook = {NULL, default_alloc, default_free};
static atomic_size_t held;

enum wick_status wick_allocator_set(const struct wick_allocator *allocator) {
    if (allocator && (!allocator->alloc || !allocator->free))
        return wick__fail(WICK_INVALID, "allocator_set: alloc and free must both be given");
    if (atomic_load(&held) != 0)
        return wick__fail(WICK_INVALID, "allocator_set: %zu bytes of the present allocator are in use",
                          atomic_load(&held));
    if (allocator)
        hook = *allocator;
    else
        hook = (struct wick_allocator){NULL, default_alloc, default_free};
    return WICK_OK;
}

size_t wick_host_memory_used(void) { return atomic_load(&held); }

void *wick__alloc_quiet(size_t nbytes) {
    if (nbytes == 0) nbytes = 1;
    void *memory = nbytes <= PTRDIFF_MAX ? hook.alloc(hook.context, nbytes, ALIGNMENT) : NULL;
    if (memory) atomic_fetch_add_explicit(&held, nbytes, memory_order_relaxed);
    return memory;
}

void *wick__alloc(size_t nbytes) {
    void *memory = wick__alloc_quiet(nbytes);
    if (!memory) wick__fail(WICK_MEMORY, "out of memory: %zu bytes of host memory were refused", nbytes);
    return memory;
}

void *wick__calloc(size_t n, size_t size) {
    size_t nbytes;
    if (!wick__mul_size(n, size, &nbytes)) {
        wick__fail(WICK_MEMORY, "out of memory: %zu objects of %zu bytes", n, size);
        return NULL;
    }
    void *memory = wick__alloc(nbytes);
    if (memory) memset(memory, 0, nbytes);
    return memory;
}

void *wick__realloc(void *memory, size_t old_nbytes, size_t nbytes) {
    void *grown = wick__alloc(nbytes);
    if (!grown) return NULL;
    if (memory) memcpy(grown, memory, old_nbytes < nbytes ? old_nbytes : nbytes);
    wick__free(memory, old_nbytes);
    return grown;
}

void wick__free(void *memory, size_t nbytes) {
    if (!memory) return;
    if (nbytes == 0) nbytes = 1;
    atomic_fetch_sub_explicit(&held, nbytes, memory_order_relaxed);
    hook.free(hook.context, memory, nbytes);
}
