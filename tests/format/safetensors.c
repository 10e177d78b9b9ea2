/* Safetensors: what is refused, with which text; what lenient lets through; saving. Good files are in files.c. */
#include "tests/format/bytes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A file of this header and n bytes of data. */
static struct bytes *file_of(const char *header, size_t n) {
    static struct bytes bytes;
    put64(&bytes, strlen(header));
    put_text(&bytes, header);
    put_zeros(&bytes, n);
    return &bytes;
}

#define ONE(dtype, shape, offsets) "{\"a\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}}"

static void test_header(void) {
    static struct bytes bytes;
    CHECK_REFUSED(&bytes, WICK_FORMAT, "it is empty");
    put_zeros(&bytes, 8);
    CHECK_REFUSED(&bytes, WICK_FORMAT, "its content is none of safetensors, GGUF, npy, npz, pth, shard index");
    put64(&bytes, 100000001);
    put_text(&bytes, "{}");
    CHECK_REFUSED(&bytes, WICK_FORMAT, "the header's 100000001 bytes are above 100000000");
    put64(&bytes, 3);
    put_text(&bytes, "{}");
    CHECK_REFUSED(&bytes, WICK_FORMAT, "the header's 3 bytes are more than the 2 the file has");
    put64(&bytes, UINT64_MAX);
    put_text(&bytes, "{}");
    CHECK_REFUSED(&bytes, WICK_FORMAT, "its content is none of safetensors, GGUF, npy, npz, pth, shard index");
    CHECK_ACCEPTED(file_of("{}", 0), NULL);
    CHECK_ACCEPTED(file_of("{}      ", 0), NULL);
    wick_error_clear();
    open_all(file_of("{\"a\":1,\"a\":2}", 0), NULL);
    CHECK_INT(wick_error_status(), WICK_FORMAT);
    wick_error_clear();
    open_all(file_of("{\"a\":", 0), NULL);
    CHECK_INT(wick_error_status(), WICK_FORMAT);
    CHECK_REFUSED(file_of("{\"__metadata__\":{\"a\":1}}", 0), WICK_FORMAT, "__metadata__ \"a\" is not a string");
    CHECK_REFUSED(file_of("{\"__metadata__\":[]}", 0), WICK_FORMAT, "__metadata__ is not a JSON object");
}

/* A header of arrays in arrays must not use up the stack. */
static void test_depth(void) {
    static struct bytes header;
    put_text(&header, "{\"a\":");
    for (int i = 0; i < 1000000; i++) put8(&header, '[');
    put8(&header, 0);
    wick_error_clear();
    open_all(file_of((const char *)header.data, 0), NULL);
    CHECK_INT(wick_error_status(), WICK_FORMAT);
    free(header.data);
}

static void test_tensor(void) {
    CHECK_ACCEPTED(file_of(ONE("F32", "[2,3]", "[0,24]"), 24), NULL);
    CHECK_ACCEPTED(file_of(ONE("F4", "[4]", "[0,2]"), 2), NULL);
    CHECK_ACCEPTED(file_of(ONE("F6_E2M3", "[4]", "[0,3]"), 3), NULL);
    CHECK_ACCEPTED(file_of(ONE("F32", "[]", "[0,4]"), 4), NULL);
    CHECK_ACCEPTED(file_of(ONE("F32", "[0,1000000]", "[0,0]"), 0), NULL);
    CHECK_REFUSED(file_of("{\"a\":[]}", 0), WICK_FORMAT, "tensor \"a\": its description is not a JSON object");
    CHECK_REFUSED(file_of("{\"a\":{}}", 0), WICK_FORMAT, "tensor \"a\": dtype is not a string");
    CHECK_REFUSED(file_of(ONE("F31", "[]", "[0,4]"), 4), WICK_UNSUPPORTED, "tensor \"a\": dtype \"F31\" is unknown");
    CHECK_REFUSED(file_of(ONE("C64", "[]", "[0,8]"), 8), WICK_UNSUPPORTED,
                  "tensor \"a\": there is no dtype for elements of type C64");
    CHECK_REFUSED(file_of(ONE("U8", "4", "[0,4]"), 4), WICK_FORMAT, "tensor \"a\": shape is not an array");
    CHECK_REFUSED(file_of(ONE("U8", "[4.0]", "[0,4]"), 4), WICK_FORMAT,
                  "tensor \"a\": size of dim 0 is not an integer");
    CHECK_REFUSED(file_of(ONE("U8", "[-4]", "[0,4]"), 4), WICK_FORMAT, "tensor \"a\": size -4 of dim 0 is negative");
    CHECK_REFUSED(file_of(ONE("U8", "[1,1,1,1,1,1,1,1,1]", "[0,1]"), 1), WICK_UNSUPPORTED,
                  "tensor \"a\": rank 9 is above 8");
    CHECK_REFUSED(file_of(ONE("U8", "[4294967296,4294967296]", "[0,0]"), 0), WICK_OVERFLOW,
                  "tensor \"a\": shape [4294967296,4294967296] has more elements than 64 bits can address");
    CHECK_REFUSED(file_of(ONE("F64", "[2305843009213693952]", "[0,0]"), 0), WICK_OVERFLOW,
                  "tensor \"a\": shape [2305843009213693952] has more elements than 64 bits can address");
    CHECK_REFUSED(file_of(ONE("F4", "[3]", "[0,2]"), 2), WICK_FORMAT,
                  "tensor \"a\": 3 elements of 4 bits are not whole bytes");
}

static void test_offsets(void) {
    struct wick_archive_options lenient = {.lenient = true};
    CHECK_REFUSED(file_of(ONE("U8", "[4]", "[0]"), 4), WICK_FORMAT,
                  "tensor \"a\": data_offsets is not an array of two integers");
    CHECK_REFUSED(file_of(ONE("U8", "[4]", "[0,5]"), 4), WICK_FORMAT,
                  "tensor \"a\": data_offsets 0 to 5 do not lie in the file's 4 bytes of data");
    CHECK_REFUSED(file_of(ONE("U8", "[4]", "[-4,0]"), 4), WICK_FORMAT,
                  "tensor \"a\": data_offsets -4 to 0 do not lie in the file's 4 bytes of data");
    CHECK_REFUSED(file_of(ONE("U8", "[4]", "[4,0]"), 4), WICK_FORMAT,
                  "tensor \"a\": data_offsets 4 to 0 do not lie in the file's 4 bytes of data");
    CHECK_REFUSED(file_of(ONE("U8", "[4]", "[0,3]"), 4), WICK_FORMAT,
                  "tensor \"a\": its data_offsets hold 3 bytes, its shape and dtype need 4");
    CHECK_REFUSED(file_of(ONE("U8", "[4]", "[0,4]"), 8), WICK_FORMAT, "4 bytes after the last tensor belong to none");
    CHECK_ACCEPTED(file_of(ONE("U8", "[4]", "[0,4]"), 8), &lenient);
    CHECK_REFUSED(file_of(ONE("U8", "[4]", "[2,6]"), 6), WICK_FORMAT,
                  "tensor \"a\": bytes 61 to 63 before it belong to no tensor");
    CHECK_ACCEPTED(file_of(ONE("U8", "[4]", "[2,6]"), 6), &lenient);
    const char *overlap = "{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},"
                          "\"b\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[3,7]}}";
    CHECK_REFUSED(file_of(overlap, 7), WICK_FORMAT,
                  "tensor \"b\": its bytes from 116 overlap those of another tensor, to 117");
    CHECK_FAILS(open_all(file_of(overlap, 7), &lenient), WICK_FORMAT,
                "archive_open: (memory): tensor \"b\": its bytes from 116 overlap those of another tensor, to 117");
}

/* Every prefix of a good file is refused or, the whole, accepted. */
static void test_cut(void) {
    const char *header = ONE("F32", "[2]", "[0,8]");
    size_t whole = 8 + strlen(header) + 8;
    for (size_t n = 0; n < whole; n++) {
        struct bytes *bytes = file_of(header, 8);
        bytes->n = n;
        wick_error_clear();
        open_all(bytes, NULL);
        CHECK(wick_error_status() != WICK_OK);
    }
    wick_error_clear();
}

static void test_save(struct wick_device *cpu) {
    static const float f[6] = {1, 2, 3, 4, 5, 6};
    static const int64_t i[2] = {-1, 1};
    static const unsigned char packed[3] = {0x12, 0x34, 0x56};
    static const char *const names[] = {"f", "i", "six", "none"};
    static const char *const metadata[] = {"format", "pt", "k", "v\n", NULL};
    const struct wick_tensor *tensors[] = {wick_from_data(cpu, WICK_F32, WICK_SHAPE(2, 3), f, sizeof f),
                                           wick_from_data(cpu, WICK_I64, WICK_SHAPE(2), i, sizeof i),
                                           wick_from_data(cpu, WICK_DTYPE_f6e3m2, WICK_SHAPE(4), packed, sizeof packed),
                                           wick_from_data(cpu, WICK_U8, WICK_SHAPE(0, 2), NULL, 0)};
    char path[64];
    snprintf(path, sizeof path, "/tmp/wick-test-%ld.safetensors", (long)getpid());
    CHECK_OK(wick_safetensors_save(path, 4, names, tensors, metadata));
    struct wick_archive *archive = wick_archive_open(path, NULL);
    CHECK_INT(wick_archive_count(archive), 4);
    CHECK_INT(wick_archive_metadata_count(archive), 2);
    char text[8];
    CHECK_INT(wick_archive_metadata_text(archive, wick_archive_metadata_find(archive, "k"), -1, text, sizeof text), 2);
    CHECK_TEXT(text, "v\n");
    struct wick_tensor *back = wick_archive_load(archive, "f", cpu);
    struct wick_tensor *six = wick_archive_load(archive, "six", cpu);
    wick_archive_close(archive);
    /* A view of the file outlives both the archive and the file, and can be written to. */
    CHECK_INT(unlink(path), 0);
    CHECK(wick_tensor_data(back) != NULL);
    CHECK_BYTES(wick_tensor_data(back), f, sizeof f);
    *(float *)wick_tensor_data(back) = 9;
    CHECK_BYTES(wick_tensor_data(six), packed, sizeof packed);
    wick_release(back);
    wick_release(six);

    static const char *const twice[] = {"a", "a"}, *const bad[] = {"\xff"}, *const reserved[] = {"__metadata__"};
    CHECK_FAILS(wick_safetensors_save(path, 2, twice, tensors, NULL), WICK_INVALID,
                "safetensors_save: the name \"a\" stands for two tensors");
    CHECK_FAILS(wick_safetensors_save(path, 1, bad, tensors, NULL), WICK_INVALID,
                "safetensors_save: name 0 is not UTF-8");
    CHECK_FAILS(wick_safetensors_save(path, 1, reserved, tensors, NULL), WICK_INVALID,
                "safetensors_save: no tensor can have the name __metadata__");
    CHECK_FAILS(wick_safetensors_save("/proc/self/nonexistent/x", 1, names, tensors, NULL), WICK_IO,
                "safetensors_save: /proc/self/nonexistent/x: No such file or directory");
    CHECK(access(path, F_OK) != 0);
    for (int t = 0; t < 4; t++) wick_release((struct wick_tensor *)(uintptr_t)tensors[t]);
}

static void touch(const char *path, time_t age) {
    struct timespec times[2] = {{.tv_sec = time(NULL) - age}, {.tv_sec = time(NULL) - age}};
    FILE *file = fopen(path, "w");
    CHECK(file);
    if (file) fclose(file);
    CHECK(utimensat(AT_FDCWD, path, times, 0) == 0);
}

/* What writers of the same file left when they were killed goes once it is old; nothing else does. */
static void test_stale(struct wick_device *cpu) {
    char folder[] = "/tmp/wick-stale-XXXXXX", path[64], name[5][80];
    static const char *const ends[] = {".11-0.tmp", ".12-0.tmp", ".13-0", ".tmp", "2.14-0.tmp"};
    CHECK(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/x.safetensors", folder);
    for (int i = 0; i < 5; i++) {
        snprintf(name[i], sizeof name[i], "%s%s", path, ends[i]);
        touch(name[i], i == 1 ? 60 : 7200);
    }
    static const char *const names[] = {"a"};
    static const char *const metadata[] = {"k", "first", "quoted \"\\\n\x1f\xc3\xa9/", "v", "k", "last", NULL};
    float one = 1;
    struct wick_tensor *x = wick_from_data(cpu, WICK_F32, 0, NULL, &one, sizeof one);
    const struct wick_tensor *tensors[] = {x};
    CHECK_OK(wick_safetensors_save(path, 1, names, tensors, metadata));
    for (int i = 0; i < 5; i++) CHECK_INT(access(name[i], F_OK) == 0, i != 0);
    struct wick_archive *archive = wick_archive_open(path, NULL);
    char text[40];
    CHECK_INT(wick_archive_metadata_count(archive), 2);
    CHECK(wick_archive_metadata_text(archive, wick_archive_metadata_find(archive, "k"), -1, text, sizeof text) == 4);
    CHECK_TEXT(text, "last");
    CHECK(wick_archive_metadata_find(archive, metadata[2]) >= 0);
    wick_archive_close(archive);
    static const char *const broken[] = {"k", "\xff", NULL};
    CHECK_FAILS(wick_safetensors_save(path, 1, names, tensors, broken), WICK_INVALID,
                "safetensors_save: metadata 0 is not UTF-8");
    wick_release(x);
    unlink(path);
    for (int i = 1; i < 5; i++) unlink(name[i]);
    CHECK(rmdir(folder) == 0);
}

static bool is_link(const char *path) {
    struct stat about;
    return lstat(path, &about) == 0 && S_ISLNK(about.st_mode);
}

static mode_t mode_of(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 ? about.st_mode & 07777 : 0;
}

/* Symbolic links stay, the file at their end is replaced and keeps its mode; what is not a file is not replaced. */
static void test_place(struct wick_device *cpu) {
    char folder[] = "/tmp/wick-place-XXXXXX", text[160];
    float one = 1;
    struct wick_tensor *x = wick_from_data(cpu, WICK_F32, 0, NULL, &one, sizeof one);
    CHECK(mkdtemp(folder));
    int back = open(".", O_RDONLY | O_DIRECTORY);
    CHECK(back >= 0 && chdir(folder) == 0);
    CHECK(mkdir("deep", 0700) == 0 && symlink("deep/b", "a") == 0 && symlink("../c.npy", "deep/b") == 0);
    CHECK(symlink("none/x", "lost") == 0 && symlink("ring", "ring") == 0 && mkfifo("pipe", 0600) == 0);

    umask(022);
    CHECK_OK(wick_npy_save("a", x)); /* two links, to a file that is not there yet */
    CHECK(is_link("a") && is_link("deep/b") && !is_link("c.npy"));
    CHECK_INT(mode_of("c.npy"), 0644);
    CHECK(chmod("c.npy", 0604) == 0 && truncate("c.npy", 1) == 0);
    snprintf(text, sizeof text, "%s/a", folder);
    CHECK_OK(wick_npy_save(text, x));
    CHECK(is_link("a") && is_link("deep/b") && !is_link("c.npy"));
    CHECK_INT(mode_of("c.npy"), 0604);
    struct wick_archive *archive = wick_archive_open("c.npy", NULL);
    CHECK_INT(wick_archive_count(archive), 1);
    wick_archive_close(archive);
    static const struct {
        const char *path, *text;
    } bad[] = {{"lost", "npy_save: lost: No such file or directory"},
               {"ring", "npy_save: ring: Too many levels of symbolic links"},
               {"deep", "npy_save: deep: Is a directory"},
               {"pipe", "npy_save: pipe: it is not a regular file"},
               {"c.npy/x", "npy_save: c.npy/x: Not a directory"},
               {"deep/", "npy_save: deep/: Is a directory"},
               {"new/", "npy_save: new/: No such file or directory"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_FAILS(wick_npy_save(bad[i].path, x), WICK_IO, bad[i].text);

    CHECK(unlink("a") == 0 && unlink("deep/b") == 0 && unlink("c.npy") == 0 && unlink("lost") == 0);
    CHECK(unlink("ring") == 0 && unlink("pipe") == 0 && rmdir("deep") == 0);
    CHECK(fchdir(back) == 0 && rmdir(folder) == 0);
    close(back);
    wick_release(x);
}

int main(void) {
    struct wick_device *cpu = wick_device_open("cpu");
    test_header();
    test_depth();
    test_tensor();
    test_offsets();
    test_cut();
    test_save(cpu);
    test_stale(cpu);
    test_place(cpu);
    wick_device_close(cpu);
    return test_end();
}
