/* Gradients of softmax for one type they are computed in. Included with
 *
 *   SUFFIX  of the names made here
 *   T       float or double
 *   V, LANES, VECTOR(name), EXP    vectors of T, their functions and exponential (cpu/kernels/vmath.h)
 *
 * and undefines all of them. Sums and differences are taken in double, so that they have range and digits to spare. */
#define NAME(name) WICK__JOIN(name, SUFFIX)

/* y = exp(x). */
static void NAME(exps)(const T *x, T *y, int64_t n) {
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) VECTOR(store)(y + i, EXP(VECTOR(load)(x + i)));
    if (i == n) return;
    T rest[LANES] = {0};
    memcpy(rest, x + i, (size_t)(n - i) * sizeof *x);
    VECTOR(store)(rest, EXP(VECTOR(load)(rest)));
    memcpy(y + i, rest, (size_t)(n - i) * sizeof *y);
}

/* The sum of g y, or of g. */
static double NAME(sum)(const T *g, const T *y, int64_t n, bool log) {
    double part[LANES_OF_SUMS] = {0}, sum = 0;
    int64_t i = 0;
    for (; i + LANES_OF_SUMS <= n; i += LANES_OF_SUMS)
        for (int l = 0; l < LANES_OF_SUMS; l++) part[l] += (double)g[i + l] * (log ? 1.0 : (double)y[i + l]);
    for (; i < n; i++) sum += (double)g[i] * (log ? 1.0 : (double)y[i]);
    for (int l = 0; l < LANES_OF_SUMS; l++) sum += part[l];
    return sum;
}

/* A row whose elements lie side by side, `at` bytes from the beginning. */
static void NAME(backward_row)(const struct softmax_backward *s, int64_t at) {
    _Alignas(64) T loaded[2][BLOCK], buffer[BLOCK];
    int64_t size = (int64_t)s->size;
    double sum = 0;
    for (int64_t i = 0; i < s->n; i += BLOCK) {
        int64_t n = wick__min(BLOCK, s->n - i);
        const T *g = NAME(block_in)(s->dtype, s->gradient + at + i * size, n, loaded[0]);
        const T *y = s->log ? g : NAME(block_in)(s->dtype, s->result + at + i * size, n, loaded[1]);
        sum += NAME(sum)(g, y, n, s->log);
    }
    for (int64_t i = 0; i < s->n; i += BLOCK) {
        int64_t n = wick__min(BLOCK, s->n - i);
        const T *g = NAME(block_in)(s->dtype, s->gradient + at + i * size, n, loaded[0]);
        const T *y = NAME(block_in)(s->dtype, s->result + at + i * size, n, loaded[1]);
        T *out = NAME(block_out)(s->dtype, s->out + at + i * size, s->stream, buffer);
        if (s->log) {
            NAME(exps)(y, out, n);
            for (int64_t j = 0; j < n; j++) out[j] = (T)((double)g[j] - (double)out[j] * sum);
        } else {
            for (int64_t j = 0; j < n; j++) out[j] = (T)((double)y[j] * ((double)g[j] - sum));
        }
        NAME(block_done)(s->dtype, s->out + at + i * size, n, s->stream, buffer);
    }
}

/* `width` <= BLOCK rows that lie across: their elements number i are side by side, the next `inner` further on. */
static void NAME(backward_across)(const struct softmax_backward *s, int64_t at, int64_t width) {
    _Alignas(64) T loaded[2][BLOCK], buffer[BLOCK];
    double sum[BLOCK];
    int64_t step = s->inner * (int64_t)s->size;
    for (int64_t j = 0; j < width; j++) sum[j] = 0;
    for (int64_t i = 0; i < s->n; i++) {
        const T *g = NAME(block_in)(s->dtype, s->gradient + at + i * step, width, loaded[0]);
        if (s->log) {
            for (int64_t j = 0; j < width; j++) sum[j] += (double)g[j];
            continue;
        }
        const T *y = NAME(block_in)(s->dtype, s->result + at + i * step, width, loaded[1]);
        for (int64_t j = 0; j < width; j++) sum[j] += (double)g[j] * (double)y[j];
    }
    for (int64_t i = 0; i < s->n; i++) {
        const T *g = NAME(block_in)(s->dtype, s->gradient + at + i * step, width, loaded[0]);
        const T *y = NAME(block_in)(s->dtype, s->result + at + i * step, width, loaded[1]);
        T *out = NAME(block_out)(s->dtype, s->out + at + i * step, s->stream, buffer);
        if (s->log) {
            NAME(exps)(y, out, width);
            for (int64_t j = 0; j < width; j++) out[j] = (T)((double)g[j] - (double)out[j] * sum[j]);
        } else {
            for (int64_t j = 0; j < width; j++) out[j] = (T)((double)y[j] * ((double)g[j] - sum[j]));
        }
        NAME(block_done)(s->dtype, s->out + at + i * step, width, s->stream, buffer);
    }
}

#undef NAME
#undef V
#undef VECTOR
#undef EXP
#undef T
#undef LANES
#undef SUFFIX
