/* Functions of one tensor and one or two numbers. */
#include "ops/dispatch.h"

#include "core/number.h"

#include <math.h>

static bool is_nan(struct wick_number n) { return n.is_real && isnan(n.real); }

static struct wick_tensor *scalar(enum wick_op op, const struct wick_tensor *x, struct wick_number a,
                                  struct wick_number b) {
    struct wick__call call = {.op = op, .n_in = 1, .in = {x}, .p.number = {a, b}};
    if (!wick__call_check(&call)) return NULL;
    if ((op == WICK_OP_clamp || op == WICK_OP_hardtanh) && (is_nan(a) || is_nan(b))) {
        wick__call_fail(&call, WICK_INVALID, "bounds %g and %g: NaN bounds nothing", wick__number_f64(WICK_F64, a),
                        wick__number_f64(WICK_F64, b));
        return NULL;
    }
    if ((op == WICK_OP_celu || op == WICK_OP_softplus_beta) && a.real == 0) {
        wick__call_fail(&call, WICK_INVALID, "%s is 0", op == WICK_OP_celu ? "alpha" : "beta");
        return NULL;
    }
    if (op == WICK_OP_div_scalar && !wick_dtype_is_float(x->dtype) && wick__number_i64(a) == 0) {
        wick__call_fail(&call, WICK_DIVIDE, "integer division by zero: %g is 0 as an integer",
                        wick__number_f64(WICK_F64, a));
        return NULL;
    }
    if (!wick__call_out_like(&call, x->dtype, x->layout.rank, x->layout.shape)) return NULL;
    return wick__call_run(&call);
}

struct wick_tensor *wick_maximum_scalar(const struct wick_tensor *x, struct wick_number value) {
    return wick_clamp(x, value, WICK_REAL(INFINITY));
}

struct wick_tensor *wick_minimum_scalar(const struct wick_tensor *x, struct wick_number value) {
    return wick_clamp(x, WICK_REAL(-INFINITY), value);
}

static struct wick_tensor *limit(enum wick_op op, const struct wick_tensor *x, struct wick_number value) {
    struct wick__call call = {.op = op, .n_in = 1, .in = {x}, .p.number = {value}};
    if (!wick__call_check(&call)) return NULL;
    if (!wick__call_out_like(&call, WICK_U8, x->layout.rank, x->layout.shape)) return NULL;
    return wick__call_run(&call);
}

/* Ops of floats alone take doubles, the others numbers. */
#define TYPE_FLOATS double
#define TYPE_ALL struct wick_number
#define NUMBER_FLOATS(x) WICK_REAL(x)
#define NUMBER_ALL(x) (x)

#define WICK__SCALAR1(number, name, dtypes, cost, a, ...)                                                              \
    struct wick_tensor *wick_##name(const struct wick_tensor *x, TYPE_##dtypes a) {                                    \
        return scalar(WICK_OP_##name, x, NUMBER_##dtypes(a), WICK_INT(0));                                             \
    }
#define WICK__SCALAR2(number, name, dtypes, cost, a, b, ...)                                                           \
    struct wick_tensor *wick_##name(const struct wick_tensor *x, TYPE_##dtypes a, TYPE_##dtypes b) {                   \
        return scalar(WICK_OP_##name, x, NUMBER_##dtypes(a), NUMBER_##dtypes(b));                                      \
    }
#define WICK__LIMIT(number, name, ...)                                                                                 \
    struct wick_tensor *wick_##name(const struct wick_tensor *x, struct wick_number value) {                           \
        return limit(WICK_OP_##name, x, value);                                                                        \
    }
#include "kernels/elementwise_ops.h"
