/* Which type each tensor of a language model gets when it is quantised: llama.cpp's rules, for the families of
 * generate.h. docs/formats.md states them. */
#ifndef WICK_CLI_RECIPE_H
#define WICK_CLI_RECIPE_H

#include <wick/wick.h>

/* A file's type, which names a recipe. */
struct recipe {
    const char *name; /* "Q4_K_M" */
    int number;       /* general.file_type */
    enum wick_dtype dtype;
    bool possible; /* false: it needs a type without a quantiser, or an importance matrix */
};

/* By name, in either case; NULL when there is none. */
const struct recipe *recipe_find(const char *name);
/* All names that are possible, with commas. */
void recipe_names(char *text, size_t size);

/* A model, as far as the rules look at it. */
struct recipe_model {
    int64_t layers, heads, kv_heads, experts;
    bool tied;        /* there is no output.weight */
    bool seventy;     /* llama.cpp calls it 70B: 80 layers of Llama with grouped heads, or of Qwen 2 */
    int64_t n_values; /* tensors of values: attn_v and attn_qkv */
};

/* Whether a tensor is quantised at all. */
bool recipe_takes(const struct wick_archive_entry *entry);
/* Whether a tensor counts in n_values. */
bool recipe_is_values(const char *name);
/* The layer in a name "blk.N.", -1: none. */
int64_t recipe_layer(const char *name);
/* What a tensor becomes. `values` says how many tensors of values have a lower layer. */
enum wick_dtype recipe_dtype(const struct recipe *recipe, const struct recipe_model *model,
                             const struct wick_archive_entry *entry, int64_t values);

#endif
