/* A recurrent layer offered to the routes. */
#include "gpu/ops/recurrent_library.h"

#include "gpu/routes/recurrent.h"
#include "recurrence.h"

static void *data_of(const struct wick_tensor *x) { return x ? wick__data(x) : NULL; }

static struct wick__dnn_slopes describe_slopes(const struct wick__recurrence *r, void **weights) {
    for (int i = 0; i < r->n_weights && r->slopes.weights; i++) weights[i] = wick__data(r->slopes.weights[i]);
    return (struct wick__dnn_slopes){.y = data_of(r->slopes.y),
                                     .last_h = data_of(r->slopes.last_h),
                                     .last_c = data_of(r->slopes.last_c),
                                     .x = data_of(r->slopes.x),
                                     .h = data_of(r->slopes.h),
                                     .c = data_of(r->slopes.c),
                                     .weights = r->slopes.weights ? weights : NULL};
}

static struct wick__dnn_recurrent describe(const struct wick__recurrence *r, const void **weights, void **slopes) {
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
                                        .last_c = data_of(r->last_c),
                                        .backward = r->backward,
                                        .slopes = describe_slopes(r, slopes)};
}

enum wick_status wick__gpu_recurrent(const struct wick__recurrence *recurrence, bool *done) {
    enum { MOST = 256 }; /* weights */
    struct wick__gpu *gpu = wick__gpu_of(recurrence->x);
    const int route = recurrence->backward ? WICK__RECURRENT_BACKWARD_ROUTE : WICK__RECURRENT_ROUTE;
    const void *weights[MOST];
    void *slopes[MOST];
    *done = false;
    if (!wick__routes[route]->library(gpu->vendor)->create || recurrence->n_weights > MOST) return WICK_OK;
    const struct wick__dnn_recurrent layer = describe(recurrence, weights, slopes);
    struct wick__recurrent_offer o = {.offer = {.dtype = layer.dtype}, .layer = &layer};
    if (!recurrence->y && !recurrence->slopes.x) {
        *done = wick__routes_ask(gpu, route, &o.offer);
        return WICK_OK;
    }
    return wick__routes_run(gpu, route, route, &o.offer, done);
}
