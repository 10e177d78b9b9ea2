/* Size-class free lists over wick__alloc.
 *
 * Blocks under SMALL go straight to the allocator. Larger ones are rounded up to one of four sizes between powers of
 * two, so that at most a fifth is wasted, and when freed are pushed on the list of their class, linked through their
 * own first bytes. */
#define _GNU_SOURCE
#include "cpu/runtime/pool.h"

#include "core/memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SMALL = 32 * 1024, CLASSES = 4 * 64 };
static const size_t HUGE_FROM = (size_t)4 << 20;

struct block {
    struct block *next;
};

static struct {
    pthread_mutex_t mutex;
    struct block *lists[CLASSES];
    size_t cached, cache, limit; /* cache: the most to keep */
    atomic_size_t used, peak;
    bool ready;
} pool = {.mutex = PTHREAD_MUTEX_INITIALIZER, .limit = SIZE_MAX};

/* A fork takes the lock, so that a child finds the lists whole and the lock free. */
static void before_fork(void) { pthread_mutex_lock(&pool.mutex); }
static void after_fork(void) { pthread_mutex_unlock(&pool.mutex); }
__attribute__((constructor)) static void watch_forks(void) {
    (void)pthread_atfork(before_fork, after_fork, after_fork);
}

/* The class of a size >= SMALL, and the class's own size: (4 + quarter) * 2^(power - 2). */
static int size_class(size_t nbytes, size_t *rounded) {
    int power = 63 - __builtin_clzll(nbytes - 1); /* 2^power <= nbytes - 1 */
    size_t step = (size_t)1 << (power - 2);
    size_t up = (nbytes + step - 1) & ~(step - 1);
    *rounded = up;
    power = 63 - __builtin_clzll(up);
    return 4 * power + (int)((up >> (power - 2)) & 3);
}

/* The cache starts with room for an eighth of the machine's memory. Called with the mutex held. */
static void make_ready(void) {
    if (pool.ready) return;
    pool.cache = (size_t)sysconf(_SC_PHYS_PAGES) / 8 * (size_t)sysconf(_SC_PAGESIZE);
    pool.ready = true;
}

static void count_used(size_t nbytes) {
    size_t used = atomic_fetch_add_explicit(&pool.used, nbytes, memory_order_relaxed) + nbytes;
    size_t peak = atomic_load_explicit(&pool.peak, memory_order_relaxed);
    while (used > peak && !atomic_compare_exchange_weak_explicit(&pool.peak, &peak, used, memory_order_relaxed,
                                                                 memory_order_relaxed)) {
    }
}

static void trim_locked(size_t keep) {
    for (int c = CLASSES - 1; c >= 0 && pool.cached > keep; c--) {
        size_t size = (size_t)(4 + c % 4) << (c / 4) >> 2;
        while (pool.lists[c] && pool.cached > keep) {
            struct block *block = pool.lists[c];
            pool.lists[c] = block->next;
            pool.cached -= size;
            wick__free(block, size);
        }
    }
}

static void *fresh(size_t nbytes) {
    void *data = wick__alloc_quiet(nbytes);
    if (data && nbytes >= HUGE_FROM) {
        uintptr_t page = 4096, begin = ((uintptr_t)data + page - 1) & ~(page - 1);
        madvise((void *)begin, ((uintptr_t)data + nbytes - begin) & ~(page - 1), MADV_HUGEPAGE);
    }
    return data;
}

static bool over_limit(size_t nbytes) {
    return pool.limit != SIZE_MAX &&
           (nbytes > pool.limit || atomic_load(&pool.used) + pool.cached > pool.limit - nbytes);
}

static void *reused_or_fresh(size_t nbytes) {
    size_t size = nbytes;
    void *data = NULL;
    pthread_mutex_lock(&pool.mutex);
    make_ready();
    if (nbytes >= SMALL) {
        int c = size_class(nbytes, &size);
        struct block *block = pool.lists[c];
        if (block) {
            pool.lists[c] = block->next;
            pool.cached -= size;
            data = block;
        }
    }
    if (!data && over_limit(size)) trim_locked(0);
    bool refused = !data && over_limit(size);
    pthread_mutex_unlock(&pool.mutex);
    if (data || refused) return data;
    data = fresh(size);
    if (data) return data;
    wick__pool_trim();
    return fresh(size);
}

enum wick_status wick__pool_alloc(size_t nbytes, void **data) {
    if (nbytes > PTRDIFF_MAX / 2) return wick__fail(WICK_MEMORY, "out of memory: %zu bytes for a tensor", nbytes);
    void *memory = nbytes < SMALL && pool.limit == SIZE_MAX ? wick__alloc_quiet(nbytes) : reused_or_fresh(nbytes);
    if (!memory)
        return wick__fail(WICK_MEMORY, "out of memory: %zu bytes for a tensor, %zu are in use, the limit is %zu",
                          nbytes, atomic_load(&pool.used), pool.limit);
    count_used(nbytes);
    *data = memory;
    return WICK_OK;
}

void wick__pool_free(void *data, size_t nbytes) {
    atomic_fetch_sub_explicit(&pool.used, nbytes, memory_order_relaxed);
    if (nbytes < SMALL) {
        wick__free(data, nbytes);
        return;
    }
    size_t size;
    int c = size_class(nbytes, &size);
    pthread_mutex_lock(&pool.mutex);
    make_ready();
    bool keep = size <= pool.cache && pool.cached <= pool.cache - size;
    if (keep) {
        struct block *block = data;
        block->next = pool.lists[c];
        pool.lists[c] = block;
        pool.cached += size;
    }
    pthread_mutex_unlock(&pool.mutex);
    if (!keep) wick__free(data, size);
}

void wick__pool_stats(struct wick_memory *memory) {
    pthread_mutex_lock(&pool.mutex);
    make_ready();
    int c = CLASSES - 1;
    while (c >= 0 && !pool.lists[c]) c--;
    *memory = (struct wick_memory){.used = atomic_load(&pool.used),
                                   .peak = atomic_load(&pool.peak),
                                   .cached = pool.cached,
                                   .limit = pool.limit,
                                   .cache = pool.cache,
                                   .largest = c < 0 ? 0 : (size_t)(4 + c % 4) << (c / 4) >> 2};
    pthread_mutex_unlock(&pool.mutex);
}

void wick__pool_set_limit(size_t nbytes) {
    pthread_mutex_lock(&pool.mutex);
    pool.limit = nbytes;
    pthread_mutex_unlock(&pool.mutex);
}

void wick__pool_set_cache(size_t nbytes) {
    pthread_mutex_lock(&pool.mutex);
    make_ready();
    pool.cache = nbytes;
    trim_locked(nbytes);
    pthread_mutex_unlock(&pool.mutex);
}

void wick__pool_reset_peak(void) { atomic_store(&pool.peak, atomic_load(&pool.used)); }

void wick__pool_trim(void) {
    pthread_mutex_lock(&pool.mutex);
    trim_locked(0);
    pthread_mutex_unlock(&pool.mutex);
}
