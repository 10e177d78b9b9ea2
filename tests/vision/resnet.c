/* ResNets of all five depths, with weights made from a seed, against what transformers answered (make.py), under both
 * namings of the weights. */
#include "tests/test.h"

#include <sys/wait.h>
#include <unistd.h>

static const uint64_t seed = 2026;

/* The i-th fraction of tensor t: make.py's. */
static double fraction(uint64_t t, uint64_t i) {
    uint64_t z = seed + (t << 32) + i + UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    z ^= z >> 31;
    return (double)(z >> 40) / (1 << 24);
}

/* The model being written: names and tensors in make.py's order. */
enum { MAX_TENSORS = 1200, NAME = 96 };
static struct {
    int n;
    bool torchvision;
    char names[MAX_TENSORS][NAME];
    struct wick_tensor *tensors[MAX_TENSORS];
    struct wick_device *device;
} model;

enum kind { WEIGHT, SCALE, SMALL, VARIANCE };

static void add_tensor(const char *name, enum kind kind, int rank, const int64_t *shape) {
    int64_t count = 1;
    for (int d = 0; d < rank; d++) count *= shape[d];
    float *values = malloc((size_t)count * sizeof *values);
    for (int64_t i = 0; i < count; i++) {
        double u = fraction((uint64_t)model.n, (uint64_t)i);
        double range = kind == WEIGHT ? sqrt(6.0 / ((double)count / (double)shape[0])) : 0;
        values[i] = (float)(kind == WEIGHT     ? (2 * u - 1) * range
                            : kind == SCALE    ? 0.1 + 0.4 * u
                            : kind == VARIANCE ? 0.5 + u
                                               : 0.2 * u - 0.1);
    }
    snprintf(model.names[model.n], NAME, "%s", name);
    model.tensors[model.n] =
        wick_from_data(model.device, WICK_F32, rank, shape, values, (size_t)count * sizeof *values);
    CHECK(model.tensors[model.n] != NULL);
    model.n++;
    free(values);
}

static void add_conv_norm(const char *conv, const char *norm, int64_t out, int64_t in, int64_t kernel) {
    static const char *const parts[4] = {"weight", "bias", "running_mean", "running_var"};
    static const enum kind kinds[4] = {SCALE, SMALL, SMALL, VARIANCE};
    char name[NAME];
    snprintf(name, sizeof name, "%.80s.weight", conv);
    add_tensor(name, WEIGHT, 4, (const int64_t[]){out, in, kernel, kernel});
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "%.80s.%.14s", norm, parts[i]);
        add_tensor(name, kinds[i], 1, &out);
    }
}

static void add_block(int stage, int block, bool bottleneck, int64_t in, int64_t out) {
    char conv[NAME], norm[NAME];
    int n = bottleneck ? 3 : 2;
    for (int i = 0; i < n; i++) {
        int64_t narrow = bottleneck ? out / 4 : out;
        int64_t from = i == 0 ? in : narrow, to = i == n - 1 ? out : narrow;
        if (model.torchvision) {
            snprintf(conv, NAME, "layer%d.%d.conv%d", stage + 1, block, i + 1);
            snprintf(norm, NAME, "layer%d.%d.bn%d", stage + 1, block, i + 1);
        } else {
            snprintf(conv, NAME, "resnet.encoder.stages.%d.layers.%d.layer.%d.convolution", stage, block, i);
            snprintf(norm, NAME, "resnet.encoder.stages.%d.layers.%d.layer.%d.normalization", stage, block, i);
        }
        add_conv_norm(conv, norm, to, from, bottleneck && i != 1 ? 1 : 3);
    }
    if (block > 0 || (in == out && stage == 0)) return;
    if (model.torchvision) {
        snprintf(conv, NAME, "layer%d.%d.downsample.0", stage + 1, block);
        snprintf(norm, NAME, "layer%d.%d.downsample.1", stage + 1, block);
    } else {
        snprintf(conv, NAME, "resnet.encoder.stages.%d.layers.%d.shortcut.convolution", stage, block);
        snprintf(norm, NAME, "resnet.encoder.stages.%d.layers.%d.shortcut.normalization", stage, block);
    }
    add_conv_norm(conv, norm, out, in, 1);
}

static void make_model(const int blocks[4], bool bottleneck) {
    int64_t in = 64;
    model.n = 0;
    if (model.torchvision)
        add_conv_norm("conv1", "bn1", 64, 3, 7);
    else
        add_conv_norm("resnet.embedder.embedder.convolution", "resnet.embedder.embedder.normalization", 64, 3, 7);
    for (int stage = 0; stage < 4; stage++) {
        int64_t out = (bottleneck ? 256 : 64) << stage;
        for (int block = 0; block < blocks[stage]; block++) {
            add_block(stage, block, bottleneck, in, out);
            in = out;
        }
    }
    add_tensor(model.torchvision ? "fc.weight" : "classifier.1.weight", WEIGHT, 2, (const int64_t[]){10, in});
    add_tensor(model.torchvision ? "fc.bias" : "classifier.1.bias", SMALL, 1, (const int64_t[]){10});
}

/* Every element within 1e-4 of the largest magnitude of the expected ones. */
static void check_near(const char *what, const struct wick_tensor *got, struct wick_archive *expected) {
    struct wick_tensor *want = wick_archive_load(expected, what, model.device);
    CHECK(got && want);
    if (!got || !want) return;
    int64_t n = wick_tensor_count(want);
    CHECK_INT(wick_tensor_count(got), n);
    float *a = malloc((size_t)n * 4), *b = malloc((size_t)n * 4);
    CHECK_OK(wick_read(got, a, (size_t)n * 4));
    CHECK_OK(wick_read(want, b, (size_t)n * 4));
    double largest = 0, worst = 0;
    for (int64_t i = 0; i < n; i++) {
        double difference = fabs((double)a[i] - (double)b[i]);
        largest = fmax(largest, fabs((double)b[i]));
        if (!(difference <= worst)) worst = difference;
    }
    printf("%-14s largest %.4g, largest difference %.2g\n", what, largest, worst);
    CHECK(worst <= 1e-4 * largest);
    free(a);
    free(b);
}

/* The program on the same file: one line of JSON a picture, and exit status 1 when one of them can't be read. */
static void check_program(const char *program, const char *path) {
    char command[512], line[1024];
    int lines = 0;
    snprintf(command, sizeof command,
             "%s classify --model %s --json --top 3 tests/vision/wide.png tests/vision/none.png tests/vision/tall.jpg "
             "2>/dev/null",
             program, path);
    FILE *pipe = popen(command, "r");
    CHECK(pipe != NULL);
    while (pipe && fgets(line, sizeof line, pipe)) {
        lines++;
        CHECK(strstr(line, "\"probability\":") != NULL);
    }
    CHECK_INT(lines, 2);
    CHECK(pipe && WEXITSTATUS(pclose(pipe)) == 1);
}

static void check_depth(int depth, const int blocks[4], const char *path, struct wick_archive *expected,
                        const char *program) {
    char what[32];
    float picture[3 * 32 * 32];
    wick_scope_begin();
    make_model(blocks, depth >= 50);
    const char *names[MAX_TENSORS];
    const struct wick_tensor *tensors[MAX_TENSORS];
    for (int i = 0; i < model.n; i++) {
        names[i] = model.names[i];
        tensors[i] = model.tensors[i];
    }
    CHECK_OK(wick_safetensors_save(path, model.n, names, tensors, NULL));
    struct wick_resnet *resnet = wick_resnet_open(path, model.device);
    CHECK(resnet != NULL);
    CHECK_INT(wick_resnet_depth(resnet), depth);
    CHECK_INT(wick_resnet_classes(resnet), 10);
    for (int i = 0; i < 3 * 32 * 32; i++) picture[i] = (float)(2 * fraction(0xFFFF, (uint64_t)i) - 1);
    struct wick_tensor *x = wick_from_data(model.device, WICK_F32, WICK_SHAPE(1, 3, 32, 32), picture, sizeof picture);
    for (int stage = 0; stage <= 4 && resnet; stage++) {
        snprintf(what, sizeof what, "%d.stage%d", depth, stage);
        check_near(what, wick_resnet_stage(resnet, x, stage), expected);
    }
    snprintf(what, sizeof what, "%d.logits", depth);
    check_near(what, wick_resnet_forward(resnet, x), expected);
    wick_resnet_close(resnet);
    wick_scope_end(NULL);
    if (depth == 18 && program) check_program(program, path);
    remove(path);
}

static void check_errors(void) {
    wick_error_clear();
    CHECK(wick_resnet_open("tests/vision/resnet.safetensors", model.device) == NULL);
    CHECK_INT(wick_error_status(), WICK_FORMAT);
    wick_error_clear();
    CHECK(wick_resnet_open("tests/vision/none.safetensors", model.device) == NULL);
    CHECK_INT(wick_error_status(), WICK_IO);
    wick_error_clear();
    CHECK(wick_resnet_forward(NULL, NULL) == NULL);
    CHECK_TEXT(wick_error(), "resnet_forward: resnet is NULL");
    wick_error_clear();
}

/* Arguments: the wick program, and, to run a model of one depth alone on another device, that device and the depth. */
int main(int argc, char **argv) {
    const char *program = argc == 2 ? argv[1] : NULL, *device = argc > 2 ? argv[2] : "cpu";
    int only = argc > 3 ? atoi(argv[3]) : 0;
    static const struct {
        int depth, blocks[4];
    } models[] = {
        {18, {2, 2, 2, 2}}, {34, {3, 4, 6, 3}}, {50, {3, 4, 6, 3}}, {101, {3, 4, 23, 3}}, {152, {3, 8, 36, 3}}};
    char path[] = "/tmp/wick-resnet-XXXXXX";
    int file = mkstemp(path);
    CHECK(file >= 0);
    if (file >= 0) close(file);
    model.device = wick_device_open(device);
    CHECK(model.device != NULL);
    struct wick_archive *expected = wick_archive_open("tests/vision/resnet.safetensors", NULL);
    CHECK(expected != NULL);
    for (size_t i = 0; i < sizeof models / sizeof *models && expected && model.device; i++) {
        if (only && models[i].depth != only) continue;
        model.torchvision = i % 2 == 0;
        check_depth(models[i].depth, models[i].blocks, path, expected, program);
        if (models[i].depth > 50 || only) continue;
        model.torchvision = !model.torchvision;
        check_depth(models[i].depth, models[i].blocks, path, expected, NULL);
    }
    if (!only) check_errors();
    wick_archive_close(expected);
    wick_device_close(model.device);
    remove(path);
    return test_end();
}
