/* Scaled dot product attention of f32 by matrix instructions that read eleven bits of an operand, as mma_tf32.h has
 * products: three for one. Rows of q, k and v begin at multiples of 16 bytes, elements side by side; depth and width are
 * at most DIM. The values of a step of keys arrive while its scores are made, the next step's keys while its values are
 * added.
 *
 * What three products leave out is below 2^-21 of their magnitudes, and sums of 32 terms, of a score or of a step's keys,
 * begin anew. A weight far below the largest, which is 1, counts where values are 0 for that one: so weights are multiplied
 * by 2^22, and the least that mma_exp2 makes, 2^-126, has all bits of its low part. A block that meets an element of q, k
 * or v below 2^-104, or makes a score or a sum that is not finite, goes through its keys again in plain arithmetic.
 *
 * From a row to the next in LDS it is DIM + 4 elements: then eight rows begin in eight groups of four banks, and the four
 * pairs of eight rows eight banks apart. Terms and columns of a product may come in any order: a lane has the weights of
 * two neighbouring keys, as sums lie, and reads four columns of their values at once. */
#include "attention_tiles.h"
#include "mma_tf32.h"

#if MMA && MMA_ASYNC
enum { THREADS = GPU_ATTENTION_TF32_THREADS };

/* ---- rows in LDS ---- */

/* Of N rows of up to DIM elements; each thread has a piece of four elements of some. */
template <int DIM> struct tf32_lines {
    enum { PITCH = GPU_ATTENTION_TF32_PITCH(DIM), PIECES = DIM / 4, NEXT = THREADS / PIECES };
    GPU_FN u32 piece(void) { return gpu_thread() % PIECES * 4; }
    GPU_FN u32 row(void) { return gpu_thread() / PIECES; }
    GPU_FN u32 place(void) { return row() * PITCH + piece(); }
    /* Bytes of the piece that exist in rows of so many elements. */
    GPU_FN u32 nbytes(i64 elements) {
        i64 left = elements - piece();
        return left >= 4 ? 16 : left <= 0 ? 0 : (u32)left * 4;
    }
};

/* Keys or values from number `first` of `keys`; the rest are zeros. */
template <int DIM, int KEYS>
GPU_FN void tf32_copy_keys(mma_lds lds, const f32 *from, i64 stride, u32 first, u32 keys, i64 elements) {
    typedef tf32_lines<DIM> lines;
    u32 nbytes = lines::nbytes(elements);
    /* A piece, or a key, that is not there is not asked for, but its address must be one. */
    u32 piece = nbytes ? lines::piece() : 0;
    lds += lines::place() * 4;
    GPU_NO_UNROLL for (u32 j0 = 0; j0 < KEYS / lines::NEXT; j0 += 2) GPU_UNROLL for (u32 j = j0; j < j0 + 2; j++) {
        u32 key = first + lines::row() + j * lines::NEXT;
        mma_copy16_at(lds + j * (lines::NEXT * lines::PITCH * 4), from + (key < keys ? key : 0) * stride + piece,
                      key < keys ? nbytes : 0);
    }
}

/* The rows of the block, and their queries into LDS. */
template <int DIM, int ROWS>
GPU_FN void tf32_copy_queries(const struct gpu_attention &p, const struct attention_place &at,
                              struct attention_row *rows, mma_lds lds) {
    typedef tf32_lines<DIM> lines;
    u32 nbytes = lines::nbytes(p.depth);
    const f32 *q = (const f32 *)p.q + (nbytes ? lines::piece() : 0);
    for (u32 r = gpu_thread(); r < ROWS; r += THREADS) rows[r] = attention_row_of(p, at, r);
    gpu_sync();
    lds += lines::place() * 4;
    GPU_NO_UNROLL for (u32 j = 0; j < ROWS / lines::NEXT; j++) {
        const struct attention_row *row = rows + lines::row() + j * lines::NEXT;
        mma_copy16_at(lds + j * (lines::NEXT * lines::PITCH * 4), q + row->q, row->out >= 0 ? nbytes : 0);
    }
}

/* tf32_least of this thread's pieces of N rows. */
template <int DIM, int N> GPU_FN u32 tf32_least_line(const f32 *lds, u32 least) {
    typedef tf32_lines<DIM> lines;
    lds += lines::place();
    GPU_UNROLL for (int j = 0; j < N / lines::NEXT; j++)
        least = tf32_least_of(*(const struct tf32_four *)(lds + j * (lines::NEXT * lines::PITCH)), least);
    return least;
}

/* ---- scores: q k^T for a step of keys ---- */

template <int DIM, int TILES, int COLUMNS>
GPU_FN void tf32_scores(mma_lds qs, mma_lds ks, u32 depth, struct mma_tile (&s)[TILES][COLUMNS]) {
    enum { PITCH = tf32_lines<DIM>::PITCH };
    qs += (gpu_wave() * (16 * TILES) * PITCH + tf32_a_at<PITCH>()) * 4;
    ks += tf32_b_at<PITCH>() * 4;
    mma_clear(s);
    GPU_NO_UNROLL for (u32 d = 0; d < depth; d += TF32_STEP) {
        tf32_multiply<PITCH>(qs, ks, s);
        qs += TF32_STEP * 4;
        ks += TF32_STEP * 4;
    }
}

/* ---- results: weights times the values of a step of keys, added to what there is times `fade` ----
 *
 * Columns come in groups of 32, of which a lane has the eight from number lane % 4 * 8 on: element e of tile i of a group
 * is the column e % 2 * 4 + i * 2 + e / 4 of them. */

template <int DIM, int TILES, int STEPS, int COLUMNS>
GPU_FN void tf32_add(const struct mma_tile (&s)[TILES][COLUMNS], f32 by, const f32 *vs, u32 width,
                     const f32 (&fade)[TILES][2], struct mma_tile (&out)[TILES][STEPS]) {
    enum { PITCH = tf32_lines<DIM>::PITCH, EIGHTS = COLUMNS * 2 };
    struct mma_fragment x[EIGHTS][TILES][2];
    GPU_UNROLL for (int i = 0; i < TILES; i++) GPU_UNROLL for (int j = 0; j < EIGHTS; j++) {
        struct mma_fragment weights;
        GPU_UNROLL for (int w = 0; w < 4; w++)
            weights.word[w] = gpu_bits<u32>(s[i][j / 2].v[j % 2 * 4 + w % 2 * 2 + w / 2] * by);
        tf32_split(weights, x[j][i][0], x[j][i][1]);
    }
    vs += gpu_lane() % 4 * 2 * PITCH + gpu_lane() / 4 * 4;
    GPU_UNROLL for (u32 c = 0; c < STEPS; c += 2) {
        if (c * 16 >= width) continue;
        struct mma_tile part[TILES][2];
        mma_clear(part);
        GPU_UNROLL for (int j = 0; j < EIGHTS; j++) {
            struct mma_fragment y[2][2];
            struct tf32_four row[2];
            GPU_UNROLL for (int k = 0; k < 2; k++)
                row[k] = *(const struct tf32_four *)(vs + (j * 8 + k) * PITCH + c * 16);
            GPU_UNROLL for (int n = 0; n < 2; n++) {
                struct mma_fragment values;
                GPU_UNROLL for (int w = 0; w < 4; w++) values.word[w] = row[w % 2].word[n * 2 + w / 2];
                tf32_split(values, y[n][0], y[n][1]);
            }
            tf32_products(x[j], y, part);
        }
        GPU_UNROLL for (int i = 0; i < TILES; i++) GPU_UNROLL for (int n = 0; n < 2; n++)
            GPU_UNROLL for (u32 e = 0; e < MMA_SUMS; e++)
                out[i][c + n].v[e] = gpu_fma(out[i][c + n].v[e], fade[i][attention_half(e)], part[i][n].v[e]);
    }
}

/* The same in plain arithmetic, key by key. */
template <int DIM, int TILES, int STEPS, int COLUMNS>
GPU_FN void tf32_plain_add(const struct mma_tile (&s)[TILES][COLUMNS], const f32 *vs, const f32 (&fade)[TILES][2],
                           struct mma_tile (&out)[TILES][STEPS]) {
    enum { PITCH = tf32_lines<DIM>::PITCH };
    vs += gpu_lane() % 4 * 8;
    GPU_UNROLL for (int i = 0; i < TILES; i++) GPU_UNROLL for (int c = 0; c < STEPS; c++)
        GPU_UNROLL for (u32 e = 0; e < MMA_SUMS; e++) out[i][c].v[e] *= fade[i][attention_half(e)];
    GPU_NO_UNROLL for (u32 key = 0; key < COLUMNS * 16; key++) {
        f32 weight[TILES][2];
        GPU_UNROLL for (int i = 0; i < TILES; i++) GPU_UNROLL for (u32 half = 0; half < 2; half++) {
            u32 own = 0; /* the key's, in one of the four lanes of the row; a choice would have scratch memory */
            GPU_UNROLL for (u32 j = 0; j < COLUMNS; j++) GPU_UNROLL for (u32 n = 0; n < ATTENTION_EACH; n++)
                own |= gpu_bits<u32>(s[i][j].v[attention_element(half, n)]) &
                       -(u32)(key / 16 * 16 + key / 8 % 2 * 8 + key % 2 == j * 16 + attention_ahead(attention_element(half, n)));
            weight[i][half] = gpu_bits<f32>(gpu_shuffle(own, gpu_lane() / 4 * 4 + key % 8 / 2));
        }
        GPU_UNROLL for (u32 c = 0; c < STEPS; c++) GPU_UNROLL for (u32 e = 0; e < MMA_SUMS; e++) {
            f32 value = vs[key * PITCH + c / 2 * 32 + e % 2 * 4 + c % 2 * 2 + e / 4];
            GPU_UNROLL for (int i = 0; i < TILES; i++)
                out[i][c].v[e] = gpu_fma(weight[i][attention_half(e)], value, out[i][c].v[e]);
        }
    }
}

/* Four neighbours of a row. */
GPU_FN void tf32_put(f32 *to, i64 column, i64 width, const gpu_vec<f32> &x) {
    if (column + 4 <= width && width % 4 == 0)
        gpu_store16(to + column, x);
    else
        GPU_UNROLL for (int e = 0; e < 4; e++) if (column + e < width) to[column + e] = x.v[e];
}

/* Writes the results, which are `by` times what the sums have, or the sums of a part of the keys. The bits of the result
 * are those of the lane's rows that must be summed again, of which there are none unless keys are left out. */
template <int TILES, int STEPS>
GPU_FN u32 tf32_store(const struct gpu_attention &p, const struct attention_row *rows,
                      struct attention_sums<TILES, STEPS> &sums, f32 by, bool hides) {
    const f32 ln2 = 0.69314718055994531f;
    u32 again = 0;
    attention_total(sums);
    GPU_UNROLL for (int i = 0; i < TILES; i++) GPU_UNROLL for (u32 half = 0; half < 2; half++) {
        f32 sum = sums.total[i][half], part = sum == 0 ? 0 : 1.0f / sum, high = sums.most[i][half] * ln2;
        i64 row = rows[i * 16 + attention_line(half)].out;
        if (row < 0) continue;
        if (p.splits == 1 && p.log_sums && gpu_lane() % 4 == 0) ((f32 *)p.log_sums)[row] = attention_log_sum(high, sum);
        if (p.splits > 1) {
            row += (i64)gpu_block_y() * p.total;
            part = 1;
            if (gpu_lane() % 4 == 0) {
                ((f32 *)p.stats)[row * 2] = high;
                ((f32 *)p.stats)[row * 2 + 1] = sum;
            }
        }
        f32 *to = (f32 *)(p.splits > 1 ? p.partial : p.out) + row * p.width;
        bool nan = false;
        GPU_UNROLL for (u32 c = 0; c < STEPS; c += 2) GPU_UNROLL for (u32 m = 0; m < 2; m++) {
            gpu_vec<f32> x;
            GPU_UNROLL for (u32 n = 0; n < 4; n++) {
                f32 v = sums.out[i][c + n / 2].v[n % 2 * 4 + half * 2 + m];
                nan |= v != v;
                x.v[n] = v * (by * part);
            }
            tf32_put(to, c * 16 + gpu_lane() % 4 * 8 + m * 4, p.width, x);
        }
        if (hides && nan && sum == sum) again |= 1u << (i * 2 + half);
    }
    return again;
}

/* ---- a block ---- */

/* The block, of whose rows this wave has those from `mine` on. In LDS its queries are followed by a step of keys and one of
 * values. */
template <int DIM, int TILES> struct tf32_block {
    enum { ROWS = THREADS / 2 * TILES, KEYS = GPU_ATTENTION_TF32_KEYS, K = ROWS * tf32_lines<DIM>::PITCH,
           V = K + KEYS * tf32_lines<DIM>::PITCH };
    const f32 *k, *v; /* from its first key on */
    u32 keys;
    struct attention_free free;
    const struct attention_row *mine;
    const struct attention_place *place; /* in LDS: registers are few */
    mma_lds lds;
};

/* What weights are multiplied by. */
GPU_FN f32 tf32_by(bool plain) { return plain ? 1.0f : 4194304.0f; }

/* Goes through the keys, and says whether it is to be done again, plainly. */
template <int DIM, int TILES, int STEPS>
GPU_FN bool tf32_pass(const struct gpu_attention &p, const struct tf32_block<DIM, TILES> &x, bool plain,
                      struct attention_sums<TILES, STEPS> &sums) {
    typedef struct tf32_block<DIM, TILES> block;
    typedef tf32_lines<DIM> lines;
    enum { KEYS = block::KEYS, COLUMNS = KEYS / 16 };
    const f32 *qs = (const f32 *)attention_shared, *ks = qs + block::K, *vs = qs + block::V;
    mma_lds k_to = x.lds + block::K * 4, v_to = x.lds + block::V * 4;
    u32 least = ~0u;
    f32 odd = 0; /* NaN after a score that is not finite */
    GPU_UNROLL for (int i = 0; i < TILES; i++) {
        sums.most[i][0] = sums.most[i][1] = attention_lowest(0.0f);
        sums.total[i][0] = sums.total[i][1] = 0;
    }
    mma_clear(sums.out);
    tf32_copy_keys<DIM, KEYS>(k_to, x.k, p.k_stride[2], 0, x.keys, p.depth);
    mma_copy_commit();
    GPU_NO_UNROLL for (u32 key = 0; key < x.keys; key += KEYS) {
        struct mma_tile s[TILES][COLUMNS];
        f32 fade[TILES][2];
        mma_copy_wait<0>();
        gpu_sync();
        tf32_copy_keys<DIM, KEYS>(v_to, x.v, p.v_stride[2], key, x.keys, p.width);
        mma_copy_commit();
        if (plain) {
            mma_clear(s);
            tf32_plain<lines::PITCH>(qs + gpu_wave() * (16 * TILES) * lines::PITCH, ks, (u32)p.depth, s);
        } else {
            tf32_scores<DIM>(x.lds, k_to, (u32)p.depth, s);
            if (key == 0) least = tf32_least_line<DIM, block::ROWS>(qs, least);
            least = tf32_least_line<DIM, KEYS>(ks, least);
            GPU_UNROLL for (int i = 0; i < TILES; i++) GPU_UNROLL for (int j = 0; j < COLUMNS; j++)
                GPU_UNROLL for (int e = 0; e < MMA_SUMS; e++) odd = gpu_fma(s[i][j].v[e], 0.0f, odd);
        }
        mma_copy_wait<0>();
        gpu_sync();
        if (key + KEYS < x.keys)
            tf32_copy_keys<DIM, KEYS>(k_to, x.k, p.k_stride[2], key + KEYS, x.keys, p.depth);
        mma_copy_commit();
        attention_rate<f32>(p, attention_part{x.mine, x.place->begin, x.keys, x.free}, key, s, sums, fade);
        if (plain) {
            tf32_plain_add<DIM>(s, vs, fade, sums.out);
        } else {
            tf32_add<DIM>(s, tf32_by(plain), vs, (u32)p.width, fade, sums.out);
            least = tf32_least_line<DIM, KEYS>(vs, least);
        }
    }
    mma_copy_wait<0>();
    return !plain && (least < TF32_SMALL || odd != odd || tf32_not_finite(sums.out));
}

template <int DIM, int TILES> GPU_FN void tf32_attention(const struct gpu_attention &p) {
    enum { ROWS = tf32_block<DIM, TILES>::ROWS };
    GPU_SHARED struct attention_row rows[ROWS];
    GPU_SHARED struct attention_place kept;
    GPU_SHARED u32 any;
    struct attention_place at = attention_locate(p, ROWS);
    if (p.q_starts && p.first == 0 && gpu_block_x() == 0) attention_check_starts(p);
    if (at.row0 >= at.rows) return;
    struct tf32_block<DIM, TILES> x;
    x.k = (const f32 *)p.k + at.k + at.begin * p.k_stride[2];
    x.v = (const f32 *)p.v + at.v + at.begin * p.v_stride[2];
    x.keys = (u32)(at.end - at.begin);
    x.free = attention_free_of(p, at);
    x.mine = rows + gpu_wave() * (16 * TILES);
    x.place = &kept;
    x.lds = mma_lds_of(attention_shared);
    if (gpu_thread() == 0) {
        any = 0;
        kept = at;
    }
    tf32_copy_queries<DIM, ROWS>(p, at, rows, x.lds);
    struct attention_sums<TILES, DIM / 16> sums;
    bool plain = false;
    for (;; plain = true) {
        if (tf32_pass(p, x, plain, sums)) any = 1;
        gpu_sync();
        if (plain || !any) break;
    }
    gpu_sync();
    if (gpu_thread() == 0) any = 0;
    gpu_sync();
    bool hides = x.free.begin > 0 || x.free.end < x.keys;
    u32 again = tf32_store(p, x.mine, sums, 1.0f / tf32_by(plain), hides);
    if (again) any = 1;
    gpu_sync();
    if (any) attention_repair<f32, ROWS, THREADS>(p, kept, rows, sums, again, (f32 *)attention_shared);
}
#define TF32_ATTENTION(dim) tf32_attention<dim, GPU_ATTENTION_TF32_ROWS / 64>(p)
#else
/* The host never asks for these elsewhere. */
#define TF32_ATTENTION(dim) (void)p
#endif

GPU_KERNEL_OF(attention_tf32_64, struct gpu_attention, GPU_ATTENTION_TF32_THREADS, 3) { TF32_ATTENTION(64); }
GPU_KERNEL_OF(attention_tf32_128, struct gpu_attention, GPU_ATTENTION_TF32_THREADS, 3) { TF32_ATTENTION(128); }
