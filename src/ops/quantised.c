/* Tensors of blocks to plain ones, and back. */
#include "ops/dispatch.h"

#include "core/memory.h"
#include "cpu/kernels/quantise.h"

#include <math.h>

struct wick_tensor *wick__dequantise(const struct wick_tensor *x, enum wick_dtype dtype) {
    struct wick__call call = {.op = WICK_OP_dequantise, .n_in = 1, .in = {x}};
    if (!wick__call_check(&call)) return NULL;
    if ((unsigned)dtype >= WICK_DTYPE_COUNT) {
        wick__call_fail(&call, WICK_DTYPE, "dtype %d is unknown", (int)dtype);
        return NULL;
    }
    if (!wick__has(WICK__PLAIN_FLOATS, dtype)) {
        wick__call_fail(&call, WICK_UNSUPPORTED, "blocks become f32, f16 or bf16, not %s", wick_dtype_name(dtype));
        return NULL;
    }
    if (!wick__call_out(&call, dtype, x->layout.rank, x->layout.shape)) return NULL;
    return wick__call_run(&call);
}

/* ---- quantising ---- */

/* A tensor of f32 on the host, to be freed. NULL after a failure. */
static float *to_host(const struct wick_tensor *x) {
    struct wick_device *device = wick__device(x);
    size_t nbytes = (size_t)wick__count(x) * sizeof(float);
    struct wick_tensor *packed = wick__pack(x);
    float *values = packed ? wick__alloc(nbytes) : NULL;
    if (values && nbytes > 0 && device->backend->download(device, values, wick__data(packed), nbytes) != WICK_OK) {
        wick__free(values, nbytes);
        values = NULL;
    }
    wick_release(packed);
    return values;
}

static enum wick_status check_importance(const struct wick__call *call, const float *importance, int64_t k) {
    for (int64_t i = 0; importance && i < k; i++)
        if (!(importance[i] >= 0 && isfinite(importance[i])))
            return wick__call_fail(call, WICK_RANGE, "importance[%lld] is %g, not a number >= 0", (long long)i,
                                   (double)importance[i]);
    return WICK_OK;
}

/* in[0] and in[1] are f32. */
static enum wick_status run_quantise(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0], *importance = call->in[1], *y = call->out[0];
    int64_t k = y->layout.shape[y->layout.rank - 1], count = wick__count(y);
    size_t nbytes = 0, x_nbytes = (size_t)count * sizeof(float);
    struct wick_device *device = wick__device(y);
    enum wick_status status = WICK_OK;
    if (count == 0 || !wick__nbytes(y->dtype, count, &nbytes)) return WICK_OK;
    float *weights = importance ? to_host(importance) : NULL, *values = NULL;
    uint8_t *blocks = NULL;
    if (importance && !weights) status = wick__latest();
    if (status == WICK_OK) status = check_importance(call, weights, k);
    if (status == WICK_OK && !(values = to_host(x))) status = wick__latest();
    if (status == WICK_OK && !(blocks = wick__alloc(nbytes))) status = wick__latest();
    struct wick__quantise job = {y->dtype, values, weights, count / k, k, blocks};
    if (status == WICK_OK && !wick__quantise(&job))
        status = wick__call_fail(call, WICK_RANGE, "x has an element that is NaN or beyond 65504");
    if (status == WICK_OK) status = device->backend->upload(device, wick__data(y), blocks, nbytes);
    wick__free(blocks, nbytes);
    wick__free(values, x_nbytes);
    wick__free(weights, (size_t)k * sizeof(float));
    return status;
}

static bool check_quantise(const struct wick__call *call, enum wick_dtype dtype) {
    const struct wick_tensor *x = call->in[0], *importance = call->in[1];
    int64_t k = x->layout.rank ? x->layout.shape[x->layout.rank - 1] : 0;
    if ((unsigned)dtype >= WICK_DTYPE_COUNT)
        wick__call_fail(call, WICK_DTYPE, "dtype %d is unknown", (int)dtype);
    else if (!wick__quantises(dtype))
        wick__call_fail(call, WICK_UNSUPPORTED, "there is no quantiser for %s", wick_dtype_name(dtype));
    else if (importance && (importance->layout.rank != 1 || importance->layout.shape[0] != k))
        wick__call_fail(call, WICK_SHAPE, "importance is not [%lld]", (long long)k);
    else
        return true;
    return false;
}

struct wick_tensor *wick_quantise(const struct wick_tensor *x, enum wick_dtype dtype,
                                  const struct wick_quantise_options *options) {
    static const struct wick_quantise_options plain = {.importance = NULL};
    if (!options) options = &plain;
    struct wick__call call = {
        .op = WICK_OP_quantise, .n_in = 2, .in = {x, options->importance}, .in_parts = run_quantise};
    if (!wick__call_check(&call) || !wick__call_reserved(&call, options->reserved) || !check_quantise(&call, dtype) ||
        wick__graph_refuse(wick__device(x), "quantise") != WICK_OK)
        return NULL;
    wick_scope_begin();
    struct wick_tensor *y = NULL;
    call.in[0] = wick_cast(x, WICK_F32);
    if (call.in[0] && wick__call_out(&call, dtype, x->layout.rank, x->layout.shape)) y = wick__call_run(&call);
    return wick_scope_end(y);
}
