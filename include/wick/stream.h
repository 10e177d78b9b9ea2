/* Streams and events: the order of work on a device, seen from outside.
 *
 * A GPU runs its work later, in order, on one stream a device handle. Reading to the host and wick_device_sync wait for
 * it; other calls do not. On the CPU the work is done when a call returns. */
#ifndef WICK_STREAM_H
#define WICK_STREAM_H

#include <wick/device.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The device's stream as the vendor's own handle, a CUstream (cudaStream_t) or hipStream_t; NULL on the CPU. Work that
 * others queue on it runs in order with Wick's. It belongs to the device. */
WICK_API WICK_LENT void *wick_stream(const struct wick_device *device);

/* Makes the device queue its work on another stream of the same GPU. The caller makes that stream in the GPU's primary
 * context, and keeps it alive until the device is closed or has another stream. Waits for the work queued so far. NULL
 * gives the device a stream of its own again. WICK_UNSUPPORTED on the CPU, and while the thread records a graph. */
WICK_API WICK_CHECKED enum wick_status wick_stream_set(struct wick_device *device, void *stream);

struct wick_event;

/* A mark behind all work queued on the device so far. NULL after a failure. Give back with wick_event_free. */
WICK_API struct wick_event *wick_event_record(struct wick_device *device);

/* Makes all work that `device` queues from now on wait for the event, which may be of another device. The calling
 * thread waits only if the two devices can't wait for each other. */
WICK_API WICK_CHECKED enum wick_status wick_event_wait(struct wick_device *device, const struct wick_event *event);

/* Waits until the work before the event is done. */
WICK_API WICK_CHECKED enum wick_status wick_event_sync(const struct wick_event *event);

/* Whether the work before the event is done, into *done. */
WICK_API WICK_CHECKED enum wick_status wick_event_done(const struct wick_event *event, bool *done);

/* Milliseconds between two events of one device, measured on it, into *ms. Waits for `to`. WICK_DEVICE for events of
 * two devices. */
WICK_API WICK_CHECKED enum wick_status wick_event_elapsed(const struct wick_event *from, const struct wick_event *to,
                                                          double *ms);

/* Frees an event. NULL is fine. */
WICK_API void wick_event_free(struct wick_event *event);

#ifdef __cplusplus
}
#endif
#endif
