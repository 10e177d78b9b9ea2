/* Rules of indexing: sentinels, ids out of range, equal ids, layouts, writing in place; the words of Philox. */
#include "tests/test.h"

#include "core/philox.h"

static struct wick_device *cpu;

static const float six[6] = {0, 1, 2, 3, 4, 5};

static struct wick_tensor *matrix(void) { return wick_from_data(cpu, WICK_F32, WICK_SHAPE(2, 3), six, sizeof six); }

static struct wick_tensor *ids_of(int n, const int64_t *ids) {
    const int64_t size = n;
    return wick_from_data(cpu, WICK_I64, 1, &size, ids, (size_t)n * sizeof *ids);
}

static void check_values(const struct wick_tensor *x, int n, const float *want) {
    float got[16] = {0};
    CHECK_OK(wick_read(x, got, (size_t)n * sizeof *got));
    for (int i = 0; i < n; i++) CHECK_NEAR((double)got[i], (double)want[i], 0);
}

static void check_sentinels(void) {
    const uint8_t ids[3] = {1, 255, 0};
    const float ones[6] = {1, 1, 1, 1, 1, 1};
    wick_scope_begin();
    struct wick_tensor *x = matrix(), *list = wick_from_data(cpu, WICK_U8, WICK_SHAPE(3), ids, sizeof ids);
    struct wick_tensor *row = wick_reshape(list, WICK_SHAPE(1, 3)),
                       *source = wick_from_data(cpu, WICK_F32, WICK_SHAPE(1, 3), ones, 3 * sizeof *ones);
    check_values(wick_index_select(x, 0, list), 9, (const float[]){3, 4, 5, 0, 0, 0, 0, 1, 2});
    check_values(wick_gather(x, 0, row), 3, (const float[]){3, 0, 2});
    check_values(wick_scatter_add(x, 0, row, source), 6, (const float[]){0, 1, 3, 4, 4, 5});
    check_values(wick_scatter(x, 0, row, source), 6, (const float[]){0, 1, 1, 1, 4, 5});
    struct wick_tensor *three = wick_from_data(cpu, WICK_F32, WICK_SHAPE(2, 3), ones, sizeof ones);
    check_values(wick_index_add(x, 1, list, three), 6, (const float[]){1, 2, 2, 4, 5, 5});
    wick_scope_end(NULL);
}

static void check_ranges(void) {
    wick_scope_begin();
    struct wick_tensor *x = matrix(), *bad = ids_of(3, (const int64_t[]){0, 2, -1});
    struct wick_tensor *row = wick_reshape(bad, WICK_SHAPE(1, 3)),
                       *source = wick_contiguous(wick_narrow(matrix(), 0, 1, 1));
    CHECK(!wick_index_select(x, 0, bad));
    CHECK_TEXT(wick_error(), "index_select: id 2 at position 1 of ids [3] i64 on cpu is out of range for size 2");
    CHECK_INT(wick_error_status(), WICK_RANGE);
    wick_error_clear();
    CHECK(!wick_gather(x, 1, row));
    CHECK_TEXT(wick_error(), "gather: id -1 at position 2 of ids [1,3] i64 on cpu is out of range for size 3");
    wick_error_clear();
    CHECK_INT(wick_scatter_inplace(x, 0, row, wick_flip(source, 0, NULL)), WICK_RANGE);
    wick_error_clear();
    check_values(x, 6, six);
    CHECK_INT(wick_scatter_add_inplace(x, 1, wick_narrow(row, 1, 0, 2), wick_narrow(x, 0, 0, 1)), WICK_SHAPE);
    wick_error_clear();
    struct wick_tensor *good = wick_narrow(row, 1, 0, 1);
    CHECK_INT(wick_scatter_inplace(x, 0, good, wick_narrow(wick_narrow(x, 0, 0, 1), 1, 0, 1)), WICK_INVALID);
    wick_error_clear();
    struct wick_tensor *wide = wick_broadcast_to(wick_narrow(x, 0, 0, 1), WICK_SHAPE(4, 3));
    CHECK_INT(wick_slice_set_inplace(wide, wick_narrow(matrix(), 0, 0, 1), 0, 2), WICK_INVALID);
    wick_error_clear();
    check_values(x, 6, six);
    wick_scope_end(NULL);
}

/* Ids that are strided, x that does not start its buffer, ids smaller than x along another dim. */
static void check_layouts(void) {
    wick_scope_begin();
    struct wick_tensor *x = wick_narrow(matrix(), 1, 1, 2); /* 1 2 / 4 5 */
    struct wick_tensor *ids = wick_slice(ids_of(4, (const int64_t[]){7, 1, 7, 0}), 0, 1, INT64_MAX, 2);
    check_values(wick_index_select(x, 0, ids), 4, (const float[]){4, 5, 1, 2});
    check_values(wick_index_add(x, 0, ids, wick_narrow(matrix(), 1, 0, 2)), 4, (const float[]){4, 6, 4, 6});
    check_values(wick_gather(x, 1, wick_reshape(ids, WICK_SHAPE(1, 2))), 2, (const float[]){2, 1});
    check_values(wick_gather(x, 0, wick_reshape(ids, WICK_SHAPE(2, 1))), 2, (const float[]){4, 1});
    wick_scope_end(NULL);
}

/* 1000 ones come to 1000 in bf16, which they would not when rounded one by one. */
static void check_sums(void) {
    uint16_t ones[1000], sum = 0;
    int64_t ids[1000] = {0};
    for (int i = 0; i < 1000; i++) ones[i] = 0x3f80;
    wick_scope_begin();
    struct wick_tensor *zero = wick_from_data(cpu, WICK_BF16, WICK_SHAPE(1), &sum, sizeof sum);
    struct wick_tensor *source = wick_from_data(cpu, WICK_BF16, WICK_SHAPE(1000), ones, sizeof ones),
                       *list = ids_of(1000, ids);
    CHECK_OK(wick_read(wick_index_add(zero, 0, list, source), &sum, sizeof sum));
    CHECK_INT(sum, 0x447a);
    struct wick_tensor *column = wick_reshape(source, WICK_SHAPE(1000, 1)),
                       *cell = wick_reshape(zero, WICK_SHAPE(1, 1));
    CHECK_OK(wick_read(wick_scatter_add(cell, 0, wick_reshape(list, WICK_SHAPE(1000, 1)), column), &sum, sizeof sum));
    CHECK_INT(sum, 0x447a);
    wick_scope_end(NULL);
}

/* The known answers of the Random123 library. */
static void check_philox(void) {
    static const uint32_t known[3][10] = {
        {0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
        {~0u, ~0u, ~0u, ~0u, ~0u, ~0u, 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
        {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09, 0x94fdcceb, 0x5001e420,
         0x24126ea1},
    };
    for (int k = 0; k < 3; k++) {
        uint32_t c[4][WICK__PHILOX_LANES];
        for (int w = 0; w < 4; w++)
            for (int i = 0; i < WICK__PHILOX_LANES; i++) c[w][i] = known[k][w];
        wick__philox_lanes(c, known[k][4], known[k][5]);
        for (int w = 0; w < 4; w++) CHECK_INT(c[w][3], known[k][6 + w]);
    }
}

int main(void) {
    cpu = wick_device_open("cpu");
    check_sentinels();
    check_ranges();
    check_layouts();
    check_sums();
    check_philox();
    wick_device_close(cpu);
    return test_end();
}
