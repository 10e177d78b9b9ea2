/* matmul and linear: tensors to struct wick__product. */
#include "product.h"

/* Stride of dim d, counted from the last batch dim back, of an operand with `skip` matrix dims; 0 where it repeats. */
static int64_t batch_stride(const struct wick__layout *x, int skip, int back) {
    int d = x->rank - skip - 1 - back;
    return d >= 0 && x->shape[d] != 1 ? x->stride[d] : 0;
}

/* Takes batch dims that only repeat B, and whose rows of A follow the others at their stride, as more rows. */
static void fold_rows(struct wick__product *g) {
    while (g->batch_rank > 0) {
        int d = g->batch_rank - 1;
        int64_t n = g->batch_shape[d];
        if (n != 1) {
            if (g->b_batch[d] != 0 || g->m == 0) return;
            if (g->m == 1)
                g->a_row = g->a_batch[d];
            else if (g->a_batch[d] != g->m * g->a_row)
                return;
            g->m *= n;
        }
        g->batch_rank--;
    }
}

struct wick__product wick__product_of(const struct wick__call *call) {
    const struct wick__layout *a = &call->in[0]->layout, *b = &call->in[1]->layout, *c = &call->out[0]->layout;
    bool linear = call->op == WICK_OP_linear;
    struct wick__product g = {.dtype = call->in[0]->dtype, .m = 1, .n = 1, .k = a->shape[a->rank - 1]};
    int a_skip = a->rank > 1 ? 2 : 1, b_skip = b->rank > 1 ? 2 : 1;
    g.a = wick__data(call->in[0]);
    g.b = wick__data(call->in[1]);
    g.c = wick__data(call->out[0]);
    g.a_k = a->stride[a->rank - 1];
    if (a_skip == 2) {
        g.m = a->shape[a->rank - 2];
        g.a_row = a->stride[a->rank - 2];
    }
    int inner = linear ? b->rank - 1 : b->rank - b_skip, outer = linear ? 0 : b->rank - 1;
    g.b_k = b->stride[inner];
    if (b_skip == 2) {
        g.n = b->shape[outer];
        g.b_column = b->stride[outer];
    }
    g.c_row = g.n;
    g.batch_rank = c->rank - (a_skip - 1) - (b_skip - 1);
    for (int d = g.batch_rank - 1; d >= 0; d--) {
        g.batch_shape[d] = c->shape[d];
        g.a_batch[d] = batch_stride(a, a_skip, g.batch_rank - 1 - d);
        g.b_batch[d] = linear ? 0 : batch_stride(b, b_skip, g.batch_rank - 1 - d);
    }
    if (linear) {
        g.activation = (enum wick_activation)call->p.linear.activation;
        if (call->in[2]) {
            g.bias = wick__data(call->in[2]);
            g.bias_step = call->in[2]->layout.stride[0];
        }
    }
    fold_rows(&g);
    return g;
}
