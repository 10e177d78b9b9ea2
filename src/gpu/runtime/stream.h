/* What src/backend.h asks of a GPU about streams, events and graphs. */
#ifndef WICK_GPU_RUNTIME_STREAM_H
#define WICK_GPU_RUNTIME_STREAM_H

#include "gpu/runtime/gpu.h"

void *wick__gpu_stream(const struct wick_device *device);
enum wick_status wick__gpu_stream_set(struct wick_device *device, void *stream);
enum wick_status wick__gpu_event_record(struct wick_device *device, void **event);
enum wick_status wick__gpu_event_wait(struct wick_device *device, void *event);
enum wick_status wick__gpu_event_sync(struct wick_device *device, void *event);
enum wick_status wick__gpu_event_done(struct wick_device *device, void *event, bool *done);
enum wick_status wick__gpu_event_elapsed(struct wick_device *device, void *from, void *to, double *ms);
void wick__gpu_event_free(struct wick_device *device, void *event);
enum wick_status wick__gpu_graph_begin(struct wick_device *device);
enum wick_status wick__gpu_graph_end(struct wick_device *device, void **graph);
enum wick_status wick__gpu_graph_launch(struct wick_device *device, void *graph);
void wick__gpu_graph_free(struct wick_device *device, void *graph);

#endif
