/* Reductions over dims, and the places of extremes. */
#include "gpu/ops/reduce.h"

#include "gpu/ops/copy.h"

#include "core/checked.h"

#include <math.h>

enum gpu_reduce_store wick__gpu_reduce_store(enum wick_dtype dtype) {
    switch (dtype) {
    case WICK_BF16: return GPU_STORE_BF16;
    case WICK_F16: return GPU_STORE_F16;
    case WICK_F32: return GPU_STORE_F32;
    case WICK_F64: return GPU_STORE_F64;
    case WICK_F8E4M3: return GPU_STORE_F8E4M3;
    default: break;
    }
    switch (wick_dtype_bits(dtype)) {
    case 8: return GPU_STORE_B1;
    case 16: return GPU_STORE_B2;
    case 32: return GPU_STORE_B4;
    default: return GPU_STORE_B8;
    }
}

static bool is_signed(enum wick_dtype dtype) { return dtype == WICK_I16 || dtype == WICK_I32 || dtype == WICK_I64; }

/* What makes the greatest of the extreme that is asked for: floats change their sign for the least; integers are
 * compared without sign. */
static uint64_t flip_of(enum wick_dtype dtype, bool least) {
    int bits = wick_dtype_bits(dtype);
    uint64_t top = (uint64_t)1 << (bits - 1), all = top | (top - 1);
    if (wick_dtype_is_float(dtype)) return least ? top : 0;
    return (is_signed(dtype) ? top : 0) ^ (least ? all : 0);
}

static void set_norm(struct wick__gpu_reduction *r, double p, bool nothing) {
    struct gpu_reduce_end *end = &r->end;
    uint64_t magnitude = ((uint64_t)1 << (wick_dtype_bits(r->x->dtype) - 1)) - 1;
    end->order = p;
    end->mask = magnitude;
    if (p == 0) {
        end->kind = GPU_REDUCE_COUNT;
    } else if (p == 2) {
        end->kind = GPU_REDUCE_SQUARES;
    } else if (p == 1 || nothing) {
        end->kind = GPU_REDUCE_SUM; /* of nothing, 0 */
    } else if (isinf(p)) {
        end->kind = GPU_REDUCE_EXTREME;
        end->flip = flip_of(r->x->dtype, p < 0);
    } else {
        end->kind = GPU_REDUCE_POWERS;
    }
}

/* Kind and finish of an op. */
static void set_kind(struct wick__gpu_reduction *r, const struct wick__call *call) {
    struct gpu_reduce_end *end = &r->end;
    enum wick_dtype dtype = r->x->dtype;
    switch (call->op) {
    case WICK_OP_prod: end->kind = wick_dtype_is_float(dtype) ? GPU_REDUCE_PRODUCT : GPU_REDUCE_PROD; break;
    case WICK_OP_min:
    case WICK_OP_max:
        end->kind = GPU_REDUCE_EXTREME;
        end->flip = flip_of(dtype, call->op == WICK_OP_min);
        break;
    case WICK_OP_argmin:
    case WICK_OP_argmax:
        end->kind = GPU_REDUCE_ARG;
        end->flip = flip_of(dtype, call->op == WICK_OP_argmin);
        break;
    case WICK_OP_any:
    case WICK_OP_all:
        end->kind = GPU_REDUCE_COUNT;
        end->finish = call->op == WICK_OP_any ? GPU_FINISH_ANY : GPU_FINISH_ALL;
        if (wick_dtype_is_float(dtype)) end->mask = ((uint64_t)1 << (wick_dtype_bits(dtype) - 1)) - 1; /* -0 is 0 */
        break;
    case WICK_OP_mean: end->finish = GPU_FINISH_MEAN; break;
    case WICK_OP_var:
    case WICK_OP_std:
        end->kind = GPU_REDUCE_MOMENTS;
        end->finish = call->op == WICK_OP_std ? GPU_FINISH_ROOT : GPU_FINISH_PLAIN;
        end->correction = call->p.reduce.correction;
        break;
    case WICK_OP_norm: set_norm(r, call->p.reduce.order, wick__count(r->x) == 0); break;
    case WICK_OP_log_sum_exp: end->kind = GPU_REDUCE_EXPS; break;
    default: break;
    }
}

/* Sums of powers are of |x| / most, so that they neither overflow nor vanish: first the greatest magnitude of each
 * line, or for orders below 0 the least. */
static enum wick_status reduce_powers(struct wick__gpu *gpu, struct wick__gpu_reduction *powers, int64_t lines) {
    struct wick__gpu_reduction extreme = *powers;
    size_t nbytes = (size_t)lines * sizeof(double);
    void *most;
    if (lines == 0) return WICK_OK;
    WICK__TRY(wick__gpu_scratch(gpu, nbytes, &most));
    extreme.end.kind = GPU_REDUCE_EXTREME;
    extreme.end.flip = flip_of(powers->x->dtype, powers->end.order < 0);
    extreme.end.store = GPU_STORE_F64;
    extreme.end.out = most;
    powers->end.most = most;
    enum wick_status status = wick__gpu_reduce_lines(gpu, &extreme);
    if (status == WICK_OK) status = wick__gpu_reduce_lines(gpu, powers);
    wick__gpu_release(gpu, most, nbytes);
    return status;
}

/* ---- lines that lie in another order than their results ---- */

/* The kept dims of several positions, in the order in which they lie in memory; returns how many. */
static int kept_order(const struct wick__gpu_reduction *r, int kept[WICK_MAX_RANK]) {
    int dims[WICK_MAX_RANK], all = wick__layout_order(&r->x->layout, dims), n = 0;
    for (int i = 0; i < all; i++)
        if (!(r->dims >> dims[i] & 1)) kept[n++] = dims[i];
    return n;
}

/* Whether lines lie side by side without a gap, but not in the order of their results, and in that order only few are
 * neighbours. */
static bool is_turned(const struct wick__gpu_reduction *r, const int *kept, int n) {
    enum { NARROW = 256, LEAST = 1 << 20 }; /* bytes of neighbours; elements */
    const struct wick__layout *x = &r->x->layout;
    int64_t run = 1, nearest = WICK__FAR;
    bool sorted = true;
    for (int i = n - 1; i >= 0; run *= x->shape[kept[i--]]) {
        if (x->stride[kept[i]] != run) return false;
        sorted = sorted && (i == 0 || kept[i - 1] < kept[i]);
    }
    for (int d = 0; d < x->rank; d++)
        if ((r->dims >> d & 1) && x->shape[d] > 1) nearest = wick__min(nearest, x->stride[d]);
    return !sorted && wick__count(r->x) >= LEAST && nearest >= run &&
           x->shape[kept[n - 1]] * (int64_t)wick__size(r->x->dtype) < NARROW;
}

/* Lines in the order of memory, so that neighbours are read together; then their results, which are few, are moved. */
static enum wick_status reduce_turned(struct wick__gpu *gpu, const struct wick__gpu_reduction *given,
                                      const struct wick_tensor *out, const int *kept, int n) {
    const struct wick__layout *x = &given->x->layout;
    const size_t nbytes = (size_t)wick__count(out) * wick__size(out->dtype);
    struct wick_tensor turned = *given->x; /* holds no references */
    struct wick__gpu_reduction r = *given;
    struct wick__gpu_move move = {.out = given->end.out, .size = wick__size(out->dtype)};
    int64_t place[WICK_MAX_RANK], step = 1;
    void *results;
    turned.layout.rank = 0;
    for (int d = 0; d < x->rank; d++) {
        if (!(given->dims >> d & 1)) continue;
        turned.layout.shape[turned.layout.rank] = x->shape[d];
        turned.layout.stride[turned.layout.rank++] = x->stride[d];
    }
    r.dims = (uint32_t)((1u << turned.layout.rank) - 1);
    for (int i = 0; i < n; i++) {
        turned.layout.shape[turned.layout.rank] = x->shape[kept[i]];
        turned.layout.stride[turned.layout.rank++] = x->stride[kept[i]];
    }
    for (int i = n - 1; i >= 0; step *= x->shape[kept[i--]]) place[kept[i]] = step;
    for (int d = 0; d < x->rank; d++) {
        if ((given->dims >> d & 1) || x->shape[d] == 1) continue;
        move.from.shape[move.from.rank] = x->shape[d];
        move.from.stride[move.from.rank++] = place[d];
    }
    WICK__TRY(wick__layout_new(&move.to, "reduce", n, move.from.shape));
    WICK__TRY(wick__gpu_scratch(gpu, nbytes, &results));
    r.x = &turned;
    r.end.out = results;
    move.in = results;
    enum wick_status status = wick__gpu_reduce_lines(gpu, &r);
    if (status == WICK_OK) status = wick__gpu_move(gpu, &move);
    wick__gpu_release(gpu, results, nbytes);
    return status;
}

wick__kernel_fn wick__gpu_reduce, wick__gpu_argreduce;
enum wick_status wick__gpu_reduce(const struct wick__call *call) {
    struct wick_tensor *out = call->out[0];
    struct wick__gpu_reduction reduction = {.x = call->in[0], .dims = call->p.reduce.dims};
    reduction.end = (struct gpu_reduce_end){.kind = GPU_REDUCE_SUM,
                                            .finish = GPU_FINISH_PLAIN,
                                            .store = wick__gpu_reduce_store(out->dtype),
                                            .out = wick__data(out),
                                            .mask = UINT64_MAX};
    set_kind(&reduction, call);
    if (reduction.end.kind == GPU_REDUCE_POWERS) return reduce_powers(wick__gpu_of(out), &reduction, wick__count(out));
    int kept[WICK_MAX_RANK], n = kept_order(&reduction, kept);
    if (n > 1 && is_turned(&reduction, kept, n)) return reduce_turned(wick__gpu_of(out), &reduction, out, kept, n);
    return wick__gpu_reduce_lines(wick__gpu_of(out), &reduction);
}

enum wick_status wick__gpu_argreduce(const struct wick__call *call) { return wick__gpu_reduce(call); }
