/* wick classify: what a ResNet sees on pictures. */
#include "cli/command.h"
#include "cli/finite.h"
#include "cli/json.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/vision_files.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct classifier {
    const char *model, *labels_file, *device_name;
    int64_t top;
    bool json, strict, allow_nan;
    struct wick_device *device;
    struct wick_resnet *resnet;
    struct image_preparation preparation;
    struct labels labels;
};

static void softmax(float *scores, int64_t n) {
    double largest = -INFINITY, sum = 0;
    for (int64_t i = 0; i < n; i++) largest = fmax(largest, (double)scores[i]);
    for (int64_t i = 0; i < n; i++) sum += exp((double)scores[i] - largest);
    for (int64_t i = 0; i < n; i++) scores[i] = (float)(exp((double)scores[i] - largest) / sum);
}

/* The best class that is not taken yet: NaN comes last, the first of equals wins; -1 when none is left. */
static int64_t best_of(const float *scores, const bool *taken, int64_t n) {
    int64_t best = -1;
    for (int64_t i = 0; i < n; i++)
        if (!taken[i] && (best < 0 || scores[i] > scores[best] || (isnan(scores[best]) && !isnan(scores[i])))) best = i;
    return best;
}

static void print_class(const struct classifier *c, int64_t class, double score, json_t *list) {
    const char *label = class < c->labels.n ? c->labels.names[class] : NULL;
    if (list) {
        json_add(list, json_pack("{s:I, s:o, s:o}", "class", (json_int_t) class, "label", json_text(label),
                                 "probability", json_number(score)));
        return;
    }
    printf("  %6.2f %%  %4lld  ", isnan(score) ? (double)NAN : 100 * score, (long long)class);
    output_text(stdout, label ? label : "");
    putchar('\n');
}

static bool print_top(const struct classifier *c, const char *path, const float *scores, int64_t n) {
    json_t *list = c->json ? json_array() : NULL;
    bool *taken = calloc((size_t)n + 1, sizeof *taken);
    if (!taken || (c->json && !list)) {
        free(taken);
        json_decref(list);
        return false;
    }
    if (!c->json) {
        output_text(stdout, path);
        putchar('\n');
    }
    for (int64_t k = 0; k < c->top && k < n; k++) {
        int64_t best = best_of(scores, taken, n);
        print_class(c, best, (double)scores[best], list);
        taken[best] = true;
    }
    free(taken);
    return !c->json || json_print(json_pack("{s:o, s:o}", "file", json_text(path), "classes", list), JSON_COMPACT);
}

/* Says which tensor is the first to hold NaN or an infinity: of the weights, or of what is computed from a picture. */
static int report_fault(const struct classifier *c, const char *path, const struct wick_tensor *x) {
    static const char *const stages[] = {"the stem", "stage 1", "stage 2", "stage 3", "stage 4"};
    char where[512] = "the class scores";
    bool found = finite_blame(c->model, where, sizeof where);
    for (int i = 0; i < 5 && !found; i++) {
        wick_scope_begin();
        const char *fault = finite_fault(wick_resnet_stage(c->resnet, x, i));
        wick_scope_end(NULL);
        found = fault != NULL;
        if (found) snprintf(where, sizeof where, "the result of %s holds %s", stages[i], fault);
    }
    wick_error_clear();
    return command_fail("classify", "%s: the scores are not finite; in %s, %s%s", path, c->model, where,
                        found ? "" : " are the first that are not");
}

/* The scores of a prepared picture; the exit status. */
static int score(const struct classifier *c, const char *path, const float *planes, float *scores) {
    int64_t n = wick_resnet_classes(c->resnet);
    int side = c->preparation.crop, status = 0;
    wick_error_clear();
    wick_scope_begin();
    struct wick_tensor *x = wick_from_data(c->device, WICK_F32, WICK_SHAPE(1, 3, side, side), planes,
                                           3 * (size_t)side * (size_t)side * sizeof *planes);
    if (wick_read(wick_resnet_forward(c->resnet, x), scores, sizeof *scores * (size_t)n) != WICK_OK)
        status = command_fail("classify", "%s", path);
    else if (!c->allow_nan && !finite_all(scores, n))
        status = report_fault(c, path, x);
    wick_scope_end(NULL);
    return status;
}

static int classify_one(const struct classifier *c, const char *path) {
    struct image image;
    char message[IMAGE_MESSAGE];
    int64_t n = wick_resnet_classes(c->resnet), count = 3 * (int64_t)c->preparation.crop * c->preparation.crop;
    wick_error_clear();
    if (!image_read(path, NULL, &image, message)) return command_fail("classify", "%s: %s", path, message);
    if (*message) {
        output_note("classify", "%s: %s%s", path, c->strict ? "" : "warning: ", message);
        if (c->strict) return image_free(&image), 1;
    }
    float *planes = malloc(sizeof *planes * (size_t)count), *scores = malloc(sizeof *scores * (size_t)n);
    int status = 1;
    if (planes && scores && image_prepare(&image, &c->preparation, planes))
        status = score(c, path, planes, scores);
    else
        command_fail("classify", "%s: out of memory", path);
    if (status == 0) {
        softmax(scores, n);
        if (!print_top(c, path, scores, n)) status = command_fail("classify", "%s: out of memory", path);
    }
    image_free(&image);
    free(planes);
    free(scores);
    return status;
}

static int run(struct classifier *c, int n, char **paths) {
    /* A model that is cut short meanwhile does not end the process. */
    static const struct wick_archive_options copied = {.copy = true};
    int status = 0;
    c->device = wick_device_open(c->device_name);
    c->resnet = c->device ? wick_resnet_open_with(c->model, c->device, &copied) : NULL;
    if (!c->resnet) return command_fail("classify", "%s can't be used", c->device ? c->model : c->device_name);
    if (!preparation_read(c->model, &c->preparation) || !labels_read(c->labels_file, c->model, &c->labels)) return 1;
    int64_t classes = wick_resnet_classes(c->resnet);
    if ((c->labels.n > 0 || c->labels_file) && c->labels.n != classes)
        output_note("classify", "warning: %lld names for %lld classes", (long long)c->labels.n, (long long)classes);
    for (int i = 0; i < n; i++) status |= classify_one(c, paths[i]);
    return status;
}

int command_classify(int argc, char **argv) {
    struct classifier c = {.device_name = "auto", .top = 5};
    const struct option list[] = {
        OPTIONS_TEXT("--model", "PATH", &c.model, "opens this ResNet, a folder or a file of weights; required"),
        OPTIONS_TEXT("--labels", "FILE", &c.labels_file, "reads names of classes, one a line, instead of the model's"),
        OPTIONS_NUMBER("--top", "K", &c.top, 1, 1 << 20, "shows K classes; 5 by default"),
        OPTIONS_TEXT("--device", "D", &c.device_name, "runs on cpu, cuda:0, rocm:0 ...; on the best one by default"),
        OPTIONS_FLAG("--strict", &c.strict, "refuses damaged pictures instead of warning"),
        OPTIONS_FLAG("--allow-nan", &c.allow_nan, "shows scores that are not finite, in JSON as null"),
        OPTIONS_FLAG("--json", &c.json, "writes a line of JSON for each picture"),
        OPTIONS_END};
    const struct options options = {"classify", list, INT32_MAX};
    int n, status;
    if (!options_parse(&options, argc, argv, &n, &status)) return status;
    if (!c.model) return command_usage("classify", "--model is missing");
    if (n == 0) return command_usage("classify", "no picture is given");
    status = run(&c, n, argv);
    labels_free(&c.labels);
    wick_resnet_close(c.resnet);
    wick_device_close(c.device);
    return status;
}
