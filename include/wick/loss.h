/* Losses and their gradients.
 *
 * Floats, all float operands of one dtype, any layout. bf16, f16 and f8e4m3 are computed in f32. Each loss is first
 * computed element by element, or row by row, and then reduced: sums and means add f32 (f64 for f64) in f64, in a fixed
 * order, and round to the dtype once. The same inputs give the same bits on one device.
 *
 * A gradient function takes `gradient`, that of the loss: a scalar, or with WICK_LOSS_NONE a tensor in the shape of the
 * loss. It returns the gradient of x, in the shape of x; a place for the gradient of another operand may be NULL. What
 * it receives is released like the result, and stays as it was if the call fails. Formulas, defaults and slopes at
 * corners are those of PyTorch 2 where nothing else is said. NULL among operands gives NULL; other failures are
 * WICK_SHAPE, WICK_DTYPE, WICK_DEVICE, WICK_INVALID for an enum or a number outside its range, and WICK_MEMORY. */
#ifndef WICK_LOSS_H
#define WICK_LOSS_H

#include <wick/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What becomes of the losses of elements or rows. */
enum wick_reduction {
    WICK_LOSS_MEAN,      /* a scalar: their mean; NaN of nothing */
    WICK_LOSS_SUM,       /* a scalar: their sum; 0 of nothing */
    WICK_LOSS_NONE,      /* themselves */
    WICK_LOSS_BATCH_MEAN /* kl_div alone: their sum / size of dim 0, for a scalar / 1 */
};

/* ---- of elements ---- x [..], target [..], of one shape. d is x - target. */

/* d^2. */
WICK_API struct wick_tensor *wick_mse_loss(const struct wick_tensor *x, const struct wick_tensor *target,
                                           enum wick_reduction reduction);
/* The gradient of x. */
WICK_API struct wick_tensor *wick_mse_loss_backward(const struct wick_tensor *gradient, const struct wick_tensor *x,
                                                    const struct wick_tensor *target, enum wick_reduction reduction,
                                                    struct wick_tensor **target_gradient);
/* |d|, with slope 0 at 0. */
WICK_API struct wick_tensor *wick_l1_loss(const struct wick_tensor *x, const struct wick_tensor *target,
                                          enum wick_reduction reduction);
/* The gradient of x. */
WICK_API struct wick_tensor *wick_l1_loss_backward(const struct wick_tensor *gradient, const struct wick_tensor *x,
                                                   const struct wick_tensor *target, enum wick_reduction reduction,
                                                   struct wick_tensor **target_gradient);
/* d^2 / (2 beta) where |d| < beta, |d| - beta / 2 elsewhere. WICK_INVALID unless beta >= 0; beta 0 is wick_l1_loss. */
WICK_API struct wick_tensor *wick_smooth_l1_loss(const struct wick_tensor *x, const struct wick_tensor *target,
                                                 double beta, enum wick_reduction reduction);
/* The gradient of x. */
WICK_API struct wick_tensor *wick_smooth_l1_loss_backward(const struct wick_tensor *gradient,
                                                          const struct wick_tensor *x, const struct wick_tensor *target,
                                                          double beta, enum wick_reduction reduction,
                                                          struct wick_tensor **target_gradient);
/* d^2 / 2 where |d| < delta, delta (|d| - delta / 2) elsewhere. WICK_INVALID unless delta > 0. */
WICK_API struct wick_tensor *wick_huber_loss(const struct wick_tensor *x, const struct wick_tensor *target,
                                             double delta, enum wick_reduction reduction);
/* The gradient of x. */
WICK_API struct wick_tensor *wick_huber_loss_backward(const struct wick_tensor *gradient, const struct wick_tensor *x,
                                                      const struct wick_tensor *target, double delta,
                                                      enum wick_reduction reduction,
                                                      struct wick_tensor **target_gradient);
/* x is log q and target p, or log p if log_target: p (log p - x), and 0 where p is 0, whatever x is there. */
WICK_API struct wick_tensor *wick_kl_div_loss(const struct wick_tensor *x, const struct wick_tensor *target,
                                              bool log_target, enum wick_reduction reduction);
/* The gradient of x. */
WICK_API struct wick_tensor *wick_kl_div_loss_backward(const struct wick_tensor *gradient, const struct wick_tensor *x,
                                                       const struct wick_tensor *target, bool log_target,
                                                       enum wick_reduction reduction,
                                                       struct wick_tensor **target_gradient);
/* NULL options mean zeros. */
struct wick_binary_cross_entropy_options {
    /* Broadcast to x; NULL: ones. pos_weight is for logits alone: WICK_INVALID. */
    const struct wick_tensor *weight, *pos_weight;
    enum wick_reduction reduction;
    WICK_RESERVED;
};
/* -weight (target log x + (1 - target) log(1 - x)) for probabilities x, with logarithms of at least -100; NaN where x
 * is not in 0..1. */
WICK_API struct wick_tensor *wick_binary_cross_entropy(const struct wick_tensor *x, const struct wick_tensor *target,
                                                       const struct wick_binary_cross_entropy_options *options);
/* The gradient of x, with a divisor x (1 - x) of at least 1e-12. */
WICK_API struct wick_tensor *wick_binary_cross_entropy_backward(const struct wick_tensor *gradient,
                                                                const struct wick_tensor *x,
                                                                const struct wick_tensor *target,
                                                                const struct wick_binary_cross_entropy_options *options,
                                                                struct wick_tensor **target_gradient);
/* The same of sigmoid(x), without its rounding: weight ((1 - target) log(1 + e^x) + pos_weight target log(1 + e^-x)).
 */
WICK_API struct wick_tensor *
wick_binary_cross_entropy_with_logits(const struct wick_tensor *x, const struct wick_tensor *target,
                                      const struct wick_binary_cross_entropy_options *options);
/* The gradient of x. */
WICK_API struct wick_tensor *wick_binary_cross_entropy_with_logits_backward(
    const struct wick_tensor *gradient, const struct wick_tensor *x, const struct wick_tensor *target,
    const struct wick_binary_cross_entropy_options *options, struct wick_tensor **target_gradient);

/* ---- of classes ----
 *
 * x holds C classes: [C], [N,C] or [N,C,d...]. Ids have the shape of x without C, and any integer dtype. An id outside
 * 0..C-1 is WICK_RANGE, on a GPU when the loss, or what was computed from it, is read; but the id type's largest value,
 * and the id `ignored`, leave their row out: its loss, weight and gradient are 0. Rows are read once, without room for
 * another [N,C]; log(sum(exp)) is kept in f64. */

/* NULL options mean zeros: the mean of all rows. */
struct wick_cross_entropy_options {
    const struct wick_tensor *weight; /* w, [C]; NULL: ones */
    bool ignore;                      /* whether `ignored` is left out; ids only */
    int64_t ignored;
    double smoothing; /* s, 0..1: of the target's weight, s / C goes to every class. Not for nll_loss */
    enum wick_reduction reduction;
    /* If not NULL, these receive what the gradient needs: log(sum(exp)) of each row, f64 in the shape of the rows, and
     * the sum of the rows' weights, a scalar in f32 (f64 for f64). nll_loss has no log_sums, probabilities have no
     * total_weight. */
    struct wick_tensor **log_sums, **total_weight;
    WICK_RESERVED;
};
/* With L = log(sum(exp(x))) of a row and y its id: (1 - s) w[y] (L - x[y]) + s / C sum over c of w[c] (L - x[c]). The
 * mean is the sum over rows / sum over rows of w[y], NaN if that is empty or all rows are ignored. */
WICK_API struct wick_tensor *wick_cross_entropy(const struct wick_tensor *x, const struct wick_tensor *ids,
                                                const struct wick_cross_entropy_options *options);
/* The gradient of x. `log_sums` and, for the mean, `total_weight` are what the loss gave (other reductions: NULL);
 * options are the loss's, without places. */
WICK_API struct wick_tensor *wick_cross_entropy_backward(const struct wick_tensor *gradient,
                                                         const struct wick_tensor *x, const struct wick_tensor *ids,
                                                         const struct wick_tensor *log_sums,
                                                         const struct wick_tensor *total_weight,
                                                         const struct wick_cross_entropy_options *options);
/* Probabilities p in the shape of x: sum over c of w[c] (p[c] (1 - s) + s / C) (L - x[c]). The mean divides by the
 * number of rows. WICK_INVALID with `ignore`. */
WICK_API struct wick_tensor *wick_cross_entropy_soft(const struct wick_tensor *x,
                                                     const struct wick_tensor *probabilities,
                                                     const struct wick_cross_entropy_options *options);
/* The gradient of x; `log_sums` is what the loss gave. */
WICK_API struct wick_tensor *wick_cross_entropy_soft_backward(const struct wick_tensor *gradient,
                                                              const struct wick_tensor *x,
                                                              const struct wick_tensor *probabilities,
                                                              const struct wick_tensor *log_sums,
                                                              const struct wick_cross_entropy_options *options,
                                                              struct wick_tensor **probabilities_gradient);
/* -w[y] x[y], of logarithms of probabilities; its mean as that of wick_cross_entropy. */
WICK_API struct wick_tensor *wick_nll_loss(const struct wick_tensor *x, const struct wick_tensor *ids,
                                           const struct wick_cross_entropy_options *options);
/* The gradient of x. `total_weight`: for the mean, what the loss gave; NULL for other reductions. */
WICK_API struct wick_tensor *wick_nll_loss_backward(const struct wick_tensor *gradient, const struct wick_tensor *x,
                                                    const struct wick_tensor *ids,
                                                    const struct wick_tensor *total_weight,
                                                    const struct wick_cross_entropy_options *options);

/* ---- of rows ---- a, b, ... of one shape [N,D] or [D]; losses [N] or a scalar. */

/* NULL options mean zeros. */
struct wick_cosine_options {
    double margin;
    enum wick_reduction reduction;
    WICK_RESERVED;
};
/* With cos = a b / sqrt((|a|^2 + 1e-12) (|b|^2 + 1e-12)): 1 - cos where y is 1, max(0, cos - margin) where it is -1, 0
 * for any other y. y [N], or a scalar for [D], in the dtype of a. */
WICK_API struct wick_tensor *wick_cosine_embedding_loss(const struct wick_tensor *a, const struct wick_tensor *b,
                                                        const struct wick_tensor *y,
                                                        const struct wick_cosine_options *options);
/* The gradient of a. */
WICK_API struct wick_tensor *
wick_cosine_embedding_loss_backward(const struct wick_tensor *gradient, const struct wick_tensor *a,
                                    const struct wick_tensor *b, const struct wick_tensor *y,
                                    const struct wick_cosine_options *options, struct wick_tensor **b_gradient);
/* NULL options mean PyTorch's defaults: margin 1, p 2, epsilon 1e-6, no swap, mean. */
struct wick_triplet_options {
    double margin;
    double p;       /* of the p-norm, > 0 and perhaps infinite; 0: 2 */
    double epsilon; /* added to each difference */
    bool swap;      /* take the smaller of dist(anchor, negative) and dist(positive, negative) */
    enum wick_reduction reduction;
    /* If not NULL, wick_triplet_margin_loss_backward gives these. The loss ignores them. */
    struct wick_tensor **positive_gradient, **negative_gradient;
    WICK_RESERVED;
};
/* max(0, dist(anchor, positive) - dist(anchor, negative) + margin), dist(a, b) the p-norm of a - b + epsilon. */
WICK_API struct wick_tensor *wick_triplet_margin_loss(const struct wick_tensor *anchor,
                                                      const struct wick_tensor *positive,
                                                      const struct wick_tensor *negative,
                                                      const struct wick_triplet_options *options);
/* The gradient of the anchor. An element whose difference is 0 has slope 0. */
WICK_API struct wick_tensor *wick_triplet_margin_loss_backward(const struct wick_tensor *gradient,
                                                               const struct wick_tensor *anchor,
                                                               const struct wick_tensor *positive,
                                                               const struct wick_tensor *negative,
                                                               const struct wick_triplet_options *options);

/* ---- of sequences ---- */

/* NULL options mean zeros. */
struct wick_ctc_options {
    int64_t blank; /* the class that stands for no label, 0..C-1: WICK_RANGE */
    /* The mean is that of loss / max(1, target length). */
    enum wick_reduction reduction;
    bool zero_infinity; /* infinite losses, and their gradients, become 0 */
    /* The steps of each sequence, 0..T, n_input_lengths = N of them; NULL: T each. WICK_RANGE for others. */
    const int64_t *input_lengths;
    int64_t n_input_lengths;
    /* The labels of each sequence, 0..S, n_target_lengths = N of them; NULL: S each. WICK_RANGE for others. */
    const int64_t *target_lengths;
    int64_t n_target_lengths;
    WICK_RESERVED;
};
/* Connectionist temporal classification (Graves et al., ICML 2006): minus the logarithm of the probability of all
 * alignments of N sequences to their labels. log_probs [T,N,C], or [T,C] for one; targets, in any integer dtype, padded
 * [N,S], or one sequence after another [sum of target_lengths]. A label among the first of its sequence's length that
 * is no class is WICK_RANGE, as for wick_cross_entropy; the id type's largest value is a label of probability 0. A
 * sequence too short for its labels has an infinite loss, an empty target the loss of blanks alone, an empty input with
 * an empty target 0. [N], or a scalar for [T,C]. All sums are f64, in logarithms: nothing underflows. */
WICK_API struct wick_tensor *wick_ctc_loss(const struct wick_tensor *log_probs, const struct wick_tensor *targets,
                                           const struct wick_ctc_options *options);
/* exp(log_probs) minus the share of alignments that pass through a class, as PyTorch's: the gradient by log_probs up to
 * what a log_softmax before the loss takes away, so that its gradient there is the true one. 0 from a sequence's length
 * on; NaN before it where the loss is infinite, unless zero_infinity. Takes room for 2 N T (2 S + 1) f64, S the longest
 * target. */
WICK_API struct wick_tensor *wick_ctc_loss_backward(const struct wick_tensor *gradient,
                                                    const struct wick_tensor *log_probs,
                                                    const struct wick_tensor *targets,
                                                    const struct wick_ctc_options *options);

#ifdef __cplusplus
}
#endif
#endif
