/* wick tune: runs a model with every product and convolution timed by each route that takes it. */
#include "cli/json.h"
#include "cli/lm.h"
#include "cli/options.h"
#include "cli/output.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct tuning {
    const char *model;
    int64_t prompt, batch, size;
    bool fast, json;
    struct lm_wishes lm;
    struct wick_device *device;
};

/* ---- models ---- */

static int failed(const struct tuning *t) { return command_fail("tune", "%s", t->model); }

/* A prompt, as large pieces as the other commands add it in, and a token of an answer. */
static int run_lm(const struct tuning *t) {
    const int64_t most = 512, prompt = t->prompt ? t->prompt : most;
    const struct lm_place place = {t->device, WICK_F32};
    const struct lm_need need = {.context = prompt + 1};
    const struct wick_sequence_options options = {.context = prompt + 1};
    struct wick_lm_info info;
    int status = 0;
    struct wick_lm *lm = lm_open("tune", t->model, &t->lm, &place, &need);
    if (!lm) return 1;
    struct wick_sequence *sequence = wick_sequence_open(lm, &options);
    int32_t *ids = calloc((size_t)prompt + 1, sizeof *ids);
    if (!ids || !sequence || wick_lm_describe(lm, &info) != WICK_OK) status = failed(t);
    for (int64_t i = 0; i <= prompt && status == 0; i++) ids[i] = (int32_t)(i * 7919 % info.vocab);
    for (int64_t at = 0; at <= prompt && status == 0;) {
        int64_t some = at == prompt ? 1 : prompt - at < most ? prompt - at : most;
        struct wick_tensor *logits = wick_sequence_append(sequence, some, ids + at);
        if (!logits) status = failed(t);
        wick_release(logits);
        at += some;
    }
    free(ids);
    wick_sequence_close(sequence);
    wick_lm_close(lm);
    return status;
}

/* Lines of as many words. */
static int run_embedder(const struct tuning *t) {
    const int64_t words = t->prompt ? t->prompt : 32, batch = t->batch ? t->batch : 32;
    const struct wick_embedder_options options = {.fast = t->fast, .files = {.copy = true}};
    struct wick_embedder *embedder = wick_embedder_open_with(t->model, t->device, &options);
    char *line = calloc((size_t)words + 1, 2);
    const char **lines = calloc((size_t)batch, sizeof *lines);
    bool good = embedder && line && lines;
    for (int64_t i = 0; good && i < words; i++) memcpy(line + 2 * i, "a ", 2);
    for (int64_t i = 0; good && i < batch; i++) lines[i] = line;
    wick_scope_begin();
    good = good && wick_embedder_encode(embedder, batch, lines, NULL);
    wick_scope_end(NULL);
    free(lines);
    free(line);
    wick_embedder_close(embedder);
    return good ? 0 : failed(t);
}

static int run_resnet(const struct tuning *t) {
    static const struct wick_archive_options copied = {.copy = true};
    struct wick_resnet *resnet = wick_resnet_open_with(t->model, t->device, &copied);
    wick_scope_begin();
    struct wick_tensor *x = wick_zeros(t->device, WICK_F32, WICK_SHAPE(t->batch ? t->batch : 1, 3, t->size, t->size));
    bool good = resnet && wick_resnet_forward(resnet, x);
    wick_scope_end(NULL);
    wick_resnet_close(resnet);
    return good ? 0 : failed(t);
}

/* By model_type in a folder's config.json, which torchvision's models lack. A file is a language model's if it is GGUF.
 */
static int run_model(const struct tuning *t) {
    char path[4096], fault[JSON_FAULT] = "its path is too long";
    struct stat info;
    const size_t length = strlen(t->model);
    if (stat(t->model, &info) == 0 && !S_ISDIR(info.st_mode))
        return length > 5 && strcmp(t->model + length - 5, ".gguf") == 0 ? run_lm(t) : run_resnet(t);
    json_t *config = NULL;
    if (snprintf(path, sizeof path, "%s/config.json", t->model) < (int)sizeof path) config = json_file(path, fault);
    if (!config && *fault) return command_fail("tune", "%s/config.json: %s", t->model, fault);
    const char *type = json_string_value(json_object_get(config, "model_type"));
    int (*run)(const struct tuning *) = !type || strcmp(type, "resnet") == 0 ? run_resnet
                                        : strcmp(type, "bert") == 0          ? run_embedder
                                                                             : run_lm;
    json_decref(config);
    return run(t);
}

/* ---- what was measured ---- */

/* `first`: of its call. */
static void print_row(const struct wick_tune_info *row, bool first) {
    if (first) printf("%s of %s, %s\n", row->op, wick_dtype_name(row->dtype), row->sizes);
    printf("  %c %-8s %12.1f us", row->chosen ? '*' : ' ', row->route, row->us);
    if (row->ways > 1) printf(", the best of %d ways", row->ways);
    putchar('\n');
}

static void add_row(json_t *calls, const struct wick_tune_info *row, bool first) {
    if (first)
        json_add(calls, json_pack("{s:s, s:s, s:s, s:[]}", "op", row->op, "dtype", wick_dtype_name(row->dtype), "sizes",
                                  row->sizes, "routes"));
    json_t *call = json_array_get(calls, json_array_size(calls) - 1);
    json_add(json_object_get(call, "routes"),
             json_pack("{s:s, s:o, s:i, s:b}", "name", row->route, "us", json_number(row->us), "ways", row->ways,
                       "chosen", (int)row->chosen));
}

static int report(const struct tuning *t) {
    const int rows = wick_tune_count(t->device);
    json_t *calls = t->json ? json_array() : NULL;
    for (int i = 0, last = -1; i < rows; i++) {
        struct wick_tune_info row;
        if (wick_tune_describe(t->device, i, &row) != WICK_OK) return command_fail("tune", "row %d", i);
        if (t->json)
            add_row(calls, &row, row.call != last);
        else
            print_row(&row, row.call != last);
        last = row.call;
    }
    if (t->json)
        return json_print(calls, JSON_INDENT(1) | JSON_REAL_PRECISION(6)) ? 0 : command_fail("tune", "out of memory");
    if (rows == 0) puts("no call has more than one route here");
    return 0;
}

int command_tune(int argc, char **argv) {
    struct tuning t = {.size = 224, .lm = {.device = "auto", .cache = "f32"}};
    const struct option list[] = {
        OPTIONS_NUMBER("-p", "N", &t.prompt, 1, 1 << 24,
                       "a prompt of N tokens, 512; for an embedder lines of N words, 32"),
        OPTIONS_NUMBER("--batch", "N", &t.batch, 1, 1 << 20, "N lines at once, 32; or pictures, 1"),
        OPTIONS_NUMBER("--size", "N", &t.size, 32, 1 << 14, "pictures of N x N, 224"),
        OPTIONS_FLAG("--fast", &t.fast, "the embedder in bf16 where that is faster"),
        LM_DEVICE(t.lm),
        OPTIONS_FLAG("--exact", &t.lm.exact, "multiplies quantised weights by activations of full precision"),
        OPTIONS_FLAG("--json", &t.json, "writes JSON"),
        OPTIONS_END};
    const struct options options = {"tune", list, 1};
    int n, status;
    if (!options_parse(&options, argc, argv, &n, &status)) return status;
    if (n == 0) return command_usage("tune", "no model is given");
    t.model = argv[0];
    t.device = wick_device_open(t.lm.device);
    if (!t.device) return command_fail("tune", "%s can't be used", t.lm.device);
    status =
        wick_tune_set(t.device, WICK_TUNE_ALL) == WICK_OK ? run_model(&t) : command_fail("tune", "nothing to measure");
    if (status == 0) status = report(&t);
    wick_device_close(t.device);
    return status;
}
