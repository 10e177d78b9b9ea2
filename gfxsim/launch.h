/* What the files that run a launch share. */
#ifndef GFXSIM_LAUNCH_H
#define GFXSIM_LAUNCH_H

#include "gfxsim/gfxsim.h"

/* What a launch's waves find in memory, all of it read-only device memory. */
struct sim_start {
    u8 *kernarg;
    u8 *packet; /* of the dispatch, NULL when the kernel does not ask for it */
    u8 *queue;  /* the same */
};
/* False, with nothing kept, when device memory has run out. */
bool sim_start_new(struct sim_launch *launch, struct sim_start *start);
void sim_start_free(struct sim_start *start);
/* Registers and program counter of a wave whose block, id and rows are set. */
void sim_start_wave(const struct sim_launch *launch, const struct sim_start *start, struct sim_wave *wave);

/* record.c: copies what a launch finds in memory, its arguments among it; NULL when it is not to be recorded. `start`
 * must last until the end. */
struct sim_record;
struct sim_record *sim_record_new(const struct sim_launch *launch, const struct sim_start *start);
/* Writes the record when the launch has ended well and changed memory, and frees it. NULL is fine. */
void sim_record_end(struct sim_record *record, const struct sim_launch *launch, bool well);

#endif
