/* Values as text: str, repr and JSON. */
#include "template/run.h"

#include "text/unicode.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool wick__put(struct wick__run *run, struct wick__buffer *buffer, const char *text, size_t n) {
    if (run->status != WICK_OK) return false;
    if (n > run->limits.output || buffer->nbytes > run->limits.output - n) {
        wick__run_fail(run, WICK_RANGE, "over the limit of %zu bytes of output", run->limits.output);
        return false;
    }
    if (wick__buffer_append(buffer, text, n) == WICK_OK) return true;
    run->status = WICK_MEMORY;
    return false;
}

static bool put(struct wick__run *run, struct wick__buffer *buffer, const char *text) {
    return wick__put(run, buffer, text, strlen(text));
}

/* The shortest digits that give the number back, laid out as Python does: 0.1, 1e-05, 1e+16, 3.0. */
static void float_text(double x, char text[40]) {
    char digits[40];
    if (isnan(x) || isinf(x)) {
        snprintf(text, 40, "%s", isnan(x) ? "nan" : x < 0 ? "-inf" : "inf");
        return;
    }
    int precision = 1;
    for (; precision < 17; precision++) {
        snprintf(digits, sizeof digits, "%.*e", precision - 1, x);
        if (strtod(digits, NULL) == x) break;
    }
    snprintf(digits, sizeof digits, "%.*e", precision - 1, x);
    int exponent = atoi(strchr(digits, 'e') + 1);
    if (exponent >= -4 && exponent < 16)
        snprintf(digits, sizeof digits, "%.*f", precision - 1 > exponent ? precision - 1 - exponent : 1, x);
    snprintf(text, 40, "%s", digits);
    for (char *c = text; *c; c++) /* the decimal point of any locale */
        if (!strchr("0123456789+-e", *c)) *c = '.';
}

static bool put_float(struct wick__run *run, struct wick__buffer *buffer, double x) {
    char text[40];
    float_text(x, text);
    return put(run, buffer, text);
}

static bool put_int(struct wick__run *run, struct wick__buffer *buffer, int64_t x) {
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)x);
    return put(run, buffer, text);
}

/* ---- repr ---- */

/* What repr shows as an escape: controls, and separators but for the blank. */
static bool is_printable(uint32_t c) {
    return !wick__is_control(c) && c != '\t' && c != '\n' && c != '\r' && (c == ' ' || !wick__is_space(c));
}

static bool put_escaped(struct wick__run *run, struct wick__buffer *buffer, uint32_t c) {
    char text[16];
    const char *short_form = c == '\n' ? "\\n" : c == '\r' ? "\\r" : c == '\t' ? "\\t" : c == '\\' ? "\\\\" : NULL;
    if (short_form) return put(run, buffer, short_form);
    snprintf(text, sizeof text, c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", (unsigned)c);
    return put(run, buffer, text);
}

static bool put_quoted(struct wick__run *run, struct wick__buffer *buffer, const char *text, size_t n) {
    char quote = memchr(text, '\'', n) && !memchr(text, '"', n) ? '"' : '\'';
    bool good = wick__put(run, buffer, &quote, 1);
    for (size_t at = 0; at < n && good;) {
        uint32_t c;
        size_t length = wick__utf8_get(text + at, n - at, &c);
        if (c == (uint32_t)quote)
            good = put(run, buffer, "\\") && wick__put(run, buffer, &quote, 1);
        else if (c == '\\' || !is_printable(c))
            good = put_escaped(run, buffer, c);
        else
            good = wick__put(run, buffer, text + at, length);
        at += length;
    }
    return good && wick__put(run, buffer, &quote, 1);
}

static bool put_members(struct wick__run *run, struct wick__buffer *buffer, const struct wick__dict *dict) {
    bool good = put(run, buffer, "{");
    for (size_t i = 0; i < dict->n && good; i++)
        good = (i == 0 || put(run, buffer, ", ")) && wick__put_repr(run, buffer, dict->entries[i].key) &&
               put(run, buffer, ": ") && wick__put_repr(run, buffer, dict->entries[i].value);
    return good && put(run, buffer, "}");
}

static bool put_items(struct wick__run *run, struct wick__buffer *buffer, struct wick__value x) {
    bool tuple = x.kind == WICK__TUPLE, good = put(run, buffer, tuple ? "(" : "[");
    for (size_t i = 0; i < x.list->n && good; i++)
        good = (i == 0 || put(run, buffer, ", ")) && wick__put_repr(run, buffer, x.list->items[i]);
    if (good && tuple && x.list->n == 1) good = put(run, buffer, ",");
    return good && put(run, buffer, tuple ? ")" : "]");
}

/* One level deeper, counted as work. */
static bool enter(struct wick__run *run) {
    if (!wick__run_step(run, 1)) return false;
    if (run->depth++ < run->limits.depth) return true;
    wick__run_fail(run, WICK_RANGE, "nested more than %d deep", run->limits.depth);
    return false;
}

bool wick__put_repr(struct wick__run *run, struct wick__buffer *buffer, struct wick__value x) {
    bool good;
    if (!enter(run)) return false;
    switch (x.kind) {
    case WICK__STRING: good = put_quoted(run, buffer, x.text, x.n); break;
    case WICK__INT: good = put_int(run, buffer, x.i); break;
    case WICK__FLOAT: good = put_float(run, buffer, x.f); break;
    case WICK__BOOL: good = put(run, buffer, x.b ? "True" : "False"); break;
    case WICK__NONE: good = put(run, buffer, "None"); break;
    case WICK__UNDEFINED: good = put(run, buffer, "Undefined"); break;
    case WICK__LIST:
    case WICK__TUPLE: good = put_items(run, buffer, x); break;
    case WICK__DICT: good = put_members(run, buffer, x.dict); break;
    case WICK__NAMESPACE:
        good = put(run, buffer, "<Namespace ") && put_members(run, buffer, x.dict) && put(run, buffer, ">");
        break;
    default: wick__run_fail(run, WICK_INVALID, "a %s has no text", wick__kind_name(x)); good = false;
    }
    run->depth--;
    return good;
}

bool wick__put_str(struct wick__run *run, struct wick__buffer *buffer, struct wick__value x) {
    if (x.kind == WICK__STRING) return wick__put(run, buffer, x.text, x.n);
    if (x.kind == WICK__UNDEFINED) return run->status == WICK_OK;
    return wick__put_repr(run, buffer, x);
}

/* ---- JSON ---- */

static bool put_json_string(struct wick__run *run, struct wick__buffer *buffer, const char *text, size_t n) {
    static const char from[] = "\"\\\n\r\t\b\f", *const to[] = {"\\\"", "\\\\", "\\n", "\\r", "\\t", "\\b", "\\f"};
    bool good = put(run, buffer, "\"");
    for (size_t at = 0; at < n && good;) {
        size_t plain = at;
        while (plain < n && (unsigned char)text[plain] >= 0x20 && text[plain] != '"' && text[plain] != '\\') plain++;
        good = wick__put(run, buffer, text + at, plain - at);
        at = plain;
        if (!good || at == n) break;
        const char *known = text[at] ? strchr(from, text[at]) : NULL;
        char code[8];
        snprintf(code, sizeof code, "\\u%04x", (unsigned char)text[at++]);
        good = put(run, buffer, known ? to[known - from] : code);
    }
    return good && put(run, buffer, "\"");
}

static bool new_line(struct wick__run *run, struct wick__buffer *buffer, const struct wick__json_style *style,
                     int depth) {
    if (style->indent < 0) return true;
    bool good = put(run, buffer, "\n");
    for (int64_t i = (int64_t)depth * style->indent; i > 0 && good; i--) good = put(run, buffer, " ");
    return good;
}

static bool put_json(struct wick__run *run, struct wick__buffer *buffer, struct wick__value x,
                     const struct wick__json_style *style, int depth);

static bool put_json_key(struct wick__run *run, struct wick__buffer *buffer, struct wick__value key) {
    if (key.kind == WICK__STRING) return put_json_string(run, buffer, key.text, key.n);
    const char *word = key.kind == WICK__NONE   ? "\"null\""
                       : key.kind != WICK__BOOL ? NULL
                       : key.b                  ? "\"true\""
                                                : "\"false\"";
    if (word) return put(run, buffer, word);
    return put(run, buffer, "\"") && wick__put_repr(run, buffer, key) && put(run, buffer, "\"");
}

/* The member that comes next by its key, behind `last`; NULL when there is none. Small dicts need no better way. */
static const struct wick__pair *next_by_key(struct wick__run *run, const struct wick__dict *dict, size_t i,
                                            const struct wick__pair *last, bool sorted) {
    const struct wick__pair *best = NULL;
    if (!sorted) return &dict->entries[i];
    for (size_t j = 0; j < dict->n && wick__run_step(run, 1); j++) {
        const struct wick__pair *entry = &dict->entries[j];
        int order = 0;
        if (last && (!wick__order(entry->key, last->key, &order, &run->steps) || order <= 0)) continue;
        if (!best || (wick__order(entry->key, best->key, &order, &run->steps) && order < 0)) best = entry;
    }
    return best;
}

static bool put_json_dict(struct wick__run *run, struct wick__buffer *buffer, const struct wick__dict *dict,
                          const struct wick__json_style *style, int depth) {
    const struct wick__pair *entry = NULL;
    bool good = put(run, buffer, "{");
    for (size_t i = 0; i < dict->n && good; i++) {
        entry = next_by_key(run, dict, i, entry, style->sort_keys);
        if (!entry) break;
        good = (i == 0 || wick__put_str(run, buffer, style->item_separator)) &&
               new_line(run, buffer, style, depth + 1) && put_json_key(run, buffer, entry->key) &&
               wick__put_str(run, buffer, style->key_separator) &&
               put_json(run, buffer, entry->value, style, depth + 1);
    }
    return good && (dict->n == 0 || new_line(run, buffer, style, depth)) && put(run, buffer, "}");
}

static bool put_json_list(struct wick__run *run, struct wick__buffer *buffer, const struct wick__list *list,
                          const struct wick__json_style *style, int depth) {
    bool good = put(run, buffer, "[");
    for (size_t i = 0; i < list->n && good; i++)
        good = (i == 0 || wick__put_str(run, buffer, style->item_separator)) &&
               new_line(run, buffer, style, depth + 1) && put_json(run, buffer, list->items[i], style, depth + 1);
    return good && (list->n == 0 || new_line(run, buffer, style, depth)) && put(run, buffer, "]");
}

static bool put_json(struct wick__run *run, struct wick__buffer *buffer, struct wick__value x,
                     const struct wick__json_style *style, int depth) {
    bool good;
    if (!enter(run)) return false;
    switch (x.kind) {
    case WICK__STRING: good = put_json_string(run, buffer, x.text, x.n); break;
    case WICK__INT: good = put_int(run, buffer, x.i); break;
    case WICK__FLOAT:
        good = isfinite(x.f) ? put_float(run, buffer, x.f)
                             : put(run, buffer,
                                   isnan(x.f) ? "NaN"
                                   : x.f < 0  ? "-Infinity"
                                              : "Infinity");
        break;
    case WICK__BOOL: good = put(run, buffer, x.b ? "true" : "false"); break;
    case WICK__NONE: good = put(run, buffer, "null"); break;
    case WICK__LIST:
    case WICK__TUPLE: good = put_json_list(run, buffer, x.list, style, depth); break;
    case WICK__DICT: good = put_json_dict(run, buffer, x.dict, style, depth); break;
    default:
        wick__run_fail(run, WICK_INVALID, "tojson: a value of type %s is not JSON", wick__kind_name(x));
        good = false;
    }
    run->depth--;
    return good;
}

bool wick__put_json(struct wick__run *run, struct wick__buffer *buffer, struct wick__value x,
                    const struct wick__json_style *style) {
    return put_json(run, buffer, x, style, 0);
}

/* ---- as values ---- */

struct wick__value wick__take(struct wick__run *run, struct wick__buffer *buffer) {
    struct wick__value text = wick__undefined("");
    if (run->status == WICK_OK)
        text = wick__run_made(run, wick__string_copy(&run->arena, buffer->nbytes ? buffer->data : "", buffer->nbytes));
    wick__buffer_free(buffer);
    return text;
}

struct wick__value wick__str(struct wick__run *run, struct wick__value x) {
    struct wick__buffer buffer = {0};
    if (x.kind == WICK__STRING) return x;
    wick__put_str(run, &buffer, x);
    return wick__take(run, &buffer);
}

struct wick__value wick__escape(struct wick__run *run, struct wick__value x) {
    struct wick__buffer out = {0};
    struct wick__value text = wick__str(run, x);
    if (text.markup) return text;
    for (size_t i = 0; run->status == WICK_OK && i < text.n; i++) {
        static const char from[] = "&<>'\"", *const to[] = {"&amp;", "&lt;", "&gt;", "&#39;", "&#34;"};
        const char *known = text.text[i] ? strchr(from, text.text[i]) : NULL;
        if (known)
            wick__put(run, &out, to[known - from], strlen(to[known - from]));
        else
            wick__put(run, &out, text.text + i, 1);
    }
    struct wick__value escaped = wick__take(run, &out);
    escaped.markup = true;
    return escaped;
}
