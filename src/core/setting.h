/* Settings from the environment. A privileged process reads none (secure_getenv). A value that is none of those allowed
 * is ignored, with a warning in the log. */
#ifndef WICK_CORE_SETTING_H
#define WICK_CORE_SETTING_H

/* The whole number in the variable `name`, from `least` to `most`; `unset` when there is none. */
int wick__setting_number(const char *name, int least, int most, int unset);

/* The place, in `words`, a list that NULL ends, of the word in the variable `name`; `unset` when there is none. */
int wick__setting_word(const char *name, const char *const *words, int unset);

#endif
