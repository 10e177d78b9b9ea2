/* The CPU family's threads. One pool serves the whole process; it starts with the first call that needs it. */
#ifndef WICK_CPU_RUNTIME_PARALLEL_H
#define WICK_CPU_RUNTIME_PARALLEL_H

#include <stdint.h>

/* Works on begin <= i < end. `worker` is 0 .. wick__workers()-1, no two at once having the same within one call:
 * an index into scratch space the caller has prepared. Must not fail, allocate, or call wick__parallel. */
typedef void wick__range_fn(void *context, int worker, int64_t begin, int64_t end);

/* Calls fn on ranges that cover 0 .. n-1, each of at least `grain` (but the last) and beginning at a multiple of it, on
 * all threads, and returns when all is done. Ranges are handed out in an order that varies: what is computed for i
 * must not depend on where its range begins or ends. While another thread has the pool, or when n <= grain, the
 * calling thread does all the work. */
void wick__parallel(int64_t n, int64_t grain, wick__range_fn *fn, void *context);

/* The same with workers 0 .. workers-1 alone: for scratch space that was made for so many. wick__workers() may be more
 * by then, and any worker may get any range, however few ranges there are. */
void wick__parallel_with(int workers, int64_t n, int64_t grain, wick__range_fn *fn, void *context);

/* The most workers a call can have, until wick_threads_set. */
int wick__workers(void);

#endif
