/* Matrix products and convolutions of f32 on the device named in argv[1] that GPUs may make of parts of eleven bits, of
 * operands that have no such parts: infinities, NaN, elements so small that a low part is none, so large that a high
 * part is infinite. References are sums in f64, term by term. */
#include "tests/test.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum kind { ORDINARY, INFINITE, TINY_ROWS, TINY, ONE_TINY, LARGEST, POSITIVE, WIDE, KINDS };
static const char *const names[KINDS] = {"ordinary", "infinite", "tiny rows", "tiny",
                                         "one tiny", "largest",  "positive",  "wide"};
static struct wick_device *cpu, *gpu;
static unsigned seed = 1;

static unsigned next(void) { return (seed = seed * 1664525 + 1013904223) >> 8; }

/* An operand [rows, columns] of a kind; extremes are in the first one. */
static float *values(int64_t rows, int64_t columns, enum kind kind, bool is_first) {
    float *x = malloc((size_t)(rows * columns) * sizeof *x);
    CHECK(x);
    for (int64_t i = 0; i < rows * columns; i++) {
        x[i] = (float)next() / (float)(1 << 23) - 1;
        if (kind == POSITIVE) x[i] = fabsf(x[i]);
        if (kind == TINY_ROWS && is_first && i / columns % 3 == 1) x[i] *= 0x1p-130f;
        if (kind == TINY) x[i] *= is_first ? 0x1p-122f : 0x1p12f; /* normal, but for their low parts */
        if (kind == WIDE) x[i] = ldexpf(x[i], (int)(next() % 100) - 60);
        if (kind == LARGEST) x[i] *= is_first ? 0x1p-60f : 0x1p-10f;
    }
    if (!is_first) return x;
    int64_t at = columns * (rows / 2) + columns / 3;
    if (kind == INFINITE) {
        x[at] = INFINITY;
        x[at + 1] = -INFINITY;
        x[columns / 2] = NAN;
        x[rows * columns - 1] = -INFINITY;
    }
    if (kind == ONE_TINY) { /* beside zeros, or it would not count */
        memset(x + at / columns * columns, 0, (size_t)columns * sizeof *x);
        x[at] = 0x1.0012p-126f; /* whose low part is none */
    }
    if (kind == LARGEST) x[at] = FLT_MAX;
    return x;
}

/* The sum of some terms, and of their magnitudes. */
struct sum {
    double all, magnitudes;
    int terms;
};
static void add(struct sum *s, float x, float y) {
    s->all += (double)x * y;
    s->magnitudes += fabs((double)x * y);
    s->terms++;
}

static bool is_right(float got, const struct sum *want) {
    if (isnan(want->all)) return isnan(got);
    if (isinf(want->all)) return (double)got == want->all;
    double bound = want->magnitudes * (1 + fmin(want->terms, 256) / 2) * 0x1p-23 + want->terms * 0x1p-149;
    return fabs(got - want->all) <= bound;
}

static struct wick_tensor *upload(int rank, const int64_t *shape, const float *x, int64_t count) {
    return wick_to_device(wick_from_data(cpu, WICK_F32, rank, shape, x, (size_t)count * sizeof *x), gpu);
}

static void check_result(const char *what, struct wick_tensor *z, const struct sum *want, int64_t count) {
    float *got = malloc((size_t)count * sizeof *got);
    CHECK(got);
    TEST_CHECK_(z != NULL, "%s: %s", what, wick_error());
    if (z) {
        int64_t at = 0;
        CHECK_OK(wick_read(z, got, (size_t)count * sizeof *got));
        while (at < count && is_right(got[at], &want[at])) at++;
        TEST_CHECK_(at == count, "%s: element %" PRId64 " of %" PRId64 " is %g, not %g; magnitudes %g", what, at, count,
                    at < count ? (double)got[at] : 0, at < count ? want[at].all : 0,
                    at < count ? want[at].magnitudes : 0);
    }
    free(got);
}

/* `turned`: bit 0, a is transposed in memory; bit 1, b is. */
static void check_product(int64_t m, int64_t n, int64_t k, enum kind kind, int turned) {
    char what[120];
    snprintf(what, sizeof what, "%s, [%" PRId64 ",%" PRId64 "] [%" PRId64 ",%" PRId64 "], turned %d", names[kind], m, k,
             k, n, turned);
    float *a = values(m, k, kind, true), *b = values(k, n, kind, false);
    float *stored_a = malloc((size_t)(m * k) * sizeof *a), *stored_b = malloc((size_t)(k * n) * sizeof *b);
    struct sum *want = calloc((size_t)(m * n), sizeof *want);
    CHECK(stored_a && stored_b && want);
    for (int64_t i = 0; i < m * k; i++) stored_a[turned & 1 ? i % k * m + i / k : i] = a[i];
    for (int64_t i = 0; i < k * n; i++) stored_b[turned & 2 ? i % n * k + i / n : i] = b[i];
    for (int64_t r = 0; r < m; r++)
        for (int64_t t = 0; t < k; t++)
            for (int64_t c = 0; c < n; c++) add(&want[r * n + c], a[r * k + t], b[t * n + c]);
    wick_scope_begin();
    struct wick_tensor *x = upload(WICK_SHAPE(turned & 1 ? k : m, turned & 1 ? m : k), stored_a, m * k);
    struct wick_tensor *y = upload(WICK_SHAPE(turned & 2 ? n : k, turned & 2 ? k : n), stored_b, k * n);
    if (turned & 1) x = wick_transpose(x, 0, 1);
    if (turned & 2) y = wick_transpose(y, 0, 1);
    check_result(what, wick_matmul(x, y), want, m * n);
    wick_scope_end(NULL);
    free(a);
    free(b);
    free(stored_a);
    free(stored_b);
    free(want);
}

/* x [2,cin,side,side], weight [cout,cin,3,3], padding 1. */
static void check_conv(int64_t cin, int64_t cout, int64_t side, enum kind kind) {
    char what[120];
    snprintf(what, sizeof what, "%s, convolution of %" PRId64 " channels to %" PRId64, names[kind], cin, cout);
    int64_t count = 2 * cout * side * side;
    float *x = values(2 * cin, side * side, kind, true), *w = values(cout, cin * 9, kind, false);
    struct sum *want = calloc((size_t)count, sizeof *want);
    CHECK(want);
    for (int64_t i = 0; i < count; i++) {
        int64_t q = i % side, p = i / side % side, m = i / side / side % cout, b = i / side / side / cout;
        for (int64_t t = 0; t < cin * 9; t++) {
            int64_t row = p + t % 9 / 3 - 1, column = q + t % 3 - 1;
            if (row >= 0 && row < side && column >= 0 && column < side)
                add(&want[i], x[((b * cin + t / 9) * side + row) * side + column], w[m * cin * 9 + t]);
        }
    }
    wick_scope_begin();
    const struct wick_conv_options options = {.stride = {1, 1}, .padding = {1, 1}, .dilation = {1, 1}, .groups = 1};
    struct wick_tensor *tx = upload(WICK_SHAPE(2, cin, side, side), x, 2 * cin * side * side);
    struct wick_tensor *tw = upload(WICK_SHAPE(cout, cin, 3, 3), w, cout * cin * 9);
    check_result(what, wick_conv2d(tx, tw, NULL, &options), want, count);
    wick_scope_end(NULL);
    free(x);
    free(w);
    free(want);
}

int main(int argc, char **argv) {
    /* Each tile, parts of steps, edges. */
    static const int64_t sizes[][3] = {{64, 64, 64}, {70, 60, 75}, {64, 140, 333}, {130, 136, 72}, {200, 200, 100}};
    cpu = wick_device_open("cpu");
    gpu = wick_device_open(argc > 1 ? argv[1] : "auto");
    if (!gpu) test_skip(wick_error());
    for (int kind = 0; kind < KINDS; kind++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (int turned = 0; turned < 4; turned++)
                check_product(sizes[i][0], sizes[i][1], sizes[i][2], (enum kind)kind, turned);
        check_conv(16, 40, 10, (enum kind)kind);
        check_conv(8, 136, 7, (enum kind)kind);
    }
    wick_device_close(gpu);
    wick_device_close(cpu);
    return test_end();
}
