/* BERT's encoder over sequences of different lengths that lie one after the other, without padding. */
#ifndef WICK_MODEL_BERT_H
#define WICK_MODEL_BERT_H

#include <wick/wick.h>

enum {
    WICK__BERT_QUERY,
    WICK__BERT_KEY,
    WICK__BERT_VALUE,
    WICK__BERT_ATTENTION_OUT,
    WICK__BERT_ATTENTION_NORM,
    WICK__BERT_UP,
    WICK__BERT_DOWN,
    WICK__BERT_NORM,
    WICK__BERT_PARTS
};

/* The weight and the bias of each part of a layer. */
struct wick__bert_layer {
    struct wick_tensor *weight[WICK__BERT_PARTS], *bias[WICK__BERT_PARTS];
};

struct wick__bert {
    int64_t hidden, intermediate, n_layers, heads, positions, vocab, types;
    double epsilon;
    enum wick_activation activation;
    struct wick_device *device;
    enum wick_dtype dtype;      /* of the layers: f32, or bf16 for speed; all else is f32 */
    struct wick_tensor *words;  /* [vocab, hidden] */
    struct wick_tensor *places; /* [positions, hidden]: position and first token type added up */
    struct wick_tensor *norm_weight, *norm_bias;
    struct wick__bert_layer *layers;
};

/* Fills a zeroed bert, but for `device` and `dtype`, from a folder's config.json and weights. On failure the caller
 * frees what is there. */
enum wick_status wick__bert_load(struct wick__bert *bert, const char *folder,
                                 const struct wick_archive_options *options);
void wick__bert_free(struct wick__bert *bert);

/* `count` sequences of `length` tokens each, from token `start` on. */
struct wick__bert_group {
    int64_t start, count, length;
};

/* The last hidden states [N, hidden] f32 of N tokens: ids and positions [N] i32, cut into groups. */
struct wick_tensor *wick__bert_forward(const struct wick__bert *bert, const struct wick_tensor *ids,
                                       const struct wick_tensor *positions, int n_groups,
                                       const struct wick__bert_group *groups);

/* Tokens of a group as [count, length, hidden], a view of x [N, hidden]. */
struct wick_tensor *wick__bert_group_view(const struct wick_tensor *x, const struct wick__bert_group *group);

#endif
