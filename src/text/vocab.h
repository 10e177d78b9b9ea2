/* A vocabulary: tokens to ids and back. */
#ifndef WICK_TEXT_VOCAB_H
#define WICK_TEXT_VOCAB_H

#include "core/buffer.h"

/* An id must be below this; the largest vocabularies in use have 2^18 tokens. */
#define WICK__VOCAB_MAX ((int32_t)1 << 22)

struct wick__vocab_entry {
    uint32_t start, nbytes; /* of the token in `bytes`, where a 0 follows it */
    int32_t id;
};

/* Zeroed, it is empty. */
struct wick__vocab {
    struct wick__buffer bytes;
    struct wick__buffer entries; /* of struct wick__vocab_entry */
    uint32_t n;                  /* entries */
    uint32_t *slots;             /* hash table: an entry's number + 1, 0 for none */
    uint32_t n_slots;            /* a power of two, or 0 */
    int32_t *by_id;              /* id to entry number, -1 for none; made by wick__vocab_finish */
    int32_t n_ids;               /* one more than the highest id */
    uint32_t longest;            /* bytes of the longest token */
};

/* Adds a token, or gives one that is there already another id. WICK_FORMAT for an id out of range. */
enum wick_status wick__vocab_add(struct wick__vocab *vocab, const char *token, size_t nbytes, int64_t id);
/* Makes the way back from ids to tokens; no token can be added afterwards. */
enum wick_status wick__vocab_finish(struct wick__vocab *vocab);
void wick__vocab_free(struct wick__vocab *vocab);

/* A number that is another one in each process, so that no file can choose texts that share a slot. */
uint64_t wick__hash_seed(void);

/* A hash is made byte by byte, so that all beginnings of a word are hashed in one pass. */
static inline uint64_t wick__hash_start(void) { return UINT64_C(0xcbf29ce484222325) ^ wick__hash_seed(); }
static inline uint64_t wick__hash_byte(uint64_t hash, char byte) {
    return (hash ^ (unsigned char)byte) * UINT64_C(0x100000001b3);
}

/* Finds the token that is `prefix` followed by `text` and whose hash is given; -1 when there is none. */
int32_t wick__vocab_find(const struct wick__vocab *vocab, uint64_t hash, const struct wick__buffer *prefix,
                         const char *text, size_t nbytes);
/* The same for a plain string. */
int32_t wick__vocab_id(const struct wick__vocab *vocab, const char *token, size_t nbytes);
/* The token of an id, NULL for none; and its length, since a token of bytes may hold a 0. */
const char *wick__vocab_token(const struct wick__vocab *vocab, int32_t id);
size_t wick__vocab_token_nbytes(const struct wick__vocab *vocab, int32_t id);

#endif
