/* as_strided: views by any strides. */
#include "ops/shape.h"

#include "core/checked.h"

/* The last element of a layout; false when it lies past the elements that a buffer has. */
static bool last_element(const struct wick__layout *layout, int64_t elements, int64_t *last) {
    *last = layout->offset;
    for (int d = 0; d < layout->rank; d++) {
        int64_t reach;
        if (!wick__mul(layout->shape[d] - 1, layout->stride[d], &reach) || !wick__add(*last, reach, last)) return false;
    }
    return *last < elements;
}

/* The caller's strides, into a row-major layout of the shape: those that are never stepped along stay as they are. */
static bool take_strides(const struct wick__call *call, const int64_t *strides, struct wick__layout *layout) {
    bool empty = wick__layout_count(layout) == 0;
    for (int d = 0; d < layout->rank; d++) {
        if (strides[d] < 0) {
            wick__call_fail(call, WICK_INVALID, "stride %lld of dim %d is negative", (long long)strides[d], d);
            return false;
        }
        if (!empty && layout->shape[d] > 1) layout->stride[d] = strides[d];
    }
    return true;
}

struct wick_tensor *wick_as_strided(const struct wick_tensor *x, int rank, const int64_t *shape, const int64_t *strides,
                                    int64_t offset) {
    struct wick__call call = {.op = WICK_OP_as_strided, .n_in = 1, .in = {x}};
    struct wick__layout layout;
    int64_t sizes[WICK_MAX_RANK], last;
    if (!wick__call_check(&call) || !wick__take_shape(&call, rank, shape, sizes) ||
        wick__layout_new(&layout, "as_strided", rank, sizes) != WICK_OK)
        return NULL;
    if ((rank > 0 && !strides) || offset < 0) {
        wick__call_fail(&call, WICK_INVALID, offset < 0 ? "offset %lld is negative" : "strides is NULL",
                        (long long)offset);
        return NULL;
    }
    if (!take_strides(&call, strides, &layout)) return NULL;
    layout.offset = offset;
    int64_t elements = (int64_t)(x->storage->nbytes / wick__size(x->dtype)) * wick__traits[x->dtype].elements;
    if (wick__layout_count(&layout) > 0 && !last_element(&layout, elements, &last)) {
        char size[WICK__SHAPE_TEXT], step[WICK__SHAPE_TEXT];
        wick__call_fail(&call, WICK_RANGE, "shape %s by strides %s from %lld on leaves the buffer of %lld elements",
                        wick__shape_text(size, rank, sizes), wick__shape_text(step, rank, strides), (long long)offset,
                        (long long)elements);
        return NULL;
    }
    return wick__view(&call, &layout);
}
