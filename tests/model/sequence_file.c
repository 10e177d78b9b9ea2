/* Sequences saved and loaded: the same bits as without, for every dtype of the cache; files that are refused. */
#include "tests/model/sequences.h"

#include <string.h>
#include <unistd.h>

enum { N = 11, VOCAB = 64 };

static struct wick_device *device;
static const int32_t ids[N + 1] = {3, 9, 27, 17, 51, 25, 11, 33, 35, 41, 59, 49};
static char path[64];

static struct wick_lm *open_model(const char *name) {
    struct wick_lm *lm = wick_lm_open(name, device, NULL);
    CHECK(lm);
    return lm;
}

static void next_logits(struct wick_sequence *sequence, float values[VOCAB]) {
    struct wick_tensor *logits = wick_sequence_append(sequence, 1, &ids[N]);
    CHECK(logits);
    CHECK_OK(wick_read(logits, values, sizeof(float) * VOCAB));
    wick_release(logits);
}

static void check_round_trip(const struct wick_lm *lm, enum wick_dtype cache) {
    float want[VOCAB], got[VOCAB];
    struct wick_sequence *first = open_sequence(lm, cache, 0), *second = open_sequence(lm, cache, 0);
    wick_release(wick_sequence_append(first, N, ids));
    wick_release(wick_sequence_append(second, 3, ids + 5));
    CHECK_OK(wick_sequence_save(first, path));
    CHECK_OK(wick_sequence_load(second, path));
    CHECK(wick_sequence_length(second) == N && memcmp(wick_sequence_ids(second), ids, N * sizeof *ids) == 0);
    CHECK(wick_generate(second, NULL, NULL) == WICK_INVALID); /* the file has no logits */
    wick_error_clear();
    next_logits(first, want);
    next_logits(second, got);
    CHECK(memcmp(want, got, sizeof want) == 0);
    wick_sequence_close(first);
    wick_sequence_close(second);
}

/* A prompt comes back with its logits. */
static void check_prompt(const struct wick_lm *lm) {
    struct wick_sequence *first = open_sequence(lm, WICK_F32, 0), *second = open_sequence(lm, WICK_F32, 0);
    const struct wick_generate_options options = {.max_tokens = 4, .ignore_end = true};
    CHECK(wick_sequence_save(first, path) == WICK_INVALID && wick_sequence_load(first, NULL) == WICK_INVALID);
    wick_error_clear();
    CHECK_OK(wick_sequence_prompt(first, "bca", 3, 0));
    CHECK_OK(wick_sequence_save(first, path));
    CHECK_OK(wick_sequence_load(second, path));
    CHECK_OK(wick_generate(first, &options, NULL));
    CHECK_OK(wick_generate(second, &options, NULL));
    CHECK(wick_sequence_length(first) == wick_sequence_length(second));
    CHECK(memcmp(wick_sequence_ids(first), wick_sequence_ids(second),
                 (size_t)wick_sequence_length(first) * sizeof *ids) == 0);
    wick_sequence_close(first);
    wick_sequence_close(second);
}

/* Loading fails with this status and text, and leaves the sequence as it was. */
static void refuse(struct wick_sequence *sequence, enum wick_status status, const char *text) {
    int64_t n = wick_sequence_length(sequence);
    CHECK(wick_sequence_load(sequence, path) == status);
    if (!strstr(wick_error(), text)) fprintf(stderr, "%s, not %s\n", wick_error(), text);
    CHECK(strstr(wick_error(), text) && wick_sequence_length(sequence) == n);
    wick_error_clear();
}

/* The file again, with one tensor put in the place of `name` (NULL leaves it out), or other metadata. */
static void rewrite(const char *name, const struct wick_tensor *other, const char *const *metadata) {
    struct wick_archive *archive = wick_archive_open(path, &(struct wick_archive_options){.copy = true});
    const char *names[16];
    const struct wick_tensor *tensors[16];
    int64_t n = 0;
    CHECK(archive && wick_archive_count(archive) <= 16);
    wick_scope_begin();
    for (int64_t i = 0; i < wick_archive_count(archive); i++) {
        bool this = name && strcmp(wick_archive_name(archive, i), name) == 0;
        if (this && !other) continue;
        names[n] = wick_archive_name(archive, i);
        tensors[n++] = this ? other : wick_archive_load_at(archive, i, device);
    }
    CHECK_OK(wick_safetensors_save(path, n, names, tensors, metadata));
    wick_scope_end(NULL);
    wick_archive_close(archive);
}

static void check_damage(const struct wick_lm *lm, const char *const *metadata) {
    static const int32_t far[N] = {3, 9, 27, 17, 51, 25, -1, 33, 35, 41, 59}, beyond[N] = {VOCAB};
    struct wick_sequence *good = open_sequence(lm, WICK_F32, 0), *sequence = open_sequence(lm, WICK_F32, 0);
    wick_release(wick_sequence_append(good, N, ids));
    wick_release(wick_sequence_append(sequence, 2, ids));
    wick_scope_begin();
    const struct {
        const char *name;
        struct wick_tensor *other;
        const char *text;
    } damages[] = {
        {"ids", NULL, "'ids' is missing"},
        {"ids", wick_from_data(device, WICK_I32, WICK_SHAPE(N), far, sizeof far), "id -1 of token 6"},
        {"ids", wick_from_data(device, WICK_I32, WICK_SHAPE(N), beyond, sizeof beyond), "id 64 of token 0"},
        {"ids", wick_from_data(device, WICK_I32, WICK_SHAPE(N - 1), far, sizeof far - 4), "id -1"},
        {"ids", wick_from_data(device, WICK_I32, WICK_SHAPE(N - 1), ids, sizeof far - 4), "'layers.0.k'"},
        {"ids", wick_from_data(device, WICK_I32, WICK_SHAPE(1, N), ids, sizeof far), "not a list"},
        {"ids", wick_zeros(device, WICK_I32, WICK_SHAPE(0)), "not a list"},
        {"ids", wick_zeros(device, WICK_F32, WICK_SHAPE(N)), "'ids'"},
        {"layers.1.v", NULL, "'layers.1.v' is missing"},
        {"layers.1.v", wick_zeros(device, WICK_F32, WICK_SHAPE(N)), "'layers.1.v'"},
        {"layers.0.k", wick_zeros(device, WICK_F16, WICK_SHAPE(N)), "'layers.0.k'"},
        {"norm", wick_zeros(device, WICK_F32, WICK_SHAPE(7)), "'norm'"},
        {"norm", NULL, "'norm' is missing"},
    };
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        CHECK_OK(wick_sequence_save(good, path));
        rewrite(damages[i].name, damages[i].other, metadata);
        refuse(sequence, WICK_FORMAT, damages[i].text);
    }
    CHECK_OK(wick_sequence_save(good, path));
    rewrite(NULL, NULL, metadata);
    CHECK_OK(wick_sequence_load(sequence, path)); /* what rewrite writes is whole */
    rewrite(NULL, NULL, NULL);
    refuse(sequence, WICK_FORMAT, "not a file of a sequence");
    wick_scope_end(NULL);
    wick_sequence_close(good);
    wick_sequence_close(sequence);
}

static void check_others(const struct wick_lm *lm) {
    struct wick_lm *other = open_model("tests/model/mistral.gguf"), *qwen = open_model("tests/model/qwen3.gguf");
    struct wick_sequence *good = open_sequence(lm, WICK_F32, 0), *narrow = open_sequence(lm, WICK_F16, 0);
    struct wick_sequence *small = open_sequence(lm, WICK_F32, N - 1);
    struct wick_sequence *foreign[2] = {open_sequence(other, WICK_F32, 0), open_sequence(qwen, WICK_F32, 0)};
    wick_release(wick_sequence_append(good, N, ids));
    CHECK_OK(wick_sequence_save(good, path));
    refuse(narrow, WICK_FORMAT, "f16");
    refuse(small, WICK_RANGE, "11 tokens exceed the context of 10");
    for (int i = 0; i < 2; i++) {
        refuse(foreign[i], WICK_FORMAT, "another model");
        wick_sequence_close(foreign[i]);
    }
    FILE *file = fopen(path, "r+");
    CHECK(file && ftruncate(fileno(file), 200) == 0 && fclose(file) == 0);
    CHECK(wick_sequence_load(good, path) == WICK_FORMAT && wick_sequence_length(good) == N);
    wick_error_clear();
    wick_sequence_close(good);
    wick_sequence_close(narrow);
    wick_sequence_close(small);
    wick_lm_close(other);
    wick_lm_close(qwen);
}

/* Keys of a model with long angles depend on the context. */
static void check_long(void) {
    struct wick_lm *lm = open_model("tests/model/longrope.gguf");
    struct wick_sequence *near = open_sequence(lm, WICK_F32, N + 1), *far = open_sequence(lm, WICK_F32, 1000);
    wick_release(wick_sequence_append(near, N, ids));
    CHECK_OK(wick_sequence_save(near, path));
    CHECK_OK(wick_sequence_load(near, path));
    refuse(far, WICK_FORMAT, "where angles change");
    wick_sequence_close(near);
    wick_sequence_close(far);
    wick_lm_close(lm);
}

int main(int argc, char **argv) {
    char weight_bytes[32];
    struct wick_lm_info info;
    snprintf(path, sizeof path, "/tmp/wick-sequence-%ld.safetensors", (long)getpid());
    device = wick_device_open(argc > 1 ? argv[1] : "cpu");
    struct wick_lm *lm = open_model("tests/model/llama.gguf");
    CHECK_OK(wick_lm_describe(lm, &info));
    snprintf(weight_bytes, sizeof weight_bytes, "%lld", (long long)info.weight_bytes);
    const char *const metadata[] = {"wick.sequence", "1",    "family", "llama", "weight_bytes",
                                    weight_bytes,    "rope", "plain",  NULL};
    check_round_trip(lm, WICK_F32);
    check_round_trip(lm, WICK_F16);
    check_round_trip(lm, WICK_BF16);
    check_prompt(lm);
    check_damage(lm, metadata);
    check_others(lm);
    check_long();
    remove(path);
    wick_lm_close(lm);
    wick_device_close(device);
    return test_end();
}
