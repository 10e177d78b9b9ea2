/* Scopes: what they release, what they keep, how they nest. */
#include "tests/test.h"

#include <pthread.h>
#include <stdatomic.h>

static struct wick_device *cpu;
static size_t base;

static struct wick_tensor *make(void) { return wick_empty(cpu, WICK_F32, WICK_SHAPE(100)); }
static size_t held(void) { return wick_host_memory_used() - base; }

static void check_simple(void) {
    base = wick_host_memory_used();
    wick_scope_begin();
    struct wick_tensor *a = make(), *b = make();
    CHECK(a && b && held() > 800);
    struct wick_tensor *kept = wick_scope_end(a);
    CHECK(kept == a && wick_tensor_count(kept) == 100);
    CHECK(held() > 400 && held() < 800);
    wick_release(kept);
    CHECK_INT(held(), 0);
    CHECK(wick_scope_end(NULL) == NULL); /* no scope */
    a = make();
    CHECK(wick_scope_end(a) == a);
    wick_release(a);
    CHECK_INT(held(), 0);
}

static void check_nested(void) {
    wick_scope_begin();
    struct wick_tensor *outer = make();
    wick_scope_begin();
    struct wick_tensor *x = make(), *y = make(), *z = make();
    CHECK(wick_keep(y) == y);
    wick_retain(z);
    CHECK(wick_scope_end(x) == x); /* x and y pass to the outer scope, z lives on its own reference */
    CHECK_INT(wick_tensor_count(y), 100);
    CHECK_INT(wick_tensor_count(outer), 100);
    wick_scope_end(NULL);
    CHECK_INT(wick_tensor_count(z), 100);
    wick_release(z);
    CHECK_INT(held(), 0);
}

static void check_views(void) {
    wick_scope_begin();
    struct wick_tensor *x = make();
    struct wick_tensor *view = wick_contiguous(x);
    CHECK(view != NULL);
    wick_scope_end(view);
    CHECK_INT(wick_tensor_count(view), 100);
    CHECK(held() >= 400);
    wick_release(view);
    CHECK_INT(held(), 0);
}

static void check_early_release(void) {
    wick_scope_begin();
    struct wick_tensor *x = make();
    make();
    wick_release(x);
    wick_scope_end(NULL);
    CHECK_INT(held(), 0);
    wick_scope_begin();
    CHECK(wick_keep(NULL) == NULL);
    wick_scope_end(NULL);
}

/* A tensor that is not of the innermost scope stays where it is. */
static void check_foreign(void) {
    struct wick_tensor *mine = make();
    wick_scope_begin();
    CHECK(wick_keep(mine) == mine);
    CHECK(wick_scope_end(mine) == mine);
    CHECK_INT(wick_tensor_count(mine), 100);
    wick_release(mine);
    CHECK_INT(held(), 0);
}

/* A failing call inside a scope leaves nothing behind. */
static void check_failure(void) {
    wick_scope_begin();
    CHECK(wick_contiguous(wick_empty(cpu, WICK_F32, 99, NULL)) == NULL);
    wick_error_clear();
    wick_scope_end(NULL);
    CHECK_INT(held(), 0);
}

/* Deeper than the library counts: nothing is lost, all goes by the end. */
static void check_depth(void) {
    enum { DEPTH = 200 };
    for (int i = 0; i < DEPTH; i++) {
        wick_scope_begin();
        CHECK(make() != NULL);
    }
    for (int i = 0; i < DEPTH; i++) wick_scope_end(NULL);
    CHECK_INT(held(), 0);
}

static atomic_int surprises; /* checks count in one thread only */

/* A thread that ends with scopes open releases them, and a record that it began. */
static void *leave_open(void *unused) {
    (void)unused;
    for (int i = 0; i < 3; i++) {
        wick_scope_begin();
        if (!make() || !make()) atomic_fetch_add(&surprises, 1);
    }
    if (wick_record_begin() != WICK_OK || !wick_neg(make())) atomic_fetch_add(&surprises, 1);
    return NULL;
}

static void check_thread_ends(void) {
    for (int i = 0; i < 200; i += 4) {
        pthread_t threads[4];
        for (int j = 0; j < 4; j++) CHECK_INT(pthread_create(&threads[j], NULL, leave_open, NULL), 0);
        for (int j = 0; j < 4; j++) pthread_join(threads[j], NULL);
    }
    CHECK_INT(surprises, 0);
    CHECK_INT(held(), 0);
}

int main(void) {
    cpu = wick_device_open("cpu");
    check_simple();
    check_nested();
    check_views();
    check_early_release();
    check_foreign();
    check_failure();
    check_depth();
    check_thread_ends();
    wick_device_close(cpu);
    CHECK_INT(wick_host_memory_used(), 0);
    return test_end();
}
