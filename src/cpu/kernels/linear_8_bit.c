/* Layers with weights of blocks by activations of 8 bits.
 *
 * Every row of activations becomes whole numbers of 8 bits, 32 of them by one scale, once. Then rows of weights are
 * shared out to the threads, TILE_ROWS at a time. For few rows of activations weights are multiplied as they are read
 * (quantised_rows.c). For many, and for dtypes that have no such kernel, TILE_ROWS rows are unpacked to a panel, which
 * all columns then share. Both add up in the same order, so a row of activations has the same result in any company. */
#include "cpu/kernels/activate.h"
#include "cpu/kernels/quantised_dot.h"
#include "cpu/kernels/quantised_linear.h"
#include "cpu/kernels/quantised_rows.h"
#if WICK_ISA_LEVEL >= 1
#include "cpu/kernels/quantised_strip.h"
#endif
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
    bool codes, shifts;     /* codes: weights are unsigned */
    bool whole;             /* wick__scales_whole */
    bool flipped;           /* the signed weights of a panel lie 128 higher */
    int above;              /* what weights are above the integers that they stand for */
    int group;              /* elements that share a scale */
    int64_t padded;         /* k, rounded up to stretches */
    int64_t columns;        /* m, with panels rounded up to tiles */
    int64_t panel_nbytes;
    int8_t *q;          /* [columns][padded] */
    float *scale, *sum; /* [columns][padded / group] */
    int32_t *start;     /* [columns][padded / group]: -above times the sum of q */
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

/* The sums of 32 elements. */
static void sum_groups(const struct layer *a, int64_t row, int64_t k, float scale) {
    const int8_t *q = a->q + row * a->padded + k;
    int64_t at = (row * a->padded + k) / a->group;
    for (int i = 0; i < QUANTUM; i += a->group, at++) {
        int sum = 0;
        for (int j = 0; j < a->group; j++) sum += q[i + j];
        a->scale[at] = scale;
        a->sum[at] = a->whole ? (float)sum : scale * (float)sum;
        a->start[at] = a->whole && a->rows.fn ? sum & 0xffff : -a->above * sum;
        if (a->whole && a->rows.fn && i == 16) a->start[at - 1] |= (int32_t)((uint32_t)sum << 16);
    }
}

static void quantise_rows(void *context, int worker, int64_t begin, int64_t end) {
    const struct layer *a = context;
    (void)worker;
    for (int64_t row = begin; row < end; row++) {
        for (int64_t k = 0; k < a->padded; k += QUANTUM)
            sum_groups(a, row, k, quantise_some(a, row, k, a->q + row * a->padded + k));
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

/* ---- few rows of activations ---- */

/* WICK__ROWS_AT_ONCE rows of weights by row i of the activations. */
static void multiply_rows(const struct layer *a, const uint8_t *weight, int64_t step, int64_t i, float *out) {
    int64_t at = i * (a->padded / a->group);
    const struct wick__rows_call call = {.weight = weight,
                                         .step = step,
                                         .k = a->l->k,
                                         .q = a->q + i * a->padded,
                                         .start = a->start + at,
                                         .scale = a->scale + at,
                                         .sum = a->sum + at,
                                         .out = out};
    a->rows.fn(&call);
}

/* Some rows of weights from `first` on. What is left at the end of the weights is multiplied with rows before it. */
static void by_rows(const struct layer *a, int64_t first, int64_t rows) {
    const struct wick__quantised_linear *l = a->l;
    float results[FEW][TILE_ROWS] = {{0}}, some[WICK__ROWS_AT_ONCE];
    for (int64_t r = 0; r < rows; r += WICK__ROWS_AT_ONCE) {
        const uint8_t *weight = l->weight + (first + r) * l->row_nbytes;
        int64_t count = wick__min(WICK__ROWS_AT_ONCE, rows - r), before = WICK__ROWS_AT_ONCE - count;
        for (int64_t i = 0; i < l->m; i++) {
            if (before <= first + r) {
                multiply_rows(a, weight - before * l->row_nbytes, l->row_nbytes, i, some);
                memcpy(results[i] + r, some + before, (size_t)count * sizeof *some);
            } else {
                for (int64_t j = 0; j < count; j++) { /* there are fewer rows than WICK__ROWS_AT_ONCE */
                    multiply_rows(a, weight + j * l->row_nbytes, 0, i, some);
                    results[i][r + j] = some[0];
                }
            }
        }
    }
    for (int64_t i = 0; i < l->m; i++) store(a, i, first, rows, results[i]);
}

/* ---- many: by panels ---- */

static struct dot_panel panel_of(const struct layer *a, int worker) {
    char *at = a->panel + worker * a->panel_nbytes;
    int64_t groups = a->padded / a->group * TILE_ROWS;
    float *scale = (float *)(void *)(at + a->padded * TILE_ROWS);
    float *d = scale + 2 * groups;
    return (struct dot_panel){(uint8_t *)at, scale, scale + groups, d, d + a->padded / WICK__STRETCH * TILE_ROWS};
}

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

/* Rows that are interleaved at once. */
enum { AT_ONCE = WICK_ISA_LEVEL >= 1 ? 8 : 1 };

#if WICK_ISA_LEVEL >= 1
/* Words of AT_ONCE stretches, from `from` of the first on, to every `step`th of four vectors of a panel. */
DOT_FN void interleave(const void *from, uint32_t flip, int step, void *to) {
    struct strip strip = strip_at(from, sizeof(struct wick__stretch));
    for (int i = 0; i < 4 / step; i++)
        _mm256_storeu_si256((void *)((char *)to + (size_t)i * TILE_ROWS * 4),
                            _mm256_xor_si256(strip.w[i * step], _mm256_set1_epi32((int)flip)));
}
#endif

/* The stretches of rows r .. r + AT_ONCE - 1, from element k on. */
static void fill(const struct layer *a, const struct wick__stretch *s, int64_t r, int64_t k,
                 const struct dot_panel *panel) {
    uint32_t flip = a->flipped ? 0x80808080u : 0, *words = (uint32_t *)(void *)panel->q + k / 4 * TILE_ROWS + r;
    float *scale = panel->scale + k / a->group * TILE_ROWS + r, *shift = panel->shift + k / a->group * TILE_ROWS + r;
    int step = a->group / 16;
    for (int i = 0; i < AT_ONCE; i++) {
        panel->d[k / WICK__STRETCH * TILE_ROWS + r + i] = s[i].d;
        panel->dmin[k / WICK__STRETCH * TILE_ROWS + r + i] = s[i].dmin;
    }
#if WICK_ISA_LEVEL >= 1
    for (int i = 0; i < WICK__STRETCH; i += 16) interleave(s->q + i, flip, 1, words + i / 4 * TILE_ROWS);
    for (int g = 0; g < WICK__STRETCH_GROUPS; g += 4) {
        interleave(s->scale + g, 0, step, scale + g / step * TILE_ROWS);
        interleave(s->shift + g, 0, step, shift + g / step * TILE_ROWS);
    }
#else
    for (int i = 0; i < WICK__STRETCH / 4; i++) {
        uint32_t word;
        memcpy(&word, s->q + 4 * i, sizeof word);
        words[i * TILE_ROWS] = word ^ flip;
    }
    for (int g = 0; g < WICK__STRETCH / a->group; g++) {
        scale[g * TILE_ROWS] = s->scale[g * step];
        shift[g * TILE_ROWS] = s->shift[g * step];
    }
#endif
}

/* Interleaves the rows of a panel; rows there are not have scales of 0. */
static void fill_panel(const struct layer *a, int64_t first, int64_t rows, const struct dot_panel *panel) {
    struct wick__stretch stretch[AT_ONCE];
    memset(stretch, 0, sizeof stretch);
    for (int64_t r = 0; r < TILE_ROWS; r += AT_ONCE)
        for (int64_t k = 0; k < a->l->k; k += WICK__STRETCH) {
            for (int64_t i = 0; i < AT_ONCE; i++) {
                if (r + i < rows)
                    unpack(a, first + r + i, k, &stretch[i]);
                else
                    memset(&stretch[i], 0, sizeof stretch[i]);
            }
            fill(a, stretch, r, k, panel);
        }
}

/* Some columns, as constants. */
DOT_FN void multiply_tile(dot_fn *dot, const struct layer *a, const struct dot_panel *panel,
                          const struct dot_columns *x, const int columns, float results[TILE_COLUMNS][TILE_ROWS]) {
    if (a->whole && a->shifts)
        dot_tile_16(dot, panel, x, (struct dot_tile_way){columns, 16, true}, results);
    else if (a->whole)
        dot_tile_16(dot, panel, x, (struct dot_tile_way){columns, 16, false}, results);
    else if (a->group == 16)
        dot_tile(dot, panel, x, (struct dot_tile_way){columns, 16, a->shifts}, results);
    else if (a->shifts)
        dot_tile(dot, panel, x, (struct dot_tile_way){columns, 32, true}, results);
    else
        dot_tile(dot, panel, x, (struct dot_tile_way){columns, 32, false}, results);
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
        if (a->l->m - c == 1)
            multiply_tile(dot, a, &panel, &x, 1, results);
        else
            multiply_tile(dot, a, &panel, &x, TILE_COLUMNS, results);
        for (int64_t i = 0; i < TILE_COLUMNS && c + i < a->l->m; i++) store(a, c + i, first, rows, results[i]);
    }
}

/* Units are TILE_ROWS rows of weights. */
DOT_FN void multiply(dot_fn *dot, const struct layer *a, int worker, int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; unit++) {
        int64_t first = unit * TILE_ROWS, rows = wick__min(TILE_ROWS, a->l->n - first);
        if (a->rows.fn)
            by_rows(a, first, rows);
        else
            by_panel(dot, a, first, rows, worker);
    }
}

static void multiply_units(void *context, int worker, int64_t begin, int64_t end) {
    const struct layer *a = context;
    if (a->codes)
        multiply(dot_unsigned, a, worker, begin, end);
    else
        multiply(dot_signed, a, worker, begin, end);
}

#if WICK_ISA_LEVEL == 2
VNNI static void multiply_units_vnni(void *context, int worker, int64_t begin, int64_t end) {
    multiply(vnni_unsigned, context, worker, begin, end);
}
#endif

/* ---- the whole ---- */

/* Sizes of the scratch memory; false when they do not fit in 64 bits. */
static bool measure(const struct layer *a, int workers, size_t nbytes[6]) {
    int64_t count[6], of[6] = {1, sizeof(float), sizeof(float), sizeof(int32_t), 1, sizeof(float)}, all;
    if (!wick__mul(a->columns, a->padded, &count[0]) || !wick__mul(a->panel_nbytes, workers, &count[4])) return false;
    count[1] = count[2] = count[3] = count[0] / a->group;
    if (a->rows.fn) count[4] = 0;
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
                      .codes = wick__has_codes(l->weight_dtype),
                      .shifts = wick__has_shifts(l->weight_dtype),
                      .whole = wick__scales_whole(l->weight_dtype),
                      .above = wick__codes_above(l->weight_dtype),
                      .group = wick__scales_16(l->weight_dtype) ? 16 : 32,
                      .padded = (l->k + WICK__STRETCH - 1) / WICK__STRETCH * WICK__STRETCH,
                      .columns = l->m};
    wick__range_fn *run = multiply_units;
    int workers = wick__workers();
    size_t nbytes[6];
    void *memory[6] = {NULL};
    enum wick_status status = WICK_OK;
#if WICK_ISA_LEVEL == 2
    if (wick__isa_has_avx512_vnni()) run = multiply_units_vnni;
    a.flipped = run == multiply_units_vnni && !a.codes;
    if (a.flipped) a.above = 128;
#endif
    if (l->m <= FEW) a.rows = WICK__ISA(wick__rows)(l->weight_dtype);
    if (a.rows.fn)
        a.above = a.rows.above;
    else
        a.columns = (l->m + TILE_COLUMNS - 1) / TILE_COLUMNS * TILE_COLUMNS;
    a.panel_nbytes = TILE_ROWS * (a.padded + 2 * (int)sizeof(float) * (a.padded / a.group + a.padded / WICK__STRETCH));
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
