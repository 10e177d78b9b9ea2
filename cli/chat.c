/* wick chat: a conversation with a language model. */
#include "cli/json.h"
#include "cli/line.h"
#include "cli/lm.h"
#include "cli/options.h"
#include "cli/output.h"
#include "src/core/dump.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct wishes {
    const char *model, *system;
    int64_t tokens, context, seed;
    struct wick_sampling sampling;
    struct lm_wishes lm;
};

struct chat {
    const struct wishes *wishes;
    struct wick_lm *lm;
    struct wick_sequence *sequence;
    json_t *messages;
    FILE *answer; /* what the model says now */
};

/* Ctrl-C ends the line or the answer, not the program. */
static volatile sig_atomic_t interrupted;

static void interrupt(int number) {
    (void)number;
    interrupted = 1;
}

static bool on_token(void *context, const struct wick_generated *token) {
    struct chat *chat = context;
    const char *end = token->text + token->nbytes;
    fwrite(token->text, 1, token->nbytes, chat->answer);
    for (const char *at = token->text, *stop; at < end; at = stop + 1) {
        stop = memchr(at, '\n', (size_t)(end - at));
        output_bytes(stdout, at, (size_t)((stop ? stop : end) - at));
        if (!stop) break;
        putchar('\n');
    }
    return fflush(stdout) == 0 && !interrupted;
}

static bool add_message(json_t *messages, const char *role, const char *content) {
    json_t *message = json_pack("{s:s, s:o}", "role", role, "content", json_text(content));
    return message && json_array_append_new(messages, message) == 0;
}

/* The conversation from its beginning; the system's message comes first. */
static bool begin(struct chat *chat) {
    json_decref(chat->messages);
    chat->messages = json_array();
    if (chat->messages && (!chat->wishes->system || add_message(chat->messages, "system", chat->wishes->system)))
        return true;
    command_fail("chat", "out of memory");
    return false;
}

/* The model's words to the messages so far. False, with the reason told, when it could not end them. */
static bool answer(struct chat *chat) {
    struct wick_text text = {0};
    const struct wick_generate_options options = {
        .max_tokens = chat->wishes->tokens, .sampling = &chat->wishes->sampling, .on_token = on_token, .context = chat};
    char *messages = wick__json_dump(chat->messages, JSON_COMPACT);
    bool good = messages && wick_lm_chat(chat->lm, messages, strlen(messages), true, &text) == WICK_OK &&
                wick_sequence_prompt(chat->sequence, text.data, text.nbytes, WICK_ENCODE_PLAIN) == WICK_OK &&
                (interrupted || wick_generate(chat->sequence, &options, NULL) == WICK_OK);
    putchar('\n');
    fflush(stdout);
    if (!good) command_fail("chat", "%s", chat->wishes->model);
    free(messages);
    wick_text_free(&text);
    return good;
}

/* One question and its answer. Both are forgotten if the answer failed, so that the conversation can go on. */
static bool turn(struct chat *chat, const char *question) {
    char *words = NULL;
    size_t size = 0, before = json_array_size(chat->messages);
    chat->answer = open_memstream(&words, &size);
    bool good = chat->answer && add_message(chat->messages, "user", question);
    if (!good) command_fail("chat", "out of memory");
    if (good) good = answer(chat);
    bool whole = chat->answer && fclose(chat->answer) == 0;
    if (good && !(whole && add_message(chat->messages, "assistant", words))) {
        command_fail("chat", "out of memory");
        good = false;
    }
    while (!good && json_array_size(chat->messages) > before)
        if (json_array_remove(chat->messages, json_array_size(chat->messages) - 1) != 0) break;
    free(words);
    return good;
}

/* Until the input ends. On a terminal a failed answer is told and the conversation goes on. */
static int converse(struct chat *chat, struct line *line) {
    for (;;) {
        char *text = NULL;
        interrupted = 0;
        enum line_result result = line_read(line, &text);
        bool good = true;
        if (result == LINE_TEXT && strcmp(text, "/new") == 0)
            good = begin(chat);
        else if (result == LINE_TEXT && strcmp(text, "/quit") == 0)
            result = LINE_END;
        else if (result == LINE_TEXT && *text)
            good = turn(chat, text);
        free(text);
        if (result == LINE_FAILED) return command_fail("chat", "the input");
        if (result == LINE_END) return 0;
        if (!good && !line_edits(line)) return 1;
        if (!chat->messages) return 1;
    }
}

static int run(struct chat *chat, struct lm_place *place) {
    const struct wishes *wishes = chat->wishes;
    const struct wick_sequence_options options = {.context = wishes->context, .cache = place->cache};
    const struct lm_need need = {.context = wishes->context};
    chat->lm = lm_open("chat", wishes->model, &wishes->lm, place, &need);
    if (!chat->lm) return 1;
    if (!wick_lm_chat_template(chat->lm)) return command_fail("chat", "%s has no chat template", wishes->model);
    chat->sequence = wick_sequence_open(chat->lm, &options);
    if (!chat->sequence) return command_fail("chat", "%s", wishes->model);
    if (!begin(chat)) return 1;
    struct line *line = line_open("chat_history", "> ");
    if (!line) return command_fail("chat", "out of memory");
    struct sigaction action = {.sa_handler = interrupt}, old;
    sigaction(SIGINT, &action, &old); /* without SA_RESTART: reading a line ends too */
    int status = converse(chat, line);
    sigaction(SIGINT, &old, NULL);
    line_close(line);
    return status;
}

int command_chat(int argc, char **argv) {
    struct wishes wishes = {.lm = {.device = "auto", .cache = "f32"}, .sampling = wick_sampling_default()};
    int n = 0, status;
    const struct option list[] = {
        OPTIONS_TEXT("--system", "TEXT", &wishes.system, "tells the model beforehand how to answer"),
        OPTIONS_NUMBER("-n", "N", &wishes.tokens, 0, INT32_MAX, "tokens of an answer at most"),
        OPTIONS_NUMBER("-c", "N", &wishes.context, 0, 1 << 30, "the context in tokens; the model's by default"),
        LM_SAMPLING(wishes.sampling, wishes.seed),
        LM_DEVICE(wishes.lm),
        LM_OPTIONS(wishes.lm),
        OPTIONS_END};
    const struct options options = {"chat", list, 1};
    struct chat chat = {.wishes = &wishes};
    struct lm_place place;
    if (!options_parse(&options, argc, argv, &n, &status)) return status;
    if (n < 1) return command_usage("chat", "needs a model");
    wishes.model = argv[0];
    wishes.sampling.seed = (uint64_t)wishes.seed;
    status = lm_place_open("chat", &wishes.lm, &place);
    if (status != 0) return status;
    status = run(&chat, &place);
    json_decref(chat.messages);
    wick_sequence_close(chat.sequence);
    wick_lm_close(chat.lm);
    wick_device_close(place.device);
    return status;
}
