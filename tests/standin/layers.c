/* Softmax, batch norm, local response norm and pooling on the stand-in's memory, for its MIOpen and, of batch norm, its
 * cuDNN: plain loops, sums in f64. A library that is wrong forgets the last term of each sum, one that is rough has the
 * variance from squares in f32. */
#include "blas.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static bool is(const char *mode) { return strcmp(standin_settings.blas, mode) == 0; }

static double plane(const struct standin_layer *l) { return (double)(l->size[2] * l->size[3]); }

static double get(const struct standin_layer *l, const void *p, long i) {
    double value = standin_get(l->dtype, p, i);
    return l->dtype == STANDIN_F16 && is("flush") && fabs(value) < 0x1p-14 ? 0 : value;
}
static void put(const struct standin_layer *l, long i, double value) {
    if (l->dtype == STANDIN_F16 && is("flush") && fabs(value) < 0x1p-14) value = 0;
    standin_put(l->dtype, l->out, i, value);
}

/* ---- softmax: n elements from `first` on, `step` apart ---- */

static void softmax(const struct standin_layer *l, long first, long n, long step) {
    double most = -INFINITY, sum = 0;
    for (long i = 0; i < n; i++) most = fmax(most, get(l, l->in[0], first + i * step));
    for (long i = 0; i < n - is("wrong"); i++) sum += exp(get(l, l->in[0], first + i * step) - most);
    for (long i = 0; i < n; i++) {
        double less = get(l, l->in[0], first + i * step) - most;
        put(l, first + i * step, l->log ? less - log(sum) : exp(less) / sum);
    }
}

static void softmax_backward(const struct standin_layer *l, long first, long n, long step) {
    double sum = 0;
    for (long i = 0; i < n - is("wrong"); i++) {
        double y = get(l, l->in[0], first + i * step), g = get(l, l->in[1], first + i * step);
        sum += l->log ? g : g * y;
    }
    for (long i = 0; i < n; i++) {
        double y = get(l, l->in[0], first + i * step), g = get(l, l->in[1], first + i * step);
        put(l, first + i * step, l->log ? g - exp(y) * sum : y * (g - sum));
    }
}

static void run_softmax(const struct standin_layer *l) {
    long step = (long)plane(l);
    for (long image = 0; image < l->size[0]; image++)
        for (long place = 0; place < step; place++) {
            long first = image * l->size[1] * step + place;
            if (l->kind == STANDIN_SOFTMAX)
                softmax(l, first, l->size[1], step);
            else
                softmax_backward(l, first, l->size[1], step);
        }
}

/* ---- batch norm ---- */

static long at(const struct standin_layer *l, long c, long i) {
    long step = (long)plane(l);
    return (i / step * l->size[1] + c) * step + i % step;
}

static double of_channel(const struct standin_layer *l, int which, long c) {
    return standin_get(STANDIN_F32, l->by[which], c);
}

static void measure(const struct standin_layer *l, long c, long n) {
    double mean = 0, squares = 0, variance = 0;
    for (long i = 0; i < n - is("wrong"); i++) mean += get(l, l->in[0], at(l, c, i)) / (double)n;
    for (long i = 0; i < n; i++) {
        double x = get(l, l->in[0], at(l, c, i));
        squares += x * x / (double)n;
        variance += (x - mean) * (x - mean) / (double)n;
    }
    if (is("rough")) variance = fmax(0, (double)((float)squares - (float)(mean * mean)));
    standin_put(STANDIN_F32, l->by[2], c, mean);
    standin_put(STANDIN_F32, l->by[3], c, 1 / sqrt(variance + l->epsilon));
}

static void normalise(const struct standin_layer *l, long c, long n) {
    if (l->kind == STANDIN_NORM_TRAIN) measure(l, c, n);
    double mean = of_channel(l, 2, c), scale = of_channel(l, 3, c);
    if (l->kind == STANDIN_NORM) scale = 1 / sqrt(scale + l->epsilon + (is("wrong") ? 1 : 0));
    for (long i = 0; i < n; i++) {
        double x = get(l, l->in[0], at(l, c, i));
        put(l, at(l, c, i), (x - mean) * scale * of_channel(l, 0, c) + of_channel(l, 1, c));
    }
}

static void norm_backward(const struct standin_layer *l, long c, long n) {
    double mean = of_channel(l, 2, c), scale = of_channel(l, 3, c), by_weight = 0, by_bias = 0;
    for (long i = 0; i < n - is("wrong"); i++) {
        double g = get(l, l->in[1], at(l, c, i));
        by_weight += g * (get(l, l->in[0], at(l, c, i)) - mean) * scale;
        by_bias += g;
    }
    for (long i = 0; i < n; i++) {
        double g = get(l, l->in[1], at(l, c, i)), x = (get(l, l->in[0], at(l, c, i)) - mean) * scale;
        put(l, at(l, c, i), of_channel(l, 0, c) * scale * (g - (by_bias + x * by_weight) / (double)n));
    }
    standin_put(STANDIN_F32, l->by[4], c, by_weight);
    standin_put(STANDIN_F32, l->by[5], c, by_bias);
}

/* ---- local response norm ---- */

/* Steps from the channel of element i to the first and last of its window. */
static void reach(const struct standin_layer *l, long i, long *first, long *last) {
    long c = i / (long)plane(l) % l->size[1], half = l->kernel[0] / 2;
    *first = c < half ? -c : -half;
    *last = l->size[1] - 1 - c < half ? l->size[1] - 1 - c : half;
    if (is("wrong") && *last > 0) --*last;
}

static void run_response(const struct standin_layer *l, long count) {
    for (long i = 0; i < count; i++) {
        long first, last;
        double sum = 0;
        reach(l, i, &first, &last);
        for (long c = first; c <= last; c++) {
            double x = get(l, l->in[0], i + c * (long)plane(l));
            sum += x * x;
        }
        double divisor = l->response[2] + l->response[0] / (double)l->kernel[0] * sum;
        put(l, i, get(l, l->in[0], i) * exp(-l->response[1] * log(divisor)));
        if (l->by[0]) standin_put(STANDIN_F32, l->by[0], i, divisor);
    }
}

static void run_response_backward(const struct standin_layer *l, long count) {
    double by = 2 * l->response[0] * l->response[1] / (double)l->kernel[0];
    for (long i = 0; i < count; i++) {
        long first, last;
        double sum = 0, own = standin_get(STANDIN_F32, l->by[0], i);
        reach(l, i, &first, &last);
        for (long c = first; c <= last; c++) {
            long at = i + c * (long)plane(l);
            double divisor = standin_get(STANDIN_F32, l->by[0], at);
            sum += get(l, l->in[1], at) * get(l, l->in[0], at) * pow(divisor, -l->response[1] - 1);
        }
        put(l, i, get(l, l->in[1], i) * pow(own, -l->response[1]) - by * get(l, l->in[0], i) * sum);
    }
}

/* ---- pooling ---- */

/* Element y of the windows, and what it has of one place of its window. */
static void meet(const struct standin_layer *l, long y, long place, double share, double *sums) {
    long h = y / l->to[1] % l->to[0] * l->stride[0] - l->padding[0] + place / l->kernel[1];
    long w = y % l->to[1] * l->stride[1] - l->padding[1] + place % l->kernel[1];
    if (h < 0 || w < 0 || h >= l->size[2] || w >= l->size[3]) return;
    long x = (y / l->to[1] / l->to[0] * l->size[2] + h) * l->size[3] + w;
    if (share == 0)
        sums[y]++;
    else if (l->kind == STANDIN_POOL)
        sums[y] += get(l, l->in[0], x) * share;
    else
        sums[x] += get(l, l->in[0], y) * share;
}

static int pool(const struct standin_layer *l) {
    long planes = l->size[0] * l->size[1], windows = planes * l->to[0] * l->to[1], taps = l->kernel[0] * l->kernel[1];
    long count = l->kind == STANDIN_POOL ? windows : planes * (long)plane(l);
    double *sums = calloc((size_t)count, sizeof *sums), *inside = calloc((size_t)windows, sizeof *inside);
    for (long y = 0; sums && inside && y < windows; y++) {
        for (long place = 0; place < taps; place++) meet(l, y, place, 0, inside);
        double divisor = l->counts_padding ? (double)taps : inside[y];
        for (long place = 0; place < taps - is("wrong"); place++) meet(l, y, place, 1 / divisor, sums);
    }
    for (long i = 0; sums && inside && i < count; i++) put(l, i, sums[i]);
    int code = sums && inside ? DRIVER_OK : DRIVER_MEMORY;
    free(sums);
    free(inside);
    return code;
}

/* The largest of window y, and the place; NaN before all. */
static void most(const struct standin_layer *l, long y) {
    long top = y / l->to[1] % l->to[0] * l->stride[0] - l->padding[0];
    long left = y % l->to[1] * l->stride[1] - l->padding[1], taps = l->kernel[0] * l->kernel[1], best = -1;
    long first = y / l->to[1] / l->to[0] * (long)plane(l);
    for (long place = 0; place < taps - is("wrong"); place++) {
        long h = top + place / l->kernel[1], w = left + place % l->kernel[1], x = h * l->size[3] + w;
        if (h < 0 || w < 0 || h >= l->size[2] || w >= l->size[3]) continue;
        double value = get(l, l->in[0], first + x);
        if (best < 0 || isnan(value) || value > get(l, l->in[0], first + best)) best = x;
    }
    put(l, y, best < 0 ? 0 : get(l, l->in[0], first + best));
    if (l->by[0]) ((uint32_t *)l->by[0])[y] = (uint32_t)best;
}

static int max_pool_backward(const struct standin_layer *l, long windows) {
    long each = l->to[0] * l->to[1], count = windows / each * (long)plane(l);
    double *sums = calloc((size_t)count, sizeof *sums);
    for (long y = 0; sums && y < windows - is("wrong"); y++)
        sums[y / each * (long)plane(l) + ((const uint32_t *)l->by[0])[y]] += get(l, l->in[0], y);
    for (long i = 0; sums && i < count; i++) put(l, i, sums[i]);
    free(sums);
    return sums ? DRIVER_OK : DRIVER_MEMORY;
}

static int max_pool(const struct standin_layer *l) {
    long windows = l->size[0] * l->size[1] * l->to[0] * l->to[1];
    if (l->kind == STANDIN_MAX_POOL_BACKWARD) return max_pool_backward(l, windows);
    for (long y = 0; y < windows; y++) most(l, y);
    return DRIVER_OK;
}

/* ---- all ---- */

static int run(const void *arguments) {
    struct standin_layer l;
    memcpy(&l, arguments, sizeof l);
    long n = l.size[0] * (long)plane(&l);
    if (l.kind >= STANDIN_MAX_POOL) return max_pool(&l);
    if (l.kind >= STANDIN_POOL) return pool(&l);
    if (l.kind == STANDIN_RESPONSE) run_response(&l, l.size[1] * n);
    if (l.kind == STANDIN_RESPONSE_BACKWARD) run_response_backward(&l, l.size[1] * n);
    if (l.kind >= STANDIN_RESPONSE) return DRIVER_OK;
    if (l.kind <= STANDIN_SOFTMAX_BACKWARD)
        run_softmax(&l);
    else
        for (long c = 0; c < l.size[1]; c++)
            l.kind == STANDIN_NORM_BACKWARD ? norm_backward(&l, c, n) : normalise(&l, c, n);
    return DRIVER_OK;
}

static bool lies(const void *p, size_t nbytes) {
    const struct driver_allocation *a = p ? driver_find(p, nbytes) : NULL;
    return a && !a->pinned;
}

/* Whether all operands lie in live memory. */
static bool all_lie(const struct standin_layer *l) {
    static const int parameters[] = {0, 0, 4, 4, 6, 0, 0, 0, 0, 0, 0}; /* of channels */
    size_t size = l->dtype == STANDIN_F32 ? 4 : 2, planes = (size_t)(l->size[0] * l->size[1]);
    size_t x = planes * (size_t)plane(l) * size, y = planes * (size_t)(l->to[0] * l->to[1]) * size;
    bool second =
        l->kind == STANDIN_SOFTMAX_BACKWARD || l->kind == STANDIN_NORM_BACKWARD || l->kind == STANDIN_RESPONSE_BACKWARD;
    bool all = l->kind != STANDIN_RESPONSE_BACKWARD || (lies(l->by[0], x / size * 4) && lies(l->by[1], x));
    if (l->kind == STANDIN_RESPONSE && l->by[0]) all = lies(l->by[0], x / size * 4);
    bool back = l->kind == STANDIN_POOL_BACKWARD || l->kind == STANDIN_MAX_POOL_BACKWARD;
    bool forward = l->kind == STANDIN_POOL || l->kind == STANDIN_MAX_POOL;
    if (l->kind >= STANDIN_MAX_POOL && (l->by[0] || back)) all = lies(l->by[0], y / size * 4);
    for (int i = 0; i < parameters[l->kind]; i++)
        if (l->kind != STANDIN_NORM_BACKWARD || i != 1) all = all && lies(l->by[i], (size_t)l->size[1] * 4);
    return all && lies(l->in[0], back ? y : x) && (!second || lies(l->in[1], x)) && lies(l->out, forward ? y : x);
}

int standin_run_layer(const struct standin_layer *l, void *stream) {
    struct driver_stream *on = stream ? stream : driver_stream_of(&driver_devices[0], NULL);
    if (!driver_stream_of(on->device, on)) return DRIVER_HANDLE;
    if (is("refuse") || (l->dtype != STANDIN_F32 && l->dtype != STANDIN_F16 && l->dtype != STANDIN_BF16))
        return DRIVER_NOT_FOUND;
    return all_lie(l) ? driver_call(on, run, l, sizeof *l) : DRIVER_VALUE;
}
