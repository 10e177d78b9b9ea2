/* Small models with weights of a formula, made on the spot: how folders are laid out, what pooling and normalization
 * do, and what damaged folders give. */
#include "tests/test.h"

#include <unistd.h>

enum { HIDDEN = 8, WIDE = 16, VOCAB = 52, PLACES = 12 };

static char folder[] = "/tmp/wick-model-XXXXXX";

static const char *path_of(const char *name) {
    static char path[2][256];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static void write_file(const char *name, const char *text) {
    FILE *file = fopen(path_of(name), "wb");
    CHECK(file);
    if (!file) return;
    fputs(text, file);
    fclose(file);
}

static void copy_file(const char *from, const char *name) {
    char text[4096];
    FILE *file = fopen(from, "rb");
    size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file) fclose(file);
    CHECK(n > 0);
    text[n] = '\0';
    write_file(name, text);
}

/* Writes weights of one layer; the tensor named `wrong` gets a row too many, `prefix` goes before each name. */
static void write_weights(struct wick_device *device, const char *prefix, const char *wrong) {
    static const struct {
        const char *name;
        int64_t rows, columns;
    } tensors[] = {{"embeddings.word_embeddings.weight", VOCAB, HIDDEN},
                   {"embeddings.position_embeddings.weight", PLACES, HIDDEN},
                   {"embeddings.token_type_embeddings.weight", 2, HIDDEN},
                   {"embeddings.LayerNorm.gamma", HIDDEN, 0},
                   {"embeddings.LayerNorm.beta", HIDDEN, 0},
                   {"encoder.layer.0.attention.self.query.weight", HIDDEN, HIDDEN},
                   {"encoder.layer.0.attention.self.query.bias", HIDDEN, 0},
                   {"encoder.layer.0.attention.self.key.weight", HIDDEN, HIDDEN},
                   {"encoder.layer.0.attention.self.key.bias", HIDDEN, 0},
                   {"encoder.layer.0.attention.self.value.weight", HIDDEN, HIDDEN},
                   {"encoder.layer.0.attention.self.value.bias", HIDDEN, 0},
                   {"encoder.layer.0.attention.output.dense.weight", HIDDEN, HIDDEN},
                   {"encoder.layer.0.attention.output.dense.bias", HIDDEN, 0},
                   {"encoder.layer.0.attention.output.LayerNorm.weight", HIDDEN, 0},
                   {"encoder.layer.0.attention.output.LayerNorm.bias", HIDDEN, 0},
                   {"encoder.layer.0.intermediate.dense.weight", WIDE, HIDDEN},
                   {"encoder.layer.0.intermediate.dense.bias", WIDE, 0},
                   {"encoder.layer.0.output.dense.weight", HIDDEN, WIDE},
                   {"encoder.layer.0.output.dense.bias", HIDDEN, 0},
                   {"encoder.layer.0.output.LayerNorm.weight", HIDDEN, 0},
                   {"encoder.layer.0.output.LayerNorm.bias", HIDDEN, 0}};
    enum { COUNT = sizeof tensors / sizeof *tensors };
    struct wick_tensor *x[COUNT];
    const char *names[COUNT];
    static char full[COUNT][96];
    wick_scope_begin();
    for (int i = 0; i < COUNT; i++) {
        int64_t rows = tensors[i].rows + (wrong && strcmp(wrong, tensors[i].name) == 0);
        int64_t shape[] = {rows, tensors[i].columns};
        double count = (double)(rows * (tensors[i].columns ? tensors[i].columns : 1));
        struct wick_tensor *wave =
            wick_sin(wick_arange(device, WICK_F32, WICK_INT(i), WICK_INT(i + count), WICK_INT(1)));
        x[i] = wick_reshape(wave, tensors[i].columns ? 2 : 1, shape);
        snprintf(full[i], sizeof full[i], "%s%s", prefix, tensors[i].name);
        names[i] = full[i];
    }
    CHECK_OK(
        wick_safetensors_save(path_of("model.safetensors"), COUNT, names, (const struct wick_tensor *const *)x, NULL));
    wick_scope_end(NULL);
}

#define CONFIG(type, heads, act)                                                                                       \
    "{\"model_type\":\"" type "\",\"hidden_size\":8,\"intermediate_size\":16,\"num_hidden_layers\":1,"                 \
    "\"num_attention_heads\":" heads ",\"max_position_embeddings\":12,\"vocab_size\":52,\"type_vocab_size\":2,"        \
    "\"hidden_act\":\"" act "\"}"

static void prepare(struct wick_device *device) {
    copy_file("tests/text/tiny-vocab/vocab.txt", "vocab.txt");
    copy_file("tests/text/tiny-vocab/tokenizer_config.json", "tokenizer_config.json");
    write_file("config.json", CONFIG("bert", "2", "gelu"));
    write_weights(device, "", NULL);
}

static void encode(struct wick_device *device, float *values, int64_t dim) {
    const char *texts[] = {"hello world", "hello"};
    struct wick_embedder *embedder = wick_embedder_open(folder, device);
    CHECK(embedder);
    CHECK_INT(wick_embedder_dim(embedder), dim);
    struct wick_tensor *vectors = wick_embedder_encode(embedder, 2, texts, NULL);
    CHECK(vectors);
    if (vectors) CHECK_OK(wick_read(vectors, values, (size_t)(2 * dim) * sizeof *values));
    wick_release(vectors);
    wick_embedder_close(embedder);
}

static void check_layouts(struct wick_device *device) {
    float plain[2 * HIDDEN], prefixed[2 * HIDDEN], pooled[2 * 4 * HIDDEN];
    encode(device, plain, HIDDEN);
    write_weights(device, "bert.", NULL);
    encode(device, prefixed, HIDDEN);
    CHECK_BYTES(prefixed, plain, sizeof plain);
    char pooling[256];
    snprintf(pooling, sizeof pooling, "%s", path_of("1_Pooling"));
    char command[300];
    snprintf(command, sizeof command, "mkdir -p '%s'", pooling);
    CHECK(system(command) == 0);
    write_file("1_Pooling/config.json", "{\"pooling_mode\":[\"cls\",\"max\",\"mean\",\"mean_sqrt_len_tokens\"]}");
    write_file("modules.json",
               "[{\"type\":\"x.Transformer\",\"path\":\"\"},{\"type\":\"x.Pooling\",\"path\":\"1_Pooling\"}]");
    encode(device, pooled, 4 * HIDDEN);
    for (int i = 0; i < HIDDEN; i++) { /* "hello world" has 4 tokens, so sums over sqrt(4) are twice the means */
        CHECK_NEAR(pooled[2 * HIDDEN + i], plain[i], 1e-6);
        CHECK_NEAR(pooled[3 * HIDDEN + i], 2 * plain[i], 1e-5);
        CHECK(pooled[HIDDEN + i] >= plain[i] - 1e-6F);
    }
    write_file("modules.json",
               "[{\"type\":\"x.Transformer\",\"path\":\"\"},{\"type\":\"x.Pooling\",\"path\":\"1_Pooling\"},"
               "{\"type\":\"x.Normalize\",\"path\":\"\"}]");
    write_file("1_Pooling/config.json", "{\"pooling_mode_mean_tokens\":true}");
    encode(device, pooled, HIDDEN);
    double length = 0;
    for (int i = 0; i < HIDDEN; i++) length += (double)pooled[i] * (double)pooled[i];
    CHECK_NEAR(length, 1, 1e-6);
}

/* With `copy` an embedder does not need its files any more: they are cut short under it, which is SIGBUS for a mapping.
 */
static void check_copy(struct wick_device *device) {
    struct wick_embedder_options options = {.files = {.copy = true}};
    float before[2 * HIDDEN], after[2 * HIDDEN];
    const char *texts[] = {"hello world", "hello"};
    unlink(path_of("modules.json"));
    write_weights(device, "", NULL);
    encode(device, before, HIDDEN);
    struct wick_embedder *embedder = wick_embedder_open_with(folder, device, &options);
    CHECK(embedder && truncate(path_of("model.safetensors"), 0) == 0);
    struct wick_tensor *vectors = wick_embedder_encode(embedder, 2, texts, NULL);
    CHECK(vectors);
    if (vectors) CHECK_OK(wick_read(vectors, after, sizeof after));
    CHECK_BYTES(after, before, sizeof after);
    wick_release(vectors);
    wick_embedder_close(embedder);
    write_weights(device, "", NULL);
    options = (struct wick_embedder_options){.files = {.limits = {.tensors = 3}}};
    char text[300];
    snprintf(text, sizeof text, "archive_open: %s/model.safetensors: it has more than 3 tensors, the limit", folder);
    CHECK_FAILS(wick_embedder_open_with(folder, device, &options) == NULL, WICK_RANGE, text);
}

static void check_fails(struct wick_device *device, enum wick_status status, const char *text) {
    CHECK_FAILS(wick_embedder_open(folder, device) == NULL, status, text);
}

static void check_errors(struct wick_device *device) {
    char text[512];
    CHECK_FAILS(wick_embedder_open(NULL, device) == NULL, WICK_INVALID, "embedder_open: folder is NULL");
    CHECK_FAILS(wick_embedder_open(folder, NULL) == NULL, WICK_INVALID, "embedder_open: device is NULL");
    write_file("modules.json",
               "[{\"type\":\"x.Transformer\",\"path\":\"\"},{\"type\":\"x.Dense\",\"path\":\"2_Dense\"}]");
    check_fails(device, WICK_UNSUPPORTED, "modules.json: module 1 is 'x.Dense', which is not known there");
    write_file("modules.json",
               "[{\"type\":\"x.Transformer\",\"path\":\"\"},{\"type\":\"x.Pooling\",\"path\":\"../x\"}]");
    check_fails(device, WICK_FORMAT, "modules.json: '../x' is not a folder's name");
    write_file("modules.json", "{}");
    snprintf(text, sizeof text, "%s/modules.json: is not a list of modules", folder);
    check_fails(device, WICK_FORMAT, text);
    unlink(path_of("modules.json"));
    write_weights(device, "", "encoder.layer.0.output.dense.bias");
    check_fails(device, WICK_FORMAT,
                "tensor 'encoder.layer.0.output.dense.bias' is not of the shape [8] that config.json makes it");
    write_weights(device, "", "encoder.layer.0.output.dense.weight");
    check_fails(device, WICK_FORMAT,
                "tensor 'encoder.layer.0.output.dense.weight' is not of the shape [8,16] that config.json makes it");
    write_weights(device, "other.", NULL);
    check_fails(device, WICK_FORMAT, "the weights hold no tensor 'embeddings.word_embeddings.weight'");
    write_file("config.json", CONFIG("gpt2", "2", "gelu"));
    check_fails(device, WICK_UNSUPPORTED, "config.json: model_type 'gpt2': only bert is known");
    write_file("config.json", CONFIG("bert", "3", "gelu"));
    check_fails(device, WICK_FORMAT, "config.json: hidden_size 8 is not a multiple of num_attention_heads 3");
    write_file("config.json", CONFIG("bert", "2", "quick"));
    check_fails(device, WICK_UNSUPPORTED, "config.json: hidden_act 'quick' is not known");
    write_file("config.json", "{\"model_type\":\"bert\"}");
    check_fails(device, WICK_FORMAT, "config.json: 'hidden_size' is missing");
    unlink(path_of("config.json"));
    snprintf(text, sizeof text, "%s/config.json: can't be opened: No such file or directory", folder);
    check_fails(device, WICK_IO, text);
}

int main(void) {
    char command[300];
    CHECK(mkdtemp(folder));
    struct wick_device *device = wick_device_open("cpu");
    prepare(device);
    check_layouts(device);
    check_copy(device);
    check_errors(device);
    CHECK_OK(wick_memory_trim(device));
    wick_device_close(device);
    CHECK_INT(wick_host_memory_used(), 0);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    CHECK(system(command) == 0);
    return test_end();
}
