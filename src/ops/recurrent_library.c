/* Recurrent layers in inference, and gradients, by a vendor's library, which does a whole call. */
#include "ops/recurrent.h"

#include "ops/record.h"
#include "recurrence.h"

/* A call with what it is of, for run_layer; *done says whether a library ran it. */
struct whole {
    struct wick__call call; /* first */
    struct wick__recurrence layer;
    bool done;
};

static enum wick_status run_layer(const struct wick__call *call) {
    struct whole *whole = (struct whole *)(uintptr_t)call;
    return wick__device(whole->layer.x)->backend->recurrent(&whole->layer, &whole->done);
}

/* Whether such a call may go to a library at all. */
static bool is_plain(const struct wick__recurrent *r, int n) {
    if (!r->device->backend->recurrent || r->options->dropout > 0 || r->rows == 0) return false;
    if (wick__records() || wick__device_records(r->device)) return false; /* who sees calls wants cells */
    for (int i = 0; i < n; i++)
        if (!wick__layout_is_contiguous(&r->weights[i]->layout)) return false;
    return true;
}

static bool add_results(const struct wick__recurrent *r, struct whole *w) {
    const struct wick_recurrent_options *o = r->options;
    const int64_t *x = w->layer.x->layout.shape, ld = (int64_t)r->layers * r->directions;
    const int64_t y[3] = {x[0], x[1], r->directions * r->state};
    if (!wick__call_out(&w->call, r->dtype, 3, y)) return false;
    if (o->last_h && !wick__call_out(&w->call, r->dtype, 3, (int64_t[]){ld, r->batch, r->state})) return false;
    if (o->last_c && !wick__call_out(&w->call, r->wide, 3, (int64_t[]){ld, r->batch, r->hidden})) return false;
    w->layer.y = w->call.out[0];
    w->layer.last_h = o->last_h ? w->call.out[1] : NULL;
    w->layer.last_c = o->last_c ? w->call.out[w->call.n_out - 1] : NULL;
    return true;
}

struct wick_tensor *wick__recurrent_library(const struct wick__recurrent *r, int n, const struct wick_tensor *x,
                                            bool *failed) {
    const struct wick_recurrent_options *o = r->options;
    *failed = false;
    if (o->reserve || !is_plain(r, n)) return NULL; /* a library's reserve is its own */
    struct whole w = {.layer = {.options = o, .weights = r->weights, .n_weights = n, .x = x}};
    bool wanted = false;
    if (r->device->backend->recurrent(&w.layer, &wanted) != WICK_OK || !wanted) return NULL;
    w.layer.x = wick_contiguous(x);
    w.layer.h = o->h ? wick_contiguous(o->h) : NULL;
    w.layer.c = o->c ? wick_contiguous(o->c) : NULL;
    *failed = true;
    if (!w.layer.x || (o->h && !w.layer.h) || (o->c && !w.layer.c)) return NULL;
    w.call = (struct wick__call){.op = WICK_OP_recurrent,
                                 .n_in = 4,
                                 .in = {w.layer.x, w.layer.h, w.layer.c, r->weights[0]},
                                 .n_list = n,
                                 .list = r->weights,
                                 .in_parts = run_layer};
    if (!add_results(r, &w) || !wick__call_run(&w.call)) return NULL;
    *failed = false;
    if (w.done) {
        if (o->last_h) *o->last_h = wick_keep(w.layer.last_h);
        if (o->last_c) *o->last_c = wick_keep(w.layer.last_c);
        return w.layer.y;
    }
    for (int i = 0; i < w.call.n_out; i++) wick__scope_drop(w.call.out[i]);
    return NULL;
}

/* ---- gradients ---- */

/* Places for the gradients by x, first states and weights. False after a failure is recorded. */
static bool add_slopes(const struct wick__recurrent *r, struct whole *w, struct wick_tensor **weights,
                       const struct wick_recurrent_backward_options *places) {
    const int64_t ld = (int64_t)r->layers * r->directions;
    const int n = w->layer.n_weights;
    if (!wick__call_out(&w->call, r->dtype, 3, w->layer.x->layout.shape)) return false;
    if (places->h && !wick__call_out(&w->call, r->dtype, 3, (int64_t[]){ld, r->batch, r->state})) return false;
    if (places->c && !wick__call_out(&w->call, r->wide, 3, (int64_t[]){ld, r->batch, r->hidden})) return false;
    w->layer.slopes.x = w->call.out[0];
    w->layer.slopes.h = places->h ? w->call.out[1] : NULL;
    w->layer.slopes.c = places->c ? w->call.out[w->call.n_out - 1] : NULL;
    w->layer.slopes.weights = places->weights ? weights + n : NULL;
    for (int i = 0; i < n; i++) {
        weights[i] = r->weights[i];
        if (!places->weights) continue;
        weights[n + i] = wick_empty_like(r->weights[i]);
        if (!weights[n + i]) {
            wick__call_drop(&w->call);
            return false;
        }
    }
    w->call.list = weights;
    w->call.n_list = places->weights ? 2 * n : n;
    w->call.n_targets = places->weights ? n : 0;
    return true;
}

/* Copies of those that are not contiguous. False after a failure is recorded. */
static bool make_contiguous(struct wick__recurrence *l) {
    const struct wick_tensor **const operands[] = {
        &l->x, &l->h, &l->c, &l->slopes.y, &l->slopes.last_h, &l->slopes.last_c};
    for (size_t i = 0; i < sizeof operands / sizeof *operands; i++) {
        if (!*operands[i]) continue;
        *operands[i] = wick_contiguous(*operands[i]);
        if (!*operands[i]) return false;
    }
    return true;
}

struct wick_tensor *wick__recurrent_library_backward(const struct wick__recurrent *r, int n,
                                                     const struct wick_tensor *x, const struct wick_tensor *gradient,
                                                     const struct wick_recurrent_backward_options *places,
                                                     bool *failed) {
    const struct wick_recurrent_options *o = r->options;
    *failed = false;
    if (!gradient || !is_plain(r, n)) return NULL;
    struct whole w = {
        .layer = {.options = o, .weights = r->weights, .n_weights = n, .x = x, .h = o->h, .c = o->c, .backward = true}};
    struct wick_tensor *y = NULL, **weights;
    bool wanted = false;
    w.layer.slopes.y = gradient;
    w.layer.slopes.last_h = places->last_h;
    w.layer.slopes.last_c = places->last_c;
    if (r->device->backend->recurrent(&w.layer, &wanted) != WICK_OK || !wanted) return NULL;
    weights = wick__tensors_new(2 * (int64_t)n);
    *failed = true;
    if (weights && make_contiguous(&w.layer)) {
        const struct wick__recurrence *l = &w.layer;
        w.call = (struct wick__call){
            .op = WICK_OP_recurrent_backward,
            .n_in = 7,
            .in = {l->x, l->h, l->c, r->weights[0], l->slopes.y, l->slopes.last_h, l->slopes.last_c},
            .in_parts = run_layer};
        *failed = !add_slopes(r, &w, weights, places) || !wick__call_run(&w.call);
        y = *failed || !w.done ? NULL : l->slopes.x;
    }
    if (y && places->h) *places->h = wick_keep(w.layer.slopes.h);
    if (y && places->c) *places->c = wick_keep(w.layer.slopes.c);
    for (int i = 0; weights && places->weights && i < n; i++) {
        if (y)
            places->weights[i] = wick_keep(weights[n + i]);
        else
            wick__scope_drop(weights[n + i]);
    }
    for (int i = 0; !y && !*failed && i < w.call.n_out; i++) wick__scope_drop(w.call.out[i]);
    wick__tensors_free(weights, 2 * (int64_t)n);
    return y;
}
