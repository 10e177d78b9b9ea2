/* Devices: opening, describing, synchronising, memory, matrix products, seeds.
 *
 * A device handle is a counted reference. Handles and the tensors on them may be shared between threads. */
#ifndef WICK_DEVICE_H
#define WICK_DEVICE_H

#include <wick/dtype.h>
#include <wick/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct wick_device;

/* Opens a device by name: "cpu", "cuda:0", "rocm:1", or "auto" for the best healthy one, which is a GPU with memory of
 * its own, then one that shares the host's, then the CPU. Opening a GPU runs a small kernel on it as a test. NULL and
 * WICK_DEVICE if no device has this name, or it does not work; the text says why. Each call returns a new handle with
 * its own random numbers and, on a GPU, its own stream and memory pool. All handles of the CPU share its threads and
 * memory pool. Close with wick_device_close. */
WICK_API struct wick_device *wick_device_open(const char *name);

/* Closes a device. You may still release tensors that live on it; every other call with them fails with WICK_CLOSED.
 * NULL is fine. Do not use the handle again. */
WICK_API void wick_device_close(struct wick_device *device);

/* The name that wick_device_open takes, "cpu", "rocm:0". Belongs to the device. */
WICK_API const char *wick_device_name(const struct wick_device *device);

/* A number >= 0 that all handles of one device share, and no other device has, as long as the process lives; -1 for
 * NULL. Numbers have gaps and do not follow the order of wick_device_list. The CPU is 0. */
WICK_API int wick_device_ordinal(const struct wick_device *device);

/* Facts about a device. Strings belong to the device. */
struct wick_device_info {
    const char *name;        /* "cpu", "rocm:0" */
    const char *family;      /* "cpu", "cuda", "rocm" */
    const char *description; /* the processor's own name */
    const char *isa;         /* the instruction set of its kernels: "avx512", "sm_90", "gfx942:sramecc+:xnack-" */
    int threads;             /* threads that kernels run on; 0 on a GPU */
    size_t memory_total;     /* bytes of memory the device can use, 0 when not known */
    size_t memory_free;      /* bytes of it that are free now, on the CPU for this process; 0 when not known */
    int units;               /* multiprocessors or compute units of a GPU, 0 on the CPU */
    int wave;                /* lanes that run in step on a GPU, 0 on the CPU */
    bool integrated;         /* a GPU that shares the host's memory */
    bool fast_bf16;          /* whether it multiplies matrices of bf16 faster than those of f32 */
    WICK_RESERVED;
};
WICK_API WICK_CHECKED enum wick_status wick_device_describe(const struct wick_device *device,
                                                            struct wick_device_info *info);

/* Waits until the device has done all its work. Returns a failure of the device, or the late failure of an op in place
 * that no call has reported yet (status.h). Further calls return further such failures. */
WICK_API WICK_CHECKED enum wick_status wick_device_sync(struct wick_device *device);

/* How many devices can be opened, and the name of the i-th of them, 0 <= i < wick_device_count(), best first;
 * NULL for any other i. The name stays until this thread calls wick_device_list again: it belongs to the library. */
WICK_API int wick_device_count(void);
WICK_API const char *wick_device_list(int i);

/* The number of threads that run the CPU's kernels, 1 to 256; all handles share them. The default is WICK_THREADS from
 * the environment, or else the number of processors that this process may use. Results do not depend on it.
 * WICK_INVALID for any other number. Do not call this while kernels run. */
WICK_API WICK_CHECKED enum wick_status wick_threads_set(int threads);
WICK_API int wick_threads(void);

/* How long those threads spin after a call before they sleep, in microseconds, 0 to 1,000,000. Waking a sleeping thread
 * costs some 25 us, as much as a sum of 1 MiB. A spinning thread holds a processor, but yields it to other programs.
 * Threads never spin if there are more of them than processors. The default is WICK_SPIN from the environment, or else
 * 5000. WICK_INVALID for any other number. */
WICK_API WICK_CHECKED enum wick_status wick_threads_spin_set(int microseconds);
WICK_API int wick_threads_spin(void);

/* Memory of a device, in bytes. The device keeps freed blocks for reuse, up to a limit. */
struct wick_memory {
    size_t used;    /* held by tensors now */
    size_t peak;    /* the highest `used` since the last wick_memory_reset_peak */
    size_t cached;  /* freed and kept for reuse */
    size_t limit;   /* the most that used + cached may reach; SIZE_MAX without a limit */
    size_t cache;   /* the most that cached may reach */
    size_t largest; /* the largest block among the cached ones */
    WICK_RESERVED;
};
WICK_API WICK_CHECKED enum wick_status wick_memory_stats(const struct wick_device *device, struct wick_memory *memory);

/* Sets the limit. An allocation that would exceed it empties the cache first, and then fails with WICK_MEMORY. */
WICK_API WICK_CHECKED enum wick_status wick_memory_set_limit(struct wick_device *device, size_t nbytes);
/* Sets how many bytes of freed blocks the device keeps. It gives further ones back at once; 0 keeps none. */
WICK_API WICK_CHECKED enum wick_status wick_memory_set_cache(struct wick_device *device, size_t nbytes);
WICK_API WICK_CHECKED enum wick_status wick_memory_reset_peak(struct wick_device *device);

/* Gives the cached blocks back. */
WICK_API WICK_CHECKED enum wick_status wick_memory_trim(struct wick_device *device);

/* Whose matrix products a GPU uses. The default is WICK_BLAS from the environment, "auto", "own" or "vendor", or else
 * auto. */
enum wick_blas {
    WICK_BLAS_AUTO,  /* cuBLAS or rocBLAS for large products, if it has them and passed its check; else ours */
    WICK_BLAS_OWN,   /* ours alone */
    WICK_BLAS_VENDOR /* the vendor's for every product that it has and passed its check for, FLUSHES included */
};
/* WICK_UNSUPPORTED on the CPU, WICK_INVALID for a value that is none of the enum. */
WICK_API WICK_CHECKED enum wick_status wick_blas_set(struct wick_device *device, enum wick_blas blas);

/* Whose convolutions, attention and, in inference, recurrent layers a GPU uses, and on AMD's whose gradients of these,
 * softmax, batch norm, local response norm and pooling. The default is WICK_DNN from the environment, "auto", "own" or
 * "vendor", or else auto. Libraries are used only for what passed its check. Their kernels add up in another order than
 * ours, and in the same order each time. */
enum wick_dnn {
    /* cuDNN where it was measured to be faster, or, but for batch norm, where nobody measured it; else ours. Of
     * attention, whose kernels cuDNN compiles for up to a second, only where wick_tune_set measured it here. */
    WICK_DNN_AUTO,
    WICK_DNN_OWN,   /* ours alone */
    WICK_DNN_VENDOR /* the vendor's for all that it has, and computes as exactly as ours, but for subnormal numbers */
};
/* WICK_UNSUPPORTED on the CPU, WICK_INVALID for a value that is none of the enum. */
WICK_API WICK_CHECKED enum wick_status wick_dnn_set(struct wick_device *device, enum wick_dnn dnn);

/* What Wick knows about the vendor's products of one dtype. */
enum wick_blas_verdict {
    WICK_BLAS_UNCHECKED, /* Wick has not used it yet */
    WICK_BLAS_GOOD,      /* it passed its check: small products with known results */
    WICK_BLAS_ABSENT,    /* it has no products of this dtype here */
    WICK_BLAS_WRONG,     /* it gave a wrong result and is not used */
    WICK_BLAS_FLUSHES    /* f16: right, but it treats subnormal operands as 0 (gfx90a); only WICK_BLAS_VENDOR uses it */
};
struct wick_blas_info {
    enum wick_blas blas; /* as set */
    const char *library; /* "cuBLAS 13.1.0"; NULL when there is none */
    const char *fault;   /* why there is none; NULL when there is one. Belongs to the library, until the next call */
    enum wick_blas_verdict bf16, f16, f32, f64;
    int64_t used, refused; /* products that it computed; that it refused, so that ours ran */
    WICK_RESERVED;
};
/* Looks for the library. If `check` is set, also checks each dtype that it has not checked yet, and waits for the
 * device. WICK_UNSUPPORTED on the CPU. */
WICK_API WICK_CHECKED enum wick_status wick_blas_describe(struct wick_device *device, bool check,
                                                          struct wick_blas_info *info);

/* A route: a vendor's library as a way of running an op, which Wick tries before its own kernels. Routes are tried in
 * their order. */
struct wick_route_info {
    const char *name;      /* "BLAS" */
    const char *op;        /* "product", "convolution", "layer", "attention call" */
    const char *library;   /* "cuBLAS 13.1.0"; NULL when there is none */
    const char *fault;     /* why there is none; NULL when there is one */
    const char *verdict;   /* "right for f32; not checked: f16" */
    int64_t used, refused; /* calls that it ran; that it refused, so that another ran them */
    WICK_RESERVED;
};
/* The number of routes that a device has, 0 for the CPU and for NULL. */
WICK_API int wick_route_count(const struct wick_device *device);
/* Describes the route of this number, from 0; see wick_blas_describe for `check`. Texts belong to the library, until
 * the next call for this device. WICK_UNSUPPORTED on the CPU, WICK_INVALID for a number that is none. */
WICK_API WICK_CHECKED enum wick_status wick_route_describe(struct wick_device *device, int route, bool check,
                                                           struct wick_route_info *info);

/* Whether a GPU measures which route is the fastest for a call. If so, the first product or convolution of a shape is
 * run some dozens of times, by each route that takes it and has passed its check, by the algorithms that its library
 * proposes, and by Wick's own kernels. The fastest is kept in the folder of compiled kernels, for this card, driver,
 * libraries and Wick's kernels, and taken from there by later processes, whatever they are set to, where WICK_BLAS_AUTO
 * and WICK_DNN_AUTO choose. Results are as exact by any route, but their last bits may differ between routes. Nothing
 * is measured while a graph is recorded. The default is WICK_TUNE from the environment, "off", "new" or "all", or else
 * off. */
enum wick_tune {
    WICK_TUNE_OFF, /* measures nothing */
    WICK_TUNE_NEW, /* measures shapes of which nothing is kept */
    WICK_TUNE_ALL  /* measures each shape once more in this process */
};
/* WICK_UNSUPPORTED on the CPU, WICK_INVALID for a value that is none of the enum. */
WICK_API WICK_CHECKED enum wick_status wick_tune_set(struct wick_device *device, enum wick_tune tune);

/* What was measured of a call by one route. */
struct wick_tune_info {
    int call;              /* the same number for all routes of a call, from 0 */
    const char *op;        /* "product", "convolution", "attention call" */
    const char *sizes;     /* "512 x 1024 x 1024, bias" */
    enum wick_dtype dtype; /* of its operands */
    const char *route;     /* as wick_route_info names it, or "own" */
    double us;             /* microseconds, the least of some batches */
    int ways;              /* algorithms of the route that were timed; `us` is of the fastest */
    bool chosen;           /* the fastest route */
    WICK_RESERVED;
};
/* The number of such rows since the device was opened, of up to 1024 calls that more than one route took; 0 for the CPU
 * and for NULL. */
WICK_API int wick_tune_count(const struct wick_device *device);
/* Describes the row of this number, from 0. Texts belong to the device. WICK_UNSUPPORTED on the CPU, WICK_INVALID for a
 * number that is none. */
WICK_API WICK_CHECKED enum wick_status wick_tune_describe(struct wick_device *device, int row,
                                                          struct wick_tune_info *info);

/* Whether results of casts and elementwise ops on this handle are always row-major, for callers that keep strides of
 * their own. The default is false: ops.h says in which order they lie then. */
WICK_API WICK_CHECKED enum wick_status wick_row_major_set(struct wick_device *device, bool row_major);

/* Seeds the device's random numbers; the default is 0. See random.h. */
WICK_API WICK_CHECKED enum wick_status wick_seed_set(struct wick_device *device, uint64_t seed);
/* The seed as it was set last; 0 for NULL. */
WICK_API uint64_t wick_seed(const struct wick_device *device);

#ifdef __cplusplus
}
#endif
#endif
