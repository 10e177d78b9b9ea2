/* Softmax for one type it is computed in. Included with
 *
 *   SUFFIX  of the names made here
 *   T       float or double
 *   EXP     the exponential of a vector of T */
#define FN(name) WICK__JOIN(name, SUFFIX)
#define WIDTH ((int)(LANES * 8 / sizeof(T)))

/* y = exp(x - most); n <= BLOCK. What lies `ahead` elements further on is asked for. */
static void FN(exps)(const T *x, T most, T *y, int64_t n, int64_t ahead) {
    enum { LINE = 64 / sizeof(T) };
    int64_t i = 0;
    for (; i + WIDTH <= n; i += WIDTH) {
        if (i % LINE == 0) __builtin_prefetch((const void *)((uintptr_t)(x + i) + (uintptr_t)ahead * sizeof(T)));
        *(FN(wide_at) *)(y + i) = EXP(*(const FN(wide_at) *)(x + i) - most);
    }
    if (i == n) return;
    T tail[WIDTH] = {0};
    for (int64_t l = 0; l < n - i; l++) tail[l] = x[i + l] - most;
    FN(wide) u = EXP(*(const FN(wide_at) *)tail);
    for (int64_t l = 0; l < n - i; l++) y[i + l] = u[l];
}

/* The sum of n elements: four vectors in T, those in double. Longer chains in T drift where few values repeat. */
static double FN(total)(const T *x, int64_t n) {
    FN(acc) low = {0}, high = {0};
    double sum = 0;
    int64_t i = 0;
    for (; i + 4 * WIDTH <= n; i += 4 * WIDTH) {
        FN(wide) four = FN(four)(x + i, x + i + WIDTH, x + i + 2 * WIDTH, x + i + 3 * WIDTH);
        low += FN(half)(four, 0);
        if (sizeof(T) == 4) high += FN(half)(four, 1);
    }
    for (; i + WIDTH <= n; i += WIDTH) {
        FN(wide) one = *(const FN(wide_at) *)(x + i);
        low += FN(half)(one, 0);
        if (sizeof(T) == 4) high += FN(half)(one, 1);
    }
    low += high;
    for (int l = 0; l < LANES; l++) sum += low[l];
    for (; i < n; i++) sum += (double)x[i];
    return sum;
}

/* A row of up to SHORT elements, by whole vectors: what lies beyond its end is -infinity. */
static void FN(softmax_short)(const struct softmax *s, const char *in, char *out) {
    _Alignas(64) T x[SHORT], y[SHORT];
    int64_t whole = (s->n + WIDTH - 1) / WIDTH * WIDTH;
    const T *row = FN(block_in)(s->dtype, in, s->n, x);
    T *to = FN(block_out)(s->dtype, out, false, y);
    if (row != x) memcpy(x, row, sizeof *x * (size_t)s->n);
    for (int64_t i = s->n; i < whole; i++) x[i] = -(T)INFINITY;
    FN(wide) best = *(const FN(wide_at) *)x;
    for (int64_t i = WIDTH; i < whole; i += WIDTH) best = FN(better)(MAX, best, *(const FN(wide_at) *)(x + i));
    T most = best[0];
    for (int l = 1; l < WIDTH; l++) most = best[l] > most || best[l] != best[l] ? best[l] : most;
    FN(exps)(x, most, y, whole, s->n);
    double sum = FN(total)(y, whole);
    if (s->log) {
        T less = (T)log(sum);
        for (int64_t i = 0; i < whole; i++) y[i] = x[i] - most - less;
    } else {
        T scale = (T)(1 / sum);
        for (int64_t i = 0; i < whole; i++) y[i] *= scale;
    }
    if (to != y) memcpy(to, y, sizeof *y * (size_t)s->n);
    FN(block_done)(s->dtype, out, s->n, false, y);
}

/* One row side by side. Exponentials are kept in the result, or in `kept`; those of long rows of small floats are
 * computed again. */
static void FN(softmax_row)(const struct softmax *s, const char *in, char *out) {
    _Alignas(64) T loaded[BLOCK], buffer[BLOCK], kept_here[KEPT];
    int64_t size = (int64_t)s->size;
    T *kept = FN(block_out)(s->dtype, out, s->stream, kept_here);
    bool keep = !s->log && (s->n <= KEPT || kept != kept_here);
    T most = -(T)INFINITY;
    double sum = 0;
    for (int64_t i = 0; i < s->n; i += BLOCK) {
        int64_t n = wick__min(BLOCK, s->n - i);
        const T *x = FN(block_in)(s->dtype, in + i * size, n, loaded);
        most = (T)join_float(MAX, most, FN(fold)(MAX, x, n, 0, 0));
    }
    for (int64_t i = 0; i < s->n; i += BLOCK) {
        int64_t n = wick__min(BLOCK, s->n - i);
        const T *x = FN(block_in)(s->dtype, in + i * size, n, loaded);
        T *y = keep ? kept + i : buffer;
        /* The processor's prefetcher begins anew with each page: the next row is asked for by hand. */
        FN(exps)(x, most, y, n, s->n);
        sum += FN(total)(y, n);
    }
    T scale = (T)(1 / sum), less = s->log ? (T)log(sum) : 0;
    for (int64_t i = 0; i < s->n; i += BLOCK) {
        int64_t n = wick__min(BLOCK, s->n - i);
        T *y = FN(block_out)(s->dtype, out + i * size, s->stream, buffer);
        const T *x = keep ? kept + i : FN(block_in)(s->dtype, in + i * size, n, loaded);
        if (s->log) {
            for (int64_t j = 0; j < n; j++) y[j] = x[j] - most - less;
        } else {
            if (!keep) FN(exps)(x, most, y, n, 0);
            if (!keep) x = y;
            for (int64_t j = 0; j < n; j++) y[j] = x[j] * scale;
        }
        FN(block_done)(s->dtype, out + i * size, n, s->stream, buffer);
    }
}

/* `width` <= BLOCK rows that lie across: their elements number i are side by side, the next `inner` further on. */
static void FN(softmax_across)(const struct softmax *s, const char *in, char *out, int64_t width) {
    _Alignas(64) T loaded[BLOCK], buffer[BLOCK], most[BLOCK];
    double sum[BLOCK];
    int64_t step = s->inner * (int64_t)s->size;
    for (int64_t j = 0; j < width; j++) {
        most[j] = -(T)INFINITY;
        sum[j] = 0;
    }
    for (int64_t i = 0; i < s->n; i++) {
        const T *x = FN(block_in)(s->dtype, in + i * step, width, loaded);
        for (int64_t j = 0; j < width; j++) most[j] = x[j] > most[j] || x[j] != x[j] ? x[j] : most[j];
    }
    for (int64_t i = 0; i < s->n; i++) {
        const T *x = FN(block_in)(s->dtype, in + i * step, width, loaded);
        for (int64_t j = 0; j < width; j++) buffer[j] = x[j] - most[j];
        FN(exps)(buffer, 0, buffer, width, 0);
        for (int64_t j = 0; j < width; j++) sum[j] += (double)buffer[j];
    }
    for (int64_t j = 0; j < width; j++) sum[j] = s->log ? log(sum[j]) : 1 / sum[j];
    for (int64_t i = 0; i < s->n; i++) {
        T *y = FN(block_out)(s->dtype, out + i * step, s->stream, buffer);
        const T *x = FN(block_in)(s->dtype, in + i * step, width, loaded);
        for (int64_t j = 0; j < width; j++) y[j] = x[j] - most[j];
        if (s->log) {
            for (int64_t j = 0; j < width; j++) y[j] -= (T)sum[j];
        } else {
            FN(exps)(y, 0, y, width, 0);
            for (int64_t j = 0; j < width; j++) y[j] *= (T)sum[j];
        }
        FN(block_done)(s->dtype, out + i * step, width, s->stream, buffer);
    }
}

#undef FN
#undef WIDTH
#undef SUFFIX
#undef T
#undef EXP
