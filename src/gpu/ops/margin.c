/* pad, tril, triu, eye, one_hot: results that are partly the operand and partly a constant. */
#include "core/checked.h"

#include "gpu/ops/copy.h"
#include "gpu/ops/elementwise.h"
#include "gpu/ops/ids.h"
#include "kernels/margin.h"

#include <wick/conv.h>

_Static_assert((int)GPU_PAD_CONSTANT == (int)WICK_PAD_CONSTANT && (int)GPU_PAD_REFLECT == (int)WICK_PAD_REFLECT &&
                   (int)GPU_PAD_REPLICATE == (int)WICK_PAD_REPLICATE && (int)GPU_PAD_CIRCULAR == (int)WICK_PAD_CIRCULAR,
               "padding modes");

/* ---- pad ---- */

/* Dims that are not padded become one with those behind them that are not. */
static void pad_dims(struct gpu_pad *pad, const struct wick__call *call) {
    const struct wick__layout *x = &call->in[0]->layout, *y = &call->out[0]->layout;
    u32 rank = 0;
    int64_t stride = 1;
    bool whole = false; /* the last of the dims so far is not padded */
    for (int d = x->rank - 1; d >= 0; d--) {
        int64_t from = x->shape[d], to = y->shape[d], before = call->p.pad.before[d];
        bool same = from == to && before == 0;
        if (same && from == 1) continue;
        if (whole && same) {
            pad->from[rank - 1] *= from;
            pad->shape.size[rank - 1] *= to;
        } else {
            pad->from[rank] = from;
            pad->shape.size[rank] = to;
            pad->before[rank] = before;
            pad->layout.stride[rank++] = stride;
            whole = same;
        }
        stride *= from;
    }
    if (rank == 0) pad->from[rank] = pad->shape.size[rank] = 1, pad->layout.stride[rank++] = 1;
    pad->shape.rank = rank;
}

/* Pairs of neighbours become one element of twice the size while all rows are made of pairs. */
static size_t pad_widen(struct gpu_pad *pad, size_t size) {
    i64 *from = pad->from, *to = pad->shape.size;
    while (size < 16 && ((uintptr_t)pad->in | (uintptr_t)pad->out) % (2 * size) == 0 && from[0] % 2 == 0 &&
           to[0] % 2 == 0 && pad->before[0] % 2 == 0 &&
           (pad->mode == GPU_PAD_CONSTANT || (from[0] == to[0] && pad->before[0] == 0))) {
        if (size < 8) pad->value[0] |= pad->value[0] << 8 * size;
        if (size == 8) pad->value[1] = pad->value[0];
        size *= 2;
        from[0] /= 2;
        to[0] /= 2;
        pad->before[0] /= 2;
        for (u32 d = 1; d < pad->shape.rank; d++) pad->layout.stride[d] /= 2;
    }
    return size;
}

static enum wick_status pad_launch(struct wick__gpu *gpu, struct gpu_pad *pad, size_t size) {
    struct gpu_shape *shape = &pad->shape;
    u32 last = shape->rank - 1;
    shape->count = 1;
    for (u32 d = 0; d <= last; d++) shape->count *= shape->size[d];
    shape->narrow = shape->count < INT32_MAX;
    if (shape->narrow) {
        for (u32 d = 0; d <= last; d++) wick__gpu_divisor(&shape->divisor[d], (uint32_t)shape->size[d]);
        int64_t tile = GPU_BLOCK * GPU_PAD_SLOTS;
        struct wick__launch launch =
            wick__gpu_tiles(size == 16 ? WICK__GPU_K_pad_b16 : wick__gpu_of_size(WICK__GPU_K_pad_b1, size),
                            (shape->count + tile - 1) / tile);
        return wick__gpu_launch(gpu, &launch, pad);
    }
    /* Too many positions for 31 bits: by halves of the first dim that has any. */
    while (last > 0 && shape->size[last] == 1) last--;
    struct gpu_pad half = *pad;
    half.shape.size[last] = shape->size[last] / 2;
    WICK__TRY(pad_launch(gpu, &half, size));
    half = *pad;
    half.shape.size[last] -= shape->size[last] / 2;
    half.before[last] -= shape->size[last] / 2;
    half.out = (char *)pad->out + shape->count / shape->size[last] * (shape->size[last] / 2) * (int64_t)size;
    return pad_launch(gpu, &half, size);
}

wick__kernel_fn wick__gpu_pad;
enum wick_status wick__gpu_pad(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0], *y = call->out[0];
    if (wick__count(y) == 0) return WICK_OK;
    struct gpu_pad pad = {.in = wick__data(x),
                          .out = wick__data(y),
                          .mode = (u32)call->p.pad.mode,
                          .value = {wick__gpu_element(x->dtype, call->p.pad.value)}};
    pad_dims(&pad, call);
    return pad_launch(wick__gpu_of(y), &pad, pad_widen(&pad, wick__size(x->dtype)));
}

/* ---- matrices ---- */

wick__kernel_fn wick__gpu_triangle;
enum wick_status wick__gpu_triangle(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0], *y = call->out[0];
    int64_t count = wick__count(y);
    int size = (int)wick__size(x->dtype);
    if (count == 0) return WICK_OK;
    struct gpu_triangle params = {.first = wick__data(y),
                                  .k = call->p.along.start,
                                  .upper = call->op == WICK_OP_triu,
                                  .narrow = count < INT32_MAX,
                                  .rows = x->layout.shape[x->layout.rank - 2],
                                  .columns = x->layout.shape[x->layout.rank - 1]};
    if (params.narrow) {
        wick__gpu_divisor(&params.by_rows, (uint32_t)params.rows);
        wick__gpu_divisor(&params.by_columns, (uint32_t)params.columns);
    }
    struct wick__elements e = {.kernel = wick__gpu_of_size(WICK__GPU_K_triangle_b1, (size_t)size),
                               .params = &params,
                               .walk = &params.walk,
                               .n_in = 1,
                               .in = {x},
                               .out = y,
                               .no_splat = true,
                               .chunk = GPU_CHUNK(size),
                               .slots = GPU_SLOTS(size)};
    return wick__gpu_elements(&e);
}

static enum wick_status fill(const struct wick_tensor *y, const struct wick__layout *part, struct wick_number value) {
    struct wick__gpu_move move = {.from = *part,
                                  .to = *part,
                                  .out = wick__data(y),
                                  .size = wick__size(y->dtype),
                                  .value = {wick__gpu_element(y->dtype, value)}};
    return wick__gpu_move(wick__gpu_of(y), &move);
}

wick__kernel_fn wick__gpu_eye;
enum wick_status wick__gpu_eye(const struct wick__call *call) {
    const struct wick_tensor *y = call->out[0];
    int64_t rows = y->layout.shape[0], columns = y->layout.shape[1];
    if (wick__count(y) == 0) return WICK_OK;
    struct wick__layout diagonal = {.rank = 1, .shape = {wick__min(rows, columns)}, .stride = {columns + 1}};
    WICK__TRY(fill(y, &y->layout, WICK_INT(0)));
    return fill(y, &diagonal, WICK_INT(1));
}

/* ---- one_hot ---- */

wick__kernel_fn wick__gpu_one_hot;
enum wick_status wick__gpu_one_hot(const struct wick__call *call) {
    const struct wick_tensor *ids = call->in[0], *y = call->out[0];
    struct wick__gpu *gpu = wick__gpu_of(y);
    int64_t classes = y->layout.shape[y->layout.rank - 1];
    struct wick__layout layout = ids->layout;
    if (wick__count(ids) == 0) return WICK_OK;
    if (classes > 0) WICK__TRY(fill(y, &y->layout, WICK_INT(0)));
    struct gpu_one_hot params = {.out = wick__data(y),
                                 .one = wick__gpu_element(y->dtype, WICK_INT(1)),
                                 .size = (u32)wick__size(y->dtype),
                                 .classes = classes};
    WICK__TRY(wick__gpu_ids(call, ids, classes, &params.ids));
    wick__gpu_shape(&layout, 1, &params.shape, params.layout);
    struct wick__launch launch = {.kernel = WICK__GPU_K_one_hot,
                                  .grid = {wick__gpu_blocks(gpu, params.shape.count, 2)}};
    return wick__gpu_launch(gpu, &launch, &params);
}
