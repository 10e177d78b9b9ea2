/* What lies beside the weights of an image classifier: names of its classes, and how pictures are prepared for it. */
#ifndef WICK_CLI_VISION_FILES_H
#define WICK_CLI_VISION_FILES_H

#include "cli/image.h"

struct labels {
    int64_t n;
    char **names;
};

/* The lines of `path`; when that is NULL, id2label of config.json in the model's folder, and without one no names.
 * False after a failure was reported. Free in any case. */
bool labels_read(const char *path, const char *model, struct labels *labels);
void labels_free(struct labels *labels);

/* ImageNet's usual preparation, unless preprocessor_config.json in the model's folder says otherwise. False after that
 * file's fault was reported. */
bool preparation_read(const char *model, struct image_preparation *preparation);

#endif
