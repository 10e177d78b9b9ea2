/* What the commands with language models share: the device, the model, seconds. */
#ifndef WICK_CLI_LM_H
#define WICK_CLI_LM_H

#include "cli/text.h"

#include <stdbool.h>

/* What the user asked for. */
struct lm_wishes {
    const char *device, *cache; /* "auto", "f32" */
    int64_t threads;            /* 0: as many as there are */
    bool exact;
    bool copy; /* read the file instead of mapping it */
};

/* What it became. */
struct lm_place {
    struct wick_device *device;
    enum wick_dtype cache;
};

/* Sets the threads and opens the device. Returns 0, or the exit status after a failure was reported. Close with
 * wick_device_close. */
int lm_place_open(const char *command, const struct lm_wishes *wishes, struct lm_place *place);
/* Opens a model there. NULL after a failure was reported. */
struct wick_lm *lm_open(const char *command, const char *path, const struct lm_wishes *wishes,
                        const struct lm_place *place);
/* The ids of a text, with the tokens that the model wants around it unless it is `plain`; names of control tokens are
 * ordinary text. The caller frees ids->ids. False after a failure was reported. */
bool lm_encode(const char *command, const struct wick_lm *lm, const struct text *text, bool plain,
               struct wick_ids *ids);
/* The id that the model puts before each text; -1: none. False after a failure was reported. */
bool lm_begin_id(const char *command, const struct wick_lm *lm, int32_t *id);
/* A clock. */
double lm_seconds(void);

#endif
