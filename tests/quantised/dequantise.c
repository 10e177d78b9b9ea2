/* Blocks of every quantised dtype become the floats that the package gguf makes of them, bit for bit (make.py), as
 * whole tensors and by rows, on the device named in argv[1]. */
#include "tests/test.h"

#include <stdlib.h>

enum { COUNT = 64 };

static struct wick_device *device;

static const struct {
    enum wick_dtype dtype;
    unsigned char upper[2]; /* upper bytes of scales, made finite; 0: none */
} scales[] = {
    {WICK_DTYPE_q4_0, {1, 0}},    {WICK_DTYPE_q4_1, {1, 3}},   {WICK_DTYPE_q5_0, {1, 0}},
    {WICK_DTYPE_q5_1, {1, 3}},    {WICK_DTYPE_q8_0, {1, 0}},   {WICK_DTYPE_q8_1, {1, 0}},
    {WICK_DTYPE_q2_k, {81, 83}},  {WICK_DTYPE_q3_k, {109, 0}}, {WICK_DTYPE_q4_k, {1, 3}},
    {WICK_DTYPE_q5_k, {1, 3}},    {WICK_DTYPE_q6_k, {209, 0}}, {WICK_DTYPE_q8_k, {3, 0}},
    {WICK_DTYPE_iq2_xxs, {1, 0}}, {WICK_DTYPE_iq2_xs, {1, 0}}, {WICK_DTYPE_iq3_xxs, {1, 0}},
    {WICK_DTYPE_iq1_s, {1, 0}},   {WICK_DTYPE_iq4_nl, {1, 0}}, {WICK_DTYPE_iq3_s, {1, 0}},
    {WICK_DTYPE_iq2_s, {1, 0}},   {WICK_DTYPE_iq4_xs, {1, 0}}, {WICK_DTYPE_iq1_m, {55, 0}},
    {WICK_DTYPE_tq1_0, {53, 0}},  {WICK_DTYPE_tq2_0, {65, 0}}, {WICK_DTYPE_q1_0, {1, 0}},
    {WICK_DTYPE_q2_0, {1, 0}},
};

static uint32_t crc32_of(const unsigned char *bytes, size_t n) {
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

/* As make.py makes them. */
static void fill(enum wick_dtype dtype, unsigned char *bytes, size_t nbytes) {
    uint32_t state = 1;
    for (size_t i = 0; i < COUNT * nbytes; i++) {
        state = state * 1664525u + 1013904223u;
        bytes[i] = (unsigned char)(state >> 24);
    }
    for (size_t s = 0; s < sizeof scales / sizeof *scales; s++)
        for (int i = 0; i < 2; i++)
            for (size_t b = 0; scales[s].dtype == dtype && scales[s].upper[i] && b < COUNT; b++)
                bytes[b * nbytes + scales[s].upper[i]] &= 0xbf;
}

static uint32_t checksum(const struct wick_tensor *x, enum wick_dtype dtype, size_t size) {
    struct wick_tensor *y = wick_cast(x, dtype);
    size_t nbytes = (size_t)wick_tensor_count(x) * size;
    unsigned char *bytes = malloc(nbytes);
    uint32_t sum = 0;
    CHECK(y != NULL && bytes != NULL);
    CHECK_INT(wick_tensor_dtype(y), dtype);
    if (y && bytes && wick_read(y, bytes, nbytes) == WICK_OK) sum = crc32_of(bytes, nbytes);
    free(bytes);
    return sum;
}

static void check(enum wick_dtype dtype, uint32_t as_f32, uint32_t as_f16) {
    size_t nbytes = (size_t)wick_dtype_block_bytes(dtype);
    int64_t block = wick_dtype_block(dtype), order[8] = {7, 6, 5, 4, 3, 2, 1, 0};
    unsigned char *bytes = malloc(COUNT * nbytes), *back = malloc(COUNT * nbytes);
    CHECK(bytes != NULL && back != NULL);
    fill(dtype, bytes, nbytes);
    wick_scope_begin();
    struct wick_tensor *x = wick_from_data(device, dtype, WICK_SHAPE(8, 8 * block), bytes, COUNT * nbytes);
    CHECK_INT(checksum(x, WICK_F32, 4), as_f32);
    CHECK_INT(checksum(x, WICK_F16, 2), as_f16);
    /* Rows picked twice in reverse are where they were. */
    struct wick_tensor *ids = wick_from_data(device, WICK_I64, WICK_SHAPE(8), order, sizeof order);
    struct wick_tensor *twice = wick_index_select(wick_index_select(x, 0, ids), 0, ids);
    CHECK_OK(wick_read(twice, back, COUNT * nbytes));
    CHECK_BYTES(back, bytes, COUNT * nbytes);
    struct wick_tensor *row = wick_embedding(x, wick_narrow(ids, 0, 2, 1));
    CHECK_OK(wick_read(row, back, 8 * nbytes));
    CHECK_BYTES(back, bytes + 5 * 8 * nbytes, 8 * nbytes);
    wick_scope_end(NULL);
    free(bytes);
    free(back);
}

int main(int argc, char **argv) {
    device = wick_device_open(argc > 1 ? argv[1] : "cpu");
    if (!device) return 1;
#define BLOCKS(dtype, as_f32, as_f16) check(WICK_DTYPE_##dtype, as_f32, as_f16);
#include "tests/quantised/blocks.def"
    wick_device_close(device);
    return test_end();
}
