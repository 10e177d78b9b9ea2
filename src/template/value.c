/* Making and comparing values. */
#include "template/value.h"

#include "text/unicode.h"

#include <string.h>

/* How deep values are compared. */
enum { MAX_DEPTH = 64 };

bool wick__text_is(struct wick__value x, const char *text) {
    return x.kind == WICK__STRING && x.n == strlen(text) && memcmp(x.text, text, x.n) == 0;
}

const char *wick__kind_name(struct wick__value x) {
    static const char *const names[] = {[WICK__UNDEFINED] = "Undefined", [WICK__NONE] = "NoneType",
                                        [WICK__BOOL] = "bool",           [WICK__INT] = "int",
                                        [WICK__FLOAT] = "float",         [WICK__STRING] = "str",
                                        [WICK__LIST] = "list",           [WICK__TUPLE] = "tuple",
                                        [WICK__DICT] = "dict",           [WICK__NAMESPACE] = "Namespace",
                                        [WICK__MACRO] = "Macro",         [WICK__BUILTIN] = "function"};
    return names[x.kind];
}

/* ---- making ---- */

struct wick__value wick__list_new(struct wick__arena *arena, enum wick__kind kind, size_t capacity) {
    struct wick__list *list = wick__arena_alloc(arena, sizeof *list);
    struct wick__value *items =
        list && capacity < SIZE_MAX / sizeof *items ? wick__arena_alloc(arena, capacity * sizeof *items) : NULL;
    if (!items) return wick__undefined("");
    *list = (struct wick__list){.capacity = capacity, .items = items};
    return (struct wick__value){.kind = kind, .list = list};
}

bool wick__list_add(struct wick__arena *arena, struct wick__value to, struct wick__value item) {
    if (!wick__is_sequence(to)) return false; /* it could not be made */
    struct wick__list *list = to.list;
    if (list->n == list->capacity) {
        size_t capacity = list->capacity * 2 + 4;
        struct wick__value *items =
            wick__arena_grow(arena, list->items, list->n * sizeof *items, capacity * sizeof *items);
        if (!items) return false;
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->n++] = item;
    return true;
}

struct wick__value wick__dict_new(struct wick__arena *arena, enum wick__kind kind) {
    struct wick__dict *dict = wick__arena_alloc(arena, sizeof *dict);
    if (!dict) return wick__undefined("");
    *dict = (struct wick__dict){0};
    return (struct wick__value){.kind = kind, .dict = dict};
}

static struct wick__value *find(const struct wick__dict *dict, struct wick__value key) {
    int64_t budget = INT64_MAX; /* keys have no parts */
    for (size_t i = 0; i < dict->n; i++)
        if (wick__equal(dict->entries[i].key, key, &budget)) return &dict->entries[i].value;
    return NULL;
}

const struct wick__value *wick__dict_get(const struct wick__dict *dict, struct wick__value key) {
    return find(dict, key);
}

bool wick__dict_set(struct wick__arena *arena, struct wick__dict *dict, struct wick__value key,
                    struct wick__value value) {
    struct wick__value *present = find(dict, key);
    if (present) {
        *present = value;
        return true;
    }
    if (dict->n == dict->capacity) {
        size_t capacity = dict->capacity * 2 + 4;
        struct wick__pair *entries =
            wick__arena_grow(arena, dict->entries, dict->n * sizeof *entries, capacity * sizeof *entries);
        if (!entries) return false;
        dict->entries = entries;
        dict->capacity = capacity;
    }
    dict->entries[dict->n++] = (struct wick__pair){key, value};
    return true;
}

struct wick__value wick__string_copy(struct wick__arena *arena, const char *text, size_t n) {
    char *copy = wick__arena_text(arena, text, n);
    return copy ? wick__string(copy, n) : wick__undefined("");
}

static struct wick__value list_of_json(struct wick__arena *arena, const json_t *json, int depth) {
    size_t n = json_array_size(json);
    struct wick__value list = wick__list_new(arena, WICK__LIST, n);
    for (size_t i = 0; i < n; i++)
        if (!wick__list_add(arena, list, wick__value_of_json(arena, json_array_get(json, i), depth - 1)))
            return wick__undefined("");
    return list;
}

static struct wick__value dict_of_json(struct wick__arena *arena, const json_t *json, int depth) {
    struct wick__value dict = wick__dict_new(arena, WICK__DICT);
    json_t *object = (json_t *)(uintptr_t)json; /* iterating does not change it */
    for (void *at = json_object_iter(object); at && dict.kind == WICK__DICT; at = json_object_iter_next(object, at)) {
        struct wick__value key = wick__string_copy(arena, json_object_iter_key(at), strlen(json_object_iter_key(at)));
        struct wick__value value = wick__value_of_json(arena, json_object_iter_value(at), depth - 1);
        if (!wick__dict_set(arena, dict.dict, key, value)) return wick__undefined("");
    }
    return dict;
}

struct wick__value wick__value_of_json(struct wick__arena *arena, const json_t *json, int depth) {
    if (depth == 0) {
        wick__fail(WICK_RANGE, "template: the context is nested too deeply");
        return wick__undefined("");
    }
    switch (json_typeof(json)) {
    case JSON_OBJECT: return dict_of_json(arena, json, depth);
    case JSON_ARRAY: return list_of_json(arena, json, depth);
    case JSON_STRING: return wick__string_copy(arena, json_string_value(json), json_string_length(json));
    case JSON_INTEGER: return wick__int(json_integer_value(json));
    case JSON_REAL: return wick__float(json_real_value(json));
    case JSON_TRUE: return wick__bool(true);
    case JSON_FALSE: return wick__bool(false);
    case JSON_NULL: break;
    }
    return wick__none();
}

/* ---- asking ---- */

bool wick__truth(struct wick__value x) {
    switch (x.kind) {
    case WICK__UNDEFINED:
    case WICK__NONE: return false;
    case WICK__BOOL: return x.b;
    case WICK__INT: return x.i != 0;
    case WICK__FLOAT: return x.f != 0;
    case WICK__STRING: return x.n > 0;
    case WICK__LIST:
    case WICK__TUPLE: return x.list->n > 0;
    case WICK__DICT: return x.dict->n > 0;
    case WICK__NAMESPACE:
    case WICK__MACRO:
    case WICK__BUILTIN: break;
    }
    return true;
}

static bool equal(struct wick__value a, struct wick__value b, int depth, int64_t *budget);

static bool equal_dicts(const struct wick__dict *a, const struct wick__dict *b, int depth, int64_t *budget) {
    if (a->n != b->n) return false;
    for (size_t i = 0; i < a->n; i++) {
        const struct wick__value *other = wick__dict_get(b, a->entries[i].key);
        if (!other || !equal(a->entries[i].value, *other, depth - 1, budget)) return false;
    }
    return true;
}

static bool equal(struct wick__value a, struct wick__value b, int depth, int64_t *budget) {
    if (depth == 0 || (*budget)-- <= 0) return false;
    if (wick__is_number(a) && wick__is_number(b)) {
        if (a.kind != WICK__FLOAT && b.kind != WICK__FLOAT) return wick__integer(a) == wick__integer(b);
        return wick__real(a) == wick__real(b);
    }
    if (a.kind != b.kind) return false;
    switch (a.kind) {
    case WICK__STRING: return a.n == b.n && memcmp(a.text, b.text, a.n) == 0;
    case WICK__LIST:
    case WICK__TUPLE:
        if (a.list->n != b.list->n) return false;
        for (size_t i = 0; i < a.list->n; i++)
            if (!equal(a.list->items[i], b.list->items[i], depth - 1, budget)) return false;
        return true;
    case WICK__DICT: return equal_dicts(a.dict, b.dict, depth, budget);
    case WICK__NAMESPACE: return a.dict == b.dict;
    case WICK__MACRO: return a.macro == b.macro;
    case WICK__BUILTIN: return a.builtin == b.builtin;
    default: return true; /* undefined, none */
    }
}

bool wick__equal(struct wick__value a, struct wick__value b, int64_t *budget) { return equal(a, b, MAX_DEPTH, budget); }

static int sign(double x) { return (x > 0) - (x < 0); }

static bool order(struct wick__value a, struct wick__value b, int *result, int depth, int64_t *budget) {
    if (depth == 0 || (*budget)-- <= 0) return false;
    if (wick__is_number(a) && wick__is_number(b)) {
        if (a.kind != WICK__FLOAT && b.kind != WICK__FLOAT) {
            int64_t x = wick__integer(a), y = wick__integer(b);
            *result = (x > y) - (x < y);
        } else {
            *result = sign(wick__real(a) - wick__real(b));
        }
        return true;
    }
    if (a.kind != b.kind) return false;
    if (a.kind == WICK__STRING) { /* the order of UTF-8 bytes is that of the characters */
        int by = memcmp(a.text, b.text, a.n < b.n ? a.n : b.n);
        *result = by ? (by > 0) - (by < 0) : (a.n > b.n) - (a.n < b.n);
        return true;
    }
    if (!wick__is_sequence(a)) return false;
    for (size_t i = 0; i < a.list->n && i < b.list->n; i++) {
        if (equal(a.list->items[i], b.list->items[i], depth - 1, budget)) continue;
        return order(a.list->items[i], b.list->items[i], result, depth - 1, budget);
    }
    *result = (a.list->n > b.list->n) - (a.list->n < b.list->n);
    return true;
}

bool wick__order(struct wick__value a, struct wick__value b, int *result, int64_t *budget) {
    return order(a, b, result, MAX_DEPTH, budget);
}

size_t wick__characters(const char *text, size_t nbytes) {
    size_t n = 0;
    for (size_t i = 0; i < nbytes; i++) n += ((unsigned char)text[i] & 0xC0) != 0x80;
    return n;
}

size_t wick__character_at(const char *text, size_t nbytes, size_t i) {
    size_t at = 0;
    for (uint32_t c; at < nbytes && i > 0; i--) at += wick__utf8_get(text + at, nbytes - at, &c);
    return at;
}

bool wick__length(struct wick__value x, size_t *n) {
    switch (x.kind) {
    case WICK__UNDEFINED: *n = 0; return true;
    case WICK__STRING: *n = wick__characters(x.text, x.n); return true;
    case WICK__LIST:
    case WICK__TUPLE: *n = x.list->n; return true;
    case WICK__DICT: *n = x.dict->n; return true;
    default: return false;
    }
}
