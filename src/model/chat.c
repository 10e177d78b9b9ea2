/* Conversations as a model's chat template writes them. */
#include "model/lm.h"

#include "core/dump.h"
#include "core/memory.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* What a template may ask for: {"messages": ..., "add_generation_prompt": ..., "bos_token": ..., "eos_token": ...} */
static char *context_of(const struct wick_lm *lm, const char *messages, size_t nbytes, bool answer) {
    json_error_t error;
    json_t *list = json_loadb(messages, nbytes, JSON_REJECT_DUPLICATES, &error);
    if (!json_is_array(list)) {
        wick__fail(WICK_FORMAT, "lm_chat: messages: %s", list ? "no array" : error.text);
        json_decref(list);
        return NULL;
    }
    const char *begin = wick_tokenizer_token(lm->tokenizer, lm->begin);
    const char *end = wick_tokenizer_token(lm->tokenizer, lm->n_ends ? lm->ends[0] : -1);
    json_t *context = json_object();
    bool good = json_object_set_new(context, "messages", list) == 0 &&
                json_object_set_new(context, "add_generation_prompt", json_boolean(answer)) == 0 &&
                json_object_set_new(context, "bos_token", json_string(begin ? begin : "")) == 0 &&
                json_object_set_new(context, "eos_token", json_string(end ? end : "")) == 0;
    char *text = good ? wick__json_dump(context, JSON_COMPACT) : NULL;
    if (!text) wick__fail(WICK_MEMORY, "lm_chat: out of memory");
    json_decref(context);
    return text;
}

enum wick_status wick_lm_chat(const struct wick_lm *lm, const char *messages, size_t nbytes, bool answer,
                              struct wick_text *text) {
    if (!lm || !messages || !text)
        return wick__fail(WICK_INVALID, "lm_chat: %s is NULL", !lm ? "lm" : messages ? "text" : "messages");
    const char *source = lm->chat_template.data;
    if (!source) return wick__fail(WICK_UNSUPPORTED, "lm_chat: the model has no chat template");
    char *context = context_of(lm, messages, nbytes, answer);
    if (!context) return wick__latest();
    struct wick_template *tmpl = wick_template_open(source, lm->chat_template.nbytes);
    enum wick_status status = tmpl ? wick_template_render(tmpl, context, strlen(context), NULL, text) : wick__latest();
    wick_template_close(tmpl);
    free(context);
    return status;
}
