/* Graphs. A family that can record its own queue does so; for the others the list of calls is kept and run again. */
#include "core/memory.h"
#include "ops/record.h"
#include "ops/trail.h"

#include <wick/graph.h>

#include <pthread.h>

struct wick_graph {
    struct wick__calls calls;   /* of families without graphs; first, for it is what device->recording points to */
    struct wick_device *device; /* kept from going away */
    void *handle;               /* the family's */
    struct wick__trail trail;   /* of families that find failures late */
    pthread_mutex_t mutex;      /* one launch at a time */
};

static void graph_free(struct wick_graph *graph) {
    struct wick_device *device = graph->device;
    wick__trail_free(&graph->trail);
    if (graph->handle && !wick__device_forked(device)) device->backend->graph_free(device, graph->handle);
    pthread_mutex_destroy(&graph->mutex);
    wick__calls_free(&graph->calls);
    wick__device_unref(device);
    wick__free(graph, sizeof *graph);
}

enum wick_status wick_graph_begin(struct wick_device *device) {
    WICK__TRY(wick__device_check("graph_begin", device));
    struct wick__calls *none = NULL;
    struct wick_graph *graph = wick__calloc(1, sizeof *graph);
    if (!graph) return WICK_MEMORY;
    graph->device = device;
    graph->calls.trail = &graph->trail;
    pthread_mutex_init(&graph->mutex, NULL);
    atomic_fetch_add(&device->refs, 1);
    if (!atomic_compare_exchange_strong(&device->recording, &none, &graph->calls)) {
        graph_free(graph);
        return wick__fail(WICK_INVALID, "graph_begin: %s records a graph already", device->name);
    }
    atomic_store(&device->recorder, wick__thread_self());
    enum wick_status status = device->backend->graph_begin ? device->backend->graph_begin(device) : WICK_OK;
    if (status != WICK_OK) {
        atomic_store(&device->recorder, NULL); /* before another thread can begin */
        atomic_store(&device->recording, NULL);
        graph_free(graph);
    }
    return status;
}

struct wick_graph *wick_graph_end(struct wick_device *device) {
    if (wick__device_check("graph_end", device) != WICK_OK) return NULL;
    struct wick_graph *graph = (struct wick_graph *)wick__device_recording(device);
    if (!graph) {
        wick__fail(WICK_INVALID, "graph_end: %s records no graph", device->name);
        return NULL;
    }
    atomic_store(&device->recorder, NULL);
    enum wick_status status = graph->calls.failed;
    if (device->backend->graph_end) {
        enum wick_status ended = device->backend->graph_end(device, &graph->handle);
        if (status == WICK_OK) status = ended;
    }
    wick__trail_end(&graph->trail);
    atomic_store(&device->recording, NULL);
    if (status == WICK_OK) return graph;
    graph_free(graph);
    return NULL;
}

/* Queues the graph of the family, and the doubts of this launch. */
static enum wick_status launch(struct wick_graph *graph) {
    pthread_mutex_lock(&graph->mutex);
    enum wick_status status = wick__trail_begin(&graph->trail);
    if (status == WICK_OK) {
        status = graph->device->backend->graph_launch(graph->device, graph->handle);
        wick__trail_leave(&graph->trail, status == WICK_OK);
    }
    pthread_mutex_unlock(&graph->mutex);
    return status;
}

enum wick_status wick_graph_launch(struct wick_graph *graph) {
    if (!graph) return wick__fail(WICK_INVALID, "graph_launch: graph is NULL");
    struct wick_device *device = graph->device;
    WICK__TRY(wick__device_check("graph_launch", device));
    WICK__TRY(wick__graph_refuse(device, "graph_launch"));
    if (graph->handle) return launch(graph);
    return wick__calls_again(&graph->calls);
}

void wick_graph_free(struct wick_graph *graph) {
    if (graph) graph_free(graph);
}
