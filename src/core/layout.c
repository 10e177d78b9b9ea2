/* Arithmetic on layouts. */
#include "core/layout.h"

#include "core/checked.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Sets *count to the product of the sizes, and refuses shapes whose non-zero sizes overflow: so strides of an empty
 * tensor fit too. */
static bool count_elements(int rank, const int64_t *shape, int64_t *count) {
    int64_t product = 1;
    bool empty = false;
    for (int i = 0; i < rank; i++) {
        if (shape[i] == 0) empty = true;
        if (shape[i] != 0 && !wick__mul(product, shape[i], &product)) return false;
    }
    /* 2^60 elements of 8 bytes are the most that bytes can count. */
    if (product > INT64_MAX / 8) return false;
    *count = empty ? 0 : product;
    return true;
}

enum wick_status wick__layout_new(struct wick__layout *layout, const char *op, int rank, const int64_t *shape) {
    int64_t count, stride = 1;
    if (rank < 0 || rank > WICK_MAX_RANK)
        return wick__fail(WICK_INVALID, "%s: rank %d is not in 0..%d", op, rank, WICK_MAX_RANK);
    if (rank > 0 && !shape) return wick__fail(WICK_INVALID, "%s: shape is NULL but rank is %d", op, rank);
    for (int i = 0; i < rank; i++)
        if (shape[i] < 0) {
            char text[WICK__SHAPE_TEXT];
            return wick__fail(WICK_INVALID, "%s: shape %s has a negative size", op,
                              wick__shape_text(text, rank, shape));
        }
    if (!count_elements(rank, shape, &count)) {
        char text[WICK__SHAPE_TEXT];
        return wick__fail(WICK_OVERFLOW, "%s: shape %s has more elements than 64 bits can address", op,
                          wick__shape_text(text, rank, shape));
    }
    layout->rank = rank;
    layout->offset = 0;
    for (int i = rank - 1; i >= 0; i--) {
        layout->shape[i] = shape[i];
        layout->stride[i] = stride;
        if (shape[i] > 1) stride *= shape[i];
    }
    return WICK_OK;
}

int64_t wick__layout_count(const struct wick__layout *layout) {
    int64_t count = 1;
    for (int i = 0; i < layout->rank; i++)
        if (layout->shape[i] == 0) return 0;
    for (int i = 0; i < layout->rank; i++) count *= layout->shape[i];
    return count;
}

bool wick__layout_is_contiguous(const struct wick__layout *layout) {
    int64_t expected = 1;
    for (int i = layout->rank - 1; i >= 0; i--) {
        if (layout->shape[i] == 0) return true;
        if (layout->shape[i] > 1 && layout->stride[i] != expected) return false;
        expected *= layout->shape[i];
    }
    return true;
}

bool wick__layout_keeps_blocks(const struct wick__layout *layout, int elements, bool loose) {
    int last = layout->rank - 1;
    if (elements == 1) return true;
    if (layout->offset % elements != 0) return false;
    if (loose && wick__layout_is_contiguous(layout)) return true;
    if (last < 0 || layout->shape[last] % elements != 0 || layout->stride[last] != 1) return false;
    for (int d = 0; d < last; d++)
        if (layout->shape[d] > 1 && layout->stride[d] % elements != 0) return false;
    return true;
}

bool wick__layout_has_rows(const struct wick__layout *layout) {
    return layout->rank == 0 || layout->shape[layout->rank - 1] <= 1 || layout->stride[layout->rank - 1] == 1;
}

bool wick__layout_expand(const struct wick__layout *layout, int rank, const int64_t *shape,
                         struct wick__layout *result) {
    struct wick__layout wide = {.rank = rank, .offset = layout->offset};
    int added = rank - layout->rank;
    int64_t count;
    if (added < 0 || !count_elements(rank, shape, &count)) return false;
    for (int i = 0; i < rank; i++) {
        wide.shape[i] = shape[i];
        if (i < added) continue;
        if (layout->shape[i - added] == shape[i])
            wide.stride[i] = layout->stride[i - added];
        else if (layout->shape[i - added] != 1)
            return false;
    }
    *result = wide;
    return true;
}

bool wick__shape_broadcast(const struct wick__layout *a, const struct wick__layout *b, int *rank, int64_t *shape) {
    int wide = a->rank > b->rank ? a->rank : b->rank;
    for (int i = 0; i < wide; i++) {
        int ia = i - (wide - a->rank), ib = i - (wide - b->rank);
        int64_t na = ia < 0 ? 1 : a->shape[ia], nb = ib < 0 ? 1 : b->shape[ib];
        if (na != nb && na != 1 && nb != 1) return false;
        shape[i] = na == 1 ? nb : na;
    }
    *rank = wide;
    return true;
}

bool wick__shape_equal(const struct wick__layout *a, const struct wick__layout *b) {
    return a->rank == b->rank && memcmp(a->shape, b->shape, sizeof *a->shape * (size_t)a->rank) == 0;
}

/* Dims in the order of their strides: each must step over all that the dims before it reach. */
bool wick__layout_overlaps(const struct wick__layout *layout) {
    int order[WICK_MAX_RANK], rank = 0;
    int64_t reach = 0;
    for (int d = 0; d < layout->rank; d++) {
        int at = rank;
        if (layout->shape[d] == 0) return false;
        if (layout->shape[d] == 1) continue;
        for (; at > 0 && layout->stride[order[at - 1]] > layout->stride[d]; at--) order[at] = order[at - 1];
        order[at] = d;
        rank++;
    }
    for (int i = 0; i < rank; i++) {
        if (layout->stride[order[i]] <= reach) return true;
        reach += (layout->shape[order[i]] - 1) * layout->stride[order[i]];
    }
    return false;
}

static bool mergeable(const struct wick__layout *layouts, int n, int outer, int inner) {
    for (int i = 0; i < n; i++)
        if (layouts[i].stride[outer] != layouts[i].stride[inner] * layouts[i].shape[inner]) return false;
    return true;
}

void wick__layout_collapse(struct wick__layout *layouts, int n) {
    int last = -1; /* the dim that is being filled */
    int rank = layouts[0].rank;
    for (int d = 0; d < rank; d++) {
        if (layouts[0].shape[d] == 1) continue;
        bool merge = last >= 0 && mergeable(layouts, n, last, d);
        if (!merge) last++;
        for (int i = 0; i < n; i++) {
            layouts[i].shape[last] = layouts[i].shape[d] * (merge ? layouts[i].shape[last] : 1);
            layouts[i].stride[last] = layouts[i].stride[d];
        }
    }
    for (int i = 0; i < n; i++) {
        layouts[i].rank = last + 1;
        if (last < 0) {
            layouts[i].rank = 1;
            layouts[i].shape[0] = 1;
            layouts[i].stride[0] = 1;
        }
    }
}

char *wick__shape_text(char text[WICK__SHAPE_TEXT], int rank, const int64_t *shape) {
    int at = snprintf(text, WICK__SHAPE_TEXT, "[");
    for (int i = 0; i < rank && at < WICK__SHAPE_TEXT; i++)
        at += snprintf(text + at, (size_t)(WICK__SHAPE_TEXT - at), i ? ",%" PRId64 : "%" PRId64, shape[i]);
    if (at < WICK__SHAPE_TEXT) snprintf(text + at, (size_t)(WICK__SHAPE_TEXT - at), "]");
    return text;
}

enum wick_status wick__dim(const char *op, int dim, int rank, int *result) {
    if (dim < -rank || dim >= rank)
        return wick__fail(WICK_RANGE, "%s: dim %d is out of range for rank %d", op, dim, rank);
    *result = dim < 0 ? dim + rank : dim;
    return WICK_OK;
}
