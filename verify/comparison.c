/* The comparison family, questions to two tensors that broadcast, and the limit family, to a tensor and a number f[0].
 */
#include "verify/elementwise.h"

#include <math.h>

static int comparison_cases(enum wick_op op) {
    (void)op;
    return verify_two_shapes();
}

/* Few values, so that many pairs are equal. */
static void comparison_make(enum wick_op op, int k, struct verify_case *c) {
    (void)op;
    c->n_in = 2;
    c->n_out = 1;
    c->in[0] = verify_two_operand(k, 0, -2, 2);
    c->in[1] = verify_two_operand(k, 1, -2, 2);
}

static bool comparison_bench(enum wick_op op, struct verify_case *c) {
    (void)op;
    return verify_make_large(comparison_make, 0, c);
}

static bool comparison_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    switch (c->op) {
    case WICK_OP_eq: out[0] = wick_eq(in[0], in[1]); break;
    case WICK_OP_ne: out[0] = wick_ne(in[0], in[1]); break;
    case WICK_OP_lt: out[0] = wick_lt(in[0], in[1]); break;
    case WICK_OP_le: out[0] = wick_le(in[0], in[1]); break;
    case WICK_OP_gt: out[0] = wick_gt(in[0], in[1]); break;
    case WICK_OP_ge: out[0] = wick_ge(in[0], in[1]); break;
    case WICK_OP_logical_and: out[0] = wick_logical_and(in[0], in[1]); break;
    case WICK_OP_logical_or: out[0] = wick_logical_or(in[0], in[1]); break;
    case WICK_OP_logical_xor: out[0] = wick_logical_xor(in[0], in[1]); break;
    default: out[0] = NULL; break;
    }
    return out[0] != NULL;
}

static bool holds(enum wick_op op, double x, double y) {
    switch (op) {
    case WICK_OP_eq: return x == y;
    case WICK_OP_ne: return x != y;
    case WICK_OP_lt: return x < y;
    case WICK_OP_le: return x <= y;
    case WICK_OP_gt: return x > y;
    case WICK_OP_logical_and: return !(x == 0 || y == 0);
    case WICK_OP_logical_or: return !(x == 0 && y == 0);
    case WICK_OP_logical_xor: return (x == 0) ^ (y == 0);
    default: return x >= y;
    }
}

static bool comparison_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    if (!verify_broadcast_new(out, WICK_U8, in, 2, false)) return false;
    for (int64_t i = 0; i < out->count; i++)
        out->data[i] = holds(c->op, verify_broadcast_at(&in[0], out, i), verify_broadcast_at(&in[1], out, i));
    return true;
}

const struct verify_family verify_comparison = {
    .name = "comparison",
    .cases = comparison_cases,
    .make = comparison_make,
    .bench = comparison_bench,
    .call = comparison_call,
    .reference = comparison_reference,
    .specials = verify_yes,
    .ordered = true,
};

/* ---- with a number ---- */

/* Some are elements of every dtype, some of few, and some of none. */
static const double limits[] = {1, 0, -2, 0.5, 0.1, 200, -70000, 3e9, -1e300, INFINITY, -INFINITY, NAN};
enum { LIMITS = sizeof limits / sizeof *limits };

static int limit_cases(enum wick_op op) {
    (void)op;
    return verify_one_shapes() * LIMITS;
}

static void limit_make(enum wick_op op, int k, struct verify_case *c) {
    (void)op;
    c->n_in = c->n_out = 1;
    c->in[0] = verify_one_operand(k / LIMITS, -2, 2);
    c->f[0] = limits[k % LIMITS];
}

static bool limit_bench(enum wick_op op, struct verify_case *c) {
    (void)op;
    return verify_make_large(limit_make, 0, c);
}

static bool limit_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    struct wick_number value = verify_number(c->f[0]);
    switch (c->op) {
    case WICK_OP_eq_scalar: out[0] = wick_eq_scalar(in[0], value); break;
    case WICK_OP_ne_scalar: out[0] = wick_ne_scalar(in[0], value); break;
    case WICK_OP_lt_scalar: out[0] = wick_lt_scalar(in[0], value); break;
    case WICK_OP_le_scalar: out[0] = wick_le_scalar(in[0], value); break;
    case WICK_OP_gt_scalar: out[0] = wick_gt_scalar(in[0], value); break;
    case WICK_OP_ge_scalar: out[0] = wick_ge_scalar(in[0], value); break;
    default: out[0] = NULL; break;
    }
    return out[0] != NULL;
}

/* The op between two tensors that asks the same. */
static enum wick_op between(enum wick_op op) {
    switch (op) {
    case WICK_OP_eq_scalar: return WICK_OP_eq;
    case WICK_OP_ne_scalar: return WICK_OP_ne;
    case WICK_OP_lt_scalar: return WICK_OP_lt;
    case WICK_OP_le_scalar: return WICK_OP_le;
    case WICK_OP_gt_scalar: return WICK_OP_gt;
    default: return WICK_OP_ge;
    }
}

static bool limit_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    if (!verify_array_new(out, WICK_U8, in->rank, in->shape, false)) return false;
    for (int64_t i = 0; i < out->count; i++) out->data[i] = holds(between(c->op), in->data[i], c->f[0]);
    return true;
}

const struct verify_family verify_limit = {
    .name = "limit",
    .cases = limit_cases,
    .make = limit_make,
    .bench = limit_bench,
    .call = limit_call,
    .reference = limit_reference,
    .specials = verify_yes,
};
