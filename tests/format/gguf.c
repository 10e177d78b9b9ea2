/* GGUF files that are broken, each in one way, among them those that brought other readers down: refused with a text
 * that says how. Good files are in files.c. */
#include "tests/format/bytes.h"

#include <time.h>

enum { U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64 };

static void put_string(struct bytes *bytes, const char *text) {
    put64(bytes, strlen(text));
    put_text(bytes, text);
}

/* Magic, version 3 and the counts. */
static struct bytes *header(uint64_t tensors, uint64_t keys) {
    static struct bytes bytes;
    put_text(&bytes, "GGUF");
    put32(&bytes, 3);
    put64(&bytes, tensors);
    put64(&bytes, keys);
    return &bytes;
}

/* A key, with its type, whose value comes next. */
static struct bytes *key(uint32_t type) {
    struct bytes *bytes = header(0, 1);
    put_string(bytes, "k");
    put32(bytes, type);
    return bytes;
}

/* One tensor, its data padded and followed by n bytes. */
static struct bytes *tensor(uint32_t rank, const uint64_t *dims, uint32_t type, uint64_t offset, size_t n) {
    struct bytes *bytes = header(1, 0);
    put_string(bytes, "a");
    put32(bytes, rank);
    for (uint32_t d = 0; d < rank && d < 8; d++) put64(bytes, dims[d]);
    put32(bytes, type);
    put64(bytes, offset);
    put_zeros(bytes, (32 - bytes->n % 32) % 32 + n);
    return bytes;
}
#define DIMS(...)                                                                                                      \
    (sizeof((uint64_t[]){__VA_ARGS__}) / 8), (uint64_t[]) { __VA_ARGS__ }

static struct bytes *aligned(uint32_t alignment) {
    struct bytes *bytes = header(0, 1);
    put_string(bytes, "general.alignment");
    put32(bytes, U32);
    put32(bytes, alignment);
    return bytes;
}

static void test_header(void) {
    static struct bytes bytes;
    put_text(&bytes, "GGUF");
    CHECK_REFUSED(&bytes, WICK_FORMAT, "the header is cut short");
    put_text(&bytes, "FUGG");
    put_zeros(&bytes, 20);
    CHECK_REFUSED(&bytes, WICK_UNSUPPORTED, "it is a big-endian GGUF file");
    put_text(&bytes, "GGUF");
    put32(&bytes, 0x03000000);
    put_zeros(&bytes, 16);
    CHECK_REFUSED(&bytes, WICK_UNSUPPORTED, "it is a big-endian GGUF file");
    put_text(&bytes, "GGUF");
    put32(&bytes, 4);
    put_zeros(&bytes, 16);
    CHECK_REFUSED(&bytes, WICK_UNSUPPORTED, "GGUF version 4 is none of 1, 2, 3");
    put_text(&bytes, "tjgg");
    put_zeros(&bytes, 20);
    CHECK_REFUSED(&bytes, WICK_UNSUPPORTED, "it is a GGML file from before GGUF: convert it");
    CHECK_REFUSED(header(0, UINT64_MAX), WICK_FORMAT,
                  "18446744073709551615 keys and 0 tensors do not fit in the 0 bytes left");
    CHECK_REFUSED(header(UINT64_MAX / 2, 0), WICK_FORMAT,
                  "0 keys and 9223372036854775807 tensors do not fit in the 0 bytes left");
    CHECK_ACCEPTED(header(0, 0), NULL);
    /* Version 1 has lengths of 32 bits. */
    put_text(&bytes, "GGUF");
    put32(&bytes, 1);
    put32(&bytes, 0);
    put32(&bytes, 1);
    put32(&bytes, 1);
    put_text(&bytes, "k");
    put32(&bytes, STRING);
    put32(&bytes, 2);
    put_text(&bytes, "ab");
    CHECK_ACCEPTED(&bytes, NULL);
}

static void test_keys(void) {
    struct bytes *bytes = header(0, 1);
    put64(bytes, UINT64_MAX);
    put_zeros(bytes, 20);
    CHECK_REFUSED(bytes, WICK_FORMAT, "the name of key 0 does not end in the file");
    bytes = header(0, 1);
    put64(bytes, 65536);
    put_zeros(bytes, 70000);
    CHECK_REFUSED(bytes, WICK_FORMAT, "the name of key 0 has 65536 bytes, above 65535");
    bytes = header(0, 1);
    put64(bytes, 2);
    put_zeros(bytes, 20);
    CHECK_REFUSED(bytes, WICK_FORMAT, "the name of key 0 holds a zero byte");
    bytes = key(13);
    put_zeros(bytes, 20);
    CHECK_REFUSED(bytes, WICK_FORMAT, "key \"k\": it has no value type that is known");
    bytes = key(STRING);
    put64(bytes, 1ull << 62);
    CHECK_REFUSED(bytes, WICK_FORMAT, "key \"k\": its string does not end in the file");
    bytes = key(U64);
    put32(bytes, 1);
    CHECK_REFUSED(bytes, WICK_FORMAT, "key \"k\": its value does not lie in the file");
    bytes = key(BOOL);
    put8(bytes, 2);
    CHECK_REFUSED(bytes, WICK_FORMAT, "key \"k\": bool 2 is neither 0 nor 1");
    bytes = header(0, 2);
    for (int i = 0; i < 2; i++) {
        put_string(bytes, "k");
        put32(bytes, U8);
        put8(bytes, 1);
    }
    CHECK_REFUSED(bytes, WICK_FORMAT, "key \"k\" is there twice");
}

static void test_arrays(void) {
    struct bytes *bytes = key(ARRAY);
    put32(bytes, U8);
    put64(bytes, UINT64_MAX);
    put_zeros(bytes, 8);
    CHECK_REFUSED(bytes, WICK_FORMAT,
                  "key \"k\": an array of 18446744073709551615 items does not fit in the 8 bytes left");
    bytes = key(ARRAY);
    put32(bytes, F64);
    put64(bytes, (UINT64_MAX >> 3) + 2); /* times 8 wraps to 8 */
    put_zeros(bytes, 8);
    CHECK_REFUSED(bytes, WICK_FORMAT,
                  "key \"k\": an array of 2305843009213693953 items does not fit in the 8 bytes left");
    bytes = key(ARRAY);
    put32(bytes, STRING);
    put64(bytes, 2);
    put_zeros(bytes, 15);
    CHECK_REFUSED(bytes, WICK_FORMAT, "key \"k\": an array of 2 items does not fit in the 15 bytes left");
    bytes = key(ARRAY);
    put32(bytes, 99);
    put64(bytes, 0);
    CHECK_REFUSED(bytes, WICK_FORMAT, "key \"k\": value type 99 is unknown");
    bytes = key(ARRAY);
    put32(bytes, BOOL);
    put64(bytes, 1);
    put8(bytes, 7);
    CHECK_REFUSED(bytes, WICK_FORMAT, "key \"k\": bool 7 is neither 0 nor 1");
    bytes = key(ARRAY);
    for (int depth = 0; depth < 100000; depth++) {
        put32(bytes, ARRAY);
        put64(bytes, 1);
    }
    CHECK_REFUSED(bytes, WICK_FORMAT, "key \"k\": arrays are nested more than 16 deep");
    bytes = key(ARRAY);
    for (int depth = 0; depth < 15; depth++) {
        put32(bytes, ARRAY);
        put64(bytes, 1);
    }
    put32(bytes, U8);
    put64(bytes, 2);
    put16(bytes, 0x0201);
    CHECK_ACCEPTED(bytes, NULL);
}

static void test_alignment(void) {
    CHECK_REFUSED(aligned(0), WICK_FORMAT, "general.alignment 0 is not a power of two from 8 to 1048576");
    CHECK_REFUSED(aligned(4), WICK_FORMAT, "general.alignment 4 is not a power of two from 8 to 1048576");
    CHECK_REFUSED(aligned(33), WICK_FORMAT, "general.alignment 33 is not a power of two from 8 to 1048576");
    CHECK_REFUSED(aligned(1u << 30), WICK_FORMAT,
                  "general.alignment 1073741824 is not a power of two from 8 to 1048576");
    CHECK_ACCEPTED(aligned(64), NULL);
    struct bytes *bytes = header(0, 1);
    put_string(bytes, "general.alignment");
    put32(bytes, STRING);
    put_string(bytes, "32");
    CHECK_REFUSED(bytes, WICK_FORMAT, "general.alignment is not an integer");
}

static void test_tensors(void) {
    CHECK_ACCEPTED(tensor(DIMS(3, 2), 0, 0, 24), NULL);
    CHECK_ACCEPTED(tensor(0, NULL, 0, 0, 4), NULL);
    /* A dim of size 0 divides nothing. */
    CHECK_ACCEPTED(tensor(DIMS(0, 2), 0, 0, 0), NULL);
    CHECK_ACCEPTED(tensor(DIMS(0, 0, 0, 0), 0, 0, 0), NULL);
    CHECK_REFUSED(tensor(5, (uint64_t[]){1, 1, 1, 1, 1}, 0, 0, 4), WICK_FORMAT, "tensor \"a\": 5 dims are more than 4");
    CHECK_REFUSED(tensor(UINT32_MAX, (uint64_t[]){1, 1, 1, 1, 1, 1, 1, 1}, 0, 0, 4), WICK_FORMAT,
                  "tensor \"a\": 4294967295 dims are more than 4");
    CHECK_REFUSED(tensor(DIMS(UINT64_MAX), 0, 0, 4), WICK_OVERFLOW,
                  "tensor \"a\": a dim of 18446744073709551615 is out of range");
    CHECK_REFUSED(tensor(DIMS(1ull << 32, 1ull << 32), 0, 0, 4), WICK_OVERFLOW,
                  "tensor \"a\": shape [4294967296,4294967296] has more elements than 64 bits can address");
    CHECK_REFUSED(tensor(DIMS(1ull << 31, 1ull << 31, 4), 24, 0, 4), WICK_OVERFLOW,
                  "tensor \"a\": shape [4,2147483648,2147483648] has more elements than 64 bits can address");
    CHECK_REFUSED(tensor(DIMS(1ull << 62), 0, 0, 4), WICK_OVERFLOW,
                  "tensor \"a\": shape [4611686018427387904] has more elements than 64 bits can address");
    CHECK_REFUSED(tensor(DIMS(4), 4, 0, 16), WICK_UNSUPPORTED, "tensor \"a\": type 4 is unknown");
    CHECK_REFUSED(tensor(DIMS(4), UINT32_MAX, 0, 16), WICK_UNSUPPORTED, "tensor \"a\": type 4294967295 is unknown");
    CHECK_REFUSED(tensor(DIMS(33), 2, 0, 36), WICK_FORMAT,
                  "tensor \"a\": rows of 33 elements are not whole blocks of 32, as Q4_0 has them");
    CHECK_REFUSED(tensor(DIMS(4), 0, 31, 64), WICK_FORMAT,
                  "tensor \"a\": offset 31 is not a multiple of the alignment 32");
    CHECK_REFUSED(tensor(DIMS(4), 0, 0, 15), WICK_FORMAT,
                  "tensor \"a\": 16 bytes at offset 0 do not lie in the file's 15 bytes of data");
    CHECK_REFUSED(tensor(DIMS(4), 0, 64, 16), WICK_FORMAT,
                  "tensor \"a\": 16 bytes at offset 64 do not lie in the file's 16 bytes of data");
    CHECK_REFUSED(tensor(DIMS(4), 0, UINT64_MAX - 31, 16), WICK_FORMAT,
                  "tensor \"a\": 16 bytes at offset 18446744073709551584 do not lie in the file's 16 bytes of data");
}

static void test_overlap(void) {
    for (int same = 0; same < 2; same++) {
        struct bytes *bytes = header(2, 0);
        for (int i = 0; i < 2; i++) {
            put_string(bytes, same || i == 0 ? "a" : "b");
            put32(bytes, 1);
            put64(bytes, 16);
            put32(bytes, 0);
            put64(bytes, same ? (uint64_t)i * 64 : (uint64_t)i * 32);
        }
        put_zeros(bytes, (32 - bytes->n % 32) % 32 + 128);
        if (same)
            CHECK_REFUSED(bytes, WICK_FORMAT, "tensor \"a\": the name stands for two tensors");
        else
            CHECK_REFUSED(bytes, WICK_FORMAT,
                          "tensor \"b\": its bytes from 128 overlap those of another tensor, to 160");
    }
}

/* Every prefix of a good file is refused. */
static void test_cut(void) {
    for (size_t cut = 1;; cut++) {
        struct bytes *bytes = header(1, 2);
        put_string(bytes, "s");
        put32(bytes, STRING);
        put_string(bytes, "text");
        put_string(bytes, "l");
        put32(bytes, ARRAY);
        put32(bytes, U16);
        put64(bytes, 3);
        put_zeros(bytes, 6);
        put_string(bytes, "a");
        put32(bytes, 2);
        put64(bytes, 2);
        put64(bytes, 2);
        put32(bytes, 0);
        put64(bytes, 0);
        put_zeros(bytes, (32 - bytes->n % 32) % 32 + 16);
        if (cut > bytes->n) {
            CHECK_ACCEPTED(bytes, NULL);
            return;
        }
        bytes->n -= cut;
        wick_error_clear();
        (void)open_all(bytes, NULL);
        CHECK(wick_error_status() != WICK_OK);
    }
}

/* What a key says is copied: bytes that change after opening change no text, and lead nowhere. */
static void test_change(void) {
    struct bytes *bytes = header(0, 3);
    put_string(bytes, "s");
    put32(bytes, STRING);
    put_string(bytes, "text");
    put_string(bytes, "l");
    put32(bytes, ARRAY);
    put32(bytes, STRING);
    put64(bytes, 3);
    put_string(bytes, "one");
    put_string(bytes, "");
    put_string(bytes, "three");
    put_string(bytes, "n");
    put32(bytes, ARRAY);
    put32(bytes, ARRAY);
    put64(bytes, 2);
    for (uint32_t i = 0; i < 2; i++) {
        put32(bytes, U16);
        put64(bytes, i + 1);
        for (uint32_t k = 0; k <= i; k++) put16(bytes, 7 + i + k);
    }
    struct wick_archive *archive = wick_archive_open_memory(bytes->data, bytes->n, NULL);
    CHECK(archive);
    memset(bytes->data, 0xff, bytes->n); /* lengths of 2^64 - 1 everywhere */
    static const struct {
        int64_t key, item;
        const char *text;
    } wanted[] = {
        {0, -1, "text"}, {1, -1, "[one, , three]"}, {1, 0, "one"},    {1, 1, ""},    {1, 2, "three"}, {1, 0, "one"},
        {1, 3, NULL},    {2, -1, "[[7], [8, 9]]"},  {2, 1, "[8, 9]"}, {2, 0, "[7]"}, {0, 0, NULL}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        char text[40] = "";
        int64_t n = wick_archive_metadata_text(archive, wanted[i].key, wanted[i].item, text, sizeof text);
        CHECK_INT(n, wanted[i].text ? (int64_t)strlen(wanted[i].text) : -1);
        if (wanted[i].text) CHECK_TEXT(text, wanted[i].text);
    }
    wick_archive_close(archive);
    bytes->n = 0;
}

/* Items are found at once, in any order: stepping from the first to each takes minutes for so many. */
static void test_many(void) {
    enum { N = 400000 };
    struct bytes *bytes = header(0, 1);
    struct timespec begin, end;
    put_string(bytes, "tokens");
    put32(bytes, ARRAY);
    put32(bytes, STRING);
    put64(bytes, N);
    for (int i = 0; i < N; i++) {
        char text[16];
        snprintf(text, sizeof text, "%d", i);
        put_string(bytes, text);
    }
    struct wick_archive *archive = wick_archive_open_memory(bytes->data, bytes->n, NULL);
    CHECK(archive);
    bool same = true;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int i = N - 1; i >= 0 && same; i--) {
        char want[16], text[16];
        snprintf(want, sizeof want, "%d", i);
        same = wick_archive_metadata_text(archive, 0, i, NULL, 0) == (int64_t)strlen(want) &&
               wick_archive_metadata_text(archive, 0, i, text, sizeof text) > 0 && strcmp(text, want) == 0;
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    CHECK(same && end.tv_sec - begin.tv_sec < 20);
    wick_archive_close(archive);
    bytes->n = 0;
}

static void test_limits(void) {
    struct wick_archive_options options = {.limits = {.tensors = 1}};
    for (int n = 1; n <= 2; n++) {
        struct bytes *bytes = header((uint64_t)n, 0);
        for (int i = 0; i < n; i++) {
            put_string(bytes, i ? "b" : "a");
            put32(bytes, 0);
            put32(bytes, 0);
            put64(bytes, (uint64_t)i * 32);
        }
        put_zeros(bytes, (32 - bytes->n % 32) % 32 + 64);
        wick_error_clear();
        CHECK_INT(open_all(bytes, &options), n == 1 ? WICK_OK : WICK_RANGE);
        if (n == 2) CHECK_TEXT(wick_error(), "archive_open: (memory): it has more than 1 tensors, the limit");
    }
    options = (struct wick_archive_options){.limits = {.metadata = 13}}; /* the key's 1 and the value's 12 */
    for (int n = 4; n <= 5; n++) {
        struct bytes *bytes = key(STRING);
        put_string(bytes, n == 4 ? "four" : "fiver");
        wick_error_clear();
        CHECK_INT(open_all(bytes, &options), n == 4 ? WICK_OK : WICK_RANGE);
        if (n == 5)
            CHECK_TEXT(wick_error(), "archive_open: (memory): what describes its tensors has more than 13 bytes, the "
                                     "limit of metadata");
    }
    struct wick_limits all = wick_limits_effective(NULL), some = wick_limits_effective(&options.limits);
    CHECK(all.tensors == 1 << 20 && all.metadata == 1 << 28 && all.inflated == (int64_t)1 << 34);
    CHECK(all.pixels == 1 << 27 && all.memory == 1 << 30 && all.scans == 64);
    CHECK(some.metadata == 13 && some.tensors == all.tensors);
}

int main(void) {
    test_header();
    test_keys();
    test_arrays();
    test_alignment();
    test_tensors();
    test_overlap();
    test_cut();
    test_change();
    test_many();
    test_limits();
    return test_end();
}
