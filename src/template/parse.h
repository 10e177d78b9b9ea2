/* A parser's state, shared by statements and expressions. */
#ifndef WICK_TEMPLATE_PARSE_H
#define WICK_TEMPLATE_PARSE_H

#include "template/lex.h"
#include "template/syntax.h"

struct wick__parser {
    struct wick__lexer lexer;
    struct wick__token token; /* the next one */
    int depth;                /* of statements and expressions in one another */
    int loops;                /* around the present statement */
    bool said_loop;           /* the name `loop` came up */
};

enum { WICK__PARSE_DEPTH = 100 };

static inline bool wick__parse_failed(const struct wick__parser *parser) { return parser->lexer.status != WICK_OK; }

/* NULL after recording why; the parser stops. */
__attribute__((format(printf, 2, 3))) struct wick__node *wick__parse_fail(struct wick__parser *parser,
                                                                          const char *format, ...);

void wick__parse_next(struct wick__parser *parser);
/* Whether the next token is the symbol or the word; takes it when it is. */
bool wick__parse_is(const struct wick__parser *parser, const char *text);
bool wick__parse_take(struct wick__parser *parser, const char *text);
/* Fails unless it is there. */
bool wick__parse_expect(struct wick__parser *parser, const char *text);
/* A copy of the next token, a name; NULL after a failure when it is none. */
const char *wick__parse_name(struct wick__parser *parser);

/* A node at the present line; NULL after a failure. */
struct wick__node *wick__parse_node(struct wick__parser *parser, enum wick__node_kind kind);

/* An expression, with `a if b else c`; without it; and several with commas between, which are a tuple. */
struct wick__node *wick__parse_expression(struct wick__parser *parser);
struct wick__node *wick__parse_without_choice(struct wick__parser *parser);
struct wick__node *wick__parse_tuple(struct wick__parser *parser);
/* What follows a "|" or a chain of filters: filters around x. */
struct wick__node *wick__parse_filter(struct wick__parser *parser, struct wick__node *x);
/* One or more names, members or items with commas between, to be set. */
struct wick__node *wick__parse_target(struct wick__parser *parser);

#endif
