/* Memory that is given back all at once: what a file's metadata, or a template, is read into. */
#ifndef WICK_CORE_ARENA_H
#define WICK_CORE_ARENA_H

#include <stddef.h>

struct wick__chunk;

/* All zeros is an empty arena without a limit. */
struct wick__arena {
    struct wick__chunk *last;
    size_t used, limit; /* bytes asked for so far, and the most that may be; limit 0: no limit */
};

/* nbytes of memory aligned to 16 bytes, not cleared. NULL after WICK_MEMORY (the system's) or WICK_RANGE (the limit).
 */
void *wick__arena_alloc(struct wick__arena *arena, size_t nbytes);

/* A copy of a text with a 0 behind it. */
char *wick__arena_text(struct wick__arena *arena, const void *text, size_t nbytes);

/* A larger block with the contents of an old one, which is left behind. */
void *wick__arena_grow(struct wick__arena *arena, const void *old, size_t old_nbytes, size_t nbytes);

/* Frees everything; the arena is as new. */
void wick__arena_free(struct wick__arena *arena);

#endif
