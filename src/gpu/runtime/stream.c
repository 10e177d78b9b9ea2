/* Streams, events and graphs of a GPU. */
#include "gpu/runtime/stream.h"

#include "gpu/runtime/pool.h"
#include "gpu/runtime/slots.h"

#include "core/memory.h"

void *wick__gpu_stream(const struct wick_device *device) { return wick__gpu_queue(device->state); }

enum wick_status wick__gpu_stream_set(struct wick_device *device, void *stream) {
    struct wick__gpu *gpu = device->state;
    void *own = NULL;
    if (wick__gpu_records(gpu)) return wick__fail(WICK_UNSUPPORTED, "stream_set: %s records a graph", device->name);
    WICK__TRY(wick__gpu_wait(gpu));
    if (!stream && !gpu->foreign_stream) return WICK_OK;
    if (!stream) WICK__TRY(wick__gpu_check(gpu, gpu->vendor->stream_create(&own), "make a stream"));
    if (!gpu->foreign_stream) gpu->vendor->stream_destroy(gpu->stream);
    gpu->stream = stream ? stream : own;
    gpu->foreign_stream = stream != NULL;
    return WICK_OK;
}

enum wick_status wick__gpu_event_record(struct wick_device *device, void **event) {
    struct wick__gpu *gpu = device->state;
    WICK__TRY(wick__gpu_use(gpu));
    WICK__TRY(wick__gpu_check(gpu, gpu->vendor->event_create(event, true), "make an event"));
    enum wick_status status =
        wick__gpu_check(gpu, gpu->vendor->event_record(*event, wick__gpu_queue(gpu)), "record an event");
    if (status != WICK_OK) gpu->vendor->event_destroy(*event);
    return status;
}

enum wick_status wick__gpu_event_wait(struct wick_device *device, void *event) {
    struct wick__gpu *gpu = device->state;
    WICK__TRY(wick__gpu_use(gpu));
    return wick__gpu_check(gpu, gpu->vendor->stream_wait(wick__gpu_queue(gpu), event), "wait for an event");
}

enum wick_status wick__gpu_event_sync(struct wick_device *device, void *event) {
    struct wick__gpu *gpu = device->state;
    WICK__TRY(wick__gpu_use(gpu));
    return wick__gpu_check(gpu, gpu->vendor->event_synchronize(event), "wait for an event");
}

enum wick_status wick__gpu_event_done(struct wick_device *device, void *event, bool *done) {
    struct wick__gpu *gpu = device->state;
    WICK__TRY(wick__gpu_use(gpu));
    return wick__gpu_check(gpu, gpu->vendor->event_query(event, done), "look at an event");
}

enum wick_status wick__gpu_event_elapsed(struct wick_device *device, void *from, void *to, double *ms) {
    struct wick__gpu *gpu = device->state;
    float between = 0;
    WICK__TRY(wick__gpu_event_sync(device, to));
    WICK__TRY(wick__gpu_check(gpu, gpu->vendor->event_elapsed(&between, from, to), "time between events"));
    *ms = between;
    return WICK_OK;
}

void wick__gpu_event_free(struct wick_device *device, void *event) {
    struct wick__gpu *gpu = device->state;
    if (wick__gpu_use(gpu) == WICK_OK) gpu->vendor->event_destroy(event);
}

/* ---- graphs ---- */

struct graph {
    void *handle; /* the vendor's */
};

enum wick_status wick__gpu_graph_begin(struct wick_device *device) {
    struct wick__gpu *gpu = device->state;
    struct graph *graph = wick__calloc(1, sizeof *graph);
    if (!graph) return WICK_MEMORY;
    enum wick_status status = wick__gpu_use(gpu);
    if (status == WICK_OK && !gpu->capture)
        status = wick__gpu_check(gpu, gpu->vendor->stream_create(&gpu->capture), "make a stream");
    if (status == WICK_OK)
        status = wick__gpu_check(gpu, gpu->vendor->capture_begin(gpu->capture), "begin to record a graph");
    if (status != WICK_OK) {
        wick__free(graph, sizeof *graph);
        return status;
    }
    /* What is allocated from now on belongs to the graph, which will use the same addresses in every launch. */
    wick__gpu_pool_own(gpu, graph);
    wick__gpu_slots_own(gpu, graph);
    gpu->graph = graph;
    return WICK_OK;
}

enum wick_status wick__gpu_graph_end(struct wick_device *device, void **result) {
    struct wick__gpu *gpu = device->state;
    struct graph *graph = gpu->graph;
    wick__gpu_slots_own(gpu, NULL);
    wick__gpu_pool_own(gpu, NULL);
    gpu->graph = NULL;
    enum wick_status status = wick__gpu_use(gpu);
    if (status == WICK_OK)
        status = wick__gpu_check(gpu, gpu->vendor->capture_end(gpu->capture, &graph->handle), "record a graph");
    if (status == WICK_OK) {
        *result = graph;
        return WICK_OK;
    }
    wick__gpu_slots_disown(gpu, graph);
    wick__gpu_pool_disown(gpu, graph);
    wick__free(graph, sizeof *graph);
    return status;
}

enum wick_status wick__gpu_graph_launch(struct wick_device *device, void *handle) {
    struct wick__gpu *gpu = device->state;
    struct graph *graph = handle;
    WICK__TRY(wick__gpu_use(gpu));
    return wick__gpu_check(gpu, wick__gpu_slots_launch(gpu, graph, graph->handle), "launch a graph");
}

void wick__gpu_graph_free(struct wick_device *device, void *handle) {
    struct wick__gpu *gpu = device->state;
    struct graph *graph = handle;
    if (wick__gpu_use(gpu) == WICK_OK) {
        gpu->vendor->stream_synchronize(gpu->stream);
        gpu->vendor->graph_destroy(graph->handle);
    }
    wick__gpu_slots_disown(gpu, graph);
    wick__gpu_pool_disown(gpu, graph);
    wick__free(graph, sizeof *graph);
}
