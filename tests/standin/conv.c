/* Convolutions on the stand-in's memory, for its DNN libraries: plain loops over what meets, sums in f32 (f64 for f64).
 */
#include "blas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static long volume(const struct standin_conv *c, const long *sizes) {
    long product = 1;
    for (int s = 0; s < c->spatial; s++) product *= sizes[s];
    return product;
}

static long count_of(const struct standin_conv *c, char what) {
    return what == 'x'   ? c->n * c->groups * c->cin * volume(c, c->in)
           : what == 'w' ? c->groups * c->cout * c->cin * volume(c, c->kernel)
                         : c->n * c->groups * c->cout * volume(c, c->out);
}

/* A sum of f32, or of f64 alone. */
static double plus(const struct standin_conv *c, double sum, double a, double b) {
    bool flushes = c->dtype == STANDIN_F16 && strcmp(standin_settings.blas, "flush") == 0;
    if (flushes && fabs(a) < 0x1p-14) a = 0;
    if (flushes && fabs(b) < 0x1p-14) b = 0;
    return c->dtype == STANDIN_F64 ? sum + a * b : (float)((float)sum + (float)a * (float)b);
}

/* One window and one tap: image n, group g, channels o of y and i of x, window p, tap k. */
static void meet(const struct standin_conv *c, const long at[6], double *sums) {
    const long n = at[0], g = at[1], o = at[2], i = at[3];
    long p = at[4], k = at[5], inside = 0, step = 1;
    for (int s = c->spatial - 1; s >= 0; s--) {
        long x = p % c->out[s] * c->stride[s] + k % c->kernel[s] * c->dilation[s] - c->padding[s];
        if (x < 0 || x >= c->in[s]) return;
        inside += x * step;
        step *= c->in[s];
        p /= c->out[s];
        k /= c->kernel[s];
    }
    const long x = ((n * c->groups + g) * c->cin + i) * step + inside;
    const long w = ((g * c->cout + o) * c->cin + i) * volume(c, c->kernel) + at[5];
    const long y = ((n * c->groups + g) * c->cout + o) * volume(c, c->out) + at[4];
    const double vx = c->result == 'x' ? 0 : standin_get(c->dtype, c->x, x);
    const double vw = c->result == 'w' ? 0 : standin_get(c->dtype, c->w, w);
    const double vy = c->result == 'y' ? 0 : standin_get(c->dtype, c->y, y);
    if (c->result == 'x') sums[x] = plus(c, sums[x], vy, vw);
    if (c->result == 'w') sums[w] = plus(c, sums[w], vx, vy);
    if (c->result == 'y') sums[y] = plus(c, sums[y], vx, vw);
}

static int run(const void *arguments) {
    struct standin_conv c;
    memcpy(&c, arguments, sizeof c);
    const long count = count_of(&c, c.result);
    /* A library that is wrong forgets the last tap. */
    const long taps = volume(&c, c.kernel) - (strcmp(standin_settings.blas, "wrong") == 0), out = volume(&c, c.out);
    const long channels = c.groups * (c.result == 'x' ? c.cin : c.cout), part = count / c.n / channels;
    double *sums = calloc((size_t)count, sizeof *sums);
    if (!sums) return DRIVER_MEMORY;
    long at[6];
    for (at[0] = 0; at[0] < c.n; at[0]++)
        for (at[1] = 0; at[1] < c.groups; at[1]++)
            for (at[2] = 0; at[2] < c.cout; at[2]++)
                for (at[3] = 0; at[3] < c.cin; at[3]++)
                    for (at[4] = 0; at[4] < out; at[4]++)
                        for (at[5] = 0; at[5] < taps; at[5]++) meet(&c, at, sums);
    for (long i = 0; i < count; i++) {
        double value = sums[i];
        if (c.bias) value += standin_get(c.dtype, c.bias, i / part % channels);
        if (c.relu && value < 0) value = 0;
        standin_put(c.dtype, c.result == 'x' ? c.x : c.result == 'w' ? c.w : c.y, i, value);
    }
    free(sums);
    return DRIVER_OK;
}

static bool lies(const struct standin_conv *c, const void *p, long count) {
    static const size_t sizes[] = {2, 2, 4, 8};
    const struct driver_allocation *a = driver_find(p, (size_t)count * sizes[c->dtype]);
    return a && !a->pinned;
}

int standin_convolve(const struct standin_conv *c, void *stream) {
    struct driver_stream *on = stream ? stream : driver_stream_of(&driver_devices[0], NULL);
    if (!driver_stream_of(on->device, on)) return DRIVER_HANDLE;
    if (strcmp(standin_settings.blas, "refuse") == 0 || c->dtype == STANDIN_NO_DTYPE) return DRIVER_NOT_FOUND;
    if (!lies(c, c->x, count_of(c, 'x')) || !lies(c, c->w, count_of(c, 'w')) || !lies(c, c->y, count_of(c, 'y')) ||
        (c->bias && !lies(c, c->bias, c->groups * (c->result == 'x' ? c->cin : c->cout))))
        return DRIVER_VALUE;
    return driver_call(on, run, c, sizeof *c);
}
