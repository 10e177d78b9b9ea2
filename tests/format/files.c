/* The files of tests/files, which the official libraries wrote (make.py), read back element by element. */
#include "tests/test.h"

#include <sys/stat.h>
#include <unistd.h>

static struct wick_device *cpu;

/* The i-th element of a row-major ramp, as a double, of a dtype read to host memory. */
static double element(enum wick_dtype dtype, const unsigned char *data, int64_t i) {
    switch (dtype) {
#define INTEGER(name, type)                                                                                            \
    case WICK_DTYPE_##name: {                                                                                          \
        type v;                                                                                                        \
        memcpy(&v, data + (size_t)i * sizeof v, sizeof v);                                                             \
        return (double)v;                                                                                              \
    }
        INTEGER(bool, uint8_t)
        INTEGER(u8, uint8_t)
        INTEGER(i8, int8_t)
        INTEGER(u16, uint16_t)
        INTEGER(i16, int16_t)
        INTEGER(u32, uint32_t)
        INTEGER(i32, int32_t)
        INTEGER(u64, uint64_t)
        INTEGER(i64, int64_t)
        INTEGER(f32, float)
        INTEGER(f64, double)
#undef INTEGER
    case WICK_DTYPE_bf16: {
        uint32_t bits = (uint32_t)(data[2 * i] | data[2 * i + 1] << 8) << 16;
        float v;
        memcpy(&v, &bits, sizeof v);
        return (double)v;
    }
    case WICK_DTYPE_f16: { /* no subnormals here */
        int bits = data[2 * i] | data[2 * i + 1] << 8;
        return bits ? ldexp(1 + (bits & 0x3ff) / 1024.0, (bits >> 10) - 15) : 0;
    }
    case WICK_DTYPE_f8e4m3: return data[i] ? ldexp(1 + (data[i] & 7) / 8.0, (data[i] >> 3) - 7) : 0;
    case WICK_DTYPE_f8e5m2: return data[i] ? ldexp(1 + (data[i] & 3) / 4.0, (data[i] >> 2) - 15) : 0;
    default: return NAN;
    }
}

/* Loads `name` with and without a mapping, and compares its elements with first, first + step, ... */
static void check_ramp(const char *path, const char *name, enum wick_dtype dtype, const char *shape, double first,
                       double step) {
    for (int copy = 0; copy < 2; copy++) {
        struct wick_archive_options options = {.copy = copy};
        struct wick_archive *archive = wick_archive_open(path, &options);
        struct wick_tensor *x = wick_archive_load(archive, name, cpu);
        wick_archive_close(archive);
        TEST_CHECK_(x != NULL, "%s, %s: %s", path, name, wick_error());
        if (!x) continue;
        char text[64] = "", *at = text;
        for (int d = 0; d < wick_tensor_rank(x); d++)
            at += snprintf(at, 16, d ? ",%d" : "%d", (int)wick_tensor_shape(x)[d]);
        CHECK_TEXT(text, shape);
        CHECK_INT(wick_tensor_dtype(x), dtype);
        unsigned char data[2048];
        size_t nbytes = (size_t)wick_tensor_count(x) * (size_t)wick_dtype_block_bytes(dtype);
        CHECK_OK(wick_read(x, data, nbytes));
        for (int64_t i = 0; i < wick_tensor_count(x); i++)
            CHECK_NEAR(element(dtype, data, i),
                       dtype == WICK_DTYPE_bool ? fmin(1, first + step * (double)i) : first + step * (double)i, 0);
        wick_release(x);
    }
    wick_error_clear();
}

static void check_metadata(const char *path, const char *key, const char *type, int64_t item, const char *want) {
    struct wick_archive *archive = wick_archive_open(path, NULL);
    int64_t i = wick_archive_metadata_find(archive, key);
    struct wick_metadata metadata = {0};
    char text[64] = "";
    CHECK_OK(wick_archive_metadata(archive, i, &metadata));
    CHECK_TEXT(metadata.type_name, type);
    CHECK_INT(wick_archive_metadata_text(archive, i, item, text, sizeof text), strlen(want));
    CHECK_TEXT(text, want);
    CHECK_INT(wick_archive_metadata_text(archive, i, item, NULL, 0), strlen(want));
    wick_archive_metadata_text(archive, i, item, text, 2);
    CHECK(strlen(text) <= 1 && text[0] == want[0]);
    CHECK_INT(wick_archive_metadata_text(archive, i, 1 << 20, text, sizeof text), -1);
    wick_archive_close(archive);
}

static const struct {
    const char *torch;
    enum wick_dtype dtype;
} dtypes[] = {
    {"bool", WICK_DTYPE_bool},
    {"uint8", WICK_U8},
    {"int8", WICK_DTYPE_i8},
    {"int16", WICK_I16},
    {"uint16", WICK_DTYPE_u16},
    {"float16", WICK_F16},
    {"bfloat16", WICK_BF16},
    {"int32", WICK_I32},
    {"uint32", WICK_U32},
    {"float32", WICK_F32},
    {"float64", WICK_F64},
    {"int64", WICK_I64},
    {"uint64", WICK_DTYPE_u64},
    {"float8_e4m3fn", WICK_F8E4M3},
    {"float8_e5m2", WICK_DTYPE_f8e5m2},
};

static void test_safetensors(void) {
    const char *path = "tests/files/types.safetensors";
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        char name[32];
        snprintf(name, sizeof name, "t.%s", dtypes[i].torch);
        check_ramp(path, name, dtypes[i].dtype, "2,3", 0, 1);
    }
    check_ramp(path, "scalar", WICK_F32, "", 2.5, 0);
    check_ramp(path, "empty", WICK_F32, "0,4", 0, 0);
    check_ramp(path,
               "gr\xc3\xb6\xc3\x9f"
               "e",
               WICK_F32, "1", 1, 0);
    check_metadata(path, "note", "string", -1, "na\xc3\xafve\n");
}

static void test_sharded(void) {
    static const char *const paths[] = {"tests/files/sharded", "tests/files/sharded/model.safetensors.index.json"};
    for (int i = 0; i < 2; i++) {
        check_ramp(paths[i], "a", WICK_F32, "2,2", 0, 1);
        check_ramp(paths[i], "b", WICK_I64, "3", 0, 1);
        check_ramp(paths[i], "c", WICK_BF16, "4", 0, 1);
        check_metadata(paths[i], "total_size", "string", -1, "48");
    }
}

static void test_gguf(void) {
    const char *path = "tests/files/types.gguf";
    check_ramp(path, "f32", WICK_F32, "2,3", 0, 1);
    check_ramp(path, "f16", WICK_F16, "4", 0, 1);
    check_ramp(path, "f64", WICK_F64, "2", 0, 1);
    check_ramp(path, "bf16", WICK_BF16, "8", 0, 1);
    check_ramp(path, "int8", WICK_DTYPE_i8, "5", 0, 1);
    check_ramp(path, "int16", WICK_I16, "5", 0, 1);
    check_ramp(path, "int32", WICK_I32, "5", 0, 1);
    check_ramp(path, "int64", WICK_I64, "5", 0, 1);
    check_metadata(path, "k.u8", "u8", -1, "200");
    check_metadata(path, "k.i8", "i8", -1, "-100");
    check_metadata(path, "k.u16", "u16", -1, "60000");
    check_metadata(path, "k.i16", "i16", -1, "-30000");
    check_metadata(path, "k.u32", "u32", -1, "4000000000");
    check_metadata(path, "k.i32", "i32", -1, "-2000000000");
    check_metadata(path, "k.u64", "u64", -1, "9223372036854775809");
    check_metadata(path, "k.i64", "i64", -1, "-4611686018427387904");
    check_metadata(path, "k.f32", "f32", -1, "0.5");
    check_metadata(path, "k.f64", "f64", -1, "1e-300");
    check_metadata(path, "k.bool", "bool", -1, "true");
    check_metadata(path, "k.string", "string", -1,
                   "gr\xc3\xbc\xc3\x9f"
                   "e");
    check_metadata(path, "k.strings", "array of strings", -1, "[a, bc, ]");
    check_metadata(path, "k.strings", "array of strings", 1, "bc");
    check_metadata(path, "k.ints", "array of i32", 1, "-2");

    struct wick_archive *archive = wick_archive_open(path, NULL);
    struct wick_archive_entry entry;
    CHECK_OK(wick_archive_describe(archive, wick_archive_find(archive, "q8_0"), &entry));
    CHECK(entry.loadable && entry.dtype == WICK_DTYPE_q8_0 && entry.rank == 2 && entry.shape[0] == 2 &&
          entry.shape[1] == 64 && entry.nbytes == 136);
    CHECK_TEXT(entry.type, "Q8_0");
    /* Items in any order. */
    char text[8];
    int64_t strings = wick_archive_metadata_find(archive, "k.strings");
    static const char *const want[] = {"a", "bc", ""};
    static const int order[] = {0, 1, 2, 0, 2, 1, 1};
    for (int i = 0; i < 7; i++) {
        wick_archive_metadata_text(archive, strings, order[i], text, sizeof text);
        CHECK_TEXT(text, want[order[i]]);
    }
    wick_archive_close(archive);
}

static void test_numpy(void) {
    check_ramp("tests/files/c.npy", "arr_0", WICK_F32, "2,3", 0, 1);
    check_ramp("tests/files/fortran.npy", "arr_0", WICK_F64, "2,3", 0, 1);
    check_ramp("tests/files/scalar.npy", "arr_0", WICK_I16, "", -7, 0);
    check_ramp("tests/files/v2.npy", "arr_0", WICK_U8, "3", 0, 1);
    check_ramp("tests/files/v3.npy", "arr_0", WICK_DTYPE_bool, "2", 1, -1);
    static const char *const zips[] = {"tests/files/stored.npz", "tests/files/deflated.npz"};
    for (int i = 0; i < 2; i++) {
        check_ramp(zips[i], "f2", WICK_F16, "5", 0, 1);
        check_ramp(zips[i], "i8", WICK_I64, "10,20", 0, 1);
        check_ramp(zips[i], "fortran", WICK_I32, "3,4", 0, 1);
        check_ramp(zips[i], "empty", WICK_F32, "0,3", 0, 0);
    }
    struct wick_archive_options options = {.limits = {.inflated = 1599}}; /* i8 has 1600 bytes */
    struct wick_archive *archive = wick_archive_open("tests/files/deflated.npz", &options);
    struct wick_tensor *small = wick_archive_load(archive, "f2", cpu);
    CHECK(small);
    wick_release(small);
    CHECK_FAILS(wick_archive_load(archive, "i8", cpu) == NULL, WICK_RANGE,
                "archive_open: tests/files/deflated.npz: zip member \"i8.npy\" unpacks to 1728 bytes, above the limit "
                "of 1599");
    wick_archive_close(archive);
}

static void test_torch(void) {
    check_ramp("tests/files/state_dict.pth", "fc.weight", WICK_F32, "2,3", 0, 1);
    check_ramp("tests/files/state_dict.pth", "fc.bias", WICK_F32, "2", 10, 10);
    check_ramp("tests/files/state_dict.pth", "norm.running_var", WICK_F32, "2", 1, 0);
    check_ramp("tests/files/state_dict.pth", "norm.num_batches_tracked", WICK_I64, "", 0, 0);
    check_ramp("tests/files/protocol4.pth", "w", WICK_F32, "12", 0, 1);
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        check_ramp("tests/files/types.pth", dtypes[i].torch, dtypes[i].dtype, "2,3", 0, 1);
    const char *views = "tests/files/views.pth";
    check_ramp(views, "base", WICK_F32, "12", 0, 1);
    check_ramp(views, "every_other", WICK_F32, "6", 1, 2);
    check_ramp(views, "expanded", WICK_F32, "4", 2, 0);
    check_ramp(views, "nested.list.0", WICK_I64, "", 1, 0);
    check_ramp(views, "nested.list.1", WICK_F64, "1", 2.5, 0);
    check_ramp(views, "nested.3", WICK_I32, "1", 3, 0);
    check_ramp(views, "parameter", WICK_F32, "2", 1, 0);
    check_ramp(views, "empty", WICK_F32, "0,2", 0, 0);
    check_metadata(views, "nested.epoch", "string", -1, "7");
    check_metadata(views, "nested.lr", "string", -1, "0.125");
    check_metadata(views, "nested.flag", "string", -1, "True");
    CHECK_FAILS(
        wick_archive_open("tests/files/legacy.pth", NULL), WICK_UNSUPPORTED,
        "archive_open: tests/files/legacy.pth: torch.save wrote it in the form from before PyTorch 1.6: load and "
        "save it again");

    struct wick_archive *archive = wick_archive_open(views, NULL);
    struct wick_tensor *x = wick_archive_load(archive, "transposed", cpu);
    wick_archive_close(archive);
    float data[12];
    CHECK_OK(wick_read(x, data, sizeof data));
    for (int i = 0; i < 12; i++) CHECK_NEAR((double)data[i], i / 3 + i % 3 * 4, 0);
    /* A view of the file, with the strides that torch had. */
    CHECK(wick_tensor_strides(x)[0] == 1 && wick_tensor_strides(x)[1] == 4);
    wick_release(x);
}

/* What is not a regular file is refused without waiting for it. */
static void test_paths(void) {
    char folder[64], fifo[80], text[200];
    CHECK_FAILS(wick_archive_open(NULL, NULL), WICK_INVALID, "archive_open: path is NULL");
    CHECK_FAILS(wick_archive_open("tests/files/none", NULL), WICK_IO,
                "archive_open: tests/files/none: No such file or directory");
    CHECK_FAILS(wick_archive_open("/dev/zero", NULL), WICK_IO, "archive_open: /dev/zero: it is not a regular file");
    CHECK_FAILS(
        wick_archive_open("tests", NULL), WICK_IO,
        "archive_open: tests: the folder has no model.safetensors or pytorch_model.bin, nor an index of shards");
    snprintf(folder, sizeof folder, "/tmp/wick-test-%ld", (long)getpid());
    snprintf(fifo, sizeof fifo, "%s/pipe", folder);
    CHECK(mkdir(folder, 0700) == 0 && mkfifo(fifo, 0600) == 0);
    snprintf(text, sizeof text, "archive_open: %s: it is not a regular file", fifo);
    CHECK_FAILS(wick_archive_open(fifo, NULL), WICK_IO, text);

    /* Shards stay in the folder of their index. */
    static const char *const names[] = {"../x.safetensors", "/etc/passwd", "a/b", "", ".", ".hidden"};
    char index[128], json[256];
    snprintf(index, sizeof index, "%s/model.safetensors.index.json", folder);
    for (int i = 0; i < 6; i++) {
        FILE *file = fopen(index, "w");
        if (!file) break;
        fprintf(file, "{\"weight_map\":{\"a\":\"%s\"}}", names[i]);
        fclose(file);
        snprintf(json, sizeof json, "archive_open: %s: shard \"%s\" is not a plain name of a file beside the index",
                 index, names[i]);
        CHECK_FAILS(wick_archive_open(folder, NULL), WICK_FORMAT, json);
    }
    /* An index that names itself does not go round in circles. */
    FILE *file = fopen(index, "w");
    if (file) {
        fprintf(file, "{\"weight_map\":{\"a\":\"model.safetensors.index.json\"}}");
        fclose(file);
    }
    struct wick_archive *archive = wick_archive_open(folder, NULL);
    snprintf(json, sizeof json, "archive_open: %s: shard \"model.safetensors.index.json\" is an index itself", index);
    CHECK_FAILS(wick_archive_load(archive, "a", cpu), WICK_FORMAT, json);
    wick_archive_close(archive);
    CHECK(unlink(index) == 0 && unlink(fifo) == 0 && rmdir(folder) == 0);
}

static void test_arguments(void) {
    struct wick_archive *archive = wick_archive_open("tests/files/c.npy", NULL);
    CHECK_INT(wick_archive_find(archive, "x"), -1);
    CHECK(wick_archive_name(archive, 1) == NULL && wick_archive_name(archive, -1) == NULL);
    CHECK_FAILS(wick_archive_load(archive, "x", cpu), WICK_RANGE,
                "archive_load: tests/files/c.npy: there is no tensor \"x\"");
    CHECK_FAILS(wick_archive_load(archive, NULL, cpu), WICK_INVALID,
                "archive_load: tests/files/c.npy: there is no tensor \"(NULL)\"");
    CHECK_FAILS(wick_archive_load_at(archive, 1, cpu), WICK_RANGE,
                "archive_load: tests/files/c.npy: there is no tensor 1 of 1");
    CHECK_FAILS(wick_archive_load(archive, "arr_0", NULL), WICK_INVALID, "archive_load: device is NULL");
    CHECK_FAILS(wick_archive_load(NULL, "x", cpu), WICK_INVALID, "archive_load: archive is NULL");
    CHECK_INT(wick_archive_count(NULL), 0);
    wick_archive_close(NULL);
    wick_archive_close(archive);
}

int main(void) {
    cpu = wick_device_open("cpu");
    test_safetensors();
    test_sharded();
    test_gguf();
    test_numpy();
    test_torch();
    test_paths();
    test_arguments();
    wick_device_close(cpu);
    CHECK_INT(wick_archive_metadata_count(NULL), 0);
    return test_end();
}
