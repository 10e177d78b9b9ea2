/* Settings from the environment. */
#define _GNU_SOURCE /* secure_getenv */

#include "core/setting.h"

#include "core/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int wick__setting_number(const char *name, int least, int most, int unset) {
    const char *text = secure_getenv(name);
    if (!text) return unset;
    char *end;
    long value = strtol(text, &end, 10); /* saturates beyond long */
    if (*text && !*end && value >= least && value <= most) return (int)value;
    wick__log(WICK_LOG_WARNING, "%s=%.20s is not a number from %d to %d; ignored", name, text, least, most);
    return unset;
}

int wick__setting_word(const char *name, const char *const *words, int unset) {
    const char *text = secure_getenv(name);
    char allowed[128] = "";
    if (!text || !*text) return unset;
    for (int i = 0; words[i]; i++) {
        size_t at = strlen(allowed);
        if (strcmp(text, words[i]) == 0) return i;
        snprintf(allowed + at, sizeof allowed - at, "%s%s", at ? ", " : "", words[i]);
    }
    wick__log(WICK_LOG_WARNING, "%s=%.20s is none of %s; ignored", name, text, allowed);
    return unset;
}
