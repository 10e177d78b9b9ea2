/* Extremes of f32: see cpu/kernels/extremes.h. */
#include "cpu/kernels/extremes.h"

#include "cpu/kernels/across.h"
#include "cpu/kernels/vmath.h"
#include "cpu/runtime/parallel.h"

enum { VECTORS = 4, COLUMNS = VECTORS * WICK__VF, GRAIN = 32 * 1024, LEAST = 1, PLACE = 2 };

typedef int32_t ints __attribute__((vector_size(WICK__VF * 4)));

struct extremes {
    struct across across;
    const struct lines *lines;
    bool least;
    float *values;
    uint32_t *places;
};

/* Nothing comes before the first NaN: of a line that has one no comparison holds. */
static inline __attribute__((always_inline)) ints takes(wick__vf x, wick__vf best, bool least) {
    return (least ? ~(ints)(x >= best) : ~(ints)(x <= best)) & (ints)(best == best);
}

static inline __attribute__((always_inline)) wick__vf load(const float *p, int64_t n) {
    return n == WICK__VF ? wick__vf_load(p) : wick__vf_some(p, n, 0);
}

/* Of `count` vectors of lines at x, whose last one has n lanes. `kind` is of LEAST and PLACE. */
static inline __attribute__((always_inline)) void vectors(const struct extremes *e, const int kind, const float *x,
                                                          int64_t first, const int count, int64_t n) {
    const bool least = kind & LEAST, place = kind & PLACE;
    wick__vf best[VECTORS];
    ints found[VECTORS];
    int32_t i = 0;
    for (int k = 0; k < count; k++) {
        best[k] = load(x + k * WICK__VF, k < count - 1 ? WICK__VF : n);
        found[k] = (ints){0};
    }
    ACROSS_EACH(&e->across, x) {
        for (int k = 0; k < count; k++) {
            wick__vf v = load(at + k * WICK__VF, k < count - 1 ? WICK__VF : n);
            ints mask = takes(v, best[k], least);
            best[k] = (wick__vf)(((ints)v & mask) | ((ints)best[k] & ~mask));
            if (place) found[k] = (((ints){0} + i) & mask) | (found[k] & ~mask);
        }
        i++;
    }
    for (int k = 0; k < count; k++) {
        int64_t lanes = k < count - 1 ? WICK__VF : n;
        if (e->values) wick__vf_store_some(e->values + first + k * WICK__VF, best[k], lanes);
        if (place) memcpy(e->places + first + k * WICK__VF, &found[k], (size_t)lanes * sizeof *e->places);
    }
}

/* The same of values alone, without NaN; false where there is one. */
static inline __attribute__((always_inline)) bool values_of(const struct extremes *e, const int kind, const float *x,
                                                            int64_t first) {
    const bool least = kind & LEAST;
    wick__vf best[VECTORS];
    bool some_nan = false;
    for (int k = 0; k < VECTORS; k++) best[k] = wick__vf_load(x + k * WICK__VF);
    ACROSS_EACH(&e->across, x) {
        wick__vf v[VECTORS];
        for (int k = 0; k < VECTORS; k++) v[k] = wick__vf_load(at + k * WICK__VF);
        for (int k = 0; k < VECTORS; k += 2) some_nan |= wick__vf_nan(v[k], v[k + 1]);
        for (int k = 0; k < VECTORS; k++) best[k] = least ? wick__vf_min(v[k], best[k]) : wick__vf_max(v[k], best[k]);
    }
    for (int k = 0; k < VECTORS; k++) wick__vf_store(e->values + first + k * WICK__VF, best[k]);
    return !some_nan;
}

static inline __attribute__((always_inline)) void parts(const struct extremes *e, const int kind, int64_t begin,
                                                        int64_t end) {
    for (int64_t i = begin, n; i < end; i++) {
        int64_t first = across_part(&e->across, i, &n), j = 0;
        const float *x = (const float *)(const void *)e->lines->data + dims_offset(&e->lines->kept, first);
        if (n == COLUMNS) {
            if ((kind & PLACE) || !values_of(e, kind, x, first)) vectors(e, kind, x, first, VECTORS, WICK__VF);
            continue;
        }
        for (; n - j > WICK__VF; j += WICK__VF) vectors(e, kind, x + j, first + j, 1, WICK__VF);
        vectors(e, kind, x + j, first + j, 1, n - j);
    }
}

static void parts_task(void *context, int worker, int64_t begin, int64_t end) {
    const struct extremes *e = context;
    (void)worker;
    if (e->places)
        e->least ? parts(e, LEAST | PLACE, begin, end) : parts(e, PLACE, begin, end);
    else
        e->least ? parts(e, LEAST, begin, end) : parts(e, 0, begin, end);
}

static void rows_task(void *context, int worker, int64_t begin, int64_t end) {
    const struct extremes *e = context;
    const float *x = (const float *)(const void *)e->lines->data;
    int64_t n = e->lines->terms;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        const float *row = x + lines_offset(e->lines, i);
        float value = e->least ? wick__row_extreme(row, n, true) : wick__row_extreme(row, n, false);
        if (e->values) e->values[i] = value;
        if (e->places) e->places[i] = (uint32_t)wick__row_find(row, n, value);
    }
}

bool WICK__ISA(wick__extremes_f32)(const struct lines *lines, bool least, float *values, uint32_t *places) {
    struct extremes e = {.lines = lines, .least = least, .values = values, .places = places};
    if (lines->dtype == WICK_F32 && lines->direct && lines->terms <= (places ? LINE_BLOCK : LINE_SEGMENT)) {
        wick__parallel(lines->outs, wick__max(1, GRAIN / (lines->terms + 16)), rows_task, &e);
        return true;
    }
    if (!across_init(&e.across, lines, COLUMNS) || lines->terms > INT32_MAX) return false;
    int64_t work = lines->terms * wick__min(e.across.n, COLUMNS);
    wick__parallel(e.across.jobs, wick__max(1, GRAIN / work), parts_task, &e);
    return true;
}
