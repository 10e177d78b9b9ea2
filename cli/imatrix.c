/* wick imatrix: what the columns of each weight are multiplied by, on a text: sums of squares, for wick quantize
 * --imatrix. The file has the GGUF form that llama.cpp's imatrix writes. */
#include "cli/lm.h"
#include "cli/options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 512, NAME = 128 };

struct wishes {
    const char *model, *text, *out;
    int64_t window, windows;
    struct lm_wishes lm;
};

/* The sums of a weight: of each of its matrices [matrices, columns], and of how many rows. */
struct sums {
    char name[NAME];
    int64_t matrices, columns;
    double *squares, *counts;
};

struct run {
    const struct wishes *wishes;
    struct wick_ids ids;
    int64_t window, windows;
    struct sums *sums;
    int64_t n;
    bool failed; /* for want of memory, or in reading a tensor */
};

/* ---- collecting ---- */

/* The sums of a product's weight, new ones the first time; NULL without memory. */
static struct sums *find(struct run *run, const struct wick_lm_product *product, int64_t columns) {
    for (int64_t i = 0; i < run->n; i++)
        if (strcmp(run->sums[i].name, product->name) == 0) return &run->sums[i];
    struct sums *more = realloc(run->sums, (size_t)(run->n + 1) * sizeof *more);
    if (!more) return NULL;
    run->sums = more;
    struct sums *sums = &more[run->n];
    *sums = (struct sums){.matrices = product->experts ? product->experts : 1, .columns = columns};
    snprintf(sums->name, sizeof sums->name, "%s", product->name);
    sums->squares = calloc((size_t)(sums->matrices * columns), sizeof(double));
    sums->counts = calloc((size_t)sums->matrices, sizeof(double));
    run->n++;
    return sums->squares && sums->counts ? sums : NULL;
}

/* Adds rows x [n, columns]. Row r goes to matrix ids[r]; where one row of x goes to several, `share` ids in turn. */
static void add(struct sums *sums, int64_t n, const float *x, const int64_t *ids, int64_t share) {
    for (int64_t r = 0; r < n * share; r++) {
        int64_t matrix = ids ? ids[r] : 0;
        const float *row = x + r / share * sums->columns;
        double *squares = sums->squares + matrix * sums->columns;
        for (int64_t i = 0; i < sums->columns; i++) squares[i] += (double)row[i] * (double)row[i];
        sums->counts[matrix]++;
    }
}

static bool collect(struct run *run, const struct wick_lm_product *product) {
    int64_t columns = wick_tensor_dim(product->x, -1), count = wick_tensor_count(product->x);
    int64_t n_ids = product->ids ? wick_tensor_count(product->ids) : 0, n = count / columns;
    struct sums *sums = find(run, product, columns);
    float *x = malloc((size_t)count * sizeof *x);
    int64_t *ids = product->ids ? malloc((size_t)n_ids * sizeof *ids) : NULL;
    bool good = sums && x && (ids || !product->ids);
    good = good && wick_read(wick_cast(product->x, WICK_F32), x, (size_t)count * sizeof *x) == WICK_OK;
    if (good && ids) good = wick_read(wick_cast(product->ids, WICK_I64), ids, (size_t)n_ids * sizeof *ids) == WICK_OK;
    if (good) add(sums, n, x, ids, ids ? n_ids / n : 1);
    free(ids);
    free(x);
    return good;
}

static void on_product(void *context, const struct wick_lm_product *product) {
    struct run *run = context;
    if (run->failed) return;
    wick_scope_begin();
    run->failed = !collect(run, product);
    wick_scope_end(NULL);
}

static bool read_window(struct run *run, struct wick_sequence *sequence, int64_t number, int32_t begin) {
    int32_t *ids = run->ids.ids + number * run->window;
    if (begin >= 0) ids[0] = begin;
    struct wick_tensor *logits = NULL;
    if (wick_sequence_truncate(sequence, 0) == WICK_OK) logits = wick_sequence_append(sequence, run->window, ids);
    wick_release(logits);
    if (!logits) command_fail("imatrix", "%s", run->wishes->model);
    if (logits && run->failed) command_fail("imatrix", "out of memory");
    return logits && !run->failed;
}

static int read_text(struct run *run, const struct wick_lm *lm, const struct lm_place *place, const struct text *text) {
    const struct wishes *wishes = run->wishes;
    int32_t begin;
    if (!lm_encode("imatrix", lm, text, false, &run->ids) || !lm_begin_id("imatrix", lm, &begin)) return 1;
    run->windows = run->ids.n / run->window;
    if (run->windows == 0)
        return command_fail("imatrix", "%s has %" PRId64 " tokens, which is less than a window of %" PRId64,
                            wishes->text, run->ids.n, run->window);
    if (wishes->windows && wishes->windows < run->windows) run->windows = wishes->windows;
    const struct wick_sequence_options options = {.context = run->window, .cache = place->cache};
    struct wick_sequence *sequence = wick_sequence_open(lm, &options);
    int status = sequence ? 0 : command_fail("imatrix", "%s", wishes->model);
    for (int64_t i = 0; i < run->windows && status == 0; i++) {
        text_progress("read", i, run->windows);
        if (!read_window(run, sequence, i, begin)) status = 1;
    }
    if (status == 0) text_progress("read", run->windows, run->windows);
    wick_sequence_close(sequence);
    return status;
}

/* ---- writing ---- */

static void put(char **at, const void *data, size_t nbytes) {
    memcpy(*at, data, nbytes);
    *at += nbytes;
}

static void put_text(char **at, const char *text) {
    uint64_t length = strlen(text);
    put(at, &length, sizeof length);
    put(at, text, (size_t)length);
}

/* A GGUF file of nothing but imatrix.datasets, a list of one text. The caller frees *bytes. */
static struct wick_archive *datasets(const char *text, char **bytes) {
    static const uint32_t version = 3, array = 9, string = 8;
    static const uint64_t none = 0, one = 1;
    char *at = *bytes = malloc(128 + strlen(text));
    if (!at) return NULL;
    put(&at, "GGUF", 4);
    put(&at, &version, sizeof version);
    put(&at, &none, sizeof none);
    put(&at, &one, sizeof one);
    put_text(&at, "imatrix.datasets");
    put(&at, &array, sizeof array);
    put(&at, &string, sizeof string);
    put(&at, &one, sizeof one);
    put_text(&at, text);
    return wick_archive_open_memory(*bytes, (size_t)(at - *bytes), NULL);
}

/* Sums and counts as f32 tensors; NULL on failure. */
static struct wick_tensor *tensor_of(struct wick_device *device, const double *numbers, int64_t rows, int64_t columns) {
    struct wick_tensor *wide = wick_from_data(device, WICK_F64, WICK_SHAPE(rows, columns), numbers,
                                              (size_t)(rows * columns) * sizeof *numbers);
    return wide ? wick_cast(wide, WICK_F32) : NULL;
}

static enum wick_status write_file(const struct run *run, const char *const *metadata, struct wick_archive *like) {
    size_t n = 2 * (size_t)run->n;
    char(*names)[NAME + 16] = calloc(n, sizeof *names);
    const char **name = calloc(n, sizeof *name);
    struct wick_tensor **tensors = calloc(n, sizeof *tensors);
    struct wick_device *device = wick_device_open("cpu");
    enum wick_status status = WICK_MEMORY;
    bool good = names && name && tensors && device;
    wick_scope_begin();
    for (size_t i = 0; i < n && good; i++) {
        const struct sums *sums = &run->sums[i / 2];
        snprintf(names[i], sizeof names[i], "%s.%s", sums->name, i % 2 ? "counts" : "in_sum2");
        name[i] = names[i];
        tensors[i] = i % 2 ? tensor_of(device, sums->counts, sums->matrices, 1)
                           : tensor_of(device, sums->squares, sums->matrices, sums->columns);
        good = tensors[i] != NULL;
    }
    if (good)
        status = wick_gguf_save(run->wishes->out, (int64_t)n, name, (const struct wick_tensor *const *)tensors, like,
                                metadata);
    wick_scope_end(NULL);
    wick_device_close(device);
    free(tensors);
    free(name);
    free(names);
    return status;
}

static int save(const struct run *run) {
    char windows[24], window[24], *bytes = NULL;
    snprintf(windows, sizeof windows, "%" PRId64, run->windows);
    snprintf(window, sizeof window, "%" PRId64, run->window);
    const char *const metadata[] = {
        "general.type", "string", "imatrix", "imatrix.chunk_count", "u32", windows, "imatrix.chunk_size",
        "u32",          window,   NULL};
    struct wick_archive *like = datasets(run->wishes->text, &bytes);
    enum wick_status status = like ? write_file(run, metadata, like) : WICK_MEMORY;
    wick_archive_close(like);
    free(bytes);
    if (status != WICK_OK) return command_fail("imatrix", "%s", run->wishes->out);
    printf("%" PRId64 " weights, %" PRId64 " windows of %" PRId64 " tokens\n", run->n, run->windows, run->window);
    return 0;
}

/* ---- the command ---- */

static int imatrix(const struct wishes *wishes) {
    struct run run = {.wishes = wishes, .window = wishes->window ? wishes->window : WINDOW};
    struct lm_place place;
    struct text text = {NULL, 0};
    const struct lm_need need = {.context = run.window, .on_product = on_product, .product_context = &run};
    int status = lm_place_open("imatrix", &wishes->lm, &place);
    if (status != 0) return status;
    if (text_read("imatrix", wishes->text, false, &text) != TEXT_READ) status = 1;
    struct wick_lm *lm = status == 0 ? lm_open("imatrix", wishes->model, &wishes->lm, &place, &need) : NULL;
    status = lm ? read_text(&run, lm, &place, &text) : 1;
    if (status == 0) status = save(&run);
    for (int64_t i = 0; i < run.n; i++) {
        free(run.sums[i].squares);
        free(run.sums[i].counts);
    }
    free(run.sums);
    free(run.ids.ids);
    free(text.data);
    wick_lm_close(lm);
    wick_device_close(place.device);
    return status;
}

int command_imatrix(int argc, char **argv) {
    struct wishes wishes = {.out = "imatrix.gguf", .lm = {.device = "auto", .cache = "f32"}};
    int n = 0, status;
    const struct option list[] = {
        OPTIONS_TEXT("-o", "FILE", &wishes.out, "the file to write, imatrix.gguf"),
        OPTIONS_NUMBER("-c", "N", &wishes.window, 1, 1 << 24, "tokens of a window, 512"),
        OPTIONS_NUMBER("--chunks", "N", &wishes.windows, 1, INT32_MAX, "reads N windows at most; all by default"),
        LM_DEVICE(wishes.lm),
        LM_OPTIONS(wishes.lm),
        OPTIONS_END};
    const struct options options = {"imatrix", list, 2};
    if (!options_parse(&options, argc, argv, &n, &status)) return status;
    if (n < 2) return command_usage("imatrix", "needs a model and a text");
    wishes.model = argv[0];
    wishes.text = argv[1];
    return imatrix(&wishes);
}
