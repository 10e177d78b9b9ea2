/* Members, items, slices and iteration. */
#include "template/run.h"

#include "text/unicode.h"

#include <stdio.h>
#include <string.h>

/* "'dict object' has no attribute 'x'", remembered by an undefined value. */
static struct wick__value nothing(struct wick__run *run, struct wick__value x, const char *name, size_t n) {
    size_t size = n + 64;
    char *text = wick__arena_alloc(&run->arena, size);
    if (!text) {
        run->status = wick__latest();
        return wick__undefined("");
    }
    snprintf(text, size, "'%.*s' of a %s", (int)n, name, wick__kind_name(x));
    return wick__undefined(text);
}

static struct wick__value of_undefined(struct wick__run *run, struct wick__value x) {
    return wick__run_fail(run, WICK_INVALID, "%s is undefined", x.text ? x.text : "a value");
}

static const struct wick__value *entry(struct wick__run *run, struct wick__value x, struct wick__value key) {
    if (x.kind != WICK__DICT && x.kind != WICK__NAMESPACE) return NULL;
    return wick__run_step(run, 1 + x.dict->n / 16) ? wick__dict_get(x.dict, key) : NULL;
}

struct wick__value wick__member(struct wick__run *run, struct wick__value x, const char *name) {
    if (x.kind == WICK__UNDEFINED) return of_undefined(run, x);
    struct wick__value method = x.kind == WICK__NAMESPACE ? wick__undefined("") : wick__method(run, x, name);
    if (method.kind != WICK__UNDEFINED || run->status != WICK_OK) return method;
    const struct wick__value *found = entry(run, x, wick__string(name, strlen(name)));
    return found ? *found : nothing(run, x, name, strlen(name));
}

/* The character at a position that may count from the end. */
static struct wick__value character(struct wick__run *run, struct wick__value x, int64_t i) {
    uint32_t c;
    int64_t n = (int64_t)wick__characters(x.text, x.n);
    if (!wick__run_step(run, x.n / 64)) return wick__undefined("");
    if (i < 0) i += n;
    if (i < 0 || i >= n) return nothing(run, x, "that position", 13);
    size_t at = wick__character_at(x.text, x.n, (size_t)i);
    return wick__string(x.text + at, wick__utf8_get(x.text + at, x.n - at, &c));
}

struct wick__value wick__item(struct wick__run *run, struct wick__value x, struct wick__value key) {
    if (x.kind == WICK__UNDEFINED) return of_undefined(run, x);
    const struct wick__value *found = entry(run, x, key);
    if (found) return *found;
    if (key.kind == WICK__INT || key.kind == WICK__BOOL) {
        int64_t i = wick__integer(key);
        if (x.kind == WICK__STRING) return character(run, x, i);
        if (wick__is_sequence(x)) {
            if (i < 0) i += (int64_t)x.list->n;
            if (i >= 0 && i < (int64_t)x.list->n) return x.list->items[i];
            return nothing(run, x, "that position", 13);
        }
    }
    if (key.kind != WICK__STRING) return nothing(run, x, "that item", 9);
    if (memchr(key.text, '\0', key.n)) return nothing(run, x, key.text, strlen(key.text));
    struct wick__value name = wick__run_made(run, wick__string_copy(&run->arena, key.text, key.n));
    struct wick__value method =
        run->status == WICK_OK && x.kind != WICK__NAMESPACE ? wick__method(run, x, name.text) : wick__undefined("");
    return method.kind != WICK__UNDEFINED || run->status != WICK_OK ? method : nothing(run, x, key.text, key.n);
}

/* Python's slice.indices: the first position, the one not reached any more, and the step. */
static bool indices(struct wick__run *run, const struct wick__value part[3], int64_t n, int64_t out[3]) {
    for (int i = 0; i < 3; i++)
        if (part[i].kind != WICK__NONE && part[i].kind != WICK__INT && part[i].kind != WICK__BOOL) {
            wick__run_fail(run, WICK_INVALID, "a slice by a %s", wick__kind_name(part[i]));
            return false;
        }
    int64_t step = part[2].kind == WICK__NONE ? 1 : wick__integer(part[2]);
    if (step == 0) {
        wick__run_fail(run, WICK_INVALID, "a slice with step 0");
        return false;
    }
    int64_t low = step < 0 ? -1 : 0, high = step < 0 ? n - 1 : n;
    for (int i = 0; i < 2; i++) {
        bool missing = part[i].kind == WICK__NONE;
        int64_t at = missing ? (i == 0) == (step > 0) ? low : high : wick__integer(part[i]);
        if (!missing && at < 0) at = at < -n ? low : at + n;
        out[i] = at < low ? low : at > high ? high : at;
    }
    out[2] = step;
    return true;
}

static struct wick__value slice_text(struct wick__run *run, struct wick__value x, const int64_t at[3]) {
    struct wick__buffer buffer = {0};
    if (at[2] == 1) {
        if (at[1] <= at[0]) return wick__string("", 0);
        size_t first = wick__character_at(x.text, x.n, (size_t)at[0]);
        size_t n = wick__character_at(x.text + first, x.n - first, (size_t)(at[1] - at[0]));
        return wick__string(x.text + first, n);
    }
    struct wick__value all = wick__iterate(run, x);
    for (int64_t i = at[0]; run->status == WICK_OK && (at[2] > 0 ? i < at[1] : i > at[1]); i += at[2]) {
        wick__put_str(run, &buffer, all.list->items[i]);
        if (__builtin_add_overflow(i, at[2], &(int64_t){0})) break;
    }
    return wick__take(run, &buffer);
}

struct wick__value wick__slice(struct wick__run *run, struct wick__value x, const struct wick__value part[3]) {
    int64_t at[3];
    size_t n;
    if (x.kind == WICK__UNDEFINED) return of_undefined(run, x);
    if (x.kind != WICK__STRING && !wick__is_sequence(x))
        return wick__run_fail(run, WICK_INVALID, "a %s has no slices", wick__kind_name(x));
    if (!wick__length(x, &n) || !wick__run_step(run, 1 + n / 16) || !indices(run, part, (int64_t)n, at))
        return wick__undefined("");
    if (x.kind == WICK__STRING) return slice_text(run, x, at);
    struct wick__value some = wick__run_made(run, wick__list_new(&run->arena, x.kind, 0));
    for (int64_t i = at[0]; run->status == WICK_OK && (at[2] > 0 ? i < at[1] : i > at[1]); i += at[2]) {
        if (!wick__list_add(&run->arena, some, x.list->items[i])) run->status = wick__latest();
        if (__builtin_add_overflow(i, at[2], &(int64_t){0})) break;
    }
    return some;
}

static struct wick__value letters(struct wick__run *run, struct wick__value x) {
    struct wick__value list =
        wick__run_made(run, wick__list_new(&run->arena, WICK__LIST, wick__characters(x.text, x.n)));
    for (size_t at = 0; at < x.n && run->status == WICK_OK;) {
        uint32_t c;
        size_t n = wick__utf8_get(x.text + at, x.n - at, &c);
        if (!wick__list_add(&run->arena, list, wick__string(x.text + at, n))) run->status = wick__latest();
        at += n;
    }
    return list;
}

struct wick__value wick__iterate(struct wick__run *run, struct wick__value x) {
    if (run->status != WICK_OK || wick__is_sequence(x)) return x;
    if (x.kind == WICK__UNDEFINED) return wick__run_made(run, wick__list_new(&run->arena, WICK__LIST, 0));
    if (x.kind == WICK__STRING) return wick__run_step(run, x.n) ? letters(run, x) : x;
    if (x.kind != WICK__DICT)
        return wick__run_fail(run, WICK_INVALID, "a %s can't be iterated over", wick__kind_name(x));
    struct wick__value keys = wick__run_made(run, wick__list_new(&run->arena, WICK__LIST, x.dict->n));
    for (size_t i = 0; i < x.dict->n && wick__run_step(run, 1); i++)
        wick__list_add(&run->arena, keys, x.dict->entries[i].key);
    return keys;
}
