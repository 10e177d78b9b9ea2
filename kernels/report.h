/* How a kernel says that its data are wrong: an id out of range, a division by zero. */
#ifndef WICK_KERNELS_REPORT_H
#define WICK_KERNELS_REPORT_H

#include "params.h"

/* Where the kernels of one call report one failure, in device memory. */
struct gpu_slot {
    u32 taken;  /* 1: there is one */
    u32 unused;
    i64 where;  /* offset of what is wrong, in elements */
    i64 value;
    i64 unused2;
};

struct gpu_report {
    struct gpu_slot *slot;
    u32 *raised; /* memory of the host, for all slots of the device: 1 when one was taken */
};

#if defined(__cplusplus)
#include "gpu.h"

/* Reports a failure; the first one of the call stays. */
GPU_FN void gpu_report_failure(const struct gpu_report &report, i64 where, i64 value) {
    if (*(volatile u32 *)&report.slot->taken || gpu_atomic_exchange(&report.slot->taken, 1)) return;
    report.slot->where = where;
    report.slot->value = value;
    *(volatile u32 *)report.raised = 1;
}
#endif

#endif
