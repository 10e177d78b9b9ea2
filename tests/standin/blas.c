/* Matrix products on the stand-in's memory, for its BLAS libraries, and what all its libraries find: plain loops, sums
 * in f32 (f64 for f64). */
#include "blas.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* f16 by arithmetic: a subnormal is a multiple of 2^-24. */
static float half_to_float(uint16_t h) {
    int exponent = h >> 10 & 31, fraction = h & 1023;
    float value = exponent == 0    ? ldexpf((float)fraction, -24)
                  : exponent == 31 ? (fraction ? NAN : INFINITY)
                                   : ldexpf((float)(1024 + fraction), exponent - 25);
    return h >> 15 ? -value : value;
}

static uint16_t round_half(float f) {
    uint16_t sign = signbit(f) ? 0x8000 : 0;
    if (f != f) return 0x7e00;
    float x = fabsf(f);
    if (x >= 65520) return sign | 0x7c00;
    int exponent;
    frexpf(x, &exponent); /* x < 2^exponent */
    if (x == 0 || exponent < -13) return sign | (uint16_t)rintf(ldexpf(x, 24));
    /* 11 bits; rounding up to the next power of two carries into the exponent. */
    return sign | (uint16_t)(((exponent + 14) << 10) + (int)rintf(ldexpf(x, 11 - exponent)) - 1024);
}

double standin_get(enum standin_dtype dtype, const void *p, long i) {
    float f;
    double d;
    uint16_t h;
    uint32_t bits;
    switch (dtype) {
    case STANDIN_F64: memcpy(&d, (const char *)p + i * 8, 8); return d;
    case STANDIN_F32: memcpy(&f, (const char *)p + i * 4, 4); return f;
    case STANDIN_F16: memcpy(&h, (const char *)p + i * 2, 2); return half_to_float(h);
    default:
        memcpy(&h, (const char *)p + i * 2, 2);
        bits = (uint32_t)h << 16;
        memcpy(&f, &bits, 4);
        return f;
    }
}

static uint16_t round_bf16(float f) {
    uint32_t bits;
    memcpy(&bits, &f, 4);
    if (f != f) return 0x7fc0;
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

void standin_put(enum standin_dtype dtype, void *p, long i, double value) {
    float f = (float)value;
    uint16_t h;
    switch (dtype) {
    case STANDIN_F64: memcpy((char *)p + i * 8, &value, 8); return;
    case STANDIN_F32: memcpy((char *)p + i * 4, &f, 4); return;
    case STANDIN_F16:
        h = round_half(f);
        memcpy((char *)p + i * 2, &h, 2);
        return;
    default: h = round_bf16(f); memcpy((char *)p + i * 2, &h, 2);
    }
}

/* One element: the sum of k products, each rounded as the dtype's accumulator is. */
static double dot(const struct standin_gemm *g, long batch, long row, long column) {
    double sum = 0;
    float sum32 = 0;
    bool flushes = g->dtype == STANDIN_F16 && strcmp(standin_settings.blas, "flush") == 0;
    for (long k = 0; k < g->k; k++) {
        double a =
            standin_get(g->dtype, g->a, batch * g->stride_a + (g->transpose_a ? row * g->lda + k : k * g->lda + row));
        double b = standin_get(g->dtype, g->b,
                               batch * g->stride_b + (g->transpose_b ? k * g->ldb + column : column * g->ldb + k));
        if (flushes && fabs(a) < 0x1p-14) a = 0;
        if (flushes && fabs(b) < 0x1p-14) b = 0;
        if (g->dtype == STANDIN_F64)
            sum += a * b;
        else
            sum32 += (float)a * (float)b;
    }
    return g->dtype == STANDIN_F64 ? sum : sum32;
}

/* With its bias and activation. A library that is wrong there rounds before it adds the bias, as two passes would. */
static double finished(const struct standin_gemm *g, long at, long row, double value) {
    if (strcmp(standin_settings.blas, "epilogue") == 0 && g->bias) {
        standin_put(g->c_dtype, g->c, at, value);
        value = standin_get(g->c_dtype, g->c, at);
    }
    if (g->bias) value += standin_get(g->c_dtype, g->bias, row);
    double slope = 0.79788456080286535588 * (value + 0.044715 * value * value * value), curve = tanh(slope);
    /* One whose activation is less exact has some ten bits of the tangent. */
    if (strcmp(standin_settings.blas, "rough") == 0) curve = rint(curve * 0x1p10) / 0x1p10;
    if (g->activation == STANDIN_RELU) return value > 0 ? value : 0;
    return g->activation == STANDIN_GELU ? value / 2 * (1 + curve) : value;
}

static int run(const void *arguments) {
    struct standin_gemm g;
    memcpy(&g, arguments, sizeof g);
    /* A library that is wrong forgets the last product of each sum. */
    if (strcmp(standin_settings.blas, "wrong") == 0 && g.k > 0) g.k--;
    for (long batch = 0; batch < g.batch; batch++)
        for (long column = 0; column < g.n; column++)
            for (long row = 0; row < g.m; row++) {
                long at = batch * g.stride_c + column * g.ldc + row;
                double value = g.alpha * dot(&g, batch, row, column);
                if (g.beta != 0) value += g.beta * standin_get(g.c_dtype, g.c, at);
                standin_put(g.c_dtype, g.c, at, finished(&g, at, row, value));
            }
    return DRIVER_OK;
}

/* Whether a matrix, over its batch, lies in live memory. */
static bool lies(const struct standin_gemm *g, const void *p, long rows, long columns, long ld, long stride) {
    static const size_t sizes[] = {2, 2, 4, 8};
    if (rows == 0 || columns == 0 || g->batch == 0) return true;
    if (ld < rows) return false;
    size_t last = (size_t)((g->batch - 1) * stride + (columns - 1) * ld + rows);
    size_t size = sizes[p == g->c || p == g->bias ? g->c_dtype : g->dtype];
    const struct driver_allocation *a = driver_find(p, last * size);
    return a && !a->pinned;
}

static int gemm(const struct standin_gemm *g, void *stream) {
    struct driver_stream *on = stream ? stream : driver_stream_of(&driver_devices[0], NULL);
    if (!driver_stream_of(on->device, on)) return DRIVER_HANDLE;
    if (strcmp(standin_settings.blas, "refuse") == 0 || g->dtype == STANDIN_NO_DTYPE) return DRIVER_NOT_FOUND;
    if (g->m < 0 || g->n < 0 || g->k < 0 || g->batch < 0) return DRIVER_VALUE;
    bool a = g->transpose_a, b = g->transpose_b;
    if (!lies(g, g->a, a ? g->k : g->m, a ? g->m : g->k, g->lda, g->stride_a) ||
        !lies(g, g->b, b ? g->n : g->k, b ? g->k : g->n, g->ldb, g->stride_b) ||
        !lies(g, g->c, g->m, g->n, g->ldc, g->stride_c) || (g->bias && !lies(g, g->bias, g->m, 1, g->m, 0)))
        return DRIVER_VALUE;
    return driver_call(on, run, g, sizeof *g);
}

static bool is_memory(const void *p, size_t nbytes) {
    const struct driver_allocation *a = driver_find(p, nbytes);
    return a && !a->pinned;
}

static void count(int change) { driver_live_of[DRIVER_BLAS] += change; }

/* ---- ways ---- */

static const char *last = "";

static bool has(const char *way) { return !strstr(standin_settings.without, way); }

static void ran(const char *way) {
    last = way;
    standin_dawdle(way);
}

API const char *standin_ran(void) {
    const char *way = last;
    last = "";
    return way;
}

__attribute__((visibility("default"))) const struct standin_blas_driver *standin_blas_driver(void) {
    static const struct standin_blas_driver driver = {driver_enter,
                                                      driver_leave,
                                                      count,
                                                      gemm,
                                                      standin_convolve,
                                                      standin_attend,
                                                      standin_run_layer,
                                                      standin_recur,
                                                      standin_recurrent_at,
                                                      standin_recurrent_space,
                                                      is_memory,
                                                      has,
                                                      ran};
    return &driver;
}
