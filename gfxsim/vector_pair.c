/* v_dual_*: both halves read their sources before either writes. What the first has written is put aside while the
 * second runs; they write different registers. */
#include "gfxsim/gfxsim.h"

#include <string.h>

void sim_run_pair(struct sim_wave *wave, const struct sim_inst *inst) {
    u32 before[64], after[64];
    u64 *defined;
    u32 *row = sim_row_out(wave, &inst->dst[0], 0, &defined);
    if (!row) sim_fail(wave, -1, 719, "a vector instruction's result is not a vector register");
    const u64 defined_before = *defined;
    memcpy(before, row, sizeof before);
    inst->op->run(wave, inst);
    const u64 defined_after = *defined;
    memcpy(after, row, sizeof after);
    memcpy(row, before, sizeof before);
    *defined = defined_before;
    inst->pair->run(wave, inst->pair);
    memcpy(row, after, sizeof after);
    *defined = defined_after;
}
