#include "gpu/routes/layer_known.h"

#include "core/checked.h"

#include <math.h>

typedef void expect_fn(const struct wick__dnn_layer *l, struct wick__layer_known *known);
static expect_fn softmax, softmax_backward, norm, norm_train, norm_backward, response, response_backward, pool,
    max_pool, max_pool_backward;

static const struct {
    const char *operands;
    int n_in;
    expect_fn *expect;
    double units;
} kinds[WICK__LAYERS] = {[WICK__LAYER_SOFTMAX] = {"xx", 1, softmax, 4},
                         [WICK__LAYER_LOG_SOFTMAX] = {"xx", 1, softmax, 4},
                         [WICK__LAYER_SOFTMAX_BACKWARD] = {"xxx", 2, softmax_backward, 4},
                         [WICK__LAYER_LOG_SOFTMAX_BACKWARD] = {"xxx", 2, softmax_backward, 4},
                         [WICK__LAYER_NORM] = {"xccccx", 5, norm, 6},
                         [WICK__LAYER_NORM_TRAIN] = {"xccxcc", 3, norm_train, 6},
                         [WICK__LAYER_NORM_BACKWARD] = {"xxcccxcc", 5, norm_backward, 8},
                         [WICK__LAYER_RESPONSE] = {"xx", 1, response, 16},
                         [WICK__LAYER_RESPONSE_BACKWARD] = {"xxx", 2, response_backward, 16},
                         [WICK__LAYER_AVERAGE_POOL] = {"xy", 1, pool, 8},
                         [WICK__LAYER_AVERAGE_POOL_BACKWARD] = {"yx", 1, pool, 4},
                         [WICK__LAYER_MAX_POOL] = {"xy", 1, max_pool, 0},
                         [WICK__LAYER_MAX_POOL_INDICES] = {"xyi", 1, max_pool, 0},
                         [WICK__LAYER_MAX_POOL_BACKWARD] = {"yix", 2, max_pool_backward, 4}};

const char *wick__layer_operands(enum wick__layer kind, int *n_in) {
    *n_in = kinds[kind].n_in;
    return kinds[kind].operands;
}

int64_t wick__layer_count(const struct wick__dnn_layer *l, char operand) {
    if (operand == 'c') return l->size[1];
    const int64_t planes = l->size[0] * l->size[1];
    return operand == 'x' ? planes * l->size[2] * l->size[3] : planes * l->to[0] * l->to[1];
}

static bool is_log(const struct wick__dnn_layer *l) {
    return l->kind == WICK__LAYER_LOG_SOFTMAX || l->kind == WICK__LAYER_LOG_SOFTMAX_BACKWARD;
}

/* ---- operands ---- */

static double small(int operand, int64_t i) { return (double)((i * 37 + i / 7 * 5 + operand * 11) % 64 - 32) / 4; }

/* Of a softmax: x, or the gradient and the result. */
static double softmax_value(const struct wick__dnn_layer *l, enum wick__layer_values values, int operand, int64_t i) {
    const int64_t inner = l->size[2] * l->size[3], at = i / inner % l->size[1], line = i / inner / l->size[1];
    const bool narrow = l->dtype == WICK_F16, backward = l->kind >= WICK__LAYER_SOFTMAX_BACKWARD;
    if (backward && operand == 1) return is_log(l) ? -8 - small(0, i) : (small(0, i) + 8) / 16;
    switch (values) {
    case WICK__LAYER_LEVEL: return 30000;
    case WICK__LAYER_MASKED: return i % 3 == 0 ? -INFINITY : small(0, i);
    case WICK__LAYER_GONE: return line == 1 ? -INFINITY : small(0, i);
    case WICK__LAYER_SUBNORMAL:
        if (backward) return small(0, i) * (narrow ? 0x1p-20 : 0x1p-130);
        return at == 0 ? 0 : small(0, i) / 8 - (narrow ? 12 : 96);
    default: return small(0, i);
    }
}

/* Of batch norm: x, gradient, mean, variance, 1 / deviation, weight, bias. Far is as far as the dtype has numbers. */
static double norm_value(const struct wick__dnn_layer *l, enum wick__layer_values values, int operand, int64_t i) {
    static const char roles[3][6] = {"xmvwb", "xwb", "gxmdw"};
    const bool subnormal = values == WICK__LAYER_SUBNORMAL, narrow = l->dtype == WICK_F16;
    const double far = values != WICK__LAYER_FAR ? 0 : l->dtype == WICK_BF16 ? 512 : 4096;
    const double near = values != WICK__LAYER_NEAR ? 1 : narrow ? 0x1p-12 : 0x1p-24;
    const double tiny = !subnormal ? near : narrow ? 0x1p-18 : 0x1p-130;
    switch (roles[l->kind - WICK__LAYER_NORM][operand]) {
    case 'x': return values == WICK__LAYER_LEVEL ? 3 : tiny * small(0, i) + far;
    case 'g': return tiny * small(1, i);
    case 'm': return subnormal ? 0 : near * small(2, i) / 8 + far;
    case 'v': return 0.25 + fabs(small(3, i));
    case 'd': return (0.25 + fabs(small(3, i)) / 4) / near;
    case 'w': return subnormal ? 1 : small(4, i) / 4 + 0.125;
    default: return subnormal ? 0 : small(5, i) / 4;
    }
}

/* Of local response norm: x, or the gradient and x. Far are those of the first channel from the others: a sum that
 * moves on by what comes and what goes keeps their rounding. */
static double response_value(const struct wick__dnn_layer *l, enum wick__layer_values values, int operand, int64_t i) {
    const double tiny = l->dtype == WICK_F16 ? 0x1p-20 : 0x1p-130;
    if (values == WICK__LAYER_SUBNORMAL) return small(operand, i) * tiny;
    const bool first = i / (l->size[2] * l->size[3]) % l->size[1] == 0;
    return small(operand, i) * (values == WICK__LAYER_FAR && first ? 512 : 1);
}

/* The part of a window within x, from first[s] to end[s]. */
static void window(const struct wick__dnn_layer *l, const int64_t to[2], int64_t first[2], int64_t end[2]) {
    for (int s = 0; s < 2; s++) {
        const int64_t begin = to[s] * l->stride[s] - l->padding[s], last = begin + l->kernel[s];
        first[s] = begin < 0 ? 0 : begin;
        end[s] = last > l->size[2 + s] ? l->size[2 + s] : last;
    }
}

/* A place in the plane that window i reaches: another from window to window, or for many windows the middle. */
static int64_t place_of(const struct wick__dnn_layer *l, enum wick__layer_values values, int64_t i) {
    const int64_t to[2] = {i / l->to[1] % l->to[0], i % l->to[1]};
    int64_t first[2], end[2];
    window(l, to, first, end);
    if (values == WICK__LAYER_LEVEL) {
        const int64_t h = wick__max(first[0], wick__min(l->size[2] / 2, end[0] - 1));
        return h * l->size[3] + wick__max(first[1], wick__min(l->size[3] / 2, end[1] - 1));
    }
    return (first[0] + i * 7 % (end[0] - first[0])) * l->size[3] + first[1] + i * 5 / 3 % (end[1] - first[1]);
}

double wick__layer_value(const struct wick__dnn_layer *l, enum wick__layer_values values, int operand, int64_t i) {
    if (l->kind <= WICK__LAYER_LOG_SOFTMAX_BACKWARD) return softmax_value(l, values, operand, i);
    if (l->kind <= WICK__LAYER_NORM_BACKWARD) return norm_value(l, values, operand, i);
    if (l->kind <= WICK__LAYER_RESPONSE_BACKWARD) return response_value(l, values, operand, i);
    if (l->kind == WICK__LAYER_MAX_POOL_BACKWARD && operand == 1) return (double)place_of(l, values, i);
    if (l->kind == WICK__LAYER_MAX_POOL_BACKWARD && values == WICK__LAYER_LEVEL)
        return small(0, i) + small(1, i) / 64; /* whose sums need more bits than f16 has */
    if (values == WICK__LAYER_MASKED && i % 17 == 0) return INFINITY;
    if (values == WICK__LAYER_LEVEL) return 3;
    if (values == WICK__LAYER_GONE && i / (l->size[2] * l->size[3]) == 1) return -INFINITY;
    if (values == WICK__LAYER_NAN && i % 23 == 0) return NAN;
    return small(0, i) * (values != WICK__LAYER_SUBNORMAL ? 1 : l->dtype == WICK_F16 ? 0x1p-20 : 0x1p-130);
}

/* ---- softmax, by channels ---- */

static void softmax_line(const struct wick__dnn_layer *l, struct wick__layer_known *known, int64_t first) {
    const int64_t n = l->size[1], inner = l->size[2] * l->size[3], end = first + n * inner;
    const double *x = known->in[0];
    double most = -INFINITY, sum = 0;
    for (int64_t i = first; i < end; i += inner) most = fmax(most, x[i]);
    for (int64_t i = first; i < end; i += inner) sum += exp(x[i] - most);
    for (int64_t i = first; i < end; i += inner) {
        const double less = x[i] - most;
        known->want[0][i] = is_log(l) ? less - log(sum) : exp(less) / sum;
        known->scale[0][i] = is_log(l) ? 1 + log(sum) - less : exp(less) / sum * (1 - less);
    }
}

static void softmax_backward_line(const struct wick__dnn_layer *l, struct wick__layer_known *known, int64_t first) {
    const int64_t n = l->size[1], inner = l->size[2] * l->size[3], end = first + n * inner;
    const double *g = known->in[0], *y = known->in[1];
    double sum = 0, size = 0;
    for (int64_t i = first; i < end; i += inner) {
        sum += g[i] * (is_log(l) ? 1 : y[i]);
        size += fabs(g[i] * (is_log(l) ? 1 : y[i]));
    }
    for (int64_t i = first; i < end; i += inner) {
        known->want[0][i] = is_log(l) ? g[i] - exp(y[i]) * sum : y[i] * (g[i] - sum);
        known->scale[0][i] = is_log(l) ? fabs(g[i]) + exp(y[i]) * size * (1 - y[i]) : fabs(y[i]) * (fabs(g[i]) + size);
    }
}

static void by_lines(const struct wick__dnn_layer *l, struct wick__layer_known *known, bool backward) {
    const int64_t inner = l->size[2] * l->size[3];
    for (int64_t line = 0; line < l->size[0] * inner; line++) {
        const int64_t first = line / inner * l->size[1] * inner + line % inner;
        if (backward)
            softmax_backward_line(l, known, first);
        else
            softmax_line(l, known, first);
    }
}
static void softmax(const struct wick__dnn_layer *l, struct wick__layer_known *known) { by_lines(l, known, false); }
static void softmax_backward(const struct wick__dnn_layer *l, struct wick__layer_known *known) {
    by_lines(l, known, true);
}

/* ---- batch norm ---- */

/* Element i of channel c. */
static int64_t at(const struct wick__dnn_layer *l, int64_t c, int64_t i) {
    const int64_t plane = l->size[2] * l->size[3];
    return (i / plane * l->size[1] + c) * plane + i % plane;
}

static int64_t elements(const struct wick__dnn_layer *l) { return l->size[0] * l->size[2] * l->size[3]; }

/* y of channel c, whose statistics are known; `size` is the magnitude of what went into the mean. */
static void norm_channel(const struct wick__dnn_layer *l, struct wick__layer_known *known, int64_t c,
                         const double statistics[3], const double *const parameters[2]) {
    const double mean = statistics[0], inverse = statistics[1], size = statistics[2];
    const double weight = parameters[0][c], bias = parameters[1][c];
    for (int64_t i = 0; i < elements(l); i++) {
        const double x = known->in[0][at(l, c, i)];
        known->want[0][at(l, c, i)] = (x - mean) * inverse * weight + bias;
        known->scale[0][at(l, c, i)] = (fabs(x) + size) * fabs(inverse * weight) + fabs(bias);
    }
}

static void norm(const struct wick__dnn_layer *l, struct wick__layer_known *known) {
    double *const *in = known->in;
    for (int64_t c = 0; c < l->size[1]; c++)
        norm_channel(l, known, c, (const double[]){in[1][c], 1 / sqrt(in[2][c] + l->epsilon), fabs(in[1][c])},
                     (const double *const[]){in[3], in[4]});
}

static void norm_train(const struct wick__dnn_layer *l, struct wick__layer_known *known) {
    const double n = (double)elements(l);
    for (int64_t c = 0; c < l->size[1]; c++) {
        double mean = 0, size = 0, variance = 0;
        for (int64_t i = 0; i < elements(l); i++) {
            mean += known->in[0][at(l, c, i)] / n;
            size += fabs(known->in[0][at(l, c, i)]) / n;
        }
        for (int64_t i = 0; i < elements(l); i++) variance += pow(known->in[0][at(l, c, i)] - mean, 2) / n;
        const double inverse = 1 / sqrt(variance + l->epsilon);
        norm_channel(l, known, c, (const double[]){mean, inverse, size},
                     (const double *const[]){known->in[1], known->in[2]});
        known->want[1][c] = inverse;
        known->want[2][c] = mean;
        known->scale[2][c] = size;
    }
}

static void norm_backward(const struct wick__dnn_layer *l, struct wick__layer_known *known) {
    double *const *in = known->in, n = (double)elements(l);
    for (int64_t c = 0; c < l->size[1]; c++) {
        const double mean = in[2][c], inverse = in[3][c], weight = in[4][c];
        double by_weight = 0, by_bias = 0, weight_size = 0, bias_size = 0;
        for (int64_t i = 0; i < elements(l); i++) {
            const double g = in[0][at(l, c, i)], x = in[1][at(l, c, i)];
            by_weight += g * (x - mean) * inverse;
            by_bias += g;
            weight_size += fabs(g) * (fabs(x) + fabs(mean)) * inverse;
            bias_size += fabs(g);
        }
        for (int64_t i = 0; i < elements(l); i++) {
            const double g = in[0][at(l, c, i)], x = in[1][at(l, c, i)];
            known->want[0][at(l, c, i)] = weight * inverse * (g - by_bias / n - (x - mean) * inverse * by_weight / n);
            known->scale[0][at(l, c, i)] =
                fabs(weight * inverse) * (fabs(g) + bias_size / n + (fabs(x) + fabs(mean)) * inverse * weight_size / n);
        }
        known->want[1][c] = by_weight;
        known->scale[1][c] = weight_size;
        known->want[2][c] = by_bias;
        known->scale[2][c] = bias_size;
    }
}

/* ---- local response norm ---- */

/* The channels of the window of element i, those before and behind its own. */
static void neighbours(const struct wick__dnn_layer *l, int64_t i, int64_t *first, int64_t *last) {
    const int64_t channel = i / (l->size[2] * l->size[3]) % l->size[1], ahead = l->size[1] - 1 - channel;
    *first = -wick__min(channel, l->kernel[0] / 2);
    *last = wick__min(ahead, (l->kernel[0] - 1) / 2);
}

/* k + alpha mean(x^2), of element i. */
static double divisor(const struct wick__dnn_layer *l, const double *x, int64_t i) {
    const int64_t inner = l->size[2] * l->size[3];
    int64_t first, last;
    double sum = 0;
    neighbours(l, i, &first, &last);
    for (int64_t c = first; c <= last; c++) sum += x[i + c * inner] * x[i + c * inner];
    return l->response[2] + l->response[0] * sum / (double)l->kernel[0];
}

static void response(const struct wick__dnn_layer *l, struct wick__layer_known *known) {
    const double *x = known->in[0];
    for (int64_t i = 0; i < wick__layer_count(l, 'x'); i++) {
        known->want[0][i] = x[i] * pow(divisor(l, x, i), -l->response[1]);
        known->scale[0][i] = fabs(known->want[0][i]);
    }
}

/* What element i of y has of the gradients of all x in its window. */
static void response_backward(const struct wick__dnn_layer *l, struct wick__layer_known *known) {
    const double *g = known->in[0], *x = known->in[1], alpha = l->response[0], beta = l->response[1];
    const int64_t inner = l->size[2] * l->size[3];
    for (int64_t i = 0; i < wick__layer_count(l, 'x'); i++) {
        const double d = divisor(l, x, i), own = g[i] * pow(d, -beta);
        int64_t first, last;
        known->want[0][i] += own;
        known->scale[0][i] += fabs(own);
        neighbours(l, i, &first, &last);
        for (int64_t c = first; c <= last; c++) {
            const int64_t to = i + c * inner;
            const double by = -beta * pow(d, -beta - 1) * 2 * alpha * x[to] / (double)l->kernel[0];
            known->want[0][to] += g[i] * x[i] * by;
            known->scale[0][to] += fabs(g[i] * x[i] * by);
        }
    }
}

/* ---- pooling ---- */

/* One window of a plane: adds up x, or spreads y. */
static void pool_window(const struct wick__dnn_layer *l, struct wick__layer_known *known, int64_t plane,
                        const int64_t to[2]) {
    const int64_t y = (plane * l->to[0] + to[0]) * l->to[1] + to[1];
    int64_t first[2], end[2];
    window(l, to, first, end);
    const double inside = (double)(end[0] - first[0]) * (double)(end[1] - first[1]);
    const double divisor = l->counts_padding ? (double)l->kernel[0] * (double)l->kernel[1] : inside;
    for (int64_t h = first[0]; h < end[0]; h++)
        for (int64_t w = first[1]; w < end[1]; w++) {
            const int64_t x = (plane * l->size[2] + h) * l->size[3] + w;
            const bool forward = l->kind == WICK__LAYER_AVERAGE_POOL;
            const int64_t from = forward ? x : y, result = forward ? y : x;
            known->want[0][result] += known->in[0][from] / divisor;
            known->scale[0][result] += fabs(known->in[0][from]) / divisor;
        }
}

static void pool(const struct wick__dnn_layer *l, struct wick__layer_known *known) {
    int64_t to[2];
    for (int64_t plane = 0; plane < l->size[0] * l->size[1]; plane++)
        for (to[0] = 0; to[0] < l->to[0]; to[0]++)
            for (to[1] = 0; to[1] < l->to[1]; to[1]++) pool_window(l, known, plane, to);
}

/* The largest of one window, NaN before all, and its place: the first of equals, the last NaN. */
static void max_window(const struct wick__dnn_layer *l, struct wick__layer_known *known, int64_t y) {
    const int64_t to[2] = {y / l->to[1] % l->to[0], y % l->to[1]}, plane = y / l->to[1] / l->to[0];
    const double *x = known->in[0] + plane * l->size[2] * l->size[3];
    int64_t first[2], end[2], best = -1;
    window(l, to, first, end);
    for (int64_t h = first[0]; h < end[0]; h++)
        for (int64_t w = first[1]; w < end[1]; w++) {
            const int64_t place = h * l->size[3] + w;
            if (best < 0 || isnan(x[place]) || x[place] > x[best]) best = place;
        }
    known->want[0][y] = x[best];
    if (l->kind == WICK__LAYER_MAX_POOL_INDICES) known->want[1][y] = (double)best;
}

static void max_pool(const struct wick__dnn_layer *l, struct wick__layer_known *known) {
    for (int64_t y = 0; y < wick__layer_count(l, 'y'); y++) max_window(l, known, y);
}

static void max_pool_backward(const struct wick__dnn_layer *l, struct wick__layer_known *known) {
    for (int64_t y = 0; y < wick__layer_count(l, 'y'); y++) {
        const int64_t x = y / l->to[1] / l->to[0] * l->size[2] * l->size[3] + (int64_t)known->in[1][y];
        known->want[0][x] += known->in[0][y];
        known->scale[0][x] += fabs(known->in[0][y]);
    }
}

void wick__layer_expect(const struct wick__dnn_layer *l, struct wick__layer_known *known) {
    known->units = kinds[l->kind].units;
    kinds[l->kind].expect(l, known);
}
