/* Convolutions of any dtype in plain arithmetic: as an implicit matrix product, weights times windows, whose second
 * operand is fetched from the input as it lies; and element by element, for groups of few channels. */
#include "conv_finish.h"

/* One dim of one phase. */
struct conv_dim {
    i32 count;             /* results of the phase */
    i32 out_mul, out_first; /* result q is at q out_mul + out_first */
    i32 in_mul, in_first, in_step;
    i32 taps, tap_first, tap_step;
};

/* The taps that the results of a phase meet. */
struct conv_meets {
    i32 first, taps; /* the first, and how many */
    i32 at;          /* the input's coordinate under it, for result 0 */
};

GPU_FN struct conv_meets conv_meets_of(const struct gpu_conv_dim &d, u32 transposed, i32 phase) {
    struct conv_meets r;
    if (!transposed) {
        r.first = 0;
        r.taps = d.kernel;
        r.at = -d.padding;
        return r;
    }
    /* The first tap that meets an element of the input: (phase + padding - tap dilation) is a multiple of the stride. */
    i32 at = phase + d.padding, last = d.tap_step < d.kernel ? d.tap_step : d.kernel;
    r.first = d.dilation == 1 ? at % d.stride : 0;
    at -= r.first;
    GPU_NO_UNROLL while (r.first < last && at % d.stride != 0) {
        r.first++;
        at -= d.dilation;
    }
    r.taps = r.first < last ? (d.kernel - r.first + d.tap_step - 1) / d.tap_step : 0;
    r.at = at / d.stride;
    return r;
}

GPU_FN struct conv_dim conv_dim_of(const struct gpu_conv_dim &d, u32 transposed, i32 phase) {
    struct conv_dim r;
    struct conv_meets meets = conv_meets_of(d, transposed, phase);
    r.count = transposed ? (d.out - phase + d.stride - 1) / d.stride : d.out;
    r.out_mul = transposed ? d.stride : 1;
    r.out_first = phase;
    r.in_mul = transposed ? 1 : d.stride;
    r.in_first = meets.at;
    r.in_step = d.in_step;
    r.taps = meets.taps;
    r.tap_first = meets.first;
    r.tap_step = d.tap_step;
    return r;
}

/* Where result number q of a phase reads and is written. */
struct conv_place {
    i64 image, out;   /* offsets of its image in x, and of its place in channel 0 of the group in out */
    i32 d, h, w;      /* the input's coordinates under tap 0 */
};

GPU_FN struct conv_place conv_place_of(const struct gpu_conv &p, const struct conv_dim *ph, u32 q) {
    struct conv_place r;
    i32 w = (i32)(q % (u32)ph[2].count);
    q /= (u32)ph[2].count;
    i32 h = (i32)(q % (u32)ph[1].count);
    q /= (u32)ph[1].count;
    i32 d = (i32)(q % (u32)ph[0].count);
    i64 n = q / (u32)ph[0].count;
    r.d = d * ph[0].in_mul + ph[0].in_first;
    r.h = h * ph[1].in_mul + ph[1].in_first;
    r.w = w * ph[2].in_mul + ph[2].in_first;
    r.image = n * p.groups * p.cin * p.in_plane;
    r.out = n * p.groups * p.cout * p.out_plane +
            ((i64)(d * ph[0].out_mul + ph[0].out_first) * p.dim[1].out + h * ph[1].out_mul + ph[1].out_first) * p.dim[2].out +
            w * ph[2].out_mul + ph[2].out_first;
    return r;
}

/* One term of the sum: channel c and a tap, in both operands. */
struct alignas(8) conv_term {
    i32 x, weight; /* offsets */
    i32 d, h, w;   /* the tap's step from tap 0 in the input */
    i32 there;
};

GPU_FN struct conv_term conv_term_of(const struct gpu_conv &p, const struct conv_dim *ph, u32 k, u32 terms) {
    struct conv_term r;
    u32 tw = (u32)ph[2].taps, th = (u32)ph[1].taps, td = (u32)ph[0].taps;
    r.there = k < terms;
    if (!r.there) k = 0;
    i32 w = (i32)(k % tw);
    k /= tw;
    i32 h = (i32)(k % th);
    k /= th;
    i32 d = (i32)(k % td);
    i32 c = (i32)(k / td);
    r.d = d * ph[0].in_step;
    r.h = h * ph[1].in_step;
    r.w = w * ph[2].in_step;
    r.x = c * (i32)p.in_plane + (r.d * p.dim[1].in + r.h) * p.dim[2].in + r.w;
    r.weight = c * (i32)p.weight_c +
               ((ph[0].tap_first + d * ph[0].tap_step) * p.dim[1].kernel + ph[1].tap_first + h * ph[1].tap_step) *
                   p.dim[2].kernel +
               ph[2].tap_first + w * ph[2].tap_step;
    return r;
}

/* ---- tiles: EDGE channels by EDGE results, 16 x 16 threads with SIDE x SIDE sums each ---- */

template <typename T, int SIDE> GPU_FN void conv_tile(const struct gpu_conv &p) {
    typedef typename gemm_sum<T>::type S;
    enum {
        EDGE = 16 * SIDE,
        DEPTH = 1024 / EDGE,
        PITCH = EDGE + 4,
        RUN = SIDE < 4 ? SIDE : 4,
        ROWS = GPU_BLOCK / EDGE, /* terms that all threads fetch at once */
        LOADS = DEPTH / ROWS
    };
    struct alignas(RUN * sizeof(S)) run {
        S v[RUN];
    };
    GPU_SHARED S weights[2][DEPTH][PITCH];
    GPU_SHARED S windows[2][DEPTH][PITCH];
    GPU_SHARED conv_term terms[2][DEPTH];
    GPU_SHARED conv_dim ph[3]; /* here rather than in registers: they are needed now and then only */
    u32 t = gpu_thread(), tx = t % 16, ty = t / 16;
    u32 channel_tiles = (u32)((p.cout + EDGE - 1) / EDGE);
    u32 phases = (u32)(p.dim[0].phases * p.dim[1].phases * p.dim[2].phases);
    u32 blocks = channel_tiles * (u32)p.groups * phases; /* that share the windows of a run of results */

    u32 which = gpu_block_x() % blocks, q0 = gpu_block_x() / blocks * EDGE;
    i64 channel0 = (i64)(which % channel_tiles) * EDGE;
    which /= channel_tiles;
    i64 group = which % (u32)p.groups;
    which /= (u32)p.groups;
    if (t == 0) ph[2] = conv_dim_of(p.dim[2], p.transposed, (i32)(which % (u32)p.dim[2].phases));
    which /= (u32)p.dim[2].phases;
    if (t == 1) ph[1] = conv_dim_of(p.dim[1], p.transposed, (i32)(which % (u32)p.dim[1].phases));
    if (t == 2) ph[0] = conv_dim_of(p.dim[0], p.transposed, (i32)(which / (u32)p.dim[1].phases));
    gpu_sync();
    u32 results = (u32)p.n * (u32)(ph[0].count * ph[1].count * ph[2].count);
    u32 k = (u32)p.cin * (u32)(ph[0].taps * ph[1].taps * ph[2].taps);
    u32 steps = (k + DEPTH - 1) / DEPTH;

    /* This thread fetches one column of windows and one row of weights. */
    u32 q = q0 + t % EDGE;
    bool column = q < results;
    struct conv_place at = conv_place_of(p, ph, column ? q : 0);
    const T *x = (const T *)p.x + at.image + group * p.cin * p.in_plane +
                 ((i64)at.d * p.dim[1].in + at.h) * p.dim[2].in + at.w;
    u32 wk = t % DEPTH, wm = t / DEPTH;
    const T *weight = (const T *)p.weight + group * p.weight_group + (channel0 + wm) * p.weight_m;
    i32 rows_left = (i32)(p.cout - channel0 - wm);

    S sum[SIDE][SIDE], w_next[LOADS], x_next[LOADS];
    GPU_UNROLL for (int i = 0; i < SIDE; i++) GPU_UNROLL for (int j = 0; j < SIDE; j++) sum[i][j] = 0;
    if (t < 2 * DEPTH && steps > 0) terms[t / DEPTH][t % DEPTH] = conv_term_of(p, ph, t, k);
    gpu_sync();
    for (u32 step = 0; step <= steps; step++) {
        u32 now = step % 2;
        if (step < steps) {
            /* Fetch this step; it is used in the next round. */
            GPU_UNROLL for (int i = 0; i < LOADS; i++) {
                conv_term e = terms[now][t / EDGE + i * ROWS];
                bool in = column && e.there && (u32)(at.d + e.d) < (u32)p.dim[0].in &&
                          (u32)(at.h + e.h) < (u32)p.dim[1].in && (u32)(at.w + e.w) < (u32)p.dim[2].in;
                x_next[i] = in ? gemm_up(x[e.x]) : (S)0;
            }
            conv_term e = terms[now][wk];
            GPU_UNROLL for (int i = 0; i < LOADS; i++) {
                bool in = e.there && i * (GPU_BLOCK / DEPTH) < rows_left;
                w_next[i] = in ? gemm_up(weight[i * (GPU_BLOCK / DEPTH) * (i32)p.weight_m + e.weight]) : (S)0;
            }
        }
        if (step > 0) {
            u32 old = now ^ 1;
            /* The outer loop stays one, or a compiler fetches more at a time than there are registers for. */
            GPU_NO_UNROLL for (int d0 = 0; d0 < DEPTH; d0 += 2) GPU_UNROLL for (int d = d0; d < d0 + 2; d++) {
                S a[SIDE], b[SIDE];
                GPU_UNROLL for (int i = 0; i < SIDE; i += RUN) {
                    run u = *(const run *)&weights[old][d][i / RUN * 16 * RUN + ty * RUN];
                    run v = *(const run *)&windows[old][d][i / RUN * 16 * RUN + tx * RUN];
                    GPU_UNROLL for (int j = 0; j < RUN; j++) {
                        a[i + j] = u.v[j];
                        b[i + j] = v.v[j];
                    }
                }
                GPU_UNROLL for (int i = 0; i < SIDE; i++)
                    GPU_UNROLL for (int j = 0; j < SIDE; j++) sum[i][j] = gemm_mad(a[i], b[j], sum[i][j]);
            }
        }
        if (step < steps) {
            GPU_UNROLL for (int i = 0; i < LOADS; i++) {
                windows[now][t / EDGE + i * ROWS][t % EDGE] = x_next[i];
                weights[now][wk][wm + i * (GPU_BLOCK / DEPTH)] = w_next[i];
            }
        }
        gpu_sync();
        if (t < DEPTH && step + 2 < steps) terms[now][t] = conv_term_of(p, ph, (step + 2) * DEPTH + t, k);
    }

    GPU_UNROLL for (int j = 0; j < SIDE; j++) {
        u32 result = q0 + j / RUN * 16 * RUN + tx * RUN + j % RUN;
        if (result < results) {
            struct conv_place to = conv_place_of(p, ph, result);
            GPU_UNROLL for (int i = 0; i < SIDE; i++) {
                i64 m = channel0 + i / RUN * 16 * RUN + ty * RUN + i % RUN, channel = group * p.cout + m;
                if (m < p.cout)
                    ((T *)p.out)[to.out + channel * p.out_plane] = conv_finish<T>(p, channel, sum[i][j]);
            }
        }
    }
}

/* ---- a few results a thread ---- */

/* The taps that meet result `o`; `at` is the input's coordinate for this result. */
GPU_FN struct conv_meets conv_meets_at(const struct gpu_conv_dim &d, u32 transposed, i32 o) {
    i32 q = transposed ? o / d.stride : o * d.stride;
    struct conv_meets r = conv_meets_of(d, transposed, transposed ? o - q * d.stride : 0);
    r.at += q;
    return r;
}

/* R results of one column and of neighbouring rows of a phase, which meet the same taps. */
template <int R> struct conv_column {
    u32 d, h, w; /* the first */
    i32 count;   /* how many there are */
};
/* Column i of a plane that has `runs` of R rows. */
template <int R> GPU_FN conv_column<R> conv_column_of(const struct gpu_conv_dim *dims, u32 runs, u32 i) {
    conv_column<R> c;
    u32 rest = i / (u32)dims[2].out, run, height = (u32)dims[1].out, phases = R > 1 ? (u32)dims[1].phases : 1;
    c.w = i - rest * (u32)dims[2].out;
    c.d = rest / runs;
    run = rest - c.d * runs;
    c.h = R > 1 ? run / phases * R * phases + run % phases : run;
    c.count = c.h < height ? (i32)((height - c.h + phases - 1) / phases) : 0;
    return c;
}

/* The sums of `terms` taps that meet a column's results: the taps of a channel of the input, those of the next, and so on.
 * Where `products` is false, x is an image and a term the product with a weight; a channel's weights are weight_c apart.
 * Else x has planes of such products, one a tap. */
template <typename T, typename S, bool products, int R>
GPU_FN void conv_sum(const struct gpu_conv &p, const struct gpu_conv_dim *dims, const conv_column<R> &c, const T *x,
                     const T *weight, S (&sum)[R]) {
    struct conv_meets md = conv_meets_at(dims[0], p.transposed, (i32)c.d);
    struct conv_meets mh = conv_meets_at(dims[1], p.transposed, (i32)c.h);
    struct conv_meets mw = conv_meets_at(dims[2], p.transposed, (i32)c.w);
    i32 in_width = dims[2].in, in_height = dims[1].in, row_step = p.transposed ? 1 : dims[1].stride;
    i32 row = dims[2].kernel, plane = dims[1].kernel * row, tap = md.first * plane + mh.first * row + mw.first;
    /* From tap to tap: to the next of a row, from the end of a row to the next one, and so on. */
    i32 across = dims[2].tap_step, down = dims[1].tap_step * row, deep = dims[0].tap_step * plane;
    i32 to_row = down - mw.taps * across, to_plane = deep - mh.taps * down, to_first = md.taps * deep;
    u32 terms = (u32)(md.taps * mh.taps * mw.taps) * (products ? 1 : (u32)p.cin);
    /* One loop over channels and taps, with its counters kept by hand: four loops, each with lanes that have left it, take
     * more scalar registers than there are. */
    i32 a = 0, b = 0, e = 0;
    GPU_UNROLL for (int r = 0; r < R; r++) sum[r] = 0;
    GPU_NO_UNROLL for (u32 k = 0; k < terms; k++) {
        i32 xd = md.at + a * dims[0].in_step, xh = mh.at + b * dims[1].in_step, xw = mw.at + e * dims[2].in_step;
        if ((u32)xd < (u32)dims[0].in && (u32)xw < (u32)in_width) {
            const T *plane = x + (products ? tap * p.in_plane : 0) + (i64)xd * in_height * in_width + xw;
            S by = products ? (S)1 : gemm_up(weight[tap]);
            GPU_UNROLL for (int r = 0; r < R; r++) {
                i32 row = xh + r * row_step;
                if ((R > 1 && r >= c.count) || (u32)row >= (u32)in_height) continue;
                S term = gemm_up(plane[(i64)row * in_width]);
                sum[r] = products ? sum[r] + term : gemm_mad(term, by, sum[r]);
            }
        }
        bool row_next = ++e == mw.taps;
        e = row_next ? 0 : e;
        b += row_next;
        bool plane_next = b == mh.taps;
        b = plane_next ? 0 : b;
        a += plane_next;
        tap += across + (row_next ? to_row : 0) + (plane_next ? to_plane : 0);
        if (!products && a == md.taps) {
            a = 0;
            tap -= to_first;
            x += p.in_plane;
            weight += p.weight_c;
        }
    }
}

GPU_FN void conv_share_dims(const struct gpu_conv &p, struct gpu_conv_dim *dims) {
    if (gpu_thread() == 0) dims[0] = p.dim[0];
    if (gpu_thread() == 1) dims[1] = p.dim[1];
    if (gpu_thread() == 2) dims[2] = p.dim[2];
    gpu_sync();
}

template <typename T> GPU_FN void conv_direct(const struct gpu_conv &p) {
    typedef typename gemm_sum<T>::type S;
    GPU_SHARED struct gpu_conv_dim dims[3]; /* as in conv_tile */
    conv_share_dims(p, dims);
    u32 channels = (u32)(p.groups * p.cout), each = (u32)dims[0].out * p.row_runs * (u32)dims[2].out;
    u64 items = (u64)p.planes * each;
    GPU_NO_UNROLL for (u64 i = gpu_global(); i < items; i += gpu_stride()) {
        u32 plane = (u32)(i / each), n = plane / channels, channel = plane - n * channels, group = channel / (u32)p.cout;
        auto column = conv_column_of<GPU_CONV_ROWS>(dims, p.row_runs, (u32)(i - (u64)plane * each));
        const T *image = (const T *)p.x + ((i64)n * p.groups + group) * p.cin * p.in_plane;
        const T *weights = (const T *)p.weight + group * p.weight_group + (channel - group * (u32)p.cout) * p.weight_m;
        T *out = (T *)p.out + (i64)plane * p.out_plane + (column.d * (u32)dims[1].out + column.h) * (u32)dims[2].out + column.w;
        S sum[GPU_CONV_ROWS];
        conv_sum<T, S, false>(p, dims, column, image, weights, sum);
        u32 step = (u32)(dims[1].phases * dims[2].out);
        GPU_UNROLL for (int r = 0; r < GPU_CONV_ROWS; r++)
            if (r < column.count) out[(u32)r * step] = conv_finish<T>(p, channel, sum[r]);
    }
}

/* A convolution from products of the weights of each tap and the input, [n, groups cout taps, in...]. */
template <typename T> GPU_FN void conv_gather(const struct gpu_conv &p) {
    typedef typename gemm_sum<T>::type S;
    GPU_SHARED struct gpu_conv_dim dims[3];
    conv_share_dims(p, dims);
    i64 products = p.in_plane * dims[0].kernel * dims[1].kernel * dims[2].kernel;
    for (u32 plane = gpu_block_y(); plane < p.planes; plane += p.grid_planes) {
        const S *x = (const S *)p.x + plane * products;
        T *out = (T *)p.out + (i64)plane * p.out_plane;
        for (u32 i = gpu_block_x() * GPU_BLOCK + gpu_thread(); i < (u32)p.out_plane; i += gpu_blocks_x() * GPU_BLOCK) {
            S sum[1];
            conv_sum<S, S, true>(p, dims, conv_column_of<1>(dims, (u32)dims[1].out, i), x, (const S *)0, sum);
            out[i] = conv_finish<T>(p, plane % (u32)(p.groups * p.cout), sum[0]);
        }
    }
}

/* ---- one channel a group: a tile of a plane's results a block, from what their windows cover, in LDS ---- */

/* A result of a tile: its place in LDS under tap 0, and its row and column of the phase. */
struct conv_spot {
    u32 base, row, column;
    bool there;
};

GPU_FN struct conv_spot conv_spot_of(const struct gpu_conv_planes &p, const struct conv_dim &h, const struct conv_dim &w,
                                     u32 row0, u32 column0, u32 i) {
    struct conv_spot s;
    u32 row = gpu_divide(i, p.by_columns), column = i - row * p.columns;
    s.row = row0 + row;
    s.column = column0 + column;
    s.there = row < p.rows && s.row < (u32)h.count && s.column < (u32)w.count;
    if (!s.there) row = column = 0;
    s.base = (row * (u32)h.in_mul + (u32)(h.in_first - p.top)) * p.width + column * (u32)w.in_mul +
             (u32)(w.in_first - p.left);
    return s;
}

/* What the windows of a tile cover, and the weights, in LDS. */
template <typename S> struct conv_staged {
    S *covered, *weights;
};

/* A result by those taps alone that meet the input: where a weight is not finite, its product with padding is not 0. */
template <typename S>
GPU_FN S conv_planes_sum(const struct gpu_conv_planes &p, const struct conv_dim &h, const struct conv_dim &w,
                         const struct conv_spot &s, const conv_staged<S> &from) {
    S sum = 0;
    GPU_NO_UNROLL for (i32 a = 0; a < h.taps; a++) {
        i32 y = (i32)s.row * h.in_mul + h.in_first + a * h.in_step;
        GPU_NO_UNROLL for (i32 b = 0; b < w.taps; b++) {
            i32 x = (i32)s.column * w.in_mul + w.in_first + b * w.in_step;
            if ((u32)y >= (u32)p.conv.dim[1].in || (u32)x >= (u32)p.conv.dim[2].in) continue;
            u32 tap = (u32)((h.tap_first + a * h.tap_step) * p.conv.dim[2].kernel + w.tap_first + b * w.tap_step);
            S term = from.covered[s.base + (u32)(a * h.in_step) * p.width + (u32)(b * w.in_step)];
            sum = gemm_mad(term, from.weights[tap], sum);
        }
    }
    return sum;
}

/* R results of a phase, a block's threads apart. */
template <int R, typename S>
GPU_FN void conv_planes_sums(const struct gpu_conv_planes &p, const struct conv_dim &h, const struct conv_dim &w,
                             const u32 (&base)[R], const conv_staged<S> &from, S (&sum)[R]) {
    u32 down = (u32)h.in_step * p.width, across = (u32)w.in_step, taps = (u32)w.taps, step = (u32)w.tap_step;
    GPU_UNROLL for (int r = 0; r < R; r++) sum[r] = 0;
    GPU_NO_UNROLL for (u32 a = 0; a < (u32)h.taps; a++) {
        const S *by = from.weights + ((u32)h.tap_first + a * (u32)h.tap_step) * (u32)p.conv.dim[2].kernel + w.tap_first;
        u32 at = a * down;
        GPU_NO_UNROLL for (u32 b = 0; b < taps; b++) {
            S weight = by[b * step];
            GPU_UNROLL for (int r = 0; r < R; r++) sum[r] = gemm_mad(from.covered[base[r] + at], weight, sum[r]);
            at += across;
        }
    }
}

template <typename T> GPU_FN void conv_planes(const struct gpu_conv_planes &p) {
    typedef typename gemm_sum<T>::type S;
    enum { R = GPU_CONV_TILE / GPU_BLOCK };
    GPU_SHARED S all_covered[GPU_CONV_TILE_BYTES / sizeof(S)];
    GPU_SHARED S all_weights[GPU_CONV_TILE_TAPS];
    GPU_SHARED conv_dim ph[2][GPU_CONV_TILE_PHASES];
    GPU_SHARED u32 odd; /* a weight is not finite */
    const struct gpu_conv &c = p.conv;
    u32 t = gpu_thread(), tiles = p.down * p.across, first = gpu_block_x() / tiles, tile = gpu_block_x() - first * tiles;
    u32 row0 = tile / p.across * p.rows, column0 = tile % p.across * p.columns, taps = (u32)(c.dim[1].kernel * c.dim[2].kernel);
    u32 phases_down = (u32)c.dim[1].phases, phases_across = (u32)c.dim[2].phases;
    /* The threads of a plane; those of planes behind the last one repeat it, and store nothing. */
    u32 threads = GPU_BLOCK / p.planes, which = t / threads, lane = t - which * threads, plane = first * p.planes + which;
    bool there = plane < c.planes;
    if (!there) plane = c.planes - 1;
    u32 channels = (u32)(c.groups * c.cout), n = plane / channels, channel = plane - n * channels;
    u32 group = channel / (u32)c.cout;
    conv_staged<S> to = {all_covered + which * p.height * p.width, all_weights + which * taps};

    if (t == 0) odd = 0;
    if (t < phases_down) ph[0][t] = conv_dim_of(c.dim[1], c.transposed, (i32)t);
    if (t < phases_across) ph[1][t] = conv_dim_of(c.dim[2], c.transposed, (i32)t);
    gpu_sync();
    const T *x = (const T *)c.x + ((i64)n * c.groups + group) * c.in_plane;
    i32 top = p.top + (i32)row0 * ph[0][0].in_mul, left = p.left + (i32)column0 * ph[1][0].in_mul;
    GPU_NO_UNROLL for (u32 i = lane; i < p.height * p.width; i += threads) {
        u32 row = gpu_divide(i, p.by_width);
        i32 h = top + (i32)row, w = left + (i32)(i - row * p.width);
        bool in = (u32)h < (u32)c.dim[1].in && (u32)w < (u32)c.dim[2].in;
        to.covered[i] = in ? gemm_up(x[h * c.dim[2].in + w]) : (S)0;
    }
    const T *weight = (const T *)c.weight + group * c.weight_group + (channel - group * (u32)c.cout) * c.weight_m;
    GPU_NO_UNROLL for (u32 i = lane; i < taps; i += threads) {
        S v = gemm_up(weight[i]);
        to.weights[i] = v;
        if (!(v - v == 0)) gpu_atomic_max(&odd, 1);
    }
    gpu_sync();

    T *out = (T *)c.out + (i64)plane * c.out_plane;
    GPU_NO_UNROLL for (u32 phase = 0; phase < phases_down * phases_across; phase++) {
        const struct conv_dim &h = ph[0][phase / phases_across], &w = ph[1][phase % phases_across];
        u32 base[R];
        S sum[R];
        GPU_UNROLL for (int r = 0; r < R; r++) base[r] = conv_spot_of(p, h, w, row0, column0, lane + r * threads).base;
        if (!odd) conv_planes_sums<R>(p, h, w, base, to, sum);
        GPU_UNROLL for (int r = 0; r < R; r++) {
            struct conv_spot s = conv_spot_of(p, h, w, row0, column0, lane + r * threads);
            if (!s.there || !there) continue;
            if (odd) sum[r] = conv_planes_sum(p, h, w, s, to);
            u32 at = (s.row * (u32)h.out_mul + (u32)h.out_first) * (u32)c.dim[2].out;
            out[at + s.column * (u32)w.out_mul + (u32)w.out_first] = conv_finish<T>(c, channel, sum[r]);
        }
    }
}

#define CONV(type)                                                                                                     \
    GPU_KERNEL(conv_tile_##type, struct gpu_conv) { conv_tile<type, 4>(p); }                                           \
    GPU_KERNEL(conv_direct_##type, struct gpu_conv) { conv_direct<type>(p); }
GPU_ALL(CONV)
GPU_KERNEL_OF(conv_wide_f32, struct gpu_conv, GPU_BLOCK, 2) { conv_tile<f32, 8>(p); }

#define CONV_GATHER(T)                                                                                                 \
    GPU_KERNEL(conv_gather_##T, struct gpu_conv) { conv_gather<T>(p); }                                                \
    GPU_KERNEL(conv_planes_##T, struct gpu_conv_planes) { conv_planes<T>(p); }
GPU_FLOATS(CONV_GATHER)
