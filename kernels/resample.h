/* Parameters of bicubic resizing, and of the gradients of resizing, adaptive pooling, padding and windows. */
#ifndef WICK_KERNELS_RESAMPLE_H
#define WICK_KERNELS_RESAMPLE_H

#include "resize.h"

enum gpu_resample { GPU_NEAREST, GPU_LINEAR, GPU_CUBIC, GPU_AREA };

/* One dim: `in` elements of x, `out` of the gradient. */
struct gpu_resample_axis {
    i64 in, out;
    struct gpu_position at;
    double back, ahead;       /* the element at place p of x is number p back + ahead of the gradient, nearly */
    struct gpu_divisor by_in; /* when narrow */
    struct gpu_divisor by_mul;
    u32 *spans;      /* [in,2]: the first result that an element is in, and how many; or NULL */
    double *weights; /* [in,most]: its weights in those */
    i64 most;
};

/* gradient [planes, out...] to out [planes, in...], both contiguous; missing leading dims have one element. */
struct gpu_resize_backward {
    const void *gradient;
    const u32 *indices; /* of max pooling: the position in its plane that takes all of a result; or NULL */
    void *out;
    i64 count;  /* of out */
    u32 kind;   /* enum gpu_resample */
    u32 narrow; /* count < 2^31 */
    /* Of nearest: rows are vectors of so many elements, and numbers of 32 bits do for places; or 0. */
    u32 together;
    struct gpu_divisor by_vector; /* vectors of a row */
    struct gpu_resample_axis axis[3];
};

/* gradient, a padded x, to out, x, both contiguous; dims from the last to the first. */
struct gpu_pad_backward {
    const void *gradient;
    void *out;
    u32 mode;               /* enum gpu_pad_mode */
    struct gpu_shape shape; /* of x */
    i64 before[GPU_RANK], to[GPU_RANK];
    i64 step[GPU_RANK]; /* of the gradient */
};

/* One dim: `in` elements of the result, `out` windows. */
struct gpu_fold_axis {
    i64 in, out, kernel, stride, padding, step;
    struct gpu_divisor by_in, by_stride; /* when narrow */
};

/* columns [planes, kernel..., out...] to out [planes, in...], both contiguous; missing leading dims have one element
 * and one window. */
struct gpu_fold {
    const void *columns;
    void *out;
    i64 count;  /* of out */
    u32 narrow; /* count, and every dim with its padding, are below 2^31 */
    struct gpu_fold_axis axis[3];
};

#endif
