/* Pictures for vision models: reading JPEG and PNG files, and the usual preparation. */
#ifndef WICK_CLI_IMAGE_H
#define WICK_CLI_IMAGE_H

#include <wick/limits.h>

#include <stdbool.h>
#include <stdint.h>

/* 8-bit RGB, rows from the top, 3 * width bytes a row. */
struct image {
    int width, height;
    uint8_t *pixels;
};

/* Reads a JPEG or PNG file or pipe, "-" for standard input; the content tells which. Grey becomes RGB; transparency is
 * laid over white. The limits (NULL: the defaults) are checked before anything is decoded. On failure returns false
 * with the reason in `message`. What a damaged JPEG lacks is grey: then `message` says what is wrong; it is "" for a
 * sound picture. Free with image_free. */
enum { IMAGE_MESSAGE = 200 };
bool image_read(const char *path, const struct wick_limits *limits, struct image *image, char message[IMAGE_MESSAGE]);
void image_free(struct image *image);

enum image_filter { IMAGE_BILINEAR, IMAGE_BICUBIC };

/* What is done to a picture before a model sees it. */
struct image_preparation {
    int resize; /* the shorter edge becomes this long */
    int crop;   /* the side of the centre square that is kept */
    enum image_filter filter;
    float mean[3], deviation[3]; /* of values from 0 to 1 */
};

/* Resizes as Pillow does (antialiased, a filter as wide as the reduction, each pass rounded to 8 bits), crops the
 * centre as torchvision does, and writes (value / 255 - mean) / deviation as [3, crop, crop] to `planes`.
 * False when out of memory. */
bool image_prepare(const struct image *image, const struct image_preparation *preparation, float *planes);

#endif
