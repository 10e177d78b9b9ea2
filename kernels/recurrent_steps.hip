/* A step of a recurrent layer: the product with the state, and the cell, by one launch. A wave takes GPU_STEP_ROWS rows
 * and four columns of the product, the gates of an element of the state or four elements; its lanes take the terms in
 * turn, words of memory side by side. */
#include "dtype.h"
#include "recurrent_cells.h"
#include "wave.h"

#include "recurrent_steps.h"

enum { STEP_COLUMNS = 4, STEP_SUMS = STEP_COLUMNS * GPU_STEP_ROWS };

/* A word of memory, or an element of 8 bytes. */
template <typename T> struct alignas(sizeof(T) < 4 ? 4 : sizeof(T)) step_word {
    enum { N = sizeof(T) < 4 ? 4 / sizeof(T) : 1 };
    T v[N];
};

/* Adds the products of words of the columns and of the rows. */
template <typename T, int COLUMNS>
GPU_FN void step_add(const step_word<T> (&y)[COLUMNS], const step_word<T> (&x)[GPU_STEP_ROWS],
                     typename gpu_compute<T>::type (&sum)[STEP_SUMS]) {
    GPU_UNROLL for (int i = 0; i < step_word<T>::N; i++) {
        GPU_UNROLL for (int c = 0; c < COLUMNS; c++) {
            GPU_UNROLL for (int r = 0; r < GPU_STEP_ROWS; r++) {
                const int at = c * GPU_STEP_ROWS + r;
                sum[at] = gpu_fma(gpu_up(y[c].v[i]), gpu_up(x[r].v[i]), sum[at]);
            }
        }
    }
}

/* The sums over k of column c and row r at k, in number c * GPU_STEP_ROWS + r. A lane gets the sum whose number is
 * returned; those of a wave's lanes from 32 on have the numbers of the others. `terms` are whole words. */
template <typename T, int COLUMNS>
GPU_FN u32 step_dots(const T *const (&column)[COLUMNS], const T *const (&row)[GPU_STEP_ROWS], i64 terms,
                     typename gpu_compute<T>::type *sum) {
    typedef typename gpu_compute<T>::type C;
    enum { N = step_word<T>::N, TURN = N * GPU_WAVE, TURNS = sizeof(T) == 8 ? 2 : 4 };
    C all[STEP_SUMS];
    GPU_UNROLL for (int i = 0; i < STEP_SUMS; i++) all[i] = 0;
    GPU_NO_UNROLL for (i64 first = (i64)gpu_lane() * N; first < terms; first += TURN * TURNS) {
        step_word<T> x[TURNS][GPU_STEP_ROWS], y[TURNS][COLUMNS];
        GPU_UNROLL for (int t = 0; t < TURNS; t++) {
            const i64 k = first + t * TURN < terms ? first + t * TURN : first;
            GPU_UNROLL for (int c = 0; c < COLUMNS; c++) y[t][c] = *(const step_word<T> *)(column[c] + k);
            GPU_UNROLL for (int r = 0; r < GPU_STEP_ROWS; r++) x[t][r] = *(const step_word<T> *)(row[r] + k);
        }
        GPU_UNROLL for (int t = 0; t < TURNS; t++)
            if (first + t * TURN < terms) step_add<T>(y[t], x[t], all);
    }
    const u32 number = gpu_wave_join_each<gpu_join_add, STEP_SUMS>(all);
    *sum = all[0];
    return number;
}

/* The first row and the first element of the state that a wave works on. */
struct step_place {
    i64 row, unit;
};
/* A wave has `units` elements. */
GPU_FN struct step_place step_locate(u32 groups, int units) {
    const u64 task = (u64)gpu_block_x() * (GPU_BLOCK / GPU_WAVE) + gpu_wave(), unit = task / groups;
    struct step_place at = {(i64)(task - unit * groups) * GPU_STEP_ROWS, (i64)unit * units};
    return at;
}

/* Rows of `columns` elements from `first` on; the last one instead of those behind it. */
template <typename T, int N> GPU_FN void step_rows(const void *from, i64 first, i64 rows, i64 columns, const T *(&row)[N]) {
    GPU_UNROLL for (int i = 0; i < N; i++)
        row[i] = (const T *)from + (first + i < rows ? first + i : rows - 1) * columns;
}

/* A sum as wick_linear would give it: with the bias at `at`, and rounded. */
template <typename T, typename C> GPU_FN C step_hidden(C sum, const void *bias, i64 at) {
    return gpu_up(gpu_round<T>(bias ? sum + gpu_up(((const T *)bias)[at]) : sum));
}

/* ---- forward ---- */

template <typename T> GPU_FN void step_rnn(const struct gpu_recurrent_step &p) {
    typedef typename gpu_compute<T>::type C;
    const struct step_place at = step_locate(p.groups, GPU_STEP_UNITS);
    const T *column[GPU_STEP_UNITS], *row[GPU_STEP_ROWS];
    C sum;
    if (at.unit >= p.size) return;
    step_rows(p.weight, at.unit, p.size, p.size, column);
    step_rows(p.h, at.row, p.rows, p.size, row);
    const u32 number = step_dots<T>(column, row, p.size, &sum);
    const i64 n = at.row + number % GPU_STEP_ROWS, unit = at.unit + number / GPU_STEP_ROWS, e = n * p.size + unit;
    if (gpu_lane() >= STEP_SUMS || n >= p.rows || unit >= p.size) return;
    const C a = gpu_up(((const T *)p.input)[e]) + step_hidden<T>(sum, p.bias, unit);
    ((T *)p.out)[e] = gpu_round<T>(cell_rnn(a, p.relu));
}

/* The sum of `gate` in this lane's row. Four lanes side by side have the four gates of a row: the two upper bits of a
 * sum's number are the two lower ones of its lane, turned around. */
template <typename C> GPU_FN C step_gate(C sum, u32 gate) {
    return gpu_shuffle(sum, (gpu_lane() & ~3u) | gate >> 1 | (gate & 1) << 1);
}

template <typename C> GPU_FN cell_made<C> step_cell(const C (&x)[4], const C (&y)[4], C c) {
    const C a[4] = {x[0] + y[0], x[1] + y[1], x[2] + y[2], x[3] + y[3]};
    return cell_lstm(a, c);
}
template <typename C> GPU_FN cell_made<C> step_cell(const C (&x)[3], const C (&y)[3], C h) { return cell_gru(x, y, h); }

template <typename T, int GATES> GPU_FN void step_gated(const struct gpu_recurrent_step &p) {
    typedef typename gpu_compute<T>::type C;
    const struct step_place at = step_locate(p.groups, 1);
    const T *column[GATES], *row[GPU_STEP_ROWS];
    C sum, x[GATES], y[GATES];
    if (at.unit >= p.size) return;
    GPU_UNROLL for (int k = 0; k < GATES; k++) column[k] = (const T *)p.weight + (k * p.size + at.unit) * p.size;
    step_rows(p.h, at.row, p.rows, p.size, row);
    const i64 n = at.row + step_dots<T>(column, row, p.size, &sum) % GPU_STEP_ROWS, e = n * p.size + at.unit;
    GPU_UNROLL for (int k = 0; k < GATES; k++) y[k] = step_gate(sum, k);
    if (gpu_lane() >= STEP_SUMS || gpu_lane() % 4 != 0 || n >= p.rows) return;
    GPU_UNROLL for (int k = 0; k < GATES; k++) {
        y[k] = step_hidden<T>(y[k], p.bias, k * p.size + at.unit);
        x[k] = gpu_up(((const T *)p.input)[(n * GATES + k) * p.size + at.unit]);
    }
    cell_made<C> made = step_cell(x, y, GATES == 4 ? ((const C *)p.c)[e] : gpu_up(((const T *)p.h)[e]));
    ((T *)p.out)[e] = gpu_round<T>(made.h);
    if (GATES == 4) ((C *)p.next_c)[e] = made.c;
    if (!p.gates) return;
    GPU_UNROLL for (int k = 0; k < 4; k++) ((C *)p.gates)[(n * 4 + k) * p.size + at.unit] = made.gate[k];
}

/* ---- backward ---- */

/* The gradients of element `unit` of row n, from d, that of h'. */
template <typename T, typename C>
GPU_FN void step_slopes(const struct gpu_recurrent_step_backward &p, int gates, i64 n, i64 unit, C d) {
    const i64 e = n * p.size + unit;
    T *of_input = (T *)p.of_input + n * gates * p.size + unit, *of_hidden = (T *)p.of_hidden;
    if (gates == 1) {
        *of_input = gpu_round<T>(cell_rnn_backward(d, gpu_up(((const T *)p.state)[e]), p.relu));
        return;
    }
    C gate[4];
    const C *kept = (const C *)p.gates, carry = ((const C *)p.carry)[e];
    GPU_UNROLL for (int k = 0; k < 4; k++) gate[k] = kept[(n * 4 + k) * p.size + unit];
    cell_slopes<C> s = gates == 4 ? cell_lstm_backward(d, carry, gate, ((const C *)p.c)[e], ((const C *)p.next_c)[e])
                                  : cell_gru_backward(d + carry, gate, (C)gpu_up(((const T *)p.state)[e]));
    GPU_UNROLL for (int k = 0; k < gates; k++) of_input[k * p.size] = gpu_round<T>(s.gate[k]);
    ((C *)p.of_carry)[e] = s.carry;
    if (gates == 4) return;
    of_hidden += n * gates * p.size + unit;
    GPU_UNROLL for (int k = 0; k < 2; k++) of_hidden[k * p.size] = gpu_round<T>(s.gate[k]);
    of_hidden[2 * p.size] = gpu_round<T>(s.part);
}

template <typename T, int GATES> GPU_FN void step_backward(const struct gpu_recurrent_step_backward &p) {
    typedef typename gpu_compute<T>::type C;
    const struct step_place at = step_locate(p.groups, GPU_STEP_UNITS);
    const i64 terms = p.after ? GATES * p.size : 0; /* 0: there is no product */
    const T *column[GPU_STEP_UNITS], *row[GPU_STEP_ROWS];
    C sum = 0;
    if (at.unit >= p.size) return;
    step_rows(p.weight, at.unit, p.size, terms, column);
    step_rows(p.after ? p.after : p.weight, at.row, p.rows, terms, row);
    const u32 number = step_dots<T>(column, row, terms, &sum);
    const i64 n = at.row + number % GPU_STEP_ROWS, unit = at.unit + number / GPU_STEP_ROWS, e = n * p.size + unit;
    if (gpu_lane() >= STEP_SUMS || n >= p.rows || unit >= p.size) return;
    const C next = p.after ? gpu_up(gpu_round<T>(sum)) : gpu_up(((const T *)p.last)[e]);
    step_slopes<T>(p, GATES, n, unit, gpu_up(((const T *)p.gradient)[e]) + next);
}

#define STEPS(T)                                                                                                       \
    GPU_KERNEL(rnn_step_##T, struct gpu_recurrent_step) { step_rnn<T>(p); }                                            \
    GPU_KERNEL(lstm_step_##T, struct gpu_recurrent_step) { step_gated<T, 4>(p); }                                      \
    GPU_KERNEL(gru_step_##T, struct gpu_recurrent_step) { step_gated<T, 3>(p); }                                       \
    GPU_KERNEL(rnn_step_backward_##T, struct gpu_recurrent_step_backward) { step_backward<T, 1>(p); }                  \
    GPU_KERNEL(lstm_step_backward_##T, struct gpu_recurrent_step_backward) { step_backward<T, 4>(p); }                 \
    GPU_KERNEL(gru_step_backward_##T, struct gpu_recurrent_step_backward) { step_backward<T, 3>(p); }
GPU_FLOATS(STEPS)
