/* Lists of checks in files, one a line: OP DTYPE CASE LAYOUT. Empty lines and those that begin with # say nothing. */
#include "verify/driver.h"

#include "core/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool parse(const char *line, struct verify_listed *entry) {
    char op[64], dtype[16], layout[32], more;
    if (sscanf(line, "%63s %15s %d %31s %c", op, dtype, &entry->k, layout, &more) != 4 || entry->k < 0) return false;
    if (!wick_op_from_name(op, &entry->op) || !wick_dtype_from_name(dtype, &entry->dtype)) return false;
    entry->variant = 0;
    while (verify_variant_name(entry->variant) && strcmp(layout, verify_variant_name(entry->variant)) != 0)
        entry->variant++;
    return verify_variant_name(entry->variant) != NULL;
}

static enum wick_status add(struct verify_list *list, const struct verify_listed *entry) {
    if ((list->n & (list->n - 1)) == 0) { /* full at the powers of two */
        struct verify_listed *more = realloc(list->entry, sizeof *more * (size_t)(list->n ? 2 * list->n : 1));
        if (!more) return wick__fail(WICK_MEMORY, "verify: out of memory for a list of %d checks", list->n);
        list->entry = more;
    }
    list->entry[list->n++] = *entry;
    return WICK_OK;
}

/* By op, dtype, case and layout. */
static int compare(const void *a, const void *b) {
    const struct verify_listed *x = a, *y = b;
    if (x->op != y->op) return x->op < y->op ? -1 : 1;
    if (x->dtype != y->dtype) return x->dtype < y->dtype ? -1 : 1;
    if (x->k != y->k) return x->k < y->k ? -1 : 1;
    return (x->variant > y->variant) - (x->variant < y->variant);
}

static void sort(struct verify_list *list) {
    int kept = 0;
    if (list->n == 0) return;
    qsort(list->entry, (size_t)list->n, sizeof *list->entry, compare);
    for (int i = 0; i < list->n; i++)
        if (i == 0 || compare(&list->entry[i], &list->entry[kept - 1]) != 0) list->entry[kept++] = list->entry[i];
    list->n = kept;
}

enum wick_status verify_list_read(const char *path, struct verify_list *list) {
    char line[256];
    enum wick_status status = WICK_OK;
    *list = (struct verify_list){0};
    FILE *file = fopen(path, "r");
    if (!file) return wick__fail(WICK_IO, "verify: %s can't be read: %s", path, strerror(errno));
    for (int number = 1; status == WICK_OK && fgets(line, sizeof line, file); number++) {
        struct verify_listed entry;
        if (line[strspn(line, " \t\r\n")] == '\0' || line[0] == '#') continue;
        status = parse(line, &entry)
                     ? add(list, &entry)
                     : wick__fail(WICK_INVALID, "verify: line %d of %s is not OP DTYPE CASE LAYOUT", number, path);
    }
    fclose(file);
    sort(list);
    return status;
}

void verify_list_free(struct verify_list *list) { free(list->entry); }
