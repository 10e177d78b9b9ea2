/* The tokens of a template: its text between tags, and the words inside tags. */
#ifndef WICK_TEMPLATE_LEX_H
#define WICK_TEMPLATE_LEX_H

#include "core/arena.h"
#include "template/value.h"

enum wick__token_kind {
    WICK__T_END,         /* of the template */
    WICK__T_TEXT,        /* outside of tags, white space already cut */
    WICK__T_BLOCK_BEGIN, /* {% */
    WICK__T_BLOCK_END,
    WICK__T_PRINT_BEGIN, /* {{ */
    WICK__T_PRINT_END,
    WICK__T_NAME,
    WICK__T_STRING,
    WICK__T_INT,
    WICK__T_FLOAT,
    WICK__T_SYMBOL /* text: one or two characters */
};

struct wick__token {
    enum wick__token_kind kind;
    int line;
    const char *text; /* of names, symbols and texts; the unescaped contents of strings */
    size_t n;
    struct wick__value value; /* of numbers */
};

struct wick__lexer {
    struct wick__arena *arena;
    const char *text;
    size_t nbytes, at;
    int line;
    int inside;      /* T_BLOCK_BEGIN or T_PRINT_BEGIN inside a tag, 0 in text */
    int brackets;    /* open ( [ {: "}}" and "%}" inside them are not the end of a tag */
    bool line_start; /* the token before ended with a newline, or there was none */
    bool strip_next; /* a tag ended with "-" */
    bool raw;        /* between {% raw %} and {% endraw %} */
    enum wick_status status;
};

/* The next token; END with lexer->status set after a failure. */
struct wick__token wick__lex(struct wick__lexer *lexer);

/* Records "template:LINE: ..." and returns WICK_FORMAT. */
__attribute__((format(printf, 2, 3))) enum wick_status wick__template_fail(int line, const char *format, ...);

#endif
