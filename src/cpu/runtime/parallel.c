/* A pool of threads that share out ranges by atomic counters.
 *
 * Each worker has a share of the ranges, the same from call to call, so that what one call left in its caches is there
 * for the next; a worker whose share is done takes ranges of the others'.
 *
 * The caller publishes a job under a sequence number, takes part in it itself, and waits until every thread that
 * entered it has left. Idle threads spin for a bounded time (wick_threads_spin_set), since calls come in quick
 * succession and waking takes longer than many a call, and then sleep on a condition variable. */
#define _GNU_SOURCE
#include "cpu/runtime/parallel.h"

#include "core/checked.h"
#include "core/error.h"
#include "core/setting.h"

#include <wick/device.h>

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

enum {
    MAX_THREADS = 256,
    RANGES_PER_THREAD = 4,
    PAUSES = 64,             /* of a spinning thread between two looks at the clock: about a microsecond */
    YIELD = 50,              /* microseconds after which it offers its processor to others, each PAUSES */
    SPIN_DEFAULT = 5000,     /* microseconds */
    SPIN_MOST = 1000 * 1000, /* microseconds */
    LEAVING = 4000           /* pauses of a caller that waits for its helpers, before it yields */
};

static struct {
    pthread_mutex_t busy;  /* held by the one caller whose job runs */
    pthread_mutex_t mutex; /* guards sleeping and `started` */
    pthread_cond_t wake;
    atomic_int threads;   /* workers wanted, the caller included; 0: not yet known */
    atomic_int spin;      /* microseconds that an idle helper spins; -1: not yet known */
    atomic_bool crowded;  /* more threads than processors: spinning would keep others from working */
    int started;          /* helpers that run; helper i is worker i + 1 */
    bool counted;         /* whether the next two are known; not in a forked child */
    cpu_set_t allowed;    /* processors of the process when its first helper started */
    int avoided;          /* the one that helpers keep off; -1: none yet, INT_MAX: not known how */
    atomic_uint sequence; /* odd while a job is open */
    atomic_int sleeping;
    atomic_int inside; /* helpers that are in the job */
    pthread_t helper[MAX_THREADS];

    wick__range_fn *fn;
    void *context;
    int64_t n, step;
    int shares;
    int limit; /* helpers with a worker number below this take part */
    struct share {
        _Alignas(64) _Atomic int64_t next;
        int64_t end;
    } share[MAX_THREADS]; /* [shares] */
} pool = {.busy = PTHREAD_MUTEX_INITIALIZER,
          .mutex = PTHREAD_MUTEX_INITIALIZER,
          .wake = PTHREAD_COND_INITIALIZER,
          .spin = -1};

static inline void pause_briefly(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static void work(int worker) {
    int64_t begin;
    for (int i = 0; i < pool.shares; i++) {
        struct share *share = &pool.share[(worker + i) % pool.shares];
        while (atomic_load_explicit(&share->next, memory_order_relaxed) < share->end &&
               (begin = atomic_fetch_add(&share->next, pool.step)) < share->end)
            pool.fn(pool.context, worker, begin, wick__min(begin + pool.step, share->end));
    }
}

/* Shares of whole ranges that differ by at most one. */
static void share_out(int64_t ranges) {
    pool.shares = (int)wick__min(wick__min(pool.threads, pool.limit), ranges);
    for (int i = 0; i < pool.shares; i++) {
        int64_t begin = ranges * i / pool.shares * pool.step;
        pool.share[i].end = wick__min(ranges * (i + 1) / pool.shares * pool.step, pool.n);
        atomic_store_explicit(&pool.share[i].next, begin, memory_order_relaxed);
    }
}

static int64_t microseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* Whether a job is open that the helper has not `seen`; *now is the sequence number. */
static inline bool called(unsigned seen, unsigned *now) {
    *now = atomic_load_explicit(&pool.sequence, memory_order_acquire);
    return *now != seen && (*now & 1);
}

/* Spins until called: false when it was not within the time that helpers spin. */
static bool spin_until_called(unsigned seen, unsigned *now) {
    int limit = atomic_load_explicit(&pool.crowded, memory_order_relaxed) ? 0 : wick_threads_spin();
    if (limit == 0) return called(seen, now);
    for (int64_t began = microseconds(), spent = 0; spent < limit; spent = microseconds() - began) {
        if (spent > YIELD) sched_yield();
        for (int i = 0; i < PAUSES; i++) {
            if (called(seen, now)) return true;
            pause_briefly();
        }
    }
    return false;
}

static void sleep_until_called(unsigned seen, unsigned *now) {
    pthread_mutex_lock(&pool.mutex);
    atomic_fetch_add(&pool.sleeping, 1);
    while (!called(seen, now)) pthread_cond_wait(&pool.wake, &pool.mutex);
    atomic_fetch_sub(&pool.sleeping, 1);
    pthread_mutex_unlock(&pool.mutex);
}

static void *helper_main(void *argument) {
    int worker = (int)(intptr_t)argument;
    unsigned seen = 0, now;
    for (;;) {
        if (!spin_until_called(seen, &now)) sleep_until_called(seen, &now);
        /* Enter, then make sure that the job is still open: the caller closes it before it waits for those inside. */
        atomic_fetch_add(&pool.inside, 1);
        if (atomic_load(&pool.sequence) == now && worker < pool.limit) work(worker);
        seen = now;
        atomic_fetch_sub(&pool.inside, 1);
    }
    return NULL; /* not reached: helpers end with the process */
}

static int processors(void) {
    cpu_set_t set;
    int wish = wick__setting_number("WICK_THREADS", 1, MAX_THREADS, 0);
    if (wish > 0) return wish;
    int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return n < 1 ? 1 : n > MAX_THREADS ? MAX_THREADS : n;
}

/* A forked child has no helpers, and whatever job another thread of the parent had is none of its own. Its locks are
 * made anew, since their holders, and those that wait for them, stayed behind. */
static void forget(void) {
    pthread_mutex_init(&pool.busy, NULL);
    pthread_mutex_init(&pool.mutex, NULL);
    pthread_cond_init(&pool.wake, NULL);
    pool.started = 0;
    pool.counted = false;
    atomic_store(&pool.sequence, 0);
    atomic_store(&pool.sleeping, 0);
    atomic_store(&pool.inside, 0);
}
__attribute__((constructor)) static void watch_forks(void) { (void)pthread_atfork(NULL, NULL, forget); }

/* Brings the number of helpers to pool.threads - 1. Called with `busy` held. */
static void start_helpers(void) {
    if (!pool.counted) {
        pool.counted = true;
        pool.avoided = sched_getaffinity(0, sizeof pool.allowed, &pool.allowed) == 0 ? -1 : INT_MAX;
    }
    atomic_store(&pool.crowded, pool.avoided != INT_MAX && CPU_COUNT(&pool.allowed) < pool.threads);
    while (pool.started < pool.threads - 1) {
        void *worker = (void *)(intptr_t)(pool.started + 1);
        if (pthread_create(&pool.helper[pool.started], NULL, helper_main, worker) != 0) {
            wick__log(WICK_LOG_WARNING, "a thread could not be started; %d are used", pool.started + 1);
            pool.threads = pool.started + 1;
            return;
        }
        pool.started++;
    }
}

/* Keeps the helpers off the processor the caller runs on. A thread that wakes up is often put where it slept, behind
 * a caller that has moved there and has no reason to pause: it then waits for milliseconds beside an idle processor.
 * Called with `busy` held, before sleeping helpers are woken; free while the caller stays where it is. */
static void steer_helpers(void) {
    int here = sched_getcpu();
    if (here < 0 || here == pool.avoided || pool.avoided == INT_MAX) return;
    pool.avoided = here;
    cpu_set_t others = pool.allowed;
    CPU_CLR((size_t)here, &others);
    if (CPU_COUNT(&others) < pool.started) others = pool.allowed;
    for (int i = 0; i < pool.started; i++) pthread_setaffinity_np(pool.helper[i], sizeof others, &others);
}

int wick__workers(void) {
    int threads = atomic_load_explicit(&pool.threads, memory_order_relaxed);
    if (threads == 0) {
        int unset = 0;
        atomic_compare_exchange_strong(&pool.threads, &unset, processors());
        threads = atomic_load(&pool.threads);
    }
    return threads;
}

int wick_threads(void) { return wick__workers(); }

enum wick_status wick_threads_set(int threads) {
    if (threads < 1 || threads > MAX_THREADS)
        return wick__fail(WICK_INVALID, "threads_set: %d is not in 1..%d", threads, MAX_THREADS);
    pthread_mutex_lock(&pool.busy);
    pool.threads = threads;
    pthread_mutex_unlock(&pool.busy);
    return WICK_OK;
}

int wick_threads_spin(void) {
    int spin = atomic_load_explicit(&pool.spin, memory_order_relaxed);
    if (spin >= 0) return spin;
    int unset = -1;
    atomic_compare_exchange_strong(&pool.spin, &unset, wick__setting_number("WICK_SPIN", 0, SPIN_MOST, SPIN_DEFAULT));
    return atomic_load(&pool.spin);
}

enum wick_status wick_threads_spin_set(int microseconds) {
    if (microseconds < 0 || microseconds > SPIN_MOST)
        return wick__fail(WICK_INVALID, "threads_spin_set: %d is not in 0..%d", microseconds, SPIN_MOST);
    atomic_store(&pool.spin, microseconds);
    return WICK_OK;
}

void wick__parallel(int64_t n, int64_t grain, wick__range_fn *fn, void *context) {
    wick__parallel_with(MAX_THREADS, n, grain, fn, context);
}

void wick__parallel_with(int workers, int64_t n, int64_t grain, wick__range_fn *fn, void *context) {
    if (n <= 0) return;
    if (grain < 1) grain = 1;
    if (n <= grain || workers == 1 || wick__workers() == 1 || pthread_mutex_trylock(&pool.busy) != 0) {
        fn(context, 0, 0, n);
        return;
    }
    start_helpers();
    int64_t ranges = wick__min((n + grain - 1) / grain, (int64_t)pool.threads * RANGES_PER_THREAD);
    int64_t grains = ((n + grain - 1) / grain + ranges - 1) / ranges;
    pool.fn = fn;
    pool.context = context;
    pool.n = n;
    pool.step = grains * grain;
    pool.limit = pool.threads < workers ? pool.threads : workers;
    share_out((n + pool.step - 1) / pool.step);
    atomic_fetch_add(&pool.sequence, 1); /* opens the job */
    if (atomic_load(&pool.sleeping) > 0) {
        steer_helpers();
        pthread_mutex_lock(&pool.mutex);
        pthread_cond_broadcast(&pool.wake);
        pthread_mutex_unlock(&pool.mutex);
    }
    work(0);
    atomic_fetch_add(&pool.sequence, 1); /* closes it */
    for (int spins = 0; atomic_load(&pool.inside) > 0; spins++)
        if (spins < LEAVING)
            pause_briefly();
        else
            sched_yield();
    pthread_mutex_unlock(&pool.busy);
}
