/* Resizing, cropping, normalising.
 *
 * The resampling is Pillow's (its documentation, "Concepts: Filters"): for each output pixel a filter centred on its
 * place in the source, as wide as the reduction so that nothing is skipped, with weights that sum to one; first along
 * rows, then along columns, rounding to 8 bits between. */
#include "cli/image.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double bilinear(double x) { return fabs(x) < 1 ? 1 - fabs(x) : 0; }

/* Keys' cubic with a = -0.5. */
static double bicubic(double x) {
    const double a = -0.5;
    x = fabs(x);
    if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

/* The weights of one axis: output i is the sum of weight[i * taps + t] * source[first[i] + t], t < count[i]. */
struct axis {
    int taps;
    int *first, *count;
    float *weight;
};

static bool axis_new(struct axis *axis, int from, int to, enum image_filter filter) {
    double scale = (double)from / to, wide = scale < 1 ? 1 : scale;
    double support = (filter == IMAGE_BICUBIC ? 2.0 : 1.0) * wide;
    axis->taps = (int)ceil(support) * 2 + 1;
    axis->first = malloc(sizeof(int) * (size_t)to);
    axis->count = malloc(sizeof(int) * (size_t)to);
    axis->weight = malloc(sizeof(float) * (size_t)to * (size_t)axis->taps);
    if (!axis->first || !axis->count || !axis->weight) return false;
    for (int i = 0; i < to; i++) {
        double centre = (i + 0.5) * scale, sum = 0;
        int first = (int)(centre - support + 0.5), last = (int)(centre + support + 0.5);
        float *weight = axis->weight + (size_t)i * (size_t)axis->taps;
        if (first < 0) first = 0;
        if (last > from) last = from;
        for (int t = 0; t < last - first; t++) {
            double x = (first + t - centre + 0.5) / wide;
            double w = filter == IMAGE_BICUBIC ? bicubic(x) : bilinear(x);
            weight[t] = (float)w;
            sum += w;
        }
        for (int t = 0; t < last - first; t++) weight[t] = (float)(weight[t] / sum);
        axis->first[i] = first;
        axis->count[i] = last - first;
    }
    return true;
}

static void axis_free(struct axis *axis) {
    free(axis->first);
    free(axis->count);
    free(axis->weight);
}

static uint8_t to_byte(float value) { return value <= 0 ? 0 : value >= 255 ? 255 : (uint8_t)(value + 0.5f); }

static void resize_rows(const struct image *from, const struct axis *axis, struct image *to) {
    for (int y = 0; y < to->height; y++)
        for (int x = 0; x < to->width; x++) {
            const uint8_t *in = from->pixels + ((size_t)y * (size_t)from->width + (size_t)axis->first[x]) * 3;
            const float *weight = axis->weight + (size_t)x * (size_t)axis->taps;
            float sum[3] = {0, 0, 0};
            for (int t = 0; t < axis->count[x]; t++)
                for (int c = 0; c < 3; c++) sum[c] += weight[t] * in[3 * t + c];
            for (int c = 0; c < 3; c++)
                to->pixels[((size_t)y * (size_t)to->width + (size_t)x) * 3 + (size_t)c] = to_byte(sum[c]);
        }
}

static void resize_columns(const struct image *from, const struct axis *axis, struct image *to, float *line) {
    size_t n = (size_t)to->width * 3;
    for (int y = 0; y < to->height; y++) {
        const float *weight = axis->weight + (size_t)y * (size_t)axis->taps;
        memset(line, 0, n * sizeof *line);
        for (int t = 0; t < axis->count[y]; t++) {
            const uint8_t *in = from->pixels + (size_t)(axis->first[y] + t) * n;
            for (size_t x = 0; x < n; x++) line[x] += weight[t] * in[x];
        }
        for (size_t x = 0; x < n; x++) to->pixels[(size_t)y * n + x] = to_byte(line[x]);
    }
}

static bool resize(const struct image *image, int width, int height, enum image_filter filter, struct image *result) {
    struct axis across = {0}, down = {0};
    struct image narrow = {width, image->height, malloc((size_t)width * (size_t)image->height * 3)};
    struct image small = {width, height, malloc((size_t)width * (size_t)height * 3)};
    float *line = malloc(sizeof(float) * (size_t)width * 3);
    bool ok = narrow.pixels && small.pixels && line && axis_new(&across, image->width, width, filter) &&
              axis_new(&down, image->height, height, filter);
    if (ok) {
        resize_rows(image, &across, &narrow);
        resize_columns(&narrow, &down, &small, line);
        *result = small;
    } else {
        free(small.pixels);
    }
    axis_free(&across);
    axis_free(&down);
    free(narrow.pixels);
    free(line);
    return ok;
}

bool image_prepare(const struct image *image, const struct image_preparation *preparation, float *planes) {
    int shorter = image->width < image->height ? image->width : image->height;
    int64_t width = (int64_t)image->width * preparation->resize / shorter;
    int64_t height = (int64_t)image->height * preparation->resize / shorter;
    struct image small;
    /* The longer edge of a picture that is all edge would not fit in memory once the shorter one has grown. */
    if (width > wick_limits_effective(NULL).pixels / height) return false;
    if (!resize(image, (int)width, (int)height, preparation->filter, &small)) return false;
    int crop = preparation->crop;
    int left = (int)nearbyint((small.width - crop) / 2.0), top = (int)nearbyint((small.height - crop) / 2.0);
    for (int c = 0; c < 3; c++)
        for (int y = 0; y < crop; y++)
            for (int x = 0; x < crop; x++) {
                int sx = x + left, sy = y + top;
                bool inside = sx >= 0 && sy >= 0 && sx < small.width && sy < small.height;
                float value =
                    inside ? small.pixels[((size_t)sy * (size_t)small.width + (size_t)sx) * 3 + (size_t)c] : 0.0f;
                planes[((size_t)c * (size_t)crop + (size_t)y) * (size_t)crop + (size_t)x] =
                    (value / 255.0f - preparation->mean[c]) / preparation->deviation[c];
            }
    image_free(&small);
    return true;
}
