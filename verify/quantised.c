/* Cases of tensors of blocks.
 *
 * dequantise and quantise: i[0] is the dtype of the result. linear_quantised: in[1] are weights, in[2] is the bias or
 * absent, in[3] the weight of x's norm or absent, in[4] further weights or absent, i[2] whether x has swiglu, i[0] the
 * activation, i[1] the products, f[0] epsilon. */
#include "verify/verify.h"
#include "verify/scales.h"

#include "ops/dispatch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const enum wick_dtype plain[] = {WICK_F32, WICK_F16, WICK_BF16};
enum { PLAIN = sizeof plain / sizeof *plain, TYPES = WICK_DTYPE_COUNT - WICK_DTYPE_q4_0 };

static bool always(enum wick_op op) {
    (void)op;
    return true;
}

/* ---- dequantise ---- */

static const struct {
    int rank;
    int64_t rows[3], width; /* in blocks of 256 elements */
} block_shapes[] = {{1, {0}, 1}, {2, {3}, 2}, {3, {2, 5}, 1}, {2, {0}, 1}, {2, {70}, 3}};
enum { BLOCK_SHAPES = sizeof block_shapes / sizeof *block_shapes };

static int dequantise_cases(enum wick_op op) {
    (void)op;
    return BLOCK_SHAPES * PLAIN;
}

static void dequantise_make(enum wick_op op, int k, struct verify_case *c) {
    int shape = k % BLOCK_SHAPES;
    (void)op;
    c->n_in = c->n_out = 1;
    c->in[0] = (struct verify_operand){.role = VERIFY_VALUE, .rank = block_shapes[shape].rank, .low = -8, .high = 8};
    for (int d = 0; d < c->in[0].rank - 1; d++) c->in[0].shape[d] = block_shapes[shape].rows[d];
    c->in[0].shape[c->in[0].rank - 1] = 256 * block_shapes[shape].width;
    c->i[0] = plain[k / BLOCK_SHAPES];
}

static bool dequantise_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    /* A plain dtype is refused: wick_cast would give it to the op of plain dtypes. */
    out[0] = wick__dequantise(in[0], (enum wick_dtype)c->i[0]);
    return out[0] != NULL;
}

static bool dequantise_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    if (!verify_array_new(out, (enum wick_dtype)c->i[0], in->rank, in->shape, false)) return false;
    for (int64_t i = 0; i < in->count; i++) out->data[i] = verify_round(out->dtype, in->data[i]);
    return true;
}

const struct verify_family verify_dequantise = {.name = "dequantise",
                                                .cases = dequantise_cases,
                                                .make = dequantise_make,
                                                .call = dequantise_call,
                                                .reference = dequantise_reference,
                                                .blocks = always};

/* ---- quantise ---- */

/* How far a number may be from the one that its block stands for, as a part of the largest of the block. */
static double coarseness(enum wick_dtype dtype) {
    switch (dtype) {
    case WICK_DTYPE_q8_0:
    case WICK_DTYPE_q8_1:
    case WICK_DTYPE_q8_k: return 0.0045;
    case WICK_DTYPE_q6_k: return 0.03;
    case WICK_DTYPE_q5_0:
    case WICK_DTYPE_q5_1:
    case WICK_DTYPE_q5_k: return 0.08;
    case WICK_DTYPE_q4_0:
    case WICK_DTYPE_q4_1:
    case WICK_DTYPE_q4_k:
    case WICK_DTYPE_iq4_nl:
    case WICK_DTYPE_iq4_xs: return 0.16;
    case WICK_DTYPE_mxfp4:
    case WICK_DTYPE_nvfp4:
    case WICK_DTYPE_q3_k: return 0.3;
    case WICK_DTYPE_q2_k: return 0.5;
    case WICK_DTYPE_tq1_0:
    case WICK_DTYPE_tq2_0:
    case WICK_DTYPE_q1_0:
    case WICK_DTYPE_q2_0: return 1;
    default: return -1;
    }
}

static int quantise_types(void) {
    int count = 0;
    for (int t = WICK_DTYPE_q4_0; t < WICK_DTYPE_COUNT; t++) count += coarseness((enum wick_dtype)t) >= 0;
    return count;
}

static int quantise_cases(enum wick_op op) {
    (void)op;
    return 2 * quantise_types();
}

static void quantise_make(enum wick_op op, int k, struct verify_case *c) {
    enum wick_dtype dtype = WICK_DTYPE_q4_0;
    (void)op;
    for (int left = k / 2; coarseness(dtype) < 0 || left-- > 0;) dtype = (enum wick_dtype)((int)dtype + 1);
    c->n_in = c->n_out = 1;
    c->in[0] =
        (struct verify_operand){.role = VERIFY_VALUE, .rank = 2, .shape = {k % 2 ? 5 : 1, 256}, .low = -3, .high = 3};
    c->i[0] = dtype;
}

/* Blocks, and what they stand for. */
static bool quantise_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    struct wick_tensor *blocks = wick_cast(in[0], (enum wick_dtype)c->i[0]);
    if (c->dtype > WICK_F32 || c->dtype < WICK_BF16) {
        wick_release(blocks);
        wick_error_clear();
        blocks = wick_quantise(in[0], (enum wick_dtype)c->i[0], NULL);
    }
    out[0] = wick_cast(blocks, WICK_F32);
    wick_release(blocks);
    return out[0] != NULL;
}

static bool quantise_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    int64_t block = wick_dtype_block((enum wick_dtype)c->i[0]);
    if (!verify_array_new(out, WICK_F32, in->rank, in->shape, true)) return false;
    for (int64_t i = 0; i < in->count; i++) {
        double most = 0;
        for (int64_t j = i / block * block; j < i / block * block + block; j++) most = fmax(most, fabs(in->data[j]));
        out->data[i] = in->data[i];
        out->scale[i] = verify_scale_quantised(most, coarseness((enum wick_dtype)c->i[0]));
    }
    return true;
}

const struct verify_family verify_quantise = {.name = "quantise",
                                              .cases = quantise_cases,
                                              .make = quantise_make,
                                              .call = quantise_call,
                                              .reference = quantise_reference};

/* ---- linear_quantised ---- */

/* Rows of x, of weights; length of a row in blocks of 256. Those of 32 elements also have lengths that are none of 256.
 */
static const struct {
    int64_t m, n, k;
} layer_shapes[] = {{1, 5, 256},    {3, 33, 512}, {7, 70, 768}, {4, 32, 256},
                    {13, 17, 1280}, {0, 3, 256},  {2, 0, 256},  {70, 40, 512}};
enum { LAYER_SHAPES = sizeof layer_shapes / sizeof *layer_shapes, LAYER_TURNS = 2 * 4 };

/* Behind those, each type has few rows of x by 8 bits, of as many blocks as leave remainders of 8 and 2, and a long one
 * whose weights begin at multiples of 16 bytes in most types. */
static const struct {
    int64_t m, n, k; /* k 0: FEW_WIDTH, or 2 blocks */
} few_shapes[] = {{1, 37, 0}, {4, 5, 0}, {1, 20, 10240}};
enum { FEW_SHAPES = sizeof few_shapes / sizeof *few_shapes, FEW_WIDTH = 13 * 32 };

/* Behind those, weights of 16 bits, by f32 alone. Each shape has both types and both ways. */
static const struct {
    int64_t m, n, k;
} half_shapes[] = {{1, 37, 300}, {1, 20, 4352}, {33, 70, 67}, {1, 1, 20}, {7, 40, 64}, {2, 3, 0}, {130, 264, 72}};
enum { HALF_SHAPES = sizeof half_shapes / sizeof *half_shapes, BLOCK_CASES = TYPES * (LAYER_TURNS + FEW_SHAPES) };

/* Behind those, products of 8 bits of more weights than a GPU's tile has rows, with as many rows of x as tiles of each
 * width take, and several. */
static const struct {
    int64_t m, n, k;
} tile_shapes[] = {{2, 131, 2304}, {16, 300, 1280}, {32, 128, 512}, {37, 130, 768}, {100, 260, 256}};
static const enum wick_dtype tile_types[] = {WICK_DTYPE_q4_0,   WICK_DTYPE_q8_0,   WICK_DTYPE_q4_k, WICK_DTYPE_q5_k,
                                             WICK_DTYPE_q6_k,   WICK_DTYPE_q4_1,   WICK_DTYPE_q5_0, WICK_DTYPE_q5_1,
                                             WICK_DTYPE_iq4_nl, WICK_DTYPE_iq4_xs, WICK_DTYPE_q3_k, WICK_DTYPE_q2_k};
enum {
    TILE_SHAPES = sizeof tile_shapes / sizeof *tile_shapes,
    TILE_TYPES = sizeof tile_types / sizeof *tile_types,
    BEFORE_TILES = BLOCK_CASES + 4 * HALF_SHAPES
};

/* Behind those, products of 8 bits of x after a norm: rows that GPUs norm on the way, and others. */
static const struct { int64_t m, n, k; } norm_shapes[] = {{1, 37, 512}, {1, 20, 4352}, {3, 9, 256}, {1, 5, 8448}};
static const enum wick_dtype norm_types[] = {WICK_DTYPE_q4_0, WICK_DTYPE_q8_0, WICK_DTYPE_q4_k, WICK_DTYPE_q6_k,
                                             WICK_DTYPE_iq2_xs};
enum {
    NORM_SHAPES = sizeof norm_shapes / sizeof *norm_shapes,
    NORM_TYPES = sizeof norm_types / sizeof *norm_types,
    BEFORE_NORMS = BEFORE_TILES + TILE_TYPES * TILE_SHAPES
};

/* Behind those, products of 8 bits by weights of two types: more blocks than a GPU has at once, a pair of which one
 * type can't be read as the other is, and several rows. */
static const struct {
    int64_t m, n, more, k;
    enum wick_dtype type, more_type;
} more_shapes[] = {{1, 37, 21, 512, WICK_DTYPE_q4_k, WICK_DTYPE_q6_k},
                   {1, 5200, 700, 256, WICK_DTYPE_q4_0, WICK_DTYPE_q8_0},
                   {1, 20, 9, 4352, WICK_DTYPE_q5_k, WICK_DTYPE_q6_k},
                   {1, 9, 40, 768, WICK_DTYPE_iq2_xs, WICK_DTYPE_q4_k},
                   {3, 9, 6, 256, WICK_DTYPE_q4_k, WICK_DTYPE_q6_k}};
enum { MORE_SHAPES = sizeof more_shapes / sizeof *more_shapes, BEFORE_MORE = BEFORE_NORMS + NORM_TYPES * NORM_SHAPES };

/* Behind those, the ones of x after swiglu, in f32 alone where a GPU rounds that for its products: types whose sums and
 * groups differ, one that is read in another way, and several rows. */
static const struct {
    int64_t m, n, k;
    enum wick_dtype type;
} swiglu_shapes[] = {{1, 37, 512, WICK_DTYPE_q4_k},  {1, 20, 14336, WICK_DTYPE_q6_k}, {1, 21, 4352, WICK_DTYPE_q8_0},
                     {1, 9, 768, WICK_DTYPE_iq4_xs}, {1, 9, 256, WICK_DTYPE_iq2_xs},  {3, 9, 256, WICK_DTYPE_q4_k}};
enum { SWIGLU_SHAPES = sizeof swiglu_shapes / sizeof *swiglu_shapes, BEFORE_SWIGLU = BEFORE_MORE + 2 * MORE_SHAPES };

/* Behind those, weights of 16 bits by f32 after a norm. */
static const struct {
    int64_t m, n, k;
} half_norm_shapes[] = {{1, 37, 2048}, {1, 4301, 1000}, {1, 5, 300}, {1, 5, 4352}, {3, 9, 256}};
enum {
    HALF_NORM_SHAPES = sizeof half_norm_shapes / sizeof *half_norm_shapes,
    BEFORE_HALF_NORMS = BEFORE_SWIGLU + SWIGLU_SHAPES
};

static int layer_cases(enum wick_op op) {
    (void)op;
    return BEFORE_HALF_NORMS + 2 * HALF_NORM_SHAPES;
}

static void tile_make(int k, struct verify_case *c) {
    int64_t m = tile_shapes[k % TILE_SHAPES].m, n = tile_shapes[k % TILE_SHAPES].n,
            width = tile_shapes[k % TILE_SHAPES].k;
    c->in[0] = (struct verify_operand){.role = VERIFY_VALUE, .rank = 2, .shape = {m, width}, .low = -2, .high = 2};
    c->in[1] = (struct verify_operand){
        .role = VERIFY_BLOCKS, .rank = 2, .shape = {n, width}, .blocks = tile_types[k / TILE_SHAPES]};
    c->in[2] = (struct verify_operand){
        .role = k % 3 == 1 ? VERIFY_ABSENT : VERIFY_VALUE, .rank = 1, .shape = {n}, .low = -2, .high = 2};
    c->i[0] = k % WICK_ACTIVATION_COUNT;
    c->i[1] = WICK_PRODUCTS_8_BIT;
}

static void norm_make(int k, struct verify_case *c) {
    int64_t m = norm_shapes[k % NORM_SHAPES].m, n = norm_shapes[k % NORM_SHAPES].n,
            width = norm_shapes[k % NORM_SHAPES].k;
    c->in[0] = (struct verify_operand){.role = VERIFY_VALUE, .rank = 2, .shape = {m, width}, .low = -9, .high = 9};
    c->in[1] = (struct verify_operand){
        .role = VERIFY_BLOCKS, .rank = 2, .shape = {n, width}, .blocks = norm_types[k / NORM_SHAPES]};
    c->in[2] = (struct verify_operand){.role = VERIFY_ABSENT, .rank = 1, .shape = {n}};
    c->in[3] = (struct verify_operand){.role = VERIFY_VALUE, .rank = 1, .shape = {width}, .low = -2, .high = 2};
    c->i[1] = WICK_PRODUCTS_8_BIT;
    c->f[0] = k % 2 ? 0 : 0.5;
}

/* With a norm and without a bias, and the other way round. */
static void more_make(int k, struct verify_case *c) {
    const int shape = k % MORE_SHAPES;
    int64_t m = more_shapes[shape].m, n = more_shapes[shape].n, more = more_shapes[shape].more,
            width = more_shapes[shape].k;
    bool normed = k < MORE_SHAPES;
    c->in[0] = (struct verify_operand){.role = VERIFY_VALUE, .rank = 2, .shape = {m, width}, .low = -9, .high = 9};
    c->in[1] = (struct verify_operand){
        .role = VERIFY_BLOCKS, .rank = 2, .shape = {n, width}, .blocks = more_shapes[shape].type};
    c->in[2] = (struct verify_operand){
        .role = normed ? VERIFY_ABSENT : VERIFY_VALUE, .rank = 1, .shape = {n + more}, .low = -2, .high = 2};
    c->in[3] = (struct verify_operand){
        .role = normed ? VERIFY_VALUE : VERIFY_ABSENT, .rank = 1, .shape = {width}, .low = -2, .high = 2};
    c->in[4] = (struct verify_operand){
        .role = VERIFY_BLOCKS, .rank = 2, .shape = {more, width}, .blocks = more_shapes[shape].more_type};
    c->i[1] = WICK_PRODUCTS_8_BIT;
    c->f[0] = 0.5;
}

static void swiglu_make(int k, struct verify_case *c) {
    int64_t m = swiglu_shapes[k].m, n = swiglu_shapes[k].n, width = swiglu_shapes[k].k;
    c->in[0] = (struct verify_operand){.role = VERIFY_VALUE, .rank = 2, .shape = {m, 2 * width}, .low = -4, .high = 4};
    c->in[1] =
        (struct verify_operand){.role = VERIFY_BLOCKS, .rank = 2, .shape = {n, width}, .blocks = swiglu_shapes[k].type};
    c->in[2] = (struct verify_operand){
        .role = k % 2 ? VERIFY_ABSENT : VERIFY_VALUE, .rank = 1, .shape = {n}, .low = -2, .high = 2};
    c->i[1] = WICK_PRODUCTS_8_BIT;
    c->i[2] = 1;
}

static void half_norm_make(int k, struct verify_case *c) {
    int64_t m = half_norm_shapes[k / 2].m, n = half_norm_shapes[k / 2].n, width = half_norm_shapes[k / 2].k;
    c->in[0] = (struct verify_operand){.role = VERIFY_VALUE, .rank = 2, .shape = {m, width}, .low = -9, .high = 9};
    c->in[1] = (struct verify_operand){.role = VERIFY_HALVES, .rank = 2, .shape = {n, width}, .low = -2, .high = 2};
    c->in[1].blocks = k % 2 ? WICK_F16 : WICK_BF16;
    c->in[2] = (struct verify_operand){
        .role = k % 3 ? VERIFY_ABSENT : VERIFY_VALUE, .rank = 1, .shape = {n}, .low = -2, .high = 2};
    c->in[3] = (struct verify_operand){.role = VERIFY_VALUE, .rank = 1, .shape = {width}, .low = -2, .high = 2};
    c->i[0] = k % WICK_ACTIVATION_COUNT;
    c->i[1] = WICK_PRODUCTS_8_BIT;
    c->f[0] = 0.5;
}

static void half_make(int k, struct verify_case *c) {
    int64_t m = half_shapes[k / 4].m, n = half_shapes[k / 4].n, width = half_shapes[k / 4].k;
    c->in[0] = (struct verify_operand){.role = VERIFY_VALUE, .rank = 2, .shape = {m, width}, .low = -2, .high = 2};
    c->in[1] = (struct verify_operand){.role = VERIFY_HALVES, .rank = 2, .shape = {n, width}, .low = -2, .high = 2};
    c->in[1].blocks = k % 2 ? WICK_F16 : WICK_BF16;
    c->in[2] = (struct verify_operand){
        .role = k / 4 % 3 == 2 ? VERIFY_ABSENT : VERIFY_VALUE, .rank = 1, .shape = {n}, .low = -2, .high = 2};
    c->i[0] = k % WICK_ACTIVATION_COUNT;
    c->i[1] = k / 2 % 2;
}

/* The cases behind those of every type, from the last ones on. */
static const struct {
    int first;
    void (*make)(int k, struct verify_case *c);
} behind[] = {{BEFORE_HALF_NORMS, half_norm_make}, {BEFORE_SWIGLU, swiglu_make}, {BEFORE_MORE, more_make},
              {BEFORE_NORMS, norm_make},           {BEFORE_TILES, tile_make},    {BLOCK_CASES, half_make}};

static void layer_make(enum wick_op op, int k, struct verify_case *c) {
    enum wick_dtype blocks = (enum wick_dtype)(WICK_DTYPE_q4_0 + k % TYPES);
    int turn = k / TYPES, shape = (turn / 2 + 2 * (k % TYPES)) % LAYER_SHAPES;
    int64_t m = layer_shapes[shape].m, n = layer_shapes[shape].n, width = layer_shapes[shape].k;
    (void)op;
    c->n_in = 5;
    c->n_out = 1;
    c->in[3] = (struct verify_operand){.role = VERIFY_ABSENT, .rank = 1, .shape = {width}};
    c->in[4] = (struct verify_operand){.role = VERIFY_ABSENT, .rank = 2, .shape = {0, width}};
    for (size_t i = 0; i < sizeof behind / sizeof *behind; i++)
        if (k >= behind[i].first) {
            behind[i].make(k - behind[i].first, c);
            return;
        }
    if (width >= 512) width -= 256 - wick_dtype_block(blocks);
    if (turn >= LAYER_TURNS) {
        m = few_shapes[turn - LAYER_TURNS].m;
        n = few_shapes[turn - LAYER_TURNS].n;
        width = few_shapes[turn - LAYER_TURNS].k;
        if (width == 0)
            width = wick_dtype_block(blocks) > FEW_WIDTH / 2
                        ? 512
                        : FEW_WIDTH / wick_dtype_block(blocks) * wick_dtype_block(blocks);
    }
    c->in[0] = (struct verify_operand){.role = VERIFY_VALUE, .rank = 2, .shape = {m, width}, .low = -2, .high = 2};
    c->in[1] = (struct verify_operand){.role = VERIFY_BLOCKS, .rank = 2, .shape = {n, width}, .blocks = blocks};
    c->in[2] = (struct verify_operand){
        .role = turn % 3 == 1 ? VERIFY_ABSENT : VERIFY_VALUE, .rank = 1, .shape = {n}, .low = -2, .high = 2};
    c->i[0] = k % WICK_ACTIVATION_COUNT;
    c->i[1] = turn >= LAYER_TURNS ? WICK_PRODUCTS_8_BIT : turn % 2;
}

static bool layer_bench(enum wick_op op, struct verify_case *c) {
    layer_make(op, TYPES, c);
    verify_operand_resize(&c->in[0], 2, (const int64_t[]){128, 2048});
    verify_operand_resize(&c->in[1], 2, (const int64_t[]){2048, 2048});
    c->in[2].role = VERIFY_ABSENT;
    return true;
}

static bool layer_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    struct wick_linear_options options = {.activation = (enum wick_activation)c->i[0],
                                          .products = (enum wick_products)c->i[1],
                                          .norm = in[3],
                                          .epsilon = c->f[0],
                                          .more = in[4],
                                          .swiglu = c->i[2] != 0};
    out[0] = wick_linear_with(in[0], in[1], in[2], &options);
    return out[0] != NULL;
}

static double activated(enum wick_activation activation, double x) {
    switch (activation) {
    case WICK_ACTIVATION_RELU: return x < 0 ? 0 : x;
    case WICK_ACTIVATION_GELU: return x * (1 + erf(x / sqrt(2))) / 2;
    case WICK_ACTIVATION_GELU_TANH: return x * (1 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x))) / 2;
    case WICK_ACTIVATION_SILU: return x / (1 + exp(-x));
    case WICK_ACTIVATION_TANH: return tanh(x);
    default: return x;
    }
}

/* How far a product may be off for the rounding of activations: by half a step of its scale, 1 / 254 of the largest of
 * its 32, each. Activations steepen errors by at most 1.13. */
static double rounding(const double *x, const double *w, int64_t n) {
    double sum = 0;
    for (int64_t k = 0; k < n; k += 32) {
        double most = 0, weights = 0;
        for (int64_t i = k; i < k + 32 && i < n; i++) {
            most = fmax(most, fabs(x[i]));
            weights += fabs(w[i]);
        }
        sum += 1.13 * weights * most / 254;
    }
    return sum;
}

/* Each row of x over the root of the mean of its squares, times the weight. */
static void norm_rows(const struct verify_case *c, const struct verify_array *in, double *rows) {
    int64_t width = in[0].shape[1];
    for (int64_t i = 0; i < in[0].count; i += width) {
        double squares = 0;
        for (int64_t k = 0; k < width; k++) squares += in[0].data[i + k] * in[0].data[i + k];
        for (int64_t k = 0; k < width; k++)
            rows[i + k] = in[0].data[i + k] / sqrt(squares / (double)width + c->f[0]) * in[3].data[k];
    }
}

/* silu(a) b of the halves a, b of each row. */
static void swiglu_rows(const struct verify_array *in, int64_t width, double *rows) {
    for (int64_t i = 0; i < in[0].shape[0]; i++)
        for (int64_t k = 0; k < width; k++) {
            const double *x = in[0].data + 2 * i * width + k;
            rows[i * width + k] = x[0] / (1 + exp(-x[0])) * x[width];
        }
}

/* Terms with a shift are summed in two parts, scale q and shift, of which each may be 32 times their sum. Normed rows
 * of 16 bits may be rounded to their dtype, by up to 1 / 512 of the largest of 32, before they are to 8 bits. */
static bool layer_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    const double *bias = c->in[2].role != VERIFY_ABSENT ? in[2].data : NULL;
    const bool normed = c->in[3].role != VERIFY_ABSENT, made = normed || c->i[2];
    int64_t m = in[0].shape[0], first = in[1].shape[0], width = in[1].shape[1];
    int64_t n = first + (c->in[4].role != VERIFY_ABSENT ? in[4].shape[0] : 0);
    if (!verify_array_new(out, c->dtype, 2, (const int64_t[]){m, n}, true)) return false;
    double *rows = made ? malloc((size_t)in[0].count * sizeof *rows) : in[0].data;
    if (!rows) return false;
    if (normed) norm_rows(c, in, rows);
    if (c->i[2]) swiglu_rows(in, width, rows);
    for (int64_t p = 0; p < out->count; p++) {
        const double *x = rows + p / n * width;
        const double *w = p % n < first ? in[1].data + p % n * width : in[4].data + (p % n - first) * width;
        double sum = bias ? bias[p % n] : 0, scale = fabs(sum);
        for (int64_t k = 0; k < width; k++) {
            sum += x[k] * w[k];
            scale += fabs(x[k] * w[k]);
        }
        out->data[p] = activated((enum wick_activation)c->i[0], sum);
        out->scale[p] = verify_scale_products(scale, (double)width);
        if (c->i[1] == WICK_PRODUCTS_8_BIT)
            out->scale[p] = verify_scale_products_8_bit(out->scale[p], (made ? 1.5 : 1) * rounding(x, w, width));
    }
    if (made) free(rows);
    return true;
}

const struct verify_family verify_linear_quantised = {.name = "linear_quantised",
                                                      .cases = layer_cases,
                                                      .make = layer_make,
                                                      .bench = layer_bench,
                                                      .call = layer_call,
                                                      .reference = layer_reference};
