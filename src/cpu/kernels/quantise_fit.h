/* Scales for a few numbers that shall become small integers: what keeps the weighted sum of squared errors least. For
 * kernel files.
 *
 * There is no closed form, since the integers depend on the scale. A scale that maps the number of largest magnitude to
 * the end of the range is varied a little; each variant's integers have a best scale by least squares, and the variant
 * with the least error stays. */
#ifndef WICK_CPU_KERNELS_QUANTISE_FIT_H
#define WICK_CPU_KERNELS_QUANTISE_FIT_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* What is divided by nothing smaller stays finite. */
#define WICK__LEAST_SCALE 0x1p-100f

/* The integers that there are: low .. high, or those of a table that ascends. */
struct wick__levels {
    int low, high;
    const int8_t *table; /* NULL: all of low .. high */
    int count;           /* of the table */
};

/* n numbers and their weights. */
struct wick__numbers {
    const float *x, *w;
    int n;
};

static inline int wick__nearest(const struct wick__levels *levels, float x) {
    if (!levels->table) {
        float bound = x < (float)levels->low ? (float)levels->low : x > (float)levels->high ? (float)levels->high : x;
        return (int)rintf(bound);
    }
    int low = 0, high = levels->count - 1;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (x < (float)levels->table[middle])
            high = middle;
        else
            low = middle;
    }
    return x - (float)levels->table[low] < (float)levels->table[high] - x ? levels->table[low] : levels->table[high];
}

/* The error of x as scale q + shift with the nearest q, which go to q unless that is NULL. */
static inline float wick__assign(const struct wick__numbers *v, const struct wick__levels *levels, float scale,
                                 float shift, int8_t *q) {
    float by = fabsf(scale) > WICK__LEAST_SCALE ? 1 / scale : 0, error = 0;
    for (int i = 0; i < v->n; i++) {
        int level = wick__nearest(levels, (v->x[i] - shift) * by);
        float off = v->x[i] - (scale * (float)level + shift);
        error += v->w[i] * off * off;
        if (q) q[i] = (int8_t)level;
    }
    return error;
}

static inline float wick__largest(const float *x, int n) {
    float most = 0;
    for (int i = 0; i < n; i++)
        if (fabsf(x[i]) > fabsf(most)) most = x[i];
    return most;
}

/* The best scale for numbers without a shift; negative where that is better. */
static inline float wick__fit_scale(const struct wick__numbers *v, const struct wick__levels *levels) {
    enum { STEPS = 12 };
    float most = wick__largest(v->x, v->n), best = 0, least = INFINITY;
    if (!(fabsf(most) > WICK__LEAST_SCALE)) return 0;
    for (int end = 0; end < 2; end++)
        for (int step = -STEPS; step <= STEPS; step++) {
            int reach = end ? levels->high : levels->low;
            float at = (float)reach * (1 + 0.02f * (float)step), by = at / most, up = 0, down = 0;
            if (reach == 0) continue;
            for (int i = 0; i < v->n; i++) {
                float level = (float)wick__nearest(levels, v->x[i] * by);
                up += v->w[i] * v->x[i] * level;
                down += v->w[i] * level * level;
            }
            float scale = down > 0 ? up / down : 0, error = wick__assign(v, levels, scale, 0, NULL);
            if (error < least) {
                least = error;
                best = scale;
            }
        }
    return best;
}

/* The best scale >= 0 and shift for integers 0 .. high; `below`: the shift is at most 0. */
static inline void wick__fit_line(const struct wick__numbers *v, int high, bool below, float *scale, float *shift) {
    enum { STEPS = 12 };
    const struct wick__levels levels = {.high = high};
    float low = INFINITY, most = -INFINITY, least = INFINITY;
    for (int i = 0; i < v->n; i++) {
        low = fminf(low, v->x[i]);
        most = fmaxf(most, v->x[i]);
    }
    if (below) low = fminf(low, 0);
    *scale = 0;
    *shift = low;
    if (!(most - low > WICK__LEAST_SCALE)) return;
    for (int step = -STEPS; step <= STEPS; step++) {
        float d = (most - low) / ((float)high * (1 + 0.02f * (float)step)), m = low;
        for (int turn = 0; turn < 2; turn++) {
            float w = 0, wq = 0, wqq = 0, wx = 0, wxq = 0;
            for (int i = 0; i < v->n; i++) {
                float q = (float)wick__nearest(&levels, (v->x[i] - m) / d), weight = v->w[i];
                w += weight;
                wq += weight * q;
                wqq += weight * q * q;
                wx += weight * v->x[i];
                wxq += weight * v->x[i] * q;
            }
            float determinant = w * wqq - wq * wq;
            if (!(determinant > 0)) break;
            float new_d = (w * wxq - wq * wx) / determinant, new_m = (wqq * wx - wq * wxq) / determinant;
            if (below && new_m > 0) {
                new_m = 0;
                new_d = wxq / wqq;
            }
            if (!(new_d > 0)) break;
            d = new_d;
            m = new_m;
        }
        float error = wick__assign(v, &levels, d, m, NULL);
        if (error < least) {
            least = error;
            *scale = d;
            *shift = m;
        }
    }
}

#endif
