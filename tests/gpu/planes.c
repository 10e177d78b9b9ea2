/* Sums, largest elements and their places over planes of few lines, where lines lie in another order than results,
 * running sums of short rows, and deviations of many short ones: of what the table's cases are too small for. Whole
 * numbers make all but the deviations exact. On the device named in argv[1]. */
#include "tests/test.h"

#include <math.h>
#include <stdlib.h>

static struct wick_device *gpu;

/* The elements of a tensor in float64, to be freed. */
static double *values(const struct wick_tensor *x) {
    size_t nbytes = (size_t)wick_tensor_count(x) * sizeof(double);
    double *v = malloc(nbytes + 1);
    CHECK(x && v);
    wick_scope_begin();
    CHECK_OK(wick_read(wick_cast(x, WICK_F64), v, nbytes));
    wick_scope_end(NULL);
    return v;
}

/* Whole numbers from `low` to `low` + 8, and where that is below 0 some larger ones, so that the largest of a line may
 * be anywhere; `skip` elements behind an aligned address. *x is what they are. */
static struct wick_tensor *whole(enum wick_dtype dtype, int rank, const int64_t *shape, int64_t skip, double low,
                                 double **x) {
    int64_t count = 1;
    for (int d = 0; d < rank; d++) count *= shape[d];
    double *all = calloc((size_t)(count + skip), sizeof *all);
    CHECK(all != NULL);
    for (int64_t i = 0; i < count; i++)
        all[skip + i] = low + (double)(test_below(9) + (low < 0 && test_below(200) == 0 ? test_below(60) : 0));
    struct wick_tensor *y =
        wick_from_data(gpu, WICK_F64, WICK_SHAPE(count + skip), all, sizeof *all * (size_t)(count + skip));
    y = wick_reshape(wick_narrow(wick_cast(y, dtype), 0, skip, count), rank, shape);
    memmove(all, all + skip, sizeof *all * (size_t)count);
    *x = all;
    return y;
}

/* What lines of n elements, `step` apart, come to: the sum, the largest element, its first place. */
static void expect(const double *x, int64_t n, int64_t step, double want[3]) {
    want[0] = 0, want[1] = x[0], want[2] = 0;
    for (int64_t i = 0; i < n; i++) {
        want[0] += x[i * step];
        if (x[i * step] > want[1]) want[1] = x[i * step], want[2] = (double)i;
    }
}

/* Over dim `dim` of x; line i of the results begins at element from(i) of the values. */
struct lines {
    int64_t outs, n, step;
    int64_t inner, outer_step, apart; /* from(i) = i / inner * outer_step + i % inner * apart */
};

static void check_lines(struct wick_tensor *x, int dim, const double *elements, const struct lines *l) {
    const enum wick_dtype dtype = wick_tensor_dtype(x);
    const double unit = dtype == WICK_BF16 ? 0x1p-8 : dtype == WICK_F16 ? 0x1p-11 : 0;
    double *sum = values(wick_sum(x, 1, &dim, false)), *most = values(wick_max(x, 1, &dim, false));
    double *place = values(wick_argmax(x, 1, &dim, false)), want[3];
    int64_t wrong[3] = {0};
    for (int64_t i = 0; i < l->outs; i++) {
        expect(elements + i / l->inner * l->outer_step + i % l->inner * l->apart, l->n, l->step, want);
        wrong[0] += fabs(sum[i] - want[0]) > unit * fabs(want[0]);
        wrong[1] += most[i] != want[1];
        wrong[2] += place[i] != want[2];
    }
    for (int k = 0; k < 3; k++)
        TEST_CHECK_(wrong[k] == 0, "%s of %lld lines of %lld %s: %lld wrong",
                    k == 0   ? "sum"
                    : k == 1 ? "max"
                             : "argmax",
                    (long long)l->outs, (long long)l->n, wick_dtype_name(dtype), (long long)wrong[k]);
    free(sum);
    free(most);
    free(place);
}

static void check_planes(enum wick_dtype dtype, const int64_t shape[3], int64_t skip) {
    double *elements;
    wick_scope_begin();
    struct wick_tensor *x = whole(dtype, 3, shape, skip, -4, &elements);
    const struct lines l = {shape[0] * shape[2], shape[1], shape[2], shape[2], shape[1] * shape[2], 1};
    check_lines(x, 1, elements, &l);
    wick_scope_end(NULL);
    free(elements);
}

/* [n,b,a] in memory, seen as [n,a,b], over n. */
static void check_turned(enum wick_dtype dtype, int64_t n, int64_t a, int64_t b) {
    double *elements;
    wick_scope_begin();
    struct wick_tensor *x = whole(dtype, 3, (int64_t[]){n, b, a}, 0, -4, &elements);
    const struct lines l = {a * b, n, a * b, b, 1, a};
    check_lines(wick_transpose(x, 1, 2), 0, elements, &l);
    wick_scope_end(NULL);
    free(elements);
}

static void check_running(enum wick_dtype dtype, int64_t rows, int64_t n) {
    double *elements;
    int64_t wrong = 0;
    wick_scope_begin();
    struct wick_tensor *x = whole(dtype, 2, (int64_t[]){rows, n}, 0, 0, &elements);
    double *got = values(wick_cumsum(x, 1));
    for (int64_t r = 0; r < rows; r++) {
        double sum = 0;
        for (int64_t i = 0; i < n; i++) wrong += got[r * n + i] != (sum += elements[r * n + i]);
    }
    TEST_CHECK_(wrong == 0, "cumsum of %lld rows of %lld %s: %lld wrong", (long long)rows, (long long)n,
                wick_dtype_name(dtype), (long long)wrong);
    wick_scope_end(NULL);
    free(elements);
    free(got);
}

/* Within the bound of docs/numerics.md: two units of the result, and what few terms let it grow by. */
static void check_deviations(int64_t rows, int64_t n) {
    const double unit = 2.3 * 0x1p-23;
    int64_t wrong = 0;
    wick_scope_begin();
    struct wick_tensor *x = wick_uniform(gpu, WICK_F32, 2, (int64_t[]){rows, n}, -8, 8);
    double *elements = values(x), *got = values(wick_var(x, 1, 1, (int[]){1}, false));
    for (int64_t r = 0; r < rows; r++) {
        long double sum = 0, squares = 0;
        for (int64_t i = 0; i < n; i++) sum += elements[r * n + i];
        for (int64_t i = 0; i < n; i++) {
            long double apart = elements[r * n + i] - sum / n;
            squares += apart * apart;
        }
        double want = (double)(squares / (n - 1));
        wrong += !(fabs(got[r] - want) <= unit * want);
    }
    TEST_CHECK_(wrong == 0, "var of %lld rows of %lld: %lld wrong", (long long)rows, (long long)n, (long long)wrong);
    wick_scope_end(NULL);
    free(elements);
    free(got);
}

int main(int argc, char **argv) {
    static const enum wick_dtype dtypes[] = {WICK_BF16, WICK_F16, WICK_F32};
    static const int64_t planes[][3] = {{520, 300, 7}, {3, 3000, 5}, {515, 700, 3}, {1, 20000, 41}};
    gpu = wick_device_open(argc > 1 ? argv[1] : "cuda:0");
    if (!gpu) test_skip(wick_error());
    CHECK_OK(wick_seed_set(gpu, 3));
    for (int d = 0; d < 3; d++) {
        for (size_t s = 0; s < sizeof planes / sizeof *planes; s++)
            for (int64_t skip = 0; skip < 4; skip += 3) check_planes(dtypes[d], planes[s], skip);
        check_turned(dtypes[d], 1100, 3, 341);
        check_turned(dtypes[d], 2300, 17, 29);
        for (int64_t n = 1; n < 40; n += n < 20 ? 1 : 5) check_running(dtypes[d], 67, n);
    }
    for (int64_t n = 5; n < 70; n += 3) check_deviations(3000, n);
    wick_device_close(gpu);
    return test_end();
}
