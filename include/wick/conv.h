/* Convolution, pooling, resizing and padding.
 *
 * Inputs are [N,C,L], [N,C,H,W] or [N,C,D,H,W], with 1, 2 or 3 spatial dims, as the end of an op's name says. Kernels
 * and sizes are `n` numbers, one a spatial dim in the order of the shape, as in WICK_SHAPE(3, 3); any other n is
 * WICK_INVALID. Arrays of options have one entry a spatial dim too; further entries are ignored. Every op accepts all
 * ten compute dtypes. bf16, f16 and f8e4m3 are computed in f32 and rounded once, f64 in f64; integers wrap. Averages
 * sum every float in f64. Sizes that do not fit are WICK_SHAPE, option values outside their range WICK_INVALID, sizes
 * past 64 bits WICK_OVERFLOW. N and C may be 0; a window that does not fit into a dim of size 0 is WICK_SHAPE. */
#ifndef WICK_CONV_H
#define WICK_CONV_H

#include <wick/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- convolution ---- */

/* Options of convolutions. NULL, or zeros, mean stride 1, padding 0, dilation 1, one group. */
struct wick_conv_options {
    int64_t stride[3];         /* step between windows; 0 means 1 */
    int64_t padding[3];        /* zeros around the input, on both sides of each dim; >= 0 */
    int64_t dilation[3];       /* distance of neighbouring taps; 0 means 1 */
    int64_t output_padding[3]; /* transposed only: added to one end of the result; 0 to max(stride, dilation) - 1 */
    int64_t groups;            /* splits the channels into this many independent convolutions; 0 means 1 */
    bool relu;                 /* applies max(0, .) to the result; NaN stays */
    WICK_RESERVED;
};

/* Cross-correlation, as PyTorch's conv1d, conv2d, conv3d: x [N,Cin,spatial...], weight [Cout,Cin/groups,kernel...],
 * bias [Cout] or NULL, result [N,Cout,out...] with out = floor((in + 2 padding - dilation (kernel - 1) - 1) / stride)
 * + 1. WICK_SHAPE: ranks, weight channels != Cin/groups, groups that do not divide Cin or Cout, a bias that is not
 * [Cout], a kernel larger than the padded input. WICK_DTYPE: unequal dtypes. */
WICK_API struct wick_tensor *wick_conv1d(const struct wick_tensor *x, const struct wick_tensor *weight,
                                         const struct wick_tensor *bias, const struct wick_conv_options *options);
WICK_API struct wick_tensor *wick_conv2d(const struct wick_tensor *x, const struct wick_tensor *weight,
                                         const struct wick_tensor *bias, const struct wick_conv_options *options);
WICK_API struct wick_tensor *wick_conv3d(const struct wick_tensor *x, const struct wick_tensor *weight,
                                         const struct wick_tensor *bias, const struct wick_conv_options *options);

/* The transposes, as PyTorch's conv_transpose1d, ..2d, ..3d: x [N,Cin,spatial...], weight [Cin,Cout/groups,kernel...],
 * bias [Cout] or NULL, result [N,Cout,out...] with
 * out = (in - 1) stride - 2 padding + dilation (kernel - 1) + output_padding + 1.
 * WICK_SHAPE as above, and when out < 1. */
WICK_API struct wick_tensor *wick_conv_transpose1d(const struct wick_tensor *x, const struct wick_tensor *weight,
                                                   const struct wick_tensor *bias,
                                                   const struct wick_conv_options *options);
WICK_API struct wick_tensor *wick_conv_transpose2d(const struct wick_tensor *x, const struct wick_tensor *weight,
                                                   const struct wick_tensor *bias,
                                                   const struct wick_conv_options *options);
WICK_API struct wick_tensor *wick_conv_transpose3d(const struct wick_tensor *x, const struct wick_tensor *weight,
                                                   const struct wick_tensor *bias,
                                                   const struct wick_conv_options *options);

/* ---- pooling ---- */

/* Options of pooling. NULL, or zeros, mean stride = kernel, padding 0, dilation 1, sizes rounded down, and padding
 * counted in averages. */
struct wick_pool_options {
    int64_t stride[3];    /* 0 means the kernel's size */
    int64_t padding[3];   /* >= 0 and at most half of dilation (kernel - 1) + 1 */
    int64_t dilation[3];  /* max pooling only; 0 means 1 */
    bool ceil_mode;       /* sizes are rounded up; the last window still begins inside the input or its left padding */
    bool exclude_padding; /* averages divide by the number of elements inside the input (count_include_pad=False) */
    int64_t divisor;      /* averages divide by this instead (divisor_override); >= 0, 0 means none */
    /* Max pooling alone, WICK_INVALID otherwise. If not NULL, *indices receives where each result comes from, u32 in
     * the shape of the result: its position in x[n][c], counted in row-major order, of the first among equals, or of
     * the last NaN, as in PyTorch; 2^32 - 1 where a window lies wholly in the padding. It is released like the result.
     * A failure leaves *indices as it was. WICK_OVERFLOW if x[n][c] has 2^32 - 1 elements or more. */
    struct wick_tensor **indices;
    WICK_RESERVED;
};

/* The largest element of each window: x [N,C,spatial...], kernel one size a spatial dim, result [N,C,out...] with out =
 * floor or ceil((in + 2 padding - dilation (kernel - 1) - 1) / stride) + 1. Padding never wins; NaN always does. A
 * dilated window that lies wholly in the padding gives the dtype's lowest value. */
WICK_API struct wick_tensor *wick_max_pool1d(const struct wick_tensor *x, int n, const int64_t *kernel,
                                             const struct wick_pool_options *options);
WICK_API struct wick_tensor *wick_max_pool2d(const struct wick_tensor *x, int n, const int64_t *kernel,
                                             const struct wick_pool_options *options);
WICK_API struct wick_tensor *wick_max_pool3d(const struct wick_tensor *x, int n, const int64_t *kernel,
                                             const struct wick_pool_options *options);

/* The mean of each window; shapes as above. Integers give the exact mean truncated toward zero. As in PyTorch's
 * avg_pool, the divisor counts padding (but not what ceil_mode alone reaches), unless exclude_padding or divisor say
 * otherwise. */
WICK_API struct wick_tensor *wick_avg_pool1d(const struct wick_tensor *x, int n, const int64_t *kernel,
                                             const struct wick_pool_options *options);
WICK_API struct wick_tensor *wick_avg_pool2d(const struct wick_tensor *x, int n, const int64_t *kernel,
                                             const struct wick_pool_options *options);
WICK_API struct wick_tensor *wick_avg_pool3d(const struct wick_tensor *x, int n, const int64_t *kernel,
                                             const struct wick_pool_options *options);

/* Pooling to a result of the given spatial sizes >= 0: window o of n over a dim of size `in` is
 * floor(o in / n) .. ceil((o + 1) in / n) - 1. Size 1 in every dim pools globally. */
WICK_API struct wick_tensor *wick_adaptive_max_pool1d(const struct wick_tensor *x, int n, const int64_t *size);
WICK_API struct wick_tensor *wick_adaptive_max_pool2d(const struct wick_tensor *x, int n, const int64_t *size);
WICK_API struct wick_tensor *wick_adaptive_max_pool3d(const struct wick_tensor *x, int n, const int64_t *size);
/* Adaptive max pooling of x [N,C,size...] over n = 1, 2 or 3 spatial dims that gives positions too: *indices receives
 * those of wick_pool_options, and is released like the result. */
WICK_API struct wick_tensor *wick_adaptive_max_pool_with_indices(const struct wick_tensor *x, int n,
                                                                 const int64_t *size, struct wick_tensor **indices);
WICK_API struct wick_tensor *wick_adaptive_avg_pool1d(const struct wick_tensor *x, int n, const int64_t *size);
WICK_API struct wick_tensor *wick_adaptive_avg_pool2d(const struct wick_tensor *x, int n, const int64_t *size);
WICK_API struct wick_tensor *wick_adaptive_avg_pool3d(const struct wick_tensor *x, int n, const int64_t *size);

/* Undoes max pooling: x [N,C,in...], indices of its shape, u32, as max pooling gives them, result [N,C,size...] over n
 * = 1, 2 or 3 spatial dims: 0, with each element of x where its index says. Of elements with one index the last stays;
 * 2^32 - 1 is skipped; WICK_RANGE for others outside the plane. PyTorch's size, unless told another, is (in - 1) stride
 * - 2 padding + kernel. */
WICK_API struct wick_tensor *wick_max_unpool(const struct wick_tensor *x, const struct wick_tensor *indices, int n,
                                             const int64_t *size);

/* (sum of x^p)^(1/p) of each window, as PyTorch's lp_pool1d to lp_pool3d: x [N,C,spatial...] of n = 1, 2 or 3 spatial
 * dims, floats, p finite and not 0. A window that ceil_mode cuts counts as often as a whole one has elements for its
 * own, and padding, which PyTorch has none of, counts as 0. x^p keeps its sign, so that an odd p can make NaN.
 * WICK_INVALID: dilation, exclude_padding, divisor and indices. Computed in f32 (f64 for f64), powers included. */
WICK_API struct wick_tensor *wick_lp_pool(const struct wick_tensor *x, double p, int n, const int64_t *kernel,
                                          const struct wick_pool_options *options);

/* ---- windows as columns ---- */

/* The windows of x [N,C,spatial...] as columns, PyTorch's unfold: [N, C K, L] for K elements of a kernel and L windows,
 * n = 1, 2 or 3 spatial dims. Row c K + k has element k of the windows over channel c, windows and
 * elements in row-major order. Of the options stride, padding and dilation count; output_padding, groups above 1 and
 * relu are WICK_INVALID. WICK_SHAPE for a kernel larger than the padded input. */
WICK_API struct wick_tensor *wick_im2col(const struct wick_tensor *x, int n, const int64_t *kernel,
                                         const struct wick_conv_options *options);
/* Its transpose, PyTorch's fold: columns [N, C K, L] -> [N,C,size...], each element the sum, in f64, of those that
 * wick_im2col makes of it. Each is the gradient of the other. Floats. WICK_SHAPE unless wick_im2col makes such columns
 * of that size. */
WICK_API struct wick_tensor *wick_col2im(const struct wick_tensor *columns, int n, const int64_t *size,
                                         const int64_t *kernel, const struct wick_conv_options *options);

/* ---- resizing ---- */

/* Options of resizing. With NULL, or zeros, positions follow from the two sizes alone. */
struct wick_upsample_options {
    /* Output size / input size of each dim as the caller states it, finite and > 0; 0: none. The source step is
     * 1 / scale. Without sizes, the result's size is floor(in scale). A dim whose size stays is copied, whatever the
     * scale says, as PyTorch does but for nearest in 1 and 3 dims. */
    double scale[3];
    bool align_corners; /* linear and cubic: the corner elements keep their places, step (in - 1) / (out - 1) */
    WICK_RESERVED;
};

/* Nearest neighbour: x [N,C,spatial...], result [N,C,size...]. Element i of a dim comes from floor(i in / out),
 * exactly, or with a scale from min(in - 1, floor(i / scale)), with the quotient rounded to f64. Without sizes, `0,
 * NULL`, every scale must be given. WICK_SHAPE if a size is < 1 or an input dim is empty. */
WICK_API struct wick_tensor *wick_upsample_nearest1d(const struct wick_tensor *x, int n, const int64_t *size,
                                                     const struct wick_upsample_options *options);
WICK_API struct wick_tensor *wick_upsample_nearest2d(const struct wick_tensor *x, int n, const int64_t *size,
                                                     const struct wick_upsample_options *options);
WICK_API struct wick_tensor *wick_upsample_nearest3d(const struct wick_tensor *x, int n, const int64_t *size,
                                                     const struct wick_upsample_options *options);

/* Linear interpolation in 1, 2 and 3 dims; arguments as above. Element i lies at max(0, (i + 0.5) in / out - 0.5), with
 * a scale at max(0, (i + 0.5) / scale - 0.5), with align_corners at i (in - 1) / (out - 1), between the position's
 * floor and the next element. Positions that follow from sizes are exact, others f64; weights are rounded to f64.
 * Integers are computed in f64 and rounded to nearest, halves to even. */
WICK_API struct wick_tensor *wick_upsample_linear1d(const struct wick_tensor *x, int n, const int64_t *size,
                                                    const struct wick_upsample_options *options);
WICK_API struct wick_tensor *wick_upsample_bilinear2d(const struct wick_tensor *x, int n, const int64_t *size,
                                                      const struct wick_upsample_options *options);
WICK_API struct wick_tensor *wick_upsample_trilinear3d(const struct wick_tensor *x, int n, const int64_t *size,
                                                       const struct wick_upsample_options *options);

/* Nearest neighbour, with the elements' centres compared, in n = 1, 2 or 3 dims; n 0 for sizes from scales. Element i
 * comes from floor((i + 0.5) in / out), exactly, or with a scale from min(in - 1, floor((i + 0.5) / scale)). */
WICK_API struct wick_tensor *wick_upsample_nearest_exact(const struct wick_tensor *x, int n, const int64_t *size,
                                                         const struct wick_upsample_options *options);

/* Cubic convolution in 2 dims; arguments as above, floats. Element i lies where linear interpolation has it, negative
 * positions included. It is the sum of the four elements around it in each dim, at the edge the edge element again,
 * with weights (a + 2) t^3 - (a + 3) t^2 + 1 at distances t < 1 and a t^3 - 5 a t^2 + 8 a t - 4 a at 1 <= t < 2, where
 * a is -0.75. Weights are rounded to f64, sums are f32 (f64 for f64). PyTorch's mode "area" is
 * wick_adaptive_avg_pool2d. */
WICK_API struct wick_tensor *wick_upsample_bicubic2d(const struct wick_tensor *x, int n, const int64_t *size,
                                                     const struct wick_upsample_options *options);

/* [...,C r r,H,W] to [...,C,H r,W r]: out[c][h r + i][w r + j] = x[c r r + i r + j][h][w]. r >= 1 divides; rank >= 3.
 */
WICK_API struct wick_tensor *wick_pixel_shuffle(const struct wick_tensor *x, int64_t r);
/* The inverse: [...,C,H r,W r] to [...,C r r,H,W]. */
WICK_API struct wick_tensor *wick_pixel_unshuffle(const struct wick_tensor *x, int64_t r);

/* ---- sampling ---- */

enum wick_grid_mode {
    WICK_GRID_BILINEAR, /* between the 2 elements around the place in each dim */
    WICK_GRID_NEAREST,  /* the nearest, halves to even */
    WICK_GRID_BICUBIC,  /* the 4 elements around it, weighted as by wick_upsample_bicubic2d; 2 spatial dims alone */
    WICK_GRID_MODE_COUNT
};
enum wick_grid_padding {
    WICK_GRID_ZEROS,      /* elements beyond x are 0 */
    WICK_GRID_BORDER,     /* places beyond x are at its edge */
    WICK_GRID_REFLECTION, /* they are mirrored at it: at -0.5 and size - 0.5, with align_corners at 0 and size - 1 */
    WICK_GRID_PADDING_COUNT
};
struct wick_grid_sample_options {
    enum wick_grid_mode mode;
    enum wick_grid_padding padding;
    bool align_corners; /* -1 and 1 are the centres of the corner elements, instead of their outer edges */
    WICK_RESERVED;
};
/* x at the places of a grid, as PyTorch's grid_sample: x [N,C,in...], grid [N,out...,n] of n = 2 or 3 spatial dims,
 * result [N,C,out...], floats. grid[..][0] is the place along the last dim of x, grid[..][1] along that before: g lies
 * at ((g + 1) size - 1) / 2, with align_corners at (g + 1) / 2 (size - 1). NaN is -1. Places and weights are f64, sums
 * f32 (f64 for f64); a weight of 0 drops its element. `options` may be NULL. WICK_SHAPE for an empty dim of x.
 * WICK_OVERFLOW if a plane of x has 2^32 - 1 elements, or the points of an image take as many. */
WICK_API struct wick_tensor *wick_grid_sample(const struct wick_tensor *x, const struct wick_tensor *grid,
                                              const struct wick_grid_sample_options *options);

/* ---- padding ---- */

enum wick_pad_mode {
    WICK_PAD_CONSTANT,  /* `value`, cast to the dtype as wick_cast does */
    WICK_PAD_REFLECT,   /* mirrored about the edge elements, which do not repeat; less than the dim's size */
    WICK_PAD_REPLICATE, /* the edge element again */
    WICK_PAD_CIRCULAR,  /* the dim again, as often as it takes */
    WICK_PAD_MODE_COUNT
};

/* x with before[d] elements in front of and after[d] elements behind dim d; negative numbers take elements away. n is
 * the rank of x. WICK_SHAPE if a reflection is not less than its dim, for replication or repetition of an empty dim,
 * and if more is taken away than there is. */
WICK_API struct wick_tensor *wick_pad(const struct wick_tensor *x, int n, const int64_t *before, const int64_t *after,
                                      enum wick_pad_mode mode, struct wick_number value);
/* One dim padded with zeros, and with its edge elements. */
WICK_API struct wick_tensor *wick_pad_with_zeros(const struct wick_tensor *x, int dim, int64_t before, int64_t after);
WICK_API struct wick_tensor *wick_pad_with_same(const struct wick_tensor *x, int dim, int64_t before, int64_t after);

#ifdef __cplusplus
}
#endif
#endif
