/* Elementwise ops of operands in random layouts: permuted, parts of longer rows, broadcast. Expected values come from
 * loops over the operands' positions. */
#include "tests/test.h"

enum { RANK = 4, ROUNDS = 400, MOST = 200000 };

static struct wick_device *cpu;

/* A view of stored elements, and where element i0, i1, .. of it lies among them. */
struct view {
    struct wick_tensor *x;
    int64_t *stored;
    int64_t step[RANK], first;
};

/* Of the shape, or of one that broadcasts to it; whole numbers below 12. The caller frees `stored`. */
static struct view make(enum wick_dtype dtype, int rank, const int64_t *shape) {
    struct view v = {NULL, NULL, {0}, 0};
    int64_t stored[RANK], step[RANK], count = 1, cut[RANK];
    int dims[RANK], inverse[RANK];
    for (int d = 0; d < rank; d++) dims[d] = d;
    for (int d = rank - 1; d > 0; d--) {
        int other = (int)test_below(d + 1), kept = dims[d];
        if (test_below(2)) continue;
        dims[d] = dims[other];
        dims[other] = kept;
    }
    for (int d = 0; d < rank; d++) inverse[dims[d]] = d;
    for (int d = 0; d < rank; d++) {
        bool one = test_below(5) == 0;
        cut[d] = one || test_below(3) ? 0 : test_below(4);
        stored[d] = (one ? 1 : shape[dims[d]]) + 2 * cut[d];
        count *= stored[d];
    }
    for (int d = rank - 1, n = 1; d >= 0; n *= (int)stored[d--]) step[d] = n;
    int32_t *values = malloc(sizeof *values * (size_t)count);
    v.stored = malloc(sizeof *v.stored * (size_t)count);
    for (int64_t i = 0; i < count; i++) v.stored[i] = values[i] = (int32_t)test_below(12);
    struct wick_tensor *x = wick_from_data(cpu, WICK_I32, rank, stored, values, sizeof *values * (size_t)count);
    free(values);
    x = wick_cast(x, dtype);
    for (int d = 0; d < rank; d++) {
        v.first += cut[d] * step[d];
        x = wick_narrow(x, d, cut[d], stored[d] - 2 * cut[d]);
        v.step[dims[d]] = stored[d] - 2 * cut[d] == 1 ? 0 : step[d];
    }
    v.x = wick_permute(x, rank, inverse);
    CHECK(v.x != NULL);
    return v;
}

static int64_t at(const struct view *v, int rank, const int64_t *shape, int64_t i) {
    int64_t place = v->first;
    for (int d = rank - 1; d >= 0; i /= shape[d--]) place += i % shape[d] * v->step[d];
    return v->stored[place];
}

static bool same(struct wick_tensor *got, const int64_t *want, int64_t count) {
    int32_t *values = malloc(sizeof *values * (size_t)count);
    bool equal = wick_read(wick_cast(got, WICK_I32), values, sizeof *values * (size_t)count) == WICK_OK;
    for (int64_t i = 0; i < count && equal; i++) equal = values[i] == want[i];
    free(values);
    return equal;
}

static void round_of(enum wick_dtype dtype) {
    static const int64_t sizes[] = {1, 2, 3, 7, 8, 9, 16, 17, 31, 48, 64, 65, 100, 127, 128, 200, 300, 1030};
    int64_t shape[RANK], count = 0;
    int rank = 2 + (int)test_below(RANK - 1);
    while (count == 0 || count > MOST) {
        count = 1;
        for (int d = 0; d < rank; d++) count *= shape[d] = sizes[test_below(sizeof sizes / sizeof *sizes)];
    }
    struct view a = make(dtype, rank, shape), b = make(dtype, rank, shape);
    int64_t *want = malloc(sizeof *want * (size_t)count);
    struct wick_tensor *wide = wick_broadcast_to(a.x, rank, shape);
    for (int64_t i = 0; i < count; i++) want[i] = at(&a, rank, shape, i) * at(&b, rank, shape, i);
    TEST_CHECK_(same(wick_mul(wide, b.x), want, count), "mul of %s [%d,%d,..]: wrong", wick_dtype_name(dtype),
                (int)shape[0], (int)shape[1]);
    for (int64_t i = 0; i < count; i++) want[i] = at(&a, rank, shape, i) * at(&a, rank, shape, i);
    TEST_CHECK_(same(wick_sqr(wide), want, count), "sqr of %s [%d,%d,..]: wrong", wick_dtype_name(dtype), (int)shape[0],
                (int)shape[1]);
    for (int64_t i = 0; i < count; i++) want[i] = at(&a, rank, shape, i);
    TEST_CHECK_(same(wick_contiguous(wide), want, count), "contiguous of %s [%d,%d,..]: wrong", wick_dtype_name(dtype),
                (int)shape[0], (int)shape[1]);
    free(want);
    free(a.stored);
    free(b.stored);
}

int main(void) {
    static const enum wick_dtype dtypes[] = {WICK_F32, WICK_BF16, WICK_F64, WICK_U8, WICK_I16, WICK_F16};
    cpu = wick_device_open("cpu");
    for (int i = 0; i < ROUNDS; i++) {
        wick_scope_begin();
        round_of(dtypes[i % 6]);
        wick_scope_end(NULL);
    }
    wick_device_close(cpu);
    return test_end();
}
