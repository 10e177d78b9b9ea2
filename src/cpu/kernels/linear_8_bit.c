/* Layers with weights of blocks by activations of 8 bits.
 *
 * Every row of activations becomes whole numbers of 8 bits, 32 of them by one scale, once. Then rows of weights are
 * shared out to the threads, TILE_ROWS at a time. For few rows of activations each row of weights is multiplied as it
 * is read (quantised_rows.c); dtypes that have no such kernel are unpacked, a stretch at a time, and multiplied where
 * they lie in the first cache. For many rows, TILE_ROWS rows are unpacked to a panel, which all columns then share. */
#include "cpu/kernels/activate.h"
#include "cpu/kernels/quantised_dot.h"
#include "cpu/kernels/quantised_linear.h"
#include "cpu/kernels/quantised_rows.h"
#include "cpu/runtime/parallel.h"

#include "core/checked.h"
#include "core/memory.h"

#include <math.h>

enum { FEW = 4, QUANTUM = 32, AHEAD = 2048 /* bytes */ };

/* What the threads share. */
struct layer {
    const struct wick__quantised_linear *l;
    wick__unpack_fn *unpack;
    struct wick__rows rows; /* with a function: each row of activations by rows of weights as they are read */
    bool panels, codes;     /* codes: weights are unsigned and have shifts */
    bool flipped;           /* the signed weights of a panel lie 128 higher */
    int group;              /* elements that share a scale of the activations as they are kept */
    int64_t padded;         /* k, with `rows` and their margin, rounded up to stretches */
    int64_t columns;        /* m, with panels rounded up to tiles */
    int64_t panel_nbytes;
    int8_t *q;          /* [columns][padded] */
    float *scale, *sum; /* [columns][padded / group] */
    int32_t *start;     /* as scale, but with `rows` [columns][padded / 4] */
    char *panel;        /* one for each worker */
    float *bias;        /* [n, rounded up] or NULL */
};

/* ---- activations ---- */

/* 32 activations to whole numbers, the nearest, even ones of two. The scale is NaN where one of them is infinite or
 * NaN. */
static float quantise(const float *x, int8_t *q) {
    const float round = 12582912; /* 1.5 2^23: what is added to it has its whole part in the lowest bits */
    wick__vf top = wick__vf_abs(wick__vf_load(x)), none = wick__vf_load(x) * wick__vf_all(0);
    for (int i = WICK__VF; i < QUANTUM; i += WICK__VF) {
        top = wick__vf_max(top, wick__vf_abs(wick__vf_load(x + i)));
        none += wick__vf_load(x + i) * wick__vf_all(0);
    }
    float most = wick__vf_greatest(top), wrong = wick__vf_total(none);
    bool usable = most > 0x1p-120f && wrong == 0;
    float by = usable ? 127 / most : 0;
    for (int i = 0; i < QUANTUM; i++) q[i] = (int8_t)wick__f32_bits((usable ? x[i] * by : 0) + round);
    return most / 127 + wrong;
}

/* 32 activations of a row; 0 behind its end, and in rows there are not. Returns their scale. */
static float quantise_some(const struct layer *a, int64_t row, int64_t k, int8_t *q) {
    int64_t size = (int)wick__size(a->l->dtype);
    float x[QUANTUM];
    if (row >= a->l->m || k >= a->l->k) {
        memset(q, 0, QUANTUM);
        return 0;
    }
    const char *from = a->l->x + (row * a->l->k + k) * size;
    if (a->l->dtype == WICK_F32) return quantise((const float *)(const void *)from, q);
    wick__row_to_f32(a->l->dtype, from, 1, x, QUANTUM);
    return quantise(x, q);
}

/* The sums of a row for wick__rows_fn. */
static void sum_row(const struct layer *a, int64_t row) {
    const int8_t *q = a->q + row * a->padded;
    int32_t *start = a->start + row * (a->padded / 4);
    const float *scale = a->scale + row * (a->padded / QUANTUM);
    float *sum = a->sum + row * (a->padded / QUANTUM);
    for (int64_t k = 0; k < a->padded; k += 4 * WICK__VF) {
        dot_ints fours = dot_unsigned(ints_all(0), ints_all(0x01010101), ints_load(q + k));
        memcpy(start + k / 4, &fours, sizeof fours);
    }
    for (int64_t g = 0; g < a->padded / QUANTUM; g++) {
        int total = 0;
        for (int i = 0; i < QUANTUM / 4; i++) total += start[g * (QUANTUM / 4) + i];
        sum[g] = scale[g] * (float)total;
    }
    for (int64_t i = 0; i < a->padded / 4; i++) start[i] *= -a->rows.above;
}

/* The sums of 32 elements for panels and stretches. */
static void sum_groups(const struct layer *a, int64_t row, int64_t k, float scale) {
    const int8_t *q = a->q + row * a->padded + k;
    int64_t at = (row * a->padded + k) / a->group;
    for (int i = 0; i < QUANTUM; i += a->group, at++) {
        int sum = 0;
        for (int j = 0; j < a->group; j++) sum += q[i + j];
        a->scale[at] = scale;
        a->sum[at] = scale * (float)sum;
        a->start[at] = a->flipped ? -128 * sum : 0;
    }
}

static void quantise_rows(void *context, int worker, int64_t begin, int64_t end) {
    const struct layer *a = context;
    (void)worker;
    for (int64_t row = begin; row < end; row++) {
        for (int64_t k = 0; k < a->padded; k += QUANTUM) {
            float scale = quantise_some(a, row, k, a->q + row * a->padded + k);
            if (a->rows.fn)
                a->scale[(row * a->padded + k) / QUANTUM] = scale;
            else
                sum_groups(a, row, k, scale);
        }
        if (a->rows.fn) sum_row(a, row);
    }
}

/* ---- the last step ---- */

/* The results of rows first .. first + rows - 1 of weights for one row of activations. */
static void store(const struct layer *a, int64_t column, int64_t first, int64_t rows, const float *results) {
    union {
        wick__vf vector[TILE_ROWS / WICK__VF];
        float one[TILE_ROWS];
    } y;
    const struct wick__quantised_linear *l = a->l;
    memcpy(y.one, results, sizeof y.one);
    if (a->bias)
        for (int v = 0; v < TILE_ROWS / WICK__VF; v++) y.vector[v] += wick__vf_load(a->bias + first + v * WICK__VF);
    wick__activate(l->activation, y.vector, TILE_ROWS / WICK__VF);
    wick__row_from_f32(l->dtype, y.one, l->out + (column * l->n + first) * (int)wick__size(l->dtype), rows);
}

/* ---- few rows of activations: row by row ---- */

static void unpack(const struct layer *a, int64_t row, int64_t k, struct wick__stretch *stretch) {
    const struct wick__quantised_linear *l = a->l;
    const struct wick__traits *traits = &wick__traits[l->weight_dtype];
    const uint8_t *from = l->weight + row * l->row_nbytes + k / traits->elements * traits->nbytes;
    int n = (int)wick__min(WICK__STRETCH, l->k - k), nbytes = n / traits->elements * traits->nbytes;
    /* Blocks are read by parts, so their misses would follow one another. */
    for (int at = 0; at < nbytes; at += 64) __builtin_prefetch(from + AHEAD + at);
    a->unpack(from, n, stretch);
    for (int g = n / 16; g < WICK__STRETCH_GROUPS; g++) stretch->scale[g] = stretch->shift[g] = 0;
}

DOT_FN void by_stretches(dot_fn *dot, const struct layer *a, int64_t first, int64_t rows) {
    struct wick__stretch stretch;
    float results[FEW][TILE_ROWS] = {{0}};
    int m = (int)a->l->m;
    memset(&stretch, 0, sizeof stretch);
    for (int64_t r = 0; r < rows; r++) {
        struct dot_sums sums[FEW];
        for (int i = 0; i < m; i++) sums[i].products = sums[i].shifts = wick__vf_all(0);
        for (int64_t k = 0; k < a->l->k; k += WICK__STRETCH) {
            unpack(a, first + r, k, &stretch);
            for (int i = 0; i < m; i++) {
                int64_t at = (i * a->padded + k) / 16;
                struct dot_row x = {a->q + i * a->padded + k, a->scale + at, a->sum + at};
                dot_stretch(dot, &stretch, &x, (int)wick__min(WICK__STRETCH, a->l->k - k), a->codes, &sums[i]);
            }
        }
        for (int i = 0; i < m; i++) results[i][r] = dot_total(&sums[i]);
    }
    for (int i = 0; i < m; i++) store(a, i, first, rows, results[i]);
}

/* Row by row of the activations: all that is read of the weights stays in the first cache. */
static void by_rows(const struct layer *a, int64_t first, int64_t rows) {
    const struct wick__quantised_linear *l = a->l;
    float results[TILE_ROWS] = {0};
    for (int64_t i = 0; i < l->m; i++) {
        int64_t at = i * (a->padded / QUANTUM);
        const struct wick__rows_call call = {
            .weight = l->weight + first * l->row_nbytes,
            .row_nbytes = l->row_nbytes,
            .rows = rows,
            .k = l->k,
            .x = {a->q + i * a->padded, a->start + i * (a->padded / 4), a->scale + at, a->sum + at},
            .out = results};
        a->rows.fn(&call);
        store(a, i, first, rows, results);
    }
}

/* ---- many: by panels ---- */

static struct dot_panel panel_of(const struct layer *a, int worker) {
    char *at = a->panel + worker * a->panel_nbytes;
    int64_t groups = a->padded / a->group * TILE_ROWS;
    float *scale = (float *)(void *)(at + a->padded * TILE_ROWS);
    return (struct dot_panel){(uint8_t *)at, scale, scale + groups};
}

/* Interleaves the rows of a panel; rows there are not have scales of 0. */
static void fill_panel(const struct layer *a, int64_t first, int64_t rows, const struct dot_panel *panel) {
    struct wick__stretch stretch;
    uint32_t flip = a->flipped ? 0x80808080u : 0;
    int step = a->group / 16;
    memset(&stretch, 0, sizeof stretch);
    for (int64_t r = 0; r < TILE_ROWS; r++)
        for (int64_t k = 0; k < a->l->k; k += WICK__STRETCH) {
            uint32_t *words = (uint32_t *)(void *)panel->q + k / 4 * TILE_ROWS + r, word;
            float *scale = panel->scale + k / a->group * TILE_ROWS + r;
            float *shift = panel->shift + k / a->group * TILE_ROWS + r;
            if (r < rows)
                unpack(a, first + r, k, &stretch);
            else
                memset(&stretch, 0, sizeof stretch);
            for (int i = 0; i < WICK__STRETCH / 4; i++) {
                memcpy(&word, stretch.q + 4 * i, sizeof word);
                words[i * TILE_ROWS] = word ^ flip;
            }
            for (int g = 0; g < WICK__STRETCH / a->group; g++) {
                scale[g * TILE_ROWS] = stretch.scale[g * step];
                shift[g * TILE_ROWS] = stretch.shift[g * step];
            }
        }
}

DOT_FN void by_panel(dot_fn *dot, const struct layer *a, int64_t first, int64_t rows, int worker) {
    struct dot_panel panel = panel_of(a, worker);
    int64_t groups = a->padded / a->group, k = a->l->k;
    float results[TILE_COLUMNS][TILE_ROWS];
    fill_panel(a, first, rows, &panel);
    for (int64_t c = 0; c < a->l->m; c += TILE_COLUMNS) {
        struct dot_columns x = {a->q + c * a->padded,
                                a->scale + c * groups,
                                a->sum + c * groups,
                                a->start + c * groups,
                                k,
                                a->padded,
                                groups};
        if (a->group == 16)
            dot_tile(dot, &panel, &x, 16, a->codes, results);
        else if (a->codes)
            dot_tile(dot, &panel, &x, 32, true, results);
        else
            dot_tile(dot, &panel, &x, 32, false, results);
        for (int64_t i = 0; i < TILE_COLUMNS && c + i < a->l->m; i++) store(a, c + i, first, rows, results[i]);
    }
}

/* Units are TILE_ROWS rows of weights. */
DOT_FN void multiply(dot_fn *row_dot, dot_fn *panel_dot, const struct layer *a, int worker, int64_t begin,
                     int64_t end) {
    for (int64_t unit = begin; unit < end; unit++) {
        int64_t first = unit * TILE_ROWS, rows = wick__min(TILE_ROWS, a->l->n - first);
        if (a->panels)
            by_panel(panel_dot, a, first, rows, worker);
        else if (a->rows.fn)
            by_rows(a, first, rows);
        else
            by_stretches(row_dot, a, first, rows);
    }
}

static void multiply_units(void *context, int worker, int64_t begin, int64_t end) {
    const struct layer *a = context;
    if (a->codes)
        multiply(dot_unsigned, dot_unsigned, a, worker, begin, end);
    else
        multiply(dot_signed, dot_signed, a, worker, begin, end);
}

#if WICK_ISA_LEVEL == 2
VNNI static void multiply_units_vnni(void *context, int worker, int64_t begin, int64_t end) {
    const struct layer *a = context;
    if (a->codes)
        multiply(vnni_unsigned, vnni_unsigned, a, worker, begin, end);
    else
        multiply(vnni_signed, vnni_unsigned, a, worker, begin, end);
}
#endif

/* ---- the whole ---- */

/* Sizes of the scratch memory; false when they do not fit in 64 bits. */
static bool measure(const struct layer *a, int workers, size_t nbytes[6]) {
    int64_t count[6], of[6] = {1, sizeof(float), sizeof(float), sizeof(int32_t), 1, sizeof(float)}, all;
    if (!wick__mul(a->columns, a->padded, &count[0]) || !wick__mul(a->panel_nbytes, workers, &count[4])) return false;
    count[1] = count[2] = count[3] = count[0] / a->group;
    if (a->rows.fn) count[3] = count[0] / 4;
    if (!a->panels) count[4] = 0;
    count[5] = a->l->bias ? a->l->n + TILE_ROWS : 0;
    for (int i = 0; i < 6; i++) {
        if (!wick__mul(count[i], of[i], &all)) return false;
        nbytes[i] = (size_t)all;
    }
    return true;
}

enum wick_status WICK__ISA(wick__quantised_linear_8_bit)(const struct wick__quantised_linear *l) {
    struct layer a = {.l = l,
                      .unpack = WICK__ISA(wick__unpack_codes)(l->weight_dtype),
                      .panels = l->m > FEW,
                      .codes = wick__has_codes(l->weight_dtype),
                      .columns = l->m};
    wick__range_fn *run = multiply_units;
    int workers = wick__workers();
    size_t nbytes[6];
    void *memory[6] = {NULL};
    enum wick_status status = WICK_OK;
#if WICK_ISA_LEVEL == 2
    a.flipped = a.panels && !a.codes && wick__isa_has_avx512_vnni();
    if (wick__isa_has_avx512_vnni()) run = multiply_units_vnni;
#endif
    if (!a.panels) a.rows = WICK__ISA(wick__rows)(l->weight_dtype);
    a.padded = l->k + (a.rows.fn ? WICK__ROW_MARGIN : 0);
    a.padded = (a.padded + WICK__STRETCH - 1) / WICK__STRETCH * WICK__STRETCH;
    if (a.panels) a.columns = (l->m + TILE_COLUMNS - 1) / TILE_COLUMNS * TILE_COLUMNS;
    a.group = a.rows.fn || (a.panels && !wick__scales_16(l->weight_dtype)) ? 32 : 16;
    a.panel_nbytes = a.padded * TILE_ROWS + 2 * (int)sizeof(float) * (a.padded / a.group) * TILE_ROWS;
    if (!measure(&a, workers, nbytes)) return wick__fail(WICK_OVERFLOW, "linear_quantised: its scratch memory");
    for (int i = 0; i < 6 && status == WICK_OK; i++) {
        if (nbytes[i] == 0) continue;
        memory[i] = wick__alloc(nbytes[i]);
        if (!memory[i]) status = wick__latest();
    }
    a.q = memory[0];
    a.scale = memory[1];
    a.sum = memory[2];
    a.start = memory[3];
    a.panel = memory[4];
    a.bias = memory[5];
    if (status == WICK_OK) {
        if (a.bias) memset(a.bias, 0, nbytes[5]);
        if (a.bias) wick__row_to_f32(l->dtype, l->bias, 1, a.bias, l->n);
        wick__parallel_with(workers, a.columns, wick__max(1, 4096 / a.padded), quantise_rows, &a);
        wick__parallel_with(workers, (l->n + TILE_ROWS - 1) / TILE_ROWS, 1, run, &a);
    }
    for (int i = 0; i < 6; i++) wick__free(memory[i], nbytes[i]);
    return status;
}
