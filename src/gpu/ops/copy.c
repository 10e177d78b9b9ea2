/* contiguous, copy_inplace: from any layout to any other. */
#include "gpu/ops/copy.h"

#include "gpu/ops/turn.h"
#include "kernels/copy.h"

static bool divides(const struct wick__gpu_move *move, size_t by) {
    uintptr_t in = move->in ? (uintptr_t)move->in : 0;
    return (in | (uintptr_t)move->out) % by == 0;
}

static bool even(const struct wick__layout *layout, int last) {
    if (layout->stride[last] != 1) return false;
    for (int d = 0; d < last; d++)
        if (layout->stride[d] % 2 != 0) return false;
    return layout->shape[last] % 2 == 0;
}

/* Pairs of neighbours become one element of twice the size, up to 16 bytes, while every row is made of pairs. */
static void widen(struct wick__gpu_move *move) {
    int last = move->to.rank - 1;
    while (move->size < 16 && divides(move, 2 * move->size) && even(&move->to, last) &&
           (!move->in || even(&move->from, last))) {
        struct wick__layout *layouts[2] = {&move->to, &move->from};
        if (!move->in && move->size < 8) move->value[0] |= move->value[0] << 8 * move->size;
        if (!move->in && move->size == 8) move->value[1] = move->value[0];
        move->size *= 2;
        for (int k = 0; k < 2; k++) {
            layouts[k]->shape[last] /= 2;
            for (int d = 0; d < last; d++) layouts[k]->stride[d] /= 2;
        }
    }
}

static enum wick_status flat(struct wick__gpu *gpu, const struct wick__gpu_move *move, int64_t nbytes) {
    struct gpu_copy_flat params = {.in = move->in, .out = move->out, .nbytes = nbytes};
    uint64_t value = move->value[0];
    for (size_t size = move->size; size < 8; size *= 2) value |= value << 8 * size;
    params.value[0] = value;
    params.value[1] = move->size == 16 ? move->value[1] : value;
    int64_t tile = GPU_BLOCK * GPU_COPY_FLAT;
    struct wick__launch launch = wick__gpu_tiles(WICK__GPU_K_copy_flat, (nbytes + tile - 1) / tile);
    return wick__gpu_launch(gpu, &launch, &params);
}

static enum wick_status strided(struct wick__gpu *gpu, const struct wick__gpu_move *move) {
    struct gpu_copy_strided params = {.in = move->in, .out = move->out, .value = {move->value[0], move->value[1]}};
    struct wick__layout layouts[2] = {move->from, move->to};
    wick__gpu_shape(layouts, 2, &params.shape, params.layout);
    int64_t tile = (int64_t)GPU_BLOCK * GPU_COPY_SLOTS(move->size);
    enum wick__gpu_kernel kernel =
        move->size == 16 ? WICK__GPU_K_copy_strided_b16 : wick__gpu_of_size(WICK__GPU_K_copy_strided_b1, move->size);
    struct wick__launch launch = wick__gpu_tiles(kernel, (params.shape.count + tile - 1) / tile);
    return wick__gpu_launch(gpu, &launch, &params);
}

static void swap_dims(struct wick__layout *layout, int a, int b) {
    int64_t shape = layout->shape[a], stride = layout->stride[a];
    layout->shape[a] = layout->shape[b];
    layout->stride[a] = layout->stride[b];
    layout->shape[b] = shape;
    layout->stride[b] = stride;
}

/* By tiles in LDS, when neighbours in the source lie along another dim than neighbours in the target. False when they
 * do not, or lie in small matrices, whose lines stay in caches while elements are read one by one: on an H200, matrices
 * of 9 x 11 of f16, 20 million elements, take 61 us so and 188 by tiles, those of 16 x 16, 26 million, 78 and 39. */
static bool turn(struct wick__gpu *gpu, const struct wick__gpu_move *move, enum wick_status *status) {
    struct wick__layout layouts[3] = {move->from, move->to, move->from};
    struct gpu_turn params = {.in = move->in, .other = move->in, .out = move->out};
    const int64_t small = 256;
    int last = move->to.rank - 1, o = last;
    if (!move->in || last < 1) return false;
    while (o > 0 && move->to.stride[o] != 1) o--;
    for (int k = 0; k < 3; k++) swap_dims(&layouts[k], o, last);
    if (!wick__gpu_turn_fill(&params, layouts, move->size, move->size)) return false;
    if ((int64_t)params.ni * params.no < small) return false;
    struct wick__launch launch = wick__gpu_tiles(wick__gpu_of_size(WICK__GPU_K_copy_turn_b1, move->size), params.tiles);
    *status = wick__gpu_launch(gpu, &launch, &params);
    return true;
}

enum wick_status wick__gpu_move(struct wick__gpu *gpu, const struct wick__gpu_move *given) {
    struct wick__gpu_move move = *given;
    struct wick__layout layouts[2] = {move.in ? move.from : move.to, move.to};
    enum wick_status status;
    if (wick__layout_count(&move.to) == 0) return WICK_OK;
    wick__layout_collapse(layouts, 2);
    move.from = layouts[0];
    move.to = layouts[1];
    bool contiguous = move.to.rank == 1 && (move.to.stride[0] == 1 || move.to.shape[0] == 1) &&
                      (!move.in || move.from.stride[0] == 1 || move.to.shape[0] == 1);
    int64_t count = wick__layout_count(&move.to);
    if (contiguous && divides(&move, 16)) return flat(gpu, &move, count * (int64_t)move.size);
    if (turn(gpu, &move, &status)) return status;
    widen(&move);
    count = wick__layout_count(&move.to);
    if (count < INT32_MAX) return strided(gpu, &move);
    /* Too many positions for 31 bits: by halves. */
    struct wick__gpu_move half = move;
    int64_t size = move.to.shape[0], first = size / 2;
    for (int part = 0; part < 2; part++) {
        half.from.shape[0] = half.to.shape[0] = part ? size - first : first;
        if (part && move.in) half.in = (const char *)move.in + first * move.from.stride[0] * (int64_t)move.size;
        if (part) half.out = (char *)move.out + first * move.to.stride[0] * (int64_t)move.size;
        WICK__TRY(wick__gpu_move(gpu, &half));
    }
    return WICK_OK;
}

wick__kernel_fn wick__gpu_copy;
enum wick_status wick__gpu_copy(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0], *y = call->out[0];
    struct wick__gpu *gpu = wick__gpu_of(y);
    if (wick__count(y) == 0) return WICK_OK;
    struct wick__gpu_move move = {.to = y->layout, .in = wick__data(x), .out = wick__data(y)};
    bool plain = wick__is_plain(x->dtype);
    move.size = plain ? wick__size(x->dtype) : 1;
    if (plain)
        wick__layout_expand(&x->layout, y->layout.rank, y->layout.shape, &move.from);
    else
        wick__bytes_layouts(x, &move.from, &move.to);
    return wick__gpu_move(gpu, &move);
}

struct wick_tensor *wick__gpu_packed(const struct wick__call *call, const struct wick_tensor *x) {
    struct wick_tensor *copy =
        wick__tensor_new(wick_op_name(call->op), wick__device(x), x->dtype, x->layout.rank, x->layout.shape);
    if (!copy) return NULL;
    const struct wick__gpu_move move = {.from = x->layout,
                                        .to = copy->layout,
                                        .in = wick__data(x),
                                        .out = wick__data(copy),
                                        .size = wick__size(x->dtype)};
    if (wick__gpu_move(wick__gpu_of(x), &move) == WICK_OK) return copy;
    wick_release(copy);
    return NULL;
}

enum wick_status wick__gpu_run_packed(const struct wick__call *call, wick__kernel_fn *kernel) {
    struct wick_tensor *copies[WICK__MAX_INPUTS] = {NULL};
    struct wick__call packed = *call;
    enum wick_status status = WICK_OK;
    for (int i = 0; i < call->n_in && status == WICK_OK; i++) {
        if (!call->in[i] || wick__layout_is_contiguous(&call->in[i]->layout)) continue;
        packed.in[i] = copies[i] = wick__gpu_packed(call, call->in[i]);
        if (!copies[i]) status = wick__latest();
    }
    if (status == WICK_OK) status = kernel(&packed);
    for (int i = 0; i < call->n_in; i++) wick_release(copies[i]);
    return status;
}
