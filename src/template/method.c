/* Methods of lists and dicts, and methods by their names. Those that would change their object are refused, as in the
 * sandbox that transformers renders in. */
#include "template/method.h"

#include <string.h>

/* ---- lists ---- */

METHOD(method_count) {
    int64_t n = 0;
    struct wick__value x = wick__arg(args, 0, "value", wick__undefined(""));
    for (size_t i = 0; wick__run_step(run, 1) && i < self.list->n; i++)
        n += wick__equal(self.list->items[i], x, &run->steps);
    return wick__int(n);
}

METHOD(method_index) {
    struct wick__value x = wick__arg(args, 0, "value", wick__undefined(""));
    for (size_t i = 0; wick__run_step(run, 1) && i < self.list->n; i++)
        if (wick__equal(self.list->items[i], x, &run->steps)) return wick__int((int64_t)i);
    return wick__run_fail(run, WICK_INVALID, "index: there is no such item");
}

/* ---- dicts ---- */

METHOD(method_get) {
    struct wick__value otherwise = wick__arg(args, 1, "default", wick__none());
    if (args->n < 1) return wick__run_fail(run, WICK_INVALID, "get without a key");
    const struct wick__value *found = wick__dict_get(self.dict, args->values[0]);
    return wick__run_step(run, 1 + self.dict->n / 16) && found ? *found : otherwise;
}

enum part { KEYS, VALUES, ITEMS };

static struct wick__value parts(struct wick__run *run, struct wick__value self, enum part part) {
    struct wick__value list = wick__run_made(run, wick__list_new(&run->arena, WICK__LIST, self.dict->n));
    for (size_t i = 0; i < self.dict->n && wick__run_step(run, 1); i++) {
        struct wick__value x = part == KEYS ? self.dict->entries[i].key : self.dict->entries[i].value;
        if (part == ITEMS) {
            struct wick__value pair = wick__run_made(run, wick__list_new(&run->arena, WICK__TUPLE, 2));
            if (run->status != WICK_OK) break;
            wick__list_add(&run->arena, pair, self.dict->entries[i].key);
            wick__list_add(&run->arena, pair, x);
            x = pair;
        }
        wick__list_add(&run->arena, list, x);
    }
    return list;
}

METHOD(method_keys) {
    (void)args;
    return parts(run, self, KEYS);
}
METHOD(method_values) {
    (void)args;
    return parts(run, self, VALUES);
}
METHOD(method_items) {
    (void)args;
    return parts(run, self, ITEMS);
}

METHOD(method_copy) {
    (void)run, (void)args;
    return self; /* nothing can tell: no value changes */
}

METHOD(method_refused) {
    (void)args;
    return wick__run_fail(run, WICK_INVALID, "a %s can't be changed", wick__kind_name(self));
}

/* ---- by name ---- */

static const struct wick__method_row of_lists[] = {
    {"index", method_index},    {"count", method_count},    {"copy", method_copy},       {"append", method_refused},
    {"extend", method_refused}, {"insert", method_refused}, {"pop", method_refused},     {"remove", method_refused},
    {"clear", method_refused},  {"sort", method_refused},   {"reverse", method_refused}, {NULL, NULL}};
static const struct wick__method_row of_dicts[] = {{"get", method_get},
                                                   {"keys", method_keys},
                                                   {"values", method_values},
                                                   {"items", method_items},
                                                   {"copy", method_copy},
                                                   {"pop", method_refused},
                                                   {"update", method_refused},
                                                   {"clear", method_refused},
                                                   {"setdefault", method_refused},
                                                   {"popitem", method_refused},
                                                   {NULL, NULL}};

static const struct wick__method_row *find(const struct wick__method_row *row, const char *name) {
    while (row->name && strcmp(row->name, name) != 0) row++;
    return row->name ? row : NULL;
}

struct wick__value wick__method(struct wick__run *run, struct wick__value x, const char *name) {
    const struct wick__method_row *row = NULL;
    if (x.kind == WICK__STRING) {
        row = find(wick__string_part_methods, name);
        if (!row) row = find(wick__string_methods, name);
    } else if (x.kind == WICK__DICT) {
        row = find(of_dicts, name);
    } else if (wick__is_sequence(x)) {
        row = find(of_lists, name);
    }
    if (!row) return wick__undefined("");
    struct wick__builtin *method = wick__arena_alloc(&run->arena, sizeof *method);
    if (!method) {
        if (run->status == WICK_OK) run->status = wick__latest();
        return wick__undefined("");
    }
    *method = (struct wick__builtin){.name = row->name, .call = row->call, .self = x};
    return (struct wick__value){.kind = WICK__BUILTIN, .builtin = method};
}

struct wick__value wick__method_call(struct wick__run *run, struct wick__value x, const char *name,
                                     const struct wick__args *args) {
    struct wick__value method = wick__method(run, x, name);
    if (!wick__run_step(run, 1)) return wick__undefined("");
    if (method.kind != WICK__BUILTIN)
        return wick__run_fail(run, WICK_INVALID, "a %s has no %s", wick__kind_name(x), name);
    return method.builtin->call(run, method.builtin->self, args);
}
