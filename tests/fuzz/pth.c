/* Hostile pth files: the input is the pickle, which gets a zip file with two storages around it, as few changed bytes
 * would leave a whole zip file readable. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

enum { MEMBERS = 3, STORAGE = 64, ROOM = 512 };

struct zip {
    uint8_t *bytes;
    size_t n;
};

static void put(struct zip *zip, const void *data, size_t n) {
    if (n > 0) memcpy(zip->bytes + zip->n, data, n);
    zip->n += n;
}

static void put_number(struct zip *zip, size_t nbytes, uint64_t value) { put(zip, &value, nbytes); }

/* From the version on, what the two headers of a stored member have in common; no one looks at the checksum. */
static void put_common(struct zip *zip, size_t nbytes, const char *name) {
    put_number(zip, 8, 20);
    put_number(zip, 6, 0);
    put_number(zip, 4, nbytes);
    put_number(zip, 4, nbytes);
    put_number(zip, 4, strlen(name));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes) {
    static const uint8_t storage[STORAGE] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const char *const names[MEMBERS] = {"a/data.pkl", "a/data/0", "a/data/1"};
    const void *const contents[MEMBERS] = {data, storage, storage};
    const size_t sizes[MEMBERS] = {nbytes, STORAGE, STORAGE / 2};
    size_t offsets[MEMBERS];
    struct zip zip = {malloc(nbytes + ROOM), 0};
    if (!zip.bytes) return 0;
    for (int i = 0; i < MEMBERS; i++) {
        offsets[i] = zip.n;
        put_number(&zip, 4, 0x04034b50);
        put_common(&zip, sizes[i], names[i]);
        put(&zip, names[i], strlen(names[i]));
        put(&zip, contents[i], sizes[i]);
    }
    size_t begin = zip.n;
    for (int i = 0; i < MEMBERS; i++) {
        put_number(&zip, 4, 0x02014b50);
        put_number(&zip, 2, 20);
        put_common(&zip, sizes[i], names[i]);
        put_number(&zip, 8, 0); /* comment, disk, attributes */
        put_number(&zip, 2, 0);
        put_number(&zip, 4, offsets[i]);
        put(&zip, names[i], strlen(names[i]));
    }
    size_t end = zip.n;
    put_number(&zip, 4, 0x06054b50);
    put_number(&zip, 4, 0);
    put_number(&zip, 2, MEMBERS);
    put_number(&zip, 2, MEMBERS);
    put_number(&zip, 4, end - begin);
    put_number(&zip, 4, begin);
    put_number(&zip, 2, 0);
    fuzz_archive(zip.bytes, zip.n);
    free(zip.bytes);
    return 0;
}
