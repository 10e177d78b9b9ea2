/* Casts, filling, copying in place and between devices. */
#include "ops/dispatch.h"
#include "ops/record.h"

#include "core/memory.h"
#include "core/number.h"

#include <math.h>

struct wick_tensor *wick_cast(const struct wick_tensor *x, enum wick_dtype dtype) {
    struct wick__call call = {.op = WICK_OP_cast, .n_in = 1, .in = {x}};
    bool known = (unsigned)dtype < WICK_DTYPE_COUNT;
    if (x && known && dtype != x->dtype) {
        if (wick__has(WICK__BLOCKS, x->dtype)) return wick__dequantise(x, dtype);
        if (wick__has(WICK__BLOCKS, dtype) && wick__has(WICK__PLAIN_FLOATS, x->dtype))
            return wick_quantise(x, dtype, NULL);
    }
    if (!wick__call_check(&call)) return NULL;
    if (!known) {
        wick__call_fail(&call, WICK_DTYPE, "dtype %d is unknown", (int)dtype);
        return NULL;
    }
    if (!wick_supports(wick__device(x), WICK_OP_cast, dtype)) {
        wick__call_fail(&call, WICK_UNSUPPORTED, "%s has no cast to %s", wick__device(x)->name, wick_dtype_name(dtype));
        return NULL;
    }
    if (dtype == x->dtype) return wick__scope_add(wick__call_view(&call, &x->layout));
    if (!wick__call_out_like(&call, dtype, x->layout.rank, x->layout.shape)) return NULL;
    return wick__call_run(&call);
}

/* ---- new tensors ---- */

struct wick_tensor *wick_full(struct wick_device *device, enum wick_dtype dtype, int rank, const int64_t *shape,
                              struct wick_number value) {
    struct wick__call call = {.op = WICK_OP_full, .p.number = {value}};
    if (!wick__call_out_on(&call, device, dtype, rank, shape)) return NULL;
    return wick__call_run(&call);
}

struct wick_tensor *wick_zeros(struct wick_device *device, enum wick_dtype dtype, int rank, const int64_t *shape) {
    return wick_full(device, dtype, rank, shape, WICK_INT(0));
}

struct wick_tensor *wick_ones(struct wick_device *device, enum wick_dtype dtype, int rank, const int64_t *shape) {
    return wick_full(device, dtype, rank, shape, WICK_INT(1));
}

struct wick_tensor *wick_zeros_like(const struct wick_tensor *x) {
    if (x) return wick_zeros(wick__device(x), x->dtype, x->layout.rank, x->layout.shape);
    wick__fail(WICK_INVALID, "zeros_like: x is NULL");
    return NULL;
}

struct wick_tensor *wick_ones_like(const struct wick_tensor *x) {
    if (x) return wick_ones(wick__device(x), x->dtype, x->layout.rank, x->layout.shape);
    wick__fail(WICK_INVALID, "ones_like: x is NULL");
    return NULL;
}

/* How many numbers there are from start on, by step, before end; 2^62 and more are WICK_OVERFLOW. */
static enum wick_status count_range(struct wick_number start, struct wick_number end, struct wick_number step,
                                    int64_t *count) {
    double from = wick__number_f64(WICK_F64, start), to = wick__number_f64(WICK_F64, end);
    double by = wick__number_f64(WICK_F64, step);
    if (!isfinite(from) || !isfinite(to) || !isfinite(by) || by == 0)
        return wick__fail(WICK_INVALID, "arange: from %g below %g by %g: all must be finite and the step not 0", from,
                          to, by);
    double n = ceil((to - from) / by);
    if (!start.is_real && !end.is_real && !step.is_real) {
        bool up = step.integer > 0;
        uint64_t a = (uint64_t)start.integer, b = (uint64_t)end.integer, s = (uint64_t)step.integer;
        uint64_t steps = up                            ? start.integer < end.integer ? (b - a - 1) / s + 1 : 0
                         : start.integer > end.integer ? (a - b - 1) / (0 - s) + 1
                                                       : 0;
        if (steps < UINT64_C(1) << 62) {
            *count = (int64_t)steps;
            return WICK_OK;
        }
        n = INFINITY;
    }
    if (!(n < 0x1p62))
        return wick__fail(WICK_OVERFLOW, "arange: from %g below %g by %g are too many elements", from, to, by);
    *count = n > 0 ? (int64_t)n : 0;
    return WICK_OK;
}

struct wick_tensor *wick_arange(struct wick_device *device, enum wick_dtype dtype, struct wick_number start,
                                struct wick_number end, struct wick_number step) {
    struct wick__call call = {.op = WICK_OP_arange, .p.number = {start, step}};
    int64_t count;
    if (count_range(start, end, step, &count) != WICK_OK) return NULL;
    if (!wick__call_out_on(&call, device, dtype, 1, &count)) return NULL;
    return wick__call_run(&call);
}

/* ---- in place ---- */

enum wick_status wick_fill_inplace(struct wick_tensor *x, struct wick_number value) {
    struct wick__call call = {.op = WICK_OP_fill_inplace, .n_out = 1, .out = {x}, .p.number = {value}};
    return wick__call_run_inplace(&call, "x");
}

enum wick_status wick_copy_inplace(struct wick_tensor *target, const struct wick_tensor *source) {
    struct wick__call call = {.op = WICK_OP_copy_inplace, .n_in = 1, .in = {source}, .n_out = 1, .out = {target}};
    struct wick__layout wide;
    char text[WICK__TENSOR_TEXT];
    if (!target) return wick__fail(WICK_INVALID, "copy_inplace: target is NULL");
    if (!wick__call_check(&call)) return wick__latest();
    if (source->dtype != target->dtype)
        return wick__call_fail(&call, WICK_DTYPE, "target is %s", wick__tensor_text(text, target));
    if (!wick__layout_expand(&source->layout, target->layout.rank, target->layout.shape, &wide))
        return wick__call_fail(&call, WICK_SHAPE, "does not broadcast to target %s", wick__tensor_text(text, target));
    if (wick__count(target) == 0 || !wick__extents_meet(source, target)) return wick__call_run_inplace(&call, "target");
    wick_scope_begin();
    call.in[0] = wick_clone(source);
    enum wick_status status = call.in[0] ? wick__call_run_inplace(&call, "target") : wick__latest();
    wick_scope_end(NULL);
    return status;
}

/* ---- other devices ---- */

/* What goes from one GPU to another at once, in bytes. */
static const size_t MOVED = (size_t)32 << 20;

/* Elements of a contiguous tensor to one on another device; by way of host memory, piece by piece, where there is no
 * other. */
static enum wick_status move(const struct wick_tensor *from, const struct wick_tensor *to) {
    struct wick_device *source = wick__device(from), *target = wick__device(to);
    size_t nbytes = to->storage->nbytes;
    if (source->heap->host_visible) return target->backend->upload(target, to->storage->data, wick__data(from), nbytes);
    if (target->heap->host_visible)
        return source->backend->download(source, to->storage->data, wick__data(from), nbytes);
    bool done = false;
    if (source->backend == target->backend && source->backend->copy_between)
        WICK__TRY(source->backend->copy_between(target, to->storage->data, source, wick__data(from), nbytes, &done));
    if (done) return WICK_OK;
    size_t size = nbytes < MOVED ? nbytes : MOVED;
    char *piece = wick__alloc(size);
    enum wick_status status = piece ? WICK_OK : WICK_MEMORY;
    for (size_t at = 0; at < nbytes && status == WICK_OK; at += size) {
        size_t n = nbytes - at < size ? nbytes - at : size;
        status = source->backend->download(source, piece, (char *)wick__data(from) + at, n);
        if (status == WICK_OK) status = target->backend->upload(target, (char *)to->storage->data + at, piece, n);
    }
    wick__free(piece, size);
    return status;
}

static enum wick_status run_to_device(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0], *y = call->out[0];
    WICK__TRY(wick__device_check("to_device", wick__device(x)));
    WICK__TRY(wick__graph_refuse(wick__device(x), "to_device"));
    WICK__TRY(wick__graph_refuse(wick__device(y), "to_device"));
    if (y->storage->nbytes == 0) return WICK_OK;
    struct wick_tensor *packed = wick__pack(x);
    enum wick_status status = packed ? move(packed, y) : wick__latest();
    wick_release(packed);
    if (status == WICK_OK && wick__device(y)->heap->host_visible) return wick__doubt_settle(x->storage);
    return status;
}

struct wick_tensor *wick_to_device(const struct wick_tensor *x, struct wick_device *device) {
    struct wick__call call = {.op = WICK_OP_to_device, .in_parts = run_to_device, .n_in = 1, .in = {x}};
    if (!x) {
        wick__fail(WICK_INVALID, "to_device: x is NULL");
        return NULL;
    }
    struct wick_device *from = wick__device(x);
    if (wick__device_check("to_device", device) != WICK_OK || wick__device_check("to_device", from) != WICK_OK)
        return NULL;
    if (from == device) return wick__scope_add(wick__call_view(&call, &x->layout));
    if (wick__graph_refuse(from, "to_device") != WICK_OK || wick__graph_refuse(device, "to_device") != WICK_OK)
        return NULL;
    if (!wick__call_out_on(&call, device, x->dtype, x->layout.rank, x->layout.shape)) return NULL;
    return wick__call_run(&call);
}
