/* Limits on what files may ask of a program. Wick checks them before it allocates or decodes anything, except for the
 * scans of a JPEG, which it counts as they come.
 *
 * A file of a few hundred bytes can claim pictures, tensors or tables of any size. A program that opens strangers'
 * files should say what it is ready to spend:
 *
 *     struct wick_archive_options options = {.limits = {.metadata = 1 << 20, .inflated = 1 << 30}};
 *     struct wick_archive *archive = wick_archive_open(path, &options);
 */
#ifndef WICK_LIMITS_H
#define WICK_LIMITS_H

#include <wick/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Each is a maximum; 0 means the default in its comment. A file that exceeds a limit fails with WICK_RANGE and a text
 * that names the limit. */
struct wick_limits {
    int64_t tensors;  /* in a file: 1,048,576 */
    int64_t metadata; /* bytes that describe tensors and hold metadata, in a file: 268,435,456 */
    int64_t inflated; /* bytes that a compressed part of a file may unpack to: 17,179,869,184 */
    int64_t pixels;   /* width times height of a picture: 134,217,728 */
    int64_t memory;   /* bytes a picture's decoder may hold, the picture included: 1,073,741,824 */
    int64_t scans;    /* passes of a progressive JPEG: 64 */
    WICK_RESERVED;
};

/* The limits with the defaults filled in for 0 and below; all of them for NULL. */
WICK_API struct wick_limits wick_limits_effective(const struct wick_limits *limits);

#ifdef __cplusplus
}
#endif
#endif
