/* wick classify: what a ResNet sees on pictures. */
#include "cli/command.h"
#include "cli/image.h"

#include <getopt.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SIDE = 4096 };

struct options {
    const char *model, *labels, *device;
    int top;
    bool json;
};

/* Names of classes: lines of a file, or id2label of a model's config.json. */
struct labels {
    int64_t n;
    char **names;
};

static void labels_free(struct labels *labels) {
    for (int64_t i = 0; i < labels->n; i++) free(labels->names[i]);
    free(labels->names);
}

static bool labels_add(struct labels *labels, const char *name) {
    char **grown = realloc(labels->names, sizeof *grown * (size_t)(labels->n + 1));
    if (!grown) return false;
    labels->names = grown;
    grown[labels->n] = strdup(name);
    return grown[labels->n] && ++labels->n;
}

static bool labels_from_lines(struct labels *labels, const char *path) {
    char line[1024];
    FILE *file = fopen(path, "re");
    if (!file) return false;
    bool ok = true;
    while (ok && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\r\n")] = '\0';
        ok = labels_add(labels, line);
    }
    fclose(file);
    return ok;
}

static void labels_from_config(struct labels *labels, json_t *config) {
    json_t *names = json_object_get(config, "id2label");
    for (size_t i = 0; i < json_object_size(names); i++) {
        char key[24];
        snprintf(key, sizeof key, "%zu", i);
        const char *name = json_string_value(json_object_get(names, key));
        if (!labels_add(labels, name ? name : key)) return;
    }
}

static json_t *json_in(const char *folder, const char *name) {
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path) return NULL;
    return json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
}

static void numbers(json_t *array, float *values) {
    for (size_t i = 0; i < 3 && json_array_size(array) == 3; i++)
        values[i] = (float)json_number_value(json_array_get(array, i));
}

/* ImageNet's usual preparation, unless preprocessor_config.json in the model's folder says otherwise. */
static struct image_preparation preparation_for(const char *model) {
    struct image_preparation p = {256, 224, IMAGE_BILINEAR, {0.485f, 0.456f, 0.406f}, {0.229f, 0.224f, 0.225f}};
    json_t *config = json_in(model, "preprocessor_config.json");
    json_t *size = json_object_get(config, "size");
    int edge = (int)json_integer_value(json_is_object(size) ? json_object_get(size, "shortest_edge") : size);
    double kept = json_number_value(json_object_get(config, "crop_pct"));
    if (edge >= 1 && edge <= MAX_SIDE) {
        p.crop = edge;
        p.resize = kept > 0.1 && kept <= 1 ? (int)(edge / kept) : (int)(edge / 0.875);
    }
    if (json_integer_value(json_object_get(config, "resample")) == 3) p.filter = IMAGE_BICUBIC;
    numbers(json_object_get(config, "image_mean"), p.mean);
    numbers(json_object_get(config, "image_std"), p.deviation);
    json_decref(config);
    return p;
}

static void softmax(float *scores, int64_t n) {
    double largest = -INFINITY, sum = 0;
    for (int64_t i = 0; i < n; i++) largest = fmax(largest, (double)scores[i]);
    for (int64_t i = 0; i < n; i++) sum += exp((double)scores[i] - largest);
    for (int64_t i = 0; i < n; i++) scores[i] = (float)(exp((double)scores[i] - largest) / sum);
}

/* Prints the best classes; spends the scores. */
static void print_top(const struct options *options, const char *path, float *scores, int64_t n,
                      const struct labels *labels) {
    json_t *list = json_array();
    if (!options->json) printf("%s\n", path);
    for (int k = 0; k < options->top && k < n; k++) {
        int64_t best = 0;
        for (int64_t i = 1; i < n; i++)
            if (scores[i] > scores[best]) best = i;
        const char *label = best < labels->n ? labels->names[best] : NULL;
        if (options->json)
            json_array_append_new(list, json_pack("{s:I, s:s?, s:f}", "class", (json_int_t)best, "label", label,
                                                  "probability", (double)scores[best]));
        else
            printf("  %6.2f %%  %4lld  %s\n", 100.0 * (double)scores[best], (long long)best, label ? label : "");
        scores[best] = -1;
    }
    if (options->json) {
        json_t *object = json_pack("{s:s, s:o}", "file", path, "classes", list);
        char *text = json_dumps(object, JSON_COMPACT);
        printf("%s\n", text ? text : "null");
        free(text);
        json_decref(object);
    } else {
        json_decref(list);
    }
}

static int classify_one(const struct options *options, const char *path, const struct wick_resnet *resnet,
                        struct wick_device *device, const struct labels *labels) {
    struct image_preparation p = preparation_for(options->model);
    struct image image;
    char error[IMAGE_ERROR];
    int64_t n = wick_resnet_classes(resnet), count = 3 * (int64_t)p.crop * p.crop;
    if (!image_read(path, NULL, &image, error)) {
        fprintf(stderr, "wick classify: %s: %s\n", path, error);
        return 1;
    }
    float *planes = malloc(sizeof *planes * (size_t)count), *scores = malloc(sizeof *scores * (size_t)n);
    bool ok = planes && scores && image_prepare(&image, &p, planes);
    image_free(&image);
    if (!ok) fprintf(stderr, "wick classify: %s: out of memory\n", path);
    if (ok) {
        wick_error_clear();
        wick_scope_begin();
        struct wick_tensor *x =
            wick_from_data(device, WICK_F32, WICK_SHAPE(1, 3, p.crop, p.crop), planes, (size_t)count * sizeof *planes);
        ok = wick_read(wick_resnet_forward(resnet, x), scores, sizeof *scores * (size_t)n) == WICK_OK;
        wick_scope_end(NULL);
        if (!ok) command_fail("classify", "%s", path);
    }
    if (ok) {
        softmax(scores, n);
        print_top(options, path, scores, n, labels);
    }
    free(planes);
    free(scores);
    return ok ? 0 : 1;
}

static int parse(int argc, char **argv, struct options *options) {
    static const struct option names[] = {
        {"model", required_argument, NULL, 'm'},  {"labels", required_argument, NULL, 'l'},
        {"device", required_argument, NULL, 'd'}, {"top", required_argument, NULL, 'k'},
        {"json", no_argument, NULL, 'j'},         {NULL, 0, NULL, 0}};
    int option;
    char *end;
    optind = 0;
    opterr = 0;
    while ((option = getopt_long(argc + 1, argv - 1, "", names, NULL)) != -1) switch (option) {
        case 'm': options->model = optarg; break;
        case 'l': options->labels = optarg; break;
        case 'd': options->device = optarg; break;
        case 'j': options->json = true; break;
        case 'k':
            options->top = (int)strtol(optarg, &end, 10);
            if (*end || options->top < 1)
                return command_usage("classify", "--top takes a number from 1, not '%s'", optarg);
            break;
        default: return command_usage("classify", "unknown option or missing value: '%s'", argv[optind - 2]);
        }
    if (!options->model) return command_usage("classify", "--model is missing");
    optind--; /* getopt counted the command's name */
    if (optind == argc) return command_usage("classify", "no picture is given");
    return 0;
}

int command_classify(int argc, char **argv) {
    struct options options = {.device = "auto", .top = 5};
    struct labels labels = {0};
    int status = parse(argc, argv, &options);
    if (status) return status;
    struct wick_device *device = wick_device_open(options.device);
    struct wick_resnet *resnet = device ? wick_resnet_open(options.model, device) : NULL;
    if (!resnet) {
        wick_device_close(device);
        return command_fail("classify", "%s can't be used", device ? options.model : options.device);
    }
    if (options.labels) {
        if (!labels_from_lines(&labels, options.labels)) {
            fprintf(stderr, "wick classify: %s can't be read\n", options.labels);
            status = 1;
        }
    } else {
        json_t *config = json_in(options.model, "config.json");
        labels_from_config(&labels, config);
        json_decref(config);
    }
    for (int i = optind; i < argc && !(options.labels && status && labels.n == 0); i++)
        status |= classify_one(&options, argv[i], resnet, device, &labels);
    labels_free(&labels);
    wick_resnet_close(resnet);
    wick_device_close(device);
    return status;
}
