/* The ds instructions that move values between lanes, for the table in lds.c. */
#ifndef GFXSIM_LDS_H
#define GFXSIM_LDS_H

#include "access.h"

sim_run sim_lds_append, sim_lds_consume, sim_lds_swizzle, sim_lds_permute, sim_lds_bpermute, sim_lds_bpermute_fi;
/* The LDS address in M0. */
u32 sim_lds_base(struct sim_wave *wave);

#endif
