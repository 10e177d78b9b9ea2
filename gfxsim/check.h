/* What the checks of accesses share. */
#ifndef GFXSIM_CHECK_H
#define GFXSIM_CHECK_H

#include "access.h"

/* "a read of 4 bytes" and its like. Returns text. */
const char *sim_say_access(char text[40], int access, unsigned nbytes);
/* Races between the blocks of a launch; the lanes' addresses lie in the range. */
void sim_check_races(struct sim_wave *wave, const struct sim_places *lanes, unsigned nbytes, int access,
                     const struct sim_data *data);
/* Byte i of what a lane stores. */
static inline u8 sim_data_byte(const struct sim_data *data, unsigned lane, unsigned i) {
    return (u8)(data->row[i / 4][lane] >> (data->shift + 8 * (i % 4)));
}
/* Whether a compare-and-swap follows within the next instructions: the plain load in front of such a loop reads what
 * others change by theirs, and a wrong guess does no harm. Compilers make these loops of atomics that a target lacks.
 */
bool sim_exchange_follows(struct sim_wave *wave);

#endif
