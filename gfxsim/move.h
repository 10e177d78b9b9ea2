/* What loads, stores and atomics share. Aligned accesses of 4 and 8 bytes are one access of the processor, as the
 * blocks of a launch run on several threads. */
#ifndef GFXSIM_MOVE_H
#define GFXSIM_MOVE_H

#include "access.h"

#include <string.h>

typedef u32 __attribute__((may_alias)) sim_any32;
typedef u64 __attribute__((may_alias)) sim_any64;

static inline u32 sim_load32(const u8 *at) {
    u32 value;
    if ((uintptr_t)at % 4 == 0) return __atomic_load_n((const sim_any32 *)at, __ATOMIC_RELAXED);
    memcpy(&value, at, 4);
    return value;
}
static inline u64 sim_load64(const u8 *at) {
    u64 value;
    if ((uintptr_t)at % 8 == 0) return __atomic_load_n((const sim_any64 *)at, __ATOMIC_RELAXED);
    memcpy(&value, at, 8);
    return value;
}
static inline void sim_store32(u8 *at, u32 value) {
    if ((uintptr_t)at % 4 == 0)
        __atomic_store_n((sim_any32 *)at, value, __ATOMIC_RELAXED);
    else
        memcpy(at, &value, 4);
}
static inline void sim_store64(u8 *at, u64 value) {
    if ((uintptr_t)at % 8 == 0)
        __atomic_store_n((sim_any64 *)at, value, __ATOMIC_RELAXED);
    else
        memcpy(at, &value, 8);
}

/* The check of the kind of memory that the lanes reach; undefined is written for scratch alone. */
void sim_check(struct sim_wave *wave, const struct sim_places *lanes, unsigned nbytes, int access,
               const struct sim_data *data, u64 undefined[4]);
/* Where each lane's bytes are, once they were checked. */
void sim_pointers(const struct sim_wave *wave, const struct sim_places *lanes, u8 *at[64]);

#endif
