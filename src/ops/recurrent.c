/* RNN, LSTM and GRU: layers of cells, step by step. The products of all steps with the input come first, as one; a step
 * is then a product with the state, and a cell. */
#include "ops/recurrent.h"

/* What a pass makes: pieces by direction and step, `each` of a direction, and states by direction, LD. */
struct made {
    struct wick_tensor **h, **gates, **c; /* pieces: h' alone unless for training */
    struct wick_tensor **last_h, **last_c;
    int64_t n, each, ld;
    bool training, whole; /* whole: a piece has all steps of a direction */
};

/* The states before the first step, in the order of places; NULL for 0. */
struct starts {
    struct wick_tensor *h, *c;
};

static bool made_new(struct made *m, const struct wick__recurrent *r) {
    m->whole = wick__recurrent_is_whole(r);
    m->ld = (int64_t)r->layers * r->directions;
    m->each = m->whole ? 1 : r->steps;
    m->n = m->ld * m->each;
    if (m->n > INT32_MAX) {
        wick__fail(WICK_OVERFLOW, "recurrent: %lld steps of %lld directions", (long long)r->steps, (long long)m->ld);
        return false;
    }
    m->training = r->options->reserve != NULL;
    m->h = wick__tensors_new(m->n);
    m->gates = wick__tensors_new(m->n);
    m->c = wick__tensors_new(m->n);
    m->last_h = wick__tensors_new(m->ld);
    m->last_c = wick__tensors_new(m->ld);
    return m->h && m->gates && m->c && m->last_h && m->last_c;
}

static void made_free(struct made *m) {
    wick__tensors_free(m->h, m->n);
    wick__tensors_free(m->gates, m->n);
    wick__tensors_free(m->c, m->n);
    wick__tensors_free(m->last_h, m->ld);
    wick__tensors_free(m->last_c, m->ld);
}

/* ---- a direction of a layer ---- */

/* A step: the products of the input, the state, and the places of what comes of it, as struct made has them. */
struct step {
    const struct wick__recurrent *r;
    int ld;
    struct wick_tensor *input, *h, *c;
    struct wick_tensor **gates, *next_c;
};

static struct wick_tensor *cell(struct step *s) {
    const struct wick__recurrent *r = s->r;
    struct wick_tensor *hidden = wick_linear(s->h, wick__recurrent_weight(r, s->ld, WICK__OF_STATE),
                                             wick__recurrent_weight(r, s->ld, WICK__BIAS_STATE), WICK_ACTIVATION_NONE);
    struct wick_tensor *projection = wick__recurrent_weight(r, s->ld, WICK__PROJECTION), *y;
    if (r->options->mode == WICK_LSTM)
        y = wick_lstm_cell(s->input, hidden, s->c, &s->next_c, s->gates);
    else if (r->options->mode == WICK_GRU)
        y = wick_gru_cell(s->input, hidden, s->h, s->gates);
    else
        y = wick_rnn_cell(s->input, hidden, r->options->mode == WICK_RNN_RELU);
    wick__scope_drop(hidden);
    if (!projection) return y;
    struct wick_tensor *projected = wick_linear(y, projection, NULL, WICK_ACTIVATION_NONE);
    wick__scope_drop(y);
    return projected;
}

/* The steps of direction d, whose pieces begin at `at`. False after a failure is recorded. */
static bool steps(const struct wick__recurrent *r, struct made *m, int ld, struct wick_tensor *inputs,
                  struct wick__walk *h, struct wick__walk *c) {
    int64_t at = ld * r->steps;
    for (int64_t i = 0; i < r->steps; i++) {
        bool forward = ld % r->directions == 0;
        int64_t t = forward ? i : r->steps - 1 - i, before = forward ? t - 1 : t + 1;
        struct step s = {.r = r, .ld = ld, .gates = m->training ? &m->gates[at + t] : NULL};
        s.input = wick_narrow(inputs, 0, r->first[t], r->live[t]);
        s.h = wick__walk_to(h, r->live[t]);
        if (c->start) s.c = wick__walk_to(c, r->live[t]);
        m->h[at + t] = h->now = cell(&s);
        m->c[at + t] = c->now = s.next_c;
        wick__scope_drop(s.input);
        if (!h->now) return false;
        if (!m->training && i > 0) { /* views keep what they need of it */
            wick__scope_drop(m->c[at + before]);
            m->c[at + before] = NULL;
        }
    }
    return true;
}

/* The states h' of a direction that a family does all steps of at once, [S,H]. */
static struct wick_tensor *whole(const struct wick__recurrent *r, struct made *m, int ld, struct wick_tensor *inputs,
                                 const struct starts *start) {
    const bool lstm = r->options->mode == WICK_LSTM;
    const int64_t last = ld % r->directions == 0 ? r->rows - r->batch : 0;
    struct wick__whole in = {.input = inputs, .h = wick__recurrent_start(r, start->h, ld, r->dtype, r->state)}, all;
    if (lstm) in.c = wick__recurrent_start(r, start->c, ld, r->wide, r->hidden);
    if (!wick__recurrent_whole(r, ld, &in, &all)) return NULL;
    m->h[ld] = all.h;
    m->c[ld] = all.c;
    m->gates[ld] = all.gates;
    m->last_h[ld] = wick_narrow(all.h, 0, last, r->batch);
    if (lstm) m->last_c[ld] = wick_narrow(all.c, 0, last, r->batch);
    return m->last_h[ld] && (m->last_c[ld] || !lstm) ? all.h : NULL;
}

/* The states h' of a direction after each step, [S,P]. */
static struct wick_tensor *direction(const struct wick__recurrent *r, struct made *m, int ld,
                                     const struct wick_tensor *x, const struct starts *start) {
    bool forward = ld % r->directions == 0, lstm = r->options->mode == WICK_LSTM;
    struct wick__walk h = {.n = 0}, c = {.n = 0};
    struct wick_tensor *y = NULL;
    struct wick_tensor *inputs = wick_linear(x, wick__recurrent_weight(r, ld, WICK__OF_INPUT),
                                             wick__recurrent_weight(r, ld, WICK__BIAS_INPUT), WICK_ACTIVATION_NONE);
    if (inputs && m->whole) {
        y = whole(r, m, ld, inputs, start);
        wick__scope_drop(inputs);
        return y;
    }
    bool good =
        inputs && wick__walk_begin(r, &h, wick__recurrent_start(r, start->h, ld, r->dtype, r->state), forward) &&
        (!lstm || wick__walk_begin(r, &c, wick__recurrent_start(r, start->c, ld, r->wide, r->hidden), forward)) &&
        steps(r, m, ld, inputs, &h, &c);
    if (good) {
        m->last_h[ld] = wick__walk_end(r, &h);
        if (lstm) m->last_c[ld] = wick__walk_end(r, &c);
        y = wick__recurrent_join(r, r->steps, m->h + ld * r->steps, r->dtype, r->state);
    }
    wick__scope_drop(inputs);
    wick__walk_free(r, &h);
    wick__walk_free(r, &c);
    return y;
}

/* ---- layers ---- */

static struct wick_tensor *layers(const struct wick__recurrent *r, struct made *m, const struct wick_tensor *x,
                                  const struct starts *start) {
    struct wick_tensor *input = wick__recurrent_pack(r, x), *two[2], *y = input;
    for (int l = 0; l < r->layers && y; l++) {
        for (int d = 0; d < r->directions; d++) two[d] = direction(r, m, l * r->directions + d, input, start);
        y = r->directions == 1 ? two[0] : wick_cat(2, two, 1);
        if (l + 1 < r->layers) y = wick__recurrent_dropout(r, y, l + 1);
        input = y;
    }
    return wick__recurrent_unpack(r, y);
}

/* All pieces of a kind as [LD,S,columns]. */
static struct wick_tensor *kept(const struct wick__recurrent *r, const struct made *m, struct wick_tensor **pieces,
                                enum wick_dtype dtype, int64_t columns) {
    /* The caller may write to the result, which the only piece of h' may be; others are nobody else's. */
    struct wick_tensor *all =
        m->n == 1 && pieces != m->h ? pieces[0] : wick__recurrent_join(r, m->n, pieces, dtype, columns);
    return wick_reshape(all, 3, (int64_t[]){m->ld, r->rows, columns});
}

/* What else the caller asked for. False after a failure is recorded, and nothing is given then. */
static bool give(const struct wick__recurrent *r, const struct made *m) {
    const struct wick_recurrent_options *o = r->options;
    struct wick_tensor *h = o->last_h ? wick__recurrent_unsort(r, m->last_h) : NULL;
    struct wick_tensor *c = o->last_c ? wick__recurrent_unsort(r, m->last_c) : NULL, *reserve[3] = {NULL};
    bool lstm = o->mode == WICK_LSTM;
    if (o->reserve) reserve[0] = kept(r, m, m->h, r->dtype, r->state);
    if (o->reserve && r->saved) reserve[1] = kept(r, m, m->gates, r->wide, r->saved * r->hidden);
    if (o->reserve && lstm) reserve[2] = kept(r, m, m->c, r->wide, r->hidden);
    if ((o->last_h && !h) || (o->last_c && !c)) return false;
    if (o->reserve && (!reserve[0] || (r->saved && !reserve[1]) || (lstm && !reserve[2]))) return false;
    if (o->last_h) *o->last_h = wick_keep(h);
    if (o->last_c) *o->last_c = wick_keep(c);
    for (int i = 0; i < 3 && o->reserve; i++) o->reserve[i] = reserve[i] ? wick_keep(reserve[i]) : NULL;
    return true;
}

static struct wick_tensor *by_cells(const struct wick__recurrent *r, struct made *m, const struct wick_tensor *x) {
    const struct wick_recurrent_options *o = r->options;
    const struct starts start = {wick__recurrent_sort(r, o->h), wick__recurrent_sort(r, o->c)};
    if ((!start.h && o->h) || (!start.c && o->c)) return NULL;
    struct wick_tensor *y = layers(r, m, x, &start);
    return y && give(r, m) ? y : NULL;
}

struct wick_tensor *wick_recurrent(const struct wick_tensor *x, int n, struct wick_tensor *const *weights,
                                   const struct wick_recurrent_options *options) {
    struct wick__call call = {.op = WICK_OP_recurrent, .n_in = 1, .in = {x}};
    struct wick__recurrent r;
    struct made m = {.n = 0};
    struct wick_tensor *y = NULL;
    bool failed = false;
    wick_scope_begin();
    if (wick__recurrent_plan(&r, &call, n, weights, options) &&
        wick__recurrent_state_fits(&r, &call, options->h, "h", r.dtype, r.state) &&
        wick__recurrent_state_fits(&r, &call, options->c, "c", r.wide, r.hidden)) {
        y = wick__recurrent_library(&r, n, x, &failed);
        if (!y && !failed && made_new(&m, &r)) y = by_cells(&r, &m, x);
    }
    made_free(&m);
    wick__recurrent_free(&r);
    return wick_scope_end(y);
}
