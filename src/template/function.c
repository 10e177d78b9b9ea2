/* Functions that every template can call. */
#include "template/run.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static struct wick__value call_range(struct wick__run *run, struct wick__value self, const struct wick__args *args) {
    (void)self;
    int64_t at[3] = {0, 0, 1};
    if (args->n < 1 || args->n > 3) return wick__run_fail(run, WICK_INVALID, "range takes one to three integers");
    for (size_t i = 0; i < args->n; i++) {
        if (args->values[i].kind != WICK__INT && args->values[i].kind != WICK__BOOL)
            return wick__run_fail(run, WICK_INVALID, "range of a %s", wick__kind_name(args->values[i]));
        at[args->n == 1 ? 1 : i] = wick__integer(args->values[i]);
    }
    if (at[2] == 0) return wick__run_fail(run, WICK_INVALID, "range with step 0");
    struct wick__value list = wick__run_made(run, wick__list_new(&run->arena, WICK__LIST, 0));
    for (int64_t i = at[0]; (at[2] > 0 ? i < at[1] : i > at[1]) && wick__run_step(run, 1);) {
        if (!wick__list_add(&run->arena, list, wick__int(i))) run->status = wick__latest();
        if (__builtin_add_overflow(i, at[2], &i)) break;
    }
    return list;
}

/* A dict or a namespace of the named arguments, and of a dict before them. */
static struct wick__value collect(struct wick__run *run, enum wick__kind kind, const struct wick__args *args) {
    struct wick__value dict = wick__run_made(run, wick__dict_new(&run->arena, kind));
    size_t positions = args->n - args->n_named;
    for (size_t i = 0; i < args->n && wick__run_step(run, 1); i++) {
        struct wick__value x = args->values[i];
        if (i < positions && x.kind != WICK__DICT)
            return wick__run_fail(run, WICK_INVALID, "named values or a dict were expected, not a %s",
                                  wick__kind_name(x));
        for (size_t j = 0; i < positions && j < x.dict->n && wick__run_step(run, 1); j++)
            wick__dict_set(&run->arena, dict.dict, x.dict->entries[j].key, x.dict->entries[j].value);
        if (i < positions) continue;
        const char *name = args->names[i - positions];
        if (!wick__dict_set(&run->arena, dict.dict, wick__string(name, strlen(name)), x)) run->status = wick__latest();
    }
    return dict;
}

static struct wick__value call_namespace(struct wick__run *run, struct wick__value self,
                                         const struct wick__args *args) {
    (void)self;
    return collect(run, WICK__NAMESPACE, args);
}

static struct wick__value call_dict(struct wick__run *run, struct wick__value self, const struct wick__args *args) {
    (void)self;
    return collect(run, WICK__DICT, args);
}

static struct wick__value call_raise(struct wick__run *run, struct wick__value self, const struct wick__args *args) {
    (void)self;
    struct wick__value text = wick__str(run, wick__arg(args, 0, "message", wick__string("raised", 6)));
    return wick__run_fail(run, WICK_INVALID, "%.*s", text.n < 400 ? (int)text.n : 400, text.text);
}

static struct wick__value call_strftime(struct wick__run *run, struct wick__value self, const struct wick__args *args) {
    (void)self;
    struct wick__value format = wick__arg(args, 0, "format", wick__undefined(""));
    char text[512];
    struct tm broken;
    time_t now = (time_t)run->now;
    if (format.kind != WICK__STRING) return wick__run_fail(run, WICK_INVALID, "strftime_now wants a format");
    struct wick__value copy = wick__run_made(run, wick__string_copy(&run->arena, format.text, format.n));
    if (run->status != WICK_OK || format.n == 0) return copy;
    if (!localtime_r(&now, &broken)) return wick__run_fail(run, WICK_RANGE, "strftime_now: no such time");
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored                                                                                         \
    "-Wformat-nonliteral" /* the format is the template's; strftime writes no more than there is room */
    size_t n = strftime(text, sizeof text, copy.text, &broken);
#pragma GCC diagnostic pop
    if (n == 0) return wick__run_fail(run, WICK_RANGE, "strftime_now: the text is too long");
    return wick__run_made(run, wick__string_copy(&run->arena, text, n));
}

struct wick__value wick__global(struct wick__run *run, const char *name) {
    static const struct wick__builtin functions[] = {{.name = "range", .call = call_range},
                                                     {.name = "namespace", .call = call_namespace},
                                                     {.name = "dict", .call = call_dict},
                                                     {.name = "raise_exception", .call = call_raise},
                                                     {.name = "strftime_now", .call = call_strftime}};
    (void)run;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strcmp(name, functions[i].name) == 0)
            return (struct wick__value){.kind = WICK__BUILTIN, .builtin = &functions[i]};
    return wick__undefined("");
}
