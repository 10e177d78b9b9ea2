/* Products with bias and activation on a GPU, through the vendor's libraries: right whether these are right, wrong,
 * refuse, fail or are not there, and through cuBLASLt or hipBLASLt where that is right. argv: the device, and what
 * STANDIN_BLAS makes of the libraries: good, wrong, refuse, flush, epilogue, rough, absent; or a function of cuBLASLt
 * or hipBLASLt, which fails. */
#include "tests/test.h"

#include <stdlib.h>

static struct wick_device *device;
static const enum wick_dtype dtypes[] = {WICK_BF16, WICK_F16, WICK_F32};
static const enum wick_activation activations[] = {
    WICK_ACTIVATION_NONE, WICK_ACTIVATION_RELU, WICK_ACTIVATION_GELU_TANH, WICK_ACTIVATION_GELU, WICK_ACTIVATION_SILU};
enum { MOST = 520 };

/* Operands that every dtype holds; the bias takes most of each sum away. */
static double x_at(int i, int k) { return (i * 5 + k * 3) % 7 - 3; }
static double w_at(int j, int k) { return ((j * 7 + k * 2) % 5 - 2) / 16.0; }
static double bias_at(int j) { return (j * 3 % 11 - 5) / 4.0; }

static double activated(enum wick_activation activation, double x) {
    switch (activation) {
    case WICK_ACTIVATION_RELU: return x > 0 ? x : 0;
    case WICK_ACTIVATION_GELU: return x / 2 * (1 + erf(x / sqrt(2)));
    case WICK_ACTIVATION_GELU_TANH: return x / 2 * (1 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
    case WICK_ACTIVATION_SILU: return x / (1 + exp(-x));
    default: return x;
    }
}

/* A product of rows m x k and columns n x k. Small ones are not the libraries' unless all are. */
struct size {
    int m, n, k;
};

static struct wick_tensor *upload(enum wick_dtype dtype, int rows, int columns, double (*at)(int, int)) {
    static float values[MOST * MOST];
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < columns; k++) values[i * columns + k] = (float)at(i, k);
    size_t nbytes = (size_t)rows * (size_t)columns * sizeof *values;
    return wick_cast(wick_from_data(device, WICK_F32, WICK_SHAPE(rows, columns), values, nbytes), dtype);
}

static double bias_row(int i, int j) {
    (void)i;
    return bias_at(j);
}

/* Computes, and compares each element: rounded once, from sums of which f32 keeps all but the last bits. */
static void check_linear(enum wick_dtype dtype, struct size s, enum wick_activation activation, bool biased) {
    static float got[MOST * MOST];
    double unit = dtype == WICK_BF16 ? 0x1p-8 : dtype == WICK_F16 ? 0x1p-11 : 0x1p-21;
    int bad = 0;
    wick_scope_begin();
    struct wick_tensor *x = upload(dtype, s.m, s.k, x_at), *w = upload(dtype, s.n, s.k, w_at);
    struct wick_tensor *bias = biased ? wick_reshape(upload(dtype, 1, s.n, bias_row), WICK_SHAPE(s.n)) : NULL;
    struct wick_tensor *y = wick_cast(wick_linear(x, w, bias, activation), WICK_F32);
    CHECK_OK(wick_read(y, got, (size_t)s.m * (size_t)s.n * sizeof *got));
    for (int i = 0; i < s.m; i++)
        for (int j = 0; j < s.n; j++) {
            double sum = biased ? bias_at(j) : 0;
            for (int k = 0; k < s.k; k++) sum += x_at(i, k) * w_at(j, k);
            double want = activated(activation, sum);
            bad += !(fabs(got[i * s.n + j] - want) <= unit * fabs(want) + 0x1p-18 * (fabs(sum) + 1));
        }
    CHECK_INT(bad, 0);
    wick_scope_end(NULL);
}

static void check_all(struct size s) {
    for (int d = 0; d < 3; d++)
        for (int a = 0; a < 5; a++)
            for (int biased = 0; biased < 2; biased++) check_linear(dtypes[d], s, activations[a], biased);
}

/* What is known of the route of a name. */
static struct wick_route_info route(const char *name) {
    struct wick_route_info info = {0};
    for (int i = 0; i < wick_route_count(device); i++) {
        CHECK_OK(wick_route_describe(device, i, false, &info));
        if (strcmp(info.name, name) == 0) return info;
    }
    return (struct wick_route_info){.verdict = ""};
}

/* cuBLASLt runs what it has; the rest is cuBLAS's, over sums in f32, where that is wanted. */
static void check_counts(void) {
    const struct size s = {32, 48, 64}, odd = {32, 48, 61};
    CHECK_OK(wick_blas_set(device, WICK_BLAS_VENDOR));
    int64_t lt = route("BLASLt").used, blas = route("BLAS").used;
    for (int d = 0; d < 3; d++)
        for (int a = 0; a < 5; a++) check_linear(dtypes[d], s, activations[a], true);
    CHECK_INT(route("BLASLt").used - lt, 9);
    CHECK_INT(route("BLAS").used - blas, 6);
    /* Of 16 bits, those whose rows start at multiples of 16 bytes. */
    lt = route("BLASLt").used;
    for (int d = 0; d < 3; d++) check_linear(dtypes[d], odd, WICK_ACTIVATION_RELU, true);
    CHECK_INT(route("BLASLt").used - lt, 1);
    /* Large ones are taken unasked; cuBLAS isn't, where rows don't start so. */
    CHECK_OK(wick_blas_set(device, WICK_BLAS_AUTO));
    lt = route("BLASLt").used;
    check_linear(WICK_BF16, (struct size){512, 512, 512}, WICK_ACTIVATION_RELU, true);
    CHECK_INT(route("BLASLt").used - lt, 1);
    check_linear(WICK_BF16, (struct size){512, 512, 515}, WICK_ACTIVATION_RELU, true);
    check_linear(WICK_F16, (struct size){512, 513, 512}, WICK_ACTIVATION_RELU, true);
    check_linear(WICK_BF16, s, WICK_ACTIVATION_RELU, true);
    CHECK_INT(route("BLASLt").used - lt, 1);
    /* Of f32 too, except where ours are known to be faster. */
    struct wick_device_info info;
    CHECK_OK(wick_device_describe(device, &info));
    check_linear(WICK_F32, (struct size){512, 513, 515}, WICK_ACTIVATION_RELU, true);
    CHECK_INT(route("BLASLt").used - lt, strncmp(info.isa, "sm_90", 5) == 0 ? 1 : 2);
}

/* A graph does not search: its product is a route's only if the shape was met before. */
static void check_graph(bool known) {
    float zero[40 * 24] = {0}, got[40 * 24];
    wick_scope_begin();
    struct wick_tensor *x = upload(WICK_F32, 40, 56, x_at), *w = upload(WICK_F32, 24, 56, w_at);
    struct wick_tensor *bias = wick_reshape(upload(WICK_F32, 1, 24, bias_row), WICK_SHAPE(24));
    CHECK_OK(wick_blas_set(device, WICK_BLAS_VENDOR));
    if (known) CHECK_OK(wick_read(wick_linear(x, w, bias, WICK_ACTIVATION_RELU), got, sizeof got));
    CHECK_OK(wick_device_sync(device));
    int64_t used = route("BLASLt").used;
    CHECK_OK(wick_graph_begin(device));
    struct wick_tensor *y = wick_linear(x, w, bias, WICK_ACTIVATION_RELU);
    struct wick_graph *graph = wick_graph_end(device);
    CHECK_INT(route("BLASLt").used - used, known);
    CHECK_OK(wick_graph_launch(graph));
    CHECK_OK(wick_read(y, got, sizeof got));
    for (int p = 0; p < 40 * 24; p++) {
        double sum = bias_at(p % 24);
        for (int k = 0; k < 56; k++) sum += x_at(p / 24, k) * w_at(p % 24, k);
        zero[p] = (float)activated(WICK_ACTIVATION_RELU, sum);
    }
    CHECK_BYTES(got, zero, sizeof got);
    wick_graph_free(graph);
    wick_scope_end(NULL);
}

/* More shapes than there is room for plans. */
static void check_many(void) {
    CHECK_OK(wick_blas_set(device, WICK_BLAS_VENDOR));
    int64_t used = route("BLASLt").used;
    for (int n = 1; n <= 20; n++)
        for (int k = 1; k <= 20; k++) check_linear(WICK_F32, (struct size){3, n, k}, WICK_ACTIVATION_RELU, true);
    CHECK_INT(route("BLASLt").used - used, 400);
}

static bool says(const char *what) { return strstr(route("BLASLt").verdict, what) != NULL; }

static void check_verdicts(const char *mode) {
    struct wick_route_info info;
    for (int i = 0; i < wick_route_count(device); i++) CHECK_OK(wick_route_describe(device, i, true, &info));
    if (strcmp(mode, "good") == 0)
        CHECK(says(
            "right for bf16, bf16 relu, bf16 gelu_tanh, f16, f16 relu, f16 gelu_tanh, f32, f32 relu, f32 gelu_tanh"));
    if (strcmp(mode, "wrong") == 0) CHECK(says("WRONG for bf16, bf16 relu, bf16 gelu_tanh, f16, f16 relu"));
    if (strcmp(mode, "epilogue") == 0)
        CHECK(says("right for f32, f32 relu, f32 gelu_tanh; WRONG for bf16, bf16 relu, bf16 gelu_tanh, f16, f16 relu"));
    if (strcmp(mode, "flush") == 0) CHECK(says("takes subnormal operands as 0 in f16, f16 relu, f16 gelu_tanh"));
    if (strcmp(mode, "rough") == 0) CHECK(says("less exact than ours in bf16 gelu_tanh, f16 gelu_tanh, f32 gelu_tanh"));
    if (strcmp(mode, "refuse") == 0) CHECK(says("refuses bf16, bf16 relu"));
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "cuda:0", *mode = argc > 2 ? argv[2] : "good";
    bool fails = strstr(mode, "blasLt") != NULL;
    char fault[128];
    if (strcmp(mode, "absent") == 0) {
        setenv("WICK_CUBLASLT_PATH", "/proc/self/nowhere/libcublasLt.so.13", 1);
        setenv("WICK_HIPBLASLT_PATH", "/proc/self/nowhere/libhipblaslt.so.0", 1);
    } else if (fails)
        snprintf(fault, sizeof fault, "%s:%s", mode, argc > 3 ? argv[3] : "1+=1"), setenv("STANDIN_FAIL", fault, 1);
    else
        setenv("STANDIN_BLAS", mode, 1);
    device = wick_device_open(name);
    if (!device) test_skip(wick_error());
    for (int choice = fails ? WICK_BLAS_VENDOR : WICK_BLAS_AUTO; choice <= WICK_BLAS_VENDOR; choice++) {
        CHECK_OK(wick_blas_set(device, (enum wick_blas)choice));
        /* Flushing and all that is wrong for small operands alone stays unseen with these. */
        if (!fails) check_all((struct size){24, 40, 72});
        check_all((struct size){17, 33, 29});
        check_linear(WICK_BF16, (struct size){128, 128, 128}, WICK_ACTIVATION_GELU_TANH, true);
    }
    if (!fails) check_verdicts(mode);
    if (strcmp(mode, "good") == 0) {
        check_counts();
        check_graph(false);
        check_graph(true);
        check_many();
    }
    if (strcmp(mode, "absent") == 0) CHECK(!route("BLASLt").library && route("BLASLt").fault);
    wick_device_close(device);
    return test_end();
}
