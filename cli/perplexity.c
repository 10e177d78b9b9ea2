/* wick perplexity: how well a language model foretells a text, and how far it is from another one. The text is cut into
 * windows, and of each the tokens of the second half count, as in llama-perplexity. */
#include "cli/json.h"
#include "cli/likelihood.h"
#include "cli/lm.h"
#include "cli/options.h"
#include "cli/output.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LOGIT_BYTES = 64 << 20, LEAST_WINDOW = 3, WINDOW = 512 };

struct wishes {
    const char *model, *text, *against;
    int64_t window, windows;
    bool json;
    struct lm_wishes lm;
};

/* A model with what it needs to read a window. */
struct reader {
    const char *path;
    struct wick_lm *lm;
    struct wick_sequence *sequence;
    float *logits; /* of `rows` tokens */
    int64_t vocab;
};

struct run {
    const struct wishes *wishes;
    struct reader readers[2]; /* the model; the base */
    int n_readers;
    struct wick_ids ids;
    int32_t begin; /* replaces the first token of each window; -1: none does */
    int64_t window, windows, scored, rows;
    enum wick_dtype cache;
    int32_t *ids_of_window;
    struct likelihood_token *tokens;
};

/* ---- windows ---- */

/* The logits of what follows n tokens. */
static bool read_some(struct reader *reader, int64_t n, const int32_t *ids) {
    struct wick_tensor *logits = wick_sequence_append_all(reader->sequence, n, ids);
    enum wick_status status =
        logits ? wick_read(logits, reader->logits, (size_t)(n * reader->vocab) * sizeof(float)) : WICK_INVALID;
    wick_release(logits);
    if (status != WICK_OK) command_fail("perplexity", "%s", reader->path);
    return status == WICK_OK;
}

/* The first half, without its logits. */
static bool begin_window(struct reader *reader, int64_t n, const int32_t *ids) {
    struct wick_tensor *logits = NULL;
    if (wick_sequence_truncate(reader->sequence, 0) == WICK_OK) logits = wick_sequence_append(reader->sequence, n, ids);
    wick_release(logits);
    if (!logits) command_fail("perplexity", "%s", reader->path);
    return logits != NULL;
}

static bool score_window(struct run *run, int64_t number) {
    int32_t *ids = run->ids_of_window;
    int64_t first = run->window / 2;
    memcpy(ids, run->ids.ids + number * run->window, (size_t)run->window * sizeof *ids);
    if (run->begin >= 0) ids[0] = run->begin;
    for (int r = 0; r < run->n_readers; r++)
        if (!begin_window(&run->readers[r], first, ids)) return false;
    for (int64_t at = first, n; at < run->window - 1; at += n) {
        n = run->window - 1 - at < run->rows ? run->window - 1 - at : run->rows;
        for (int r = 0; r < run->n_readers; r++)
            if (!read_some(&run->readers[r], n, ids + at)) return false;
        for (int64_t i = 0; i < n; i++) {
            const int64_t vocab = run->readers[0].vocab;
            const float *base = run->n_readers > 1 ? run->readers[1].logits + i * vocab : NULL;
            if (!likelihood_of(vocab, run->readers[0].logits + i * vocab, base, ids[at + i + 1],
                               &run->tokens[run->scored++])) {
                command_fail("perplexity", "window %" PRId64 ": the logits of token %" PRId64 " are not finite", number,
                             at + i + 1);
                return false;
            }
        }
    }
    return true;
}

/* ---- output ---- */

static json_t *mean_json(struct likelihood_mean mean) {
    return json_pack("{s:o, s:o}", "mean", json_number(mean.mean), "error", json_number(mean.error));
}

static json_t *against_json(const struct likelihood *sum) {
    json_t *divergence =
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "mean", json_number(sum->divergence.mean), "error",
                  json_number(sum->divergence.error), "median", json_number(sum->median), "p90", json_number(sum->p90),
                  "p99", json_number(sum->p99), "largest", json_number(sum->largest));
    json_t *change = json_pack("{s:o, s:o, s:o}", "mean", json_number(sum->change.mean), "error",
                               json_number(sum->change.error), "root_mean_square", json_number(sum->root_mean_square));
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "perplexity", mean_json(sum->base), "ratio",
                     mean_json(sum->ratio), "correlation", json_number(sum->correlation), "divergence", divergence,
                     "change", change, "same_top", mean_json(sum->same_top));
}

static int print_json(const struct run *run, const struct likelihood *sum) {
    json_t *all = json_pack("{s:I, s:I, s:I, s:I, s:o}", "tokens", (json_int_t)run->ids.n, "window",
                            (json_int_t)run->window, "windows", (json_int_t)run->windows, "scored",
                            (json_int_t)run->scored, "perplexity", mean_json(sum->perplexity));
    if (all && run->n_readers > 1 && json_object_set_new(all, "against", against_json(sum)) != 0) {
        json_decref(all);
        all = NULL;
    }
    return json_print(all, JSON_INDENT(1) | JSON_REAL_PRECISION(12)) ? 0 : command_fail("perplexity", "out of memory");
}

static int print_text(const struct run *run, const struct likelihood *sum) {
    printf("perplexity %.4f +- %.5f, of %" PRId64 " tokens: second halves of %" PRId64 " windows of %" PRId64 "\n",
           sum->perplexity.mean, sum->perplexity.error, run->scored, run->windows, run->window);
    if (run->n_readers == 1) return 0;
    fputs("against ", stdout);
    output_text(stdout, run->wishes->against);
    printf(":\n  its perplexity      %12.6f +- %.6f\n", sum->base.mean, sum->base.error);
    printf("  ratio               %12.6f +- %.6f, correlation of logarithms %.4f\n", sum->ratio.mean, sum->ratio.error,
           sum->correlation);
    printf("  divergence          %12.6f +- %.6f, median %.6f, 90 %% %.6f, 99 %% %.6f, largest %.6f\n",
           sum->divergence.mean, sum->divergence.error, sum->median, sum->p90, sum->p99, sum->largest);
    printf("  change of p, %%      %12.4f +- %.4f, root mean square %.4f\n", 100 * sum->change.mean,
           100 * sum->change.error, 100 * sum->root_mean_square);
    printf("  same likeliest, %%   %12.4f +- %.4f\n", 100 * sum->same_top.mean, 100 * sum->same_top.error);
    return 0;
}

/* ---- the command ---- */

static int out_of_memory(void) { return command_fail("perplexity", "out of memory"); }

/* How many windows there are, and room for what they give. Returns the exit status. */
static int prepare(struct run *run) {
    const struct wishes *wishes = run->wishes;
    struct wick_lm_info info;
    if (wick_lm_describe(run->readers[0].lm, &info) != WICK_OK) return command_fail("perplexity", "%s", wishes->model);
    run->window = wishes->window ? wishes->window : info.context < WINDOW ? info.context : WINDOW;
    run->windows = run->ids.n / run->window;
    if (run->window < LEAST_WINDOW || run->windows == 0)
        return command_fail("perplexity", "%s has %" PRId64 " tokens, which is less than a window of %" PRId64,
                            wishes->text, run->ids.n, run->window);
    if (wishes->windows && wishes->windows < run->windows) run->windows = wishes->windows;
    int64_t scored = run->window - 1 - run->window / 2, row = info.vocab * (int64_t)sizeof(float);
    run->rows = LOGIT_BYTES / row < 1 ? 1 : LOGIT_BYTES / row < scored ? LOGIT_BYTES / row : scored;
    run->tokens = calloc((size_t)run->windows, (size_t)scored * sizeof *run->tokens);
    run->ids_of_window = calloc((size_t)run->window, sizeof *run->ids_of_window);
    if (!run->tokens || !run->ids_of_window) return out_of_memory();
    const struct wick_sequence_options options = {.context = run->window, .cache = run->cache};
    for (int r = 0; r < run->n_readers; r++) {
        struct reader *reader = &run->readers[r];
        reader->vocab = info.vocab;
        reader->sequence = wick_sequence_open(reader->lm, &options);
        if (!reader->sequence) return command_fail("perplexity", "%s", reader->path);
        reader->logits = calloc((size_t)run->rows, (size_t)row);
        if (!reader->logits) return out_of_memory();
    }
    return 0;
}

/* Both models must see the same tokens. */
static int check_base(struct run *run, const struct text *text) {
    struct wick_lm_info info, base;
    struct wick_ids ids = {NULL, 0, 0};
    if (wick_lm_describe(run->readers[0].lm, &info) != WICK_OK ||
        wick_lm_describe(run->readers[1].lm, &base) != WICK_OK)
        return command_fail("perplexity", "%s", run->wishes->against);
    if (info.vocab != base.vocab)
        return command_fail("perplexity", "%s has %" PRId64 " tokens, and %s has %" PRId64, run->wishes->model,
                            info.vocab, run->wishes->against, base.vocab);
    if (!lm_encode("perplexity", run->readers[1].lm, text, false, &ids)) return 1;
    bool same = ids.n == run->ids.n && memcmp(ids.ids, run->ids.ids, (size_t)ids.n * sizeof *ids.ids) == 0;
    free(ids.ids);
    if (same) return 0;
    return command_fail("perplexity", "%s and %s turn the text into different tokens", run->wishes->model,
                        run->wishes->against);
}

static int score(struct run *run, const struct text *text) {
    struct likelihood sum;
    if (!lm_encode("perplexity", run->readers[0].lm, text, false, &run->ids)) return 1;
    if (!lm_begin_id("perplexity", run->readers[0].lm, &run->begin)) return 1;
    int status = run->n_readers > 1 ? check_base(run, text) : 0;
    if (status == 0) status = prepare(run);
    for (int64_t i = 0; i < run->windows && status == 0; i++) {
        text_progress("scored", i, run->windows);
        if (!score_window(run, i)) status = 1;
    }
    if (status != 0) return status;
    text_progress("scored", run->windows, run->windows);
    if (!likelihood_sum(run->scored, run->tokens, &sum)) return out_of_memory();
    return run->wishes->json ? print_json(run, &sum) : print_text(run, &sum);
}

static int perplexity(const struct wishes *wishes) {
    struct run run = {.wishes = wishes, .n_readers = wishes->against ? 2 : 1};
    struct lm_place place;
    struct text text = {NULL, 0};
    const struct lm_need need = {.context = wishes->window ? wishes->window : WINDOW, .all = true};
    int status = lm_place_open("perplexity", &wishes->lm, &place);
    if (status != 0) return status;
    run.cache = place.cache;
    if (text_read("perplexity", wishes->text, false, &text) != TEXT_READ) status = 1;
    for (int r = 0; r < run.n_readers && status == 0; r++) {
        run.readers[r].path = r == 0 ? wishes->model : wishes->against;
        run.readers[r].lm = lm_open("perplexity", run.readers[r].path, &wishes->lm, &place, &need);
        if (!run.readers[r].lm) status = 1;
    }
    if (status == 0) status = score(&run, &text);
    for (int r = 0; r < run.n_readers; r++) {
        free(run.readers[r].logits);
        wick_sequence_close(run.readers[r].sequence);
        wick_lm_close(run.readers[r].lm);
    }
    free(run.tokens);
    free(run.ids_of_window);
    free(run.ids.ids);
    free(text.data);
    wick_device_close(place.device);
    return status;
}

int command_perplexity(int argc, char **argv) {
    struct wishes wishes = {.lm = {.device = "auto", .cache = "f32"}};
    int n = 0, status;
    const struct option list[] = {
        OPTIONS_TEXT("--against", "MODEL2", &wishes.against, "compares with this model too, the base"),
        OPTIONS_NUMBER("-c", "N", &wishes.window, LEAST_WINDOW, 1 << 24, "tokens of a window, 512"),
        OPTIONS_NUMBER("--chunks", "N", &wishes.windows, 1, INT32_MAX, "reads N windows at most; all by default"),
        LM_DEVICE(wishes.lm),
        LM_OPTIONS(wishes.lm),
        OPTIONS_FLAG("--json", &wishes.json, "writes JSON"),
        OPTIONS_END};
    const struct options options = {"perplexity", list, 2};
    if (!options_parse(&options, argc, argv, &n, &status)) return status;
    if (n < 2) return command_usage("perplexity", "needs a model and a text");
    wishes.model = argv[0];
    wishes.text = argv[1];
    return perplexity(&wishes);
}
