/* Nearest and linear resizing over 1 to 3 dims. */
#include "core/convert.h"
#include "cpu/kernels/places.h"
#include "cpu/kernels/planes.h"
#include "cpu/runtime/isa.h"
#include "cpu/runtime/parallel.h"
#include "cpu/runtime/pool.h"

#include "core/checked.h"
#include "core/memory.h"
#include "backend.h"

#include <math.h>
#include <string.h>

/* Results of a row that are made at once. */
enum { NEAR = 16 };

/* Where a result's element comes from along one dim: (1 - weight) x[low] + weight x[high]. */
struct source {
    int64_t low, high;
    double weight;
};

struct resize {
    const char *in;
    char *out;
    enum wick_dtype dtype;
    size_t size;
    bool linear;
    int64_t from[3], to[3];   /* sizes; missing leading dims have size 1 */
    struct source *source[3]; /* [to] */
    int64_t *low;             /* [to[2]], those of the last dim by themselves, so that vectors can gather by them */
    float *weight, *rest;     /* [to[2]], likewise, and 1 - weight */
    int32_t *lane;            /* [to[2]], low in 32 bits */
    bool near;                /* NEAR results take from 2 NEAR elements at most */
    char *scratch;
    size_t scratch_each;
};

/* out[o] = in[low[o]] */
#define WICK__PICK(type)                                                                                               \
    static void pick_##type(const void *in, void *out, const int64_t *restrict low, int64_t n) {                       \
        const type *restrict from = in;                                                                                \
        type *restrict to = out;                                                                                       \
        for (int64_t o = 0; o < n; o++) to[o] = from[low[o]];                                                          \
    }
WICK__PICK(uint8_t)
WICK__PICK(uint16_t)
WICK__PICK(uint32_t)
WICK__PICK(uint64_t)

/* column += weight row, or = where it is the first. */
#define WICK__ADD_ROW(type, name)                                                                                      \
    static void add_row_##name(const type *restrict row, type weight, bool first, type *restrict column, int64_t n) {  \
        if (first)                                                                                                     \
            for (int64_t i = 0; i < n; i++) column[i] = weight * row[i];                                               \
        else                                                                                                           \
            for (int64_t i = 0; i < n; i++) column[i] += weight * row[i];                                              \
    }
WICK__ADD_ROW(float, f32)
WICK__ADD_ROW(double, f64)

/* out = column seen through the sources of the last dim. A weight of 0 drops its element, so that no infinity becomes
 * NaN. The column has an element more, which only such a weight meets. */
static void blend_f32(const struct resize *resize, const float *restrict column, float *restrict out) {
    const int64_t *restrict low = resize->low;
    const float *restrict weight = resize->weight, *restrict rest = resize->rest;
    int64_t n = resize->to[2];
#if WICK_ISA_LEVEL >= 2
    for (int64_t o = 0; resize->near && o < n; o += NEAR) {
        __mmask16 here = (__mmask16)(n - o >= NEAR ? 0xffff : (1u << (n - o)) - 1);
        __m512i at = _mm512_sub_epi32(_mm512_maskz_loadu_epi32(here, resize->lane + o), _mm512_set1_epi32((int)low[o]));
        __m512i after = _mm512_add_epi32(at, _mm512_set1_epi32(1));
        __m512 a = _mm512_loadu_ps(column + low[o]), b = _mm512_loadu_ps(column + low[o] + NEAR);
        __m512 first = _mm512_permutex2var_ps(a, at, b), second = _mm512_permutex2var_ps(a, after, b);
        __m512 by = _mm512_maskz_loadu_ps(here, weight + o), both = _mm512_maskz_loadu_ps(here, rest + o) * first;
        both += by * second;
        __mmask16 two = _mm512_cmp_ps_mask(by, _mm512_setzero_ps(), _CMP_GT_OQ);
        _mm512_mask_storeu_ps(out + o, here, _mm512_mask_mov_ps(first, two, both));
    }
    if (resize->near) return;
#endif
    for (int64_t o = 0; o < n; o++) {
        float first = column[low[o]], both = rest[o] * first + weight[o] * column[low[o] + 1];
        out[o] = weight[o] > 0 ? both : first;
    }
}

static void blend_f64(const struct resize *resize, const double *restrict column, double *restrict out) {
    const struct source *source = resize->source[2];
    for (int64_t o = 0; o < resize->to[2]; o++) {
        double weight = source[o].weight, low = column[source[o].low], high = column[source[o].high];
        out[o] = weight > 0 ? (1 - weight) * low + weight * high : low;
    }
}

/* Adds up to four input rows, weighted by the sources of the outer two dims, into `column`. */
static void column_f32(const struct resize *resize, int64_t plane, const struct source *d, const struct source *h,
                       float *column) {
    float *buffer = column + resize->from[2] + 1;
    bool first = true;
    column[resize->from[2]] = 0;
    for (int corner = 0; corner < 4; corner++) {
        double weight = (corner & 2 ? d->weight : 1 - d->weight) * (corner & 1 ? h->weight : 1 - h->weight);
        if (weight == 0) continue;
        int64_t row = (plane * resize->from[0] + (corner & 2 ? d->high : d->low)) * resize->from[1] +
                      (corner & 1 ? h->high : h->low);
        const char *from = resize->in + (size_t)(row * resize->from[2]) * resize->size;
        const float *in = (const float *)(const void *)from;
        if (resize->dtype != WICK_DTYPE_f32) {
            wick__row_to_f32(resize->dtype, from, 1, buffer, resize->from[2]);
            in = buffer;
        }
        add_row_f32(in, (float)weight, first, column, resize->from[2]);
        first = false;
    }
}

static void column_f64(const struct resize *resize, int64_t plane, const struct source *d, const struct source *h,
                       double *column) {
    double *buffer = column + resize->from[2];
    bool first = true;
    for (int corner = 0; corner < 4; corner++) {
        double weight = (corner & 2 ? d->weight : 1 - d->weight) * (corner & 1 ? h->weight : 1 - h->weight);
        if (weight == 0) continue;
        int64_t row = (plane * resize->from[0] + (corner & 2 ? d->high : d->low)) * resize->from[1] +
                      (corner & 1 ? h->high : h->low);
        wick__row_to_f64(resize->dtype, resize->in + (size_t)(row * resize->from[2]) * resize->size, 1, buffer,
                         resize->from[2]);
        add_row_f64(buffer, weight, first, column, resize->from[2]);
        first = false;
    }
}

/* Result row `row`, linear: floats of up to 32 bits in f32, the others in f64. */
static void linear_row(const struct resize *resize, int64_t row, char *scratch) {
    int64_t n = resize->to[2], above = row / resize->to[1], plane = above / resize->to[0];
    const struct source *h = &resize->source[1][row % resize->to[1]], *d = &resize->source[0][above % resize->to[0]];
    void *out = resize->out + (size_t)(row * n) * resize->size;
    if (wick_dtype_is_float(resize->dtype) && resize->dtype != WICK_DTYPE_f64) {
        float *values = (float *)(void *)scratch, *column = values + n;
        column_f32(resize, plane, d, h, column);
        blend_f32(resize, column, resize->dtype == WICK_F32 ? out : values);
        if (resize->dtype != WICK_F32) wick__row_from_f32(resize->dtype, values, out, n);
        return;
    }
    double *values = (double *)(void *)scratch, *column = values + n;
    column_f64(resize, plane, d, h, column);
    blend_f64(resize, column, values);
    if (!wick_dtype_is_float(resize->dtype))
        for (int64_t o = 0; o < n; o++) values[o] = rint(values[o]);
    wick__row_from_f64(resize->dtype, values, out, n);
}

static void nearest_row(const struct resize *resize, int64_t row) {
    int64_t n = resize->to[2], above = row / resize->to[1], plane = above / resize->to[0];
    int64_t source = (plane * resize->from[0] + resize->source[0][above % resize->to[0]].low) * resize->from[1] +
                     resize->source[1][row % resize->to[1]].low;
    const char *in = resize->in + (size_t)(source * resize->from[2]) * resize->size;
    char *out = resize->out + (size_t)(row * n) * resize->size;
    switch (resize->size) {
    case 1: pick_uint8_t(in, out, resize->low, n); break;
    case 2: pick_uint16_t(in, out, resize->low, n); break;
    case 4: pick_uint32_t(in, out, resize->low, n); break;
    default: pick_uint64_t(in, out, resize->low, n); break;
    }
}

static void resize_rows(void *context, int worker, int64_t begin, int64_t end) {
    const struct resize *resize = context;
    for (int64_t row = begin; row < end; row++)
        if (resize->linear)
            linear_row(resize, row, resize->scratch + (size_t)worker * resize->scratch_each);
        else
            nearest_row(resize, row);
}

static void fill_sources(struct source *source, int64_t in, int64_t out, struct wick__position at, bool linear) {
    struct placer placer = placer_of(at);
    for (int64_t o = 0; o < out; o++) {
        struct place place = next_place(&placer);
        int64_t low = clamped(place.low, in), high = wick__min(low + 1, in - 1);
        source[o] = (struct source){low, high, linear && high > low && low == place.low ? place.part : 0};
    }
}

/* The sources of the last dim by themselves, in `room`. */
static void list_last(struct resize *resize, int64_t *room) {
    int64_t n = resize->to[2];
    resize->low = room;
    resize->weight = (float *)(void *)(room + n);
    resize->rest = resize->weight + n;
    resize->lane = (int32_t *)(void *)(resize->rest + n);
    resize->near = resize->from[2] < INT32_MAX - 2 * NEAR;
    for (int64_t o = 0; o < n; o++) {
        const struct source *source = &resize->source[2][o];
        resize->low[o] = source->low;
        resize->weight[o] = (float)source->weight;
        resize->rest[o] = (float)(1 - source->weight);
        resize->lane[o] = (int32_t)source->low;
        resize->near = resize->near && source->low + 1 - resize->low[o / NEAR * NEAR] < 2 * NEAR;
    }
}

/* ---- by 16 planes at a time ---- */

struct sources {
    const struct source *source;
    int64_t to;
};

static void list_sources(struct readers *r, const void *context) {
    const struct sources *s = context;
    for (int64_t o = 0; o < s->to; o++) {
        add_reader(r, o, s->source[o].low, 1 - s->source[o].weight);
        add_reader(r, o, s->source[o].high, s->source[o].weight);
    }
}

/* Where planes lie side by side, or rows are short. False where not, or where tiles would be too large, and nothing is
 * done. */
static bool by_planes(const struct resize *resize, const struct wick__call *call, enum wick_status *status) {
    enum { NARROW = 32 };
    const struct wick__layout *layout = &call->in[0]->layout;
    struct wick__planes p = {.kind = resize->linear ? WICK__PLANES_SUM : WICK__PLANES_PICK,
                             .dtype = resize->dtype,
                             .x = resize->in,
                             .y = resize->out,
                             .channels_last = !wick__layout_is_contiguous(layout),
                             .images = layout->shape[0],
                             .channels = layout->shape[1],
                             .divisor = 1};
    struct sources sources[3];
    if (!wick_dtype_is_float(resize->dtype) || resize->dtype == WICK_F64) return false;
    if (!p.channels_last && resize->to[2] > NARROW) return false;
    for (int a = 0; a < 3; a++) {
        sources[a] = (struct sources){resize->source[a], resize->to[a]};
        p.from[a] = resize->from[a];
        p.to[a] = resize->to[a];
    }
    const void *const axes[3] = {&sources[0], &sources[1], &sources[2]};
    return WICK__ISA(wick__planes_try)(&p, list_sources, axes, status);
}

enum wick_status WICK__ISA(wick__cpu_resize)(const struct wick__call *call);
enum wick_status WICK__ISA(wick__cpu_resize)(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0];
    struct wick_tensor *y = call->out[0];
    if (wick__count(y) == 0) return WICK_OK;
    struct resize resize = {.in = wick__data(x),
                            .out = wick__data(y),
                            .dtype = x->dtype,
                            .size = wick__size(x->dtype),
                            .linear = call->p.resize.kind == WICK__LINEAR};
    int spatial = call->p.resize.spatial;
    int64_t entries = 0, inner = 0;
    for (int a = 0; a < 3; a++) {
        int s = a - (3 - spatial);
        resize.from[a] = s < 0 ? 1 : x->layout.shape[2 + s];
        resize.to[a] = s < 0 ? 1 : y->layout.shape[2 + s];
        entries += resize.to[a];
    }
    inner = 2 * (resize.from[2] + NEAR) + resize.to[2];
    resize.scratch_each = ((size_t)inner * sizeof(double) + 63) / 64 * 64;
    size_t last = sizeof *resize.low + sizeof *resize.weight + sizeof *resize.rest + sizeof *resize.lane;
    size_t table = (size_t)entries * sizeof(struct source) + (size_t)resize.to[2] * last;
    table = (table + 63) / 64 * 64;
    int workers = wick__workers();
    size_t nbytes = table + resize.scratch_each * (size_t)workers;
    char *memory = wick__scratch(nbytes);
    if (!memory) return WICK_MEMORY;
    resize.scratch = memory + table;
    struct source *source = (struct source *)(void *)memory;
    for (int a = 0; a < 3; a++) {
        int s = a - (3 - spatial);
        resize.source[a] = source;
        struct wick__position at = s < 0 ? (struct wick__position){.by = 1} : call->p.resize.at[s];
        fill_sources(source, resize.from[a], resize.to[a], at, resize.linear);
        source += resize.to[a];
    }
    list_last(&resize, (int64_t *)(void *)source);
    enum wick_status status = WICK_OK;
    if (!by_planes(&resize, call, &status))
        wick__parallel_with(workers, wick__count(y) / resize.to[2], wick__max(1, 8192 / resize.to[2]), resize_rows,
                            &resize);
    wick__scratch_free(memory, nbytes);
    return status;
}
