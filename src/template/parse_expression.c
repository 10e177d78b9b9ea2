/* Expressions, by Jinja's precedence: choice, or, and, not, comparisons, + -, ~, * / // %, **, signs, then what follows
 * a value. */
#include "template/parse.h"

#include <string.h>

static struct wick__node *primary(struct wick__parser *parser);
static struct wick__node *postfix(struct wick__parser *parser, struct wick__node *x);

/* One level deeper: false after a failure when that is too deep. */
static bool enter(struct wick__parser *parser) {
    if (wick__parse_failed(parser)) return false;
    if (parser->depth++ < WICK__PARSE_DEPTH) return true;
    wick__parse_fail(parser, "nested more than %d deep", WICK__PARSE_DEPTH);
    return false;
}

static struct wick__node *pair(struct wick__parser *parser, enum wick__node_kind kind, enum wick__operator op,
                               struct wick__node *a, struct wick__node *b) {
    struct wick__node *node =
        a && (b || kind == WICK__N_NOT || kind == WICK__N_UNARY) ? wick__parse_node(parser, kind) : NULL;
    if (!node) return NULL;
    node->op = op;
    node->a = a;
    node->b = b;
    node->line = a->line;
    return node;
}

/* ---- values ---- */

static struct wick__node *constant(struct wick__parser *parser, struct wick__value value) {
    struct wick__node *node = wick__parse_node(parser, WICK__N_CONSTANT);
    if (node) node->value = value;
    return node;
}

static struct wick__node *name_or_constant(struct wick__parser *parser) {
    static const struct {
        const char *name;
        struct wick__value value;
    } constants[] = {{"true", {.kind = WICK__BOOL, .b = true}},
                     {"True", {.kind = WICK__BOOL, .b = true}},
                     {"false", {.kind = WICK__BOOL, .b = false}},
                     {"False", {.kind = WICK__BOOL, .b = false}},
                     {"none", {.kind = WICK__NONE}},
                     {"None", {.kind = WICK__NONE}}};
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        if (wick__parse_take(parser, constants[i].name)) return constant(parser, constants[i].value);
    struct wick__node *node = wick__parse_node(parser, WICK__N_NAME);
    const char *name = wick__parse_name(parser);
    if (!node || !name) return NULL;
    node->name = name;
    if (strcmp(name, "loop") == 0) parser->said_loop = true;
    return node;
}

/* Strings beside each other are one. */
static struct wick__node *strings(struct wick__parser *parser) {
    const char *text = parser->token.text;
    size_t n = parser->token.n;
    wick__parse_next(parser);
    while (parser->token.kind == WICK__T_STRING && !wick__parse_failed(parser)) {
        char *both = wick__arena_grow(parser->lexer.arena, text, n, n + parser->token.n + 1);
        if (!both) break;
        memcpy(both + n, parser->token.text, parser->token.n);
        text = both;
        n += parser->token.n;
        wick__parse_next(parser);
    }
    return constant(parser, wick__string(text, n));
}

/* Items up to a closing bracket; a dict's are keys and values in turn. */
static struct wick__node *items(struct wick__parser *parser, enum wick__node_kind kind, const char *close) {
    struct wick__node *node = wick__parse_node(parser, kind), **last = node ? &node->a : NULL;
    wick__parse_next(parser);
    while (last && !wick__parse_take(parser, close)) {
        struct wick__node *item = wick__parse_expression(parser);
        if (!item) return NULL;
        *last = item;
        last = &item->next;
        if (kind == WICK__N_DICT) {
            struct wick__node *value = wick__parse_expect(parser, ":") ? wick__parse_expression(parser) : NULL;
            if (!value) return NULL;
            *last = value;
            last = &value->next;
        }
        if (!wick__parse_is(parser, close) && !wick__parse_expect(parser, ",")) return NULL;
    }
    return node;
}

static struct wick__node *primary(struct wick__parser *parser) {
    struct wick__token *token = &parser->token;
    if (wick__parse_failed(parser)) return NULL;
    if (token->kind == WICK__T_NAME) return name_or_constant(parser);
    if (token->kind == WICK__T_STRING) return strings(parser);
    if (token->kind == WICK__T_INT || token->kind == WICK__T_FLOAT) {
        struct wick__value value = token->value;
        wick__parse_next(parser);
        return constant(parser, value);
    }
    if (wick__parse_is(parser, "[")) return items(parser, WICK__N_LIST, "]");
    if (wick__parse_is(parser, "{")) return items(parser, WICK__N_DICT, "}");
    if (!wick__parse_take(parser, "(")) return wick__parse_fail(parser, "a value was expected");
    struct wick__node *node;
    if (wick__parse_is(parser, ")"))
        node = wick__parse_node(parser, WICK__N_TUPLE);
    else
        node = wick__parse_tuple(parser);
    return node && wick__parse_expect(parser, ")") ? node : NULL;
}

/* ---- what follows a value ---- */

/* "(a, b, name=c)": the arguments, their first one; false after a failure. */
static bool arguments(struct wick__parser *parser, struct wick__node **first) {
    bool named = false;
    *first = NULL;
    if (!wick__parse_expect(parser, "(")) return false;
    while (!wick__parse_take(parser, ")")) {
        if (wick__parse_is(parser, "*") || wick__parse_is(parser, "**")) {
            wick__parse_fail(parser, "arguments with * or ** are not known");
            return false;
        }
        struct wick__node *value = wick__parse_expression(parser);
        const char *name = NULL;
        if (value && value->kind == WICK__N_NAME && wick__parse_take(parser, "=")) {
            name = value->name;
            value = wick__parse_expression(parser);
        }
        if (!value) return false;
        if (named && !name) {
            wick__parse_fail(parser, "an argument without a name comes after one with a name");
            return false;
        }
        /* A constant or a name may stand in several lists; an argument is a node of its own. */
        struct wick__node *argument = wick__parse_node(parser, WICK__N_TUPLE);
        if (!argument) return false;
        argument->a = value;
        argument->name = name;
        named = name != NULL;
        *first = argument;
        first = &argument->next;
        if (!wick__parse_is(parser, ")") && !wick__parse_expect(parser, ",")) return false;
    }
    return true;
}

static struct wick__node *call(struct wick__parser *parser, struct wick__node *x) {
    struct wick__node *node = pair(parser, WICK__N_CALL, 0, x, x);
    return node && arguments(parser, &node->b) ? node : NULL;
}

/* Whether a part of a slice comes next. */
static bool has_part(const struct wick__parser *parser) {
    return !wick__parse_is(parser, ":") && !wick__parse_is(parser, "]");
}

static struct wick__node *subscript(struct wick__parser *parser, struct wick__node *x) {
    struct wick__node *node = pair(parser, WICK__N_ITEM, 0, x, x);
    wick__parse_next(parser);
    if (!node) return NULL;
    node->b = has_part(parser) ? wick__parse_tuple(parser) : NULL;
    if (wick__parse_take(parser, ":")) {
        node->kind = WICK__N_SLICE;
        node->c = has_part(parser) ? wick__parse_expression(parser) : NULL;
        if (wick__parse_take(parser, ":") && has_part(parser)) node->d = wick__parse_expression(parser);
    } else if (!node->b) {
        return wick__parse_fail(parser, "[] without an index");
    }
    return wick__parse_expect(parser, "]") ? node : NULL;
}

static struct wick__node *member(struct wick__parser *parser, struct wick__node *x) {
    wick__parse_next(parser);
    bool number = parser->token.kind == WICK__T_INT;
    struct wick__node *node = pair(parser, number ? WICK__N_ITEM : WICK__N_MEMBER, 0, x, x);
    if (!node) return NULL;
    if (number) {
        node->b = primary(parser);
        return node;
    }
    node->b = NULL;
    node->name = wick__parse_name(parser);
    return node->name ? node : NULL;
}

static struct wick__node *postfix(struct wick__parser *parser, struct wick__node *x) {
    while (x && !wick__parse_failed(parser)) {
        if (wick__parse_is(parser, "."))
            x = member(parser, x);
        else if (wick__parse_is(parser, "["))
            x = subscript(parser, x);
        else if (wick__parse_is(parser, "("))
            x = call(parser, x);
        else
            return x;
    }
    return NULL;
}

/* "is not divisibleby 3": the word before it was taken. */
static struct wick__node *test(struct wick__parser *parser, struct wick__node *x) {
    bool negated = wick__parse_take(parser, "not");
    struct wick__node *node = pair(parser, WICK__N_TEST, 0, x, x);
    if (!node) return NULL;
    node->b = NULL;
    node->name = wick__parse_name(parser);
    if (!node->name) return NULL;
    enum wick__token_kind kind = parser->token.kind;
    bool word = kind == WICK__T_NAME && !wick__parse_is(parser, "else") && !wick__parse_is(parser, "or") &&
                !wick__parse_is(parser, "and") && !wick__parse_is(parser, "is") && !wick__parse_is(parser, "if") &&
                !wick__parse_is(parser, "in") && !wick__parse_is(parser, "not");
    if (wick__parse_is(parser, "(")) {
        if (!arguments(parser, &node->b)) return NULL;
    } else if (word || kind == WICK__T_STRING || kind == WICK__T_INT || kind == WICK__T_FLOAT ||
               wick__parse_is(parser, "[") || wick__parse_is(parser, "{")) {
        struct wick__node *value = postfix(parser, primary(parser));
        node->b = value ? wick__parse_node(parser, WICK__N_TUPLE) : NULL;
        if (!node->b) return NULL;
        node->b->a = value;
    }
    return negated ? pair(parser, WICK__N_NOT, 0, node, NULL) : node;
}

struct wick__node *wick__parse_filter(struct wick__parser *parser, struct wick__node *x) {
    struct wick__node *node = pair(parser, WICK__N_FILTER, 0, x, x);
    if (!node) return NULL;
    node->b = NULL;
    node->name = wick__parse_name(parser);
    if (!node->name) return NULL;
    return !wick__parse_is(parser, "(") || arguments(parser, &node->b) ? node : NULL;
}

static struct wick__node *filters_and_tests(struct wick__parser *parser, struct wick__node *x) {
    while (x && !wick__parse_failed(parser)) {
        if (wick__parse_take(parser, "|"))
            x = wick__parse_filter(parser, x);
        else if (wick__parse_take(parser, "is"))
            x = test(parser, x);
        else if (wick__parse_is(parser, "("))
            x = call(parser, x);
        else
            return x;
    }
    return NULL;
}

/* ---- operators ---- */

static struct wick__node *unary(struct wick__parser *parser, bool with_filters) {
    struct wick__node *x;
    if (!enter(parser)) return NULL;
    if (wick__parse_take(parser, "-"))
        x = pair(parser, WICK__N_UNARY, WICK__SUBTRACT, unary(parser, false), NULL);
    else if (wick__parse_take(parser, "+"))
        x = pair(parser, WICK__N_UNARY, WICK__ADD, unary(parser, false), NULL);
    else
        x = primary(parser);
    x = postfix(parser, x);
    if (with_filters) x = filters_and_tests(parser, x);
    parser->depth--;
    return x;
}

struct level {
    const char *symbols[4];
    enum wick__operator ops[4];
};

/* From the loosest to the tightest. */
static const struct level levels[] = {
    {{"+", "-"}, {WICK__ADD, WICK__SUBTRACT}},
    {{"~"}, {WICK__CONCATENATE}},
    {{"*", "/", "//", "%"}, {WICK__MULTIPLY, WICK__DIVIDE_BY, WICK__FLOOR_DIVIDE, WICK__MODULO}},
    {{"**"}, {WICK__POWER}},
};
enum { LEVELS = sizeof levels / sizeof *levels };

static struct wick__node *arithmetic(struct wick__parser *parser, int level) {
    if (level == LEVELS) return unary(parser, true);
    struct wick__node *x = arithmetic(parser, level + 1);
    while (x && !wick__parse_failed(parser)) {
        enum wick__operator op = 0;
        for (int i = 0; i < 4 && levels[level].symbols[i] && !op; i++)
            if (wick__parse_take(parser, levels[level].symbols[i])) op = levels[level].ops[i];
        if (!op) return x;
        x = pair(parser, WICK__N_BINARY, op, x, arithmetic(parser, level + 1));
    }
    return NULL;
}

static enum wick__operator comparison_operator(struct wick__parser *parser) {
    static const char *const symbols[] = {"==", "!=", "<", "<=", ">", ">=", "in"};
    for (int i = 0; i < 7; i++)
        if (wick__parse_take(parser, symbols[i])) return (enum wick__operator)(WICK__EQ + i);
    if (!wick__parse_is(parser, "not")) return 0;
    struct wick__parser saved = *parser;
    wick__parse_next(parser);
    if (wick__parse_take(parser, "in")) return WICK__NOT_IN;
    *parser = saved;
    return 0;
}

static struct wick__node *comparison(struct wick__parser *parser) {
    struct wick__node *x = arithmetic(parser, 0), *chain = NULL, **last = NULL;
    enum wick__operator op;
    while (x && !wick__parse_failed(parser) && (op = comparison_operator(parser)) != 0) {
        if (!chain) {
            chain = pair(parser, WICK__N_COMPARE, 0, x, x);
            if (!chain) return NULL;
            last = &chain->b;
            *last = NULL;
        }
        struct wick__node *other = arithmetic(parser, 0),
                          *operand = other ? wick__parse_node(parser, WICK__N_TUPLE) : NULL;
        if (!operand) return NULL;
        operand->op = op;
        operand->a = other;
        *last = operand;
        last = &operand->next;
    }
    return wick__parse_failed(parser) ? NULL : chain ? chain : x;
}

static struct wick__node *negation(struct wick__parser *parser) {
    if (!wick__parse_take(parser, "not")) return comparison(parser);
    if (!enter(parser)) return NULL;
    struct wick__node *x = pair(parser, WICK__N_NOT, 0, negation(parser), NULL);
    parser->depth--;
    return x;
}

static struct wick__node *conjunction(struct wick__parser *parser) {
    struct wick__node *x = negation(parser);
    while (x && wick__parse_take(parser, "and")) x = pair(parser, WICK__N_AND, 0, x, negation(parser));
    return x;
}

struct wick__node *wick__parse_without_choice(struct wick__parser *parser) {
    if (!enter(parser)) return NULL;
    struct wick__node *x = conjunction(parser);
    while (x && wick__parse_take(parser, "or")) x = pair(parser, WICK__N_OR, 0, x, conjunction(parser));
    parser->depth--;
    return x;
}

struct wick__node *wick__parse_expression(struct wick__parser *parser) {
    struct wick__node *x = wick__parse_without_choice(parser);
    while (x && wick__parse_take(parser, "if")) {
        struct wick__node *condition = wick__parse_without_choice(parser);
        struct wick__node *choice = pair(parser, WICK__N_CHOICE, 0, condition, x);
        if (!choice || !enter(parser)) return NULL;
        choice->c = wick__parse_take(parser, "else") ? wick__parse_expression(parser) : NULL;
        parser->depth--;
        x = wick__parse_failed(parser) ? NULL : choice;
    }
    return x;
}

/* Expressions with commas between, up to what can't begin another one. */
struct wick__node *wick__parse_tuple(struct wick__parser *parser) {
    struct wick__node *x = wick__parse_expression(parser);
    if (!x || !wick__parse_is(parser, ",")) return x;
    struct wick__node *tuple = wick__parse_node(parser, WICK__N_TUPLE), **last = &x->next;
    if (!tuple) return NULL;
    tuple->a = x;
    while (wick__parse_take(parser, ",")) {
        if (wick__parse_is(parser, ")") || wick__parse_is(parser, "]") || parser->token.kind == WICK__T_BLOCK_END ||
            parser->token.kind == WICK__T_PRINT_END)
            break;
        *last = wick__parse_expression(parser);
        if (!*last) return NULL;
        last = &(*last)->next;
    }
    return tuple;
}

struct wick__node *wick__parse_target(struct wick__parser *parser) {
    struct wick__node *first = NULL, **last = &first;
    bool open = wick__parse_take(parser, "("), several = open;
    for (;;) {
        struct wick__node *x = parser->token.kind == WICK__T_NAME ? postfix(parser, primary(parser)) : NULL;
        if (!x) return wick__parse_failed(parser) ? NULL : wick__parse_fail(parser, "a name to set was expected");
        if (x->kind != WICK__N_NAME && x->kind != WICK__N_MEMBER)
            return wick__parse_fail(parser, "only names and members of a namespace can be set");
        *last = x;
        last = &x->next;
        if (!wick__parse_take(parser, ",")) break;
        several = true;
    }
    if (open && !wick__parse_expect(parser, ")")) return NULL;
    if (!several) return first;
    struct wick__node *tuple = wick__parse_node(parser, WICK__N_TUPLE);
    if (tuple) tuple->a = first;
    return tuple;
}
