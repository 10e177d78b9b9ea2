/* Methods, and the arguments they take. */
#ifndef WICK_TEMPLATE_METHOD_H
#define WICK_TEMPLATE_METHOD_H

#include "template/run.h"

#define METHOD(name)                                                                                                   \
    static struct wick__value name(struct wick__run *run, struct wick__value self, const struct wick__args *args)

struct wick__method_row {
    const char *name;
    wick__function *call;
};

/* Methods of strings, each up to a row without a name: parts of them (string_parts.c), and others (string.c). */
extern const struct wick__method_row wick__string_part_methods[], wick__string_methods[];

/* The string argument at a position; false after a failure when it is something else. */
bool wick__string_arg(struct wick__run *run, const struct wick__args *args, size_t i, const char *name,
                      struct wick__value *text);
/* The integer argument at a position, `otherwise` when it is none or not there. */
bool wick__int_arg(struct wick__run *run, const struct wick__args *args, size_t i, const char *name, int64_t otherwise,
                   int64_t *value);
/* What Python's strings call white space. */
bool wick__is_blank(uint32_t c);
/* The last place of a text that is not empty; NULL when there is none. */
const char *wick__find_last(const char *text, size_t n, struct wick__value what);

#endif
