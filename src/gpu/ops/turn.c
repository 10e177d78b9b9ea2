/* Plans of elementwise launches that turn an operand: its neighbours lie along another dim than those of the result. */
#include "gpu/ops/turn.h"

#include "core/checked.h"
#include "kernels/turn.h"

#include <stdlib.h>

/* In narrower dims, elements read one by one fill the sectors that they fetch well enough. Positions in larger ones,
 * and wider strides, do not fit in the kernels' 32 bits. */
enum { SIDE_FROM = 8, SIDE_MOST = 1 << 30 };

/* `n` in as few parts of at most `most` as will do: the size of a part, a multiple of `step` as `most` is. */
static int64_t part(int64_t n, int64_t most, int64_t step) {
    int64_t parts = wick__div_up(n, most);
    return wick__round_up(wick__div_up(n, parts), step);
}

/* Whether element 0 and all lines along dim `fast` begin at multiples of n elements. */
static bool even(const void *data, size_t size, const struct wick__layout *layout, int fast, int64_t n) {
    bool even = (uintptr_t)data % (size * (size_t)n) == 0;
    for (int d = 0; d < layout->rank; d++) even &= d == fast || layout->stride[d] % n == 0;
    return even;
}

/* Layouts, collapsed: the operand's, the result's, the other operand's. */
struct plan {
    struct wick__layout layout[3];
    int i, o, b; /* dims; b is -1 where there is none */
    int64_t in_size, out_size;
};

/* Whether positions along a dim fit in the kernels' 32 bits. */
static bool is_narrow(const struct plan *plan, int d) {
    for (int k = 0; k < 3; k++)
        if (llabs(plan->layout[k].stride[d]) > INT32_MAX) return false;
    return plan->layout[0].shape[d] <= SIDE_MOST;
}

static bool find_dims(struct plan *plan) {
    const struct wick__layout *in = &plan->layout[0], *out = &plan->layout[1];
    plan->o = in->rank - 1;
    plan->i = plan->b = -1;
    for (int d = 0; d < plan->o; d++)
        if (in->stride[d] == 1) plan->i = d;
    for (int d = 0; d < plan->o; d++)
        if (d != plan->i) plan->b = d;
    if (plan->i < 0 || llabs(in->stride[plan->o]) <= 1 || out->stride[plan->o] != 1) return false;
    if (in->shape[plan->i] < SIDE_FROM || in->shape[plan->o] < SIDE_FROM) return false;
    if (plan->b >= 0 && !is_narrow(plan, plan->b)) plan->b = -1;
    return is_narrow(plan, plan->i) && is_narrow(plan, plan->o);
}

bool wick__gpu_turns(const struct wick__layout *in, const struct wick__layout *out) {
    struct plan plan = {.layout = {*in, *out, *out}};
    wick__layout_expand(in, out->rank, out->shape, &plan.layout[0]);
    wick__layout_collapse(plan.layout, 3);
    return find_dims(&plan);
}

/* How the threads of a block stand in a tile: beside each other along o as long as chunks fill 128 bytes, or are there,
 * and else so that they pass over the tile the fewest times. */
static void find_stand(struct gpu_turn *p) {
    int least = INT32_MAX, side_i = (int)p->side_i, side_o = (int)p->side_o, side_b = (int)p->side_b;
    while (p->lane_bits < 3 && GPU_TURN_SLOTS << p->lane_bits < side_o) p->lane_bits++;
    for (int group = 0; group < 3; group++) {
        for (int column = 0; group + column <= 3; column++) {
            int width = GPU_TURN_SLOTS << ((int)p->lane_bits + group), columns = 1 << (5 - (int)p->lane_bits + column);
            int matrices = 1 << (3 - group - column), places = (side_o + width - 1) / width;
            int lines = places * ((side_b + matrices - 1) / matrices);
            int passes = lines * ((side_i + columns - 1) / columns);
            if (columns < 1 << p->chunk_bits || passes >= least) continue;
            least = passes;
            p->group_bits = (u32)group;
            p->column_bits = (u32)column;
            p->lines = (u32)lines;
            wick__gpu_divisor(&p->places, (u32)places);
        }
    }
}

/* The sides of a tile, as long as LDS and the vectors that threads load allow: both of 128 bytes and more, or one of
 * them longer where the other is short. */
static void find_sides(struct gpu_turn *p, const struct plan *plan) {
    int64_t n = 16 / plan->in_size, chunk = GPU_TURN_CHUNK(plan->out_size), room = GPU_TURN_VECTORS;
    int64_t shifts = !even(p->in, (size_t)plan->in_size, &plan->layout[0], plan->i, n);
    bool early = !even(p->out, (size_t)plan->out_size, &plan->layout[1], plan->o, chunk);
    p->early = early ? (u32)chunk : 0;
    int64_t along = p->no + (early ? chunk - 1 : 0), pitch = wick__min((p->ni + n - 1) / n, 16) + shifts;
    int64_t most = wick__min(GPU_TURN_TASKS * (GPU_BLOCK / pitch), room * chunk / (chunk * pitch + 1));
    most = most / chunk * chunk - p->early;
    if (most > 8 * chunk) most -= most % (8 * chunk);
    int64_t side_o = part(along, most, chunk), rows = side_o + p->early;
    pitch = GPU_BLOCK / ((rows + GPU_TURN_TASKS - 1) / GPU_TURN_TASKS);
    pitch = wick__min(pitch, (room - rows / chunk) / rows);
    if (!shifts && pitch > 8) pitch -= pitch % 8; /* whole 128 bytes of memory, and all banks of LDS once */
    int64_t side_i = part(p->ni, (pitch - shifts) * n, n);
    pitch = side_i / n + shifts;
    wick__gpu_divisor(&p->tiles_o, (u32)((along + side_o - 1) / side_o));
    wick__gpu_divisor(&p->tiles_i, (u32)((p->ni + side_i - 1) / side_i));
    /* Several small matrices a tile, while there are blocks enough to keep a device busy. */
    enum { BUSY = 640 };
    int64_t matrices = wick__layout_count(&plan->layout[1]) / p->ni / p->no, side_b = 1;
    if (p->tiles_o.d == 1 && p->tiles_i.d == 1) {
        side_b = wick__min(GPU_TURN_TASKS * (GPU_BLOCK / pitch) / rows, room / (rows * pitch + rows / chunk));
        side_b = wick__min(wick__min(side_b, p->nb), wick__max(1, matrices / BUSY));
    }
    p->side_i = (u32)side_i;
    p->side_o = (u32)side_o;
    p->side_b = (u32)side_b;
    p->step = (u32)(GPU_BLOCK / pitch);
    p->all_rows = (u32)(rows * side_b);
    wick__gpu_divisor(&p->pitch, (u32)pitch);
    wick__gpu_divisor(&p->rows, (u32)rows);
    while (1 << p->chunk_bits < chunk) p->chunk_bits++;
    while (1 << p->in_bits < plan->in_size) p->in_bits++;
    find_stand(p);
}

static bool find_tiles(struct gpu_turn *p, struct plan *plan) {
    struct wick__layout *l = plan->layout;
    int64_t tiles = (p->nb + p->side_b - 1) / p->side_b;
    wick__gpu_divisor(&p->tiles_b, (u32)tiles);
    for (int k = 0; k < 3; k++) {
        l[k].shape[plan->i] = l[k].shape[plan->o] = 1;
        if (plan->b >= 0) l[k].shape[plan->b] = 1;
    }
    if (!wick__mul(tiles, p->tiles_i.d, &tiles) || !wick__mul(tiles, p->tiles_o.d, &tiles) ||
        !wick__mul(tiles, wick__layout_count(&l[0]), &tiles) || tiles >= INT32_MAX)
        return false;
    p->tiles = (u32)tiles;
    wick__gpu_shape(l, 3, &p->shape, p->layout);
    return true;
}

bool wick__gpu_turn_dtype(enum wick_dtype dtype, u32 *known) {
    *known = dtype == WICK_F16 ? GPU_TURN_f16 : dtype == WICK_BF16 ? GPU_TURN_bf16 : GPU_TURN_f32;
    return dtype == WICK_F16 || dtype == WICK_BF16 || dtype == WICK_F32;
}

bool wick__gpu_turn_fill(struct gpu_turn *turn, const struct wick__layout *layouts, size_t in_size, size_t out_size) {
    struct plan plan = {
        .layout = {layouts[0], layouts[1], layouts[2]}, .in_size = (int64_t)in_size, .out_size = (int64_t)out_size};
    wick__layout_collapse(plan.layout, 3);
    if (!find_dims(&plan)) return false;
    const struct wick__layout *in = &plan.layout[0], *out = &plan.layout[1], *other = &plan.layout[2];
    int i = plan.i, o = plan.o, b = plan.b;
    int64_t chunk = GPU_TURN_CHUNK(plan.out_size);
    struct gpu_turn p = {.in = turn->in,
                         .other = turn->other,
                         .out = turn->out,
                         .in_o = (i32)in->stride[o],
                         .out_i = (i32)out->stride[i],
                         .other_i = (i32)other->stride[i],
                         .other_o = (i32)other->stride[o],
                         .ni = (i32)in->shape[i],
                         .no = (i32)in->shape[o],
                         .nb = 1};
    if (b >= 0) {
        p.in_b = (i32)in->stride[b];
        p.out_b = (i32)out->stride[b];
        p.other_b = (i32)other->stride[b];
        p.nb = (i32)in->shape[b];
    }
    p.in_at = (u32)((uintptr_t)p.in / (uintptr_t)plan.in_size);
    p.out_at = (u32)((uintptr_t)p.out / (uintptr_t)plan.out_size);
    int64_t rows = (p.no - 1) * llabs(p.in_o); /* factors below 2^31 */
    p.span = (u64)(rows + p.ni);
    p.below = p.in_o < 0 ? rows : 0;
    p.whole_other = other->stride[o] == 1 && ((uintptr_t)p.other - (uintptr_t)p.out) % 16 == 0;
    for (int d = 0; d < o; d++) p.whole_other &= (other->stride[d] - out->stride[d]) % chunk == 0;
    find_sides(&p, &plan);
    if (!find_tiles(&p, &plan)) return false;
    *turn = p;
    return true;
}

bool wick__gpu_turn_plan(const struct wick__elements *e, const struct wick__layout *layouts, int which) {
    int other = e->n_in == 2 ? 1 - which : which;
    const struct wick__layout three[3] = {layouts[which], layouts[e->n_in], layouts[other]};
    e->turn->in = e->walk->in[which];
    e->turn->other = e->walk->in[other];
    e->turn->out = e->walk->out;
    if (!wick__gpu_turn_fill(e->turn, three, wick__size(e->in[which]->dtype), wick__size(e->out->dtype))) return false;
    if (e->turned) *e->turned = (u32)which;
    return true;
}

enum wick_status wick__gpu_turn(const struct wick__elements *e) {
    struct wick__launch tiles = wick__gpu_tiles(e->turning, e->turn->tiles);
    return wick__gpu_launch(wick__gpu_of(e->out), &tiles, e->turn_params);
}
