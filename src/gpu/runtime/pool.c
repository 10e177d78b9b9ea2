/* The memory pool.
 *
 * Memory comes from the driver in segments: 2 MiB for blocks of up to 1 MiB, 32 MiB for blocks under 16 MiB, and one of
 * their own, in steps of 2 MiB, for the rest. A segment is a list of blocks in the order of their addresses; a block is
 * split when it is much larger than what is asked for, and merges with its free neighbours when it is freed. Free
 * blocks are in bins of four sizes between powers of two. There is one stream, so a freed block may be given out at
 * once: the work that used it was queued before.
 *
 * With WICK_POOL=off in the environment each block is an allocation of the driver's, of its own size, and goes back
 * when it is freed, for tools that watch over memory (compute-sanitizer, the stand-in driver's guards). */
#include "gpu/runtime/pool.h"

#include "core/checked.h"
#include "core/memory.h"
#include "core/setting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 512, BINS = 4 * 64, BUCKETS = 4096 };
static const size_t SMALL = (size_t)1 << 20, SMALL_SEGMENT = (size_t)2 << 20, LARGE = (size_t)16 << 20,
                    LARGE_SEGMENT = (size_t)32 << 20, STEP = (size_t)2 << 20;

struct block {
    char *at;
    size_t size;
    bool used;
    bool small;                        /* of a segment for small blocks */
    const void *owner;                 /* who keeps it for itself, NULL: nobody */
    struct block *prev, *next;         /* neighbours in the segment */
    struct block *bin_prev, *bin_next; /* others of the bin, while free */
    struct block *chain;               /* others of the bucket, while used; others without a use */
};

struct wick__gpu_pool {
    pthread_mutex_t mutex;
    struct block *bins[BINS];
    struct block *buckets[BUCKETS]; /* used blocks by address */
    struct block *spare;            /* structs to be used again */
    const void *owner;
    bool off;
    size_t used, peak, reserved, limit, cache; /* cached is reserved - used */
};

/* The bin whose blocks are at least as large as the bin's own size, of which `size` is not less. */
static int bin_of(size_t size) {
    int power = 63 - __builtin_clzll(size);
    return 4 * power + (int)(size >> (power - 2) & 3);
}

static size_t room(const struct wick__gpu_pool *pool) {
    return pool->limit > pool->reserved ? pool->limit - pool->reserved : 0;
}

static size_t bucket_of(const void *at) { return ((uintptr_t)at / ALIGN * 0x9e3779b97f4a7c15u) >> 52; }

static void bin_add(struct wick__gpu_pool *pool, struct block *b) {
    struct block **bin = &pool->bins[bin_of(b->size)];
    b->bin_prev = NULL;
    b->bin_next = *bin;
    if (*bin) (*bin)->bin_prev = b;
    *bin = b;
}

static void bin_remove(struct wick__gpu_pool *pool, struct block *b) {
    if (b->bin_prev)
        b->bin_prev->bin_next = b->bin_next;
    else
        pool->bins[bin_of(b->size)] = b->bin_next;
    if (b->bin_next) b->bin_next->bin_prev = b->bin_prev;
}

static struct block *block_new(struct wick__gpu_pool *pool) {
    struct block *b = pool->spare;
    if (b)
        pool->spare = b->chain;
    else
        b = wick__alloc(sizeof *b);
    if (b) *b = (struct block){0};
    return b;
}

static void block_drop(struct wick__gpu_pool *pool, struct block *b) {
    b->chain = pool->spare;
    pool->spare = b;
}

/* The smallest free block of at least `size` that `owner` may have. */
static struct block *find(struct wick__gpu_pool *pool, size_t size, bool small, const void *owner) {
    for (int bin = bin_of(size); bin < BINS; bin++) {
        struct block *best = NULL;
        for (struct block *b = pool->bins[bin]; b; b = b->bin_next)
            if (b->size >= size && b->small == small && b->owner == owner && (!best || b->size < best->size)) best = b;
        if (best) return best;
    }
    return NULL;
}

/* A whole new segment as one free block; NULL with the driver's code in *code. */
static struct block *segment_new(struct wick__gpu *gpu, size_t size, bool small, int *code) {
    struct wick__gpu_pool *pool = gpu->pool;
    size_t nbytes = pool->off      ? size
                    : small        ? SMALL_SEGMENT
                    : size < LARGE ? LARGE_SEGMENT
                                   : (size + STEP - 1) / STEP * STEP;
    void *memory = NULL;
    *code = 0;
    if (nbytes > room(pool)) {
        nbytes = size;
        if (nbytes > room(pool)) return NULL;
    }
    struct block *b = block_new(pool);
    if (!b) return NULL;
    *code = gpu->vendor->malloc(&memory, nbytes);
    if (*code && gpu->vendor->out_of_memory(*code) && nbytes > size) { /* perhaps just what is needed */
        nbytes = size;
        *code = gpu->vendor->malloc(&memory, nbytes);
    }
    if (*code) {
        block_drop(pool, b);
        return NULL;
    }
    b->at = memory;
    b->size = nbytes;
    b->small = small;
    pool->reserved += nbytes;
    bin_add(pool, b);
    return b;
}

static void trim_locked(struct wick__gpu *gpu, size_t keep) {
    struct wick__gpu_pool *pool = gpu->pool;
    for (int bin = BINS - 1; bin >= 0 && pool->reserved - pool->used > keep; bin--)
        for (struct block *b = pool->bins[bin], *next; b && pool->reserved - pool->used > keep; b = next) {
            next = b->bin_next;
            if (b->prev || b->next || b->owner) continue;
            bin_remove(pool, b);
            pool->reserved -= b->size;
            gpu->vendor->free(b->at); /* waits for the device's work */
            block_drop(pool, b);
        }
}

/* Takes a free block out of its bin and cuts off what is not needed, when that is worth it. */
static void take(struct wick__gpu_pool *pool, struct block *b, size_t size) {
    size_t rest = b->size - size;
    struct block *tail = NULL;
    bin_remove(pool, b);
    if (b->small ? rest >= ALIGN : rest >= SMALL) tail = block_new(pool);
    if (tail) {
        *tail = (struct block){
            .at = b->at + size, .size = rest, .small = b->small, .owner = b->owner, .prev = b, .next = b->next};
        if (b->next) b->next->prev = tail;
        b->next = tail;
        b->size = size;
        bin_add(pool, tail);
    }
    b->used = true;
    b->chain = pool->buckets[bucket_of(b->at)];
    pool->buckets[bucket_of(b->at)] = b;
    pool->used += b->size;
    if (pool->used > pool->peak) pool->peak = pool->used;
}

static enum wick_status no_memory(struct wick__gpu *gpu, size_t nbytes, int code) {
    const struct wick__gpu_pool *pool = gpu->pool;
    if (code && !gpu->vendor->out_of_memory(code)) return wick__gpu_check(gpu, code, "allocate %zu bytes", nbytes);
    char limit[32] = "no limit";
    if (pool->limit != SIZE_MAX) snprintf(limit, sizeof limit, "limit %zu", pool->limit);
    return wick__fail(WICK_MEMORY, "%s: out of memory: %zu bytes asked for, %zu in use, %zu cached, %s",
                      gpu->device->name, nbytes, pool->used, pool->reserved - pool->used, limit);
}

enum wick_status wick__gpu_pool_alloc(struct wick__gpu *gpu, size_t nbytes, void **memory) {
    struct wick__gpu_pool *pool = gpu->pool;
    enum wick_status status = WICK_OK;
    size_t size;
    int code = 0;
    size_t align = pool->off ? 16 : ALIGN;
    if (!wick__add_size(nbytes, align - 1, &size)) return no_memory(gpu, nbytes, 0);
    size &= ~(align - 1);
    bool small = size <= SMALL;
    pthread_mutex_lock(&pool->mutex);
    const void *owner = wick__gpu_records(gpu) ? pool->owner : NULL;
    struct block *b = find(pool, size, small, owner);
    if (!b && owner) b = find(pool, size, small, NULL);
    if (!b) { /* from the driver, which wants this device current; the other way needs no call at all */
        status = wick__gpu_use(gpu);
        if (status == WICK_OK) b = segment_new(gpu, size, small, &code);
    }
    if (!b && status == WICK_OK && !wick__gpu_records(gpu) && (!code || gpu->vendor->out_of_memory(code))) {
        trim_locked(gpu, 0);
        b = segment_new(gpu, size, small, &code);
    }
    if (b) {
        take(pool, b, size);
        b->owner = owner;
        *memory = b->at;
    } else if (status == WICK_OK) {
        status = no_memory(gpu, nbytes, code);
    }
    pthread_mutex_unlock(&pool->mutex);
    return status;
}

/* Joins b with its next neighbour when both are free and of one owner. */
static void merge(struct wick__gpu_pool *pool, struct block *b) {
    struct block *next = b->next;
    if (!next || b->used || next->used || b->owner != next->owner) return;
    bin_remove(pool, b);
    bin_remove(pool, next);
    b->size += next->size;
    b->next = next->next;
    if (b->next) b->next->prev = b;
    block_drop(pool, next);
    bin_add(pool, b);
}

static void settle(struct wick__gpu_pool *pool, struct block *b) {
    merge(pool, b);
    if (b->prev) merge(pool, b->prev);
}

void wick__gpu_pool_free(struct wick__gpu *gpu, void *memory) {
    struct wick__gpu_pool *pool = gpu->pool;
    pthread_mutex_lock(&pool->mutex);
    struct block **link = &pool->buckets[bucket_of(memory)];
    while (*link && (*link)->at != memory) link = &(*link)->chain;
    struct block *b = *link;
    if (b) {
        *link = b->chain;
        b->used = false;
        pool->used -= b->size;
        bin_add(pool, b);
        settle(pool, b);
        if (pool->reserved - pool->used > pool->cache && !wick__gpu_records(gpu) && wick__gpu_use(gpu) == WICK_OK)
            trim_locked(gpu, pool->cache);
    }
    pthread_mutex_unlock(&pool->mutex);
}

enum wick_status wick__gpu_pool_open(struct wick__gpu *gpu) {
    static const char *const words[] = {"off", "on", NULL};
    gpu->pool = wick__calloc(1, sizeof *gpu->pool);
    if (!gpu->pool) return WICK_MEMORY;
    pthread_mutex_init(&gpu->pool->mutex, NULL);
    gpu->pool->limit = SIZE_MAX;
    gpu->pool->off = wick__setting_word("WICK_POOL", words, 1) == 0;
    gpu->pool->cache = gpu->pool->off ? 0 : SIZE_MAX;
    return WICK_OK;
}

void wick__gpu_pool_close(struct wick__gpu *gpu) {
    struct wick__gpu_pool *pool = gpu->pool;
    if (!pool) return;
    /* Memory goes back segment by segment, then the structs one by one. */
    struct block *all = NULL;
    for (int i = 0; i < BINS; i++)
        for (struct block *b = pool->bins[i]; b; b = b->bin_next) {
            b->chain = all;
            all = b;
        }
    for (int i = 0; i < BUCKETS; i++)
        for (struct block *b = pool->buckets[i], *next; b; b = next) {
            next = b->chain;
            b->chain = all;
            all = b;
        }
    for (struct block *b = all; b; b = b->chain)
        if (!b->prev) gpu->vendor->free(b->at);
    while (all) {
        struct block *next = all->chain;
        wick__free(all, sizeof *all);
        all = next;
    }
    while (pool->spare) {
        struct block *next = pool->spare->chain;
        wick__free(pool->spare, sizeof *pool->spare);
        pool->spare = next;
    }
    pthread_mutex_destroy(&pool->mutex);
    wick__free(pool, sizeof *pool);
    gpu->pool = NULL;
}

void wick__gpu_pool_stats(const struct wick__gpu *gpu, struct wick_memory *memory) {
    struct wick__gpu_pool *pool = gpu->pool;
    size_t largest = 0;
    pthread_mutex_lock(&pool->mutex);
    for (int bin = BINS - 1; bin >= 0 && !largest; bin--)
        for (struct block *b = pool->bins[bin]; b; b = b->bin_next)
            if (b->size > largest) largest = b->size;
    *memory = (struct wick_memory){.used = pool->used,
                                   .peak = pool->peak,
                                   .cached = pool->reserved - pool->used,
                                   .limit = pool->limit,
                                   .cache = pool->cache,
                                   .largest = largest};
    pthread_mutex_unlock(&pool->mutex);
}

void wick__gpu_pool_set_limit(struct wick__gpu *gpu, size_t nbytes) {
    pthread_mutex_lock(&gpu->pool->mutex);
    gpu->pool->limit = nbytes;
    if (gpu->pool->reserved > nbytes && wick__gpu_use(gpu) == WICK_OK)
        trim_locked(gpu, nbytes > gpu->pool->used ? nbytes - gpu->pool->used : 0);
    pthread_mutex_unlock(&gpu->pool->mutex);
}

void wick__gpu_pool_set_cache(struct wick__gpu *gpu, size_t nbytes) {
    pthread_mutex_lock(&gpu->pool->mutex);
    gpu->pool->cache = nbytes;
    if (wick__gpu_use(gpu) == WICK_OK) trim_locked(gpu, nbytes);
    pthread_mutex_unlock(&gpu->pool->mutex);
}

void wick__gpu_pool_reset_peak(struct wick__gpu *gpu) {
    pthread_mutex_lock(&gpu->pool->mutex);
    gpu->pool->peak = gpu->pool->used;
    pthread_mutex_unlock(&gpu->pool->mutex);
}

void wick__gpu_pool_trim(struct wick__gpu *gpu, size_t keep) {
    pthread_mutex_lock(&gpu->pool->mutex);
    if (wick__gpu_use(gpu) == WICK_OK) trim_locked(gpu, keep);
    pthread_mutex_unlock(&gpu->pool->mutex);
}

void wick__gpu_pool_own(struct wick__gpu *gpu, const void *owner) {
    pthread_mutex_lock(&gpu->pool->mutex);
    gpu->pool->owner = owner;
    pthread_mutex_unlock(&gpu->pool->mutex);
}

void wick__gpu_pool_disown(struct wick__gpu *gpu, const void *owner) {
    struct wick__gpu_pool *pool = gpu->pool;
    pthread_mutex_lock(&pool->mutex);
    for (int i = 0; i < BUCKETS; i++)
        for (struct block *b = pool->buckets[i]; b; b = b->chain)
            if (b->owner == owner) b->owner = NULL;
    for (int i = 0; i < BINS; i++)
        for (struct block *b = pool->bins[i]; b; b = b->bin_next)
            if (b->owner == owner) b->owner = NULL;
    /* Free neighbours that the owner kept apart merge now; each merge changes the bins, so start over. */
    for (bool again = true; again;) {
        again = false;
        for (int i = 0; i < BINS && !again; i++)
            for (struct block *b = pool->bins[i]; b && !again; b = b->bin_next)
                if (b->next && !b->next->used && b->next->owner == b->owner) {
                    merge(pool, b);
                    again = true;
                }
    }
    pthread_mutex_unlock(&pool->mutex);
}
