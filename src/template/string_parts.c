/* Methods of strings that look at their ends, cut them and search them. */
#define _GNU_SOURCE /* memmem */
#include "template/method.h"

#include "text/unicode.h"

#include <string.h>

bool wick__is_blank(uint32_t c) { return wick__is_space(c) || (c >= 0x1C && c <= 0x1F); }

/* ---- the ends of strings ---- */

enum { LEFT = 1, RIGHT = 2 };

/* Whether the character at text is one of `set`, or white space when there is no set. */
static bool to_strip(const char *text, size_t n, struct wick__value set) {
    uint32_t c;
    wick__utf8_get(text, n, &c);
    if (set.kind != WICK__STRING) return wick__is_blank(c);
    for (size_t at = 0; at < set.n;) {
        uint32_t other;
        at += wick__utf8_get(set.text + at, set.n - at, &other);
        if (other == c) return true;
    }
    return false;
}

static struct wick__value strip(struct wick__run *run, struct wick__value self, const struct wick__args *args,
                                int sides) {
    struct wick__value set = wick__arg(args, 0, "chars", wick__none());
    const char *text = self.text;
    size_t n = self.n;
    if (set.kind != WICK__STRING && set.kind != WICK__NONE)
        return wick__run_fail(run, WICK_INVALID, "strip by a %s", wick__kind_name(set));
    while (sides & LEFT && n > 0 && to_strip(text, n, set)) {
        uint32_t c;
        size_t length = wick__utf8_get(text, n, &c);
        text += length;
        n -= length;
    }
    while (sides & RIGHT && n > 0) {
        size_t before = wick__utf8_back(text, n);
        if (!to_strip(text + before, n - before, set)) break;
        n = before;
    }
    return wick__run_step(run, self.n / 16) ? wick__string(text, n) : wick__undefined("");
}

METHOD(method_strip) { return strip(run, self, args, LEFT | RIGHT); }
METHOD(method_lstrip) { return strip(run, self, args, LEFT); }
METHOD(method_rstrip) { return strip(run, self, args, RIGHT); }

static bool begins(struct wick__value x, struct wick__value with) {
    return with.kind == WICK__STRING && x.n >= with.n && memcmp(x.text, with.text, with.n) == 0;
}
static bool ends(struct wick__value x, struct wick__value with) {
    return with.kind == WICK__STRING && x.n >= with.n && memcmp(x.text + x.n - with.n, with.text, with.n) == 0;
}

/* A string, or any of a tuple of them. */
static struct wick__value any_of(struct wick__run *run, struct wick__value self, const struct wick__args *args,
                                 bool (*question)(struct wick__value, struct wick__value)) {
    struct wick__value with = wick__arg(args, 0, "prefix", wick__undefined(""));
    if (args->n != 1)
        return wick__run_fail(run, WICK_UNSUPPORTED, "one argument was expected, %zu were given", args->n);
    if (with.kind == WICK__STRING) return wick__bool(question(self, with));
    if (with.kind != WICK__TUPLE)
        return wick__run_fail(run, WICK_INVALID, "a string was expected, not a %s", wick__kind_name(with));
    for (size_t i = 0; i < with.list->n; i++)
        if (question(self, with.list->items[i])) return wick__bool(true);
    return wick__bool(false);
}

METHOD(method_startswith) { return any_of(run, self, args, begins); }
METHOD(method_endswith) { return any_of(run, self, args, ends); }

METHOD(method_removeprefix) {
    struct wick__value x;
    if (!wick__string_arg(run, args, 0, "prefix", &x)) return x;
    return begins(self, x) ? wick__string(self.text + x.n, self.n - x.n) : self;
}
METHOD(method_removesuffix) {
    struct wick__value x;
    if (!wick__string_arg(run, args, 0, "suffix", &x)) return x;
    return ends(self, x) ? wick__string(self.text, self.n - x.n) : self;
}

/* ---- parts of strings ---- */

const char *wick__find_last(const char *text, size_t n, struct wick__value what) {
    for (size_t at = n >= what.n ? n - what.n + 1 : 0; at-- > 0;)
        if (memcmp(text + at, what.text, what.n) == 0) return text + at;
    return NULL;
}

static void add(struct wick__run *run, struct wick__value list, const char *text, size_t n) {
    if (wick__run_step(run, 1 + n / 64) && !wick__list_add(&run->arena, list, wick__string(text, n)))
        run->status = wick__latest();
}

static void split_blanks(struct wick__run *run, struct wick__value self, int64_t most, struct wick__value list) {
    size_t at = 0;
    uint32_t c;
    while (run->status == WICK_OK) {
        while (at < self.n) {
            size_t length = wick__utf8_get(self.text + at, self.n - at, &c);
            if (!wick__is_blank(c)) break;
            at += length;
        }
        if (at == self.n) break;
        size_t start = at;
        if (most-- == 0) {
            add(run, list, self.text + start, self.n - start);
            break;
        }
        while (at < self.n) {
            size_t length = wick__utf8_get(self.text + at, self.n - at, &c);
            if (wick__is_blank(c)) break;
            at += length;
        }
        add(run, list, self.text + start, at - start);
    }
}

METHOD(method_split) {
    int64_t most;
    struct wick__value by = wick__arg(args, 0, "sep", wick__none());
    struct wick__value list = wick__run_made(run, wick__list_new(&run->arena, WICK__LIST, 4));
    if (!wick__int_arg(run, args, 1, "maxsplit", -1, &most)) return list;
    if (by.kind == WICK__NONE) {
        split_blanks(run, self, most, list);
        return list;
    }
    if (by.kind != WICK__STRING || by.n == 0)
        return wick__run_fail(run, WICK_INVALID, "split wants a separator that is not empty");
    const char *at = self.text, *end = self.text + self.n, *next;
    while (most-- != 0 && run->status == WICK_OK && (next = memmem(at, (size_t)(end - at), by.text, by.n)) != NULL) {
        add(run, list, at, (size_t)(next - at));
        at = next + by.n;
    }
    add(run, list, at, (size_t)(end - at));
    return list;
}

METHOD(method_rsplit) {
    int64_t most;
    struct wick__value by = wick__arg(args, 0, "sep", wick__none());
    if (!wick__int_arg(run, args, 1, "maxsplit", -1, &most)) return self;
    if (by.kind != WICK__STRING || by.n == 0)
        return wick__run_fail(run, WICK_UNSUPPORTED, "rsplit without a separator");
    struct wick__value list = wick__run_made(run, wick__list_new(&run->arena, WICK__LIST, 4));
    size_t n = self.n;
    const char *at;
    while (most-- != 0 && wick__run_step(run, 1 + n / 64) && (at = wick__find_last(self.text, n, by)) != NULL) {
        add(run, list, at + by.n, (size_t)(self.text + n - at) - by.n);
        n = (size_t)(at - self.text);
    }
    add(run, list, self.text, n);
    for (size_t i = 0, j = list.kind == WICK__LIST ? list.list->n : 0; run->status == WICK_OK && i + 1 < j; i++) {
        struct wick__value swap = list.list->items[i];
        list.list->items[i] = list.list->items[--j];
        list.list->items[j] = swap;
    }
    return list;
}

METHOD(method_splitlines) {
    struct wick__value list = wick__run_made(run, wick__list_new(&run->arena, WICK__LIST, 4));
    if (args->n) return wick__run_fail(run, WICK_UNSUPPORTED, "splitlines with an argument");
    for (size_t at = 0; at < self.n && run->status == WICK_OK;) {
        size_t end = at;
        while (end < self.n && self.text[end] != '\n' && self.text[end] != '\r') end++;
        add(run, list, self.text + at, end - at);
        bool both = end + 1 < self.n && self.text[end] == '\r' && self.text[end + 1] == '\n';
        at = end + (both ? 2 : 1);
    }
    return list;
}

/* (before, separator, after); the whole and two empty strings when it is not there. */
static struct wick__value partition(struct wick__run *run, struct wick__value self, struct wick__value by,
                                    const char *at, bool last) {
    struct wick__value tuple = wick__run_made(run, wick__list_new(&run->arena, WICK__TUPLE, 3));
    size_t n = at ? (size_t)(at - self.text) : last ? 0 : self.n, rest = at ? n + by.n : last ? 0 : self.n;
    add(run, tuple, self.text, n);
    add(run, tuple, by.text, at ? by.n : 0);
    add(run, tuple, self.text + rest, self.n - rest);
    return tuple;
}

METHOD(method_partition) {
    struct wick__value by;
    if (!wick__string_arg(run, args, 0, "sep", &by)) return by;
    if (by.n == 0) return wick__run_fail(run, WICK_INVALID, "an empty separator");
    return partition(run, self, by, memmem(self.text, self.n, by.text, by.n), false);
}
METHOD(method_rpartition) {
    struct wick__value by;
    if (!wick__string_arg(run, args, 0, "sep", &by)) return by;
    if (by.n == 0) return wick__run_fail(run, WICK_INVALID, "an empty separator");
    return partition(run, self, by, wick__find_last(self.text, self.n, by), true);
}

static struct wick__value position(struct wick__value self, const char *at) {
    return wick__int(at ? (int64_t)wick__characters(self.text, (size_t)(at - self.text)) : -1);
}

METHOD(method_find) {
    struct wick__value x;
    if (!wick__string_arg(run, args, 0, "sub", &x)) return x;
    return position(self, x.n ? memmem(self.text, self.n, x.text, x.n) : self.text);
}
METHOD(method_rfind) {
    struct wick__value x;
    if (!wick__string_arg(run, args, 0, "sub", &x)) return x;
    return position(self, wick__find_last(self.text, self.n, x));
}

METHOD(method_count) {
    int64_t n = 0;
    struct wick__value x;
    if (!wick__string_arg(run, args, 0, "sub", &x)) return x;
    if (x.n == 0) return wick__int((int64_t)wick__characters(self.text, self.n) + 1);
    const char *at = self.text, *end = self.text + self.n;
    while ((at = memmem(at, (size_t)(end - at), x.text, x.n)) != NULL) {
        at += x.n;
        n++;
    }
    return wick__int(n);
}

METHOD(method_index) {
    struct wick__value found = method_find(run, self, args);
    if (run->status == WICK_OK && found.i < 0) return wick__run_fail(run, WICK_INVALID, "index: there is no such part");
    return found;
}

const struct wick__method_row wick__string_part_methods[] = {{"strip", method_strip},
                                                             {"lstrip", method_lstrip},
                                                             {"rstrip", method_rstrip},
                                                             {"startswith", method_startswith},
                                                             {"endswith", method_endswith},
                                                             {"removeprefix", method_removeprefix},
                                                             {"removesuffix", method_removesuffix},
                                                             {"split", method_split},
                                                             {"rsplit", method_rsplit},
                                                             {"splitlines", method_splitlines},
                                                             {"partition", method_partition},
                                                             {"rpartition", method_rpartition},
                                                             {"find", method_find},
                                                             {"rfind", method_rfind},
                                                             {"index", method_index},
                                                             {"count", method_count},
                                                             {NULL, NULL}};
