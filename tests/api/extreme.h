/* What the generated program of tests/api/extreme.py stands on: tensors, devices, strings and bytes to draw from.
 *
 * A crash or a sanitizer's report names the function and the number of its call: both are printed when it happens, from
 * a buffer, and test-api-extreme FUNCTION runs that function alone. */
#ifndef WICK_TESTS_API_EXTREME_H
#define WICK_TESTS_API_EXTREME_H

#include "tests/test.h"

#include <limits.h>
#include <signal.h>
#include <unistd.h>

enum { CALLS = 1500, N_TENSORS = 12, N_STRINGS = 7 };

static struct wick_device *devices[2];
static struct wick_tensor *tensors[N_TENSORS];
static const char *const strings[N_STRINGS] = {NULL, "", "cpu", "f32", "exp", "/proc/none/x", "%s%n\xff\x1b"};
static _Alignas(64) unsigned char bytes[8192];
static char now[160];
static uint64_t state;

/* A number below n. */
static inline int draw(int n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (uint64_t)n);
}

static inline struct wick_tensor *const *several(void) {
    static struct wick_tensor *list[16];
    struct wick_tensor *same = tensors[draw(N_TENSORS)];
    for (int i = 0; i < 16; i++) list[i] = draw(8) ? same : tensors[draw(N_TENSORS)];
    return list;
}

static void die(int number) {
    ssize_t written = write(STDERR_FILENO, now, strlen(now));
    (void)written;
    signal(number, SIG_DFL);
    raise(number);
}

/* Called by UBSan before it ends the program. */
void __ubsan_on_report(void);
void __ubsan_on_report(void) {
    ssize_t written = write(STDERR_FILENO, now, strlen(now));
    (void)written;
}

static void set_up(void) {
    signal(SIGSEGV, die);
    signal(SIGABRT, die);
    signal(SIGFPE, die);
    struct wick_device *cpu = devices[1] = wick_device_open("cpu");
    /* Large shapes are refused instead of filled. */
    CHECK_OK(wick_memory_set_limit(cpu, (size_t)64 << 20));
    int i = 1;
    tensors[i++] = wick_ones(cpu, WICK_F32, WICK_SHAPE(2, 3));
    tensors[i++] = wick_ones(cpu, WICK_F32, 0, NULL);
    tensors[i++] = wick_ones(cpu, WICK_I64, WICK_SHAPE(3));
    tensors[i++] = wick_ones(cpu, WICK_U8, WICK_SHAPE(2, 0));
    tensors[i++] = wick_ones(cpu, WICK_F32, WICK_SHAPE(1, 2, 5, 6));
    tensors[i++] = wick_ones(cpu, WICK_F16, WICK_SHAPE(2, 2, 4));
    tensors[i++] = wick_t(tensors[1]);
    tensors[i++] = wick_zeros(cpu, WICK_I32, WICK_SHAPE(2, 3));
    tensors[i++] = wick_empty(cpu, WICK_DTYPE_f4, WICK_SHAPE(3, 2));
    tensors[i++] = wick_ones(cpu, WICK_F32, WICK_SHAPE(2, 1, 2, 1, 2, 1, 2, 1));
    tensors[i++] = wick_ones(cpu, WICK_F32, WICK_SHAPE(1, 2, 3, 4, 5));
    CHECK_INT(i, N_TENSORS);
    for (i = 1; i < N_TENSORS; i++) CHECK(tensors[i] != NULL);
}

static void begin(const char *name, int i) {
    snprintf(now, sizeof now, "\n%s, call %d\n", name, i);
    state = (uint64_t)i * 1000003;
    wick_scope_begin();
}

static void end(void) {
    wick_scope_end(NULL);
    CHECK((wick_error_status() == WICK_OK) == (*wick_error() == 0));
    CHECK(wick_error_status() != WICK_INTERNAL);
    wick_error_clear();
}

#endif
