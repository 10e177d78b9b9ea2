/* The index of a file that wick search has seen: its passages and their vectors, kept in the cache folder.
 *
 * It is a safetensors file, named after the searched file's path and the model, that states a hash of the searched
 * file's content, the model's identity, and a checksum of itself. Anything that does not fit makes it void. */
#ifndef WICK_CLI_SEARCH_INDEX_H
#define WICK_CLI_SEARCH_INDEX_H

#include "cli/passages.h"
#include "cli/text.h"

/* What an index is made for. */
struct index_key {
    char file[4096]; /* the index itself */
    char content[17], model[17], settings[32];
};

/* A number that changes when a file of the model's folder does: sizes and times of all of them. */
uint64_t index_model_identity(const char *folder);

/* False when the file can have no index: no cache folder, or standard input. */
bool index_key_make(const char *path, const struct text *text, uint64_t model, int64_t max_words,
                    struct index_key *key);

/* Reads the index when it is there and fits: passages, and vectors [n, dim], both to be freed by the caller. A damaged
 * one is reported in a line. */
bool index_load(const struct index_key *key, int64_t dim, size_t nbytes, struct passages *passages, float **vectors);

/* Writes an index; a failure is reported once in a program's run. */
void index_save(const struct index_key *key, int64_t dim, const struct passages *passages, const float *vectors);

#endif
