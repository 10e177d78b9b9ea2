/* What recurrent layers and their gradients share: sizes, sequences of different lengths, states that come and go.
 *
 * Inside, the rows of all sequences stand step by step, those of sequences that have ended left out: live[t] rows of
 * step t from row first[t] on, `rows` in all, longest sequence first. So a step is a slice, and a state loses its last
 * rows as sequences end, or gains rows where the direction or the gradient goes the other way. */
#ifndef WICK_OPS_RECURRENT_H
#define WICK_OPS_RECURRENT_H

#include "ops/dispatch.h"

struct wick__recurrent {
    const struct wick_recurrent_options *options;
    struct wick_tensor *const *weights;
    struct wick_device *device;
    enum wick_dtype dtype, wide;  /* wide: f32, f64 for f64 */
    int gates, saved;             /* of the weights; kept for the gradient, 0 or 4 */
    int layers, directions, per;  /* per: weights of a direction of a layer */
    int64_t total, batch, inputs; /* T, N, I */
    int64_t hidden, state;        /* H, P */
    int64_t steps, rows;          /* the longest sequence's; the sum of the lengths */
    int64_t *live, *first;        /* [T], [T+1] */
    int64_t *order, *place;       /* [N]: the sequence at a place, and its place. NULL: in their order, T each */
    int64_t *memory, n_memory;
};

/* Which of a direction's weights. */
enum { WICK__OF_INPUT, WICK__OF_STATE, WICK__BIAS_INPUT, WICK__BIAS_STATE, WICK__PROJECTION };

/* Checks the call's x (operand 0), options and weights, and fills r; to be freed even after a failure, which is
 * recorded. */
bool wick__recurrent_plan(struct wick__recurrent *r, const struct wick__call *call, int n,
                          struct wick_tensor *const *weights, const struct wick_recurrent_options *options);
void wick__recurrent_free(struct wick__recurrent *r);

/* Checks states or gradients of them: NULL, or [LD,N,columns] of the dtype. */
bool wick__recurrent_state_fits(const struct wick__recurrent *r, const struct wick__call *call,
                                const struct wick_tensor *x, const char *name, enum wick_dtype dtype, int64_t columns);

/* A weight of direction d of layer l; NULL for one there is not. */
struct wick_tensor *wick__recurrent_weight(const struct wick__recurrent *r, int ld, int which);

/* x [T,N,C], or [N,T,C], as rows [S,C]; and back, 0 behind the end of a sequence. */
struct wick_tensor *wick__recurrent_pack(const struct wick__recurrent *r, const struct wick_tensor *x);
struct wick_tensor *wick__recurrent_unpack(const struct wick__recurrent *r, const struct wick_tensor *rows);

/* Sequences of [LD,N,C] in the order of places, NULL for NULL; and back from LD states [N,C]. */
struct wick_tensor *wick__recurrent_sort(const struct wick__recurrent *r, const struct wick_tensor *states);
struct wick_tensor *wick__recurrent_unsort(const struct wick__recurrent *r, struct wick_tensor **states);

/* States [N,C] of one of the LD; zeros for NULL. */
struct wick_tensor *wick__recurrent_start(const struct wick__recurrent *r, const struct wick_tensor *states, int ld,
                                          enum wick_dtype dtype, int64_t columns);

/* The rows of y [S,C], each replaced by that of the step before in direction d; before the first one, of start [N,C].
 */
struct wick_tensor *wick__recurrent_before(const struct wick__recurrent *r, struct wick_tensor *start,
                                           struct wick_tensor *y, int d);

/* n pieces, one under the other; zeros [0,columns] for none. */
struct wick_tensor *wick__recurrent_join(const struct wick__recurrent *r, int64_t n, struct wick_tensor **pieces,
                                         enum wick_dtype dtype, int64_t columns);

/* A layer's result with elements left out before layer `layer`, 1 or later, or its gradient: the same ones each time.
 */
struct wick_tensor *wick__recurrent_dropout(const struct wick__recurrent *r, struct wick_tensor *x, int layer);

/* A state as steps go by. Begins with all rows of `start` (shrinking), or with none and takes them as they come. */
struct wick__walk {
    struct wick_tensor *start, *now;
    int64_t rows, n;              /* of now; dropped pieces */
    struct wick_tensor **dropped; /* [T+1] */
};
bool wick__walk_begin(const struct wick__recurrent *r, struct wick__walk *walk, struct wick_tensor *start,
                      bool shrinks);
/* The state with the rows of a step. */
struct wick_tensor *wick__walk_to(struct wick__walk *walk, int64_t rows);
/* The state of all sequences, at the end of each. */
struct wick_tensor *wick__walk_end(const struct wick__recurrent *r, struct wick__walk *walk);
void wick__walk_free(const struct wick__recurrent *r, struct wick__walk *walk);

/* Whether the family does all steps of a direction of this layer, and of its gradient, in one call (src/recurrence.h).
 */
bool wick__recurrent_is_whole(const struct wick__recurrent *r);

/* The input's products [S,gH], and the first h and c; or all states, and the gates if the options have a place for
 * them. False after a failure is recorded. */
struct wick__whole {
    struct wick_tensor *input, *h, *c, *gates;
};
bool wick__recurrent_whole(const struct wick__recurrent *r, int ld, const struct wick__whole *in,
                           struct wick__whole *out);

/* The gradient of the states; what the forward pass kept, and had before each step; what comes from behind the last
 * step. And the gradients of the products, and what goes to the first c, or to h beside the product. */
struct wick__whole_backward {
    struct wick_tensor *gradient, *h, *h_before, *gates, *c, *c_before, *last, *carry;
};
struct wick__whole_slopes {
    struct wick_tensor *input, *hidden, *carry;
};
bool wick__recurrent_whole_backward(const struct wick__recurrent *r, int ld, const struct wick__whole_backward *in,
                                    struct wick__whole_slopes *out);

/* The whole call by a vendor's library: x, and the places for what else is wanted. NULL, without a failure, where none
 * takes it; or after a failure is recorded, where *failed says so. */
struct wick_tensor *wick__recurrent_library(const struct wick__recurrent *r, int n, const struct wick_tensor *x,
                                            bool *failed);

/* The same of the gradient, where there is one by y, with the places for what else is wanted, which it fills. */
struct wick_tensor *wick__recurrent_library_backward(const struct wick__recurrent *r, int n,
                                                     const struct wick_tensor *x, const struct wick_tensor *gradient,
                                                     const struct wick_recurrent_backward_options *places,
                                                     bool *failed);

/* Room for n tensors, all NULL. */
struct wick_tensor **wick__tensors_new(int64_t n);
void wick__tensors_free(struct wick_tensor **tensors, int64_t n);

#endif
