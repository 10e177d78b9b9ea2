/* Copies, functions, casts and binary ops of operands whose neighbours in memory lie along another dim than the
 * result's have the bits of those that the processor packed, and turn the operand as they read it: no copy takes
 * memory. On the device named in argv[1]. */
#include "tests/test.h"

#include <stdlib.h>

static struct wick_device *gpu, *cpu;

static void same(const struct wick_tensor *got, const struct wick_tensor *want, const char *what, const char *name) {
    CHECK(got && want);
    if (!got || !want) return;
    size_t nbytes = (size_t)wick_tensor_count(want) * (size_t)wick_dtype_bits(wick_tensor_dtype(want)) / 8;
    char *a = malloc(nbytes), *b = malloc(nbytes);
    CHECK(nbytes > 0 && a && b);
    CHECK_INT(wick_tensor_count(got), wick_tensor_count(want));
    CHECK_OK(wick_read(got, a, nbytes));
    CHECK_OK(wick_read(want, b, nbytes));
    TEST_CHECK_(memcmp(a, b, nbytes) == 0, "%s of %s has other bits (%s)", what,
                wick_dtype_name(wick_tensor_dtype(want)), name);
    free(a);
    free(b);
}

/* Views: `dims` of a tensor of `shape`, behind `skip` elements of its buffer and as much ahead of each row. */
struct view {
    const char *name;
    int rank;
    int64_t shape[8];
    int dims[8];
    int64_t skip;
};
static const struct view views[] = {
    {"a matrix of vectors", 2, {256, 1024}, {1, 0}, 0},
    {"odd sides", 2, {301, 437}, {1, 0}, 0},
    {"odd sides that begin anywhere", 3, {2, 161, 421}, {0, 2, 1}, 3},
    {"rows of 24", 3, {3, 2011, 24}, {0, 2, 1}, 0},
    {"columns of 24", 3, {3, 24, 2011}, {0, 2, 1}, 1},
    {"small matrices", 3, {2100, 8, 17}, {0, 2, 1}, 0},
    {"small matrices, cut", 3, {2100, 9, 13}, {0, 2, 1}, 5},
    {"rows of 8", 3, {50, 354, 8}, {0, 2, 1}, 0},
    {"five dims", 5, {9, 4, 17, 11, 40}, {4, 3, 2, 1, 0}, 0},
    {"eight dims", 8, {2, 3, 2, 17, 3, 2, 5, 70}, {6, 1, 0, 7, 2, 4, 5, 3}, 2},
};
enum { VIEWS = sizeof views / sizeof *views };

static struct wick_tensor *seen(const struct view *v, const struct wick_tensor *x) {
    return wick_permute(wick_narrow(x, v->rank - 1, v->skip, v->shape[v->rank - 1]), v->rank, v->dims);
}

/* A view, and the same elements in *packed, in order, where the processor has put them. */
static struct wick_tensor *view_of(const struct view *v, enum wick_dtype dtype, struct wick_tensor **packed) {
    int64_t shape[8];
    memcpy(shape, v->shape, sizeof shape);
    shape[v->rank - 1] += v->skip;
    struct wick_tensor *x = wick_cast(wick_normal(gpu, WICK_F32, v->rank, shape, 0.3, 2), dtype);
    *packed = wick_to_device(wick_contiguous(seen(v, wick_to_device(x, cpu))), gpu);
    return seen(v, x);
}

/* The bytes that the device has given out at most while `call` ran, without those before. */
#define PEAK(peak, call)                                                                                               \
    do {                                                                                                               \
        struct wick_memory before, after;                                                                              \
        CHECK_OK(wick_memory_reset_peak(gpu));                                                                         \
        CHECK_OK(wick_memory_stats(gpu, &before));                                                                     \
        call;                                                                                                          \
        CHECK_OK(wick_memory_stats(gpu, &after));                                                                      \
        (peak) = after.peak - before.used;                                                                             \
    } while (0)

/* A result takes what it has elements for, rounded up by the pool, which a copy beside it would double. */
static void without_copy(size_t peak, const struct wick_tensor *result, const char *what, const char *name) {
    size_t nbytes = (size_t)wick_tensor_count(result) * (size_t)wick_dtype_bits(wick_tensor_dtype(result)) / 8;
    TEST_CHECK_(peak < nbytes + nbytes / 2, "%s of %s took %zu bytes for %zu (%s)", what,
                wick_dtype_name(wick_tensor_dtype(result)), peak, nbytes, name);
}

static struct wick_tensor *light(const struct wick_tensor *x) { return wick_affine(x, WICK_REAL(0.7), WICK_REAL(3)); }
static struct wick_tensor *power(const struct wick_tensor *x) { return wick_powf(x, 3); }

static void check_functions(const struct view *v, enum wick_dtype dtype) {
    static struct wick_tensor *(*const functions[])(const struct wick_tensor *) = {wick_sqr, light, wick_exp, wick_gelu,
                                                                                   power};
    static const char *const names[] = {"sqr", "affine", "exp", "gelu", "powf"};
    wick_scope_begin();
    struct wick_tensor *packed, *x = view_of(v, dtype, &packed), *y = NULL;
    size_t peak;
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
        PEAK(peak, y = functions[f](x));
        without_copy(peak, y, names[f], v->name);
        same(y, functions[f](packed), names[f], v->name);
    }
    wick_scope_end(NULL);
}

static void check_casts(const struct view *v, enum wick_dtype from) {
    static const enum wick_dtype to[] = {WICK_F32,    WICK_F16, WICK_BF16, WICK_U8,  WICK_I16,
                                         WICK_F8E4M3, WICK_I32, WICK_U32,  WICK_F64, WICK_I64};
    wick_scope_begin();
    struct wick_tensor *packed, *x = view_of(v, from, &packed);
    for (size_t i = 0; i < sizeof to / sizeof *to; i++)
        if (to[i] != from) same(wick_cast(x, to[i]), wick_cast(packed, to[i]), wick_dtype_name(from), v->name);
    wick_scope_end(NULL);
}

/* Copies into a packed tensor, and into part of one whose neighbours lie along another dim, where nothing around that
 * part may change; and copies with one dim reversed. */
static void check_copies(const struct view *v, enum wick_dtype dtype) {
    const int64_t *shape = v->shape;
    int64_t turned[8];
    int back[8];
    wick_scope_begin();
    struct wick_tensor *packed, *x = view_of(v, dtype, &packed), *y = NULL;
    size_t peak;
    PEAK(peak, y = wick_contiguous(x));
    without_copy(peak, y, "contiguous", v->name);
    same(y, packed, "contiguous", v->name);
    for (int d = 0; d < v->rank; d++) {
        same(wick_flip(x, 1, &d), wick_to_device(wick_flip(wick_to_device(packed, cpu), 1, &d), gpu), "flip", v->name);
        turned[d] = shape[d] + (d == 0 ? 2 : d == v->rank - 1 ? 3 : 0);
        back[v->dims[d]] = d;
    }
    for (int way = 0; way < 2; way++) {
        struct wick_tensor *whole[2] = {wick_ones(gpu, dtype, v->rank, turned), wick_ones(cpu, dtype, v->rank, turned)};
        for (int k = 0; k < 2; k++) {
            struct wick_tensor *part = wick_narrow(wick_narrow(whole[k], 0, 1, shape[0]), -1, 2, shape[v->rank - 1]);
            struct wick_tensor *from = k ? wick_to_device(packed, cpu) : packed;
            if (way)
                CHECK_OK(wick_copy_inplace(part, wick_permute(from, v->rank, back)));
            else
                CHECK_OK(wick_copy_inplace(wick_permute(part, v->rank, v->dims), from));
        }
        same(whole[0], whole[1], way ? "copy_inplace" : "copy_inplace to a turned part", v->name);
    }
    wick_scope_end(NULL);
}

/* With operands that are packed, turned as well, one row, one column, one element, and packed but begin elsewhere. */
static void check_binary(const struct view *v, enum wick_dtype dtype) {
    wick_scope_begin();
    struct wick_tensor *packed, *x = view_of(v, dtype, &packed), *y = wick_clone(wick_neg(packed));
    struct wick_tensor *last = wick_narrow(y, 0, 0, 1), *first = wick_narrow(y, -1, 1, 1), *one = first, *z = NULL;
    for (int d = 0; d < v->rank - 1; d++) last = wick_narrow(last, d, 0, 1);
    for (int d = 0; d < v->rank; d++) one = wick_narrow(one, d, 0, 1);
    size_t peak;
    PEAK(peak, z = wick_sub(x, y));
    without_copy(peak, z, "sub", v->name);
    same(z, wick_sub(packed, y), "sub", v->name);
    PEAK(peak, z = wick_sub(y, x));
    without_copy(peak, z, "sub of the second", v->name);
    same(z, wick_sub(y, packed), "sub of the second", v->name);
    same(wick_sub(x, wick_sqr(x)), wick_sub(packed, wick_sqr(packed)), "sub of a function", v->name);
    same(wick_mul(x, x), wick_mul(packed, packed), "mul of both", v->name);
    same(wick_div(x, last), wick_div(packed, last), "div by a row", v->name);
    same(wick_maximum(first, x), wick_maximum(first, packed), "maximum of a column", v->name);
    same(wick_add(x, one), wick_add(packed, one), "add of one", v->name);
    const int64_t count = wick_tensor_count(x), room = count + 3;
    struct wick_tensor *apart = wick_narrow(wick_cast(wick_normal(gpu, WICK_F32, 1, &room, 0, 1), dtype), 0, 3, count);
    apart = wick_reshape(apart, v->rank, wick_tensor_shape(packed));
    same(wick_add(apart, x), wick_add(apart, packed), "add of one that begins elsewhere", v->name);
    wick_scope_end(NULL);
}

/* An operand that is turned and repeated. */
static void check_repeated(enum wick_dtype dtype) {
    wick_scope_begin();
    struct wick_tensor *packed, *x = view_of(&views[1], dtype, &packed);
    struct wick_tensor *y = wick_cast(wick_normal(gpu, WICK_F32, WICK_SHAPE(3, 437, 301), 0, 1), dtype);
    same(wick_sub(x, y), wick_sub(packed, y), "sub", "repeated");
    same(wick_sub(y, x), wick_sub(y, packed), "sub", "repeated");
    same(wick_sqr(wick_broadcast_to(x, WICK_SHAPE(2, 437, 301))),
         wick_sqr(wick_broadcast_to(packed, WICK_SHAPE(2, 437, 301))), "sqr", "repeated");
    wick_scope_end(NULL);
}

int main(int argc, char **argv) {
    static const enum wick_dtype dtypes[] = {WICK_F32, WICK_F16, WICK_BF16};
    static const enum wick_dtype others[] = {WICK_U8, WICK_I16, WICK_F8E4M3, WICK_I32, WICK_U32, WICK_F64, WICK_I64};
    gpu = wick_device_open(argc > 1 ? argv[1] : "cuda:0");
    if (!gpu) test_skip(wick_error());
    cpu = wick_device_open("cpu");
    CHECK_OK(wick_seed_set(gpu, 12));
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        for (int v = 0; v < VIEWS; v++) {
            check_copies(&views[v], dtypes[i]);
            check_functions(&views[v], dtypes[i]);
            check_binary(&views[v], dtypes[i]);
        }
        for (int v = 0; v < VIEWS; v += 3) check_casts(&views[v + (int)i % (VIEWS - v)], dtypes[i]);
        check_repeated(dtypes[i]);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        check_casts(&views[2 + i], others[i]);
        for (int v = 0; v < VIEWS; v++) check_copies(&views[v], others[i]);
    }
    wick_device_close(gpu);
    wick_device_close(cpu);
    return test_end();
}
