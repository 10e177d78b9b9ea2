/* Cases of the matrix products. linear: in[2] is the bias or absent, i[0] the activation. */
#include "verify/verify.h"
#include "verify/scales.h"

#include <math.h>
#include <string.h>

struct shapes {
    int a_rank;
    int64_t a[5];
    int b_rank;
    int64_t b[5];
};

static const struct shapes matmul_shapes[] = {
    {2, {1, 1}, 2, {1, 1}},
    {2, {3, 4}, 2, {4, 5}},
    {2, {29, 67}, 2, {67, 37}},
    {2, {15, 300}, 2, {300, 17}},
    {2, {5, 1030}, 2, {1030, 33}},
    {2, {150, 20}, 2, {20, 70}},
    {2, {1, 70}, 2, {70, 41}},
    {2, {41, 70}, 2, {70, 1}},
    {2, {2, 600}, 2, {600, 9}},
    {1, {19}, 1, {19}},
    {1, {19}, 2, {19, 6}},
    {2, {6, 19}, 1, {19}},
    {1, {5}, 3, {2, 5, 4}},
    {3, {2, 4, 5}, 1, {5}},
    {3, {3, 14, 16}, 3, {3, 16, 32}},
    {3, {3, 5, 6}, 2, {6, 7}},
    {2, {5, 6}, 3, {3, 6, 7}},
    {4, {2, 1, 4, 3}, 3, {3, 3, 5}},
    {5, {2, 1, 2, 3, 4}, 5, {1, 3, 1, 4, 2}},
    {2, {3, 0}, 2, {0, 5}},
    {2, {0, 4}, 2, {4, 5}},
    {3, {0, 2, 3}, 2, {3, 4}},
    {2, {4, 3}, 2, {3, 0}},
    {2, {130, 72}, 2, {72, 264}},
    {2, {130, 67}, 2, {67, 265}}, /* nothing is aligned */
    {2, {512, 20}, 2, {20, 64}},
    {2, {1, 70}, 2, {70, 130}},
    {2, {40, 48}, 2, {48, 64}},       /* SUBNORMAL */
    {2, {40, 48}, 2, {48, 64}},       /* NANS */
    {2, {7, 401}, 2, {401, 133}},     /* few rows by a matrix of which nothing is aligned, in several parts of k */
    {3, {2, 21, 79}, 3, {2, 79, 84}}, /* more than the kernels take at once */
    {2, {131, 519}, 2, {519, 5}},
    {2, {130, 1090}, 2, {1090, 24}}, /* few vectors by a matrix whose rows begin at multiples of 4 bytes, */
    {2, {66, 2051}, 2, {2051, 3}},   /* and of 2 */
};
/* Cases of matmul by number, which tools/simulate knows: A is subnormal in f16, which some matrix instructions take as
 * 0; some elements are NaN, which not all instructions write alike. */
enum { SUBNORMAL = 27, NANS = 28 };

static const struct shapes linear_shapes[] = {
    {2, {3, 4}, 2, {5, 4}},       {2, {33, 70}, 2, {65, 70}}, {2, {1, 300}, 2, {33, 300}},
    {3, {2, 7, 20}, 2, {16, 20}}, {1, {20}, 2, {9, 20}},      {2, {14, 16}, 2, {32, 16}},
    {2, {4, 0}, 2, {3, 0}},       {2, {0, 4}, 2, {3, 4}},     {4, {2, 2, 3, 5}, 2, {1, 5}},
    {2, {136, 64}, 2, {72, 64}},
};

static const struct shapes dot_shapes[] = {
    {1, {1}, 1, {1}}, {1, {33}, 1, {33}}, {1, {1100}, 1, {1100}}, {1, {0}, 1, {0}}};
static const struct shapes mv_shapes[] = {
    {2, {1, 1}, 1, {1}}, {2, {33, 70}, 1, {70}}, {2, {5, 1100}, 1, {1100}}, {2, {0, 3}, 1, {3}}, {2, {3, 0}, 1, {0}}};
static const struct shapes outer_shapes[] = {{1, {1}, 1, {1}}, {1, {33}, 1, {70}}, {1, {0}, 1, {3}}, {1, {15}, 1, {1}}};

#define COUNT(array) (int)(sizeof(array) / sizeof *(array))

static const struct shapes *shapes_of(enum wick_op op, int *count) {
    switch (op) {
    case WICK_OP_linear: *count = COUNT(linear_shapes) * 4; return linear_shapes;
    case WICK_OP_dot: *count = COUNT(dot_shapes); return dot_shapes;
    case WICK_OP_mv: *count = COUNT(mv_shapes); return mv_shapes;
    case WICK_OP_outer: *count = COUNT(outer_shapes); return outer_shapes;
    default: *count = COUNT(matmul_shapes); return matmul_shapes;
    }
}

static int product_cases(enum wick_op op) {
    int count;
    shapes_of(op, &count);
    return count;
}

/* linear runs every shape with and without bias, and all activations in turn. */
static void product_make(enum wick_op op, int k, struct verify_case *c) {
    int count;
    const struct shapes *shapes = shapes_of(op, &count);
    const struct shapes *s = &shapes[op == WICK_OP_linear ? k % COUNT(linear_shapes) : k];
    c->n_in = op == WICK_OP_linear ? 3 : 2;
    c->n_out = 1;
    c->in[0] = (struct verify_operand){.role = VERIFY_VALUE, .rank = s->a_rank, .low = -2, .high = 2};
    c->in[1] = (struct verify_operand){.role = VERIFY_VALUE, .rank = s->b_rank, .low = -2, .high = 2};
    memcpy(c->in[0].shape, s->a, sizeof s->a);
    memcpy(c->in[1].shape, s->b, sizeof s->b);
    if (op == WICK_OP_matmul && k == SUBNORMAL) {
        c->in[0].low = -0x1p-14;
        c->in[0].high = 0x1p-14;
    }
    if (op == WICK_OP_matmul && k == NANS) c->in[0].nan_every = c->in[1].nan_every = 400;
    if (op != WICK_OP_linear) return;
    c->in[2] = (struct verify_operand){.role = VERIFY_VALUE, .rank = 1, .low = -2, .high = 2};
    c->in[2].shape[0] = s->b[0];
    if (k / COUNT(linear_shapes) % 2 == 1) c->in[2].role = VERIFY_ABSENT;
    c->i[0] = k % WICK_ACTIVATION_COUNT;
}

static bool product_bench(enum wick_op op, struct verify_case *c) {
    bool dot = op == WICK_OP_dot, outer = op == WICK_OP_outer, mv = op == WICK_OP_mv;
    int64_t n = dot ? VERIFY_ROWS * VERIFY_COLUMNS : outer || mv ? 2048 : 512;
    product_make(op, 0, c);
    verify_operand_resize(&c->in[0], dot || outer ? 1 : 2, (const int64_t[]){n, n});
    verify_operand_resize(&c->in[1], dot || outer || mv ? 1 : 2, (const int64_t[]){n, n});
    verify_operand_resize(&c->in[2], 1, &n);
    return true;
}

static bool product_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    switch (c->op) {
    case WICK_OP_linear: out[0] = wick_linear(in[0], in[1], in[2], (enum wick_activation)c->i[0]); break;
    case WICK_OP_dot: out[0] = wick_dot(in[0], in[1]); break;
    case WICK_OP_mv: out[0] = wick_mv(in[0], in[1]); break;
    case WICK_OP_outer: out[0] = wick_outer(in[0], in[1]); break;
    default: out[0] = wick_matmul(in[0], in[1]); break;
    }
    return out[0] != NULL;
}

static double activated(enum wick_activation activation, double x) {
    switch (activation) {
    case WICK_ACTIVATION_RELU: return x < 0 ? 0 : x;
    case WICK_ACTIVATION_GELU: return x * (1 + erf(x / sqrt(2))) / 2;
    case WICK_ACTIVATION_GELU_TANH: return x * (1 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x))) / 2;
    case WICK_ACTIVATION_SILU: return x / (1 + exp(-x));
    case WICK_ACTIVATION_TANH: return tanh(x);
    default: return x;
    }
}

/* An integer as the dtype keeps it. */
static double wrapped(enum wick_dtype dtype, double value) {
    int64_t x = wick_dtype_is_float(dtype) ? 0 : (int64_t)value;
    switch (dtype) {
    case WICK_U8: return (double)(uint8_t)x;
    case WICK_U32: return (double)(uint32_t)x;
    case WICK_I16: return (double)(int16_t)(uint16_t)x;
    case WICK_I32: return (double)(int32_t)(uint32_t)x;
    default: return value;
    }
}

/* The two operands seen as batches of matrices. */
struct view {
    int rank; /* of the batch */
    int64_t batch[WICK_MAX_RANK];
    int64_t m, n, k, b_row, b_col;
};

static struct view view_of(const struct verify_case *c, const struct verify_array *a, const struct verify_array *b) {
    struct view v = {.m = 1, .n = 1, .k = a->shape[a->rank - 1]};
    if (c->op == WICK_OP_outer) return (struct view){.m = a->shape[0], .n = b->shape[0], .k = 1, .b_col = 1};
    if (a->rank > 1) v.m = a->shape[a->rank - 2];
    if (c->op == WICK_OP_linear) {
        v.n = b->shape[0];
        v.b_row = 1;
        v.b_col = v.k;
    } else {
        if (b->rank > 1) v.n = b->shape[b->rank - 1];
        v.b_row = v.n;
        v.b_col = 1;
    }
    int a_batch = a->rank > 2 ? a->rank - 2 : 0, b_batch = b->rank > 2 ? b->rank - 2 : 0;
    v.rank = a_batch > b_batch ? a_batch : b_batch;
    for (int d = 0; d < v.rank; d++) {
        int64_t from_a = d < v.rank - a_batch ? 1 : a->shape[d - (v.rank - a_batch)];
        int64_t from_b = d < v.rank - b_batch ? 1 : b->shape[d - (v.rank - b_batch)];
        v.batch[d] = from_a == 1 ? from_b : from_a;
    }
    return v;
}

/* Which matrix of an operand goes with the i-th of the result. */
static int64_t matrix_of(const struct view *v, const struct verify_array *x, int64_t i) {
    int64_t index = 0, step = 1;
    for (int d = v->rank - 1; d >= 0; d--) {
        int own = d - (v->rank - (x->rank - 2));
        int64_t at = i % v->batch[d];
        i /= v->batch[d];
        if (x->rank <= 2 || own < 0) continue;
        if (x->shape[own] != 1) index += at * step;
        step *= x->shape[own];
    }
    return index;
}

/* Sums of up to 256 terms go one after the other, so equal terms err the same way each time: half a unit of the sum so
 * far a term. */
static bool product_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    const struct verify_array *a = &in[0], *b = &in[1];
    const double *bias = c->op == WICK_OP_linear && c->in[2].role != VERIFY_ABSENT ? in[2].data : NULL;
    struct view v = view_of(c, a, b);
    int64_t shape[WICK_MAX_RANK];
    int rank = v.rank;
    for (int d = 0; d < v.rank; d++) shape[d] = v.batch[d];
    if (a->rank > 1 || c->op == WICK_OP_outer) shape[rank++] = v.m;
    if (b->rank > 1 || c->op == WICK_OP_outer) shape[rank++] = v.n;
    if (!verify_array_new(out, c->dtype, rank, shape, true)) return false;
    for (int64_t p = 0; p < out->count; p++) {
        int64_t j = p % v.n, i = p / v.n % v.m, batch = p / v.n / v.m;
        const double *row = a->data + (matrix_of(&v, a, batch) * v.m + i) * v.k;
        const double *column = b->data + matrix_of(&v, b, batch) * v.k * v.n + j * v.b_col;
        double sum = bias ? bias[j] : 0, scale = fabs(sum);
        for (int64_t k = 0; k < v.k; k++) {
            sum += row[k] * column[k * v.b_row];
            scale += fabs(row[k] * column[k * v.b_row]);
        }
        if (c->op == WICK_OP_linear) sum = activated((enum wick_activation)c->i[0], sum);
        out->data[p] = wrapped(c->dtype, sum);
        out->scale[p] = verify_scale_products(scale, (double)v.k);
    }
    return true;
}

static bool product_exact(enum wick_op op) { return op != WICK_OP_linear; }

const struct verify_family verify_matmul = {.name = "matmul",
                                            .cases = product_cases,
                                            .make = product_make,
                                            .bench = product_bench,
                                            .call = product_call,
                                            .reference = product_reference,
                                            .exact = product_exact};

const struct verify_family verify_composed_linalg = {.name = "composed_linalg",
                                                     .cases = product_cases,
                                                     .make = product_make,
                                                     .bench = product_bench,
                                                     .call = product_call,
                                                     .reference = product_reference,
                                                     .exact = product_exact};
