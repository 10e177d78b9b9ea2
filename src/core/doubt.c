/* Doubts: counting them, uniting them, and the texts of what failed. */
#include "core/doubt.h"

#include "core/memory.h"
#include "core/op.h"
#include "core/tensor.h"

#include <pthread.h>
#include <string.h>

struct set {
    struct wick__doubt doubt;
    int room;
    struct wick__suspect *of[]; /* by number, the oldest first */
};

/* Guards the doubt of every storage that has or gets one. Held for a few instructions. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint64_t numbers;

/* ---- suspects ---- */

struct wick__suspect *wick__suspect_new(struct wick_device *device, enum wick_op op, bool once) {
    struct wick__suspect *suspect = wick__alloc(sizeof *suspect); /* the rest is filled in by the op */
    if (!suspect) return NULL;
    suspect->doubt.n = 0;
    atomic_init(&suspect->doubt.refs, 1);
    atomic_init(&suspect->state, WICK__OPEN);
    atomic_init(&suspect->told, false);
    suspect->number = atomic_fetch_add_explicit(&numbers, 1, memory_order_relaxed);
    suspect->device = device;
    suspect->op = op;
    suspect->once = once;
    suspect->operand[1].number = suspect->operand[1].layout.rank = 0;
    suspect->slot = NULL;
    suspect->recorded = false;
    atomic_fetch_add(&device->refs, 1);
    return suspect;
}

struct wick__suspect *wick__suspect_again(const struct wick__suspect *recorded) {
    struct wick__suspect *suspect = wick__suspect_new(recorded->device, recorded->op, recorded->once);
    if (!suspect) return NULL;
    suspect->finding = recorded->finding;
    memcpy(suspect->size, recorded->size, sizeof suspect->size);
    memcpy(suspect->operand, recorded->operand, sizeof suspect->operand);
    if (suspect->device->heap->late->again(recorded, suspect) == WICK_OK) return suspect;
    wick__doubt_release(&suspect->doubt);
    return NULL;
}

void wick__suspect_operand(struct wick__suspect *suspect, int i, int number, const struct wick_tensor *x,
                           int64_t size) {
    suspect->operand[i] = (struct wick__exhibit){number, x->dtype, x->layout};
    suspect->size[i] = size;
}

/* The first position, in row-major order, of the element at an offset from the first. Only where a failure is told. */
static int64_t position_of(const struct wick__layout *layout, int64_t offset) {
    int64_t count = wick__layout_count(layout), index[WICK_MAX_RANK] = {0}, at = 0;
    for (int64_t position = 0; position < count; position++) {
        if (at == offset) return position;
        for (int d = layout->rank - 1; d >= 0; d--) {
            at += layout->stride[d];
            if (++index[d] < layout->shape[d]) break;
            at -= layout->shape[d] * layout->stride[d];
            index[d] = 0;
        }
    }
    return -1;
}

enum wick_status wick__suspect_fail(const struct wick__suspect *suspect) {
    const char *op = wick_op_name(suspect->op), *device = suspect->device->name;
    const struct wick__exhibit *a = &suspect->operand[0], *b = &suspect->operand[1];
    const char *name[2] = {wick__operand_name(suspect->op, a->number), wick__operand_name(suspect->op, b->number)};
    char text[WICK__SHAPE_TEXT], other[WICK__SHAPE_TEXT];
    wick__shape_text(text, a->layout.rank, a->layout.shape);
    wick__shape_text(other, b->layout.rank, b->layout.shape);
    int which = (int)(suspect->where % 2);
    switch (suspect->finding) {
    case WICK__BAD_START:
        return wick__fail(WICK_RANGE, "%s: %s[%lld] is %lld: %s, %lld here", op, name[which],
                          (long long)(suspect->where / 8), (long long)suspect->value,
                          wick__starts_rule((int)(suspect->where / 2 % 4)), (long long)suspect->size[which]);
    case WICK__ZERO:
        return wick__fail(WICK_DIVIDE, "%s: %s %s %s, %s %s %s on %s: integer division by zero", op, name[0], text,
                          wick_dtype_name(a->dtype), name[1], other, wick_dtype_name(b->dtype), device);
    case WICK__BAD_ID: break;
    }
    return wick__fail(WICK_RANGE, "%s: id %lld at position %lld of ids %s %s on %s is out of range for size %lld", op,
                      (long long)suspect->value, (long long)position_of(&a->layout, suspect->where), text,
                      wick_dtype_name(a->dtype), device, (long long)suspect->size[0]);
}

static bool is_open(const struct wick__suspect *suspect) {
    return atomic_load_explicit(&suspect->state, memory_order_acquire) == WICK__OPEN;
}

/* Whether nothing will be told of it any more. */
static bool is_past(const struct wick__suspect *suspect) {
    int state = atomic_load_explicit(&suspect->state, memory_order_acquire);
    return state == WICK__CLEAN || (state == WICK__FAILED && suspect->once && atomic_load(&suspect->told));
}

bool wick__suspect_tell(struct wick__suspect *suspect) {
    if (atomic_load_explicit(&suspect->state, memory_order_acquire) != WICK__FAILED) return false;
    return !suspect->once || !atomic_exchange(&suspect->told, true);
}

/* ---- counting ---- */

void wick__doubt_retain(struct wick__doubt *doubt) { atomic_fetch_add_explicit(&doubt->refs, 1, memory_order_relaxed); }

void wick__doubt_release(struct wick__doubt *doubt) {
    if (!doubt || atomic_fetch_sub(&doubt->refs, 1) != 1) return;
    if (doubt->n > 0) {
        struct set *set = (struct set *)doubt;
        for (int i = 0; i < doubt->n; i++) wick__doubt_release(&set->of[i]->doubt);
        wick__free(set, sizeof *set + (size_t)set->room * sizeof *set->of);
        return;
    }
    struct wick__suspect *suspect = (struct wick__suspect *)doubt;
    if (!wick__device_forked(suspect->device)) suspect->device->heap->late->acquit(suspect);
    wick__device_unref(suspect->device);
    wick__free(suspect, sizeof *suspect);
}

/* ---- sets ---- */

/* The suspects of a doubt as a list; `self` has room for one. */
static int list_of(struct wick__doubt *doubt, struct wick__suspect **self, struct wick__suspect ***list) {
    if (doubt->n > 0) {
        *list = ((struct set *)doubt)->of;
        return doubt->n;
    }
    *self = (struct wick__suspect *)doubt;
    *list = self;
    return 1;
}

static bool same(int n, struct wick__suspect *const *a, int n_b, struct wick__suspect *const *b) {
    return n == n_b && memcmp(a, b, (size_t)n * sizeof *a) == 0;
}

/* Writes the union of two lists to `to`, without suspects that are past; returns its length. */
static int merge(struct wick__suspect **to, int n_a, struct wick__suspect *const *a, int n_b,
                 struct wick__suspect *const *b) {
    int n = 0;
    for (int i = 0, j = 0; i < n_a || j < n_b;) {
        struct wick__suspect *next;
        if (j == n_b || (i < n_a && a[i]->number <= b[j]->number)) {
            next = a[i++];
            if (j < n_b && b[j] == next) j++;
        } else {
            next = b[j++];
        }
        if (!is_past(next)) to[n++] = next;
    }
    return n;
}

/* The union of two doubts, as a reference of the caller's. NULL in *result is no doubt. */
static enum wick_status unite(struct wick__doubt *a, struct wick__doubt *b, struct wick__doubt **result) {
    struct wick__suspect *self_a, *self_b, **from_a, **from_b;
    int n_a = list_of(a, &self_a, &from_a), n_b = list_of(b, &self_b, &from_b), room = n_a + n_b;
    struct set *set = wick__alloc(sizeof *set + (size_t)room * sizeof *set->of);
    if (!set) return WICK_MEMORY;
    int n = merge(set->of, n_a, from_a, n_b, from_b);
    atomic_init(&set->doubt.refs, 1);
    set->doubt.n = n;
    set->room = room;
    *result = n == 0                          ? NULL
              : n == 1                        ? &set->of[0]->doubt
              : same(n, set->of, n_a, from_a) ? a
              : same(n, set->of, n_b, from_b) ? b
                                              : &set->doubt;
    if (*result == &set->doubt) {
        for (int i = 0; i < n; i++) wick__doubt_retain(&set->of[i]->doubt);
        return WICK_OK;
    }
    if (*result) wick__doubt_retain(*result);
    wick__free(set, sizeof *set + (size_t)room * sizeof *set->of);
    return WICK_OK;
}

/* Whether a doubt is one suspect that is past. */
static bool is_nothing(const struct wick__doubt *doubt) {
    return doubt->n == 0 && is_past((const struct wick__suspect *)doubt);
}

/* Adds `more`, whose reference it takes over. */
static enum wick_status add(struct wick__doubt **doubt, struct wick__doubt *more) {
    struct wick__doubt *all = *doubt;
    enum wick_status status = WICK_OK;
    if (more == all || is_nothing(more)) {
        wick__doubt_release(more);
    } else if (!all) {
        *doubt = more;
    } else {
        status = unite(all, more, doubt);
        wick__doubt_release(more);
        if (status == WICK_OK) wick__doubt_release(all);
    }
    return status;
}

/* ---- storages ---- */

/* The storage's doubt with a reference for the caller. */
static struct wick__doubt *doubt_of(struct wick__storage *storage) {
    if (!atomic_load_explicit(&storage->doubt, memory_order_acquire)) return NULL;
    pthread_mutex_lock(&mutex);
    struct wick__doubt *doubt = atomic_load_explicit(&storage->doubt, memory_order_relaxed);
    if (doubt) wick__doubt_retain(doubt);
    pthread_mutex_unlock(&mutex);
    return doubt;
}

enum wick_status wick__doubt_add(struct wick__doubt **doubt, struct wick__storage *storage) {
    struct wick__doubt *more = doubt_of(storage);
    return more ? add(doubt, more) : WICK_OK;
}

enum wick_status wick__doubt_join(struct wick__doubt **doubt, struct wick__doubt *more) {
    if (!more) return WICK_OK;
    wick__doubt_retain(more);
    return add(doubt, more);
}

void wick__doubt_set(struct wick__storage *storage, struct wick__doubt *doubt) {
    struct wick__doubt *none = NULL;
    if (!doubt && !atomic_load_explicit(&storage->doubt, memory_order_relaxed)) return;
    if (atomic_compare_exchange_strong(&storage->doubt, &none, doubt)) return; /* as for every fresh result */
    pthread_mutex_lock(&mutex);
    struct wick__doubt *old = atomic_exchange_explicit(&storage->doubt, doubt, memory_order_acq_rel);
    pthread_mutex_unlock(&mutex);
    wick__doubt_release(old);
}

/* Takes a doubt about nothing from the storage, unless it has another one by now. */
static void clear(struct wick__storage *storage, struct wick__doubt *doubt) {
    struct wick__doubt *same = doubt;
    pthread_mutex_lock(&mutex);
    bool cleared = atomic_compare_exchange_strong(&storage->doubt, &same, NULL);
    pthread_mutex_unlock(&mutex);
    if (cleared) wick__doubt_release(doubt);
}

enum wick_status wick__doubt_settle(struct wick__storage *storage) {
    struct wick__doubt *doubt = doubt_of(storage);
    struct wick__suspect *self, **list;
    enum wick_status status = WICK_OK;
    int past = 0, n = doubt ? list_of(doubt, &self, &list) : 0;
    for (int i = 0; i < n && status == WICK_OK; i++)
        if (is_open(list[i])) status = list[i]->device->heap->late->settle(list[i]);
    for (int i = 0; i < n && status == WICK_OK; i++)
        if (wick__suspect_tell(list[i])) status = wick__suspect_fail(list[i]);
    for (int i = 0; i < n; i++) past += is_past(list[i]);
    if (n > 0 && past == n) clear(storage, doubt);
    wick__doubt_release(doubt);
    return status;
}

/* ---- names ---- */

static pthread_mutex_t names = PTHREAD_MUTEX_INITIALIZER;

void wick__names_lock(void) { pthread_mutex_lock(&names); }
void wick__names_unlock(void) { pthread_mutex_unlock(&names); }

void wick__name_end(struct wick__storage *storage) {
    wick__names_lock();
    if (storage->named) *storage->named = NULL;
    wick__names_unlock();
}
