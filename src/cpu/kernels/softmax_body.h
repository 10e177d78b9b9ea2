/* Softmax for one type it is computed in. Included with
 *
 *   SUFFIX  of the names made here
 *   T       float or double
 *   EXP     the exponential of a vector of T */
#define FN(name) WICK__JOIN(name, SUFFIX)
#define WIDTH ((int)(LANES * 8 / sizeof(T)))

/* y = exp(x - most), and the sum of that: four vectors in T, those in double. Longer chains in T drift where few values
 * repeat. n <= BLOCK. */
static double FN(exps)(const T *x, T most, T *y, int64_t n) {
    double lanes[WIDTH] = {0}, sum = 0;
    int64_t i = 0;
    for (; i + 4 * WIDTH <= n; i += 4 * WIDTH) {
        FN(wide) e[4];
        for (int k = 0; k < 4; k++) {
            e[k] = EXP(*(const FN(wide_at) *)(x + i + k * WIDTH) - most);
            *(FN(wide_at) *)(y + i + k * WIDTH) = e[k];
        }
        FN(wide) four = (e[0] + e[1]) + (e[2] + e[3]);
        for (int l = 0; l < WIDTH; l++) lanes[l] += (double)four[l];
    }
    for (int l = 0; l < WIDTH; l++) sum += lanes[l];
    for (; i < n; i += WIDTH) {
        int64_t left = wick__min(WIDTH, n - i);
        T tail[WIDTH];
        for (int l = 0; l < WIDTH; l++) tail[l] = l < left ? x[i + l] - most : 0;
        FN(wide) u = EXP(*(const FN(wide_at) *)tail);
        for (int l = 0; l < left; l++) {
            y[i + l] = u[l];
            sum += (double)u[l];
        }
    }
    return sum;
}

/* One row side by side. Short rows keep their exponentials in `kept`; long ones compute them again. */
static void FN(softmax_row)(const struct softmax *s, const char *in, char *out) {
    _Alignas(64) T loaded[BLOCK], buffer[BLOCK], kept[KEPT];
    int64_t size = (int64_t)s->size;
    bool keep = s->n <= KEPT && !s->log;
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
        sum += FN(exps)(x, most, keep ? kept + i : buffer, n);
    }
    T scale = (T)(1 / sum), less = (T)log(sum);
    for (int64_t i = 0; i < s->n; i += BLOCK) {
        int64_t n = wick__min(BLOCK, s->n - i);
        T *y = FN(block_out)(s->dtype, out + i * size, s->stream, buffer);
        const T *x = keep ? kept + i : FN(block_in)(s->dtype, in + i * size, n, loaded);
        if (s->log) {
            for (int64_t j = 0; j < n; j++) y[j] = x[j] - most - less;
        } else {
            if (!keep) FN(exps)(x, most, y, n);
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
        FN(exps)(buffer, 0, buffer, width);
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
            FN(exps)(y, 0, y, width);
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
