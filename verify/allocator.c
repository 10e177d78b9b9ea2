/* An allocator that makes misuse of memory show: fresh and freed memory is 0xFF, guard zones surround each block. */
#include "verify/verify.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { ZONE = 64, ZONE_BYTE = 0xC3 };

static _Atomic int64_t damage;

static bool whole(const unsigned char *zone) {
    for (int i = 0; i < ZONE; i++)
        if (zone[i] != ZONE_BYTE) return false;
    return true;
}

static void *guarded_alloc(void *context, size_t nbytes, size_t alignment) {
    void *memory = NULL;
    size_t before = alignment > ZONE ? alignment : ZONE;
    (void)context;
    if (posix_memalign(&memory, before, before + nbytes + ZONE) != 0) return NULL;
    unsigned char *block = (unsigned char *)memory + before;
    memset(block - ZONE, ZONE_BYTE, ZONE);
    memset(block, 0xFF, nbytes);
    memset(block + nbytes, ZONE_BYTE, ZONE);
    return block;
}

static void guarded_free(void *context, void *memory, size_t nbytes) {
    unsigned char *block = memory;
    (void)context;
    if (!whole(block - ZONE) || !whole(block + nbytes)) atomic_fetch_add(&damage, 1);
    memset(block, 0xFF, nbytes);
    /* The library asks for alignments of at most ZONE. */
    free(block - ZONE);
}

const struct wick_allocator verify_allocator = {NULL, guarded_alloc, guarded_free};

int64_t verify_allocator_damage(void) { return atomic_load(&damage); }
