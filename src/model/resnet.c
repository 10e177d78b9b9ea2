/* ResNet: the forward pass. */
#include "model/resnet.h"

#include "core/error.h"

static struct wick_tensor *run(const struct wick__conv_norm *layer, const struct wick_tensor *x, bool relu) {
    const struct wick_conv_options options = {
        .stride = {layer->stride, layer->stride}, .padding = {layer->padding, layer->padding}, .relu = relu};
    return wick_conv2d(x, layer->weight, layer->bias, &options);
}

/* relu(convolutions(x) + shortcut(x)) */
static struct wick_tensor *run_block(const struct wick__res_block *block, const struct wick_tensor *x) {
    wick_scope_begin();
    const struct wick_tensor *y = x;
    for (int i = 0; i < block->n; i++) y = run(&block->conv[i], y, i + 1 < block->n);
    const struct wick_tensor *added = block->shortcut.weight ? run(&block->shortcut, x, false) : x;
    return wick_scope_end(wick_relu(wick_add(y, added)));
}

static struct wick_tensor *run_stages(const struct wick_resnet *resnet, const struct wick_tensor *images, int last) {
    const struct wick_pool_options pool = {.stride = {2, 2}, .padding = {1, 1}};
    struct wick_tensor *x = wick_max_pool2d(run(&resnet->stem, images, true), WICK_SHAPE(3, 3), &pool);
    for (int stage = 0; stage < last; stage++)
        for (int i = 0; i < resnet->blocks[stage]; i++) x = run_block(&resnet->block[stage][i], x);
    return x;
}

struct wick_tensor *wick_resnet_stage(const struct wick_resnet *resnet, const struct wick_tensor *images, int stage) {
    if (!resnet) {
        wick__fail(WICK_INVALID, "resnet_stage: resnet is NULL");
        return NULL;
    }
    if (stage < 0 || stage > RESNET_STAGES) {
        wick__fail(WICK_RANGE, "resnet_stage: stage %d is not in 0..%d", stage, RESNET_STAGES);
        return NULL;
    }
    wick_scope_begin();
    return wick_scope_end(run_stages(resnet, images, stage));
}

struct wick_tensor *wick_resnet_forward(const struct wick_resnet *resnet, const struct wick_tensor *images) {
    if (!resnet) {
        wick__fail(WICK_INVALID, "resnet_forward: resnet is NULL");
        return NULL;
    }
    wick_scope_begin();
    struct wick_tensor *pooled = wick_adaptive_avg_pool2d(run_stages(resnet, images, RESNET_STAGES), WICK_SHAPE(1, 1));
    return wick_scope_end(
        wick_linear(wick_flatten(pooled, 1, -1), resnet->head_weight, resnet->head_bias, WICK_ACTIVATION_NONE));
}

int64_t wick_resnet_classes(const struct wick_resnet *resnet) {
    return resnet ? wick_tensor_dim(resnet->head_weight, 0) : 0;
}

int wick_resnet_depth(const struct wick_resnet *resnet) {
    int depth = 2;
    if (!resnet) return 0;
    for (int stage = 0; stage < RESNET_STAGES; stage++)
        for (int i = 0; i < resnet->blocks[stage]; i++) depth += resnet->block[stage][i].n;
    return depth;
}
