/* The fill family: f[0] is the value, or f[0], f[1], f[2] the start, end and step of arange. */
#include "verify/elementwise.h"

#include <math.h>

static const double values[] = {0, 1, 3.75, -2, 300, 1e10};
static const double ranges[][3] = {{0, 10, 1}, {5, -5, -1.5}, {0, 0, 1}, {1, 0, 1}, {-3, 100, 0.25}, {0, 9000, 1}};
enum { VALUES = sizeof values / sizeof *values, RANGES = sizeof ranges / sizeof *ranges };

static int fill_cases(enum wick_op op) { return op == WICK_OP_arange ? RANGES : verify_one_shapes() + VALUES; }

static void fill_make(enum wick_op op, int k, struct verify_case *c) {
    c->n_out = 1;
    if (op == WICK_OP_arange) {
        for (int i = 0; i < 3; i++) c->f[i] = ranges[k][i];
        return;
    }
    struct verify_operand operand = verify_one_operand(k % verify_one_shapes(), -8, 8);
    c->f[0] = values[k % VALUES];
    c->n_in = op == WICK_OP_fill_inplace;
    if (c->n_in > 0) c->in[0] = operand;
    c->i[0] = operand.rank;
    for (int d = 0; d < operand.rank; d++) c->i[1 + d] = operand.shape[d];
}

static bool fill_bench(enum wick_op op, struct verify_case *c) {
    verify_make_large(fill_make, 2, c);
    c->i[0] = 2;
    c->i[1] = VERIFY_ROWS;
    c->i[2] = VERIFY_COLUMNS;
    if (op != WICK_OP_arange) return true;
    c->f[0] = 0;
    c->f[1] = VERIFY_ROWS * VERIFY_COLUMNS;
    c->f[2] = 1;
    return true;
}

static bool fill_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    if (c->op == WICK_OP_arange)
        out[0] = wick_arange(verify_device(), c->dtype, verify_number(c->f[0]), verify_number(c->f[1]),
                             verify_number(c->f[2]));
    else if (c->op == WICK_OP_full)
        out[0] = c->f[0] == 0   ? wick_zeros(verify_device(), c->dtype, (int)c->i[0], c->i + 1)
                 : c->f[0] == 1 ? wick_ones(verify_device(), c->dtype, (int)c->i[0], c->i + 1)
                                : wick_full(verify_device(), c->dtype, (int)c->i[0], c->i + 1, verify_number(c->f[0]));
    else
        out[0] = verify_target(in[0]);
    if (c->op != WICK_OP_fill_inplace || !out[0]) return out[0] != NULL;
    return wick_fill_inplace(out[0], verify_number(c->f[0])) == WICK_OK;
}

static bool fill_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    (void)in;
    if (c->op == WICK_OP_arange) {
        double n = ceil((c->f[1] - c->f[0]) / c->f[2]);
        int64_t count = n > 0 ? (int64_t)n : 0;
        if (!verify_array_new(out, c->dtype, 1, &count, false)) return false;
        bool whole = true;
        for (int i = 0; i < 3; i++) whole = whole && !verify_number(c->f[i]).is_real;
        for (int64_t i = 0; i < count; i++) {
            double x = c->f[0] + (double)i * c->f[2];
            bool real = !whole && c->dtype != WICK_DTYPE_bool;
            out->data[i] = real ? verify_round(c->dtype, x) : verify_held(c->dtype, x);
        }
        return true;
    }
    if (!verify_array_new(out, c->dtype, (int)c->i[0], c->i + 1, false)) return false;
    for (int64_t i = 0; i < out->count; i++) out->data[i] = verify_held(c->dtype, c->f[0]);
    return true;
}

const struct verify_family verify_fill = {
    .name = "fill",
    .cases = fill_cases,
    .make = fill_make,
    .bench = fill_bench,
    .call = fill_call,
    .reference = fill_reference,
};
