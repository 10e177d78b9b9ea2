/* A pool of threads that share out ranges by an atomic counter.
 *
 * The caller publishes a job under a sequence number, takes part in it itself, and waits until every thread that
 * entered it has left. Idle threads spin for a short while, since calls come in quick succession, and then sleep on a
 * condition variable. */
#define _GNU_SOURCE
#include "cpu/parallel.h"

#include "core/checked.h"
#include "core/error.h"

#include <wick/device.h>

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_THREADS = 256, SPINS = 4000, RANGES_PER_THREAD = 4 };

static struct {
    pthread_mutex_t busy;  /* held by the one caller whose job runs */
    pthread_mutex_t mutex; /* guards sleeping and `started` */
    pthread_cond_t wake;
    atomic_int threads;   /* workers wanted, the caller included; 0: not yet known */
    int started;          /* helpers that run; helper i is worker i + 1 */
    pid_t owner;          /* the process the helpers belong to: a forked child has none */
    cpu_set_t allowed;    /* processors of the process when its first helper started */
    int avoided;          /* the one that helpers keep off; -1: none yet, INT_MAX: not known how */
    atomic_uint sequence; /* odd while a job is open */
    atomic_int sleeping;
    atomic_int inside; /* helpers that are in the job */
    atomic_bool stop;
    pthread_t helper[MAX_THREADS];

    wick__range_fn *fn;
    void *context;
    int64_t n, step;
    _Atomic int64_t next;
    int limit; /* helpers with a worker number below this take part */
} pool = {.busy = PTHREAD_MUTEX_INITIALIZER, .mutex = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

static inline void pause_briefly(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static void work(int worker) {
    int64_t begin;
    while ((begin = atomic_fetch_add(&pool.next, pool.step)) < pool.n)
        pool.fn(pool.context, worker, begin, wick__min(begin + pool.step, pool.n));
}

static void *helper_main(void *argument) {
    int worker = (int)(intptr_t)argument;
    unsigned seen = 0;
    for (;;) {
        unsigned now;
        int spins = 0;
        while ((now = atomic_load(&pool.sequence)) == seen || !(now & 1)) {
            if (atomic_load(&pool.stop)) return NULL;
            if (++spins < SPINS) {
                pause_briefly();
                continue;
            }
            pthread_mutex_lock(&pool.mutex);
            atomic_fetch_add(&pool.sleeping, 1);
            while (((now = atomic_load(&pool.sequence)) == seen || !(now & 1)) && !atomic_load(&pool.stop))
                pthread_cond_wait(&pool.wake, &pool.mutex);
            atomic_fetch_sub(&pool.sleeping, 1);
            pthread_mutex_unlock(&pool.mutex);
            spins = 0;
        }
        /* Enter, then make sure that the job is still open: the caller closes it before it waits for those inside. */
        atomic_fetch_add(&pool.inside, 1);
        if (atomic_load(&pool.sequence) == now && worker < pool.limit) work(worker);
        seen = now;
        atomic_fetch_sub(&pool.inside, 1);
    }
}

static int processors(void) {
    cpu_set_t set;
    const char *wish = getenv("WICK_THREADS");
    if (wish) {
        char *end;
        long threads = strtol(wish, &end, 10);
        if (*wish && !*end && threads >= 1 && threads <= MAX_THREADS) return (int)threads;
        wick__log(WICK_LOG_WARNING, "WICK_THREADS=%.20s is not a number from 1 to %d; ignored", wish, MAX_THREADS);
    }
    int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return n < 1 ? 1 : n > MAX_THREADS ? MAX_THREADS : n;
}

/* Brings the number of helpers to pool.threads - 1. Called with `busy` held. */
static void start_helpers(void) {
    if (pool.owner != getpid()) {
        pool.owner = getpid();
        pool.started = 0;
        pool.avoided = sched_getaffinity(0, sizeof pool.allowed, &pool.allowed) == 0 ? -1 : INT_MAX;
        atomic_store(&pool.sleeping, 0);
        atomic_store(&pool.inside, 0);
        /* A child's copies still count the parent's sleepers; waking those would wait for them for ever. */
        pthread_mutex_init(&pool.mutex, NULL);
        pthread_cond_init(&pool.wake, NULL);
    }
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

void wick__parallel(int64_t n, int64_t grain, wick__range_fn *fn, void *context) {
    if (n <= 0) return;
    if (grain < 1) grain = 1;
    if (n <= grain || wick__workers() == 1 || pthread_mutex_trylock(&pool.busy) != 0) {
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
    pool.limit = pool.threads;
    atomic_store(&pool.next, 0);
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
        if (spins < SPINS)
            pause_briefly();
        else
            sched_yield();
    pthread_mutex_unlock(&pool.busy);
}
