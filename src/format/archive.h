/* An open archive as the format readers fill it. A reader adds entries and metadata; archive.c does the rest: finding,
 * describing, loading, closing. */
#ifndef WICK_FORMAT_ARCHIVE_H
#define WICK_FORMAT_ARCHIVE_H

#include "format/file.h"

#include "core/arena.h"
#include "core/error.h"

#include <wick/format.h>

/* A tensor of the archive. */
struct wick__entry {
    const char *name; /* the arena's */
    const char *type; /* the arena's, or static */
    int dtype;        /* enum wick_dtype, -1 when there is none for it */
    int rank;
    int64_t shape[WICK_MAX_RANK];
    int64_t stride[WICK_MAX_RANK]; /* in elements; used when `strided` */
    bool strided;
    int64_t member;  /* of the zip file, or the shard; -1: `offset` counts from the start of the file */
    uint64_t offset; /* of its first element, in bytes; checked by the reader to lie, with all other elements, inside */
    int64_t nbytes;  /* of its elements without gaps */
};

/* A key and its value, both the arena's: text, or what a GGUF file says, which `gguf` types describe. It was copied
 * before it was checked: a mapped file can change. */
struct wick__meta {
    const char *key;
    enum wick_metadata_type type;
    const char *type_name;
    int64_t length;
    const unsigned char *value; /* text of `length` bytes, or a GGUF value of `nbytes` */
    size_t nbytes;
    int gguf_type, gguf_item; /* GGUF value types of the value and of an array's items; -1: text */
    size_t *items; /* where each item of an array begins in the value, and its end, where they differ in size */
};

/* A member of a zip file. */
struct wick__member {
    const char *name;        /* the arena's */
    uint64_t offset;         /* of its bytes in the file */
    uint64_t packed, nbytes; /* bytes in the file, and when unpacked */
    uint32_t crc;
    bool deflated, encrypted;
};

struct wick__shard {
    const char *file;             /* its name in the folder; the arena's */
    struct wick_archive *archive; /* NULL until it is needed */
};

struct wick_archive {
    enum wick_format format;
    struct wick_archive_options options; /* with the limits' defaults filled in */
    int64_t charged;                     /* bytes of metadata so far */
    struct wick__file *file;
    struct wick__arena arena;
    int64_t n_entries, n_metas, n_members, n_shards;
    size_t entry_room, meta_room, member_room, shard_room; /* bytes */
    struct wick__entry *entries;
    struct wick__meta *metas;
    struct wick__member *members;
    struct wick__shard *shards;
    struct wick__entry **by_name; /* n_entries, sorted, once the archive is open */
    bool gguf_narrow;             /* GGUF version 1: lengths of 32 bits */
};

/* Opens what `file` holds; takes the reference over, also when it fails. NULL is fine. */
struct wick_archive *wick__archive_open_file(struct wick__file *file, const struct wick_archive_options *options);

/* Fails with "archive_open: FILE: tensor "NAME": text"; `tensor` may be NULL. */
__attribute__((format(printf, 4, 5))) enum wick_status wick__archive_fail(const struct wick_archive *archive,
                                                                          enum wick_status status, const char *tensor,
                                                                          const char *format, ...);

/* Counts bytes of metadata; fails where they are more than the limit. */
enum wick_status wick__archive_charge(struct wick_archive *archive, size_t nbytes);

/* Appends a cleared record; NULL without memory, or for a tensor beyond the limit. `name` and `key` are kept, not
 * copied.
 */
struct wick__entry *wick__archive_entry(struct wick_archive *archive, const char *name);
struct wick__meta *wick__archive_meta(struct wick_archive *archive, const char *key);
struct wick__member *wick__archive_member(struct wick_archive *archive);
struct wick__shard *wick__archive_shard(struct wick_archive *archive);
/* The same, with text copied to the arena. */
enum wick_status wick__archive_meta_text(struct wick_archive *archive, const char *key, const char *text,
                                         size_t nbytes);

/* Checks rank and sizes, and sets rank, shape and nbytes for elements of `bits` bits. */
enum wick_status wick__archive_shape(const struct wick_archive *archive, struct wick__entry *entry, int64_t rank,
                                     const int64_t *shape, int bits);

/* Sorts the entries by place in the file, and refuses overlaps. With `holes` false every byte from `begin` to `end`
 * must belong to a tensor. */
enum wick_status wick__archive_order(struct wick_archive *archive, uint64_t begin, uint64_t end, bool holes);

/* The readers. Each is given a file that begins as its format does. */
enum wick_status wick__safetensors_open(struct wick_archive *archive);
enum wick_status wick__gguf_open(struct wick_archive *archive);
enum wick_status wick__npy_open(struct wick_archive *archive);
enum wick_status wick__npz_open(struct wick_archive *archive); /* after wick__zip_open */
enum wick_status wick__pth_open(struct wick_archive *archive); /* after wick__zip_open */
enum wick_status wick__shards_open(struct wick_archive *archive);

/* Reads the list of members, and sorts it by name. */
enum wick_status wick__zip_open(struct wick_archive *archive);
/* The member PREFIX/data.pkl, which torch.save's files have; -1 when there is none. */
int64_t wick__pth_find(const struct wick_archive *archive);
/* The member of a name; -1 when there is none. */
int64_t wick__zip_find(const struct wick_archive *archive, const char *name);
/* The first `nbytes` bytes of a member: in place when it is stored, and otherwise in a new block of
 * nbytes that *owned is set to, to be given to wick__free. The whole member's checksum is checked when it is unpacked.
 */
enum wick_status wick__zip_read(const struct wick_archive *archive, int64_t member, size_t nbytes,
                                const unsigned char **data, void **owned);

/* The header of an npy file: what describes the array, and where its elements begin. */
enum wick_status wick__npy_header(const struct wick_archive *archive, struct wick__entry *entry,
                                  const unsigned char *data, size_t nbytes, size_t *header);
/* Bytes of the header that an array of this file claims, as far as its first 12 bytes tell; 0 when they are not npy's.
 */
size_t wick__npy_header_size(const unsigned char *data, size_t nbytes);

/* The shard that holds an entry, opened, and the entry's number in it. */
enum wick_status wick__shards_find(struct wick_archive *archive, const struct wick__entry *entry,
                                   struct wick_archive **shard, int64_t *i);

/* A GGUF value as text, in the manner of snprintf. */
int64_t wick__gguf_text(const struct wick_archive *archive, const struct wick__meta *meta, int64_t item, char *text,
                        size_t size);

/* ---- for the writers ---- */

/* The elements of x in row-major order on the host: in place, or in a new block of *nbytes that *owned is set to. */
enum wick_status wick__host_bytes(const struct wick_tensor *x, const void **data, size_t *nbytes, void **owned);

bool wick__is_utf8(const char *text);

/* Checks names and tensors: present, not empty, UTF-8, different. */
enum wick_status wick__names_check(const char *op, int64_t n, const char *const *names,
                                   const struct wick_tensor *const *tensors);

#endif
