/* wick embed: a vector for each line of text. */
#include "cli/aside.h"
#include "cli/finite.h"
#include "cli/json.h"
#include "cli/options.h"
#include "cli/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct wishes {
    const char *model, *device, *output;
    int64_t batch; /* 0: by the device */
    bool fast, allow_nan;
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

/* The lines at once. A GPU needs more of them to be busy: 40,000 lines take an H200 2.6 s with 512 and 2.3 s with 1024,
 * in bf16 1.4 and 1.0 s. */
static int64_t batch_for(const struct wick_device *device) {
    struct wick_device_info info;
    if (wick_device_describe(device, &info) != WICK_OK) return 512;
    return strcmp(info.family, "cpu") == 0 ? 512 : 1024;
}

/* {"text": "...", "embedding": [...]}: nine digits give every f32 back. */
static void write_json(FILE *file, const struct lines *lines, int64_t first, int64_t n, int64_t dim,
                       const float *values) {
    for (int64_t i = 0; i < n; i++) {
        fputs("{\"text\": ", file);
        json_put_text(file, lines->starts[first + i], lines->nbytes[first + i]);
        fputs(", \"embedding\": [", file);
        for (int64_t j = 0; j < dim; j++) {
            if (j > 0) fputs(", ", file);
            json_put_number(file, (double)values[i * dim + j]);
        }
        fputs("]}\n", file);
    }
}

/* Reads a batch's vectors: they must be finite, unless that is not asked for; and writes them when `file` is given. */
static int take_batch(const struct wishes *wishes, const struct text_model *model, const struct lines *lines,
                      int64_t first, const struct wick_tensor *vectors, FILE *file) {
    int64_t n = wick_tensor_dim(vectors, 0), dim = wick_tensor_dim(vectors, 1), bad = 0;
    if (wishes->allow_nan && !file) return 0;
    size_t nbytes = (size_t)(n * dim) * sizeof(float);
    float *values = malloc(nbytes ? nbytes : 1);
    bool good = values && wick_read(vectors, values, nbytes) == WICK_OK;
    while (good && !wishes->allow_nan && bad < n && finite_all(values + bad * dim, dim)) bad++;
    int status = good ? 0 : command_fail("embed", "line %lld and what follows", (long long)first + 1);
    if (good && !wishes->allow_nan && bad < n) {
        char what[48];
        snprintf(what, sizeof what, "the vector of line %lld", (long long)(first + bad) + 1);
        status = text_not_finite("embed", model, what, lines->starts[first + bad], lines->nbytes[first + bad]);
    }
    if (status == 0 && file) write_json(file, lines, first, n, dim, values);
    free(values);
    return status;
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

/* Embeds all lines. JSON goes to `file` batch by batch; other kinds keep the batches. */
static int encode_all(const struct wishes *wishes, const struct text_model *model, const struct lines *lines,
                      struct wick_tensor **batches, FILE *file) {
    int64_t batch = wishes->batch ? wishes->batch : batch_for(model->device);
    int status = 0;
    for (int64_t first = 0, i = 0; first < lines->n && status == 0; first += batch, i++) {
        int64_t count = lines->n - first < batch ? lines->n - first : batch;
        text_progress("embedding", first, lines->n);
        batches[i] = wick_embedder_encode(model->embedder, count, lines->starts + first, lines->nbytes + first);
        if (!batches[i])
            status = command_fail("embed", "line %lld and what follows", (long long)first + 1);
        else
            status = take_batch(wishes, model, lines, first, batches[i], file);
        if (file) wick_release(batches[i]);
        if (file) batches[i] = NULL;
    }
    text_progress("embedding", lines->n, lines->n);
    return status;
}

static int embed(const struct wishes *wishes, enum kind kind, const struct text_model *model,
                 const struct lines *lines) {
    struct aside aside = {.file = NULL};
    struct wick_tensor **batches = calloc((size_t)lines->n + 1, sizeof *batches);
    bool json = kind == JSON_LINES, to_file = json && wishes->output;
    int status = batches ? 0 : command_fail("embed", "out of memory");
    const char *why = status == 0 && to_file ? aside_begin(&aside, wishes->output) : NULL;
    if (why) status = command_fail("embed", "%s: %s", wishes->output, why);
    if (status == 0) status = encode_all(wishes, model, lines, batches, to_file ? aside.file : json ? stdout : NULL);
    if (!aside_end(&aside, to_file && status == 0) && status == 0)
        status = command_fail("embed", "%s: %s", wishes->output, strerror(errno));
    int64_t n = 0;
    while (batches && n < lines->n && batches[n]) n++;
    if (status == 0 && !json &&
        !save(wishes->output, kind, n, batches, model->device, wick_embedder_dim(model->embedder)))
        status = command_fail("embed", "%s", wishes->output);
    for (int64_t i = 0; i < n; i++) wick_release(batches[i]);
    free(batches);
    return status;
}

/* A file that can't be read ends it before anything is written: a vector's place says which line it is of. */
static int read_and_embed(const struct wishes *wishes, enum kind kind) {
    char dash[] = "-", *standard_input[] = {dash};
    int n = wishes->n_files ? wishes->n_files : 1, status = 0;
    char **files = wishes->n_files ? wishes->files : standard_input;
    struct lines lines = {0};
    struct text_model model = {.device = NULL};
    struct text *texts = calloc((size_t)n, sizeof *texts);
    bool good = texts != NULL;
    for (int i = 0; i < n && good; i++) {
        if (text_read("embed", files[i], false, &texts[i]) != TEXT_READ) status = 1;
        good = split_lines(&texts[i], &lines);
    }
    if (!good) status = command_fail("embed", "out of memory");
    if (status == 0 && !text_model_open("embed", wishes->model, wishes->device, wishes->fast, &model)) status = 1;
    if (status == 0) status = embed(wishes, kind, &model, &lines);
    text_model_close(&model);
    for (int i = 0; texts && i < n; i++) free(texts[i].data);
    free(texts);
    free(lines.starts);
    free(lines.nbytes);
    return status;
}

int command_embed(int argc, char **argv) {
    struct wishes wishes = {.device = "auto", .files = argv};
    enum kind kind;
    const struct option list[] = {
        OPTIONS_TEXT("--output", "FILE", &wishes.output,
                     "writes NAME.jsonl, NAME.npy or NAME.safetensors instead of JSON lines to stdout"),
        OPTIONS_TEXT("--model", "DIR", &wishes.model,
                     "opens the embedder in this folder; by default $WICK_MODEL, or what tools/fetch-model fetched"),
        OPTIONS_TEXT("--device", "D", &wishes.device, "runs on cpu, cuda:0, rocm:0 ...; on the best one by default"),
        OPTIONS_NUMBER("--batch", "N", &wishes.batch, 1, 1 << 20,
                       "computes N lines at once; by default 512, on a GPU 1024"),
        OPTIONS_FLAG("--fast", &wishes.fast, "computes in bf16 where that is faster"),
        OPTIONS_FLAG("--allow-nan", &wishes.allow_nan, "writes values that are not finite, in JSON as null"),
        OPTIONS_END};
    const struct options options = {"embed", list, INT32_MAX};
    int status;
    if (!options_parse(&options, argc, argv, &wishes.n_files, &status)) return status;
    if (!find_kind(wishes.output, &kind))
        return command_usage("embed", "--output needs a name in .jsonl, .npy or .safetensors, not '%s'", wishes.output);
    return read_and_embed(&wishes, kind);
}
