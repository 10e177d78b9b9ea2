/* Statements. */
#include "template/run.h"

#include <stdio.h>
#include <string.h>

static void exec(struct wick__run *run, const struct wick__node *node);

void wick__exec(struct wick__run *run, const struct wick__node *first) {
    for (const struct wick__node *node = first; node && run->flow == WICK__FLOW_ON; node = node->next) {
        if (!wick__run_step(run, 1)) return;
        run->line = node->line;
        exec(run, node);
    }
}

struct wick__value wick__capture(struct wick__run *run, const struct wick__node *first) {
    struct wick__buffer buffer = {0}, *saved = run->out;
    run->out = &buffer;
    wick__exec(run, first);
    run->out = saved;
    return wick__take(run, &buffer);
}

/* ---- setting ---- */

static void set_name(struct wick__run *run, const char *name, struct wick__value value) {
    struct wick__value key = wick__string(name, strlen(name));
    if (run->status == WICK_OK && !wick__dict_set(&run->arena, &run->frame->variables, key, value))
        run->status = wick__latest();
}

static void set_member(struct wick__run *run, const struct wick__node *target, struct wick__value value) {
    struct wick__value object = wick__eval(run, target->a);
    if (run->status != WICK_OK) return;
    if (object.kind != WICK__NAMESPACE) {
        wick__run_fail(run, WICK_INVALID, "a member of a %s can't be set, only one of a namespace",
                       wick__kind_name(object));
        return;
    }
    if (!wick__dict_set(&run->arena, object.dict, wick__string(target->name, strlen(target->name)), value))
        run->status = wick__latest();
}

static void set(struct wick__run *run, const struct wick__node *target, struct wick__value value) {
    if (run->status != WICK_OK) return;
    if (target->kind == WICK__N_NAME) {
        set_name(run, target->name, value);
        return;
    }
    if (target->kind == WICK__N_MEMBER) {
        set_member(run, target, value);
        return;
    }
    struct wick__value items = wick__iterate(run, value);
    size_t n = 0;
    for (const struct wick__node *at = target->a; at; at = at->next) n++;
    if (run->status == WICK_OK && items.list->n != n)
        wick__run_fail(run, WICK_INVALID, "%zu values for %zu names", items.list->n, n);
    n = 0;
    for (const struct wick__node *at = target->a; at && run->status == WICK_OK; at = at->next)
        set(run, at, items.list->items[n++]);
}

/* ---- loops ---- */

/* loop.cycle(a, b, ...) */
static struct wick__value cycle(struct wick__run *run, struct wick__value self, const struct wick__args *args) {
    if (args->n == 0) return wick__run_fail(run, WICK_INVALID, "loop.cycle without a value");
    return args->values[(size_t)self.i % args->n];
}

static bool put_member(struct wick__run *run, struct wick__value dict, const char *name, struct wick__value value) {
    return wick__dict_set(&run->arena, dict.dict, wick__string(name, strlen(name)), value);
}

/* What `loop` is in round `at`; made only for loops that speak of it. */
static struct wick__value loop_value(struct wick__run *run, const struct wick__list *items, size_t at) {
    struct wick__value loop = wick__run_made(run, wick__dict_new(&run->arena, WICK__DICT));
    struct wick__builtin *cycles = wick__arena_alloc(&run->arena, sizeof *cycles);
    int64_t i = (int64_t)at, n = (int64_t)items->n;
    if (run->status != WICK_OK || !cycles) return wick__undefined("");
    *cycles = (struct wick__builtin){.name = "cycle", .call = cycle, .self = wick__int(i)};
    bool good = put_member(run, loop, "index", wick__int(i + 1)) && put_member(run, loop, "index0", wick__int(i)) &&
                put_member(run, loop, "revindex", wick__int(n - i)) &&
                put_member(run, loop, "revindex0", wick__int(n - i - 1)) &&
                put_member(run, loop, "first", wick__bool(i == 0)) &&
                put_member(run, loop, "last", wick__bool(i + 1 == n)) &&
                put_member(run, loop, "length", wick__int(n)) && put_member(run, loop, "depth", wick__int(1)) &&
                put_member(run, loop, "depth0", wick__int(0)) &&
                put_member(run, loop, "cycle", (struct wick__value){.kind = WICK__BUILTIN, .builtin = cycles});
    if (good && i > 0) good = put_member(run, loop, "previtem", items->items[i - 1]);
    if (good && i + 1 < n) good = put_member(run, loop, "nextitem", items->items[i + 1]);
    if (!good && run->status == WICK_OK) run->status = wick__latest();
    return loop;
}

/* The items that a loop's condition lets through. */
static struct wick__value chosen(struct wick__run *run, const struct wick__node *node, struct wick__value all) {
    struct wick__value some = wick__run_made(run, wick__list_new(&run->arena, WICK__LIST, 0));
    struct wick__frame *saved = run->frame;
    for (size_t i = 0; run->status == WICK_OK && i < all.list->n; i++) {
        struct wick__frame frame = {.outer = saved};
        run->frame = &frame;
        set(run, node->a, all.list->items[i]);
        bool yes = run->status == WICK_OK && wick__truth(wick__eval(run, node->d));
        run->frame = saved;
        if (yes && run->status == WICK_OK && !wick__list_add(&run->arena, some, all.list->items[i]))
            run->status = wick__latest();
    }
    return some;
}

static void round_of(struct wick__run *run, const struct wick__node *node, const struct wick__list *items, size_t at) {
    /* A macro that is defined in the round keeps its frame. */
    struct wick__frame *saved = run->frame, *frame = wick__arena_alloc(&run->arena, sizeof *frame);
    if (!frame) {
        run->status = wick__latest();
        return;
    }
    *frame = (struct wick__frame){.outer = saved};
    run->frame = frame;
    set(run, node->a, items->items[at]);
    if (run->status == WICK_OK && node->value.b) set_name(run, "loop", loop_value(run, items, at));
    wick__exec(run, node->body);
    run->frame = saved;
}

static void loop(struct wick__run *run, const struct wick__node *node) {
    struct wick__value items = wick__iterate(run, wick__eval(run, node->b));
    if (run->status == WICK_OK && node->d) items = chosen(run, node, items);
    if (run->status != WICK_OK) return;
    for (size_t i = 0; i < items.list->n && run->status == WICK_OK; i++) {
        round_of(run, node, items.list, i);
        enum wick__flow flow = run->flow;
        run->flow = WICK__FLOW_ON;
        if (flow == WICK__FLOW_BREAK) break;
    }
    if (items.list->n == 0) wick__exec(run, node->c);
}

/* ---- macros and captures ---- */

static struct wick__value macro_of(struct wick__run *run, const struct wick__node *node) {
    struct wick__macro *macro = wick__arena_alloc(&run->arena, sizeof *macro);
    if (!macro) {
        run->status = wick__latest();
        return wick__undefined("");
    }
    *macro = (struct wick__macro){.node = node, .frame = run->frame};
    return (struct wick__value){.kind = WICK__MACRO, .macro = macro};
}

/* {% call(x) f(a) %}...{% endcall %}: f gets the body as caller(x). */
static void call_block(struct wick__run *run, const struct wick__node *node) {
    struct wick__node *body = wick__arena_alloc(&run->arena, sizeof *body);
    struct wick__node *argument = wick__arena_alloc(&run->arena, sizeof *argument);
    struct wick__node *constant = wick__arena_alloc(&run->arena, sizeof *constant);
    if (!body || !argument || !constant) {
        run->status = wick__latest();
        return;
    }
    *body = (struct wick__node){
        .kind = WICK__N_MACRO, .line = node->line, .name = "caller", .a = node->b, .body = node->body};
    *constant = (struct wick__node){.kind = WICK__N_CONSTANT, .line = node->line, .value = macro_of(run, body)};
    *argument = (struct wick__node){.kind = WICK__N_TUPLE, .line = node->line, .name = "caller", .a = constant};
    /* The call once more, with the new argument behind its own. */
    struct wick__node call = *node->a, *copies = NULL, **last = &copies;
    for (const struct wick__node *at = node->a->b; at; at = at->next) {
        struct wick__node *copy = wick__arena_alloc(&run->arena, sizeof *copy);
        if (!copy) {
            run->status = wick__latest();
            return;
        }
        *copy = *at;
        *last = copy;
        last = &copy->next;
    }
    *last = argument;
    call.b = copies;
    struct wick__value text = wick__eval(run, &call);
    if (run->status == WICK_OK) wick__put_str(run, run->out, text);
}

/* Filters around the captured text: the innermost node is a name without a name. */
static struct wick__value filtered(struct wick__run *run, const struct wick__node *node, struct wick__value text) {
    struct wick__frame frame = {.outer = run->frame}, *saved = run->frame;
    struct wick__node chain[8];
    int n = 0;
    for (; node->kind == WICK__N_FILTER; node = node->a) {
        if (n == 8) return wick__run_fail(run, WICK_RANGE, "more than 8 filters");
        chain[n++] = *node;
    }
    run->frame = &frame;
    while (n-- > 0 && run->status == WICK_OK) {
        struct wick__node constant = {.kind = WICK__N_CONSTANT, .line = chain[n].line, .value = text};
        chain[n].a = &constant;
        text = wick__eval(run, &chain[n]);
    }
    run->frame = saved;
    return text;
}

/* ---- one statement ---- */

static void print(struct wick__run *run, struct wick__value value) {
    if (run->status == WICK_OK) wick__put_str(run, run->out, value);
}

static void branch(struct wick__run *run, const struct wick__node *node) {
    while (node && run->status == WICK_OK) {
        bool yes = wick__truth(wick__eval(run, node->a));
        if (run->status != WICK_OK) return;
        if (yes) {
            wick__exec(run, node->b);
            return;
        }
        bool elif = node->c && node->c->kind == WICK__N_IF && !node->c->next;
        if (!elif) {
            wick__exec(run, node->c);
            return;
        }
        node = node->c;
    }
}

static void exec(struct wick__run *run, const struct wick__node *node) {
    struct wick__value value;
    switch (node->kind) {
    case WICK__N_TEXT: wick__put(run, run->out, node->value.text, node->value.n); break;
    case WICK__N_PRINT: print(run, wick__eval(run, node->a)); break;
    case WICK__N_IF: branch(run, node); break;
    case WICK__N_FOR: loop(run, node); break;
    case WICK__N_SET:
        value = wick__eval(run, node->b);
        set(run, node->a, value);
        break;
    case WICK__N_SET_BLOCK:
        value = wick__capture(run, node->body);
        if (run->status == WICK_OK) set(run, node->a, filtered(run, node->b, value));
        break;
    case WICK__N_MACRO: set_name(run, node->name, macro_of(run, node)); break;
    case WICK__N_CALL_BLOCK: call_block(run, node); break;
    case WICK__N_FILTER_BLOCK:
        value = wick__capture(run, node->body);
        if (run->status == WICK_OK) print(run, filtered(run, node->a, value));
        break;
    case WICK__N_BREAK: run->flow = WICK__FLOW_BREAK; break;
    case WICK__N_CONTINUE: run->flow = WICK__FLOW_CONTINUE; break;
    default: break; /* expressions are not statements */
    }
}
