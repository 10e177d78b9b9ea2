/* Memory that is given back all at once, up to a limit: what a template is parsed into, and what a rendering makes. */
#ifndef WICK_TEMPLATE_ARENA_H
#define WICK_TEMPLATE_ARENA_H

#include <stddef.h>

struct wick__arena_block;

struct wick__arena {
    struct wick__arena_block *newest;
    size_t used, limit; /* bytes asked for so far, and the most that may be */
};

/* nbytes of memory aligned to 16 bytes, not cleared. NULL after WICK_MEMORY (the system's) or WICK_RANGE (the limit).
 */
void *wick__arena_alloc(struct wick__arena *arena, size_t nbytes);

/* A larger block with the contents of an old one, which is left behind. */
void *wick__arena_grow(struct wick__arena *arena, const void *old, size_t old_nbytes, size_t nbytes);

/* Frees everything; the arena is as new. */
void wick__arena_free(struct wick__arena *arena);

#endif
