/* Gradients of norms for one type that elements are converted to. Included with
 *
 *   SUFFIX  of the names made here
 *   T       float or double
 *
 * and undefines both. */
#define NAME(name) WICK__JOIN(name, SUFFIX)

/* A row's mean and inverse deviation. */
static inline double NAME(mean_of)(const struct normalize_backward *s, int64_t row) {
    return s->mean ? (double)((const T *)s->mean)[row] : 0;
}
static inline double NAME(inverse_of)(const struct normalize_backward *s, int64_t row) {
    return (double)((const T *)s->inverse)[row];
}

/* Adds the sums of g and of g (x - mean) to total[0] and [1]. */
static void NAME(add_sums)(const T *g, const T *x, int64_t n, double mean, double total[2]) {
    double a[LANES_OF_SUMS] = {0}, b[LANES_OF_SUMS] = {0};
    int64_t i = 0;
    for (; i + LANES_OF_SUMS <= n; i += LANES_OF_SUMS)
        for (int l = 0; l < LANES_OF_SUMS; l++) {
            a[l] += (double)g[i + l];
            b[l] += (double)g[i + l] * ((double)x[i + l] - mean);
        }
    for (; i < n; i++) {
        total[0] += (double)g[i];
        total[1] += (double)g[i] * ((double)x[i] - mean);
    }
    for (int l = 0; l < LANES_OF_SUMS; l++) {
        total[0] += a[l];
        total[1] += b[l];
    }
}

/* n elements of the gradient of the normalised elements, from number i of a row on, whose first channel is `channel`:
 * those of the result times the weight, in `loaded` unless they lie ready. */
static const T *NAME(weighed)(const struct normalize_backward *s, const char *in, int64_t channel, int64_t i, int64_t n,
                              T *loaded) {
    const T *g = NAME(block_in)(s->dtype, in, n, loaded), *weight = s->weight;
    if (!weight) return g;
    if (s->plane == 1)
        for (int64_t j = 0; j < n; j++) loaded[j] = g[j] * weight[channel + i + j];
    else
        for (int64_t j = 0, next; j < n; j = next) {
            T w = weight[channel + (i + j) / s->plane];
            next = wick__min(n, ((i + j) / s->plane + 1) * s->plane - i);
            for (int64_t k = j; k < next; k++) loaded[k] = g[k] * w;
        }
    return loaded;
}

/* The gradient of a row of x. */
static void NAME(backward_row)(const struct normalize_backward *s, int64_t row) {
    _Alignas(64) T loaded[2][BLOCK], buffer[BLOCK];
    int64_t n = s->per * s->plane, size = (int64_t)s->size, at = row * n * size;
    int64_t channel = row % (s->channels / s->per) * s->per;
    double mean = NAME(mean_of)(s, row), inverse = NAME(inverse_of)(s, row), total[2] = {0};
    for (int64_t i = 0; i < n; i += BLOCK) {
        int64_t m = wick__min(BLOCK, n - i);
        const T *g = NAME(weighed)(s, s->gradient + at + i * size, channel, i, m, loaded[0]);
        NAME(add_sums)(g, NAME(block_in)(s->dtype, s->x + at + i * size, m, loaded[1]), m, mean, total);
    }
    double constant = s->mean ? total[0] / (double)n : 0, slope = total[1] * inverse * inverse / (double)n;
    for (int64_t i = 0; i < n; i += BLOCK) {
        int64_t m = wick__min(BLOCK, n - i);
        const T *g = NAME(weighed)(s, s->gradient + at + i * size, channel, i, m, loaded[0]);
        const T *x = NAME(block_in)(s->dtype, s->x + at + i * size, m, loaded[1]);
        T *out = NAME(block_out)(s->dtype, s->out + at + i * size, s->stream, buffer);
        for (int64_t j = 0; j < m; j++)
            out[j] = (T)(inverse * ((double)g[j] - constant - ((double)x[j] - mean) * slope));
        NAME(block_done)(s->dtype, s->out + at + i * size, m, s->stream, buffer);
    }
}

/* One channel of one image, whose plane begins at element `at`. */
static void NAME(backward_plane)(const struct normalize_backward *s, int64_t at, double mean, double total[2]) {
    _Alignas(64) T loaded[2][BLOCK];
    int64_t size = (int64_t)s->size;
    for (int64_t i = 0; i < s->plane; i += BLOCK) {
        int64_t n = wick__min(BLOCK, s->plane - i);
        const T *g = NAME(block_in)(s->dtype, s->gradient + (at + i) * size, n, loaded[0]);
        const T *x = NAME(block_in)(s->dtype, s->x + (at + i) * size, n, loaded[1]);
        NAME(add_sums)(g, x, n, mean, total);
    }
}

/* Where planes are single elements: a piece of an image's channels that were normalised together. */
static void NAME(backward_points)(const struct normalize_backward *s, int64_t at, int64_t n, int64_t row,
                                  double *weight, double *bias) {
    _Alignas(64) T loaded[2][TILE];
    int64_t size = (int64_t)s->size;
    double mean = NAME(mean_of)(s, row), inverse = NAME(inverse_of)(s, row);
    const T *g = NAME(block_in)(s->dtype, s->gradient + at * size, n, loaded[0]);
    const T *x = NAME(block_in)(s->dtype, s->x + at * size, n, loaded[1]);
    for (int64_t j = 0; j < n; j++) {
        weight[j] += (double)g[j] * (((double)x[j] - mean) * inverse);
        bias[j] += (double)g[j];
    }
}

/* The sums for the weight and the bias of a tile of channels over a part of the rows: [2,channels] from `sums` on. */
static void NAME(backward_sums)(const struct normalize_backward *s, int64_t part, int64_t first, double *sums) {
    double weight[TILE] = {0}, bias[TILE] = {0};
    int64_t width = wick__min(s->tile, s->channels - first), groups = s->channels / s->per;
    int64_t from = part * s->rows, to = wick__min(from + s->rows, s->outer);
    for (int64_t o = from; o < to; o++)
        for (int64_t c = 0, next; c < width; c = next) {
            int64_t group = (first + c) / s->per, row = o * groups + group, at = o * s->channels + first + c;
            next = s->plane == 1 ? wick__min(width, (group + 1) * s->per - first) : c + 1;
            if (s->plane == 1) {
                NAME(backward_points)(s, at, next - c, row, weight + c, bias + c);
                continue;
            }
            double total[2] = {0};
            NAME(backward_plane)(s, at * s->plane, NAME(mean_of)(s, row), total);
            weight[c] += total[1] * NAME(inverse_of)(s, row);
            bias[c] += total[0];
        }
    memcpy(sums, weight, sizeof *sums * (size_t)width);
    memcpy(sums + s->channels, bias, sizeof *sums * (size_t)width);
}

#undef NAME
#undef T
#undef SUFFIX
