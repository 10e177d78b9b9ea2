/* What a device is to its tensors: a counted handle, open or closed. */
#include "core/device.h"

#include "core/fork.h"
#include "core/memory.h"

bool wick__device_forked(const struct wick_device *device) {
    return !device->heap->host_visible && device->forks != wick__forks();
}

enum wick_status wick__device_check(const char *op, const struct wick_device *device) {
    if (!device) return wick__fail(WICK_INVALID, "%s: device is NULL", op);
    if (atomic_load_explicit(&device->closed, memory_order_relaxed))
        return wick__fail(WICK_CLOSED, "%s: device %s was closed", op, device->name);
    if (wick__device_forked(device))
        return wick__fail(WICK_DEVICE, "%s: %s was opened before this process was forked; a child can't use it", op,
                          device->name);
    return WICK_OK;
}

const char *wick_device_name(const struct wick_device *device) { return device ? device->name : NULL; }

void wick__device_unref(struct wick_device *device) {
    if (atomic_fetch_sub(&device->refs, 1) != 1) return;
    if (!wick__device_forked(device)) device->heap->close(device);
    wick__free(device, sizeof *device);
}

enum wick_status wick__graph_refuse(const struct wick_device *device, const char *what) {
    if (!wick__device_recording(device)) return WICK_OK;
    return wick__fail(WICK_UNSUPPORTED, "%s: %s records a graph, which can't hold it", what, device->name);
}
