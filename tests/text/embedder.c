/* Sentence embeddings of the real model agree with sentence-transformers' in f32. */
#include "tests/fetched.h"
#include "tests/text/reference.h"

/* The reference is rounded to multiples of 2^-16, so half of one comes on top of what is allowed. */
static const double ABSOLUTE = 1e-4 - 0x1p-17, COSINE = 1e-5;
static const double FAST_ABSOLUTE = 6e-3, FAST_COSINE = 3e-4;

static struct wick_tensor *load_reference(struct wick_device *device) {
    struct wick_archive *archive = wick_archive_open("tests/text/embeddings.safetensors", NULL);
    struct wick_tensor *x = wick_archive_load(archive, "vectors", device);
    wick_archive_close(archive);
    return x;
}

static void compare(const struct wick_tensor *vectors, const struct wick_tensor *reference, double absolute,
                    double cosine) {
    int64_t n = wick_tensor_dim(reference, 0), dim = wick_tensor_dim(reference, 1);
    float *got = malloc((size_t)(n * dim) * sizeof *got);
    int16_t *want = malloc((size_t)(n * dim) * sizeof *want);
    double worst = 0, worst_cosine = 0;
    CHECK(got && want);
    if (!got || !want) return;
    CHECK_OK(wick_read(vectors, got, (size_t)(n * dim) * sizeof *got));
    CHECK_OK(wick_read(reference, want, (size_t)(n * dim) * sizeof *want));
    for (int64_t i = 0; i < n; i++) {
        double ab = 0, aa = 0, bb = 0, furthest = 0;
        for (int64_t j = 0; j < dim; j++) {
            double a = (double)got[i * dim + j], b = want[i * dim + j] / 65536.0;
            ab += a * b;
            aa += a * a;
            bb += b * b;
            furthest = fabs(a - b) <= furthest ? furthest : fabs(a - b); /* NaN stays */
        }
        double distance = 1 - ab / sqrt(aa * bb);
        CHECK_NEAR(furthest, 0, absolute);
        CHECK_NEAR(distance, 0, cosine);
        if (furthest > worst) worst = furthest;
        if (distance > worst_cosine) worst_cosine = distance;
    }
    printf("%d texts: largest difference %.2g, largest cosine distance %.2g\n", (int)n, worst, worst_cosine);
    free(got);
    free(want);
}

/* One text gives what it gives among others, and ids give what their text gives. */
static void check_alone(const struct wick_embedder *embedder, const char *text, const struct wick_tensor *vectors,
                        int64_t row) {
    int32_t ids[256];
    int64_t n = 0;
    double difference = 1;
    wick_scope_begin();
    const struct wick_tensor *among = wick_narrow(vectors, 0, row, 1);
    struct wick_tensor *alone = wick_embedder_encode(embedder, 1, &text, NULL);
    CHECK_OK(wick_read_scalar(wick_max(wick_abs(wick_sub(alone, among)), WICK_ALL_DIMS, false), &difference));
    CHECK_NEAR(difference, 0, 1e-5);
    CHECK_OK(wick_tokenizer_encode(wick_embedder_tokenizer(embedder), text, strlen(text), 256, ids, &n));
    n = n < 256 ? n : 256;
    struct wick_tensor *from_ids = wick_embedder_encode_ids(embedder, 1, &n, n, ids);
    CHECK_OK(wick_read_scalar(wick_max(wick_abs(wick_sub(alone, from_ids)), WICK_ALL_DIMS, false), &difference));
    CHECK(difference == 0);
    wick_scope_end(NULL);
}

static void check_errors(const struct wick_embedder *embedder) {
    const char *texts[] = {"a", NULL};
    int32_t ids[600] = {101, 30522};
    int64_t lengths[] = {2};
    CHECK_FAILS(wick_embedder_encode(NULL, 1, texts, NULL), WICK_INVALID, "embedder_encode: NULL argument, or 1 texts");
    CHECK_FAILS(wick_embedder_encode(embedder, -1, texts, NULL), WICK_INVALID,
                "embedder_encode: NULL argument, or -1 texts");
    CHECK_FAILS(wick_embedder_encode(embedder, 2, texts, NULL), WICK_INVALID, "embedder_encode: text 1 is NULL");
    CHECK_FAILS(wick_embedder_encode_ids(embedder, 1, (int64_t[]){0}, 0, ids), WICK_INVALID,
                "embedder_encode_ids: text 0 has 0 ids; the network takes 1 to 512");
    CHECK_FAILS(wick_embedder_encode_ids(embedder, 1, (int64_t[]){513}, 513, ids), WICK_INVALID,
                "embedder_encode_ids: text 0 has 513 ids; the network takes 1 to 512");
    CHECK_FAILS(wick_embedder_encode_ids(embedder, 1, lengths, 3, ids), WICK_INVALID,
                "embedder_encode_ids: the lengths add up to 2, there are 3 ids");
    CHECK(!wick_embedder_encode_ids(embedder, 1, lengths, 2, ids));
    CHECK_INT(wick_error_status(), WICK_RANGE);
    wick_error_clear();
    struct wick_tensor *none = wick_embedder_encode(embedder, 0, NULL, NULL);
    CHECK_INT(wick_tensor_dim(none, 0), 0);
    CHECK_INT(wick_tensor_dim(none, 1), 384);
    wick_release(none);
    CHECK_INT(wick_embedder_dim(NULL), 0);
    CHECK(!wick_embedder_tokenizer(NULL));
    wick_embedder_close(NULL);
}
/* The layers in bf16, where the device is faster with it; the same as ever where it is not. */
static void check_fast(const char *model, struct wick_device *device, int64_t n, const char *const *texts,
                       const size_t *lengths, const struct wick_tensor *reference) {
    struct wick_device_info info;
    CHECK_OK(wick_device_describe(device, &info));
    struct wick_embedder *embedder =
        wick_embedder_open_with(model, device, &(struct wick_embedder_options){.fast = true});
    CHECK(embedder);
    CHECK_INT(wick_embedder_dtype(embedder), info.fast_bf16 ? WICK_BF16 : WICK_F32);
    struct wick_tensor *vectors = wick_embedder_encode(embedder, n, texts, lengths);
    CHECK(vectors && wick_tensor_dtype(vectors) == WICK_F32);
    if (vectors) compare(vectors, reference, FAST_ABSOLUTE, FAST_COSINE);
    wick_release(vectors);
    wick_embedder_close(embedder);
}

int main(void) {
    const char *model = test_minilm();
    size_t nbytes, i;
    char *text = read_file("tests/text/sentences.json.gz", &nbytes);
    json_t *list = json_loadb(text, nbytes, JSON_ALLOW_NUL, NULL), *item;
    int64_t n = (int64_t)json_array_size(list);
    const char **texts = calloc((size_t)n, sizeof *texts);
    size_t *lengths = calloc((size_t)n, sizeof *lengths);
    json_array_foreach(list, i, item) {
        texts[i] = json_string_value(item);
        lengths[i] = json_string_length(item);
    }
    CHECK(n >= 300);
    struct wick_device *device = wick_device_open("cpu");
    struct wick_embedder *embedder = wick_embedder_open(model, device);
    CHECK(embedder);
    CHECK_INT(wick_embedder_dim(embedder), 384);
    CHECK_INT(wick_embedder_max_length(embedder), 256);
    struct wick_tensor *vectors = wick_embedder_encode(embedder, n, texts, lengths);
    struct wick_tensor *reference = load_reference(device);
    CHECK(vectors && reference);
    if (vectors && reference) {
        compare(vectors, reference, ABSOLUTE, COSINE);
        for (int64_t row = 0; row < n; row += 40)
            if (strlen(texts[row]) == lengths[row]) check_alone(embedder, texts[row], vectors, row);
        check_errors(embedder);
        CHECK_INT(wick_embedder_dtype(embedder), WICK_F32);
        check_fast(model, device, n, texts, lengths, reference);
    }
    wick_release(vectors);
    wick_release(reference);
    wick_embedder_close(embedder);
    CHECK_OK(wick_memory_trim(device));
    wick_device_close(device);
    CHECK_INT(wick_host_memory_used(), 0);
    json_decref(list);
    free(texts);
    free(lengths);
    free(text);
    return test_end();
}
