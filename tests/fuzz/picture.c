/* Hostile pictures, within limits that keep each below some milliseconds. */
#define _GNU_SOURCE
#include "cli/image.h"
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static const struct image_preparation preparation = {.resize = 20, .crop = 16, .deviation = {1, 1, 1}};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes) {
    const struct wick_limits limits = {.pixels = 1 << 16, .memory = 1 << 22, .scans = 8};
    static float planes[3 * 16 * 16];
    char path[40], error[IMAGE_MESSAGE] = "";
    struct image image;
    int file = memfd_create("picture", MFD_CLOEXEC);
    if (file < 0 || write(file, data, nbytes) != (ssize_t)nbytes) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (image_read(path, &limits, &image, error)) {
        if ((int64_t)image.width * image.height > limits.pixels) abort();
        (void)image_prepare(&image, &preparation, planes);
        image_free(&image);
    } else if (!*error) {
        abort();
    }
    close(file);
    return 0;
}
