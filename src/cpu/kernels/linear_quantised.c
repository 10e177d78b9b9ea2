/* Layers with weights of blocks, or of 16 bits, and the exact way of multiplying them: slabs of weights become f32, and
 * wick__gemm multiplies. */
#include "cpu/kernels/activate.h"
#include "cpu/kernels/gemm.h"
#include "cpu/kernels/quantised_linear.h"
#include "cpu/runtime/parallel.h"

#include "core/checked.h"
#include "core/memory.h"

enum { SLAB = 1 << 20 /* weights of a slab, about */, LEAST = 64 /* rows of it at least */ };

struct slab {
    const struct wick__quantised_linear *l;
    wick__unpack_fn *unpack;
    int64_t first; /* row of the weights */
    float *out;
};

/* Rows of 16 bits. */
static void widen_rows(void *context, int worker, int64_t begin, int64_t end) {
    const struct slab *s = context;
    int64_t k = s->l->k;
    (void)worker;
    if (k == 0) return;
    wick__row_to_f32(s->l->weight_dtype, (const char *)s->l->weight + (s->first + begin) * s->l->row_nbytes, 1,
                     s->out + begin * k, (end - begin) * k);
}

static void unpack_rows(void *context, int worker, int64_t begin, int64_t end) {
    const struct slab *s = context;
    const struct wick__traits *traits = &wick__traits[s->l->weight_dtype];
    struct wick__stretch stretch;
    (void)worker;
    for (int64_t row = begin; row < end; row++)
        for (int64_t k = 0; k < s->l->k; k += WICK__STRETCH) {
            int n = (int)wick__min(WICK__STRETCH, s->l->k - k);
            s->unpack(s->l->weight + (s->first + row) * s->l->row_nbytes + k / traits->elements * traits->nbytes, n,
                      &stretch);
            wick__stretch_values(&stretch, s->out + row * s->l->k + k, n);
        }
}

/* x and bias as f32, and the part of the result that a slab gives. Those that are f32 already have no copies. */
struct wide {
    float *slab, *x, *bias, *out;
    int64_t rows; /* of a slab */
};

static bool wide_nbytes(const struct wick__quantised_linear *l, int64_t rows, size_t nbytes[4]) {
    int64_t count[4] = {0};
    bool narrow = l->dtype != WICK_F32, fits = wick__mul(rows, l->k, &count[0]);
    if (narrow) fits = fits && wick__mul(l->m, l->k, &count[1]) && wick__mul(l->m, rows, &count[3]);
    if (narrow && l->bias) count[2] = l->n;
    for (int i = 0; i < 4; i++) fits = fits && wick__mul_size((size_t)count[i], sizeof(float), &nbytes[i]);
    return fits;
}

static void multiply_slab(const struct wick__quantised_linear *l, const struct wide *w, int64_t first, int64_t rows,
                          enum wick_status *status) {
    bool narrow = l->dtype != WICK_F32, blocks = wick__has(WICK__BLOCKS, l->weight_dtype);
    struct slab slab = {l, blocks ? WICK__ISA(wick__unpack)(l->weight_dtype) : NULL, first, w->slab};
    struct wick__product g = {.dtype = WICK_F32,
                              .m = l->m,
                              .n = rows,
                              .k = l->k,
                              .a = narrow ? (const void *)w->x : l->x,
                              .a_row = l->k,
                              .a_k = 1,
                              .b = w->slab,
                              .b_k = 1,
                              .b_column = l->k,
                              .c = narrow ? w->out : (float *)(void *)l->out + first,
                              .c_row = narrow ? rows : l->n,
                              .activation = l->activation,
                              .bias_step = 1};
    if (l->bias) g.bias = narrow ? w->bias + first : (const float *)(const void *)l->bias + first;
    wick__parallel(rows, wick__max(1, 8192 / wick__max(1, l->k)), blocks ? unpack_rows : widen_rows, &slab);
    *status = WICK__ISA(wick__gemm)(&g);
    if (*status != WICK_OK || !narrow) return;
    for (int64_t i = 0; i < l->m; i++)
        wick__row_from_f32(l->dtype, w->out + i * rows, l->out + (i * l->n + first) * (int)wick__size(l->dtype), rows);
}

static enum wick_status multiply_exactly(const struct wick__quantised_linear *l) {
    struct wide w = {.rows = wick__min(l->n, wick__max(LEAST, SLAB / wick__max(1, l->k)))};
    float *parts[4] = {NULL};
    size_t nbytes[4];
    enum wick_status status = WICK_OK;
    if (!wide_nbytes(l, w.rows, nbytes)) return wick__fail(WICK_OVERFLOW, "linear_quantised: its scratch memory");
    for (int i = 0; i < 4 && status == WICK_OK; i++) {
        if (nbytes[i] == 0) continue;
        parts[i] = wick__alloc(nbytes[i]);
        if (!parts[i]) status = wick__latest();
    }
    w.slab = parts[0];
    w.x = parts[1];
    w.bias = parts[2];
    w.out = parts[3];
    if (status == WICK_OK && w.x) wick__row_to_f32(l->dtype, l->x, 1, w.x, l->m * l->k);
    if (status == WICK_OK && w.bias) wick__row_to_f32(l->dtype, l->bias, 1, w.bias, l->n);
    for (int64_t first = 0; first < l->n && status == WICK_OK; first += w.rows)
        multiply_slab(l, &w, first, wick__min(w.rows, l->n - first), &status);
    for (int i = 0; i < 4; i++) wick__free(parts[i], nbytes[i]);
    return status;
}

wick__kernel_fn WICK__ISA(wick__cpu_linear_quantised);
enum wick_status WICK__ISA(wick__cpu_linear_quantised)(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0], *weight = call->in[1], *bias = call->in[2];
    const struct wick__traits *traits = &wick__traits[weight->dtype];
    int64_t k = weight->layout.shape[1];
    struct wick__quantised_linear l = {.dtype = x->dtype,
                                       .weight_dtype = weight->dtype,
                                       .m = k ? wick__count(x) / k : 0,
                                       .n = weight->layout.shape[0],
                                       .k = k,
                                       .x = wick__data(x),
                                       .bias = bias ? wick__data(bias) : NULL,
                                       .weight = wick__data(weight),
                                       .out = wick__data(call->out[0]),
                                       .activation = (enum wick_activation)call->p.linear.activation,
                                       .row_nbytes = k / traits->elements * traits->nbytes};
    if (wick__count(call->out[0]) == 0) return WICK_OK;
    l.m = wick__count(call->out[0]) / l.n;
    bool blocks = wick__has(WICK__BLOCKS, weight->dtype);
    if (blocks && call->p.linear.products == WICK_PRODUCTS_8_BIT && k > 0)
        return WICK__ISA(wick__quantised_linear_8_bit)(&l);
    return multiply_exactly(&l);
}
