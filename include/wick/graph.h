/* Graphs: a sequence of ops, recorded once and launched many times, at a fraction of the cost of calling each.
 *
 *     wick_graph_begin(device);
 *     struct wick_tensor *y = forward(model, x);      // nothing is computed yet
 *     struct wick_graph *graph = wick_graph_end(device);
 *     ...
 *     wick_copy_inplace(x, next);                      // new input in the same place
 *     wick_graph_launch(graph);                        // y is computed from it
 *
 * A launch reads and writes the very tensors of the recording. Tensors from outside must stay alive as long as the
 * graph; results stay the caller's, and every launch writes them. Random numbers are the same in every launch. Work on
 * the host is not part of a graph: reading or uploading fails while the thread records. One thread records at a time;
 * what others call on the device is run as always. */
#ifndef WICK_GRAPH_H
#define WICK_GRAPH_H

#include <wick/device.h>

#ifdef __cplusplus
extern "C" {
#endif

struct wick_graph;

/* Makes the device record the ops of this thread from now on instead of running them. WICK_INVALID if it records
 * already. */
WICK_API WICK_CHECKED enum wick_status wick_graph_begin(struct wick_device *device);

/* Ends the recording, on the thread that began it. NULL if an op could not be recorded, or no recording was begun; the
 * device computes again either way. Give back with wick_graph_free. */
WICK_API struct wick_graph *wick_graph_end(struct wick_device *device);

/* Queues the recorded work. */
WICK_API WICK_CHECKED enum wick_status wick_graph_launch(struct wick_graph *graph);

/* Waits for running launches and frees the graph. NULL is fine. */
WICK_API void wick_graph_free(struct wick_graph *graph);

#ifdef __cplusplus
}
#endif
#endif
