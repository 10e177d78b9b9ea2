/* What attention and its gradients share: sizes, the parameters of kernels, reports of starts. */
#ifndef WICK_GPU_OPS_ATTENTION_H
#define WICK_GPU_OPS_ATTENTION_H

#include "gpu/ops/rows.h"

#include "kernels/attention_backward_bulk.h"
#include "kernels/attention_bulk.h"

/* The most blocks in x of one launch: the product with GPU_BLOCK must stay below 2^32. */
enum { WICK__ATTENTION_BLOCKS = 1 << 23 };

/* What a call says of q, k and v, operands number `first` on; mask or starts are number `mask` on. */
struct wick__attention_sizes {
    bool packed;
    int first, mask;
    int64_t batches, sequences, queries, keys, depth, width;
};
struct wick__attention_sizes wick__gpu_attention_sizes(const struct wick__call *call, bool packed, int first, int mask);

/* By batch, head, position and element. */
void wick__gpu_attention_strides(int64_t to[4], const struct wick_tensor *x, bool packed);

/* Whether matrix kernels take it: elements side by side, all else at multiples of 16 bytes. */
bool wick__gpu_attention_aligned(const struct wick_tensor *x);

/* Operands, strides and options; no results. */
struct gpu_attention wick__gpu_attention_describe(const struct wick__call *call,
                                                  const struct wick__attention_sizes *sizes);

/* How many heads of keys and values there are: one where it was expanded to be all. */
int64_t wick__gpu_attention_key_heads(const struct wick__call *call);

/* How rows are put into tiles: sets the members of p that say so. */
void wick__gpu_attention_share(struct gpu_attention *p, const struct wick__attention_sizes *sizes, int64_t key_heads,
                               int64_t tile_rows);

/* Of how many units the long tiles come before the short ones, if there are `all` and others look at `nbytes` for each:
 * a divisor of all, with bytes that a cache holds. */
uint32_t wick__gpu_attention_across(int64_t all, int64_t nbytes);

/* Offers a call whose scores have nothing but their scale to the routes; *done tells whether one ran it. */
enum wick_status wick__gpu_attention_library(const struct wick__call *call, const struct wick__attention_sizes *sizes,
                                             bool *done);

/* wick__gpu_attention without a mask among its operands, for all heads and queries of the keys whose byte of `keep` is
 * not 0; NULL: of all. */
enum wick_status wick__gpu_attention_masked(const struct wick__call *call, const void *keep);

/* An operand as bulk copies see it: sizes are batches, heads, positions and elements. */
struct wick__attention_operand {
    const void *data;
    enum wick_dtype dtype;
    int64_t size[4], stride[4];
};

/* Whether the kernels whose keys and values come by bulk copies, those of `module`, take a call that the matrix kernels
 * do, of operands 0 .. 2; a launch, of launch->grid[0] tiles. */
bool wick__gpu_attention_bulk_takes(struct wick__gpu *gpu, const struct wick__call *call,
                                    const struct wick__attention_sizes *sizes, enum wick__gpu_module module);
enum wick_status wick__gpu_attention_bulk(struct wick__gpu *gpu, const struct wick__launch *launch,
                                          const struct gpu_attention *a, const struct gpu_attention_bits *bits,
                                          enum wick_dtype dtype, int64_t tile);

/* A mask as attention_bulk_mask reads it: makes bits of a u8 one, and copies one to add unless pairs of its elements
 * are words; a->mask is then the copy. Give *memory, of *nbytes, back when the call is through. */
enum wick_status wick__gpu_attention_lay(struct wick__gpu *gpu, struct gpu_attention *a,
                                         struct gpu_attention_bits *bits, void **memory, size_t *nbytes);

/* The same of the gradients, of operands 0 .. 3; the launches, once attention_delta has run. */
bool wick__gpu_attention_backward_bulk_takes(struct wick__gpu *gpu, const struct wick__call *call,
                                             const struct wick__attention_sizes *sizes);
enum wick_status wick__gpu_attention_backward_bulk(struct wick__gpu *gpu, const struct wick__call *call,
                                                   const struct wick__attention_sizes *sizes,
                                                   const struct gpu_attention_backward *all);

/* Whether an operand has a map; the map, in boxes of 64 elements and `lines` positions, and the driver's code. */
bool wick__gpu_attention_has_map(const struct wick__attention_operand *x);
int wick__gpu_attention_map(struct wick__gpu *gpu, struct gpu_tensor_map *map, const struct wick__attention_operand *x,
                            int lines);

/* Lets the starts of packed sequences be reported, to what belongs into the parameters. */
enum wick_status wick__gpu_attention_suspect(const struct wick__call *call, const struct wick__attention_sizes *sizes,
                                             struct gpu_report *report);

#endif
