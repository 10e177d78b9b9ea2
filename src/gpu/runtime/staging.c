/* Uploads and downloads, through pinned memory: the driver copies only from pages that can't move, and what it does
 * with others ranges from slow to a hang (a mapped file on ROCm).
 *
 * Two pieces of pinned memory take turns. An upload fills one while the device reads the other; small ones share a
 * piece until it is full, so that they never wait. */
#include "gpu/runtime/gpu.h"

#include "core/checked.h"
#include "core/memory.h"
#include "cpu/runtime/parallel.h"

#include <string.h>

enum { PIECES = 4 };
static const size_t PIECE = (size_t)8 << 20, GRAIN = (size_t)256 << 10;

struct wick__gpu_staging {
    pthread_mutex_t mutex;
    struct piece {
        char *memory;
        void *event;
        size_t filled;
        bool busy; /* the event was recorded and not waited for */
    } pieces[PIECES];
    int current;
};

enum wick_status wick__gpu_staging_open(struct wick__gpu *gpu) {
    gpu->staging = wick__calloc(1, sizeof *gpu->staging);
    if (!gpu->staging) return WICK_MEMORY;
    pthread_mutex_init(&gpu->staging->mutex, NULL);
    return WICK_OK; /* pieces are made when they are first needed */
}

void wick__gpu_staging_close(struct wick__gpu *gpu) {
    struct wick__gpu_staging *staging = gpu->staging;
    if (!staging) return;
    for (int i = 0; i < PIECES; i++) {
        if (staging->pieces[i].event) gpu->vendor->event_destroy(staging->pieces[i].event);
        if (staging->pieces[i].memory) gpu->vendor->host_free(staging->pieces[i].memory);
    }
    pthread_mutex_destroy(&staging->mutex);
    wick__free(staging, sizeof *staging);
    gpu->staging = NULL;
}

/* Makes a piece ready to be filled from its start. */
static enum wick_status piece_take(struct wick__gpu *gpu, struct piece *piece) {
    if (!piece->event)
        WICK__TRY(wick__gpu_check(gpu, gpu->vendor->event_create(&piece->event, false), "make an event"));
    if (!piece->memory) {
        void *memory;
        WICK__TRY(wick__gpu_check(gpu, gpu->vendor->host_malloc(&memory, PIECE), "allocate pinned memory"));
        piece->memory = memory;
    }
    if (piece->busy) WICK__TRY(wick__gpu_check(gpu, gpu->vendor->event_synchronize(piece->event), "upload"));
    piece->busy = false;
    piece->filled = 0;
    return WICK_OK;
}

static enum wick_status piece_record(struct wick__gpu *gpu, struct piece *piece) {
    WICK__TRY(wick__gpu_check(gpu, gpu->vendor->event_record(piece->event, gpu->stream), "record an event"));
    piece->busy = true;
    return WICK_OK;
}

struct move {
    char *to;
    const char *from;
    size_t nbytes;
};

static void move_part(void *context, int worker, int64_t begin, int64_t end) {
    const struct move *move = context;
    (void)worker;
    size_t first = (size_t)begin * GRAIN,
           last = (size_t)end * GRAIN < move->nbytes ? (size_t)end * GRAIN : move->nbytes;
    memcpy(move->to + first, move->from + first, last - first);
}

/* memcpy on all threads: one can't keep up with the bus. */
static void move(void *to, const void *from, size_t nbytes) {
    struct move all = {to, from, nbytes};
    if (nbytes < 2 * GRAIN)
        memcpy(to, from, nbytes);
    else
        wick__parallel((int64_t)((nbytes + GRAIN - 1) / GRAIN), 1, move_part, &all);
}

static enum wick_status upload_locked(struct wick__gpu *gpu, char *to, const char *from, size_t nbytes) {
    struct wick__gpu_staging *staging = gpu->staging;
    while (nbytes > 0) {
        struct piece *piece = &staging->pieces[staging->current];
        if (!piece->memory || piece->busy) WICK__TRY(piece_take(gpu, piece));
        size_t n = nbytes < PIECE - piece->filled ? nbytes : PIECE - piece->filled;
        if (n < nbytes && piece->filled > 0 && n < GRAIN) n = 0; /* a new piece rather than a crumb */
        if (n > 0) {
            move(piece->memory + piece->filled, from, n);
            WICK__TRY(wick__gpu_check(gpu, gpu->vendor->copy_in(to, piece->memory + piece->filled, n, gpu->stream),
                                      "upload %zu bytes", n));
            piece->filled += (n + 63) & ~(size_t)63;
            to += n;
            from += n;
            nbytes -= n;
        }
        if (nbytes > 0 || piece->filled >= PIECE) {
            WICK__TRY(piece_record(gpu, piece));
            staging->current = (staging->current + 1) % PIECES;
        }
    }
    return WICK_OK;
}

enum wick_status wick__gpu_upload(struct wick__gpu *gpu, void *to, const void *from, size_t nbytes) {
    WICK__TRY(wick__gpu_use(gpu));
    pthread_mutex_lock(&gpu->staging->mutex);
    enum wick_status status = upload_locked(gpu, to, from, nbytes);
    pthread_mutex_unlock(&gpu->staging->mutex);
    return status;
}

/* Copies piece after piece to pinned memory, each while the one before is copied on to its place. */
static enum wick_status download_locked(struct wick__gpu *gpu, char *to, const char *from, size_t nbytes) {
    struct wick__gpu_staging *staging = gpu->staging;
    struct piece *last = NULL;
    size_t last_size = 0;
    /* Uploads that share the current piece are in flight: leave it to them. */
    if (staging->pieces[staging->current].filled > 0 && !staging->pieces[staging->current].busy)
        WICK__TRY(piece_record(gpu, &staging->pieces[staging->current]));
    while (nbytes > 0 || last) {
        struct piece *piece = NULL;
        size_t n = nbytes < PIECE ? nbytes : PIECE;
        if (n > 0) {
            staging->current = (staging->current + 1) % PIECES;
            piece = &staging->pieces[staging->current];
            WICK__TRY(piece_take(gpu, piece));
            WICK__TRY(wick__gpu_check(gpu, gpu->vendor->copy_out(piece->memory, from, n, gpu->stream),
                                      "download %zu bytes", n));
            WICK__TRY(piece_record(gpu, piece));
            from += n;
            nbytes -= n;
        }
        if (last) {
            WICK__TRY(wick__gpu_check(gpu, gpu->vendor->event_synchronize(last->event), "download"));
            last->busy = false;
            move(to, last->memory, last_size);
            last->filled = 0;
            to += last_size;
        }
        last = piece;
        last_size = n;
    }
    return WICK_OK;
}

enum wick_status wick__gpu_download(struct wick__gpu *gpu, void *to, const void *from, size_t nbytes) {
    WICK__TRY(wick__gpu_use(gpu));
    pthread_mutex_lock(&gpu->staging->mutex);
    enum wick_status status = download_locked(gpu, to, from, nbytes);
    pthread_mutex_unlock(&gpu->staging->mutex);
    return status;
}
