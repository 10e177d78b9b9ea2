/* Opening language models, and letting them write. */
#include "model/lm.h"

#include "core/checked.h"
#include "core/device.h"
#include "core/memory.h"
#include "core/setting.h"
#include "text/tokenizer.h"

#include <string.h>

/* ---- models ---- */

static void describe(const struct wick__lm_config *config, int64_t weight_bytes, struct wick_lm_info *info) {
    *info = (struct wick_lm_info){.layers = config->n_layers,
                                  .hidden = config->hidden,
                                  .vocab = config->vocab,
                                  .context = config->context,
                                  .weight_bytes = weight_bytes};
    info->cache_bytes = 2 * config->n_layers * config->kv_heads * config->head * (int64_t)sizeof(float);
    strncpy(info->family, config->family->name, sizeof info->family - 1);
}

enum wick_status wick_lm_inspect(const char *path, const struct wick_lm_options *options, struct wick_lm_info *info) {
    struct wick__lm_source source;
    struct wick__lm_config config;
    struct wick__lm_bytes bytes;
    if (!info) return wick__fail(WICK_INVALID, "lm_inspect: info is NULL");
    enum wick_status status = wick__lm_source_open("lm_inspect", path, options, &source);
    if (status == WICK_OK) status = wick__lm_head(&source, &config, &bytes);
    if (status == WICK_OK) describe(&config, bytes.weights, info);
    wick__lm_source_close(&source);
    return status;
}

enum wick_status wick_lm_estimate(const char *path, const struct wick_device *device,
                                  const struct wick_lm_options *options, const struct wick_lm_use *use,
                                  struct wick_lm_memory *memory) {
    if (!memory) return wick__fail(WICK_INVALID, "lm_estimate: memory is NULL");
    struct wick__lm_source source;
    WICK__TRY(wick__device_check("lm_estimate", device));
    enum wick_status status = wick__lm_source_open("lm_estimate", path, options, &source);
    if (status == WICK_OK) status = wick__lm_needs(&source, device, use, memory);
    wick__lm_source_close(&source);
    return status;
}

/* The tokenizer of the same files: not from a GGUF file again, which may be another one by now. */
static enum wick_status load_tokenizer(struct wick_lm *lm, const struct wick__lm_source *source) {
    if (source->config) WICK__TRY(wick__hub_check_tokenizer(source->path));
    lm->tokenizer = source->config ? wick_tokenizer_open(source->path) : wick__tokenizer_of(source->archive);
    return lm->tokenizer ? WICK_OK : wick__latest();
}

/* Added tokens of a folder, such as one that stands for an image, may lie beyond the embedding. */
static enum wick_status check_vocab(const struct wick_lm *lm, const char *path) {
    int32_t n = wick_tokenizer_vocab_size(lm->tokenizer);
    if (lm->config.hub) n = wick__min(n, lm->tokenizer->pieces.n_model);
    if (n <= lm->config.vocab) return WICK_OK;
    return wick__fail(WICK_FORMAT, "%s: the tokenizer has %d ids, the model %lld", path, n,
                      (long long)lm->config.vocab);
}

static enum wick_status fill(struct wick_lm *lm, const struct wick__lm_source *source,
                             const struct wick_lm_options *options) {
    lm->on_product = options ? options->on_product : NULL;
    lm->context = options ? options->context : NULL;
    lm->graphs = wick__setting_word("WICK_GRAPHS", (const char *const[]){"off", "on", NULL}, 1) == 1;
    lm->products = options && options->exact ? WICK_PRODUCTS_EXACT : WICK_PRODUCTS_8_BIT;
    WICK__TRY(wick__lm_check_memory(source, lm->device, options ? options->use : NULL));
    WICK__TRY(load_tokenizer(lm, source));
    WICK__TRY(wick__lm_load(lm, source));
    return check_vocab(lm, source->path);
}

struct wick_lm *wick_lm_open(const char *path, struct wick_device *device, const struct wick_lm_options *options) {
    struct wick__lm_source source;
    if (!device) {
        wick__fail(WICK_INVALID, "lm_open: device is NULL");
        return NULL;
    }
    bool good = wick__lm_source_open("lm_open", path, options, &source) == WICK_OK;
    struct wick_lm *lm = good ? wick__calloc(1, sizeof *lm) : NULL;
    if (lm) {
        lm->device = device;
        good = fill(lm, &source, options) == WICK_OK;
    }
    wick__lm_source_close(&source);
    if (good) return lm;
    wick_lm_close(lm);
    return NULL;
}

void wick_lm_close(struct wick_lm *lm) {
    if (!lm) return;
    wick__lm_unload(lm);
    wick_tokenizer_close(lm->tokenizer);
    wick__free(lm, sizeof *lm);
}

enum wick_status wick_lm_describe(const struct wick_lm *lm, struct wick_lm_info *info) {
    if (!lm || !info) return wick__fail(WICK_INVALID, "lm_describe: %s is NULL", lm ? "info" : "lm");
    describe(&lm->config, lm->weight_bytes, info);
    return WICK_OK;
}

const struct wick_tokenizer *wick_lm_tokenizer(const struct wick_lm *lm) { return lm ? lm->tokenizer : NULL; }
const char *wick_lm_chat_template(const struct wick_lm *lm) { return lm ? lm->chat_template.data : NULL; }

bool wick_lm_is_end(const struct wick_lm *lm, int32_t id) {
    for (int i = 0; lm && i < lm->n_ends; i++)
        if (lm->ends[i] == id) return true;
    return false;
}

/* ---- generation ---- */

struct writer {
    struct wick_sequence *sequence;
    const struct wick_generate_options *options;
    struct wick_sampler *sampler;
    struct wick_decoder *decoder;
    float *logits;
    int64_t n_tokens;
    enum wick_stop stop;
};

/* Tells the caller; false when that is enough. */
static bool tell(const struct writer *writer, int32_t id, double log_probability, const char *text, size_t nbytes) {
    const struct wick_generated token = {.id = id, .log_probability = log_probability, .text = text, .nbytes = nbytes};
    return !writer->options->on_token || writer->options->on_token(writer->options->context, &token);
}

/* Forgets the older half of what is not kept, and computes the rest anew. */
static enum wick_status make_room(const struct writer *writer) {
    struct wick_sequence *sequence = writer->sequence;
    int64_t keep = writer->options->keep, loose = sequence->length - keep, rest = loose - (loose + 1) / 2;
    size_t nbytes = (size_t)rest * sizeof *sequence->ids;
    if (rest == 0) return wick_sequence_truncate(sequence, keep);
    int32_t *ids = wick__alloc(nbytes);
    if (!ids) return WICK_MEMORY;
    memcpy(ids, sequence->ids + sequence->length - rest, nbytes);
    enum wick_status status = wick_sequence_truncate(sequence, keep);
    if (status == WICK_OK) status = wick__sequence_add(sequence, rest, ids);
    wick__free(ids, nbytes);
    return status;
}

/* One token: sampled, told, and added to the sequence. */
static enum wick_status write_token(struct writer *writer, bool *go_on) {
    struct wick_sequence *sequence = writer->sequence;
    int64_t vocab = sequence->lm->config.vocab;
    struct wick_sampled next;
    const char *text = "";
    size_t nbytes = 0;
    *go_on = false;
    writer->stop = WICK_STOP_CANCELLED;
    if (atomic_load(&sequence->cancelled)) return WICK_OK;
    WICK__TRY(wick_read(sequence->logits, writer->logits, (size_t)vocab * sizeof(float)));
    WICK__TRY(wick_sampler_pick(writer->sampler, vocab, writer->logits, &next));
    writer->stop = WICK_STOP_END;
    if (wick_lm_is_end(sequence->lm, next.id) && !writer->options->ignore_end) return WICK_OK;
    if (sequence->length >= sequence->context && !writer->options->shift)
        return wick__fail(WICK_RANGE, "generate: the context of %lld tokens is full", (long long)sequence->context);
    if (sequence->length >= sequence->context) WICK__TRY(make_room(writer));
    /* Embeddings may have rows to spare, whose ids stand for no text. */
    if (wick_tokenizer_token(sequence->lm->tokenizer, next.id))
        WICK__TRY(wick_decoder_push(writer->decoder, next.id, &text, &nbytes));
    *go_on = tell(writer, next.id, next.log_probability, text, nbytes);
    writer->n_tokens++;
    writer->stop = *go_on ? WICK_STOP_TOKENS : WICK_STOP_CALLBACK;
    return wick__sequence_add(sequence, 1, &next.id);
}

static enum wick_status write_all(struct writer *writer) {
    const struct wick_generate_options *options = writer->options;
    const char *text;
    size_t nbytes;
    bool go_on = true;
    WICK__TRY(wick_sampler_add(writer->sampler, writer->sequence->length, writer->sequence->ids));
    while (go_on && (options->max_tokens == 0 || writer->n_tokens < options->max_tokens))
        WICK__TRY(write_token(writer, &go_on));
    WICK__TRY(wick_decoder_end(writer->decoder, &text, &nbytes));
    if (nbytes > 0 && writer->stop != WICK_STOP_CALLBACK) tell(writer, -1, 0, text, nbytes);
    return WICK_OK;
}

enum wick_status wick_generate(struct wick_sequence *sequence, const struct wick_generate_options *options,
                               struct wick_generate_result *result) {
    static const struct wick_generate_options plain = {.max_tokens = 0};
    if (!sequence) return wick__fail(WICK_INVALID, "generate: sequence is NULL");
    if (!options) options = &plain;
    WICK__TRY(wick__reserved("generate", options->reserved));
    if (options->max_tokens < 0)
        return wick__fail(WICK_INVALID, "generate: max_tokens is %lld", (long long)options->max_tokens);
    if (options->shift && (options->keep < 0 || options->keep >= sequence->context))
        return wick__fail(WICK_INVALID, "generate: keep is %lld, not in 0 .. %lld", (long long)options->keep,
                          (long long)sequence->context - 1);
    if (!sequence->logits) return wick__fail(WICK_INVALID, "generate: the sequence holds no prompt");
    struct writer writer = {.sequence = sequence, .options = options, .stop = WICK_STOP_TOKENS};
    size_t nbytes = (size_t)sequence->lm->config.vocab * sizeof(float);
    writer.logits = wick__alloc(nbytes);
    if (writer.logits) writer.sampler = wick_sampler_open(options->sampling, sequence->lm->config.vocab);
    if (writer.sampler) writer.decoder = wick_decoder_open(sequence->lm->tokenizer);
    enum wick_status status = writer.decoder ? write_all(&writer) : wick__latest();
    if (result) *result = (struct wick_generate_result){.stop = writer.stop, .n_tokens = writer.n_tokens};
    atomic_store(&sequence->cancelled, false);
    wick_decoder_close(writer.decoder);
    wick_sampler_close(writer.sampler);
    wick__free(writer.logits, nbytes);
    return status;
}
