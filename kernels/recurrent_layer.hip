/* All steps of a direction of a recurrent layer by one launch, whose blocks run at once: the weight stays in LDS, and
 * the state, or the gradients of the gates, go from block to block as tagged words. Sums are added in the order of
 * recurrent_steps.hip, to the same bits. */
#include "dtype.h"
#include "layout.h"
#include "recurrent_cells.h"
#include "tagged.h"
#include "wave.h"

#include "recurrent_layer.h"

enum { LAYER_WAVES = GPU_LAYER_THREADS / GPU_WAVE, LAYER_COLUMNS = 4 };
GPU_DYNAMIC_SHARED(gpu_16, layer_shared);

/* How terms lie in LDS: a turn has 4 words a lane, words of 4 bytes or an element, those of neighbouring lanes side by
 * side in memory; a lane's lie side by side in LDS, and of values, which are f32, each four. */
template <typename T> struct layer_terms {
    enum { WORD = sizeof(T) < 4 ? 4 / sizeof(T) : 1, N = 4 * WORD, FOURS = N / 4, TURN = N * GPU_WAVE };
    /* Element `e` of a lane's in a turn. */
    GPU_FN u32 term(u32 turn, u32 lane, u32 e) { return turn * TURN + (e / WORD * GPU_WAVE + lane) * WORD + e % WORD; }
    GPU_FN u32 place(u32 k) {
        const u32 word = k / WORD, lane = word % GPU_WAVE, e = word / GPU_WAVE % 4 * WORD + k % WORD;
        return ((k / TURN * FOURS + e / 4) * GPU_WAVE + lane) * 4 + e % 4;
    }
};

/* What a block works on. */
struct layer_block {
    u32 first, end; /* tasks */
    u32 row, last;  /* the first one of the group, and the one behind it */
};
GPU_FN struct layer_block layer_block_of(const struct gpu_layer_way &p, u32 all, u32 rows) {
    const u32 first = gpu_block_x() * p.tasks, end = first + p.tasks;
    const u32 row = gpu_block_y() * p.chunks * rows, last = row + p.chunks * rows;
    struct layer_block b = {first, end < all ? end : all, row, last < p.rows ? last : p.rows};
    return b;
}

/* A weight [rows,terms]; column c of a task is its row `step * c + each * task`. */
struct layer_weight {
    const void *from;
    u32 terms, rows, step, each;
};

/* Copies the columns of the block's tasks to LDS, 0 where there is none; the `fours` of values behind them become 0. */
template <typename T, int COLUMNS>
GPU_FN void layer_keep(const struct gpu_layer_way &p, const struct layer_block &b, const struct layer_weight &weight,
                       u32 fours) {
    typedef layer_terms<T> L;
    const u32 pieces = p.turns * GPU_WAVE, n = p.tasks * COLUMNS * p.turns;
    GPU_NO_UNROLL for (u32 i = gpu_wave(); i < n; i += LAYER_WAVES) {
        const u32 column = i / p.turns, turn = i - column * p.turns;
        const u32 task = b.first + column / COLUMNS;
        const u32 row = column % COLUMNS * weight.step + task * weight.each;
        gpu_vec<T> v;
        GPU_UNROLL for (int e = 0; e < L::N; e++) {
            const u32 k = L::term(turn, gpu_lane(), e);
            v.v[e] = gpu_round<T>((f32)0);
            if (task < b.end && row < weight.rows && k < weight.terms)
                v.v[e] = ((const T *)weight.from)[(u64)row * weight.terms + k];
        }
        ((gpu_vec<T> *)layer_shared)[column * pieces + turn * GPU_WAVE + gpu_lane()] = v;
    }
    gpu_vec<f32> *values = (gpu_vec<f32> *)layer_shared + n * GPU_WAVE;
    const gpu_vec<f32> none = {{0, 0, 0, 0}};
    GPU_NO_UNROLL for (u32 i = gpu_thread(); i < fours; i += GPU_LAYER_THREADS) values[i] = none;
}

/* Puts values [rows,terms] that other blocks make into LDS as they come. */
template <typename T>
GPU_FN void layer_take(const struct gpu_layer_way &p, const u64 *words, u32 count, u32 tag, f32 *values) {
    enum { AHEAD = GPU_WAVE == 64 ? 4 : 8 }; /* scalar registers run out where waves have 64 lanes */
    const u32 terms = gpu_anew(p.by_column.d), stride = gpu_anew(p.turns) * layer_terms<T>::TURN;
    const u32 last = gpu_anew(count) - 1;
    GPU_NO_UNROLL for (u32 first = gpu_thread(); first < count; first += AHEAD * GPU_LAYER_THREADS) {
        u64 word[AHEAD];
        u32 wrong;
        do {
            wrong = 0;
            GPU_UNROLL for (u32 i = 0; i < AHEAD; i++) {
                const u32 at = first + i * GPU_LAYER_THREADS;
                word[i] = gpu_tagged_load(words + (at < last ? at : last));
            }
            GPU_UNROLL for (u32 i = 0; i < AHEAD; i++) wrong |= gpu_tag_of(word[i]) ^ tag;
        } while (wrong);
        GPU_UNROLL for (u32 i = 0; i < AHEAD; i++) {
            const u32 at = gpu_anew(first) + i * GPU_LAYER_THREADS;
            if (at <= last) {
                const u32 row = gpu_divide(at, p.by_column);
                values[row * stride + layer_terms<T>::place(at - row * terms)] = gpu_value_of(word[i]);
            }
        }
    }
}

/* The sums of a task's columns by ROWS values: step_dots of recurrent_steps.hip. */
template <typename T, int COLUMNS, int ROWS>
GPU_FN u32 layer_dots(const gpu_vec<T> *weight, const gpu_vec<f32> *values, u32 turns, f32 *sum) {
    typedef layer_terms<T> L;
    enum { SUMS = LAYER_COLUMNS * ROWS };
    const u32 pieces = gpu_anew(turns) * GPU_WAVE, fours = pieces * L::FOURS;
    f32 all[SUMS];
    GPU_UNROLL for (int i = 0; i < SUMS; i++) all[i] = 0;
    GPU_NO_UNROLL for (u32 turn = 0; turn < turns; turn++) {
        gpu_vec<T> w[COLUMNS];
        GPU_UNROLL for (int c = 0; c < COLUMNS; c++) w[c] = weight[c * pieces + turn * GPU_WAVE + gpu_lane()];
        GPU_UNROLL for (int f = 0; f < L::FOURS; f++) {
            gpu_vec<f32> x[ROWS];
            GPU_UNROLL for (int r = 0; r < ROWS; r++)
                x[r] = values[r * fours + (turn * L::FOURS + f) * GPU_WAVE + gpu_lane()];
            GPU_UNROLL for (int e = 0; e < 4; e++) {
                GPU_UNROLL for (int c = 0; c < COLUMNS; c++) {
                    const f32 y = gpu_up(w[c].v[f * 4 + e]);
                    GPU_UNROLL for (int r = 0; r < ROWS; r++)
                        all[c * ROWS + r] = gpu_fma(y, x[r].v[e], all[c * ROWS + r]);
                }
            }
        }
    }
    const u32 number = gpu_wave_join_each<gpu_join_add, SUMS>(all);
    *sum = all[0];
    return number;
}

/* The number of the sum that gpu_wave_join_each gives this lane. */
template <int ROWS> GPU_FN u32 layer_number(void) {
    const u32 lane = gpu_anew(gpu_lane());
    u32 number = 0;
    GPU_UNROLL for (u32 step = 0; step < 5; step++)
        number += (lane >> step & 1) * ((u32)(LAYER_COLUMNS * ROWS) >> (step + 1));
    return number;
}

/* Where a step stands in time. */
GPU_FN u32 layer_time(const struct gpu_layer_way &p, u32 step) { return p.backwards ? p.steps - 1 - step : step; }

/* ---- forward ---- */

/* What a lane needs of a step besides the sums; of a gated cell in the first of four lanes. */
template <int GATES> struct layer_given {
    f32 input[GATES], bias[GATES], before;
};

/* Row and element of the state of a lane; `there` where it makes one. */
struct layer_cell {
    u32 row, unit;
    bool there;
};
template <int ROWS, bool GATED>
GPU_FN struct layer_cell layer_cell_of(const struct gpu_layer_way &p, u32 first, u32 task) {
    const u32 number = layer_number<ROWS>();
    struct layer_cell at = {first + number % ROWS, GATED ? task : task * LAYER_COLUMNS + number / ROWS, false};
    const u32 lane = gpu_anew(gpu_lane());
    at.there = lane < LAYER_COLUMNS * ROWS && (!GATED || lane % 4 == 0) && at.row < p.rows && at.unit < p.size;
    return at;
}

template <typename T, int GATES>
GPU_FN void layer_look(const struct gpu_recurrent_layer &p, u32 step, const struct layer_cell &at,
                       layer_given<GATES> &given) {
    const struct gpu_layer_way &way = p.way;
    const u32 size = gpu_anew(way.size);
    step = gpu_anew(step);
    if (!at.there) return;
    const u64 row = layer_time(way, step) * way.rows + at.row;
    GPU_UNROLL for (int k = 0; k < GATES; k++) {
        given.input[k] = gpu_up(((const T *)p.input)[(row * GATES + k) * size + at.unit]);
        given.bias[k] = p.bias ? gpu_up(((const T *)p.bias)[k * size + at.unit]) : 0;
    }
    const u64 before = step ? layer_time(way, step - 1) * way.rows + at.row : at.row, e = before * size + at.unit;
    if (GATES == 4) given.before = step ? ((const f32 *)p.next_c)[e] : ((const f32 *)p.c)[e];
    if (GATES == 3) given.before = gpu_up(step ? ((const T *)p.out)[e] : ((const T *)p.h)[e]);
}

GPU_FN cell_made<f32> layer_make(const f32 (&x)[4], const f32 (&y)[4], f32 c, bool relu) {
    (void)relu;
    const f32 a[4] = {x[0] + y[0], x[1] + y[1], x[2] + y[2], x[3] + y[3]};
    return cell_lstm(a, c);
}
GPU_FN cell_made<f32> layer_make(const f32 (&x)[3], const f32 (&y)[3], f32 h, bool relu) {
    (void)relu;
    return cell_gru(x, y, h);
}
GPU_FN cell_made<f32> layer_make(const f32 (&x)[1], const f32 (&y)[1], f32 before, bool relu) {
    (void)before;
    cell_made<f32> made;
    made.h = cell_rnn(x[0] + y[0], relu);
    return made;
}

template <typename T, int GATES>
GPU_FN void layer_put(const struct gpu_recurrent_layer &p, u32 step, const struct layer_cell &at,
                      const layer_given<GATES> &given, const f32 (&sum)[GATES]) {
    const struct gpu_layer_way &way = p.way;
    f32 y[GATES];
    const u32 size = gpu_anew(way.size);
    step = gpu_anew(step);
    GPU_UNROLL for (int k = 0; k < GATES; k++) y[k] = gpu_up(gpu_round<T>(sum[k] + given.bias[k]));
    const cell_made<f32> made = layer_make(given.input, y, given.before, way.relu);
    const T h = gpu_round<T>(made.h);
    if (!at.there) return;
    gpu_tagged_store(way.words + (u64)((step & 1) * way.rows + at.row) * size + at.unit,
                     gpu_tagged(gpu_up(h), step + 1));
    const u64 row = layer_time(way, step) * way.rows + at.row, e = row * size + at.unit;
    ((T *)p.out)[e] = h;
    if (GATES == 4) ((f32 *)p.next_c)[e] = made.c;
    if (GATES > 1 && p.gates) {
        GPU_UNROLL for (int k = 0; k < 4; k++) ((f32 *)p.gates)[(row * 4 + k) * size + at.unit] = made.gate[k];
    }
}

/* The sum of `gate` in this lane's row: step_gate of recurrent_steps.hip. */
GPU_FN f32 layer_gate(f32 sum, u32 gate) { return gpu_shuffle(sum, (gpu_lane() & ~3u) | gate >> 1 | (gate & 1) << 1); }

template <typename T, int GATES, int ROWS> GPU_FN void layer_forward(const struct gpu_recurrent_layer &p) {
    typedef layer_terms<T> L;
    enum { GATED = GATES > 1, COLUMNS = GATED ? GATES : LAYER_COLUMNS };
    const struct gpu_layer_way &way = p.way;
    const u32 all = GATED ? way.size : (way.size + LAYER_COLUMNS - 1) / LAYER_COLUMNS, pieces = way.turns * GPU_WAVE;
    const struct layer_block b = layer_block_of(way, all, ROWS);
    const gpu_vec<T> *weight = (const gpu_vec<T> *)layer_shared;
    f32 *values = (f32 *)(layer_shared + way.tasks * COLUMNS * pieces);
    const struct layer_weight from = {p.weight, way.size, GATES * way.size, GATED ? way.size : 1,
                                      GATED ? 1 : LAYER_COLUMNS};
    layer_keep<T, COLUMNS>(way, b, from, ROWS * pieces * L::FOURS);
    gpu_sync();
    GPU_NO_UNROLL for (u32 step = 0; step < way.steps; step++) {
        GPU_NO_UNROLL for (u32 first = b.row; first < b.last; first += ROWS) {
            const u32 rows = b.last - first < ROWS ? b.last - first : ROWS, count = rows * way.size;
            u32 task = b.first + gpu_wave();
            struct layer_cell at = layer_cell_of<ROWS, GATED>(way, first, task);
            layer_given<GATES> given = {};
            at.there = at.there && task < b.end;
            layer_look<T>(p, step, at, given);
            if (step == 0) {
                GPU_NO_UNROLL for (u32 i = gpu_thread(); i < count; i += GPU_LAYER_THREADS) {
                    const u32 row = gpu_divide(i, way.by_column);
                    values[row * way.turns * L::TURN + L::place(i - row * way.size)] =
                        gpu_up(((const T *)p.h)[(u64)first * way.size + i]);
                }
            } else {
                layer_take<T>(way, way.words + (u64)(((step - 1) & 1) * way.rows + first) * way.size, count, step,
                              values);
            }
            gpu_sync();
            GPU_NO_UNROLL for (; task < b.end; task += LAYER_WAVES) {
                f32 sum, sums[GATES];
                layer_dots<T, COLUMNS, ROWS>(weight + (task - b.first) * COLUMNS * pieces, (const gpu_vec<f32> *)values,
                                             way.turns, &sum);
                sums[0] = sum;
                if (GATED) {
                    GPU_UNROLL for (int k = 0; k < GATES; k++) sums[k] = layer_gate(sum, k);
                }
                layer_put<T>(p, step, at, given, sums);
                at = layer_cell_of<ROWS, GATED>(way, first, task + LAYER_WAVES);
                at.there = at.there && task + LAYER_WAVES < b.end;
                layer_look<T>(p, step, at, given);
            }
            gpu_sync();
        }
    }
}

/* ---- backward ---- */

struct layer_kept {
    f32 gradient, last, gate[4], c, next_c, carry, state;
};

template <typename T, int GATES>
GPU_FN void layer_look_back(const struct gpu_recurrent_layer_backward &p, u32 step, const struct layer_cell &at,
                            struct layer_kept &kept) {
    const struct gpu_layer_way &way = p.way;
    step = gpu_anew(step);
    if (!at.there) return;
    const u64 row = layer_time(way, step) * way.rows + at.row, e = row * way.size + at.unit;
    const u64 here = (u64)at.row * way.size + at.unit;
    kept.gradient = gpu_up(((const T *)p.gradient)[e]);
    kept.last = step == 0 ? gpu_up(((const T *)p.last)[here]) : 0;
    if (GATES != 4) kept.state = gpu_up(((const T *)p.state)[e]);
    if (GATES > 1) {
        GPU_UNROLL for (int k = 0; k < 4; k++)
            kept.gate[k] = ((const f32 *)p.gates)[(row * 4 + k) * way.size + at.unit];
        kept.carry = step == 0 ? ((const f32 *)p.carry)[here] : ((const f32 *)p.of_carry)[here];
    }
    if (GATES == 4) {
        kept.c = ((const f32 *)p.c)[e];
        kept.next_c = ((const f32 *)p.next_c)[e];
    }
}

/* Rounds what goes on through the weight, and gives it to all. */
template <typename T, int GATES>
GPU_FN T layer_tell(const struct gpu_layer_way &p, u32 step, const struct layer_cell &at, int gate, f32 slope) {
    const T v = gpu_round<T>(slope);
    u64 *word = p.words + (u64)(((step & 1) * p.rows + at.row) * GATES + gate) * p.size + at.unit;
    gpu_tagged_store(word, gpu_tagged(gpu_up(v), step + 1));
    return v;
}

/* The gradients of an element, from d, that of h': step_slopes of recurrent_steps.hip. */
template <typename T, int GATES>
GPU_FN void layer_put_back(const struct gpu_recurrent_layer_backward &p, u32 step, const struct layer_cell &at,
                           const struct layer_kept &kept, f32 d) {
    const struct gpu_layer_way &way = p.way;
    step = gpu_anew(step);
    const u64 row = layer_time(way, step) * way.rows + at.row;
    T *of_input = (T *)p.of_input + row * GATES * way.size + at.unit;
    T *of_hidden = (T *)p.of_hidden + row * GATES * way.size + at.unit;
    if (GATES == 1) {
        *of_input = layer_tell<T, GATES>(way, step, at, 0, cell_rnn_backward(d, kept.state, way.relu));
        return;
    }
    const cell_slopes<f32> s = GATES == 4 ? cell_lstm_backward(d, kept.carry, kept.gate, kept.c, kept.next_c)
                                          : cell_gru_backward(d + kept.carry, kept.gate, kept.state);
    T slope[GATES];
    GPU_UNROLL for (int k = 0; k < GATES; k++)
        slope[k] = layer_tell<T, GATES>(way, step, at, k, GATES == 3 && k == 2 ? s.part : s.gate[k]);
    GPU_UNROLL for (int k = 0; k < GATES; k++) {
        of_input[k * way.size] = GATES == 3 && k == 2 ? gpu_round<T>(s.gate[k]) : slope[k];
        if (GATES == 3) of_hidden[k * way.size] = slope[k];
    }
    ((f32 *)p.of_carry)[(u64)at.row * way.size + at.unit] = s.carry;
}

template <typename T, int GATES, int ROWS> GPU_FN void layer_backward(const struct gpu_recurrent_layer_backward &p) {
    typedef layer_terms<T> L;
    const struct gpu_layer_way &way = p.way;
    const u32 all = (way.size + LAYER_COLUMNS - 1) / LAYER_COLUMNS, pieces = way.turns * GPU_WAVE;
    const u32 terms = way.by_column.d;
    const struct layer_block b = layer_block_of(way, all, ROWS);
    const gpu_vec<T> *weight = (const gpu_vec<T> *)layer_shared;
    f32 *values = (f32 *)(layer_shared + way.tasks * LAYER_COLUMNS * pieces);
    const struct layer_weight from = {p.weight, terms, way.size, 1, LAYER_COLUMNS};
    layer_keep<T, LAYER_COLUMNS>(way, b, from, ROWS * pieces * L::FOURS);
    gpu_sync();
    GPU_NO_UNROLL for (u32 step = 0; step < way.steps; step++) {
        GPU_NO_UNROLL for (u32 first = b.row; first < b.last; first += ROWS) {
            const u32 rows = b.last - first < ROWS ? b.last - first : ROWS;
            u32 task = b.first + gpu_wave();
            struct layer_cell at = layer_cell_of<ROWS, false>(way, first, task);
            struct layer_kept kept;
            at.there = at.there && task < b.end;
            layer_look_back<T, GATES>(p, step, at, kept);
            if (step)
                layer_take<T>(way, way.words + (u64)(((step - 1) & 1) * way.rows + first) * terms, rows * terms, step,
                              values);
            gpu_sync();
            GPU_NO_UNROLL for (; task < b.end; task += LAYER_WAVES) {
                f32 sum = 0;
                if (step)
                    layer_dots<T, LAYER_COLUMNS, ROWS>(weight + (task - b.first) * LAYER_COLUMNS * pieces,
                                                       (const gpu_vec<f32> *)values, way.turns, &sum);
                const f32 next = step ? gpu_up(gpu_round<T>(sum)) : kept.last;
                if (at.there) layer_put_back<T, GATES>(p, step, at, kept, kept.gradient + next);
                at = layer_cell_of<ROWS, false>(way, first, task + LAYER_WAVES);
                at.there = at.there && task + LAYER_WAVES < b.end;
                layer_look_back<T, GATES>(p, step, at, kept);
            }
            gpu_sync();
        }
    }
}

#define LAYER(name, params, function, T, GATES, ROWS)                                                                  \
    GPU_KERNEL_OF(name##_##ROWS##_##T, params, GPU_LAYER_THREADS, 1) { function<T, GATES, ROWS>(p); }
#define LAYERS(T)                                                                                                      \
    LAYER(rnn_layer, struct gpu_recurrent_layer, layer_forward, T, 1, 1)                                               \
    LAYER(rnn_layer, struct gpu_recurrent_layer, layer_forward, T, 1, 8)                                               \
    LAYER(lstm_layer, struct gpu_recurrent_layer, layer_forward, T, 4, 1)                                              \
    LAYER(lstm_layer, struct gpu_recurrent_layer, layer_forward, T, 4, 8)                                              \
    LAYER(gru_layer, struct gpu_recurrent_layer, layer_forward, T, 3, 1)                                               \
    LAYER(gru_layer, struct gpu_recurrent_layer, layer_forward, T, 3, 8)                                               \
    LAYER(rnn_layer_backward, struct gpu_recurrent_layer_backward, layer_backward, T, 1, 1)                            \
    LAYER(rnn_layer_backward, struct gpu_recurrent_layer_backward, layer_backward, T, 1, 8)                            \
    LAYER(lstm_layer_backward, struct gpu_recurrent_layer_backward, layer_backward, T, 4, 1)                           \
    LAYER(lstm_layer_backward, struct gpu_recurrent_layer_backward, layer_backward, T, 4, 8)                           \
    LAYER(gru_layer_backward, struct gpu_recurrent_layer_backward, layer_backward, T, 3, 1)                            \
    LAYER(gru_layer_backward, struct gpu_recurrent_layer_backward, layer_backward, T, 3, 8)
LAYERS(bf16)
LAYERS(f16)
LAYERS(f32)

/* Before the kernels above: no word has a tag that they wait for. */
GPU_KERNEL(layer_clear, struct gpu_layer_clear) {
    GPU_NO_UNROLL for (u64 i = gpu_global(); i < (u64)p.count; i += gpu_stride()) p.words[i] = 0;
}
