/* Which type each tensor of a language model gets when it is quantised. */
#include "cli/recipe.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Numbers are those of llama.cpp's file types. */
enum {
    Q4_0 = 2,
    Q5_0 = 8,
    Q2_K = 10,
    Q3_K_S,
    Q3_K_M,
    Q3_K_L,
    Q4_K_S,
    Q4_K_M,
    Q5_K_S,
    Q5_K_M,
    IQ4_NL = 25,
    IQ4_XS = 30,
    TQ1_0 = 36,
    TQ2_0,
    MXFP4_MOE
};

static const struct recipe recipes[] = {
    {"F32", 0, WICK_F32, true},
    {"F16", 1, WICK_F16, true},
    {"BF16", 32, WICK_BF16, true},
    {"Q4_0", Q4_0, WICK_DTYPE_q4_0, true},
    {"Q4_1", 3, WICK_DTYPE_q4_1, true},
    {"Q5_0", Q5_0, WICK_DTYPE_q5_0, true},
    {"Q5_1", 9, WICK_DTYPE_q5_1, true},
    {"Q8_0", 7, WICK_DTYPE_q8_0, true},
    {"Q2_K", Q2_K, WICK_DTYPE_q2_k, true},
    {"Q3_K_S", Q3_K_S, WICK_DTYPE_q3_k, true},
    {"Q3_K_M", Q3_K_M, WICK_DTYPE_q3_k, true},
    {"Q3_K_L", Q3_K_L, WICK_DTYPE_q3_k, true},
    {"Q4_K_S", Q4_K_S, WICK_DTYPE_q4_k, true},
    {"Q4_K_M", Q4_K_M, WICK_DTYPE_q4_k, true},
    {"Q5_K_S", Q5_K_S, WICK_DTYPE_q5_k, true},
    {"Q5_K_M", Q5_K_M, WICK_DTYPE_q5_k, true},
    {"Q6_K", 18, WICK_DTYPE_q6_k, true},
    {"IQ4_NL", IQ4_NL, WICK_DTYPE_iq4_nl, true},
    {"IQ4_XS", IQ4_XS, WICK_DTYPE_iq4_xs, true},
    {"TQ1_0", TQ1_0, WICK_DTYPE_tq1_0, true},
    {"TQ2_0", TQ2_0, WICK_DTYPE_tq2_0, true},
    {"MXFP4_MOE", MXFP4_MOE, WICK_DTYPE_mxfp4, true},
    {"Q2_K_S", 21, WICK_DTYPE_q2_k, false},
    {"IQ1_S", 24, WICK_DTYPE_iq1_s, false},
    {"IQ1_M", 31, WICK_DTYPE_iq1_m, false},
    {"IQ2_XXS", 19, WICK_DTYPE_iq2_xxs, false},
    {"IQ2_XS", 20, WICK_DTYPE_iq2_xs, false},
    {"IQ2_S", 28, WICK_DTYPE_iq2_xs, false},
    {"IQ2_M", 29, WICK_DTYPE_iq2_s, false},
    {"IQ3_XXS", 23, WICK_DTYPE_iq3_xxs, false},
    {"IQ3_XS", 22, WICK_DTYPE_iq3_s, false},
    {"IQ3_S", 26, WICK_DTYPE_iq3_s, false},
    {"IQ3_M", 27, WICK_DTYPE_iq3_s, false},
    /* short for the usual ones */
    {"Q3_K", Q3_K_M, WICK_DTYPE_q3_k, true},
    {"Q4_K", Q4_K_M, WICK_DTYPE_q4_k, true},
    {"Q5_K", Q5_K_M, WICK_DTYPE_q5_k, true},
};
enum { RECIPES = sizeof recipes / sizeof *recipes };

const struct recipe *recipe_find(const char *name) {
    for (int i = 0; i < RECIPES; i++)
        if (strcasecmp(name, recipes[i].name) == 0) return &recipes[i];
    return NULL;
}

void recipe_names(char *text, size_t size) {
    size_t at = 0;
    text[0] = '\0';
    for (int i = 0; i < RECIPES && at < size; i++)
        if (recipes[i].possible)
            at += (size_t)snprintf(text + at, size - at, "%s%s", at > 0 ? ", " : "", recipes[i].name);
}

/* ---- tensors ---- */

static bool has(const char *name, const char *part) { return strstr(name, part) != NULL; }

bool recipe_takes(const struct wick_archive_entry *entry) {
    const char *name = entry->name;
    size_t length = strlen(name);
    int64_t rows = 1;
    for (int d = 0; d + 1 < entry->rank; d++) rows *= entry->shape[d] > 1 ? 2 : 1;
    return rows > 1 && length >= 6 && strcmp(name + length - 6, "weight") == 0 && !has(name, "_norm.weight") &&
           !has(name, "ffn_gate_inp.weight");
}

bool recipe_is_values(const char *name) { return has(name, "attn_v.weight") || has(name, "attn_qkv.weight"); }

int64_t recipe_layer(const char *name) {
    long long layer;
    return sscanf(name, "blk.%9lld.", &layer) == 1 ? layer : -1;
}

/* The first and the last eighth of the layers, and every third between. */
static bool more_bits(int64_t i, int64_t n) { return i < n / 8 || i >= 7 * n / 8 || (i - n / 8) % 3 == 2; }

/* The matrix that gives the logits. */
static enum wick_dtype output_dtype(const struct recipe *recipe, int64_t columns) {
    bool whole = columns % wick_dtype_block(recipe->dtype) == 0;
    if (recipe->number == MXFP4_MOE || !whole || recipe->dtype == WICK_DTYPE_q8_0) return WICK_DTYPE_q8_0;
    return WICK_DTYPE_q6_k;
}

static enum wick_dtype values_dtype(const struct recipe *recipe, const struct recipe_model *model, int64_t i) {
    enum wick_dtype dtype = recipe->dtype;
    bool grouped = model->heads / model->kv_heads >= 4;
    switch (recipe->number) {
    case Q2_K: dtype = grouped ? WICK_DTYPE_q4_k : WICK_DTYPE_q3_k; break;
    case Q3_K_M: dtype = i < 2 ? WICK_DTYPE_q5_k : WICK_DTYPE_q4_k; break;
    case Q3_K_L: dtype = WICK_DTYPE_q5_k; break;
    case IQ4_NL:
    case IQ4_XS: dtype = grouped ? WICK_DTYPE_q5_k : dtype; break;
    case Q4_K_M:
    case Q5_K_M: dtype = more_bits(i, model->n_values) ? WICK_DTYPE_q6_k : dtype; break;
    case Q4_K_S: dtype = i < 4 ? WICK_DTYPE_q5_k : dtype; break;
    default: break;
    }
    if (model->seventy && (dtype == WICK_DTYPE_q3_k || dtype == WICK_DTYPE_q4_k)) dtype = WICK_DTYPE_q5_k;
    return model->experts == 8 ? WICK_DTYPE_q8_0 : dtype;
}

static enum wick_dtype down_dtype(const struct recipe *recipe, int64_t i, int64_t n) {
    switch (recipe->number) {
    case Q2_K: return WICK_DTYPE_q3_k;
    case Q3_K_M: return i < n / 16 ? WICK_DTYPE_q5_k : WICK_DTYPE_q4_k;
    case Q3_K_L: return WICK_DTYPE_q5_k;
    case Q4_K_M:
    case Q5_K_M: return more_bits(i, n) ? WICK_DTYPE_q6_k : recipe->dtype;
    case IQ4_NL:
    case IQ4_XS:
    case Q4_K_S: return i < n / 8 ? WICK_DTYPE_q5_k : recipe->dtype;
    default: return recipe->dtype;
    }
}

static enum wick_dtype attention_output_dtype(const struct recipe *recipe, const struct recipe_model *model) {
    bool eight = model->experts == 8;
    switch (recipe->number) {
    case Q2_K: return eight ? WICK_DTYPE_q5_k : WICK_DTYPE_q3_k;
    case Q3_K_M: return eight ? WICK_DTYPE_q5_k : WICK_DTYPE_q4_k;
    case Q3_K_L: return eight ? recipe->dtype : WICK_DTYPE_q5_k;
    case Q3_K_S:
    case Q4_K_S:
    case Q4_K_M:
    case IQ4_NL:
    case IQ4_XS: return eight ? WICK_DTYPE_q5_k : recipe->dtype;
    default: return recipe->dtype;
    }
}

/* What a tensor becomes when its rows are no whole number of blocks. */
static enum wick_dtype fall_back(enum wick_dtype dtype, int64_t columns) {
    enum wick_dtype other = WICK_F16;
    if (columns % wick_dtype_block(dtype) == 0) return dtype;
    if (dtype == WICK_DTYPE_iq4_xs) other = WICK_DTYPE_iq4_nl;
    if (dtype == WICK_DTYPE_q2_k || dtype == WICK_DTYPE_q3_k || dtype == WICK_DTYPE_tq1_0 || dtype == WICK_DTYPE_tq2_0)
        other = WICK_DTYPE_q4_0;
    if (dtype == WICK_DTYPE_q4_k) other = WICK_DTYPE_q5_0;
    if (dtype == WICK_DTYPE_q5_k) other = WICK_DTYPE_q5_1;
    if (dtype == WICK_DTYPE_q6_k) other = WICK_DTYPE_q8_0;
    return columns % wick_dtype_block(other) == 0 ? other : WICK_F16;
}

enum wick_dtype recipe_dtype(const struct recipe *recipe, const struct recipe_model *model,
                             const struct wick_archive_entry *entry, int64_t values) {
    const char *name = entry->name;
    enum wick_dtype dtype = recipe->dtype;
    int64_t columns = entry->shape[entry->rank - 1];
    bool embedding = strcmp(name, "token_embd.weight") == 0;
    if (wick_dtype_kind(dtype) != WICK_DTYPE_KIND_QUANTISED) return dtype;
    if (strcmp(name, "output.weight") == 0 || (embedding && model->tied))
        dtype = output_dtype(recipe, columns);
    else if (recipe->number == MXFP4_MOE)
        dtype = entry->rank > 2 && entry->shape[entry->rank - 3] > 1 ? WICK_DTYPE_mxfp4 : WICK_DTYPE_q8_0;
    else if (embedding)
        dtype = recipe->number == TQ1_0 || recipe->number == TQ2_0 ? WICK_DTYPE_q4_k : dtype;
    else if (recipe_is_values(name))
        dtype = values_dtype(recipe, model, values);
    else if (has(name, "attn_k.weight"))
        dtype = model->experts == 8 ? WICK_DTYPE_q8_0 : dtype;
    else if (has(name, "ffn_down"))
        dtype = down_dtype(recipe, recipe_layer(name), model->layers);
    else if (has(name, "attn_output.weight"))
        dtype = attention_output_dtype(recipe, model);
    return fall_back(dtype, columns);
}
