/* Tensors of quantised dtypes: made from bytes, read, viewed by rows, refused by name where a block would be cut or
 * arithmetic would be needed. On the device named in argv[1]; texts of refusals on the CPU alone. */
#include "tests/test.h"

static struct wick_device *device;

enum { ROW = 2 * 18 }; /* two blocks of q4_0, 64 elements */

/* Row r of matrix b of a [2,3,64] tensor. */
static void fill_row(unsigned char *row, int b, int r) {
    for (int j = 0; j < ROW; j++) row[j] = (unsigned char)(100 * b + 30 * r + j);
}

static struct wick_tensor *make(void) {
    unsigned char bytes[6 * ROW];
    for (int i = 0; i < 6; i++) fill_row(bytes + i * ROW, i / 3, i % 3);
    return wick_from_data(device, WICK_DTYPE_q4_0, WICK_SHAPE(2, 3, 64), bytes, sizeof bytes);
}

/* x is these rows of `make`, one after the other: pairs b, r. */
static void check_rows(struct wick_tensor *x, int n, const int (*rows)[2]) {
    unsigned char want[16 * ROW], got[16 * ROW];
    for (int i = 0; i < n; i++) fill_row(want + i * ROW, rows[i][0], rows[i][1]);
    CHECK(x != NULL);
    CHECK_OK(wick_read(x, got, (size_t)(n * ROW)));
    CHECK_BYTES(got, want, (size_t)(n * ROW));
    struct wick_tensor *y = wick_contiguous(x);
    CHECK(wick_tensor_is_contiguous(y));
    CHECK_OK(wick_read(y, got, (size_t)(n * ROW)));
    CHECK_BYTES(got, want, (size_t)(n * ROW));
}
#define ROWS(...)                                                                                                      \
    sizeof((int[][2]){__VA_ARGS__}) / sizeof(int[2]), (const int[][2]) { __VA_ARGS__ }

static void check_traits(void) {
    CHECK_INT(wick_dtype_block(WICK_F32), 1);
    CHECK_INT(wick_dtype_block_bytes(WICK_F32), 4);
    CHECK_INT(wick_dtype_block(WICK_DTYPE_q6_k), 256);
    CHECK_INT(wick_dtype_block_bytes(WICK_DTYPE_q6_k), 210);
    CHECK_INT(wick_dtype_bits(WICK_DTYPE_q6_k), 0);
    CHECK_INT(wick_dtype_bits(WICK_DTYPE_f4), 4);
    CHECK_INT(wick_dtype_bits(WICK_DTYPE_f6e2m3), 6);
    CHECK_INT(wick_dtype_kind(WICK_DTYPE_q8_1), WICK_DTYPE_KIND_QUANTISED);
    CHECK_INT(wick_dtype_kind(WICK_DTYPE_COUNT), WICK_DTYPE_KIND_NONE);
    CHECK_INT(wick_dtype_block(WICK_DTYPE_COUNT), 0);
    CHECK(!wick_dtype_is_float(WICK_DTYPE_q8_1));
}

static void check_views(void) {
    struct wick_tensor *x = make();
    check_rows(x, ROWS({0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}));
    check_rows(wick_select(x, 0, 1), ROWS({1, 0}, {1, 1}, {1, 2}));
    check_rows(wick_select(x, 1, 2), ROWS({0, 2}, {1, 2}));
    check_rows(wick_narrow(x, 1, 1, 2), ROWS({0, 1}, {0, 2}, {1, 1}, {1, 2}));
    check_rows(wick_slice(x, 1, 0, 3, 2), ROWS({0, 0}, {0, 2}, {1, 0}, {1, 2}));
    check_rows(wick_transpose(x, 0, 1), ROWS({0, 0}, {1, 0}, {0, 1}, {1, 1}, {0, 2}, {1, 2}));
    check_rows(wick_reshape(wick_narrow(x, 1, 1, 2), WICK_SHAPE(1, 4, 64)), ROWS({0, 1}, {0, 2}, {1, 1}, {1, 2}));
    check_rows(wick_reshape(x, WICK_SHAPE(12, 32)), ROWS({0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}));
    check_rows(wick_flatten(x, 0, -1), ROWS({0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}));
    check_rows(wick_broadcast_to(wick_narrow(x, 0, 1, 1), WICK_SHAPE(2, 3, 64)),
               ROWS({1, 0}, {1, 1}, {1, 2}, {1, 0}, {1, 1}, {1, 2}));
    check_rows(wick_unsqueeze(wick_select(wick_select(x, 0, 1), 0, 2), 0), ROWS({1, 2}));
    /* A whole block of each row. */
    unsigned char got[6 * 18], want[ROW];
    CHECK_OK(wick_read(wick_narrow(x, 2, 32, 32), got, sizeof got));
    for (int i = 0; i < 6; i++) {
        fill_row(want, i / 3, i % 3);
        CHECK_BYTES(got + 18 * i, want + 18, 18);
    }
    struct wick_tensor *empty = wick_narrow(x, 1, 0, 0);
    CHECK_OK(wick_read(empty, NULL, 0));
}

/* By whatever text. */
#define REFUSED(call)                                                                                                  \
    do {                                                                                                               \
        wick_error_clear();                                                                                            \
        (void)!(call);                                                                                                 \
        CHECK_INT(wick_error_status(), WICK_UNSUPPORTED);                                                              \
        wick_error_clear();                                                                                            \
    } while (0)

static void check_refusals(void) {
    struct wick_tensor *x = make();
#define CUT(shape)                                                                                                     \
    "x [2,3,64] q4_0 on cpu: a view " shape " would cut or scatter the blocks of 32 elements that make up q4_0"
    CHECK_FAILS(wick_narrow(x, 2, 0, 48), WICK_UNSUPPORTED, "narrow: " CUT("[2,3,48]"));
    CHECK_FAILS(wick_narrow(x, 2, 16, 32), WICK_UNSUPPORTED, "narrow: " CUT("[2,3,32]"));
    CHECK_FAILS(wick_select(x, 2, 0), WICK_UNSUPPORTED, "select: " CUT("[2,3]"));
    CHECK_FAILS(wick_slice(x, 2, 0, 64, 2), WICK_UNSUPPORTED, "slice: " CUT("[2,3,32]"));
    CHECK_FAILS(wick_transpose(x, 1, 2), WICK_UNSUPPORTED, "transpose: " CUT("[2,64,3]"));
    CHECK_FAILS(wick_reshape(x, WICK_SHAPE(24, 16)), WICK_UNSUPPORTED, "reshape: " CUT("[24,16]"));
    CHECK_FAILS(wick_reshape(x, WICK_SHAPE(6, 64, 1)), WICK_UNSUPPORTED, "reshape: " CUT("[6,64,1]"));
    CHECK_FAILS(wick_unsqueeze(x, -1), WICK_UNSUPPORTED, "unsqueeze: " CUT("[2,3,64,1]"));
    REFUSED(wick_unfold(x, 2, 32, 16));
    struct wick_tensor *parts[4];
    REFUSED(wick_chunk(x, 4, 2, parts));
    CHECK_FAILS(wick_empty(device, WICK_DTYPE_q4_0, WICK_SHAPE(2, 33)), WICK_SHAPE,
                "empty: shape [2,33] q4_0: the last dim is not a multiple of the 32 elements of a block");
    CHECK_FAILS(wick_empty(device, WICK_DTYPE_q6_k, 0, NULL), WICK_SHAPE,
                "empty: shape [] q6_k: the last dim is not a multiple of the 256 elements of a block");
    CHECK_FAILS(wick_add(x, x), WICK_UNSUPPORTED,
                "add: lhs [2,3,64] q4_0, rhs [2,3,64] q4_0 on cpu: cpu has no add for q4_0");
    CHECK_FAILS(wick_exp(x), WICK_UNSUPPORTED, "exp: x [2,3,64] q4_0 on cpu: cpu has no exp for q4_0");
    CHECK_FAILS(wick_cast(x, WICK_I32), WICK_UNSUPPORTED,
                "dequantise: x [2,3,64] q4_0 on cpu: blocks become f32, f16 or bf16, not i32");
    CHECK_FAILS(
        wick_index_select(x, 2, x), WICK_DTYPE,
        "index_select: x [2,3,64] q4_0, ids [2,3,64] q4_0 on cpu: ids must be of u8, u32, i16, i32 or i64, not of "
        "q4_0");
    struct wick_tensor *ids = wick_zeros(device, WICK_I64, WICK_SHAPE(1)),
                       *y = wick_zeros(device, WICK_F64, WICK_SHAPE(4, 64));
    CHECK_FAILS(
        wick_index_select(x, -1, ids), WICK_UNSUPPORTED,
        "index_select: x [2,3,64] q4_0, ids [1] i64 on cpu: the last dim of q4_0 consists of blocks, not elements");
    CHECK_FAILS(wick_linear(y, wick_select(x, 0, 0), NULL, WICK_ACTIVATION_NONE), WICK_UNSUPPORTED,
                "linear_quantised: x [4,64] f64, weight [3,64] q4_0 on cpu: cpu has no linear_quantised for f64");
    CHECK_FAILS(wick_zeros(device, WICK_DTYPE_q4_0, WICK_SHAPE(2, 32)), WICK_UNSUPPORTED,
                "full: cpu has no full for q4_0");
    REFUSED(wick_cat(1, &x, 0));
    x = wick_empty(device, WICK_DTYPE_f4, WICK_SHAPE(4, 4));
    CHECK_FAILS(
        wick_narrow(x, 1, 1, 2), WICK_UNSUPPORTED,
        "narrow: x [4,4] f4 on cpu: a view [4,2] would cut or scatter the blocks of 2 elements that make up f4");
    REFUSED(wick_t(x));
    CHECK(wick_supports(device, WICK_OP_narrow, WICK_DTYPE_q2_0) &&
          !wick_supports(device, WICK_OP_matmul, WICK_DTYPE_q2_0));
}

/* Floats packed below a byte: whole tensors of any size, and views of whole blocks. */
static void check_packed(void) {
    unsigned char bytes[] = {0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe}, back[4];
    struct wick_tensor *x = wick_from_data(device, WICK_DTYPE_f4, WICK_SHAPE(4, 4), bytes, sizeof bytes);
    CHECK_OK(wick_read(wick_select(x, 0, 2), back, 2));
    CHECK_BYTES(back, bytes + 4, 2);
    CHECK_OK(wick_read(wick_narrow(x, 1, 2, 2), back, 4));
    CHECK_BYTES(back, ((unsigned char[]){0x32, 0x76, 0xba, 0xfe}), 4);
}

int main(int argc, char **argv) {
    device = wick_device_open(argc > 1 ? argv[1] : "cpu");
    if (!device) return 1;
    wick_scope_begin();
    check_traits();
    check_views();
    if (argc <= 1) check_refusals();
    check_packed();
    wick_scope_end(NULL);
    wick_device_close(device);
    return test_end();
}
