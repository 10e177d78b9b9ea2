/* Checks for test programs. Each test is a program of its own: it runs checks, and ends with `return test_end();`.
 *
 * A check that fails prints where it stands and both values, and the test goes on; test_end prints how many failed.
 * Exit status: 0 all passed, 1 some failed, 77 skipped. */
#ifndef WICK_TESTS_TEST_H
#define WICK_TESTS_TEST_H

#include <wick/wick.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int test_checks, test_failures;

static inline bool test_result(bool good, const char *file, int line, const char *text) {
    __atomic_add_fetch(&test_checks, 1, __ATOMIC_RELAXED); /* threads check, too */
    if (good) return true;
    if (__atomic_add_fetch(&test_failures, 1, __ATOMIC_RELAXED) <= 50) printf("%s:%d: %s", file, line, text);
    return false;
}

#define TEST_CHECK_(good, ...)                                                                                         \
    do {                                                                                                               \
        if (!test_result((good), __FILE__, __LINE__, "") && test_failures <= 50) {                                     \
            printf(__VA_ARGS__);                                                                                       \
            printf("\n");                                                                                              \
        }                                                                                                              \
    } while (0)

/* The condition holds. */
#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        bool check_good = (condition);                                                                                 \
        TEST_CHECK_(check_good, "%s is false (%s)", #condition, *wick_error() ? wick_error() : "no error");            \
    } while (0)

/* Two integers are equal. */
#define CHECK_INT(got, want)                                                                                           \
    do {                                                                                                               \
        int64_t check_got = (int64_t)(got), check_want = (int64_t)(want);                                              \
        TEST_CHECK_(check_got == check_want, "%s is %" PRId64 ", should be %" PRId64, #got, check_got, check_want);    \
    } while (0)

/* Two doubles differ by at most `bound`; NaN never passes. */
#define CHECK_NEAR(got, want, bound)                                                                                   \
    do {                                                                                                               \
        double check_got = (got), check_want = (want);                                                                 \
        TEST_CHECK_(fabs(check_got - check_want) <= (bound), "%s is %.17g, should be %.17g", #got, check_got,          \
                    check_want);                                                                                       \
    } while (0)

/* Two strings are equal. */
#define CHECK_TEXT(got, want)                                                                                          \
    do {                                                                                                               \
        const char *check_got = (got), *check_want = (want);                                                           \
        TEST_CHECK_(check_got &&check_want &&strcmp(check_got, check_want) == 0,                                       \
                    "%s is\n    \"%s\", should be\n    \"%s\"", #got, check_got ? check_got : "(NULL)",                \
                    check_want ? check_want : "(NULL)");                                                               \
    } while (0)

/* `n` bytes are equal. */
#define CHECK_BYTES(got, want, n)                                                                                      \
    do {                                                                                                               \
        const unsigned char *check_got = (const void *)(got), *check_want = (const void *)(want);                      \
        size_t check_at = 0;                                                                                           \
        while (check_at < (size_t)(n) && check_got[check_at] == check_want[check_at]) check_at++;                      \
        TEST_CHECK_(check_at == (size_t)(n), "%s differs from %s at byte %zu: %02x, should be %02x", #got, #want,      \
                    check_at, check_got[check_at], check_want[check_at]);                                              \
    } while (0)

/* The call gave WICK_OK. */
#define CHECK_OK(call)                                                                                                 \
    do {                                                                                                               \
        enum wick_status check_status = (call);                                                                        \
        TEST_CHECK_(check_status == WICK_OK, "%s: %s, %s", #call, wick_status_name(check_status), wick_error());       \
    } while (0)

/* The call fails with this status and exactly this text: it gives a status, NULL or a number below 0, no pointer. */
#define CHECK_FAILS(call, status, text)                                                                                \
    do {                                                                                                               \
        wick_error_clear();                                                                                            \
        __typeof__(call) check_result = (call);                                                                        \
        TEST_CHECK_((intptr_t)check_result < 4096, "%s gave a result", #call);                                         \
        TEST_CHECK_(wick_error_status() == (status), "%s gave %s, should be %s", #call,                                \
                    wick_status_name(wick_error_status()), wick_status_name(status));                                  \
        CHECK_TEXT(wick_error(), text);                                                                                \
        wick_error_clear();                                                                                            \
    } while (0)

/* Ends the program at once, as skipped. */
static inline _Noreturn void test_skip(const char *reason) {
    printf("skipped: %s\n", reason);
    exit(77);
}

static inline int test_end(void) {
    printf("%d checks, %d failed\n", test_checks, test_failures);
    return test_failures > 0 || test_checks == 0;
}

/* A number from 0 to n - 1, by Knuth's 64-bit linear congruence: the same ones in every run. */
static inline int64_t test_below(int64_t n) {
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((state >> 33) % (uint64_t)n);
}

#endif
