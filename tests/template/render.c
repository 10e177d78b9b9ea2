/* Prints a template rendered with a context: what make.py --render calls. Usage: render TEMPLATE CONTEXT [NOW] */
#include "tests/text/reference.h"

#include <wick/template.h>

int main(int argc, char **argv) {
    size_t nbytes, context_nbytes;
    if (argc < 3) return 2;
    char *source = read_file(argv[1], &nbytes), *context = read_file(argv[2], &context_nbytes);
    struct wick_template *tmpl = wick_template_open(source, nbytes);
    struct wick_template_limits limits = {.now = argc > 3 ? atoll(argv[3]) : 0};
    struct wick_text text;
    enum wick_status status = WICK_INVALID;
    if (tmpl) status = wick_template_render(tmpl, context, context_nbytes, &limits, &text);
    if (status == WICK_OK) {
        fwrite(text.data, 1, text.nbytes, stdout);
        wick_text_free(&text);
    } else {
        fprintf(stderr, "%s\n", wick_error());
    }
    wick_template_close(tmpl);
    free(source);
    free(context);
    return status == WICK_OK ? 0 : 1;
}
