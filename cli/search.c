/* wick search: the passages of some files that come closest to a question. */
#include "cli/finite.h"
#include "cli/index_folder.h"
#include "cli/json.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/search_index.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct wishes {
    const char *model, *device, *query;
    int64_t top, words;
    bool json, no_index, exact, allow_nan;
    int n_files;
    char **files;
};

struct source {
    const char *path;
    struct text text;
    struct passages passages;
    float *vectors; /* [passages.n, dim] */
    struct index_key key;
    bool has_key, indexed;
};

struct hit {
    double score;
    int source;
    int64_t passage;
};

/* ---- reading and embedding ---- */

static enum text_result read_source(struct source *source, const struct wishes *wishes, uint64_t identity,
                                    int64_t dim) {
    enum text_result result = text_read("search", source->path, true, &source->text);
    if (result != TEXT_READ) return result;
    source->has_key =
        !wishes->no_index && index_key_make(source->path, &source->text, identity, wishes->words, &source->key);
    source->indexed =
        source->has_key && index_load(&source->key, dim, source->text.nbytes, &source->passages, &source->vectors);
    if (source->indexed) return TEXT_READ;
    bool good = passages_split(source->text.data, source->text.nbytes, wishes->words, &source->passages);
    if (good) source->vectors = calloc((size_t)(source->passages.n * dim) + 1, sizeof(float));
    if (good && source->vectors) return TEXT_READ;
    free(source->passages.items);
    source->passages = (struct passages){.n = 0};
    source->has_key = false;
    command_fail("search", "%s: out of memory", source->path);
    return TEXT_FAILED;
}

static const char *name_of(const struct source *source) {
    return strcmp(source->path, "-") == 0 ? "(standard input)" : source->path;
}

static int report_fault(const struct text_model *model, const struct source *source, int64_t passage) {
    char what[512];
    snprintf(what, sizeof what, "the vector of %.400s:%lld", name_of(source),
             (long long)source->passages.items[passage].line);
    const struct passage *of = &source->passages.items[passage];
    return text_not_finite("search", model, what, source->text.data + of->start, of->nbytes);
}

enum { CHUNK = 128 };

/* Puts the vectors of `count` hits where they belong. A value that is not finite is a failure, unless it is allowed.
 * The exit status. */
static int take_vectors(const struct wishes *wishes, const struct text_model *model, struct source *sources,
                        const struct hit *hits, const float *values, int64_t count) {
    const int64_t dim = wick_embedder_dim(model->embedder);
    for (int64_t i = 0; i < count; i++) {
        struct source *source = &sources[hits[i].source];
        memcpy(source->vectors + hits[i].passage * dim, values + i * dim, (size_t)dim * sizeof *values);
        bool finite = finite_all(values + i * dim, dim);
        if (!finite && !wishes->allow_nan) return report_fault(model, source, hits[i].passage);
        if (!finite) source->has_key = false;
    }
    return 0;
}

/* Embeds the passages that `hits` names, by length. The exit status. */
static int embed_hits(const struct wishes *wishes, const struct text_model *model, struct source *sources,
                      const struct hit *hits, int64_t n) {
    const char *texts[CHUNK];
    size_t nbytes[CHUNK];
    const size_t dim = (size_t)wick_embedder_dim(model->embedder);
    float *values = malloc(CHUNK * dim * sizeof *values);
    int status = values ? 0 : command_fail("search", "out of memory");
    for (int64_t first = 0; first < n && status == 0; first += CHUNK) {
        int64_t count = n - first < CHUNK ? n - first : CHUNK;
        text_progress("reading", first, n);
        for (int64_t i = 0; i < count; i++) {
            const struct source *source = &sources[hits[first + i].source];
            const struct passage *passage = &source->passages.items[hits[first + i].passage];
            texts[i] = source->text.data + passage->start;
            nbytes[i] = passage->nbytes;
        }
        struct wick_tensor *vectors = wick_embedder_encode(model->embedder, count, texts, nbytes);
        if (!vectors || wick_read(vectors, values, (size_t)count * dim * sizeof *values) != WICK_OK)
            status = command_fail("search", "the texts can't be embedded");
        if (status == 0) status = take_vectors(wishes, model, sources, hits + first, values, count);
        wick_release(vectors);
    }
    text_progress("reading", n, n);
    free(values);
    return status;
}

/* For the order of work the score of a hit is the length of its passage, negative: short ones come first. NaN comes
 * last. */
static int best_first(const void *a, const void *b) {
    const struct hit *left = a, *right = b;
    if (isnan(left->score) != isnan(right->score)) return isnan(left->score) ? 1 : -1;
    if (!isnan(left->score) && left->score != right->score) return left->score > right->score ? -1 : 1;
    if (left->source != right->source) return left->source < right->source ? -1 : 1;
    return (left->passage > right->passage) - (left->passage < right->passage);
}

static int embed_sources(const struct wishes *wishes, const struct text_model *model, struct source *sources,
                         struct hit *hits) {
    const int n_sources = wishes->n_files;
    int64_t n = 0;
    for (int i = 0; i < n_sources; i++) {
        for (int64_t j = 0; j < sources[i].passages.n && !sources[i].indexed; j++)
            hits[n++] = (struct hit){-(double)sources[i].passages.items[j].nbytes, i, j};
    }
    qsort(hits, (size_t)n, sizeof *hits, best_first);
    int status = embed_hits(wishes, model, sources, hits, n);
    if (status != 0) return status;
    const char *saved = NULL;
    for (int i = 0; i < n_sources; i++) {
        if (!sources[i].has_key || sources[i].indexed) continue;
        saved = sources[i].key.file;
        index_save(&sources[i].key, wick_embedder_dim(model->embedder), &sources[i].passages, sources[i].vectors);
    }
    if (saved) index_sweep(saved);
    return 0;
}

/* ---- ranking ---- */

/* The cosine of the angle between two vectors; 0 when one of them is 0. */
static double cosine(const float *a, const float *b, int64_t dim) {
    double ab = 0, aa = 0, bb = 0;
    for (int64_t i = 0; i < dim; i++) {
        ab += (double)a[i] * (double)b[i];
        aa += (double)a[i] * (double)a[i];
        bb += (double)b[i] * (double)b[i];
    }
    return aa == 0 || bb == 0 ? 0 : ab / (sqrt(aa) * sqrt(bb));
}

static int rank(const struct wishes *wishes, const struct text_model *model, const struct source *sources,
                struct hit *hits) {
    const char *query = wishes->query;
    const int64_t dim = wick_embedder_dim(model->embedder);
    float *wanted = malloc((size_t)dim * sizeof *wanted);
    struct wick_tensor *vector = wick_embedder_encode(model->embedder, 1, &query, NULL);
    int64_t n = 0;
    int status = 0;
    if (!wanted || !vector || wick_read(vector, wanted, (size_t)dim * sizeof *wanted) != WICK_OK)
        status = command_fail("search", "the question can't be embedded");
    else if (!wishes->allow_nan && !finite_all(wanted, dim))
        status = text_not_finite("search", model, "the vector of the question", query, strlen(query));
    for (int i = 0; i < wishes->n_files && status == 0; i++) {
        for (int64_t j = 0; j < sources[i].passages.n && status == 0; j++) {
            double score = cosine(wanted, sources[i].vectors + j * dim, dim);
            if (!isfinite(score) && !wishes->allow_nan) status = report_fault(model, &sources[i], j);
            hits[n++] = (struct hit){score, i, j};
        }
    }
    qsort(hits, (size_t)n, sizeof *hits, best_first);
    wick_release(vector);
    free(wanted);
    return status;
}

/* ---- showing ---- */

static bool is_white(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* The text with white space folded, indented, wrapped at 100 columns, and cut after five lines. */
static void print_passage(const char *text, size_t nbytes) {
    enum { INDENT = 4, WIDTH = 100, LINES = 5 };
    int column = 0, line = 1;
    for (size_t at = 0; at < nbytes;) {
        while (at < nbytes && is_white(text[at])) at++;
        size_t end = at;
        int width = 0;
        while (end < nbytes && !is_white(text[end])) {
            struct output_shown shown = output_show(text + end, nbytes - end);
            width += shown.columns;
            end += shown.nbytes;
        }
        if (end == at) break;
        if (column > 0 && column + 1 + width > WIDTH) {
            if (line++ == LINES) {
                fputs(" ...", stdout);
                break;
            }
            putchar('\n');
            column = 0;
        }
        printf("%*s", column ? 1 : INDENT, "");
        output_bytes(stdout, text + at, end - at);
        column += width + (column ? 1 : INDENT);
        at = end;
    }
    putchar('\n');
}

static void print_hits(const struct wishes *wishes, const struct source *sources, const struct hit *hits, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        const struct source *source = &sources[hits[i].source];
        const struct passage *passage = &source->passages.items[hits[i].passage];
        const char *name = name_of(source);
        if (wishes->json) {
            printf("%s{\"file\": ", i ? ",\n " : "[");
            json_put_text(stdout, name, strlen(name));
            printf(", \"line\": %lld, \"score\": ", (long long)passage->line);
            if (isfinite(hits[i].score))
                printf("%.6f", hits[i].score);
            else
                printf("null");
            printf(", \"text\": ");
            json_put_text(stdout, source->text.data + passage->start, passage->nbytes);
            putchar('}');
        } else {
            if (i > 0) putchar('\n');
            output_text(stdout, name);
            printf(":%lld  %.3f\n", (long long)passage->line, isnan(hits[i].score) ? (double)NAN : hits[i].score);
            print_passage(source->text.data + passage->start, passage->nbytes);
        }
    }
    if (wishes->json) printf(n ? "]\n" : "[]\n");
}

static int search(const struct wishes *wishes, const struct text_model *model, struct source *sources) {
    int status = 0;
    int64_t n = 0;
    /* Vectors computed in bf16 and in f32 are told apart. */
    uint64_t identity = index_model_identity(model->folder) + (uint64_t)wick_embedder_dtype(model->embedder);
    for (int i = 0; i < wishes->n_files; i++) {
        sources[i].path = wishes->files[i];
        if (read_source(&sources[i], wishes, identity, wick_embedder_dim(model->embedder)) == TEXT_FAILED) status = 1;
        n += sources[i].passages.n;
    }
    struct hit *hits = calloc((size_t)n + 1, sizeof *hits);
    if (!hits) return command_fail("search", "out of memory");
    int failed = embed_sources(wishes, model, sources, hits);
    if (failed == 0) failed = rank(wishes, model, sources, hits);
    if (failed == 0) print_hits(wishes, sources, hits, n < wishes->top ? n : wishes->top);
    free(hits);
    return failed ? failed : status;
}

static int open_and_search(const struct wishes *wishes) {
    struct text_model model;
    struct source *sources = calloc((size_t)wishes->n_files, sizeof *sources);
    int status = 1;
    if (!sources) return command_fail("search", "out of memory");
    if (text_model_open("search", wishes->model, wishes->device, !wishes->exact, &model))
        status = search(wishes, &model, sources);
    text_model_close(&model);
    for (int i = 0; i < wishes->n_files; i++) {
        free(sources[i].text.data);
        free(sources[i].passages.items);
        free(sources[i].vectors);
    }
    free(sources);
    return status;
}

int command_search(int argc, char **argv) {
    struct wishes wishes = {.device = "auto", .top = 5, .words = 100};
    const struct option list[] = {
        OPTIONS_NUMBER("--top", "K", &wishes.top, 1, 1 << 20, "shows K passages; 5 by default"),
        OPTIONS_NUMBER("--words", "N", &wishes.words, 1, 1 << 20, "cuts passages of more than N words; 100 by default"),
        OPTIONS_FLAG("--no-index", &wishes.no_index, "neither reads nor writes the index of vectors"),
        OPTIONS_FLAG("--exact", &wishes.exact, "computes in f32; otherwise in bf16 where that is faster"),
        OPTIONS_TEXT("--model", "DIR", &wishes.model,
                     "opens the embedder in this folder; by default $WICK_MODEL, or what tools/fetch-model fetched"),
        OPTIONS_TEXT("--device", "D", &wishes.device, "runs on cpu, cuda:0, rocm:0 ...; on the best one by default"),
        OPTIONS_FLAG("--allow-nan", &wishes.allow_nan, "shows scores that are not finite, last, in JSON as null"),
        OPTIONS_FLAG("--json", &wishes.json, "writes JSON"),
        OPTIONS_END};
    const struct options options = {"search", list, INT32_MAX};
    int n, status;
    if (!options_parse(&options, argc, argv, &n, &status)) return status;
    if (n == 0) return command_usage("search", "a question is missing");
    if (argv[0][strspn(argv[0], " \t\n\v\f\r")] == '\0') return command_usage("search", "the question is empty");
    if (n == 1) return command_usage("search", "a file to search is missing");
    wishes.query = argv[0];
    wishes.files = argv + 1;
    wishes.n_files = n - 1;
    return open_and_search(&wishes);
}
