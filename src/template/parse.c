/* Statements, and what the parser of expressions stands on. */
#include "template/parse.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static struct wick__node *statements(struct wick__parser *parser, const char *const *ends);

/* ---- tokens ---- */

struct wick__node *wick__parse_fail(struct wick__parser *parser, const char *format, ...) {
    char why[160];
    const struct wick__token *token = &parser->token;
    bool shown = token->n > 0 && token->n < 40 && token->kind != WICK__T_TEXT;
    va_list args;
    if (wick__parse_failed(parser)) return NULL;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    parser->lexer.status = wick__template_fail(token->line, "%s%s%.*s%s", why, shown ? ", at '" : "",
                                               shown ? (int)token->n : 0, shown ? token->text : "", shown ? "'" : "");
    return NULL;
}

void wick__parse_next(struct wick__parser *parser) { parser->token = wick__lex(&parser->lexer); }

bool wick__parse_is(const struct wick__parser *parser, const char *text) {
    const struct wick__token *token = &parser->token;
    return (token->kind == WICK__T_NAME || token->kind == WICK__T_SYMBOL) && token->n == strlen(text) &&
           memcmp(token->text, text, token->n) == 0;
}

bool wick__parse_take(struct wick__parser *parser, const char *text) {
    if (wick__parse_failed(parser) || !wick__parse_is(parser, text)) return false;
    wick__parse_next(parser);
    return true;
}

bool wick__parse_expect(struct wick__parser *parser, const char *text) {
    if (wick__parse_take(parser, text)) return true;
    wick__parse_fail(parser, "'%s' was expected", text);
    return false;
}

const char *wick__parse_name(struct wick__parser *parser) {
    if (parser->token.kind != WICK__T_NAME) {
        wick__parse_fail(parser, "a name was expected");
        return NULL;
    }
    struct wick__value copy = wick__string_copy(parser->lexer.arena, parser->token.text, parser->token.n);
    if (copy.kind != WICK__STRING) parser->lexer.status = wick__latest();
    wick__parse_next(parser);
    return copy.kind == WICK__STRING ? copy.text : NULL;
}

struct wick__node *wick__parse_node(struct wick__parser *parser, enum wick__node_kind kind) {
    if (wick__parse_failed(parser)) return NULL;
    struct wick__node *node = wick__arena_alloc(parser->lexer.arena, sizeof *node);
    if (node)
        *node = (struct wick__node){.kind = kind, .line = parser->token.line};
    else
        parser->lexer.status = wick__latest();
    return node;
}

/* ---- statements ---- */

static bool block_end(struct wick__parser *parser) {
    if (parser->token.kind == WICK__T_BLOCK_END) {
        wick__parse_next(parser);
        return !wick__parse_failed(parser);
    }
    wick__parse_fail(parser, "'%%}' was expected");
    return false;
}

/* The statements up to {% end %}, which is taken. */
static bool body(struct wick__parser *parser, const char *end, struct wick__node **first) {
    const char *const ends[] = {end, NULL};
    if (!block_end(parser)) return false;
    *first = statements(parser, ends);
    return wick__parse_expect(parser, end) && block_end(parser);
}

static struct wick__node *parse_if(struct wick__parser *parser) {
    static const char *const ends[] = {"elif", "else", "endif", NULL}, *const last[] = {"endif", NULL};
    struct wick__node *node = wick__parse_node(parser, WICK__N_IF), *branch = node;
    while (branch) {
        branch->a = wick__parse_tuple(parser);
        if (!branch->a || !block_end(parser)) return NULL;
        branch->b = statements(parser, ends);
        if (!wick__parse_take(parser, "elif")) break;
        branch = branch->c = wick__parse_node(parser, WICK__N_IF);
    }
    if (branch && wick__parse_take(parser, "else")) {
        if (!block_end(parser)) return NULL;
        branch->c = statements(parser, last);
    }
    return branch && wick__parse_expect(parser, "endif") && block_end(parser) ? node : NULL;
}

static struct wick__node *parse_for(struct wick__parser *parser) {
    static const char *const ends[] = {"else", "endfor", NULL}, *const last[] = {"endfor", NULL};
    struct wick__node *node = wick__parse_node(parser, WICK__N_FOR);
    if (!node || !(node->a = wick__parse_target(parser)) || !wick__parse_expect(parser, "in")) return NULL;
    node->b = wick__parse_without_choice(parser);
    if (!node->b) return NULL;
    if (wick__parse_is(parser, ","))
        return wick__parse_fail(parser, "a loop over several values wants brackets around them");
    if (wick__parse_take(parser, "if") && !(node->d = wick__parse_expression(parser))) return NULL;
    if (wick__parse_is(parser, "recursive")) return wick__parse_fail(parser, "recursive loops are not known");
    if (!block_end(parser)) return NULL;
    bool said_before = parser->said_loop;
    parser->said_loop = false;
    parser->loops++;
    node->body = statements(parser, ends);
    parser->loops--;
    node->value = wick__bool(parser->said_loop);
    parser->said_loop |= said_before;
    if (wick__parse_take(parser, "else")) {
        if (!block_end(parser)) return NULL;
        node->c = statements(parser, last);
    }
    return wick__parse_expect(parser, "endfor") && block_end(parser) ? node : NULL;
}

static struct wick__node *parse_set(struct wick__parser *parser) {
    struct wick__node *node = wick__parse_node(parser, WICK__N_SET);
    if (!node || !(node->a = wick__parse_target(parser))) return NULL;
    if (wick__parse_take(parser, "=")) {
        node->b = wick__parse_tuple(parser);
        return node->b && block_end(parser) ? node : NULL;
    }
    node->kind = WICK__N_SET_BLOCK;
    struct wick__node *inside = wick__parse_node(parser, WICK__N_NAME);
    while (inside && wick__parse_take(parser, "|")) inside = wick__parse_filter(parser, inside);
    node->b = inside;
    return inside && body(parser, "endset", &node->body) ? node : NULL;
}

/* "(a, b=1)": names, each with its default in b. */
static bool parameters(struct wick__parser *parser, struct wick__node **first) {
    if (!wick__parse_expect(parser, "(")) return false;
    while (!wick__parse_take(parser, ")")) {
        struct wick__node *name = wick__parse_node(parser, WICK__N_NAME);
        if (!name || !(name->name = wick__parse_name(parser))) return false;
        if (wick__parse_take(parser, "=") && !(name->b = wick__parse_expression(parser))) return false;
        *first = name;
        first = &name->next;
        if (!wick__parse_is(parser, ")") && !wick__parse_expect(parser, ",")) return false;
    }
    return true;
}

static struct wick__node *parse_macro(struct wick__parser *parser) {
    struct wick__node *node = wick__parse_node(parser, WICK__N_MACRO);
    int loops = parser->loops;
    if (!node || !(node->name = wick__parse_name(parser)) || !parameters(parser, &node->a)) return NULL;
    parser->loops = 0; /* those around the macro are not around its calls */
    bool good = body(parser, "endmacro", &node->body);
    parser->loops = loops;
    return good ? node : NULL;
}

static struct wick__node *parse_call(struct wick__parser *parser) {
    struct wick__node *node = wick__parse_node(parser, WICK__N_CALL_BLOCK);
    if (!node || (wick__parse_is(parser, "(") && !parameters(parser, &node->b))) return NULL;
    node->a = wick__parse_expression(parser);
    if (node->a && node->a->kind != WICK__N_CALL) return wick__parse_fail(parser, "a call was expected");
    node->name = "caller";
    int loops = parser->loops;
    parser->loops = 0;
    bool good = node->a && body(parser, "endcall", &node->body);
    parser->loops = loops;
    return good ? node : NULL;
}

static struct wick__node *parse_filter_block(struct wick__parser *parser) {
    struct wick__node *node = wick__parse_node(parser, WICK__N_FILTER_BLOCK);
    struct wick__node *inside = wick__parse_node(parser, WICK__N_NAME);
    if (inside) inside = wick__parse_filter(parser, inside);
    while (inside && wick__parse_take(parser, "|")) inside = wick__parse_filter(parser, inside);
    if (!node || !inside) return NULL;
    node->a = inside;
    return body(parser, "endfilter", &node->body) ? node : NULL;
}

static struct wick__node *parse_word(struct wick__parser *parser, enum wick__node_kind kind) {
    struct wick__node *node = wick__parse_node(parser, kind);
    if (parser->loops == 0) return wick__parse_fail(parser, "break and continue belong into a loop");
    return node && block_end(parser) ? node : NULL;
}

/* {% raw %}: its text, up to {% endraw %}. */
static struct wick__node *parse_raw(struct wick__parser *parser) {
    if (parser->token.kind != WICK__T_BLOCK_END) return wick__parse_fail(parser, "'%%}' was expected");
    parser->lexer.raw = true;
    wick__parse_next(parser);
    struct wick__node *node = wick__parse_node(parser, WICK__N_TEXT);
    if (!node) return NULL;
    node->value = wick__string(parser->token.text, parser->token.n);
    wick__parse_next(parser); /* {% */
    wick__parse_next(parser);
    return wick__parse_expect(parser, "endraw") && block_end(parser) ? node : NULL;
}

/* Training marks the model's own words with it; a rendering shows what is inside. */
static struct wick__node *parse_generation(struct wick__parser *parser) {
    struct wick__node *node = wick__parse_node(parser, WICK__N_IF), *yes = wick__parse_node(parser, WICK__N_CONSTANT);
    if (!node || !yes) return NULL;
    yes->value = wick__bool(true);
    node->a = yes;
    return body(parser, "endgeneration", &node->b) ? node : NULL;
}

static struct wick__node *block(struct wick__parser *parser) {
    if (wick__parse_take(parser, "if")) return parse_if(parser);
    if (wick__parse_take(parser, "for")) return parse_for(parser);
    if (wick__parse_take(parser, "set")) return parse_set(parser);
    if (wick__parse_take(parser, "macro")) return parse_macro(parser);
    if (wick__parse_take(parser, "call")) return parse_call(parser);
    if (wick__parse_take(parser, "filter")) return parse_filter_block(parser);
    if (wick__parse_take(parser, "break")) return parse_word(parser, WICK__N_BREAK);
    if (wick__parse_take(parser, "continue")) return parse_word(parser, WICK__N_CONTINUE);
    if (wick__parse_take(parser, "raw")) return parse_raw(parser);
    if (wick__parse_take(parser, "generation")) return parse_generation(parser);
    return wick__parse_fail(parser, "an unknown statement");
}

static bool is_end(const struct wick__parser *parser, const char *const *ends) {
    for (; ends && *ends; ends++)
        if (wick__parse_is(parser, *ends)) return true;
    return false;
}

static struct wick__node *print(struct wick__parser *parser) {
    wick__parse_next(parser);
    struct wick__node *node = wick__parse_node(parser, WICK__N_PRINT);
    if (!node || !(node->a = wick__parse_tuple(parser))) return NULL;
    if (parser->token.kind != WICK__T_PRINT_END) return wick__parse_fail(parser, "'}}' was expected");
    wick__parse_next(parser);
    return node;
}

static struct wick__node *text(struct wick__parser *parser) {
    struct wick__node *node = wick__parse_node(parser, WICK__N_TEXT);
    if (node) node->value = wick__string(parser->token.text, parser->token.n);
    wick__parse_next(parser);
    return node;
}

/* Up to a block that begins with one of `ends`, which becomes the next token, or up to the end of the template. */
static struct wick__node *statements(struct wick__parser *parser, const char *const *ends) {
    struct wick__node *first = NULL, **last = &first;
    if (parser->depth++ >= WICK__PARSE_DEPTH) wick__parse_fail(parser, "nested more than %d deep", WICK__PARSE_DEPTH);
    while (!wick__parse_failed(parser) && parser->token.kind != WICK__T_END) {
        struct wick__node *node;
        if (parser->token.kind == WICK__T_TEXT) {
            node = text(parser);
        } else if (parser->token.kind == WICK__T_PRINT_BEGIN) {
            node = print(parser);
        } else {
            wick__parse_next(parser);
            if (is_end(parser, ends)) break;
            node = block(parser);
        }
        if (!node) break;
        *last = node;
        last = &node->next;
    }
    if (!wick__parse_failed(parser) && parser->token.kind == WICK__T_END && ends)
        wick__parse_fail(parser, "the template ends before '%s'", ends[0]);
    parser->depth--;
    return first;
}

/* Newlines of every system become "\n", and one at the end is not part of the template. */
static struct wick__value normalised(struct wick__arena *arena, const char *from, size_t nbytes) {
    struct wick__value copy = wick__string_copy(arena, from, nbytes);
    if (copy.kind != WICK__STRING) return copy;
    char *to = (char *)(uintptr_t)copy.text; /* the arena's */
    size_t n = 0;
    for (size_t i = 0; i < nbytes; i++) {
        if (from[i] == '\r' && i + 1 < nbytes && from[i + 1] == '\n') continue;
        to[n++] = from[i] == '\r' ? '\n' : from[i];
    }
    if (n > 0 && to[n - 1] == '\n') n--;
    return wick__string(to, n);
}

enum wick_status wick__template_parse(struct wick__arena *arena, const char *source, size_t nbytes,
                                      struct wick__node **root) {
    struct wick__value own = normalised(arena, source, nbytes);
    if (own.kind != WICK__STRING) return wick__latest();
    struct wick__parser parser = {
        .lexer = {.arena = arena, .text = own.text, .nbytes = own.n, .line = 1, .line_start = true}};
    wick__parse_next(&parser);
    *root = statements(&parser, NULL);
    return parser.lexer.status;
}
