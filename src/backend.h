/* The one interface between the tensor core and a device family.
 *
 * A family is one `static const struct wick__backend`. It owns raw buffers and a table of kernels, a row for each op:
 * the function, and the layouts it takes. src/ops/ checks every argument, computes every shape, allocates
 * every result and then hands the family a struct wick__call; kernels check nothing again, and never allocate results.
 * The same row answers wick_supports(), so what is claimed and what is run cannot drift apart.
 *
 * Another family is a sibling of src/cpu/ that fills this struct; docs/adding-a-backend.md lists its other places.
 * Every call, views, writes in place and copies between devices included, passes src/ops/run.c: there records and
 * graphs see it. */
#ifndef WICK_BACKEND_H
#define WICK_BACKEND_H

#include "core/op.h"
#include "core/tensor.h"

#include <wick/number.h>
#include <wick/ops.h>

enum { WICK__MAX_OUTPUTS = 3, WICK__MAX_SPATIAL = 3 };

/* Layouts an operand may have when a kernel sees it; others are copied first. */
enum wick__layouts {
    WICK__CONTIGUOUS, /* row-major without gaps, any offset */
    WICK__IMAGES,     /* as contiguous; one alone, of f32, or of a convolution of points.h, also channels last */
    WICK__LAST,       /* as contiguous; images of convolutions that points.h names also channels last */
    WICK__ROWS,       /* last dim of stride 1, other strides as they come, 0 included */
    WICK__STRIDED     /* any */
};

/* Farther than any two positions are apart: no limit. */
#define WICK__FAR (INT64_C(1) << 61)

/* Arguments of kernels that are not tensors. Each op family uses one member, which its file in src/ops/ fills. */
union wick__params {
    struct wick_number number[2]; /* affine: mul, add. powf: exponent. clamp: low, high. arange: start, step. ... */
    struct {                      /* views; those that are not named have all in the result's shape */
        int dim, other; /* the dims of all but permute; flatten: first and last. meshgrid: dim of the result */
        int64_t start;  /* narrow, chunk, split, slice; select: the index. diagonal: the offset */
        int64_t length; /* narrow, chunk, split, slice: positions of the result. unfold: of a window */
        int64_t step;   /* slice, unfold */
        int order[WICK_MAX_RANK]; /* permute: the dims of x */
    } view;
    struct {
        uint32_t dims; /* bit d is set when dim d of in[0] is reduced; out has the other dims, or all with keepdim */
        double correction; /* var, std: the divisor is n - correction */
        double order;      /* norm: the p of the p-norm */
    } reduce;
    struct {
        int dim;         /* scan, sort, gather, scatter, index_select, index_add, softmax and its gradient, cat, stack,
                          * slice_set, slice_scatter, roll: the dim of in[0], for stack of the result */
        bool descending; /* sort */
        int64_t start;   /* tril, triu: the diagonal. slice_set, slice_scatter: where. roll: the shift */
    } along;
    struct {
        uint32_t dims; /* bit d is set when dim d is read backwards */
    } flip;
    struct {
        int spatial; /* 1, 2 or 3 */
        int64_t groups;
        int64_t stride[WICK__MAX_SPATIAL];
        int64_t padding[WICK__MAX_SPATIAL];
        int64_t dilation[WICK__MAX_SPATIAL];
        int64_t kernel[WICK__MAX_SPATIAL]; /* pooling windows */
        bool count_include_pad;            /* average pooling */
        int64_t divisor;                   /* average pooling: instead of the count; 0: none */
        bool relu;                         /* convolution: the result is max(0, .) */
    } window;
    struct {
        int mode; /* an enum of the op family */
        int64_t before[WICK_MAX_RANK], after[WICK_MAX_RANK];
        struct wick_number value;
    } pad;
    struct {
        /* Element o of a spatial dim lies at (o mul + add) / by of x, exactly; or, where scale is not 0, at
         * (o + offset) / scale - shift. */
        struct wick__position {
            int64_t mul, add, by;
            double scale, offset, shift;
        } at[WICK__MAX_SPATIAL];
        double given[WICK__MAX_SPATIAL]; /* the caller's scale, 0 for none: for who records calls */
        enum wick__resize { WICK__NEAREST, WICK__LINEAR, WICK__CUBIC, WICK__AREA } kind; /* area: adaptive pooling */
        bool centred;                                                                    /* nearest: of the centres */
        bool align_corners;
        int spatial;
    } resize;
    struct {
        int mode, padding; /* enum wick_grid_mode, enum wick_grid_padding */
        bool align_corners;
    } grid;
    struct {
        double epsilon;
        int64_t groups; /* group norm */
        int axes;       /* how many trailing dims are normalised */
        /* group_norm_backward: groups are single channels, each of all images together, and mean and inverse deviation
         * are [channels]. */
        bool batch;
    } norm;
    struct {
        int64_t size; /* local response norm and its gradient, by channels */
        double alpha, beta, k;
    } response;
    struct {
        int activation; /* enum wick_activation */
        int products;   /* linear_quantised: enum wick_products */
        double epsilon; /* linear_quantised: of its norm */
        bool swiglu;    /* linear_quantised: x is wick_swiglu of in[0] */
    } linear;
    struct {
        double scale;        /* of q k^T */
        double soft_cap;     /* 0: none */
        bool align_last;     /* query i of M is at position i + N - M instead of i */
        int64_t left, right; /* a query at p sees keys p - left .. p + right; at most WICK__FAR */
        bool interleaved;    /* attention_step: as of rope */
    } attention;
    struct {
        uint64_t seed, offset; /* the Philox key, and the number of the first 128-bit block */
        double a, b;           /* uniform: low, high. normal: mean, deviation. bernoulli: p. */
        int64_t low, high;     /* randint */
    } random;
    struct {
        bool relu; /* rnn_cell and its gradient: instead of tanh */
    } cell;
    struct {
        int mode; /* recurrent and its gradient, of a direction (src/recurrence.h): enum wick_recurrent_mode */
        int64_t steps;
        bool backwards; /* from the last step to the first */
    } steps;
    struct {
        double a;     /* beta of smooth_l1_loss, delta of huber_loss */
        double scale; /* gradients: what the mean divides by, turned over */
        bool log;     /* kl_div_loss: the target is a logarithm */
    } loss;
    struct {
        double smoothing;
        bool ignore; /* the id that follows */
        int64_t ignored;
        bool mean; /* losses: out[0] is their mean by weights, a scalar, and out[1] the sum of the weights */
    } classes;
    struct {
        int64_t blank;
        bool padded;        /* targets are [N,S], not one after another */
        bool by_length;     /* losses, and gradients, are divided by max(1, target length) */
        bool zero_infinity; /* infinite losses are 0 */
        double scale;       /* gradients: as of loss */
        int64_t states;     /* 2 S + 1, S the longest target */
    } ctc;
    struct {
        bool interleaved; /* rope: pairs (2i, 2i+1) instead of (i, i + d/2) */
    } rope;
};

struct wick__call;
typedef enum wick_status wick__kernel_fn(const struct wick__call *call);

/* One op to run. Operands are tensors: storage, dtype and layout in one. `out` are fresh and, for kernels, contiguous,
 * but for ops that write in place, where out[0] is the target with its own layout. A gradient may need more of a call
 * than its operands and results: the last n_extra of the n_out results are made for a recorder and for nobody else. */
struct wick__call {
    enum wick_op op;
    int n_in, n_out, n_extra;
    bool inplace;                                   /* out[0] was there before */
    bool view;                                      /* out[0] shares in[0]'s elements, nothing is to be run */
    bool turned;                                    /* out[0] is not row-major: kernels see the dims in its order */
    const struct wick__call *as_made;               /* the call before that; NULL: this one */
    const struct wick_tensor *in[WICK__MAX_INPUTS]; /* NULL for an optional operand left out */
    struct wick__suspect **suspect;                 /* what the call came to be suspected of; core/doubt.h */
    int n_list;    /* cat, stack, attention_step: all operands, in[0] is the first of them */
    int n_targets; /* the last so many of them are written in place */
    struct wick_tensor *const *list;
    struct wick_tensor *out[WICK__MAX_OUTPUTS];
    union wick__params p;
    wick__kernel_fn *in_parts; /* runs an op of ours that is several kernels, or none; NULL: the family's kernel does */
};

/* The call that messages tell of. */
static inline const struct wick__call *wick__as_made(const struct wick__call *call) {
    return call->as_made ? call->as_made : call;
}

/* A row of a family's table: what runs an op, on operands of the dtypes that ops.def says. */
struct wick__kernel {
    wick__kernel_fn *run; /* NULL for ops that are WICK__COMPOSED in ops.def, and may be NULL for WICK__PARTLY */
    enum wick__layouts layouts;
};

#define WICK__BACKEND_VERSION 3

struct wick__recurrence;

struct wick__backend {
    uint32_t version;   /* WICK__BACKEND_VERSION; any other is refused */
    const char *family; /* "cpu": the part of a device's name before ':' */
    bool single;        /* one device at most, named by the family alone, without an ordinal */

    /* Devices of this family that are usable now; >= 0. Must not fail or block for long. */
    int (*count)(void);
    /* Where "auto" looks first: 0 for a GPU with memory of its own, 1 for one that shares the host's, 2 for the host.
     */
    int (*rank)(int ordinal);
    /* Makes `device` ready; device->ordinal is set. What it allocates hangs off device->state. */
    enum wick_status (*open)(struct wick_device *device);
    /* Fills the fields that describe the device; name and family are set already. */
    void (*describe)(const struct wick_device *device, struct wick_device_info *info);

    /* Buffers (core/device.h): alloc, free, whether the host sees them, and what undoes open. */
    struct wick__heap heap;
    /* Copies nbytes > 0 from host memory to a buffer; the host memory may be reused on return. */
    enum wick_status (*upload)(struct wick_device *device, void *to, const void *from, size_t nbytes);
    /* Copies nbytes > 0 from a buffer to host memory, after all queued work. May block. */
    enum wick_status (*download)(struct wick_device *device, void *to, const void *from, size_t nbytes);
    /* Copies nbytes > 0 between buffers of two devices of the family, in the order of both; *done is false when it
     * can't be done without the host. NULL for families that never can. */
    enum wick_status (*copy_between)(struct wick_device *target, void *to, struct wick_device *source, const void *from,
                                     size_t nbytes, bool *done);
    /* Waits for all queued work. */
    enum wick_status (*sync)(struct wick_device *device);

    /* The stream work is queued on, as the vendor's own handle; and another one instead, whose owner keeps it alive.
     * NULL for families that queue nothing. */
    void *(*stream)(const struct wick_device *device);
    enum wick_status (*stream_set)(struct wick_device *device, void *stream);

    /* Events: *event stands for all work queued so far. wait makes work queued later on `device` wait for it, sync and
     * done look at it from the host, elapsed gives milliseconds between two. NULL for families that queue nothing. */
    enum wick_status (*event_record)(struct wick_device *device, void **event);
    enum wick_status (*event_wait)(struct wick_device *device, void *event);
    enum wick_status (*event_sync)(struct wick_device *device, void *event);
    enum wick_status (*event_done)(struct wick_device *device, void *event, bool *done);
    enum wick_status (*event_elapsed)(struct wick_device *device, void *from, void *to, double *ms);
    void (*event_free)(struct wick_device *device, void *event);

    /* Graphs: work queued between begin and end is recorded instead of done; launch queues all of it. A failed end
     * leaves the device as it was before begin. NULL for families whose calls runtime/graph.c records itself. */
    enum wick_status (*graph_begin)(struct wick_device *device);
    enum wick_status (*graph_end)(struct wick_device *device, void **graph);
    enum wick_status (*graph_launch)(struct wick_device *device, void *graph);
    void (*graph_free)(struct wick_device *device, void *graph);

    /* The memory pool: figures, the limit, and giving cached blocks back. */
    void (*memory)(const struct wick_device *device, struct wick_memory *memory);
    void (*set_limit)(struct wick_device *device, size_t nbytes);
    void (*set_cache)(struct wick_device *device, size_t nbytes);
    void (*reset_peak)(struct wick_device *device);
    void (*trim)(struct wick_device *device);

    /* A whole recurrent layer (recurrence.h) by a vendor's library; *done is false when there is none that takes it.
     * Without a place for its result it only says whether one would be asked. NULL for families without libraries. */
    enum wick_status (*recurrent)(const struct wick__recurrence *layer, bool *done);

    /* WICK_OP_COUNT rows. */
    const struct wick__kernel *kernels;
};

extern const struct wick__backend wick__cpu_backend, wick__cuda_backend, wick__rocm_backend;

#endif
