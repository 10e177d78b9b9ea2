/* Blocks that double, each filled from its start. */
#include "template/arena.h"

#include "core/checked.h"
#include "core/memory.h"

#include <string.h>

enum { FIRST = 16 * 1024, LARGEST = 1024 * 1024 };

struct wick__arena_block {
    struct wick__arena_block *older;
    size_t nbytes, used;
};

enum { HEAD = (sizeof(struct wick__arena_block) + 15) / 16 * 16 };

static struct wick__arena_block *add_block(struct wick__arena *arena, size_t need) {
    size_t nbytes = arena->newest ? arena->newest->nbytes * 2 : FIRST;
    if (nbytes > LARGEST) nbytes = LARGEST;
    if (nbytes < need + HEAD) nbytes = need + HEAD;
    struct wick__arena_block *block = wick__alloc(nbytes);
    if (!block) return NULL;
    *block = (struct wick__arena_block){.older = arena->newest, .nbytes = nbytes, .used = HEAD};
    return arena->newest = block;
}

void *wick__arena_alloc(struct wick__arena *arena, size_t nbytes) {
    size_t rounded, used;
    if (!wick__add_size(nbytes, 15, &rounded) || !wick__add_size(arena->used, rounded, &used) || used > arena->limit) {
        wick__fail(WICK_RANGE, "template: over the limit of %zu bytes of memory", arena->limit);
        return NULL;
    }
    rounded = rounded / 16 * 16;
    struct wick__arena_block *block = arena->newest;
    if (!block || block->nbytes - block->used < rounded) block = add_block(arena, rounded);
    if (!block) return NULL;
    void *memory = (char *)block + block->used;
    block->used += rounded;
    arena->used += rounded;
    return memory;
}

void *wick__arena_grow(struct wick__arena *arena, const void *old, size_t old_nbytes, size_t nbytes) {
    void *memory = wick__arena_alloc(arena, nbytes);
    if (memory && old_nbytes) memcpy(memory, old, old_nbytes);
    return memory;
}

void wick__arena_free(struct wick__arena *arena) {
    while (arena->newest) {
        struct wick__arena_block *block = arena->newest;
        arena->newest = block->older;
        wick__free(block, block->nbytes);
    }
    arena->used = 0;
}
