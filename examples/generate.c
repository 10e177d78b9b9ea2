/* Text generation: continues a text with a language model.
 *
 *     cc generate.c -o generate $(pkg-config --cflags --libs wick)
 *     ./generate ~/.cache/wick/models/SmolLM2-135M-Instruct.Q4_1.gguf "The capital of France is" */
#include <stdio.h>
#include <string.h>
#include <wick/wick.h>

static bool print(void *context, const struct wick_generated *token) {
    (void)context;
    fwrite(token->text, 1, token->nbytes, stdout);
    return fflush(stdout) == 0;
}

int main(int argc, char **argv) {
    if (argc != 3) return fprintf(stderr, "usage: generate MODEL.gguf TEXT\n"), 2;
    struct wick_device *device = wick_device_open("auto");
    struct wick_lm *lm = wick_lm_open(argv[1], device, NULL);
    struct wick_sequence *sequence = lm ? wick_sequence_open(lm, NULL) : NULL;
    const struct wick_generate_options options = {.max_tokens = 12, .on_token = print};

    int failed = !sequence || wick_sequence_prompt(sequence, argv[2], strlen(argv[2]), 0) != WICK_OK ||
                 wick_generate(sequence, &options, NULL) != WICK_OK;
    puts("");
    if (failed) fprintf(stderr, "%s\n", wick_error());

    wick_sequence_close(sequence);
    wick_lm_close(lm);
    wick_device_close(device);
    return failed;
}
