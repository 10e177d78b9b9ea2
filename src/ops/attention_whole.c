/* Attention by products of whole matrices, in f32 (f64 for f64): heads that share keys lie one above the other. */
#include "ops/attention_whole.h"

#include <math.h>

struct whole {
    const struct wick__call *call;
    const struct wick_attention_options *options;
    enum wick_dtype dtype, wide;
    int64_t batch, heads, key_heads, queries, keys;
    struct wick_tensor *q, *k, *v; /* [B,K,G M,D], [B,K,N,D], [B,K,N,E], G heads to each of K */
    struct wick_tensor *bent;      /* tanh(score / soft_cap) [B,H,M,N]; NULL without a cap */
    struct wick_tensor *weights;   /* before dropout, [B,H,M,N] */
    struct wick_tensor *sums;      /* their log_sums */
};

/* [B,H,M,n] as [B,K,G M,n], and back. */
static struct wick_tensor *stacked(const struct whole *w, const struct wick_tensor *x) {
    if (!x) return NULL;
    const int64_t rows = w->heads / wick__max(1, w->key_heads) * w->queries;
    const int64_t shape[4] = {w->batch, w->key_heads, rows, x->layout.shape[3]};
    return wick_reshape(x, 4, shape);
}

static struct wick_tensor *by_head(const struct whole *w, const struct wick_tensor *x) {
    if (!x) return NULL;
    const int64_t shape[4] = {w->batch, w->heads, w->queries, x->layout.shape[3]};
    return wick_reshape(x, 4, shape);
}

static struct wick_tensor *turned(const struct wick_tensor *x) { return wick_transpose(x, 2, 3); }

/* How far each key lies behind each query, i64 [M,N]. */
static struct wick_tensor *distances(const struct whole *w) {
    struct wick_device *device = wick__device(w->q);
    int64_t first = w->call->p.attention.align_last ? w->keys - w->queries : 0;
    const int64_t column[2] = {w->queries, 1};
    struct wick_tensor *rows =
        wick_arange(device, WICK_I64, WICK_INT(first), WICK_INT(first + w->queries), WICK_INT(1));
    struct wick_tensor *columns = wick_arange(device, WICK_I64, WICK_INT(0), WICK_INT(w->keys), WICK_INT(1));
    return wick_sub(rows ? wick_reshape(rows, 2, column) : NULL, columns);
}

/* The scores with slopes and mask; hidden ones -inf. */
static struct wick_tensor *scores_of(struct whole *w, const struct wick_tensor *mask) {
    const int64_t shape[4] = {w->batch, w->heads, w->queries, w->keys};
    double cap = w->call->p.attention.soft_cap;
    struct wick_tensor *s = by_head(w, wick_matmul(w->q, turned(w->k)));
    s = wick_mul_scalar(s, WICK_REAL(w->call->p.attention.scale));
    if (cap > 0) {
        w->bent = wick_tanh(wick_div_scalar(s, WICK_REAL(cap)));
        s = wick_mul_scalar(w->bent, WICK_REAL(cap));
    }
    struct wick_tensor *behind = distances(w), *hidden = wick_gt_scalar(behind, WICK_INT(w->call->p.attention.left));
    hidden = wick_logical_or(hidden, wick_lt_scalar(behind, WICK_INT(-w->call->p.attention.right)));
    if (w->options->slopes) {
        struct wick_tensor *slopes = wick_broadcast_to(w->options->slopes, 2, shape);
        slopes = slopes ? wick_reshape(slopes, 4, (const int64_t[]){w->batch, w->heads, 1, 1}) : NULL;
        s = wick_sub(s, wick_mul(wick_cast(slopes, w->wide), wick_cast(wick_abs(behind), w->wide)));
    }
    if (mask) {
        bool truth = mask->dtype == WICK_U8;
        struct wick_tensor *none = truth ? wick_logical_not(mask) : wick_eq_scalar(mask, WICK_REAL(-INFINITY));
        hidden = wick_logical_or(hidden, none);
        if (!truth) s = wick_add(s, wick_cast(mask, w->wide));
    }
    return wick_masked_fill(s, hidden, WICK_REAL(-INFINITY));
}

/* Fills w from a checked call, whose q, k and v are operands at .. at + 2; the caller has begun a scope. */
static bool weigh(struct whole *w, int at, const struct wick_tensor *mask) {
    const struct wick_tensor *q = w->call->in[at], *k = w->call->in[at + 1];
    const int last = -1;
    w->dtype = q->dtype;
    w->wide = q->dtype == WICK_F64 ? WICK_F64 : WICK_F32;
    w->batch = q->layout.shape[0];
    w->heads = q->layout.shape[1];
    w->queries = q->layout.shape[2];
    w->key_heads = k->layout.shape[1];
    w->keys = k->layout.shape[2];
    w->q = stacked(w, wick_cast(q, w->wide));
    w->k = wick_cast(k, w->wide);
    w->v = wick_cast(w->call->in[at + 2], w->wide);
    struct wick_tensor *s = w->q ? scores_of(w, mask) : NULL;
    w->sums = wick_log_sum_exp(s, 1, &last, true);
    struct wick_tensor *none = wick_eq_scalar(w->sums, WICK_REAL(-INFINITY));
    none = s ? wick_broadcast_to(none, 4, s->layout.shape) : NULL;
    w->weights = wick_masked_fill(wick_softmax(s, -1), none, WICK_INT(0));
    return w->weights != NULL;
}

static struct wick_tensor *dropped(const struct whole *w, struct wick_tensor *x) {
    return w->options->dropout > 0 ? wick__dropout_at(x, w->options->dropout, w->options->seed, 0) : x;
}

struct wick_tensor *wick__attention_whole(const struct wick__call *call, const struct wick_attention_options *options,
                                          struct wick_tensor **weights) {
    struct whole w = {.call = call, .options = options};
    wick_scope_begin();
    struct wick_tensor *left = weigh(&w, 0, call->in[3]) ? dropped(&w, w.weights) : NULL;
    struct wick_tensor *y = wick_cast(by_head(&w, wick_matmul(stacked(&w, left), w.v)), w.dtype);
    struct wick_tensor *sums = y && options->log_sums ? wick_clone(wick_squeeze(w.sums, -1)) : NULL;
    if (!y || (options->log_sums && !sums)) return wick_scope_end(NULL);
    if (options->log_sums) *options->log_sums = wick_keep(sums);
    if (weights) *weights = wick_keep(left);
    return wick_scope_end(y);
}

/* ---- gradients ---- */

/* x summed to the shape of `like`, to which it broadcasts. */
static struct wick_tensor *summed(struct wick_tensor *x, const struct wick_tensor *like) {
    const struct wick__layout *to = &like->layout;
    int dims[WICK_MAX_RANK], n = 0, more = x->layout.rank - to->rank;
    for (int d = 0; d < x->layout.rank; d++)
        if (d < more || (to->shape[d - more] == 1 && x->layout.shape[d] != 1)) dims[n++] = d;
    struct wick_tensor *y = n > 0 ? wick_sum(x, n, dims, true) : x;
    return y ? wick_cast(wick_reshape(y, to->rank, to->shape), like->dtype) : NULL;
}

struct wick_tensor *wick__attention_whole_backward(const struct wick__call *call,
                                                   const struct wick_attention_options *function,
                                                   const struct wick_attention_backward *options) {
    struct whole w = {.call = call, .options = function};
    struct wick_number scale = WICK_REAL(call->p.attention.scale);
    struct wick_tensor *mask = NULL;
    wick_scope_begin();
    if (!weigh(&w, 1, call->in[6])) return wick_scope_end(NULL);
    struct wick_tensor *g = stacked(&w, wick_cast(call->in[0], w.wide));
    struct wick_tensor *left = stacked(&w, dropped(&w, w.weights));
    struct wick_tensor *slopes = dropped(&w, by_head(&w, wick_matmul(g, turned(w.v))));
    struct wick_tensor *ds = wick_softmax_backward(slopes, w.weights, -1);
    if (options->mask_gradient) mask = ds ? summed(ds, call->in[6]) : NULL;
    if (w.bent) ds = wick_tanh_backward(ds, w.bent);
    ds = stacked(&w, wick_mul_scalar(ds, scale));
    struct wick_tensor *q = wick_cast(by_head(&w, wick_matmul(ds, w.k)), w.dtype);
    struct wick_tensor *k = ds ? wick_cast(wick_matmul(turned(ds), w.q), w.dtype) : NULL;
    struct wick_tensor *v = left ? wick_cast(wick_matmul(turned(left), g), w.dtype) : NULL;
    if (!q || !k || !v || (options->mask_gradient && !mask)) return wick_scope_end(NULL);
    if (options->k_gradient) *options->k_gradient = wick_keep(k);
    if (options->v_gradient) *options->v_gradient = wick_keep(v);
    if (options->mask_gradient) *options->mask_gradient = wick_keep(mask);
    return wick_scope_end(q);
}
