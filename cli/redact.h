/* Taking out of a text what says whose machine it is from. */
#ifndef WICK_CLI_REDACT_H
#define WICK_CLI_REDACT_H

#include <stddef.h>

/* A copy of the text in which names of the user, the user's groups and the machine become [name]; absolute paths become
 * [path], but for nodes below /dev and the last part of a library's; UUIDs, and numbers of 13 digits or more, become
 * [serial]. NULL when out of memory. The caller frees it. */
char *redact(const char *text);

#endif
