/* Sums of f32: see cpu/kernels/sums.h. Vectors go along the kept dim whose elements are neighbours, so that each lane
 * has a line of its own. */
#include "cpu/kernels/sums.h"

#include "cpu/kernels/vmath.h"
#include "cpu/runtime/parallel.h"

/* VECTORS of lines beside each other at once; up to REDUCED dims of a line. Where there are FEW jobs, LONG lines are to
 * be cut: how many threads there are must not tell. */
enum { VECTORS = 4, REDUCED = 3, COLUMNS = VECTORS * WICK__VD, FEW = 8, LONG = 16 * 1024, GRAIN = 16 * 1024 };

/* Elements of lines that are added up one by one: shorter ones go side by side, and longer ones in blocks. */
enum { SHORT = 64, SINGLE = 4096 };

struct sums {
    const struct lines *lines;
    double divisor;
    float *out;
    int64_t n, chunks;                       /* neighbours, and parts of up to COLUMNS of them */
    int64_t shape[REDUCED], stride[REDUCED]; /* of a line; missing leading dims have one element */
};

#define EACH_TERM(s, x)                                                                                                \
    for (int64_t a = 0; a < (s)->shape[0]; a++)                                                                        \
        for (int64_t b = 0; b < (s)->shape[1]; b++)                                                                    \
            for (const float *at = (x) + a * (s)->stride[0] + b * (s)->stride[1],                                      \
                             *end = at + (s)->shape[2] * (s)->stride[2];                                               \
                 at != end; at += (s)->stride[2])

static inline __attribute__((always_inline)) void whole_vectors(const struct sums *s, const float *x, float *out,
                                                                int count) {
    wick__vd sum[VECTORS], by = wick__vd_all(s->divisor);
    for (int k = 0; k < count; k++) sum[k] = wick__vd_all(0);
    EACH_TERM(s, x) for (int k = 0; k < count; k++) sum[k] += wick__vd_of_f32(at + k * WICK__VD);
    for (int k = 0; k < count; k++) wick__vd_to_f32(out + k * WICK__VD, sum[k] / by);
}

static void part_of_vector(const struct sums *s, const float *x, float *out, int64_t n) {
    wick__vd sum = wick__vd_all(0);
    EACH_TERM(s, x) sum += wick__vd_of_f32_some(at, n);
    wick__vd_to_f32_some(out, sum / wick__vd_all(s->divisor), n);
}

static void chunks_task(void *context, int worker, int64_t begin, int64_t end) {
    const struct sums *s = context;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        int64_t first = i / s->chunks * s->n + i % s->chunks * COLUMNS;
        int64_t n = wick__min(COLUMNS, s->n - i % s->chunks * COLUMNS), j = 0;
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
    const struct dims *kept = &s->lines->kept;
    const float *x = (const float *)(const void *)s->lines->data;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        const float *row = x + (kept->n == 1 ? i * kept->stride[0] : dims_offset(kept, i));
        s->out[i] = (float)(wick__row_sum(row, s->lines->terms) / s->divisor);
    }
}

bool WICK__ISA(wick__sums_f32)(const struct lines *lines, double divisor, float *out) {
    const struct dims *kept = &lines->kept, *reduced = &lines->reduced;
    struct sums s = {.lines = lines, .divisor = divisor, .out = out};
    if (lines->dtype != WICK_F32 || reduced->n == 0 || reduced->n > REDUCED || kept->n == 0) return false;
    if (lines->direct && lines->terms > SHORT && lines->terms <= SINGLE) {
        wick__parallel(lines->outs, wick__max(1, GRAIN / lines->terms), rows_task, &s);
        return true;
    }
    if (kept->stride[kept->n - 1] != 1) return false;
    s.n = kept->shape[kept->n - 1];
    s.chunks = (s.n + COLUMNS - 1) / COLUMNS;
    int64_t jobs = lines->outs / s.n * s.chunks;
    if (jobs < FEW && lines->terms > LONG) return false;
    for (int d = 0; d < REDUCED; d++) {
        int from = d - (REDUCED - reduced->n);
        s.shape[d] = from < 0 ? 1 : reduced->shape[from];
        s.stride[d] = from < 0 ? 1 : reduced->stride[from];
        if (s.stride[d] == 0) return false;
    }
    wick__parallel(jobs, wick__max(1, GRAIN / (lines->terms * wick__min(s.n, COLUMNS))), chunks_task, &s);
    return true;
}
