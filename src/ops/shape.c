/* Views and copies. */
#include "ops/dispatch.h"

struct wick_tensor *wick_contiguous(const struct wick_tensor *x) {
    struct wick__call call = {.op = WICK_OP_contiguous, .n_in = 1, .in = {x}, .name = {"x"}};
    if (!wick__call_check(&call)) return NULL;
    if (wick__layout_is_contiguous(&x->layout)) return wick__scope_add(wick__tensor_view(x, &x->layout));
    if (!wick__call_out(&call, x->dtype, x->layout.rank, x->layout.shape)) return NULL;
    return wick__call_run(&call);
}
