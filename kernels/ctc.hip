/* CTC loss (Graves et al., ICML 2006): a block goes through the steps of a sequence, one way, its threads side by side
 * through the states; and a block makes the gradient of one step. Sums are f64, in logarithms. */
#include "dtype.h"
#include "reduce_body.h"
#include "wave.h"

#include "ctc.h"

#define CTC_NONE gpu_bits<f64>(0xfff0000000000000ull)

/* A sequence. */
struct ctc_sequence {
    i64 number, steps, labels, first;
};

GPU_FN ctc_sequence ctc_of(const struct gpu_ctc &p, i64 number) {
    ctc_sequence s;
    s.number = gpu_anew(number); /* all but the parameters in vector registers: AMD has too few scalar ones */
    s.steps = gpu_anew(p.lengths[number]);
    s.labels = gpu_anew(p.lengths[p.n + number]);
    s.first = gpu_anew(p.lengths[2 * p.n + number]);
    return s;
}

/* A label's bits, whether or not it is a class. */
GPU_FN u64 ctc_label(const struct gpu_ctc &p, i64 place) {
    return p.ids.width == 8   ? ((const u64 *)p.ids.data)[place]
           : p.ids.width == 4 ? ((const u32 *)p.ids.data)[place]
           : p.ids.width == 2 ? ((const u16 *)p.ids.data)[place]
                              : ((const u8 *)p.ids.data)[place];
}

/* The class of a state; 2^64 - 1 for a label that is no class. */
GPU_FN u64 ctc_class(const struct gpu_ctc &p, const ctc_sequence &s, i64 state) {
    return state & 1 ? gpu_id_at(p.ids, s.first + state / 2) : (u64)p.blank;
}

template <typename T> GPU_FN f64 ctc_log_prob(const struct gpu_ctc &p, const ctc_sequence &s, i64 step, u64 of) {
    if (of == ~0ull) return CTC_NONE;
    return (f64)gpu_up(((const T *)p.log_probs)[(step * p.n + s.number) * p.classes + (i64)of]);
}

/* log(e^a + e^b + e^c): what is largest counts as 1, by itself. */
GPU_FN f64 ctc_add(f64 a, f64 b, f64 c) {
    f64 most = a > b ? a : b, other = a > b ? b : a, third = c;
    if (c > most) {
        third = most;
        most = c;
    }
    if (most == CTC_NONE) return a + b + c;
    f64 sum = 1;
    GPU_NO_UNROLL for (int i = 0; i < 2; i++) { /* rolled, or AMD lacks scalar registers */
        sum += gpu_exp(other - most);
        other = third;
    }
    return most + gpu_log(sum);
}

/* Minus the logarithm of the probability of all paths that end with the last label or the blank behind it. */
GPU_FN f64 ctc_total(const struct gpu_ctc &p, const ctc_sequence &s, const f64 *paths) {
    i64 last = 2 * s.labels;
    if (s.steps == 0) return s.labels == 0 ? 0 : -CTC_NONE;
    const f64 *row = paths + (p.kept == 2 ? (s.steps - 1) & 1 : s.steps - 1) * p.states;
    return -ctc_add(row[last], last > 0 ? row[last - 1] : CTC_NONE, CTC_NONE);
}

/* What is added up for state j, counted in the direction of a way, at step k, and the log_prob there. */
struct ctc_terms {
    f64 stay, next, jump, own;
};

/* Of state j, with `before` the step before; k is steps for the end of all alignments. */
template <typename T>
GPU_FN ctc_terms ctc_terms_of(const struct gpu_ctc &p, const ctc_sequence &s, bool back, i64 k, i64 j,
                              const f64 *before) {
    i64 last = 2 * s.labels, state = back ? last - j : j;
    ctc_terms t = {CTC_NONE, CTC_NONE, CTC_NONE, 0};
    if (k == s.steps) { /* j is the last state */
        t.stay = k > 0 ? before[j] : j > 0 ? CTC_NONE : 0;
        if (k > 0 && j > 0) t.next = before[j - 1];
        return t;
    }
    t.own = ctc_log_prob<T>(p, s, back ? s.steps - 1 - k : k, ctc_class(p, s, state));
    if (k == 0) {
        if (j < 2) t.stay = 0;
        return t;
    }
    t.stay = before[j];
    if (j > 0) t.next = before[j - 1];
    if (j > 1 && (j & 1)) {
        i64 label = s.first + state / 2;
        if (ctc_label(p, label) != ctc_label(p, back ? label + 1 : label - 1)) t.jump = before[j - 2];
    }
    return t;
}

template <typename T> GPU_FN void ctc_loss(const struct gpu_ctc &p, const ctc_sequence &s, f64 y) {
    typedef typename gpu_compute<T>::type C;
    if (p.zero_infinity && y == -CTC_NONE) y = 0;
    if (p.by_length && s.labels > 1) y /= (f64)s.labels;
    if (p.wide)
        ((C *)p.out)[s.number] = (C)y;
    else
        ((T *)p.out)[s.number] = gpu_round<T>((C)y);
}

template <typename T> GPU_FN void ctc_ways(const struct gpu_ctc &p) {
    i64 item = reduce_block();
    if (item >= p.n * p.ways) return;
    bool back = item >= p.n;
    ctc_sequence s = ctc_of(p, back ? item - p.n : item);
    f64 *paths = p.paths + item * p.kept * p.states;
    i64 last = 2 * s.labels;
    GPU_NO_UNROLL for (i64 k = 0; k <= s.steps; k++) {
        f64 *now = paths + (p.kept == 2 ? k & 1 : k) * p.states;
        const f64 *before = paths + (p.kept == 2 ? (k - 1) & 1 : k - 1) * p.states;
        /* At the end one thread adds the last two states. */
        i64 j = k < s.steps ? (i64)gpu_thread() : gpu_thread() == 0 ? last : last + 1;
        GPU_NO_UNROLL for (; j <= last; j += GPU_BLOCK) {
            ctc_terms t = ctc_terms_of<T>(p, s, back, k, j, before);
            f64 y = ctc_add(t.stay, t.next, t.jump) + t.own;
            if (k < s.steps)
                now[j] = y;
            else if (!back)
                ctc_loss<T>(p, s, -y);
        }
        gpu_sync();
    }
}

/* The share of all alignments that pass through a state at a step. */
template <typename T>
GPU_FN f64 ctc_share(const struct gpu_ctc &p, const ctc_sequence &s, i64 step, i64 state, f64 total) {
    i64 size = p.kept * p.states;
    const f64 *there = p.paths + s.number * size + step * p.states;
    const f64 *back = p.paths + (p.n + s.number) * size + (s.steps - 1 - step) * p.states;
    f64 ways = there[state] + back[2 * s.labels - state];
    if (ways == CTC_NONE) return 0;
    return gpu_exp(ways + total - ctc_log_prob<T>(p, s, step, ctc_class(p, s, state)));
}

/* The share of a label's class, for the first label of that class, which is not the blank; -1 for all others. */
template <typename T>
GPU_FN f64 ctc_label_share(const struct gpu_ctc &p, const ctc_sequence &s, i64 step, i64 label, u64 of, f64 total) {
    if (of == ~0ull || of == (u64)p.blank) return -1;
    GPU_NO_UNROLL for (i64 i = 0; i < label; i++)
        if (ctc_class(p, s, 2 * i + 1) == of) return -1;
    f64 sum = 0;
    GPU_NO_UNROLL for (i64 i = label; i < s.labels; i++)
        if (ctc_class(p, s, 2 * i + 1) == of) sum += ctc_share<T>(p, s, step, 2 * i + 1, total);
    return sum;
}

template <typename T> GPU_FN void ctc_slopes(const struct gpu_ctc &p) {
    typedef typename gpu_compute<T>::type C;
    GPU_SHARED f64 room[GPU_WAVES];
    i64 item = reduce_block(), step = item / p.n;
    if (step >= p.steps) return;
    ctc_sequence s = ctc_of(p, item - step * p.n);
    f64 total = ctc_total(p, s, p.paths + s.number * p.kept * p.states);
    f64 g = (f64)((const C *)p.gradient)[p.single ? 0 : s.number] * p.scale;
    if (p.by_length && s.labels > 1) g /= (f64)s.labels;
    bool none = step >= s.steps || (p.zero_infinity && total == -CTC_NONE);
    const T *x = (const T *)p.log_probs + item * p.classes;
    T *out = (T *)p.out + item * p.classes;
    GPU_NO_UNROLL for (i64 c = gpu_thread(); c < p.classes; c += GPU_BLOCK) {
        f64 y = total == -CTC_NONE ? total - total : gpu_exp((f64)gpu_up(x[c]));
        out[c] = gpu_round<T>(none ? (C)0 : (C)(y * g));
    }
    if (none || total == -CTC_NONE) return;
    gpu_sync();
    f64 blank = 0;
    GPU_NO_UNROLL for (i64 j = gpu_thread(); j <= 2 * s.labels; j += GPU_BLOCK)
        if (ctc_class(p, s, j) == (u64)p.blank) blank += ctc_share<T>(p, s, step, j, total);
    blank = gpu_block_join<gpu_join_add>(blank, room);
    GPU_NO_UNROLL for (i64 i = (i64)gpu_thread() - 1; i < s.labels; i += GPU_BLOCK) {
        u64 of = i < 0 ? (u64)p.blank : ctc_class(p, s, 2 * i + 1);
        f64 share = i < 0 ? blank : ctc_label_share<T>(p, s, step, i, of, total);
        if (share >= 0) out[of] = gpu_round<T>((C)((gpu_exp((f64)gpu_up(x[of])) - share) * g));
    }
}

#define CTC(T)                                                                                                         \
    GPU_KERNEL(ctc_paths_##T, struct gpu_ctc) { ctc_ways<T>(p); }                                                      \
    GPU_KERNEL(ctc_gradient_##T, struct gpu_ctc) { ctc_slopes<T>(p); }
GPU_FLOATS(CTC)
