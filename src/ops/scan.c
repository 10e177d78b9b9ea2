/* Running sums and products. */
#include "ops/dispatch.h"

static struct wick_tensor *scan(enum wick_op op, const struct wick_tensor *x, int dim) {
    if (wick__is_scalar_line(x, dim)) return wick__end_scalar(scan(op, wick__begin_line(x), 0));
    struct wick__call call = {.op = op, .n_in = 1, .in = {x}};
    if (!wick__call_check(&call)) return NULL;
    if (!wick__call_dim(&call, dim, &call.p.along.dim)) return NULL;
    if (!wick__call_out(&call, x->dtype, x->layout.rank, x->layout.shape)) return NULL;
    return wick__call_run(&call);
}

struct wick_tensor *wick_cumsum(const struct wick_tensor *x, int dim) {
    return scan(WICK_OP_cumsum, x, dim);
}

struct wick_tensor *wick_cumprod(const struct wick_tensor *x, int dim) {
    return scan(WICK_OP_cumprod, x, dim);
}
