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

bool wick__layout_is_channels_last(const struct wick__layout *layout) {
    struct wick__layout moved = *layout;
    int last = layout->rank - 1;
    if (layout->rank < 3) return false;
    for (int d = 1; d < last; d++) {
        moved.shape[d] = layout->shape[d + 1];
        moved.stride[d] = layout->stride[d + 1];
    }
    moved.shape[last] = layout->shape[1];
    moved.stride[last] = layout->stride[1];
    return wick__layout_is_contiguous(&moved);
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

int wick__layout_order(const struct wick__layout *layout, int dims[WICK_MAX_RANK]) {
    int n = 0;
    for (int d = 0; d < layout->rank; d++) {
        int at = n;
        if (layout->shape[d] == 1) continue;
        for (; at > 0 && layout->stride[dims[at - 1]] < layout->stride[d]; at--) dims[at] = dims[at - 1];
        dims[at] = d;
        n++;
    }
    return n;
}

bool wick__layout_repeats(const struct wick__layout *layout) {
    for (int d = 0; d < layout->rank; d++)
        if (layout->shape[d] > 1 && layout->stride[d] == 0) return true;
    return false;
}

bool wick__layout_follow(struct wick__layout *layout, const struct wick__layout *x) {
    int dims[WICK_MAX_RANK], n = wick__layout_order(x, dims);
    bool same = true;
    for (int i = 1; i < n; i++) same = same && dims[i] > dims[i - 1];
    if (same) return false;
    int64_t step = 1;
    for (int i = n - 1; i >= 0; step *= layout->shape[dims[i--]]) layout->stride[dims[i]] = step;
    return true;
}

/* Dims of two and more positions by falling stride. Of the dims from d on: how far they reach together, and the
 * greatest common divisor of their strides. */
struct spread {
    int rank, steps;
    int64_t stride[WICK_MAX_RANK], most[WICK_MAX_RANK], reach[WICK_MAX_RANK + 1], divisor[WICK_MAX_RANK + 1];
};

static int64_t gcd(int64_t a, int64_t b) {
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void spread_new(struct spread *spread, const struct wick__layout *layout) {
    *spread = (struct spread){.steps = 65536};
    for (int d = 0; d < layout->rank; d++) {
        int at = spread->rank;
        if (layout->shape[d] == 1) continue;
        for (; at > 0 && spread->stride[at - 1] < layout->stride[d]; at--) {
            spread->stride[at] = spread->stride[at - 1];
            spread->most[at] = spread->most[at - 1];
        }
        spread->stride[at] = layout->stride[d];
        spread->most[at] = layout->shape[d] - 1;
        spread->rank++;
    }
    for (int d = spread->rank - 1; d >= 0; d--) {
        spread->reach[d] = spread->reach[d + 1] + spread->most[d] * spread->stride[d];
        spread->divisor[d] = gcd(spread->stride[d], spread->divisor[d + 1]);
    }
}

/* Whether steps along the dims from d on, forward or backward, add up to a distance. */
static bool spans(struct spread *spread, int d, int64_t distance) {
    if (distance < 0) distance = -distance;
    if (distance == 0) return true;
    if (distance > spread->reach[d] || distance % spread->divisor[d] != 0) return false;
    if (d == spread->rank - 1 || --spread->steps < 0) return true;
    int64_t stride = spread->stride[d], rest = spread->reach[d + 1];
    int64_t last = wick__min(spread->most[d], (distance + rest) / stride);
    int64_t first = distance > rest ? (distance - rest + stride - 1) / stride
                                    : wick__max(-spread->most[d], -((rest - distance) / stride));
    for (int64_t k = first; k <= last; k++)
        if (spans(spread, d + 1, distance - k * stride)) return true;
    return false;
}

/* Two positions share an address when the steps between them add up to 0. The first dim in which they differ may be
 * stepped along forward. */
bool wick__layout_overlaps(const struct wick__layout *layout) {
    struct spread spread;
    for (int d = 0; d < layout->rank; d++)
        if (layout->shape[d] == 0) return false;
    for (int d = 0; d < layout->rank; d++)
        if (layout->shape[d] > 1 && layout->stride[d] == 0) return true;
    spread_new(&spread, layout);
    for (int d = 0; d < spread.rank - 1; d++) {
        int64_t last = wick__min(spread.most[d], spread.reach[d + 1] / spread.stride[d]);
        for (int64_t k = 1; k <= last; k++)
            if (spans(&spread, d + 1, k * spread.stride[d])) return true;
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
