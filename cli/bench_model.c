/* wick bench --model: tokens a second of prompts and of answers, behind texts of several lengths. As llama-bench does,
 * it takes random tokens, does each test once beforehand, and samples nothing. */
#include "cli/bench_model.h"

#include "cli/json.h"
#include "cli/options.h"
#include "cli/output.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_MAX = 16, TOKENS_MAX = 1 << 24, REPEATS = 5 };

struct list {
    int n;
    int64_t values[LIST_MAX];
};

struct run {
    const struct bench_model_wishes *wishes;
    const char *name; /* of the file, without its folders */
    struct lm_place place;
    struct wick_device_info device;
    struct wick_lm *lm;
    struct wick_lm_info info;
    struct wick_sequence *sequence;
    struct list prompts, answers, depths;
    int64_t batch, repeats, room;
    int32_t *ids; /* `room` random tokens */
    double *speeds;
    json_t *rows; /* NULL: print a table */
};

/* A prompt of so many tokens, or an answer, after `depth` others. */
struct test {
    bool answer;
    int64_t tokens, depth;
};

/* "512,1024". Returns 0 or the exit status. */
static int parse(const char *option, const char *text, struct list *list) {
    list->n = 0;
    for (const char *at = text;; at++) {
        char number[24];
        size_t length = strcspn(at, ",");
        if (length < sizeof number) memcpy(number, at, length);
        if (length >= sizeof number || list->n == LIST_MAX) break;
        number[length] = '\0';
        if (!options_number(number, 0, TOKENS_MAX, &list->values[list->n++])) break;
        at += length;
        if (!*at) return 0;
    }
    return command_usage("bench", "%s needs up to %d numbers of tokens, as in 512,1024, not '%s'", option, LIST_MAX,
                         text);
}

/* ---- measuring ---- */

static bool failed(const struct run *run) {
    command_fail("bench", "%s", run->wishes->path);
    return false;
}

/* Adds tokens `from` .. `from` + n, `batch` at once. */
static bool add(struct run *run, int64_t from, int64_t n, int64_t batch) {
    for (int64_t at = 0; at < n; at += batch) {
        int64_t some = n - at < batch ? n - at : batch;
        struct wick_tensor *logits = wick_sequence_append(run->sequence, some, run->ids + from + at);
        wick_release(logits);
        if (!logits || wick_device_sync(run->place.device) != WICK_OK) return failed(run);
    }
    return true;
}

/* Tokens a second. */
static bool measure(struct run *run, const struct test *test, int64_t tokens, double *speed) {
    if (wick_sequence_truncate(run->sequence, test->depth) != WICK_OK) return failed(run);
    double began = lm_seconds();
    if (!add(run, test->depth, tokens, test->answer ? 1 : run->batch)) return false;
    *speed = (double)tokens / (lm_seconds() - began);
    return true;
}

static void print_row(const struct run *run, const char *name, double mean, double deviation) {
    fputs("| ", stdout);
    output_text(stdout, run->name);
    printf(" | %s | %.2f MiB | %s | %d | %s | %.2f +- %.2f |\n", run->info.family,
           (double)run->info.weight_bytes / 1048576, run->device.name, run->device.threads, name, mean, deviation);
    fflush(stdout);
}

static json_t *row_json(const struct run *run, const struct test *test, double mean, double deviation) {
    json_t *samples = json_array();
    for (int64_t i = 0; samples && i < run->repeats; i++) json_add(samples, json_number(run->speeds[i]));
    return json_pack("{s:o, s:s, s:I, s:s, s:o, s:i, s:s, s:b, s:I, s:I, s:I, s:I, s:o, s:o, s:o}", "model",
                     json_text(run->name), "family", run->info.family, "weight_bytes",
                     (json_int_t)run->info.weight_bytes, "device", run->device.name, "description",
                     json_text(run->device.description), "n_threads", run->device.threads, "cache",
                     wick_dtype_name(run->place.cache), "exact", (int)run->wishes->lm.exact, "n_batch",
                     (json_int_t)run->batch, "n_prompt", (json_int_t)(test->answer ? 0 : test->tokens), "n_gen",
                     (json_int_t)(test->answer ? test->tokens : 0), "n_depth", (json_int_t)test->depth, "avg_ts",
                     json_number(mean), "stddev_ts", json_number(deviation), "samples_ts", samples);
}

static void report(struct run *run, const struct test *test) {
    char name[64];
    double mean = 0, squares = 0;
    for (int64_t i = 0; i < run->repeats; i++) mean += run->speeds[i] / (double)run->repeats;
    for (int64_t i = 0; i < run->repeats; i++) squares += (run->speeds[i] - mean) * (run->speeds[i] - mean);
    double deviation = run->repeats > 1 ? sqrt(squares / (double)(run->repeats - 1)) : 0;
    int length = snprintf(name, sizeof name, "%s%" PRId64, test->answer ? "tg" : "pp", test->tokens);
    if (test->depth) snprintf(name + length, sizeof name - (size_t)length, " @ d%" PRId64, test->depth);
    if (run->rows)
        json_add(run->rows, row_json(run, test, mean, deviation));
    else
        print_row(run, name, mean, deviation);
}

/* The tokens before it, once without measuring, and then as often as asked. */
static bool run_test(struct run *run, const struct test *test) {
    double unused;
    if (test->tokens == 0) return true;
    if (wick_sequence_truncate(run->sequence, 0) != WICK_OK) return failed(run);
    if (!add(run, 0, test->depth, run->batch)) return false;
    if (!measure(run, test, test->answer ? 1 : test->tokens, &unused)) return false;
    for (int64_t i = 0; i < run->repeats; i++)
        if (!measure(run, test, test->tokens, &run->speeds[i])) return false;
    report(run, test);
    return true;
}

static int run_all(struct run *run) {
    if (!run->rows)
        puts("| model | family | size | device | threads | test | tokens/s |\n"
             "| --- | --- | ---: | --- | ---: | --- | ---: |");
    for (int d = 0; d < run->depths.n; d++) {
        for (int i = 0; i < run->prompts.n; i++)
            if (!run_test(run, &(struct test){false, run->prompts.values[i], run->depths.values[d]})) return 1;
        for (int i = 0; i < run->answers.n; i++)
            if (!run_test(run, &(struct test){true, run->answers.values[i], run->depths.values[d]})) return 1;
    }
    if (run->rows && !json_print(json_incref(run->rows), JSON_INDENT(1) | JSON_REAL_PRECISION(6)))
        return command_fail("bench", "out of memory");
    return 0;
}

/* ---- the whole ---- */

static int64_t largest(const struct list *list) {
    int64_t most = 0;
    for (int i = 0; i < list->n; i++)
        if (list->values[i] > most) most = list->values[i];
    return most;
}

/* Random tokens, the first of them the one that the model puts before each text. */
static bool make_tokens(struct run *run) {
    uint64_t state = 1;
    int32_t begin;
    run->ids = calloc((size_t)run->room, sizeof *run->ids);
    run->speeds = calloc((size_t)run->repeats, sizeof *run->speeds);
    if (!run->ids || !run->speeds) {
        command_fail("bench", "out of memory");
        return false;
    }
    for (int64_t i = 0; i < run->room; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        run->ids[i] = (int32_t)((state >> 33) % (uint64_t)run->info.vocab);
    }
    if (!lm_begin_id("bench", run->lm, &begin)) return false;
    if (begin >= 0) run->ids[0] = begin;
    return true;
}

static int open_and_run(struct run *run) {
    const struct bench_model_wishes *wishes = run->wishes;
    int status = lm_place_open("bench", &wishes->lm, &run->place);
    if (status != 0) return status;
    const struct lm_need need = {.context = run->room};
    run->lm = lm_open("bench", wishes->path, &wishes->lm, &run->place, &need);
    if (!run->lm) return 1;
    if (wick_lm_describe(run->lm, &run->info) != WICK_OK ||
        wick_device_describe(run->place.device, &run->device) != WICK_OK)
        return command_fail("bench", "%s", wishes->path);
    if (!make_tokens(run)) return 1;
    const struct wick_sequence_options options = {.context = run->room, .cache = run->place.cache};
    run->sequence = wick_sequence_open(run->lm, &options);
    if (!run->sequence) return command_fail("bench", "%s", wishes->path);
    if (wishes->json && !(run->rows = json_array())) return command_fail("bench", "out of memory");
    return run_all(run);
}

int bench_model(const struct bench_model_wishes *wishes) {
    const char *slash = strrchr(wishes->path, '/');
    struct run run = {.wishes = wishes, .name = slash ? slash + 1 : wishes->path};
    int status = parse("-p", wishes->prompts ? wishes->prompts : "512", &run.prompts);
    if (status == 0) status = parse("-n", wishes->answers ? wishes->answers : "128", &run.answers);
    if (status == 0) status = parse("--depth", wishes->depths ? wishes->depths : "0", &run.depths);
    if (status != 0) return status;
    run.batch = wishes->batch ? wishes->batch : BENCH_MODEL_BATCH;
    run.repeats = wishes->repeats ? wishes->repeats : REPEATS;
    int64_t prompt = largest(&run.prompts), answer = largest(&run.answers);
    run.room = largest(&run.depths) + (prompt > answer ? prompt : answer);
    if (prompt + answer == 0) return command_usage("bench", "-p and -n ask for no tokens");
    status = open_and_run(&run);
    json_decref(run.rows);
    wick_sequence_close(run.sequence);
    wick_lm_close(run.lm);
    wick_device_close(run.place.device);
    free(run.ids);
    free(run.speeds);
    return status;
}
