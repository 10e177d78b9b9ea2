/* Methods of strings that make others of them, and questions about their characters. */
#define _GNU_SOURCE /* memmem */
#include "template/method.h"

#include "text/unicode.h"

#include <string.h>
#include <utf8proc.h>

/* ---- changed strings ---- */

METHOD(method_replace) {
    struct wick__buffer out = {0};
    struct wick__value from, to;
    int64_t most;
    if (!wick__string_arg(run, args, 0, "old", &from) || !wick__string_arg(run, args, 1, "new", &to) ||
        !wick__int_arg(run, args, 2, "count", -1, &most))
        return wick__undefined("");
    const char *at = self.text, *end = self.text + self.n, *next;
    while (most-- != 0 && wick__run_step(run, 1)) {
        if (from.n == 0) { /* before every character, and at the end */
            uint32_t c;
            size_t length = at < end ? wick__utf8_get(at, (size_t)(end - at), &c) : 0;
            wick__put_str(run, &out, to);
            wick__put(run, &out, at, length);
            if (length == 0) return wick__take(run, &out);
            at += length;
            continue;
        }
        next = memmem(at, (size_t)(end - at), from.text, from.n);
        if (!next) break;
        if (!wick__put(run, &out, at, (size_t)(next - at)) || !wick__put_str(run, &out, to)) break;
        at = next + from.n;
    }
    wick__put(run, &out, at, (size_t)(end - at));
    return wick__take(run, &out);
}

enum letters { LOWER, UPPER, TITLE, CAPITALIZED };

static bool is_letter(uint32_t c) {
    utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)c);
    return category == UTF8PROC_CATEGORY_LU || category == UTF8PROC_CATEGORY_LL || category == UTF8PROC_CATEGORY_LT;
}

static struct wick__value with_letters(struct wick__run *run, struct wick__value self, enum letters letters) {
    struct wick__buffer out = {0};
    bool inside = false; /* of a word, or behind the first character */
    if (!wick__run_step(run, self.n / 8)) return wick__undefined("");
    for (size_t at = 0; at < self.n && run->status == WICK_OK;) {
        uint32_t c, changed[WICK__LOWER_MAX];
        int n = 1;
        char bytes[4];
        at += wick__utf8_get(self.text + at, self.n - at, &c);
        bool lower = letters == LOWER || (letters != UPPER && inside);
        if (lower)
            n = wick__lower(c, changed);
        else if (c == 0xDF && letters == UPPER) /* sharp s */
            changed[0] = changed[1] = 'S', n = 2;
        else
            changed[0] = (uint32_t)utf8proc_toupper((utf8proc_int32_t)c);
        for (int i = 0; i < n; i++) wick__put(run, &out, bytes, wick__utf8_put(changed[i], bytes));
        inside = letters == CAPITALIZED || is_letter(c);
    }
    return wick__take(run, &out);
}

METHOD(method_lower) {
    (void)args;
    return with_letters(run, self, LOWER);
}
METHOD(method_upper) {
    (void)args;
    return with_letters(run, self, UPPER);
}
METHOD(method_title) {
    (void)args;
    return with_letters(run, self, TITLE);
}
METHOD(method_capitalize) {
    (void)args;
    return with_letters(run, self, CAPITALIZED);
}

METHOD(method_join) {
    struct wick__buffer out = {0};
    struct wick__value items = wick__iterate(run, wick__arg(args, 0, "iterable", wick__undefined("")));
    for (size_t i = 0; run->status == WICK_OK && i < items.list->n; i++) {
        struct wick__value item = items.list->items[i];
        if (item.kind != WICK__STRING) wick__run_fail(run, WICK_INVALID, "join of a %s", wick__kind_name(item));
        if (i) wick__put_str(run, &out, self);
        wick__put_str(run, &out, item);
    }
    return wick__take(run, &out);
}

METHOD(method_zfill) {
    struct wick__buffer out = {0};
    int64_t width;
    if (!wick__int_arg(run, args, 0, "width", 0, &width)) return self;
    bool sign = self.n > 0 && (self.text[0] == '-' || self.text[0] == '+');
    if (sign) wick__put(run, &out, self.text, 1);
    for (int64_t n = (int64_t)wick__characters(self.text, self.n); n < width && wick__run_step(run, 1); n++)
        wick__put(run, &out, "0", 1);
    wick__put(run, &out, self.text + sign, self.n - sign);
    return wick__take(run, &out);
}

/* One field of format: "", "0" or "name" between braces. */
static struct wick__value field(struct wick__run *run, const struct wick__args *args, const char *text, size_t n,
                                size_t *automatic) {
    struct wick__value missing = wick__undefined(NULL), x = missing;
    size_t positions = args->n - args->n_named, at = 0, i = 0;
    for (; i < n && text[i] >= '0' && text[i] <= '9' && at < 1000; i++) at = at * 10 + (size_t)(text[i] - '0');
    if (i == n) {
        if (n == 0) at = (*automatic)++;
        if (at < positions) x = args->values[at];
    }
    for (i = 0; i < args->n_named; i++)
        if (strlen(args->names[i]) == n && memcmp(args->names[i], text, n) == 0) x = args->values[positions + i];
    if (x.kind == WICK__UNDEFINED && !x.text)
        return wick__run_fail(
            run, memchr(text, ':', n) || memchr(text, '!', n) || memchr(text, '.', n) ? WICK_UNSUPPORTED : WICK_INVALID,
            "format: no value for {%.*s}", n < 40 ? (int)n : 40, text);
    return x;
}

METHOD(method_format) {
    struct wick__buffer out = {0};
    size_t automatic = 0;
    for (size_t at = 0; at < self.n && wick__run_step(run, 1);) {
        char c = self.text[at];
        const char *end = c == '{' ? memchr(self.text + at, '}', self.n - at) : NULL;
        if ((c == '{' || c == '}') && at + 1 < self.n && self.text[at + 1] == c) {
            wick__put(run, &out, &c, 1);
            at += 2;
        } else if (c == '{' && end) {
            size_t n = (size_t)(end - self.text) - at - 1;
            wick__put_str(run, &out, field(run, args, self.text + at + 1, n, &automatic));
            at += n + 2;
        } else if (c == '{' || c == '}') {
            wick__run_fail(run, WICK_INVALID, "format: a single '%c'", c);
        } else {
            wick__put(run, &out, &c, 1);
            at++;
        }
    }
    return wick__take(run, &out);
}

/* ---- questions about strings ---- */

static struct wick__value all_are(struct wick__value self, bool (*question)(uint32_t)) {
    for (size_t at = 0; at < self.n;) {
        uint32_t c;
        at += wick__utf8_get(self.text + at, self.n - at, &c);
        if (!question(c)) return wick__bool(false);
    }
    return wick__bool(self.n > 0);
}

static bool is_alpha(uint32_t c) {
    utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)c);
    return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}
static bool is_digit(uint32_t c) { return utf8proc_category((utf8proc_int32_t)c) == UTF8PROC_CATEGORY_ND; }
static bool is_alnum(uint32_t c) { return is_alpha(c) || is_digit(c); }

METHOD(method_isspace) {
    (void)run, (void)args;
    return all_are(self, wick__is_blank);
}
METHOD(method_isalpha) {
    (void)run, (void)args;
    return all_are(self, is_alpha);
}
METHOD(method_isdigit) {
    (void)run, (void)args;
    return all_are(self, is_digit);
}
METHOD(method_isalnum) {
    (void)run, (void)args;
    return all_are(self, is_alnum);
}

/* Letters that have a case are all of the one, and there is one. */
static struct wick__value of_case(struct wick__value self, utf8proc_category_t right, utf8proc_category_t wrong) {
    bool any = false;
    for (size_t at = 0; at < self.n;) {
        uint32_t c;
        at += wick__utf8_get(self.text + at, self.n - at, &c);
        utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)c);
        if (category == wrong || category == UTF8PROC_CATEGORY_LT) return wick__bool(false);
        any |= category == right;
    }
    return wick__bool(any);
}
METHOD(method_islower) {
    (void)run, (void)args;
    return of_case(self, UTF8PROC_CATEGORY_LL, UTF8PROC_CATEGORY_LU);
}
METHOD(method_isupper) {
    (void)run, (void)args;
    return of_case(self, UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_LL);
}

const struct wick__method_row wick__string_methods[] = {
    {"replace", method_replace}, {"lower", method_lower},           {"upper", method_upper},
    {"title", method_title},     {"capitalize", method_capitalize}, {"join", method_join},
    {"zfill", method_zfill},     {"format", method_format},         {"isspace", method_isspace},
    {"isalpha", method_isalpha}, {"isdigit", method_isdigit},       {"isalnum", method_isalnum},
    {"islower", method_islower}, {"isupper", method_isupper},       {NULL, NULL}};
