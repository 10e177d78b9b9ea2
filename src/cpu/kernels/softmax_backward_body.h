/* Gradients of softmax for one type they are computed in. Included with
 *
 *   SUFFIX  of the names made here
 *   T       float or double
 *   V, LANES, VECTOR(name), EXP    vectors of T, their functions and exponential (cpu/kernels/vmath.h)
 *   LARGEST                        T's largest number
 *
 * and undefines all of them. */
#define NAME(name) WICK__JOIN(name, SUFFIX)

/* The sum of g y, or of g where y is NULL: four vectors in T, those in double. */
static double NAME(sum)(const T *g, const T *y, int64_t n) {
    wick__vd low = wick__vd_all(0), high = low;
    int64_t i = 0;
    for (; i + 4 * LANES <= n; i += 4 * LANES) {
        V a = VECTOR(load)(g + i), b = VECTOR(load)(g + i + LANES), c = VECTOR(load)(g + i + 2 * LANES),
          d = VECTOR(load)(g + i + 3 * LANES);
        if (y) {
            a = VECTOR(fma)(b, VECTOR(load)(y + i + LANES), a * VECTOR(load)(y + i));
            b = VECTOR(fma)(d, VECTOR(load)(y + i + 3 * LANES), c * VECTOR(load)(y + i + 2 * LANES));
        } else {
            a = a + b;
            b = c + d;
        }
        low += VECTOR(part)(a + b, 0);
        if (sizeof(T) == 4) high += VECTOR(part)(a + b, 1);
    }
    for (; i < n; i += LANES) {
        int64_t left = n - i;
        V a = left < LANES ? VECTOR(some)(g + i, left, 0) : VECTOR(load)(g + i);
        if (y) a = a * (left < LANES ? VECTOR(some)(y + i, left, 0) : VECTOR(load)(y + i));
        low += VECTOR(part)(a, 0);
        if (sizeof(T) == 4) high += VECTOR(part)(a, 1);
    }
    if (sizeof(T) == 4) low += high;
    return wick__vd_total(low);
}

/* The same in double, where partial sums leave the range of T. */
static double NAME(wide_sum)(const T *g, const T *y, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += (double)g[i] * (y ? (double)y[i] : 1);
    return sum;
}

/* A vector of results. y g and y sum are in range where g - sum may not be. */
static inline V NAME(slope)(V g, V y, V sum, bool log) {
    if (log) return VECTOR(fma)(-EXP(y), sum, g);
    return VECTOR(fma)(y, g, -(y * sum));
}

/* n results of a row. A sum that leaves the range of T stays double. */
static void NAME(finish)(const T *g, const T *y, double sum, T *out, int64_t n, bool log) {
    V all = VECTOR(all)((T)sum);
    int64_t i = 0;
    if (!(fabs(sum) <= (double)LARGEST)) {
        for (; i < n; i++)
            out[i] = (T)(log ? (double)g[i] - exp((double)y[i]) * sum : (double)y[i] * ((double)g[i] - sum));
        return;
    }
    for (; i + LANES <= n; i += LANES)
        VECTOR(store)(out + i, NAME(slope)(VECTOR(load)(g + i), VECTOR(load)(y + i), all, log));
    if (i == n) return;
    V rest = NAME(slope)(VECTOR(some)(g + i, n - i, 0), VECTOR(some)(y + i, n - i, 0), all, log);
    VECTOR(store_some)(out + i, rest, n - i);
}

/* A row whose elements lie side by side, `at` bytes from the beginning. */
static void NAME(backward_row)(const struct softmax_backward *s, int64_t at) {
    _Alignas(64) T loaded[2][BLOCK], buffer[BLOCK];
    int64_t size = (int64_t)s->size;
    double sum = 0;
    for (int64_t i = 0; i < s->n; i += BLOCK) {
        int64_t n = wick__min(BLOCK, s->n - i);
        const T *g = NAME(block_in)(s->dtype, s->gradient + at + i * size, n, loaded[0]);
        const T *y = s->log ? NULL : NAME(block_in)(s->dtype, s->result + at + i * size, n, loaded[1]);
        double own = NAME(sum)(g, y, n);
        sum += isfinite(own) ? own : NAME(wide_sum)(g, y, n);
    }
    for (int64_t i = 0; i < s->n; i += BLOCK) {
        int64_t n = wick__min(BLOCK, s->n - i);
        const T *g = NAME(block_in)(s->dtype, s->gradient + at + i * size, n, loaded[0]);
        const T *y = NAME(block_in)(s->dtype, s->result + at + i * size, n, loaded[1]);
        NAME(finish)(g, y, sum, NAME(block_out)(s->dtype, s->out + at + i * size, s->stream, buffer), n, s->log);
        NAME(block_done)(s->dtype, s->out + at + i * size, n, s->stream, buffer);
    }
}

/* n results of columns by their sums. */
static void NAME(finish_across)(const T *g, const T *y, const T *sum, T *out, int64_t n, bool log) {
    int64_t j = 0;
    for (; j + LANES <= n; j += LANES) {
        V all = VECTOR(load)(sum + j);
        VECTOR(store)(out + j, NAME(slope)(VECTOR(load)(g + j), VECTOR(load)(y + j), all, log));
    }
    if (j == n) return;
    V all = VECTOR(some)(sum + j, n - j, 0);
    V rest = NAME(slope)(VECTOR(some)(g + j, n - j, 0), VECTOR(some)(y + j, n - j, 0), all, log);
    VECTOR(store_some)(out + j, rest, n - j);
}

/* `width` rows that lie across: their elements number i are side by side, the next `inner` further on. Where they are
 * all there are, several i go through at once: `width` columns for each, whose sums are joined in the end. */
static void NAME(backward_across)(const struct softmax_backward *s, int64_t at, int64_t width) {
    _Alignas(64) T loaded[2][BLOCK], buffer[BLOCK], last[BLOCK];
    double sum[BLOCK];
    int64_t step = s->inner * (int64_t)s->size;
    int64_t at_once = width == s->inner ? wick__max(1, wick__min(s->n, JOINED / width)) : 1, all = at_once * width;
    bool in_range = true;
    for (int64_t j = 0; j < all; j++) sum[j] = 0;
    for (int64_t i = 0; i < s->n; i += at_once) {
        int64_t n = wick__min(at_once, s->n - i) * width;
        const T *g = NAME(block_in)(s->dtype, s->gradient + at + i * step, n, loaded[0]);
        if (s->log) {
            for (int64_t j = 0; j < n; j++) sum[j] += (double)g[j];
            continue;
        }
        const T *y = NAME(block_in)(s->dtype, s->result + at + i * step, n, loaded[1]);
        for (int64_t j = 0; j < n; j++) sum[j] += (double)g[j] * (double)y[j];
    }
    for (int64_t r = width; r < all; r += width)
        for (int64_t j = 0; j < width; j++) sum[j] += sum[r + j];
    for (int64_t j = 0; j < width; j++) in_range = in_range && fabs(sum[j]) <= (double)LARGEST;
    for (int64_t j = 0; j < width; j++) last[j] = (T)sum[j];
    for (int64_t j = width; j < all; j++) last[j] = last[j - width];
    for (int64_t i = 0; i < s->n; i += at_once) {
        int64_t n = wick__min(at_once, s->n - i) * width;
        const T *g = NAME(block_in)(s->dtype, s->gradient + at + i * step, n, loaded[0]);
        const T *y = NAME(block_in)(s->dtype, s->result + at + i * step, n, loaded[1]);
        T *out = NAME(block_out)(s->dtype, s->out + at + i * step, s->stream, buffer);
        if (in_range)
            NAME(finish_across)(g, y, last, out, n, s->log);
        else
            for (int64_t j = 0; j < n; j++) NAME(finish)(g + j, y + j, sum[j % width], out + j, 1, s->log);
        NAME(block_done)(s->dtype, s->out + at + i * step, n, s->stream, buffer);
    }
}

#undef NAME
#undef V
#undef VECTOR
#undef EXP
#undef T
#undef LANES
#undef LARGEST
#undef SUFFIX
