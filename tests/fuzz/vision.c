/* Hostile files beside a classifier's weights: the first byte picks preprocessor_config.json, config.json or a file of
 * labels, the others are the file. */
#include "tests/fuzz/fuzz.h"

#include "cli/vision_files.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/wick-fuzz-XXXXXX";
static const char *const names[] = {"preprocessor_config.json", "config.json", "labels"};
enum { FILES = sizeof names / sizeof *names };

static void path_of(char path[64], int i) { snprintf(path, 64, "%s/%s", folder, names[i]); }

static void remove_folder(void) {
    char path[64];
    for (int i = 0; i < FILES; i++) path_of(path, i), unlink(path);
    rmdir(folder);
}

static void prepare(void) {
    static bool done;
    if (done) return;
    done = true;
    fuzz_limit_memory();
    if (!mkdtemp(folder)) abort();
    atexit(remove_folder);
    stderr = fopen("/dev/null", "we"); /* each refusal is a line */
    if (!stderr) abort();
}

static void check_preparation(void) {
    struct image_preparation p;
    if (!preparation_read(folder, &p)) return;
    if (p.crop < 1 || p.resize < p.crop || p.resize > 1 << 16) abort();
    for (int i = 0; i < 3; i++)
        if (!isfinite(p.mean[i]) || !isfinite(p.deviation[i]) || !(p.deviation[i] > 0)) abort();
}

static void check_labels(const char *path) {
    struct labels labels;
    bool good = labels_read(path, folder, &labels);
    if (labels.n < 0 || (good && path && access(path, F_OK) != 0)) abort();
    for (int64_t i = 0; i < labels.n; i++)
        if (!labels.names[i]) abort();
    labels_free(&labels);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes) {
    char path[64];
    prepare();
    if (nbytes == 0) return 0;
    int which = data[0] % FILES;
    path_of(path, which);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data + 1, 1, nbytes - 1, file) != nbytes - 1 || fclose(file) != 0) abort();
    if (which == 0) check_preparation();
    if (which > 0) check_labels(which == 2 ? path : NULL);
    unlink(path);
    return 0;
}
