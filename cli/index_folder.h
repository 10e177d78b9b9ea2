/* The folder of the search's indexes: who may be trusted with it, and how large it grows. */
#ifndef WICK_CLI_INDEX_FOLDER_H
#define WICK_CLI_INDEX_FOLDER_H

#include <stdbool.h>

/* Why an index, or the folder it is in, is not to be believed: it belongs to another user, or others can write it.
 * NULL when it is fine, or not there. */
const char *index_distrust(const char *file);

/* Says that an index was used, which keeps it longer. */
void index_touch(const char *file);

/* Brings the folder of an index below its limit, $WICK_INDEX_LIMIT MiB or 1024: the indexes that were not used for
 * longest go first. Also removes what interrupted programs left, once it is an hour old. */
void index_sweep(const char *file);

#endif
