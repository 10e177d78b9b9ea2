/* Copies between two handles of one vendor's GPUs without going by the host.
 *
 * Two handles of one GPU copy within it. Two GPUs copy directly only after a pattern has come through unharmed, once a
 * pair and direction: on some machines peer copies succeed and deliver other bytes. WICK_PEER=off forbids them. */
#include "gpu/runtime/peer.h"

#include "gpu/runtime/pool.h"

#include "core/memory.h"
#include "core/setting.h"

#include <stdlib.h>
#include <string.h>

enum { GPUS = 64, VENDORS = 2, PATTERN = 1 << 20 };
enum verdict { UNTRIED, GOOD, BAD };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned char verdicts[VENDORS][GPUS][GPUS]; /* by vendor, source, target */

/* Makes `later` wait for what is queued on `earlier`. */
static enum wick_status follow(struct wick__gpu *later, struct wick__gpu *earlier) {
    const struct wick__vendor *vendor = earlier->vendor;
    void *event = NULL;
    WICK__TRY(wick__gpu_use(earlier));
    WICK__TRY(wick__gpu_check(earlier, vendor->event_create(&event, false), "make an event"));
    enum wick_status status = wick__gpu_check(earlier, vendor->event_record(event, earlier->stream), "record an event");
    if (status == WICK_OK) status = wick__gpu_use(later);
    if (status == WICK_OK)
        status = wick__gpu_check(later, vendor->stream_wait(later->stream, event), "wait for an event");
    if (wick__gpu_use(earlier) == WICK_OK) vendor->event_destroy(event); /* the driver keeps it until it has passed */
    return status;
}

/* Queues the copy on the target's stream, after the source's work so far and before its work to come. */
static enum wick_status queue(struct wick__gpu *target, void *to, struct wick__gpu *source, const void *from,
                              size_t n) {
    WICK__TRY(follow(target, source));
    WICK__TRY(wick__gpu_use(target));
    int code = target->ordinal == source->ordinal
                   ? target->vendor->copy(to, from, n, target->stream)
                   : target->vendor->copy_peer(to, target->ordinal, from, source->ordinal, n, target->stream);
    WICK__TRY(wick__gpu_check(target, code, "copy %zu bytes from %s", n, source->device->name));
    return follow(source, target);
}

static void fill(uint32_t *words, uint32_t seed) {
    for (uint32_t i = 0; i < PATTERN / sizeof *words; i++) words[i] = (i ^ seed) * 2654435761u;
}

/* Sends a pattern over and reads it back on the other side. */
static enum wick_status send_pattern(struct wick__gpu *target, struct wick__gpu *source, uint32_t *words, bool *same) {
    void *from = NULL, *to = NULL;
    uint32_t *back = words + PATTERN / sizeof *words;
    fill(words, (uint32_t)(source->ordinal * GPUS + target->ordinal));
    enum wick_status status = wick__gpu_pool_alloc(source, PATTERN, &from);
    if (status == WICK_OK) status = wick__gpu_pool_alloc(target, PATTERN, &to);
    if (status == WICK_OK) status = wick__gpu_upload(source, from, words, PATTERN);
    if (status == WICK_OK) status = queue(target, to, source, from, PATTERN);
    if (status == WICK_OK) status = wick__gpu_download(target, back, to, PATTERN);
    *same = status == WICK_OK && memcmp(words, back, PATTERN) == 0;
    if (from) wick__gpu_pool_free(source, from);
    if (to) wick__gpu_pool_free(target, to);
    return status;
}

static enum verdict try_pair(struct wick__gpu *target, struct wick__gpu *source) {
    static const char *const settings[] = {"off", "on", NULL};
    bool possible = false, same = false;
    if (wick__setting_word("WICK_PEER", settings, 1) == 0) return BAD;
    if (wick__gpu_use(target) != WICK_OK ||
        target->vendor->peer_access(target->ordinal, source->ordinal, &possible) != 0 || !possible)
        return BAD;
    uint32_t *words = wick__alloc(2 * PATTERN);
    if (!words) return BAD;
    struct wick__error error = {0};
    wick__error_swap(&error); /* a pair that does not work is not a failure: there is the host */
    enum wick_status status = send_pattern(target, source, words, &same);
    wick__error_swap(&error);
    wick__free(words, 2 * PATTERN);
    if (!same)
        wick__log(WICK_LOG_WARNING, "%s to %s: peer copies are not used: %s", source->device->name,
                  target->device->name, status == WICK_OK ? "a pattern arrived changed" : error.text);
    return same ? GOOD : BAD;
}

static bool trusted(struct wick__gpu *target, struct wick__gpu *source) {
    int vendor = target->vendor == &wick__rocm_vendor;
    if (target->ordinal == source->ordinal) return true;
    if (target->ordinal >= GPUS || source->ordinal >= GPUS) return false;
    pthread_mutex_lock(&mutex);
    unsigned char *verdict = &verdicts[vendor][source->ordinal][target->ordinal];
    if (*verdict == UNTRIED) *verdict = (unsigned char)try_pair(target, source);
    bool good = *verdict == GOOD;
    pthread_mutex_unlock(&mutex);
    return good;
}

enum wick_status wick__gpu_copy_between(struct wick_device *target, void *to, struct wick_device *source,
                                        const void *from, size_t nbytes, bool *done) {
    *done = trusted(target->state, source->state);
    return *done ? queue(target->state, to, source->state, from, nbytes) : WICK_OK;
}
