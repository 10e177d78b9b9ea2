/* Sampling, against NumPy in float64 (sample/make.py); the shape of what many draws give; what wrong arguments give. */
#include "tests/text/reference.h"

static double real_of(const json_t *object, const char *key) { return json_number_value(json_object_get(object, key)); }

/* At most 2000 numbers of a list; returns how many. */
static int64_t floats_of(const json_t *list, float *out) {
    size_t i;
    const json_t *item;
    json_array_foreach(list, i, item) {
        double value = json_number_value(item);
        out[i] = value == -1e30 ? -INFINITY : (float)value;
    }
    return (int64_t)json_array_size(list);
}

static int64_t ids_of(const json_t *list, int32_t *out) {
    size_t i;
    const json_t *item;
    json_array_foreach(list, i, item) { out[i] = (int32_t)json_integer_value(item); }
    return (int64_t)json_array_size(list);
}

static void check_chain(const json_t *item, size_t number) {
    static float logits[2000], bias[8];
    static int32_t text[128], bias_ids[8];
    struct wick_sampling sampling = {.temperature = real_of(item, "temperature"),
                                     .top_k = json_integer_value(json_object_get(item, "top_k")),
                                     .typical = real_of(item, "typical"),
                                     .top_p = real_of(item, "top_p"),
                                     .min_p = real_of(item, "min_p"),
                                     .repeat = real_of(item, "repeat"),
                                     .frequency = real_of(item, "frequency"),
                                     .presence = real_of(item, "presence"),
                                     .window = json_integer_value(json_object_get(item, "window")),
                                     .seed = (uint64_t)json_integer_value(json_object_get(item, "seed")),
                                     .n_bias = ids_of(json_object_get(item, "bias_ids"), bias_ids),
                                     .bias_ids = bias_ids,
                                     .bias = bias,
                                     .log_probabilities = true};
    int64_t n = floats_of(json_object_get(item, "logits"), logits);
    floats_of(json_object_get(item, "bias"), bias);
    struct wick_sampler *sampler = wick_sampler_open(&sampling, n);
    memset(bias, 0xFF, sizeof bias); /* it has its own copy */
    for (int round = 0; round < 2; round++) {
        size_t i;
        const json_t *want;
        CHECK_OK(wick_sampler_add(sampler, ids_of(json_object_get(item, "text"), text), text));
        json_array_foreach(json_object_get(item, "want"), i, want) {
            struct wick_sampled got;
            CHECK_OK(wick_sampler_pick(sampler, n, logits, &got));
            double probability = json_number_value(json_array_get(want, 2));
            double log_probability = json_number_value(json_array_get(want, 3));
            TEST_CHECK_(got.id == json_integer_value(json_array_get(want, 0)) &&
                            got.n_left == json_integer_value(json_array_get(want, 1)) &&
                            fabs(got.probability - probability) <= 1e-12 &&
                            fabs(got.log_probability - log_probability) <= 1e-11 * (1 + fabs(log_probability)),
                        "case %zu, draw %zu: id %d of %d, %.17g, %.17g; should be %s", number, i, (int)got.id,
                        (int)got.n_left, got.probability, got.log_probability, json_dumps(want, 0));
        }
        wick_sampler_reset(sampler, sampling.seed);
    }
    wick_sampler_close(sampler);
}

static void check_cases(void) {
    size_t nbytes, i;
    char *file = read_file("tests/text/sample/cases.json.gz", &nbytes);
    json_t *cases = json_loadb(file, nbytes, 0, NULL), *item;
    CHECK_INT(json_array_size(cases), 300);
    json_array_foreach(cases, i, item) check_chain(item, i);
    json_decref(cases);
    free(file);
}

/* 200,000 draws of five tokens: each as often as its probability says, within five deviations. Other seeds differ. */
static void check_distribution(void) {
    enum { N = 200000 };
    const float logits[5] = {0.0f, 0.6931472f, 1.0986123f, -INFINITY, 1.3862944f}; /* 1, 2, 3, 0, 4 tenths */
    const double p[5] = {0.1, 0.2, 0.3, 0, 0.4};
    int64_t counts[5] = {0}, same = 0;
    struct wick_sampling sampling = {.temperature = 1, .seed = 5};
    struct wick_sampler *sampler = wick_sampler_open(&sampling, 5), *other;
    sampling.seed = 6;
    other = wick_sampler_open(&sampling, 5);
    for (int i = 0; i < N; i++) {
        struct wick_sampled a = {0}, b = {0};
        if (wick_sampler_pick(sampler, 5, logits, &a) != WICK_OK || wick_sampler_pick(other, 5, logits, &b) != WICK_OK)
            break;
        counts[a.id]++;
        same += a.id == b.id;
    }
    for (int i = 0; i < 5; i++) CHECK_NEAR((double)counts[i], N * p[i], 5 * sqrt(N * p[i] * (1 - p[i])));
    CHECK_NEAR((double)same, N * 0.3, 5 * sqrt(N * 0.3 * 0.7)); /* 0.01 + 0.04 + 0.09 + 0.16 */
    wick_sampler_close(sampler);
    wick_sampler_close(other);
}

/* The numbers are those that a device with the seed gives: a token for each half and quarter of [0, 1) tells. */
static void check_stream(void) {
    enum { N = 64 };
    static const float logits[N] = {0};
    struct wick_sampling sampling = {.temperature = 1, .seed = 0xFEDCBA9876543210u};
    struct wick_sampler *sampler = wick_sampler_open(&sampling, N);
    struct wick_device *device = wick_device_open("cpu");
    CHECK_OK(wick_seed_set(device, sampling.seed));
    for (int i = 0; i < 100; i++) {
        double u = 0;
        struct wick_sampled got;
        struct wick_tensor *x = wick_uniform(device, WICK_F64, WICK_SHAPE(1), 0, 1);
        CHECK_OK(wick_read(x, &u, sizeof u));
        wick_release(x);
        CHECK_OK(wick_sampler_pick(sampler, N, logits, &got));
        CHECK_INT(got.id, (int64_t)(u * N));
    }
    wick_device_close(device);
    wick_sampler_close(sampler);
}

static void check_log_probabilities(void) {
    const float logits[6] = {1, 3, -INFINITY, 3, 2, -7};
    const double sum = exp(1.0) + 2 * exp(3.0) + exp(2.0) + exp(-7.0);
    int32_t ids[6];
    double p[6];
    CHECK_OK(wick_log_probabilities(6, logits, 3, ids, p));
    CHECK(ids[0] == 1 && ids[1] == 3 && ids[2] == 4);
    CHECK_NEAR(p[0], 3 - log(sum), 1e-14);
    CHECK_NEAR(p[2], 2 - log(sum), 1e-14);
    CHECK_OK(wick_log_probabilities(6, logits, 6, ids, p));
    CHECK(ids[5] == 2 && p[5] == -HUGE_VAL);
    CHECK_FAILS(wick_log_probabilities(6, logits, 7, ids, p), WICK_INVALID, "log_probabilities: max 7 of n 6");
    CHECK_FAILS(wick_log_probabilities(1, logits + 2, 1, ids, p), WICK_RANGE,
                "log_probabilities: all 1 logits are -inf");
    CHECK_FAILS(wick_log_probabilities(1, (float[]){NAN}, 1, ids, p), WICK_RANGE, "log_probabilities: logit 0 is NaN");
}

static void check_open_fails(const struct wick_sampling *sampling, int64_t vocab_size, const char *text) {
    CHECK(!wick_sampler_open(sampling, vocab_size));
    CHECK_TEXT(wick_error(), text);
    wick_error_clear();
}

static void check_arguments(void) {
    const int32_t ids[] = {0, 9};
    const float nan = NAN;
    check_open_fails(NULL, 0, "sampler_open: vocab_size 0 is not in 1..16777216");
    check_open_fails(&(struct wick_sampling){.temperature = -1}, 9,
                     "sampler_open: temperature is -1, which is not in 0..inf");
    check_open_fails(&(struct wick_sampling){.top_p = NAN}, 9, "sampler_open: top_p is nan, which is not in 0..1");
    check_open_fails(&(struct wick_sampling){.repeat = -1}, 9,
                     "sampler_open: repeat is -1, which is not in 1e-06..1e+06");
    check_open_fails(&(struct wick_sampling){.n_bias = 1}, 9,
                     "sampler_open: n_bias is 1, but bias or bias_ids is NULL");
    check_open_fails(&(struct wick_sampling){.n_bias = 2, .bias_ids = ids, .bias = (float[2]){0}}, 9,
                     "sampler_open: bias_ids[1] is 9, not in 0..8");
    check_open_fails(&(struct wick_sampling){.n_bias = 1, .bias_ids = ids, .bias = &nan}, 9,
                     "sampler_open: bias[0] is NaN or infinity");
    struct wick_sampler *sampler = wick_sampler_open(NULL, 3);
    struct wick_sampled got = {.id = 77};
    CHECK_FAILS(wick_sampler_add(sampler, 2, ids), WICK_RANGE, "sampler_add: ids[1] is 9, not in 0..2");
    CHECK_FAILS(wick_sampler_pick(sampler, 2, &nan, &got), WICK_INVALID,
                "sampler_pick: 2 logits for a vocabulary of 3 tokens");
    CHECK_FAILS(wick_sampler_pick(sampler, 3, (float[]){0, 0, INFINITY}, &got), WICK_RANGE,
                "sampler_pick: logit 2 is inf");
    CHECK_FAILS(wick_sampler_pick(sampler, 3, (float[]){-INFINITY, -INFINITY, -INFINITY}, &got), WICK_RANGE,
                "sampler_pick: all 3 tokens are excluded");
    CHECK_INT(got.id, 77);
    CHECK_OK(wick_sampler_pick(sampler, 3, (float[]){1, 2, 2}, &got));
    CHECK_INT(got.id, 1);
    wick_sampler_close(sampler);
    wick_sampler_close(NULL);
    wick_sampler_reset(NULL, 0);
    CHECK_INT(wick_host_memory_used(), 0);
}

int main(void) {
    check_cases();
    check_distribution();
    check_stream();
    check_log_probabilities();
    check_arguments();
    return test_end();
}
