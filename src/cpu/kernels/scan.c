/* Running sums and products along a dim.
 *
 * A long line is cut into blocks of fixed length: first each block's total, then what comes before each block, then
 * the running values. So long lines use all threads and the result does not depend on how many there are. */
#include "core/convert.h"
#include "cpu/runtime/isa.h"
#include "cpu/runtime/parallel.h"
#include "cpu/runtime/pool.h"
#include "cpu/kernels/vmath.h"

#include "core/checked.h"
#include "core/memory.h"
#include "backend.h"

#include <string.h>

enum {
    RUN = 1024,                             /* elements converted at once, and lines taken side by side */
    BLOCK = 64 * 1024,                      /* elements of a line in one task */
    SHORT = WICK_ISA_LEVEL >= 2 ? 24 : 128, /* elements of a line of which several go at once */
    NARROW = 128,                           /* lines across whose sums stay in registers */
    GRAIN = 16 * 1024
};

/* Floats accumulate in f64, integers in 64 bits without sign, where they wrap around. */
union value {
    double f;
    uint64_t u;
};

struct scan {
    enum wick_dtype dtype;
    size_t size; /* of an element */
    const char *in;
    char *out;
    int64_t n, inner; /* in and out are [outer, n, inner] */
    int64_t blocks;   /* of a line, when inner is 1 */
    int64_t tiles;    /* of up to RUN among inner */
    bool is_float, product;
    union value *before; /* for each block the total, then that of all before it; NULL when lines are one block */
};

static inline union value unit(const struct scan *s) {
    return s->is_float ? (union value){.f = s->product} : (union value){.u = s->product};
}

static inline union value step(const struct scan *s, union value a, union value b) {
    if (s->is_float) return (union value){.f = s->product ? a.f * b.f : a.f + b.f};
    return (union value){.u = s->product ? a.u * b.u : a.u + b.u};
}

static inline void load(const struct scan *s, const char *in, union value *x, int64_t n) {
    if (s->is_float)
        wick__row_to_f64(s->dtype, in, 1, &x->f, n);
    else
        wick__row_to_i64(s->dtype, in, 1, (int64_t *)&x->u, n);
}

static inline void store(const struct scan *s, const union value *x, char *out, int64_t n) {
    if (s->is_float)
        wick__row_from_f64(s->dtype, &x->f, out, n);
    else
        wick__row_from_i64(s->dtype, (const int64_t *)&x->u, out, n);
}

/* Running sums of n elements from `value` on; returns the last. Four stretches at once, as each addition waits for the
 * one before it; then all but the first take in what comes before them. */
static double add_up(union value *x, int64_t n, double value) {
    int64_t stretch = n / 4;
    double sum[4] = {value};
    for (int64_t j = 0; j < stretch; j++)
        for (int k = 0; k < 4; k++) x[k * stretch + j].f = sum[k] += x[k * stretch + j].f;
    value = sum[0];
    for (int k = 1; k < 4; k++) {
        for (int64_t j = 0; j < stretch; j++) x[k * stretch + j].f += value;
        value += sum[k];
    }
    for (int64_t j = 4 * stretch; j < n; j++) x[j].f = value += x[j].f;
    return value;
}

#if WICK_ISA_LEVEL >= 2
/* The same of f32 to `out`, which may be NULL. A vector's running sums take three additions, of the lanes one, two and
 * four before; only one waits for the vector before it. */
static double add_up_f32(const float *x, float *out, int64_t n, double value) {
    const __m512i zero = _mm512_setzero_si512(), last = _mm512_set1_epi64(7);
    __m512d before = _mm512_set1_pd(value);
    for (int64_t i = 0; i < n; i += 8) {
        const __mmask8 some = (__mmask8)_bzhi_u32(0xff, (unsigned)wick__min(8, n - i));
        __m512d sum = _mm512_cvtps_pd(_mm256_maskz_loadu_ps(some, x + i));
        sum += _mm512_castsi512_pd(_mm512_alignr_epi64(_mm512_castpd_si512(sum), zero, 7));
        sum += _mm512_castsi512_pd(_mm512_alignr_epi64(_mm512_castpd_si512(sum), zero, 6));
        sum += _mm512_castsi512_pd(_mm512_alignr_epi64(_mm512_castpd_si512(sum), zero, 4));
        if (out) _mm256_mask_storeu_ps(out + i, some, _mm512_cvtpd_ps(before + sum));
        before += _mm512_permutexvar_pd(last, sum);
    }
    return _mm512_cvtsd_f64(before);
}
#endif

/* Runs through n elements from `value` on, and returns the last; `out` may be NULL. */
static union value run_through(const struct scan *s, const char *in, char *out, int64_t n, union value value) {
    union value x[RUN];
#if WICK_ISA_LEVEL >= 2
    if (s->dtype == WICK_F32 && !s->product)
        return (union value){.f = add_up_f32((const void *)in, (void *)out, n, value.f)};
#endif
    for (int64_t i = 0; i < n; i += RUN) {
        int64_t m = wick__min(RUN, n - i);
        load(s, in + i * (int64_t)s->size, x, m);
        if (s->is_float && !s->product && s->dtype != WICK_F64) /* f64 might overflow within a stretch alone */
            value.f = add_up(x, m, value.f);
        else
            for (int64_t j = 0; j < m; j++) x[j] = value = step(s, value, x[j]);
        if (out) store(s, x, out + i * (int64_t)s->size, m);
    }
    return value;
}

/* ---- running sums of f32 ---- */

/* Short lines: each addition waits for the one before it, so four lines go at once. */
static void short_lines(const float *x, float *y, int64_t n, int64_t lines) {
    int64_t i = 0;
    for (; i + 4 <= lines; i += 4, x += 4 * n, y += 4 * n) {
        double a = 0, b = 0, c = 0, d = 0;
        for (int64_t j = 0; j < n; j++) {
            y[j] = (float)(a += (double)x[j]);
            y[n + j] = (float)(b += (double)x[n + j]);
            y[2 * n + j] = (float)(c += (double)x[2 * n + j]);
            y[3 * n + j] = (float)(d += (double)x[3 * n + j]);
        }
    }
    for (; i < lines; i++, x += n, y += n) {
        double a = 0;
        for (int64_t j = 0; j < n; j++) y[j] = (float)(a += (double)x[j]);
    }
}

/* `count` vectors of lines that lie across, their sums in registers. */
static inline __attribute__((always_inline)) void vectors_across(const struct scan *s, const float *x, float *y,
                                                                 int count) {
    wick__vd sum[4];
    for (int k = 0; k < count; k++) sum[k] = wick__vd_all(0);
    for (int64_t row = 0; row < s->n; row++, x += s->inner, y += s->inner)
        for (int k = 0; k < count; k++) {
            sum[k] += wick__vd_of_f32(x + k * WICK__VD);
            wick__vd_to_f32(y + k * WICK__VD, sum[k]);
        }
}

/* Fewer lines than a vector has lanes. */
static inline __attribute__((always_inline)) void few_across(const struct scan *s, const float *x, float *y,
                                                             int count) {
    double sum[8] = {0};
    for (int64_t row = 0; row < s->n; row++, x += s->inner, y += s->inner)
        for (int k = 0; k < count; k++) y[k] = (float)(sum[k] += (double)x[k]);
}

/* `width` lines that lie across. */
static void lines_across(const struct scan *s, const float *x, float *y, int64_t width) {
    int64_t j = 0;
    for (; j + 4 * WICK__VD <= width; j += 4 * WICK__VD) vectors_across(s, x + j, y + j, 4);
    for (; j + WICK__VD <= width; j += WICK__VD) vectors_across(s, x + j, y + j, 1);
    x += j, y += j;
    switch (width - j) {
    case 1: few_across(s, x, y, 1); break;
    case 2: few_across(s, x, y, 2); break;
    case 3: few_across(s, x, y, 3); break;
    case 4: few_across(s, x, y, 4); break;
    case 5: few_across(s, x, y, 5); break;
    case 6: few_across(s, x, y, 6); break;
    case 7: few_across(s, x, y, 7); break;
    default: break;
    }
}

static bool sums_f32(const struct scan *s) { return s->dtype == WICK_F32 && !s->product; }

static void total_task(void *context, int worker, int64_t begin, int64_t end) {
    const struct scan *s = context;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        int64_t first = i % s->blocks * BLOCK, at = (i / s->blocks * s->n + first) * (int64_t)s->size;
        s->before[i] = run_through(s, s->in + at, NULL, wick__min(BLOCK, s->n - first), unit(s));
    }
}

static void scan_task(void *context, int worker, int64_t begin, int64_t end) {
    const struct scan *s = context;
    (void)worker;
    if (sums_f32(s) && s->n <= SHORT) {
        short_lines((const float *)(const void *)s->in + begin * s->n, (float *)(void *)s->out + begin * s->n, s->n,
                    end - begin);
        return;
    }
    for (int64_t i = begin; i < end; i++) {
        int64_t first = i % s->blocks * BLOCK, at = (i / s->blocks * s->n + first) * (int64_t)s->size;
        run_through(s, s->in + at, s->out + at, wick__min(BLOCK, s->n - first), s->before ? s->before[i] : unit(s));
    }
}

static enum wick_status scan_lines(struct scan *s, int64_t lines) {
    size_t nbytes = 0;
    s->blocks = (s->n + BLOCK - 1) / BLOCK;
    if (s->blocks > 1) {
        nbytes = sizeof *s->before * (size_t)(lines * s->blocks);
        s->before = wick__scratch(nbytes);
        if (!s->before) return WICK_MEMORY;
        wick__parallel(lines * s->blocks, 1, total_task, s);
        for (int64_t line = 0; line < lines; line++) {
            union value sum = unit(s);
            for (int64_t b = 0; b < s->blocks; b++) {
                union value *before = &s->before[line * s->blocks + b], total = *before;
                *before = sum;
                sum = step(s, sum, total);
            }
        }
    }
    wick__parallel(lines * s->blocks, wick__max(1, GRAIN / s->n), scan_task, s);
    wick__scratch_free(s->before, nbytes);
    return WICK_OK;
}

/* Lines that lie across, up to RUN side by side. */
static void tile_task(void *context, int worker, int64_t begin, int64_t end) {
    const struct scan *s = context;
    union value sums[RUN], x[RUN];
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        int64_t first = i % s->tiles * RUN, width = wick__min(RUN, s->inner - first);
        int64_t at = (i / s->tiles * s->n * s->inner + first) * (int64_t)s->size;
        if (sums_f32(s) && s->inner <= NARROW) {
            lines_across(s, (const float *)(const void *)(s->in + at), (float *)(void *)(s->out + at), width);
            continue;
        }
        for (int64_t j = 0; j < width; j++) sums[j] = unit(s);
        for (int64_t row = 0; row < s->n; row++, at += s->inner * (int64_t)s->size) {
            load(s, s->in + at, x, width);
            for (int64_t j = 0; j < width; j++) sums[j] = step(s, sums[j], x[j]);
            store(s, sums, s->out + at, width);
        }
    }
}

enum wick_status WICK__ISA(wick__cpu_scan)(const struct wick__call *call);
enum wick_status WICK__ISA(wick__cpu_scan)(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0];
    int64_t count = wick__count(x);
    int dim = call->p.along.dim;
    if (count == 0) return WICK_OK;
    struct scan s = {.dtype = x->dtype,
                     .size = wick__size(x->dtype),
                     .in = wick__data(x),
                     .out = wick__data(call->out[0]),
                     .n = x->layout.shape[dim],
                     .inner = 1,
                     .is_float = wick_dtype_is_float(x->dtype),
                     .product = call->op == WICK_OP_cumprod};
    for (int d = dim + 1; d < x->layout.rank; d++) s.inner *= x->layout.shape[d];
    if (s.inner == 1) return scan_lines(&s, count / s.n);
    s.tiles = (s.inner + RUN - 1) / RUN;
    wick__parallel(count / (s.n * s.inner) * s.tiles, wick__max(1, GRAIN / (s.n * wick__min(s.inner, RUN))), tile_task,
                   &s);
    return WICK_OK;
}
