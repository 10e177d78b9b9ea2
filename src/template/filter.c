/* Filters of single values: what stands behind "|". Those of lists are in filter_list.c. */
#include "template/filter.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILTER(name) static struct wick__value name(struct wick__run *run, const struct wick__args *args)

/* Calls a method of str(x) with the arguments behind x. */
static struct wick__value as_method(struct wick__run *run, const struct wick__args *args, const char *name) {
    struct wick__args rest = *args;
    struct wick__value text = wick__str(run, args->values[0]);
    if (run->status != WICK_OK) return text;
    rest.n--;
    rest.values++;
    return wick__method_call(run, text, name, &rest);
}

FILTER(filter_trim) { return as_method(run, args, "strip"); }
FILTER(filter_upper) { return as_method(run, args, "upper"); }
FILTER(filter_lower) { return as_method(run, args, "lower"); }
FILTER(filter_title) { return as_method(run, args, "title"); }
FILTER(filter_capitalize) { return as_method(run, args, "capitalize"); }
FILTER(filter_replace) { return as_method(run, args, "replace"); }

FILTER(filter_string) { return wick__str(run, args->values[0]); }

FILTER(filter_safe) {
    struct wick__value text = wick__str(run, args->values[0]);
    text.markup = true;
    return text;
}

FILTER(filter_default) {
    (void)run;
    struct wick__value x = args->values[0], otherwise = wick__arg(args, 1, "default_value", wick__string("", 0));
    bool any = wick__truth(wick__arg(args, 2, "boolean", wick__bool(false)));
    return x.kind == WICK__UNDEFINED || (any && !wick__truth(x)) ? otherwise : x;
}

FILTER(filter_length) {
    size_t n;
    if (wick__length(args->values[0], &n)) return wick__int((int64_t)n);
    return wick__run_fail(run, WICK_INVALID, "a %s has no length", wick__kind_name(args->values[0]));
}

FILTER(filter_escape) { return wick__escape(run, args->values[0]); }

/* tojson(indent, separators, sort_keys) as transformers defines it. */
FILTER(filter_tojson) {
    struct wick__buffer out = {0};
    struct wick__value indent = wick__arg(args, 2, "indent", wick__none());
    struct wick__value separators = wick__arg(args, 3, "separators", wick__none());
    struct wick__json_style style = {.indent = -1,
                                     .sort_keys = wick__truth(wick__arg(args, 4, "sort_keys", wick__bool(false)))};
    if (indent.kind == WICK__INT) style.indent = indent.i < 0 ? 0 : indent.i > 64 ? 64 : (int)indent.i;
    style.item_separator = style.indent < 0 ? wick__string(", ", 2) : wick__string(",", 1);
    style.key_separator = wick__string(": ", 2);
    if (wick__is_sequence(separators) && separators.list->n == 2) {
        style.item_separator = separators.list->items[0];
        style.key_separator = separators.list->items[1];
    }
    wick__put_json(run, &out, args->values[0], &style);
    return wick__take(run, &out);
}

/* Lines behind the first one get blanks before them, empty ones only when asked. */
FILTER(filter_indent) {
    struct wick__buffer out = {0};
    struct wick__value text = wick__str(run, args->values[0]), width = wick__arg(args, 1, "width", wick__int(4));
    bool first = wick__truth(wick__arg(args, 2, "first", wick__bool(false)));
    bool blank = wick__truth(wick__arg(args, 3, "blank", wick__bool(false)));
    if (width.kind == WICK__INT) width = wick__operate(run, WICK__MULTIPLY, wick__string(" ", 1), width);
    for (size_t at = 0; run->status == WICK_OK; at++) {
        size_t start = at;
        while (at < text.n && text.text[at] != '\n') at++;
        bool indented = start == 0 ? first : at > start || blank;
        if (indented) wick__put_str(run, &out, width);
        wick__put(run, &out, text.text + start, at - start);
        if (at == text.n) break;
        wick__put(run, &out, "\n", 1);
    }
    return wick__take(run, &out);
}

/* ---- numbers ---- */

FILTER(filter_int) {
    struct wick__value x = args->values[0], otherwise = wick__arg(args, 1, "default", wick__int(0));
    (void)run;
    if (x.kind == WICK__INT || x.kind == WICK__BOOL) return wick__int(wick__integer(x));
    if (x.kind == WICK__STRING && x.n > 0 && x.n < 64) {
        char text[64], *end;
        memcpy(text, x.text, x.n);
        text[x.n] = '\0';
        long long i = strtoll(text, &end, 10);
        if (*end == '\0' && end != text) return wick__int(i);
        x = wick__float(strtod(text, &end));
        if (*end != '\0' || end == text) return otherwise;
    }
    if (x.kind != WICK__FLOAT || !(fabs(x.f) < 9.2e18)) return otherwise;
    return wick__int((int64_t)x.f);
}

FILTER(filter_float) {
    struct wick__value x = args->values[0], otherwise = wick__arg(args, 1, "default", wick__float(0));
    (void)run;
    if (wick__is_number(x)) return wick__float(wick__real(x));
    if (x.kind != WICK__STRING || x.n == 0 || x.n > 63) return otherwise;
    char text[64], *end;
    memcpy(text, x.text, x.n);
    text[x.n] = '\0';
    double value = strtod(text, &end);
    return *end == '\0' ? wick__float(value) : otherwise;
}

FILTER(filter_abs) {
    struct wick__value x = args->values[0];
    if (!wick__is_number(x)) return wick__run_fail(run, WICK_INVALID, "abs of a %s", wick__kind_name(x));
    bool negative = wick__real(x) < 0;
    return negative ? wick__operate(run, WICK__SUBTRACT, wick__int(0), x) : x;
}

FILTER(filter_round) {
    struct wick__value x = args->values[0], precision = wick__arg(args, 1, "precision", wick__int(0));
    struct wick__value method = wick__arg(args, 2, "method", wick__string("common", 6));
    if (!wick__is_number(x) || precision.kind != WICK__INT || precision.i < 0 || precision.i > 15)
        return wick__run_fail(run, WICK_INVALID, "round wants a number, and 0 to 15 digits");
    double scale = pow(10, (double)precision.i), value = wick__real(x);
    if (wick__text_is(method, "ceil")) return wick__float(ceil(value * scale) / scale);
    if (wick__text_is(method, "floor")) return wick__float(floor(value * scale) / scale);
    char text[400]; /* the digits of the largest double, and 15 more */
    snprintf(text, sizeof text, "%.*f", (int)precision.i, value);
    return wick__float(strtod(text, NULL));
}

/* ---- by name ---- */

static const struct wick__filter filters[] = {{"trim", filter_trim},
                                              {"upper", filter_upper},
                                              {"lower", filter_lower},
                                              {"title", filter_title},
                                              {"capitalize", filter_capitalize},
                                              {"replace", filter_replace},
                                              {"string", filter_string},
                                              {"safe", filter_safe},
                                              {"default", filter_default},
                                              {"d", filter_default},
                                              {"length", filter_length},
                                              {"count", filter_length},
                                              {"escape", filter_escape},
                                              {"e", filter_escape},
                                              {"tojson", filter_tojson},
                                              {"indent", filter_indent},
                                              {"int", filter_int},
                                              {"float", filter_float},
                                              {"abs", filter_abs},
                                              {"round", filter_round},
                                              {NULL, NULL}};

struct wick__value wick__filter(struct wick__run *run, const char *name, const struct wick__args *args) {
    for (const struct wick__filter *filter = filters; filter->name; filter++)
        if (strcmp(filter->name, name) == 0) return filter->call(run, args);
    for (const struct wick__filter *filter = wick__list_filters; filter->name; filter++)
        if (strcmp(filter->name, name) == 0) return filter->call(run, args);
    return wick__run_fail(run, WICK_UNSUPPORTED, "there is no filter '%s'", name);
}
