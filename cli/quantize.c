/* wick quantize: a language model in fewer bits, GGUF to GGUF. */
#include "cli/importance.h"
#include "cli/lm.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/recipe.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct wishes {
    const char *in, *out, *importance;
    const struct recipe *recipe;
    bool again, dry_run;
};

struct run {
    const struct wishes *wishes;
    struct wick_device *device;
    struct wick_archive *archive;
    struct recipe_model model;
    struct importance importance;
    int64_t n, weighed; /* tensors; those with an importance */
    const char **names;
    struct wick_tensor **tensors;
    int64_t counts[WICK_DTYPE_COUNT], before, after; /* tensors of each dtype; bytes */
};

static int fail(const struct run *run) { return command_fail("quantize", "%s", run->wishes->in); }

/* ---- the model ---- */

/* A number of the family's, the first of an array; `otherwise` if there is none. */
static int64_t number_of(const struct wick_archive *archive, const char *family, const char *key, int64_t otherwise) {
    char name[128], text[32];
    struct wick_metadata metadata;
    int64_t value;
    snprintf(name, sizeof name, "%s.%s", family, key);
    int64_t i = wick_archive_metadata_find(archive, name);
    if (i < 0 || wick_archive_metadata(archive, i, &metadata) != WICK_OK) return otherwise;
    int64_t item = metadata.type == WICK_METADATA_ARRAY ? 0 : -1;
    int64_t length = wick_archive_metadata_text(archive, i, item, text, sizeof text);
    bool whole = length > 0 && length < (int64_t)sizeof text && options_number(text, 1, INT32_MAX, &value);
    return whole ? value : otherwise;
}

/* Refuses what generate refuses, so that nothing is quantised by rules that are not for it. */
static int look(struct run *run) {
    struct wick_lm_info info;
    struct recipe_model *model = &run->model;
    if (wick_lm_inspect(run->wishes->in, NULL, &info) != WICK_OK) return fail(run);
    run->archive = wick_archive_open(run->wishes->in, NULL);
    run->n = wick_archive_count(run->archive);
    if (!run->archive) return fail(run);
    if (wick_archive_format(run->archive) != WICK_FORMAT_GGUF)
        return command_fail("quantize",
                            "%s is not a GGUF file: llama.cpp's convert_hf_to_gguf.py makes one of a folder",
                            run->wishes->in);
    model->layers = info.layers;
    model->heads = number_of(run->archive, info.family, "attention.head_count", 1);
    model->kv_heads = number_of(run->archive, info.family, "attention.head_count_kv", model->heads);
    model->experts = number_of(run->archive, info.family, "expert_count", 1);
    model->tied = wick_archive_find(run->archive, "output.weight") < 0;
    model->seventy = info.layers == 80 && ((strcmp(info.family, "llama") == 0 && model->heads != model->kv_heads) ||
                                           strcmp(info.family, "qwen2") == 0);
    run->names = calloc((size_t)run->n + 1, sizeof *run->names);
    run->tensors = calloc((size_t)run->n + 1, sizeof *run->tensors);
    if (!run->names || !run->tensors) return command_fail("quantize", "out of memory");
    for (int64_t i = 0; i < run->n; i++) model->n_values += recipe_is_values(wick_archive_name(run->archive, i));
    return 0;
}

/* How many tensors of values lie in lower layers. */
static int64_t values_below(const struct run *run, const char *name) {
    int64_t layer = recipe_layer(name), n = 0;
    for (int64_t i = 0; recipe_is_values(name) && i < run->n; i++) {
        const char *other = wick_archive_name(run->archive, i);
        n += recipe_is_values(other) && recipe_layer(other) < layer;
    }
    return n;
}

/* ---- tensors ---- */

/* `weights` may be NULL. */
static struct wick_tensor *convert(const struct run *run, const struct wick_tensor *x, enum wick_dtype to,
                                   const struct wick_tensor *weights) {
    enum wick_dtype from = wick_tensor_dtype(x);
    if (wick_dtype_kind(to) != WICK_DTYPE_KIND_QUANTISED) return wick_cast(x, to);
    bool direct = from == WICK_F32 || from == WICK_F16 || from == WICK_BF16;
    struct wick_tensor *plain = direct ? NULL : wick_cast(x, WICK_F32), *y = NULL;
    const struct wick_tensor *numbers = direct ? x : plain;
    if (numbers)
        y = weights ? importance_quantise(&run->importance, numbers, to, weights) : wick_quantise(numbers, to, NULL);
    wick_release(plain);
    return y;
}

/* The weights of a tensor's columns, NULL if nothing is known of them; false after a failure. */
static bool weigh(struct run *run, const struct wick_archive_entry *entry, struct wick_tensor **weights) {
    const int64_t size[2] = {entry->rank == 3 ? entry->shape[0] : 1, entry->shape[entry->rank - 1]};
    *weights = NULL;
    if (!run->importance.path) return true;
    bool good = importance_of("quantize", &run->importance, entry->name, size, weights);
    run->weighed += *weights != NULL;
    return good;
}

static void count(struct run *run, enum wick_dtype dtype, const struct wick_archive_entry *entry) {
    int64_t elements = 1;
    for (int d = 0; d < entry->rank; d++) elements *= entry->shape[d];
    run->counts[dtype]++;
    run->before += entry->nbytes;
    run->after += elements / wick_dtype_block(dtype) * wick_dtype_block_bytes(dtype);
}

/* Puts tensor i, as it is to be, among those to write. */
static int take(struct run *run, int64_t i) {
    struct wick_archive_entry entry;
    if (wick_archive_describe(run->archive, i, &entry) != WICK_OK) return fail(run);
    if (!entry.loadable)
        return command_fail("quantize", "%s: tensor %s has type %s", run->wishes->in, entry.name, entry.type);
    enum wick_dtype to = entry.dtype;
    if (recipe_takes(&entry))
        to = recipe_dtype(run->wishes->recipe, &run->model, &entry, values_below(run, entry.name));
    bool changes = to != entry.dtype;
    count(run, to, &entry);
    if (changes && wick_dtype_kind(entry.dtype) == WICK_DTYPE_KIND_QUANTISED && !run->wishes->again)
        return command_fail("quantize",
                            "%s: tensor %s is %s already; --allow-requantize takes it, with the errors of both",
                            run->wishes->in, entry.name, wick_dtype_name(entry.dtype));
    run->names[i] = entry.name;
    if (run->wishes->dry_run) {
        output_text(stdout, entry.name);
        printf(" %s %s\n", wick_dtype_name(entry.dtype), wick_dtype_name(to));
        return 0;
    }
    struct wick_tensor *x = wick_archive_load_at(run->archive, i, run->device), *weights = NULL;
    if (changes && wick_dtype_kind(to) == WICK_DTYPE_KIND_QUANTISED && !weigh(run, &entry, &weights)) {
        wick_release(x);
        return 1;
    }
    run->tensors[i] = x && changes ? convert(run, x, to, weights) : wick_retain(x);
    wick_release(weights);
    wick_release(x);
    return run->tensors[i] ? 0 : command_fail("quantize", "%s: tensor %s", run->wishes->in, entry.name);
}

static int save(const struct run *run) {
    char number[16], entries[24];
    snprintf(number, sizeof number, "%d", run->wishes->recipe->number);
    snprintf(entries, sizeof entries, "%" PRId64, run->importance.entries);
    const char *const metadata[] = {"general.file_type",
                                    "u32",
                                    number,
                                    "general.quantization_version",
                                    "u32",
                                    "2",
                                    run->importance.path ? "quantize.imatrix.file" : NULL,
                                    "string",
                                    run->importance.path,
                                    "quantize.imatrix.entries_count",
                                    "u32",
                                    entries,
                                    NULL};
    if (wick_gguf_save(run->wishes->out, run->n, run->names, (const struct wick_tensor *const *)run->tensors,
                       run->archive, metadata) != WICK_OK)
        return command_fail("quantize", "%s", run->wishes->out);
    return 0;
}

static void print_end(const struct run *run) {
    const char *between = "";
    printf("%.2f MiB to %.2f MiB: ", (double)run->before / 1048576, (double)run->after / 1048576);
    for (int d = 0; d < WICK_DTYPE_COUNT; d++) {
        if (run->counts[d] == 0) continue;
        printf("%s%" PRId64 " tensors %s", between, run->counts[d], wick_dtype_name((enum wick_dtype)d));
        between = ", ";
    }
    putchar('\n');
    if (run->importance.path) printf("%" PRId64 " of them by importance\n", run->weighed);
}

/* ---- the command ---- */

static int quantize(const struct wishes *wishes) {
    struct run run = {.wishes = wishes, .device = wick_device_open("cpu")};
    if (!run.device) return command_fail("quantize", "cpu");
    int status = look(&run);
    if (status == 0 && wishes->importance &&
        !importance_open("quantize", wishes->importance, run.device, &run.importance))
        status = 1;
    for (int64_t i = 0; i < run.n && status == 0; i++) {
        if (!wishes->dry_run) text_progress("quantised", i, run.n);
        status = take(&run, i);
    }
    if (status == 0 && !wishes->dry_run) {
        text_progress("quantised", run.n, run.n);
        status = save(&run);
    }
    if (status == 0) print_end(&run);
    for (int64_t i = 0; run.tensors && i < run.n; i++) wick_release(run.tensors[i]);
    free(run.tensors);
    free(run.names);
    importance_close(&run.importance);
    wick_archive_close(run.archive);
    wick_device_close(run.device);
    return status;
}

int command_quantize(int argc, char **argv) {
    struct wishes wishes = {.in = NULL};
    char names[512];
    int n = 0, status;
    const struct option list[] = {
        OPTIONS_FLAG("--allow-requantize", &wishes.again, "takes tensors that are quantised already"),
        OPTIONS_TEXT("--imatrix", "FILE", &wishes.importance,
                     "weighs columns by an importance matrix of llama.cpp's form"),
        OPTIONS_FLAG("--dry-run", &wishes.dry_run, "writes nothing, and shows each tensor's type, old and new"),
        OPTIONS_END};
    const struct options options = {"quantize", list, 3};
    if (!options_parse(&options, argc, argv, &n, &status)) return status;
    if (n < 3) return command_usage("quantize", "needs a model, the file to write and a type");
    wishes.in = argv[0];
    wishes.out = argv[1];
    wishes.recipe = recipe_find(argv[2]);
    recipe_names(names, sizeof names);
    if (!wishes.recipe) return command_usage("quantize", "there is no type '%s'; there are %s", argv[2], names);
    if (!wishes.recipe->possible)
        return command_usage("quantize",
                             "%s needs a quantiser or an importance matrix that Wick does not have; there are %s",
                             wishes.recipe->name, names);
    return quantize(&wishes);
}
