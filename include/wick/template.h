/* Chat templates: the text a language model expects, from messages, by the Jinja template that comes with the model.
 *
 *     struct wick_template *template = wick_template_open(source, strlen(source));
 *     const char *context = "{\"messages\": [{\"role\": \"user\", \"content\": \"Hi\"}], \"add_generation_prompt\":
 * true}"; struct wick_text text; if (wick_template_render(template, context, strlen(context), NULL, &text) == WICK_OK)
 * ... wick_text_free(&text); wick_template_close(template);
 *
 * The result is what Python's jinja2 gives when Hugging Face's transformers renders the template: trim_blocks and
 * lstrip_blocks are on, lists and dicts can't be changed, `break`, `continue` and {% generation %} are known, and so
 * are raise_exception, strftime_now and a tojson that escapes no HTML. Left out: inheritance, includes, imports,
 * recursive loops, and arguments with * or **; the error names what is missing. Integers have 64 bits.
 *
 * A template is a program that a stranger wrote. It reaches nothing but its context and, through strftime_now, the
 * time; and it is bounded in work, depth, memory and output. */
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
    int depth;     /* of expressions, calls and values in one another [1000; at most 4000] */
    size_t memory; /* bytes of values [64 MiB] */
    size_t output; /* bytes of text [16 MiB] */
    int64_t now;   /* what strftime_now tells, in seconds since 1970 UTC, shown in local time [the time it is] */
};

/* Parses a template of `nbytes` bytes of UTF-8; the text need not stay. The caller gives it back with
 * wick_template_close. NULL and WICK_FORMAT "template:LINE: ..." for wrong syntax, WICK_RANGE for one of more than
 * 4 MiB, WICK_INVALID (NULL), WICK_MEMORY. */
WICK_API struct wick_template *wick_template_open(const char *text, size_t nbytes);

/* Frees a template. NULL is fine. */
WICK_API void wick_template_close(struct wick_template *tmpl);

/* Renders with the members of a JSON object of `nbytes` bytes as variables: "messages", "add_generation_prompt",
 * "bos_token" and whatever else the template asks for. A template never changes: threads may share it. `limits` may be
 * NULL. *text is written only on success; free it with wick_text_free.
 * WICK_FORMAT (the context is no JSON object), WICK_INVALID "template:LINE: ..." (a value of the wrong type, an
 * undefined one, the template's own raise_exception), WICK_UNSUPPORTED (a filter, a test or a method that is not
 * known), WICK_DIVIDE, WICK_RANGE (a limit), WICK_MEMORY. */
WICK_API WICK_CHECKED enum wick_status wick_template_render(const struct wick_template *tmpl, const char *context,
                                                            size_t nbytes, const struct wick_template_limits *limits,
                                                            struct wick_text *text);

#ifdef __cplusplus
}
#endif
#endif
