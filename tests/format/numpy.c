/* npy, npz and zip files: what is refused, with which text; saving. Good files are in files.c. */
#include "tests/format/bytes.h"

#include <unistd.h>

/* ---- npy ---- */

static void put_npy(struct bytes *bytes, const char *header, size_t n) {
    put(bytes, "\x93NUMPY\1", 8);
    put16(bytes, (unsigned)strlen(header));
    put_text(bytes, header);
    put_zeros(bytes, n);
}

static struct bytes *npy(const char *header, size_t n) {
    static struct bytes bytes;
    put_npy(&bytes, header, n);
    return &bytes;
}

#define HEADER(descr, order, shape) "{'descr': '" descr "', 'fortran_order': " order ", 'shape': " shape ", }\n"
#define NO_HEADER "tensor \"arr_0\": its header is no {'descr': ..., 'fortran_order': ..., 'shape': ...}"

static void test_npy(void) {
    struct wick_archive_options lenient = {.lenient = true};
    CHECK_ACCEPTED(npy(HEADER("<f4", "False", "(2, 3)"), 24), NULL);
    CHECK_ACCEPTED(npy(HEADER("<f4", "True", "(2L, 3L)"), 24), NULL);
    CHECK_ACCEPTED(npy(HEADER("|b1", "False", "()"), 1), NULL);
    CHECK_ACCEPTED(npy("{\"shape\":(2,),\"fortran_order\":False,\"descr\":\"=i2\"}", 4), NULL);
    CHECK_REFUSED(npy("", 8), WICK_FORMAT, NO_HEADER);
    CHECK_REFUSED(npy("{'descr': '<f4', 'fortran_order': False, }", 8), WICK_FORMAT, NO_HEADER);
    CHECK_REFUSED(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'x': 1}", 8), WICK_FORMAT, NO_HEADER);
    CHECK_REFUSED(npy("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 8), WICK_FORMAT,
                  NO_HEADER);
    CHECK_REFUSED(npy("{'descr': __import__('os').system('id'), 'fortran_order': False, 'shape': (2,)}", 8),
                  WICK_FORMAT, NO_HEADER);
    CHECK_REFUSED(npy(HEADER("<f4", "False", "(2)") "x", 8), WICK_FORMAT, NO_HEADER);
    CHECK_REFUSED(npy(HEADER("<f4", "False", "(-2,)"), 8), WICK_FORMAT, NO_HEADER);
    CHECK_REFUSED(npy(HEADER("<f4", "False", "(99999999999999999999,)"), 8), WICK_FORMAT, NO_HEADER);
    CHECK_REFUSED(npy(HEADER("<f4", "Maybe", "(2,)"), 8), WICK_FORMAT, NO_HEADER);
    CHECK_REFUSED(npy(HEADER("<f4", "False", "(4294967296, 4294967296)"), 8), WICK_OVERFLOW,
                  "tensor \"arr_0\": shape [4294967296,4294967296] has more elements than 64 bits can address");
    CHECK_REFUSED(npy(HEADER("<f4", "False", "(1,1,1,1,1,1,1,1,1)"), 4), WICK_UNSUPPORTED,
                  "tensor \"arr_0\": rank 9 is above 8");
    CHECK_REFUSED(npy(HEADER(">f4", "False", "(2,)"), 8), WICK_UNSUPPORTED,
                  "tensor \"arr_0\": dtype '>f4' is big-endian");
    CHECK_REFUSED(npy(HEADER("|O", "False", "(2,)"), 8), WICK_UNSUPPORTED,
                  "tensor \"arr_0\": there is no dtype for NumPy's '|O'");
    CHECK_REFUSED(npy(HEADER("<c8", "False", "(2,)"), 16), WICK_UNSUPPORTED,
                  "tensor \"arr_0\": there is no dtype for NumPy's '<c8'");
    CHECK_REFUSED(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}", 8), WICK_UNSUPPORTED,
                  "tensor \"arr_0\": it has a structured dtype");
    CHECK_REFUSED(npy(HEADER("<f4", "False", "(2,)"), 7), WICK_FORMAT,
                  "tensor \"arr_0\": its shape and dtype need 8 bytes, there are 7");
    CHECK_REFUSED(npy(HEADER("<f4", "False", "(2,)"), 9), WICK_FORMAT,
                  "tensor \"arr_0\": 1 bytes follow its last element");
    CHECK_ACCEPTED(npy(HEADER("<f4", "False", "(2,)"), 9), &lenient);

    static struct bytes bytes;
    put(&bytes, "\x93NUMPY\4\0\1\0\0\0\n", 13);
    CHECK_REFUSED(&bytes, WICK_UNSUPPORTED, "tensor \"arr_0\": npy version 4.0 is none of 1, 2, 3");
    put(&bytes, "\x93NUMPY\2\0\377\377\377\377\n", 13);
    CHECK_REFUSED(&bytes, WICK_FORMAT, "tensor \"arr_0\": an npy header of 4294967307 bytes is above 65536");
    put(&bytes, "\x93NUMPY\1\0\100\0 \n", 12);
    CHECK_REFUSED(&bytes, WICK_FORMAT, "tensor \"arr_0\": an npy header of 74 bytes does not lie in 12");
    put(&bytes, "\x93NUMPY", 6);
    CHECK_REFUSED(&bytes, WICK_FORMAT, "tensor \"arr_0\": it does not begin as npy data does");
}

/* ---- zip ---- */

/* One member, whose headers can be made to lie. */
struct member {
    const char *name;
    struct bytes content;
    uint32_t packed, nbytes, method, flags, shift; /* shift: how far off the offset is */
    bool honest;                                   /* packed and nbytes are those of the content */
};

static struct bytes *zip(struct member *members, int n, uint32_t claimed) {
    static struct bytes bytes;
    size_t offsets[4] = {0}, begin = 0;
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1) begin = bytes.n;
        for (int i = 0; i < n; i++) {
            struct member *m = &members[i];
            if (m->honest) m->packed = m->nbytes = (uint32_t)m->content.n;
            if (pass == 0) offsets[i] = bytes.n;
            put32(&bytes, pass ? 0x02014b50 : 0x04034b50);
            if (pass) put16(&bytes, 20);
            put16(&bytes, 20);
            put16(&bytes, m->flags);
            put16(&bytes, m->method);
            put64(&bytes, 0); /* time, date, checksum */
            put32(&bytes, m->packed);
            put32(&bytes, m->nbytes);
            put16(&bytes, (unsigned)strlen(m->name));
            put16(&bytes, 0);
            if (pass) {
                put_zeros(&bytes, 10);
                put32(&bytes, (uint32_t)offsets[i] + m->shift);
            }
            put_text(&bytes, m->name);
            if (!pass) put(&bytes, m->content.data, m->content.n);
        }
    }
    size_t end = bytes.n;
    put32(&bytes, 0x06054b50);
    put32(&bytes, 0);
    put16(&bytes, claimed);
    put16(&bytes, claimed);
    put32(&bytes, (uint32_t)(end - begin));
    put32(&bytes, (uint32_t)begin);
    put16(&bytes, 0);
    return &bytes;
}

static struct member good(const char *name) {
    struct member member = {.name = name, .honest = true};
    put_npy(&member.content, HEADER("<f4", "False", "(2,)"), 8);
    return member;
}

static void test_zip(void) {
    struct member m[2] = {good("a.npy"), good("b.npy")};
    CHECK_ACCEPTED(zip(m, 2, 2), NULL);
    CHECK_REFUSED(zip(m, 1, 9), WICK_FORMAT, "its 9 members do not fit in a central directory of 51 bytes");
    m[1].name = "a.npy";
    CHECK_REFUSED(zip(m, 2, 2), WICK_FORMAT, "zip member \"a.npy\" is there twice");
    m[1].name = "b.txt";
    CHECK_REFUSED(zip(m, 2, 2), WICK_FORMAT,
                  "zip member \"b.txt\" is not a .npy, and there is no data.pkl: it is neither npz nor pth");
    m[0].flags = 1;
    CHECK_REFUSED(zip(m, 1, 1), WICK_UNSUPPORTED, "zip member \"a.npy\" is encrypted");
    m[0].flags = 0;
    m[0].method = 12;
    CHECK_REFUSED(zip(m, 1, 1), WICK_UNSUPPORTED,
                  "zip member \"a.npy\" is packed by method 12; stored and deflated are read");
    m[0].method = 8;
    CHECK_REFUSED(zip(m, 1, 1), WICK_FORMAT, "zip member \"a.npy\" can't be unpacked, or its checksum is wrong");
    /* A small file can't ask for much memory. */
    m[0].honest = false;
    m[0].packed = (uint32_t)m[0].content.n;
    m[0].nbytes = 0x7fffffff;
    CHECK_REFUSED(zip(m, 1, 1), WICK_FORMAT,
                  "zip member \"a.npy\" can't have 2147483647 bytes when 76 are in the file");
    m[0].method = 0;
    CHECK_REFUSED(zip(m, 1, 1), WICK_FORMAT,
                  "zip member \"a.npy\" can't have 2147483647 bytes when 76 are in the file");
    m[0].packed = 0x7fffffff;
    CHECK_REFUSED(zip(m, 1, 1), WICK_FORMAT, "zip member \"a.npy\" of 2147483647 bytes does not lie in the file");
    m[0].honest = true;
    m[0].shift = 1;
    CHECK_REFUSED(zip(m, 1, 1), WICK_FORMAT, "zip member \"a.npy\" has no local header in its place");
    m[0].shift = 0x10000000;
    CHECK_REFUSED(zip(m, 1, 1), WICK_FORMAT, "zip member \"a.npy\" has no local header in its place");
    m[0].shift = 0;
    /* Two members over the same bytes. */
    m[1].name = "b.npy";
    m[1].shift = (uint32_t) - (30 + 5 + (int)m[0].content.n);
    CHECK_REFUSED(zip(m, 2, 2), WICK_FORMAT, "zip member \"b.npy\" overlaps the one before it");
    m[1].shift = 0;
    size_t whole = zip(m, 2, 2)->n;
    for (size_t cut = 1; cut < whole; cut++) {
        struct bytes *bytes = zip(m, 2, 2);
        /* The first of these is what the line before the loop built. */
        if (cut == 1) bytes->n = whole;
        bytes->n -= cut;
        wick_error_clear();
        (void)open_all(bytes, NULL);
        CHECK(wick_error_status() != WICK_OK);
    }
    wick_error_clear();
    free(m[0].content.data);
    free(m[1].content.data);
}

/* ---- saving ---- */

static void test_save(struct wick_device *cpu) {
    static const float f[6] = {1, 2, 3, 4, 5, 6};
    static const int64_t i[3] = {-1, 0, 1};
    const struct wick_tensor *tensors[] = {wick_from_data(cpu, WICK_F32, WICK_SHAPE(2, 3), f, sizeof f),
                                           wick_from_data(cpu, WICK_I64, WICK_SHAPE(3), i, sizeof i),
                                           wick_from_data(cpu, WICK_F32, WICK_SHAPE(0, 2), NULL, 0),
                                           wick_from_data(cpu, WICK_F32, 0, NULL, f, sizeof *f)};
    static const char *const names[] = {"f", "i", "none", "scalar"};
    struct wick_tensor *half = wick_from_data(cpu, WICK_BF16, 0, NULL, f, 2);
    const struct wick_tensor *one[] = {half};
    char path[64];
    snprintf(path, sizeof path, "/tmp/wick-test-%ld.np", (long)getpid());
    for (int t = 0; t < 4; t++) {
        CHECK_OK(wick_npy_save(path, tensors[t]));
        struct wick_archive *archive = wick_archive_open(path, NULL);
        struct wick_tensor *x = wick_archive_load(archive, "arr_0", cpu);
        wick_archive_close(archive);
        CHECK_INT(wick_tensor_rank(x), wick_tensor_rank(tensors[t]));
        CHECK_INT(wick_tensor_count(x), wick_tensor_count(tensors[t]));
        if (t < 2 && x)
            CHECK_BYTES(wick_tensor_data(x), t ? (const void *)i : (const void *)f, t ? sizeof i : sizeof f);
        wick_release(x);
    }
    CHECK_OK(wick_npz_save(path, 4, names, tensors));
    struct wick_archive *archive = wick_archive_open(path, NULL);
    CHECK_INT(wick_archive_format(archive), WICK_FORMAT_NPZ);
    CHECK_INT(wick_archive_count(archive), 4);
    struct wick_tensor *x = wick_archive_load(archive, "i", cpu);
    wick_archive_close(archive);
    CHECK(x && wick_tensor_data(x) && (uintptr_t)wick_tensor_data(x) % 64 == 0);
    if (x) CHECK_BYTES(wick_tensor_data(x), i, sizeof i);
    wick_release(x);
    CHECK_OK(wick_npz_save(path, 0, NULL, NULL));
    archive = wick_archive_open(path, NULL);
    CHECK_INT(wick_archive_count(archive), 0);
    wick_archive_close(archive);
    CHECK_FAILS(wick_npy_save(path, half), WICK_DTYPE, "npy_save: tensor \"x\": npy files have no bf16");
    CHECK_FAILS(wick_npz_save(path, 1, names, one), WICK_DTYPE, "npz_save: tensor \"f\": npy files have no bf16");
    CHECK_FAILS(wick_npy_save(path, NULL), WICK_INVALID, "npy_save: x is NULL");
    CHECK_FAILS(wick_npy_save(NULL, half), WICK_DTYPE, "npy_save: tensor \"x\": npy files have no bf16");
    CHECK_FAILS(wick_npy_save("", tensors[0]), WICK_INVALID, "npy_save: path is empty");
    CHECK_INT(unlink(path), 0);
    wick_release(half);
    for (int t = 0; t < 4; t++) wick_release((struct wick_tensor *)(uintptr_t)tensors[t]);
}

int main(void) {
    struct wick_device *cpu = wick_device_open("cpu");
    test_npy();
    test_zip();
    test_save(cpu);
    wick_device_close(cpu);
    return test_end();
}
