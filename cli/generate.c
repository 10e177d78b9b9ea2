/* wick generate: continues a text, or answers one, with a language model. */
#include "cli/command.h"
#include "cli/json.h"
#include "cli/lm.h"
#include "cli/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct wishes {
    const char *model, *prompt, *prompt_cache;
    int64_t tokens, context, keep, seed;
    struct wick_sampling sampling;
    struct lm_wishes lm;
    bool chat, json, timings, ignore_end, shift;
};

struct run {
    const struct wishes *wishes;
    double began, first; /* seconds: when the prompt began, when the first token came */
    int64_t n_tokens;
};

/* ---- output ---- */

static bool on_token(void *context, const struct wick_generated *token) {
    struct run *run = context;
    if (run->n_tokens++ == 0) run->first = lm_seconds();
    if (run->wishes->json) {
        printf("{\"id\": %d, \"log_probability\": ", token->id);
        json_put_number(stdout, token->log_probability);
        fputs(", \"text\": ", stdout);
        json_put_text(stdout, token->text, token->nbytes);
        puts("}");
    } else {
        fwrite(token->text, 1, token->nbytes, stdout);
    }
    return fflush(stdout) == 0;
}

/* The last line of JSON, or a line on standard error when timings are asked for. */
static void finish(const struct run *run, const struct wick_generate_result *result, int64_t prompt_tokens) {
    static const char *const stops[] = {[WICK_STOP_END] = "end",
                                        [WICK_STOP_TOKENS] = "tokens",
                                        [WICK_STOP_CALLBACK] = "output",
                                        [WICK_STOP_CANCELLED] = "cancelled"};
    double end = lm_seconds(), first = result->n_tokens > 0 ? run->first : end;
    double prompt_rate = (double)prompt_tokens / (first - run->began);
    double rate = result->n_tokens > 1 ? (double)(result->n_tokens - 1) / (end - first) : 0;
    if (run->wishes->json)
        printf("{\"stop\": \"%s\", \"prompt_tokens\": %lld, \"tokens\": %lld, \"prompt_tokens_per_second\": %.2f, "
               "\"tokens_per_second\": %.2f}\n",
               stops[result->stop], (long long)prompt_tokens, (long long)result->n_tokens, prompt_rate, rate);
    else
        putchar('\n');
    if (run->wishes->timings)
        fprintf(stderr, "prompt %lld tokens, %.1f tokens/s; answer %lld tokens, %.1f tokens/s\n",
                (long long)prompt_tokens, prompt_rate, (long long)result->n_tokens, rate);
}

/* ---- the prompt ---- */

/* The prompt as the model's template puts it; false after a failure. */
static bool apply_template(const struct wick_lm *lm, const char *prompt, size_t nbytes, struct wick_text *text) {
    char *messages = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&messages, &size);
    if (file) {
        fputs("[{\"role\": \"user\", \"content\": ", file);
        json_put_text(file, prompt, nbytes);
        fputs("}]", file);
    }
    bool good = file && fclose(file) == 0 && wick_lm_chat(lm, messages, size, true, text) == WICK_OK;
    if (!good) command_fail("generate", "the chat template");
    free(messages);
    return good;
}

/* The prompt as tokens of the sequence, those of the cache file's that it begins with not computed again. The file then
 * holds this prompt. */
static enum wick_status take_prompt(const struct wishes *wishes, struct wick_sequence *sequence, const char *text,
                                    size_t nbytes) {
    const char *file = wishes->prompt_cache;
    enum wick_status status = file && access(file, F_OK) == 0 ? wick_sequence_load(sequence, file) : WICK_OK;
    if (status == WICK_OK) status = wick_sequence_prompt(sequence, text, nbytes, wishes->chat ? WICK_ENCODE_PLAIN : 0);
    return file && status == WICK_OK ? wick_sequence_save(sequence, file) : status;
}

/* A template writes the token that begins a text itself. */
static int continue_prompt(const struct wishes *wishes, struct wick_sequence *sequence, const struct wick_lm *lm,
                           const char *prompt, size_t nbytes) {
    struct run run = {.wishes = wishes};
    struct wick_text text = {0};
    struct wick_generate_result result = {0};
    const struct wick_generate_options options = {.max_tokens = wishes->tokens,
                                                  .ignore_end = wishes->ignore_end,
                                                  .shift = wishes->shift,
                                                  .keep = wishes->keep,
                                                  .sampling = &wishes->sampling,
                                                  .on_token = on_token,
                                                  .context = &run};
    if (wishes->chat && !apply_template(lm, prompt, nbytes, &text)) return 1;
    run.began = lm_seconds();
    enum wick_status status = wishes->chat ? take_prompt(wishes, sequence, text.data, text.nbytes)
                                           : take_prompt(wishes, sequence, prompt, nbytes);
    wick_text_free(&text);
    int64_t prompt_tokens = wick_sequence_length(sequence);
    if (status == WICK_OK && !wishes->json && !wishes->chat) fwrite(prompt, 1, nbytes, stdout);
    if (status == WICK_OK) status = wick_generate(sequence, &options, &result);
    if (status != WICK_OK) {
        if (run.n_tokens > 0 && !wishes->json) putchar('\n');
        return command_fail("generate", "%s", wishes->model);
    }
    finish(&run, &result, prompt_tokens);
    return 0;
}

/* ---- the command ---- */

static int generate(const struct wishes *wishes, const char *prompt, size_t nbytes) {
    struct lm_place place;
    int status = lm_place_open("generate", &wishes->lm, &place);
    if (status != 0) return status;
    const struct wick_sequence_options options = {.context = wishes->context, .cache = place.cache};
    const struct lm_need need = {.context = wishes->context, .prompt = (int64_t)nbytes, .tokens = wishes->tokens};
    struct wick_lm *lm = lm_open("generate", wishes->model, &wishes->lm, &place, &need);
    struct wick_sequence *sequence = lm ? wick_sequence_open(lm, &options) : NULL;
    if (lm && !sequence) command_fail("generate", "%s", wishes->model);
    status = sequence ? continue_prompt(wishes, sequence, lm, prompt, nbytes) : 1;
    wick_sequence_close(sequence);
    wick_lm_close(lm);
    wick_device_close(place.device);
    return status;
}

int command_generate(int argc, char **argv) {
    struct wishes wishes = {.lm = {.device = "auto", .cache = "f32"}, .sampling = wick_sampling_default()};
    int n = 0, status;
    const struct option list[] = {
        OPTIONS_TEXT("-m", "FILE", &wishes.model, "the model, a GGUF file or a folder; otherwise the first operand"),
        OPTIONS_TEXT("-p", "TEXT", &wishes.prompt, "the prompt; otherwise the next operand, or standard input"),
        OPTIONS_NUMBER("-n", "N", &wishes.tokens, 0, INT32_MAX, "tokens at most; until the text ends by default"),
        OPTIONS_NUMBER("-c", "N", &wishes.context, 0, 1 << 30, "the context in tokens; the model's by default"),
        OPTIONS_FLAG("--context-shift", &wishes.shift, "forgets older tokens where the context is full"),
        OPTIONS_NUMBER("--keep", "N", &wishes.keep, 0, 1 << 30, "tokens at the beginning that a shift keeps, 0"),
        OPTIONS_TEXT("--prompt-cache", "FILE", &wishes.prompt_cache, "keeps keys and values of the prompt in FILE"),
        LM_SAMPLING(wishes.sampling, wishes.seed),
        LM_DEVICE(wishes.lm),
        OPTIONS_FLAG("--chat", &wishes.chat, "asks by the model's chat template"),
        LM_OPTIONS(wishes.lm),
        OPTIONS_FLAG("--ignore-end", &wishes.ignore_end, "goes on where the model ends its text"),
        OPTIONS_FLAG("--json", &wishes.json, "a line of JSON for each token, and one at the end"),
        OPTIONS_FLAG("--timings", &wishes.timings, "shows tokens a second at the end"),
        OPTIONS_END};
    const struct options options = {"generate", list, 2};
    if (!options_parse(&options, argc, argv, &n, &status)) return status;
    int at = 0;
    wishes.sampling.seed = (uint64_t)wishes.seed;
    wishes.sampling.log_probabilities = wishes.json;
    if (!wishes.model && at < n) wishes.model = argv[at++];
    if (!wishes.prompt && at < n) wishes.prompt = argv[at++];
    if (!wishes.model) return command_usage("generate", "needs a model");
    if (at < n) return command_usage("generate", "'%s' is one operand too many", argv[at]);
    if (wishes.prompt && strcmp(wishes.prompt, "-") != 0)
        return generate(&wishes, wishes.prompt, strlen(wishes.prompt));
    struct text text = {0};
    if (text_read("generate", "-", false, &text) != TEXT_READ) return 1;
    while (text.nbytes > 0 && text.data[text.nbytes - 1] == '\n') text.nbytes--;
    status = generate(&wishes, text.data, text.nbytes);
    free(text.data);
    return status;
}
