/* Gradients of convolutions by their weights.
 *
 * `small` is the side with a position for each window, [N,groups M,small...], `large` the side that windows lie on,
 * [N,groups J,large...]: of a convolution gradient and x, of a transposed one x and gradient. The result, for each
 * group, is a product of M rows with J x kernel columns, over N x small terms:
 *
 *     out[m][j,k] = sum over n, i of small[n][m][i] large[n][j][i stride + k dilation - padding]
 *
 * The rows are a copy of the small side in which the terms of a channel follow each other. The columns are copied
 * some at a time, for a band of terms, so that no matrix of windows is made, or lie in a copy of the large side
 * (conv_backward_grid.h). Vectors run along the terms: a tile of
 * sums loads each vector of a row for all its columns. Sums over a band are f32 (f64 of f64), lane by lane; lanes,
 * bands and parts are added in f64. How terms are cut follows from the shape alone. */
#include "backend.h"
#include "core/checked.h"
#include "core/convert.h"
#include "core/memory.h"
#include "cpu/kernels/muladd.h"
#include "cpu/kernels/vmath.h"
#include "cpu/runtime/isa.h"
#include "cpu/runtime/parallel.h"
#include "cpu/runtime/pool.h"

#include <string.h>

/* Bytes of a vector, and columns of a tile: its sums, its columns and one row fit the registers, 32 or 16 of them. */
#if WICK_ISA_LEVEL >= 2
enum { BYTES = 64, COLUMNS = 4 };
#elif WICK_ISA_LEVEL == 1
enum { BYTES = 32, COLUMNS = 3 };
#else
enum { BYTES = 16, COLUMNS = 3 };
#endif

enum {
    ROWS = WICK_ISA_LEVEL >= 2 ? 6 : 4, /* of a tile */
    BAND = 1024,                        /* terms, a multiple of any vector's elements */
    STEP = BAND + 16, /* from one copied column to the next: not a power of two, which caches have few places for */
    BLOCK = 24,       /* columns that are copied at a time, a multiple of COLUMNS: they stay in a second level cache */
    ENOUGH = 32       /* items of work, where terms suffice */
};

#define UNROLL _Pragma("GCC unroll 16")

/* One dim of both sides. Leading dims that are missing have size 1. */
struct axis {
    int64_t small, large, kernel, stride, padding, dilation;
};

struct conv_backward {
    enum wick_dtype dtype;
    size_t size; /* of an element */
    const char *small, *large;
    char *out;
    struct axis axis[3];
    int64_t batch, groups, rows, channels; /* rows: M. channels: J */
    int64_t small_plane, large_plane, taps;
    int64_t across;       /* columns: J x kernel */
    int64_t terms, pitch; /* N x small; and from one packed row to the next, whole vectors */
    int64_t blocks, bands, parts;
    int64_t image, run;       /* terms of an image of a grid, and those up to its last window; or all terms twice */
    int64_t pieces, together; /* bands of an image, or images of a band */
    char *packed;             /* the rows: [groups M][pitch] of values, zeros behind the terms */
    char *room;               /* of every worker: BLOCK columns of a band */
    size_t room_each;
    double *sums;      /* [parts][groups M][across] */
    struct grid *grid; /* NULL: columns are copied */
};

/* Some columns of the result: the sums of the first row. */
struct block {
    double *sums;
    int64_t across, columns;
};

/* Terms begin .. begin+n-1, n whole vectors, and as many of each further image. */
struct band {
    int64_t begin, n, image, images;
};

static struct band band_of(const struct conv_backward *s, int64_t band, int64_t lanes) {
    int64_t piece = band % s->pieces * BAND, image = band / s->pieces * s->together;
    return (struct band){.begin = image * s->image + piece,
                         .n = wick__round_up(wick__min(BAND, s->run - piece), lanes),
                         .image = s->image,
                         .images = wick__min(s->together, s->terms / s->image - image)};
}

/* Where a term is: its image and its window's place. */
struct place {
    int64_t image, at[3];
};

static struct place place_of(const struct conv_backward *s, int64_t term) {
    const struct axis *a = s->axis;
    struct place p = {.image = term / s->small_plane};
    int64_t rest = term % s->small_plane;
    p.at[2] = rest % a[2].small;
    p.at[1] = rest / a[2].small % a[1].small;
    p.at[0] = rest / a[2].small / a[1].small;
    return p;
}

/* The first window of the next row of windows. */
static void next_row(const struct conv_backward *s, struct place *p) {
    p->at[2] = 0;
    if (++p->at[1] < s->axis[1].small) return;
    p->at[1] = 0;
    if (++p->at[0] < s->axis[0].small) return;
    p->at[0] = 0;
    p->image++;
}

typedef wick__vf vector_f32;
typedef wick__vd vector_f64;

static inline __attribute__((always_inline)) void add_totals_f32(const wick__vf *x, const int n, double *sums) {
    float total[4];
    _mm_storeu_ps(total, wick__vf_totals(x[0], x[n > 1], x[n > 2 ? 2 : 0], x[n > 3 ? 3 : 0]));
    UNROLL for (int c = 0; c < n; c++) sums[c] += (double)total[c];
}

static inline __attribute__((always_inline)) void add_totals_f64(const wick__vd *x, const int n, double *sums) {
    UNROLL for (int c = 0; c < n; c++) sums[c] += wick__vd_total(x[c]);
}

/* A row of n windows: the first meets element `low`, which may be before the row of `large`, the others every
 * stride-th after it. */
struct windows {
    int64_t low, stride, large, n;
};

/* Windows before the one that meets element n or a later one. */
static inline int64_t steps(int64_t n, int64_t stride) {
    if (n <= 0) return 0;
    return stride == 1 ? n : stride == 2 ? (n + 1) / 2 : (n + stride - 1) / stride;
}

/* The large side's row of an image and channel at place at[0], at[1]; NULL beyond it. */
static inline const char *large_row(const struct conv_backward *s, int64_t image, int64_t channel, const int64_t *at) {
    const struct axis *a = s->axis;
    int64_t plane = (image * s->groups * s->channels + channel) * s->large_plane;
    if (at[0] < 0 || at[0] >= a[0].large || at[1] < 0 || at[1] >= a[1].large) return NULL;
    return s->large + (plane + (at[0] * a[1].large + at[1]) * a[2].large) * (int64_t)s->size;
}

#if WICK_ISA_LEVEL >= 2
/* Lanes begin .. end-1 of the 16 from i on. */
static inline uint32_t lanes_between(int64_t i, int64_t begin, int64_t end) {
    uint32_t below = _bzhi_u32(0xffff, (unsigned)wick__min(16, wick__max(0, begin - i)));
    return _bzhi_u32(0xffff, (unsigned)wick__min(16, wick__max(0, end - i))) & ~below;
}

/* The elements where they lie in the row, and zeros elsewhere, up to a whole vector: the room has that much more. */
static inline bool copy_masked_f32(const char *row, const struct windows *w, int64_t begin, int64_t end, float *to) {
    const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const float *from = (const float *)(const void *)row + w->low;
    if (w->stride > 2) return false;
    for (int64_t i = 0; i < w->n; i += 16) {
        uint32_t lanes = lanes_between(i, begin, end);
        if (w->stride == 1) {
            _mm512_storeu_ps(to + i, _mm512_maskz_loadu_ps((__mmask16)lanes, from + i));
            continue;
        }
        lanes = _pdep_u32(lanes, 0x55555555);
        __m512 low = _mm512_maskz_loadu_ps((__mmask16)lanes, from + 2 * i);
        __m512 high = _mm512_maskz_loadu_ps((__mmask16)(lanes >> 16), from + 2 * i + 16);
        _mm512_storeu_ps(to + i, _mm512_permutex2var_ps(low, even, high));
    }
    return true;
}
#else
static inline bool copy_masked_f32(const char *row, const struct windows *w, int64_t begin, int64_t end, float *to) {
    (void)row, (void)w, (void)begin, (void)end, (void)to;
    return false;
}
#endif

static inline bool copy_masked_f64(const char *row, const struct windows *w, int64_t begin, int64_t end, double *to) {
    (void)row, (void)w, (void)begin, (void)end, (void)to;
    return false;
}

static inline const float *grid_column_f32(const struct conv_backward *s, int64_t group, int64_t column);
static inline const double *grid_column_f64(const struct conv_backward *s, int64_t group, int64_t column) {
    (void)s, (void)group, (void)column;
    return NULL;
}

#define VALUE float
#define NAME(x) x##_f32
#define TO_VALUES wick__row_to_f32
#define MULADD(x, y, z) MULADD_F32(x, y, z)
#include "cpu/kernels/conv_backward_body.h"
#undef VALUE
#undef NAME
#undef TO_VALUES
#undef MULADD

#define VALUE double
#define NAME(x) x##_f64
#define TO_VALUES wick__row_to_f64
#define MULADD(x, y, z) MULADD_F64(x, y, z)
#include "cpu/kernels/conv_backward_body.h"

#include "cpu/kernels/conv_backward_grid.h"

static inline const float *grid_column_f32(const struct conv_backward *s, int64_t group, int64_t column) {
    int64_t channel = group * s->channels + column / s->taps;
    return s->grid->planes + channel * s->grid->phases * s->grid->length + s->grid->offset[column % s->taps];
}

/* Adds up the parts of rows of the result, in order. */
static void join(void *context, int worker, int64_t begin, int64_t end) {
    const struct conv_backward *s = context;
    (void)worker;
    for (int64_t row = begin; row < end; row++) {
        double *sums = s->sums + row * s->across;
        for (int64_t part = 1; part < s->parts; part++) {
            const double *more = sums + part * s->groups * s->rows * s->across;
            for (int64_t i = 0; i < s->across; i++) sums[i] += more[i];
        }
        wick__row_from_f64(s->dtype, sums, s->out + row * s->across * (int64_t)s->size, s->across);
    }
}

/* Bytes of packed rows, of the workers' rooms, and of sums; false where they do not fit in size_t. */
static bool measure(const struct conv_backward *s, size_t value, int workers, size_t bytes[3]) {
    size_t sums = sizeof *s->sums * (size_t)s->parts;
    return wick__mul_size((size_t)(s->groups * s->rows), value, &bytes[0]) &&
           wick__mul_size(bytes[0], (size_t)s->pitch, &bytes[0]) &&
           wick__mul_size(s->room_each, (size_t)workers, &bytes[1]) &&
           wick__mul_size(sums, (size_t)(s->groups * s->rows), &bytes[2]) &&
           wick__mul_size(bytes[2], (size_t)s->across, &bytes[2]);
}

/* Cuts terms into bands and parts. The places of a grid behind an image's last window are zeros, which are left out
 * where an image has whole vectors of them. */
static void cut(struct conv_backward *s, int64_t terms) {
    int64_t lanes = BYTES / (s->dtype == WICK_F64 ? 8 : 4);
    s->terms = s->image = s->run = terms;
    if (s->grid && wick__round_up(s->grid->run, lanes) < s->grid->image) {
        s->image = s->grid->image;
        s->run = s->grid->run;
    }
    s->pitch = wick__round_up(terms, lanes) + (s->grid ? lanes : 0); /* copies end in whole vectors */
    s->pieces = wick__div_up(s->run, BAND);
    s->together = s->pieces == 1 ? wick__max(1, BAND / s->image) : 1;
    s->bands = terms == 0 ? 0 : wick__div_up(terms / s->image, s->together) * s->pieces;
    s->parts = wick__max(1, wick__min(s->bands, ENOUGH / wick__min(ENOUGH, s->groups * s->blocks)));
}

/* The large side's copy; *status is WICK_OK and s->grid NULL where columns are better. */
static enum wick_status make_grid(struct conv_backward *s, struct grid *grid, void **memory, size_t *nbytes) {
    if (!plan_grid(s, grid)) return WICK_OK;
    size_t planes = sizeof *grid->planes * (size_t)(s->groups * s->channels * grid->phases * grid->length);
    *nbytes = planes + sizeof *grid->offset * (size_t)s->taps;
    *memory = wick__scratch(*nbytes);
    if (!*memory) return WICK_MEMORY;
    grid->planes = *memory;
    grid->offset = (int64_t *)(void *)((char *)*memory + planes);
    s->grid = grid;
    set_offsets(s, grid);
    wick__parallel(s->groups * s->channels * grid->phases, wick__max(1, 8192 / grid->length), fill_grid, s);
    if (atomic_load(&grid->wild)) s->grid = NULL;
    return WICK_OK;
}

static enum wick_status run(struct conv_backward *s, bool wide) {
    size_t value = wide ? sizeof(double) : sizeof(float), bytes[3], first, all;
    int workers = wick__workers();
    s->room_each = BLOCK * STEP * value;
    if (!measure(s, value, workers, bytes) || !wick__add_size(bytes[1], bytes[2], &first) ||
        !wick__add_size(first, bytes[0], &all) || !wick__add_size(all, BYTES, &all))
        return wick__fail(WICK_MEMORY, "out of memory: sums of %lld x %lld elements", (long long)(s->groups * s->rows),
                          (long long)s->across);
    char *memory = wick__scratch(all);
    if (!memory) return WICK_MEMORY;
    s->sums = (double *)(void *)memory;
    s->room = memory + bytes[2];
    s->packed = s->room + bytes[1];
    wick__parallel(s->groups * s->rows, wick__max(1, (s->grid ? 8192 : 65536) / wick__max(1, s->terms)),
                   s->grid ? fill_rows
                   : wide  ? pack_f64
                           : pack_f32,
                   s);
    wick__parallel_with(workers, s->parts * s->groups * s->blocks, 1, wide ? items_f64 : items_f32, s);
    wick__parallel(s->groups * s->rows, wick__max(1, 16384 / s->across), join, s);
    wick__scratch_free(memory, all);
    return WICK_OK;
}

/* Where each window is one element of the large side and none is left out, a plane is one long row. */
static void join_axes(struct conv_backward *s) {
    struct axis *a = s->axis;
    for (int d = 0; d < 3; d++)
        if (a[d].kernel != 1 || a[d].stride != 1 || a[d].padding != 0) return;
    a[2].small = a[2].large = s->small_plane;
    a[0].small = a[0].large = a[1].small = a[1].large = 1;
}

static void set_axes(struct conv_backward *s, const struct wick__call *call, const int64_t *small,
                     const int64_t *large) {
    s->small_plane = s->large_plane = s->taps = 1;
    for (int a = 0; a < 3; a++) {
        int d = a - (3 - call->p.window.spatial);
        s->axis[a] = (struct axis){1, 1, 1, 1, 0, 1};
        if (d < 0) continue;
        s->axis[a] = (struct axis){small[2 + d],
                                   large[2 + d],
                                   call->p.window.kernel[d],
                                   call->p.window.stride[d],
                                   call->p.window.padding[d],
                                   call->p.window.dilation[d]};
        s->small_plane *= small[2 + d];
        s->large_plane *= large[2 + d];
        s->taps *= call->p.window.kernel[d];
    }
    join_axes(s);
}

enum wick_status WICK__ISA(wick__cpu_conv_backward)(const struct wick__call *call);
enum wick_status WICK__ISA(wick__cpu_conv_backward)(const struct wick__call *call) {
    bool transposed = call->op >= WICK_OP_conv_transpose1d_backward_weight;
    const struct wick_tensor *small = call->in[transposed], *large = call->in[!transposed];
    const int64_t *shape = small->layout.shape;
    if (wick__count(call->out[0]) == 0) return WICK_OK;
    struct conv_backward s = {.dtype = small->dtype,
                              .size = wick__size(small->dtype),
                              .out = wick__data(call->out[0]),
                              .batch = shape[0],
                              .groups = call->p.window.groups,
                              .rows = shape[1] / call->p.window.groups,
                              .channels = large->layout.shape[1] / call->p.window.groups};
    set_axes(&s, call, shape, large->layout.shape);
    s.terms = wick__count(large) == 0 ? 0 : s.batch * s.small_plane;
    if (s.terms > 0) {
        s.small = wick__data(small);
        s.large = wick__data(large);
    }
    s.across = s.channels * s.taps;
    s.blocks = (s.across + BLOCK - 1) / BLOCK;
    struct grid grid = {.wild = false};
    void *memory = NULL;
    size_t nbytes = 0;
    WICK__TRY(make_grid(&s, &grid, &memory, &nbytes));
    cut(&s, s.grid ? s.batch * grid.image : s.terms);
    enum wick_status status = run(&s, s.dtype == WICK_F64);
    wick__scratch_free(memory, nbytes);
    return status;
}
