/* Chat templates: from messages to the text that a language model expects, by the model's own template.
 *
 *     cc template.c -o template $(pkg-config --cflags --libs wick)
 *     ./template "What is a tensor?" */
#include <stdio.h>
#include <string.h>
#include <wick/wick.h>

/* Models keep theirs in tokenizer_config.json, or under tokenizer.chat_template in a GGUF file. */
static const char source[] = "{% for message in messages %}"
                             "{{ '<|im_start|>' + message.role + '\n' + message.content | trim + '<|im_end|>\n' }}"
                             "{% endfor %}"
                             "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

int main(int argc, char **argv) {
    if (argc != 2 || strpbrk(argv[1], "\"\\")) return fprintf(stderr, "usage: template QUESTION\n"), 2;
    char context[4096]; /* JSON: a real program has a library escape the question */
    int length = snprintf(context, sizeof context,
                          "{\"messages\": [{\"role\": \"system\", \"content\": \"Be brief.\"},"
                          " {\"role\": \"user\", \"content\": \"%s\"}], \"add_generation_prompt\": true}",
                          argv[1]);
    if (length < 0 || (size_t)length >= sizeof context) return fprintf(stderr, "the question is too long\n"), 2;

    /* A template is a stranger's program: it gets a hundred thousand steps here, and no more. */
    const struct wick_template_limits limits = {.steps = 100000};
    struct wick_text text = {0};
    struct wick_template *template = wick_template_open(source, strlen(source));
    enum wick_status status = WICK_FORMAT;
    if (template) status = wick_template_render(template, context, (size_t)length, &limits, &text);
    if (status == WICK_OK)
        printf("%s\n", text.data);
    else
        fprintf(stderr, "%s\n", wick_error());
    wick_text_free(&text);
    wick_template_close(template);
    return status == WICK_OK ? 0 : 1;
}
