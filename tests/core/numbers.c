/* Numbers of ops, and what the table says of operands. op-numbers.txt is what programs were built with: a line may be
 * added to it, none may change. */
#include "tests/test.h"

static void check_numbers(void) {
    FILE *file = fopen("tests/core/op-numbers.txt", "r");
    int number, count = 0;
    char name[64];
    CHECK(file != NULL);
    while (file && fscanf(file, "%d %63s", &number, name) == 2) {
        TEST_CHECK_(number == count++, "%s has number %d in line %d", name, number, count);
        CHECK_TEXT(wick_op_name((enum wick_op)number), name);
    }
    if (file) fclose(file);
    TEST_CHECK_(count == WICK_OP_COUNT, "the list has %d ops, the table %d: add the new ones to the list", count,
                (int)WICK_OP_COUNT);
}

static void check_operands(void) {
    CHECK_TEXT(wick_op_operand(WICK_OP_where, 0), "a");
    CHECK_TEXT(wick_op_operand(WICK_OP_where, 2), "condition");
    CHECK_TEXT(wick_op_operand(WICK_OP_linear, 2), "bias?");
    CHECK(!wick_op_operand(WICK_OP_where, 3) && !wick_op_operand(WICK_OP_full, 0));
    CHECK(!wick_op_operand(WICK_OP_where, -1) && !wick_op_operand(WICK_OP_where, 99));
    CHECK(!wick_op_operand(WICK_OP_COUNT, 0) && !wick_op_operand((enum wick_op) - 1, 0));
    CHECK(wick_op_takes(WICK_OP_where, 0, WICK_F16, WICK_F16));
    CHECK(wick_op_takes(WICK_OP_where, 1, WICK_F16, WICK_F16) && !wick_op_takes(WICK_OP_where, 1, WICK_F16, WICK_F32));
    CHECK(wick_op_takes(WICK_OP_where, 2, WICK_F16, WICK_I64) && !wick_op_takes(WICK_OP_where, 2, WICK_F16, WICK_F16));
    CHECK(wick_op_takes(WICK_OP_scaled_dot_product_attention, 3, WICK_F16, WICK_U8));
    CHECK(wick_op_takes(WICK_OP_scaled_dot_product_attention, 3, WICK_F16, WICK_F16));
    CHECK(!wick_op_takes(WICK_OP_scaled_dot_product_attention, 3, WICK_F16, WICK_F32));
    CHECK(!wick_op_takes(WICK_OP_where, 3, WICK_F16, WICK_F16));
    CHECK(!wick_op_takes(WICK_OP_where, 0, WICK_F16, WICK_DTYPE_COUNT));
}

int main(void) {
    check_numbers();
    check_operands();
    return test_end();
}
