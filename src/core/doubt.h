/* Doubts: failures that a device finds later, and that belong to the data.
 *
 * A call that may fail on a device after it was queued is a suspect. Its results are in doubt, and so is all that is
 * computed from them. When one of these is read, the suspects it depends on have run: the device says which of them
 * failed (wick__late), and the read gives the failure. A suspect that did not fail is left out of later
 * doubts.
 *
 * A doubt is one suspect or a set of suspects. It is counted, and what it names never changes, so that storages share
 * it. Sets stay small: a device settles suspects before too many are open. */
#ifndef WICK_CORE_DOUBT_H
#define WICK_CORE_DOUBT_H

#include "core/error.h"
#include "core/layout.h"

#include <wick/dtype.h>
#include <wick/ops.h>

#include <stdatomic.h>

struct wick_device;
struct wick_tensor;
struct wick__storage;

struct wick__doubt {
    atomic_int refs;
    int n; /* of the set; 0: a suspect */
};

/* What a device may find, and what `where` and `value` of the report say then. */
enum wick__evidence {
    WICK__BAD_ID,    /* WICK_RANGE: the offset of the id in elements, from the first of the ids; the id */
    WICK__BAD_START, /* WICK_RANGE: 8 number + 2 rule + which of two lists of starts; the start */
    WICK__ZERO       /* WICK_DIVIDE */
};

/* What a list of starts must not break; `rule` is 0 .. 3, in the order in which they are looked at. */
static inline const char *wick__starts_rule(int rule) {
    static const char *const rules[] = {"the first must be 0", "they must not decrease", "there are fewer positions",
                                        "the last must be the number of positions"};
    return rules[rule];
}

enum wick__suspicion { WICK__OPEN, WICK__CLEAN, WICK__FAILED };

struct wick__suspect {
    struct wick__doubt doubt;
    struct wick_device *device; /* kept from going away */
    uint64_t number;            /* grows from suspect to suspect; orders sets */
    _Atomic int state;          /* enum wick__suspicion */
    bool once;                  /* of an op in place, whose target stayed as it was: told once */
    atomic_bool told;
    /* Where the device reports: the family's. NULL once the suspect is settled. */
    void *slot;
    int place;
    struct wick__suspect *next; /* in the family's list of those that are told once */
    bool recorded;              /* while a graph was recorded: each launch has suspects like it */
    /* What the text of the failure is made of. */
    enum wick__evidence finding;
    enum wick_op op;
    struct wick__exhibit {
        int number; /* of the operand */
        enum wick_dtype dtype;
        struct wick__layout layout;
    } operand[2];    /* the ids; the lists of starts; both operands of a division */
    int64_t size[2]; /* of the dim that ids count along; of the positions for each list of starts */
    int64_t where, value;
};

/* How a family finds failures late. */
struct wick__late {
    /* The call of a suspect has been queued. Can't fail. */
    void (*queued)(struct wick__suspect *suspect);
    /* Says what became of a suspect whose work the caller has waited for. */
    enum wick_status (*settle)(struct wick__suspect *suspect);
    /* Nobody asks about the suspect any more. Can't fail. */
    void (*acquit)(struct wick__suspect *suspect);
    /* Gives `suspect` what the next launch of a graph reports in place of one that was made while it was recorded. */
    enum wick_status (*again)(const struct wick__suspect *recorded, struct wick__suspect *suspect);
    /* Waits for the device, and returns the first failure of an op in place that was not told. */
    enum wick_status (*tell)(struct wick_device *device);
    /* The handle is closed: nobody will be told. Can't fail. */
    void (*forget)(struct wick_device *device);
};

/* A suspect of the device; the caller's reference. The finding and operands are to be filled in. NULL when out of
 * memory. */
struct wick__suspect *wick__suspect_new(struct wick_device *device, enum wick_op op, bool once);

/* A suspect of a launch of a graph, like the one that was recorded; the caller's reference. NULL after a failure. */
struct wick__suspect *wick__suspect_again(const struct wick__suspect *recorded);

/* Fills in operand i, which is operand `number` of the call, and what its numbers are measured by. */
void wick__suspect_operand(struct wick__suspect *suspect, int i, int number, const struct wick_tensor *x, int64_t size);

/* Fails with the suspect's text. */
enum wick_status wick__suspect_fail(const struct wick__suspect *suspect);

/* Whether it failed, and as one that is told once, has not been told: then it counts as told from now on. */
bool wick__suspect_tell(struct wick__suspect *suspect);

void wick__doubt_retain(struct wick__doubt *doubt);
/* NULL is fine. */
void wick__doubt_release(struct wick__doubt *doubt);

/* Adds what is in doubt about a storage to *doubt, of which the caller holds a reference; NULL is no doubt. */
enum wick_status wick__doubt_add(struct wick__doubt **doubt, struct wick__storage *storage);

/* The same for another doubt; NULL is none. */
enum wick_status wick__doubt_join(struct wick__doubt **doubt, struct wick__doubt *more);

/* Gives the storage this doubt instead of its own; takes over the reference. */
void wick__doubt_set(struct wick__storage *storage, struct wick__doubt *doubt);

/* WICK_OK when what the storage holds is right: else the failure of the first suspect that failed. The caller has
 * waited for the data. */
enum wick_status wick__doubt_settle(struct wick__storage *storage);

/* A storage and the place that names it (struct wick__storage) know each other: both ways are followed and cut with
 * this lock held. wick__name_end is for a storage that ends. */
void wick__names_lock(void);
void wick__names_unlock(void);
void wick__name_end(struct wick__storage *storage);

#endif
