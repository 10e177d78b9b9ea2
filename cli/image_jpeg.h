/* What a JPEG may cost, checked before it is decoded and while its scans come in. */
#ifndef WICK_CLI_IMAGE_JPEG_H
#define WICK_CLI_IMAGE_JPEG_H

#include <wick/limits.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jpeglib.h>

/* Whether a picture of this size is within the limits, and the decoder holds no more than `each` bytes a pixel. */
bool image_size_allowed(const struct wick_limits *limits, int64_t width, int64_t height, int64_t each);

/* Watches a decompressor whose header has been read: its error_exit is called, with the reason in watch->refusal, at
 * once for a picture beyond the limits, and later for more scans, or more work in them, than are allowed. `watch` and
 * the limits must outlive the decompressor. */
struct image_watch {
    struct jpeg_progress_mgr manager;
    const struct wick_limits *limits;
    const char *refusal; /* NULL for libjpeg's own failures */
};
void image_watch(struct jpeg_decompress_struct *jpeg, struct image_watch *watch, const struct wick_limits *limits);

#endif
