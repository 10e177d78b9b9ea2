/* Storages and tensors: making, releasing, looking. */
#include "core/tensor.h"

#include "core/checked.h"
#include "core/memory.h"
#include "core/thread.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void wick__storage_unref(struct wick__storage *storage) {
    if (atomic_fetch_sub(&storage->refs, 1) != 1) return;
    struct wick_device *device = storage->device;
    if (storage->named) wick__name_end(storage);
    if (storage->foreign) {
        if (storage->release) {
            if (device->heap->settle && !wick__device_forked(device)) device->heap->settle(device);
            storage->release(storage->context);
        }
    } else if (storage->data && !wick__device_forked(device)) {
        device->heap->free(device, storage->data, storage->nbytes);
    }
    wick__doubt_release(atomic_load(&storage->doubt));
    wick__free(storage, sizeof *storage);
    wick__device_unref(device);
}

/* Takes over one reference of `storage`, also when it fails. */
static struct wick_tensor *tensor_over(struct wick__storage *storage, enum wick_dtype dtype,
                                       const struct wick__layout *layout) {
    struct wick_tensor *x = wick__alloc(sizeof *x);
    if (!x) {
        wick__storage_unref(storage);
        return NULL;
    }
    atomic_init(&x->refs, 1);
    x->dtype = dtype;
    x->layout = *layout;
    x->storage = storage;
    x->scope = (struct wick__link){NULL, NULL};
    x->scope_depth = 0;
    return x;
}

static struct wick__storage *storage_new(struct wick_device *device, size_t nbytes) {
    struct wick__storage *storage = wick__alloc(sizeof *storage);
    if (!storage) return NULL;
    *storage = (struct wick__storage){.device = device, .nbytes = nbytes};
    atomic_init(&storage->refs, 1);
    atomic_fetch_add(&device->refs, 1);
    if (nbytes > 0 && device->heap->alloc(device, nbytes, &storage->data) != WICK_OK) {
        storage->data = NULL;
        wick__storage_unref(storage);
        return NULL;
    }
    return storage;
}

static enum wick_status layout_for(const char *op, enum wick_dtype dtype, int rank, const int64_t *shape,
                                   struct wick__layout *layout, size_t *nbytes) {
    if ((unsigned)dtype >= WICK_DTYPE_COUNT) return wick__fail(WICK_DTYPE, "%s: dtype %d is unknown", op, (int)dtype);
    WICK__TRY(wick__layout_new(layout, op, rank, shape));
    if (!wick__nbytes(dtype, wick__layout_count(layout), nbytes))
        return wick__fail(WICK_OVERFLOW, "%s: the size in bytes does not fit in 64 bits", op);
    int elements = wick__traits[dtype].elements;
    if (wick__traits[dtype].kind == WICK_DTYPE_KIND_QUANTISED && !wick__layout_keeps_blocks(layout, elements, false)) {
        char text[WICK__SHAPE_TEXT];
        return wick__fail(WICK_SHAPE, "%s: shape %s %s: the last dim is not a multiple of the %d elements of a block",
                          op, wick__shape_text(text, rank, shape), wick_dtype_name(dtype), elements);
    }
    return WICK_OK;
}

void wick__bytes_layouts(const struct wick_tensor *x, struct wick__layout *bytes, struct wick__layout *packed) {
    const struct wick__traits *traits = &wick__traits[x->dtype];
    size_t nbytes = 0;
    *bytes = x->layout;
    if (wick__layout_is_contiguous(&x->layout)) {
        wick__nbytes(x->dtype, wick__count(x), &nbytes);
        *bytes = (struct wick__layout){.rank = 1, .shape = {(int64_t)nbytes}, .stride = {1}};
    } else {
        int last = bytes->rank - 1;
        bytes->shape[last] = bytes->shape[last] / traits->elements * traits->nbytes;
        for (int d = 0; d < last; d++) bytes->stride[d] = bytes->stride[d] / traits->elements * traits->nbytes;
    }
    *packed = (struct wick__layout){.rank = bytes->rank};
    int64_t stride = 1;
    for (int d = bytes->rank - 1; d >= 0; d--) {
        packed->shape[d] = bytes->shape[d];
        packed->stride[d] = stride;
        stride *= bytes->shape[d];
    }
}

struct wick_tensor wick__as_bytes(const struct wick_tensor *x) {
    const struct wick__traits *traits = &wick__traits[x->dtype];
    struct wick_tensor bytes = {.dtype = WICK_DTYPE_u8, .layout = x->layout, .storage = x->storage};
    int last = x->layout.rank - 1;
    bytes.layout.offset = wick__byte_offset(x->dtype, x->layout.offset);
    bytes.layout.shape[last] = bytes.layout.shape[last] / traits->elements * traits->nbytes;
    for (int d = 0; d < last; d++) bytes.layout.stride[d] = bytes.layout.stride[d] / traits->elements * traits->nbytes;
    return bytes;
}

struct wick_tensor *wick__tensor_new(const char *op, struct wick_device *device, enum wick_dtype dtype, int rank,
                                     const int64_t *shape) {
    struct wick__layout layout;
    size_t nbytes = 0;
    if (wick__device_check(op, device) != WICK_OK) return NULL;
    if (layout_for(op, dtype, rank, shape, &layout, &nbytes) != WICK_OK) return NULL;
    struct wick__storage *storage = storage_new(device, nbytes);
    return storage ? tensor_over(storage, dtype, &layout) : NULL;
}

struct wick_tensor *wick__tensor_view(const struct wick_tensor *x, const struct wick__layout *layout) {
    atomic_fetch_add(&x->storage->refs, 1);
    return tensor_over(x->storage, x->dtype, layout);
}

struct wick_tensor *wick_empty(struct wick_device *device, enum wick_dtype dtype, int rank, const int64_t *shape) {
    return wick__scope_add(wick__tensor_new("empty", device, dtype, rank, shape));
}

struct wick_tensor *wick_empty_like(const struct wick_tensor *x) {
    if (x) return wick_empty(wick__device(x), x->dtype, x->layout.rank, x->layout.shape);
    wick__fail(WICK_INVALID, "empty_like: x is NULL");
    return NULL;
}

struct wick_tensor *wick_from_memory(struct wick_device *device, enum wick_dtype dtype, int rank, const int64_t *shape,
                                     const struct wick_memory_block *block) {
    struct wick__layout layout;
    size_t needed = 0;
    if (wick__device_check("from_memory", device) != WICK_OK) return NULL;
    if (layout_for("from_memory", dtype, rank, shape, &layout, &needed) != WICK_OK) return NULL;
    if (!block) {
        wick__fail(WICK_INVALID, "from_memory: block is NULL");
        return NULL;
    }
    char text[WICK__SHAPE_TEXT];
    size_t element = wick__is_plain(dtype) ? wick__size(dtype) : 1;
    if (block->nbytes < needed || (block->nbytes > 0 && !block->data)) {
        wick__fail(WICK_INVALID, "from_memory: %s %s takes %zu bytes, the block has %zu%s",
                   wick__shape_text(text, rank, shape), wick_dtype_name(dtype), needed, block->nbytes,
                   block->nbytes > 0 && !block->data ? " at NULL" : "");
        return NULL;
    }
    if (element > 1 && (uintptr_t)block->data % element != 0) {
        wick__fail(WICK_INVALID, "from_memory: data is not aligned to %s", wick_dtype_name(dtype));
        return NULL;
    }
    struct wick__storage *storage = storage_new(device, 0);
    if (!storage) return NULL;
    storage->foreign = true;
    storage->data = block->data;
    storage->nbytes = block->nbytes;
    struct wick_tensor *x = tensor_over(storage, dtype, &layout);
    if (!x) return NULL;
    storage->release = block->release;
    storage->context = block->context;
    return wick__scope_add(x);
}

struct wick_tensor *wick_retain(const struct wick_tensor *x) {
    /* The count is not part of what const promises. */
    struct wick_tensor *counted = (struct wick_tensor *)(uintptr_t)x;
    if (counted) atomic_fetch_add(&counted->refs, 1);
    return counted;
}

/* ---- scopes ---- */

/* Scopes nested deeper than this are one with the deepest. */
enum { MAX_SCOPES = 64 };

/* A scope is a ring of the tensors it owns through a sentinel; the sentinel of depth d is ring[d - 1]. */
static _Thread_local struct {
    int depth;
    bool watched; /* the thread's end releases them */
    struct wick__link ring[MAX_SCOPES];
} scopes;

/* A thread that ends with scopes open releases what they own. */
static void end_scopes(void) {
    scopes.watched = false;
    while (scopes.depth > 0) wick_scope_end(NULL);
}

static int ring_depth(void) { return scopes.depth < MAX_SCOPES ? scopes.depth : MAX_SCOPES; }

static void scope_remove(struct wick_tensor *x) {
    if (!x->scope.next) return;
    x->scope.next->prev = x->scope.prev;
    x->scope.prev->next = x->scope.next;
    x->scope = (struct wick__link){NULL, NULL};
    x->scope_depth = 0;
}

static void scope_insert(struct wick_tensor *x, int depth) {
    if (depth == 0) return;
    struct wick__link *ring = &scopes.ring[depth - 1];
    x->scope = (struct wick__link){ring->next, ring};
    ring->next->prev = &x->scope;
    ring->next = &x->scope;
    x->scope_depth = depth;
}

struct wick_tensor *wick__scope_add(struct wick_tensor *x) {
    if (x) scope_insert(x, ring_depth());
    return x;
}

struct wick_tensor *wick_keep(struct wick_tensor *x) {
    int depth = ring_depth();
    if (x && depth > 0 && x->scope_depth == depth) {
        scope_remove(x);
        scope_insert(x, depth - 1);
    }
    return x;
}

void wick_scope_begin(void) {
    if (!scopes.watched) wick__thread_at_end(WICK__THREAD_SCOPES, end_scopes);
    scopes.watched = true;
    if (scopes.depth++ < MAX_SCOPES) {
        struct wick__link *ring = &scopes.ring[scopes.depth - 1];
        *ring = (struct wick__link){ring, ring};
    }
}

struct wick_tensor *wick_scope_end(struct wick_tensor *keep) {
    if (scopes.depth == 0) return keep;
    if (scopes.depth <= MAX_SCOPES) {
        struct wick__link *ring = &scopes.ring[scopes.depth - 1];
        wick_keep(keep);
        while (ring->next != ring) {
            struct wick_tensor *x = (struct wick_tensor *)((char *)ring->next - offsetof(struct wick_tensor, scope));
            scope_remove(x);
            wick_release(x);
        }
    }
    scopes.depth--;
    return keep;
}

void wick_release(struct wick_tensor *x) {
    if (!x || atomic_fetch_sub(&x->refs, 1) != 1) return;
    scope_remove(x);
    wick__storage_unref(x->storage);
    wick__free(x, sizeof *x);
}

void wick__scope_drop(struct wick_tensor *x) {
    if (x) scope_remove(x);
    wick_release(x);
}

/* ---- looking ---- */

enum wick_dtype wick_tensor_dtype(const struct wick_tensor *x) { return x ? x->dtype : (enum wick_dtype) - 1; }

int wick_tensor_rank(const struct wick_tensor *x) { return x ? x->layout.rank : -1; }

const int64_t *wick_tensor_shape(const struct wick_tensor *x) { return x ? x->layout.shape : NULL; }

const int64_t *wick_tensor_strides(const struct wick_tensor *x) { return x ? x->layout.stride : NULL; }

int64_t wick_tensor_dim(const struct wick_tensor *x, int dim) {
    if (!x) return 0;
    return wick__dim("tensor_dim", dim, x->layout.rank, &dim) == WICK_OK ? x->layout.shape[dim] : 0;
}

int64_t wick_tensor_count(const struct wick_tensor *x) { return x ? wick__count(x) : 0; }

int64_t wick_tensor_offset(const struct wick_tensor *x) { return x ? x->layout.offset : 0; }

bool wick_tensor_is_contiguous(const struct wick_tensor *x) { return x && wick__layout_is_contiguous(&x->layout); }

struct wick_device *wick_tensor_device(const struct wick_tensor *x) {
    return x ? wick__device(x) : NULL;
}

char *wick__tensor_text(char text[WICK__TENSOR_TEXT], const struct wick_tensor *x) {
    char shape[WICK__SHAPE_TEXT];
    snprintf(text, WICK__TENSOR_TEXT, "%s %s on %s", wick__shape_text(shape, x->layout.rank, x->layout.shape),
             wick_dtype_name(x->dtype), wick__device(x)->name);
    return text;
}

bool wick__shares_buffer(const struct wick_tensor *a, const struct wick_tensor *b) {
    uintptr_t from_a = (uintptr_t)a->storage->data, from_b = (uintptr_t)b->storage->data;
    return a->storage == b->storage || (from_a < from_b + b->storage->nbytes && from_b < from_a + a->storage->nbytes);
}

bool wick__extents_meet(const struct wick_tensor *a, const struct wick_tensor *b) {
    const struct wick_tensor *both[2] = {a, b};
    uintptr_t begin[2], end[2];
    for (int i = 0; i < 2; i++) {
        const struct wick__layout *layout = &both[i]->layout;
        int64_t last = 0;
        for (int d = 0; d < layout->rank; d++) last += (layout->shape[d] - 1) * layout->stride[d];
        begin[i] = (uintptr_t)wick__data(both[i]);
        end[i] = begin[i] + (size_t)wick__byte_offset(both[i]->dtype, last) + wick__size(both[i]->dtype);
    }
    return begin[0] < end[1] && begin[1] < end[0];
}
