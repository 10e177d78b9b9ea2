/* wick embed: a vector for each line of text. */
#include "cli/text.h"

#include <stdlib.h>
#include <string.h>

struct options {
    const char *model, *device, *output;
    int64_t batch;
    bool fast;
    int n_files;
    char **files;
};

/* Lines as they are read, and the vectors made of them. */
struct lines {
    int64_t n, capacity;
    const char **starts;
    size_t *nbytes;
};

enum kind { JSON_LINES, NPY, SAFETENSORS };

static bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static bool find_kind(const char *output, enum kind *kind) {
    *kind = JSON_LINES;
    if (!output || ends_with(output, ".jsonl")) return true;
    *kind = NPY;
    if (ends_with(output, ".npy")) return true;
    *kind = SAFETENSORS;
    return ends_with(output, ".safetensors");
}

static bool split_lines(const struct text *text, struct lines *lines) {
    for (size_t at = 0; at < text->nbytes;) {
        const char *start = text->data + at, *end = memchr(start, '\n', text->nbytes - at);
        size_t length = end ? (size_t)(end - start) : text->nbytes - at;
        if (lines->n == lines->capacity) {
            int64_t capacity = lines->capacity * 2 + 256;
            const char **starts = realloc(lines->starts, (size_t)capacity * sizeof *starts);
            if (starts) lines->starts = starts;
            size_t *nbytes = realloc(lines->nbytes, (size_t)capacity * sizeof *nbytes);
            if (nbytes) lines->nbytes = nbytes;
            if (!starts || !nbytes) return false;
            lines->capacity = capacity;
        }
        lines->starts[lines->n] = start;
        lines->nbytes[lines->n++] = length && start[length - 1] == '\r' ? length - 1 : length;
        at += length + 1;
    }
    return true;
}

/* {"text": "...", "embedding": [...]}: nine digits give every f32 back. */
static bool write_json(FILE *file, const struct lines *lines, int64_t first, const struct wick_tensor *vectors) {
    int64_t n = wick_tensor_dim(vectors, 0), dim = wick_tensor_dim(vectors, 1);
    size_t nbytes = (size_t)(n * dim) * sizeof(float);
    float *values = malloc(nbytes ? nbytes : 1);
    bool good = values && wick_read(vectors, values, nbytes) == WICK_OK;
    for (int64_t i = 0; i < n && good; i++) {
        fputs("{\"text\": ", file);
        text_put_json(file, lines->starts[first + i], lines->nbytes[first + i]);
        fputs(", \"embedding\": [", file);
        for (int64_t j = 0; j < dim; j++) fprintf(file, "%s%.9g", j ? ", " : "", (double)values[i * dim + j]);
        fputs("]}\n", file);
    }
    free(values);
    return good && !ferror(file);
}

static bool save(const char *output, enum kind kind, int64_t n, struct wick_tensor **batches,
                 struct wick_device *device, int64_t dim) {
    static const char *const name = "embeddings";
    wick_scope_begin();
    struct wick_tensor *all = n ? wick_cat((int)n, batches, 0) : wick_empty(device, WICK_F32, WICK_SHAPE(0, dim));
    bool good = all && (kind == NPY ? wick_npy_save(output, all)
                                    : wick_safetensors_save(output, 1, &name, (const struct wick_tensor *const *)&all,
                                                            NULL)) == WICK_OK;
    wick_scope_end(NULL);
    return good;
}

static int run(const struct options *options, enum kind kind, const struct text_model *model,
               const struct lines *lines) {
    FILE *file = stdout;
    int64_t n_batches = (lines->n + options->batch - 1) / options->batch, done = 0;
    struct wick_tensor **batches = calloc((size_t)n_batches + 1, sizeof(struct wick_tensor *));
    if (kind == JSON_LINES && options->output) file = fopen(options->output, "w");
    bool good = batches && file;
    if (!good) command_fail("embed", "%s can't be written", options->output ? options->output : "the output");
    for (int64_t i = 0; i < n_batches && good; i++) {
        int64_t first = i * options->batch,
                count = lines->n - first < options->batch ? lines->n - first : options->batch;
        text_progress("embedding", first, lines->n);
        batches[i] = wick_embedder_encode(model->embedder, count, lines->starts + first, lines->nbytes + first);
        good = batches[i] && (kind != JSON_LINES || write_json(file, lines, first, batches[i]));
        if (!good) command_fail("embed", "line %lld and what follows", (long long)first + 1);
        done = i + 1;
        if (kind != JSON_LINES) continue;
        wick_release(batches[i]);
        batches[i] = NULL;
    }
    text_progress("embedding", lines->n, lines->n);
    if (good && kind != JSON_LINES) {
        good = save(options->output, kind, n_batches, batches, model->device, wick_embedder_dim(model->embedder));
        if (!good) command_fail("embed", "%s", options->output);
    }
    for (int64_t i = 0; i < done; i++) wick_release(batches[i]);
    free(batches);
    if (file && (file != stdout ? fclose(file) : fflush(file)) != 0 && good) {
        good = false;
        command_fail("embed", "%s can't be written", options->output ? options->output : "the output");
    }
    return good ? 0 : 1;
}

static int read_and_run(const struct options *options, enum kind kind) {
    char dash[] = "-", *standard_input[] = {dash};
    int n = options->n_files ? options->n_files : 1, status = 0;
    char **files = options->n_files ? options->files : standard_input;
    struct lines lines = {0};
    struct text_model model = {.device = NULL};
    struct text *texts = calloc((size_t)n, sizeof *texts);
    bool good = texts != NULL;
    for (int i = 0; i < n && good; i++) {
        if (text_read("embed", files[i], false, &texts[i]) != TEXT_READ) status = 1;
        good = split_lines(&texts[i], &lines);
    }
    if (!good) status = command_fail("embed", "out of memory");
    good = good && text_model_open("embed", options->model, options->device, options->fast, &model);
    if (!good || run(options, kind, &model, &lines) != 0) status = 1;
    text_model_close(&model);
    for (int i = 0; texts && i < n; i++) free(texts[i].data);
    free(texts);
    free(lines.starts);
    free(lines.nbytes);
    return status;
}

int command_embed(int argc, char **argv) {
    struct options options = {.device = "auto", .batch = 512, .files = argv};
    enum kind kind;
    bool missing = false, only_files = false;
    const char *value;
    for (int i = 0; i < argc; i++) {
        int at = i; /* files move to the front of argv, over arguments that are done with */
        if (only_files || argv[i][0] != '-' || strcmp(argv[i], "-") == 0)
            options.files[options.n_files++] = argv[i];
        else if (strcmp(argv[i], "--") == 0)
            only_files = true;
        else if (strcmp(argv[i], "--fast") == 0)
            options.fast = true;
        else if ((value = text_option("--model", argc, argv, &i, &missing)))
            options.model = value;
        else if ((value = text_option("--device", argc, argv, &i, &missing)))
            options.device = value;
        else if ((value = text_option("--output", argc, argv, &i, &missing)))
            options.output = value;
        else if ((value = text_option("--batch", argc, argv, &i, &missing))) {
            if (!missing && !text_number(value, 1, 1 << 20, &options.batch))
                return command_usage("embed", "--batch takes a number from 1 to 1048576, not '%s'", value);
        } else
            return command_usage("embed", "there is no option '%s'", argv[i]);
        if (missing) return command_usage("embed", "%s needs a value", argv[at]);
    }
    if (!find_kind(options.output, &kind))
        return command_usage("embed", "--output takes a name in .jsonl, .npy or .safetensors, not '%s'",
                             options.output);
    return read_and_run(&options, kind);
}
