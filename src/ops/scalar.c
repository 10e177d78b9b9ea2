/* Functions of one tensor and one or two numbers. */
#include "ops/dispatch.h"

#include <math.h>

static struct wick_tensor *scalar(enum wick_op op, const struct wick_tensor *x, double a, double b) {
    struct wick__call call = {.op = op, .n_in = 1, .in = {x}, .name = {"x"}, .p.scalar = {a, b}};
    if (!wick__call_check(&call)) return NULL;
    if (op == WICK_OP_clamp && (isnan(a) || isnan(b))) {
        wick__call_fail(&call, WICK_INVALID, "bounds %g and %g: NaN bounds nothing", a, b);
        return NULL;
    }
    if (op == WICK_OP_div_scalar && !wick_dtype_is_float(x->dtype) && !(a >= 1 || a <= -1)) {
        wick__call_fail(&call, WICK_DIVIDE, "integer division by zero: %g is 0 as an integer", a);
        return NULL;
    }
    if (!wick__call_out(&call, x->dtype, x->layout.rank, x->layout.shape)) return NULL;
    return wick__call_run(&call);
}

struct wick_tensor *wick_affine(const struct wick_tensor *x, double mul, double add) {
    return scalar(WICK_OP_affine, x, mul, add);
}

struct wick_tensor *wick_clamp(const struct wick_tensor *x, double low, double high) {
    return scalar(WICK_OP_clamp, x, low, high);
}

#define SCALAR(name)                                                                                                   \
    struct wick_tensor *wick_##name(const struct wick_tensor *x, double value) {                                       \
        return scalar(WICK_OP_##name, x, value, 0);                                                                    \
    }
SCALAR(add_scalar)
SCALAR(sub_scalar)
SCALAR(mul_scalar)
SCALAR(div_scalar)
SCALAR(powf)
SCALAR(elu)
SCALAR(leaky_relu)
