/* What layers are by their definitions, in f64, for checks of libraries. */
#ifndef WICK_GPU_ROUTES_LAYER_KNOWN_H
#define WICK_GPU_ROUTES_LAYER_KNOWN_H

#include "gpu/routes/layer.h"

#define WICK__LAYER_EPSILON 1e-3
/* What x, and so the rest, is: small numbers; one number everywhere, which a softmax must subtract; with infinities
 * among them; lines or planes of nothing but -inf; with NaN among them; such that results are subnormal; small numbers
 * far from 0, or beside large ones; such near 0, of which a sum with a fixed point keeps no digits. */
enum wick__layer_values {
    WICK__LAYER_PLAIN,
    WICK__LAYER_LEVEL,
    WICK__LAYER_MASKED,
    WICK__LAYER_GONE,
    WICK__LAYER_NAN,
    WICK__LAYER_SUBNORMAL,
    WICK__LAYER_FAR,
    WICK__LAYER_NEAR
};

struct wick__layer_known {
    double *in[5];              /* what the layer reads */
    double *want[3], *scale[3]; /* of results, their values and the scales of their bounds */
    double units;               /* the bound of the op, in units of the scale (ops.def) */
};

/* Element i of what the layer reads at `operand`, before it is rounded. */
double wick__layer_value(const struct wick__dnn_layer *l, enum wick__layer_values values, int operand, int64_t i);
/* Computes the rest from `in`. */
void wick__layer_expect(const struct wick__dnn_layer *l, struct wick__layer_known *known);

#endif
