/* Reading zip files by their central directory: stored and deflated members, zip64. APPNOTE.TXT 6.3.
 *
 * What the directory claims is checked against the file before any member is read: members lie inside the file and
 * apart from one another, and no member unpacks to more than deflate can make of its bytes. So a small file can't
 * ask for much memory, nor for the same bytes many times. */
#include "format/archive.h"

#include "core/checked.h"
#include "core/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <zlib.h>

enum { END_SIZE = 22, LOCATOR_SIZE = 20, END64_SIZE = 56, CENTRAL_SIZE = 46, LOCAL_SIZE = 30 };
/* Deflate's best: a block of 1032 equal bytes for each byte. */
enum { MAX_RATIO = 1032, RATIO_SLACK = 1024 };

struct directory {
    uint64_t offset, nbytes, members;
    uint64_t end; /* where what follows the directory begins */
};

/* The last end record whose comment reaches to the end of the file. */
static const unsigned char *find_end(const unsigned char *data, size_t nbytes) {
    if (nbytes < END_SIZE) return NULL;
    size_t lowest = nbytes - END_SIZE > UINT16_MAX ? nbytes - END_SIZE - UINT16_MAX : 0;
    for (size_t at = nbytes - END_SIZE + 1; at-- > lowest;)
        if (wick__get32(data + at) == 0x06054b50 && at + END_SIZE + wick__get16(data + at + 20) == nbytes)
            return data + at;
    return NULL;
}

static enum wick_status find_directory(const struct wick_archive *archive, struct directory *directory) {
    const unsigned char *data = archive->file->data, *end = find_end(data, archive->file->nbytes);
    if (!end)
        return wick__archive_fail(archive, WICK_FORMAT, NULL,
                                  "it begins as a zip file but has no end of central directory: is it cut short?");
    size_t at = (size_t)(end - data);
    *directory = (struct directory){wick__get32(end + 16), wick__get32(end + 12), wick__get16(end + 10), at};
    uint32_t disks = (uint32_t)wick__get16(end + 4) | (uint32_t)wick__get16(end + 6);
    bool wide = directory->offset == UINT32_MAX || directory->nbytes == UINT32_MAX || directory->members == UINT16_MAX;
    if (at >= LOCATOR_SIZE && wick__get32(end - LOCATOR_SIZE) == 0x07064b50) {
        uint64_t end64 = wick__get64(end - LOCATOR_SIZE + 8);
        if (at < LOCATOR_SIZE + END64_SIZE || end64 > at - LOCATOR_SIZE - END64_SIZE ||
            wick__get32(data + end64) != 0x06064b50)
            return wick__archive_fail(archive, WICK_FORMAT, NULL, "its zip64 end of central directory is not in place");
        *directory = (struct directory){wick__get64(data + end64 + 48), wick__get64(data + end64 + 40),
                                        wick__get64(data + end64 + 32), end64};
        disks = wick__get32(data + end64 + 16) | wick__get32(data + end64 + 20);
    } else if (wide && directory->members != UINT16_MAX) {
        return wick__archive_fail(archive, WICK_FORMAT, NULL, "it needs a zip64 end of central directory but has none");
    }
    if (disks != 0) return wick__archive_fail(archive, WICK_UNSUPPORTED, NULL, "it is a part of a zip file of several");
    if (directory->nbytes > directory->end || directory->offset > directory->end - directory->nbytes)
        return wick__archive_fail(archive, WICK_FORMAT, NULL, "its central directory does not lie in the file");
    if (directory->members > directory->nbytes / CENTRAL_SIZE)
        return wick__archive_fail(archive, WICK_FORMAT, NULL,
                                  "its %" PRIu64 " members do not fit in a central directory of %" PRIu64 " bytes",
                                  directory->members, directory->nbytes);
    return WICK_OK;
}

/* Replaces the fields of a central record that say 0xffffffff by those of its zip64 extra field. */
static bool read_zip64(const unsigned char *extra, size_t nbytes, struct wick__member *member) {
    bool wants[3] = {member->nbytes == UINT32_MAX, member->packed == UINT32_MAX, member->offset == UINT32_MAX};
    uint64_t *fields[3] = {&member->nbytes, &member->packed, &member->offset};
    if (!wants[0] && !wants[1] && !wants[2]) return true;
    while (nbytes >= 4) {
        size_t size = wick__get16(extra + 2);
        if (size > nbytes - 4) return false;
        if (wick__get16(extra) == 1) {
            const unsigned char *at = extra + 4;
            for (int i = 0; i < 3; i++) {
                if (!wants[i]) continue;
                if (size < 8) return false;
                *fields[i] = wick__get64(at);
                at += 8;
                size -= 8;
            }
            return true;
        }
        extra += 4 + size;
        nbytes -= 4 + size;
    }
    return true; /* the sizes are really 2^32 - 1 */
}

/* Turns the offset of a member's local header into that of its bytes. */
static enum wick_status find_bytes(const struct wick_archive *archive, struct wick__member *member, uint64_t end) {
    char quoted[WICK__QUOTED];
    const unsigned char *data = archive->file->data;
    if (end < LOCAL_SIZE || member->offset > end - LOCAL_SIZE || wick__get32(data + member->offset) != 0x04034b50)
        return wick__archive_fail(archive, WICK_FORMAT, NULL, "zip member \"%s\" has no local header in its place",
                                  wick__quote(quoted, member->name));
    const unsigned char *local = data + member->offset;
    member->offset += LOCAL_SIZE + (uint64_t)wick__get16(local + 26) + wick__get16(local + 28);
    if (member->offset > end || member->packed > end - member->offset)
        return wick__archive_fail(archive, WICK_FORMAT, NULL,
                                  "zip member \"%s\" of %" PRIu64 " bytes does not lie in the file",
                                  wick__quote(quoted, member->name), member->packed);
    bool possible = member->deflated
                        ? member->nbytes <= RATIO_SLACK || (member->nbytes - RATIO_SLACK) / MAX_RATIO <= member->packed
                        : member->nbytes == member->packed;
    if (!possible)
        return wick__archive_fail(archive, WICK_FORMAT, NULL,
                                  "zip member \"%s\" can't have %" PRIu64 " bytes when %" PRIu64 " are in the file",
                                  wick__quote(quoted, member->name), member->nbytes, member->packed);
    return WICK_OK;
}

/* Reads one record of the central directory, of `room` bytes at most, and sets *size to its own. */
static enum wick_status read_member(struct wick_archive *archive, const unsigned char *record, uint64_t room,
                                    uint64_t end, uint64_t *size) {
    char quoted[WICK__QUOTED];
    if (room < CENTRAL_SIZE || wick__get32(record) != 0x02014b50)
        return wick__archive_fail(archive, WICK_FORMAT, NULL, "its central directory has a record that is none");
    size_t name = wick__get16(record + 28), extra = wick__get16(record + 30), comment = wick__get16(record + 32);
    *size = CENTRAL_SIZE + name + extra + comment;
    if (*size > room) return wick__archive_fail(archive, WICK_FORMAT, NULL, "its central directory is cut short");
    struct wick__member *member = wick__archive_member(archive);
    if (!member) return WICK_MEMORY;
    member->name = wick__arena_text(&archive->arena, record + CENTRAL_SIZE, name);
    if (!member->name) return WICK_MEMORY;
    if (strlen(member->name) != name)
        return wick__archive_fail(archive, WICK_FORMAT, NULL, "the name of zip member \"%s\" holds a zero byte",
                                  wick__quote(quoted, member->name));
    uint16_t method = wick__get16(record + 10);
    if (method != 0 && method != 8)
        return wick__archive_fail(archive, WICK_UNSUPPORTED, NULL,
                                  "zip member \"%s\" is packed by method %d; stored and deflated are read",
                                  wick__quote(quoted, member->name), method);
    if (wick__get16(record + 8) & 1)
        return wick__archive_fail(archive, WICK_UNSUPPORTED, NULL, "zip member \"%s\" is encrypted",
                                  wick__quote(quoted, member->name));
    member->deflated = method == 8;
    member->crc = wick__get32(record + 16);
    member->packed = wick__get32(record + 20);
    member->nbytes = wick__get32(record + 24);
    member->offset = wick__get32(record + 42);
    if (!read_zip64(record + CENTRAL_SIZE + name, extra, member))
        return wick__archive_fail(archive, WICK_FORMAT, NULL, "zip member \"%s\" has a broken zip64 field",
                                  wick__quote(quoted, member->name));
    return find_bytes(archive, member, end);
}

static int compare_offsets(const void *a, const void *b) {
    const struct wick__member *x = a, *y = b;
    return x->offset != y->offset ? (x->offset < y->offset ? -1 : 1)
                                  : (x->packed > y->packed) - (x->packed < y->packed);
}

static int compare_members(const void *a, const void *b) {
    const struct wick__member *x = a, *y = b;
    return strcmp(x->name, y->name);
}

enum wick_status wick__zip_open(struct wick_archive *archive) {
    char quoted[WICK__QUOTED];
    struct directory directory = {0};
    WICK__TRY(find_directory(archive, &directory));
    WICK__TRY(wick__archive_charge(archive, (size_t)directory.nbytes));
    const unsigned char *at = archive->file->data + directory.offset;
    uint64_t room = directory.nbytes, size = 0;
    for (uint64_t i = 0; i < directory.members; i++) {
        WICK__TRY(read_member(archive, at, room, directory.offset, &size));
        at += size;
        room -= size;
    }
    if (archive->n_members > 0)
        qsort(archive->members, (size_t)archive->n_members, sizeof *archive->members, compare_offsets);
    for (int64_t i = 1; i < archive->n_members; i++) {
        const struct wick__member *before = &archive->members[i - 1], *member = &archive->members[i];
        if (before->offset + before->packed > member->offset)
            return wick__archive_fail(archive, WICK_FORMAT, NULL, "zip member \"%s\" overlaps the one before it",
                                      wick__quote(quoted, member->name));
    }
    if (archive->n_members > 0)
        qsort(archive->members, (size_t)archive->n_members, sizeof *archive->members, compare_members);
    for (int64_t i = 1; i < archive->n_members; i++)
        if (strcmp(archive->members[i - 1].name, archive->members[i].name) == 0)
            return wick__archive_fail(archive, WICK_FORMAT, NULL, "zip member \"%s\" is there twice",
                                      wick__quote(quoted, archive->members[i].name));
    return WICK_OK;
}

int64_t wick__zip_find(const struct wick_archive *archive, const char *name) {
    struct wick__member key = {.name = name};
    if (archive->n_members == 0) return -1;
    const struct wick__member *found =
        bsearch(&key, archive->members, (size_t)archive->n_members, sizeof key, compare_members);
    return found ? found - archive->members : -1;
}

/* ---- unpacking ---- */

/* zlib's memory goes through the library's allocator too; blocks carry their size in front. */
static void *zlib_alloc(void *context, unsigned n, unsigned size) {
    size_t nbytes = (size_t)n * size + 16;
    (void)context;
    size_t *memory = wick__alloc_quiet(nbytes);
    if (!memory) return NULL;
    *memory = nbytes;
    return (char *)memory + 16;
}

static void zlib_free(void *context, void *memory) {
    (void)context;
    if (!memory) return;
    size_t *block = (size_t *)(void *)((char *)memory - 16);
    wick__free(block, *block);
}

/* Unpacks the first nbytes bytes; false when the member has fewer, is broken, or, when it is unpacked whole, has more
 * bytes or another checksum than it says. */
static bool unpack(const struct wick_archive *archive, const struct wick__member *member, unsigned char *to,
                   size_t nbytes) {
    z_stream stream = {.zalloc = zlib_alloc, .zfree = zlib_free};
    const unsigned char *from = archive->file->data + member->offset;
    uint64_t in = member->packed;
    size_t done = 0;
    bool whole = nbytes == member->nbytes, surplus = false;
    int code = inflateInit2(&stream, -MAX_WBITS);
    while (code == Z_OK && !surplus && (done < nbytes || whole)) {
        unsigned char beyond; /* where a byte that is too many would go */
        size_t room = done < nbytes ? nbytes - done : 1;
        unsigned had_in = in < UINT32_MAX ? (unsigned)in : UINT32_MAX;
        unsigned had_out = room < UINT32_MAX ? (unsigned)room : UINT32_MAX;
        stream.next_in = (unsigned char *)(uintptr_t)from;
        stream.avail_in = had_in;
        stream.next_out = done < nbytes ? to + done : &beyond;
        stream.avail_out = had_out;
        code = inflate(&stream, Z_NO_FLUSH);
        unsigned gave = had_out - stream.avail_out;
        from += had_in - stream.avail_in;
        in -= had_in - stream.avail_in;
        surplus = done == nbytes && gave > 0;
        if (done < nbytes) done += gave;
    }
    inflateEnd(&stream);
    if (done < nbytes || surplus) return false;
    return !whole || (code == Z_STREAM_END && crc32_z(0, to, nbytes) == member->crc);
}

enum wick_status wick__zip_read(const struct wick_archive *archive, int64_t number, size_t nbytes,
                                const unsigned char **data, void **owned) {
    char quoted[WICK__QUOTED];
    const struct wick__member *member = &archive->members[number];
    if (nbytes > member->nbytes)
        return wick__archive_fail(archive, WICK_FORMAT, NULL,
                                  "zip member \"%s\" has %" PRIu64 " bytes where %zu are needed",
                                  wick__quote(quoted, member->name), member->nbytes, nbytes);
    if (!member->deflated) {
        *data = archive->file->data + member->offset;
        *owned = NULL;
        return WICK_OK;
    }
    if (nbytes > (uint64_t)archive->options.limits.inflated)
        return wick__archive_fail(archive, WICK_RANGE, NULL,
                                  "zip member \"%s\" unpacks to %zu bytes, above the limit of %" PRId64,
                                  wick__quote(quoted, member->name), nbytes, archive->options.limits.inflated);
    void *to = wick__alloc(nbytes);
    if (!to) return WICK_MEMORY;
    if (!unpack(archive, member, to, nbytes)) {
        wick__free(to, nbytes);
        return wick__archive_fail(archive, WICK_FORMAT, NULL,
                                  "zip member \"%s\" can't be unpacked, or its checksum is wrong",
                                  wick__quote(quoted, member->name));
    }
    *data = *owned = to;
    return WICK_OK;
}
