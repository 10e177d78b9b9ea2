/* What memory.c and the checks of accesses share. */
#ifndef GFXSIM_MEMORY_H
#define GFXSIM_MEMORY_H

#include "gfxsim.h"

/* What the blocks of a launch did to four bytes of the range; global.h says how it is laid out. */
extern u64 *sim_races;

#endif
