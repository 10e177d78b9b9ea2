/* Chat templates: turn messages into the text that a language model expects, with the model's own Jinja template.
 *
 *     struct wick_template *template = wick_template_open(source, strlen(source));
 *     const char *context = "{\"messages\": [{\"role\": \"user\", \"content\": \"Hi\"}]}";
 *     struct wick_text text = {0};
 *     if (wick_template_render(template, context, strlen(context), NULL, &text) == WICK_OK) puts(text.data);
 *     wick_text_free(&text);
 *     wick_template_close(template);
 *
 * The result is that of Python's jinja2 as Hugging Face's transformers sets it up: trim_blocks and lstrip_blocks are
 * on, and lists and dicts can't be changed. `break`, `continue`, {% generation %}, raise_exception, strftime_now and a
 * tojson that escapes no HTML work. Inheritance, includes, imports, recursive loops, and arguments with * or ** are
 * missing; the error names them. Integers have 64 bits.
 *
 * A template is a program that a stranger wrote. It can reach only its context and, through strftime_now, the time. Its
 * work, depth, memory and output are bounded. */
#ifndef WICK_TEMPLATE_H
#define WICK_TEMPLATE_H

#include <wick/text.h>

#ifdef __cplusplus
extern "C" {
#endif

struct wick_template;

/* The bounds on a rendering; 0 anywhere means the value in brackets. */
struct wick_template_limits {
    int64_t steps; /* values computed and statements run [10 million] */
    int depth;     /* of nested expressions, calls and values [1000; at most 4000] */
    size_t memory; /* bytes of values [64 MiB] */
    size_t output; /* bytes of text [16 MiB] */
    int64_t now;   /* the time of strftime_now, in seconds since 1970 UTC, shown in local time [now] */
};

/* Parses a template of `nbytes` bytes of UTF-8; the text need not stay. Close with wick_template_close. NULL on
 * failure: WICK_FORMAT "template:LINE: ..." (wrong syntax), WICK_RANGE (more than 4 MiB), WICK_INVALID (NULL),
 * WICK_MEMORY. */
WICK_API struct wick_template *wick_template_open(const char *text, size_t nbytes);

/* Frees a template. NULL is fine. */
WICK_API void wick_template_close(struct wick_template *tmpl);

/* Renders with the members of a JSON object of `nbytes` bytes as variables: "messages", "add_generation_prompt",
 * "bos_token" and whatever else the template asks for. A template never changes, so threads may share it. `limits` may
 * be NULL. A failure leaves *text as it was. Free it with wick_text_free. WICK_FORMAT (the context is not a JSON
 * object), WICK_INVALID "template:LINE: ..." (a value of the wrong type, an undefined one, the template's own
 * raise_exception), WICK_UNSUPPORTED (an unknown filter, test or method), WICK_DIVIDE, WICK_RANGE (a limit),
 * WICK_MEMORY. */
WICK_API WICK_CHECKED enum wick_status wick_template_render(const struct wick_template *tmpl, const char *context,
                                                            size_t nbytes, const struct wick_template_limits *limits,
                                                            struct wick_text *text);

#ifdef __cplusplus
}
#endif
#endif
