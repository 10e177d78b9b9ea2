/* Elements between the host and devices. */
#include "ops/dispatch.h"
#include "ops/record.h"

struct wick_tensor *wick_from_data(struct wick_device *device, enum wick_dtype dtype, int rank, const int64_t *shape,
                                   const void *data, size_t nbytes) {
    struct wick_tensor *x = wick__tensor_new("from_data", device, dtype, rank, shape);
    if (x && wick__graph_refuse(device, "from_data") != WICK_OK) {
        wick_release(x);
        return NULL;
    }
    char text[WICK__TENSOR_TEXT];
    if (!x)
        return NULL;
    else if (nbytes != x->storage->nbytes || (nbytes > 0 && !data))
        wick__fail(WICK_INVALID, "from_data: %s takes %zu bytes, data has %zu%s", wick__tensor_text(text, x),
                   x->storage->nbytes, nbytes, nbytes > 0 && !data ? " at NULL" : "");
    else if (nbytes == 0)
        return wick__scope_add(x);
    else if (device->backend->upload(device, x->storage->data, data, x->storage->nbytes) == WICK_OK)
        return wick__scope_add(x);
    wick_release(x);
    return NULL;
}

/* Copies elements to the host, and waits for them. */
static enum wick_status read_bytes(const struct wick_tensor *x, void *data, size_t nbytes) {
    struct wick_device *device = wick__device(x);
    if (nbytes == 0) return device->backend->sync(device);
    if (wick__layout_is_contiguous(&x->layout)) return device->backend->download(device, data, wick__data(x), nbytes);
    struct wick_tensor *packed = wick__pack(x);
    enum wick_status status =
        packed ? device->backend->download(device, data, wick__data(packed), nbytes) : wick__latest();
    wick_release(packed);
    return status;
}

enum wick_status wick_read(const struct wick_tensor *x, void *data, size_t nbytes) {
    size_t needed = 0;
    if (!x) return wick__fail(WICK_INVALID, "read: x is NULL");
    struct wick_device *device = wick__device(x);
    WICK__TRY(wick__device_check("read", device));
    WICK__TRY(wick__graph_refuse(device, "read"));
    if (!wick__nbytes(x->dtype, wick__count(x), &needed) || needed != nbytes || (nbytes > 0 && !data)) {
        char text[WICK__TENSOR_TEXT];
        return wick__fail(WICK_INVALID, "read: x %s has %zu bytes, data has room for %zu%s", wick__tensor_text(text, x),
                          needed, nbytes, data ? "" : " at NULL");
    }
    enum wick_status status = read_bytes(x, data, nbytes);
    return status == WICK_OK ? wick__doubt_settle(x->storage) : status;
}

enum wick_status wick_read_scalar(const struct wick_tensor *x, double *value) {
    double result = 0;
    if (!x || !value) return wick__fail(WICK_INVALID, "read_scalar: %s is NULL", x ? "value" : "x");
    if (wick__count(x) != 1) {
        char text[WICK__TENSOR_TEXT];
        return wick__fail(WICK_SHAPE, "read_scalar: x %s has not one element", wick__tensor_text(text, x));
    }
    struct wick_record *paused = wick__record_pause();
    wick_scope_begin();
    struct wick_tensor *wide = wick_cast(x, WICK_F64);
    enum wick_status status = wide ? wick_read(wide, &result, sizeof result) : wick__latest();
    wick_scope_end(NULL);
    wick__record_resume(paused);
    if (status == WICK_OK) *value = result;
    return status;
}

void *wick_tensor_data(const struct wick_tensor *x) {
    if (!x) return NULL;
    struct wick_device *device = wick__device(x);
    if (wick__device_check("tensor_data", device) != WICK_OK) return NULL;
    if (!device->heap->host_visible) {
        wick__fail(WICK_DEVICE, "tensor_data: x lives on %s, use wick_read", device->name);
        return NULL;
    }
    return device->backend->sync(device) == WICK_OK ? wick__data(x) : NULL;
}

enum wick_status wick_tensor_address(const struct wick_tensor *x, void **data, void **stream) {
    if (!x || !data || !stream)
        return wick__fail(WICK_INVALID, "tensor_address: %s is NULL", !x ? "x" : !data ? "data" : "stream");
    struct wick_device *device = wick__device(x);
    WICK__TRY(wick__device_check("tensor_address", device));
    if (!device->backend->stream) WICK__TRY(device->backend->sync(device));
    *data = wick__data(x);
    *stream = wick_stream(device);
    return WICK_OK;
}
