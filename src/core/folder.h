/* Folders: what is done when files of ours appear in one, and looking for files by a pattern. */
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

/* Calls `take` with each path that exists and matches a pattern of fnmatch for each of its parts, "/opt/rocm-*" +
 * "/lib", until it returns true; returns whether it did. In the order of versions, the highest first if `last_first`.
 * Unlike glob of the C library, which ends the process when it gets no memory, this only finds less then. */
bool wick__folder_match(const char *pattern, bool last_first, bool (*take)(void *context, const char *path),
                        void *context);

#endif
