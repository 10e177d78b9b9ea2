/* Sentence embeddings: texts in, one vector each out, by a BERT model as the Hugging Face hub lays it out.
 *
 *     struct wick_device *device = wick_device_open("auto");
 *     struct wick_embedder *embedder = wick_embedder_open("all-MiniLM-L6-v2", device);
 *     const char *texts[] = {"a cat on a mat", "ein Kater auf der Matte"};
 *     struct wick_tensor *vectors = wick_embedder_encode(embedder, 2, texts, NULL);   [2, 384] f32
 *     if (!vectors) puts(wick_error());
 *
 * The folder's own files decide everything: config.json the network, modules.json the steps after it (pooling,
 * normalization), tokenizer.json the tokens, sentence_bert_config.json the longest input. Results agree with the
 * sentence-transformers library in f32.
 *
 * An embedder never changes once it is open. Threads may share it. */
#ifndef WICK_MODEL_H
#define WICK_MODEL_H

#include <wick/format.h>
#include <wick/tensor.h>
#include <wick/text.h>

#ifdef __cplusplus
extern "C" {
#endif

struct wick_embedder;

/* Opens a model folder: config.json of model_type "bert"; weights in model.safetensors, sharded safetensors or
 * pytorch_model.bin, of any float dtype; a tokenizer (text.h); and, if present, sentence_bert_config.json and
 * modules.json with the modules Transformer, Pooling (cls, max, mean, mean_sqrt_len) and Normalize. Without
 * modules.json, vectors are means over the tokens. Weights in f32 stay views of the mapped file on the CPU. NULL on
 * failure: WICK_INVALID, WICK_IO, WICK_RANGE (a limit), WICK_FORMAT (damaged files, or weights whose shapes contradict
 * config.json), WICK_UNSUPPORTED (another kind of model, module or setting), WICK_MEMORY, WICK_CLOSED. Close with
 * wick_embedder_close. */
WICK_API struct wick_embedder *wick_embedder_open(const char *folder, struct wick_device *device);

/* The same with options; NULL means all zero. Close with wick_embedder_close. */
struct wick_embedder_options {
    /* Keeps weights and activations of the layers in bf16 if the device multiplies those faster (wick_device_info's
     * fast_bf16): 1.7 times as fast on a Zen 5. Elements of a vector of length 1 differ from f32 by up to 0.004,
     * cosines by up to 0.003. Ignored on other devices. */
    bool fast;
    /* How to read the weights' files. With `copy`, later changes to them do not matter. Without it, weights in f32 stay
     * views of the mapped file on the CPU, and a file that is cut short ends the process by SIGBUS. */
    struct wick_archive_options files;
    WICK_RESERVED;
};
WICK_API struct wick_embedder *wick_embedder_open_with(const char *folder, struct wick_device *device,
                                                       const struct wick_embedder_options *options);

/* The dtype of the layers: f32, or bf16 if `fast` took effect; f32 for NULL. */
WICK_API enum wick_dtype wick_embedder_dtype(const struct wick_embedder *embedder);

/* Closes and frees an embedder; the device stays open. NULL is fine. */
WICK_API void wick_embedder_close(struct wick_embedder *embedder);

/* The size of a vector; 0 for NULL. */
WICK_API int64_t wick_embedder_dim(const struct wick_embedder *embedder);

/* The longest input in tokens, special tokens included; 0 for NULL. */
WICK_API int64_t wick_embedder_max_length(const struct wick_embedder *embedder);

/* The embedder's tokenizer, which belongs to it; NULL for NULL. */
WICK_API const struct wick_tokenizer *wick_embedder_tokenizer(const struct wick_embedder *embedder);

/* Embeds n >= 0 texts of UTF-8: [n, dim] f32 on the embedder's device, row i for texts[i]. texts[i] has nbytes[i]
 * bytes; if nbytes is NULL, each text ends at its NUL. Texts beyond the longest input are cut. Apart from rounding, a
 * vector does not depend on the other texts. The embedder forms batches of equal lengths, so pass many texts at once.
 * WICK_INVALID, WICK_MEMORY, WICK_CLOSED. */
WICK_API struct wick_tensor *wick_embedder_encode(const struct wick_embedder *embedder, int64_t n,
                                                  const char *const *texts, const size_t *nbytes);

/* The same for texts given as token ids, special tokens included. Text i has lengths[i] ids; the texts follow one
 * another in `ids`, n_ids in all. WICK_INVALID unless 1 <= lengths[i] <= the network's longest input and the lengths
 * add up to n_ids, WICK_RANGE for an id outside the vocabulary. */
WICK_API struct wick_tensor *wick_embedder_encode_ids(const struct wick_embedder *embedder, int64_t n,
                                                      const int64_t *lengths, int64_t n_ids, const int32_t *ids);

/* The network alone, for N texts of L tokens each whose ids are on the embedder's device: ids [N,L] i32 -> [N, dim]
 * f32. It uploads nothing, so a graph (graph.h) can record it. WICK_INVALID unless ids has that shape and dtype and L
 * is at most the longest input. An id outside the vocabulary is WICK_RANGE, on a GPU when the result is read. */
WICK_API struct wick_tensor *wick_embedder_forward(const struct wick_embedder *embedder, const struct wick_tensor *ids);

#ifdef __cplusplus
}
#endif
#endif
