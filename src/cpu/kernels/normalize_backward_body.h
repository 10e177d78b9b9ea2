/* Gradients of norms for one type that elements are converted to. Included with
 *
 *   SUFFIX  of the names made here
 *   T       float or double
 *   LOAD    a wick__vd of some; SOME of the first n, 0 in the other lanes
 *
 * and undefines all of them. */
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
    wick__vd a[AT_ONCE] = {0}, b[AT_ONCE] = {0}, means = wick__vd_all(mean);
    int64_t i = 0;
    for (; i + AT_ONCE * WICK__VD <= n; i += AT_ONCE * WICK__VD)
        for (int k = 0; k < AT_ONCE; k++) {
            wick__vd gs = LOAD(g + i + k * WICK__VD);
            a[k] += gs;
            b[k] = MULADD_F64(gs, LOAD(x + i + k * WICK__VD) - means, b[k]);
        }
    for (; i + WICK__VD <= n; i += WICK__VD) {
        a[0] += LOAD(g + i);
        b[0] = MULADD_F64(LOAD(g + i), LOAD(x + i) - means, b[0]);
    }
    if (i < n) {
        wick__vd gs = SOME(g + i, n - i);
        a[1] += gs;
        b[1] = MULADD_F64(gs, SOME(x + i, n - i) - means, b[1]);
    }
    total[0] += lanes_sum(a);
    total[1] += lanes_sum(b);
}

/* Where planes are single elements: n elements of the gradient of the normalised elements, whose first channel is
 * `channel`. Those of the result times the weight, in `loaded` unless they lie ready. */
static const T *NAME(weighed)(const struct normalize_backward *s, const char *in, int64_t channel, int64_t n,
                              T *loaded) {
    const T *g = NAME(block_in)(s->dtype, in, n, loaded), *weight = s->weight;
    if (!weight) return g;
    for (int64_t j = 0; j < n; j++) loaded[j] = g[j] * weight[channel + j];
    return loaded;
}

/* n elements of the gradient of x. Of floats, whose products stay within the range of double, terms are put together.
 */
static inline void NAME(finish)(const T *g, const T *x, int64_t n, const struct slopes *slopes, T *out) {
    const struct slopes k = *slopes;
    double by_g = k.inverse * k.weight, by_x = -k.inverse * k.slope, rest = -k.inverse * k.constant - k.mean * by_x;
    int64_t j = 0;
    if (sizeof(T) != sizeof(float)) {
        for (; j < n; j++)
            out[j] = (T)(k.inverse * ((double)g[j] * k.weight - k.constant - ((double)x[j] - k.mean) * k.slope));
        return;
    }
    for (; j + WICK__VD <= n; j += WICK__VD) {
        wick__vd y = MULADD_F64(LOAD(x + j), wick__vd_all(by_x), wick__vd_all(rest));
        wick__vd_to_f32((void *)(out + j), MULADD_F64(LOAD(g + j), wick__vd_all(by_g), y));
    }
    if (j == n) return;
    wick__vd y = MULADD_F64(SOME(x + j, n - j), wick__vd_all(by_x), wick__vd_all(rest));
    wick__vd_to_f32_some((void *)(out + j), MULADD_F64(SOME(g + j, n - j), wick__vd_all(by_g), y), n - j);
}

static inline struct slopes NAME(slopes_of)(const struct normalize_backward *s, int64_t row, const double total[2]) {
    double n = (double)(s->pieces * s->plane), inverse = NAME(inverse_of)(s, row);
    return (struct slopes){.weight = 1,
                           .mean = NAME(mean_of)(s, row),
                           .inverse = inverse,
                           .constant = s->mean ? total[0] / n : 0,
                           .slope = total[1] * inverse * inverse / n};
}

/* The gradient of a row of x of single elements. */
static void NAME(backward_row)(const struct normalize_backward *s, int64_t row) {
    _Alignas(64) T loaded[2][BLOCK], buffer[BLOCK];
    int64_t n = s->per, size = (int64_t)s->size, at = row * n * size;
    int64_t channel = row % (s->channels / s->per) * s->per;
    double mean = NAME(mean_of)(s, row), total[2] = {0};
    for (int64_t i = 0; i < n; i += SUMMED) {
        int64_t m = wick__min(SUMMED, n - i);
        const T *g = NAME(weighed)(s, s->gradient + at + i * size, channel + i, m, loaded[0]);
        NAME(add_sums)(g, NAME(block_in)(s->dtype, s->x + at + i * size, m, loaded[1]), m, mean, total);
    }
    struct slopes slopes = NAME(slopes_of)(s, row, total);
    for (int64_t i = 0; i < n; i += BLOCK) {
        int64_t m = wick__min(BLOCK, n - i);
        const T *g = NAME(weighed)(s, s->gradient + at + i * size, channel + i, m, loaded[0]);
        const T *x = NAME(block_in)(s->dtype, s->x + at + i * size, m, loaded[1]);
        NAME(finish)(g, x, m, &slopes, NAME(block_out)(s->dtype, s->out + at + i * size, s->stream, buffer));
        NAME(block_done)(s->dtype, s->out + at + i * size, m, s->stream, buffer);
    }
}

/* The sums of g and of g (x - mean) of the plane that begins at byte `at`. */
static void NAME(plane_sums)(const struct normalize_backward *s, int64_t at, double mean, double total[2]) {
    _Alignas(64) T loaded[2][BLOCK];
    int64_t size = (int64_t)s->size;
    for (int64_t i = 0; i < s->plane; i += SUMMED) {
        int64_t n = wick__min(SUMMED, s->plane - i);
        const T *g = NAME(block_in)(s->dtype, s->gradient + at + i * size, n, loaded[0]);
        const T *x = NAME(block_in)(s->dtype, s->x + at + i * size, n, loaded[1]);
        NAME(add_sums)(g, x, n, mean, total);
    }
}

/* The gradient of a row of x of planes, and the row's terms of the sums for the weight and the bias. */
static void NAME(backward_planes)(const struct normalize_backward *s, int64_t row) {
    _Alignas(64) T loaded[2][BLOCK], buffer[BLOCK];
    int64_t size = (int64_t)s->size;
    double mean = NAME(mean_of)(s, row), total[2] = {0};
    const T *weight = s->weight;
    for (int64_t p = 0; p < s->pieces; p++) {
        struct plane plane = plane_of(s, row, p);
        double own[2] = {0}, w = weight ? (double)weight[plane.channel] : 1;
        NAME(plane_sums)(s, plane.first * size, mean, own);
        total[0] += own[0] * w;
        total[1] += own[1] * w;
        if (!s->sums) continue;
        plane.sums[0] += own[1] * NAME(inverse_of)(s, row);
        plane.sums[s->channels] += own[0];
    }
    struct slopes slopes = NAME(slopes_of)(s, row, total);
    for (int64_t p = 0; p < s->pieces; p++) {
        struct plane plane = plane_of(s, row, p);
        int64_t at = plane.first * size;
        if (weight) slopes.weight = (double)weight[plane.channel];
        for (int64_t i = 0; i < s->plane; i += BLOCK) {
            int64_t n = wick__min(BLOCK, s->plane - i);
            const T *g = NAME(block_in)(s->dtype, s->gradient + at + i * size, n, loaded[0]);
            const T *x = NAME(block_in)(s->dtype, s->x + at + i * size, n, loaded[1]);
            NAME(finish)(g, x, n, &slopes, NAME(block_out)(s->dtype, s->out + at + i * size, s->stream, buffer));
            NAME(block_done)(s->dtype, s->out + at + i * size, n, s->stream, buffer);
        }
    }
}

/* A piece of an image's channels, single elements, that were normalised together. */
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

/* The same of a tile of channels over a part of the rows: the sums for the weight and the bias, [2,channels] from
 * `sums` on. */
static void NAME(backward_sums)(const struct normalize_backward *s, int64_t part, int64_t first, double *sums) {
    double weight[TILE] = {0}, bias[TILE] = {0};
    int64_t width = wick__min(s->tile, s->channels - first), groups = s->channels / s->per;
    int64_t from = part * s->rows, to = wick__min(from + s->rows, s->outer);
    for (int64_t o = from; o < to; o++)
        for (int64_t c = 0, next; c < width; c = next) {
            int64_t group = (first + c) / s->per, row = o * groups + group;
            next = wick__min(width, (group + 1) * s->per - first);
            NAME(backward_points)(s, o * s->channels + first + c, next - c, row, weight + c, bias + c);
        }
    memcpy(sums, weight, sizeof *sums * (size_t)width);
    memcpy(sums + s->channels, bias, sizeof *sums * (size_t)width);
}

#undef NAME
#undef LOAD
#undef SOME
#undef T
#undef SUFFIX
