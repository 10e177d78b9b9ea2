/* What the table-driven cases of the elementwise ops do not say: refusals and their texts, overlapping copies, large
 * transposed operands, single elements. */
#include "tests/test.h"

static struct wick_device *cpu;

/* The call fails with the status, and its text is `text`. */
static void test_refusals(void) {
    wick_scope_begin();
    struct wick_tensor *a = wick_ones(cpu, WICK_F32, WICK_SHAPE(2, 3)), *b = wick_ones(cpu, WICK_F32, WICK_SHAPE(4));
    struct wick_tensor *i = wick_ones(cpu, WICK_I32, WICK_SHAPE(3)), *zero = wick_zeros(cpu, WICK_I32, WICK_SHAPE(3));
    CHECK_FAILS(wick_add(a, b), WICK_SHAPE,
                "add: lhs [2,3] f32, rhs [4] f32 on cpu: shapes do not broadcast: sizes must be equal, 1 or missing");
    CHECK_FAILS(wick_add(a, i), WICK_DTYPE,
                "add: lhs [2,3] f32, rhs [3] i32 on cpu: dtypes differ, lhs has f32 and rhs has i32");
    CHECK_FAILS(wick_add(a, NULL), WICK_INVALID, "add: rhs is NULL");
    CHECK_FAILS(wick_exp(i), WICK_UNSUPPORTED, "exp: x [3] i32 on cpu: cpu has no exp for i32");
    CHECK_FAILS(wick_bitwise_and(a, a), WICK_UNSUPPORTED,
                "bitwise_and: lhs [2,3] f32, rhs [2,3] f32 on cpu: cpu has no bitwise_and for f32");
    CHECK_FAILS(wick_div(i, zero), WICK_DIVIDE, "div: lhs [3] i32, rhs [3] i32 on cpu: integer division by zero");
    CHECK_FAILS(wick_div_scalar(i, WICK_INT(0)), WICK_DIVIDE,
                "div_scalar: x [3] i32 on cpu: integer division by zero: 0 is 0 as an integer");
    CHECK_FAILS(wick_clamp(a, WICK_REAL(NAN), WICK_INT(1)), WICK_INVALID,
                "clamp: x [2,3] f32 on cpu: bounds nan and 1: NaN bounds nothing");
    CHECK_FAILS(
        wick_prelu(a, b), WICK_SHAPE,
        "prelu: x [2,3] f32, weight [4] f32 on cpu: weight has neither one element nor one for each of 3 channels");
    CHECK_FAILS(wick_swiglu(a), WICK_SHAPE, "swiglu: x [2,3] f32 on cpu: the last dim has no two halves");
    CHECK_FAILS(
        wick_where(a, a, a), WICK_DTYPE,
        "where: a [2,3] f32, b [2,3] f32, condition [2,3] f32 on cpu: condition must be of u8, u32, i16, i32 or "
        "i64, not of f32");
    CHECK_FAILS(wick_arange(cpu, WICK_F32, WICK_INT(0), WICK_INT(1), WICK_INT(0)), WICK_INVALID,
                "arange: from 0 below 1 by 0: all must be finite and the step not 0");
    wick_scope_end(NULL);
}

/* The same for two tensors over a caller's memory, which share no buffer of the library's. */
static void test_same_memory(void) {
    enum { N = 3000 };
    static int32_t memory[N + 1];
    for (int up = 0; up < 2; up++) {
        for (int i = 0; i <= N; i++) memory[i] = i;
        struct wick_memory_block block[2] = {{.data = memory, .nbytes = N * sizeof *memory},
                                             {.data = memory + 1, .nbytes = N * sizeof *memory}};
        struct wick_tensor *to = wick_from_memory(cpu, WICK_I32, WICK_SHAPE(N), &block[up]);
        struct wick_tensor *from = wick_from_memory(cpu, WICK_I32, WICK_SHAPE(N), &block[1 - up]);
        CHECK_OK(wick_copy_inplace(to, from));
        for (int i = up; i < N + up; i++) CHECK_INT(memory[i], up ? i - 1 : i + 1);
    }
}

/* Shifting a vector by one in place, both ways, as if the source were read first. */
static void test_overlap(void) {
    enum { N = 3000 };
    wick_scope_begin();
    for (int up = 0; up < 2; up++) {
        static int32_t got[N];
        struct wick_tensor *x = wick_arange(cpu, WICK_I32, WICK_INT(0), WICK_INT(N), WICK_INT(1));
        CHECK_INT(wick_copy_inplace(wick_narrow(x, 0, up, N - 1), wick_narrow(x, 0, 1 - up, N - 1)), WICK_OK);
        CHECK_INT(wick_read(x, got, sizeof got), WICK_OK);
        for (int i = up; i < N - 1 + up; i++) CHECK_INT(got[i], up ? i - 1 : i + 1);
    }
    test_same_memory();
    struct wick_tensor *row = wick_zeros(cpu, WICK_F32, WICK_SHAPE(1, 4));
    struct wick_tensor *wide = wick_broadcast_to(row, WICK_SHAPE(3, 4));
    CHECK_INT(wick_fill_inplace(wide, WICK_INT(1)), WICK_INVALID);
    CHECK_INT(wick_error_status(), WICK_INVALID);
    wick_error_clear();
    wick_scope_end(NULL);
}

/* Large enough to be turned by a copy first, in shapes that the blocks of the copy do not divide. */
static void test_transposed(void) {
    enum { ROWS = 517, COLUMNS = 389 };
    static float got[COLUMNS * ROWS];
    wick_scope_begin();
    struct wick_tensor *x = wick_reshape(wick_arange(cpu, WICK_F32, WICK_INT(0), WICK_INT(ROWS * COLUMNS), WICK_INT(1)),
                                         WICK_SHAPE(ROWS, COLUMNS));
    struct wick_tensor *t = wick_transpose(x, 0, 1);
    struct wick_tensor *sum = wick_add(t, wick_contiguous(t));
    CHECK_INT(wick_read(sum, got, sizeof got), WICK_OK);
    int64_t bad = 0;
    for (int c = 0; c < COLUMNS; c++)
        for (int r = 0; r < ROWS; r++) bad += got[c * ROWS + r] != 2.0f * (float)(r * COLUMNS + c);
    CHECK_INT(bad, 0);
    wick_scope_end(NULL);
}

static void test_single(void) {
    double value = 0;
    wick_scope_begin();
    CHECK_INT(wick_read_scalar(wick_full(cpu, WICK_BF16, 0, NULL, WICK_REAL(2.5)), &value), WICK_OK);
    CHECK_NEAR(value, 2.5, 0);
    CHECK_INT(wick_read_scalar(wick_ones(cpu, WICK_F32, WICK_SHAPE(2)), &value), WICK_SHAPE);
    CHECK_TEXT(wick_error(), "read_scalar: x [2] f32 on cpu has not one element");
    wick_error_clear();
    struct wick_tensor *x = wick_ones(cpu, WICK_F32, WICK_SHAPE(2));
    CHECK(wick_tensor_data(wick_to_device(x, cpu)) == wick_tensor_data(x));
    CHECK(wick_tensor_data(wick_cast(x, WICK_F32)) == wick_tensor_data(x));
    wick_scope_end(NULL);
}

/* Far tails, by decimal arithmetic of 40 digits: e^-x is infinite here, and the results are not 0. */
static void test_tails(void) {
    wick_scope_begin();
    const float x[] = {-89, -100, -150, 1e38f};
    const double y[] = {-710, -740};
    float got[2];
    double wide[2];
    struct wick_tensor *f = wick_from_data(cpu, WICK_F32, WICK_SHAPE(2), x, 2 * sizeof *x),
                       *one = wick_ones(cpu, WICK_F32, WICK_SHAPE(1, 1));
    struct wick_tensor *d = wick_from_data(cpu, WICK_F64, WICK_SHAPE(2), y, sizeof y);
    struct wick_tensor *pair = wick_from_data(cpu, WICK_F32, WICK_SHAPE(2), x + 2, 2 * sizeof *x);
#define TAIL(result, to, first, second, bound)                                                                         \
    CHECK_OK(wick_read(result, to, sizeof to));                                                                        \
    CHECK_NEAR((double)to[0] / (first), 1, bound);                                                                     \
    CHECK_NEAR((double)to[1], second, sizeof *to == 4 ? 0x1p-149 : 0x1p-1074)
    TAIL(wick_sigmoid(f), got, 2.22736356179574376e-39, 3.72007597602083612e-44, 1e-6);
    TAIL(wick_silu(f), got, -1.98235356999821197e-37, -3.72007597602083570e-42, 4e-7);
    TAIL(wick_mish(f), got, -1.98235356999821197e-37, -3.72007597602083570e-42, 4e-7);
    TAIL(wick_linear(wick_reshape(f, 2, (const int64_t[]){2, 1}), one, NULL, WICK_ACTIVATION_SILU), got,
         -1.98235356999821197e-37, -3.72007597602083570e-42, 4e-7);
    TAIL(wick_sigmoid(d), wide, 4.47628622567512977e-309, 4.19955798965059563e-322, 1e-14);
    TAIL(wick_silu(d), wide, -3.17816322022934237e-306, -3.09966904887881257e-319, 1e-15);
    CHECK_OK(wick_read(wick_swiglu(pair), got, sizeof *got));
    CHECK_NEAR((double)got[0] / -1.07626439597466145e-25, 1, 5e-7);
    wick_scope_end(NULL);
}

int main(void) {
    cpu = wick_device_open("cpu");
    if (!cpu) return test_end();
    test_refusals();
    test_overlap();
    test_transposed();
    test_single();
    test_tails();
    wick_device_close(cpu);
    return test_end();
}
