/* Recording of calls, as dispatch sees it. */
#ifndef WICK_RUNTIME_GRAPH_H
#define WICK_RUNTIME_GRAPH_H

#include "core/tensor.h"

#include <wick/graph.h>

/* Keeps a call for the graph that the device records; its tensors stay alive with it. Only for families that do not
 * record themselves. */
enum wick_status wick__graph_add(struct wick_device *device, const struct wick__call *call);

/* Whether calls of the device go to wick__graph_add instead of their kernels. */
static inline bool wick__graph_records(const struct wick_device *device) {
    return atomic_load_explicit(&device->recording, memory_order_relaxed) != NULL && !device->backend->graph_begin;
}

/* WICK_UNSUPPORTED, with `what` in front of the text, while the device records a graph. */
enum wick_status wick__graph_refuse(const struct wick_device *device, const char *what);

#endif
