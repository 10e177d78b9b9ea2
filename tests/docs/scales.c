/* The table of scales in docs/numerics.md says what `wick verify` allows: its rows are those of verify/scales.def,
 * which the references compute with, and their ops exist. */
#include "tests/test.h"

static char page[1 << 16];

/* Replaces each `from` in the text. */
static void replace(char *text, size_t size, const char *from, const char *to) {
    for (char *at = text; (at = strstr(at, from)); at += strlen(to)) {
        size_t rest = strlen(at + strlen(from)) + 1;
        if ((size_t)(at - text) + strlen(to) + rest > size) return;
        memmove(at + strlen(to), at + strlen(from), rest);
        memcpy(at, to, strlen(to));
    }
}

/* Each word is an op, or a family and "/". */
static void check_ops(const char *ops) {
    char copy[256], *rest = NULL;
    snprintf(copy, sizeof copy, "%s", ops);
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        enum wick_op op;
        bool known = wick_op_from_name(word, &op);
        size_t n = strlen(word) - 1;
        for (int i = 0; i < WICK_OP_COUNT && !known && word[n] == '/'; i++) {
            const char *family = wick_op_family((enum wick_op)i);
            known = strlen(family) == n && memcmp(family, word, n) == 0;
        }
        TEST_CHECK_(known, "%s is no op, and no family", word);
    }
}

static int rows; /* of the def */

static void check_row(const char *name, const char *formula, const char *ops, const char *where) {
    char shown[160], row[640];
    snprintf(shown, sizeof shown, "%s", formula);
    replace(shown, sizeof shown, "fmin(", "min(");
    replace(shown, sizeof shown, "0x1p-40L", "2^-40");
    replace(shown, sizeof shown, "0x1p-23", "2^-23");
    snprintf(row, sizeof row, "\n| %s | `%s` | %s |\n", *ops ? ops : name, shown, where);
    TEST_CHECK_(strstr(page, row) != NULL, "docs/numerics.md lacks the row%s", row);
    check_ops(ops);
    rows++;
}

int main(void) {
    FILE *file = fopen("docs/numerics.md", "r");
    size_t n = file ? fread(page, 1, sizeof page - 1, file) : 0;
    CHECK(n > 0 && n < sizeof page - 1);
    if (file) fclose(file);
#define SCALE(name, parameters, formula, ops, where) check_row(#name, #formula, ops, where);
#include "verify/scales.def"
#undef SCALE
    const char *table = strstr(page, "| ops | scale |");
    int lines = 0;
    for (; table && *table == '|'; table = strchr(table, '\n') + 1) lines++;
    CHECK_INT(lines, rows + 2);
    return test_end();
}
