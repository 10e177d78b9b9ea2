/* Gradients of functions of one tensor. */
#include "ops/dispatch.h"

#include <string.h>

/* of: the function's argument, or its result. */
static struct wick_tensor *gradient_of(enum wick_op op, const struct wick_tensor *gradient,
                                       const struct wick_tensor *of, double a, double b) {
    struct wick__call call = {.op = op, .n_in = 2, .in = {gradient, of}, .p.number = {WICK_REAL(a), WICK_REAL(b)}};
    if (!wick__call_check(&call)) return NULL;
    const struct wick__layout *layout = &of->layout;
    if (layout->rank != gradient->layout.rank ||
        memcmp(layout->shape, gradient->layout.shape, sizeof *layout->shape * (size_t)layout->rank) != 0) {
        wick__call_fail(&call, WICK_SHAPE, "gradient and %s must have one shape", wick__operand_name(op, 1));
        return NULL;
    }
    if ((op == WICK_OP_celu_backward || op == WICK_OP_softplus_backward) && a == 0) {
        wick__call_fail(&call, WICK_INVALID, "%s is 0", op == WICK_OP_celu_backward ? "alpha" : "beta");
        return NULL;
    }
    if (!wick__call_out(&call, of->dtype, layout->rank, layout->shape)) return NULL;
    return wick__call_run(&call);
}

#define WICK__GRADIENT(number, name, of, ...)                                                                          \
    struct wick_tensor *wick_##name(const struct wick_tensor *gradient, const struct wick_tensor *of) {                \
        return gradient_of(WICK_OP_##name, gradient, of, 0, 0);                                                        \
    }
#define WICK__GRADIENT1(number, name, of, a, ...)                                                                      \
    struct wick_tensor *wick_##name(const struct wick_tensor *gradient, const struct wick_tensor *of, double a) {      \
        return gradient_of(WICK_OP_##name, gradient, of, a, 0);                                                        \
    }
#define WICK__GRADIENT2(number, name, of, a, b, ...)                                                                   \
    struct wick_tensor *wick_##name(const struct wick_tensor *gradient, const struct wick_tensor *of, double a,        \
                                    double b) {                                                                        \
        return gradient_of(WICK_OP_##name, gradient, of, a, b);                                                        \
    }
#include "kernels/elementwise_ops.h"
