/* The index of a file that wick search has seen, in the cache folder. */
#define _XOPEN_SOURCE 700 /* realpath */

#include "cli/search_index.h"

#include "cli/finite.h"
#include "cli/index_folder.h"
#include "cli/output.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file that is cut short meanwhile does not end the process, as it would if it were mapped. */
static const struct wick_archive_options copied = {.copy = true};

/* FNV-1a, eight bytes at a time where they are there. */
static uint64_t hash_more(uint64_t hash, const void *data, size_t nbytes) {
    const unsigned char *bytes = data;
    size_t i = 0;
    for (; i + 8 <= nbytes; i += 8) {
        uint64_t word;
        memcpy(&word, bytes + i, 8);
        hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 29;
    }
    for (; i < nbytes; i++) hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash ^ hash >> 32;
}

static const uint64_t HASH_START = UINT64_C(0xcbf29ce484222325);

/* Files of a folder in any order: their hashes are added up. */
static uint64_t folder_identity(const char *folder, int depth) {
    uint64_t sum = 0;
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        char path[4096 + 256];
        struct stat about;
        if (entry->d_name[0] == '.') continue;
        if (snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= (int)sizeof path) continue;
        if (stat(path, &about) != 0) continue;
        if (S_ISDIR(about.st_mode)) {
            if (depth > 0) sum += folder_identity(path, depth - 1);
            continue;
        }
        int64_t facts[] = {about.st_size, about.st_mtim.tv_sec, about.st_mtim.tv_nsec};
        sum += hash_more(hash_more(HASH_START, entry->d_name, strlen(entry->d_name)), facts, sizeof facts);
    }
    if (entries) closedir(entries);
    return sum;
}

uint64_t index_model_identity(const char *folder) {
    char *path = realpath(folder, NULL);
    uint64_t hash = hash_more(HASH_START, path ? path : folder, strlen(path ? path : folder));
    free(path);
    return hash + folder_identity(folder, 1);
}

bool index_key_make(const char *path, const struct text *text, uint64_t model, int64_t max_words,
                    struct index_key *key) {
    char name[64], *full = strcmp(path, "-") == 0 ? NULL : realpath(path, NULL);
    if (!full) return false;
    uint64_t place = hash_more(hash_more(HASH_START, full, strlen(full)), &model, sizeof model);
    free(full);
    snprintf(name, sizeof name, "index/%016llx.safetensors", (unsigned long long)place);
    snprintf(key->content, sizeof key->content, "%016llx",
             (unsigned long long)hash_more(HASH_START, text->data, text->nbytes));
    snprintf(key->model, sizeof key->model, "%016llx", (unsigned long long)model);
    snprintf(key->settings, sizeof key->settings, "1 %lld", (long long)max_words); /* 1: how passages are cut */
    return text_cache_path(name, key->file, sizeof key->file);
}

static void checksum_text(char text[17], const int64_t *places, const float *vectors, int64_t n, int64_t dim) {
    uint64_t hash = hash_more(HASH_START, places, (size_t)n * 3 * sizeof *places);
    hash = hash_more(hash, vectors, (size_t)(n * dim) * sizeof *vectors);
    snprintf(text, 17, "%016llx", (unsigned long long)hash);
}

/* ---- reading ---- */

static bool has_metadata(struct wick_archive *archive, const char *key, const char *want) {
    char value[64];
    int64_t i = wick_archive_metadata_find(archive, key);
    int64_t length = i < 0 ? -1 : wick_archive_metadata_text(archive, i, -1, value, sizeof value);
    return length >= 0 && length < (int64_t)sizeof value && strcmp(value, want) == 0;
}

/* Copies the elements of a tensor [n, columns]; *n < 0 stands for any. NULL when it is another. */
static void *read_table(struct wick_archive *archive, struct wick_device *device, const char *name,
                        enum wick_dtype dtype, int64_t columns, int64_t *n) {
    struct wick_tensor *x = wick_archive_load(archive, name, device);
    void *data = NULL;
    if (x && wick_tensor_dtype(x) == dtype && wick_tensor_rank(x) == 2 && wick_tensor_dim(x, 1) == columns &&
        (*n < 0 || wick_tensor_dim(x, 0) == *n)) {
        *n = wick_tensor_dim(x, 0);
        size_t nbytes = (size_t)wick_tensor_count(x) * (size_t)wick_dtype_block_bytes(dtype);
        data = malloc(nbytes ? nbytes : 1);
        if (data && wick_read(x, data, nbytes) != WICK_OK) {
            free(data);
            data = NULL;
        }
    }
    wick_release(x);
    return data;
}

static bool fill_passages(const int64_t *places, int64_t n, size_t nbytes, struct passages *passages) {
    passages->items = calloc((size_t)n + 1, sizeof *passages->items);
    if (!passages->items) return false;
    passages->n = passages->capacity = n;
    for (int64_t i = 0; i < n; i++) {
        int64_t start = places[3 * i], length = places[3 * i + 1];
        if (start < 0 || length < 0 || (size_t)start > nbytes || (size_t)length > nbytes - (size_t)start) return false;
        passages->items[i] = (struct passage){(size_t)start, (size_t)length, places[3 * i + 2]};
    }
    return true;
}

static bool read_index(struct wick_archive *archive, int64_t dim, size_t nbytes, struct passages *passages,
                       float **vectors) {
    struct wick_device *device = wick_device_open("cpu");
    char checksum[17];
    int64_t n = -1;
    int64_t *places = device ? read_table(archive, device, "passages", WICK_I64, 3, &n) : NULL;
    *vectors = places ? read_table(archive, device, "vectors", WICK_F32, dim, &n) : NULL;
    bool good = *vectors != NULL;
    if (good) checksum_text(checksum, places, *vectors, n, dim);
    good = good && has_metadata(archive, "checksum", checksum) && fill_passages(places, n, nbytes, passages);
    if (!good) {
        free(passages->items);
        free(*vectors);
        *passages = (struct passages){0};
        *vectors = NULL;
    }
    free(places);
    wick_device_close(device);
    return good;
}

bool index_load(const struct index_key *key, int64_t dim, size_t nbytes, struct passages *passages, float **vectors) {
    if (access(key->file, F_OK) != 0) return false;
    const char *distrust = index_distrust(key->file);
    if (distrust) {
        output_note("search", "%s: %s; not used", key->file, distrust);
        return false;
    }
    struct wick_archive *archive = wick_archive_open(key->file, &copied);
    bool fits = archive && has_metadata(archive, "content", key->content) &&
                has_metadata(archive, "model", key->model) && has_metadata(archive, "settings", key->settings);
    bool stated = archive && wick_archive_metadata_find(archive, "checksum") >= 0;
    bool good = fits && read_index(archive, dim, nbytes, passages, vectors);
    wick_archive_close(archive);
    wick_error_clear();
    if (!good && (fits || !stated)) output_note("search", "%s: damaged, made anew", key->file);
    if (good) index_touch(key->file);
    return good;
}

/* ---- writing ---- */

/* Makes the folders that lead to a file. */
static bool make_folders(const char *file) {
    char path[4096];
    snprintf(path, sizeof path, "%s", file);
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0700) != 0 && errno != EEXIST) return false;
        *slash = '/';
    }
    return true;
}

static bool write_index(const struct index_key *key, int64_t dim, const struct passages *passages,
                        const float *vectors) {
    static const char *const names[] = {"passages", "vectors"};
    const int64_t n = passages->n;
    char checksum[17];
    int64_t *places = calloc((size_t)n + 1, 3 * sizeof *places);
    struct wick_device *device = wick_device_open("cpu");
    bool good = places && device;
    for (int64_t i = 0; i < n && good; i++) {
        places[3 * i] = (int64_t)passages->items[i].start;
        places[3 * i + 1] = (int64_t)passages->items[i].nbytes;
        places[3 * i + 2] = passages->items[i].line;
    }
    if (good) {
        checksum_text(checksum, places, vectors, n, dim);
        const char *metadata[] = {"content",     key->content, "model",  key->model, "settings",
                                  key->settings, "checksum",   checksum, NULL};
        struct wick_tensor *tensors[] = {
            wick_from_data(device, WICK_I64, WICK_SHAPE(n, 3), places, (size_t)n * 3 * sizeof *places),
            wick_from_data(device, WICK_F32, WICK_SHAPE(n, dim), vectors, (size_t)(n * dim) * sizeof *vectors)};
        good =
            tensors[0] && tensors[1] &&
            wick_safetensors_save(key->file, 2, names, (const struct wick_tensor *const *)tensors, metadata) == WICK_OK;
        wick_release(tensors[0]);
        wick_release(tensors[1]);
    }
    free(places);
    wick_device_close(device);
    return good;
}

void index_save(const struct index_key *key, int64_t dim, const struct passages *passages, const float *vectors) {
    static bool reported;
    bool there = make_folders(key->file);
    const char *distrust = there ? index_distrust(key->file) : NULL;
    if (there && !distrust && write_index(key, dim, passages, vectors)) return;
    if (!reported)
        output_note("search", "the index is not kept: %s: %s", key->file,
                    distrust        ? distrust
                    : *wick_error() ? wick_error()
                                    : strerror(errno));
    reported = true;
    wick_error_clear();
}
