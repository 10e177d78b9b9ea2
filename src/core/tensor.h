/* Storages and tensors as the library sees them. */
#ifndef WICK_CORE_TENSOR_H
#define WICK_CORE_TENSOR_H

#include "core/device.h"
#include "core/dtype.h"
#include "core/doubt.h"
#include "core/layout.h"

#include <wick/tensor.h>

#include <stdatomic.h>

/* A member of a doubly linked ring. */
struct wick__link {
    struct wick__link *next, *prev;
};

/* A flat typed buffer. */
struct wick__storage {
    atomic_int refs;
    struct wick_device *device;
    size_t nbytes;
    void *data;
    void (*release)(void *context); /* for memory that is not ours; NULL otherwise */
    void *context;
    bool foreign;
    bool constant; /* nothing but uploads writes it, so a kernel may read it before those ahead of it have ended */
    _Atomic(struct wick__doubt *) doubt; /* NULL: the contents are right, or were found wrong at once */
    struct wick__storage **named;        /* where a recorded graph names it as a result; NULL: none does */
};

struct wick_tensor {
    atomic_int refs;
    enum wick_dtype dtype;
    struct wick__layout layout;
    struct wick__storage *storage;
    struct wick__link scope; /* place in the ring of the scope that owns the first reference; NULLs when none does */
    int scope_depth;         /* which scope that is, 0 when none */
};

/* A fresh contiguous tensor with undefined elements, not yet in any scope. `op` goes in front of the error text. */
struct wick_tensor *wick__tensor_new(const char *op, struct wick_device *device, enum wick_dtype dtype, int rank,
                                     const int64_t *shape);

/* Gives back a reference. */
void wick__storage_unref(struct wick__storage *storage);

/* A view of x with another layout, not yet in any scope. */
struct wick_tensor *wick__tensor_view(const struct wick_tensor *x, const struct wick__layout *layout);

/* Puts a new tensor into this thread's innermost scope, if there is one. Returns x; NULL is fine. */
struct wick_tensor *wick__scope_add(struct wick_tensor *x);

/* Gives up a tensor of one of this thread's scopes before the scope ends, as wick_release does one of no scope. Whoever
 * retained it, as records do, keeps it. NULL is fine. */
void wick__scope_drop(struct wick_tensor *x);

/* The address of the first element of the view. */
static inline void *wick__data(const struct wick_tensor *x) {
    int64_t nbytes = wick__byte_offset(x->dtype, x->layout.offset);
    /* An empty buffer has no address, and C allows no arithmetic on NULL. */
    return nbytes ? (char *)x->storage->data + nbytes : x->storage->data;
}

static inline int64_t wick__count(const struct wick_tensor *x) { return wick__layout_count(&x->layout); }

static inline struct wick_device *wick__device(const struct wick_tensor *x) { return x->storage->device; }

/* The layout of x in bytes, for a dtype of blocks, and the row-major one of a tensor of that shape. */
void wick__bytes_layouts(const struct wick_tensor *x, struct wick__layout *bytes, struct wick__layout *packed);

/* x, of a dtype of blocks, as u8: its last dim counts bytes. It holds no reference and is not to be released. */
struct wick_tensor wick__as_bytes(const struct wick_tensor *x);

/* Whether the buffers of two tensors have a byte in common. */
bool wick__shares_buffer(const struct wick_tensor *a, const struct wick_tensor *b);
/* Whether the bytes between the first and the last element of two views, which are not empty, meet. */
bool wick__extents_meet(const struct wick_tensor *a, const struct wick_tensor *b);

/* "[2,3] f32 on cpu" into text, which is returned. */
enum { WICK__TENSOR_TEXT = WICK__SHAPE_TEXT + 48 };
char *wick__tensor_text(char text[WICK__TENSOR_TEXT], const struct wick_tensor *x);

#endif
