/* Recurrent layers by vendors' libraries, for the backends. */
#ifndef WICK_GPU_OPS_RECURRENT_LIBRARY_H
#define WICK_GPU_OPS_RECURRENT_LIBRARY_H

#include "backend.h"

enum wick_status wick__gpu_recurrent(const struct wick__recurrence *recurrence, bool *done);

#endif
