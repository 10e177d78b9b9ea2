/* Recurrent layers by vendors' libraries. */
#ifndef WICK_GPU_ROUTES_RECURRENT_H
#define WICK_GPU_ROUTES_RECURRENT_H

#include "gpu/routes/route.h"

enum { WICK__RECURRENT_GATES = 4, WICK__RECURRENT_PARTS = 5 }; /* at most, of weights of a direction */

struct wick__recurrent_offer {
    struct wick__offer offer;
    const struct wick__dnn_recurrent *layer;
};

/* Rows and columns of weight i of all; columns are 1 of a bias. */
void wick__recurrent_weight_size(const struct wick__dnn_recurrent *l, int i, int64_t *rows, int64_t *columns);

typedef enum wick__ran wick__recurrent_fn(struct wick__gpu *gpu, struct wick__held *held,
                                          const struct wick__dnn_recurrent *layer);

/* What is checked by itself: layers of these modes, from `first` to `last`, and this dtype, or their gradients. */
struct wick__recurrent_kind {
    enum wick_recurrent_mode first, last;
    enum wick_dtype dtype;
    bool backward;
};

/* Runs layers of a kind whose results are known, and looks at every element, and at what lies behind the last: GOOD,
 * ABSENT when the library refuses one, WRONG, FLUSHES when only those of subnormal numbers are wrong, ROUGH when
 * results are off by some roundings, or the long sums in c are; UNCHECKED when there is no memory. */
enum wick__verdict wick__recurrent_trials(struct wick__gpu *gpu, struct wick__held *held,
                                          const struct wick__recurrent_kind *kind, wick__recurrent_fn *run);

/* A recurrent layer by its definition, in f64: y, last_h and last_c, or the gradients, and the largest sum of
 * magnitudes in a product. */
struct wick__recurrent_known {
    const double *x, *h, *c; /* h and c may be NULL */
    const double *const *weights;
    double *y, *last_h, *last_c, most; /* y is 0 at first; last_c has room in any mode */
    double *room;                      /* wick__recurrent_room of it */
    struct {
        const double *y, *last_h, *last_c; /* the last two may be NULL */
        double *x, *h, *c, **weights;
    } slopes; /* of a gradient; without lengths and projection */
};
int64_t wick__recurrent_room(const struct wick__dnn_recurrent *l);
void wick__recurrent_expect(const struct wick__dnn_recurrent *l, struct wick__recurrent_known *known);
/* The gradients, by what the above has left in the room. */
void wick__recurrent_expect_backward(const struct wick__dnn_recurrent *l, struct wick__recurrent_known *known);

#endif
