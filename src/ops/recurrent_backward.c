/* Gradients of RNN, LSTM and GRU: the cells' gradients step by step, from the last to the first, then the products for
 * weights and inputs over all steps at once. */
#include "ops/recurrent.h"

/* One direction of a layer. */
struct way {
    const struct wick__recurrent *r;
    int ld;
    struct wick_tensor *gradient;      /* of its result [S,P] */
    struct wick_tensor *h, *gates, *c; /* what the forward pass kept, by rows */
    struct wick_tensor *h_before, *c_before;
    struct wick__walk next, carry;        /* the gradients of h and c, or GRU's part of h, that the step before takes */
    struct wick_tensor **input, **hidden; /* [T]: the gradients of the two products */
    struct wick_tensor **state;           /* [T]: of h', where it is projected */
    struct wick_tensor *of_input, *of_hidden, *of_state; /* of all steps */
    struct wick_tensor *of_h, *of_carry; /* of the first states, where all steps were one call; of_carry as carry */
};

/* What a pass makes: by direction, and by weight. */
struct made {
    struct wick_tensor **h, **c, **weights;
    int64_t ld, n;
};

static struct wick_tensor *rows_at(const struct way *w, const struct wick_tensor *x, int64_t t) {
    return wick_narrow(x, 0, w->r->first[t], w->r->live[t]);
}

/* ---- the steps ---- */

static void lstm_step(struct way *w, int64_t t, struct wick_tensor *gradient, struct wick_tensor *next,
                      struct wick_tensor *carry) {
    struct wick_tensor *projection = wick__recurrent_weight(w->r, w->ld, WICK__PROJECTION);
    if (projection) {
        w->state[t] = wick_add(gradient, next);
        gradient = wick_matmul(w->state[t], projection);
        next = NULL;
    }
    const struct wick_cell_backward_options after = {.next = next, .carry = carry};
    w->input[t] = wick_lstm_cell_backward(gradient, rows_at(w, w->gates, t), rows_at(w, w->c_before, t),
                                          rows_at(w, w->c, t), &after, &w->carry.now);
    w->hidden[t] = w->input[t];
}

static bool step(struct way *w, int64_t t) {
    const struct wick__recurrent *r = w->r;
    struct wick_tensor *gradient = rows_at(w, w->gradient, t), *next = wick__walk_to(&w->next, r->live[t]);
    struct wick_tensor *carry = w->carry.start ? wick__walk_to(&w->carry, r->live[t]) : NULL;
    if (!gradient || !next || (w->carry.start && !carry)) return false;
    if (r->options->mode == WICK_LSTM)
        lstm_step(w, t, gradient, next, carry);
    else if (r->options->mode == WICK_GRU)
        w->input[t] = wick_gru_cell_backward(gradient, rows_at(w, w->gates, t), rows_at(w, w->h_before, t),
                                             &(struct wick_cell_backward_options){.next = next, .carry = carry},
                                             &w->hidden[t], &w->carry.now);
    else
        w->input[t] = w->hidden[t] =
            wick_rnn_cell_backward(gradient, next, rows_at(w, w->h, t), r->options->mode == WICK_RNN_RELU);
    w->next.now = w->input[t] ? wick_matmul(w->hidden[t], wick__recurrent_weight(r, w->ld, WICK__OF_STATE)) : NULL;
    return w->next.now != NULL;
}

/* All steps at once, by a family that does. */
static bool whole(struct way *w) {
    const struct wick__whole_backward in = {.gradient = w->gradient,
                                            .h = w->h,
                                            .h_before = w->h_before,
                                            .gates = w->gates,
                                            .c = w->c,
                                            .c_before = w->c_before,
                                            .last = w->next.start,
                                            .carry = w->carry.start};
    struct wick__whole_slopes of;
    const int64_t first = w->ld % w->r->directions == 0 ? 0 : w->r->rows - w->r->batch;
    if (!wick__recurrent_whole_backward(w->r, w->ld, &in, &of)) return false;
    w->of_input = of.input;
    w->of_hidden = of.hidden;
    w->of_carry = of.carry;
    w->of_h =
        wick_matmul(wick_narrow(of.hidden, 0, first, w->r->batch), wick__recurrent_weight(w->r, w->ld, WICK__OF_STATE));
    return w->of_h != NULL;
}

/* Goes through the steps, and joins what they made. */
static bool steps(struct way *w) {
    const struct wick__recurrent *r = w->r;
    if (wick__recurrent_is_whole(r)) return whole(w);
    bool forward = w->ld % r->directions == 0, gru = r->options->mode == WICK_GRU;
    int64_t rows = r->gates * r->hidden;
    for (int64_t i = 0; i < r->steps; i++)
        if (!step(w, forward ? r->steps - 1 - i : i)) return false;
    w->of_input = wick__recurrent_join(r, r->steps, w->input, r->dtype, rows);
    w->of_hidden = gru ? wick__recurrent_join(r, r->steps, w->hidden, r->dtype, rows) : w->of_input;
    if (r->options->projection) w->of_state = wick__recurrent_join(r, r->steps, w->state, r->dtype, r->state);
    return w->of_input && w->of_hidden && (w->of_state || !r->options->projection);
}

/* ---- weights and states ---- */

/* o tanh(c'), rounded as the cell did. */
static struct wick_tensor *unprojected(const struct way *w) {
    int64_t hidden = w->r->hidden;
    return wick_cast(wick_mul(wick_narrow(w->gates, 1, 3 * hidden, hidden), wick_tanh(w->c)), w->r->dtype);
}

static bool weights(const struct way *w, const struct wick_tensor *input, struct wick_tensor **out) {
    const struct wick_recurrent_options *o = w->r->options;
    const int rows[1] = {0};
    int n = 0;
    out[n++] = wick_matmul(wick_t(w->of_input), input);
    out[n++] = wick_matmul(wick_t(w->of_hidden), w->h_before);
    if (!o->no_bias) {
        out[n++] = wick_sum(w->of_input, 1, rows, false);
        out[n++] = wick_sum(w->of_hidden, 1, rows, false);
    }
    if (o->projection) out[n++] = wick_matmul(wick_t(w->of_state), unprojected(w));
    for (int i = 0; i < n; i++)
        if (!out[i]) return false;
    return true;
}

/* The gradients of the first states. */
static bool states(struct way *w, struct made *m) {
    const struct wick__recurrent *r = w->r;
    struct wick_tensor *h = w->of_h ? w->of_h : wick__walk_end(r, &w->next);
    struct wick_tensor *carry = w->of_carry ? w->of_carry : w->carry.start ? wick__walk_end(r, &w->carry) : NULL;
    if (r->options->mode == WICK_GRU && carry) h = wick_cast(wick_add(wick_cast(h, r->wide), carry), r->dtype);
    m->h[w->ld] = h;
    m->c[w->ld] = carry;
    return h && (carry || !w->carry.start);
}

/* ---- a direction ---- */

struct pass {
    struct wick__recurrent r;
    const struct wick_recurrent_backward_options *places;
    struct wick_tensor *h, *c, *last_h, *last_c; /* in the order of places; NULL for 0 */
    struct made made;
};

static bool way_new(struct way *w, const struct pass *p) {
    const struct wick__recurrent *r = w->r;
    const struct wick_recurrent_options *o = r->options;
    const bool lstm = o->mode == WICK_LSTM, gru = o->mode == WICK_GRU, shrinks = w->ld % r->directions == 1;
    w->h = wick_select(o->reserve[0], 0, w->ld);
    if (r->saved) w->gates = wick_select(o->reserve[1], 0, w->ld);
    if (lstm) w->c = wick_select(o->reserve[2], 0, w->ld);
    w->h_before = wick__recurrent_before(r, wick__recurrent_start(r, p->h, w->ld, r->dtype, r->state), w->h, shrinks);
    if (lstm)
        w->c_before =
            wick__recurrent_before(r, wick__recurrent_start(r, p->c, w->ld, r->wide, r->hidden), w->c, shrinks);
    w->input = wick__tensors_new(r->steps);
    w->hidden = wick__tensors_new(r->steps);
    w->state = wick__tensors_new(r->steps);
    return w->gradient && w->h && w->h_before && (w->gates || !r->saved) && (w->c_before || !lstm) && w->input &&
           w->hidden && w->state &&
           wick__walk_begin(r, &w->next, wick__recurrent_start(r, p->last_h, w->ld, r->dtype, r->state), shrinks) &&
           (!(lstm || gru) ||
            wick__walk_begin(r, &w->carry, wick__recurrent_start(r, p->last_c, w->ld, r->wide, r->hidden), shrinks));
}

static void way_free(struct way *w) {
    wick__tensors_free(w->input, w->r->steps);
    wick__tensors_free(w->hidden, w->r->steps);
    wick__tensors_free(w->state, w->r->steps);
    wick__walk_free(w->r, &w->next);
    wick__walk_free(w->r, &w->carry);
}

/* The gradient of the input's products of direction d of a layer, [S,gH]. */
static struct wick_tensor *direction(struct pass *p, int ld, struct wick_tensor *gradient,
                                     const struct wick_tensor *input) {
    const struct wick__recurrent *r = &p->r;
    struct way w = {.r = r, .ld = ld, .gradient = gradient};
    bool good = way_new(&w, p) && steps(&w) && states(&w, &p->made) &&
                (!p->places->weights || weights(&w, input, p->made.weights + ld * r->per));
    way_free(&w);
    return good ? w.of_input : NULL;
}

/* ---- layers ---- */

/* The input of a layer as the forward pass had it. */
static struct wick_tensor *input_of(const struct pass *p, const struct wick_tensor *x, int layer) {
    const struct wick__recurrent *r = &p->r;
    struct wick_tensor *two[2] = {NULL};
    if (layer == 0) return wick__recurrent_pack(r, x);
    for (int d = 0; d < r->directions; d++)
        two[d] = wick_select(r->options->reserve[0], 0, (layer - 1) * r->directions + d);
    return wick__recurrent_dropout(r, r->directions == 1 ? two[0] : wick_cat(2, two, 1), layer);
}

/* The gradient of a layer's input, from that of its result. */
static struct wick_tensor *layer(struct pass *p, const struct wick_tensor *x, int l, struct wick_tensor *gradient) {
    const struct wick__recurrent *r = &p->r;
    struct wick_tensor *input = input_of(p, x, l), *two[2] = {NULL}, *of[2] = {NULL};
    if (!input) return NULL;
    for (int d = 0; d < r->directions; d++) {
        struct wick_tensor *part = gradient;
        if (r->directions == 2) part = wick_contiguous(wick_narrow(gradient, 1, d * r->state, r->state));
        two[d] = direction(p, l * r->directions + d, part, input);
        of[d] = wick__recurrent_weight(r, l * r->directions + d, WICK__OF_INPUT);
        if (!two[d]) return NULL;
    }
    if (r->directions == 1) return wick_matmul(two[0], of[0]);
    return wick_matmul(wick_cat(2, two, 1), wick_cat(2, of, 0));
}

static struct wick_tensor *layers(struct pass *p, const struct wick_tensor *x, const struct wick_tensor *gradient) {
    const struct wick__recurrent *r = &p->r;
    const int64_t columns = r->directions * r->state;
    struct wick_tensor *d = gradient ? wick_contiguous(wick__recurrent_pack(r, gradient))
                                     : wick_zeros(r->device, r->dtype, 2, (int64_t[]){r->rows, columns});
    for (int l = r->layers - 1; l >= 0 && d; l--) {
        d = layer(p, x, l, d);
        if (l > 0) d = wick__recurrent_dropout(r, d, l);
    }
    return wick__recurrent_unpack(r, d);
}

/* ---- the call ---- */

static bool check_reserve(const struct wick__recurrent *r, const struct wick__call *call) {
    struct wick_tensor *const *reserve = r->options->reserve;
    const int64_t columns[3] = {r->state, r->saved * r->hidden, r->hidden};
    const bool there[3] = {true, r->saved != 0, r->options->mode == WICK_LSTM};
    for (int i = 0; i < 3; i++) {
        const int64_t shape[3] = {(int64_t)r->layers * r->directions, r->rows, columns[i]};
        if (!there[i]) continue;
        const struct wick_tensor *x = reserve ? reserve[i] : NULL;
        bool fits =
            x && wick__device(x) == r->device && x->dtype == (i == 0 ? r->dtype : r->wide) && x->layout.rank == 3;
        for (int d = 0; d < 3 && fits; d++) fits = x->layout.shape[d] == shape[d];
        if (fits) continue;
        wick__call_fail(call, WICK_INVALID, "the reserve is not that of such a call with a place for it");
        return false;
    }
    return true;
}

static bool check_gradient(const struct wick__recurrent *r, const struct wick__call *call,
                           const struct wick_tensor *gradient) {
    const int64_t *x = call->in[0]->layout.shape;
    const int64_t shape[3] = {x[0], x[1], r->directions * r->state};
    struct wick__call both = {.op = call->op, .n_in = 3, .in = {call->in[0], r->weights[0], gradient}};
    char want[WICK__SHAPE_TEXT];
    if (!gradient) return true;
    if (!wick__call_check(&both)) return false;
    bool fits = gradient->layout.rank == 3;
    for (int d = 0; d < 3 && fits; d++) fits = gradient->layout.shape[d] == shape[d];
    if (!fits) wick__call_fail(&both, WICK_SHAPE, "gradient must be %s", wick__shape_text(want, 3, shape));
    return fits;
}

static bool check_places(const struct wick__recurrent *r, const struct wick__call *call,
                         const struct wick_recurrent_backward_options *places) {
    if (!wick__call_reserved(call, places->reserved)) return false;
    if (r->options->mode != WICK_LSTM && (places->last_c || places->c)) {
        wick__call_fail(call, WICK_INVALID, "only an LSTM has c");
        return false;
    }
    return wick__recurrent_state_fits(r, call, r->options->h, "h", r->dtype, r->state) &&
           wick__recurrent_state_fits(r, call, r->options->c, "c", r->wide, r->hidden) &&
           wick__recurrent_state_fits(r, call, places->last_h, "the gradient of last_h", r->dtype, r->state) &&
           wick__recurrent_state_fits(r, call, places->last_c, "the gradient of last_c", r->wide, r->hidden);
}

static bool pass_new(struct pass *p, int n) {
    const struct wick__recurrent *r = &p->r;
    const struct wick_recurrent_options *o = r->options;
    p->h = wick__recurrent_sort(r, o->h);
    p->c = wick__recurrent_sort(r, o->c);
    p->last_h = wick__recurrent_sort(r, p->places->last_h);
    p->last_c = wick__recurrent_sort(r, p->places->last_c);
    p->made.ld = (int64_t)r->layers * r->directions;
    p->made.n = n;
    p->made.h = wick__tensors_new(p->made.ld);
    p->made.c = wick__tensors_new(p->made.ld);
    p->made.weights = wick__tensors_new(n);
    return (p->h || !o->h) && (p->c || !o->c) && (p->last_h || !p->places->last_h) &&
           (p->last_c || !p->places->last_c) && p->made.h && p->made.c && p->made.weights;
}

static void pass_free(struct pass *p) {
    wick__tensors_free(p->made.h, p->made.ld);
    wick__tensors_free(p->made.c, p->made.ld);
    wick__tensors_free(p->made.weights, p->made.n);
    wick__recurrent_free(&p->r);
}

/* What else the caller asked for. False after a failure is recorded, and nothing is given then. */
static bool give(const struct pass *p) {
    const struct wick_recurrent_backward_options *places = p->places;
    struct wick_tensor *h = places->h ? wick__recurrent_unsort(&p->r, p->made.h) : NULL;
    struct wick_tensor *c = places->c ? wick__recurrent_unsort(&p->r, p->made.c) : NULL;
    if ((places->h && !h) || (places->c && !c)) return false;
    if (places->h) *places->h = wick_keep(h);
    if (places->c) *places->c = wick_keep(c);
    for (int64_t i = 0; i < p->made.n && places->weights; i++) places->weights[i] = wick_keep(p->made.weights[i]);
    return true;
}

struct wick_tensor *wick_recurrent_backward(const struct wick_tensor *x, const struct wick_tensor *gradient, int n,
                                            struct wick_tensor *const *weights,
                                            const struct wick_recurrent_options *options,
                                            const struct wick_recurrent_backward_options *places) {
    static const struct wick_recurrent_backward_options none;
    struct wick__call call = {.op = WICK_OP_recurrent_backward, .n_in = 1, .in = {x}};
    struct pass p = {.places = places ? places : &none};
    struct wick_tensor *y = NULL;
    bool failed = false;
    wick_scope_begin();
    if (wick__recurrent_plan(&p.r, &call, n, weights, options) && check_gradient(&p.r, &call, gradient) &&
        check_places(&p.r, &call, p.places) && check_reserve(&p.r, &call)) {
        y = wick__recurrent_library_backward(&p.r, n, x, gradient, p.places, &failed);
        if (!y && !failed && pass_new(&p, n)) {
            y = layers(&p, x, gradient);
            if (y && !give(&p)) y = NULL;
        }
    }
    pass_free(&p);
    return wick_scope_end(y);
}
