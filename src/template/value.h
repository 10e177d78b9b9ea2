/* The values of a template: Python's, as far as templates of chats use them. All of them live in the arena of a run. */
#ifndef WICK_TEMPLATE_VALUE_H
#define WICK_TEMPLATE_VALUE_H

#include "core/arena.h"

#include "core/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct wick__node;
struct wick__frame;
struct wick__run;
struct wick__value;
struct wick__args;

/* What a name such as `range`, or a method such as `.strip`, does. `self` is what the method belongs to. */
typedef struct wick__value wick__function(struct wick__run *run, struct wick__value self,
                                          const struct wick__args *args);

enum wick__kind {
    WICK__UNDEFINED, /* `text` says what was missing */
    WICK__NONE,
    WICK__BOOL,
    WICK__INT,
    WICK__FLOAT,
    WICK__STRING, /* `n` bytes of UTF-8 at `text` */
    WICK__LIST,
    WICK__TUPLE,
    WICK__DICT,
    WICK__NAMESPACE, /* a dict whose members `set` may change */
    WICK__MACRO,
    WICK__BUILTIN /* a function, or a method with its object */
};

struct wick__value {
    enum wick__kind kind;
    bool markup; /* a string that passed the filter `safe`: joined to others, these are escaped */
    size_t n;
    union {
        bool b;
        int64_t i;
        double f;
        const char *text;
        struct wick__list *list;
        struct wick__dict *dict;
        const struct wick__macro *macro;
        const struct wick__builtin *builtin;
    };
};

struct wick__list {
    size_t n, capacity;
    struct wick__value *items;
};

struct wick__pair {
    struct wick__value key, value;
};

/* In the order in which the keys came. */
struct wick__dict {
    size_t n, capacity;
    struct wick__pair *entries;
};

struct wick__macro {
    const struct wick__node *node;
    struct wick__frame *frame; /* where it was defined */
};

struct wick__builtin {
    const char *name;
    wick__function *call;
    struct wick__value self;
};

/* The arguments of a call: positions first, then those with a name. */
struct wick__args {
    size_t n, n_named;
    const struct wick__value *values;
    const char *const *names; /* of the last n_named values */
};

static inline struct wick__value wick__undefined(const char *what) {
    return (struct wick__value){.kind = WICK__UNDEFINED, .text = what};
}
static inline struct wick__value wick__none(void) { return (struct wick__value){.kind = WICK__NONE}; }
static inline struct wick__value wick__bool(bool b) { return (struct wick__value){.kind = WICK__BOOL, .b = b}; }
static inline struct wick__value wick__int(int64_t i) { return (struct wick__value){.kind = WICK__INT, .i = i}; }
static inline struct wick__value wick__float(double f) { return (struct wick__value){.kind = WICK__FLOAT, .f = f}; }
static inline struct wick__value wick__string(const char *text, size_t n) {
    return (struct wick__value){.kind = WICK__STRING, .n = n, .text = text};
}
static inline bool wick__is_sequence(struct wick__value x) { return x.kind == WICK__LIST || x.kind == WICK__TUPLE; }
static inline bool wick__is_number(struct wick__value x) {
    return x.kind == WICK__BOOL || x.kind == WICK__INT || x.kind == WICK__FLOAT;
}
/* The integer of an int or a bool. */
static inline int64_t wick__integer(struct wick__value x) { return x.kind == WICK__BOOL ? x.b : x.i; }
static inline double wick__real(struct wick__value x) { return x.kind == WICK__FLOAT ? x.f : (double)wick__integer(x); }
/* Whether x is the text of a literal. */
bool wick__text_is(struct wick__value x, const char *text);

/* "str", "int", "list": what messages call the kind, as Python does. */
const char *wick__kind_name(struct wick__value x);

/* ---- making ---- each gives undefined after a failure of the arena. */

struct wick__value wick__list_new(struct wick__arena *arena, enum wick__kind kind, size_t capacity);
bool wick__list_add(struct wick__arena *arena, struct wick__value list, struct wick__value item);
struct wick__value wick__dict_new(struct wick__arena *arena, enum wick__kind kind);
/* Keys are strings, numbers and none. Replaces the value of a key that is there. */
bool wick__dict_set(struct wick__arena *arena, struct wick__dict *dict, struct wick__value key,
                    struct wick__value value);
/* NULL when there is no such key. */
const struct wick__value *wick__dict_get(const struct wick__dict *dict, struct wick__value key);
struct wick__value wick__string_copy(struct wick__arena *arena, const char *text, size_t n);
/* A JSON value; `depth` bounds its nesting. */
struct wick__value wick__value_of_json(struct wick__arena *arena, const json_t *json, int depth);

/* ---- asking ---- */

bool wick__truth(struct wick__value x);
/* Each comparison of two parts takes one from *budget; without any left, values are unequal. */
bool wick__equal(struct wick__value a, struct wick__value b, int64_t *budget);
/* -1, 0 or 1 into *order; false when Python does not order the two. */
bool wick__order(struct wick__value a, struct wick__value b, int *order, int64_t *budget);
/* The number of characters, items or members; false for a value that has none. */
bool wick__length(struct wick__value x, size_t *n);
/* Characters in a text, and the byte at which character i begins (nbytes for i past the end). */
size_t wick__characters(const char *text, size_t nbytes);
size_t wick__character_at(const char *text, size_t nbytes, size_t i);

#endif
