/* What a model is said to need, beside what it takes; a limit that is too small, of the device and of the process. */
#include "tests/test.h"

#include <string.h>
#include <sys/resource.h>

static struct wick_device *device;
static const char path[] = "tests/model/llama.gguf";

static struct wick_lm_memory estimate(const struct wick_lm_use *use) {
    struct wick_lm_memory memory = {0};
    CHECK_OK(wick_lm_estimate(path, device, NULL, use, &memory));
    CHECK_INT(memory.needed, memory.weights + memory.cache + memory.work);
    return memory;
}

static void check_parts(void) {
    struct wick_lm_info info;
    CHECK_OK(wick_lm_inspect(path, NULL, &info));
    struct wick_lm_memory all = estimate(NULL);
    CHECK_INT(all.weights, info.weight_bytes);
    CHECK_INT(all.cache, info.context * info.cache_bytes);
    CHECK_INT(all.missing, 0);
    CHECK(all.available > 1 << 20);
    const struct wick_lm_use two = {.sequences = 2, .context = 10, .cache = WICK_F16};
    CHECK_INT(estimate(&two).cache, 10 * info.cache_bytes);
    const struct wick_lm_use few = {.context = 1000, .tokens = 10}, most = {.context = 10, .tokens = 1000};
    CHECK_INT(estimate(&few).needed, estimate(&most).needed);
    CHECK_INT(estimate(&few).cache, 10 * info.cache_bytes);
    const struct wick_lm_use wide = {.context = 10, .all = true};
    CHECK(estimate(&wide).work >= 10 * info.vocab * 4);
}

/* A device's limit, and the figures of the error. */
static void check_limit(void) {
    struct wick_memory before;
    double needed = 0, available = 0, missing = 0;
    CHECK_OK(wick_memory_trim(device));
    CHECK_OK(wick_memory_stats(device, &before));
    CHECK_OK(wick_memory_set_limit(device, before.used + 500000));
    const struct wick_lm_use use = {.sequences = 100, .context = 1000};
    struct wick_lm_memory memory = estimate(&use);
    CHECK_INT(memory.available, 500000);
    CHECK_INT(memory.missing, memory.needed - 500000);
    const struct wick_lm_options options = {.use = &use};
    CHECK(!wick_lm_open(path, device, &options) && wick_error_status() == WICK_MEMORY);
    CHECK(strstr(wick_error(), path) && strstr(wick_error(), "on cpu"));
    const char *text = strchr(wick_error(), ' ');
    CHECK(text && sscanf(text, "%lf MB", &needed) == 1);
    CHECK((text = strstr(wick_error(), "; ")) &&
          sscanf(text, "; %lf MB are available, %lf", &available, &missing) == 2);
    CHECK_NEAR(needed, (double)memory.needed / 1e6, 0.051);
    CHECK_NEAR(available, 0.5, 0.051);
    CHECK_NEAR(missing, needed - available, 0.11);
    wick_error_clear();
    CHECK_OK(wick_memory_set_limit(device, SIZE_MAX));
    struct wick_lm *lm = wick_lm_open(path, device, &options);
    CHECK(lm);
    wick_lm_close(lm);
}

/* What is left of the address space. */
static void check_process(void) {
    struct wick_device_info info;
    struct rlimit old, small;
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%ld", &pages) == 1);
    if (file) fclose(file);
    CHECK(getrlimit(RLIMIT_AS, &old) == 0);
    small = old;
    small.rlim_cur = (rlim_t)pages * 4096 + ((rlim_t)64 << 20);
    CHECK(setrlimit(RLIMIT_AS, &small) == 0);
    enum wick_status status = wick_device_describe(device, &info);
    CHECK(setrlimit(RLIMIT_AS, &old) == 0);
    CHECK_OK(status);
    CHECK(info.memory_free > 32 << 20 && info.memory_free <= 65 << 20);
}

/* A full sequence takes no more than was said, and not much less. */
static void check_peak(int64_t context, bool all) {
    struct wick_memory before, after;
    struct wick_lm *lm = wick_lm_open(path, device, NULL);
    int32_t *ids = calloc((size_t)context, sizeof *ids);
    const struct wick_lm_use use = {.context = context, .all = all};
    struct wick_lm_memory said = estimate(&use);
    CHECK_OK(wick_memory_stats(device, &before));
    CHECK_OK(wick_memory_reset_peak(device));
    struct wick_sequence *sequence = wick_sequence_open(lm, &(struct wick_sequence_options){.context = context});
    int64_t some = context - 3;
    struct wick_tensor *logits =
        all ? wick_sequence_append_all(sequence, some, ids) : wick_sequence_append(sequence, some, ids);
    CHECK(logits);
    wick_release(logits);
    for (int i = 0; i < 3; i++) wick_release(wick_sequence_append(sequence, 1, ids));
    CHECK_INT(wick_sequence_length(sequence), context);
    CHECK_OK(wick_memory_stats(device, &after));
    int64_t took = (int64_t)(after.peak - before.used);
    printf("%lld tokens: %lld bytes of %lld\n", (long long)context, (long long)took,
           (long long)(said.cache + said.work));
    CHECK(took <= said.cache + said.work);
    CHECK(said.cache + said.work <= 3 * took);
    wick_sequence_close(sequence);
    wick_lm_close(lm);
    free(ids);
}

static void check_refusals(void) {
    struct wick_lm_memory memory;
    CHECK(wick_lm_estimate("nosuch.gguf", device, NULL, NULL, &memory) == WICK_IO);
    CHECK(wick_lm_estimate(path, NULL, NULL, NULL, &memory) == WICK_INVALID);
    CHECK(wick_lm_estimate(path, device, NULL, NULL, NULL) == WICK_INVALID);
    const struct {
        struct wick_lm_use use;
        enum wick_status status;
    } bad[] = {{{.sequences = -1}, WICK_RANGE},      {{.context = -1}, WICK_RANGE},
               {{.context = INT64_MAX}, WICK_RANGE}, {{.tokens = -1}, WICK_RANGE},
               {{.cache = WICK_F64}, WICK_DTYPE},    {{.cache = WICK_DTYPE_q8_0}, WICK_SHAPE}, /* heads of 8 */
               {{.reserved = {1}}, WICK_INVALID}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct wick_lm_options options = {.use = &bad[i].use};
        CHECK(wick_lm_estimate(path, device, NULL, &bad[i].use, &memory) == bad[i].status);
        wick_error_clear();
        CHECK(!wick_lm_open(path, device, &options) && wick_error_status() == bad[i].status);
    }
    wick_error_clear();
}

int main(void) {
    device = wick_device_open("cpu");
    CHECK(device);
    check_parts();
    check_limit();
    check_process();
    check_peak(40, false);
    check_peak(1300, false);
    check_peak(1300, true);
    check_refusals();
    wick_device_close(device);
    return test_end();
}
