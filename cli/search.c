/* wick search: the passages of some files that come closest to a question. */
#include "cli/search_index.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct options {
    const char *model, *device, *query;
    int64_t top, words;
    bool json, index, exact;
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

static enum text_result read_source(struct source *source, const struct options *options, uint64_t identity,
                                    int64_t dim) {
    enum text_result result = text_read("search", source->path, true, &source->text);
    if (result != TEXT_READ) return result;
    source->has_key =
        options->index && index_key_make(source->path, &source->text, identity, options->words, &source->key);
    source->indexed =
        source->has_key && index_load(&source->key, dim, source->text.nbytes, &source->passages, &source->vectors);
    if (source->indexed) return TEXT_READ;
    bool good = passages_split(source->text.data, source->text.nbytes, options->words, &source->passages);
    if (good) source->vectors = calloc((size_t)(source->passages.n * dim) + 1, sizeof(float));
    if (good && source->vectors) return TEXT_READ;
    command_fail("search", "%s: out of memory", source->path);
    return TEXT_FAILED;
}

/* Embeds the passages that `hits` names, by length, and puts their vectors where they belong. */
static bool embed_hits(const struct text_model *model, struct source *sources, const struct hit *hits, int64_t n) {
    enum { CHUNK = 128 };
    const char *texts[CHUNK];
    size_t nbytes[CHUNK];
    const size_t dim = (size_t)wick_embedder_dim(model->embedder);
    float *values = malloc(CHUNK * dim * sizeof *values);
    bool good = values != NULL;
    for (int64_t first = 0; first < n && good; first += CHUNK) {
        int64_t count = n - first < CHUNK ? n - first : CHUNK;
        text_progress("reading", first, n);
        for (int64_t i = 0; i < count; i++) {
            const struct source *source = &sources[hits[first + i].source];
            const struct passage *passage = &source->passages.items[hits[first + i].passage];
            texts[i] = source->text.data + passage->start;
            nbytes[i] = passage->nbytes;
        }
        struct wick_tensor *vectors = wick_embedder_encode(model->embedder, count, texts, nbytes);
        good = vectors && wick_read(vectors, values, (size_t)count * dim * sizeof *values) == WICK_OK;
        for (int64_t i = 0; i < count && good; i++)
            memcpy(sources[hits[first + i].source].vectors + (size_t)hits[first + i].passage * dim,
                   values + (size_t)i * dim, dim * sizeof *values);
        wick_release(vectors);
    }
    text_progress("reading", n, n);
    free(values);
    return good;
}

/* For the order of work the score of a hit is the length of its passage, negative: short ones come first. */
static int best_first(const void *a, const void *b) {
    const struct hit *left = a, *right = b;
    if (left->score != right->score) return left->score > right->score ? -1 : 1;
    if (left->source != right->source) return left->source < right->source ? -1 : 1;
    return (left->passage > right->passage) - (left->passage < right->passage);
}

static bool embed_sources(const struct text_model *model, struct source *sources, int n_sources, struct hit *hits) {
    int64_t n = 0;
    for (int i = 0; i < n_sources; i++) {
        for (int64_t j = 0; j < sources[i].passages.n && !sources[i].indexed; j++)
            hits[n++] = (struct hit){-(double)sources[i].passages.items[j].nbytes, i, j};
    }
    qsort(hits, (size_t)n, sizeof *hits, best_first);
    if (!embed_hits(model, sources, hits, n)) return false;
    for (int i = 0; i < n_sources; i++) {
        if (sources[i].has_key && !sources[i].indexed)
            index_save(&sources[i].key, wick_embedder_dim(model->embedder), &sources[i].passages, sources[i].vectors);
    }
    return true;
}

/* ---- ranking ---- */

/* The cosine of the angle between two vectors; -2 where it is not defined. */
static double cosine(const float *a, const float *b, int64_t dim) {
    double ab = 0, aa = 0, bb = 0;
    for (int64_t i = 0; i < dim; i++) {
        ab += (double)a[i] * (double)b[i];
        aa += (double)a[i] * (double)a[i];
        bb += (double)b[i] * (double)b[i];
    }
    double score = ab / sqrt(aa * bb);
    return isnan(score) ? -2 : score;
}

static bool rank(const struct text_model *model, const char *query, const struct source *sources, int n_sources,
                 struct hit *hits) {
    const int64_t dim = wick_embedder_dim(model->embedder);
    float *wanted = malloc((size_t)dim * sizeof *wanted);
    struct wick_tensor *vector = wick_embedder_encode(model->embedder, 1, &query, NULL);
    bool good = wanted && vector && wick_read(vector, wanted, (size_t)dim * sizeof *wanted) == WICK_OK;
    int64_t n = 0;
    for (int i = 0; i < n_sources && good; i++) {
        for (int64_t j = 0; j < sources[i].passages.n; j++)
            hits[n++] = (struct hit){cosine(wanted, sources[i].vectors + j * dim, dim), i, j};
    }
    qsort(hits, (size_t)n, sizeof *hits, best_first);
    wick_release(vector);
    free(wanted);
    return good;
}

/* ---- showing ---- */

/* The text with white space folded, indented, wrapped at 100 columns, and cut after five lines. Control characters
 * are left out. */
static void print_passage(const char *text, size_t nbytes) {
    enum { INDENT = 4, WIDTH = 100, LINES = 5 };
    int column = 0, line = 1;
    for (size_t at = 0; at < nbytes;) {
        while (at < nbytes && (unsigned char)text[at] <= ' ') at++;
        size_t end = at;
        int width = 0;
        for (; end < nbytes && (unsigned char)text[end] > ' '; end++)
            width += ((unsigned char)text[end] & 0xC0) != 0x80;
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
        for (size_t i = at; i < end; i++)
            if ((unsigned char)text[i] != 0x7F) putchar(text[i]);
        column += width + (column ? 1 : INDENT);
        at = end;
    }
    putchar('\n');
}

static void print_hits(const struct options *options, const struct source *sources, const struct hit *hits, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        const struct source *source = &sources[hits[i].source];
        const struct passage *passage = &source->passages.items[hits[i].passage];
        const char *name = strcmp(source->path, "-") == 0 ? "(standard input)" : source->path;
        if (options->json) {
            printf("%s{\"file\": ", i ? ",\n " : "[");
            text_put_json(stdout, name, strlen(name));
            printf(", \"line\": %lld, \"score\": %.6f, \"text\": ", (long long)passage->line, hits[i].score);
            text_put_json(stdout, source->text.data + passage->start, passage->nbytes);
            putchar('}');
        } else {
            printf("%s%s:%lld  %.3f\n", i ? "\n" : "", name, (long long)passage->line, hits[i].score);
            print_passage(source->text.data + passage->start, passage->nbytes);
        }
    }
    if (options->json) printf(n ? "]\n" : "[]\n");
}

static int search(const struct options *options, const struct text_model *model, struct source *sources) {
    int status = 0;
    int64_t n = 0;
    /* Vectors computed in bf16 and in f32 are told apart. */
    uint64_t identity = index_model_identity(model->folder) + (uint64_t)wick_embedder_dtype(model->embedder);
    for (int i = 0; i < options->n_files; i++) {
        sources[i].path = options->files[i];
        if (read_source(&sources[i], options, identity, wick_embedder_dim(model->embedder)) == TEXT_FAILED) status = 1;
        n += sources[i].vectors ? sources[i].passages.n : 0;
    }
    struct hit *hits = calloc((size_t)n + 1, sizeof *hits);
    if (!hits) return command_fail("search", "out of memory");
    if (!embed_sources(model, sources, options->n_files, hits) ||
        !rank(model, options->query, sources, options->n_files, hits))
        status = command_fail("search", "the texts can't be embedded");
    else
        print_hits(options, sources, hits, n < options->top ? n : options->top);
    free(hits);
    return fflush(stdout) == 0 ? status : command_fail("search", "the output can't be written");
}

static int open_and_search(const struct options *options) {
    struct text_model model;
    struct source *sources = calloc((size_t)options->n_files, sizeof *sources);
    int status = 1;
    if (!sources) return command_fail("search", "out of memory");
    if (text_model_open("search", options->model, options->device, !options->exact, &model))
        status = search(options, &model, sources);
    text_model_close(&model);
    for (int i = 0; i < options->n_files; i++) {
        free(sources[i].text.data);
        free(sources[i].passages.items);
        free(sources[i].vectors);
    }
    free(sources);
    return status;
}

int command_search(int argc, char **argv) {
    struct options options = {.device = "auto", .top = 5, .words = 100, .index = true, .files = argv};
    bool missing = false, only_files = false;
    const char *value;
    for (int i = 0; i < argc; i++) {
        int at = i;
        if (only_files || argv[i][0] != '-' || strcmp(argv[i], "-") == 0) {
            if (!options.query)
                options.query = argv[i];
            else
                options.files[options.n_files++] = argv[i]; /* over an argument that is done with */
        } else if (strcmp(argv[i], "--") == 0)
            only_files = true;
        else if (strcmp(argv[i], "--json") == 0)
            options.json = true;
        else if (strcmp(argv[i], "--exact") == 0)
            options.exact = true;
        else if (strcmp(argv[i], "--no-index") == 0)
            options.index = false;
        else if ((value = text_option("--model", argc, argv, &i, &missing)))
            options.model = value;
        else if ((value = text_option("--device", argc, argv, &i, &missing)))
            options.device = value;
        else if ((value = text_option("--top", argc, argv, &i, &missing))) {
            if (!missing && !text_number(value, 1, 1 << 20, &options.top))
                return command_usage("search", "--top takes a number from 1 to 1048576, not '%s'", value);
        } else if ((value = text_option("--words", argc, argv, &i, &missing))) {
            if (!missing && !text_number(value, 1, 1 << 20, &options.words))
                return command_usage("search", "--words takes a number from 1 to 1048576, not '%s'", value);
        } else
            return command_usage("search", "there is no option '%s'", argv[i]);
        if (missing) return command_usage("search", "%s needs a value", argv[at]);
    }
    if (!options.query) return command_usage("search", "a question is missing");
    if (options.n_files == 0) return command_usage("search", "a file to search is missing");
    return open_and_search(&options);
}
