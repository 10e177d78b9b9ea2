/* Running sums, products, extremes and sums of exponentials along lines that lie along memory or across it. */
#include "reduce_body.h"
#include "scan.h"

struct scan_add : gpu_join_add {
    template <typename A> GPU_FN A unit(void) { return 0; }
};
struct scan_multiply : reduce_join_multiply {
    template <typename A> GPU_FN A unit(void) { return 1; }
};

/* What a dtype runs in. */
template <typename T> struct scan_type { typedef f64 type; };
template <> struct scan_type<u8> { typedef u32 type; };
template <> struct scan_type<u16> { typedef u32 type; };
template <> struct scan_type<u32> { typedef u32 type; };
template <> struct scan_type<u64> { typedef u64 type; };

template <typename T> GPU_FN void scan_down(T *r, f64 x) { *r = gpu_round<T>(reduce_odd<T>(x)); }
GPU_FN void scan_down(f32 *r, f64 x) { *r = (f32)x; }
GPU_FN void scan_down(f64 *r, f64 x) { *r = x; }
GPU_FN void scan_down(u8 *r, u32 x) { *r = (u8)x; }
GPU_FN void scan_down(u16 *r, u32 x) { *r = (u16)x; }
GPU_FN void scan_down(u32 *r, u32 x) { *r = x; }
GPU_FN void scan_down(u64 *r, u64 x) { *r = x; }

/* A vector of them. */
template <typename T, typename A, int N> GPU_FN void scan_down_vector(gpu_vec<T> *u, const A (&x)[N]) {
    GPU_UNROLL for (int i = 0; i < N; i++) scan_down(&u->v[i], x[i]);
}
/* What is subnormal in f32 takes more code, which is there once: code of its own for each element would not stay in the
 * cache. 0 is not among it. */
template <int N> GPU_FN void scan_down_vector(gpu_vec<bf16> *u, const f64 (&x)[N]) {
    bool small = false;
    GPU_UNROLL for (int i = 0; i < N; i++) {
        small |= ((u32)(gpu_bits<u64>(x[i]) >> 32) & 0x7ff00000u) - 1 < (897u << 20) - 1;
        u->v[i] = gpu_round<bf16>(reduce_odd<f16>(x[i]));
    }
    if (!small) return;
    GPU_NO_UNROLL for (int k = 0; k < N; k++) {
        f64 mine = x[0];
        bf16 down;
        GPU_UNROLL for (int i = 1; i < N; i++) mine = i == k ? x[i] : mine;
        scan_down(&down, mine);
        GPU_UNROLL for (int i = 0; i < N; i++) u->v[i] = i == k ? down : u->v[i];
    }
}

/* A line as vectors of 16 bytes: element 0 is number `shift` of vector 0. */
template <typename T> struct scan_line {
    const T *x; /* vector 0 */
    T *out;
    i64 shift, end; /* the elements that are there, counted from vector 0 */
};

template <typename T, typename A, int N> GPU_FN void scan_load(const scan_line<T> &l, i64 v, A unit, A (&a)[N]) {
    i64 at = v * N;
    if (at >= l.shift && at + N <= l.end) {
        gpu_vec<T> u = gpu_load16(l.x + at);
        GPU_UNROLL for (int i = 0; i < N; i++) a[i] = (A)gpu_up(u.v[i]);
    } else {
        GPU_UNROLL for (int i = 0; i < N; i++)
            a[i] = at + i >= l.shift && at + i < l.end ? (A)gpu_up(l.x[at + i]) : unit;
    }
}

template <typename T, typename A, int N>
GPU_FN void scan_store(const scan_line<T> &l, i64 v, const A (&a)[N], bool aligned) {
    i64 at = v * N;
    gpu_vec<T> u;
    scan_down_vector(&u, a);
    if (aligned && at >= l.shift && at + N <= l.end) {
        gpu_store16(l.out + at, u);
    } else {
        GPU_UNROLL for (int i = 0; i < N; i++)
            if (at + i >= l.shift && at + i < l.end) l.out[at + i] = u.v[i];
    }
}

/* gpu_wave_scan of groups of lanes, a power of two of them, or of the wave. */
template <typename J, typename T> GPU_FN T scan_lanes(T v, u32 group) {
    GPU_UNROLL for (u32 step = 0; step < GPU_WAVE_LOG2; step++) {
        u32 by = 1u << step;
        if (by >= group) break;
        T before = gpu_shuffle_up(v, by);
        if ((gpu_lane() & (group - 1)) >= by) v = J::of(before, v);
    }
    return v;
}

/* Vectors from .. to-1 of a line, behind `carry`; returns what carry comes to. */
template <typename T, typename J, typename A>
GPU_FN A scan_vectors(const struct gpu_scan &p, const scan_line<T> &l, i64 from, i64 to, A carry, A *room) {
    /* Of 16 bits one for waves of 64, for want of scalar registers; the bits are the same. */
    enum { N = gpu_vec<T>::N, K = 16 / N > 4 ? 4 : GPU_WAVE == 64 && N == 8 ? 1 : 16 / N };
    u32 group = p.group, waves = group > GPU_WAVE ? group / GPU_WAVE : 1, wave = waves > 1 ? gpu_wave() : 0;
    u32 lanes = group > GPU_WAVE ? GPU_WAVE : group;
    const A unit = J::template unit<A>();
    GPU_NO_UNROLL for (i64 v = from; v < to; v += K * group) {
        A a[K][N], base[K], through[K];
        GPU_UNROLL for (int k = 0; k < K; k++) {
            i64 mine = v + k * group + gpu_thread() % group;
            if (mine < to) {
                scan_load(l, mine, unit, a[k]);
            } else {
                GPU_UNROLL for (int i = 0; i < N; i++) a[k][i] = unit;
            }
        }
        /* Short lines have fewer than K vectors for each thread. */
        GPU_UNROLL for (int k = 0; k < K; k++) {
            if (k > 0 && v + k * group >= to) break;
            GPU_UNROLL for (int i = 1; i < N; i++) a[k][i] = J::of(a[k][i - 1], a[k][i]);
            through[k] = scan_lanes<J>(a[k][N - 1], lanes);
            if (waves > 1 && gpu_lane() == GPU_WAVE - 1) room[k * waves + wave] = through[k];
        }
        if (waves > 1) gpu_sync();
        GPU_UNROLL for (int k = 0; k < K; k++) {
            if (k > 0 && v + k * group >= to) break;
            A last = gpu_shuffle(through[k], gpu_lane() | (lanes - 1)), previous = gpu_shuffle_up(through[k], 1);
            base[k] = carry;
            if (waves > 1) {
                GPU_NO_UNROLL for (u32 w = 0; w < waves; w++) {
                    if (w == wave) base[k] = carry;
                    carry = J::of(carry, room[k * waves + w]);
                }
            } else {
                carry = J::of(carry, last);
            }
            if ((gpu_lane() & (lanes - 1)) > 0) base[k] = J::of(base[k], previous);
        }
        if (waves > 1) gpu_sync();
        if (!p.out) continue;
        GPU_UNROLL for (int k = 0; k < K; k++) {
            if (k > 0 && v + k * group >= to) break;
            i64 mine = v + k * group + gpu_thread() % group;
            GPU_UNROLL for (int i = 0; i < N; i++) a[k][i] = J::of(base[k], a[k][i]);
            if (mine < to) scan_store(l, mine, a[k], p.aligned);
        }
    }
    return carry;
}

template <typename T, typename J> GPU_FN void scan_rows(const struct gpu_scan &p, u64 *room) {
    enum { N = gpu_vec<T>::N };
    typedef typename scan_type<T>::type A;
    i64 item = reduce_block() * (GPU_BLOCK / p.group) + gpu_thread() / p.group;
    /* A whole wave or block, which no other waits for; of lanes that have a line for themselves, others need all. */
    bool live = item < p.outer * p.segments;
    if (!live && p.group >= GPU_WAVE) return;
    if (!live) item = 0;
    i64 line = p.segments == 1 ? item : item / p.segments, from = (item - line * p.segments) * p.length;
    scan_line<T> l;
    const T *x = (const T *)p.in + line * p.n;
    l.shift = (i64)(((u64)x & 15) / sizeof(T));
    l.end = live ? l.shift + p.n : 0;
    l.x = x - l.shift;
    l.out = (T *)p.out + line * p.n - l.shift;
    i64 vectors = (l.end + N - 1) / N, to = from + p.length < vectors ? from + p.length : vectors;
    if (p.group < GPU_WAVE) to = p.group;
    A carry = J::template unit<A>();
    if (p.before) reduce_unword(&carry, p.before[item]);
    carry = scan_vectors<T, J, A>(p, l, from, to, carry, (A *)room);
    if (!p.out && gpu_thread() % p.group == 0) p.totals[item] = reduce_word(carry);
}

/* ROWS rows from r on; behind the last row that one again. */
template <typename T, int ROWS>
GPU_FN void scan_rows_of(const struct gpu_scan &p, const T *x, i64 r, i64 to, gpu_vec<T> (&u)[ROWS]) {
    GPU_UNROLL for (int k = 0; k < ROWS; k++) u[k] = gpu_load16(x + (r + k < to ? r + k : to - 1) * p.inner);
}

/* Rows from .. to-1 of a thread's columns go on from s; out may be NULL. The next rows are loaded ahead of the ones that
 * are taken. */
template <typename T, typename J, typename A, int N>
GPU_FN void scan_fall(const struct gpu_scan &p, const T *x, T *out, i64 from, i64 to, A (&s)[N]) {
    enum { ROWS = N > 8 ? 2 : 4 };
    gpu_vec<T> u[ROWS], next[ROWS];
    scan_rows_of(p, x, from, to, next);
    GPU_NO_UNROLL for (i64 r = from; r < to; r += ROWS) {
        GPU_UNROLL for (int k = 0; k < ROWS; k++) u[k] = next[k];
        scan_rows_of(p, x, r + ROWS, to, next);
        GPU_UNROLL for (int k = 0; k < ROWS; k++) {
            if (r + k >= to) break;
            GPU_UNROLL for (int i = 0; i < N; i++) s[i] = J::of(s[i], (A)gpu_up(u[k].v[i]));
            if (!out) continue;
            scan_down_vector(&u[k], s);
            gpu_store16(out + (r + k) * p.inner, u[k]);
        }
    }
}

/* Totals of the segments that threads of a block have become what stands in front of each. */
template <typename J, typename A, int N> GPU_FN void scan_meet(const struct gpu_scan &p, A (&s)[N], A *room) {
    u32 segment = gpu_thread() / p.group, lane = gpu_thread() % p.group;
    GPU_UNROLL for (int i = 0; i < N; i++) {
        room[gpu_thread()] = s[i];
        gpu_sync();
        s[i] = J::template unit<A>();
        GPU_NO_UNROLL for (u32 k = 0; k < segment && k < (u32)p.segments; k++)
            s[i] = J::of(s[i], room[k * p.group + lane]);
        gpu_sync();
    }
}

/* Lines across memory whose rows are whole vectors. */
template <typename T, typename J> GPU_FN void scan_columns(const struct gpu_scan &p, u64 *room) {
    enum { N = gpu_vec<T>::N };
    typedef typename scan_type<T>::type A;
    bool together = N <= 8 && p.together;
    i64 item = reduce_block(), beside = GPU_BLOCK / p.group, mine = gpu_thread() / p.group;
    /* Together, a block has the segments of one tile; otherwise whatever segments come next. */
    if (!together) item = item * beside + mine;
    i64 tile = item % p.tiles, rest = item / p.tiles, outer = together ? rest : rest / p.segments;
    i64 segment = together ? mine : rest - outer * p.segments;
    i64 column = (tile * p.group + gpu_thread() % p.group) * N;
    bool live = outer < p.outer && segment < p.segments && column < p.inner;
    if (!live && !together) return;
    i64 from = segment * p.length, to = from + p.length < p.n ? from + p.length : p.n;
    i64 word = (outer * p.segments + segment) * p.inner + column, base = outer * p.n * p.inner + column;
    const T *x = (const T *)p.in + base;
    T *out = (T *)p.out + base;
    A s[N];
    GPU_UNROLL for (int i = 0; i < N; i++) {
        s[i] = J::template unit<A>();
        if (p.before) reduce_unword(&s[i], p.before[word + i]);
    }
    /* Where all segments of a line are in one block, it goes along them twice. */
    GPU_NO_UNROLL for (u32 pass = together ? 0 : 1; pass < 2; pass++) {
        if (live) scan_fall<T, J>(p, x, pass > 0 && p.out ? out : (T *)0, from, to, s);
        if (pass == 0) scan_meet<J>(p, s, (A *)room);
    }
    if (p.out) return;
    GPU_UNROLL for (int i = 0; i < N; i++) p.totals[word + i] = reduce_word(s[i]);
}

/* The same with all segments of a line in one wave, which keeps them: every row is read once, all of a thread's at a
 * time. */
template <typename T, typename J> GPU_FN void scan_held(const struct gpu_scan &p) {
    enum { N = gpu_vec<T>::N, HELD = GPU_SCAN_HELD };
    typedef typename scan_type<T>::type A;
    i64 item = reduce_block() * (GPU_BLOCK / GPU_WAVE) + gpu_wave(), outer = item / p.tiles;
    i64 segment = gpu_lane() / p.group;
    if (outer >= p.outer) return; /* the whole wave */
    i64 column = ((item - outer * p.tiles) * p.group + gpu_lane() % p.group) * N, from = segment * p.length;
    i64 to = from + p.length < p.n ? from + p.length : p.n, base = outer * p.n * p.inner + column;
    u32 rows = column < p.inner && from < to ? (u32)(to - from) : 0;
    const T *x = (const T *)p.in + base + from * p.inner;
    T *out = (T *)p.out + base + from * p.inner;
    gpu_vec<T> u[HELD];
    GPU_UNROLL for (u32 k = 0; k < HELD; k++)
        if (k < rows) u[k] = gpu_load16(x + k * p.inner);
    A s[N];
    GPU_UNROLL for (int i = 0; i < N; i++) s[i] = J::template unit<A>();
    GPU_UNROLL for (u32 k = 0; k < HELD; k++) {
        if (k >= rows) break;
        GPU_UNROLL for (int i = 0; i < N; i++) s[i] = J::of(s[i], (A)gpu_up(u[k].v[i]));
    }
    /* What all segments up to this one come to, and then those in front of it. */
    GPU_NO_UNROLL for (u32 by = p.group; by < GPU_WAVE; by *= 2)
        GPU_UNROLL for (int i = 0; i < N; i++) {
            A before = gpu_shuffle_up(s[i], by);
            if (gpu_lane() >= by) s[i] = J::of(before, s[i]);
        }
    GPU_UNROLL for (int i = 0; i < N; i++) {
        A before = gpu_shuffle_up(s[i], p.group);
        s[i] = segment > 0 ? before : J::template unit<A>();
    }
    GPU_UNROLL for (u32 k = 0; k < HELD; k++) {
        if (k >= rows) break;
        GPU_UNROLL for (int i = 0; i < N; i++) s[i] = J::of(s[i], (A)gpu_up(u[k].v[i]));
        scan_down_vector(&u[k], s);
        gpu_store16(out + k * p.inner, u[k]);
    }
}

/* Other lines across memory, and short ones along it: a block takes a segment of `group` of them, whatever their place
 * outside, as many rows at a time as its threads keep in registers, `each` a thread. */
template <typename T, typename J> GPU_FN void scan_kept(const struct gpu_scan &p, u64 *words) {
    enum { K = GPU_SCAN_KEPT };
    typedef typename scan_type<T>::type A;
    A *room = (A *)words, carry = J::template unit<A>();
    u32 lane = gpu_thread() % p.group, mine = gpu_thread() / p.group, down = GPU_BLOCK / p.group;
    i64 item = reduce_block(), segment = item / p.tiles, line = (item - segment * p.tiles) * p.group + lane;
    if (segment >= p.segments) return;
    i64 outer = line / p.inner, column = line - outer * p.inner, word = (outer * p.segments + segment) * p.inner + column;
    i64 from = segment * p.length, to = from + p.length < p.n ? from + p.length : p.n;
    bool there = outer < p.outer;
    if (p.before && there) reduce_unword(&carry, p.before[word]);
    GPU_NO_UNROLL for (i64 first = from; first < to; first += down * p.each) {
        i64 row = first + mine * p.each, at = (outer * p.n + row) * p.inner + column;
        u32 n = there && row < to ? (u32)(to - row < p.each ? to - row : p.each) : 0;
        A a[K], before = carry;
        const T *from = (const T *)p.in + at;
        GPU_UNROLL for (u32 k = 0; k < K; k++) {
            a[k] = k < n ? (A)gpu_up(*from) : J::template unit<A>();
            from += p.inner;
        }
        GPU_UNROLL for (u32 k = 1; k < K; k++) a[k] = J::of(a[k - 1], a[k]);
        room[gpu_thread()] = a[K - 1];
        gpu_sync();
        GPU_NO_UNROLL for (u32 k = 0; k < down && k < to - first; k++) {
            if (k == mine) before = carry;
            carry = J::of(carry, room[k * p.group + lane]);
        }
        gpu_sync();
        if (!p.out) continue;
        u32 left = gpu_anew(n); /* so that AMD keeps no sixteen comparisons */
        T *row_out = (T *)p.out + at, y;
        GPU_UNROLL for (u32 k = 0; k < K; k++) {
            scan_down(&y, J::of(before, a[k]));
            if (k < left) *row_out = y;
            row_out += p.inner;
        }
    }
    if (!p.out && there && mine == 0) p.totals[word] = reduce_word(carry);
}

#define SCAN(suffix, T)                                                                                                \
    GPU_KERNEL(scan_rows_##suffix, struct gpu_scan) {                                                                  \
        GPU_SHARED u64 room[4 * GPU_BLOCK / 32];                                                                       \
        if (p.product)                                                                                                 \
            scan_rows<T, scan_multiply>(p, room);                                                                      \
        else                                                                                                           \
            scan_rows<T, scan_add>(p, room);                                                                           \
    }                                                                                                                  \
    GPU_KERNEL(scan_columns_##suffix, struct gpu_scan) {                                                               \
        GPU_SHARED u64 room[GPU_BLOCK];                                                                                \
        if (p.product)                                                                                                 \
            scan_columns<T, scan_multiply>(p, room);                                                                   \
        else                                                                                                           \
            scan_columns<T, scan_add>(p, room);                                                                        \
    }                                                                                                                  \
    GPU_KERNEL(scan_kept_##suffix, struct gpu_scan) {                                                                  \
        GPU_SHARED u64 room[GPU_BLOCK];                                                                                \
        if (p.product)                                                                                                 \
            scan_kept<T, scan_multiply>(p, room);                                                                      \
        else                                                                                                           \
            scan_kept<T, scan_add>(p, room);                                                                           \
    }
SCAN(b1, u8)
SCAN(b2, u16)
SCAN(b4, u32)
SCAN(b8, u64)
SCAN(bf16, bf16)
SCAN(f16, f16)
SCAN(f32, f32)
SCAN(f64, f64)
SCAN(f8e4m3, f8e4m3)

#define SCAN_HELD(T)                                                                                                   \
    GPU_KERNEL_OF(scan_held_##T, struct gpu_scan, GPU_BLOCK, 3) {                                                      \
        scan_held<T, scan_add>(p);                                                                                     \
    }
SCAN_HELD(bf16)
SCAN_HELD(f16)

template <typename A, typename J> GPU_FN void scan_before(const struct gpu_scan_before &p, u64 *room) {
    A carry = J::template unit<A>();
    if (p.by_block) {
        i64 line = reduce_block();
        if (line >= p.outer * p.inner) return;
        u64 *words = p.words + line / p.inner * p.segments * p.inner + line % p.inner;
        GPU_NO_UNROLL for (i64 first = 0; first < p.segments; first += GPU_BLOCK) {
            i64 s = first + gpu_thread();
            A mine = J::template unit<A>(), before = mine;
            if (s < p.segments) reduce_unword(&mine, words[s * p.inner]);
            A all = gpu_block_scan<J>(mine, (A *)room, &before);
            if (s < p.segments) words[s * p.inner] = reduce_word(J::of(carry, before));
            carry = J::of(carry, all);
        }
    } else {
        i64 line = reduce_block() * GPU_BLOCK + gpu_thread();
        if (line >= p.outer * p.inner) return;
        u64 *words = p.words + line / p.inner * p.segments * p.inner + line % p.inner;
        GPU_NO_UNROLL for (i64 s = 0; s < p.segments; s++) {
            A mine;
            reduce_unword(&mine, words[s * p.inner]);
            words[s * p.inner] = reduce_word(carry);
            carry = J::of(carry, mine);
        }
    }
}

GPU_KERNEL(scan_before, struct gpu_scan_before) {
    GPU_SHARED u64 room[GPU_WAVES];
    if (p.is_float && p.product)
        scan_before<f64, scan_multiply>(p, room);
    else if (p.is_float)
        scan_before<f64, scan_add>(p, room);
    else if (p.product)
        scan_before<u64, scan_multiply>(p, room);
    else
        scan_before<u64, scan_add>(p, room);
}

/* ---- extremes and sums of exponentials ---- */

/* A thread's segment of a line: elements from .. to - 1 of those that begin at `base`. */
struct running_piece {
    i64 item, base, from, to, segment;
};

GPU_FN bool running_find(const struct gpu_running &p, u64 i, running_piece *r) {
    if (i >= (u64)(p.outer * p.segments * p.inner)) return false;
    i64 row = (i64)(i / (u64)p.inner), column = (i64)i - row * p.inner, outer = row / p.segments;
    r->item = (i64)i;
    r->segment = row - outer * p.segments;
    r->base = outer * p.n * p.inner + column;
    r->from = r->segment * p.length;
    r->to = r->from + p.length < p.n ? r->from + p.length : p.n;
    return true;
}

/* The extreme of a line and where it is: the last of equal ones, and of NaN. */
template <typename T> struct running_extreme {
    T top;
    i64 at;
};
template <typename T> GPU_FN void running_meet(running_extreme<T> *e, u32 least, T x, i64 i) {
    auto a = gpu_up(x), b = gpu_up(e->top);
    if (e->at >= 0 && a == a && !(least ? a <= b : a >= b)) return;
    e->top = x;
    e->at = i;
}

template <typename T> GPU_FN void running_extremes(const struct gpu_running &p) {
    enum { AHEAD = 4 };
    const T *in = (const T *)p.in;
    running_piece r;
    GPU_NO_UNROLL for (u64 i = gpu_global(); running_find(p, i, &r); i += gpu_stride()) {
        running_extreme<T> e = {in[r.base], -1};
        GPU_NO_UNROLL for (i64 s = r.segment; p.out && s > 0; s--) {
            i64 at = p.totals[r.item - s * p.inner].at;
            running_meet(&e, p.least, in[r.base + at * p.inner], at);
        }
        GPU_NO_UNROLL for (i64 j = r.from; j < r.to; j += AHEAD) {
            T next[AHEAD]; /* behind the last element it again, which is not taken */
            GPU_UNROLL for (int k = 0; k < AHEAD; k++) next[k] = in[r.base + (j + k < r.to ? j + k : r.to - 1) * p.inner];
            GPU_UNROLL for (int k = 0; k < AHEAD; k++) {
                if (j + k >= r.to) break;
                i64 place = r.base + (j + k) * p.inner;
                running_meet(&e, p.least, next[k], j + k);
                if (p.out) ((T *)p.out)[place] = e.top;
                if (p.out && p.index) p.index[place] = (u32)e.at;
            }
        }
        if (!p.out) p.totals[r.item].at = e.at;
    }
}

/* Adds sum exp(top); infinities have no differences. */
GPU_FN void running_add(struct gpu_run *a, f64 top, f64 sum) {
    if (a->at < 0 || top > a->top) {
        a->sum = a->at < 0 ? sum : a->sum * gpu_exp(a->top - top) + sum;
        a->top = top;
    } else {
        a->sum += top == a->top ? sum : sum * gpu_exp(top - a->top);
    }
    a->at = 0;
}

template <typename T> GPU_FN void running_logs(const struct gpu_running &p) {
    const T *in = (const T *)p.in;
    running_piece r;
    GPU_NO_UNROLL for (u64 i = gpu_global(); running_find(p, i, &r); i += gpu_stride()) {
        struct gpu_run a = {0, 0, -1};
        GPU_NO_UNROLL for (i64 s = r.segment; p.out && s > 0; s--) {
            struct gpu_run before = p.totals[r.item - s * p.inner];
            running_add(&a, before.top, before.sum);
        }
        GPU_NO_UNROLL for (i64 j = r.from; j < r.to; j++) {
            i64 place = r.base + j * p.inner;
            running_add(&a, (f64)gpu_up(in[place]), 1);
            if (!p.out) continue;
            bool whole = a.top - a.top != 0 && a.sum == a.sum; /* infinite */
            scan_down((T *)p.out + place, whole ? a.top : a.top + gpu_log(a.sum));
        }
        if (!p.out) p.totals[r.item] = a;
    }
}

#define RUNNING(type)                                                                                                  \
    GPU_KERNEL(running_##type, struct gpu_running) { running_extremes<type>(p); }
GPU_ALL(RUNNING)
#define RUNNING_LOGS(type)                                                                                             \
    GPU_KERNEL(running_logs_##type, struct gpu_running) { running_logs<type>(p); }
GPU_FLOATS(RUNNING_LOGS)
