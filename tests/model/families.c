/* Language models of every family, against logits that transformers computed (make.py): all tokens at once, one at a
 * time, several sequences together, caches of 16 bits; and what the calls refuse. */
#include "tests/test.h"

#include <math.h>
#include <string.h>

enum { TOKENS = 24, VOCAB = 64 };

static struct wick_device *device;
static int32_t ids[TOKENS];
static const char *const families[] = {"llama", "llama3", "linear", "yarn",   "mistral", "mixtral",  "qwen2",
                                       "qwen3", "gemma",  "gemma2", "gemma3", "phi3",    "longrope", "qwen3moe"};

/* From its GGUF file, or from its folder. */
static struct wick_lm *open_from(const char *name, bool folder) {
    char path[128];
    snprintf(path, sizeof path, folder ? "tests/model/hub/%s" : "tests/model/%s.gguf", name);
    struct wick_lm *lm = wick_lm_open(path, device, NULL);
    if (!lm) fprintf(stderr, "%s: %s\n", name, wick_error());
    CHECK(lm);
    return lm;
}

static struct wick_lm *open_family(const char *name) { return open_from(name, false); }

static void load_expected(struct wick_archive *archive, const char *name, float expected[TOKENS][VOCAB]) {
    struct wick_tensor *x = wick_archive_load(archive, name, device);
    CHECK(x);
    CHECK_OK(wick_read(x, expected, sizeof(float) * TOKENS * VOCAB));
    wick_release(x);
}

/* The largest difference between logits [n,vocab] and the expected ones from a token on. */
static double error_of(const struct wick_tensor *logits, float expected[TOKENS][VOCAB], int64_t token, int64_t n) {
    float values[TOKENS][VOCAB];
    double most = 0;
    CHECK(logits);
    CHECK_OK(wick_read(logits, values, sizeof(float) * (size_t)n * VOCAB));
    for (int64_t t = 0; t < n; t++)
        for (int i = 0; i < VOCAB; i++) most = fmax(most, fabs((double)values[t][i] - (double)expected[token + t][i]));
    return most;
}

static double whole(const struct wick_lm *lm, enum wick_dtype cache, float expected[TOKENS][VOCAB]) {
    struct wick_sequence *sequence = wick_sequence_open(lm, &(struct wick_sequence_options){.cache = cache});
    CHECK(sequence);
    struct wick_tensor *logits = wick_sequence_append_all(sequence, TOKENS, ids);
    double error = error_of(logits, expected, 0, TOKENS);
    wick_release(logits);
    wick_sequence_close(sequence);
    return error;
}

/* A beginning of 5 tokens, then one at a time, then back and again. */
static double stepwise(const struct wick_lm *lm, float expected[TOKENS][VOCAB]) {
    struct wick_sequence *sequence = wick_sequence_open(lm, NULL);
    double error = 0;
    for (int64_t at = 0; at < TOKENS;) {
        int64_t n = at == 0 ? 5 : 1;
        struct wick_tensor *logits = wick_sequence_append(sequence, n, ids + at);
        at += n;
        error = fmax(error, error_of(logits, expected, at - 1, 1));
        wick_release(logits);
    }
    CHECK(wick_sequence_length(sequence) == TOKENS);
    CHECK(memcmp(wick_sequence_ids(sequence), ids, sizeof ids) == 0);
    CHECK_OK(wick_sequence_truncate(sequence, 9));
    struct wick_tensor *logits = wick_sequence_append_all(sequence, TOKENS - 9, ids + 9);
    error = fmax(error, error_of(logits, expected, 9, TOKENS - 9));
    wick_release(logits);
    wick_sequence_close(sequence);
    return error;
}

/* Three sequences of different lengths, a token each at a time. */
static double together(const struct wick_lm *lm, float expected[TOKENS][VOCAB]) {
    struct wick_sequence *sequences[3];
    int64_t at[3] = {3, 10, 1};
    double error = 0;
    for (int i = 0; i < 3; i++) {
        sequences[i] = wick_sequence_open(lm, NULL);
        wick_release(wick_sequence_append(sequences[i], at[i], ids));
    }
    for (int step = 0; step < 6; step++) {
        int32_t next[3] = {ids[at[0]], ids[at[1]], ids[at[2]]};
        struct wick_tensor *logits = wick_sequences_step(3, sequences, next);
        for (int i = 0; i < 3; i++) {
            struct wick_tensor *row = wick_narrow(logits, 0, i, 1);
            error = fmax(error, error_of(row, expected, at[i]++, 1));
            wick_release(row);
        }
        wick_release(logits);
    }
    for (int i = 0; i < 3; i++) wick_sequence_close(sequences[i]);
    return error;
}

static void check_family(struct wick_archive *archive, const char *name) {
    float expected[TOKENS][VOCAB];
    struct wick_lm *lm = open_family(name);
    if (!lm) return;
    load_expected(archive, name, expected);
    const double errors[] = {whole(lm, WICK_F32, expected), stepwise(lm, expected), together(lm, expected),
                             whole(lm, WICK_F16, expected), whole(lm, WICK_BF16, expected)};
    const double bounds[] = {3e-5, 3e-5, 3e-5, 0.03, 0.25}; /* logits reach 10 */
    for (int i = 0; i < 5; i++) {
        if (!(errors[i] <= bounds[i])) fprintf(stderr, "%s, way %d: off by %g\n", name, i, errors[i]);
        CHECK(errors[i] <= bounds[i]);
    }
    wick_lm_close(lm);
}

/* The same weights from a folder as transformers writes it: names, orders and keys are others, the logits are not. */
static void check_folder(struct wick_archive *archive, const char *name) {
    float expected[TOKENS][VOCAB];
    struct wick_lm *lm = open_from(name, true);
    if (!lm) return;
    load_expected(archive, name, expected);
    double error = whole(lm, WICK_F32, expected);
    if (!(error <= 3e-5)) fprintf(stderr, "hub/%s: off by %g\n", name, error);
    CHECK(error <= 3e-5);
    CHECK(wick_lm_is_end(lm, 2) && !wick_lm_is_end(lm, 1));
    wick_lm_close(lm);
}

static void check_refusals(void) {
    struct wick_lm *lm = open_family("llama");
    struct wick_sequence *sequence = wick_sequence_open(lm, &(struct wick_sequence_options){.context = 8});
    struct wick_lm_info info;
    int32_t bad[2] = {3, VOCAB};
    CHECK(!wick_sequence_append(sequence, 9, ids));
    CHECK(wick_error_status() == WICK_RANGE && strstr(wick_error(), "context of 8"));
    wick_error_clear();
    CHECK(!wick_sequence_append(sequence, 2, bad));
    CHECK(wick_error_status() == WICK_RANGE && strstr(wick_error(), "id 64 of token 1"));
    wick_error_clear();
    CHECK(wick_sequence_length(sequence) == 0);
    CHECK(wick_generate(sequence, NULL, NULL) == WICK_INVALID);
    wick_error_clear();
    CHECK(!wick_sequence_open(lm, &(struct wick_sequence_options){.cache = WICK_F64}));
    CHECK(wick_error_status() == WICK_DTYPE);
    wick_error_clear();
    CHECK(wick_lm_inspect("tests/files/types.gguf", NULL, &info) != WICK_OK);
    wick_error_clear();
    CHECK_OK(wick_lm_inspect("tests/model/qwen3.gguf", NULL, &info));
    CHECK(strcmp(info.family, "qwen3") == 0 && info.layers == 2 && info.vocab == VOCAB && info.context == 64);
    CHECK(info.cache_bytes == 2 * 2 * 2 * 12 * 4);
    wick_sequence_close(sequence);
    wick_lm_close(lm);
}

struct heard {
    struct wick_sequence *sequence;
    int n, cancel_at;
};

static bool hear(void *context, const struct wick_generated *token) {
    struct heard *heard = context;
    CHECK(token->id >= 0 && token->log_probability < 0 && token->text);
    if (++heard->n == heard->cancel_at) wick_sequence_cancel(heard->sequence);
    return heard->n < 7;
}

static void check_generate(void) {
    struct wick_lm *lm = open_family("llama");
    struct wick_sequence *sequence = wick_sequence_open(lm, &(struct wick_sequence_options){.context = 20});
    struct heard heard = {sequence, 0, 3};
    struct wick_generate_result result;
    struct wick_sampling sampling = {.log_probabilities = true};
    struct wick_generate_options options = {
        .on_token = hear, .context = &heard, .sampling = &sampling, .ignore_end = true};
    CHECK_OK(wick_sequence_prompt(sequence, "bca", 3, 0));
    CHECK(wick_sequence_length(sequence) == 3);
    CHECK_OK(wick_generate(sequence, &options, &result));
    CHECK(result.stop == WICK_STOP_CANCELLED && result.n_tokens == 3 && heard.n == 3);
    CHECK_OK(wick_generate(sequence, &options, &result));
    CHECK(result.stop == WICK_STOP_CALLBACK && result.n_tokens == 4);
    CHECK(wick_sequence_length(sequence) == 10);
    int32_t before[10];
    memcpy(before, wick_sequence_ids(sequence), sizeof before);
    CHECK_OK(wick_sequence_prompt(sequence, "bca", 3, 0));
    heard.n = -100;
    options.max_tokens = 7;
    CHECK_OK(wick_generate(sequence, &options, &result));
    CHECK(result.stop == WICK_STOP_TOKENS && memcmp(before, wick_sequence_ids(sequence), sizeof before) == 0);
    options.max_tokens = 0;
    CHECK(wick_generate(sequence, &options, &result) == WICK_RANGE);
    CHECK(strstr(wick_error(), "context of 20") && wick_sequence_length(sequence) == 20);
    wick_error_clear();
    CHECK(wick_sequence_prompt(sequence, "", 0, 0) == WICK_INVALID);
    wick_error_clear();
    wick_sequence_close(sequence);
    wick_lm_close(lm);
}

/* Where the context is full, the older half behind the kept tokens goes. */
static void check_shift(void) {
    struct wick_lm *lm = open_family("llama");
    struct wick_sequence *sequence = wick_sequence_open(lm, &(struct wick_sequence_options){.context = 8});
    struct wick_generate_options options = {.ignore_end = true, .shift = true, .keep = 2, .max_tokens = 5};
    CHECK_OK(wick_sequence_prompt(sequence, "bca", 3, 0));
    CHECK_OK(wick_generate(sequence, &options, NULL));
    int32_t before[8], after[6];
    CHECK(wick_sequence_length(sequence) == 8);
    memcpy(before, wick_sequence_ids(sequence), sizeof before);
    options.max_tokens = 1;
    CHECK_OK(wick_generate(sequence, &options, NULL));
    CHECK(wick_sequence_length(sequence) == 6);
    memcpy(after, wick_sequence_ids(sequence), sizeof after);
    CHECK(memcmp(after, before, 2 * sizeof *after) == 0 && memcmp(after + 2, before + 5, 3 * sizeof *after) == 0);
    /* The next token is the one that a sequence of these tokens alone gives. */
    struct wick_sequence *fresh = wick_sequence_open(lm, NULL);
    float got[2][VOCAB];
    struct wick_tensor *logits[2] = {wick_sequence_append_all(fresh, 6, after), NULL};
    logits[1] = wick_narrow(logits[0], 0, 5, 1);
    CHECK_OK(wick_read(logits[1], got[0], sizeof got[0]));
    int best = 0;
    for (int i = 1; i < VOCAB; i++) best = got[0][i] > got[0][best] ? i : best;
    CHECK_OK(wick_generate(sequence, &options, NULL));
    CHECK(wick_sequence_ids(sequence)[6] == best);
    options.keep = 8;
    CHECK(wick_generate(sequence, &options, NULL) == WICK_INVALID);
    wick_error_clear();
    options = (struct wick_generate_options){.ignore_end = true, .shift = true, .keep = 7, .max_tokens = 20};
    CHECK_OK(wick_generate(sequence, &options, NULL));
    wick_release(logits[1]);
    wick_release(logits[0]);
    wick_sequence_close(fresh);
    wick_sequence_close(sequence);
    wick_lm_close(lm);
}

int main(int argc, char **argv) {
    device = wick_device_open(argc > 1 ? argv[1] : "cpu");
    CHECK(device);
    struct wick_archive *archive = wick_archive_open("tests/model/logits.safetensors", NULL);
    struct wick_tensor *x = wick_archive_load(archive, "ids", device);
    CHECK_OK(wick_read(x, ids, sizeof ids));
    wick_release(x);
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        check_family(archive, families[i]);
        check_folder(archive, families[i]);
    }
    wick_archive_close(archive);
    check_refusals();
    check_generate();
    check_shift();
    wick_device_close(device);
    return test_end();
}
