/* How many waves of a kernel fit on a card at a time: by registers and LDS, as LLVM's tables of the targets have them.
 */
#include "gfxsim/occupancy.h"

/* A unit is a compute unit on gfx9 and a work-group processor (two of them) from gfx10 on; both have four SIMDs. */
struct part {
    unsigned targets;
    unsigned vgprs, vgpr_granule, waves; /* of a SIMD */
    unsigned lds, lds_granule;           /* bytes, of a unit */
    unsigned blocks;                     /* with a barrier, of a unit */
};
static const struct part parts[] = {{SIM_GFX9, 512, 8, 8, 65536, 512, 16},
                                    {SIM_GFX1030, 1024, 16, 16, 131072, 512, 32},
                                    {SIM_GFX11_12, 1536, 24, 16, 131072, 1024, 32}};
enum { SIMDS = 4 };

static unsigned round_up(unsigned n, unsigned granule) { return (n + granule - 1) / granule * granule; }
static unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }

/* Only gfx9 has so few scalar registers that they matter: 800 a SIMD, in lots of 16 with the six of VCC and others. */
static unsigned waves_by_sgprs(const struct sim_kernel *kernel, unsigned most) {
    if (!(kernel->code->target & SIM_GFX9)) return most;
    return least(most, 800 / round_up(kernel->n_sgprs + 6, 16));
}

struct sim_occupancy sim_occupancy(const struct sim_kernel *kernel, unsigned threads, size_t shared) {
    const struct part *part = parts;
    while (!(part->targets & (unsigned)kernel->code->target)) part++;
    unsigned vgprs = round_up(kernel->n_vgprs ? kernel->n_vgprs : 1, part->vgpr_granule);
    unsigned by_vgprs = least(part->waves, part->vgprs / vgprs), by_registers = waves_by_sgprs(kernel, by_vgprs);
    unsigned block_waves = (threads + kernel->wave - 1) / kernel->wave;
    unsigned blocks = by_registers * SIMDS / block_waves;
    size_t lds = kernel->lds + shared;
    struct sim_occupancy out = {.limit = by_registers < by_vgprs  ? "SGPRs"
                                         : by_vgprs < part->waves ? "VGPRs"
                                                                  : "waves"};
    if (block_waves > 1 && blocks > part->blocks) blocks = part->blocks;
    if (lds > 0 && part->lds / round_up((unsigned)lds, part->lds_granule) < blocks) {
        blocks = part->lds / round_up((unsigned)lds, part->lds_granule);
        out.limit = "LDS";
    }
    out.blocks = blocks;
    out.waves = least(by_registers, (blocks * block_waves + SIMDS - 1) / SIMDS);
    out.most = part->waves;
    return out;
}
