/* What memory.c, the checks of accesses and record.c share. */
#ifndef GFXSIM_MEMORY_H
#define GFXSIM_MEMORY_H

#include "gfxsim.h"

/* What the blocks of a launch did to four bytes of the range; global.h says how it is laid out. */
extern u64 *sim_races;

/* The live allocations by address: how many there are, of which the first `room` are written to `pieces`. */
struct sim_piece {
    u8 *base;
    size_t nbytes;
};
size_t sim_memory_live(struct sim_piece *pieces, size_t room);

#endif
