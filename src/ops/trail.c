/* The trail of doubts through a recorded graph. */
#include "ops/trail.h"

#include "core/memory.h"

#include <string.h>

/* The role of a storage in this graph; NULL: it is no result of it. */
static struct wick__role *role_of(const struct wick__trail *trail, const struct wick__storage *storage) {
    struct wick__role *role = (struct wick__role *)storage->named;
    return role && role->trail == trail ? role : NULL;
}

/* ---- recording ---- */

/* Room for one more element of a list. */
static enum wick_status grow(void **list, int n, int *room, size_t size) {
    int wanted = *room ? 2 * *room : 16;
    if (n < *room) return WICK_OK;
    void *longer = wick__alloc((size_t)wanted * size);
    if (!longer) return WICK_MEMORY;
    if (n) memcpy(longer, *list, (size_t)n * size);
    wick__free(*list, (size_t)*room * size);
    *list = longer;
    *room = wanted;
    return WICK_OK;
}

/* Adds a step; its number in *value. */
static enum wick_status step(struct wick__trail *trail, struct wick__step step, int *value) {
    void *steps = trail->steps;
    WICK__TRY(grow(&steps, trail->n, &trail->room, sizeof step));
    trail->steps = steps;
    trail->steps[trail->n] = step;
    *value = trail->n++;
    return WICK_OK;
}

/* *value and another one together. */
static enum wick_status join(struct wick__trail *trail, int *value, int other) {
    if (other < 0 || other == *value) return WICK_OK;
    if (*value >= 0) return step(trail, (struct wick__step){.a = *value, .b = other}, value);
    *value = other;
    return WICK_OK;
}

static struct wick__target *target_of(const struct wick__trail *trail, const struct wick__storage *storage) {
    for (int i = 0; i < trail->n_targets; i++)
        if (trail->targets[i].storage == storage) return &trail->targets[i];
    return NULL;
}

/* Joins the value of a buffer, as the graph has left it so far. */
static enum wick_status join_storage(struct wick__trail *trail, int *value, struct wick__storage *storage) {
    int from;
    const struct wick__role *role = role_of(trail, storage);
    if (role) return join(trail, value, role->value);
    const struct wick__target *target = target_of(trail, storage);
    if (target) return join(trail, value, target->value);
    WICK__TRY(step(trail, (struct wick__step){-1, -1, NULL, storage}, &from));
    atomic_fetch_add(&storage->refs, 1);
    return join(trail, value, from);
}

static enum wick_status set_value(struct wick__trail *trail, struct wick__storage *storage, int value, bool inplace) {
    struct wick__target *target = target_of(trail, storage);
    struct wick__role *role = role_of(trail, storage);
    if (role) {
        role->value = value;
    } else if (target) {
        target->value = value;
    } else if (inplace) {
        void *targets = trail->targets;
        WICK__TRY(grow(&targets, trail->n_targets, &trail->targets_room, sizeof *trail->targets));
        trail->targets = targets;
        trail->targets[trail->n_targets++] = (struct wick__target){storage, value};
        atomic_fetch_add(&storage->refs, 1);
    } else {
        role = wick__alloc(sizeof *role);
        if (!role) return WICK_MEMORY;
        *role = (struct wick__role){storage, trail, trail->roles, value};
        trail->roles = role;
        storage->named = &role->storage;
    }
    return WICK_OK;
}

enum wick_status wick__trail_add(struct wick__trail *trail, const struct wick__call *call, bool keeps) {
    int value = -1, own;
    for (int i = 0; i < call->n_in; i++)
        if (call->in[i]) WICK__TRY(join_storage(trail, &value, call->in[i]->storage));
    for (int i = 1; i < call->n_list; i++) WICK__TRY(join_storage(trail, &value, call->list[i]->storage));
    if (call->inplace && keeps) WICK__TRY(join_storage(trail, &value, call->out[0]->storage));
    if (*call->suspect) {
        WICK__TRY(step(trail, (struct wick__step){-1, -1, *call->suspect, NULL}, &own));
        wick__doubt_retain(&(*call->suspect)->doubt);
        WICK__TRY(join(trail, &value, own));
    }
    for (int i = 0; i < call->n_out; i++) WICK__TRY(set_value(trail, call->out[i]->storage, value, call->inplace));
    for (int i = call->n_list - call->n_targets; i < call->n_list; i++)
        WICK__TRY(set_value(trail, call->list[i]->storage, value, true));
    return WICK_OK;
}

void wick__trail_end(struct wick__trail *trail) {
    wick__names_lock();
    for (struct wick__role **at = &trail->roles; *at;) {
        struct wick__role *role = *at;
        if (role->storage) {
            at = &role->next;
            continue;
        }
        *at = role->next;
        wick__free(role, sizeof *role);
    }
    wick__names_unlock();
}

/* ---- launching ---- */

static enum wick_status evaluate(const struct wick__trail *trail, int i) {
    const struct wick__step *step = &trail->steps[i];
    struct wick__doubt **value = &trail->values[i];
    *value = NULL;
    if (step->from) return wick__doubt_add(value, step->from);
    if (step->suspect) {
        struct wick__suspect *suspect = wick__suspect_again(step->suspect);
        if (suspect) *value = &suspect->doubt;
        return suspect ? WICK_OK : wick__latest();
    }
    WICK__TRY(wick__doubt_join(value, trail->values[step->a]));
    return wick__doubt_join(value, trail->values[step->b]);
}

static void forget(struct wick__trail *trail) {
    for (int i = 0; i < trail->n; i++) wick__doubt_release(trail->values[i]);
    wick__free(trail->values, (size_t)trail->n * sizeof *trail->values);
    trail->values = NULL;
}

static void set_doubt(const struct wick__trail *trail, struct wick__storage *storage, int value) {
    struct wick__doubt *doubt = value < 0 ? NULL : trail->values[value];
    if (doubt) wick__doubt_retain(doubt);
    wick__doubt_set(storage, doubt);
}

enum wick_status wick__trail_begin(struct wick__trail *trail) {
    enum wick_status status = WICK_OK;
    if (trail->n == 0) return WICK_OK;
    trail->values = wick__calloc((size_t)trail->n, sizeof *trail->values);
    if (!trail->values) return WICK_MEMORY;
    for (int i = 0; i < trail->n && status == WICK_OK; i++) status = evaluate(trail, i);
    if (status != WICK_OK) forget(trail);
    return status;
}

void wick__trail_leave(struct wick__trail *trail, bool launched) {
    if (!trail->values) return;
    if (launched) {
        wick__names_lock();
        for (const struct wick__role *role = trail->roles; role; role = role->next)
            if (role->storage) set_doubt(trail, role->storage, role->value);
        wick__names_unlock();
        for (int i = 0; i < trail->n_targets; i++) set_doubt(trail, trail->targets[i].storage, trail->targets[i].value);
    }
    for (int i = 0; i < trail->n; i++)
        if (trail->steps[i].suspect && trail->values[i]) {
            struct wick__suspect *suspect = (struct wick__suspect *)trail->values[i];
            suspect->device->heap->late->queued(suspect);
        }
    forget(trail);
}

void wick__trail_free(struct wick__trail *trail) {
    wick__names_lock();
    for (struct wick__role *role = trail->roles, *next; role; role = next) {
        next = role->next;
        if (role->storage) role->storage->named = NULL;
        wick__free(role, sizeof *role);
    }
    wick__names_unlock();
    for (int i = 0; i < trail->n_targets; i++) wick__storage_unref(trail->targets[i].storage);
    for (int i = 0; i < trail->n; i++) {
        if (trail->steps[i].suspect) wick__doubt_release(&trail->steps[i].suspect->doubt);
        if (trail->steps[i].from) wick__storage_unref(trail->steps[i].from);
    }
    wick__free(trail->targets, (size_t)trail->targets_room * sizeof *trail->targets);
    wick__free(trail->steps, (size_t)trail->room * sizeof *trail->steps);
    *trail = (struct wick__trail){0};
}
