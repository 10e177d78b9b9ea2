/* Nearest resizing between all pairs of sizes up to 257, against what PyTorch takes. */
#include "tests/test.h"

enum { SIZES = 257 };

static const struct {
    int64_t in;
    uint64_t hash;
} expected[] = {
#define NEAREST(in, hash) {in, UINT64_C(hash)},
#include "tests/ops/nearest.def"
#undef NEAREST
};

static uint64_t fnv(uint64_t hash, unsigned byte) { return (hash ^ byte) * UINT64_C(0x100000001b3); }

/* The hash of the elements that results of all sizes are made of, of an operand of `in`. */
static uint64_t taken(struct wick_device *cpu, int64_t in) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    struct wick_tensor *x = wick_reshape(wick_arange(cpu, WICK_I32, WICK_INT(0), WICK_INT(in), WICK_INT(1)), 3,
                                         (const int64_t[]){1, 1, in});
    for (int64_t out = 1; out <= SIZES; out++) {
        int32_t index[SIZES];
        wick_scope_begin();
        struct wick_tensor *y = wick_upsample_nearest1d(x, WICK_SHAPE(out), NULL);
        CHECK(y && wick_read(y, index, sizeof *index * (size_t)out) == WICK_OK);
        wick_scope_end(NULL);
        for (int64_t i = 0; i < out; i++) hash = fnv(fnv(hash, (unsigned)index[i] & 255), (unsigned)index[i] >> 8);
    }
    return hash;
}

/* 1 / 49 is a little less than its double: 49 times it must not fall below 1. */
static void scales(struct wick_device *cpu) {
    float index[147];
    struct wick_upsample_options wide = {.scale = {49}};
    wick_scope_begin();
    struct wick_tensor *x =
        wick_reshape(wick_arange(cpu, WICK_F32, WICK_INT(0), WICK_INT(3), WICK_INT(1)), 3, (const int64_t[]){1, 1, 3});
    struct wick_tensor *y = wick_upsample_nearest1d(x, 0, NULL, &wide);
    CHECK_INT(y ? wick_tensor_count(y) : 0, 147);
    CHECK(wick_read(y, index, sizeof index) == WICK_OK);
    for (int i = 0; i < 147; i++) CHECK_INT((int64_t)index[i], i / 49);
    wick_scope_end(NULL);
}

/* A scale that keeps the size keeps the elements, as in PyTorch but for nearest in 1 and 3 dims: by floor(i / 1.09) the
 * last would be the ninth. */
static void same_size(struct wick_device *cpu) {
    float want[11], got[11];
    struct wick_upsample_options larger = {.scale = {1.09}};
    wick_scope_begin();
    struct wick_tensor *x = wick_uniform(cpu, WICK_F32, WICK_SHAPE(1, 1, 11), -8, 8);
    struct wick_tensor *y[2] = {wick_upsample_nearest1d(x, 0, NULL, &larger),
                                wick_upsample_linear1d(x, 0, NULL, &larger)};
    CHECK(wick_read(x, want, sizeof want) == WICK_OK);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(y[i] ? wick_tensor_count(y[i]) : 0, 11);
        CHECK(wick_read(y[i], got, sizeof got) == WICK_OK);
        CHECK_BYTES(got, want, sizeof want);
    }
    wick_scope_end(NULL);
}

int main(void) {
    struct wick_device *cpu = wick_device_open("cpu");
    CHECK(cpu != NULL);
    CHECK_INT(sizeof expected / sizeof *expected, SIZES);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        wick_scope_begin();
        TEST_CHECK_(taken(cpu, expected[i].in) == expected[i].hash, "from a size of %lld, PyTorch takes other elements",
                    (long long)expected[i].in);
        wick_scope_end(NULL);
    }
    scales(cpu);
    same_size(cpu);
    wick_device_close(cpu);
    return test_end();
}
