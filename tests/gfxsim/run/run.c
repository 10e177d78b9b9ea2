/* The kernels of kernels.hip on each target, against the same in C. Arguments: gfx942=OBJECT ...; with --speed first,
 * how fast plain float code runs. */
#include "run.h"

#include <math.h>
#include <time.h>

static u32 random_bits(void) {
    static u64 state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (u32)(state >> 16);
}
static float random_float(void) { return (float)(i32)random_bits() * 0x1p-31f; }

#define MUST_RUN(code, kernel, ...)                                                                                    \
    do {                                                                                                               \
        int result_ = launch(code, kernel, __VA_ARGS__);                                                               \
        TEST_CHECK_(result_ == 0, "%s on %s: %d", kernel, sim_target_name((code)->target), result_);                   \
    } while (0)

static void test_add(struct sim_code *code) {
    enum { N = 1000 };
    float a[N], b[N];
    for (int i = 0; i < N; i++) a[i] = random_float(), b[i] = random_float();
    float *da = device_copy(a, sizeof a), *db = device_copy(b, sizeof b), *to = device_copy(NULL, sizeof a);
    struct arguments arguments = {.n = 0};
    ARGUMENT(&arguments, float *, to);
    ARGUMENT(&arguments, float *, da);
    ARGUMENT(&arguments, float *, db);
    ARGUMENT(&arguments, int, N);
    MUST_RUN(code, "add", DIM(4, 1, 1), DIM(256, 1, 1), 0, &arguments);
    for (int i = 0; i < N; i++) TEST_CHECK_(to[i] == a[i] + b[i], "add %d: %a, not %a", i, to[i], a[i] + b[i]);
    sim_memory_free(da);
    sim_memory_free(db);
    sim_memory_free(to);
}

static void test_places(struct sim_code *code) {
    const u32 grid[3] = {3, 2, 4}, block[3] = {5, 7, 3}, each = 105, blocks = 24;
    u32 *to = device_copy(NULL, sizeof(u32) * blocks * each);
    struct arguments arguments = {.n = 0};
    ARGUMENT(&arguments, u32 *, to);
    MUST_RUN(code, "places", grid, block, 0, &arguments);
    for (u32 i = 0; i < blocks * each; i++)
        TEST_CHECK_(to[i] == (i / each << 16 | i % each), "places %u: %x", i, to[i]);
    sim_memory_free(to);
}

static void test_collatz(struct sim_code *code) {
    enum { N = 700 };
    u32 *to = device_copy(NULL, N * sizeof *to);
    struct arguments arguments = {.n = 0};
    ARGUMENT(&arguments, u32 *, to);
    ARGUMENT(&arguments, u32, N);
    MUST_RUN(code, "collatz", DIM(8, 1, 1), DIM(96, 1, 1), 0, &arguments);
    for (u32 i = 0; i < N; i++) {
        u32 steps = 0;
        for (u64 x = i + 1; x != 1; steps++) x = x & 1 ? 3 * x + 1 : x / 2;
        TEST_CHECK_(to[i] == steps, "collatz %u: %u, not %u", i, to[i], steps);
    }
    sim_memory_free(to);
}

static void test_sums(struct sim_code *code) {
    enum { N = 2000, BLOCKS = 8 };
    u32 a[N], zero = 0, all = 0, of[BLOCKS] = {0};
    for (int i = 0; i < N; i++) a[i] = random_bits(), all += a[i], of[i / 256] += a[i];
    u32 *da = device_copy(a, sizeof a), *to = device_copy(NULL, sizeof of), *sum = device_copy(&zero, sizeof zero);
    struct arguments arguments = {.n = 0};
    ARGUMENT(&arguments, u32 *, to);
    ARGUMENT(&arguments, u32 *, sum);
    ARGUMENT(&arguments, u32 *, da);
    ARGUMENT(&arguments, u32, N);
    MUST_RUN(code, "sums", DIM(BLOCKS, 1, 1), DIM(256, 1, 1), 0, &arguments);
    TEST_CHECK_(*sum == all, "sums: %u, not %u", *sum, all);
    for (int i = 0; i < BLOCKS; i++) TEST_CHECK_(to[i] == of[i], "sums of block %d: %u, not %u", i, to[i], of[i]);
    sim_memory_free(da);
    sim_memory_free(to);
    sim_memory_free(sum);
}

static void test_backwards(struct sim_code *code) {
    enum { EACH = 192, BLOCKS = 3, N = EACH * BLOCKS };
    u32 a[N];
    for (int i = 0; i < N; i++) a[i] = random_bits();
    u32 *da = device_copy(a, sizeof a), *to = device_copy(NULL, sizeof a);
    struct arguments arguments = {.n = 0};
    ARGUMENT(&arguments, u32 *, to);
    ARGUMENT(&arguments, u32 *, da);
    MUST_RUN(code, "backwards", DIM(BLOCKS, 1, 1), DIM(EACH, 1, 1), EACH * 4, &arguments);
    for (int i = 0; i < N; i++) TEST_CHECK_(to[i] == a[i / EACH * EACH + EACH - 1 - i % EACH], "backwards %d", i);
    sim_memory_free(da);
    sim_memory_free(to);
}

static void test_histogram(struct sim_code *code) {
    enum { EACH = 50, N = 128 };
    unsigned char a[N * EACH];
    u32 count[N][16] = {{0}};
    for (int i = 0; i < N * EACH; i++) a[i] = (unsigned char)random_bits(), count[i / EACH][a[i] & 15]++;
    unsigned char *da = device_copy(a, sizeof a);
    u32 *to = device_copy(NULL, sizeof count);
    struct arguments arguments = {.n = 0};
    ARGUMENT(&arguments, u32 *, to);
    ARGUMENT(&arguments, unsigned char *, da);
    ARGUMENT(&arguments, u32, EACH);
    MUST_RUN(code, "histogram", DIM(1, 1, 1), DIM(N, 1, 1), 0, &arguments);
    for (int i = 0; i < N * 16; i++) TEST_CHECK_(to[i] == count[i / 16][i % 16], "histogram %d: %u", i, to[i]);
    sim_memory_free(da);
    sim_memory_free(to);
}

static u32 digits(u32 x, u32 base) {
    u32 seen[33], n = 0, sum = 0;
    while (x) {
        seen[n++] = x % base;
        x /= base;
    }
    while (n) sum = sum * 3 + seen[--n];
    return sum;
}
static void test_calls(struct sim_code *code) {
    enum { N = 300 };
    u32 *to = device_copy(NULL, N * sizeof *to);
    struct arguments arguments = {.n = 0};
    ARGUMENT(&arguments, u32 *, to);
    ARGUMENT(&arguments, u32, N);
    MUST_RUN(code, "calls", DIM(3, 1, 1), DIM(128, 1, 1), 0, &arguments);
    for (u32 i = 0; i < N; i++) {
        u32 should = i % 3 == 0 ? digits(i * 2654435761u, 2 + i % 15) : i;
        TEST_CHECK_(to[i] == should, "calls %u: %u, not %u", i, to[i], should);
    }
    sim_memory_free(to);
}

static void test_wide(struct sim_code *code) {
    enum { N = 200 };
    double a[N];
    long long b[N];
    for (int i = 0; i < N; i++) a[i] = random_float() * 1e3, b[i] = (int)random_bits();
    double *da = device_copy(a, sizeof a), *to = device_copy(NULL, sizeof a);
    long long *db = device_copy(b, sizeof b);
    struct arguments arguments = {.n = 0};
    ARGUMENT(&arguments, double *, to);
    ARGUMENT(&arguments, double *, da);
    ARGUMENT(&arguments, long long *, db);
    ARGUMENT(&arguments, u32, N);
    MUST_RUN(code, "wide", DIM(1, 1, 1), DIM(256, 1, 1), 0, &arguments);
    for (int i = 0; i < N; i++) {
        double should = fma(a[i], (double)(b[i] * b[i] % 1000003), 0.5) / (a[i] * a[i] + 1.0);
        TEST_CHECK_(fabs(to[i] - should) <= 1e-15 * fabs(should), "wide %d: %a, not %a", i, to[i], should);
    }
    sim_memory_free(da);
    sim_memory_free(db);
    sim_memory_free(to);
}

/* Halves with few bits, so that products and sums are exact. */
static unsigned short half_of(int sixteenths) {
    unsigned sign = sixteenths < 0 ? 0x8000 : 0;
    double value = fabs(sixteenths / 16.0);
    if (value == 0) return (unsigned short)sign;
    int exponent;
    double mantissa = frexp(value, &exponent);
    return (unsigned short)(sign | (unsigned)(exponent + 14) << 10 | ((unsigned)ldexp(mantissa, 11) & 0x3ff));
}
static void test_halves(struct sim_code *code) {
    enum { N = 256 };
    unsigned short a[N], b[N], should[N];
    for (int i = 0; i < N; i++) {
        int x = i % 23 - 11, y = i % 13 - 6;
        a[i] = half_of(16 * x), b[i] = half_of(8 * y), should[i] = half_of(8 * x * y + 4);
    }
    unsigned short *da = device_copy(a, sizeof a), *db = device_copy(b, sizeof b), *to = device_copy(NULL, sizeof a);
    struct arguments arguments = {.n = 0};
    ARGUMENT(&arguments, unsigned short *, to);
    ARGUMENT(&arguments, unsigned short *, da);
    ARGUMENT(&arguments, unsigned short *, db);
    ARGUMENT(&arguments, u32, N);
    MUST_RUN(code, "halves", DIM(2, 1, 1), DIM(128, 1, 1), 0, &arguments);
    for (int i = 0; i < N; i++) TEST_CHECK_(to[i] == should[i], "halves %d: %x, not %x", i, to[i], should[i]);
    sim_memory_free(da);
    sim_memory_free(db);
    sim_memory_free(to);
}

static void test_exchange(struct sim_code *code) {
    enum { N = 256 };
    const u32 wave = sim_code_kernel(code, "exchange")->wave;
    u32 a[N], sum[N] = {0};
    for (u32 i = 0; i < N; i++) a[i] = random_bits(), sum[i / wave] += a[i];
    u32 *da = device_copy(a, sizeof a), *to = device_copy(NULL, sizeof a);
    struct arguments arguments = {.n = 0};
    ARGUMENT(&arguments, u32 *, to);
    ARGUMENT(&arguments, u32 *, da);
    MUST_RUN(code, "exchange", DIM(1, 1, 1), DIM(N, 1, 1), 0, &arguments);
    for (u32 i = 0; i < N; i++) TEST_CHECK_(to[i] == sum[i / wave], "exchange %u: %u, not %u", i, to[i], sum[i / wave]);
    sim_memory_free(da);
    sim_memory_free(to);
}

struct table {
    u32 at[40];
    unsigned char small;
    unsigned short middle;
};
static void test_by_value(struct sim_code *code) {
    enum { N = 128 };
    struct table table = {.small = 201, .middle = 40001};
    for (int i = 0; i < 40; i++) table.at[i] = random_bits();
    u32 *to = device_copy(NULL, N * sizeof *to);
    struct arguments arguments = {.n = 0};
    ARGUMENT(&arguments, u32 *, to);
    add_argument(&arguments, &table, sizeof table, _Alignof(struct table));
    ARGUMENT(&arguments, u32, 7);
    MUST_RUN(code, "by_value", DIM(1, 1, 1), DIM(N, 1, 1), 0, &arguments);
    for (u32 i = 0; i < N; i++) {
        u32 should = table.at[i % 40] * table.middle + ((u32)table.small << 7);
        TEST_CHECK_(to[i] == should, "by_value %u: %u, not %u", i, to[i], should);
    }
    sim_memory_free(to);
}

static void test_choose(struct sim_code *code) {
    enum { N = 500 };
    static const char message[] = "the quick brown fox jumps over the lazy dog";
    u32 *to = device_copy(NULL, N * sizeof *to);
    struct arguments arguments = {.n = 0};
    ARGUMENT(&arguments, u32 *, to);
    ARGUMENT(&arguments, u32, N);
    MUST_RUN(code, "choose", DIM(2, 1, 1), DIM(256, 1, 1), 0, &arguments);
    for (u32 i = 0; i < N; i++) {
        u32 x = 0;
        switch (i % 7) {
        case 0: x = i * i; break;
        case 1: x = i << 3 | 5; break;
        case 2: x = (u32)__builtin_popcount(i * 0x9e3779b9); break;
        case 3: x = (u32)__builtin_clz(i); break;
        case 4: x = (u32)message[i % (sizeof message - 1)]; break;
        case 5: x = ~i; break;
        default: x = i / 11 + i % 13;
        }
        TEST_CHECK_(to[i] == x, "choose %u: %u, not %u", i, to[i], x);
    }
    sim_memory_free(to);
}

static float polynomial(float x, u32 rounds) {
    float y = 0.5f, z = 0.25f;
    for (u32 k = 0; k < rounds; k++) {
        y = fmaf(y, x, 0.125f);
        z = fmaf(z, x, y);
        y = fmaf(z, 0.25f, y * 0.5f);
        z = fmaf(-y, 0.375f, z);
    }
    return y + z;
}
/* Returns seconds. The compiler contracts z * x + y, as for HIP. */
static double run_polynomial(struct sim_code *code, u32 blocks, u32 rounds) {
    u32 n = blocks * 256;
    float *a = device_copy(NULL, n * sizeof *a), *to = device_copy(NULL, n * sizeof *to);
    for (u32 i = 0; i < n; i++) a[i] = 0.4f * random_float();
    sim_memory_mark(a, n * sizeof *a, SIM_DEFINED);
    struct arguments arguments = {.n = 0};
    ARGUMENT(&arguments, float *, to);
    ARGUMENT(&arguments, float *, a);
    ARGUMENT(&arguments, u32, rounds);
    struct timespec from, until;
    clock_gettime(CLOCK_MONOTONIC, &from);
    MUST_RUN(code, "polynomial", DIM(blocks, 1, 1), DIM(256, 1, 1), 0, &arguments);
    clock_gettime(CLOCK_MONOTONIC, &until);
    for (u32 i = 0; i < n; i += 97) {
        float should = polynomial(a[i], rounds);
        TEST_CHECK_(fabsf(to[i] - should) <= 1e-5f * (1 + fabsf(should)), "polynomial %u: %a, not %a", i, to[i],
                    should);
    }
    sim_memory_free(a);
    sim_memory_free(to);
    return (double)(until.tv_sec - from.tv_sec) + 1e-9 * (double)(until.tv_nsec - from.tv_nsec);
}
static void test_polynomial(struct sim_code *code) { run_polynomial(code, 3, 10); }

static void measure(struct sim_code *code) {
    enum { BLOCKS = 64, ROUNDS = 2000 };
    run_polynomial(code, 2, 10);
    double seconds = run_polynomial(code, BLOCKS, ROUNDS);
    /* Five operations a round; the loop's own scalar instructions count for nothing. */
    double lanes = 5.0 * ROUNDS * BLOCKS * 256;
    printf("%s: %.1f M lane-instructions/s on %u threads\n", sim_target_name(code->target), lanes / seconds * 1e-6,
           sim_settings.threads);
}

static void test_all(struct sim_code *code) {
    test_add(code);
    test_places(code);
    test_collatz(code);
    test_sums(code);
    test_backwards(code);
    test_histogram(code);
    test_calls(code);
    test_wide(code);
    test_halves(code);
    test_exchange(code);
    test_by_value(code);
    test_choose(code);
    test_polynomial(code);
}

int main(int argc, char **argv) {
    bool speed = argc > 1 && strcmp(argv[1], "--speed") == 0;
    int first = speed ? 2 : 1;
    if (first >= argc) {
        fputs("run [--speed] TARGET=OBJECT ...\n", stderr);
        return 2;
    }
    sim_settings_read();
    for (int i = first; i < argc; i++) {
        struct sim_code *code = load_code(argv[i]);
        if (speed) measure(code);
        /* Neither the order of waves and blocks nor threads change a result. */
        for (unsigned k = 0; k < 3 && !speed; k++) {
            sim_settings.seed = k * 7919;
            sim_settings.threads = 1 + 2 * k;
            test_all(code);
        }
        sim_code_unload(code);
    }
    TEST_CHECK_(sim_findings == 0, "%ld findings", sim_findings);
    return test_end();
}
