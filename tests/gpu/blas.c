/* Whose matrix products a GPU uses: the vendor's where they pass their check, ours where those are wrong, refused or
 * not wanted; the results are right in each case. argv: the device, and what STANDIN_BLAS makes of the vendor's
 * library: good, wrong, refuse, flush, absent. */
#include "tests/test.h"

#include <stdlib.h>

enum { N = 48 };
static struct wick_device *device;

/* Small integers, whose sums are exact in f32. */
static float left(int i, int k) { return (float)((i * 5 + k * 3) % 7 - 3); }
static float right(int k, int j) { return (float)((k * 2 + j * 7) % 5 - 2); }

static void check_product(void) {
    static float a[N * N], b[N * N], c[N * N], want[N * N];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0;
            a[i * N + j] = left(i, j);
            b[i * N + j] = right(i, j);
            for (int k = 0; k < N; k++) sum += left(i, k) * right(k, j);
            want[i * N + j] = sum;
        }
    wick_scope_begin();
    struct wick_tensor *x = wick_from_data(device, WICK_F32, WICK_SHAPE(N, N), a, sizeof a);
    struct wick_tensor *y = wick_from_data(device, WICK_F32, WICK_SHAPE(N, N), b, sizeof b);
    CHECK_OK(wick_read(wick_matmul(x, y), c, sizeof c));
    CHECK_BYTES(c, want, sizeof c);
    wick_scope_end(NULL);
}

static void check_verdicts(enum wick_blas_verdict want, enum wick_blas_verdict f16) {
    struct wick_blas_info info;
    CHECK_OK(wick_blas_describe(device, true, &info));
    CHECK(info.library && *info.library);
    CHECK(!info.fault);
    CHECK_INT(info.bf16, want);
    CHECK_INT(info.f16, f16);
    CHECK_INT(info.f32, want);
    CHECK_INT(info.f64, want);
}

/* The first element of a product of f16 with 2^-24 in A and 256 in B. */
static float small_product(void) {
    static float a[N * N], b[N * N], c[N * N];
    for (int i = 0; i < N * N; i++) a[i] = 0x1p-24f, b[i] = 256;
    wick_scope_begin();
    struct wick_tensor *x = wick_cast(wick_from_data(device, WICK_F32, WICK_SHAPE(N, N), a, sizeof a), WICK_F16);
    struct wick_tensor *y = wick_cast(wick_from_data(device, WICK_F32, WICK_SHAPE(N, N), b, sizeof b), WICK_F16);
    CHECK_OK(wick_read(wick_cast(wick_matmul(x, y), WICK_F32), c, sizeof c));
    wick_scope_end(NULL);
    return c[0];
}

/* Products of f16 that take subnormal operands as 0 are made only when they are asked for. */
static void check_flush(bool flushes) {
    static const enum wick_blas choices[] = {WICK_BLAS_AUTO, WICK_BLAS_OWN, WICK_BLAS_VENDOR};
    for (int i = 0; i < 3; i++) {
        CHECK_OK(wick_blas_set(device, choices[i]));
        CHECK(small_product() == (flushes && choices[i] == WICK_BLAS_VENDOR ? 0 : N * 0x1p-16f));
    }
}

static void check_absent(void) {
    struct wick_blas_info info;
    CHECK_OK(wick_blas_describe(device, true, &info));
    CHECK(!info.library);
    CHECK(info.fault && *info.fault);
}

/* The log has a line about a wrong product, once a pair of dtypes; and on request, one about each call that a route
 * leaves. */
static int complaints, passed_over;
static void on_log(void *context, enum wick_log_level level, const char *text) {
    (void)context;
    complaints += level == WICK_LOG_ERROR && strstr(text, "wrong product") != NULL;
    passed_over += level == WICK_LOG_DEBUG && strstr(text, "48 x 48 x 48: not by BLAS: ") != NULL;
}

/* Routes are told of one by one; their counts add up to those of wick_blas_describe. */
static void check_routes(bool absent) {
    struct wick_blas_info blas;
    struct wick_route_info info;
    int64_t used = 0, refused = 0;
    int count = wick_route_count(device);
    CHECK(count > 0);
    for (int i = 0; i < count; i++) {
        CHECK_OK(wick_route_describe(device, i, true, &info));
        CHECK(info.name && info.op && info.verdict);
        if (strcmp(info.op, "product") != 0) continue;
        CHECK(absent ? !info.library && info.fault && *info.fault : info.library && *info.verdict && !info.fault);
        used += info.used;
        refused += info.refused;
    }
    CHECK_OK(wick_blas_describe(device, false, &blas));
    CHECK_INT(used, blas.used);
    CHECK_INT(refused, blas.refused);
    CHECK_INT(wick_route_describe(device, count, false, &info), WICK_INVALID);
    wick_error_clear();
    CHECK_INT(wick_route_describe(device, -1, false, &info), WICK_INVALID);
    wick_error_clear();
    CHECK_INT(wick_route_describe(device, 0, false, NULL), WICK_INVALID);
    wick_error_clear();
    CHECK_INT(wick_route_count(NULL), 0);
}

/* Without the log being asked, nothing is said of products that a route leaves. */
static void check_reasons(void) {
    CHECK_INT(passed_over, 0);
    wick_log_set(on_log, NULL, WICK_LOG_DEBUG);
    CHECK_OK(wick_blas_set(device, WICK_BLAS_OWN));
    check_product();
    CHECK_OK(wick_blas_set(device, WICK_BLAS_AUTO));
    check_product(); /* small */
    CHECK_INT(passed_over, 2);
    wick_log_set(on_log, NULL, WICK_LOG_ERROR);
}

int main(int argc, char **argv) {
    const char *mode = argc > 2 ? argv[2] : "good";
    struct wick_blas_info before, after;
    bool flush = strcmp(mode, "flush") == 0, good = flush || strcmp(mode, "good") == 0;
    bool wrong = strcmp(mode, "wrong") == 0, absent = strcmp(mode, "absent") == 0;
    enum wick_blas_verdict verdict = good ? WICK_BLAS_GOOD : wrong ? WICK_BLAS_WRONG : WICK_BLAS_ABSENT;
    if (absent) {
        setenv("WICK_ROCBLAS_PATH", "/proc/self/nowhere/librocblas.so.4", 1);
        setenv("WICK_CUBLAS_PATH", "/proc/self/nowhere/libcublas.so.13", 1);
        setenv("WICK_HIPBLASLT_PATH", "/proc/self/nowhere/libhipblaslt.so.0", 1);
        setenv("WICK_CUBLASLT_PATH", "/proc/self/nowhere/libcublasLt.so.13", 1);
    } else {
        setenv("STANDIN_BLAS", mode, 1);
    }
    wick_log_set(on_log, NULL, WICK_LOG_ERROR);
    device = wick_device_open(argc > 1 ? argv[1] : "rocm:0");
    if (!device) test_skip(wick_error());
    check_product(); /* the first product checks the dtype by itself */
    CHECK_OK(wick_blas_set(device, WICK_BLAS_VENDOR));
    check_product();
    if (absent)
        check_absent();
    else
        check_verdicts(verdict, flush ? WICK_BLAS_FLUSHES : verdict);
    CHECK_INT(complaints, wrong ? 6 : 0);
    CHECK_OK(wick_blas_describe(device, false, &before));
    check_product();
    CHECK_OK(wick_blas_describe(device, false, &after));
    CHECK_INT(after.used - before.used, good);
    CHECK_INT(after.refused - before.refused, strcmp(mode, "refuse") == 0);
    CHECK_OK(wick_blas_set(device, WICK_BLAS_OWN));
    check_product();
    CHECK_OK(wick_blas_describe(device, false, &before));
    CHECK_INT(before.used, after.used);
    check_flush(flush);
    check_routes(absent);
    check_reasons();
    wick_device_close(device);
    return test_end();
}
