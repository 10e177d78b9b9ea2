/* Operands in all layouts, between guard zones, and targets of ops that write in place.
 *
 * A buffer is a tensor of one dim; the operand is a view of it that is made here from strides, not by the library's
 * own view functions. What lies around and between its elements is 0xFF: NaN, or an index out of range. */
#include "verify/driver.h"

#include "core/tensor.h"

#include <stdlib.h>
#include <string.h>

enum { GUARD = 64, MAX_TARGETS = 8 };

/* Whether any dim behind dim 1 has several positions. */
static bool has_behind(const struct verify_operand *operand) {
    bool any = false;
    for (int d = 2; d < operand->rank; d++) any = any || operand->shape[d] > 1;
    return any;
}

struct verify_placing verify_placing_for(const struct verify_operand *operand, enum verify_variant variant, int k,
                                         struct verify_random *random) {
    struct verify_placing placing = {.layout = variant};
    int wide = 0;
    if (variant == VERIFY_ROW_MAJOR) placing.layout = variant = VERIFY_TRANSPOSED;
    for (int d = 0; d < operand->rank; d++) wide += operand->shape[d] > 1;
    if (operand->repeated) return (struct verify_placing){.layout = VERIFY_BROADCAST};
    if (variant == VERIFY_INTEGERS || variant == VERIFY_SPECIALS || variant == VERIFY_EXPONENTS)
        placing.layout = VERIFY_CONTIGUOUS;
    else if (variant >= VERIFY_LAYOUTS)
        placing.layout = (enum verify_variant)(verify_random_bits(random) % VERIFY_LAYOUTS);
    if (placing.layout == VERIFY_BROADCAST && (wide == 0 || operand->distinct)) placing.layout = VERIFY_OFFSET;
    if (placing.layout == VERIFY_EVERY_OTHER && operand->rank == 0) placing.layout = VERIFY_OFFSET;
    /* Of two dims, or where nothing is behind dim 1, those are no other layouts. */
    if (placing.layout == VERIFY_LAST && (operand->rank < 3 || operand->shape[1] < 2 || !has_behind(operand)))
        placing.layout = VERIFY_TRANSPOSED;
    if (placing.layout == VERIFY_TRANSPOSED && wide < 2) placing.layout = VERIFY_EVERY_OTHER;
    if (operand->rank == 0) placing.layout = placing.layout == VERIFY_CONTIGUOUS ? VERIFY_CONTIGUOUS : VERIFY_OFFSET;
    if (placing.layout == VERIFY_BROADCAST) {
        int nth = k % wide;
        for (placing.dim = 0;; placing.dim++)
            if (operand->shape[placing.dim] > 1 && nth-- == 0) break;
    }
    return placing;
}

/* Strides and offset of a placing; returns how many elements its buffer needs, guard zones included. */
static int64_t lay_out(const struct verify_array *array, struct verify_placing placing, struct wick__layout *layout) {
    int64_t room = 1;
    *layout = (struct wick__layout){.rank = array->rank, .offset = GUARD};
    for (int i = 0; i < array->rank; i++) {
        int d = placing.layout == VERIFY_TRANSPOSED ? i : array->rank - 1 - i;
        if (placing.layout == VERIFY_LAST && i < array->rank - 1) d = i == 0 ? 1 : array->rank - i;
        int64_t size = array->shape[d] > 0 ? array->shape[d] : 1;
        layout->shape[d] = array->shape[d];
        layout->stride[d] = room;
        if (placing.layout == VERIFY_NARROWED) {
            layout->offset += room * (1 + d % 2);
            size += 3;
        } else if (placing.layout == VERIFY_EVERY_OTHER && d == array->rank - 1) {
            layout->stride[d] = 2;
            layout->offset += 1;
            size *= 2;
        } else if (placing.layout == VERIFY_BROADCAST && d == placing.dim) {
            layout->stride[d] = 0;
            size = 1;
        }
        room *= size;
    }
    if (placing.layout == VERIFY_OFFSET) layout->offset += 5;
    return room + 2 * GUARD + 5;
}

/* The place in its buffer of the element that follows the one at `at` in row-major order, whose index is `index`. */
static int64_t element_after(const struct wick__layout *layout, int64_t at, int64_t index[WICK_MAX_RANK]) {
    for (int d = layout->rank - 1; d >= 0; d--) {
        at += layout->stride[d];
        if (++index[d] < layout->shape[d]) return at;
        at -= layout->shape[d] * layout->stride[d];
        index[d] = 0;
    }
    return at;
}

/* Blocks lie contiguous, with a row of guard in front and behind. In front of many rows there are eight, so that they
 * begin at a multiple of 16 bytes, as kernels for many ask. */
static bool upload_blocks(struct wick_device *device, const struct verify_array *array, struct verify_buffer *buffer) {
    int64_t width = array->rank ? array->shape[array->rank - 1] : 0;
    int64_t block = wick_dtype_block(array->dtype), row = width > 0 ? width : block, front = row;
    if (array->rank == 2 && array->shape[0] >= 128) front *= 8;
    int64_t room = front + array->count + row;
    size_t block_nbytes = (size_t)wick_dtype_block_bytes(array->dtype), before = (size_t)(front / block) * block_nbytes;
    struct wick__layout layout = {.rank = array->rank, .offset = front};
    int64_t stride = 1;
    for (int d = array->rank - 1; d >= 0; d--) {
        layout.shape[d] = array->shape[d];
        layout.stride[d] = stride;
        stride *= array->shape[d];
    }
    *buffer = (struct verify_buffer){.nbytes = (size_t)(room / block) * block_nbytes};
    buffer->bytes = malloc(buffer->nbytes);
    if (!buffer->bytes) return false;
    memset(buffer->bytes, 0xFF, buffer->nbytes);
    memcpy(buffer->bytes + before, array->blocks, (size_t)(array->count / block) * block_nbytes);
    buffer->base = wick_from_data(device, array->dtype, 1, &room, buffer->bytes, buffer->nbytes);
    if (buffer->base) buffer->view = wick__tensor_view(buffer->base, &layout);
    return buffer->view != NULL;
}

bool verify_upload(struct wick_device *device, const struct verify_array *array, struct verify_placing placing,
                   struct verify_buffer *buffer) {
    struct wick__layout layout;
    if (array->blocks) return upload_blocks(device, array, buffer);
    int64_t room = lay_out(array, placing, &layout);
    size_t size = (size_t)wick_dtype_block_bytes(array->dtype);
    *buffer = (struct verify_buffer){.nbytes = (size_t)room * size};
    buffer->bytes = malloc(buffer->nbytes);
    if (!buffer->bytes) return false;
    memset(buffer->bytes, 0xFF, buffer->nbytes);
    int64_t index[WICK_MAX_RANK] = {0}, at = layout.offset;
    for (int64_t i = 0; i < array->count; i++, at = element_after(&layout, at, index))
        verify_encode(array->dtype, array->data[i], buffer->bytes + (size_t)at * size);
    buffer->base = wick_from_data(device, array->dtype, 1, &room, buffer->bytes, buffer->nbytes);
    if (buffer->base) buffer->view = wick__tensor_view(buffer->base, &layout);
    return buffer->view != NULL;
}

bool verify_unchanged(const struct verify_buffer *buffer) {
    unsigned char *now = malloc(buffer->nbytes);
    bool same = now && wick_read(buffer->base, now, buffer->nbytes) == WICK_OK &&
                memcmp(now, buffer->bytes, buffer->nbytes) == 0;
    free(now);
    return same;
}

void verify_buffer_free(struct verify_buffer *buffer) {
    wick_release(buffer->view);
    wick_release(buffer->base);
    free(buffer->bytes);
    *buffer = (struct verify_buffer){NULL, 0, NULL, NULL};
}

/* ---- targets ---- */

static struct {
    struct verify_buffer buffer[MAX_TARGETS];
    int count;
} targets;

static bool targets_reused;

void verify_targets_reuse(bool reuse) { targets_reused = reuse; }

struct wick_tensor *verify_target(const struct wick_tensor *x) {
    if (targets_reused) return wick_retain(x);
    struct verify_array array = {.dtype = x->dtype};
    struct verify_placing placing = {VERIFY_CONTIGUOUS, 0};
    int last = x->layout.rank - 1;
    size_t size = (size_t)wick_dtype_block_bytes(x->dtype);
    if (targets.count == MAX_TARGETS || !verify_array_new(&array, x->dtype, x->layout.rank, x->layout.shape, false))
        return NULL;
    unsigned char *bytes = malloc((size_t)array.count * size + 1);
    bool good = bytes && wick_read(x, bytes, (size_t)array.count * size) == WICK_OK;
    for (int64_t i = 0; good && i < array.count; i++) array.data[i] = verify_decode(x->dtype, bytes + (size_t)i * size);
    free(bytes);
    if (!wick__layout_is_contiguous(&x->layout))
        placing.layout = x->layout.stride[0] < x->layout.stride[last] ? VERIFY_TRANSPOSED : VERIFY_NARROWED;
    struct verify_buffer *buffer = &targets.buffer[targets.count];
    good = good && verify_upload(wick_tensor_device(x), &array, placing, buffer);
    free(array.data);
    if (!good) {
        verify_buffer_free(buffer);
        return NULL;
    }
    targets.count++;
    return wick_retain(buffer->view);
}

bool verify_is_dense(const struct wick_tensor *x) {
    int dims[WICK_MAX_RANK], n = wick__layout_order(&x->layout, dims);
    int64_t step = 1;
    for (int i = n - 1; i >= 0; step *= x->layout.shape[dims[i--]])
        if (x->layout.stride[dims[i]] != step) return wick_tensor_count(x) == 0;
    return true;
}

bool verify_is_target(const struct wick_tensor *x) {
    for (int i = 0; i < targets.count; i++)
        if (targets.buffer[i].view == x) return true;
    return false;
}

/* Whether all but the elements of a target is as it was. */
static bool intact(const struct verify_buffer *buffer) {
    const struct wick__layout *layout = &buffer->view->layout;
    size_t size = (size_t)wick_dtype_block_bytes(buffer->view->dtype);
    unsigned char *now = malloc(buffer->nbytes);
    bool good = now && wick_read(buffer->base, now, buffer->nbytes) == WICK_OK;
    int64_t index[WICK_MAX_RANK] = {0}, at = layout->offset;
    for (int64_t i = 0; good && i < wick__layout_count(layout); i++, at = element_after(layout, at, index))
        memcpy(now + (size_t)at * size, buffer->bytes + (size_t)at * size, size);
    good = good && memcmp(now, buffer->bytes, buffer->nbytes) == 0;
    free(now);
    return good;
}

bool verify_targets_intact(void) {
    for (int i = 0; i < targets.count; i++)
        if (!intact(&targets.buffer[i])) return false;
    return true;
}

void verify_targets_free(void) {
    for (int i = 0; i < targets.count; i++) verify_buffer_free(&targets.buffer[i]);
    targets.count = 0;
}
