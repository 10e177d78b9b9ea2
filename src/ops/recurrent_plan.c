/* Recurrent layers: what the options ask for, and the lengths of sequences. */
#include "ops/recurrent.h"

#include "core/memory.h"

#include <string.h>

/* ---- checks ---- */

static bool check_options(const struct wick__call *call, const struct wick_recurrent_options *o) {
    if (!wick__call_reserved(call, o->reserved)) return false;
    if ((unsigned)o->mode > WICK_GRU)
        wick__call_fail(call, WICK_INVALID, "mode %d is outside its enum", (int)o->mode);
    else if (o->hidden < 1)
        wick__call_fail(call, WICK_INVALID, "hidden = %lld is not 1 or more", (long long)o->hidden);
    else if (o->layers < 0 || o->layers > 1 << 20)
        wick__call_fail(call, WICK_INVALID, "%d layers", o->layers);
    else if (o->projection != 0 && o->mode != WICK_LSTM)
        wick__call_fail(call, WICK_INVALID, "only an LSTM has a projection");
    else if (o->projection < 0 || (o->projection > 0 && o->projection >= o->hidden))
        wick__call_fail(call, WICK_INVALID, "projection = %lld is not in 1..%lld", (long long)o->projection,
                        (long long)o->hidden - 1);
    else if (!(o->dropout >= 0 && o->dropout < 1))
        wick__call_fail(call, WICK_INVALID, "dropout = %g is not in 0..1, 1 excluded", o->dropout);
    else if (o->mode != WICK_LSTM && (o->c || o->last_c))
        wick__call_fail(call, WICK_INVALID, "only an LSTM has c");
    else
        return true;
    return false;
}

static bool check_lengths(const struct wick__recurrent *r, const struct wick__call *call) {
    const struct wick_recurrent_options *o = r->options;
    if (!o->lengths) return true;
    if (o->n_lengths != r->batch) {
        wick__call_fail(call, WICK_SHAPE, "%lld lengths for %lld sequences", (long long)o->n_lengths,
                        (long long)r->batch);
        return false;
    }
    for (int64_t b = 0; b < r->batch; b++)
        if (o->lengths[b] < 0 || o->lengths[b] > r->total) {
            wick__call_fail(call, WICK_RANGE, "length %lld of sequence %lld is not in 0..%lld",
                            (long long)o->lengths[b], (long long)b, (long long)r->total);
            return false;
        }
    return true;
}

/* Whether weight i, `which` of a direction of layer l, has its shape. */
static bool check_weight(const struct wick__recurrent *r, const struct wick__call *call, int i, int l, int which) {
    const char *const names[] = {"Wi", "Wh", "bi", "bh", "Wr"};
    struct wick__call pair = {.op = call->op, .n_in = 2, .in = {call->in[0], r->weights[i]}};
    const int64_t rows = r->gates * r->hidden, columns = l == 0 ? r->inputs : r->directions * r->state;
    const int64_t shapes[5][2] = {{rows, columns}, {rows, r->state}, {rows, 0}, {rows, 0}, {r->state, r->hidden}};
    int rank = which == WICK__BIAS_INPUT || which == WICK__BIAS_STATE ? 1 : 2;
    char want[WICK__SHAPE_TEXT];
    if (!wick__call_check(&pair)) return false;
    const struct wick__layout *w = &r->weights[i]->layout;
    if (w->rank == rank && memcmp(w->shape, shapes[which], sizeof *w->shape * (size_t)rank) == 0) return true;
    wick__call_fail(&pair, WICK_SHAPE, "i = %d, the %s of layer %d, must be %s", i, names[which], l,
                    wick__shape_text(want, rank, shapes[which]));
    return false;
}

static bool check_weights(const struct wick__recurrent *r, const struct wick__call *call, int n) {
    int64_t wanted = (int64_t)r->layers * r->directions * r->per;
    if (n != wanted || !r->weights) {
        wick__call_fail(call, WICK_INVALID, "%d weights%s, not %lld", n, r->weights ? "" : " at NULL",
                        (long long)wanted);
        return false;
    }
    for (int i = 0; i < n; i++) {
        int which = i % r->per;
        if (which == 2 && r->options->no_bias) which = WICK__PROJECTION;
        if (!check_weight(r, call, i, i / (r->per * r->directions), which)) return false;
    }
    return true;
}

bool wick__recurrent_state_fits(const struct wick__recurrent *r, const struct wick__call *call,
                                const struct wick_tensor *x, const char *name, enum wick_dtype dtype, int64_t columns) {
    const int64_t shape[3] = {(int64_t)r->layers * r->directions, r->batch, columns};
    char text[WICK__TENSOR_TEXT], want[WICK__SHAPE_TEXT];
    if (!x) return true;
    if (wick__device(x) != r->device)
        wick__call_fail(call, WICK_DEVICE, "%s is %s", name, wick__tensor_text(text, x));
    else if (x->dtype != dtype)
        wick__call_fail(call, WICK_DTYPE, "%s must be %s, not %s", name, wick_dtype_name(dtype),
                        wick_dtype_name(x->dtype));
    else if (x->layout.rank != 3 || memcmp(x->layout.shape, shape, sizeof shape) != 0)
        wick__call_fail(call, WICK_SHAPE, "%s is %s, must be %s", name, wick__tensor_text(text, x),
                        wick__shape_text(want, 3, shape));
    else
        return true;
    return false;
}

/* ---- lengths ---- */

/* Counts how many sequences are live at each step, and puts the longest first. */
static void sort_lengths(struct wick__recurrent *r) {
    const int64_t *lengths = r->options->lengths;
    for (int64_t b = 0; b < r->batch; b++) r->first[lengths[b]]++; /* by length, for now */
    int64_t longer = 0;
    for (int64_t t = r->total; t-- > 0;) {
        longer += r->first[t + 1];
        r->live[t] = longer;
    }
    for (int64_t t = 0; t <= r->total; t++) r->first[t] = t < r->total ? r->live[t] : 0; /* where they begin */
    for (int64_t b = 0; b < r->batch; b++) {
        r->place[b] = r->first[lengths[b]]++;
        r->order[r->place[b]] = b;
    }
}

static bool set_rows(struct wick__recurrent *r) {
    int64_t total = r->total, n;
    bool ragged = r->options->lengths != NULL;
    if (!wick__mul(total, 2, &n) || !wick__add(n, 1, &n) || !wick__add(n, ragged ? r->batch : 0, &n) ||
        !wick__add(n, ragged ? r->batch : 0, &n))
        n = INT64_MAX;
    r->memory = wick__calloc((size_t)n, sizeof *r->memory);
    if (!r->memory) return false;
    r->n_memory = n;
    r->live = r->memory;
    r->first = r->live + total;
    if (ragged) {
        r->order = r->first + total + 1;
        r->place = r->order + r->batch;
        sort_lengths(r);
    } else {
        for (int64_t t = 0; t < total; t++) r->live[t] = r->batch;
    }
    r->first[0] = 0;
    for (int64_t t = 0; t < total; t++) {
        if (r->live[t] > 0) r->steps = t + 1;
        r->first[t + 1] = r->first[t] + r->live[t]; /* at most T N */
    }
    r->rows = r->first[total];
    return true;
}

bool wick__recurrent_plan(struct wick__recurrent *r, const struct wick__call *call, int n,
                          struct wick_tensor *const *weights, const struct wick_recurrent_options *options) {
    const struct wick_tensor *x = call->in[0];
    *r = (struct wick__recurrent){.options = options, .weights = weights};
    if (!options) {
        wick__call_fail(call, WICK_INVALID, "options is NULL");
        return false;
    }
    if (!check_options(call, options) || !wick__call_check(call)) return false;
    int64_t product;
    if (x->layout.rank != 3 || !wick__mul(x->layout.shape[0], x->layout.shape[1], &product)) {
        wick__call_fail(call, WICK_SHAPE, "x must be %s", options->batch_first ? "[N,T,I]" : "[T,N,I]");
        return false;
    }
    r->device = wick__device(x);
    r->dtype = x->dtype;
    r->wide = x->dtype == WICK_F64 ? WICK_F64 : WICK_F32;
    r->gates = options->mode == WICK_LSTM ? 4 : options->mode == WICK_GRU ? 3 : 1;
    r->saved = options->mode == WICK_LSTM || options->mode == WICK_GRU ? 4 : 0;
    r->layers = options->layers ? options->layers : 1;
    r->directions = options->bidirectional ? 2 : 1;
    r->per = 2 + (options->no_bias ? 0 : 2) + (options->projection != 0);
    r->total = x->layout.shape[options->batch_first];
    r->batch = x->layout.shape[!options->batch_first];
    r->inputs = x->layout.shape[2];
    r->hidden = options->hidden;
    r->state = options->projection ? options->projection : options->hidden;
    if (!wick__mul(r->hidden, 4, &product) || r->total >= INT32_MAX) {
        wick__call_fail(call, WICK_OVERFLOW, "hidden = %lld, %lld steps", (long long)r->hidden, (long long)r->total);
        return false;
    }
    return check_weights(r, call, n) && check_lengths(r, call) && set_rows(r);
}

void wick__recurrent_free(struct wick__recurrent *r) {
    if (r->memory) wick__free(r->memory, (size_t)r->n_memory * sizeof *r->memory);
    r->memory = NULL;
}

struct wick_tensor *wick__recurrent_weight(const struct wick__recurrent *r, int ld, int which) {
    bool biased = !r->options->no_bias;
    if (which == WICK__PROJECTION) return r->options->projection ? r->weights[ld * r->per + r->per - 1] : NULL;
    if (which >= WICK__BIAS_INPUT && !biased) return NULL;
    return r->weights[ld * r->per + which];
}
