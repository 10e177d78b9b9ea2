/* Sums of f32: see cpu/kernels/sums.h. */
#include "cpu/kernels/sums.h"

#include "cpu/kernels/across.h"
#include "cpu/kernels/vmath.h"
#include "cpu/runtime/parallel.h"
#include "cpu/runtime/pool.h"

enum { VECTORS = 4, COLUMNS = VECTORS * WICK__VD, GRAIN = 16 * 1024 };

/* Rows of more elements are added up one by one, shorter ones side by side. */
enum { SHORT = 12 };

struct sums {
    struct across across;
    const struct lines *lines;
    double divisor;
    float *out;
    int64_t segments; /* of a row */
    double *parts;    /* [outs][segments] */
};

static inline __attribute__((always_inline)) void whole_vectors(const struct sums *s, const float *x, float *out,
                                                                int count) {
    wick__vd sum[VECTORS], by = wick__vd_all(s->divisor);
    for (int k = 0; k < count; k++) sum[k] = wick__vd_all(0);
    ACROSS_EACH(&s->across, x) for (int k = 0; k < count; k++) sum[k] += wick__vd_of_f32(at + k * WICK__VD);
    for (int k = 0; k < count; k++) wick__vd_to_f32(out + k * WICK__VD, sum[k] / by);
}

static void part_of_vector(const struct sums *s, const float *x, float *out, int64_t n) {
    wick__vd sum = wick__vd_all(0);
    ACROSS_EACH(&s->across, x) sum += wick__vd_of_f32_some(at, n);
    wick__vd_to_f32_some(out, sum / wick__vd_all(s->divisor), n);
}

static void chunks_task(void *context, int worker, int64_t begin, int64_t end) {
    const struct sums *s = context;
    (void)worker;
    for (int64_t i = begin, n; i < end; i++) {
        int64_t first = across_part(&s->across, i, &n), j = 0;
        const float *x = (const float *)(const void *)s->lines->data + dims_offset(&s->lines->kept, first);
        float *out = s->out + first;
        if (n == COLUMNS) {
            whole_vectors(s, x, out, VECTORS);
            continue;
        }
        for (; j + WICK__VD <= n; j += WICK__VD) whole_vectors(s, x + j, out + j, 1);
        if (j < n) part_of_vector(s, x + j, out + j, n - j);
    }
}

static void rows_task(void *context, int worker, int64_t begin, int64_t end) {
    const struct sums *s = context;
    const float *x = (const float *)(const void *)s->lines->data;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        const float *row = x + lines_offset(s->lines, i);
        s->out[i] = (float)(wick__row_sum(row, s->lines->terms) / s->divisor);
    }
}

/* Parts of long rows. */
static void parts_task(void *context, int worker, int64_t begin, int64_t end) {
    const struct sums *s = context;
    const float *x = (const float *)(const void *)s->lines->data;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        int64_t first = i % s->segments * LINE_SEGMENT, n = wick__min(LINE_SEGMENT, s->lines->terms - first);
        s->parts[i] = wick__row_sum(x + lines_offset(s->lines, i / s->segments) + first, n);
    }
}

/* False without memory. */
static bool sum_long_rows(struct sums *s) {
    int64_t outs = s->lines->outs;
    s->segments = wick__div_up(s->lines->terms, LINE_SEGMENT);
    size_t nbytes = sizeof *s->parts * (size_t)(outs * s->segments); /* below that of the elements */
    s->parts = wick__scratch(nbytes);
    if (!s->parts) return false;
    wick__parallel(outs * s->segments, 1, parts_task, s);
    for (int64_t i = 0; i < outs; i++) {
        double sum = 0;
        for (int64_t k = 0; k < s->segments; k++) sum += s->parts[i * s->segments + k];
        s->out[i] = (float)(sum / s->divisor);
    }
    wick__scratch_free(s->parts, nbytes);
    return true;
}

bool WICK__ISA(wick__sums_f32)(const struct lines *lines, double divisor, float *out) {
    struct sums s = {.lines = lines, .divisor = divisor, .out = out};
    if (lines->dtype == WICK_F32 && lines->direct && lines->terms > SHORT) {
        if (lines->terms > LINE_SEGMENT) return sum_long_rows(&s);
        wick__parallel(lines->outs, wick__max(1, GRAIN / lines->terms), rows_task, &s);
        return true;
    }
    if (!across_init(&s.across, lines, COLUMNS)) return false;
    wick__parallel(s.across.jobs, wick__max(1, GRAIN / (lines->terms * wick__min(s.across.n, COLUMNS))), chunks_task,
                   &s);
    return true;
}
