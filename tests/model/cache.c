/* A cache of q8_0 beside one of f32, in a model with heads of 32: what it holds, and the logits behind texts that take
 * several blocks of keys; whole, by steps, with a window, and saved. The argument is a device, the CPU otherwise. */
#include "tests/test.h"

#include <unistd.h>

enum { TENSORS = 64, TOKENS = 1100, FEW = 40, VOCAB = 64, HEAD = 32 };

static struct wick_device *device, *host;
static int32_t ids[TOKENS];
static char path[] = "/tmp/wick-cache-XXXXXX", kept[] = "/tmp/wick-kept-XXXXXX";

/* llama.gguf with one head of 32 in the place of 4 of 8, so that its keys and values are wider; and with a window. */
static void write_model(const char *window) {
    static const char *const changed[] = {"attn_k.weight", "attn_v.weight"};
    struct wick_archive *archive = wick_archive_open("tests/model/llama.gguf", NULL);
    struct wick_tensor *tensors[TENSORS];
    const char *names[TENSORS];
    const char *const metadata[] = {"llama.attention.head_count",
                                    "u32",
                                    "1",
                                    "llama.attention.head_count_kv",
                                    "u32",
                                    "1",
                                    "llama.attention.key_length",
                                    "u32",
                                    "32",
                                    "llama.attention.value_length",
                                    "u32",
                                    "32",
                                    "llama.rope.dimension_count",
                                    "u32",
                                    "32",
                                    "llama.attention.sliding_window",
                                    "u32",
                                    window,
                                    NULL};
    int64_t n = wick_archive_count(archive);
    CHECK(n > 0 && n <= TENSORS);
    wick_scope_begin();
    CHECK_OK(wick_seed_set(host, 3));
    for (int64_t i = 0; i < n; i++) {
        names[i] = wick_archive_name(archive, i);
        bool other = strstr(names[i], changed[0]) || strstr(names[i], changed[1]);
        tensors[i] =
            other ? wick_normal(host, WICK_F32, WICK_SHAPE(HEAD, 32), 0, 0.3) : wick_archive_load_at(archive, i, host);
    }
    CHECK_OK(wick_gguf_save(path, n, names, (const struct wick_tensor *const *)tensors, archive, metadata));
    wick_scope_end(NULL);
    wick_archive_close(archive);
}

/* Logits of what follows n tokens, the last `steps` of which come one at a time. The sequence stays open. */
static struct wick_sequence *run(const struct wick_lm *lm, enum wick_dtype cache, int64_t n, int64_t steps,
                                 float logits[VOCAB]) {
    struct wick_sequence *sequence =
        wick_sequence_open(lm, &(struct wick_sequence_options){.context = TOKENS, .cache = cache});
    struct wick_tensor *x = wick_sequence_append(sequence, n - steps, ids);
    for (int64_t i = n - steps; i < n; i++) {
        wick_release(x);
        x = wick_sequence_append(sequence, 1, ids + i);
    }
    CHECK(x);
    CHECK_OK(wick_read(x, logits, VOCAB * sizeof(float)));
    wick_release(x);
    return sequence;
}

static double distance(const float *a, const float *b) {
    double most = 0;
    for (int i = 0; i < VOCAB; i++) most = fmax(most, fabs((double)a[i] - (double)b[i]));
    return most;
}

/* Keys of the first layer, which depend on no cache: as numerics.md bounds them. */
static void check_kept(struct wick_sequence *plain, struct wick_sequence *blocks) {
    static float want[FEW][HEAD];
    static uint8_t got[FEW][HEAD + 2];
    const struct {
        struct wick_sequence *sequence;
        void *to;
        size_t nbytes;
    } both[] = {{plain, want, sizeof want}, {blocks, got, sizeof got}};
    for (int i = 0; i < 2; i++) {
        CHECK_OK(wick_sequence_save(both[i].sequence, kept));
        struct wick_archive *archive = wick_archive_open(kept, NULL);
        struct wick_tensor *x = wick_archive_load(archive, "layers.0.k", host);
        CHECK(x);
        CHECK_OK(wick_read(x, both[i].to, both[i].nbytes));
        wick_release(x);
        wick_archive_close(archive);
    }
    for (int t = 0; t < FEW; t++) {
        float scale;
        wick_scope_begin();
        CHECK_OK(wick_read(wick_cast(wick_from_data(host, WICK_F16, WICK_SHAPE(1), got[t], 2), WICK_F32), &scale, 4));
        wick_scope_end(NULL);
        double most = 0, off = 0;
        for (int i = 0; i < HEAD; i++) most = fmax(most, fabs((double)want[t][i]));
        for (int i = 0; i < HEAD; i++)
            off = fmax(off, fabs((double)scale * (int8_t)got[t][2 + i] - (double)want[t][i]));
        CHECK(off <= most * (1.0 / 254 + 1.0 / 2048));
    }
}

/* A saved sequence goes on as the one it was; one of another cache is refused. */
static void check_saved(const struct wick_lm *lm, struct wick_sequence *blocks) {
    struct wick_sequence *again =
        wick_sequence_open(lm, &(struct wick_sequence_options){.context = TOKENS, .cache = WICK_DTYPE_q8_0});
    struct wick_sequence *plain = wick_sequence_open(lm, NULL);
    float logits[2][VOCAB];
    CHECK_OK(wick_sequence_save(blocks, kept));
    CHECK_OK(wick_sequence_load(again, kept));
    CHECK(wick_sequence_load(plain, kept) == WICK_FORMAT);
    wick_error_clear();
    for (int i = 0; i < 2; i++) {
        struct wick_tensor *x = wick_sequence_append(i ? again : blocks, 1, ids);
        CHECK_OK(wick_read(x, logits[i], sizeof logits[i]));
        wick_release(x);
    }
    CHECK_BYTES(logits[0], logits[1], sizeof logits[0]);
    wick_sequence_close(again);
    wick_sequence_close(plain);
}

static void check_model(const char *window, int64_t n) {
    float plain[VOCAB], blocks[VOCAB], steps[VOCAB];
    write_model(window);
    struct wick_lm *lm = wick_lm_open(path, device, NULL);
    CHECK(lm);
    struct wick_sequence *a = run(lm, WICK_F32, n, 0, plain), *b = run(lm, WICK_DTYPE_q8_0, n, 0, blocks);
    struct wick_sequence *c = run(lm, WICK_DTYPE_q8_0, n, 3, steps);
    double most = 0;
    for (int i = 0; i < VOCAB; i++) most = fmax(most, fabs((double)plain[i]));
    printf("%lld tokens, window %s: logits up to %.2f, off by %.4f, by steps by %.2e\n", (long long)n, window, most,
           distance(plain, blocks), distance(blocks, steps));
    CHECK(distance(plain, blocks) > 0 && distance(plain, blocks) <= 0.03 * most);
    CHECK(distance(blocks, steps) <= 2e-4 * most);
    if (n == FEW) {
        check_kept(a, b);
        check_saved(lm, b);
    }
    wick_sequence_close(a);
    wick_sequence_close(b);
    wick_sequence_close(c);
    wick_lm_close(lm);
}

int main(int argc, char **argv) {
    device = wick_device_open(argc > 1 ? argv[1] : "cpu");
    host = wick_device_open("cpu");
    int files[] = {mkstemp(path), mkstemp(kept)};
    CHECK(device && host && files[0] >= 0 && files[1] >= 0);
    for (int i = 0; i < TOKENS; i++) ids[i] = 3 + i * 37 % 59;
    check_model("0", FEW);
    check_model("7", FEW);
    check_model("0", TOKENS);
    for (int i = 0; i < 2; i++) close(files[i]);
    unlink(path);
    unlink(kept);
    wick_device_close(host);
    wick_device_close(device);
    return test_end();
}
