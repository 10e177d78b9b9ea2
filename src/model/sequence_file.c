/* Sequences in files: safetensors with tokens, keys and values of each layer, and what tells the model.
 *
 *   ids          [n] i32
 *   layers.I.k   [1,kv_heads,n,head], and layers.I.v; of q8_0 the bytes of its blocks, u8 [1,kv_heads,n,head/32*34]
 *   logits       [1,vocab] f32 of what follows; may be missing
 *   norm         the last norm of the model, which is another one in another model
 *
 * Metadata: "wick.sequence" is "1", "family" and "weight_bytes" are those of the model, where a folder's family is
 * "hub.FAMILY", because keys of a GGUF file may be in another order; "rope" is "long" where the context asks for the
 * long angles, else "plain". */
#include "model/lm.h"

#include "core/checked.h"
#include "core/dtype.h"
#include "core/memory.h"

#include <stdio.h>
#include <string.h>

enum { NAME = 32, OTHERS = 3 /* ids, norm, logits */ };

/* The name of keys or values, as wick__kv_part counts them. */
static void name_kv(int64_t i, char name[NAME]) {
    snprintf(name, NAME, "layers.%lld.%s", (long long)(i / 2), i % 2 ? "v" : "k");
}

static void weight_bytes_text(const struct wick_lm *lm, char text[NAME]) {
    snprintf(text, NAME, "%lld", (long long)lm->weight_bytes);
}

static void family_text(const struct wick_lm *lm, char text[NAME]) {
    snprintf(text, NAME, "%s%s", lm->config.hub ? "hub." : "", lm->config.family->name);
}

static const char *rope_of(const struct wick_sequence *sequence) {
    const struct wick_lm *lm = sequence->lm;
    return lm->ropes[WICK__LM_ROPE_LONG].angle && sequence->context > lm->config.original_context ? "long" : "plain";
}

/* ---- save ---- */

struct saved {
    int64_t n;
    char (*names)[NAME];
    const char **name;
    const struct wick_tensor **tensors;
};

static void put(struct saved *saved, const char *name, const struct wick_tensor *x) {
    snprintf(saved->names[saved->n], NAME, "%s", name);
    saved->name[saved->n] = saved->names[saved->n];
    saved->tensors[saved->n++] = x;
}

static enum wick_status write_file(const struct wick_sequence *sequence, const char *path, struct saved *saved) {
    const struct wick_lm *lm = sequence->lm;
    char name[NAME], family[NAME], weight_bytes[NAME];
    const char *const metadata[] = {"wick.sequence", "1",    "family",          family, "weight_bytes",
                                    weight_bytes,    "rope", rope_of(sequence), NULL};
    family_text(lm, family);
    weight_bytes_text(lm, weight_bytes);
    put(saved, "ids",
        wick_from_data(lm->device, WICK_I32, WICK_SHAPE(sequence->length), sequence->ids,
                       (size_t)sequence->length * sizeof *sequence->ids));
    put(saved, "norm", lm->norm);
    if (sequence->logits) put(saved, "logits", sequence->logits);
    for (int64_t i = 0; i < 2 * lm->config.n_layers; i++) {
        name_kv(i, name);
        put(saved, name, wick_narrow(wick__kv_part(sequence, i), 2, 0, sequence->length));
    }
    for (int64_t i = 0; i < saved->n; i++)
        if (!saved->tensors[i]) return wick__latest();
    return wick_safetensors_save(path, saved->n, saved->name, saved->tensors, metadata);
}

enum wick_status wick_sequence_save(const struct wick_sequence *sequence, const char *path) {
    if (!sequence || !path)
        return wick__fail(WICK_INVALID, "sequence_save: %s is NULL", sequence ? "path" : "sequence");
    if (sequence->length == 0) return wick__fail(WICK_INVALID, "sequence_save: the sequence has no tokens");
    size_t n = (size_t)(2 * sequence->lm->config.n_layers + OTHERS);
    struct saved saved = {0, wick__calloc(n, NAME), wick__calloc(n, sizeof *saved.name),
                          wick__calloc(n, sizeof *saved.tensors)};
    enum wick_status status = WICK_MEMORY;
    if (saved.names && saved.name && saved.tensors) {
        wick_scope_begin();
        status = write_file(sequence, path, &saved);
        wick_scope_end(NULL);
    }
    wick__free(saved.names, n * NAME);
    wick__free(saved.name, n * sizeof *saved.name);
    wick__free(saved.tensors, n * sizeof *saved.tensors);
    return status;
}

/* ---- load ---- */

struct loader {
    struct wick_sequence *sequence;
    struct wick_archive *archive;
    const char *path;
};

static bool has_text(const struct loader *loader, const char *key, const char *want) {
    char text[2 * NAME];
    int64_t at = wick_archive_metadata_find(loader->archive, key);
    return at >= 0 && wick_archive_metadata_text(loader->archive, at, -1, text, sizeof text) < (int64_t)sizeof text &&
           strcmp(text, want) == 0;
}

/* A tensor of this dtype and shape, which is [n] for rank 1. */
static struct wick_tensor *take(const struct loader *loader, const char *name, enum wick_dtype dtype, int rank,
                                const int64_t *shape) {
    struct wick_archive_entry entry;
    int64_t i = wick_archive_find(loader->archive, name);
    if (i < 0) {
        wick__fail(WICK_FORMAT, "%s: tensor '%s' is missing", loader->path, name);
        return NULL;
    }
    if (wick_archive_describe(loader->archive, i, &entry) != WICK_OK) return NULL;
    bool fits = entry.loadable && entry.dtype == dtype && entry.rank == rank;
    for (int d = 0; d < rank && fits; d++) fits = entry.shape[d] == shape[d];
    if (!fits) {
        wick__fail(WICK_FORMAT,
                   "%s: tensor '%s' has not the dtype %s and the shape that the model and the tokens ask for",
                   loader->path, name, wick_dtype_name(dtype));
        return NULL;
    }
    return wick_archive_load_at(loader->archive, i, loader->sequence->lm->device);
}

/* Whether the file is of the sequence's model. */
static enum wick_status check_model(const struct loader *loader) {
    const struct wick_lm *lm = loader->sequence->lm;
    char family[NAME], weight_bytes[NAME];
    family_text(lm, family);
    weight_bytes_text(lm, weight_bytes);
    if (!has_text(loader, "wick.sequence", "1"))
        return wick__fail(WICK_FORMAT, "%s: not a file of a sequence", loader->path);
    bool same = has_text(loader, "family", family) && has_text(loader, "weight_bytes", weight_bytes);
    if (same) {
        const enum wick_dtype dtype = wick_tensor_dtype(lm->norm);
        size_t nbytes = (size_t)lm->config.hidden * wick__size(dtype);
        struct wick_tensor *norm = take(loader, "norm", dtype, 1, &lm->config.hidden);
        char *values = norm ? wick__alloc(2 * nbytes) : NULL;
        if (!values) return wick__latest();
        enum wick_status status = wick_read(norm, values, nbytes);
        if (status == WICK_OK) status = wick_read(lm->norm, values + nbytes, nbytes);
        same = memcmp(values, values + nbytes, nbytes) == 0;
        wick__free(values, 2 * nbytes);
        WICK__TRY(status);
    }
    if (!same) return wick__fail(WICK_FORMAT, "%s: the sequence is of another model", loader->path);
    if (!has_text(loader, "rope", rope_of(loader->sequence)))
        return wick__fail(WICK_FORMAT, "%s: the sequence's context is on the other side of %lld, where angles change",
                          loader->path, (long long)lm->config.original_context);
    return WICK_OK;
}

/* Reads the ids into memory that the caller frees, *n of them. */
static enum wick_status read_ids(const struct loader *loader, int32_t **ids, int64_t *n) {
    const struct wick_sequence *sequence = loader->sequence;
    struct wick_archive_entry entry;
    int64_t i = wick_archive_find(loader->archive, "ids");
    if (i < 0) return wick__fail(WICK_FORMAT, "%s: tensor 'ids' is missing", loader->path);
    WICK__TRY(wick_archive_describe(loader->archive, i, &entry));
    *n = entry.rank == 1 ? entry.shape[0] : 0;
    if (*n < 1) return wick__fail(WICK_FORMAT, "%s: tensor 'ids' is not a list of tokens", loader->path);
    if (*n > sequence->context)
        return wick__fail(WICK_RANGE, "%s: %lld tokens exceed the context of %lld", loader->path, (long long)*n,
                          (long long)sequence->context);
    struct wick_tensor *x = take(loader, "ids", WICK_I32, 1, n);
    if (!x) return wick__latest();
    *ids = wick__alloc((size_t)*n * sizeof **ids);
    if (!*ids) return WICK_MEMORY;
    WICK__TRY(wick_read(x, *ids, (size_t)*n * sizeof **ids));
    for (int64_t t = 0; t < *n; t++)
        if ((*ids)[t] < 0 || (*ids)[t] >= sequence->lm->config.vocab)
            return wick__fail(WICK_FORMAT, "%s: id %d of token %lld is none of 0 .. %lld", loader->path, (*ids)[t],
                              (long long)t, (long long)sequence->lm->config.vocab - 1);
    return WICK_OK;
}

/* Takes keys and values of n tokens, all of them before the first is put in its place. */
static enum wick_status read_kv(const struct loader *loader, int64_t n) {
    struct wick_sequence *sequence = loader->sequence;
    int64_t count = 2 * sequence->lm->config.n_layers, shape[4];
    enum wick_dtype dtype = wick__kv_shape(sequence, n, shape);
    size_t nbytes = (size_t)count * sizeof(struct wick_tensor *);
    struct wick_tensor **kv = wick__calloc((size_t)count, sizeof *kv);
    if (!kv) return WICK_MEMORY;
    enum wick_status status = WICK_OK;
    for (int64_t i = 0; i < count && status == WICK_OK; i++) {
        char name[NAME];
        name_kv(i, name);
        kv[i] = take(loader, name, dtype, 4, shape);
        if (!kv[i]) status = wick__latest();
    }
    if (status == WICK_OK) status = wick__sequence_reserve(sequence, n);
    if (status == WICK_OK) status = wick_sequence_truncate(sequence, 0);
    for (int64_t i = 0; i < count && status == WICK_OK; i++)
        status = wick_slice_set_inplace(wick__kv_part(sequence, i), kv[i], 2, 0);
    wick__free(kv, nbytes);
    return status;
}

static enum wick_status load_all(const struct loader *loader, int32_t **ids, int64_t *n) {
    struct wick_sequence *sequence = loader->sequence;
    struct wick_tensor *logits = NULL;
    WICK__TRY(check_model(loader));
    WICK__TRY(read_ids(loader, ids, n));
    if (wick_archive_find(loader->archive, "logits") >= 0) {
        logits = take(loader, "logits", WICK_F32, 2, (const int64_t[]){1, sequence->lm->config.vocab});
        if (logits) logits = wick_clone(logits); /* or it would hold the whole file */
        if (!logits) return wick__latest();
    }
    WICK__TRY(read_kv(loader, *n));
    memcpy(sequence->ids, *ids, (size_t)*n * sizeof **ids);
    sequence->length = *n;
    sequence->logits = logits ? wick_retain(logits) : NULL;
    return WICK_OK;
}

enum wick_status wick_sequence_load(struct wick_sequence *sequence, const char *path) {
    if (!sequence || !path)
        return wick__fail(WICK_INVALID, "sequence_load: %s is NULL", sequence ? "path" : "sequence");
    const struct wick_archive_options options = {.copy = true}; /* what was checked can't change */
    struct loader loader = {sequence, wick_archive_open(path, &options), path};
    int32_t *ids = NULL;
    int64_t n = 0;
    if (!loader.archive) return wick__latest();
    wick_scope_begin();
    enum wick_status status = load_all(&loader, &ids, &n);
    wick_scope_end(NULL);
    wick_archive_close(loader.archive);
    wick__free(ids, (size_t)n * sizeof *ids);
    return status;
}
