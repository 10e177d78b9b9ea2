/* The binary family: functions of two tensors that broadcast; prelu, swiglu and glu have shapes of their own. glu: i[0]
 * is the dim. */
#include "verify/elementwise.h"
#include "verify/scales.h"

#include <math.h>
#include <string.h>

static const int64_t prelu_shapes[][3] = {{7, 0, 0}, {3, 5, 0}, {2, 3, 4}, {2, 1, 3}, {0, 3, 2}, {4, 33, 65}};
static const int64_t swiglu_shapes[][3] = {{8, 0, 0}, {3, 10, 0}, {2, 3, 4}, {2, 0, 6}, {3, 2, 0}, {3, 5, 700}};
enum { OWN_SHAPES = 6 };

static int binary_cases(enum wick_op op) {
    if (op == WICK_OP_prelu) return 2 * OWN_SHAPES;
    return op == WICK_OP_swiglu || op == WICK_OP_glu ? OWN_SHAPES : verify_two_shapes() + (op == WICK_OP_sub);
}

/* Dims up to the first unused one; the last dim of a rank 2 shape may be 0. */
static struct verify_operand own_operand(const int64_t *shape, int rank) {
    struct verify_operand operand = {.role = VERIFY_VALUE, .rank = rank, .low = -8, .high = 8};
    memcpy(operand.shape, shape, sizeof *shape * 3);
    return operand;
}

static const int64_t glu_shapes[][3] = {{8, 0, 0}, {3, 10, 0}, {2, 6, 4}, {2, 0, 6}, {6, 1, 5}, {3, 66, 70}};
static const int glu_ranks[OWN_SHAPES] = {1, 2, 3, 3, 3, 3}, glu_dims[OWN_SHAPES] = {0, -1, 1, 1, 0, -2};

static bool divides(enum wick_op op) {
    return op == WICK_OP_div || op == WICK_OP_remainder || op == WICK_OP_fmod || op == WICK_OP_floor_divide ||
           op == WICK_OP_trunc_divide;
}

static void binary_make(enum wick_op op, int k, struct verify_case *c) {
    static const int ranks[OWN_SHAPES] = {1, 2, 3, 3, 3, 3};
    double low = -20, high = 20, low2 = -20, high2 = 20;
    c->n_out = 1;
    if (op == WICK_OP_swiglu) {
        c->n_in = 1;
        c->in[0] = own_operand(swiglu_shapes[k], k == 4 ? 2 : ranks[k]);
        return;
    }
    if (op == WICK_OP_glu) {
        c->n_in = 1;
        c->in[0] = own_operand(glu_shapes[k], glu_ranks[k]);
        c->i[0] = glu_dims[k];
        return;
    }
    if (op == WICK_OP_prelu) {
        const int64_t *shape = prelu_shapes[k / 2];
        int64_t channels = ranks[k / 2] > 1 ? shape[1] : shape[0];
        c->n_in = 2;
        c->in[0] = own_operand(shape, ranks[k / 2]);
        c->in[1] = (struct verify_operand){.role = VERIFY_VALUE, .rank = 1, .low = -2, .high = 2};
        c->in[1].shape[0] = k % 2 ? 1 : channels;
        return;
    }
    if (divides(op)) low2 = 1;
    if (op == WICK_OP_pow) low = 0.5, high = 5, low2 = -2, high2 = 4;
    if (op == WICK_OP_shift_left || op == WICK_OP_shift_right) low2 = -2, high2 = 70;
    c->n_in = 2;
    c->in[0] = verify_two_operand(k, 0, low, high);
    c->in[1] = verify_two_operand(k, 1, low2, high2);
}

static bool binary_bench(enum wick_op op, struct verify_case *c) {
    verify_make_large(binary_make, 0, c);
    if (op == WICK_OP_glu) c->i[0] = 1;
    if (op == WICK_OP_prelu) verify_operand_resize(&c->in[1], 1, (const int64_t[]){VERIFY_COLUMNS});
    return true;
}

static bool binary_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    switch (c->op) {
#define CALL(name)                                                                                                     \
    case WICK_OP_##name: out[0] = wick_##name(in[0], in[1]); break;
        CALL(add)
        CALL(sub)
        CALL(mul)
        CALL(div)
        CALL(maximum)
        CALL(minimum)
        CALL(pow)
        CALL(remainder)
        CALL(fmod)
        CALL(floor_divide)
        CALL(trunc_divide)
        CALL(atan2)
        CALL(bitwise_and)
        CALL(bitwise_or)
        CALL(bitwise_xor)
        CALL(shift_left)
        CALL(shift_right)
        CALL(prelu)
#undef CALL
    case WICK_OP_swiglu: out[0] = wick_swiglu(in[0]); break;
    case WICK_OP_glu: out[0] = wick_glu(in[0], (int)c->i[0]); break;
    default: out[0] = NULL; break;
    }
    return out[0] != NULL;
}

static double remainder_of(double x, double y) {
    double r = fmod(x, y);
    return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

/* The exact quotient rounded down. 0 comes with the quotient's sign, an infinite x has no quotient. */
static double floor_of(double x, double y) {
    if (y == 0) return x / y;
    if (isnan(x) || isnan(y) || isinf(x)) return NAN;
    if (isinf(y)) return x == 0 || (x < 0) == (y < 0) ? copysign(0, x / y) : -1;
    return (double)floorl((long double)x / y);
}

/* The quotient as the kernel's type holds it, without its fraction. */
static double trunc_of(enum wick_dtype dtype, double x, double y) {
    return dtype == WICK_F64 ? trunc(x / y) : (double)truncf((float)x / (float)y);
}

static double float_value(enum wick_op op, double x, double y) {
    switch (op) {
    case WICK_OP_add: return x + y;
    case WICK_OP_sub: return x - y;
    case WICK_OP_mul: return x * y;
    case WICK_OP_div: return x / y;
    case WICK_OP_maximum: return x != x || y != y ? NAN : x > y ? x : y;
    case WICK_OP_minimum: return x != x || y != y ? NAN : x < y ? x : y;
    case WICK_OP_pow: return (double)powl(x, y);
    case WICK_OP_remainder: return remainder_of(x, y);
    case WICK_OP_fmod: return fmod(x, y);
    case WICK_OP_floor_divide: return floor_of(x, y);
    case WICK_OP_atan2: return (double)atan2l(x, y);
    default: return NAN;
    }
}

static verify_wide int_power(verify_wide x, verify_wide y) {
    verify_wide result = 1;
    if (y < 0) return x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : 0;
    for (; y > 0; y--) result *= x; /* small enough never to overflow */
    return result;
}

static verify_wide int_shift(enum wick_op op, enum wick_dtype dtype, verify_wide x, verify_wide y) {
    bool within = y >= 0 && y < wick_dtype_bits(dtype);
    if (op == WICK_OP_shift_left) return within ? x * ((verify_wide)1 << y) : 0;
    return x >> (within ? y : 100);
}

static verify_wide int_value(enum wick_op op, enum wick_dtype dtype, verify_wide x, verify_wide y) {
    verify_wide r;
    switch (op) {
    case WICK_OP_add: return x + y;
    case WICK_OP_sub: return x - y;
    case WICK_OP_mul: return x * y;
    case WICK_OP_div: return x / y;
    case WICK_OP_maximum: return x > y ? x : y;
    case WICK_OP_minimum: return x < y ? x : y;
    case WICK_OP_pow: return int_power(x, y);
    case WICK_OP_trunc_divide: return x / y;
    case WICK_OP_floor_divide: return (x - ((x % y + y) % y)) / y;
    case WICK_OP_fmod: return x % y;
    case WICK_OP_remainder: r = x % y; return r != 0 && (r < 0) != (y < 0) ? r + y : r;
    case WICK_OP_bitwise_and: return x & y;
    case WICK_OP_bitwise_or: return x | y;
    case WICK_OP_bitwise_xor: return x ^ y;
    default: return int_shift(op, dtype, x, y);
    }
}

static bool swiglu_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    int64_t shape[WICK_MAX_RANK], half = in->shape[in->rank - 1] / 2;
    memcpy(shape, in->shape, sizeof shape);
    shape[in->rank - 1] = half;
    if (!verify_array_new(out, c->dtype, in->rank, shape, false)) return false;
    for (int64_t i = 0; i < out->count; i++) {
        const double *a = in->data + i / half * 2 * half + i % half;
        out->data[i] = (double)(a[0] / (1 + expl(-(long double)a[0])) * a[half]);
    }
    return true;
}

/* Errors are seen against a: sigmoid's tail may be subnormal before a multiplies it. */
static bool glu_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    int dim = (int)c->i[0] + (c->i[0] < 0 ? in->rank : 0);
    int64_t shape[WICK_MAX_RANK], half = in->shape[dim] / 2, inner = 1;
    memcpy(shape, in->shape, sizeof shape);
    shape[dim] = half;
    for (int d = dim + 1; d < in->rank; d++) inner *= in->shape[d];
    if (!verify_array_new(out, c->dtype, in->rank, shape, true)) return false;
    for (int64_t i = 0; i < out->count; i++) {
        const double *a = in->data + (i / inner / half * 2 * half + i / inner % half) * inner + i % inner;
        out->data[i] = (double)(a[0] / (1 + expl(-(long double)a[half * inner])));
        out->scale[i] = verify_scale_operand(fabs(a[0]));
    }
    return true;
}

static bool prelu_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    int64_t inner = 1, channels = in->rank > 1 ? in->shape[1] : in->rank == 1 ? in->shape[0] : 1;
    for (int d = 2; d < in->rank; d++) inner *= in->shape[d];
    if (!verify_array_new(out, c->dtype, in->rank, in->shape, false)) return false;
    for (int64_t i = 0; i < out->count; i++) {
        double x = in->data[i], weight = in[1].data[in[1].count == 1 ? 0 : i / inner % channels];
        out->data[i] = x > 0 ? x : x * weight;
    }
    return true;
}

static bool binary_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    if (c->op == WICK_OP_swiglu) return swiglu_reference(c, in, out);
    if (c->op == WICK_OP_glu) return glu_reference(c, in, out);
    if (c->op == WICK_OP_prelu) return prelu_reference(c, in, out);
    bool scaled = c->op == WICK_OP_remainder || c->op == WICK_OP_fmod;
    if (!verify_broadcast_new(out, c->dtype, in, 2, scaled)) return false;
    for (int64_t i = 0; i < out->count; i++) {
        double x = verify_broadcast_at(&in[0], out, i), y = verify_broadcast_at(&in[1], out, i);
        if (scaled) out->scale[i] = verify_scale_operand(fabs(y));
        if (wick_dtype_is_float(c->dtype))
            out->data[i] = c->op == WICK_OP_trunc_divide ? trunc_of(c->dtype, x, y) : float_value(c->op, x, y);
        else
            out->data[i] = verify_wrap(c->dtype, int_value(c->op, c->dtype, (verify_wide)x, (verify_wide)y));
    }
    return true;
}

static bool binary_exact(enum wick_op op) {
    return op == WICK_OP_add || op == WICK_OP_sub || op == WICK_OP_mul || op == WICK_OP_maximum ||
           op == WICK_OP_minimum || op == WICK_OP_prelu;
}

const struct verify_family verify_binary = {
    .name = "binary",
    .cases = binary_cases,
    .make = binary_make,
    .bench = binary_bench,
    .call = binary_call,
    .reference = binary_reference,
    .specials = verify_yes,
    .wide = verify_yes,
    .exact = binary_exact,
    .ordered = true,
};
