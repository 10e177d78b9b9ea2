/* Convolutions and their gradients by matrix instructions, for src/gpu/ops/conv.c and conv_backward.c. */
#ifndef WICK_GPU_OPS_CONV_H
#define WICK_GPU_OPS_CONV_H

#include "gpu/runtime/gpu.h"

#include "kernels/conv.h"
#include "kernels/conv_mma.h"
#include "kernels/conv_weight.h"

/* Results r, r + stride, .. of a transposed convolution: the first tap that meets the input is returned, and *at is
 * where it meets it for the first result. */
int64_t wick__conv_first_tap(const struct gpu_conv_dim *dim, int64_t r, int64_t *at);

/* Whether a convolution is one for matrix instructions: 16-bit or 8-bit floats, channels enough, on a device that has
 * them, and room for a padded copy of the input. */
bool wick__conv_mma_takes(const struct wick__gpu *gpu, enum wick_dtype dtype, const struct gpu_conv *conv);
/* The same of an input with channels last, which is read as it lies, or copied where windows reach outside. */
bool wick__conv_mma_takes_last(const struct wick__gpu *gpu, enum wick_dtype dtype, const struct gpu_conv *conv);
enum wick_status wick__conv_mma(struct wick__gpu *gpu, enum wick_dtype dtype, const struct gpu_conv *conv, bool last);

/* Whether windows are one element, and results lie as the input does; whether a thread makes many channels of some
 * results of those (conv_points.c). */
bool wick__conv_is_point(const struct gpu_conv *conv);
bool wick__conv_points_takes(enum wick_dtype dtype, const struct gpu_conv *conv);
enum wick_status wick__conv_points(struct wick__gpu *gpu, enum wick_dtype dtype, const struct gpu_conv *conv);

enum { WICK__FEW_CHANNELS = 8 }; /* of a result that leave most of a tile empty */

/* Those of many channels as products (conv_points.c): *done says whether it takes it; and whether it takes an x with
 * channels last. */
enum wick_status wick__conv_product(struct wick__gpu *gpu, enum wick_dtype dtype, const struct gpu_conv *conv,
                                    bool *done);
enum wick_status wick__conv_product_last(const struct wick__call *call, bool *done);

/* Whether a transposed convolution is one by windows of one element, whose results lie a stride apart; and the copy of
 * those, [n, channels, in...], to where they belong, which fills up with the bias. */
bool wick__conv_is_apart(enum wick_dtype dtype, const struct gpu_conv *conv);
enum wick_status wick__conv_apart(struct wick__gpu *gpu, enum wick_dtype dtype, const struct gpu_conv *conv,
                                  const void *results);

/* One channel of the input a group, or few, by patches of planes (conv_depth.c); *done says whether it takes it. */
enum wick_status wick__conv_depth(struct wick__gpu *gpu, enum wick_dtype dtype, const struct gpu_conv *conv,
                                  bool *done);
enum wick_status wick__conv_depth_weight(struct wick__gpu *gpu, enum wick_dtype dtype, const struct gpu_conv_weight *g,
                                         bool *done);

/* A copy with channels innermost; the sizes that follow from others are filled in. */
enum wick_status wick__conv_pack(struct wick__gpu *gpu, struct gpu_conv_pack *p);
enum { WICK__CONV_PIECE = 8 }; /* elements of 16 bits that are read and written as one */
/* Of images [n, from.., channels] of 16 bits, whose channels are whole pieces of 16 bytes: positions o + first, or
 * zeros. */
struct wick__conv_images {
    const void *in;
    void *out;
    int64_t n, channels;
    int64_t from[3], to[3], first[3];
};
enum wick_status wick__conv_pack_last(struct wick__gpu *gpu, const struct wick__conv_images *images);

/* The same for the gradient by the weight. */
int64_t wick__conv_reach(const struct gpu_conv_weight_dim *dim); /* what windows read of a dim of the large side */
bool wick__conv_weight_mma_takes(const struct wick__gpu *gpu, enum wick_dtype dtype, const struct gpu_conv_weight *g);
enum wick_status wick__conv_weight_mma(struct wick__gpu *gpu, enum wick_dtype dtype, const struct gpu_conv_weight *g);
/* The same of sides of 16 bits with channels last, one or both, which are read as they lie, or copied where windows
 * reach outside. */
struct wick__conv_last {
    bool small, large;
};
bool wick__conv_weight_mma_takes_last(const struct wick__gpu *gpu, enum wick_dtype dtype,
                                      const struct gpu_conv_weight *g, const struct wick__conv_last *last);
enum wick_status wick__conv_weight_mma_last(struct wick__gpu *gpu, enum wick_dtype dtype,
                                            const struct gpu_conv_weight *g, const struct wick__conv_last *last);

/* f32: the large side with zeros where windows reach outside, in *copy, of *nbytes, unless none does; whether that is
 * near enough. By products of planes (conv_weight_f32.c), behind such a copy; parts are joined by conv_backward.c. */
enum wick_status wick__conv_inside(struct wick__gpu *gpu, struct gpu_conv_weight *g, void **copy, size_t *nbytes);
bool wick__conv_is_near(const struct gpu_conv_weight *g);
bool wick__conv_weight_products_takes(const struct wick__gpu *gpu, enum wick_dtype dtype,
                                      const struct gpu_conv_weight *g);
enum wick_status wick__conv_weight_products(struct wick__gpu *gpu, const struct gpu_conv_weight *g);
enum wick_status wick__conv_weight_join(struct wick__gpu *gpu, enum wick_dtype dtype,
                                        struct gpu_conv_weight_join *join);

#endif
