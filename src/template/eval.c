/* Expressions to values. */
#include "template/run.h"

#include <stdio.h>
#include <string.h>

/* "'name' is undefined", as an undefined value remembers it. */
static struct wick__value undefined_name(struct wick__run *run, const char *name) {
    size_t n = strlen(name);
    char *text = wick__arena_alloc(&run->arena, n + 3);
    if (!text) {
        run->status = wick__latest();
        return wick__undefined("");
    }
    snprintf(text, n + 3, "'%s'", name);
    return wick__undefined(text);
}

static struct wick__value variable(struct wick__run *run, const char *name) {
    struct wick__value key = wick__string(name, strlen(name));
    for (const struct wick__frame *frame = run->frame; frame; frame = frame->outer) {
        if (!wick__run_step(run, 1 + frame->variables.n / 16)) return wick__undefined("");
        const struct wick__value *value = wick__dict_get(&frame->variables, key);
        if (value) return *value;
    }
    struct wick__value global = wick__global(run, name);
    return global.kind == WICK__UNDEFINED && run->status == WICK_OK ? undefined_name(run, name) : global;
}

static struct wick__value list_of(struct wick__run *run, const struct wick__node *node) {
    enum wick__kind kind = node->kind == WICK__N_TUPLE ? WICK__TUPLE : WICK__LIST;
    struct wick__value list = wick__run_made(run, wick__list_new(&run->arena, kind, 0));
    for (const struct wick__node *item = node->a; item && run->status == WICK_OK; item = item->next)
        if (!wick__list_add(&run->arena, list, wick__eval(run, item)) && run->status == WICK_OK)
            run->status = wick__latest();
    return list;
}

static struct wick__value dict_of(struct wick__run *run, const struct wick__node *node) {
    struct wick__value dict = wick__run_made(run, wick__dict_new(&run->arena, WICK__DICT));
    for (const struct wick__node *item = node->a; item && run->status == WICK_OK; item = item->next->next) {
        struct wick__value key = wick__eval(run, item), value = wick__eval(run, item->next);
        if (key.kind != WICK__STRING && key.kind != WICK__NONE && !wick__is_number(key))
            return wick__run_fail(run, WICK_INVALID, "a %s can't be a key", wick__kind_name(key));
        if (run->status == WICK_OK && !wick__dict_set(&run->arena, dict.dict, key, value)) run->status = wick__latest();
    }
    return dict;
}

static struct wick__value unary(struct wick__run *run, const struct wick__node *node) {
    struct wick__value x = wick__eval(run, node->a);
    if (run->status != WICK_OK) return x;
    if (!wick__is_number(x)) return wick__run_fail(run, WICK_INVALID, "a %s has no sign", wick__kind_name(x));
    if (x.kind == WICK__FLOAT) return wick__float(node->op == WICK__SUBTRACT ? -x.f : x.f);
    return wick__operate(run, node->op, wick__int(0), x);
}

/* a < b < c: each operand once, up to the first comparison that does not hold. */
static struct wick__value comparisons(struct wick__run *run, const struct wick__node *node) {
    struct wick__value left = wick__eval(run, node->a);
    for (const struct wick__node *operand = node->b; operand && run->status == WICK_OK; operand = operand->next) {
        struct wick__value right = wick__eval(run, operand->a);
        if (run->status != WICK_OK || !wick__compare(run, operand->op, left, right)) return wick__bool(false);
        left = right;
    }
    return wick__bool(true);
}

static struct wick__value slice(struct wick__run *run, const struct wick__node *node) {
    const struct wick__node *parts[3] = {node->b, node->c, node->d};
    struct wick__value x = wick__eval(run, node->a), values[3];
    for (int i = 0; i < 3; i++) values[i] = parts[i] ? wick__eval(run, parts[i]) : wick__none();
    return run->status == WICK_OK ? wick__slice(run, x, values) : x;
}

/* ---- calls ---- */

enum { MAX_ARGS = 32 };

/* The values of arguments behind `first`, which comes before them when there is one. False after a failure. */
static bool arguments(struct wick__run *run, const struct wick__node *node, const struct wick__value *first,
                      struct wick__args *args) {
    size_t n = first ? 1 : 0;
    for (const struct wick__node *at = node; at; at = at->next) n++;
    *args = (struct wick__args){.n = n};
    if (n > MAX_ARGS) {
        wick__run_fail(run, WICK_RANGE, "a call with more than %d arguments", MAX_ARGS);
        return false;
    }
    struct wick__value *values = wick__arena_alloc(&run->arena, n * sizeof *values);
    const char **names = wick__arena_alloc(&run->arena, n * sizeof *names);
    if (!values || !names) {
        if (run->status == WICK_OK) run->status = wick__latest();
        return false;
    }
    n = 0;
    if (first) values[n++] = *first;
    for (const struct wick__node *at = node; at && run->status == WICK_OK; at = at->next) {
        if (at->name) names[args->n_named++] = at->name;
        values[n++] = wick__eval(run, at->a);
    }
    args->values = values;
    args->names = names;
    return run->status == WICK_OK;
}

/* Binds the parameters of a macro in the frame it runs in. */
static void bind(struct wick__run *run, const struct wick__node *macro, const struct wick__args *args) {
    size_t position = 0, named = 0;
    for (const struct wick__node *parameter = macro->a; parameter; parameter = parameter->next, position++) {
        struct wick__value none = wick__undefined(NULL), value = wick__arg(args, position, parameter->name, none);
        if (value.kind == WICK__UNDEFINED && !value.text && parameter->b) value = wick__eval(run, parameter->b);
        if (value.kind == WICK__UNDEFINED && !value.text) value = undefined_name(run, parameter->name);
        struct wick__value key = wick__string(parameter->name, strlen(parameter->name));
        if (run->status != WICK_OK || !wick__dict_set(&run->arena, &run->frame->variables, key, value)) return;
        for (size_t i = 0; i < args->n_named; i++) named += strcmp(args->names[i], parameter->name) == 0;
    }
    size_t caller = 0;
    for (size_t i = 0; i < args->n_named; i++) caller += strcmp(args->names[i], "caller") == 0;
    if (args->n - args->n_named > position)
        wick__run_fail(run, WICK_INVALID, "%s takes %zu arguments, %zu were given", macro->name, position,
                       args->n - args->n_named);
    else if (named + caller < args->n_named)
        wick__run_fail(run, WICK_INVALID, "%s has no parameter '%s'", macro->name, args->names[0]);
}

static struct wick__value call_macro(struct wick__run *run, const struct wick__macro *macro,
                                     const struct wick__args *args) {
    /* A macro that is defined in this one keeps its frame. */
    struct wick__frame *frame = wick__arena_alloc(&run->arena, sizeof *frame), *saved = run->frame;
    struct wick__value caller = wick__arg(args, SIZE_MAX, "caller", wick__undefined(NULL));
    int line = run->line;
    if (!frame) {
        run->status = wick__latest();
        return wick__undefined("");
    }
    *frame = (struct wick__frame){.outer = macro->frame};
    run->frame = frame;
    bind(run, macro->node, args);
    if (caller.kind == WICK__MACRO && run->status == WICK_OK)
        wick__dict_set(&run->arena, &frame->variables, wick__string("caller", 6), caller);
    struct wick__value text = run->status == WICK_OK ? wick__capture(run, macro->node->body) : wick__undefined("");
    run->frame = saved;
    if (run->status == WICK_OK) run->line = line;
    return text;
}

struct wick__value wick__call(struct wick__run *run, struct wick__value function, const struct wick__args *args) {
    if (!wick__run_step(run, 1)) return wick__undefined("");
    if (function.kind == WICK__UNDEFINED)
        return wick__run_fail(run, WICK_INVALID, "%s is undefined", function.text ? function.text : "what is called");
    if (function.kind != WICK__MACRO && function.kind != WICK__BUILTIN)
        return wick__run_fail(run, WICK_INVALID, "a %s can't be called", wick__kind_name(function));
    if (function.kind == WICK__MACRO) return call_macro(run, function.macro, args);
    return function.builtin->call(run, function.builtin->self, args);
}

static struct wick__value call(struct wick__run *run, const struct wick__node *node) {
    struct wick__args args;
    struct wick__value function = wick__eval(run, node->a);
    if (run->status != WICK_OK || !arguments(run, node->b, NULL, &args)) return wick__undefined("");
    return wick__call(run, function, &args);
}

static struct wick__value filter_or_test(struct wick__run *run, const struct wick__node *node) {
    struct wick__args args;
    struct wick__value x = wick__eval(run, node->a);
    if (run->status != WICK_OK || !arguments(run, node->b, &x, &args)) return wick__undefined("");
    return node->kind == WICK__N_FILTER ? wick__filter(run, node->name, &args)
                                        : wick__bool(wick__test(run, node->name, &args));
}

/* ---- all of it ---- */

static struct wick__value eval(struct wick__run *run, const struct wick__node *node) {
    struct wick__value x;
    switch (node->kind) {
    case WICK__N_CONSTANT: return node->value;
    case WICK__N_NAME: return variable(run, node->name);
    case WICK__N_LIST:
    case WICK__N_TUPLE: return list_of(run, node);
    case WICK__N_DICT: return dict_of(run, node);
    case WICK__N_UNARY: return unary(run, node);
    case WICK__N_COMPARE: return comparisons(run, node);
    case WICK__N_NOT: return wick__bool(!wick__truth(wick__eval(run, node->a)));
    case WICK__N_SLICE: return slice(run, node);
    case WICK__N_CALL: return call(run, node);
    case WICK__N_FILTER:
    case WICK__N_TEST: return filter_or_test(run, node);
    default: break;
    }
    x = wick__eval(run, node->a);
    if (run->status != WICK_OK) return x;
    switch (node->kind) {
    case WICK__N_AND: return wick__truth(x) ? wick__eval(run, node->b) : x;
    case WICK__N_OR: return wick__truth(x) ? x : wick__eval(run, node->b);
    case WICK__N_CHOICE:
        if (wick__truth(x)) return wick__eval(run, node->b);
        return node->c ? wick__eval(run, node->c) : wick__undefined("the choice without else");
    case WICK__N_MEMBER: return wick__member(run, x, node->name);
    default: break;
    }
    struct wick__value y = wick__eval(run, node->b);
    if (run->status != WICK_OK) return y;
    return node->kind == WICK__N_ITEM ? wick__item(run, x, y) : wick__operate(run, node->op, x, y);
}

struct wick__value wick__eval(struct wick__run *run, const struct wick__node *node) {
    if (!wick__run_step(run, 1)) return wick__undefined("");
    if (run->depth >= run->limits.depth)
        return wick__run_fail(run, WICK_RANGE, "nested more than %d deep", run->limits.depth);
    run->depth++;
    struct wick__value value = eval(run, node);
    run->depth--;
    return value;
}
