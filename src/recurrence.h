/* Recurrent layers by larger parts than cells.
 *
 * All steps of a direction of a recurrent layer as one call, for families that have a kernel for it: of
 * WICK_OP_recurrent or WICK_OP_recurrent_backward, with p.steps, on T N rows, N of each step. C is f32, f64 for f64;
 * what an LSTM or GRU alone has is NULL, or not there, for other modes. */
#ifndef WICK_RECURRENCE_H
#define WICK_RECURRENCE_H

#include "backend.h"

#include <wick/recurrent.h>

/* Operands: the input's products [TN,gH], Wh [gH,H], bh [gH] or NULL, h [N,H], an LSTM's c [N,H] of C.
 * Results: the states [TN,H], an LSTM's c [TN,H] of C and, if they are there, the gates of LSTM and GRU [TN,4H] of C.
 */
enum { WICK__STEPS_INPUT, WICK__STEPS_WEIGHT, WICK__STEPS_BIAS, WICK__STEPS_H, WICK__STEPS_C, WICK__STEPS_OPERANDS };

/* Operands: the gradient of the states [TN,H], Wh^T [H,gH], the gates [TN,4H], the states before each step of a GRU or
 * behind it of an RNN [TN,H], an LSTM's c before and behind each step [TN,H], what comes to the last h [N,H], and to
 * the last c or as part of a GRU's h [N,H] of C. Results: the gradient of the input's products [TN,gH] and, of a GRU,
 * of the state's; of LSTM and GRU that of the first c, or the part of h that does not go through the state's product
 * [N,H] of C. */
enum {
    WICK__STEPS_GRADIENT,
    WICK__STEPS_TURNED,
    WICK__STEPS_GATES,
    WICK__STEPS_STATES,
    WICK__STEPS_C_BEFORE,
    WICK__STEPS_C_BEHIND,
    WICK__STEPS_LAST,
    WICK__STEPS_CARRY,
    WICK__STEPS_BACKWARD_OPERANDS
};

/* A whole call in inference, or its gradient, as options say, whose lengths may be NULL. All tensors are contiguous,
 * but where there is no place for a result, y or the gradient by x, which asks whether the call is wanted. */
struct wick__recurrence {
    const struct wick_recurrent_options *options;
    struct wick_tensor *const *weights;
    int n_weights;
    const struct wick_tensor *x, *h, *c;     /* h and c: NULL for 0 */
    struct wick_tensor *y, *last_h, *last_c; /* the last two NULL where they are not wanted */
    bool backward;                           /* y, last_h and last_c are not there */
    struct {
        const struct wick_tensor *y, *last_h, *last_c; /* the last two: NULL for 0 */
        struct wick_tensor *x, *h, *c;                 /* of h and c, NULL is not wanted */
        struct wick_tensor *const *weights;            /* NULL: none is wanted */
    } slopes;
};

#endif
