/* Normalising rows, for one type it is computed in. Included with
 *
 *   SUFFIX  of the names made here
 *   T       float or double */
#define FN(name) WICK__JOIN(name, SUFFIX)

/* What a row is normalised by: y = (x - high - low) * scale. The mean is in two parts, so that no digit of it is lost
 * where the elements are large and lie close together. */
struct FN(moments) {
    T high, low, scale;
};

static struct FN(moments) FN(moments_of)(const struct normalize *s, const char *in, T *loaded) {
    double mean = 0, squares = 0, n = (double)s->n;
    int64_t size = (int64_t)s->size;
    for (int64_t i = 0; s->centered && i < s->n; i += BLOCK) {
        int64_t m = wick__min(BLOCK, s->n - i);
        mean += FN(fold)(TOTAL, FN(block_in)(s->dtype, in + i * size, m, loaded), m, 0, 0);
    }
    mean /= n;
    for (int64_t i = 0; i < s->n; i += BLOCK) {
        int64_t m = wick__min(BLOCK, s->n - i);
        squares += FN(fold)(SQUARES, FN(block_in)(s->dtype, in + i * size, m, loaded), m, mean, 0);
    }
    return (struct FN(moments)){
        .high = (T)mean, .low = (T)(mean - (double)(T)mean), .scale = (T)(1 / sqrt(squares / n + s->epsilon))};
}

/* A row with a weight and a bias for each element, either of which may be NULL. */
static void FN(normalize_row)(const struct normalize *s, const char *in, char *out) {
    _Alignas(64) T loaded[BLOCK], buffer[BLOCK];
    int64_t size = (int64_t)s->size;
    struct FN(moments) m = FN(moments_of)(s, in, loaded);
    for (int64_t i = 0; i < s->n; i += BLOCK) {
        int64_t n = wick__min(BLOCK, s->n - i);
        const T *x = FN(block_in)(s->dtype, in + i * size, n, loaded);
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

/* n elements of one channel: y = (x - high - low) * scale + bias. */
static void FN(normalize_channel)(const struct normalize *s, const char *in, char *out, int64_t count,
                                  struct FN(moments) m, T bias) {
    _Alignas(64) T loaded[BLOCK], buffer[BLOCK];
    int64_t size = (int64_t)s->size;
    for (int64_t i = 0; i < count; i += BLOCK) {
        int64_t n = wick__min(BLOCK, count - i);
        const T *x = FN(block_in)(s->dtype, in + i * size, n, loaded);
        T *y = FN(block_out)(s->dtype, out + i * size, s->stream, buffer);
        for (int64_t j = 0; j < n; j++) y[j] = (x[j] - m.high - m.low) * m.scale + bias;
        FN(block_done)(s->dtype, out + i * size, n, s->stream, buffer);
    }
}

/* A group of channels of one image; `channel` is the first. */
static void FN(normalize_group)(const struct normalize *s, const char *in, char *out, int64_t channel) {
    _Alignas(64) T loaded[BLOCK];
    int64_t step = s->plane * (int64_t)s->size;
    const T *weight = s->weight, *bias = s->bias;
    struct FN(moments) m = FN(moments_of)(s, in, loaded);
    for (int64_t c = 0; c < s->n / s->plane; c++) {
        struct FN(moments) mine = m;
        if (weight) mine.scale *= weight[channel + c];
        FN(normalize_channel)(s, in + c * step, out + c * step, s->plane, mine, bias ? bias[channel + c] : 0);
    }
}

/* One plane of batch norm: statistics that are given. */
static void FN(normalize_plane)(const struct normalize *s, const char *in, char *out, int64_t channel) {
    const T *weight = s->weight, *bias = s->bias, *mean = s->mean, *variance = s->variance;
    double scale = 1 / sqrt((double)variance[channel] + s->epsilon);
    struct FN(moments) m = {.high = mean[channel], .scale = (T)(weight ? (double)weight[channel] * scale : scale)};
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
            y[j] = (x[j] - mean[i + j]) * (T)scale + (bias ? bias[i + j] : 0);
        }
        FN(block_done)(s->dtype, out + i * size, n, s->stream, buffer);
    }
}

#undef FN
#undef SUFFIX
#undef T
