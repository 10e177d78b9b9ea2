/* Reading and preparing pictures, against Pillow (make_pictures.py); files that are not pictures. */
#include "cli/image.h"
#include "tests/test.h"

#include <time.h>

static const struct image_preparation steps = {
    40, 32, IMAGE_BILINEAR, {0.485f, 0.456f, 0.406f}, {0.229f, 0.224f, 0.225f}};

/* One step of 8 bits, as prepared, is what different JPEG decoders and roundings of halves may differ by. */
static void check_picture(const char *name, enum image_filter filter, struct wick_archive *expected,
                          struct wick_device *device) {
    enum { COUNT = 3 * 32 * 32 };
    static float got[COUNT], want[COUNT];
    char path[64], key[64], error[IMAGE_MESSAGE] = "";
    struct image image;
    struct image_preparation preparation = steps;
    preparation.filter = filter;
    snprintf(path, sizeof path, "tests/vision/%s", name);
    snprintf(key, sizeof key, "%s.%s", name, filter == IMAGE_BICUBIC ? "bicubic" : "bilinear");
    bool ok = image_read(path, NULL, &image, error);
    CHECK(ok);
    if (!ok) return;
    CHECK(image_prepare(&image, &preparation, got));
    image_free(&image);
    struct wick_tensor *tensor = wick_archive_load(expected, key, device);
    CHECK_OK(wick_read(tensor, want, sizeof want));
    wick_release(tensor);
    int apart = 0;
    for (int i = 0; i < COUNT; i++) {
        float step = 1.001f / 255 / steps.deviation[i / 1024];
        CHECK(fabsf(got[i] - want[i]) <= step);
        apart += fabsf(got[i] - want[i]) > 1e-5f;
    }
    printf("%s: %d of %d values are one step apart\n", key, apart, COUNT);
    CHECK(apart <= COUNT / 50);
}

static void check_refusal(const char *bytes, size_t n, const struct wick_limits *limits, const char *text) {
    char path[] = "/tmp/wick-picture-XXXXXX", error[IMAGE_MESSAGE] = "";
    struct image image;
    int file = mkstemp(path);
    FILE *out = fdopen(file, "wb");
    fwrite(bytes, 1, n, out);
    fclose(out);
    CHECK(!image_read(path, limits, &image, error));
    if (text) CHECK_TEXT(error, text);
    CHECK(*error);
    remove(path);
}

/* Bombs: pictures of some hundred bytes that claim 65,500 x 65,500 pixels, and one whose scans are many. They are
 * refused before anything is decoded: at once, and in little memory. */
static void put_bytes(unsigned char **at, const char *bytes, size_t n) {
    memcpy(*at, bytes, n);
    *at += n;
}

/* A JPEG of one grey component and `scans` scans, which hold nothing: `progressive` or sequential. */
static size_t make_jpeg(unsigned char *file, unsigned size, bool progressive, int scans) {
    unsigned char *at = file;
    const char frame[] = {(char)0xff, (char)(progressive ? 0xc2 : 0xc0),
                          0,          11,
                          8,          (char)(size >> 8),
                          (char)size, (char)(size >> 8),
                          (char)size, 1,
                          1,          0x11,
                          0};
    put_bytes(&at, "\xff\xd8\xff\xdb\0\x43\0", 7);
    memset(at, 1, 64); /* the quantisation table */
    at += 64;
    put_bytes(&at, frame, sizeof frame);
    put_bytes(&at, "\xff\xc4\0\x14\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 22); /* one code: 0 bits */
    put_bytes(&at, "\xff\xc4\0\x14\x10\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 22);
    for (int i = 0; i < scans; i++) {
        bool first = i == 0 || !progressive;
        put_bytes(&at, "\xff\xda\0\x08\1\1\0", 7);
        if (!progressive)
            put_bytes(&at, "\0\x3f\0\0", 4);
        else
            put_bytes(&at, first ? "\0\0\0\0" : "\1\x3f\0\0", 4);
    }
    put_bytes(&at, "\xff\xd9", 2);
    return (size_t)(at - file);
}

static void check_bombs(void) {
    static unsigned char file[16384];
    const struct wick_limits few = {.scans = 3}, small = {.pixels = 64 * 64 - 1}, tight = {.memory = 64 * 64 * 5 - 1};
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    check_refusal((char *)file, make_jpeg(file, 65500, true, 1), NULL, "too large");
    check_refusal((char *)file, make_jpeg(file, 65500, false, 1), NULL, "too large");
    check_refusal((char *)file, make_jpeg(file, 11000, true, 500), NULL, "too many scans");
    check_refusal((char *)file, make_jpeg(file, 64, true, 4), &few, "too many scans");
    check_refusal((char *)file, make_jpeg(file, 64, true, 1), &small, "too large");
    check_refusal((char *)file, make_jpeg(file, 64, true, 1), &tight, "too large");
    static const char png[] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\1\0\0\0\1\0\0\x08\2\0\0\0" /* 65,536 x 65,536 */
                              "\343\346\247\264\0\0\0\0IDAT\065\257\006\036";
    check_refusal(png, sizeof png - 1, NULL, "too large");
    clock_gettime(CLOCK_MONOTONIC, &end);
    CHECK(end.tv_sec - begin.tv_sec < 20);
}

int main(void) {
    static const char *const names[] = {"wide.png", "small.png", "grey.png", "tall.jpg", "grey.jpg"};
    char error[IMAGE_MESSAGE];
    struct image image;
    struct wick_device *device = wick_device_open("cpu");
    struct wick_archive *expected = wick_archive_open("tests/vision/prepared.safetensors", NULL);
    CHECK(expected != NULL);
    for (int i = 0; i < 5 && expected; i++) {
        check_picture(names[i], IMAGE_BILINEAR, expected, device);
        check_picture(names[i], IMAGE_BICUBIC, expected, device);
    }
    check_refusal("", 0, NULL, "neither a JPEG nor a PNG file");
    check_refusal("GIF89a..........", 16, NULL, "neither a JPEG nor a PNG file");
    check_refusal("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0", 18, NULL, NULL);
    check_refusal("\xff\xd8\xff\xe0\0\x10JFIF", 10, NULL, NULL);
    CHECK(!image_read("tests/vision/none.png", NULL, &image, error));
    CHECK_TEXT(error, "No such file or directory");
    check_bombs();
    wick_archive_close(expected);
    wick_device_close(device);
    return test_end();
}
