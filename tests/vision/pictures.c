/* Reading and preparing pictures, against Pillow (make_pictures.py); files that are no pictures. */
#include "cli/image.h"
#include "tests/test.h"

static const struct image_preparation steps = {
    40, 32, IMAGE_BILINEAR, {0.485f, 0.456f, 0.406f}, {0.229f, 0.224f, 0.225f}};

/* One step of 8 bits, as prepared, is what different JPEG decoders and roundings of halves may differ by. */
static void check_picture(const char *name, enum image_filter filter, struct wick_archive *expected,
                          struct wick_device *device) {
    enum { COUNT = 3 * 32 * 32 };
    static float got[COUNT], want[COUNT];
    char path[64], key[64], error[IMAGE_ERROR] = "";
    struct image image;
    struct image_preparation preparation = steps;
    preparation.filter = filter;
    snprintf(path, sizeof path, "tests/vision/%s", name);
    snprintf(key, sizeof key, "%s.%s", name, filter == IMAGE_BICUBIC ? "bicubic" : "bilinear");
    bool ok = image_read(path, &image, error);
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

static void check_refusal(const char *bytes, size_t n, const char *text) {
    char path[] = "/tmp/wick-picture-XXXXXX", error[IMAGE_ERROR] = "";
    struct image image;
    int file = mkstemp(path);
    FILE *out = fdopen(file, "wb");
    fwrite(bytes, 1, n, out);
    fclose(out);
    CHECK(!image_read(path, &image, error));
    if (text) CHECK_TEXT(error, text);
    CHECK(*error);
    remove(path);
}

int main(void) {
    static const char *const names[] = {"wide.png", "small.png", "grey.png", "tall.jpg", "grey.jpg"};
    char error[IMAGE_ERROR];
    struct image image;
    struct wick_device *device = wick_device_open("cpu");
    struct wick_archive *expected = wick_archive_open("tests/vision/prepared.safetensors", NULL);
    CHECK(expected != NULL);
    for (int i = 0; i < 5 && expected; i++) {
        check_picture(names[i], IMAGE_BILINEAR, expected, device);
        check_picture(names[i], IMAGE_BICUBIC, expected, device);
    }
    check_refusal("", 0, "neither a JPEG nor a PNG file");
    check_refusal("GIF89a..........", 16, "neither a JPEG nor a PNG file");
    check_refusal("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0", 18, NULL);
    check_refusal("\xff\xd8\xff\xe0\0\x10JFIF", 10, NULL);
    CHECK(!image_read("tests/vision/none.png", &image, error));
    CHECK_TEXT(error, "No such file or directory");
    wick_archive_close(expected);
    wick_device_close(device);
    return test_end();
}
