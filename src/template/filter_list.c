/* Filters of lists and dicts. */
#include "template/filter.h"

#include <string.h>

#define FILTER(name) static struct wick__value name(struct wick__run *run, const struct wick__args *args)

static void add(struct wick__run *run, struct wick__value list, struct wick__value x) {
    if (wick__run_step(run, 1) && !wick__list_add(&run->arena, list, x)) run->status = wick__latest();
}

static struct wick__value new_list(struct wick__run *run) {
    return wick__run_made(run, wick__list_new(&run->arena, WICK__LIST, 4));
}

/* x.a.b for the name "a.b", x[0] for a number. */
static struct wick__value attribute(struct wick__run *run, struct wick__value x, struct wick__value path) {
    if (path.kind == WICK__INT) return wick__item(run, x, path);
    if (path.kind != WICK__STRING) return wick__run_fail(run, WICK_INVALID, "an attribute is a name or a number");
    for (size_t at = 0; at <= path.n && run->status == WICK_OK;) {
        const char *dot = memchr(path.text + at, '.', path.n - at);
        size_t n = dot ? (size_t)(dot - path.text) - at : path.n - at;
        x = wick__item(run, x, wick__string(path.text + at, n));
        at += n + 1;
    }
    return x;
}

FILTER(filter_list) {
    struct wick__value items = wick__iterate(run, args->values[0]), copy = new_list(run);
    for (size_t i = 0; run->status == WICK_OK && i < items.list->n; i++) add(run, copy, items.list->items[i]);
    return copy;
}

FILTER(filter_items) {
    struct wick__args none = {0};
    struct wick__value x = args->values[0];
    if (x.kind == WICK__UNDEFINED) return new_list(run);
    if (x.kind != WICK__DICT) return wick__run_fail(run, WICK_INVALID, "items of a %s", wick__kind_name(x));
    return wick__method_call(run, x, "items", &none);
}

static struct wick__value end_of(struct wick__run *run, const struct wick__args *args, bool last) {
    struct wick__value items = wick__iterate(run, args->values[0]);
    if (run->status != WICK_OK || items.list->n == 0) return wick__undefined("the first or last of nothing");
    return items.list->items[last ? items.list->n - 1 : 0];
}
FILTER(filter_first) { return end_of(run, args, false); }
FILTER(filter_last) { return end_of(run, args, true); }

FILTER(filter_reverse) {
    struct wick__buffer out = {0};
    struct wick__value x = args->values[0], items = wick__iterate(run, x), list = new_list(run);
    for (size_t i = run->status == WICK_OK ? items.list->n : 0; i-- > 0 && run->status == WICK_OK;) {
        if (x.kind == WICK__STRING)
            wick__put_str(run, &out, items.list->items[i]);
        else
            add(run, list, items.list->items[i]);
    }
    return x.kind == WICK__STRING ? wick__take(run, &out) : list;
}

FILTER(filter_join) {
    struct wick__buffer out = {0};
    struct wick__value items = wick__iterate(run, args->values[0]), by = wick__arg(args, 1, "d", wick__string("", 0));
    struct wick__value path = wick__arg(args, 2, "attribute", wick__none());
    for (size_t i = 0; run->status == WICK_OK && i < items.list->n; i++) {
        struct wick__value x = items.list->items[i];
        if (path.kind != WICK__NONE) x = attribute(run, x, path);
        if (i) wick__put_str(run, &out, by);
        if (wick__run_step(run, 1)) wick__put_str(run, &out, x);
    }
    return wick__take(run, &out);
}

/* ---- choosing and mapping ---- */

/* What is false has no items to choose from. */
static struct wick__value items_of(struct wick__run *run, struct wick__value x) {
    return wick__truth(x) ? wick__iterate(run, x) : new_list(run);
}

/* Whether the test named by argument `at` holds for x, with the arguments behind it; truth without one. */
static bool holds(struct wick__run *run, const struct wick__args *args, size_t at, struct wick__value x) {
    struct wick__value values[8] = {x};
    size_t n = 1;
    if (args->n <= at) return wick__truth(x);
    struct wick__value name = args->values[at];
    for (size_t i = at + 1; i < args->n && n < 8; i++) values[n++] = args->values[i];
    struct wick__args of_test = {.n = n, .values = values};
    if (name.kind != WICK__STRING) {
        wick__run_fail(run, WICK_INVALID, "the name of a test was expected");
        return false;
    }
    struct wick__value copy = wick__run_made(run, wick__string_copy(&run->arena, name.text, name.n));
    return run->status == WICK_OK && wick__test(run, copy.text, &of_test);
}

static struct wick__value choose(struct wick__run *run, const struct wick__args *args, bool by_attribute, bool wanted) {
    struct wick__value items = items_of(run, args->values[0]), list = new_list(run);
    if (by_attribute && args->n < 2) return wick__run_fail(run, WICK_INVALID, "the name of an attribute was expected");
    for (size_t i = 0; run->status == WICK_OK && i < items.list->n; i++) {
        struct wick__value x = items.list->items[i];
        struct wick__value asked = by_attribute ? attribute(run, x, args->values[1]) : x;
        if (run->status == WICK_OK && holds(run, args, by_attribute ? 2 : 1, asked) == wanted) add(run, list, x);
    }
    return list;
}
FILTER(filter_select) { return choose(run, args, false, true); }
FILTER(filter_reject) { return choose(run, args, false, false); }
FILTER(filter_selectattr) { return choose(run, args, true, true); }
FILTER(filter_rejectattr) { return choose(run, args, true, false); }

/* map("filter", ...) or map(attribute="name", default=...) */
FILTER(filter_map) {
    struct wick__value items = items_of(run, args->values[0]), list = new_list(run), values[8];
    struct wick__value path = wick__arg(args, SIZE_MAX, "attribute", wick__none());
    struct wick__value otherwise = wick__arg(args, SIZE_MAX, "default", wick__undefined("")), name = wick__none();
    struct wick__args inner = {.n = 1, .values = values};
    if (path.kind == WICK__NONE) {
        name = wick__arg(args, 1, NULL, wick__none());
        if (name.kind != WICK__STRING) return wick__run_fail(run, WICK_INVALID, "map wants a filter or an attribute");
        name = wick__run_made(run, wick__string_copy(&run->arena, name.text, name.n));
        for (size_t i = 2; i < args->n && inner.n < 8; i++) values[inner.n++] = args->values[i];
    }
    for (size_t i = 0; run->status == WICK_OK && i < items.list->n; i++) {
        struct wick__value x = values[0] = items.list->items[i];
        x = path.kind == WICK__NONE ? wick__filter(run, name.text, &inner) : attribute(run, x, path);
        add(run, list, x.kind == WICK__UNDEFINED && otherwise.kind != WICK__UNDEFINED ? otherwise : x);
    }
    return list;
}

/* ---- order ---- */

struct sorting {
    struct wick__run *run;
    struct wick__value path; /* none: the item itself */
    bool case_sensitive, reverse;
};

/* What an item is sorted by. */
static struct wick__value key_of(const struct sorting *sorting, struct wick__value x) {
    struct wick__args none = {0};
    if (sorting->path.kind != WICK__NONE) x = attribute(sorting->run, x, sorting->path);
    if (x.kind != WICK__STRING || sorting->case_sensitive || sorting->run->status != WICK_OK) return x;
    return wick__method_call(sorting->run, x, "lower", &none);
}

/* Merges runs of `width` keys; pairs are {key, item}. */
static void merge(const struct sorting *sorting, const struct wick__pair *from, struct wick__pair *to, size_t n,
                  size_t width) {
    for (size_t start = 0; start < n; start += 2 * width) {
        size_t a = start, middle = start + width < n ? start + width : n, b = middle;
        size_t end = start + 2 * width < n ? start + 2 * width : n;
        for (size_t at = start; at < end; at++) {
            bool second = a == middle;
            if (a < middle && b < end)
                second = wick__run_step(sorting->run, 1) &&
                         wick__compare(sorting->run, sorting->reverse ? WICK__GT : WICK__LT, from[b].key, from[a].key);
            to[at] = second ? from[b++] : from[a++];
        }
    }
}

static struct wick__value sorted(const struct sorting *sorting, struct wick__value items) {
    struct wick__run *run = sorting->run;
    struct wick__value list = new_list(run);
    size_t n = run->status == WICK_OK ? items.list->n : 0;
    struct wick__pair *a = wick__arena_alloc(&run->arena, n * sizeof *a),
                      *b = wick__arena_alloc(&run->arena, n * sizeof *b);
    if (!a || !b) {
        if (run->status == WICK_OK) run->status = wick__latest();
        return list;
    }
    for (size_t i = 0; i < n; i++)
        a[i] = (struct wick__pair){key_of(sorting, items.list->items[i]), items.list->items[i]};
    for (size_t width = 1; width < n && run->status == WICK_OK; width *= 2) {
        merge(sorting, a, b, n, width);
        struct wick__pair *swap = a;
        a = b;
        b = swap;
    }
    for (size_t i = 0; i < n && run->status == WICK_OK; i++) add(run, list, a[i].value);
    return list;
}

FILTER(filter_sort) {
    struct sorting sorting = {.run = run,
                              .reverse = wick__truth(wick__arg(args, 1, "reverse", wick__bool(false))),
                              .case_sensitive = wick__truth(wick__arg(args, 2, "case_sensitive", wick__bool(false))),
                              .path = wick__arg(args, 3, "attribute", wick__none())};
    return sorted(&sorting, wick__iterate(run, args->values[0]));
}

FILTER(filter_dictsort) {
    struct wick__value by = wick__arg(args, 2, "by", wick__string("key", 3));
    struct sorting sorting = {.run = run,
                              .case_sensitive = wick__truth(wick__arg(args, 1, "case_sensitive", wick__bool(false))),
                              .reverse = wick__truth(wick__arg(args, 3, "reverse", wick__bool(false))),
                              .path = wick__int(wick__text_is(by, "value"))};
    if (args->values[0].kind != WICK__DICT)
        return wick__run_fail(run, WICK_INVALID, "dictsort of a %s", wick__kind_name(args->values[0]));
    return sorted(&sorting, filter_items(run, args));
}

/* The first item with each key. */
FILTER(filter_unique) {
    struct sorting sorting = {.run = run,
                              .case_sensitive = wick__truth(wick__arg(args, 1, "case_sensitive", wick__bool(false))),
                              .path = wick__arg(args, 2, "attribute", wick__none())};
    struct wick__value items = wick__iterate(run, args->values[0]), keys = new_list(run), list = new_list(run);
    for (size_t i = 0; run->status == WICK_OK && i < items.list->n; i++) {
        struct wick__value key = key_of(&sorting, items.list->items[i]);
        if (run->status != WICK_OK || wick__compare(run, WICK__IN, key, keys)) continue;
        add(run, keys, key);
        add(run, list, items.list->items[i]);
    }
    return list;
}

static struct wick__value extreme(struct wick__run *run, const struct wick__args *args, enum wick__operator better) {
    struct sorting sorting = {.run = run,
                              .case_sensitive = wick__truth(wick__arg(args, 1, "case_sensitive", wick__bool(false))),
                              .path = wick__arg(args, 2, "attribute", wick__none())};
    struct wick__value items = wick__iterate(run, args->values[0]),
                       best = wick__undefined("the least or greatest of nothing");
    struct wick__value best_key = best;
    for (size_t i = 0; run->status == WICK_OK && i < items.list->n; i++) {
        struct wick__value key = key_of(&sorting, items.list->items[i]);
        if (i > 0 && !wick__compare(run, better, key, best_key)) continue;
        best = items.list->items[i];
        best_key = key;
    }
    return best;
}
FILTER(filter_min) { return extreme(run, args, WICK__LT); }
FILTER(filter_max) { return extreme(run, args, WICK__GT); }

FILTER(filter_sum) {
    struct wick__value items = wick__iterate(run, args->values[0]),
                       path = wick__arg(args, 1, "attribute", wick__none());
    struct wick__value sum = wick__arg(args, 2, "start", wick__int(0));
    for (size_t i = 0; run->status == WICK_OK && i < items.list->n; i++) {
        struct wick__value x = items.list->items[i];
        if (path.kind != WICK__NONE) x = attribute(run, x, path);
        if (wick__run_step(run, 1)) sum = wick__operate(run, WICK__ADD, sum, x);
    }
    return sum;
}

FILTER(filter_attr) {
    struct wick__value name = wick__arg(args, 1, "name", wick__undefined(""));
    if (name.kind != WICK__STRING) return wick__run_fail(run, WICK_INVALID, "attr wants a name");
    return attribute(run, args->values[0], name);
}

const struct wick__filter wick__list_filters[] = {{"list", filter_list},
                                                  {"items", filter_items},
                                                  {"first", filter_first},
                                                  {"last", filter_last},
                                                  {"reverse", filter_reverse},
                                                  {"join", filter_join},
                                                  {"select", filter_select},
                                                  {"reject", filter_reject},
                                                  {"selectattr", filter_selectattr},
                                                  {"rejectattr", filter_rejectattr},
                                                  {"map", filter_map},
                                                  {"sort", filter_sort},
                                                  {"dictsort", filter_dictsort},
                                                  {"unique", filter_unique},
                                                  {"min", filter_min},
                                                  {"max", filter_max},
                                                  {"sum", filter_sum},
                                                  {"attr", filter_attr},
                                                  {NULL, NULL}};
