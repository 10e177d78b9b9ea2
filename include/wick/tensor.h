/* Tensors: creation, inspection, data in and out, ownership and scopes.
 *
 * A struct wick_tensor is a counted reference to a strided view of a typed buffer on a device. Its shape, dtype and
 * layout never change. Its elements change only through the few calls whose names end in _inplace, and through
 * wick_tensor_data. A new tensor has one reference. Inside a scope (see below) that reference belongs to the scope;
 * otherwise it belongs to the caller, who gives it back with wick_release.
 *
 * Dims count from 0; a negative dim counts from the end, -1 is the last. Sizes are 64 bit, ranks 0 to WICK_MAX_RANK.
 * Rank 0, a scalar, and dims of size 0 are legal everywhere. A view shares the elements of its source and keeps them
 * alive. */
#ifndef WICK_TENSOR_H
#define WICK_TENSOR_H

#include <wick/device.h>
#include <wick/number.h>

#ifdef __cplusplus
extern "C" {
#endif

struct wick_tensor;

/* ---- creation ---- all return a new contiguous tensor, or NULL on failure. `rank` and `shape` are as WICK_SHAPE makes
 * them, sizes >= 0. WICK_INVALID (rank, NULL, a negative size), WICK_SHAPE (a last dim that is not a whole number of
 * blocks), WICK_OVERFLOW, WICK_MEMORY, WICK_DTYPE (arithmetic on a dtype that is not a compute dtype), WICK_CLOSED. */

/* Elements are undefined. */
WICK_API struct wick_tensor *wick_empty(struct wick_device *device, enum wick_dtype dtype, int rank,
                                        const int64_t *shape);
WICK_API struct wick_tensor *wick_zeros(struct wick_device *device, enum wick_dtype dtype, int rank,
                                        const int64_t *shape);
WICK_API struct wick_tensor *wick_ones(struct wick_device *device, enum wick_dtype dtype, int rank,
                                       const int64_t *shape);
/* Every element is `value`, cast to the dtype as wick_cast does. */
WICK_API struct wick_tensor *wick_full(struct wick_device *device, enum wick_dtype dtype, int rank,
                                       const int64_t *shape, struct wick_number value);
/* The device, dtype and shape of x; WICK_INVALID for NULL. */
WICK_API struct wick_tensor *wick_empty_like(const struct wick_tensor *x);
WICK_API struct wick_tensor *wick_zeros_like(const struct wick_tensor *x);
WICK_API struct wick_tensor *wick_ones_like(const struct wick_tensor *x);
/* A copy of prod(shape) elements at `data`, in row-major order. `data` may be NULL if there are no elements.
 * WICK_INVALID unless `nbytes` is their size: whole blocks (dtype.h), or count * bits / 8 rounded up. */
WICK_API struct wick_tensor *wick_from_data(struct wick_device *device, enum wick_dtype dtype, int rank,
                                            const int64_t *shape, const void *data, size_t nbytes);

/* Memory that the caller owns. */
struct wick_memory_block {
    void *data;                     /* its address on the device */
    size_t nbytes;                  /* its size; views may reach all of it */
    void (*release)(void *context); /* called when Wick no longer needs it; may be NULL */
    void *context;
};
/* A tensor over the first elements of a block. On the CPU the block is host memory, e.g. a mapped file; on a GPU it is
 * memory that this GPU can read and write, e.g. another library's tensor. The block must stay valid, and only Wick may
 * write to it, until Wick calls release(context). It calls release once, on any thread, after the last view is released
 * and the device has done the work queued by then; while the device records a graph, release does not wait for that
 * work. If this call fails, it does not call release. Writes to the block on another stream must be done, or ordered
 * before the work of this device (stream.h). WICK_INVALID if `data` is NULL or not aligned to the dtype's size, or the
 * block is smaller than the shape. Wick does not check whether a GPU can reach the address. */
WICK_API struct wick_tensor *wick_from_memory(struct wick_device *device, enum wick_dtype dtype, int rank,
                                              const int64_t *shape, const struct wick_memory_block *block);
/* start, start + step, ... while below end, or above end if step < 0. [N]. Integer dtypes with three whole numbers use
 * wrapping integer arithmetic; everything else computes start + i step in f64 and casts it as wick_cast does.
 * WICK_INVALID if step is 0 or a number is not finite. */
WICK_API struct wick_tensor *wick_arange(struct wick_device *device, enum wick_dtype dtype, struct wick_number start,
                                         struct wick_number end, struct wick_number step);
/* n numbers at equal steps from start to end, both included: [N]. Computed in f64 and cast once. WICK_INVALID for n <
 * 0, and for ends that are not finite. */
WICK_API struct wick_tensor *wick_linspace(struct wick_device *device, enum wick_dtype dtype, double start, double end,
                                           int64_t n);

/* ---- inspection ---- NULL gives -1, NULL or 0. */
WICK_API enum wick_dtype wick_tensor_dtype(const struct wick_tensor *x);
WICK_API int wick_tensor_rank(const struct wick_tensor *x);
/* `rank` sizes, and `rank` strides counted in elements. Both belong to the tensor. */
WICK_API const int64_t *wick_tensor_shape(const struct wick_tensor *x);
WICK_API const int64_t *wick_tensor_strides(const struct wick_tensor *x);
/* The size of one dim. 0, with WICK_RANGE as this thread's error, if there is no such dim. */
WICK_API int64_t wick_tensor_dim(const struct wick_tensor *x, int dim);
/* The number of elements. */
WICK_API int64_t wick_tensor_count(const struct wick_tensor *x);
/* Where the view starts in its buffer, in elements. */
WICK_API int64_t wick_tensor_offset(const struct wick_tensor *x);
/* Row-major without gaps; dims of size <= 1 may have any stride, and the offset does not matter. */
WICK_API bool wick_tensor_is_contiguous(const struct wick_tensor *x);
/* The device. It belongs to the caller of wick_device_open, and stays as long as x does. */
WICK_API WICK_LENT struct wick_device *wick_tensor_device(const struct wick_tensor *x);

/* ---- data ---- */

/* Waits for the device and copies the elements to `data`, in row-major order. WICK_INVALID unless `nbytes` is the size
 * of the elements: whole blocks (dtype.h), or bits rounded up to bytes. */
WICK_API WICK_CHECKED enum wick_status wick_read(const struct wick_tensor *x, void *data, size_t nbytes);
/* The only element of a tensor, as a double. */
WICK_API WICK_CHECKED enum wick_status wick_read_scalar(const struct wick_tensor *x, double *value);
/* The address of the first element of a CPU tensor; NULL and WICK_DEVICE for other devices. The caller must respect
 * strides, and must not write while others read. */
WICK_API WICK_LENT void *wick_tensor_data(const struct wick_tensor *x);
/* Sets *data to the device address of the first element of x, NULL if x has no elements, and *stream to the stream on
 * which to queue work that reads or writes it: a CUstream or hipStream_t, as wick_stream gives it. Order work on other
 * streams against it by events. The CPU has no streams: *stream is NULL, and the elements are ready when this call
 * returns. The address is valid as long as x is. The caller must respect strides; writes also change every tensor that
 * shares the buffer. WICK_INVALID for NULL, WICK_CLOSED. */
WICK_API WICK_CHECKED enum wick_status wick_tensor_address(const struct wick_tensor *x, void **data, void **stream);
/* A copy of x on another device; a view of x if x is there already. */
WICK_API struct wick_tensor *wick_to_device(const struct wick_tensor *x, struct wick_device *device);

/* ---- ownership ---- */

/* Adds a reference and returns x. No scope owns it: give it back with wick_release. */
WICK_API struct wick_tensor *wick_retain(const struct wick_tensor *x);
/* Gives a reference back; the last one frees the tensor. NULL is fine. */
WICK_API void wick_release(struct wick_tensor *x);

/* Begins a scope. It owns every tensor that this thread makes until the matching wick_scope_end, and releases them
 * there. So a forward pass needs no clean-up code:
 *
 *     wick_scope_begin();
 *     struct wick_tensor *y = wick_add(wick_matmul(x, w), b);
 *     return wick_scope_end(y);
 *
 * Scopes nest and belong to one thread. A thread that ends releases the scopes that it left open. Do not wick_release a
 * tensor that a scope owns, unless you mean to free it early and no one has retained it. */
WICK_API void wick_scope_begin(void);
/* Ends the innermost scope. `keep`, which may be NULL, survives: it passes to the enclosing scope, or to the caller if
 * there is none. Returns keep. Without a scope, does nothing else. */
WICK_API WICK_LENT struct wick_tensor *wick_scope_end(struct wick_tensor *keep);
/* Makes another tensor of the innermost scope survive its end, in the same way. Returns x. */
WICK_API WICK_LENT struct wick_tensor *wick_keep(struct wick_tensor *x);

#ifdef __cplusplus
}
#endif
#endif
