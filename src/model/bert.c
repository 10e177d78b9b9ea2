/* BERT's encoder: post-norm layers of self-attention and a two-layer network.
 *
 * Everything but attention works on single tokens, so sequences of different lengths lie one after the other as
 * [N, hidden] without padding; attention runs once for each group of sequences of equal length. */
#include "model/bert.h"

#include "core/memory.h"
#include "core/tensor.h"

struct wick_tensor *wick__bert_group_view(const struct wick_tensor *x, const struct wick__bert_group *group) {
    struct wick_tensor *rows = wick_narrow(x, 0, group->start, group->count * group->length);
    return wick_reshape(rows, WICK_SHAPE(group->count, group->length, wick_tensor_dim(x, 1)));
}

/* A group as heads: [count, heads, length, hidden / heads]. */
static struct wick_tensor *heads_of(const struct wick__bert *bert, const struct wick_tensor *x,
                                    const struct wick__bert_group *group) {
    struct wick_tensor *rows = wick_narrow(x, 0, group->start, group->count * group->length);
    return wick_transpose(
        wick_reshape(rows, WICK_SHAPE(group->count, group->length, bert->heads, bert->hidden / bert->heads)), 1, 2);
}

/* softmax(q k^T / sqrt(d)) v for each head of a group. */
static struct wick_tensor *attend_group(const struct wick__bert *bert, const struct wick_tensor *query,
                                        const struct wick_tensor *key, const struct wick_tensor *value,
                                        const struct wick__bert_group *group) {
    struct wick_tensor *mixed = wick_scaled_dot_product_attention(
        heads_of(bert, query, group), heads_of(bert, key, group), heads_of(bert, value, group), NULL, NULL);
    return wick_reshape(wick_transpose(mixed, 1, 2), WICK_SHAPE(group->count * group->length, bert->hidden));
}

static struct wick_tensor *linear(const struct wick__bert_layer *layer, int part, const struct wick_tensor *x,
                                  enum wick_activation activation) {
    return wick_linear(x, layer->weight[part], layer->bias[part], activation);
}

static struct wick_tensor *add_norm(const struct wick__bert *bert, const struct wick__bert_layer *layer, int part,
                                    const struct wick_tensor *x, const struct wick_tensor *y) {
    return wick_layer_norm(wick_add(x, y), 1, layer->weight[part], layer->bias[part], bert->epsilon);
}

static struct wick_tensor *attend(const struct wick__bert *bert, const struct wick__bert_layer *layer,
                                  const struct wick_tensor *x, int n_groups, const struct wick__bert_group *groups) {
    struct wick_tensor *query = linear(layer, WICK__BERT_QUERY, x, WICK_ACTIVATION_NONE);
    struct wick_tensor *key = linear(layer, WICK__BERT_KEY, x, WICK_ACTIVATION_NONE);
    struct wick_tensor *value = linear(layer, WICK__BERT_VALUE, x, WICK_ACTIVATION_NONE);
    if (n_groups == 1) return attend_group(bert, query, key, value, groups);
    struct wick_tensor **parts = wick__alloc((size_t)n_groups * sizeof(struct wick_tensor *));
    if (!parts) return NULL;
    for (int i = 0; i < n_groups; i++) parts[i] = attend_group(bert, query, key, value, &groups[i]);
    struct wick_tensor *all = wick_cat(n_groups, parts, 0);
    wick__free(parts, (size_t)n_groups * sizeof(struct wick_tensor *));
    return all;
}

static struct wick_tensor *run_layer(const struct wick__bert *bert, const struct wick__bert_layer *layer,
                                     const struct wick_tensor *x, int n_groups, const struct wick__bert_group *groups) {
    wick_scope_begin();
    struct wick_tensor *mixed = attend(bert, layer, x, n_groups, groups);
    mixed = linear(layer, WICK__BERT_ATTENTION_OUT, mixed, WICK_ACTIVATION_NONE);
    struct wick_tensor *y = add_norm(bert, layer, WICK__BERT_ATTENTION_NORM, mixed, x);
    struct wick_tensor *wide = linear(layer, WICK__BERT_UP, y, bert->activation);
    struct wick_tensor *narrow = linear(layer, WICK__BERT_DOWN, wide, WICK_ACTIVATION_NONE);
    return wick_scope_end(add_norm(bert, layer, WICK__BERT_NORM, narrow, y));
}

struct wick_tensor *wick__bert_forward(const struct wick__bert *bert, const struct wick_tensor *ids,
                                       const struct wick_tensor *positions, int n_groups,
                                       const struct wick__bert_group *groups) {
    wick_scope_begin();
    struct wick_tensor *x = wick_add(wick_embedding(bert->words, ids), wick_embedding(bert->places, positions));
    x = wick_cast(wick_layer_norm(x, 1, bert->norm_weight, bert->norm_bias, bert->epsilon), bert->dtype);
    for (int64_t i = 0; i < bert->n_layers; i++) {
        struct wick_tensor *next = run_layer(bert, &bert->layers[i], x, n_groups, groups);
        wick__scope_drop(x); /* the next layer needs the memory */
        x = next;
    }
    return wick_scope_end(wick_cast(x, WICK_F32));
}
