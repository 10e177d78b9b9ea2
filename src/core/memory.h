/* Host memory for the library's own use, all of it through the user's allocator hook. */
#ifndef WICK_CORE_MEMORY_H
#define WICK_CORE_MEMORY_H

#include "core/error.h"

#include <wick/memory.h>

/* 64-byte aligned memory, or NULL with WICK_MEMORY as this thread's error. nbytes 0 gives a valid address. */
void *wick__alloc(size_t nbytes);
/* The same, zeroed, for n objects of `size` bytes; a product that does not fit is out of memory. */
void *wick__calloc(size_t n, size_t size);
/* Grows a block from old_nbytes to nbytes; on failure the old block stays. `memory` may be NULL with old_nbytes 0. */
void *wick__realloc(void *memory, size_t old_nbytes, size_t nbytes);
/* Gives a block of nbytes back. NULL is fine. */
void wick__free(void *memory, size_t nbytes);
/* As wick__alloc, but silent, for callers that have another way to go. */
void *wick__alloc_quiet(size_t nbytes);

#endif
