/* Layers of networks: softmax, norms, rotary embedding, attention. */
#ifndef WICK_NN_H
#define WICK_NN_H

#include <wick/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- softmax ---- floats; computed in f32 (f64 for f64) and rounded once. Sums are f64, except that GPUs add rows
 * short enough for their registers in f32 */

/* exp(x - max) / sum(exp(x - max)) along dim. x [...,N,...] -> [...,N,...]. A scalar has one dim, 0 or -1, of one
 * element. */
WICK_API struct wick_tensor *wick_softmax(const struct wick_tensor *x, int dim);
/* Its logarithm, x - max - log(sum(exp(x - max))). */
WICK_API struct wick_tensor *wick_log_softmax(const struct wick_tensor *x, int dim);

/* ---- norms ---- floats, all operands of one dtype. Statistics are sums in f64 in two passes, so large elements that
 * lie close together lose no digits. `weight` and `bias` may be NULL. WICK_INVALID unless epsilon >= 0. */

/* (x - mean) / sqrt(var + epsilon) * weight + bias, mean and (biased) var over the last `axes` >= 1 dims, of which
 * weight and bias have the shape: x [...,A,B], axes 2, weight [A,B], bias [A,B]. */
WICK_API struct wick_tensor *wick_layer_norm(const struct wick_tensor *x, int axes, const struct wick_tensor *weight,
                                             const struct wick_tensor *bias, double epsilon);
/* x / sqrt(mean(x^2) + epsilon) * weight over the last dim: x [...,N], weight [N]. */
WICK_API struct wick_tensor *wick_rms_norm(const struct wick_tensor *x, const struct wick_tensor *weight,
                                           double epsilon);
/* As wick_layer_norm for each of `groups` groups of C / groups channels: x [N,C,...], weight [C], bias [C]. With
 * groups = C it is instance norm. WICK_SHAPE unless groups divides C. */
WICK_API struct wick_tensor *wick_group_norm(const struct wick_tensor *x, int64_t groups,
                                             const struct wick_tensor *weight, const struct wick_tensor *bias,
                                             double epsilon);

/* Parameters of the norms above, and places for their statistics, which a gradient needs. */
struct wick_norm_options {
    const struct wick_tensor *weight, *bias; /* NULL: left out. wick_rms_norm_with has no bias: WICK_INVALID */
    double epsilon;
    /* If not NULL, these receive the mean, and 1 / sqrt(var + epsilon), of the elements normalised together: f32 (f64
     * for f64), in the shape of x without the last `axes` dims, of wick_rms_norm_with without the last, of
     * wick_group_norm_with [N,groups]. wick_rms_norm_with has no mean, WICK_INVALID, and squares in place of var. They
     * are released like the result. A failure leaves them as they were. */
    struct wick_tensor **mean, **inverse_deviation;
    WICK_RESERVED;
};
/* The same functions with all parameters as options, which may be NULL. */
WICK_API struct wick_tensor *wick_layer_norm_with(const struct wick_tensor *x, int axes,
                                                  const struct wick_norm_options *options);
WICK_API struct wick_tensor *wick_rms_norm_with(const struct wick_tensor *x, const struct wick_norm_options *options);
WICK_API struct wick_tensor *wick_group_norm_with(const struct wick_tensor *x, int64_t groups,
                                                  const struct wick_norm_options *options);

/* Statistics and parameters of batch norm, each [C]. */
struct wick_batch_norm_options {
    const struct wick_tensor *weight, *bias; /* NULL: left out */
    double epsilon;                          /* PyTorch's default is 1e-5; 0 is 0 */
    WICK_RESERVED;
};
/* (x - mean) / sqrt(variance + epsilon) * weight + bias by channel, with given statistics, as in inference. x
 * [N,C,...], mean [C], variance [C]. `options` may be NULL. */
WICK_API struct wick_tensor *wick_batch_norm(const struct wick_tensor *x, const struct wick_tensor *mean,
                                             const struct wick_tensor *variance,
                                             const struct wick_batch_norm_options *options);

/* Parameters of batch norm in training, and its statistics; each [C]. */
struct wick_batch_norm_train_options {
    const struct wick_tensor *weight, *bias; /* NULL: left out */
    double epsilon;                          /* PyTorch's default is 1e-5; 0 is 0 */
    /* Written in place where not NULL: running = (1 - momentum) running + momentum statistic, computed in f64, with the
     * mean and the unbiased variance, n / (n - 1) times that of the n elements of a channel. The variance comes from
     * the inverse deviation, so it is off by up to 2^-22 (2^-51 for f64) of variance + epsilon. x's dtype, or f32 (f64
     * for f64). WICK_SHAPE if n < 2 and there is a running_variance. Untouched with momentum 0. */
    struct wick_tensor *running_mean, *running_variance;
    double momentum; /* 0 to 1. 1 / k at call number k = 1, 2, .. gives the average over calls */
    /* If not NULL, these receive mean and 1 / sqrt(variance + epsilon), of the (biased) variance: f32 (f64 for f64),
     * for wick_batch_norm_backward. They are released like the result. A failure leaves them as they were. */
    struct wick_tensor **mean, **inverse_deviation;
    WICK_RESERVED;
};
/* (x - mean) / sqrt(variance + epsilon) * weight + bias with the statistics of x itself, over all elements of a
 * channel: x [N,C,...] -> [N,C,...]. For statistics of each place in a channel, view x as [N,C H W]. Statistics of no
 * elements are NaN. Makes a copy of x where N is not 1 and a channel has fewer than 32 elements in an image. `options`
 * may be NULL. WICK_INVALID unless epsilon >= 0. */
WICK_API struct wick_tensor *wick_batch_norm_train(const struct wick_tensor *x,
                                                   const struct wick_batch_norm_train_options *options);

/* Parameters of local response norm; none has a default. PyTorch's defaults are alpha 1e-4, beta 0.75, k 1. */
struct wick_response_options {
    int64_t size; /* of the window, >= 1 */
    double alpha, beta, k;
    bool within_channels; /* the window is size x size.. of the spatial dims, with size odd, instead of channels */
    WICK_RESERVED;
};
/* x / (k + alpha m)^beta, x [N,C,...], floats, computed in f32 (f64 for f64). m is the mean of the squares of channels
 * c
 * - size / 2 .. c + (size - 1) / 2, with 0 beyond the channels, as in PyTorch; within channels that of the elements
 * around x, size in each of 1 to 3 spatial dims, those in x alone, as in MIOpen. WICK_INVALID for NULL options. Squares
 * beyond the range of f32 are infinite. */
WICK_API struct wick_tensor *wick_local_response_norm(const struct wick_tensor *x,
                                                      const struct wick_response_options *options);

/* ---- rotary position embedding ---- floats, all operands of one dtype; computed in f32 (f64 for f64), rounded once */

/* Each pair of elements (a, b) of the last dim becomes (a cos - b sin, a sin + b cos). Pairs are (i, i + D/2), or (2i,
 * 2i + 1) if `interleaved`. x [B,H,T,D]; cosine and sine [T,D/2], or [B,T,D/2] for one table a batch. */
WICK_API struct wick_tensor *wick_rope(const struct wick_tensor *x, const struct wick_tensor *cosine,
                                       const struct wick_tensor *sine, bool interleaved);
/* The same for x [B,T,H,D]. */
WICK_API struct wick_tensor *wick_rope_thd(const struct wick_tensor *x, const struct wick_tensor *cosine,
                                           const struct wick_tensor *sine, bool interleaved);

/* ---- attention ---- */

/* Which keys a query sees, and how scores change. All zero: every key, unchanged scores. */
struct wick_attention_options {
    double scale;    /* of the scores; 0: 1 / sqrt(D) */
    double soft_cap; /* > 0: scores become soft_cap tanh(score / soft_cap) before slopes and mask; 0: none */
    bool causal;     /* a query at position p sees no key after p; keys are at positions 0 .. N - 1 */
    /* Query i of M is at position i + N - M, so that the last query is at the last key: new tokens behind a cache.
     * Otherwise it is at position i, whatever N is, as with is_causal in PyTorch. */
    bool align_last;
    /* A query at position p sees only keys p - left .. p + right; a negative number sets no limit on its side. */
    bool windowed;
    int64_t left, right;
    /* ALiBi: slope |p - j| is subtracted from the score of a query at p and key j. f32, [H] or [B,H]; NULL: none. */
    const struct wick_tensor *slopes;
    /* 0 <= dropout < 1: a weight is 0 with this probability, or else divided by 1 - dropout. It is that of wick_dropout
     * (random.h) on the weights [B,H,M,N] with the stream of `seed` from block 0 on, so that the gradient, and every
     * device, drop the same ones. The M x N weights are then stored, in f32 (f64 for f64), and v must not hold NaN or
     * an infinity where keys are hidden. Of one batch alone: WICK_INVALID for wick_attention_packed. */
    double dropout;
    uint64_t seed;
    /* If not NULL, *log_sums receives a tensor with the logarithm of the sum of exp(score) over the keys that each
     * query sees, -inf for a query that sees none. It has the shape of the result without its last dim, is f32 (f64 for
     * f64), and is released like the result. A failure leaves *log_sums as it was. */
    struct wick_tensor **log_sums;
    WICK_RESERVED;
};

/* softmax(q k^T scale + mask) v by head, as torch.nn.functional.scaled_dot_product_attention, without storing the M x N
 * scores. q [B,H,M,D], k [B,K,N,D], v [B,K,N,E] -> [B,H,M,E]; head h of q uses head h / (H / K) of k and v. Float
 * dtypes, computed in f32 (f64 for f64) and rounded once; matrix instructions of a GPU also round the weights of v to
 * bf16 or f16. mask broadcasts to [B,H,M,N]; NULL means none. A u8 mask hides a key where it is 0. A mask of q's dtype
 * is added to the scores, and hides a key where it is -inf. A hidden key has no effect on a query's result, even if k
 * or v holds NaN. A query that sees no key gives zeros. [H,M,D], of rank 3, is a batch of one; from rank 5 on, all dims
 * before the heads are one batch. `options` may be NULL. WICK_SHAPE unless sizes agree and K divides H, WICK_DTYPE for
 * slopes that are not f32, WICK_INVALID unless scale and soft_cap are finite and soft_cap >= 0. */
WICK_API struct wick_tensor *wick_scaled_dot_product_attention(const struct wick_tensor *q, const struct wick_tensor *k,
                                                               const struct wick_tensor *v,
                                                               const struct wick_tensor *mask,
                                                               const struct wick_attention_options *options);

/* Parameters of multi-head attention, of E features and heads of E / heads each. */
struct wick_multi_head_options {
    int64_t heads; /* divides E */
    /* The projections' weights: [3 E,E], those of query, key and value one after another; or, with in_weight NULL, each
     * its own, [E,E], [E,F] and [E,G]. Biases [3 E], or NULL. */
    const struct wick_tensor *in_weight, *q_weight, *k_weight, *v_weight, *in_bias;
    const struct wick_tensor *out_weight, *out_bias; /* [E,E], and [E] or NULL */
    const struct wick_tensor *mask;                  /* of attention, which broadcasts to [B,heads,M,N]; NULL: none */
    const struct wick_tensor *key_mask; /* u8 [B,N]: hides a key from all queries where it is 0; NULL: none */
    const struct wick_attention_options *attention; /* scale, causal, dropout and so on; NULL: none. No log_sums */
    /* If not NULL, *weights receives the mean over heads of attention's weights after dropout, [B,M,N], or those of
     * `each_head`, [B,heads,M,N], of the dtype of query. M x N weights are then stored as with dropout. They are
     * released like the result. A failure leaves *weights as it was. */
    struct wick_tensor **weights;
    bool each_head;
    WICK_RESERVED;
};

/* Attention of projections, as torch.nn.MultiheadAttention with batches first: query [B,M,E], key [B,N,F] and value
 * [B,N,G] give [B,M,E]; F and G are E with in_weight. Each projection x weight^T + bias is cut into heads along its
 * features. The heads' results of wick_scaled_dot_product_attention stand side by side and meet out_weight^T and
 * out_bias. All are of one float dtype, to which each step is rounded. Its gradient is those of wick_linear and
 * attention, step by step. WICK_SHAPE for other shapes, WICK_INVALID for options that are NULL or lack weights. */
WICK_API struct wick_tensor *wick_multi_head_attention(const struct wick_tensor *query, const struct wick_tensor *key,
                                                       const struct wick_tensor *value,
                                                       const struct wick_multi_head_options *options);

/* wick_scaled_dot_product_attention for B sequences of different lengths, one after another: q [M,H,D], k [N,K,D], v
 * [N,K,E] -> [M,H,E]. Sequence b has queries q_starts[b] .. q_starts[b + 1] - 1 and keys k_starts[b] .. k_starts[b + 1]
 * - 1; positions count from its own beginning. q_starts and k_starts [B+1], B >= 1, are i32 or u32, begin with 0, never
 * decrease, and end with M and N. log_sums has the shape [M,H]. Other starts are WICK_RANGE, which a GPU reports when
 * the result is read; those of an empty result are not checked. WICK_SHAPE unless M and N are below 2^31. */
WICK_API struct wick_tensor *wick_attention_packed(const struct wick_tensor *q, const struct wick_tensor *k,
                                                   const struct wick_tensor *v, const struct wick_tensor *q_starts,
                                                   const struct wick_tensor *k_starts,
                                                   const struct wick_attention_options *options);

/* Parameters of a step of attention. */
struct wick_step_options {
    /* New values, [n,K,1,D], where kv has new keys alone; NULL: kv has them behind the keys. */
    const struct wick_tensor *v;
    /* i32 [n], or NULL: the device says how much of each cache is full, so that a graph can be launched for one step
     * after another. New keys and values go to position lengths[i], and the query looks at lengths[i] + 1 keys. A
     * length that is negative or not below N leaves its cache as it was, and its sequence gets zeros. */
    const struct wick_tensor *lengths;
    /* [n,P] of q's dtype, or both NULL: queries and new keys turn as by wick_rope before all else, the first 2P of the
     * D elements of each row. */
    const struct wick_tensor *cosine, *sine;
    bool interleaved; /* as of wick_rope */
    /* Scale, soft cap and the window's left side; NULL: none. WICK_INVALID for slopes, dropout and log_sums. */
    const struct wick_attention_options *attention;
    WICK_RESERVED;
};

/* One more query of each of n sequences, each of which keeps keys and values in a tensor of its own, and attention of
 * it: q [n,H,1,D], kv [n,2K,1,D] of new keys and, behind those of K heads, their values, caches[i] [1,2K,N,D] of the
 * same -> [n,H,1,D]. Writes new keys and values to the last position of each cache and then looks at all N, whose
 * number may differ from cache to cache: narrow views of longer tensors will do. `options` may be NULL. WICK_SHAPE
 * unless sizes agree, WICK_INVALID for caches that share elements with an operand; those of no two may be the same.
 *
 * Where q and kv are f32, all caches may be bf16 or f16. Then queries, keys and values are rounded to that dtype once
 * positions have turned them, and the result is f32: that of attention to such operands, which may be rounded to their
 * dtype. */
WICK_API struct wick_tensor *wick_attention_step(const struct wick_tensor *q, const struct wick_tensor *kv, int n,
                                                 struct wick_tensor *const *caches,
                                                 const struct wick_step_options *options);

#ifdef __cplusplus
}
#endif
#endif
