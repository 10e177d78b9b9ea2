/* The run path: every call, kernels, views, writes in place and copies between devices, passes here and is seen. */
#include "ops/dispatch.h"
#include "ops/record.h"
#include "ops/trail.h"
#include "points.h"

/* ---- running ---- */

static bool is_convolution(enum wick_op op) { return op >= WICK_OP_conv1d && op <= WICK_OP_conv_transpose3d; }

static bool fits(const struct wick__call *call, int i, enum wick__layouts layouts) {
    enum { FEW_TERMS = 16 }; /* of a convolution that has better ways than a product, once its channels come first */
    const struct wick_tensor *x = call->in[i];
    struct wick__product product;
    switch (layouts) {
    case WICK__CONTIGUOUS: return wick__layout_is_contiguous(&x->layout);
    case WICK__IMAGES:
        if (wick__layout_is_contiguous(&x->layout)) return true;
        if (call->n_in == 1) return x->dtype == WICK_F32 && wick__layout_is_channels_last(&x->layout);
        return i == 0 && is_convolution(call->op) &&
               (wick__product_of_points(call, &product) || wick__depthwise_last(call));
    case WICK__LAST:
        if (wick__layout_is_contiguous(&x->layout) || wick__pieces_last(call, i)) return true;
        return i == 0 && is_convolution(call->op) && wick__product_of_points(call, &product) && product.k >= FEW_TERMS;
    case WICK__ROWS: return wick__layout_has_rows(&x->layout);
    case WICK__STRIDED: break;
    }
    return true;
}

struct wick_tensor *wick__pack(const struct wick_tensor *x) {
    if (wick__layout_is_contiguous(&x->layout)) return wick_retain(x);
    struct wick__call copy = {.op = WICK_OP_contiguous, .n_in = 1, .in = {x}};
    const struct wick__kernel *kernel = &wick__device(x)->backend->kernels[WICK_OP_contiguous];
    if (!wick__call_out(&copy, x->dtype, x->layout.rank, x->layout.shape)) return NULL;
    if (kernel->run(&copy) == WICK_OK) return copy.out[0];
    wick__call_drop(&copy);
    return NULL;
}

enum wick_status wick__fetch(const struct wick_tensor *x, void *data, size_t nbytes) {
    struct wick_device *device = wick__device(x);
    struct wick_tensor *packed = wick__pack(x);
    if (!packed) return wick__latest();
    enum wick_status status = device->backend->download(device, data, wick__data(packed), nbytes);
    wick_release(packed);
    return status == WICK_OK ? wick__doubt_settle(x->storage) : status;
}

/* x with `rank` dims, of which those before its own have one position. */
static void widen(struct wick__layout *x, int rank) {
    int added = rank - x->rank;
    for (int d = rank - 1; d >= 0; d--) {
        x->shape[d] = d < added ? 1 : x->shape[d - added];
        x->stride[d] = d < added ? 0 : x->stride[d - added];
    }
    x->rank = rank;
}

static void permute(struct wick__layout *x, int n, const int *dims) {
    struct wick__layout old = *x;
    for (int i = 0; i < n; i++) {
        x->shape[i] = old.shape[dims[i]];
        x->stride[i] = old.stride[dims[i]];
    }
    x->rank = n;
}

/* An op of elements whose result is not row-major, with the dims in the order in which it is. The tensors that the
 * kernel sees hold no references. */
static enum wick_status run_turned(const struct wick__call *call, const struct wick__kernel *kernel) {
    struct wick__call turned = *call;
    struct wick_tensor in[WICK__MAX_INPUTS], out = *call->out[0];
    int dims[WICK_MAX_RANK], n = wick__layout_order(&out.layout, dims);
    for (int i = 0; i < call->n_in; i++) {
        if (!call->in[i]) continue;
        in[i] = *call->in[i];
        widen(&in[i].layout, out.layout.rank);
        permute(&in[i].layout, n, dims);
        turned.in[i] = &in[i];
    }
    permute(&out.layout, n, dims);
    turned.out[0] = &out;
    turned.as_made = call;
    return kernel->run(&turned);
}

/* Whether windows of a convolution are single elements that lie apart. */
static bool samples(const struct wick__call *call) {
    bool apart = false;
    if (call->op < WICK_OP_conv1d || call->op > WICK_OP_conv3d) return false;
    for (int s = 0; s < call->p.window.spatial; s++) {
        if (call->p.window.kernel[s] != 1 || call->p.window.padding[s] != 0) return false;
        apart = apart || call->p.window.stride[s] > 1;
    }
    return apart;
}

/* Such a convolution as one of step 1 of these elements alone, a view, so that no others are packed. */
static void sample(struct wick__call *call, struct wick_tensor *view) {
    *view = *call->in[0];
    for (int s = 0; s < call->p.window.spatial; s++) {
        view->layout.shape[2 + s] = call->out[0]->layout.shape[2 + s];
        view->layout.stride[2 + s] *= call->p.window.stride[s];
        call->p.window.stride[s] = 1;
    }
    call->in[0] = view;
}

enum wick_status wick__call_kernel(const struct wick__call *call) {
    const struct wick__kernel *kernel = &wick__device(call->out[0])->backend->kernels[call->op];
    struct wick_tensor *copies[WICK__MAX_INPUTS] = {NULL};
    enum wick_status status = WICK_OK;
    bool fit = true;
    for (int i = 0; i < call->n_in; i++) fit = fit && (!call->in[i] || fits(call, i, kernel->layouts));
    if (fit) return call->turned ? run_turned(call, kernel) : kernel->run(call);
    struct wick__call fitting = *call;
    struct wick_tensor view;
    if (samples(call) && !fits(call, 0, kernel->layouts)) sample(&fitting, &view);
    for (int i = 0; i < call->n_in && status == WICK_OK; i++) {
        if (!call->in[i] || fits(&fitting, i, kernel->layouts)) continue;
        fitting.in[i] = copies[i] = wick__pack(fitting.in[i]);
        if (!copies[i]) status = wick__latest();
    }
    if (status == WICK_OK) status = kernel->run(&fitting);
    for (int i = 0; i < call->n_in; i++) wick_release(copies[i]);
    return status;
}

static enum wick_status run(const struct wick__call *call) {
    return call->in_parts ? call->in_parts(call) : wick__call_kernel(call);
}

/* ---- doubts ---- */

/* Whether a call in place leaves nothing of what was in the buffer. */
static bool overwrites(const struct wick__call *call) {
    const struct wick_tensor *out = call->out[0];
    size_t nbytes;
    if (call->op != WICK_OP_fill_inplace && call->op != WICK_OP_copy_inplace) return false;
    return wick__nbytes(out->dtype, wick__count(out), &nbytes) && nbytes == out->storage->nbytes;
}

/* What is in doubt about the operands. */
static enum wick_status inherit(const struct wick__call *call, struct wick__doubt **doubt) {
    for (int i = 0; i < call->n_in; i++)
        if (call->in[i]) WICK__TRY(wick__doubt_add(doubt, call->in[i]->storage));
    for (int i = 1; i < call->n_list; i++) WICK__TRY(wick__doubt_add(doubt, call->list[i]->storage));
    if (call->inplace && !overwrites(call)) WICK__TRY(wick__doubt_add(doubt, call->out[0]->storage));
    return WICK_OK;
}

/* Notes for a graph what a call that the family recorded does to doubts. */
static enum wick_status note(struct wick_device *device, const struct wick__call *call) {
    struct wick__calls *graph = wick__device_recording(device);
    enum wick_status status = graph ? wick__trail_add(graph->trail, call, !overwrites(call)) : WICK_OK;
    if (status != WICK_OK) graph->failed = status;
    return status;
}

static void set_doubt(struct wick_tensor *x, struct wick__doubt *doubt) {
    if (doubt) wick__doubt_retain(doubt);
    wick__doubt_set(x->storage, doubt);
}

/* Runs a call on a device that finds failures late: its results are in doubt when its operands are, or itself. */
static enum wick_status run_in_doubt(struct wick_device *device, struct wick__call *call) {
    struct wick__suspect *suspect = NULL;
    struct wick__doubt *doubt = NULL;
    bool recorded = wick__device_captures(device);
    enum wick_status status = recorded ? WICK_OK : inherit(call, &doubt);
    call->suspect = &suspect;
    if (status == WICK_OK) status = run(call);
    if (status == WICK_OK && suspect && !recorded) status = wick__doubt_join(&doubt, &suspect->doubt);
    if (suspect) {
        suspect->once = suspect->once && status == WICK_OK;
        device->heap->late->queued(suspect);
    }
    if (status == WICK_OK && recorded) {
        status = note(device, call);
    } else if (status == WICK_OK) {
        for (int i = 0; i < call->n_out; i++) set_doubt(call->out[i], doubt);
        for (int i = call->n_list - call->n_targets; i < call->n_list; i++) set_doubt(call->list[i], doubt);
    }
    wick__doubt_release(doubt);
    if (suspect) wick__doubt_release(&suspect->doubt);
    call->suspect = NULL;
    return status;
}

/* Runs a call now, or keeps it for the graph that the device records. */
static enum wick_status run_or_keep(struct wick__call *call) {
    struct wick_device *device = wick__device(call->out[0]);
    enum wick_status status;
    if (wick__device_records(device))
        status = wick__calls_add(device->recording, call);
    else
        status = device->heap->late ? run_in_doubt(device, call) : run(call);
    if (status == WICK_OK && wick__records()) wick__record_add(call);
    return status;
}

enum wick_status wick__call_again(const struct wick__call *call) {
    struct wick_device *device = wick__device(call->out[0]);
    struct wick__call again = *call;
    WICK__TRY(wick__device_check(wick_op_name(call->op), device));
    return device->heap->late ? run_in_doubt(device, &again) : run(&again);
}

/* ---- the three ways of a call ---- */

struct wick_tensor *wick__call_run(struct wick__call *call) {
    if (run_or_keep(call) != WICK_OK) {
        wick__call_drop(call);
        return NULL;
    }
    for (; call->n_extra > 0; call->n_extra--) wick_release(call->out[--call->n_out]);
    for (int i = 0; i < call->n_out; i++) wick__scope_add(call->out[i]);
    return call->out[0];
}

enum wick_status wick__call_run_inplace(struct wick__call *call, const char *name) {
    struct wick_tensor *out = call->out[0];
    const char *op = wick_op_name(call->op);
    char text[WICK__TENSOR_TEXT];
    call->inplace = true;
    if (!out) return wick__fail(WICK_INVALID, "%s: %s is NULL", op, name);
    for (int i = 0; i < call->n_in; i++)
        if (call->in[i] && wick__device(call->in[i]) != wick__device(out))
            return wick__call_fail(call, WICK_DEVICE, "%s is %s", name, wick__tensor_text(text, out));
    WICK__TRY(wick__device_check(op, wick__device(out)));
    if (call->n_in == 0 && !wick__call_supported(call, wick__device(out), out->dtype)) return WICK_UNSUPPORTED;
    if (wick__layout_overlaps(&out->layout))
        return wick__call_fail(call, WICK_INVALID, "%s %s is broadcast or unfolded: its elements share addresses", name,
                               wick__tensor_text(text, out));
    return run_or_keep(call);
}

struct wick_tensor *wick__call_view(struct wick__call *call, const struct wick__layout *layout) {
    struct wick_tensor *y = wick__tensor_view(call->in[0], layout);
    if (!y || !wick__records()) return y;
    call->view = true;
    call->n_out = 1;
    call->out[0] = y;
    wick__record_add(call);
    return y;
}

struct wick_tensor *wick__broadcast(const struct wick_tensor *x, const struct wick__layout *wide) {
    struct wick__call call = {.op = WICK_OP_broadcast_to, .n_in = 1, .in = {x}};
    return wick__call_view(&call, wide);
}
