/* Tensors: making them, looking at them, getting data in and out, views, ownership and scopes.
 *
 * A struct wick_tensor is a counted reference to a strided view of a typed buffer on a device. Its shape, dtype and
 * layout never change. Its elements change only through the few calls whose names end in _inplace, and through
 * wick_tensor_data. A new tensor has one reference. Inside a scope (see below) that reference belongs to the scope;
 * otherwise it belongs to the caller, who gives it back with wick_release.
 *
 * Dims count from 0; a negative dim counts from the end, -1 is the last. Sizes are 64 bit, ranks 0 to WICK_MAX_RANK.
 * Rank 0, a scalar, and dims of size 0 are legal everywhere. A view shares the elements of what it was made from and
 * keeps them alive. */
#ifndef WICK_TENSOR_H
#define WICK_TENSOR_H

#include <wick/device.h>
#include <wick/number.h>

#ifdef __cplusplus
extern "C" {
#endif

struct wick_tensor;

/* ---- making ---- all return a new contiguous tensor, or NULL: WICK_SHAPE-like `shape` has `rank` sizes >= 0;
 * WICK_INVALID (rank, NULL, negative size), WICK_SHAPE (a last dim that is no whole number of blocks), WICK_OVERFLOW,
 * WICK_MEMORY, WICK_DTYPE (storage-only dtypes where arithmetic is needed), WICK_CLOSED. */

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
/* A copy of prod(shape) elements in row-major order at `data`, which may be NULL when there are none. WICK_INVALID
 * unless `nbytes` is what they take, count * bits / 8 rounded up. */
WICK_API struct wick_tensor *wick_from_data(struct wick_device *device, enum wick_dtype dtype, int rank,
                                            const int64_t *shape, const void *data, size_t nbytes);

/* Memory that stays the caller's. */
struct wick_memory_block {
    void *data;                     /* its address on the device */
    size_t nbytes;                  /* how much there is: views may reach all of it */
    void (*release)(void *context); /* called when Wick needs it no more; NULL: nothing is called */
    void *context;
};
/* A tensor over the first elements of a block: host memory on the CPU family, e.g. a mapped file, and on a GPU memory
 * that this GPU can read and write, e.g. another library's tensor. The block must stay valid, and keep its values
 * unless Wick writes them, until release(context) is called. That happens once, on any thread, when the last view is
 * released and the work queued on the device by then is done; only while the device records a graph, nothing waits for
 * that work. It does not happen when this call fails. What another stream writes to the block must be done, or ordered
 * before the work of this device (stream.h). WICK_INVALID: `data` is NULL or not aligned to the dtype's size, or there
 * are fewer bytes than the shape takes. Whether a GPU can reach the address is not checked. */
WICK_API struct wick_tensor *wick_from_memory(struct wick_device *device, enum wick_dtype dtype, int rank,
                                              const int64_t *shape, const struct wick_memory_block *block);
/* start, start + step, ... below end, above it when step < 0. [N]. Of integer dtypes, when all three numbers are whole,
 * in wrapping integer arithmetic; otherwise start + i step in f64, cast to the dtype as wick_cast does. WICK_INVALID
 * when step is 0 or a number is not finite. */
WICK_API struct wick_tensor *wick_arange(struct wick_device *device, enum wick_dtype dtype, struct wick_number start,
                                         struct wick_number end, struct wick_number step);

/* ---- looking ---- NULL gives -1, NULL or 0. */
WICK_API enum wick_dtype wick_tensor_dtype(const struct wick_tensor *x);
WICK_API int wick_tensor_rank(const struct wick_tensor *x);
/* rank sizes, and rank strides counted in elements; both belong to the tensor. */
WICK_API const int64_t *wick_tensor_shape(const struct wick_tensor *x);
WICK_API const int64_t *wick_tensor_strides(const struct wick_tensor *x);
/* The size of one dim; 0, and WICK_RANGE as this thread's error, when there is no such dim. */
WICK_API int64_t wick_tensor_dim(const struct wick_tensor *x, int dim);
/* The number of elements. */
WICK_API int64_t wick_tensor_count(const struct wick_tensor *x);
/* Where the view starts in its buffer, in elements. */
WICK_API int64_t wick_tensor_offset(const struct wick_tensor *x);
/* Row-major without gaps; dims of size <= 1 may have any stride, and the offset does not matter. */
WICK_API bool wick_tensor_is_contiguous(const struct wick_tensor *x);
/* The device, which the caller of wick_device_open owns: nothing to give back. It stays as long as x does. */
WICK_API WICK_LENT struct wick_device *wick_tensor_device(const struct wick_tensor *x);

/* ---- data ---- */

/* Copies the elements in row-major order to `data`, which has room for `nbytes`, waiting for the device.
 * WICK_INVALID unless nbytes is what the elements take: whole blocks (dtype.h), or bits rounded up to bytes. */
WICK_API WICK_CHECKED enum wick_status wick_read(const struct wick_tensor *x, void *data, size_t nbytes);
/* One element of a tensor that has just one, as a double. */
WICK_API WICK_CHECKED enum wick_status wick_read_scalar(const struct wick_tensor *x, double *value);
/* The address of the first element of a CPU tensor, after the work on it is done; NULL and WICK_DEVICE on others.
 * It is the caller's duty to respect strides, and not to write while others read. */
WICK_API WICK_LENT void *wick_tensor_data(const struct wick_tensor *x);
/* Where the first element of x lies on its device, into *data, and the stream to queue work on that reads or writes it,
 * into *stream: a CUstream or hipStream_t, as wick_stream gives it. Work on another stream has to be ordered against it
 * by events. On the CPU, which has no streams, *stream is NULL and the elements are there when this call returns. The
 * address is good as long as x is; NULL for a tensor without elements. Strides are the caller's to respect, as is
 * telling nobody that elements of a shared buffer change. WICK_INVALID for NULL, WICK_CLOSED. */
WICK_API WICK_CHECKED enum wick_status wick_tensor_address(const struct wick_tensor *x, void **data, void **stream);
/* A copy of x on another device; a view of x when it is there already. */
WICK_API struct wick_tensor *wick_to_device(const struct wick_tensor *x, struct wick_device *device);

/* ---- ownership ---- */

/* One more reference; returns x. Not scoped: give it back with wick_release. */
WICK_API struct wick_tensor *wick_retain(const struct wick_tensor *x);
/* Gives a reference back; the last one frees the tensor. NULL is fine. */
WICK_API void wick_release(struct wick_tensor *x);

/* Every tensor this thread makes until the matching wick_scope_end belongs to the scope, which releases it at its
 * end, so that a forward pass needs no clean-up code:
 *
 *     wick_scope_begin();
 *     struct wick_tensor *y = wick_add(wick_matmul(x, w), b);
 *     return wick_scope_end(y);
 *
 * Scopes nest and belong to one thread; a thread that ends releases what those it left open own. Do not wick_release a
 * tensor that a scope owns unless you mean to free it early and no one retained it. */
WICK_API void wick_scope_begin(void);
/* Ends the innermost scope. `keep`, which may be NULL, survives: it passes to the enclosing scope, or to the caller
 * when there is none. Returns keep. Without a scope, just returns keep. */
WICK_API WICK_LENT struct wick_tensor *wick_scope_end(struct wick_tensor *keep);
/* Lets a tensor of the innermost scope survive its end too. Returns x. */
WICK_API WICK_LENT struct wick_tensor *wick_keep(struct wick_tensor *x);

#ifdef __cplusplus
}
#endif
#endif
