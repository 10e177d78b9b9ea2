/* Making tensors, looking at them, data in and out, NULL and wrong arguments everywhere, closed devices. */
#include "tests/test.h"

static struct wick_device *cpu;

static void check_making(void) {
    float data[6] = {1, 2, 3, 4, 5, 6}, back[6] = {0};
    struct wick_tensor *x = wick_from_data(cpu, WICK_F32, WICK_SHAPE(2, 3), data, sizeof data);
    CHECK(x != NULL);
    CHECK_INT(wick_tensor_rank(x), 2);
    CHECK_INT(wick_tensor_count(x), 6);
    CHECK_INT(wick_tensor_dtype(x), WICK_F32);
    CHECK_INT(wick_tensor_dim(x, -1), 3);
    CHECK_INT(wick_tensor_offset(x), 0);
    CHECK(wick_tensor_is_contiguous(x) && wick_tensor_device(x) == cpu);
    CHECK((uintptr_t)wick_tensor_data(x) % 64 == 0);
    data[0] = 9;
    CHECK_OK(wick_read(x, back, sizeof back));
    CHECK(back[0] == 1 && back[5] == 6);
    CHECK_FAILS(wick_tensor_dim(x, 2), WICK_RANGE, "tensor_dim: dim 2 is out of range for rank 2");
    CHECK_FAILS(wick_read(x, back, 20), WICK_INVALID, "read: x [2,3] f32 on cpu has 24 bytes, data has room for 20");
    CHECK_FAILS(wick_read(x, NULL, 24), WICK_INVALID,
                "read: x [2,3] f32 on cpu has 24 bytes, data has room for 24 at NULL");
    CHECK_FAILS(wick_read(NULL, back, 24), WICK_INVALID, "read: x is NULL");
    CHECK(wick_retain(x) == x);
    wick_release(x);
    CHECK_OK(wick_read(x, back, sizeof back));
    wick_release(x);
    wick_release(NULL);
    CHECK(wick_retain(NULL) == NULL);
}

static void check_scalars_and_empty(void) {
    double one = 2.5, back = 0;
    struct wick_tensor *x = wick_from_data(cpu, WICK_F64, 0, NULL, &one, sizeof one);
    CHECK_INT(wick_tensor_rank(x), 0);
    CHECK_INT(wick_tensor_count(x), 1);
    CHECK_OK(wick_read(x, &back, sizeof back));
    CHECK_NEAR(back, 2.5, 0);
    wick_release(x);
    struct wick_tensor *empty = wick_from_data(cpu, WICK_I64, WICK_SHAPE(3, 0, 2), NULL, 0);
    CHECK(empty && wick_tensor_count(empty) == 0 && wick_tensor_is_contiguous(empty));
    CHECK_OK(wick_read(empty, NULL, 0));
    wick_release(empty);
}

static void check_packed(void) {
    unsigned char bits[3] = {0x12, 0x34, 0x50}, back[3] = {0};
    struct wick_tensor *x = wick_from_data(cpu, WICK_DTYPE_f4, WICK_SHAPE(5), bits, sizeof bits);
    CHECK(x != NULL);
    CHECK_OK(wick_read(x, back, 3)); /* 5 elements of 4 bits in 3 bytes */
    CHECK_BYTES(back, bits, 3);
    struct wick_tensor *y = wick_contiguous(x);
    CHECK_OK(wick_read(y, back, 3));
    CHECK_BYTES(back, bits, 3);
    wick_release(y);
    wick_release(x);
}

static void check_wrong_arguments(void) {
    float data[4] = {0};
    CHECK_FAILS(wick_empty(NULL, WICK_F32, WICK_SHAPE(2)), WICK_INVALID, "empty: device is NULL");
    CHECK_FAILS(wick_empty(cpu, (enum wick_dtype)99, WICK_SHAPE(2)), WICK_DTYPE, "empty: dtype 99 is unknown");
    CHECK_FAILS(wick_empty(cpu, (enum wick_dtype) - 1, WICK_SHAPE(2)), WICK_DTYPE, "empty: dtype -1 is unknown");
    CHECK_FAILS(wick_empty(cpu, WICK_F32, 9, NULL), WICK_INVALID, "empty: rank 9 is not in 0..8");
    CHECK_FAILS(wick_empty(cpu, WICK_F32, 1, NULL), WICK_INVALID, "empty: shape is NULL but rank is 1");
    CHECK_FAILS(wick_empty(cpu, WICK_F32, WICK_SHAPE(2, -1)), WICK_INVALID, "empty: shape [2,-1] has a negative size");
    CHECK_FAILS(wick_from_data(cpu, WICK_F32, WICK_SHAPE(2), NULL, 8), WICK_INVALID,
                "from_data: [2] f32 on cpu takes 8 bytes, data has 8 at NULL");
    CHECK_FAILS(wick_from_data(cpu, WICK_F32, WICK_SHAPE(2), data, 4), WICK_INVALID,
                "from_data: [2] f32 on cpu takes 8 bytes, data has 4");
    CHECK_FAILS(wick_from_data(cpu, WICK_F32, WICK_SHAPE(2), data, sizeof data), WICK_INVALID,
                "from_data: [2] f32 on cpu takes 8 bytes, data has 16");
    CHECK_FAILS(wick_from_memory(cpu, WICK_F32, WICK_SHAPE(2), NULL), WICK_INVALID, "from_memory: block is NULL");
    struct wick_memory_block block = {.nbytes = 8};
    CHECK_FAILS(wick_from_memory(cpu, WICK_F32, WICK_SHAPE(2), &block), WICK_INVALID,
                "from_memory: [2] f32 takes 8 bytes, the block has 8 at NULL");
    block.data = data;
    CHECK_FAILS(wick_from_memory(cpu, WICK_F32, WICK_SHAPE(3), &block), WICK_INVALID,
                "from_memory: [3] f32 takes 12 bytes, the block has 8");
    block.data = (char *)data + 1;
    CHECK_FAILS(wick_from_memory(cpu, WICK_F32, WICK_SHAPE(2), &block), WICK_INVALID,
                "from_memory: data is not aligned to f32");
    CHECK_FAILS(wick_empty(cpu, WICK_F64, WICK_SHAPE(INT64_MAX / 8 + 1)), WICK_OVERFLOW,
                "empty: shape [1152921504606846976] has more elements than 64 bits can address");
    wick_error_clear();
    CHECK(wick_empty(cpu, WICK_U8, WICK_SHAPE(INT64_C(1) << 59)) == NULL);
    CHECK_INT(wick_error_status(), WICK_MEMORY);
    wick_error_clear();
}

static void check_null_tensor(void) {
    CHECK_INT((int)wick_tensor_dtype(NULL), -1);
    CHECK_INT(wick_tensor_rank(NULL), -1);
    CHECK(wick_tensor_shape(NULL) == NULL && wick_tensor_strides(NULL) == NULL);
    CHECK_INT(wick_tensor_dim(NULL, 0), 0);
    CHECK_INT(wick_tensor_count(NULL), 0);
    CHECK_INT(wick_tensor_offset(NULL), 0);
    CHECK(!wick_tensor_is_contiguous(NULL));
    CHECK(wick_tensor_device(NULL) == NULL && wick_tensor_data(NULL) == NULL);
    wick_error_clear();
    CHECK_FAILS(wick_contiguous(NULL), WICK_INVALID, "contiguous: x is NULL");
    /* A NULL that comes from a failure keeps the failure's own text. */
    wick_error_clear();
    CHECK(wick_contiguous(wick_empty(NULL, WICK_F32, 0, NULL)) == NULL);
    CHECK_TEXT(wick_error(), "empty: device is NULL");
    wick_error_clear();
}

static int released;
static void count_release(void *context) { *(int *)context += 1; }

static void check_from_memory(void) {
    static double data[6] = {1, 2, 3, 4, 5, 6};
    struct wick_memory_block block = {data, sizeof data, count_release, &released};
    struct wick_tensor *x = wick_from_memory(cpu, WICK_F64, WICK_SHAPE(2, 3), &block);
    CHECK(wick_tensor_data(x) == data);
    struct wick_tensor *view = wick_narrow(x, 1, 1, 2);
    CHECK(!wick_tensor_is_contiguous(view) && wick_tensor_data(view) == data + 1);
    double back[4];
    CHECK_OK(wick_read(view, back, sizeof back));
    CHECK(back[0] == 2 && back[1] == 3 && back[2] == 5 && back[3] == 6);
    wick_release(x);
    CHECK_INT(released, 0);
    data[1] = 20;
    CHECK_OK(wick_read(view, back, sizeof back));
    CHECK_NEAR(back[0], 20, 0);
    wick_release(view);
    CHECK_INT(released, 1);
    /* Not called when the call fails. */
    CHECK(wick_from_memory(cpu, (enum wick_dtype)77, WICK_SHAPE(2), &block) == NULL);
    CHECK_INT(released, 1);
    wick_error_clear();
}

static void check_closed(void) {
    struct wick_device *other = wick_device_open("cpu");
    float one = 1;
    struct wick_tensor *x = wick_from_data(other, WICK_F32, WICK_SHAPE(1), &one, sizeof one);
    struct wick_tensor *y = wick_from_data(cpu, WICK_F32, WICK_SHAPE(1), &one, sizeof one);
    struct wick_memory memory;
    wick_device_close(other);
    CHECK_INT(wick_tensor_count(x), 1);
    CHECK_FAILS(wick_read(x, &one, sizeof one), WICK_CLOSED, "read: device cpu was closed");
    CHECK_FAILS(wick_contiguous(x), WICK_CLOSED, "contiguous: device cpu was closed");
    CHECK_FAILS(wick_tensor_data(x), WICK_CLOSED, "tensor_data: device cpu was closed");
    CHECK_FAILS(wick_empty(wick_tensor_device(x), WICK_F32, WICK_SHAPE(1)), WICK_CLOSED,
                "empty: device cpu was closed");
    CHECK_FAILS(wick_device_sync(wick_tensor_device(x)), WICK_CLOSED, "device_sync: device cpu was closed");
    CHECK_FAILS(wick_memory_stats(wick_tensor_device(x), &memory), WICK_CLOSED, "memory_stats: device cpu was closed");
    CHECK_FAILS(wick_seed_set(wick_tensor_device(x), 1), WICK_CLOSED, "seed_set: device cpu was closed");
    wick_release(x);
    CHECK_OK(wick_read(y, &one, sizeof one)); /* the other handle still works */
    wick_release(y);
}

int main(void) {
    cpu = wick_device_open("cpu");
    check_making();
    check_scalars_and_empty();
    check_packed();
    check_wrong_arguments();
    check_null_tensor();
    check_from_memory();
    check_closed();
    wick_device_close(cpu);
    return test_end();
}
