/* Softmax for one type it is computed in. Included with
 *
 *   SUFFIX  of the names made here
 *   T       float or double
 *   V, LANES, VECTOR(name), EXP    vectors of T, their functions and exponential (cpu/kernels/vmath.h)
 *
 * and undefines all of them. The largest element is sought without NaN: one makes the sum NaN, and so the whole row. */
#include "cpu/kernels/exp_sums.h"

#define NAME(name) WICK__JOIN(name, SUFFIX)

/* y = x - most - last where the logarithm is wanted, else x last. */
static void NAME(finish)(const T *x, T most, T last, T *y, int64_t n, bool log) {
    V m = VECTOR(all)(most), l = VECTOR(all)(last);
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        V v = VECTOR(load)(x + i);
        VECTOR(store)(y + i, log ? v - m - l : v * l);
    }
    if (i == n) return;
    V v = VECTOR(some)(x + i, n - i, 0);
    VECTOR(store_some)(y + i, log ? v - m - l : v * l, n - i);
}

/* `rows` <= ROWS rows side by side, of KEPT elements or fewer in all. */
static void NAME(softmax_rows)(const struct softmax *s, const char *in, char *out, int64_t rows) {
    _Alignas(64) T loaded[KEPT], kept[KEPT];
    T most[ROWS];
    double sum[ROWS];
    int64_t n = s->n;
    const T *x = NAME(block_in)(s->dtype, in, rows * n, loaded);
    T *y = NAME(block_out)(s->dtype, out, s->stream, kept);
    for (int64_t r = 0; r < rows; r++) {
        most[r] = NAME(largest)(x + r * n, n);
        /* The processor's prefetcher begins anew with each page: the next rows are asked for by hand. */
        sum[r] = NAME(exps)(x + r * n, most[r], y + r * n, n, rows * n);
    }
    if (s->log) wick__vd_logs(sum, rows);
    for (int64_t r = 0; r < rows && !s->log; r++) sum[r] = 1 / sum[r];
    for (int64_t r = 0; r < rows; r++) NAME(finish)((s->log ? x : y) + r * n, most[r], (T)sum[r], y + r * n, n, s->log);
    NAME(block_done)(s->dtype, out, rows * n, s->stream, y);
}

/* One row of more than KEPT elements. Exponentials are kept in the result where they can be, else computed again. */
static void NAME(softmax_row)(const struct softmax *s, const char *in, char *out) {
    _Alignas(64) T loaded[BLOCK], buffer[BLOCK];
    int64_t size = (int64_t)s->size;
    T *kept = NAME(block_out)(s->dtype, out, s->stream, buffer);
    bool keep = !s->log && kept != buffer;
    T most = -(T)INFINITY;
    double sum = 0;
    for (int64_t i = 0; i < s->n; i += BLOCK) {
        int64_t n = wick__min(BLOCK, s->n - i);
        T own = NAME(largest)(NAME(block_in)(s->dtype, in + i * size, n, loaded), n);
        most = own > most ? own : most;
    }
    for (int64_t i = 0; i < s->n; i += BLOCK) {
        int64_t n = wick__min(BLOCK, s->n - i);
        const T *x = NAME(block_in)(s->dtype, in + i * size, n, loaded);
        sum += NAME(exps)(x, most, keep ? kept + i : buffer, n, s->n);
    }
    T last = (T)(s->log ? log(sum) : 1 / sum);
    for (int64_t i = 0; i < s->n; i += BLOCK) {
        int64_t n = wick__min(BLOCK, s->n - i);
        T *y = NAME(block_out)(s->dtype, out + i * size, s->stream, buffer);
        const T *x = keep ? kept + i : NAME(block_in)(s->dtype, in + i * size, n, loaded);
        if (!keep && !s->log) {
            NAME(exps)(x, most, y, n, 0);
            x = y;
        }
        NAME(finish)(x, most, last, y, n, s->log);
        NAME(block_done)(s->dtype, out + i * size, n, s->stream, buffer);
    }
}

/* y = exp(x - most), column by column. */
static void NAME(exps_across)(const T *x, const T *most, T *y, int64_t n) {
    int64_t j = 0;
    for (; j + LANES <= n; j += LANES) VECTOR(store)(y + j, EXP(VECTOR(load)(x + j) - VECTOR(load)(most + j)));
    if (j == n) return;
    V rest = VECTOR(some)(x + j, n - j, 0) - VECTOR(some)(most + j, n - j, 0);
    VECTOR(store_some)(y + j, EXP(rest), n - j);
}

/* `width` rows that lie across: their elements number i are side by side, the next `inner` further on. Where they are
 * all there are, several i go through at once: `width` columns for each, which are joined in the end. */
static void NAME(softmax_across)(const struct softmax *s, const char *in, char *out, int64_t width) {
    _Alignas(64) T loaded[BLOCK], buffer[BLOCK], most[BLOCK], last[BLOCK];
    double sum[BLOCK];
    int64_t step = s->inner * (int64_t)s->size;
    int64_t at_once = width == s->inner ? wick__max(1, wick__min(s->n, JOINED / width)) : 1, all = at_once * width;
    bool keep = !s->log && NAME(block_out)(s->dtype, out, s->stream, buffer) != buffer;
    for (int64_t j = 0; j < all; j++) most[j] = -(T)INFINITY, sum[j] = 0;
    for (int64_t i = 0; i < s->n; i += at_once) {
        int64_t n = wick__min(at_once, s->n - i) * width;
        const T *x = NAME(block_in)(s->dtype, in + i * step, n, loaded);
        for (int64_t j = 0; j < n; j++) most[j] = x[j] > most[j] ? x[j] : most[j];
    }
    for (int64_t r = width; r < all; r += width)
        for (int64_t j = 0; j < width; j++) most[j] = most[r + j] > most[j] ? most[r + j] : most[j];
    for (int64_t j = width; j < all; j++) most[j] = most[j - width];
    for (int64_t i = 0; i < s->n; i += at_once) {
        int64_t n = wick__min(at_once, s->n - i) * width;
        T *y = keep ? NAME(block_out)(s->dtype, out + i * step, s->stream, buffer) : buffer;
        NAME(exps_across)(NAME(block_in)(s->dtype, in + i * step, n, loaded), most, y, n);
        for (int64_t j = 0; j < n; j++) sum[j] += (double)y[j];
    }
    for (int64_t r = width; r < all; r += width)
        for (int64_t j = 0; j < width; j++) sum[j] += sum[r + j];
    if (s->log) wick__vd_logs(sum, width);
    for (int64_t j = 0; j < width; j++) last[j] = (T)(s->log ? sum[j] : 1 / sum[j]);
    for (int64_t j = width; j < all; j++) last[j] = last[j - width];
    for (int64_t i = 0; i < s->n; i += at_once) {
        int64_t n = wick__min(at_once, s->n - i) * width;
        T *y = NAME(block_out)(s->dtype, out + i * step, s->stream, buffer);
        const T *x = keep ? y : NAME(block_in)(s->dtype, in + i * step, n, loaded);
        if (!keep && !s->log) {
            NAME(exps_across)(x, most, y, n);
            x = y;
        }
        if (s->log)
            for (int64_t j = 0; j < n; j++) y[j] = x[j] - most[j] - last[j];
        else
            for (int64_t j = 0; j < n; j++) y[j] = x[j] * last[j];
        NAME(block_done)(s->dtype, out + i * step, n, s->stream, buffer);
    }
}

#undef NAME
#undef V
#undef VECTOR
#undef EXP
#undef T
#undef LANES
#undef SUFFIX
