/* What the commands with language models share. */
#include "cli/lm.h"

#include "cli/command.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

int lm_place_open(const char *command, const struct lm_wishes *wishes, struct lm_place *place) {
    enum wick_dtype *cache = &place->cache;
    place->device = NULL;
    if (!wick_dtype_from_name(wishes->cache, cache) ||
        (*cache != WICK_F32 && *cache != WICK_F16 && *cache != WICK_BF16 && *cache != WICK_DTYPE_q8_0))
        return command_usage(command, "--cache is f32, f16, bf16 or q8_0, not '%s'", wishes->cache);
    if (wishes->threads && wick_threads_set((int)wishes->threads) != WICK_OK) return command_fail(command, "-t");
    place->device = wick_device_open(wishes->device);
    return place->device ? 0 : command_fail(command, "%s", wishes->device);
}

/* How many tokens a sequence will have, as far as one can tell; 0: as many as its context has. */
static int64_t expect_tokens(const struct lm_need *need) {
    enum { SPECIAL = 512, ANSWER = 2048 }; /* a template's words; an answer that ends by itself */
    if (need->context && need->tokens == 0) return 0;
    return need->prompt + SPECIAL + (need->tokens ? need->tokens : ANSWER);
}

struct wick_lm *lm_open(const char *command, const char *path, const struct lm_wishes *wishes,
                        const struct lm_place *place, const struct lm_need *need) {
    const struct wick_lm_use use = {
        .context = need->context, .tokens = expect_tokens(need), .cache = place->cache, .all = need->all};
    const struct wick_lm_options options = {.exact = wishes->exact,
                                            .files = {.copy = wishes->copy},
                                            .on_product = need->on_product,
                                            .context = need->product_context,
                                            .use = wishes->any_size ? NULL : &use};
    struct wick_lm *lm = wick_lm_open(path, place->device, &options);
    if (!lm && wick_error_status() == WICK_MEMORY && !wishes->any_size)
        command_fail(command, "the model does not fit (--any-size tries anyway)");
    else if (!lm)
        command_fail(command, "%s", path);
    return lm;
}

bool lm_encode(const char *command, const struct wick_lm *lm, const struct text *text, bool plain,
               struct wick_ids *ids) {
    const struct wick_tokenizer *tokenizer = wick_lm_tokenizer(lm);
    unsigned flags = WICK_ENCODE_LITERAL | (plain ? WICK_ENCODE_PLAIN : 0);
    *ids = (struct wick_ids){NULL, 0, 0};
    enum wick_status status = wick_tokenizer_encode_with(tokenizer, text->data, text->nbytes, flags, ids);
    if (status == WICK_OK) {
        ids->max = ids->n;
        ids->ids = malloc((size_t)ids->n * sizeof *ids->ids + 1);
        if (!ids->ids) {
            command_fail(command, "out of memory");
            return false;
        }
        status = wick_tokenizer_encode_with(tokenizer, text->data, text->nbytes, flags, ids);
    }
    if (status == WICK_OK) return true;
    command_fail(command, "the text");
    free(ids->ids);
    ids->ids = NULL;
    return false;
}

bool lm_begin_id(const char *command, const struct wick_lm *lm, int32_t *id) {
    char letter[] = "a";
    const struct text text = {letter, 1};
    struct wick_ids whole = {NULL, 0, 0}, plain = {NULL, 0, 0};
    bool good = lm_encode(command, lm, &text, false, &whole) && lm_encode(command, lm, &text, true, &plain);
    *id = -1;
    if (good && whole.n > plain.n && memcmp(whole.ids + 1, plain.ids, (size_t)plain.n * sizeof *plain.ids) == 0)
        *id = whole.ids[0];
    free(whole.ids);
    free(plain.ids);
    return good;
}

double lm_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
