/* pth files whose pickle is hostile: refused with a text that says why, and nothing is run. Good files are in files.c.
 */
#include "tests/format/bytes.h"

/* The zip file torch.save would make: a pickle, and storage "0" of 16 bytes. */
static struct bytes *pth_with(const void *pickle, size_t n, const char *byteorder, const char *other) {
    static struct bytes bytes;
    static const char storage[16];
    const char *names[] = {"a/data.pkl", "a/data/0", "a/byteorder", other};
    const void *contents[] = {pickle, storage, byteorder, ""};
    size_t sizes[] = {n, sizeof storage, strlen(byteorder), 0}, offsets[4], begin = 0;
    int count = other ? 4 : 3;
    for (int pass = 0; pass < 2; pass++) {
        if (pass) begin = bytes.n;
        for (int i = 0; i < count; i++) {
            if (!pass) offsets[i] = bytes.n;
            put32(&bytes, pass ? 0x02014b50 : 0x04034b50);
            if (pass) put16(&bytes, 20);
            put64(&bytes, 20);
            put64(&bytes, 0);
            bytes.n -= 2; /* version, flags, method, time, date, checksum: 14 bytes */
            put32(&bytes, (uint32_t)sizes[i]);
            put32(&bytes, (uint32_t)sizes[i]);
            put16(&bytes, (unsigned)strlen(names[i]));
            put16(&bytes, 0);
            if (pass) {
                put_zeros(&bytes, 10);
                put32(&bytes, (uint32_t)offsets[i]);
            }
            put_text(&bytes, names[i]);
            if (!pass) put(&bytes, contents[i], sizes[i]);
        }
    }
    size_t end = bytes.n;
    put32(&bytes, 0x06054b50);
    put32(&bytes, 0);
    put16(&bytes, (unsigned)count);
    put16(&bytes, (unsigned)count);
    put32(&bytes, (uint32_t)(end - begin));
    put32(&bytes, (uint32_t)begin);
    put16(&bytes, 0);
    return &bytes;
}

static struct bytes *pth(const void *pickle, size_t n) { return pth_with(pickle, n, "little", NULL); }
#define PTH(text) pth(text, sizeof text - 1)

static void put_int(struct bytes *bytes, int64_t value) {
    put8(bytes, 0x8a);
    put8(bytes, 8);
    put64(bytes, (uint64_t)value);
}
static void put_name(struct bytes *bytes, const char *text) {
    put8(bytes, 0x8c);
    put8(bytes, (unsigned)strlen(text));
    put_text(bytes, text);
}

/* {"t": a tensor of f32 in storage "0" that has 4 elements}, given what a hostile file would choose. */
struct choice {
    const char *key;
    int64_t numel, offset, shape[2], stride[2];
};
static struct bytes *tensor(struct choice choice) {
    static struct bytes pickle;
    pickle.n = 0;
    put_text(&pickle, "\x80\x02}");
    put_name(&pickle, "t");
    put_text(&pickle, "ctorch._utils\n_rebuild_tensor_v2\n((");
    put_name(&pickle, "storage");
    put_text(&pickle, "ctorch\nFloatStorage\n");
    put_name(&pickle, choice.key ? choice.key : "0");
    put_name(&pickle, "cpu");
    put_int(&pickle, choice.numel);
    put_text(&pickle, "tQ");
    put_int(&pickle, choice.offset);
    for (int i = 0; i < 2; i++) {
        put_int(&pickle, i ? choice.stride[0] : choice.shape[0]);
        put_int(&pickle, i ? choice.stride[1] : choice.shape[1]);
        put8(&pickle, 0x86);
    }
    put_text(&pickle, "\x89"
                      "ccollections\nOrderedDict\n)RtRs.");
    return pth(pickle.data, pickle.n);
}

static void test_tensors(void) {
    CHECK_ACCEPTED(tensor((struct choice){NULL, 4, 0, {2, 2}, {2, 1}}), NULL);
    CHECK_ACCEPTED(tensor((struct choice){NULL, 4, 0, {2, 2}, {1, 2}}), NULL);
    CHECK_ACCEPTED(tensor((struct choice){NULL, 4, 3, {100, 100}, {0, 0}}), NULL);
    CHECK_ACCEPTED(tensor((struct choice){NULL, 4, 100, {0, 2}, {1, 1}}), NULL);
    CHECK_REFUSED(tensor((struct choice){"9", 4, 0, {2, 2}, {2, 1}}), WICK_FORMAT,
                  "tensor \"t\": there is no storage \"9\" in the file");
    CHECK_REFUSED(tensor((struct choice){"../data.pkl", 4, 0, {2, 2}, {2, 1}}), WICK_FORMAT,
                  "tensor \"t\": there is no storage \"../data.pkl\" in the file");
    CHECK_REFUSED(tensor((struct choice){NULL, 5, 0, {2, 2}, {2, 1}}), WICK_FORMAT,
                  "tensor \"t\": storage \"0\" should have 5 elements but has 16 bytes");
    CHECK_REFUSED(tensor((struct choice){NULL, INT64_MAX, 0, {2, 2}, {2, 1}}), WICK_FORMAT,
                  "tensor \"t\": storage \"0\" should have 9223372036854775807 elements but has 16 bytes");
    CHECK_REFUSED(tensor((struct choice){NULL, -1, 0, {2, 2}, {2, 1}}), WICK_FORMAT,
                  "data.pkl: a storage has -1 elements");
    CHECK_REFUSED(tensor((struct choice){NULL, 3, 0, {2, 2}, {2, 1}}), WICK_FORMAT,
                  "tensor \"t\": 4 elements from 0 do not lie in the 12 bytes of storage \"0\"");
    CHECK_REFUSED(tensor((struct choice){NULL, 4, 1, {2, 2}, {2, 1}}), WICK_FORMAT,
                  "tensor \"t\": 4 elements from 1 do not lie in the 16 bytes of storage \"0\"");
    CHECK_REFUSED(tensor((struct choice){NULL, 4, -1, {2, 2}, {2, 1}}), WICK_FORMAT,
                  "tensor \"t\": 4 elements from -1 do not lie in the 16 bytes of storage \"0\"");
    CHECK_REFUSED(tensor((struct choice){NULL, 4, INT64_MAX, {2, 2}, {2, 1}}), WICK_FORMAT,
                  "tensor \"t\": 4 elements from 9223372036854775807 do not lie in the 16 bytes of storage \"0\"");
    CHECK_REFUSED(tensor((struct choice){NULL, 4, 0, {2, 2}, {-2, 1}}), WICK_FORMAT,
                  "tensor \"t\": stride -2 of dim 0 is negative");
    CHECK_REFUSED(tensor((struct choice){NULL, 4, 0, {-2, 2}, {2, 1}}), WICK_FORMAT,
                  "tensor \"t\": size -2 of dim 0 is negative");
    CHECK_REFUSED(tensor((struct choice){NULL, 4, 0, {3, 2}, {INT64_MAX, 1}}), WICK_OVERFLOW,
                  "tensor \"t\": its strides reach further than 64 bits can");
    CHECK_REFUSED(tensor((struct choice){NULL, 4, 0, {1ll << 40, 1ll << 40}, {0, 0}}), WICK_OVERFLOW,
                  "tensor \"t\": shape [1099511627776,1099511627776] has more elements than 64 bits can address");
    /* One element that is to be repeated more often than there is memory. */
    wick_error_clear();
    (void)open_all(tensor((struct choice){NULL, 4, 0, {1ll << 30, 1ll << 20}, {0, 0}}), NULL);
    CHECK_INT(wick_error_status(), WICK_MEMORY);
}

static void test_globals(void) {
    CHECK_REFUSED(PTH("\x80\x02"
                      "cposix\nsystem\nX\x02\0\0\0id\x85R."),
                  WICK_UNSUPPORTED,
                  "data.pkl asks for posix.system, which is not run; save a plain state dict instead");
    CHECK_REFUSED(PTH("\x80\x04\x8c\x08"
                      "builtins\x8c\x04"
                      "eval\x93\x8c\x01"
                      "1\x85R."),
                  WICK_UNSUPPORTED,
                  "data.pkl asks for builtins.eval, which is not run; save a plain state dict instead");
    CHECK_REFUSED(PTH("\x80\x02"
                      "ctorch\nload\n)R."),
                  WICK_UNSUPPORTED, "data.pkl asks for torch.load, which is not run; save a plain state dict instead");
    CHECK_REFUSED(PTH("\x80\x02"
                      "ctorch\nFloatStorage\n)R."),
                  WICK_FORMAT, "data.pkl: torch.FloatStorage does not get the arguments it takes");
    CHECK_REFUSED(PTH("\x80\x02]]b."), WICK_FORMAT, "data.pkl, byte 5: attributes are set on what is not a dict");
    CHECK_REFUSED(PTH("\x80\x02)Q."), WICK_FORMAT, "data.pkl: a persistent id names no storage");
    CHECK_REFUSED(PTH("\x80\x02"
                      "cposix"),
                  WICK_FORMAT, "data.pkl, byte 3: the name of a global does not end");
    CHECK_REFUSED(pth_with("}.", 2, "big", NULL), WICK_UNSUPPORTED, "its tensors are not little-endian");
    CHECK_REFUSED(pth_with("}.", 2, "little", "a/constants.pkl"), WICK_UNSUPPORTED,
                  "it is a TorchScript program: save its state_dict instead");
}

static void test_machine(void) {
    CHECK_ACCEPTED(PTH("\x80\x02}."), NULL);
    CHECK_REFUSED(PTH(""), WICK_FORMAT, "data.pkl, byte 0: the pickle is cut short");
    CHECK_REFUSED(PTH("\x80\x02}"), WICK_FORMAT, "data.pkl, byte 3: the pickle is cut short");
    CHECK_REFUSED(PTH("\x80\x06}."), WICK_FORMAT, "data.pkl, byte 2: the protocol is none of 2 to 5");
    CHECK_REFUSED(PTH("."), WICK_FORMAT, "data.pkl, byte 1: the stack is empty");
    CHECK_REFUSED(PTH("0"), WICK_FORMAT, "data.pkl, byte 1: the stack is empty");
    CHECK_REFUSED(PTH("(."), WICK_FORMAT, "data.pkl, byte 2: the stack is empty");
    CHECK_REFUSED(PTH("N(0"), WICK_FORMAT, "data.pkl, byte 3: the stack is empty");
    CHECK_REFUSED(PTH("u"), WICK_FORMAT, "data.pkl, byte 1: there is no mark");
    CHECK_REFUSED(PTH("}(Nu."), WICK_FORMAT, "data.pkl, byte 4: a dict has a key without a value");
    CHECK_REFUSED(PTH("N\x86."), WICK_FORMAT, "data.pkl, byte 2: the stack has too few values");
    CHECK_REFUSED(PTH("NNa."), WICK_FORMAT, "data.pkl, byte 3: items are added to what is neither list nor dict");
    CHECK_REFUSED(PTH("h\x01."), WICK_FORMAT, "data.pkl, byte 2: there is no memo of that number");
    CHECK_REFUSED(PTH("Nr\xff\xff\xff\xff."), WICK_FORMAT, "data.pkl, byte 6: the number of a memo is out of range");
    CHECK_REFUSED(PTH("X\xff\xff\xff\xffx."), WICK_FORMAT, "data.pkl, byte 5: the pickle is cut short");
    CHECK_REFUSED(PTH("\x8d\xff\xff\xff\xff\xff\xff\xff\xffx."), WICK_FORMAT,
                  "data.pkl, byte 9: the pickle is cut short");
    CHECK_REFUSED(PTH("\x8b\xff\xff\xff\x7f."), WICK_FORMAT, "data.pkl, byte 5: the pickle is cut short");
    CHECK_REFUSED(PTH("I1\n."), WICK_FORMAT, "data.pkl, byte 1: opcode 0x49 is none that torch.save writes");
    CHECK_REFUSED(PTH("}X\x02\0\0\0a\0Ns."), WICK_FORMAT, "data.pkl: key \"a\" holds a zero byte");
    CHECK_REFUSED(PTH("})Ns."), WICK_UNSUPPORTED,
                  "data.pkl: the dict \"\" has a key that is neither text nor an integer");
}

static void test_nesting(void) {
    static struct bytes pickle;
    /* A list that holds itself. */
    CHECK_REFUSED(PTH("]q\x01h\x01"
                      "a."),
                  WICK_FORMAT, "data.pkl holds the same values in one another too often");
    /* Lists of ten times the list before, eight times over. */
    put_text(&pickle, "Nq");
    put8(&pickle, 0);
    for (unsigned level = 0; level < 8; level++) {
        put_text(&pickle, "](");
        for (int i = 0; i < 10; i++) {
            put8(&pickle, 'h');
            put8(&pickle, level);
        }
        put_text(&pickle, "eq");
        put8(&pickle, level + 1);
    }
    put8(&pickle, '.');
    CHECK_REFUSED(pth(pickle.data, pickle.n), WICK_FORMAT, "data.pkl holds the same values in one another too often");
    /* A million lists in one another. */
    pickle.n = 0;
    for (int i = 0; i < 1000000; i++) put8(&pickle, ']');
    for (int i = 1; i < 1000000; i++) put8(&pickle, 'a');
    put8(&pickle, '.');
    CHECK_REFUSED(pth(pickle.data, pickle.n), WICK_FORMAT, "data.pkl: dicts are nested more than 64 deep");
    /* Keys that make an endless name. */
    pickle.n = 0;
    for (int i = 0; i < 40; i++) {
        put_text(&pickle, "}U");
        put8(&pickle, 200);
        for (int j = 0; j < 200; j++) put8(&pickle, 'k');
    }
    put8(&pickle, 'N');
    for (int i = 0; i < 40; i++) put8(&pickle, 's');
    put8(&pickle, '.');
    CHECK_REFUSED(pth(pickle.data, pickle.n), WICK_FORMAT,
                  "data.pkl: keys in one another make a name above 4096 bytes");
    free(pickle.data);
}

/* No more than 64 MiB in one piece, so that what asks for much fails on every machine. */
static void *limited_alloc(void *context, size_t nbytes, size_t alignment) {
    void *memory = NULL;
    (void)context;
    return nbytes <= 64 << 20 && posix_memalign(&memory, alignment, nbytes) == 0 ? memory : NULL;
}
static void limited_free(void *context, void *memory, size_t nbytes) {
    (void)context;
    (void)nbytes;
    free(memory);
}

int main(void) {
    static const struct wick_allocator limited = {NULL, limited_alloc, limited_free};
    CHECK_OK(wick_allocator_set(&limited));
    test_tensors();
    test_globals();
    test_machine();
    test_nesting();
    return test_end();
}
