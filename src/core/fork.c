/* Counting forks. */
#define _GNU_SOURCE /* pthread_atfork */
#include "core/fork.h"

#include <pthread.h>
#include <stdatomic.h>

static atomic_uint forks;

static void in_child(void) { atomic_fetch_add(&forks, 1); }

__attribute__((constructor)) static void watch(void) { (void)pthread_atfork(NULL, NULL, in_child); }

unsigned wick__forks(void) { return atomic_load_explicit(&forks, memory_order_relaxed); }
