/* Gradients of softmax and of its logarithm. Cuts depend on shapes and alignments alone, so that the same tensors give
 * the same bits, run after run. */
#include "gpu/ops/rows.h"

#include "core/checked.h"
#include "gpu/routes/layer.h"
#include "kernels/softmax_backward.h"

enum {
    FEW = 256,           /* blocks that leave a device idle */
    SPREAD = 1024,       /* pieces that keep it busy */
    PIECE = 8 * 1024,    /* elements of a row that are a piece, */
    STEPS = 4,           /* and elements of a line across memory for each thread, at least */
    WORTH_VECTORS = 256, /* bytes of a row that are read by vectors, though its ends are none */
    ACROSS = 16          /* threads side by side, at least, where fewer would leave less of them idle */
};

/* Cuts lines into pieces of at least `least` elements, as many as `blocks` of them leave room for; whether there are
 * some. */
static bool cut(struct gpu_softmax_backward *p, int64_t blocks, int64_t least) {
    int64_t pieces = wick__min(wick__min(wick__div_up(SPREAD, blocks), p->n / least), GPU_BLOCK);
    if (pieces < 2) return false;
    p->length = wick__div_up(p->n, pieces);
    p->pieces = wick__div_up(p->n, p->length);
    return true;
}

/* Two launches, with the sums of pieces in scratch memory between them. */
static enum wick_status run_pieces(struct wick__gpu *gpu, enum wick_dtype dtype, struct gpu_softmax_backward *p) {
    struct wick__launch sums = {.kernel = wick__gpu_of_floats(WICK__GPU_K_softmax_backward_sums_bf16, dtype)};
    struct wick__launch pieces = {.kernel = wick__gpu_of_floats(WICK__GPU_K_softmax_backward_pieces_bf16, dtype)};
    size_t nbytes = (size_t)(p->outer * p->pieces * p->inner) * sizeof(double);
    void *parts;
    WICK__TRY(wick__gpu_scratch(gpu, nbytes, &parts));
    p->parts = parts;
    wick__gpu_reduce_grid(&sums, p->outer * p->tiles * p->pieces);
    wick__gpu_reduce_grid(&pieces, p->outer * p->tiles * p->pieces);
    enum wick_status status = wick__gpu_launch(gpu, &sums, p);
    if (status == WICK_OK) status = wick__gpu_launch(gpu, &pieces, p);
    wick__gpu_release(gpu, parts, nbytes);
    return status;
}

static enum wick_status run_rows(struct wick__gpu *gpu, enum wick_dtype dtype, struct gpu_softmax_backward *p) {
    int64_t size = (int)wick__size(dtype), kept = GPU_SOFTMAX_BACKWARD_KEPT(size);
    struct wick__launch launch = {.kernel = wick__gpu_of_floats(WICK__GPU_K_softmax_backward_rows_bf16, dtype)};
    uintptr_t result = (uintptr_t)p->result, gradient = (uintptr_t)p->gradient, out = (uintptr_t)p->out;
    p->alike = (((result ^ out) | (gradient ^ out)) & 15) == 0;
    p->vectors = p->alike && wick__aligned16(p->out) && p->n * size % 16 == 0;
    p->tiles = p->across = 1;
    if (!p->vectors && p->alike && p->n * size >= WORTH_VECTORS) {
        p->group = wick__gpu_row_group(dtype, p->out, p->n, (int)kept, GPU_SOFTMAX_BACKWARD_THREADS(size));
        launch.kernel = wick__gpu_of_floats(WICK__GPU_K_softmax_backward_kept_bf16, dtype);
        if (p->group == 0 && cut(p, p->outer, PIECE)) return run_pieces(gpu, dtype, p);
    } else if (p->outer < FEW && cut(p, p->outer, PIECE)) {
        return run_pieces(gpu, dtype, p);
    }
    if (p->group == 0) {
        int64_t items = p->vectors ? p->n * size / 16 : p->n;
        p->group = wick__gpu_power((items + 1) / 2, GPU_BLOCK);
        launch.kernel = wick__gpu_of_floats(WICK__GPU_K_softmax_backward_rows_bf16, dtype);
    }
    wick__gpu_row_launch(gpu, &launch, p->outer, p->group);
    return wick__gpu_launch(gpu, &launch, p);
}

/* Lines of a few elements across memory. */
static enum wick_status run_short(struct wick__gpu *gpu, enum wick_dtype dtype, const struct gpu_softmax_backward *s) {
    struct wick__launch launch = {.kernel = wick__gpu_of_floats(WICK__GPU_K_softmax_backward_short_bf16, dtype)};
    struct gpu_softmax_backward_short p = {
        .gradient = s->gradient, .result = s->result, .out = s->out, .n = s->n, .inner = s->inner, .log = s->log};
    int64_t size = (int)wick__size(dtype);
    p.vectors = wick__aligned16(s->gradient) && wick__aligned16(s->result) && wick__aligned16(s->out) &&
                s->inner * size % 16 == 0;
    p.width = p.vectors ? s->inner * size / 16 : s->inner;
    p.items = s->outer * p.width;
    p.down = wick__gpu_short_down(s->n, p.items, GPU_SOFTMAX_BACKWARD_SHORT(size), GPU_SOFTMAX_BACKWARD_DOWN(size));
    wick__gpu_reduce_grid(&launch, wick__div_up(p.items, GPU_BLOCK / p.down));
    return wick__gpu_launch(gpu, &launch, &p);
}

static enum wick_status run_across(struct wick__gpu *gpu, enum wick_dtype dtype, struct gpu_softmax_backward *p) {
    struct wick__launch launch = {.kernel = wick__gpu_of_floats(WICK__GPU_K_softmax_backward_across_bf16, dtype)};
    p->across = wick__gpu_power(p->inner, 64);
    p->tiles = wick__div_up(p->inner, p->across);
    if (p->outer * p->tiles < FEW) {
        struct gpu_softmax_backward q = *p;
        while (q.across > ACROSS && 8 * q.inner < 7 * q.tiles * q.across) {
            q.across /= 2;
            q.tiles = wick__div_up(q.inner, q.across);
        }
        if (cut(&q, q.outer * q.tiles, STEPS * (GPU_BLOCK / q.across))) return run_pieces(gpu, dtype, &q);
    }
    p->pieces = 1;
    p->length = p->n;
    wick__gpu_reduce_grid(&launch, p->outer * p->tiles);
    return wick__gpu_launch(gpu, &launch, p);
}

wick__kernel_fn wick__gpu_softmax_backward;
enum wick_status wick__gpu_softmax_backward(const struct wick__call *call) {
    const struct wick_tensor *gradient = call->in[0];
    const struct wick__layout *layout = &gradient->layout;
    int64_t count = wick__count(gradient), dim = call->p.along.dim;
    if (count == 0) return WICK_OK;
    struct gpu_softmax_backward p = {.gradient = wick__data(gradient),
                                     .result = wick__data(call->in[1]),
                                     .out = wick__data(call->out[0]),
                                     .n = layout->rank > 0 ? layout->shape[dim] : 1,
                                     .inner = 1,
                                     .log = call->op == WICK_OP_log_softmax_backward};
    for (int d = (int)dim + 1; d < layout->rank; d++) p.inner *= layout->shape[d];
    p.outer = count / (p.n * p.inner);
    struct wick__gpu *gpu = wick__gpu_of(gradient);
    const struct wick__dnn_layer layer = {.kind =
                                              p.log ? WICK__LAYER_LOG_SOFTMAX_BACKWARD : WICK__LAYER_SOFTMAX_BACKWARD,
                                          .dtype = gradient->dtype,
                                          .size = {p.outer, p.n, p.inner, 1},
                                          .in = {p.gradient, p.result},
                                          .out = {p.out}};
    bool done;
    WICK__TRY(wick__layer_run(gpu, &layer, &done));
    if (done) return WICK_OK;
    int64_t size = (int)wick__size(gradient->dtype);
    if (p.inner == 1) return run_rows(gpu, gradient->dtype, &p);
    if (p.n <= GPU_SOFTMAX_BACKWARD_SHORT(size) * GPU_SOFTMAX_BACKWARD_DOWN(size))
        return run_short(gpu, gradient->dtype, &p);
    return run_across(gpu, gradient->dtype, &p);
}
