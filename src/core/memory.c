/* The allocator hook, and the count of what is held through it. */
#include "core/memory.h"

#include "core/checked.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };

/* Up to so many bytes a block is a part of a larger one of malloc's, whose address stands before it: posix_memalign
 * knows nothing of glibc's cache of small blocks, cuts what is left off larger ones, and took half of the time of an op
 * on few elements. Not where a sanitizer is to see each block as it is. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif
#if defined(SANITIZED) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SMALL = 0 };
#else
enum { SMALL = 32 * 1024 };
#endif

static void *default_alloc(void *context, size_t nbytes, size_t alignment) {
    void *memory = NULL;
    (void)context;
    if (nbytes > SMALL) return posix_memalign(&memory, alignment, nbytes) == 0 ? memory : NULL;
    void *block = malloc(nbytes + alignment + sizeof block);
    if (!block) return NULL;
    memory = (char *)block + sizeof block;
    memory = (char *)memory + (alignment - (uintptr_t)memory % alignment) % alignment;
    memcpy((char *)memory - sizeof block, &block, sizeof block);
    return memory;
}

static void default_free(void *context, void *memory, size_t nbytes) {
    (void)context;
    if (nbytes <= SMALL) memcpy(&memory, (char *)memory - sizeof memory, sizeof memory);
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
