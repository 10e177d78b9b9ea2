/* The arguments of a call. */
#include "template/method.h"

#include <string.h>

struct wick__value wick__arg(const struct wick__args *args, size_t position, const char *name,
                             struct wick__value otherwise) {
    size_t positions = args->n - args->n_named;
    if (position < positions) return args->values[position];
    for (size_t i = 0; i < args->n_named; i++)
        if (name && strcmp(args->names[i], name) == 0) return args->values[positions + i];
    return otherwise;
}

bool wick__string_arg(struct wick__run *run, const struct wick__args *args, size_t i, const char *name,
                      struct wick__value *text) {
    *text = wick__arg(args, i, name, wick__undefined(""));
    if (text->kind == WICK__STRING) return run->status == WICK_OK;
    wick__run_fail(run, WICK_INVALID, "a string was expected, not a %s", wick__kind_name(*text));
    return false;
}

bool wick__int_arg(struct wick__run *run, const struct wick__args *args, size_t i, const char *name, int64_t otherwise,
                   int64_t *value) {
    struct wick__value x = wick__arg(args, i, name, wick__int(otherwise));
    *value = otherwise;
    if (x.kind == WICK__NONE) return true;
    if (x.kind != WICK__INT && x.kind != WICK__BOOL) {
        wick__run_fail(run, WICK_INVALID, "an integer was expected, not a %s", wick__kind_name(x));
        return false;
    }
    *value = wick__integer(x);
    return run->status == WICK_OK;
}
