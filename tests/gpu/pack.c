/* Kernel packs: what is written is read back, and no damaged, foreign or stale one gives code. */
#include "tests/test.h"

#include "gpu/code/pack.h"

#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "core/memory.h"

static char folder[] = "/tmp/wick-pack-XXXXXX", path[64];

static void check_hash(void) {
    static const struct {
        const char *text, *digest;
    } vectors[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        for (size_t cut = 0; cut <= strlen(vectors[i].text); cut++) {
            struct wick__hash hash;
            unsigned char digest[WICK__HASH];
            char text[2 * WICK__HASH + 1];
            wick__hash_begin(&hash);
            wick__hash_add(&hash, vectors[i].text, cut);
            wick__hash_add(&hash, vectors[i].text + cut, strlen(vectors[i].text) - cut);
            wick__hash_end(&hash, digest);
            wick__hash_text(digest, sizeof digest, text);
            CHECK_TEXT(text, vectors[i].digest);
        }
}

static struct wick__pack_query query_of(const char *target, const char *module) {
    struct wick__pack_query query = {.path = path, .target = target, .module = module};
    memset(query.key, 7, sizeof query.key);
    return query;
}

static enum wick__pack_result find(const struct wick__pack_query *query, const void *want, size_t want_nbytes) {
    void *data = NULL;
    size_t nbytes = 0;
    char reason[4200] = "";
    enum wick__pack_result result = wick__pack_find(query, &data, &nbytes, reason, sizeof reason);
    if (result == WICK__PACK_FOUND && !query->look) {
        CHECK_INT(nbytes, want_nbytes);
        CHECK_BYTES(data, want, nbytes);
        CHECK(((const char *)data)[nbytes] == 0);
        wick__free(data, nbytes + 1);
    } else {
        CHECK(data == NULL && (query->look || *reason));
    }
    return result;
}

static unsigned char code[5000];

static void write_pack(const char *target) {
    struct wick__pack_module modules[2] = {{.name = "copy", .data = code, .nbytes = sizeof code},
                                           {.name = "unary", .data = code + 100, .nbytes = 1}};
    char reason[200] = "";
    memset(modules[0].key, 7, WICK__HASH);
    memset(modules[1].key, 8, WICK__HASH);
    CHECK(wick__pack_write(path, target, modules, 2, reason, sizeof reason));
    CHECK_TEXT(reason, "");
}

static void check_find(void) {
    struct wick__pack_query query = query_of("gfx942", "copy");
    CHECK_INT(find(&query, code, sizeof code), WICK__PACK_ABSENT);
    write_pack("gfx942");
    CHECK_INT(find(&query, code, sizeof code), WICK__PACK_FOUND);
    query.look = true;
    CHECK_INT(find(&query, code, sizeof code), WICK__PACK_FOUND);
    query.look = false;
    query.module = "unary";
    CHECK_INT(find(&query, code + 100, 1), WICK__PACK_STALE);
    memset(query.key, 8, sizeof query.key);
    CHECK_INT(find(&query, code + 100, 1), WICK__PACK_FOUND);
    query.module = "scan";
    CHECK_INT(find(&query, code, 1), WICK__PACK_ABSENT);
    query = query_of("gfx94", "copy");
    CHECK_INT(find(&query, code, sizeof code), WICK__PACK_BAD);
    query = query_of(NULL, "copy");
    query.ptx = 90;
    CHECK_INT(find(&query, code, sizeof code), WICK__PACK_ABSENT);
    write_pack("compute_80");
    CHECK_INT(find(&query, code, sizeof code), WICK__PACK_FOUND);
    query.ptx = 75;
    CHECK_INT(find(&query, code, sizeof code), WICK__PACK_ABSENT);
}

static void write_bytes(const unsigned char *data, size_t nbytes) {
    FILE *file = fopen(path, "wb");
    CHECK(file && fwrite(data, 1, nbytes, file) == nbytes);
    if (file) fclose(file);
}

enum { PACK = 20000 };
static size_t read_pack(unsigned char pack[PACK]) {
    FILE *file = fopen(path, "rb");
    size_t nbytes = file ? fread(pack, 1, PACK, file) : 0;
    if (file) fclose(file);
    CHECK(nbytes > 300 && nbytes < PACK);
    return nbytes;
}

/* Cut short anywhere, or with any one bit turned, a pack gives its code or none, never another. */
static void check_damage(void) {
    static unsigned char pack[PACK], bad[PACK];
    struct wick__pack_query query = query_of("gfx942", "copy");
    write_pack("gfx942");
    size_t nbytes = read_pack(pack);
    for (size_t cut = 0; cut < nbytes; cut += cut < 400 ? 1 : 37) {
        write_bytes(pack, cut);
        CHECK_INT(find(&query, code, sizeof code), WICK__PACK_BAD);
    }
    for (size_t i = 0; i < nbytes; i += i < 400 ? 1 : 37) {
        memcpy(bad, pack, nbytes);
        bad[i] ^= (unsigned char)(1u << i % 8);
        write_bytes(bad, nbytes);
        enum wick__pack_result result = find(&query, code, sizeof code);
        CHECK(result == WICK__PACK_BAD || (i >= 96 + 224 && result == WICK__PACK_FOUND));
    }
    query.path = folder; /* not a file */
    CHECK_INT(find(&query, code, sizeof code), WICK__PACK_BAD);
    query.path = "/dev/zero";
    CHECK_INT(find(&query, code, sizeof code), WICK__PACK_BAD);
}

/* Says that the first module has `plain` bytes, with the check of their first ones, and makes the index whole again. */
static void set_plain(unsigned char *pack, size_t nbytes, uint64_t plain) {
    enum { CHECK_AT = 88, INDEX = 96, ROWS = 2 * 112, PLAIN = INDEX + 96, CRC = INDEX + 104 };
    const size_t some = plain < sizeof code ? (size_t)plain : sizeof code;
    const uint32_t check = (uint32_t)crc32(0, code, (uInt)some), zero = 0;
    memcpy(pack + PLAIN, &plain, 8);
    memcpy(pack + CRC, &check, 4);
    memcpy(pack + CHECK_AT, &zero, 4);
    const uint32_t whole = (uint32_t)crc32(0, pack, INDEX + ROWS);
    memcpy(pack + CHECK_AT, &whole, 4);
    write_bytes(pack, nbytes);
}

/* A frame that has more or fewer bytes than the index says gives none of them. */
static void check_lengths(void) {
    static unsigned char pack[PACK];
    static const uint64_t wrong[] = {1, sizeof code - 1, sizeof code + 1, 1 << 20, 1 << 28, UINT64_MAX};
    struct wick__pack_query query = query_of("gfx942", "copy");
    write_pack("gfx942");
    size_t nbytes = read_pack(pack);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        set_plain(pack, nbytes, wrong[i]);
        CHECK_INT(find(&query, code, sizeof code), WICK__PACK_BAD);
    }
    set_plain(pack, nbytes, sizeof code);
    CHECK_INT(find(&query, code, sizeof code), WICK__PACK_FOUND);
}

/* Code is taken from this user's files and root's alone, and from those that nobody else may write; but for a file that
 * the caller named. */
static void check_owner(void) {
    struct wick__pack_query query = query_of("gfx942", "copy");
    write_pack("gfx942");
    CHECK(chmod(path, 0664) == 0);
    CHECK_INT(find(&query, code, sizeof code), WICK__PACK_BAD);
    CHECK(chmod(path, 0646) == 0);
    CHECK_INT(find(&query, code, sizeof code), WICK__PACK_BAD);
    query.named = true;
    CHECK_INT(find(&query, code, sizeof code), WICK__PACK_FOUND);
    query.named = false;
    CHECK(chmod(path, 0644) == 0);
    CHECK_INT(find(&query, code, sizeof code), WICK__PACK_FOUND);
    if (geteuid() != 0) return;
    CHECK(chown(path, 65534, 65534) == 0);
    CHECK_INT(find(&query, code, sizeof code), WICK__PACK_BAD);
}

static bool out_of_memory;
static void *hook_alloc(void *context, size_t nbytes, size_t alignment) {
    void *memory = NULL;
    (void)context;
    return !out_of_memory && posix_memalign(&memory, alignment, nbytes) == 0 ? memory : NULL;
}
static void hook_free(void *context, void *memory, size_t nbytes) {
    (void)context;
    (void)nbytes;
    free(memory);
}

static void check_memory(void) {
    struct wick__pack_query query = query_of("gfx942", "copy");
    write_pack("gfx942");
    out_of_memory = true;
    CHECK_INT(find(&query, code, sizeof code), WICK__PACK_MEMORY);
    out_of_memory = false;
    CHECK_INT(find(&query, code, sizeof code), WICK__PACK_FOUND);
}

int main(void) {
    struct wick_allocator hook = {NULL, hook_alloc, hook_free};
    if (!mkdtemp(folder)) test_skip("no folder for temporary files");
    snprintf(path, sizeof path, "%s/test.pack", folder);
    for (size_t i = 0; i < sizeof code; i++) code[i] = (unsigned char)(i * i / 7);
    CHECK_OK(wick_allocator_set(&hook));
    check_hash();
    check_find();
    check_damage();
    check_lengths();
    check_owner();
    check_memory();
    CHECK_INT(wick_host_memory_used(), 0);
    unlink(path);
    rmdir(folder);
    return test_end();
}
