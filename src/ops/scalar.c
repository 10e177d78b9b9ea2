/* Functions of one tensor and one or two numbers. */
#include "ops/dispatch.h"

#include <math.h>

static struct wick_tensor *scalar(enum wick_op op, const struct wick_tensor *x, double a, double b) {
    struct wick__call call = {.op = op, .n_in = 1, .in = {x}, .p.scalar = {a, b}};
    if (!wick__call_check(&call)) return NULL;
    if (op == WICK_OP_clamp && (isnan(a) || isnan(b))) {
        wick__call_fail(&call, WICK_INVALID, "bounds %g and %g: NaN bounds nothing", a, b);
        return NULL;
    }
    if (op == WICK_OP_celu && a == 0) {
        wick__call_fail(&call, WICK_INVALID, "alpha is 0");
        return NULL;
    }
    if (op == WICK_OP_div_scalar && !wick_dtype_is_float(x->dtype) && !(a >= 1 || a <= -1)) {
        wick__call_fail(&call, WICK_DIVIDE, "integer division by zero: %g is 0 as an integer", a);
        return NULL;
    }
    if (!wick__call_out(&call, x->dtype, x->layout.rank, x->layout.shape)) return NULL;
    return wick__call_run(&call);
}

#define WICK__SCALAR1(number, name, dtypes, cost, a, ...)                                                              \
    struct wick_tensor *wick_##name(const struct wick_tensor *x, double a) {                                           \
        return scalar(WICK_OP_##name, x, a, 0);                                                                        \
    }
#define WICK__SCALAR2(number, name, dtypes, cost, a, b, ...)                                                           \
    struct wick_tensor *wick_##name(const struct wick_tensor *x, double a, double b) {                                 \
        return scalar(WICK_OP_##name, x, a, b);                                                                        \
    }
#include "kernels/elementwise_ops.h"
