/* Multi-head attention: projections, attention by head, and the projection of the heads side by side. */
#include "ops/attention_whole.h"

#include <math.h>

#include <wick/nn.h>

/* A call: B sequences of M queries and N keys, E features of H heads. */
struct layer {
    const struct wick_multi_head_options *options;
    int64_t batch, queries, keys, features, heads;
};

/* ---- checks ---- */

static bool has_shape(const struct wick_tensor *x, int64_t rows, int64_t columns) {
    if (!x) return true;
    const struct wick__layout *layout = &x->layout;
    if (columns < 0) return layout->rank == 1 && layout->shape[0] == rows;
    return layout->rank == 2 && layout->shape[0] == rows && layout->shape[1] == columns;
}

/* What is wrong with the shapes; NULL: nothing. */
static const char *wrong_shape(const struct wick__call *call, const struct layer *l) {
    const struct wick_multi_head_options *o = l->options;
    const struct wick__layout *k = &call->in[1]->layout, *v = &call->in[2]->layout;
    if (k->shape[0] != l->batch || v->shape[0] != l->batch || v->shape[1] != l->keys)
        return "batches, or lengths of key and value, differ";
    if (l->heads < 1 || l->features % l->heads != 0) return "heads do not divide the features";
    if (o->in_weight && (k->shape[2] != l->features || v->shape[2] != l->features))
        return "key and value of a packed in_weight must have the features of query";
    if (!has_shape(o->in_weight, 3 * l->features, l->features)) return "in_weight is not [3 E,E]";
    if (!has_shape(o->q_weight, l->features, l->features) || !has_shape(o->k_weight, l->features, k->shape[2]) ||
        !has_shape(o->v_weight, l->features, v->shape[2]))
        return "a weight does not have E rows and the features of its operand";
    if (!has_shape(o->in_bias, 3 * l->features, -1)) return "in_bias is not [3 E]";
    if (!has_shape(o->out_weight, l->features, l->features) || !has_shape(o->out_bias, l->features, -1))
        return "out_weight is not [E,E], or out_bias not [E]";
    if (!has_shape(o->key_mask, l->batch, l->keys)) return "key_mask is not [B,N]";
    return NULL;
}

static bool check(const struct wick__call *call, struct layer *l) {
    const struct wick_multi_head_options *o = l->options;
    if (!o) {
        wick__call_fail(call, WICK_INVALID, "options are NULL: they have heads and weights");
        return false;
    }
    if (!wick__call_reserved(call, o->reserved) || !wick__call_check(call)) return false;
    const char *rule = NULL;
    enum wick_status status = WICK_SHAPE;
    for (int i = 0; i < 3 && !rule; i++)
        if (call->in[i]->layout.rank != 3) rule = "query, key and value must be [B,M,E], [B,N,..], [B,N,..]";
    if (!rule) {
        const int64_t *q = call->in[0]->layout.shape;
        *l = (struct layer){o, q[0], q[1], call->in[1]->layout.shape[1], q[2], o->heads};
        rule = wrong_shape(call, l);
    }
    if (!rule) {
        bool own = o->q_weight && o->k_weight && o->v_weight, any = o->q_weight || o->k_weight || o->v_weight;
        status = WICK_INVALID;
        if (o->in_weight ? any : !own) rule = "there must be either in_weight or q_weight, k_weight and v_weight";
        if (!o->out_weight) rule = "out_weight is NULL";
        if (o->attention && o->attention->log_sums) rule = "log_sums of the options of attention is not NULL";
    }
    if (rule) wick__call_fail(call, status, "%s", rule);
    return !rule;
}

/* ---- projections ---- */

/* Operand i by its weight, as [B,H,..,D]. */
static struct wick_tensor *projected(const struct layer *l, const struct wick__call *call, int i) {
    const struct wick_multi_head_options *o = l->options;
    const struct wick_tensor *own[3] = {o->q_weight, o->k_weight, o->v_weight}, *x = call->in[i];
    const int64_t e = l->features, shape[4] = {l->batch, x->layout.shape[1], l->heads, e / l->heads};
    const struct wick_tensor *weight = o->in_weight ? wick_narrow(o->in_weight, 0, i * e, e) : own[i];
    const struct wick_tensor *bias = o->in_bias ? wick_narrow(o->in_bias, 0, i * e, e) : NULL;
    if (!weight || (o->in_bias && !bias)) return NULL;
    struct wick_tensor *y = wick_linear(x, weight, bias, WICK_ACTIVATION_NONE);
    return y ? wick_transpose(wick_reshape(y, 4, shape), 1, 2) : NULL;
}

/* The mask with keys hidden where key_mask is 0. NULL for none; *failed after a failure. */
static const struct wick_tensor *joined_mask(const struct layer *l, bool *failed) {
    const struct wick_tensor *mask = l->options->mask, *keys = l->options->key_mask;
    if (!keys) return mask;
    const int64_t shape[4] = {l->batch, 1, 1, l->keys};
    struct wick_tensor *seen = wick_reshape(keys, 4, shape), *both = seen;
    if (mask && mask->dtype == WICK_U8) {
        both = wick_logical_and(mask, seen);
    } else if (mask) {
        struct wick_tensor *none = wick_full(wick__device(mask), mask->dtype, 0, NULL, WICK_REAL(-INFINITY));
        both = wick_where(seen, mask, none);
    }
    *failed = both == NULL;
    return both;
}

/* Attention with its weights, through the checks of attention. */
static struct wick_tensor *attend(const struct layer *l, struct wick_tensor *const x[3], struct wick_tensor **weights) {
    static const struct wick_attention_options defaults = {.causal = false};
    const struct wick_attention_options *o = l->options->attention ? l->options->attention : &defaults;
    bool failed = false;
    const struct wick_tensor *mask = joined_mask(l, &failed);
    if (failed || !x[0] || !x[1] || !x[2]) return NULL;
    return wick__attention_with(x[0], x[1], x[2], mask, o, weights);
}

/* Weights [B,H,M,N] as the caller wants them. */
static struct wick_tensor *shown(const struct layer *l, const struct wick_tensor *weights, enum wick_dtype dtype) {
    return wick_cast(l->options->each_head ? weights : wick_mean(weights, WICK_DIMS(1), false), dtype);
}

struct wick_tensor *wick_multi_head_attention(const struct wick_tensor *query, const struct wick_tensor *key,
                                              const struct wick_tensor *value,
                                              const struct wick_multi_head_options *options) {
    struct wick__call call = {.op = WICK_OP_multi_head_attention, .n_in = 3, .in = {query, key, value}};
    struct layer l = {.options = options};
    if (options) {
        const struct wick_tensor *rest[] = {options->in_weight, options->out_weight, options->mask, options->key_mask};
        for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) call.in[call.n_in++] = rest[i];
    }
    if (!check(&call, &l)) return NULL;
    const int64_t shape[3] = {l.batch, l.queries, l.features};
    wick_scope_begin();
    struct wick_tensor *x[3], *weights = NULL, *seen = NULL;
    for (int i = 0; i < 3; i++) x[i] = projected(&l, &call, i);
    struct wick_tensor *y = attend(&l, x, options->weights ? &weights : NULL);
    y = y ? wick_reshape(wick_transpose(y, 1, 2), 3, shape) : NULL;
    y = wick_linear(y, options->out_weight, options->out_bias, WICK_ACTIVATION_NONE);
    if (y && options->weights) seen = shown(&l, weights, query->dtype);
    if (!y || (options->weights && !seen)) return wick_scope_end(NULL);
    if (options->weights) *options->weights = wick_keep(seen);
    return wick_scope_end(y);
}
