/* Hostile configurations of models: the first byte picks a file of a folder that holds a small BERT model, whose
 * weights fit its config.json, the others are the file. */
#include "tests/fuzz/fuzz.h"

#include <wick/wick.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/wick-fuzz-XXXXXX";

static void write_file(const char *name, const void *data, size_t nbytes) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, nbytes, file) != nbytes || fclose(file) != 0) abort();
}
static void write_text(const char *name, const char *text) { write_file(name, text, strlen(text)); }

static const char config[] =
    "{\"model_type\":\"bert\",\"hidden_size\":4,\"intermediate_size\":4,\"num_hidden_layers\":1,"
    "\"num_attention_heads\":2,\"max_position_embeddings\":8,\"vocab_size\":5,\"type_vocab_size\":2,"
    "\"hidden_act\":\"gelu\"}";
static const char modules[] =
    "[{\"type\":\"x.Transformer\",\"path\":\"\"},{\"type\":\"x.Pooling\",\"path\":\"1_Pooling\"}]";
static const char *const names[] = {"config.json",           "modules.json",          "sentence_bert_config.json",
                                    "1_Pooling/config.json", "tokenizer_config.json", "vocab.txt"};
static const char *const sound[] = {config, modules, "{}", "{}", "{}", "[PAD]\n[UNK]\n[CLS]\n[SEP]\na\n"};
enum { FILES = sizeof names / sizeof *names };

static void remove_folder(void) {
    char command[64];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0) abort();
}

/* Weights of one layer of 4 features, all zero. */
static void write_weights(struct wick_device *cpu) {
    static const struct {
        const char *name;
        int64_t rows, columns;
    } tensors[] = {{"embeddings.word_embeddings", 5, 4},
                   {"embeddings.position_embeddings", 8, 4},
                   {"embeddings.token_type_embeddings", 2, 4},
                   {"embeddings.LayerNorm", 4, 0},
                   {"encoder.layer.0.attention.self.query", 4, 4},
                   {"encoder.layer.0.attention.self.key", 4, 4},
                   {"encoder.layer.0.attention.self.value", 4, 4},
                   {"encoder.layer.0.attention.output.dense", 4, 4},
                   {"encoder.layer.0.attention.output.LayerNorm", 4, 0},
                   {"encoder.layer.0.intermediate.dense", 4, 4},
                   {"encoder.layer.0.output.dense", 4, 4},
                   {"encoder.layer.0.output.LayerNorm", 4, 0}};
    enum { COUNT = sizeof tensors / sizeof *tensors };
    static const float zeros[32];
    static char text[2 * COUNT][80];
    const char *name[2 * COUNT];
    struct wick_tensor *x[2 * COUNT];
    char path[256];
    wick_scope_begin();
    for (int i = 0; i < COUNT; i++) {
        int64_t shape[] = {tensors[i].rows, tensors[i].columns};
        snprintf(text[2 * i], sizeof text[0], "%s.weight", tensors[i].name);
        snprintf(text[2 * i + 1], sizeof text[0], "%s.bias", tensors[i].name);
        size_t row = (size_t)shape[0] * sizeof *zeros, all = row * (size_t)(shape[1] ? shape[1] : 1);
        x[2 * i] = wick_from_data(cpu, WICK_F32, shape[1] ? 2 : 1, shape, zeros, all);
        x[2 * i + 1] = wick_from_data(cpu, WICK_F32, 1, shape, zeros, row);
        name[2 * i] = text[2 * i];
        name[2 * i + 1] = text[2 * i + 1];
    }
    snprintf(path, sizeof path, "%s/model.safetensors", folder);
    if (wick_safetensors_save(path, 2 * COUNT, name, (const struct wick_tensor *const *)x, NULL) != WICK_OK) abort();
    wick_scope_end(NULL);
}

static void prepare(struct wick_device *cpu) {
    char path[256];
    if (!mkdtemp(folder)) abort();
    atexit(remove_folder);
    snprintf(path, sizeof path, "%s/1_Pooling", folder);
    if (mkdir(path, 0700) != 0) abort();
    write_weights(cpu);
    for (int i = 0; i < FILES; i++) write_text(names[i], sound[i]);
    struct wick_embedder *embedder = wick_embedder_open(folder, cpu);
    if (!embedder) abort(); /* without hostile files it opens */
    wick_embedder_close(embedder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes) {
    static struct wick_device *cpu;
    static const char *const texts[] = {"a"};
    if (!cpu) {
        fuzz_limit_memory();
        cpu = wick_device_open("cpu");
        if (!cpu || wick_threads_set(1) != WICK_OK) abort();
        prepare(cpu);
    }
    if (nbytes == 0) return 0;
    int i = data[0] % FILES;
    write_file(names[i], data + 1, nbytes - 1);
    wick_error_clear();
    struct wick_embedder *embedder = wick_embedder_open(folder, cpu);
    if (!embedder && !*wick_error()) abort();
    if (embedder) {
        struct wick_tensor *vectors = wick_embedder_encode(embedder, 1, texts, NULL);
        if (!vectors && !*wick_error()) abort();
        wick_release(vectors);
    }
    wick_embedder_close(embedder);
    wick_error_clear();
    (void)wick_resnet_open(folder, cpu); /* reads the same config.json, and is refused for its weights */
    if (!*wick_error()) abort();
    write_text(names[i], sound[i]);
    return 0;
}
