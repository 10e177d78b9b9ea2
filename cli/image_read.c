/* Reading JPEG (libjpeg) and PNG (libpng) files. */
#include "cli/image.h"

#include "cli/image_jpeg.h"
#include "cli/read.h"

#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

static bool refuse(char message[IMAGE_MESSAGE], const char *reason) {
    snprintf(message, IMAGE_MESSAGE, "%s", reason);
    return false;
}

/* libjpeg reports through a callback that must not return. */
struct jpeg_failure {
    struct jpeg_error_mgr manager;
    jmp_buf jump;
    char text[JMSG_LENGTH_MAX];    /* of a failure */
    char warning[JMSG_LENGTH_MAX]; /* the first */
};

static void jpeg_fail(j_common_ptr common) {
    struct jpeg_failure *failure = (struct jpeg_failure *)common->err;
    common->err->format_message(common, failure->text);
    longjmp(failure->jump, 1);
}

/* libjpeg goes on after a warning, and calls this for the first. */
static void jpeg_warn(j_common_ptr common) {
    struct jpeg_failure *failure = (struct jpeg_failure *)common->err;
    if (!failure->warning[0]) common->err->format_message(common, failure->warning);
}

/* CMYK as Adobe writes it, inverted, to RGB in place: 4 bytes a pixel to 3. */
static void cmyk_to_rgb(const JSAMPLE *cmyk, uint8_t *rgb, int n) {
    for (int i = 0; i < n; i++)
        for (int c = 0; c < 3; c++) rgb[3 * i + c] = (uint8_t)(cmyk[4 * i + c] * cmyk[4 * i + 3] / 255);
}

static bool read_jpeg(const char *data, size_t nbytes, const struct wick_limits *limits, struct image *image,
                      char message[IMAGE_MESSAGE]) {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_failure failure;
    struct image_watch watch = {.refusal = NULL};
    JSAMPLE *volatile row = NULL;
    uint8_t *volatile pixels = NULL;
    jpeg.err = jpeg_std_error(&failure.manager);
    failure.manager.error_exit = jpeg_fail;
    failure.manager.output_message = jpeg_warn;
    failure.warning[0] = '\0';
    if (setjmp(failure.jump)) {
        jpeg_destroy_decompress(&jpeg);
        free(row);
        free(pixels);
        return refuse(message, watch.refusal ? watch.refusal : failure.text);
    }
    jpeg_create_decompress(&jpeg);
    jpeg_mem_src(&jpeg, (const unsigned char *)data, nbytes);
    jpeg_read_header(&jpeg, TRUE);
    image_watch(&jpeg, &watch, limits);
    bool cmyk = jpeg.num_components == 4;
    jpeg.out_color_space = cmyk ? JCS_CMYK : JCS_RGB;
    jpeg_start_decompress(&jpeg);
    int width = (int)jpeg.output_width, height = (int)jpeg.output_height;
    row = malloc((size_t)width * 4);
    pixels = malloc((size_t)width * (size_t)height * 3);
    if (!row || !pixels) {
        jpeg_destroy_decompress(&jpeg);
        free(row);
        free(pixels);
        return refuse(message, "out of memory");
    }
    while (jpeg.output_scanline < jpeg.output_height) {
        uint8_t *to = pixels + (size_t)jpeg.output_scanline * (size_t)width * 3;
        JSAMPLE *line = cmyk ? row : to;
        jpeg_read_scanlines(&jpeg, &line, 1);
        if (cmyk) cmyk_to_rgb(row, to, width);
    }
    jpeg_finish_decompress(&jpeg);
    jpeg_destroy_decompress(&jpeg);
    free(row);
    *image = (struct image){width, height, pixels};
    snprintf(message, IMAGE_MESSAGE, "%s", failure.warning);
    return true;
}

static bool read_png(const char *data, size_t nbytes, const struct wick_limits *limits, struct image *image,
                     char message[IMAGE_MESSAGE]) {
    png_image png = {.version = PNG_IMAGE_VERSION};
    png_color white = {255, 255, 255};
    if (!png_image_begin_read_from_memory(&png, data, nbytes)) return refuse(message, png.message);
    png.format = PNG_FORMAT_RGB;
    if (!image_size_allowed(limits, png.width, png.height, 3)) {
        png_image_free(&png);
        return refuse(message, "too large");
    }
    uint8_t *pixels = malloc((size_t)png.width * png.height * 3);
    if (!pixels) {
        png_image_free(&png);
        return refuse(message, "out of memory");
    }
    if (!png_image_finish_read(&png, &white, pixels, 0, NULL)) {
        free(pixels);
        return refuse(message, png.message);
    }
    *image = (struct image){(int)png.width, (int)png.height, pixels};
    return true;
}

bool image_read(const char *path, const struct wick_limits *limits, struct image *image, char message[IMAGE_MESSAGE]) {
    const struct wick_limits effective = wick_limits_effective(limits);
    char *data;
    size_t nbytes;
    bool ok;
    *message = '\0';
    if (!read_whole(path, (size_t)effective.memory, &data, &nbytes)) return refuse(message, strerror(errno));
    if (nbytes >= 8 && png_sig_cmp((png_const_bytep)data, 0, 8) == 0)
        ok = read_png(data, nbytes, &effective, image, message);
    else if (nbytes >= 3 && memcmp(data, "\xFF\xD8\xFF", 3) == 0)
        ok = read_jpeg(data, nbytes, &effective, image, message);
    else
        ok = refuse(message, "neither a JPEG nor a PNG file");
    free(data);
    return ok;
}

void image_free(struct image *image) {
    free(image->pixels);
    image->pixels = NULL;
}
