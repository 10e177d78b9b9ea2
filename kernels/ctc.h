/* Parameters of CTC loss and its gradient. */
#ifndef WICK_KERNELS_CTC_H
#define WICK_KERNELS_CTC_H

#include "ids.h"

/* log_probs are [steps,n,classes]; lengths [3,n]: steps, labels and the place of the first label of each sequence. A
 * sequence with S labels has 2 S + 1 states: blanks around labels. */
struct gpu_ctc {
    const void *log_probs;
    struct gpu_ids ids;
    const i64 *lengths;
    double *paths; /* [ways,n,kept,states]: the logarithm of the sum of all ways to a state; way 1 goes backwards */
    const void *gradient; /* [n], or single */
    void *out;            /* losses [n], or the gradient [steps,n,classes] */
    i64 steps, n, classes, states, blank;
    i64 kept; /* steps of paths: all, or 2 that take turns */
    double scale;
    u32 ways;
    u32 by_length, zero_infinity;
    u32 wide;   /* losses are stored as they are computed */
    u32 single; /* the gradient is one element */
};

#endif
