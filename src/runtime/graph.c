/* Graphs. A family that can record its own queue does so; for the others the calls are kept and run again. */
#include "runtime/graph.h"

#include "core/memory.h"

struct record {
    struct wick__call call;
    struct record *next;
};

struct wick_graph {
    struct wick_device *device; /* kept from going away */
    void *handle;               /* the family's */
    struct record *first, **last;
    enum wick_status failed; /* what recording a call came to */
};

static void graph_free(struct wick_graph *graph) {
    struct wick_device *device = graph->device;
    if (graph->handle) device->backend->graph_free(device, graph->handle);
    while (graph->first) {
        struct record *record = graph->first;
        graph->first = record->next;
        for (int i = 0; i < record->call.n_in; i++) wick_release((struct wick_tensor *)(uintptr_t)record->call.in[i]);
        for (int i = 0; i < record->call.n_out; i++) wick_release(record->call.out[i]);
        wick__free(record, sizeof *record);
    }
    wick__device_unref(device);
    wick__free(graph, sizeof *graph);
}

enum wick_status wick_graph_begin(struct wick_device *device) {
    WICK__TRY(wick__device_check("graph_begin", device));
    struct wick_graph *none = NULL, *graph = wick__calloc(1, sizeof *graph);
    if (!graph) return WICK_MEMORY;
    graph->last = &graph->first;
    graph->device = device;
    atomic_fetch_add(&device->refs, 1);
    if (!atomic_compare_exchange_strong(&device->recording, &none, graph)) {
        graph_free(graph);
        return wick__fail(WICK_INVALID, "graph_begin: %s records a graph already", device->name);
    }
    enum wick_status status = device->backend->graph_begin ? device->backend->graph_begin(device) : WICK_OK;
    if (status != WICK_OK) {
        atomic_store(&device->recording, NULL);
        graph_free(graph);
    }
    return status;
}

struct wick_graph *wick_graph_end(struct wick_device *device) {
    if (wick__device_check("graph_end", device) != WICK_OK) return NULL;
    struct wick_graph *graph = atomic_exchange(&device->recording, NULL);
    if (!graph) {
        wick__fail(WICK_INVALID, "graph_end: %s records no graph", device->name);
        return NULL;
    }
    enum wick_status status = graph->failed;
    if (device->backend->graph_end) status = device->backend->graph_end(device, &graph->handle);
    if (status == WICK_OK) return graph;
    graph_free(graph);
    return NULL;
}

enum wick_status wick__graph_add(struct wick_device *device, const struct wick__call *call) {
    struct wick_graph *graph = atomic_load(&device->recording);
    struct record *record = wick__alloc(sizeof *record);
    if (!record) return graph->failed = WICK_MEMORY;
    *record = (struct record){.call = *call};
    for (int i = 0; i < call->n_in; i++) wick_retain((struct wick_tensor *)(uintptr_t)call->in[i]);
    for (int i = 0; i < call->n_out; i++) wick_retain(call->out[i]);
    *graph->last = record;
    graph->last = &record->next;
    return WICK_OK;
}

enum wick_status wick__graph_refuse(const struct wick_device *device, const char *what) {
    if (!atomic_load_explicit(&device->recording, memory_order_relaxed)) return WICK_OK;
    return wick__fail(WICK_UNSUPPORTED, "%s: %s records a graph, which can't hold it", what, device->name);
}

enum wick_status wick_graph_launch(struct wick_graph *graph) {
    if (!graph) return wick__fail(WICK_INVALID, "graph_launch: graph is NULL");
    struct wick_device *device = graph->device;
    WICK__TRY(wick__device_check("graph_launch", device));
    WICK__TRY(wick__graph_refuse(device, "graph_launch"));
    if (graph->handle) return device->backend->graph_launch(device, graph->handle);
    for (const struct record *record = graph->first; record; record = record->next)
        WICK__TRY(device->backend->kernels[record->call.op].run(&record->call));
    return WICK_OK;
}

void wick_graph_free(struct wick_graph *graph) {
    if (graph) graph_free(graph);
}
