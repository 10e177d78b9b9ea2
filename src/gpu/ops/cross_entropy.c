/* Losses of classes and their gradients. */
#include "gpu/ops/ids.h"
#include "gpu/ops/rows.h"

#include "kernels/cross_entropy.h"

static bool is_soft(enum wick_op op) {
    return op == WICK_OP_cross_entropy_soft || op == WICK_OP_cross_entropy_soft_backward;
}
static bool is_nll(enum wick_op op) { return op == WICK_OP_nll_loss || op == WICK_OP_nll_loss_backward; }

/* The target: probabilities, or ids with the one that is ignored, if the id type has it. */
static enum wick_status set_target(const struct wick__call *call, struct gpu_cross_entropy *p) {
    const struct wick_tensor *target = call->in[1];
    int64_t ignored = call->p.classes.ignored;
    if (is_soft(call->op)) {
        p->probabilities = wick__data(target);
        return WICK_OK;
    }
    WICK__TRY(wick__gpu_ids(call, target, p->n, &p->ids));
    unsigned bits = 8 * p->ids.width;
    uint64_t mask = UINT64_MAX >> (64 - bits);
    int64_t least = p->ids.negative ? -(int64_t)(p->ids.sentinel) - 1 : 0;
    p->ignore = call->p.classes.ignore && ignored >= least && (ignored < 0 || (uint64_t)ignored <= p->ids.sentinel);
    p->ignored = (uint64_t)ignored & mask;
    return WICK_OK;
}

/* A line a group of threads, or lines side by side a block. */
static void set_grid(struct gpu_cross_entropy *p, const struct wick__gpu *gpu, int64_t size,
                     struct wick__launch *launch) {
    if (p->inner > 1 && !p->nll) {
        p->across = wick__gpu_power(p->inner, 64);
        p->tiles = (p->inner + p->across - 1) / p->across;
        wick__gpu_reduce_grid(launch, p->lines / p->inner * p->tiles);
        return;
    }
    int64_t items = p->vectors ? (p->n * size + 15) / 16 : p->n;
    p->group = p->nll && p->log_sums ? 1 : wick__gpu_power((items + 1) / 2, GPU_BLOCK);
    wick__gpu_row_launch(gpu, launch, p->lines, p->group);
}

/* Losses and weights of lines in memory of their own, and then their mean. */
static enum wick_status run_mean(struct wick__gpu *gpu, const struct wick__call *call,
                                 const struct wick__launch *launch, struct gpu_cross_entropy *p) {
    enum wick_dtype dtype = call->in[0]->dtype;
    size_t size = (size_t)p->lines * (dtype == WICK_F64 ? 8 : 4);
    struct gpu_cross_entropy_mean mean = {
        .out = wick__data(call->out[0]), .total = wick__data(call->out[1]), .lines = p->lines};
    struct wick__launch last = {.kernel = wick__gpu_of_floats(WICK__GPU_K_cross_entropy_mean_bf16, dtype), .grid = {1}};
    void *memory;
    WICK__TRY(wick__gpu_scratch(gpu, 2 * size, &memory));
    mean.losses = p->out = memory;
    mean.weights = p->weights = (char *)memory + size;
    enum wick_status status = wick__gpu_launch(gpu, launch, p);
    if (status == WICK_OK) status = wick__gpu_launch(gpu, &last, &mean);
    wick__gpu_release(gpu, memory, 2 * size);
    return status;
}

wick__kernel_fn wick__gpu_cross_entropy;
enum wick_status wick__gpu_cross_entropy(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0], *weight = call->in[call->n_in - 1];
    const struct wick__layout *layout = &x->layout;
    bool backward = call->op >= WICK_OP_cross_entropy_backward;
    int along = layout->rank > 1;
    struct wick__gpu *gpu = wick__gpu_of(x);
    struct gpu_cross_entropy p = {.x = wick__data(x),
                                  .weight = weight ? wick__data(weight) : NULL,
                                  .out = wick__data(call->out[0]),
                                  .lines = along ? layout->shape[0] : 1,
                                  .n = layout->shape[along],
                                  .inner = 1,
                                  .smoothing = call->p.classes.smoothing,
                                  .nll = is_nll(call->op)};
    for (int d = 2; d < layout->rank; d++) p.inner *= layout->shape[d];
    p.lines *= p.inner;
    if (p.lines == 0) return WICK_OK;
    WICK__TRY(set_target(call, &p));
    if (backward) {
        p.gradient = wick__data(call->in[2]);
        p.single = wick__count(call->in[2]) == 1;
        p.log_sums = p.nll ? NULL : wick__data(call->in[3]);
        p.of_target = call->n_out > 1 ? wick__data(call->out[1]) : NULL;
    } else {
        p.wide = call->p.classes.mean || call->out[0]->dtype != x->dtype;
        p.weights = wick__data(call->out[1]);
        p.log_sums = wick__data(call->out[2]);
    }
    bool alike = (((uintptr_t)p.x ^ (uintptr_t)p.out) & 15) == 0; /* lines of x and of its gradient begin alike */
    p.vectors = p.inner == 1 && !p.nll && (!backward || alike);
    struct wick__launch launch = {.kernel = 0};
    set_grid(&p, gpu, (int64_t)wick__size(x->dtype), &launch);
    enum wick__gpu_kernel kernel = backward ? WICK__GPU_K_cross_entropy_backward_bf16 : WICK__GPU_K_cross_entropy_bf16;
    launch.kernel = wick__gpu_of_floats(kernel, x->dtype);
    if (!backward && call->p.classes.mean) return run_mean(gpu, call, &launch, &p);
    return wick__gpu_launch(gpu, &launch, &p);
}
