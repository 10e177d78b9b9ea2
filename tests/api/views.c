/* What bindings build on: strided views of a buffer, addresses and streams, memory of others, copies, numbers of
 * devices, lists of no dims, scalars along a dim. On the device named in argv[1], the CPU without one. */
#include "tests/test.h"

static struct wick_device *device;

static const float twelve[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

static struct wick_tensor *numbers(void) {
    return wick_from_data(device, WICK_F32, WICK_SHAPE(12), twelve, sizeof twelve);
}

static void check_values(const struct wick_tensor *x, int n, const float *want) {
    float got[16] = {0};
    CHECK_OK(wick_read(x, got, (size_t)n * sizeof *got));
    for (int i = 0; i < n; i++) CHECK_NEAR((double)got[i], (double)want[i], 0);
}

#define CHECK_VALUES(x, ...)                                                                                           \
    check_values(x, (int)(sizeof((const float[]){__VA_ARGS__}) / sizeof(float)), (const float[]){__VA_ARGS__})

static const int64_t *strides(int64_t a, int64_t b) {
    static int64_t list[2];
    list[0] = a;
    list[1] = b;
    return list;
}

static void check_strided(void) {
    wick_scope_begin();
    struct wick_tensor *x = numbers(), *part = wick_narrow(x, 0, 6, 2);
    CHECK_VALUES(wick_as_strided(x, WICK_SHAPE(2, 3), strides(1, 4), 1), 1, 5, 9, 2, 6, 10);
    /* Counted in the buffer, also from a view of a part. */
    CHECK_VALUES(wick_as_strided(part, WICK_SHAPE(2, 2), strides(0, 11), 0), 0, 11, 0, 11);
    CHECK_VALUES(wick_as_strided(part, 0, NULL, NULL, 11), 11);
    /* Strides that are never stepped along. */
    struct wick_tensor *one = wick_as_strided(x, WICK_SHAPE(1, 2), strides(INT64_MAX, 3), 8);
    CHECK_VALUES(one, 8, 11);
    CHECK(wick_tensor_strides(one)[0] < INT64_MAX);
    CHECK_INT(wick_tensor_count(wick_as_strided(x, WICK_SHAPE(0, 5), strides(INT64_MAX, INT64_MAX), INT64_MAX)), 0);
    CHECK(wick_as_strided(x, WICK_SHAPE(2, 2), strides(10, 2), 0) == NULL);
    CHECK_INT(wick_error_status(), WICK_RANGE);
    CHECK(strstr(wick_error(), "shape [2,2] by strides [10,2] from 0 on leaves the buffer of 12 elements") != NULL);
    wick_error_clear();
    CHECK(wick_as_strided(x, WICK_SHAPE(3, 2), strides(INT64_MAX, 1), 1) == NULL);
    CHECK_INT(wick_error_status(), WICK_RANGE);
    wick_error_clear();
    CHECK(wick_as_strided(x, WICK_SHAPE(2, 2), strides(-1, 2), 4) == NULL);
    CHECK_INT(wick_error_status(), WICK_INVALID);
    wick_error_clear();
    CHECK(wick_as_strided(x, WICK_SHAPE(2, 2), NULL, 4) == NULL);
    CHECK_INT(wick_error_status(), WICK_INVALID);
    wick_error_clear();
    wick_scope_end(NULL);
}

/* Nine elements at nine addresses, though the strides are not nested: 0 2 4, 3 5 7, 6 8 10. */
static void check_places(void) {
    wick_scope_begin();
    struct wick_tensor *x = numbers(), *nine = wick_as_strided(x, WICK_SHAPE(3, 3), strides(3, 2), 0);
    CHECK_OK(wick_fill_inplace(nine, WICK_INT(-1)));
    CHECK_VALUES(x, -1, 1, -1, -1, -1, -1, -1, -1, -1, 9, -1, 11);
    struct wick_tensor *shared = wick_as_strided(x, WICK_SHAPE(3, 4), strides(3, 2), 0);
    CHECK_INT(wick_fill_inplace(shared, WICK_INT(1)), WICK_INVALID); /* 0 + 3 * 2 and 2 * 3 + 0 */
    wick_error_clear();
    wick_scope_end(NULL);
}

static void check_copies(void) {
    void *from = NULL, *to = NULL, *stream = NULL;
    wick_scope_begin();
    struct wick_tensor *x = numbers(), *same = wick_clone(x), *turned = wick_clone(wick_flip(x, 0, NULL));
    CHECK_OK(wick_tensor_address(x, &from, &stream));
    CHECK(stream == wick_stream(device));
    CHECK_OK(wick_tensor_address(same, &to, &stream));
    CHECK(from && to && from != to);
    CHECK_OK(wick_tensor_address(wick_narrow(x, 0, 3, 2), &to, &stream));
    CHECK((char *)to == (char *)from + 3 * sizeof(float));
    CHECK_OK(wick_fill_inplace(x, WICK_INT(7)));
    check_values(same, 12, twelve);
    CHECK_INT(wick_tensor_count(turned), 12);
    struct wick_tensor *view = wick_as_strided(same, WICK_SHAPE(2, 2), strides(1, 2), 0);
    CHECK_VALUES(wick_clone(view), 0, 2, 1, 3);
    CHECK_VALUES(wick_zeros_like(view), 0, 0, 0, 0);
    CHECK_VALUES(wick_ones_like(view), 1, 1, 1, 1);
    struct wick_tensor *like = wick_empty_like(view);
    CHECK_INT(wick_tensor_rank(like), 2);
    CHECK(wick_tensor_is_contiguous(like) && wick_tensor_device(like) == device);
    CHECK_FAILS(wick_clone(NULL), WICK_INVALID, "contiguous: x is NULL");
    CHECK_FAILS(wick_empty_like(NULL), WICK_INVALID, "empty_like: x is NULL");
    CHECK_FAILS(wick_zeros_like(NULL), WICK_INVALID, "zeros_like: x is NULL");
    CHECK_FAILS(wick_ones_like(NULL), WICK_INVALID, "ones_like: x is NULL");
    CHECK_FAILS(wick_tensor_address(NULL, &to, &stream), WICK_INVALID, "tensor_address: x is NULL");
    CHECK_FAILS(wick_tensor_address(x, NULL, &stream), WICK_INVALID, "tensor_address: data is NULL");
    wick_scope_end(NULL);
}

static void release_owner(void *context) {
    struct wick_tensor **owner = context;
    wick_release(*owner);
    *owner = NULL;
}

/* Memory of somebody else: here of a tensor that the release callback gives back. */
static void check_adopted(void) {
    struct wick_tensor *owner = numbers();
    struct wick_memory_block block = {.nbytes = 12 * sizeof(float), .release = release_owner, .context = &owner};
    void *stream;
    CHECK_OK(wick_tensor_address(owner, &block.data, &stream));
    struct wick_tensor *x = wick_from_memory(device, WICK_F32, WICK_SHAPE(4), &block);
    wick_scope_begin();
    CHECK_VALUES(wick_add(x, x), 0, 2, 4, 6);
    /* The rest of the block is in reach. */
    CHECK_VALUES(wick_as_strided(x, WICK_SHAPE(2), strides(1, 0), 10), 10, 11);
    CHECK(wick_as_strided(x, WICK_SHAPE(3), strides(1, 0), 10) == NULL);
    wick_error_clear();
    /* Two tensors over the same bytes: written as if the source were read first. */
    struct wick_memory_block again = {.data = (char *)block.data + sizeof(float), .nbytes = 11 * sizeof(float)};
    struct wick_tensor *behind = wick_from_memory(device, WICK_F32, WICK_SHAPE(11), &again);
    struct wick_tensor *whole = wick_as_strided(x, WICK_SHAPE(11), strides(1, 0), 0);
    CHECK_OK(wick_copy_inplace(behind, whole));
    CHECK_VALUES(owner, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
    CHECK_INT(wick_slice_set_inplace(behind, wick_narrow(whole, 0, 0, 2), 0, 0), WICK_INVALID);
    wick_error_clear();
    wick_scope_end(NULL);
    CHECK(owner != NULL);
    CHECK_OK(wick_fill_inplace(x, WICK_INT(3)));
    wick_release(x);
    CHECK(owner == NULL);
}

static void check_devices(const char *name) {
    struct wick_device *other = wick_device_open(name), *cpu = wick_device_open("cpu");
    CHECK_INT(wick_device_ordinal(other), wick_device_ordinal(device));
    CHECK_INT(wick_device_ordinal(cpu), 0);
    CHECK((wick_device_ordinal(device) == 0) == (strcmp(name, "cpu") == 0));
    CHECK_INT(wick_device_ordinal(NULL), -1);
    CHECK_INT((long long)wick_seed(other), 0);
    CHECK_OK(wick_seed_set(other, UINT64_MAX));
    CHECK(wick_seed(other) == UINT64_MAX && wick_seed(device) == 0 && wick_seed(NULL) == 0);
    wick_device_close(cpu);
    wick_device_close(other);
}

/* No dims reduce nothing; the only dim of a scalar reduces it to itself. */
static void check_dims(void) {
    const int last = -1, twice[2] = {0, -1};
    wick_scope_begin();
    struct wick_tensor *x = numbers(), *two = wick_narrow(x, 0, 2, 2), *three = wick_select(x, 0, 3);
    CHECK_VALUES(wick_sum(two, 0, NULL, false), 2, 3);
    CHECK_VALUES(wick_sum(two, 0, &last, true), 2, 3);
    CHECK_VALUES(wick_mean(two, 0, NULL, false), 2, 3);
    CHECK_VALUES(wick_var(two, 0, 0, NULL, false), 0, 0);
    CHECK_VALUES(wick_sum(two, WICK_ALL_DIMS, false), 5);
    CHECK_VALUES(wick_cast(wick_argmax(two, 0, NULL, false), WICK_F32), 0, 0);
    CHECK_VALUES(wick_sum(three, WICK_DIMS(0), false), 3);
    CHECK_VALUES(wick_max(three, 1, &last, true), 3);
    CHECK_INT(wick_tensor_rank(wick_max(three, 1, &last, true)), 0);
    CHECK(wick_sum(three, 2, twice, false) == NULL);
    CHECK_INT(wick_error_status(), WICK_INVALID);
    wick_error_clear();
    CHECK(wick_sum(three, WICK_DIMS(1), false) == NULL);
    CHECK_INT(wick_error_status(), WICK_RANGE);
    wick_error_clear();
    CHECK(wick_sum(two, -2, &last, false) == NULL);
    CHECK_INT(wick_error_status(), WICK_INVALID);
    wick_error_clear();
    wick_scope_end(NULL);
}

static void check_scalars(void) {
    struct wick_tensor *index = NULL;
    wick_scope_begin();
    struct wick_tensor *three = wick_select(numbers(), 0, 3);
    for (int dim = -1; dim <= 0; dim++) {
        CHECK_VALUES(wick_softmax(three, dim), 1);
        CHECK_VALUES(wick_log_softmax(three, dim), 0);
        CHECK_VALUES(wick_cumsum(three, dim), 3);
        CHECK_VALUES(wick_cumprod(three, dim), 3);
        CHECK_VALUES(wick_squeeze(three, dim), 3);
        CHECK_VALUES(wick_sort(three, dim, true, NULL), 3);
        CHECK_VALUES(wick_cast(wick_argsort(three, dim, false), WICK_F32), 0);
        wick_scope_begin();
        struct wick_tensor *sorted = wick_topk(three, 1, dim, true, &index);
        wick_keep(index);
        wick_scope_end(sorted);
        CHECK_VALUES(sorted, 3);
        CHECK_INT(wick_tensor_rank(sorted), 0);
        CHECK_INT(wick_tensor_rank(index), 0);
        CHECK_VALUES(wick_cast(index, WICK_F32), 0);
        sorted = wick_sort(three, dim, false, &index);
        CHECK_INT(wick_tensor_rank(index), 0);
    }
    CHECK(wick_softmax(three, 1) == NULL && wick_squeeze(three, -2) == NULL &&
          wick_topk(three, 0, 0, true, NULL) == NULL);
    CHECK_INT(wick_error_status(), WICK_RANGE);
    wick_error_clear();
    wick_scope_end(NULL);
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "cpu";
    device = wick_device_open(name);
    if (!device) test_skip(wick_error());
    check_strided();
    check_places();
    check_copies();
    check_adopted();
    check_devices(name);
    check_dims();
    check_scalars();
    wick_device_close(device);
    return test_end();
}
