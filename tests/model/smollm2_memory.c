/* The memory that SmolLM2-135M-Instruct takes on the CPU: no more than its file, its cache and 60 MB; and a cache of
 * q8_0 beside one of f32. */
#include "tests/fetched.h"

#include <sys/stat.h>

enum { TOKENS = 520, FEW = 60, MORE = 4 };
static const double BESIDES = 60e6;

static const char *path;

/* The most memory that this process has had since the last call of forget_peak, pages of the file included. */
static double peak(void) {
    char line[128];
    double kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "VmHWM: %lf", &kib) == 1) break;
    if (file) fclose(file);
    return kib * 1024;
}

static bool forget_peak(void) {
    FILE *file = fopen("/proc/self/clear_refs", "w");
    return file && fputs("5", file) >= 0 && fclose(file) == 0;
}

static struct wick_lm *open_model(struct wick_device *device, bool exact, struct wick_lm_info *info) {
    struct wick_lm *lm = wick_lm_open(path, device, &(struct wick_lm_options){.exact = exact});
    CHECK_OK(wick_lm_describe(lm, info));
    return lm;
}

/* Logits behind n tokens and MORE of them one at a time. */
static struct wick_tensor *read_text(const struct wick_lm *lm, enum wick_dtype cache, int64_t n) {
    int32_t ids[TOKENS];
    for (int i = 0; i < TOKENS; i++) ids[i] = 1000 + i * 7919 % 4000;
    struct wick_sequence *sequence = wick_sequence_open(lm, &(struct wick_sequence_options){.cache = cache});
    struct wick_tensor *logits = wick_sequence_append(sequence, n, ids);
    for (int i = 0; i < MORE; i++) {
        wick_release(logits);
        logits = wick_sequence_append(sequence, 1, ids + i);
    }
    wick_sequence_close(sequence);
    return logits;
}

static void check_peak(struct wick_device *device, enum wick_dtype cache) {
    struct wick_lm_info info;
    struct stat file;
    CHECK_OK(wick_memory_trim(device));
    CHECK(forget_peak() && stat(path, &file) == 0);
    struct wick_lm *lm = open_model(device, false, &info);
    wick_release(read_text(lm, cache, TOKENS));
    double bytes = (double)info.cache_bytes * (TOKENS + MORE) / (cache == WICK_DTYPE_q8_0 ? 128.0 / 34 : 1);
    double besides = peak() - (double)file.st_size - bytes;
    printf("%s: %.1f MB beside the file and a cache of %.1f MB\n", wick_dtype_name(cache), besides / 1e6, bytes / 1e6);
    CHECK(besides <= BESIDES);
    wick_lm_close(lm);
}

/* Log-probabilities of what follows a text. With activations of 8 bits, their rounding would hide the cache's. */
static void find_exact(struct wick_device *device, enum wick_dtype cache, double *found) {
    struct wick_lm_info info;
    struct wick_lm *lm = open_model(device, true, &info);
    struct wick_tensor *logits = read_text(lm, cache, FEW);
    struct wick_tensor *row = wick_log_softmax(logits, -1), *wide = wick_cast(row, WICK_F64);
    CHECK_OK(wick_read(wide, found, (size_t)info.vocab * sizeof *found));
    wick_release(wide);
    wick_release(row);
    wick_release(logits);
    wick_lm_close(lm);
}

/* The divergence of b from a, in nats. */
static double divergence(int n, const double *a, const double *b) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += exp(a[i]) * (a[i] - b[i]);
    return sum;
}

int main(void) {
    enum { VOCAB = 49152 };
    path = test_smollm2();
    struct wick_device *device = wick_device_open("cpu");
    double *plain = malloc(VOCAB * sizeof *plain), *blocks = malloc(VOCAB * sizeof *blocks);
    check_peak(device, WICK_DTYPE_q8_0);
    check_peak(device, WICK_F32);
    find_exact(device, WICK_DTYPE_q8_0, blocks);
    find_exact(device, WICK_F32, plain);
    double nats = divergence(VOCAB, plain, blocks);
    printf("a cache of q8_0 diverges by %.2e nats\n", nats);
    CHECK(nats >= 0 && nats < 5e-3);
    free(plain);
    free(blocks);
    wick_device_close(device);
    return test_end();
}
