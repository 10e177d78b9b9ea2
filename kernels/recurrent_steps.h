/* Parameters of the kernels of a step of a recurrent layer: N sequences, a state of H, g gates. */
#ifndef WICK_KERNELS_RECURRENT_STEPS_H
#define WICK_KERNELS_RECURRENT_STEPS_H

#include "params.h"

enum { GPU_STEP_ROWS = 8, GPU_STEP_UNITS = 4 }; /* rows of a wave, and elements of the state where it has several */

/* Rows of the step alone. C is f32, f64 for f64. */
struct gpu_recurrent_step {
    const void *input, *weight, *bias; /* [N,gH]; [gH,H]; [gH], or NULL for 0 */
    const void *h, *c;                 /* [N,H] before the step; c of C, of an LSTM */
    void *out, *next_c, *gates;        /* [N,H]; [N,H] of C, of an LSTM; [N,4H] of C, or NULL */
    i64 rows, size;                    /* N, H */
    u32 groups;                        /* of GPU_STEP_ROWS rows */
    u32 relu;
};

struct gpu_recurrent_step_backward {
    const void *gradient, *weight;  /* [N,H] of h'; [H,gH]: transposed */
    const void *after, *last;       /* [N,gH]: the hidden products' gradient of the step that follows in time; or, where
                                     * that is NULL, [N,H]: what comes to h' from behind the last step */
    const void *gates, *state;      /* [N,4H] of C; [N,H]: of a GRU h before the step, of an RNN h' */
    const void *c, *next_c, *carry; /* [N,H] of C: c before and behind the step, of an LSTM; the gradient of c' */
    void *of_input, *of_hidden;     /* [N,gH]; of_hidden of a GRU */
    void *of_carry;                 /* [N,H] of C, of an LSTM or GRU; may be carry */
    i64 rows, size;
    u32 groups, relu;
};

#endif
