/* A recurrent layer offered to the routes. */
#include "gpu/ops/recurrent_library.h"

#include "gpu/routes/recurrent.h"
#include "recurrence.h"

static void *data_of(const struct wick_tensor *x) { return x ? wick__data(x) : NULL; }

static struct wick__dnn_recurrent describe(const struct wick__recurrence *r, const void **weights) {
    const struct wick_recurrent_options *o = r->options;
    const int64_t *x = r->x->layout.shape;
    for (int i = 0; i < r->n_weights; i++) weights[i] = wick__data(r->weights[i]);
    return (struct wick__dnn_recurrent){.mode = o->mode,
                                        .dtype = r->x->dtype,
                                        .layers = o->layers ? o->layers : 1,
                                        .directions = o->bidirectional ? 2 : 1,
                                        .biased = !o->no_bias,
                                        .batch_first = o->batch_first,
                                        .steps = x[o->batch_first],
                                        .batch = x[!o->batch_first],
                                        .inputs = x[2],
                                        .hidden = o->hidden,
                                        .state = o->projection ? o->projection : o->hidden,
                                        .lengths = o->lengths,
                                        .weights = weights,
                                        .x = data_of(r->x),
                                        .h = data_of(r->h),
                                        .c = data_of(r->c),
                                        .y = data_of(r->y),
                                        .last_h = data_of(r->last_h),
                                        .last_c = data_of(r->last_c)};
}

enum wick_status wick__gpu_recurrent(const struct wick__recurrence *recurrence, bool *done) {
    enum { MOST = 256 }; /* weights */
    struct wick__gpu *gpu = wick__gpu_of(recurrence->x);
    const void *weights[MOST];
    *done = false;
    if (!gpu->vendor->recurrent_plan || recurrence->n_weights > MOST) return WICK_OK;
    const struct wick__dnn_recurrent layer = describe(recurrence, weights);
    struct wick__recurrent_offer o = {.offer = {.dtype = layer.dtype}, .layer = &layer};
    if (!recurrence->y) {
        *done = wick__routes_ask(gpu, WICK__RECURRENT_ROUTE, &o.offer);
        return WICK_OK;
    }
    return wick__routes_run(gpu, WICK__RECURRENT_ROUTE, WICK__RECURRENT_ROUTE, &o.offer, done);
}
