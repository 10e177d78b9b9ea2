/* Losses of elements and their gradients. */
#include "gpu/runtime/gpu.h"
#include "kernels/loss.h"

static enum gpu_loss_kind kind_of(enum wick_op op) {
    switch ((int)op) {
    case WICK_OP_mse_loss:
    case WICK_OP_mse_loss_backward: return GPU_LOSS_MSE;
    case WICK_OP_l1_loss:
    case WICK_OP_l1_loss_backward: return GPU_LOSS_L1;
    case WICK_OP_smooth_l1_loss:
    case WICK_OP_smooth_l1_loss_backward: return GPU_LOSS_SMOOTH_L1;
    case WICK_OP_huber_loss:
    case WICK_OP_huber_loss_backward: return GPU_LOSS_HUBER;
    case WICK_OP_kl_div_loss:
    case WICK_OP_kl_div_loss_backward: return GPU_LOSS_KL_DIV;
    case WICK_OP_binary_cross_entropy:
    case WICK_OP_binary_cross_entropy_backward: return GPU_LOSS_BINARY;
    default: return GPU_LOSS_LOGITS;
    }
}

static const void *data_of(const struct wick__call *call, int i) {
    return i < call->n_in && call->in[i] ? wick__data(call->in[i]) : NULL;
}

/* Whether all begin at multiples of 16 bytes; a NULL does. */
static bool in_vectors(const struct gpu_loss *p) {
    return wick__aligned16(p->x) && wick__aligned16(p->target) && wick__aligned16(p->weight) &&
           wick__aligned16(p->pos_weight) && wick__aligned16(p->out) && wick__aligned16(p->of_target) &&
           (p->single || wick__aligned16(p->gradient));
}

wick__kernel_fn wick__gpu_loss;
enum wick_status wick__gpu_loss(const struct wick__call *call) {
    bool backward = call->op >= WICK_OP_mse_loss_backward;
    int first = backward ? 1 : 0;
    const struct wick_tensor *x = call->in[first];
    struct wick__gpu *gpu = wick__gpu_of(x);
    struct gpu_loss p = {.gradient = backward ? wick__data(call->in[0]) : NULL,
                         .x = wick__data(x),
                         .target = wick__data(call->in[first + 1]),
                         .weight = data_of(call, first + 2),
                         .pos_weight = data_of(call, first + 3),
                         .out = wick__data(call->out[0]),
                         .of_target = call->n_out > 1 ? wick__data(call->out[1]) : NULL,
                         .count = wick__count(x),
                         .a = call->p.loss.a,
                         .scale = call->p.loss.scale,
                         .kind = kind_of(call->op),
                         .log = call->p.loss.log,
                         .wide = call->out[0]->dtype != x->dtype,
                         .single = backward && wick__count(call->in[0]) == 1};
    if (p.count == 0) return WICK_OK;
    p.aligned = in_vectors(&p);
    int64_t items = p.aligned ? p.count * (int64_t)wick__size(x->dtype) / 16 + 1 : p.count;
    enum wick__gpu_kernel kernel = backward ? WICK__GPU_K_loss_backward_bf16 : WICK__GPU_K_loss_bf16;
    struct wick__launch launch = {.kernel = wick__gpu_of_floats(kernel, x->dtype),
                                  .grid = {wick__gpu_blocks(gpu, items, 1)}};
    return wick__gpu_launch(gpu, &launch, &p);
}
