/* Layouts: shape, strides and offset of a view, all in elements. Passed by value to kernels. */
#ifndef WICK_CORE_LAYOUT_H
#define WICK_CORE_LAYOUT_H

#include "core/error.h"

#include <wick/base.h>

struct wick__layout {
    int rank;
    int64_t shape[WICK_MAX_RANK];
    int64_t stride[WICK_MAX_RANK]; /* >= 0; 0 repeats one element along the dim */
    int64_t offset;
};

/* The row-major layout of a shape, offset 0. WICK_INVALID or WICK_OVERFLOW, with `op` in front of the text, when the
 * rank, a size, or the product is not valid. */
enum wick_status wick__layout_new(struct wick__layout *layout, const char *op, int rank, const int64_t *shape);

/* The number of elements. Can't overflow for a layout that wick__layout_new or wick__layout_expand accepted. */
int64_t wick__layout_count(const struct wick__layout *layout);

bool wick__layout_is_contiguous(const struct wick__layout *layout);

/* Whether it is contiguous once dim 1 is moved behind all others. */
bool wick__layout_is_channels_last(const struct wick__layout *layout);

/* Whether blocks of `elements` neighbours along the last dim stay whole: it is made of whole blocks of stride 1, and
 * all else is addressed by whole blocks. Of elements that are packed but share nothing, as 4-bit floats, a contiguous
 * layout may also end within a block: `loose`. */
bool wick__layout_keeps_blocks(const struct wick__layout *layout, int elements, bool loose);

/* Last dim of stride 1 (or of size <= 1). */
bool wick__layout_has_rows(const struct wick__layout *layout);

/* `layout` seen with a larger shape by NumPy's broadcasting rule; false when it does not fit. */
bool wick__layout_expand(const struct wick__layout *layout, int rank, const int64_t *shape,
                         struct wick__layout *result);

/* The shape that both broadcast to; false when there is none. */
bool wick__shape_broadcast(const struct wick__layout *a, const struct wick__layout *b, int *rank, int64_t *shape);

bool wick__shape_equal(const struct wick__layout *a, const struct wick__layout *b);

/* Whether two positions share an address: a broadcast dim, or windows that overlap. The search for two such positions
 * ends after 65,536 steps, which only contrived strides need; the answer is then true. */
bool wick__layout_overlaps(const struct wick__layout *layout);

/* The dims of more than one position by falling stride, those of equal stride as they come: returns how many. */
int wick__layout_order(const struct wick__layout *layout, int dims[WICK_MAX_RANK]);

/* Lays `layout`, which is row-major, out in the order in memory of the dims of x, which has its shape. False, with
 * nothing changed, if that is row-major. */
bool wick__layout_follow(struct wick__layout *layout, const struct wick__layout *x);

/* Whether a dim of more than one position has stride 0. */
bool wick__layout_repeats(const struct wick__layout *layout);

/* Rewrites n layouts of one shape with the fewest dims that address the same elements in the same order: dims of size
 * 1 go, neighbours merge where every layout allows it. Rank is at least 1 afterwards. */
void wick__layout_collapse(struct wick__layout *layouts, int n);

/* "[2,3,64]" into text, which is returned. */
enum { WICK__SHAPE_TEXT = 192 };
char *wick__shape_text(char text[WICK__SHAPE_TEXT], int rank, const int64_t *shape);

/* Resolves a dim that may count from the end into *result; WICK_RANGE, with `op` in front of the text, otherwise. */
enum wick_status wick__dim(const char *op, int dim, int rank, int *result);

#endif
