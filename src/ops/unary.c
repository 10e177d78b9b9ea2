/* Functions of one tensor. */
#include "ops/dispatch.h"

static struct wick_tensor *unary(enum wick_op op, const struct wick_tensor *x) {
    struct wick__call call = {.op = op, .n_in = 1, .in = {x}, .name = {"x"}};
    if (!wick__call_check(&call)) return NULL;
    if (!wick__call_out(&call, x->dtype, x->layout.rank, x->layout.shape)) return NULL;
    return wick__call_run(&call);
}

static struct wick_tensor *question(enum wick_op op, const struct wick_tensor *x) {
    struct wick__call call = {.op = op, .n_in = 1, .in = {x}, .name = {"x"}};
    if (!wick__call_check(&call)) return NULL;
    if (!wick__call_out(&call, WICK_U8, x->layout.rank, x->layout.shape)) return NULL;
    return wick__call_run(&call);
}

#define UNARY(name)                                                                                                    \
    struct wick_tensor *wick_##name(const struct wick_tensor *x) {                                                     \
        return unary(WICK_OP_##name, x);                                                                               \
    }
UNARY(exp)
UNARY(exp2)
UNARY(expm1)
UNARY(log1p)
UNARY(log)
UNARY(log2)
UNARY(log10)
UNARY(sin)
UNARY(cos)
UNARY(tan)
UNARY(tanh)
UNARY(erf)
UNARY(sqrt)
UNARY(rsqrt)
UNARY(recip)
UNARY(abs)
UNARY(neg)
UNARY(sqr)
UNARY(sign)
UNARY(floor)
UNARY(ceil)
UNARY(round)
UNARY(trunc)
UNARY(relu)
UNARY(relu2)
UNARY(relu6)
UNARY(gelu)
UNARY(gelu_tanh)
UNARY(sigmoid)
UNARY(silu)
UNARY(softplus)
UNARY(mish)
UNARY(hard_sigmoid)
UNARY(hard_swish)
UNARY(selu)
UNARY(bitwise_not)

#define QUESTION(name)                                                                                                 \
    struct wick_tensor *wick_##name(const struct wick_tensor *x) {                                                     \
        return question(WICK_OP_##name, x);                                                                            \
    }
QUESTION(logical_not)
QUESTION(isnan)
QUESTION(isinf)
QUESTION(isfinite)
