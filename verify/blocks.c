/* Operands of quantised dtypes. */
#include "verify/driver.h"

#include <stdlib.h>

/* The upper bytes of a dtype's scales of 16 or 32 bits. Without their bit 6 they are finite, and below 2. */
static const struct {
    enum wick_dtype dtype;
    unsigned char upper[2];
} scales[] = {
    {WICK_DTYPE_q4_0, {1, 1}},    {WICK_DTYPE_q4_1, {1, 3}},     {WICK_DTYPE_q5_0, {1, 1}},
    {WICK_DTYPE_q5_1, {1, 3}},    {WICK_DTYPE_q8_0, {1, 1}},     {WICK_DTYPE_q8_1, {1, 1}},
    {WICK_DTYPE_q2_k, {81, 83}},  {WICK_DTYPE_q3_k, {109, 109}}, {WICK_DTYPE_q4_k, {1, 3}},
    {WICK_DTYPE_q5_k, {1, 3}},    {WICK_DTYPE_q6_k, {209, 209}}, {WICK_DTYPE_q8_k, {3, 3}},
    {WICK_DTYPE_iq2_xxs, {1, 1}}, {WICK_DTYPE_iq2_xs, {1, 1}},   {WICK_DTYPE_iq3_xxs, {1, 1}},
    {WICK_DTYPE_iq1_s, {1, 1}},   {WICK_DTYPE_iq4_nl, {1, 1}},   {WICK_DTYPE_iq3_s, {1, 1}},
    {WICK_DTYPE_iq2_s, {1, 1}},   {WICK_DTYPE_iq4_xs, {1, 1}},   {WICK_DTYPE_iq1_m, {55, 55}},
    {WICK_DTYPE_tq1_0, {53, 53}}, {WICK_DTYPE_tq2_0, {65, 65}},  {WICK_DTYPE_q1_0, {1, 1}},
    {WICK_DTYPE_q2_0, {1, 1}},
};

/* Any bits, and scales that are finite and not so small that all products vanish. */
static void fill(struct verify_random *random, enum wick_dtype dtype, unsigned char *block) {
    int nbytes = wick_dtype_block_bytes(dtype);
    for (int i = 0; i < nbytes; i++) block[i] = (unsigned char)(verify_random_bits(random) >> 32);
    for (size_t s = 0; s < sizeof scales / sizeof *scales; s++)
        for (int i = 0; i < 2 && scales[s].dtype == dtype; i++)
            block[scales[s].upper[i]] = (unsigned char)((block[scales[s].upper[i]] & 0xbf) | 0x20);
    if (dtype == WICK_DTYPE_mxfp4) block[0] = (unsigned char)(110 + block[0] % 20);
}

/* What the blocks stand for, by the CPU. */
static bool decode(struct verify_array *array, size_t nbytes) {
    struct wick_device *cpu = wick_device_open("cpu");
    float *values = malloc((size_t)array->count * sizeof *values + 1);
    wick_scope_begin();
    struct wick_tensor *x = wick_from_data(cpu, array->dtype, array->rank, array->shape, array->blocks, nbytes);
    struct wick_tensor *y = wick_cast(x, WICK_F32);
    bool good = values && y && wick_read(y, values, (size_t)array->count * sizeof *values) == WICK_OK;
    wick_scope_end(NULL);
    for (int64_t i = 0; good && i < array->count; i++) array->data[i] = (double)values[i];
    free(values);
    wick_device_close(cpu);
    return good;
}

bool verify_blocks(struct verify_random *random, struct verify_array *array) {
    size_t size = (size_t)wick_dtype_block_bytes(array->dtype);
    size_t count = (size_t)(array->count / wick_dtype_block(array->dtype));
    array->blocks = malloc(count * size + 1);
    if (!array->blocks) return false;
    for (size_t i = 0; i < count; i++) fill(random, array->dtype, array->blocks + i * size);
    return decode(array, count * size);
}
