/* Slots of device memory in which kernels report what is wrong with their data, one for each call that may. */
#ifndef WICK_GPU_SLOTS_H
#define WICK_GPU_SLOTS_H

#include "gpu/runtime/gpu.h"
#include "kernels/report.h"

enum wick_status wick__gpu_slots_open(struct wick__gpu *gpu);
void wick__gpu_slots_close(struct wick__gpu *gpu);

/* Makes the call a suspect of what may be found, and gives it a slot; a call has one of each. The operands of the
 * suspect are the op's to fill in. */
enum wick_status wick__gpu_report(const struct wick__call *call, enum wick__evidence finding,
                                  struct wick__suspect **suspect, struct gpu_report *report);

extern const struct wick__late wick__gpu_late;

/* Slots that are taken while a graph is recorded belong to it: each launch of the graph clears them first. What is
 * still open about them is settled by wick__gpu_slots_disown, which wants the stream to have been waited for. */
void wick__gpu_slots_own(struct wick__gpu *gpu, const void *graph);
/* Launches the vendor's handle of the graph; the vendor's code. */
int wick__gpu_slots_launch(struct wick__gpu *gpu, const void *graph, void *handle);
void wick__gpu_slots_disown(struct wick__gpu *gpu, const void *graph);

#endif
