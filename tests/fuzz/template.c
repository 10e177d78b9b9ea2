/* Any bytes as a template, rendered with one conversation under tight bounds. */
#include "tests/fuzz/fuzz.h"

#include <wick/template.h>

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes) {
    static const char context[] =
        "{\"messages\": [{\"role\": \"system\", \"content\": \"be brief\"}, {\"role\": \"user\", "
        "\"content\": \"h\\u00e9\"}], \"n\": 3, \"f\": 2.5, \"none\": null, \"bos_token\": \"<s>\"}";
    const struct wick_template_limits limits = {
        .steps = 20000, .depth = 200, .memory = 1 << 20, .output = 1 << 16, .now = 1};
    struct wick_text text;
    struct wick_template *tmpl = wick_template_open((const char *)data, nbytes);
    if (tmpl && wick_template_render(tmpl, context, strlen(context), &limits, &text) == WICK_OK) wick_text_free(&text);
    wick_template_close(tmpl);
    wick_error_clear();
    return 0;
}
