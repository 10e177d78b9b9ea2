/* Templates: what jinja2 rendered (make.py), templates that mean harm, and memory that fails at any point. */
#include "tests/text/reference.h"

#include <wick/template.h>

#include <time.h>

static const char messages[] = "{\"messages\": [{\"role\": \"user\", \"content\": \"hi\"}]}";

/* Opens and renders: the text, or NULL after a failure. The caller frees it. */
static char *render(const char *source, size_t nbytes, const char *context, const struct wick_template_limits *limits) {
    struct wick_template *tmpl = wick_template_open(source, nbytes);
    struct wick_text text = {0};
    char *copy = NULL;
    if (tmpl && wick_template_render(tmpl, context, strlen(context), limits, &text) == WICK_OK) {
        copy = malloc(text.nbytes + 1);
        memcpy(copy, text.data, text.nbytes + 1);
    }
    wick_text_free(&text);
    wick_template_close(tmpl);
    return copy;
}

static void check_jinja2(void) {
    size_t nbytes, i;
    char *file = read_file("tests/template/cases.json", &nbytes);
    json_t *root = json_loadb(file, nbytes, JSON_ALLOW_NUL, NULL), *item;
    char *context = json_dumps(json_object_get(root, "context"), 0);
    struct wick_template_limits limits = {.now = json_integer_value(json_object_get(root, "now"))};
    CHECK(json_array_size(json_object_get(root, "cases")) > 90);
    json_array_foreach(json_object_get(root, "cases"), i, item) {
        const char *source = json_string_value(json_object_get(item, "template"));
        const json_t *want = json_object_get(item, "text");
        char *got = render(source, strlen(source), context, &limits);
        if (want)
            TEST_CHECK_(got && strcmp(got, json_string_value(want)) == 0, "%s\n  gives  %s\n  jinja2 %s", source,
                        got ? got : wick_error(), json_string_value(want));
        else
            TEST_CHECK_(!got && strncmp(wick_error(), "template:", 9) == 0, "%s\n  gives %s, jinja2 %s", source,
                        got ? got : wick_error(), json_string_value(json_object_get(item, "error")));
        wick_error_clear();
        free(got);
    }
    free(context);
    json_decref(root);
    free(file);
}

/* Each ends soon with the status: bounded in time, depth, memory and output. */
static void check_harm(void) {
    static const struct {
        const char *source;
        enum wick_status status;
    } cases[] = {
        {"{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}", WICK_RANGE},
        {"{{ range(99999999999) | length }}", WICK_RANGE},
        {"{{ 'x' * 99999999999 }}", WICK_RANGE},
        {"{% set ns = namespace(s='xxxxxxxxxx') %}{% for i in range(60) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}",
         WICK_RANGE},
        {"{% set ns = namespace(l=[1]) %}{% for i in range(60) %}{% set ns.l = [ns.l, ns.l] %}{% endfor %}{{ ns.l }}",
         WICK_RANGE},
        {"{% set ns = namespace(l=[1]) %}{% for i in range(60) %}{% set ns.l = [ns.l, ns.l] %}{% endfor %}{{ ns.l == "
         "[ns.l] }}"
         "{% set o = namespace(l=[1]) %}{% for i in range(60) %}{% set o.l = [o.l, o.l] %}{% endfor %}{{ ns.l == o.l "
         "}}",
         WICK_RANGE},
        {"{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", WICK_RANGE},
        {"{% macro f(x) %}{{ caller() }}{% call f(x) %}{{ x }}{% endcall %}{% endmacro %}{% call f(1) %}{% endcall %}",
         WICK_RANGE},
        {"{{ 9223372036854775807 + 1 }}", WICK_RANGE},
        {"{{ -9223372036854775807 - 2 }}", WICK_RANGE},
        {"{{ 3 ** 99 }}", WICK_RANGE},
        {"{{ ('a' * 1000000).replace('', 'b' * 1000) }}", WICK_RANGE},
        {"{{ 99999999999999999999999 }}", WICK_FORMAT},
        {"{{ 1.7999999999999999999999999999999999999999999999999999999999999e+308 }}", WICK_FORMAT},
        {"{{ '\\ud800' }}", WICK_FORMAT},
        {"{% for x in messages recursive %}{% endfor %}", WICK_FORMAT},
        {"{{ f(*messages) }}", WICK_FORMAT},
        {"{% include 'x' %}", WICK_FORMAT},
        {"{{ messages | groupby('role') }}", WICK_UNSUPPORTED},
        {"{{ '{:>5}'.format(1) }}", WICK_UNSUPPORTED},
        {"{{ 1 / 0 }}", WICK_DIVIDE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        clock_t began = clock();
        char *text = render(cases[i].source, strlen(cases[i].source), messages, NULL);
        double seconds = (double)(clock() - began) / CLOCKS_PER_SEC;
        TEST_CHECK_(!text && wick_error_status() == cases[i].status, "%s\n  gives %s", cases[i].source,
                    text ? text : wick_error());
        TEST_CHECK_(seconds < 20, "%s took %.1f s", cases[i].source, seconds);
        CHECK_INT(wick_host_memory_used(), 0);
        wick_error_clear();
        free(text);
    }
}

/* A thousand brackets, signs, filters, operators: one too deep for the parser, or for the run, fails; all end. */
static void check_depth(void) {
    static const char *const parts[] = {"(",           "[", "-", "not ", "{'a':", "{% if t %}", "{% for x in x %}",
                                        "1 if 2 else "};
    static const char *const tails[] = {" + 1",   "|string", ".a",          "[0]",
                                        " ~ 'x'", " and 1",  "|default(1)", " is string"};
    enum { N = 20000 };
    char *source = malloc(N * 24 + 64);
    for (int i = 0; i < 8; i++) {
        size_t at = (size_t)sprintf(source, "%s", parts[i][0] == '{' && parts[i][1] == '%' ? "" : "{{ ");
        for (int n = 0; n < N; n++) at += (size_t)sprintf(source + at, "%s", parts[i]);
        char *text = render(source, at, messages, NULL);
        TEST_CHECK_(!text && *wick_error(), "%d times '%s' gives a text", (int)N, parts[i]);
        wick_error_clear();
        free(text);
        at = (size_t)sprintf(source, "{{ x");
        for (int n = 0; n < N; n++) at += (size_t)sprintf(source + at, "%s", tails[i]);
        at += (size_t)sprintf(source + at, " }}");
        text = render(source, at, messages, NULL);
        TEST_CHECK_(!text && *wick_error(), "%d times '%s' gives a text", (int)N, tails[i]);
        wick_error_clear();
        free(text);
    }
    size_t at = (size_t)sprintf(source, "{%% if a %%}");
    for (int n = 0; n < N; n++) at += (size_t)sprintf(source + at, "{%% elif a %%}%s", "");
    at += (size_t)sprintf(source + at, "{%% else %%}no{%% endif %%}");
    char *text = render(source, at, messages, NULL);
    CHECK_TEXT(text, "no");
    free(text);
    free(source);
}

static void check_arguments(void) {
    struct wick_text text = {.data = (char *)1};
    struct wick_template *tmpl = wick_template_open("{{ a }}", 7);
    CHECK(!wick_template_open(NULL, 3));
    CHECK_TEXT(wick_error(), "template: text is NULL");
    wick_error_clear();
    CHECK_FAILS(wick_template_render(tmpl, NULL, 0, NULL, &text), WICK_INVALID, "template_render: context is NULL");
    CHECK_FAILS(wick_template_render(NULL, "{}", 2, NULL, &text), WICK_INVALID, "template_render: tmpl is NULL");
    CHECK_FAILS(wick_template_render(tmpl, "[1]", 3, NULL, &text), WICK_FORMAT,
                "template: the context is not a JSON object");
    CHECK(wick_template_render(tmpl, "{\"a\": }", 7, NULL, &text) == WICK_FORMAT);
    wick_error_clear();
    CHECK(text.data == (char *)1); /* untouched by failures */
    CHECK_OK(wick_template_render(tmpl, "{\"a\": \"x\\u0000y\"}", 17, NULL, &text));
    CHECK_INT(text.nbytes, 3);
    wick_text_free(&text);
    wick_text_free(&text);
    wick_text_free(NULL);
    wick_template_close(tmpl);
    wick_template_close(NULL);
    CHECK_INT(wick_host_memory_used(), 0);
}

/* ---- memory that fails ---- */

static long allocations_left;

static void *failing_alloc(void *context, size_t nbytes, size_t alignment) {
    (void)context;
    void *memory = NULL;
    if (allocations_left-- <= 0 || posix_memalign(&memory, alignment, nbytes) != 0) return NULL;
    return memory;
}

static void failing_free(void *context, void *memory, size_t nbytes) {
    (void)context, (void)nbytes;
    free(memory);
}

static void check_memory(void) {
    static const char source[] =
        "{% macro f(a) %}{{ a | upper | indent }}{% endmacro %}{% for m in messages %}"
        "{{ f(m.content) }}{{ m | tojson }}{{ m.items() | list }}{{ m.role.split('e') }}{% endfor %}"
        "{{ range(3000) | list }}{{ 'x' * 40000 }}";
    const struct wick_allocator failing = {.alloc = failing_alloc, .free = failing_free};
    CHECK_OK(wick_allocator_set(&failing));
    long n = 0;
    for (char *text = NULL; !text && n < 1000; n++) {
        allocations_left = n;
        text = render(source, strlen(source), messages, NULL);
        if (!text) CHECK_INT(wick_error_status(), WICK_MEMORY);
        wick_error_clear();
        free(text);
    }
    TEST_CHECK_(n > 5 && n < 1000, "%ld allocations", n);
    CHECK_OK(wick_allocator_set(NULL));
}

int main(void) {
    check_memory(); /* first: the allocator is set before anything is allocated */
    check_jinja2();
    check_arguments();
    check_harm();
    check_depth();
    return test_end();
}
