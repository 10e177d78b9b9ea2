/* A file of some hundred bytes can claim a picture of 65,500 x 65,500 pixels, and repeat a scan over all of it without
 * end: libjpeg sets no bounds. A progressive picture is held whole, as 16-bit coefficients, before a row comes out. */
#include "cli/image_jpeg.h"

#include <jerror.h>

bool image_size_allowed(const struct wick_limits *limits, int64_t width, int64_t height, int64_t each) {
    if (width <= 0 || height <= 0 || width > limits->pixels || height > limits->pixels / width) return false;
    return width * height <= limits->memory / each;
}

static void refuse(struct jpeg_decompress_struct *jpeg, const char *reason) {
    ((struct image_watch *)jpeg->progress)->refusal = reason;
    ERREXIT(jpeg, JERR_OUT_OF_MEMORY);
}

/* Called for each row of blocks that comes in. Together the scans may pass over no more pixels than a quarter of the
 * allowed ones would over the largest picture: many scans of a small picture cost little. */
static void on_progress(j_common_ptr common) {
    struct jpeg_decompress_struct *jpeg = (struct jpeg_decompress_struct *)common;
    const struct wick_limits *limits = ((struct image_watch *)jpeg->progress)->limits;
    int64_t scans = jpeg->input_scan_number, pixels = (int64_t)jpeg->image_width * jpeg->image_height;
    if (scans > limits->scans || scans * pixels > limits->scans * (limits->pixels / 4)) refuse(jpeg, "too many scans");
}

void image_watch(struct jpeg_decompress_struct *jpeg, struct image_watch *watch, const struct wick_limits *limits) {
    int64_t each = 3 + (jpeg_has_multiple_scans(jpeg) ? 2 * (int64_t)jpeg->num_components : 0);
    *watch = (struct image_watch){.manager = {.progress_monitor = on_progress}, .limits = limits};
    jpeg->progress = &watch->manager;
    jpeg->mem->max_memory_to_use = (long)limits->memory;
    if (!image_size_allowed(limits, jpeg->image_width, jpeg->image_height, each)) refuse(jpeg, "too large");
}
