/* Text generation: language models of the Llama kind, from a GGUF file or a folder to text.
 *
 *     struct wick_device *device = wick_device_open("auto");
 *     struct wick_lm *lm = wick_lm_open("SmolLM2-135M-Instruct.Q4_1.gguf", device, NULL);
 *     struct wick_sequence *sequence = wick_sequence_open(lm, NULL);
 *     struct wick_generate_options options = {.on_token = print, .max_tokens = 64};
 *     if (wick_sequence_prompt(sequence, "The capital of France is", 24, 0) != WICK_OK ||
 *         wick_generate(sequence, &options, NULL) != WICK_OK)
 *         puts(wick_error());
 *
 * Families: llama (with Mistral and Mixtral, which call themselves so), qwen2, qwen3, qwen3moe, gemma, gemma2, gemma3,
 * phi3. Weights are f32, f16, bf16 or of GGML's blocks. Activations are f32. A key or a tensor that Wick does not know
 * is refused by name, because the model would be computed wrongly without it.
 *
 * A model is a GGUF file, or a folder as on the Hugging Face hub: config.json with a model_type of llama, mistral,
 * mixtral, qwen2, qwen3, qwen3_moe, gemma, gemma2, gemma3_text or phi3, the weights (format.h: model.safetensors, or
 * shards and their index), and tokenizer.json. If present, generation_config.json tells what else ends a text, and
 * chat_template.jinja or tokenizer_config.json has the chat template. docs/formats.md says more.
 *
 * A model never changes once it is open. Threads may share it, each with sequences of its own.
 *
 * A GPU repeats steps of one token from a graph (graph.h) once the same sequences took some, which saves the host most
 * of its time. The environment's WICK_GRAPHS=off, read when a model is opened, keeps it from that. */
#ifndef WICK_GENERATE_H
#define WICK_GENERATE_H

#include <wick/format.h>
#include <wick/linalg.h>
#include <wick/sample.h>
#include <wick/tensor.h>
#include <wick/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- models ---- */

struct wick_lm;

/* A product of a layer, as it is about to be computed. */
struct wick_lm_product {
    const char *name;              /* of the weight in GGUF files: "blk.0.attn_q.weight" */
    const struct wick_tensor *x;   /* what it multiplies, [n,K]; for experts [n,1,K] or [n,E,K] */
    const struct wick_tensor *ids; /* of experts [n,E]: which of them take each row of n; NULL otherwise */
    int64_t experts;               /* how many there are; 0: none */
    WICK_RESERVED;
};

/* How a model will be used: what memory must be there for it. */
struct wick_lm_use {
    int64_t sequences;     /* that are open together; 0: 1 */
    int64_t context;       /* tokens of each at most; 0: as many as the model was made for */
    int64_t tokens;        /* that each will have, if fewer than its context; 0: all of it */
    enum wick_dtype cache; /* of keys and values, as in struct wick_sequence_options */
    bool all;              /* logits of all tokens are asked for (wick_sequence_append_all) */
    WICK_RESERVED;
};

struct wick_lm_options {
    /* Multiplies weights of blocks by activations as they are (WICK_PRODUCTS_EXACT). By default activations are rounded
     * to 8 bits (WICK_PRODUCTS_8_BIT), as GGML does, which is much faster. */
    bool exact;
    struct wick_archive_options files; /* how to read the weights' files */
    /* Sees every product of the layers, for importance matrices; NULL: nobody does. It is called by the thread that
     * computes, and x and ids are valid in the call. */
    void (*on_product)(void *context, const struct wick_lm_product *product);
    void *context; /* of on_product */
    /* wick_lm_open fails with WICK_MEMORY, before it reads a weight, unless memory is free for this use. NULL: only a
     * GPU is asked whether the weights alone fit. */
    const struct wick_lm_use *use;
    WICK_RESERVED;
};

/* What a model is, and what it needs. */
struct wick_lm_info {
    char family[32];        /* as GGUF's general.architecture: "llama" */
    int64_t layers, hidden; /* how many layers, and elements of a token's state */
    int64_t vocab, context; /* how many tokens there are, and the most that the model was made for */
    int64_t weight_bytes;   /* of all tensors in the files */
    int64_t cache_bytes;    /* keys and values of one token in f32; half as many in f16 and bf16, 34/128 in q8_0 */
    WICK_RESERVED;
};

/* Describes a model, a GGUF file or a folder, without loading its weights. Fails as wick_lm_open does. `options` may be
 * NULL. */
WICK_API WICK_CHECKED enum wick_status wick_lm_inspect(const char *path, const struct wick_lm_options *options,
                                                       struct wick_lm_info *info);

/* What that holds of a device's memory, in bytes. */
struct wick_lm_memory {
    int64_t weights;   /* the tensors in the files; on the CPU they are pages of these, but for a folder's experts, of
                        * which a copy is made: they count twice if options->files.copy keeps the files' bytes too */
    int64_t cache;     /* keys and values of all sequences, when they are full */
    int64_t work;      /* an upper bound of what computing takes, and a GPU's graphs keep of tensors */
    int64_t needed;    /* weights + cache + work */
    int64_t available; /* that the device has left, within wick_memory_set_limit; 0: not known */
    int64_t missing;   /* needed - available, if that is above 0 */
    WICK_RESERVED;
};

/* Tells how much memory a model and its sequences need, and how much there is, from the heads of its files: no weight
 * is read. `options` and `use` may be NULL; options->use is not looked at. Fails as wick_lm_open and wick_sequence_open
 * do, but not for lack of memory: `missing` says that. */
WICK_API WICK_CHECKED enum wick_status wick_lm_estimate(const char *path, const struct wick_device *device,
                                                        const struct wick_lm_options *options,
                                                        const struct wick_lm_use *use, struct wick_lm_memory *memory);

/* Opens a model, a GGUF file or a folder. On the CPU, weights stay views of the mapped files; experts that a folder has
 * in a tensor each are copied into one, which costs memory for them all, and time. `options` may be NULL. Close with
 * wick_lm_close. NULL on failure: WICK_INVALID, WICK_IO, WICK_RANGE (a limit), WICK_FORMAT (a damaged file, or one
 * whose keys and tensors contradict one another), WICK_UNSUPPORTED, naming it (a family, key, tensor or type),
 * WICK_MEMORY (too little for options->use, or for the weights on a GPU or the copied experts: all figures are in the
 * text), WICK_CLOSED. */
WICK_API struct wick_lm *wick_lm_open(const char *path, struct wick_device *device,
                                      const struct wick_lm_options *options);

/* Closes and frees a model, after its sequences; the device stays open. NULL is fine. */
WICK_API void wick_lm_close(struct wick_lm *lm);

/* Describes an open model. WICK_INVALID for NULL. */
WICK_API WICK_CHECKED enum wick_status wick_lm_describe(const struct wick_lm *lm, struct wick_lm_info *info);

/* The model's tokenizer, which belongs to it; NULL for NULL. */
WICK_API const struct wick_tokenizer *wick_lm_tokenizer(const struct wick_lm *lm);

/* The source of the model's chat template (template.h), which belongs to it; NULL if it has none. */
WICK_API const char *wick_lm_chat_template(const struct wick_lm *lm);

/* Writes a conversation to *text as the model's chat template puts it. `messages` is a JSON array of `nbytes` bytes:
 * [{"role": "user", "content": "Hi"}]. `answer`: the text ends where the model's answer begins. Encode the text with
 * WICK_ENCODE_PLAIN, because a template writes the model's special tokens itself. Free it with wick_text_free. Fails as
 * wick_template_render does; WICK_UNSUPPORTED if the model has no template. */
WICK_API WICK_CHECKED enum wick_status wick_lm_chat(const struct wick_lm *lm, const char *messages, size_t nbytes,
                                                    bool answer, struct wick_text *text);

/* Whether a text is over after this token: end of text, of turn, of message. */
WICK_API bool wick_lm_is_end(const struct wick_lm *lm, int32_t id);

/* ---- sequences ---- A sequence is a text that grows: its tokens, and the keys and values that the model computed of
 * them. It belongs to one thread at a time, except for wick_sequence_cancel. */

struct wick_sequence;

struct wick_sequence_options {
    int64_t context;       /* the most tokens; 0: as many as the model was made for. It may exceed that. */
    enum wick_dtype cache; /* of keys and values: WICK_F32, WICK_F16, WICK_BF16, WICK_DTYPE_q8_0; 0: WICK_F32 */
    WICK_RESERVED;
};

/* Opens an empty sequence. Its memory grows with its tokens, and has room for an eighth more at most. `options` may be
 * NULL. Close with wick_sequence_close. NULL on failure: WICK_INVALID, WICK_DTYPE (another cache), WICK_SHAPE (a cache
 * of WICK_DTYPE_q8_0 for heads that are no whole number of blocks of 32), WICK_RANGE (a context below 0 or above 2^30),
 * WICK_MEMORY. */
WICK_API struct wick_sequence *wick_sequence_open(const struct wick_lm *lm,
                                                  const struct wick_sequence_options *options);

/* Closes and frees a sequence. NULL is fine. */
WICK_API void wick_sequence_close(struct wick_sequence *sequence);

/* How many tokens it has, and their ids, which belong to it until it changes. 0 and NULL for NULL. */
WICK_API int64_t wick_sequence_length(const struct wick_sequence *sequence);
WICK_API const int32_t *wick_sequence_ids(const struct wick_sequence *sequence);

/* Keeps the first n tokens. WICK_RANGE unless 0 <= n <= length. */
WICK_API WICK_CHECKED enum wick_status wick_sequence_truncate(struct wick_sequence *sequence, int64_t n);

/* Adds n >= 1 tokens and returns the logits [1,vocab] f32 of what follows, on the model's device. A failure leaves the
 * sequence as it was. NULL on failure: WICK_RANGE (an id that is not a token, or more tokens than the context; the text
 * has both numbers), WICK_INVALID, WICK_MEMORY, WICK_CLOSED. */
WICK_API struct wick_tensor *wick_sequence_append(struct wick_sequence *sequence, int64_t n, const int32_t *ids);

/* The same, with logits [n,vocab] of what follows each of the tokens. */
WICK_API struct wick_tensor *wick_sequence_append_all(struct wick_sequence *sequence, int64_t n, const int32_t *ids);

/* Adds one token to each of n >= 1 different sequences of one model: ids[i] to sequences[i]. Weights are read once for
 * all. -> logits [n,vocab] f32. A failure leaves all as they were. */
WICK_API struct wick_tensor *wick_sequences_step(int n, struct wick_sequence *const *sequences, const int32_t *ids);

/* Makes the sequence hold the tokens of a prompt, to be continued by wick_generate. It keeps what it has of them
 * already: the longest common beginning is not computed again. `flags` are those of wick_tokenizer_encode_with. A
 * failure leaves some beginning of the prompt. WICK_INVALID (NULL, or a prompt without tokens), WICK_RANGE (more than
 * the context), WICK_MEMORY, WICK_CLOSED. */
WICK_API WICK_CHECKED enum wick_status wick_sequence_prompt(struct wick_sequence *sequence, const char *text,
                                                            size_t nbytes, unsigned flags);

/* Writes the sequence's tokens, keys, values and, if they are known, the logits of what follows to a safetensors file.
 * It replaces a file as the functions for writing in format.h do. WICK_INVALID (NULL, or a sequence without tokens),
 * WICK_IO, WICK_MEMORY, WICK_CLOSED. */
WICK_API WICK_CHECKED enum wick_status wick_sequence_save(const struct wick_sequence *sequence, const char *path);

/* Makes the sequence hold what wick_sequence_save wrote, for the same model and the same dtype of the cache. What the
 * sequence held is lost. A file that is refused leaves the sequence as it was; other failures may leave it empty.
 * WICK_INVALID (NULL), WICK_IO, WICK_FORMAT (damaged, of another model or of another dtype of the cache), WICK_RANGE
 * (more tokens than the context), WICK_MEMORY, WICK_CLOSED. */
WICK_API WICK_CHECKED enum wick_status wick_sequence_load(struct wick_sequence *sequence, const char *path);

/* Stops wick_generate on this sequence after the present token, from any thread. A call that has not begun yet stops at
 * once; each call forgets it at its end. NULL is fine. */
WICK_API void wick_sequence_cancel(struct wick_sequence *sequence);

/* ---- generation ---- */

enum wick_stop {
    WICK_STOP_END,       /* the model ended its text */
    WICK_STOP_TOKENS,    /* max_tokens */
    WICK_STOP_CALLBACK,  /* on_token returned false */
    WICK_STOP_CANCELLED, /* wick_sequence_cancel */
    WICK_STOP_COUNT
};

/* A token as it comes. */
struct wick_generated {
    int32_t id;             /* -1: no token, but the rest of a character that the text ends in */
    double log_probability; /* if the sampling asks for it */
    const char *text;       /* what is now complete: `nbytes` bytes of UTF-8, valid in the call; it may be empty */
    size_t nbytes;
    WICK_RESERVED;
};

struct wick_generate_options {
    int64_t max_tokens;                   /* 0: until the text ends or the context is full, which is then WICK_RANGE */
    bool ignore_end;                      /* goes on where the model would end its text */
    bool shift;                           /* where the context is full, makes room instead of failing: see below */
    int64_t keep;                         /* tokens at the beginning that a shift keeps, fewer than the context */
    const struct wick_sampling *sampling; /* sample.h; NULL: the most likely token, always */
    bool (*on_token)(void *context, const struct wick_generated *token); /* false stops; may be NULL */
    void *context;
    WICK_RESERVED;
};

struct wick_generate_result {
    enum wick_stop stop;
    int64_t n_tokens; /* that were generated, without the one that ended the text */
    WICK_RESERVED;
};

/* Continues a sequence that holds a prompt, always with the most likely token (the first among equals). The tokens
 * become part of the sequence. A shift forgets the older half of the tokens behind the first `keep`, and computes keys
 * and values of the others anew, which takes as long as a prompt of that length. `options` and `result` may be NULL.
 * WICK_INVALID (NULL, an empty sequence, or one that was changed by other calls than wick_sequence_prompt,
 * wick_sequence_load and wick_generate, a `keep` below 0 or not below the context), WICK_RANGE (the context is full:
 * what was generated stays; or a logit that is NaN), those of wick_sampler_open, WICK_MEMORY, WICK_CLOSED. */
WICK_API WICK_CHECKED enum wick_status wick_generate(struct wick_sequence *sequence,
                                                     const struct wick_generate_options *options,
                                                     struct wick_generate_result *result);

#ifdef __cplusplus
}
#endif
#endif
