/* Shapes, broadcasting and wrapping, for the elementwise families. */
#include "verify/elementwise.h"

#include <string.h>

struct shape {
    int rank;
    int64_t size[6];
};

static const struct shape one[] = {
    {1, {7}},       {0, {0}},         {1, {0}},    {2, {3, 0}},       {1, {1}},
    {2, {5, 9}},    {3, {2, 33, 17}}, {1, {1025}}, {4, {2, 3, 5, 7}}, {6, {2, 1, 3, 2, 2, 3}},
    {2, {61, 130}}, {1, {20011}},
};

/* Large enough for its transpose to be turned (src/gpu/ops/elementwise.c). */
static const struct shape large = {2, {301, 437}};

static const struct shape two[][2] = {
    {{1, {9}}, {1, {9}}},           {{0, {0}}, {0, {0}}},
    {{1, {0}}, {1, {1}}},           {{2, {3, 0}}, {1, {0}}},
    {{2, {4, 5}}, {0, {0}}},        {{0, {0}}, {2, {3, 7}}},
    {{2, {4, 5}}, {1, {5}}},        {{2, {4, 1}}, {2, {1, 6}}},
    {{3, {5, 1, 7}}, {2, {6, 1}}},  {{4, {2, 3, 4, 5}}, {3, {3, 1, 1}}},
    {{2, {33, 65}}, {2, {33, 65}}}, {{2, {40, 41}}, {2, {40, 1}}},
    {{1, {5003}}, {1, {5003}}},     {{2, {1, 3000}}, {2, {3, 1}}},
    {{2, {900, 5}}, {1, {5}}},      {{4, {3, 13, 11, 11}}, {3, {13, 1, 1}}},
};

static struct verify_operand operand(const struct shape *shape, double low, double high) {
    struct verify_operand result = {.role = VERIFY_VALUE, .rank = shape->rank, .low = low, .high = high};
    memcpy(result.shape, shape->size, sizeof shape->size);
    return result;
}

int verify_one_shapes(void) { return sizeof one / sizeof *one; }

struct verify_operand verify_one_operand(int k, double low, double high) {
    return operand(k < verify_one_shapes() ? &one[k] : &large, low, high);
}

int verify_two_shapes(void) { return sizeof two / sizeof *two; }

struct verify_operand verify_two_operand(int k, int which, double low, double high) {
    return operand(k < verify_two_shapes() ? &two[k][which] : &large, low, high);
}

bool verify_broadcast_new(struct verify_array *out, enum wick_dtype dtype, const struct verify_array *in, int n,
                          bool scaled) {
    int rank = 0;
    int64_t shape[WICK_MAX_RANK];
    for (int i = 0; i < n; i++) rank = in[i].rank > rank ? in[i].rank : rank;
    for (int d = 0; d < rank; d++) {
        shape[d] = 1;
        for (int i = 0; i < n; i++) {
            int own = d - (rank - in[i].rank);
            if (own >= 0 && in[i].shape[own] != 1) shape[d] = in[i].shape[own];
        }
    }
    return verify_array_new(out, dtype, rank, shape, scaled);
}

double verify_broadcast_at(const struct verify_array *in, const struct verify_array *out, int64_t i) {
    int64_t at = 0, step = 1;
    for (int d = out->rank - 1, own = in->rank - 1; own >= 0; d--, own--) {
        if (in->shape[own] != 1) at += i % out->shape[d] * step;
        i /= out->shape[d];
        step *= in->shape[own];
    }
    return in->data[at];
}

double verify_wrap(enum wick_dtype dtype, verify_wide value) {
    int bits = wick_dtype_bits(dtype);
    bool is_signed = dtype == WICK_I16 || dtype == WICK_I32 || dtype == WICK_I64 || dtype == WICK_DTYPE_i8;
    verify_wide all = (verify_wide)1 << bits;
    value %= all;
    if (value < 0) value += all;
    if (is_signed && value >= all / 2) value -= all;
    return (double)value;
}

bool verify_yes(enum wick_op op) {
    (void)op;
    return true;
}
