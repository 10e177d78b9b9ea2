/* Labels and preprocessor_config.json. */
#define _XOPEN_SOURCE 700 /* getline */

#include "cli/vision_files.h"

#include "cli/json.h"
#include "cli/output.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SIDE = 4096, PATH_SIZE = 4096, MAX_LABELS = 1 << 20 };

/* FOLDER/NAME as an object; false after its fault was reported, true with *json NULL when it is not there. */
static bool open_json(const char *folder, const char *name, json_t **json) {
    char path[PATH_SIZE], fault[JSON_FAULT] = "its path is too long";
    *json = NULL;
    if (snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path) *json = json_file(path, fault);
    if (*json || !*fault) return true;
    output_note("classify", "%s/%s: %s", folder, name, fault);
    return false;
}

/* ---- labels ---- */

static bool add(struct labels *labels, const char *name) {
    char **grown = realloc(labels->names, sizeof *grown * (size_t)(labels->n + 1));
    if (!grown) return false;
    labels->names = grown;
    grown[labels->n] = strdup(name);
    return grown[labels->n] && ++labels->n;
}

static bool from_lines(struct labels *labels, const char *path) {
    char *line = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "re");
    bool ok = file != NULL;
    while (ok && getline(&line, &size, file) >= 0) {
        line[strcspn(line, "\r\n")] = '\0';
        ok = add(labels, line);
    }
    ok = ok && !ferror(file);
    if (!ok) output_note("classify", "%s: %s", path, strerror(errno));
    free(line);
    if (file) fclose(file);
    return ok;
}

/* {"0": "tench", ...}: every class must be there, up to the last. */
static bool from_config(struct labels *labels, const json_t *names, const char *model) {
    size_t n = json_object_size(names);
    const char *fault = names && !json_is_object(names) ? "'id2label' is not an object" : NULL;
    for (size_t i = 0; i < n && !fault; i++) {
        char key[24];
        snprintf(key, sizeof key, "%zu", i);
        const char *name = json_string_value(json_object_get(names, key));
        if (!name || n > MAX_LABELS)
            fault = "'id2label' does not name classes 0, 1, 2 ... each";
        else if (!add(labels, name))
            fault = "out of memory";
    }
    if (fault) output_note("classify", "%s/config.json: %s", model, fault);
    return !fault;
}

bool labels_read(const char *path, const char *model, struct labels *labels) {
    json_t *config;
    *labels = (struct labels){0};
    if (path) return from_lines(labels, path);
    if (!open_json(model, "config.json", &config)) return false;
    bool good = from_config(labels, json_object_get(config, "id2label"), model);
    json_decref(config);
    if (good && labels->n == 0)
        output_note("classify",
                    "the classes have no names: %s has no config.json with id2label; give names by --labels", model);
    return good;
}

void labels_free(struct labels *labels) {
    for (int64_t i = 0; i < labels->n; i++) free(labels->names[i]);
    free(labels->names);
}

/* ---- preparation ---- */

/* The value of a key; NULL when it is not there or null. */
static json_t *value_of(const json_t *config, const char *key) {
    json_t *value = json_object_get(config, key);
    return json_is_null(value) ? NULL : value;
}

/* Each of these returns what is wrong, or NULL. */

static const char *read_size(const json_t *config, struct image_preparation *p) {
    json_t *size = value_of(config, "size"), *share = value_of(config, "crop_pct");
    double kept = share ? json_number_value(share) : 0.875;
    if (json_is_object(size))
        size = value_of(size, "shortest_edge");
    else if (!size)
        return share ? "'crop_pct' stands without 'size'" : NULL;
    json_int_t edge = json_is_integer(size) ? json_integer_value(size) : 0;
    if (edge < 1 || edge > MAX_SIDE) return "'size' or its 'shortest_edge' is not a whole number from 1 to 4096";
    if (!(kept > 0.1 && kept <= 1)) return "'crop_pct' is not a number from 0.1 to 1";
    p->crop = (int)edge;
    p->resize = (int)((double)edge / kept);
    return NULL;
}

static const char *read_filter(const json_t *config, struct image_preparation *p) {
    json_t *filter = value_of(config, "resample");
    if (!filter) return NULL;
    if (!json_is_integer(filter) || (json_integer_value(filter) != 2 && json_integer_value(filter) != 3))
        return "'resample' is neither 2 (bilinear) nor 3 (bicubic)";
    p->filter = json_integer_value(filter) == 3 ? IMAGE_BICUBIC : IMAGE_BILINEAR;
    return NULL;
}

static bool read_three(const json_t *array, float *values) {
    for (size_t i = 0; array && i < 3; i++) {
        double value = json_number_value(json_array_get(array, i));
        if (json_array_size(array) != 3 || !json_is_number(json_array_get(array, i)) || !(fabs(value) <= FLT_MAX))
            return false;
        values[i] = (float)value;
    }
    return true;
}

static const char *read_scale(const json_t *config, struct image_preparation *p) {
    if (!read_three(value_of(config, "image_mean"), p->mean))
        return "'image_mean' is not an array of 3 numbers that f32 can hold";
    if (!read_three(value_of(config, "image_std"), p->deviation))
        return "'image_std' is not an array of 3 numbers that f32 can hold";
    for (int i = 0; i < 3; i++)
        if (!(p->deviation[i] > 0)) return "'image_std' has a number that is not above 0";
    return NULL;
}

bool preparation_read(const char *model, struct image_preparation *preparation) {
    json_t *config;
    *preparation =
        (struct image_preparation){256, 224, IMAGE_BILINEAR, {0.485f, 0.456f, 0.406f}, {0.229f, 0.224f, 0.225f}};
    if (!open_json(model, "preprocessor_config.json", &config)) return false;
    const char *fault = read_size(config, preparation);
    if (!fault) fault = read_filter(config, preparation);
    if (!fault) fault = read_scale(config, preparation);
    if (fault) output_note("classify", "%s/preprocessor_config.json: %s", model, fault);
    json_decref(config);
    return !fault;
}
