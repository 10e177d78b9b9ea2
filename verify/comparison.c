/* The comparison family: questions to two tensors that broadcast. */
#include "verify/elementwise.h"

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
};
