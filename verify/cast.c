/* The cast family: i[0] is the dtype to cast to, one of the ten. */
#include "verify/elementwise.h"

#include <string.h>

static const double ranges[] = {4, 500, 1e5, 1e12};
enum { RANGES = sizeof ranges / sizeof *ranges };

/* What a large operand is cast to, in cases behind the others. */
static const enum wick_dtype large[] = {WICK_F32, WICK_BF16, WICK_U8};
enum { LARGE = sizeof large / sizeof *large };

static int cast_cases(enum wick_op op) {
    (void)op;
    return WICK_DTYPE_COMPUTE_COUNT * RANGES + LARGE;
}

static void cast_make(enum wick_op op, int k, struct verify_case *c) {
    (void)op;
    double range = ranges[k % RANGES];
    c->n_in = c->n_out = 1;
    int behind = k - WICK_DTYPE_COMPUTE_COUNT * RANGES;
    c->in[0] = verify_one_operand(behind < 0 ? k % verify_one_shapes() : verify_one_shapes(), -range, range);
    c->i[0] = behind < 0 ? k / RANGES : (int64_t)large[behind];
}

/* Between f32 and bf16, or to f32. */
static bool cast_bench(enum wick_op op, struct verify_case *c) {
    (void)op;
    c->i[0] = c->dtype == WICK_F32 ? WICK_BF16 : WICK_F32;
    return verify_make_large(cast_make, RANGES * (int)c->i[0], c);
}

static bool cast_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    out[0] = wick_cast(in[0], (enum wick_dtype)c->i[0]);
    return out[0] != NULL;
}

static bool cast_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    enum wick_dtype to = (enum wick_dtype)c->i[0];
    bool wraps = !wick_dtype_is_float(c->dtype) && !wick_dtype_is_float(to);
    if (!verify_array_new(out, to, in->rank, in->shape, false)) return false;
    for (int64_t i = 0; i < in->count; i++)
        out->data[i] = wraps ? verify_wrap(to, (verify_wide)in->data[i]) : verify_round(to, in->data[i]);
    return true;
}

const struct verify_family verify_cast = {
    .name = "cast",
    .cases = cast_cases,
    .make = cast_make,
    .bench = cast_bench,
    .call = cast_call,
    .reference = cast_reference,
    .specials = verify_yes,
    .ordered = true,
};
