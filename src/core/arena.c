/* Chunks, each filled from its start; a large block gets a chunk of its own. */
#include "core/arena.h"

#include "core/checked.h"
#include "core/memory.h"

#include <string.h>

enum { CHUNK_BYTES = 64 << 10, ALIGNMENT = 16 };

struct wick__chunk {
    struct wick__chunk *previous;
    size_t nbytes, used; /* with this header */
};

enum { HEADER = (sizeof(struct wick__chunk) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT };

void *wick__arena_alloc(struct wick__arena *arena, size_t nbytes) {
    if (nbytes > PTRDIFF_MAX - CHUNK_BYTES) {
        wick__fail(WICK_MEMORY, "out of memory: %zu bytes", nbytes);
        return NULL;
    }
    nbytes = (nbytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (arena->limit && (nbytes > arena->limit || arena->used > arena->limit - nbytes)) {
        wick__fail(WICK_RANGE, "over the limit of %zu bytes of memory", arena->limit);
        return NULL;
    }
    if (!arena->last || arena->last->nbytes - arena->last->used < nbytes) {
        size_t size = nbytes > CHUNK_BYTES - HEADER ? nbytes + HEADER : CHUNK_BYTES;
        struct wick__chunk *chunk = wick__alloc(size);
        if (!chunk) return NULL;
        *chunk = (struct wick__chunk){arena->last, size, HEADER};
        arena->last = chunk;
    }
    void *memory = (char *)arena->last + arena->last->used;
    arena->last->used += nbytes;
    arena->used += nbytes;
    return memory;
}

char *wick__arena_text(struct wick__arena *arena, const void *text, size_t nbytes) {
    char *copy = wick__arena_alloc(arena, nbytes + 1);
    if (!copy) return NULL;
    if (nbytes > 0) memcpy(copy, text, nbytes);
    copy[nbytes] = 0;
    return copy;
}

void *wick__arena_grow(struct wick__arena *arena, const void *old, size_t old_nbytes, size_t nbytes) {
    void *memory = wick__arena_alloc(arena, nbytes);
    if (memory && old_nbytes) memcpy(memory, old, old_nbytes);
    return memory;
}

void wick__arena_free(struct wick__arena *arena) {
    while (arena->last) {
        struct wick__chunk *previous = arena->last->previous;
        wick__free(arena->last, arena->last->nbytes);
        arena->last = previous;
    }
    arena->used = 0;
}
