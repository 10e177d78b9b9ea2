/* Steps of one token that a GPU repeats from a graph, against the same model without graphs, bit by bit: across growing
 * caches, cuts, in turns, together, from two threads, and while memory is short. The arguments are a device (the CPU
 * otherwise, which has no such graphs) and, where calls of the driver fail, "failing". */
#include "tests/model/sequences.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

enum { VOCAB = 64, MOST = 3 };

static struct wick_device *device;
static bool failing;
static long countdown; /* the host's allocation that fails; 0: none */

/* ---- the host's memory ---- */

static void *allocate(void *context, size_t nbytes, size_t alignment) {
    (void)context;
    if (countdown > 0 && --countdown == 0) return NULL;
    return aligned_alloc(alignment < 16 ? 16 : alignment, (nbytes + alignment + 15) / alignment * alignment);
}

static void release(void *context, void *memory, size_t nbytes) {
    (void)context;
    (void)nbytes;
    free(memory);
}

/* ---- what is compared ---- */

static int32_t id_of(int64_t i) { return (int32_t)((i * 7 + i / 5 + 3) % VOCAB); }

static struct wick_lm *open_lm(const char *name, bool graphs) {
    char path[128];
    snprintf(path, sizeof path, "tests/model/%s.gguf", name);
    setenv("WICK_GRAPHS", graphs ? "on" : "off", 1);
    struct wick_lm *lm = wick_lm_open(path, device, NULL);
    if (!lm) fprintf(stderr, "%s: %s\n", name, wick_error());
    CHECK(lm);
    return lm;
}

static void take(struct wick_tensor *logits, int64_t n, float *values) {
    if (!logits) fprintf(stderr, "%s\n", wick_error());
    CHECK(logits);
    CHECK_OK(wick_read(logits, values, (size_t)(n * VOCAB) * sizeof *values));
    wick_release(logits);
}

/* A sequence with graphs and one without, which get the same tokens. */
struct pair {
    struct wick_sequence *sequence, *plain;
};

static struct pair open_pair(struct wick_lm *const lm[2], enum wick_dtype cache, int64_t context) {
    return (struct pair){open_sequence(lm[0], cache, context), open_sequence(lm[1], cache, context)};
}

static void close_pair(struct pair pair) {
    wick_sequence_close(pair.sequence);
    wick_sequence_close(pair.plain);
}

static void add(struct pair pair, int64_t n) {
    int32_t ids[64];
    float got[VOCAB], expected[VOCAB];
    for (int64_t i = 0; i < n; i++) ids[i] = id_of(wick_sequence_length(pair.plain) + i);
    take(wick_sequence_append(pair.sequence, n, ids), 1, got);
    take(wick_sequence_append(pair.plain, n, ids), 1, expected);
    CHECK_BYTES(got, expected, sizeof got);
    CHECK_INT(wick_sequence_length(pair.sequence), wick_sequence_length(pair.plain));
}

static void cut(struct pair pair, int64_t n) {
    CHECK_OK(wick_sequence_truncate(pair.sequence, n));
    CHECK_OK(wick_sequence_truncate(pair.plain, n));
}

/* Several sequences get a token at once; splits of keys may be others then, and so the last bits. */
static void add_together(const struct pair *pairs, int n) {
    struct wick_sequence *sequences[2][MOST];
    int32_t ids[MOST];
    float got[MOST * VOCAB], expected[MOST * VOCAB];
    for (int i = 0; i < n; i++) {
        sequences[0][i] = pairs[i].sequence;
        sequences[1][i] = pairs[i].plain;
        ids[i] = id_of(wick_sequence_length(pairs[i].plain));
    }
    take(wick_sequences_step(n, sequences[0], ids), n, got);
    take(wick_sequences_step(n, sequences[1], ids), n, expected);
    for (int i = 0; i < n * VOCAB; i++) CHECK_NEAR(got[i], expected[i], 2e-5);
}

/* ---- launches ---- */

/* Graphs that the stand-in driver has launched; -1: there is none. */
static long launches(void) {
    bool cuda = strncmp(wick_device_name(device), "cuda", 4) == 0;
    const char *path = getenv(cuda ? "WICK_CUDA_PATH" : "WICK_HIP_PATH");
    long (*calls)(const char *) = NULL;
    void *driver = path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;
    if (driver) *(void **)&calls = dlsym(driver, "standin_calls");
    if (driver) dlclose(driver);
    return calls ? calls(cuda ? "cuGraphLaunch" : "hipGraphLaunch") : -1;
}

/* Checks how many were launched since `before`. */
static void check_launches(long before, long wanted) {
    if (before >= 0 && !failing && strcmp(wick_device_name(device), "cpu") != 0) CHECK_INT(launches() - before, wanted);
}

/* ---- checks ---- */

/* A cache of 256 tokens grows behind the last of them, and then the graph is recorded anew. */
static void check_growth(struct wick_lm *const lm[2]) {
    struct pair pair = open_pair(lm, WICK_F32, 600);
    long before = launches();
    add(pair, 5);
    for (int i = 0; i < 270; i++) add(pair, 1);
    check_launches(before, 251 - 2 + 19 - 2);
    cut(pair, 100);
    add(pair, 1);
    add(pair, 30);
    add(pair, 1);
    check_launches(before, 251 - 2 + 19 - 2 + 2);
    cut(pair, 0);
    add(pair, 1);
    close_pair(pair);
}

static void check_turns(struct wick_lm *const lm[2]) {
    struct pair pairs[MOST] = {open_pair(lm, WICK_F32, 0), open_pair(lm, WICK_BF16, 0), open_pair(lm, WICK_F16, 0)};
    long before = launches();
    add(pairs[0], 3);
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < MOST; k++) add(pairs[k], 1);
    check_launches(before, MOST * 4);
    close_pair(pairs[0]);
    add(pairs[1], 1);
    close_pair(pairs[2]);
    close_pair(pairs[1]);
}

static void check_together(struct wick_lm *const lm[2]) {
    struct pair pairs[MOST];
    long before = launches();
    for (int i = 0; i < MOST; i++) {
        pairs[i] = open_pair(lm, WICK_F32, 400);
        add(pairs[i], 2 + 20 * i);
    }
    for (int i = 0; i < 5; i++) add_together(pairs, MOST);
    check_launches(before, 3);
    add_together(pairs, 2); /* others: no graph yet */
    check_launches(before, 3);
    close_pair(pairs[1]);
    pairs[1] = pairs[2];
    for (int i = 0; i < 3; i++) add_together(pairs, 2);
    check_launches(before, 4);
    cut(pairs[0], 1);
    add_together(pairs, 2);
    add(pairs[1], 1);
    for (int i = 0; i < 3; i++) add(pairs[1], 60 + i % 2);
    while (wick_sequence_length(pairs[1].plain) < 260) add_together(pairs, 2); /* both caches grow */
    close_pair(pairs[0]);
    close_pair(pairs[1]);
}

static void check_full(struct wick_lm *const lm[2]) {
    struct pair pair = open_pair(lm, WICK_F32, 8);
    int32_t id = 1;
    for (int i = 0; i < 8; i++) add(pair, 1);
    CHECK(!wick_sequence_append(pair.sequence, 1, &id) && wick_error_status() == WICK_RANGE);
    wick_error_clear();
    CHECK_INT(wick_sequence_length(pair.sequence), 8);
    cut(pair, 6);
    add(pair, 1);
    add(pair, 1);
    close_pair(pair);
}

static bool stop_after(void *context, const struct wick_generated *token) {
    struct wick_sequence *sequence = context;
    (void)token;
    if (wick_sequence_length(sequence) == 9) wick_sequence_cancel(sequence);
    return true;
}

static void check_cancel(struct wick_lm *const lm[2]) {
    struct pair pair = open_pair(lm, WICK_F32, 0);
    struct wick_sequence *both[] = {pair.sequence, pair.plain};
    for (int i = 0; i < 2; i++) {
        struct wick_generate_result result;
        struct wick_generate_options options = {
            .max_tokens = 20, .ignore_end = true, .on_token = stop_after, .context = both[i]};
        CHECK_OK(wick_sequence_prompt(both[i], "bca", 3, 0));
        CHECK_OK(wick_generate(both[i], &options, &result));
        CHECK_INT(result.stop, WICK_STOP_CANCELLED);
        CHECK_INT(wick_sequence_length(both[i]), 10);
        options.on_token = NULL;
        CHECK_OK(wick_generate(both[i], &options, &result));
        CHECK_INT(wick_sequence_length(both[i]), 30);
    }
    CHECK_BYTES(wick_sequence_ids(both[0]), wick_sequence_ids(both[1]), 30 * sizeof(int32_t));
    close_pair(pair);
}

/* Results stay as they are while the graph goes on. */
static void check_results(struct wick_lm *const lm[2]) {
    struct wick_sequence *sequence = open_sequence(lm[0], WICK_F32, 0);
    struct wick_tensor *logits[6];
    float first[6][VOCAB], later[VOCAB];
    for (int i = 0; i < 6; i++) {
        int32_t id = id_of(i);
        logits[i] = wick_sequence_append(sequence, 1, &id);
        CHECK_OK(wick_read(logits[i], first[i], sizeof first[i]));
    }
    wick_sequence_close(sequence);
    for (int i = 0; i < 6; i++) {
        CHECK_OK(wick_read(logits[i], later, sizeof later));
        CHECK_BYTES(later, first[i], sizeof later);
        wick_release(logits[i]);
    }
}

static void *write_beside(void *context) {
    struct wick_lm *const *lm = context;
    for (int k = 0; k < 3; k++) {
        struct pair pair = open_pair(lm, WICK_F32, 0);
        add(pair, 4);
        for (int i = 0; i < 12; i++) add(pair, 1);
        close_pair(pair);
    }
    return NULL;
}

static void check_threads(struct wick_lm *lm[2]) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) CHECK(pthread_create(&threads[i], NULL, write_beside, lm) == 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
}

/* Each of the host's allocations in a row of steps fails once. */
static void check_host_memory(struct wick_lm *const lm[2]) {
    float expected[5][VOCAB], got[VOCAB];
    bool missed = true;
    struct wick_sequence *sequence = open_sequence(lm[1], WICK_F32, 0);
    for (int i = 0; i < 5; i++) take(wick_sequence_append(sequence, 1, (int32_t[]){id_of(i)}), 1, expected[i]);
    wick_sequence_close(sequence);
    for (long k = 1; missed; k += 1 + k / 15) {
        sequence = open_sequence(lm[0], WICK_F32, 0);
        countdown = k;
        for (int i = 0; i < 5; i++) {
            int32_t id = id_of(i);
            struct wick_tensor *logits = wick_sequence_append(sequence, 1, &id);
            if (!logits) {
                CHECK(wick_error_status() == WICK_MEMORY && wick_sequence_length(sequence) == i);
                wick_error_clear();
                logits = wick_sequence_append(sequence, 1, &id);
            }
            long left = countdown;
            countdown = 0;
            take(logits, 1, got);
            countdown = left;
            CHECK_BYTES(got, expected[i], sizeof got);
        }
        missed = countdown == 0;
        countdown = 0;
        wick_sequence_close(sequence);
    }
}

/* No memory of the device for a graph: the plain way has enough. */
static void check_device_memory(struct wick_lm *const lm[2]) {
    struct pair pair = open_pair(lm, WICK_F32, 0);
    struct wick_memory memory;
    add(pair, 1);
    add(pair, 1);
    CHECK_OK(wick_memory_trim(device));
    CHECK_OK(wick_memory_stats(device, &memory));
    CHECK_OK(wick_memory_set_limit(device, memory.used + memory.cached));
    for (int i = 0; i < 4; i++) add(pair, 1);
    CHECK_OK(wick_memory_set_limit(device, SIZE_MAX));
    close_pair(pair);
}

int main(int argc, char **argv) {
    static const char *const names[] = {"llama", "gemma3", "qwen2", "mixtral"};
    const struct wick_allocator allocator = {NULL, allocate, release};
    CHECK_OK(wick_allocator_set(&allocator));
    device = wick_device_open(argc > 1 ? argv[1] : "cpu");
    failing = argc > 2;
    if (!device) {
        printf("%s\n", wick_error());
        return 77;
    }
    for (int i = 0; i < 4; i++) {
        struct wick_lm *lm[2] = {open_lm(names[i], true), open_lm(names[i], false)};
        bool experts = strcmp(names[i], "mixtral") == 0;
        if (i == 0) check_growth(lm);
        if (!experts) check_turns(lm);
        if (!experts) check_together(lm);
        check_full(lm);
        check_cancel(lm);
        check_results(lm);
        if (i == 0) check_threads(lm);
        if (i == 0) check_host_memory(lm);
        if (strcmp(wick_device_name(device), "cpu") != 0 && !getenv("WICK_POOL")) check_device_memory(lm);
        wick_lm_close(lm[0]);
        wick_lm_close(lm[1]);
    }
    wick_device_close(device);
    return test_end();
}
