/* A rendering: its variables, its output, and the bounds on it. */
#ifndef WICK_TEMPLATE_RUN_H
#define WICK_TEMPLATE_RUN_H

#include "template/syntax.h"
#include "core/buffer.h"

#include <wick/template.h>

/* The variables of a scope: a dict, and the scope around it. */
struct wick__frame {
    struct wick__frame *outer;
    struct wick__dict variables;
};

enum wick__flow { WICK__FLOW_ON, WICK__FLOW_BREAK, WICK__FLOW_CONTINUE };

struct wick__run {
    struct wick__arena arena;
    struct wick__frame *frame;
    struct wick__buffer *out;
    struct wick_template_limits limits;
    int64_t steps; /* left */
    int64_t now;   /* seconds since 1970 */
    int line;      /* of the statement that runs */
    int depth;     /* of expressions, calls and values in one another */
    enum wick__flow flow;
    enum wick_status status;
};

/* Records "template:LINE: ..." with the status and stops the run. Returns undefined. */
__attribute__((format(printf, 3, 4))) struct wick__value wick__run_fail(struct wick__run *run, enum wick_status status,
                                                                        const char *format, ...);

/* Counts work; false once the run has failed or done too much. */
bool wick__run_step(struct wick__run *run, size_t n);

/* Values that could not be made stop the run. */
struct wick__value wick__run_made(struct wick__run *run, struct wick__value value);

/* The value of an expression (eval.c). */
struct wick__value wick__eval(struct wick__run *run, const struct wick__node *node);
/* a op b, where op is one of numbers and strings (operate.c). */
struct wick__value wick__operate(struct wick__run *run, enum wick__operator op, struct wick__value a,
                                 struct wick__value b);
/* a op b for comparisons. */
bool wick__compare(struct wick__run *run, enum wick__operator op, struct wick__value a, struct wick__value b);

/* x.name and x[key] as Jinja looks for them, undefined when there is nothing (member.c). */
struct wick__value wick__member(struct wick__run *run, struct wick__value x, const char *name);
struct wick__value wick__item(struct wick__run *run, struct wick__value x, struct wick__value key);
struct wick__value wick__slice(struct wick__run *run, struct wick__value x, const struct wick__value part[3]);

/* A list of what iterating over x gives. */
struct wick__value wick__iterate(struct wick__run *run, struct wick__value x);

/* Calls a macro or a function. */
struct wick__value wick__call(struct wick__run *run, struct wick__value function, const struct wick__args *args);

/* A filter or a test by its name; `args` begins with what it is applied to (filter.c, test.c). */
struct wick__value wick__filter(struct wick__run *run, const char *name, const struct wick__args *args);
bool wick__test(struct wick__run *run, const char *name, const struct wick__args *args);
/* A method of a string, a list or a dict; undefined when there is none (method.c). */
struct wick__value wick__method(struct wick__run *run, struct wick__value x, const char *name);
/* Calls a method that x has. */
struct wick__value wick__method_call(struct wick__run *run, struct wick__value x, const char *name,
                                     const struct wick__args *args);
/* range, namespace, raise_exception, ...; undefined when there is none (function.c). */
struct wick__value wick__global(struct wick__run *run, const char *name);

/* Runs statements (exec.c). What they print goes to run->out. */
void wick__exec(struct wick__run *run, const struct wick__node *first);
/* Runs statements, and gives what they print as a string. */
struct wick__value wick__capture(struct wick__run *run, const struct wick__node *first);

/* An argument by its position (counted behind the first `skip`) or its name; `otherwise` when it is not there. */
struct wick__value wick__arg(const struct wick__args *args, size_t position, const char *name,
                             struct wick__value otherwise);

/* ---- text (show.c) ---- append to a buffer; false after the run has failed. */

bool wick__put(struct wick__run *run, struct wick__buffer *buffer, const char *text, size_t n);
/* As Python's str() and repr(). */
bool wick__put_str(struct wick__run *run, struct wick__buffer *buffer, struct wick__value x);
bool wick__put_repr(struct wick__run *run, struct wick__buffer *buffer, struct wick__value x);
/* JSON as json.dumps(ensure_ascii=False) writes it. */
struct wick__json_style {
    int indent; /* -1: on one line */
    bool sort_keys;
    struct wick__value item_separator, key_separator;
};
bool wick__put_json(struct wick__run *run, struct wick__buffer *buffer, struct wick__value x,
                    const struct wick__json_style *style);
/* str(x), x itself when it is a string. */
struct wick__value wick__str(struct wick__run *run, struct wick__value x);
/* str(x) with the characters that HTML gives a meaning written as entities; marked, and x itself when it is marked. */
struct wick__value wick__escape(struct wick__run *run, struct wick__value x);
/* A buffer's text as a value of the run; the buffer is freed. */
struct wick__value wick__take(struct wick__run *run, struct wick__buffer *buffer);

#endif
