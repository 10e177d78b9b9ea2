/* Checks on the names under which tensors are written. */
#include "format/archive.h"

#include "core/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <utf8proc.h>

static int compare(const void *a, const void *b) {
    const char *const *x = a, *const *y = b;
    return strcmp(*x, *y);
}

bool wick__is_utf8(const char *text) {
    const utf8proc_uint8_t *at = (const utf8proc_uint8_t *)text;
    while (*at) {
        utf8proc_int32_t code;
        utf8proc_ssize_t step = utf8proc_iterate(at, -1, &code);
        if (step <= 0) return false;
        at += step;
    }
    return true;
}

enum wick_status wick__names_check(const char *op, int64_t n, const char *const *names,
                                   const struct wick_tensor *const *tensors) {
    char quoted[WICK__QUOTED];
    if (n < 0 || (n > 0 && (!names || !tensors)))
        return wick__fail(WICK_INVALID, "%s: n is %" PRId64 " and names or tensors is NULL", op, n);
    for (int64_t i = 0; i < n; i++) {
        if (!names[i] || !*names[i])
            return wick__fail(WICK_INVALID, "%s: name %" PRId64 " is %s", op, i, names[i] ? "empty" : "NULL");
        if (!wick__is_utf8(names[i])) return wick__fail(WICK_INVALID, "%s: name %" PRId64 " is not UTF-8", op, i);
        if (!tensors[i])
            return wick__fail(WICK_INVALID, "%s: tensor \"%s\" is NULL", op, wick__quote(quoted, names[i]));
    }
    if (n == 0) return WICK_OK;
    const char **sorted = wick__calloc((size_t)n, sizeof *sorted);
    if (!sorted) return WICK_MEMORY;
    memcpy(sorted, names, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, compare);
    enum wick_status status = WICK_OK;
    for (int64_t i = 1; i < n && status == WICK_OK; i++)
        if (strcmp(sorted[i - 1], sorted[i]) == 0)
            status = wick__fail(WICK_INVALID, "%s: the name \"%s\" stands for two tensors", op,
                                wick__quote(quoted, sorted[i]));
    wick__free(sorted, (size_t)n * sizeof *sorted);
    return status;
}
