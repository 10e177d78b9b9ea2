/* The where family. in: a, b, the condition, which cycles through the shapes of the other two. */
#include "verify/elementwise.h"

static int where_cases(enum wick_op op) {
    (void)op;
    return 2 * verify_two_shapes();
}

static void where_make(enum wick_op op, int k, struct verify_case *c) {
    (void)op;
    c->n_in = 3;
    c->n_out = 1;
    for (int i = 0; i < 3; i++) c->in[i] = verify_two_operand(k / 2, i == 2 ? k % 2 : i, -100, 100);
    c->in[2].role = k % 3 ? VERIFY_CONDITION : VERIFY_INDEX;
    if (c->in[2].role == VERIFY_INDEX) c->in[2].low = 0, c->in[2].high = 2;
}

static bool where_bench(enum wick_op op, struct verify_case *c) {
    (void)op;
    return verify_make_large(where_make, 1, c);
}

static bool where_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    (void)c;
    out[0] = wick_where(in[2], in[0], in[1]);
    return out[0] != NULL;
}

static bool where_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    if (!verify_broadcast_new(out, c->dtype, in, 3, false)) return false;
    for (int64_t i = 0; i < out->count; i++)
        out->data[i] = verify_broadcast_at(&in[verify_broadcast_at(&in[2], out, i) != 0 ? 0 : 1], out, i);
    return true;
}

const struct verify_family verify_where = {
    .name = "where",
    .cases = where_cases,
    .make = where_make,
    .bench = where_bench,
    .call = where_call,
    .reference = where_reference,
    .specials = verify_yes,
    .ordered = true,
};
