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

/* Runs layers of some modes, from `first` to `last`, and a dtype whose results are known, and looks at every element,
 * and at what lies behind the last: GOOD, ABSENT when the library refuses one, WRONG, FLUSHES when only those of
 * subnormal numbers are wrong, ROUGH when results are off by some roundings, or the long sums in c are; UNCHECKED when
 * there is no memory. */
enum wick__verdict wick__recurrent_trials(struct wick__gpu *gpu, struct wick__held *held,
                                          enum wick_recurrent_mode first, enum wick_recurrent_mode last,
                                          enum wick_dtype dtype, wick__recurrent_fn *run);

/* A recurrent layer by its definition, in f64: y, last_h and last_c, and the largest sum of magnitudes in a product. */
struct wick__recurrent_known {
    const double *x, *h, *c; /* h and c may be NULL */
    const double *const *weights;
    double *y, *last_h, *last_c, most; /* y is 0 at first; last_c has room in any mode */
    double *room;                      /* wick__recurrent_room of it */
};
int64_t wick__recurrent_room(const struct wick__dnn_recurrent *l);
void wick__recurrent_expect(const struct wick__dnn_recurrent *l, struct wick__recurrent_known *known);

#endif
