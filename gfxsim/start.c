/* What a kernel starts with: arguments, descriptors and registers, as LLVM's "User Guide for AMDGPU Backend" says in
 * "Kernel Descriptor", "Initial Kernel Execution State" and "Kernarg Segment". */
#include "gfxsim/launch.h"

#include <string.h>

enum { /* kernel code properties of a descriptor */
       PRIVATE_SEGMENT_BUFFER = 1 << 0,
       DISPATCH_PTR = 1 << 1,
       QUEUE_PTR = 1 << 2,
       KERNARG_PTR = 1 << 3,
       DISPATCH_ID = 1 << 4,
       FLAT_SCRATCH_INIT = 1 << 5,
       PRIVATE_SEGMENT_SIZE = 1 << 6
};
enum { /* COMPUTE_PGM_RSRC2 */
       ENABLE_PRIVATE_SEGMENT = 1 << 0,
       USER_SGPR_SHIFT = 1,
       WORKGROUP_ID_X = 1 << 7,
       WORKGROUP_INFO = 1 << 10,
       WORKITEM_ID_SHIFT = 11
};
/* The descriptor by which gfx90a and gfx1030 reach scratch with buffer instructions: from address 0, swizzled, the
 * lane's number added. */
static const u32 scratch_descriptor[4] = {0, 0x80000000u, 0xffffffffu, 0x00e00000u};

static void put16(u8 *at, u32 value) { memcpy(at, &(u16){(u16)value}, 2); }
static void put32(u8 *at, u32 value) { memcpy(at, &value, 4); }
static void put64(u8 *at, u64 value) { memcpy(at, &value, 8); }

/* The number of blocks counts whole ones only: a block of that number or above has the size of the remainder. */
static u64 hidden_value(const struct sim_launch *launch, unsigned kind) {
    unsigned i;
    switch (kind) {
    case SIM_BLOCK_COUNT_X:
    case SIM_BLOCK_COUNT_Y:
    case SIM_BLOCK_COUNT_Z: i = kind - SIM_BLOCK_COUNT_X; return launch->grid[i] - (launch->rest[i] ? 1 : 0);
    case SIM_GROUP_SIZE_X:
    case SIM_GROUP_SIZE_Y:
    case SIM_GROUP_SIZE_Z: return launch->block[kind - SIM_GROUP_SIZE_X];
    case SIM_REMAINDER_X:
    case SIM_REMAINDER_Y:
    case SIM_REMAINDER_Z: return launch->rest[kind - SIM_REMAINDER_X];
    case SIM_GRID_DIMS: return 3;
    case SIM_HIDDEN_PRIVATE_BASE: return SIM_PRIVATE_APERTURE >> 32;
    case SIM_HIDDEN_SHARED_BASE: return SIM_SHARED_APERTURE >> 32;
    case SIM_DYNAMIC_LDS: return launch->shared;
    default: return 0;
    }
}

static void fill_kernarg(const struct sim_launch *launch, u8 *kernarg, size_t room) {
    const struct sim_kernel *kernel = launch->kernel;
    size_t given = launch->nbytes;
    if (kernel->n_hidden && given > kernel->explicit_args) given = kernel->explicit_args;
    if (given > room) given = room;
    if (given) memcpy(kernarg, launch->args, given);
    for (unsigned i = 0; i < kernel->n_hidden; i++) {
        const struct sim_hidden *hidden = &kernel->hidden[i];
        u64 value = hidden_value(launch, hidden->kind);
        if ((size_t)hidden->offset + hidden->size <= room && hidden->size <= sizeof value)
            memcpy(kernarg + hidden->offset, &value, hidden->size);
    }
}

/* hsa_kernel_dispatch_packet_t */
static void fill_packet(const struct sim_launch *launch, const struct sim_start *start, u8 *packet) {
    const struct sim_kernel *kernel = launch->kernel;
    put16(packet, 2); /* a kernel's */
    put16(packet + 2, 3);
    for (unsigned i = 0; i < 3; i++) {
        put16(packet + 4 + 2 * i, launch->block[i]);
        u32 missing = launch->rest[i] ? launch->block[i] - launch->rest[i] : 0;
        put32(packet + 12 + 4 * i, launch->grid[i] * launch->block[i] - missing);
    }
    put32(packet + 24, kernel->scratch);
    put32(packet + 28, kernel->lds + launch->shared);
    put64(packet + 40, (u64)(uintptr_t)start->kernarg);
}

/* The apertures in amd_queue_t. */
static void fill_queue(u8 *queue) {
    put32(queue + 64, (u32)(SIM_SHARED_APERTURE >> 32));
    put32(queue + 68, (u32)(SIM_PRIVATE_APERTURE >> 32));
}

static u8 *zeros(size_t nbytes) {
    u8 *memory = sim_memory_new(nbytes, SIM_READ_ONLY);
    if (memory) memset(memory, 0, nbytes);
    return memory;
}

bool sim_start_new(struct sim_launch *launch, struct sim_start *start) {
    const struct sim_kernel *kernel = launch->kernel;
    /* Compilers read arguments in pieces of up to 64 bytes where the alignment allows it. */
    size_t room = ((size_t)kernel->kernarg + 63) / 64 * 64;
    if (room == 0) room = 64;
    memset(start, 0, sizeof *start);
    start->kernarg = zeros(room);
    if (kernel->properties & DISPATCH_PTR) start->packet = zeros(64);
    if (kernel->properties & QUEUE_PTR) start->queue = zeros(256);
    if (!start->kernarg || (kernel->properties & DISPATCH_PTR && !start->packet) ||
        (kernel->properties & QUEUE_PTR && !start->queue)) {
        sim_start_free(start);
        return false;
    }
    fill_kernarg(launch, start->kernarg, kernel->kernarg ? kernel->kernarg : room);
    if (start->packet) fill_packet(launch, start, start->packet);
    if (start->queue) fill_queue(start->queue);
    launch->kernarg = start->kernarg;
    return true;
}

void sim_start_free(struct sim_start *start) {
    if (start->kernarg) sim_memory_free(start->kernarg);
    if (start->packet) sim_memory_free(start->packet);
    if (start->queue) sim_memory_free(start->queue);
    memset(start, 0, sizeof *start);
}

static void set(struct sim_wave *wave, unsigned index, u32 value) {
    if (index >= SIM_SGPRS) return;
    wave->s[index] = value;
    wave->s_known[index] = ~(u32)0;
}

static unsigned set64(struct sim_wave *wave, unsigned index, u64 value) {
    set(wave, index, (u32)value);
    set(wave, index + 1, (u32)(value >> 32));
    return index + 2;
}

static void start_user_registers(const struct sim_kernel *kernel, const struct sim_start *start,
                                 struct sim_wave *wave) {
    unsigned n = 0, properties = kernel->properties;
    bool architected = wave->target & (SIM_GFX942 | SIM_GFX11_12);
    if (properties & PRIVATE_SEGMENT_BUFFER && !architected)
        for (; n < 4; n++) set(wave, n, scratch_descriptor[n]);
    if (properties & DISPATCH_PTR) n = set64(wave, n, (u64)(uintptr_t)start->packet);
    if (properties & QUEUE_PTR) n = set64(wave, n, (u64)(uintptr_t)start->queue);
    if (properties & KERNARG_PTR) n = set64(wave, n, (u64)(uintptr_t)start->kernarg);
    if (properties & DISPATCH_ID) n = set64(wave, n, wave->block->launch->serial);
    if (properties & FLAT_SCRATCH_INIT && !architected) n = set64(wave, n, 0);
    if (properties & PRIVATE_SEGMENT_SIZE) set(wave, n++, kernel->scratch);
    unsigned length = kernel->kernarg_preload & 0x7f, offset = kernel->kernarg_preload >> 7;
    for (unsigned i = 0; i < length; i++) {
        u32 value = 0;
        if (4 * (offset + i) < kernel->kernarg) memcpy(&value, start->kernarg + (size_t)4 * (offset + i), 4);
        set(wave, n++, value);
    }
}

/* They follow as many user registers as the descriptor says, which may be more than are set: gfx11 pads them to 15. */
static void start_system_registers(const struct sim_kernel *kernel, struct sim_wave *wave) {
    const u32 *id = wave->block->id;
    unsigned n = kernel->rsrc2 >> USER_SGPR_SHIFT & 31;
    if (wave->target & SIM_GFX1201) {
        set(wave, SIM_TTMP + 9, id[0]);
        set(wave, SIM_TTMP + 7, (id[1] & 0xffff) | id[2] << 16);
        set(wave, SIM_TTMP + 8, wave->id << 25);
        return;
    }
    for (unsigned i = 0; i < 3; i++)
        if (kernel->rsrc2 & (u32)WORKGROUP_ID_X << i) set(wave, n++, id[i]);
    if (kernel->rsrc2 & WORKGROUP_INFO) set(wave, n++, wave->block->n_waves);
    if (kernel->rsrc2 & ENABLE_PRIVATE_SEGMENT && !(wave->target & (SIM_GFX942 | SIM_GFX1100))) set(wave, n, 0);
}

/* Ids of the lanes' threads: 10 bits each in v0 where the target packs them, else v0 to v2. */
static void start_vector_registers(const struct sim_launch *launch, struct sim_wave *wave) {
    unsigned last = launch->kernel->rsrc2 >> WORKITEM_ID_SHIFT & 3;
    bool packed = !(wave->target & SIM_GFX1030);
    const u32 *size = wave->block->size;
    if (last > 2) last = 2;
    for (unsigned lane = 0; lane < wave->size; lane++) {
        if (!(wave->lanes >> lane & 1)) continue;
        u32 thread = wave->id * wave->size + lane;
        u32 id[3] = {thread % size[0], thread / size[0] % size[1], thread / size[0] / size[1]};
        for (unsigned i = 0; i <= last; i++) {
            if (packed)
                wave->v[0][lane] |= id[i] << (10 * i);
            else if (i < wave->n_v)
                wave->v[i][lane] = id[i];
        }
    }
    for (unsigned i = 0; i <= (packed ? 0 : last) && i < wave->n_v; i++) wave->v_defined[i] = wave->lanes;
}

void sim_start_wave(const struct sim_launch *launch, const struct sim_start *start, struct sim_wave *wave) {
    const struct sim_kernel *kernel = launch->kernel;
    memset(wave->s, 0, sizeof wave->s);
    memset(wave->s_known, 0, sizeof wave->s_known);
    start_user_registers(kernel, start, wave);
    start_system_registers(kernel, wave);
    set64(wave, SIM_EXEC, wave->lanes);
    set(wave, SIM_NULL, 0);
    start_vector_registers(launch, wave);
    wave->scc = false;
    wave->scc_defined = false;
    /* Rounding and denormals, DX10_CLAMP, IEEE, FP16_OVFL. gfx12 lacks the middle two and works as if they were set. */
    u32 rsrc1 = kernel->rsrc1;
    wave->mode = (rsrc1 >> 12 & 0xff) | (rsrc1 >> 26 & 1) << 23;
    wave->mode |= wave->target & SIM_GFX1201 ? 0x300 : (rsrc1 >> 21 & 1) << 8 | (rsrc1 >> 23 & 1) << 9;
    wave->pc = kernel->entry;
    /* The code before it loads the same arguments for firmware that cannot preload. */
    if (kernel->kernarg_preload & 0x7f) wave->pc += 256;
}
