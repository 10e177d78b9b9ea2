/* Functions of one tensor. */
#include "ops/dispatch.h"

static struct wick_tensor *unary(enum wick_op op, const struct wick_tensor *x) {
    struct wick__call call = {.op = op, .n_in = 1, .in = {x}};
    if (!wick__call_check(&call)) return NULL;
    if (!wick__call_out_like(&call, x->dtype, x->layout.rank, x->layout.shape)) return NULL;
    return wick__call_run(&call);
}

static struct wick_tensor *question(enum wick_op op, const struct wick_tensor *x) {
    struct wick__call call = {.op = op, .n_in = 1, .in = {x}};
    if (!wick__call_check(&call)) return NULL;
    if (!wick__call_out_like(&call, WICK_U8, x->layout.rank, x->layout.shape)) return NULL;
    return wick__call_run(&call);
}

#define WICK__UNARY(number, name, ...)                                                                                 \
    struct wick_tensor *wick_##name(const struct wick_tensor *x) {                                                     \
        return unary(WICK_OP_##name, x);                                                                               \
    }
#define WICK__QUESTION(number, name, ...)                                                                              \
    struct wick_tensor *wick_##name(const struct wick_tensor *x) {                                                     \
        return question(WICK_OP_##name, x);                                                                            \
    }
#include "kernels/elementwise_ops.h"
