/* Normalising rows, for one type it is computed in. Included with
 *
 *   SUFFIX  of the names made here
 *   T       float or double
 *   V, WIDTH, VECTOR(name)    vectors of T and their functions (cpu/kernels/vmath.h)
 *   LEAST_SQUARE, MOST_SQUARE    mean squares whose root is far from the ends of T and whose sums are from those of f64
 *   NEAR                         an exponent whose squares are within those
 *   MOST_PRE, FAR_MEAN           the largest exponent of a factor; a mean from which differences can overflow */
#define FN(name) WICK__JOIN(name, SUFFIX)
#define PARTS (WIDTH / WICK__VD)

/* What a row is normalised by: y = (x - high - low) * scale. The mean is in two parts, so that no digit of it is lost
 * where the elements are large and lie close together. Rows whose differences or squares would leave the range of T or
 * of f64 are multiplied by `pre` first, a power of two, and so is the mean; of all others it is 1. */
struct FN(moments) {
    T high, low, scale, pre;
};

/* n elements as they are normalised: times pre, in `loaded` unless they lie ready. */
static const T *FN(block_of)(const struct normalize *s, const char *in, int64_t n, T pre, T *loaded) {
    const T *x = FN(block_in)(s->dtype, in, n, loaded);
    if (pre == 1) return x;
    for (int64_t i = 0; i < n; i++) loaded[i] = x[i] * pre;
    return loaded;
}

/* The sum of the squares of the differences of n elements to the mean, for short rows, whose end is a vector in part.
 */
static double FN(short_squares)(const T *x, int64_t n, double mean) {
    wick__vd sum[PARTS], less = wick__vd_all(mean);
    for (int k = 0; k < PARTS; k++) sum[k] = wick__vd_all(0);
    for (int64_t i = 0; i < n; i += WIDTH) {
        V v = n - i < WIDTH ? VECTOR(some)(x + i, n - i, 0) : VECTOR(load)(x + i);
        for (int k = 0; k < PARTS; k++) {
            wick__vd d = wick__vd_first(VECTOR(part)(v, k) - less, n - i - k * WICK__VD);
            sum[k] = wick__vd_fma(d, d, sum[k]);
        }
    }
    for (int k = 1; k < PARTS; k++) sum[0] += sum[k];
    return wick__vd_total(sum[0]);
}

/* The mean of pre x, and the mean of the squares of what is left without it. */
static double FN(variance)(const struct normalize *s, const char *in, T *loaded, T pre, double *mean) {
    double squares = 0, n = (double)s->n;
    int64_t size = (int64_t)s->size;
    *mean = 0;
    if (s->pieces == 1 && s->n <= SHORT_ROW) {
        const T *x = FN(block_of)(s, in, s->n, pre, loaded);
        if (s->centered) *mean = VECTOR(sum)(x, s->n) / n;
        return FN(short_squares)(x, s->n, *mean) / n;
    }
    for (int64_t p = 0; s->centered && p < s->pieces; p++)
        for (int64_t i = 0; i < s->piece; i += BLOCK) {
            int64_t m = wick__min(BLOCK, s->piece - i);
            *mean += FN(fold)(TOTAL, FN(block_of)(s, in + p * s->step + i * size, m, pre, loaded), m, 0, 0);
        }
    *mean /= n;
    for (int64_t p = 0; p < s->pieces; p++)
        for (int64_t i = 0; i < s->piece; i += BLOCK) {
            int64_t m = wick__min(BLOCK, s->piece - i);
            squares += FN(fold)(SQUARES, FN(block_of)(s, in + p * s->step + i * size, m, pre, loaded), m, *mean, 0);
        }
    return squares / n;
}

/* A power of two that brings the largest element near 2^NEAR, so that what becomes subnormal vanishes once it is scaled
 * back; 1 for rows of nothing but zeros, and of infinities and NaN. */
static T FN(pre_of)(const struct normalize *s, const char *in, T *loaded) {
    double most = 0;
    for (int64_t p = 0; p < s->pieces; p++)
        for (int64_t i = 0; i < s->piece; i += BLOCK) {
            int64_t m = wick__min(BLOCK, s->piece - i);
            const char *from = in + p * s->step + i * (int64_t)s->size;
            most = join_float(ABS_MAX, most, FN(fold)(ABS_MAX, FN(block_in)(s->dtype, from, m, loaded), m, 0, 0));
        }
    if (!isfinite(most) || most == 0) return 1;
    int64_t exponent = wick__max(wick__min(NEAR - ilogb(most), MOST_PRE), -MOST_PRE);
    if (s->epsilon > 0) exponent = wick__min(exponent, -ilogb(s->epsilon) / 2); /* epsilon pre^2 stays in range */
    return (T)ldexp(1, (int)exponent);
}

static struct FN(moments) FN(moments_of)(const struct normalize *s, const char *in, T *loaded) {
    double mean, variance = FN(variance)(s, in, loaded, 1, &mean), size = variance + s->epsilon;
    T pre = 1;
    if (!(size >= LEAST_SQUARE && size <= MOST_SQUARE)) {
        pre = FN(pre_of)(s, in, loaded);
        if (pre != 1) variance = FN(variance)(s, in, loaded, pre, &mean);
    }
    return (struct FN(moments)){.high = (T)mean,
                                .low = (T)(mean - (double)(T)mean),
                                .scale = (T)(1 / sqrt(variance + s->epsilon * pre * pre)),
                                .pre = pre};
}

/* Writes the statistics of the row that begins at `in`, where they are wanted. */
static void FN(tell)(const struct normalize *s, const char *in, struct FN(moments) m) {
    int64_t row = (in - s->in) / s->row;
    if (s->inverse) ((T *)(void *)s->inverse)[row] = m.scale * m.pre;
    if (s->mean_out) ((T *)(void *)s->mean_out)[row] = (T)(((double)m.high + (double)m.low) / (double)m.pre);
}

/* A row with a weight and a bias for each element, either of which may be NULL. */
static void FN(normalize_row)(const struct normalize *s, const char *in, char *out) {
    _Alignas(64) T loaded[BLOCK], buffer[BLOCK];
    int64_t size = (int64_t)s->size;
    struct FN(moments) m = FN(moments_of)(s, in, loaded);
    FN(tell)(s, in, m);
    for (int64_t i = 0; i < s->n; i += BLOCK) {
        int64_t n = wick__min(BLOCK, s->n - i);
        const T *x = FN(block_of)(s, in + i * size, n, m.pre, loaded);
        const T *weight = s->weight, *bias = s->bias;
        T *y = FN(block_out)(s->dtype, out + i * size, s->stream, buffer);
        if (weight && bias)
            for (int64_t j = 0; j < n; j++) y[j] = (x[j] - m.high - m.low) * m.scale * weight[i + j] + bias[i + j];
        else if (weight)
            for (int64_t j = 0; j < n; j++) y[j] = (x[j] - m.high - m.low) * m.scale * weight[i + j];
        else if (bias)
            for (int64_t j = 0; j < n; j++) y[j] = (x[j] - m.high - m.low) * m.scale + bias[i + j];
        else
            for (int64_t j = 0; j < n; j++) y[j] = (x[j] - m.high - m.low) * m.scale;
        FN(block_done)(s->dtype, out + i * size, n, s->stream, buffer);
    }
}

/* What n elements of a row become. */
static inline V FN(normal)(V x, struct FN(moments) m, const V *weight, const V *bias) {
    V y = (x - VECTOR(all)(m.high) - VECTOR(all)(m.low)) * VECTOR(all)(m.scale);
    if (weight) y = y * *weight;
    if (bias) y = y + *bias;
    return y;
}

static void FN(finish_short)(const struct normalize *s, const T *x, struct FN(moments) m, T *y) {
    const T *weight = s->weight, *bias = s->bias;
    int64_t i = 0;
    V w = VECTOR(all)(1), b = VECTOR(all)(0);
    for (; i + WIDTH <= s->n; i += WIDTH) {
        if (weight) w = VECTOR(load)(weight + i);
        if (bias) b = VECTOR(load)(bias + i);
        VECTOR(store)(y + i, FN(normal)(VECTOR(load)(x + i), m, weight ? &w : NULL, bias ? &b : NULL));
    }
    int64_t left = s->n - i;
    if (left == 0) return;
    if (weight) w = VECTOR(some)(weight + i, left, 0);
    if (bias) b = VECTOR(some)(bias + i, left, 0);
    V last = FN(normal)(VECTOR(some)(x + i, left, 0), m, weight ? &w : NULL, bias ? &b : NULL);
    VECTOR(store_some)(y + i, last, left);
}

/* `rows` <= TOGETHER rows of SHORT_ROW elements or fewer: none waits for the statistics of its own. Rows whose squares
 * leave the range go one by one. */
static void FN(normalize_rows)(const struct normalize *s, const char *in, char *out, int64_t rows) {
    _Alignas(64) T loaded[TOGETHER * SHORT_ROW], buffer[TOGETHER * SHORT_ROW];
    struct FN(moments) m[TOGETHER];
    bool fits[TOGETHER];
    int64_t n = s->n, row = n * (int64_t)s->size;
    const T *x = FN(block_in)(s->dtype, in, rows * n, loaded);
    T *y = FN(block_out)(s->dtype, out, s->stream, buffer);
    buffer[0] = 0; /* compilers can't tell that there are elements */
    for (int64_t r = 0; r < rows; r++) {
        double mean = s->centered ? VECTOR(sum)(x + r * n, n) / (double)n : 0;
        double size = FN(short_squares)(x + r * n, n, mean) / (double)n + s->epsilon;
        fits[r] = size >= LEAST_SQUARE && size <= MOST_SQUARE;
        m[r] = (struct FN(moments)){
            .high = (T)mean, .low = (T)(mean - (double)(T)mean), .scale = (T)(1 / sqrt(size)), .pre = 1};
    }
    for (int64_t r = 0; r < rows; r++) FN(finish_short)(s, x + r * n, m[r], y + r * n);
    FN(block_done)(s->dtype, out, rows * n, s->stream, y);
    for (int64_t r = 0; r < rows; r++)
        if (fits[r])
            FN(tell)(s, in + r * row, m[r]);
        else
            FN(normalize_row)(s, in + r * row, out + r * row);
}

/* n elements of one channel: y = (x - high - low) * scale + bias. */
static void FN(normalize_channel)(const struct normalize *s, const char *in, char *out, int64_t count,
                                  struct FN(moments) m, T bias) {
    _Alignas(64) T loaded[BLOCK], buffer[BLOCK];
    int64_t size = (int64_t)s->size;
    for (int64_t i = 0; i < count; i += BLOCK) {
        int64_t n = wick__min(BLOCK, count - i);
        const T *x = FN(block_of)(s, in + i * size, n, m.pre, loaded);
        T *y = FN(block_out)(s->dtype, out + i * size, s->stream, buffer);
        for (int64_t j = 0; j < n; j++) y[j] = (x[j] - m.high - m.low) * m.scale + bias;
        FN(block_done)(s->dtype, out + i * size, n, s->stream, buffer);
    }
}

/* A group of channels of one image, of which `channel` is the first; or a channel of all images. */
static void FN(normalize_group)(const struct normalize *s, const char *in, char *out, int64_t channel) {
    _Alignas(64) T loaded[BLOCK];
    bool batch = s->step > 0;
    int64_t step = batch ? s->step : s->plane * (int64_t)s->size;
    const T *weight = s->weight, *bias = s->bias;
    struct FN(moments) m = FN(moments_of)(s, in, loaded);
    FN(tell)(s, in, m);
    for (int64_t c = 0; c < s->n / s->plane; c++) {
        struct FN(moments) mine = m;
        int64_t at = batch ? channel : channel + c;
        if (weight) mine.scale *= weight[at];
        FN(normalize_channel)(s, in + c * step, out + c * step, s->plane, mine, bias ? bias[at] : 0);
    }
}

/* Whether x - mean may overflow, and a fourth of x be taken instead. */
static inline bool FN(is_far)(T mean) { return mean > (T)FAR_MEAN || mean < (T)-FAR_MEAN; }

/* One plane of batch norm: statistics that are given. */
static void FN(normalize_plane)(const struct normalize *s, const char *in, char *out, int64_t channel) {
    const T *weight = s->weight, *bias = s->bias, *mean = s->mean, *variance = s->variance;
    double scale = 1 / sqrt((double)variance[channel] + s->epsilon);
    if (weight) scale *= (double)weight[channel];
    struct FN(moments) m = {.high = mean[channel], .scale = (T)scale, .pre = 1};
    if (FN(is_far)(m.high)) m = (struct FN(moments)){m.high / 4, 0, (T)(scale * 4), 0.25};
    FN(normalize_channel)(s, in, out, s->plane, m, bias ? bias[channel] : 0);
}

/* Batch norm where planes are single elements: one image. */
static void FN(normalize_points)(const struct normalize *s, const char *in, char *out) {
    _Alignas(64) T loaded[BLOCK], buffer[BLOCK];
    int64_t size = (int64_t)s->size;
    const T *weight = s->weight, *bias = s->bias, *mean = s->mean, *variance = s->variance;
    for (int64_t i = 0; i < s->channels; i += BLOCK) {
        int64_t n = wick__min(BLOCK, s->channels - i);
        const T *x = FN(block_in)(s->dtype, in + i * size, n, loaded);
        T *y = FN(block_out)(s->dtype, out + i * size, s->stream, buffer);
        for (int64_t j = 0; j < n; j++) {
            double scale = (weight ? (double)weight[i + j] : 1) / sqrt((double)variance[i + j] + s->epsilon);
            T pre = FN(is_far)(mean[i + j]) ? (T)0.25 : 1;
            y[j] = (x[j] * pre - mean[i + j] * pre) * (T)(scale / pre) + (bias ? bias[i + j] : 0);
        }
        FN(block_done)(s->dtype, out + i * size, n, s->stream, buffer);
    }
}

#undef FN
#undef V
#undef WIDTH
#undef VECTOR
#undef PARTS
#undef SUFFIX
#undef T
#undef LEAST_SQUARE
#undef MOST_SQUARE
#undef NEAR
#undef MOST_PRE
#undef FAR_MEAN
