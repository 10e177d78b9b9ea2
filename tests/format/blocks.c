/* Quantised tensors in GGUF files: those of tests/files/blocks.gguf, which gguf-py wrote (make.py), and through saving
 * and loading again. */
#include "tests/test.h"

#include <stdio.h>
#include <unistd.h>

static struct wick_device *cpu;

/* GGML's numbers of the types, and the sizes of its structs, from ggml-common.h. */
static const struct {
    const char *name;
    int number, elements, nbytes;
} types[] = {
    {"q4_0", 2, 32, 18},      {"q4_1", 3, 32, 20},     {"q5_0", 6, 32, 22},      {"q5_1", 7, 32, 24},
    {"q8_0", 8, 32, 34},      {"q8_1", 9, 32, 36},     {"q2_k", 10, 256, 84},    {"q3_k", 11, 256, 110},
    {"q4_k", 12, 256, 144},   {"q5_k", 13, 256, 176},  {"q6_k", 14, 256, 210},   {"q8_k", 15, 256, 292},
    {"iq2_xxs", 16, 256, 66}, {"iq2_xs", 17, 256, 74}, {"iq3_xxs", 18, 256, 98}, {"iq1_s", 19, 256, 50},
    {"iq4_nl", 20, 32, 18},   {"iq3_s", 21, 256, 110}, {"iq2_s", 22, 256, 82},   {"iq4_xs", 23, 256, 136},
    {"iq1_m", 29, 256, 56},   {"tq1_0", 34, 256, 54},  {"tq2_0", 35, 256, 66},   {"mxfp4", 39, 32, 17},
    {"nvfp4", 40, 64, 36},    {"q1_0", 41, 128, 18},   {"q2_0", 42, 64, 18},
};
enum { TYPES = sizeof types / sizeof *types, MOST = 3 * 2 * 292 };

/* The bytes that make.py gave the tensor. */
static void fill(int i, unsigned char *bytes) {
    for (int j = 0; j < 6 * types[i].nbytes; j++) bytes[j] = (unsigned char)(types[i].number * 31 + 3 + 7 * j);
}

static void check_tensor(struct wick_tensor *x, int i) {
    unsigned char want[MOST], got[MOST];
    enum wick_dtype dtype = WICK_F32;
    CHECK(wick_dtype_from_name(types[i].name, &dtype));
    CHECK(x && wick_tensor_dtype(x) == dtype && wick_tensor_rank(x) == 2 && wick_tensor_dim(x, 0) == 3);
    CHECK_INT(wick_tensor_dim(x, 1), 2 * types[i].elements);
    CHECK_OK(wick_read(x, got, (size_t)(6 * types[i].nbytes)));
    fill(i, want);
    CHECK_BYTES(got, want, (size_t)(6 * types[i].nbytes));
}

static void check_file(void) {
    struct wick_archive *archive = wick_archive_open("tests/files/blocks.gguf", NULL);
    int seen = 0;
    for (int i = 0; i < TYPES; i++) {
        struct wick_archive_entry entry;
        int64_t k = wick_archive_find(archive, types[i].name);
        if (k < 0) continue; /* q8_1 and q2_0 */
        CHECK_OK(wick_archive_describe(archive, k, &entry));
        CHECK(entry.loadable);
        CHECK_TEXT(wick_dtype_name(entry.dtype), types[i].name);
        CHECK_INT(entry.nbytes, 6 * types[i].nbytes);
        struct wick_tensor *x = wick_archive_load_at(archive, k, cpu);
        check_tensor(x, i);
        wick_release(x);
        seen++;
    }
    CHECK_INT(seen, TYPES - 2);
    wick_archive_close(archive);
}

/* Every type from bytes, to a file with the keys of another, and back. */
static void check_saving(const char *path) {
    static const char *const metadata[] = {"general.name",
                                           "string",
                                           "bl\xc3\xb6"
                                           "cke",
                                           "llama.block_count",
                                           "u32",
                                           "4000000000",
                                           "k.i8",
                                           "i8",
                                           "-128",
                                           "k.f32",
                                           "f32",
                                           "0.25",
                                           "k.f64",
                                           "f64",
                                           "0.25",
                                           "k.bool",
                                           "bool",
                                           "true",
                                           NULL};
    const char *names[TYPES];
    struct wick_tensor *tensors[TYPES];
    unsigned char bytes[MOST];
    char text[32];
    wick_scope_begin();
    for (int i = 0; i < TYPES; i++) {
        enum wick_dtype dtype = WICK_F32;
        wick_dtype_from_name(types[i].name, &dtype);
        fill(i, bytes);
        names[i] = types[i].name;
        tensors[i] =
            wick_from_data(cpu, dtype, WICK_SHAPE(3, 2 * types[i].elements), bytes, (size_t)(6 * types[i].nbytes));
    }
    struct wick_archive *like = wick_archive_open("tests/files/blocks.gguf", NULL);
    CHECK_OK(wick_gguf_save(path, TYPES, names, (const struct wick_tensor *const *)tensors, like, metadata));
    wick_archive_close(like);
    struct wick_archive *archive = wick_archive_open(path, NULL);
    CHECK_INT(wick_archive_count(archive), TYPES);
    for (int i = 0; i < TYPES; i++) check_tensor(wick_archive_load(archive, types[i].name, cpu), i);
    static const char *const want[][2] = {{"general.architecture", "llama"},
                                          {"k.strings", "[a, bc, ]"},
                                          {"k.ints", "[1, -2, 3]"},
                                          {"general.name", "bl\xc3\xb6"
                                                           "cke"},
                                          {"llama.block_count", "4000000000"},
                                          {"k.i8", "-128"},
                                          {"k.f32", "0.25"},
                                          {"k.f64", "0.25"},
                                          {"k.bool", "true"}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        wick_archive_metadata_text(archive, wick_archive_metadata_find(archive, want[i][0]), -1, text, sizeof text);
        CHECK_TEXT(text, want[i][1]);
    }
    CHECK_INT(wick_archive_metadata_count(archive), 9);
    wick_archive_close(archive);
    wick_scope_end(NULL);
}

static void check_refusals(const char *path) {
    const struct wick_tensor *x = wick_zeros(cpu, WICK_F32, WICK_SHAPE(2)),
                             *u8 = wick_zeros(cpu, WICK_U8, WICK_SHAPE(2)),
                             *deep = wick_zeros(cpu, WICK_F32, WICK_SHAPE(1, 1, 1, 1, 1));
    const char *const name = "a";
    CHECK_INT(wick_gguf_save(path, 1, &name, &u8, NULL, NULL), WICK_DTYPE);
    CHECK_TEXT(wick_error(), "gguf_save: tensor \"a\": the format has no u8");
    CHECK_FAILS(wick_gguf_save(path, 1, &name, &deep, NULL, NULL), WICK_SHAPE,
                "gguf_save: tensor \"a\": 5 dims are more than the format's 4");
    static const char *const wrong[][4] = {
        {"k", "u8", "256", NULL},  {"k", "u8", "-1", NULL},    {"k", "i16", "32768", NULL},
        {"k", "bool", "1", NULL},  {"k", "array", "[]", NULL}, {"k", "u33", "1", NULL},
        {"k", "u64", "1e3", NULL}, {"k", "f32", "", NULL},     {"k", "u8", NULL, NULL}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK_FAILS(wick_gguf_save(path, 1, &name, &x, NULL, wrong[i]), WICK_INVALID,
                    "gguf_save: metadata \"k\" has no value of a type of GGUF");
    static const char *const twice[] = {"k", "u8", "1", "k", "u8", "2", NULL};
    CHECK_INT(wick_gguf_save(path, 1, &name, &x, NULL, twice), WICK_INVALID);
    struct wick_archive *like = wick_archive_open("tests/files/c.npy", NULL);
    CHECK_FAILS(wick_gguf_save(path, 1, &name, &x, like, NULL), WICK_INVALID,
                "gguf_save: keys are copied from GGUF files of versions 2 and 3 only");
    wick_archive_close(like);
    CHECK_INT(access(path, F_OK), -1); /* nothing was written */
    const struct wick_tensor *blocks = wick_empty(cpu, WICK_DTYPE_q4_0, WICK_SHAPE(2, 32));
    CHECK_FAILS(wick_safetensors_save(path, 1, &name, &blocks, NULL), WICK_DTYPE,
                "safetensors_save: tensor \"a\": the format has no q4_0");
    CHECK_INT(wick_npy_save(path, blocks), WICK_DTYPE);
}

int main(void) {
    char path[64];
    snprintf(path, sizeof path, "/tmp/wick-blocks-%ld.gguf", (long)getpid());
    cpu = wick_device_open("cpu");
    wick_scope_begin();
    check_file();
    check_refusals(path);
    check_saving(path);
    wick_scope_end(NULL);
    unlink(path);
    wick_device_close(cpu);
    return test_end();
}
