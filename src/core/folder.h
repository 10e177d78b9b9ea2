/* What is done to a folder when files of ours appear in it. */
#ifndef WICK_CORE_FOLDER_H
#define WICK_CORE_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

/* Flushes the folder of a file to its disk, so that a file which was renamed into it is there after a crash. True where
 * that is done, or the file system does not know how; errno otherwise. */
bool wick__folder_sync(const char *path);

/* Deletes what writers that were killed left in the folder of `path`: files whose names begin with `prefix` and end
 * with `suffix`, which nobody has written for an hour. */
void wick__folder_sweep(const char *path, const char *prefix, const char *suffix);

#endif
