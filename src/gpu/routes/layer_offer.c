/* A layer offered to the routes. */
#include "gpu/routes/layer.h"

enum wick_status wick__layer_run_narrow(struct wick__gpu *gpu, const struct wick__dnn_layer *layer, unsigned narrow,
                                        wick__convert_fn *convert, bool *done) {
    struct wick__layer_offer o = {.offer = {.dtype = layer->dtype},
                                  .layer = layer,
                                  .narrow = layer->dtype == WICK_F32 ? 0 : narrow,
                                  .convert = convert};
    *done = false;
    if (!gpu->vendor->layer_plan || !gpu->vendor->layer_has(layer->kind, layer->dtype)) return WICK_OK;
    return wick__routes_run(gpu, WICK__LAYER_ROUTE, WICK__LAYER_ROUTE, &o.offer, done);
}

enum wick_status wick__layer_run(struct wick__gpu *gpu, const struct wick__dnn_layer *layer, bool *done) {
    return wick__layer_run_narrow(gpu, layer, 0, NULL, done);
}
