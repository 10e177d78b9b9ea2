/* Streams and events: checks, and the way to the family. Families that queue nothing have events that are past. */
#include "core/memory.h"
#include "backend.h"

#include <wick/stream.h>

#include <time.h>

struct wick_event {
    struct wick_device *device; /* kept from going away */
    void *handle;               /* the family's */
    struct timespec at;         /* of families without events */
};

void *wick_stream(const struct wick_device *device) {
    return device && device->backend->stream ? device->backend->stream(device) : NULL;
}

enum wick_status wick_stream_set(struct wick_device *device, void *stream) {
    WICK__TRY(wick__device_check("stream_set", device));
    if (!device->backend->stream_set)
        return wick__fail(WICK_UNSUPPORTED, "stream_set: %s has no streams", device->name);
    return device->backend->stream_set(device, stream);
}

struct wick_event *wick_event_record(struct wick_device *device) {
    if (wick__device_check("event_record", device) != WICK_OK) return NULL;
    struct wick_event *event = wick__calloc(1, sizeof *event);
    if (!event) return NULL;
    if (device->backend->event_record && device->backend->event_record(device, &event->handle) != WICK_OK) {
        wick__free(event, sizeof *event);
        return NULL;
    }
    clock_gettime(CLOCK_MONOTONIC, &event->at);
    atomic_fetch_add(&device->refs, 1);
    event->device = device;
    return event;
}

/* Checks an event argument and that its device is open. */
static enum wick_status event_check(const char *op, const struct wick_event *event) {
    if (!event) return wick__fail(WICK_INVALID, "%s: event is NULL", op);
    return wick__device_check(op, event->device);
}

enum wick_status wick_event_wait(struct wick_device *device, const struct wick_event *event) {
    WICK__TRY(wick__device_check("event_wait", device));
    WICK__TRY(event_check("event_wait", event));
    if (device->backend == event->device->backend)
        return device->backend->event_wait ? device->backend->event_wait(device, event->handle) : WICK_OK;
    return wick_event_sync(event);
}

enum wick_status wick_event_sync(const struct wick_event *event) {
    WICK__TRY(event_check("event_sync", event));
    const struct wick__backend *backend = event->device->backend;
    return backend->event_sync ? backend->event_sync(event->device, event->handle) : WICK_OK;
}

enum wick_status wick_event_done(const struct wick_event *event, bool *done) {
    WICK__TRY(event_check("event_done", event));
    if (!done) return wick__fail(WICK_INVALID, "event_done: done is NULL");
    const struct wick__backend *backend = event->device->backend;
    if (backend->event_done) return backend->event_done(event->device, event->handle, done);
    *done = true;
    return WICK_OK;
}

enum wick_status wick_event_elapsed(const struct wick_event *from, const struct wick_event *to, double *ms) {
    WICK__TRY(event_check("event_elapsed", from));
    WICK__TRY(event_check("event_elapsed", to));
    if (!ms) return wick__fail(WICK_INVALID, "event_elapsed: ms is NULL");
    if (from->device != to->device)
        return wick__fail(WICK_DEVICE, "event_elapsed: events of two devices, %s and %s", from->device->name,
                          to->device->name);
    const struct wick__backend *backend = from->device->backend;
    if (backend->event_elapsed) return backend->event_elapsed(from->device, from->handle, to->handle, ms);
    *ms = 1e3 * (double)(to->at.tv_sec - from->at.tv_sec) + 1e-6 * (double)(to->at.tv_nsec - from->at.tv_nsec);
    return WICK_OK;
}

void wick_event_free(struct wick_event *event) {
    if (!event) return;
    if (event->device->backend->event_free) event->device->backend->event_free(event->device, event->handle);
    wick__device_unref(event->device);
    wick__free(event, sizeof *event);
}
