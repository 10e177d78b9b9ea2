/* A language model of the Llama kind: decoder layers of attention and a gated network, described by data. */
#ifndef WICK_MODEL_LM_H
#define WICK_MODEL_LM_H

#include "core/error.h"

#include <wick/wick.h>

#include <stdatomic.h>

struct json_t;

/* What sets a family apart from Llama. Biases, fused matrices and norms of queries and keys follow from the tensors. */
struct wick__family {
    const char *name;          /* GGUF's general.architecture */
    bool interleaved;          /* GGUF files order rows so that rope turns pairs (2i, 2i + 1) */
    bool scaled_embedding;     /* embeddings are multiplied by sqrt(hidden) */
    bool after_norms;          /* a norm behind attention and behind the network */
    bool head_norms;           /* norms of the heads of queries and keys */
    enum wick_activation gate; /* of the network's gate */
    double attention_cap;      /* soft caps, where the file states none; 0: none */
    double final_cap;          /* of the logits */
    int64_t window;            /* where the file states none; 0: none */
    int64_t period;            /* one layer in so many sees all keys; 0: all layers have the window */
    double local_base;         /* rope's base in layers with a window; 0: as in the others */
    int64_t wide_layers;       /* a model of so many layers scales scores by 1 / sqrt(hidden / heads) */
};

enum wick__scaling {
    WICK__SCALING_NONE,
    WICK__SCALING_LINEAR,
    WICK__SCALING_YARN,
    WICK__SCALING_LONG,
    WICK__SCALING_LLAMA3 /* in GGUF files, a tensor of factors */
};

/* What a folder of the Hugging Face hub calls a family's parts, and what it leaves out of its files. */
struct wick__hub {
    const char *type;      /* config.json's model_type */
    const char *family;    /* as above */
    const char *router;    /* of experts; NULL: there are none */
    const char *experts;   /* what stands before the number of one: "mlp.experts" */
    const char *expert[3]; /* its gate, up and down */
    const char *needed[6]; /* keys that must be there, beside those of every model; null will do */
    bool tied;             /* whether the output is the embedding, where config.json does not say */
    bool norms_from_one;   /* weights of norms are stored less 1 */
    bool windows;          /* a sliding_window counts for all layers, unless other keys say for which */
    bool asked;            /* ... and only with use_sliding_window */
    double rope_base;      /* where config.json has none */
};

/* One member each of these per key. */
struct wick__lm_config {
    const struct wick__family *family;
    const struct wick__hub *hub; /* of a folder; NULL: a GGUF file */
    bool interleaved, tied;      /* rope turns pairs (2i, 2i + 1); a folder's output is the embedding */
    int64_t n_layers, context, hidden, wide, heads, kv_heads, head, value_head, rope_dims, vocab;
    int64_t experts, experts_used, expert_wide, window, original_context, period;
    double epsilon, rope_base, local_base, attention_cap, final_cap, scale;
    enum wick__scaling scaling;
    double rope_factor, attention_factor, beta_fast, beta_slow, low_frequency, high_frequency;
    double rope_gain; /* of a scaled rope; 0: by its kind and the members above */
};

/* A model's files. */
struct wick__lm_source {
    struct wick_archive *archive;
    struct json_t *config;     /* config.json of a folder; NULL: a GGUF file */
    struct json_t *generation; /* generation_config.json; NULL: none */
    const char *path;
    bool copied; /* the files are read, not mapped */
};

/* WICK_IO, with what would do, for a folder without a tokenizer.json. */
enum wick_status wick__hub_check_tokenizer(const char *folder);

/* Opens a GGUF file or a folder into *source. Close it after a failure too; `path` must stay. */
enum wick_status wick__lm_source_open(const char *op, const char *path, const struct wick_lm_options *options,
                                      struct wick__lm_source *source);
void wick__lm_source_close(struct wick__lm_source *source);

/* A row of a table of keys: a size or a real in low..high goes to the member at `at` of a config. A UNIT must be 1 if
 * it is there; SKIP is of no use here. */
enum wick__key_kind { WICK__KEY_SIZE, WICK__KEY_REAL, WICK__KEY_SCALING, WICK__KEY_UNIT, WICK__KEY_SKIP };
struct wick__key {
    const char *name;
    enum wick__key_kind kind;
    size_t at;
    int64_t low, high;
};
/* Takes the number of a SIZE, REAL or UNIT. `name` is for errors. */
enum wick_status wick__lm_take(struct wick__lm_config *config, const struct wick__key *key, const char *name,
                               double number);

/* Reads the ARCH.* keys of a GGUF archive, or config.json. WICK_UNSUPPORTED, naming it, for a key or family that is not
 * known. */
enum wick_status wick__lm_configure(struct wick__lm_config *config, const struct wick__lm_source *source);
/* The same from config.json, into a config of nothing but defaults. */
enum wick_status wick__hub_configure(struct wick__lm_config *config, const struct json_t *json);
const struct wick__family *wick__family_find(const char *name);
/* The factors that longrope divides angles by, of short texts or long ones: *factors is n numbers above 0, or NULL
 * where config.json has none. The caller frees them. */
enum wick_status wick__hub_factors(const struct json_t *json, bool stretched, int64_t n, float **factors);

enum wick__lm_part {
    WICK__LM_ATTENTION_NORM,
    WICK__LM_QUERY,
    WICK__LM_KEY,
    WICK__LM_VALUE,
    WICK__LM_QUERY_NORM,
    WICK__LM_KEY_NORM,
    WICK__LM_OUT,
    WICK__LM_AFTER_ATTENTION,
    WICK__LM_NETWORK_NORM,
    WICK__LM_ROUTER,
    WICK__LM_GATE,
    WICK__LM_UP,
    WICK__LM_DOWN,
    WICK__LM_AFTER_NETWORK,
    WICK__LM_PARTS
};

/* Matrices of a layer that lie below one another in one, so that one product does for all. */
struct wick__lm_joined {
    struct wick_tensor *weight; /* NULL: none */
    int parts;                  /* how many of them, the first ones */
};

struct wick__lm_layer {
    struct wick_tensor *weight[WICK__LM_PARTS], *bias[WICK__LM_PARTS]; /* NULL: the model has none */
    struct wick__lm_joined qkv, gated; /* from WICK__LM_QUERY on, from WICK__LM_GATE on: `weight` has views of them */
};

/* Angles per position of the pairs of a head, and what cosines and sines are multiplied by. */
struct wick__lm_rope {
    double *angle; /* rope_dims / 2, NULL: not used */
    double gain;
};
enum { WICK__LM_ROPE, WICK__LM_ROPE_LONG, WICK__LM_ROPE_LOCAL, WICK__LM_ROPES };

enum { WICK__LM_ENDS = 32 };

struct wick_lm {
    struct wick__lm_config config;
    struct wick_device *device;
    enum wick_products products;
    struct wick_tokenizer *tokenizer;
    struct wick_tensor *embedding, *output, *norm;
    struct wick__lm_layer *layers;
    struct wick__lm_rope ropes[WICK__LM_ROPES];
    int32_t ends[WICK__LM_ENDS]; /* ids after which a text is over */
    int n_ends;
    int32_t begin; /* the id that begins a text, -1: none */
    int64_t weight_bytes;
    struct wick_text chat_template; /* empty: none */
    bool fused_qkv, fused_up;       /* whether the file has one matrix for several parts */
    void (*on_product)(void *context, const struct wick_lm_product *product); /* NULL: nobody looks */
    void *context;
    bool graphs; /* steps are recorded where the device can */
};

/* ---- memory (lm_memory.c) ---- */

/* The dtype of a cache that options ask for: WICK_DTYPE and WICK_SHAPE for what none can have. */
enum wick_status wick__lm_cache_dtype(const char *op, const struct wick__lm_config *config, enum wick_dtype asked,
                                      enum wick_dtype *dtype);
/* How many bytes all tensors of a model have, and those among them that are copied into one tensor: experts. */
struct wick__lm_bytes {
    int64_t weights, stacked;
};
/* Reads a model's keys, and its bytes. */
enum wick_status wick__lm_head(const struct wick__lm_source *source, struct wick__lm_config *config,
                               struct wick__lm_bytes *bytes);
/* wick_lm_estimate of open files. `use` may be NULL. */
enum wick_status wick__lm_needs(const struct wick__lm_source *source, const struct wick_device *device,
                                const struct wick_lm_use *use, struct wick_lm_memory *memory);
/* WICK_MEMORY, with the figures, if memory is missing for this use. NULL: for the weights alone, where they do not stay
 * in the file's pages. */
enum wick_status wick__lm_check_memory(const struct wick__lm_source *source, const struct wick_device *device,
                                       const struct wick_lm_use *use);

/* ---- weights ---- */

/* Fills a zeroed model, but for its device and tokenizer, from files. On failure the caller frees what is there. */
enum wick_status wick__lm_load(struct wick_lm *lm, const struct wick__lm_source *source);
/* What a folder's other files say: the ids that begin and end a text, and the chat template. */
enum wick_status wick__hub_load_text(struct wick_lm *lm, const struct wick__lm_source *source);
/* Adds an id after which a text is over, if there is one (id >= 0) that is new. `key` is for errors. */
enum wick_status wick__lm_add_end(struct wick_lm *lm, const char *key, int64_t id);
void wick__lm_unload(struct wick_lm *lm);
/* How GGUF files call a part of a layer, without "blk.N."; NULL for one that is within another's matrix. */
const char *wick__lm_part_name(const struct wick_lm *lm, int part);

/* Fills the tables of angles; factors divide angles where the files have any. */
enum wick_status wick__lm_make_ropes(struct wick_lm *lm, const struct wick__lm_source *source);
/* Keys and values of one sequence. */
struct wick_sequence {
    const struct wick_lm *lm;
    enum wick_dtype dtype;
    int64_t length, capacity, context;
    int32_t *ids;               /* room for `capacity` */
    struct wick_tensor **kv;    /* keys of each layer, and values behind them in dim 1 */
    struct wick_tensor *logits; /* of what follows; NULL: not known */
    struct wick__lm_step *step; /* its step, maybe together with others, if that came last (lm_step.c) */
    atomic_bool cancelled;
};

/* The dtype and the shape in which keys or values of n tokens lie. */
enum wick_dtype wick__kv_shape(const struct wick_sequence *sequence, int64_t n, int64_t shape[4]);
/* Keys (even numbers) or values (odd ones) of layer number / 2. */
struct wick_tensor *wick__kv_part(const struct wick_sequence *sequence, int64_t number);
/* Puts rows [1, heads, n, head] f32 behind those of a layer's keys, values or both. */
enum wick_status wick__kv_put(const struct wick_sequence *sequence, struct wick_tensor *to,
                              const struct wick_tensor *rows);
/* Attention of q [1, heads, n, head], of the cache's dtype or f32 where that is of blocks, to the first `total` keys.
 */
struct wick_tensor *wick__kv_attend(const struct wick_sequence *sequence, int64_t layer, const struct wick_tensor *q,
                                    int64_t total, const struct wick_attention_options *options);

/* Tokens that go through the model at once: enough to keep all cores busy, little enough for the activations. */
enum { WICK__LM_BATCH = 512 };

/* Makes room for n tokens in all. */
enum wick_status wick__sequence_reserve(struct wick_sequence *sequence, int64_t n);
/* Adds tokens, and keeps the logits of what follows. */
enum wick_status wick__sequence_add(struct wick_sequence *sequence, int64_t n, const int32_t *ids);

/* n tokens of one sequence, `start` rows into a batch. */
struct wick__lm_span {
    struct wick_sequence *sequence;
    int64_t start, n;
};

/* A batch of tokens of several sequences, which have room for them. */
struct wick__lm_batch {
    int64_t n_tokens;
    const int32_t *ids;
    int n_spans;
    const struct wick__lm_span *spans;
    bool all; /* logits of every token, not of the last one of each sequence */
};

/* Whether each sequence of a batch has one token, and caches are floats of one dtype, so that one call of attention
 * does for all. */
bool wick__lm_is_step(const struct wick__lm_batch *batch);

/* Whether attention of such a batch turns queries and keys on the way into the caches, as a GPU's does. */
bool wick__lm_steps_whole(const struct wick_lm *lm, const struct wick__lm_batch *batch);

/* Tables of cosines and sines of a batch's positions, by head where layers turn all heads at once. */
enum { WICK__LM_FEW = 32 /* rows up to which launches take longer than the work in them */ };
struct wick__lm_tables {
    int64_t heads[2];        /* that turn, and behind them those that stay as they are */
    int64_t shape[3], count; /* [heads, tokens, rope_dims / 2] */
    int n, which[2];         /* ropes: of all layers, of those with a local one */
};
struct wick__lm_tables wick__lm_tables_of(const struct wick_lm *lm, const struct wick__lm_batch *batch);
/* Fills cosines and sines, tables->count numbers each, of rope tables->which[number]. */
void wick__lm_fill_tables(const struct wick_lm *lm, const struct wick__lm_batch *batch,
                          const struct wick__lm_tables *tables, int number, float *const values[2]);

/* What a forward pass takes from the host, in tensors. */
struct wick__lm_inputs {
    struct wick_tensor *ids;          /* i32 [tokens] */
    struct wick_tensor *lengths;      /* of a step, i32 [sequences]; NULL: the host's numbers are taken */
    struct wick_tensor *tables[2][2]; /* cosines and sines by rope */
};

/* Logits [rows, vocab] f32. Writes keys and values behind those of each sequence, but leaves the lengths. `inputs` may
 * be NULL. */
struct wick_tensor *wick__lm_forward(const struct wick_lm *lm, const struct wick__lm_batch *batch,
                                     const struct wick__lm_inputs *inputs);
/* Whether queries, keys and values of a layer are one product, which only positions change, of all elements. */
bool wick__lm_is_joint(const struct wick_lm *lm, const struct wick__lm_layer *layer);

/* ---- steps that are recorded (lm_step.c) ---- */

/* wick__lm_forward of one token of each sequence, by a graph once the same sequences took some steps. */
struct wick_tensor *wick__lm_step(const struct wick_lm *lm, const struct wick__lm_batch *batch);
/* Whether steps of the model may be recorded. */
bool wick__lm_records(const struct wick_lm *lm);
/* Frees the graph of a step with the sequence, before its cache moves. */
void wick__lm_step_drop(struct wick_sequence *sequence);

/* Whether layer i sees only the window. */
bool wick__lm_windowed(const struct wick__lm_config *config, int64_t layer);

#endif
