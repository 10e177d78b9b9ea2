/* Layers by vendors' libraries: softmax, batch norm, pooling. */
#ifndef WICK_GPU_ROUTES_LAYER_H
#define WICK_GPU_ROUTES_LAYER_H

#include "gpu/routes/route.h"

enum { WICK__LAYER_OPERANDS = 8 }; /* at most */

/* Converts n neighbours. */
typedef enum wick_status wick__convert_fn(struct wick__gpu *gpu, enum wick_dtype from, const void *x,
                                          enum wick_dtype to, void *y, int64_t n);

/* A layer that is offered to routes. */
struct wick__layer_offer {
    struct wick__offer offer;
    const struct wick__dnn_layer *layer;
    unsigned narrow; /* bits of the operands of channels that are of the layer's dtype, where the library wants f32 */
    wick__convert_fn *convert;
};

/* Runs a layer by a vendor's library, if one has it, is chosen, and passed its check; *done says so. */
enum wick_status wick__layer_run(struct wick__gpu *gpu, const struct wick__dnn_layer *layer, bool *done);
/* The same with operands of channels, bits of `narrow` in their order, that are of the layer's dtype. */
enum wick_status wick__layer_run_narrow(struct wick__gpu *gpu, const struct wick__dnn_layer *layer, unsigned narrow,
                                        wick__convert_fn *convert, bool *done);

/* The operands of a kind of layer, those that it reads first: 'x' of x's size, 'y' of the windows', 'i' the same in
 * u32, 'c' one a channel.
 */
const char *wick__layer_operands(enum wick__layer kind, int *n_in);
/* Elements of an operand. */
int64_t wick__layer_count(const struct wick__dnn_layer *layer, char operand);

typedef enum wick__ran wick__layer_fn(struct wick__gpu *gpu, struct wick__held *held,
                                      const struct wick__dnn_layer *layer);

/* Runs layers of a kind and a dtype whose results are known, and looks at every element, and at what lies behind the
 * last: GOOD, ABSENT when the library refuses one, WRONG, FLUSHES when only those with subnormal numbers are wrong,
 * ROUGH when results are off by some roundings, or those are wrong that cancel; UNCHECKED when there is no memory. */
enum wick__verdict wick__layer_trials(struct wick__gpu *gpu, struct wick__held *held, enum wick__layer kind,
                                      enum wick_dtype dtype, wick__layer_fn *run);

#endif
