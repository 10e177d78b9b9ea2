/* Copies of any layout into any layout: cat, stack, slices that are written in place, flip, roll. */
#include "gpu/ops/copy.h"
#include "gpu/ops/elementwise.h"

/* flip reads its dims backwards; every other op of the family copies in[0] as it is. */
wick__kernel_fn wick__gpu_place;
enum wick_status wick__gpu_place(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0], *y = call->out[0];
    if (wick__count(x) == 0) return WICK_OK;
    struct wick__gpu_move move = {
        .from = x->layout, .to = y->layout, .out = wick__data(y), .size = wick__size(x->dtype)};
    const char *in = wick__data(x);
    for (int d = 0; call->op == WICK_OP_flip && d < x->layout.rank; d++) {
        if (!(call->p.flip.dims >> d & 1)) continue;
        in += (x->layout.shape[d] - 1) * x->layout.stride[d] * (int64_t)move.size;
        move.from.stride[d] = -x->layout.stride[d];
    }
    move.in = in;
    return wick__gpu_move(wick__gpu_of(y), &move);
}
