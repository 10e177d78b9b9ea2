/* What a template is parsed into. */
#ifndef WICK_TEMPLATE_SYNTAX_H
#define WICK_TEMPLATE_SYNTAX_H

#include "template/value.h"

enum wick__node_kind {
    /* expressions */
    WICK__N_CONSTANT, /* value */
    WICK__N_NAME,     /* name */
    WICK__N_LIST,     /* a: items */
    WICK__N_TUPLE,    /* a: items */
    WICK__N_DICT,     /* a: key, value, key, value, ... */
    WICK__N_UNARY,    /* op a */
    WICK__N_BINARY,   /* a op b */
    WICK__N_COMPARE,  /* a, then in b: operands with their op before them */
    WICK__N_AND,
    WICK__N_OR,
    WICK__N_NOT,
    WICK__N_CHOICE, /* b if a else c; c may be NULL */
    WICK__N_MEMBER, /* a.name */
    WICK__N_ITEM,   /* a[b] */
    WICK__N_SLICE,  /* a[b:c:d], each of which may be NULL */
    WICK__N_CALL,   /* a(b) */
    WICK__N_FILTER, /* a | name(b) */
    WICK__N_TEST,   /* a is name(b) */
    /* statements */
    WICK__N_TEXT,         /* value */
    WICK__N_PRINT,        /* a */
    WICK__N_IF,           /* if a: b, else c */
    WICK__N_FOR,          /* for a in b if d: body, else c; value: whether the body speaks of `loop` */
    WICK__N_SET,          /* a = b */
    WICK__N_SET_BLOCK,    /* a = what body prints, through the filters b */
    WICK__N_MACRO,        /* name, a: parameters, which are names with a default in b; body */
    WICK__N_CALL_BLOCK,   /* a: the call; b: parameters of caller(); body */
    WICK__N_FILTER_BLOCK, /* a: filters around an N_NAME without a name; body */
    WICK__N_BREAK,
    WICK__N_CONTINUE
};

enum wick__operator {
    WICK__ADD = 1,
    WICK__SUBTRACT,
    WICK__MULTIPLY,
    WICK__DIVIDE_BY,
    WICK__FLOOR_DIVIDE,
    WICK__MODULO,
    WICK__POWER,
    WICK__CONCATENATE,
    WICK__EQ,
    WICK__NE,
    WICK__LT,
    WICK__LE,
    WICK__GT,
    WICK__GE,
    WICK__IN,
    WICK__NOT_IN
};

struct wick__node {
    enum wick__node_kind kind;
    enum wick__operator op;
    int line;
    const char *name; /* an argument's: that of a named one */
    struct wick__value value;
    struct wick__node *a, *b, *c, *d, *body;
    struct wick__node *next; /* in a list of items, arguments or statements */
};

/* Parses a template into `arena`. *root is its list of statements, NULL when it has none.
 * WICK_FORMAT "template:LINE: ...", WICK_RANGE for one nested too deeply, WICK_MEMORY. */
enum wick_status wick__template_parse(struct wick__arena *arena, const char *text, size_t nbytes,
                                      struct wick__node **root);

#endif
