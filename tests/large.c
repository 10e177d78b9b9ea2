/* More than 2^31 elements: offsets and counts beyond 32 bits. Needs about 5 GiB; skipped where 12 are not available. */
#include "tests/test.h"

static double available_gib(void) {
    char line[128];
    double kib = 0;
    FILE *file = fopen("/proc/meminfo", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %lf kB", &kib) == 1) break;
    if (file) fclose(file);
    return kib / (1 << 20);
}

static int64_t whole(const struct wick_tensor *x) {
    double value = -1;
    CHECK_OK(wick_read_scalar(x, &value));
    return (int64_t)value;
}

int main(void) {
    const int64_t n = (INT64_C(1) << 31) + 1024, last = n - 1;
    if (available_gib() < 12) test_skip("less than 12 GiB of memory available");
    struct wick_device *cpu = wick_device_open("cpu");
    struct wick_tensor *x = wick_full(cpu, WICK_U8, WICK_SHAPE(n), WICK_INT(1));
    CHECK(x != NULL);
    if (!x) return test_end();
    unsigned char *data = wick_tensor_data(x);
    CHECK(data[0] == 1 && data[last] == 1);
    data[last - 5] = 7;

    wick_scope_begin();
    CHECK_INT(whole(wick_max(x, WICK_ALL_DIMS, false)), 7);
    CHECK_INT(whole(wick_sum(x, WICK_ALL_DIMS, false)), (n + 6) % 256);
    struct wick_tensor *halves = wick_reshape(x, WICK_SHAPE(2, n / 2));
    CHECK_INT(whole(wick_select(wick_argmax(halves, 1, (const int[]){1}, false), 0, 1)), n / 2 - 6);
    CHECK_INT(whole(wick_argmax(x, 1, (const int[]){0}, false)), last - 5);
    CHECK_INT(whole(wick_select(x, 0, -6)), 7);
    int64_t ids[3] = {last - 5, 0, last};
    unsigned char picked[3] = {0};
    CHECK_OK(
        wick_read(wick_index_select(x, 0, wick_from_data(cpu, WICK_I64, WICK_SHAPE(3), ids, sizeof ids)), picked, 3));
    CHECK(picked[0] == 7 && picked[1] == 1 && picked[2] == 1);
    /* Every 2^20th element, and the far end copied out of a view. */
    CHECK_INT(wick_tensor_count(wick_slice(x, 0, 0, INT64_MAX, 1 << 20)), 2049);
    struct wick_tensor *tail = wick_contiguous(wick_narrow(x, 0, last - 9, 10));
    unsigned char end[10] = {0};
    CHECK_OK(wick_read(tail, end, sizeof end));
    CHECK(end[4] == 7 && end[3] == 1 && end[9] == 1);
    wick_scope_end(NULL);

    struct wick_tensor *y = wick_add(x, x);
    CHECK(y != NULL);
    if (y) {
        const unsigned char *sum = wick_tensor_data(y);
        int64_t wrong = 0;
        for (int64_t i = 0; i < n; i++) wrong += sum[i] != (i == last - 5 ? 14 : 2);
        CHECK_INT(wrong, 0);
    }
    wick_release(y);
    wick_release(x);
    wick_device_close(cpu);
    return test_end();
}
