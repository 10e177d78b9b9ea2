/* Opening and rendering templates. */
#include "template/run.h"

#include "core/memory.h"

#include <limits.h>
#include <time.h>

enum { MAX_SOURCE = 4 << 20, MAX_DEPTH = 4000 };

struct wick_template {
    struct wick__arena arena;
    struct wick__node *root;
};

struct wick_template *wick_template_open(const char *text, size_t nbytes) {
    if (!text) {
        wick__fail(WICK_INVALID, "template: text is NULL");
        return NULL;
    }
    if (nbytes > MAX_SOURCE) {
        wick__fail(WICK_RANGE, "template: %zu bytes are over the limit of %d", nbytes, MAX_SOURCE);
        return NULL;
    }
    struct wick_template *tmpl = wick__calloc(1, sizeof *tmpl);
    if (!tmpl) return NULL;
    if (wick__template_parse(&tmpl->arena, text, nbytes, &tmpl->root) == WICK_OK) return tmpl;
    wick_template_close(tmpl);
    return NULL;
}

void wick_template_close(struct wick_template *tmpl) {
    if (!tmpl) return;
    wick__arena_free(&tmpl->arena);
    wick__free(tmpl, sizeof *tmpl);
}

static struct wick_template_limits with_defaults(const struct wick_template_limits *given) {
    struct wick_template_limits limits = given ? *given : (struct wick_template_limits){0};
    if (limits.steps <= 0) limits.steps = 10 * 1000 * 1000;
    if (limits.depth <= 0) limits.depth = 1000;
    if (limits.depth > MAX_DEPTH) limits.depth = MAX_DEPTH;
    if (limits.memory == 0) limits.memory = (size_t)64 << 20;
    if (limits.output == 0) limits.output = (size_t)16 << 20;
    return limits;
}

/* The members of the context become the variables of the outermost frame. */
static enum wick_status context_read(struct wick__run *run, const char *text, size_t nbytes) {
    json_error_t error;
    json_t *json = json_loadb(text, nbytes, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
    if (!json_is_object(json)) {
        json_decref(json);
        return run->status = wick__fail(WICK_FORMAT, "template: the context is not a JSON object%s%s", json ? "" : ": ",
                                        json ? "" : error.text);
    }
    struct wick__value context = wick__run_made(run, wick__value_of_json(&run->arena, json, 200));
    json_decref(json);
    if (run->status == WICK_OK) run->frame->variables = *context.dict;
    return run->status;
}

enum wick_status wick_template_render(const struct wick_template *tmpl, const char *context, size_t nbytes,
                                      const struct wick_template_limits *limits, struct wick_text *text) {
    if (!tmpl || !context || !text)
        return wick__fail(WICK_INVALID, "template_render: %s is NULL", !tmpl ? "tmpl" : !context ? "context" : "text");
    struct wick__buffer out = {0};
    struct wick__frame frame = {0};
    struct wick__run run = {.frame = &frame, .out = &out, .limits = with_defaults(limits)};
    run.steps = run.limits.steps;
    run.arena.limit = run.limits.memory;
    run.now = run.limits.now ? run.limits.now : (int64_t)time(NULL);
    if (context_read(&run, context, nbytes) == WICK_OK) wick__exec(&run, tmpl->root);
    if (run.status == WICK_OK) run.status = wick__buffer_append(&out, "", 1);
    if (run.status == WICK_OK)
        *text = (struct wick_text){.data = out.data, .nbytes = out.nbytes - 1, .capacity = out.capacity};
    else
        wick__buffer_free(&out);
    wick__arena_free(&run.arena);
    return run.status;
}
