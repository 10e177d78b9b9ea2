/* Every op of the table has cases in verify/. */
#include "tests/test.h"
#include "verify/verify.h"

int main(void) {
    for (int op = 0; op < WICK_OP_COUNT; op++) {
        const struct verify_family *family = verify_family((enum wick_op)op);
        int cases = family ? family->cases((enum wick_op)op) : 0;
        TEST_CHECK_(cases > 0, "%s: no cases for family %s", wick_op_name((enum wick_op)op),
                    wick_op_family((enum wick_op)op));
    }
    return test_end();
}
