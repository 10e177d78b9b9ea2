/* Gradients of ops: of a loss by the operands of an op, from its gradient by the op's result.
 *
 * `gradient` is that of the result and has its shape and dtype. Floats, all operands of one dtype. bf16, f16 and f8e4m3
 * are computed in f32 and rounded once. The same inputs give the same bits on one device. docs/gradients.md has
 * formulas for the ops that are not here. */
#ifndef WICK_BACKWARD_H
#define WICK_BACKWARD_H

#include <wick/conv.h>
#include <wick/index.h>
#include <wick/nn.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- of functions of one tensor (elementwise.h) ---- gradient [..], x [..] -> [..], of one shape; WICK_SHAPE for
 * others. x is the function's argument. Where a function has a corner, its slope is PyTorch's. Errors of smooth slopes
 * are a few units in the last place of the gradient, not of a slope that vanishes. */

/* Slopes that are 0, 1 or grow with x, in pieces. */
WICK_API struct wick_tensor *wick_relu_backward(const struct wick_tensor *gradient, const struct wick_tensor *x);
WICK_API struct wick_tensor *wick_relu2_backward(const struct wick_tensor *gradient, const struct wick_tensor *x);
WICK_API struct wick_tensor *wick_relu6_backward(const struct wick_tensor *gradient, const struct wick_tensor *x);
WICK_API struct wick_tensor *wick_hard_sigmoid_backward(const struct wick_tensor *gradient,
                                                        const struct wick_tensor *x);
WICK_API struct wick_tensor *wick_hard_swish_backward(const struct wick_tensor *gradient, const struct wick_tensor *x);
/* With the numbers of the function. */
WICK_API struct wick_tensor *wick_leaky_relu_backward(const struct wick_tensor *gradient, const struct wick_tensor *x,
                                                      double slope);
WICK_API struct wick_tensor *wick_hardtanh_backward(const struct wick_tensor *gradient, const struct wick_tensor *x,
                                                    double low, double high);
WICK_API struct wick_tensor *wick_elu_backward(const struct wick_tensor *gradient, const struct wick_tensor *x,
                                               double alpha);
/* Smooth slopes, of all x or of those below 0. */
WICK_API struct wick_tensor *wick_softsign_backward(const struct wick_tensor *gradient, const struct wick_tensor *x);
WICK_API struct wick_tensor *wick_tanhshrink_backward(const struct wick_tensor *gradient, const struct wick_tensor *x);
WICK_API struct wick_tensor *wick_gelu_backward(const struct wick_tensor *gradient, const struct wick_tensor *x);
WICK_API struct wick_tensor *wick_gelu_tanh_backward(const struct wick_tensor *gradient, const struct wick_tensor *x);
WICK_API struct wick_tensor *wick_silu_backward(const struct wick_tensor *gradient, const struct wick_tensor *x);
WICK_API struct wick_tensor *wick_mish_backward(const struct wick_tensor *gradient, const struct wick_tensor *x);
WICK_API struct wick_tensor *wick_log_sigmoid_backward(const struct wick_tensor *gradient, const struct wick_tensor *x);
WICK_API struct wick_tensor *wick_selu_backward(const struct wick_tensor *gradient, const struct wick_tensor *x);
/* Of wick_softplus_beta; with beta 1 and threshold INFINITY of wick_softplus. WICK_INVALID for beta 0. */
WICK_API struct wick_tensor *wick_softplus_backward(const struct wick_tensor *gradient, const struct wick_tensor *x,
                                                    double beta, double threshold);
/* WICK_INVALID for alpha 0. */
WICK_API struct wick_tensor *wick_celu_backward(const struct wick_tensor *gradient, const struct wick_tensor *x,
                                                double alpha);
/* Of wick_glu, along dim, and wick_swiglu: gradient [..,N,..], x [..,2N,..] -> [..,2N,..]. Computed in f32 (f64 for
 * f64) and rounded once. */
WICK_API struct wick_tensor *wick_glu_backward(const struct wick_tensor *gradient, const struct wick_tensor *x,
                                               int dim);
WICK_API struct wick_tensor *wick_swiglu_backward(const struct wick_tensor *gradient, const struct wick_tensor *x);
/* Of wick_prelu, by x. If `weight_gradient` is not NULL, *weight_gradient receives the gradient by the weight, in its
 * shape: the sum of gradient x where x <= 0, rounded once. A failure leaves it as it was. */
WICK_API struct wick_tensor *wick_prelu_backward(const struct wick_tensor *gradient, const struct wick_tensor *x,
                                                 const struct wick_tensor *weight,
                                                 struct wick_tensor **weight_gradient);
/* These take the function's result instead of its argument. */
WICK_API struct wick_tensor *wick_sigmoid_backward(const struct wick_tensor *gradient,
                                                   const struct wick_tensor *result);
WICK_API struct wick_tensor *wick_tanh_backward(const struct wick_tensor *gradient, const struct wick_tensor *result);

/* ---- of softmax (nn.h) ---- gradient [...,N,...], the function's result [...,N,...] -> [...,N,...], of one shape;
 * WICK_SHAPE for others. Sums along dim are f64. A scalar has one dim, 0 or -1, of one element. */

/* result (gradient - sum(gradient result)). */
WICK_API struct wick_tensor *wick_softmax_backward(const struct wick_tensor *gradient, const struct wick_tensor *result,
                                                   int dim);
/* gradient - exp(result) sum(gradient). */
WICK_API struct wick_tensor *wick_log_softmax_backward(const struct wick_tensor *gradient,
                                                       const struct wick_tensor *result, int dim);

/* ---- of norms (nn.h) ---- gradient and x of one shape, of floats; mean and inverse_deviation as the norm's options
 * give them, f32 (f64 for f64): WICK_SHAPE and WICK_DTYPE for others. Sums are f64. */

/* What the norm had besides, and places for further gradients. */
struct wick_norm_backward_options {
    const struct wick_tensor *weight; /* the norm's; NULL: it had none */
    /* If not NULL, these receive the gradients of weight and bias, in the shape that those have or would have. RMS norm
     * has no bias: WICK_INVALID. They are released like the result. A failure leaves them as they were. */
    struct wick_tensor **weight_gradient, **bias_gradient;
    WICK_RESERVED;
};
/* The gradient of x. With g = gradient weight, y = (x - mean) inverse_deviation and means over the last `axes` dims:
 * inverse_deviation (g - mean(g) - y mean(g y)). That of the weight is the sum of gradient y over the other dims, that
 * of the bias the sum of the gradient. `options` may be NULL. */
WICK_API struct wick_tensor *wick_layer_norm_backward(const struct wick_tensor *gradient, const struct wick_tensor *x,
                                                      const struct wick_tensor *mean,
                                                      const struct wick_tensor *inverse_deviation, int axes,
                                                      const struct wick_norm_backward_options *options);
/* inverse_deviation (g - y mean(g y)) with y = x inverse_deviation, over the last dim. */
WICK_API struct wick_tensor *wick_rms_norm_backward(const struct wick_tensor *gradient, const struct wick_tensor *x,
                                                    const struct wick_tensor *inverse_deviation,
                                                    const struct wick_norm_backward_options *options);
/* As wick_layer_norm_backward over groups of channels; x [N,C,...], statistics [N,groups], weight [C]. */
WICK_API struct wick_tensor *wick_group_norm_backward(const struct wick_tensor *gradient, const struct wick_tensor *x,
                                                      const struct wick_tensor *mean,
                                                      const struct wick_tensor *inverse_deviation, int64_t groups,
                                                      const struct wick_norm_backward_options *options);
/* Of batch norm: gradient and x [N,C,...], mean, inverse_deviation and weight [C] -> [N,C,...]. `training`: mean and
 * inverse_deviation are those that wick_batch_norm_train gave, of x itself; the formula of wick_layer_norm_backward
 * over all elements of a channel. Otherwise they are constants, as wick_batch_norm takes them, with inverse_deviation
 * 1 / sqrt(variance + epsilon): gradient weight inverse_deviation. Those of weight and bias are the same in both. */
WICK_API struct wick_tensor *wick_batch_norm_backward(const struct wick_tensor *gradient, const struct wick_tensor *x,
                                                      const struct wick_tensor *mean,
                                                      const struct wick_tensor *inverse_deviation, bool training,
                                                      const struct wick_norm_backward_options *options);

/* ---- of pooling (conv.h) ---- gradient [N,C,out...], x [N,C,size...] -> [N,C,size...]; n, kernel and options are the
 * function's, whose indices must be NULL: WICK_INVALID. WICK_SHAPE unless out is what pooling makes of size. Sums are
 * f64, in the order of the windows. */

/* The sum of the gradients of those windows whose element of `indices`, u32 in the shape of the gradient, is this
 * position, as max pooling gives them. A position that lies outside its window's reach counts for nothing. */
WICK_API struct wick_tensor *wick_max_pool1d_backward(const struct wick_tensor *gradient,
                                                      const struct wick_tensor *indices, int n, const int64_t *size,
                                                      const int64_t *kernel, const struct wick_pool_options *options);
WICK_API struct wick_tensor *wick_max_pool2d_backward(const struct wick_tensor *gradient,
                                                      const struct wick_tensor *indices, int n, const int64_t *size,
                                                      const int64_t *kernel, const struct wick_pool_options *options);
WICK_API struct wick_tensor *wick_max_pool3d_backward(const struct wick_tensor *gradient,
                                                      const struct wick_tensor *indices, int n, const int64_t *size,
                                                      const int64_t *kernel, const struct wick_pool_options *options);
/* The sum of gradient / divisor over the windows that reach an element. */
WICK_API struct wick_tensor *wick_avg_pool1d_backward(const struct wick_tensor *gradient, int n, const int64_t *size,
                                                      const int64_t *kernel, const struct wick_pool_options *options);
WICK_API struct wick_tensor *wick_avg_pool2d_backward(const struct wick_tensor *gradient, int n, const int64_t *size,
                                                      const int64_t *kernel, const struct wick_pool_options *options);
WICK_API struct wick_tensor *wick_avg_pool3d_backward(const struct wick_tensor *gradient, int n, const int64_t *size,
                                                      const int64_t *kernel, const struct wick_pool_options *options);

/* Of adaptive pooling: gradient [N,C,out...], x [N,C,size...] over n = 1, 2 or 3 spatial dims -> [N,C,size...]. The sum
 * of gradient / elements over the windows that reach an element, and that of the gradients of those windows whose
 * element of `indices` is this position, as wick_adaptive_max_pool_with_indices gives them. */
WICK_API struct wick_tensor *wick_adaptive_avg_pool_backward(const struct wick_tensor *gradient, int n,
                                                             const int64_t *size);
WICK_API struct wick_tensor *wick_adaptive_max_pool_backward(const struct wick_tensor *gradient,
                                                             const struct wick_tensor *indices, int n,
                                                             const int64_t *size);
/* Of unpooling: gradient [N,C,size...], indices [N,C,in...] -> [N,C,in...], the elements that the indices point to; 0
 * for 2^32 - 1. */
WICK_API struct wick_tensor *wick_max_unpool_backward(const struct wick_tensor *gradient,
                                                      const struct wick_tensor *indices);
/* Of Lp pooling: x^(p - 1) times the sum of gradient y^(1 - p) over the windows that reach an element, where y is the
 * result, which is computed again. A window whose result is 0 counts for nothing, where PyTorch gives NaN. */
WICK_API struct wick_tensor *wick_lp_pool_backward(const struct wick_tensor *gradient, const struct wick_tensor *x,
                                                   double p, int n, const int64_t *kernel,
                                                   const struct wick_pool_options *options);

/* ---- of embedding (index.h) ---- sums in the order of ids, in f32 (f64 for f64), rounded once */

/* Of wick_embedding: gradient [S..,D], ids [S..] -> [rows,D]. Sentinels, and ids that are `padding`, add nothing; a
 * negative padding is none. */
WICK_API struct wick_tensor *wick_embedding_backward(const struct wick_tensor *gradient, const struct wick_tensor *ids,
                                                     int64_t rows, int64_t padding);
/* Of wick_embedding_bag, by weight [V,D]: gradient [B,D]; ids and options are the function's. The gradient of a maximum
 * goes to the first row that has it. If `weights_gradient` is not NULL, *weights_gradient receives the gradient by the
 * options' weights, in the shape of ids: the sum of gradient times row, 0 for padding. WICK_INVALID unless there are
 * weights. A failure leaves it as it was. */
WICK_API struct wick_tensor *wick_embedding_bag_backward(const struct wick_tensor *gradient,
                                                         const struct wick_tensor *weight,
                                                         const struct wick_tensor *ids,
                                                         const struct wick_bag_options *options,
                                                         struct wick_tensor **weights_gradient);

/* ---- of resizing and padding (conv.h) ---- gradient [N,C,out...], x [N,C,size...] -> [N,C,size...]; options are the
 * function's and may be NULL. Each element is the sum over those results that it is in, of gradient times its weight
 * there, in f64; a weight of 0 counts for nothing. WICK_SHAPE for empty dims. */

/* n = 1, 2 or 3 spatial dims. */
WICK_API struct wick_tensor *wick_upsample_nearest_backward(const struct wick_tensor *gradient, int n,
                                                            const int64_t *size,
                                                            const struct wick_upsample_options *options);
WICK_API struct wick_tensor *wick_upsample_nearest_exact_backward(const struct wick_tensor *gradient, int n,
                                                                  const int64_t *size,
                                                                  const struct wick_upsample_options *options);
/* Of wick_upsample_linear1d, wick_upsample_bilinear2d, wick_upsample_trilinear3d. */
WICK_API struct wick_tensor *wick_upsample_linear_backward(const struct wick_tensor *gradient, int n,
                                                           const int64_t *size,
                                                           const struct wick_upsample_options *options);
/* n = 2. */
WICK_API struct wick_tensor *wick_upsample_bicubic2d_backward(const struct wick_tensor *gradient, int n,
                                                              const int64_t *size,
                                                              const struct wick_upsample_options *options);
/* Of wick_pad: the gradient has the padded shape and n dims; before, after and mode are the function's. */
WICK_API struct wick_tensor *wick_pad_backward(const struct wick_tensor *gradient, int n, const int64_t *before,
                                               const int64_t *after, enum wick_pad_mode mode);

/* Of wick_grid_sample, by x: gradient [N,C,out...], grid [N,out...,n], size the n spatial sizes of x -> [N,C,size...].
 * The sum, in f64 and in the order of the points, of gradient times the weight of the element there. */
WICK_API struct wick_tensor *wick_grid_sample_backward_input(const struct wick_tensor *gradient,
                                                             const struct wick_tensor *grid, int n, const int64_t *size,
                                                             const struct wick_grid_sample_options *options);
/* By the grid: gradient [N,C,out...], x [N,C,in...], grid [N,out...,n] -> the shape of grid. The sum over channels and
 * elements, in f64, of gradient x times the slope of the weight: 0 for the nearest, and where a place beyond x is at
 * the edge. */
WICK_API struct wick_tensor *wick_grid_sample_backward_grid(const struct wick_tensor *gradient,
                                                            const struct wick_tensor *x, const struct wick_tensor *grid,
                                                            const struct wick_grid_sample_options *options);

/* Of wick_local_response_norm (nn.h): gradient and x of one shape. With d = k + alpha mean(x^2) of each element's
 * neighbours: gradient / d^beta - 2 alpha beta x times the sum, over the elements that x is a neighbour of, of gradient
 * x / d^(beta + 1) / (number of neighbours). */
WICK_API struct wick_tensor *wick_local_response_norm_backward(const struct wick_tensor *gradient,
                                                               const struct wick_tensor *x,
                                                               const struct wick_response_options *options);

/* ---- of convolution (conv.h) ----
 *
 * The gradients of a loss by x [N,Cin,in...], weight and bias of a convolution with the result [N,Cout,out...]. n is
 * the number of spatial dims. Options are the function's, and may be NULL; with relu they are WICK_INVALID, so call
 * wick_relu_backward first. WICK_SHAPE unless out is what the function makes of in. Sums are f32 (f64 for f64), those
 * of the weight in parts that are added in f64. */

/* The gradient of x: gradient [N,Cout,out...], weight [Cout,Cin/groups,kernel...], size the spatial sizes of x, which
 * gradient and weight leave open -> [N,Cin,size...]. */
WICK_API struct wick_tensor *wick_conv1d_backward_input(const struct wick_tensor *gradient,
                                                        const struct wick_tensor *weight, int n, const int64_t *size,
                                                        const struct wick_conv_options *options);
WICK_API struct wick_tensor *wick_conv2d_backward_input(const struct wick_tensor *gradient,
                                                        const struct wick_tensor *weight, int n, const int64_t *size,
                                                        const struct wick_conv_options *options);
WICK_API struct wick_tensor *wick_conv3d_backward_input(const struct wick_tensor *gradient,
                                                        const struct wick_tensor *weight, int n, const int64_t *size,
                                                        const struct wick_conv_options *options);
/* Of the transposes: gradient [N,Cout,out...], weight [Cin,Cout/groups,kernel...] -> [N,Cin,size...]. */
WICK_API struct wick_tensor *wick_conv_transpose1d_backward_input(const struct wick_tensor *gradient,
                                                                  const struct wick_tensor *weight, int n,
                                                                  const int64_t *size,
                                                                  const struct wick_conv_options *options);
WICK_API struct wick_tensor *wick_conv_transpose2d_backward_input(const struct wick_tensor *gradient,
                                                                  const struct wick_tensor *weight, int n,
                                                                  const int64_t *size,
                                                                  const struct wick_conv_options *options);
WICK_API struct wick_tensor *wick_conv_transpose3d_backward_input(const struct wick_tensor *gradient,
                                                                  const struct wick_tensor *weight, int n,
                                                                  const int64_t *size,
                                                                  const struct wick_conv_options *options);
/* The gradient of the weight: gradient [N,Cout,out...], x [N,Cin,in...] -> [Cout,Cin/groups,kernel...]. */
WICK_API struct wick_tensor *wick_conv1d_backward_weight(const struct wick_tensor *gradient,
                                                         const struct wick_tensor *x, int n, const int64_t *kernel,
                                                         const struct wick_conv_options *options);
WICK_API struct wick_tensor *wick_conv2d_backward_weight(const struct wick_tensor *gradient,
                                                         const struct wick_tensor *x, int n, const int64_t *kernel,
                                                         const struct wick_conv_options *options);
WICK_API struct wick_tensor *wick_conv3d_backward_weight(const struct wick_tensor *gradient,
                                                         const struct wick_tensor *x, int n, const int64_t *kernel,
                                                         const struct wick_conv_options *options);
/* Of the transposes: gradient [N,Cout,out...], x [N,Cin,in...] -> [Cin,Cout/groups,kernel...]. */
WICK_API struct wick_tensor *wick_conv_transpose1d_backward_weight(const struct wick_tensor *gradient,
                                                                   const struct wick_tensor *x, int n,
                                                                   const int64_t *kernel,
                                                                   const struct wick_conv_options *options);
WICK_API struct wick_tensor *wick_conv_transpose2d_backward_weight(const struct wick_tensor *gradient,
                                                                   const struct wick_tensor *x, int n,
                                                                   const int64_t *kernel,
                                                                   const struct wick_conv_options *options);
WICK_API struct wick_tensor *wick_conv_transpose3d_backward_weight(const struct wick_tensor *gradient,
                                                                   const struct wick_tensor *x, int n,
                                                                   const int64_t *kernel,
                                                                   const struct wick_conv_options *options);
/* The gradient of the bias of any of them: gradient [N,C,...] -> [C], the sum over images and positions, in f64. */
WICK_API struct wick_tensor *wick_conv_backward_bias(const struct wick_tensor *gradient);

/* ---- of attention (nn.h) ---- */

/* What the call of attention had and gave, and places for further gradients. Zero and NULL: as there. */
struct wick_attention_backward {
    const struct wick_tensor *result;              /* of the call */
    const struct wick_tensor *log_sums;            /* that its options' log_sums gave */
    const struct wick_tensor *mask;                /* wick_attention_packed has none: WICK_INVALID */
    const struct wick_tensor *q_starts, *k_starts; /* of wick_attention_packed alone: WICK_INVALID */
    const struct wick_attention_options *function; /* its log_sums must be NULL: WICK_INVALID */
    /* If not NULL, these receive the gradients of k and v, in their shapes. They are released like the result. A
     * failure leaves them as they were. */
    struct wick_tensor **k_gradient, **v_gradient;
    /* If not NULL, this receives the gradient of a mask that is added, in its shape: the sum of dS over what it was
     * broadcast along. dS [B,H,M,N] is then stored, as with dropout. WICK_INVALID without such a mask. */
    struct wick_tensor **mask_gradient;
    WICK_RESERVED;
};

/* The gradient of q, from that of the result [B,H,M,E]. With P = exp(scores - log_sums) and dS = P (gradient v^T -
 * sum(gradient result)), times the slope of the soft cap where there is one: scale dS k. That of k is scale dS^T q,
 * that of v is P^T gradient, both summed over the heads that share them. Only dropout and the gradient of a mask store
 * M x N scores; otherwise memory grows with M + N. Ranks other than 4 are as in the function. Floats of one dtype,
 * log_sums f32 (f64 for f64), computed in f32 (f64 for f64) and rounded once. A hidden key has no effect, and receives
 * none, even if an operand holds NaN. Errors are those of the function; WICK_INVALID without options, WICK_SHAPE unless
 * gradient and result have the shape [B,H,M,E] and log_sums [B,H,M]. */
WICK_API struct wick_tensor *wick_scaled_dot_product_attention_backward(const struct wick_tensor *gradient,
                                                                        const struct wick_tensor *q,
                                                                        const struct wick_tensor *k,
                                                                        const struct wick_tensor *v,
                                                                        const struct wick_attention_backward *options);
/* The same of wick_attention_packed: gradient and result [M,H,E], log_sums [M,H]. */
WICK_API struct wick_tensor *wick_attention_packed_backward(const struct wick_tensor *gradient,
                                                            const struct wick_tensor *q, const struct wick_tensor *k,
                                                            const struct wick_tensor *v,
                                                            const struct wick_attention_backward *options);

#ifdef __cplusplus
}
#endif
#endif
