/* Attention of other ranks than 4, by views of rank 4. */
#include "ops/attention_rank.h"

#include <string.h>

bool wick__attention_folds(const struct wick_tensor *q, const struct wick_tensor *k, const struct wick_tensor *v) {
    if (!q || !k || !v) return false;
    int rank = q->layout.rank;
    size_t before = sizeof *q->layout.shape * (size_t)wick__max(0, rank - 3);
    return rank >= 3 && rank != 4 && k->layout.rank == rank && v->layout.rank == rank &&
           memcmp(q->layout.shape, k->layout.shape, before) == 0 &&
           memcmp(q->layout.shape, v->layout.shape, before) == 0;
}

/* x with the dims before its last `tail` as one. */
static struct wick_tensor *fold(const struct wick_tensor *x, int tail) {
    int64_t shape[4] = {1};
    if (!x || x->layout.rank < tail) return NULL;
    int before = x->layout.rank - tail;
    for (int d = 0; d < before; d++) shape[0] *= x->layout.shape[d];
    memcpy(shape + 1, x->layout.shape + before, sizeof *shape * (size_t)tail);
    return wick_reshape(x, tail + 1, shape);
}

/* x, of `tail` dims and the batch, with the dims of `like` before its last three. */
static struct wick_tensor *unfold(const struct wick_tensor *x, int tail, const struct wick_tensor *like) {
    int64_t shape[WICK_MAX_RANK];
    if (!x) return NULL;
    int before = like->layout.rank - 3;
    memcpy(shape, like->layout.shape, sizeof *shape * (size_t)before);
    memcpy(shape + before, x->layout.shape + 1, sizeof *shape * (size_t)tail);
    return wick_reshape(x, before + tail, shape);
}

/* A mask that broadcasts to the scores; its last three dims may still broadcast. */
static const struct wick_tensor *fold_mask(const struct wick_tensor *mask, const struct wick_tensor *q) {
    int64_t shape[WICK_MAX_RANK];
    int rank = q->layout.rank;
    if (!mask || mask->layout.rank < 4 || rank < 4) return mask;
    memcpy(shape, q->layout.shape, sizeof *shape * (size_t)(rank - 3));
    memcpy(shape + rank - 3, mask->layout.shape + mask->layout.rank - 3, sizeof *shape * 3);
    return fold(wick_broadcast_to(mask, rank, shape), 3);
}

struct wick_tensor *wick__attention_folded(const struct wick_tensor *q, const struct wick_tensor *k,
                                           const struct wick_tensor *v, const struct wick_tensor *mask,
                                           const struct wick_attention_options *options) {
    struct wick_attention_options four = *options;
    struct wick_tensor *sums = NULL;
    wick_scope_begin();
    const struct wick_tensor *folded = fold_mask(mask, q);
    if (mask && !folded) return wick_scope_end(NULL);
    if (options->log_sums) four.log_sums = &sums;
    struct wick_tensor *y =
        unfold(wick_scaled_dot_product_attention(fold(q, 3), fold(k, 3), fold(v, 3), folded, &four), 3, q);
    sums = y && options->log_sums ? unfold(sums, 2, q) : NULL;
    if (!y || (options->log_sums && !sums)) return wick_scope_end(NULL);
    if (options->log_sums) *options->log_sums = wick_keep(sums);
    return wick_scope_end(y);
}

/* The gradient of a mask that was broadcast over the dims before the heads. */
static struct wick_tensor *unfold_mask(const struct wick_tensor *x, const struct wick_tensor *mask,
                                       const struct wick_tensor *q) {
    int dims[WICK_MAX_RANK], n = 0, rank = q->layout.rank, missing = rank - mask->layout.rank;
    if (mask->layout.rank < 4 || rank < 4) return x ? wick_reshape(x, mask->layout.rank, mask->layout.shape) : NULL;
    for (int d = 0; d < rank - 3; d++)
        if (d < missing || mask->layout.shape[d - missing] != q->layout.shape[d]) dims[n++] = d;
    struct wick_tensor *y = unfold(x, 3, q);
    if (n > 0) y = wick_sum(y, n, dims, true);
    return y ? wick_reshape(y, mask->layout.rank, mask->layout.shape) : NULL;
}

struct wick_tensor *wick__attention_backward_folded(const struct wick_tensor *gradient, const struct wick_tensor *q,
                                                    const struct wick_tensor *k, const struct wick_tensor *v,
                                                    const struct wick_attention_backward *options) {
    struct wick_attention_backward four = *options;
    struct wick_tensor *dk = NULL, *dv = NULL, *dm = NULL;
    wick_scope_begin();
    four.result = fold(options->result, 3);
    four.log_sums = fold(options->log_sums, 2);
    four.mask = fold_mask(options->mask, q);
    four.k_gradient = &dk;
    four.v_gradient = &dv;
    if (options->mask_gradient) four.mask_gradient = &dm;
    if (options->mask && !four.mask) return wick_scope_end(NULL);
    struct wick_tensor *y =
        wick_scaled_dot_product_attention_backward(fold(gradient, 3), fold(q, 3), fold(k, 3), fold(v, 3), &four);
    y = unfold(y, 3, q);
    if (!y) return wick_scope_end(NULL);
    dk = unfold(dk, 3, q);
    dv = unfold(dv, 3, q);
    if (options->mask_gradient) dm = unfold_mask(dm, options->mask, q);
    if (!dk || !dv || (options->mask_gradient && !dm)) return wick_scope_end(NULL);
    if (options->k_gradient) *options->k_gradient = wick_keep(dk);
    if (options->v_gradient) *options->v_gradient = wick_keep(dv);
    if (options->mask_gradient) *options->mask_gradient = wick_keep(dm);
    return wick_scope_end(y);
}
