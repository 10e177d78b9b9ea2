/* Matrix products: the last step of a tile. Bias and activation on the accumulators, one rounding, the store. */
#include "cpu/kernels/gemm_internal.h"

#include "cpu/convert.h"

#include <sleef.h>

#include <math.h>
#include <string.h>

/* ---- f32 accumulators ---- */

#if WICK_ISA_LEVEL == 2
#define VECTOR __m512
#define VECTOR_ERF Sleef_erff16_u10avx512f
#define VECTOR_EXP Sleef_expf16_u10avx512f
#define VECTOR_TANH Sleef_tanhf16_u10avx512f
#elif WICK_ISA_LEVEL == 1
#define VECTOR __m256
#define VECTOR_ERF Sleef_erff8_u10avx2
#define VECTOR_EXP Sleef_expf8_u10avx2
#define VECTOR_TANH Sleef_tanhf8_u10avx2
#else
#define VECTOR __m128
#define VECTOR_ERF Sleef_erff4_u10sse2
#define VECTOR_EXP Sleef_expf4_u10sse2
#define VECTOR_TANH Sleef_tanhf4_u10sse2
#endif

static void activate(enum wick_activation activation, VECTOR *x, int vectors) {
    const float half_root = 0.70710678118654752f, tanh_scale = 0.79788456080286536f;
    switch (activation) {
    case WICK_ACTIVATION_RELU: {
        float *one = (float *)x;
        for (int i = 0; i < vectors * (int)(sizeof(VECTOR) / sizeof(float)); i++) one[i] = one[i] < 0 ? 0 : one[i];
        break;
    }
    case WICK_ACTIVATION_GELU:
        for (int v = 0; v < vectors; v++) x[v] = 0.5f * x[v] * (1.0f + VECTOR_ERF(x[v] * half_root));
        break;
    case WICK_ACTIVATION_GELU_TANH:
        for (int v = 0; v < vectors; v++)
            x[v] = 0.5f * x[v] * (1.0f + VECTOR_TANH(tanh_scale * (x[v] + 0.044715f * x[v] * x[v] * x[v])));
        break;
    case WICK_ACTIVATION_SILU:
        for (int v = 0; v < vectors; v++) x[v] = x[v] / (1.0f + VECTOR_EXP(-x[v]));
        break;
    case WICK_ACTIVATION_TANH:
        for (int v = 0; v < vectors; v++) x[v] = VECTOR_TANH(x[v]);
        break;
    case WICK_ACTIVATION_NONE:
    case WICK_ACTIVATION_COUNT: break;
    }
}

static void store_f32(const struct gemm_store *s) {
    enum { LANES = sizeof(VECTOR) / sizeof(float) };
    union {
        VECTOR vector[GEMM_COLUMNS_MAX / LANES];
        float one[GEMM_COLUMNS_MAX];
    } row = {0}, bias = {0};
    const struct wick__gemm *g = s->g;
    int64_t size = wick_dtype_bits(g->dtype) / 8;
    int vectors = (int)((s->columns + LANES - 1) / LANES);
    if (s->bias && !g->bias_is_by_row)
        wick__row_to_f32(g->dtype, (const char *)s->bias + s->j0 * g->bias_step * size, g->bias_step, bias.one,
                         s->columns);
    for (int64_t i = 0; i < s->rows; i++) {
        char *to = (char *)s->c + ((s->i0 + i) * g->c_row + s->j0) * size;
        memcpy(row.one, (const float *)s->tile + i * s->ld, (size_t)s->columns * sizeof(float));
        if (s->bias && g->bias_is_by_row) {
            float one = wick__load_f32(g->dtype, (const char *)s->bias + (s->i0 + i) * g->bias_step * size);
            for (int v = 0; v < vectors; v++) bias.vector[v] = one - (VECTOR){0};
        }
        if (s->bias)
            for (int v = 0; v < vectors; v++) row.vector[v] += bias.vector[v];
        activate(g->activation, row.vector, vectors);
        wick__row_from_f32(g->dtype, row.one, to, s->columns);
    }
}

/* ---- f64 accumulators ---- */

static double activated(enum wick_activation activation, double x) {
    switch (activation) {
    case WICK_ACTIVATION_RELU: return x < 0 ? 0 : x;
    case WICK_ACTIVATION_GELU: return 0.5 * x * (1 + erf(x * 0.70710678118654752440));
    case WICK_ACTIVATION_GELU_TANH:
        return 0.5 * x * (1 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
    case WICK_ACTIVATION_SILU: return x / (1 + exp(-x));
    case WICK_ACTIVATION_TANH: return tanh(x);
    case WICK_ACTIVATION_NONE:
    case WICK_ACTIVATION_COUNT: break;
    }
    return x;
}

static void store_f64(const struct gemm_store *s) {
    const struct wick__gemm *g = s->g;
    const double *bias = s->bias;
    for (int64_t i = 0; i < s->rows; i++) {
        const double *from = (const double *)s->tile + i * s->ld;
        double *to = (double *)s->c + (s->i0 + i) * g->c_row + s->j0;
        for (int64_t j = 0; j < s->columns; j++) {
            double x = from[j];
            if (bias) x += bias[(g->bias_is_by_row ? s->i0 + i : s->j0 + j) * g->bias_step];
            to[j] = activated(g->activation, x);
        }
    }
}

/* ---- integers ---- */

#define STORE_INT(name, type, sum_type)                                                                                \
    static void name(const struct gemm_store *s) {                                                                     \
        const struct wick__gemm *g = s->g;                                                                             \
        const type *bias = s->bias;                                                                                    \
        for (int64_t i = 0; i < s->rows; i++) {                                                                        \
            const sum_type *from = (const sum_type *)s->tile + i * s->ld;                                              \
            type *to = (type *)s->c + (s->i0 + i) * g->c_row + s->j0;                                                  \
            for (int64_t j = 0; j < s->columns; j++) {                                                                 \
                sum_type x = from[j];                                                                                  \
                if (bias) x += (sum_type)bias[(g->bias_is_by_row ? s->i0 + i : s->j0 + j) * g->bias_step];             \
                to[j] = (type)x;                                                                                       \
            }                                                                                                          \
        }                                                                                                              \
    }
STORE_INT(store_u8, uint8_t, uint32_t)
STORE_INT(store_u32, uint32_t, uint32_t)
STORE_INT(store_i16, int16_t, uint32_t)
STORE_INT(store_i32, int32_t, uint32_t)
STORE_INT(store_i64, int64_t, uint64_t)

void WICK__ISA(wick__gemm_store)(const struct gemm_store *s) {
    switch (s->g->dtype) {
    case WICK_U8: store_u8(s); break;
    case WICK_U32: store_u32(s); break;
    case WICK_I16: store_i16(s); break;
    case WICK_I32: store_i32(s); break;
    case WICK_I64: store_i64(s); break;
    case WICK_F64: store_f64(s); break;
    default: store_f32(s); break;
    }
}
