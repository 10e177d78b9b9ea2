/* Conversion between dtypes: elements as bits, through a type that holds every value of the source, to bits again. */
#include "turn_tiles.h"

#include "cast.h"

/* The upper half of f16. */
GPU_FN f32 from_f8e5m2(u32 bits) {
    f16 x;
    x.bits = (u16)(bits << 8);
    return gpu_from_f16(x);
}
GPU_FN u32 to_f8e5m2(f32 x) {
    u32 bits = gpu_bits<u32>(x), sign = bits >> 24 & 0x80;
    bits &= 0x7fffffff;
    u32 normal = ((bits + 0xfffff + (bits >> 21 & 1)) >> 21) - (112 << 2);
    /* Below 2^-14, adding 2^7 rounds to multiples of 2^-16. */
    u32 subnormal = gpu_bits<u32>(gpu_bits<f32>(bits) + 128.0f) - 0x43000000u;
    u32 result = bits < 0x38800000u ? subnormal : normal;
    if (bits >= 0x47700000u) result = bits > 0x7f800000u ? 0x7e : 0x7c;
    return result | sign;
}

/* ---- bits to a value ---- */

#define FROM(name, value)                                                                                              \
    case GPU_DTYPE_##name:                                                                                             \
        GPU_UNROLL for (int s = 0; s < S; s++) {                                                                       \
            R b = r[s];                                                                                                \
            v[s] = (M)(value);                                                                                         \
        }                                                                                                              \
        break;

/* Integers of up to 16 bits; of all sizes. */
#define FROM_SHORT FROM(u8, (u8)b) FROM(i16, (i16)b) FROM(i8, (i8)b) FROM(u16, (u16)b) FROM(bool, (b & 0xff) != 0)
#define FROM_LONG FROM(u32, (u32)b) FROM(i32, (i32)b) FROM(i64, (i64)b) FROM(u64, (u64)b)
#define FROM_NARROW_FLOATS                                                                                             \
    FROM(bf16, gpu_bits<f32>((u32)b << 16))                                                                            \
    FROM(f16, from_f16(b)) FROM(f8e4m3, from_f8e4m3(b)) FROM(f8e5m2, from_f8e5m2((u32)b))

template <typename R> GPU_FN f32 from_f16(R b) {
    f16 x;
    x.bits = (u16)b;
    return gpu_from_f16(x);
}
template <typename R> GPU_FN f32 from_f8e4m3(R b) {
    f8e4m3 x;
    x.bits = (u8)b;
    return gpu_from_f8e4m3(x);
}

/* 64-bit integers in f64 so that rounding to a narrower float is right: bits that f64 would round away become one. */
GPU_FN u64 stick(u64 x, u64 magnitude) { return magnitude >> 53 ? (x & ~0xfffull) | (u64)((x & 0xfff) != 0) << 11 : x; }

/* M is i32, i64, f32 or f64; R is u32 where no dtype has more than 2 bytes. */
template <typename M, int S> GPU_FN void from_bits(M (&v)[S], const u32 (&r)[S], const struct gpu_cast &p) {
    typedef u32 R;
    switch (p.from) {
        FROM_SHORT
    default: break;
    }
    if (!gpu_is_float<M>::value) return;
    switch (p.from) {
        FROM_NARROW_FLOATS
    default: break;
    }
}
template <typename M, int S> GPU_FN void from_bits(M (&v)[S], const u64 (&r)[S], const struct gpu_cast &p) {
    typedef u64 R;
    if (p.sticky) {
        GPU_UNROLL for (int s = 0; s < S; s++) {
            bool negative = p.from == GPU_DTYPE_i64 && r[s] >> 63;
            u64 x = stick(r[s], negative ? 0 - r[s] : r[s]);
            v[s] = p.from == GPU_DTYPE_i64 ? (M)(i64)x : (M)x;
        }
        return;
    }
    switch (p.from) {
        FROM_SHORT
        FROM_LONG
    default: break;
    }
    if (!gpu_is_float<M>::value) return;
    switch (p.from) {
        FROM_NARROW_FLOATS
        FROM(f32, gpu_bits<f32>((u32)b))
        FROM(f64, gpu_bits<f64>(b))
    default: break;
    }
}

/* ---- a value to bits ---- */

/* Float to integer: towards zero, saturated, NaN is 0. `limit` is 2^bits. */
#define TO_INT(name, T, low, limit, most)                                                                              \
    template <typename F> GPU_FN T name(F x) {                                                                         \
        return x != x ? (T)0 : x >= (F)(limit) ? (T)(most) : x <= (F)(low) ? (T)(low) : (T)x;                          \
    }
TO_INT(to_u8, u8, 0, 256, 255)
TO_INT(to_i8, i8, -128, 128, 127)
TO_INT(to_i16, i16, -32768, 32768, 32767)
TO_INT(to_u16, u16, 0, 65536, 65535)
TO_INT(to_i32, i32, -2147483648.0, 2147483648.0, 0x7fffffff)
TO_INT(to_u32, u32, 0, 4294967296.0, 0xffffffffu)
TO_INT(to_i64, i64, -9223372036854775808.0, 9223372036854775808.0, 0x7fffffffffffffffll)
TO_INT(to_u64, u64, 0, 18446744073709551616.0, 0xffffffffffffffffull)

/* A value as f32 on the way to a float of at most 22 bits: f64 is rounded to odd, so that the last rounding is the only
 * one. */
GPU_FN f32 for_narrow(f32 x) { return x; }
GPU_FN f32 for_narrow(f64 x) {
    f32 nearest = (f32)x;
    f64 back = (f64)nearest;
    u32 over = gpu_fabs(back) > gpu_fabs(x), lost = back < x || back > x;
    return gpu_bits<f32>((gpu_bits<u32>(nearest) - over) | lost);
}

#define TO(name, bits)                                                                                                 \
    case GPU_DTYPE_##name:                                                                                             \
        GPU_UNROLL for (int s = 0; s < S; s++) {                                                                       \
            M x = v[s];                                                                                                \
            r[s] = (R)(bits);                                                                                          \
        }                                                                                                              \
        break;
#define TO_FLOATS                                                                                                      \
    TO(bf16, gpu_to_bf16(for_narrow(x)).bits)                                                                          \
    TO(f16, gpu_to_f16(for_narrow(x)).bits)                                                                            \
    TO(f8e4m3, gpu_to_f8e4m3(for_narrow(x)).bits) TO(f8e5m2, to_f8e5m2(for_narrow(x)))
#define TO_SHORT TO(u8, to_u8(x)) TO(i8, to_i8(x)) TO(i16, to_i16(x)) TO(u16, to_u16(x)) TO(bool, x != 0)

template <typename R, typename M, int S> GPU_FN void int_to_bits(R (&r)[S], const M (&v)[S], u32 to) {
    bool truth = to == GPU_DTYPE_bool;
    GPU_UNROLL for (int s = 0; s < S; s++) r[s] = truth ? (R)(v[s] != 0) : (R)v[s];
}
template <int S> GPU_FN void to_bits(u32 (&r)[S], const i32 (&v)[S], u32 to) { int_to_bits(r, v, to); }
template <int S> GPU_FN void to_bits(u64 (&r)[S], const i64 (&v)[S], u32 to) { int_to_bits(r, v, to); }
template <int S> GPU_FN void to_bits(u32 (&r)[S], const f32 (&v)[S], u32 to) {
    typedef u32 R;
    typedef f32 M;
    switch (to) {
        TO_FLOATS
        TO_SHORT
    default: break;
    }
}
template <typename M, int S> GPU_FN void float_to_bits(u64 (&r)[S], const M (&v)[S], u32 to) {
    typedef u64 R;
    switch (to) {
        TO_FLOATS
        TO_SHORT
        TO(u32, to_u32(x))
        TO(i32, (u32)to_i32(x))
        TO(i64, to_i64(x))
        TO(u64, to_u64(x))
        TO(f32, gpu_bits<u32>((f32)x))
        TO(f64, gpu_bits<u64>((f64)x))
    default: break;
    }
}
template <int S> GPU_FN void to_bits(u64 (&r)[S], const f32 (&v)[S], u32 to) { float_to_bits(r, v, to); }
template <int S> GPU_FN void to_bits(u64 (&r)[S], const f64 (&v)[S], u32 to) { float_to_bits(r, v, to); }

/* ---- bits from and to memory ---- */

GPU_FN u32 size_of(u32 dtype) {
    const u32 ones = 1u << GPU_DTYPE_u8 | 1u << GPU_DTYPE_f8e4m3 | 1u << GPU_DTYPE_i8 | 1u << GPU_DTYPE_bool |
                     1u << GPU_DTYPE_f8e5m2;
    const u32 twos = 1u << GPU_DTYPE_i16 | 1u << GPU_DTYPE_u16 | 1u << GPU_DTYPE_bf16 | 1u << GPU_DTYPE_f16;
    const u32 fours = 1u << GPU_DTYPE_u32 | 1u << GPU_DTYPE_i32 | 1u << GPU_DTYPE_f32;
    return ones >> dtype & 1 ? 1 : twos >> dtype & 1 ? 2 : fours >> dtype & 1 ? 4 : 8;
}

template <typename T, int E, int S, typename R> GPU_FN void fetch_as(R (&r)[S], const struct gpu_walk &w, u64 tile) {
    T v[S];
    gpu_fetch<E, S>(v, w, 0, tile);
    GPU_UNROLL for (int s = 0; s < S; s++) r[s] = v[s];
}
template <typename T, int E, int S, typename R>
GPU_FN void put_as(const R (&r)[S], const struct gpu_walk &w, u64 tile) {
    T v[S];
    GPU_UNROLL for (int s = 0; s < S; s++) v[s] = (T)r[s];
    gpu_put<E, S>(v, w, tile);
}

template <int E> struct bits_of { typedef u64 type; };
template <> struct bits_of<8> { typedef u32 type; };

/* start + i step in f64, first + i by in i64, which wraps; other types have no such cast. */
template <typename M> GPU_FN void set_number(M &, const struct gpu_cast &, u64) {}
GPU_FN void set_number(f64 &v, const struct gpu_cast &p, u64 i) { v = p.start + (f64)(i64)i * p.step; }
GPU_FN void set_number(i64 &v, const struct gpu_cast &p, u64 i) { v = (i64)((u64)p.first + i * (u64)p.by); }

template <typename M, int S> GPU_FN void numbers(M (&v)[S], const struct gpu_cast &p, u64 tile, int chunk) {
    GPU_UNROLL for (int s = 0; s < S; s++) {
        u64 i = tile * (GPU_BLOCK * S) + (gpu_walk_chunks<S>(p.walk, tile)
                                              ? (u32)(s / chunk * GPU_BLOCK + gpu_thread()) * chunk + s % chunk
                                              : (u32)(s * GPU_BLOCK) + gpu_thread());
        set_number(v[s], p, i);
    }
}

template <typename M, int E> GPU_FN void cast(const struct gpu_cast &p) {
    enum { S = GPU_CAST_SLOTS };
    typename bits_of<E>::type r[S];
    M v[S];
    u64 tile = gpu_tile();
    if (tile >= (u64)p.walk.tiles) return;
    if (p.numbers) {
        numbers(v, p, tile, E);
    } else {
        u32 size = size_of(p.from);
        if (size == 1) fetch_as<u8, E, S>(r, p.walk, tile);
        if (size == 2) fetch_as<u16, E, S>(r, p.walk, tile);
        if (E <= 4 && size == 4) fetch_as<u32, E, S>(r, p.walk, tile);
        if (E == 2 && size == 8) fetch_as<u64, E, S>(r, p.walk, tile);
        from_bits<M, S>(v, r, p);
    }
    to_bits(r, v, p.to);
    u32 size = size_of(p.to);
    if (size == 1) put_as<u8, E, S>(r, p.walk, tile);
    if (size == 2) put_as<u16, E, S>(r, p.walk, tile);
    if (E <= 4 && size == 4) put_as<u32, E, S>(r, p.walk, tile);
    if (E == 2 && size == 8) put_as<u64, E, S>(r, p.walk, tile);
}

GPU_KERNEL(cast_f32_2, struct gpu_cast) { cast<f32, 2>(p); }
GPU_KERNEL(cast_f32_4, struct gpu_cast) { cast<f32, 4>(p); }
GPU_KERNEL(cast_f32_8, struct gpu_cast) { cast<f32, 8>(p); }
GPU_KERNEL(cast_f64_2, struct gpu_cast) { cast<f64, 2>(p); }
GPU_KERNEL(cast_f64_4, struct gpu_cast) { cast<f64, 4>(p); }
GPU_KERNEL(cast_i64_2, struct gpu_cast) { cast<i64, 2>(p); }
GPU_KERNEL(cast_i64_4, struct gpu_cast) { cast<i64, 4>(p); }
GPU_KERNEL(cast_i32_8, struct gpu_cast) { cast<i32, 8>(p); }

/* Between f32 and narrower dtypes with all of a thread's loads in flight, each beside those of the next thread: chunks of
 * four elements, 16 bytes of f32. Elements behind the last whole tile one by one. */
enum { STRAIGHT_SLOTS = GPU_CAST_STRAIGHT_SLOTS, STRAIGHT_CHUNK = 4 };

GPU_FN bool cast_cut(const struct gpu_cast &p, u64 first) {
    return first + GPU_BLOCK * STRAIGHT_SLOTS > (u64)p.walk.count;
}

template <typename T> GPU_FN void cast_round(const struct gpu_cast &p) {
    enum { S = STRAIGHT_SLOTS, E = STRAIGHT_CHUNK };
    const f32 *in = (const f32 *)p.walk.in[0];
    T *out = (T *)p.walk.out;
    u64 first = gpu_tile() * (GPU_BLOCK * S);
    if (cast_cut(p, first)) {
        for (u64 i = first + gpu_thread() * E; i < (u64)p.walk.count; i += GPU_BLOCK * E) {
            if (i + E > (u64)p.walk.count) {
                for (; i < (u64)p.walk.count; i++) gpu_down(&out[i], in[i]);
                return;
            }
            gpu_vec<f32> v = gpu_load16(in + i);
            gpu_pack<T, E> pack;
            GPU_UNROLL for (int e = 0; e < E; e++) gpu_down(&pack.v[e], v.v[e]);
            gpu_store_pack(out + i, pack);
        }
        return;
    }
    gpu_vec<f32> v[S / E];
    GPU_UNROLL for (int c = 0; c < S / E; c++) v[c] = gpu_load16(in + first + (u32)(c * GPU_BLOCK + gpu_thread()) * E);
    GPU_UNROLL for (int c = 0; c < S / E; c += 2) {
        f32 x[2 * E];
        gpu_vec<T> r;
        GPU_UNROLL for (int e = 0; e < 2 * E; e++) x[e] = v[c + e / E].v[e % E];
        gpu_down_vector(&r, x); /* two chunks at once, by pairs */
        GPU_UNROLL for (int half = 0; half < 2; half++) {
            gpu_pack<T, E> pack;
            GPU_UNROLL for (int e = 0; e < E; e++) pack.v[e] = r.v[half * E + e];
            gpu_store_pack(out + first + (u32)((c + half) * GPU_BLOCK + gpu_thread()) * E, pack);
        }
    }
}

GPU_KERNEL(cast_round_bf16, struct gpu_cast) { cast_round<bf16>(p); }
GPU_KERNEL(cast_round_f16, struct gpu_cast) { cast_round<f16>(p); }

/* A thread's 16 bytes become more than 16: they go round through LDS, so that stores too lie beside those of the next
 * thread. */
template <typename T> GPU_FN void cast_widen(const struct gpu_cast &p) {
    enum { S = STRAIGHT_SLOTS, E = STRAIGHT_CHUNK, N = 16 / sizeof(T) };
    GPU_SHARED gpu_vec<T> shared[GPU_BLOCK * S / N];
    const T *in = (const T *)p.walk.in[0];
    f32 *out = (f32 *)p.walk.out;
    u64 first = gpu_tile() * (GPU_BLOCK * S);
    if (cast_cut(p, first)) {
        for (u64 i = first + gpu_thread() * E; i < (u64)p.walk.count; i += GPU_BLOCK * E) {
            if (i + E > (u64)p.walk.count) {
                for (; i < (u64)p.walk.count; i++) out[i] = (f32)gpu_up(in[i]);
                return;
            }
            gpu_pack<T, E> x = gpu_load_pack<T, E>(in + i);
            gpu_vec<f32> r;
            GPU_UNROLL for (int e = 0; e < E; e++) r.v[e] = (f32)gpu_up(x.v[e]);
            gpu_store16(out + i, r);
        }
        return;
    }
    gpu_vec<T> v[S / N];
    GPU_UNROLL for (int l = 0; l < S / N; l++) v[l] = gpu_load16(in + first + (u32)(l * GPU_BLOCK + gpu_thread()) * N);
    GPU_UNROLL for (int l = 0; l < S / N; l++) shared[l * GPU_BLOCK + gpu_thread()] = v[l];
    gpu_sync();
    GPU_UNROLL for (int c = 0; c < S / E; c++) {
        u32 at = (u32)(c * GPU_BLOCK + gpu_thread()) * E;
        gpu_pack<T, E> x = gpu_load_pack<T, E>((const T *)shared + at);
        gpu_vec<f32> r;
        GPU_UNROLL for (int e = 0; e < E; e++) r.v[e] = (f32)gpu_up(x.v[e]);
        gpu_store16(out + first + at, r);
    }
}

GPU_KERNEL(cast_widen_u8, struct gpu_cast) { cast_widen<u8>(p); }
GPU_KERNEL(cast_widen_bf16, struct gpu_cast) { cast_widen<bf16>(p); }
GPU_KERNEL(cast_widen_f16, struct gpu_cast) { cast_widen<f16>(p); }

/* ---- of an operand that is turned: through f32, between dtypes of up to 4 bytes ---- */

GPU_FN void turn_up(f32 (&v)[GPU_TURN_SLOTS], const u32 (&r)[GPU_TURN_SLOTS], u32 from) {
    enum { S = GPU_TURN_SLOTS };
    typedef u32 R;
    typedef f32 M;
    switch (from) {
        FROM_SHORT
        FROM_NARROW_FLOATS
        FROM(u32, (u32)b)
        FROM(i32, (i32)b)
        FROM(f32, gpu_bits<f32>(b))
    default: break;
    }
}

GPU_FN void turn_down(u32 (&r)[GPU_TURN_SLOTS], const f32 (&v)[GPU_TURN_SLOTS], u32 to) {
    enum { S = GPU_TURN_SLOTS };
    typedef u32 R;
    typedef f32 M;
    switch (to) {
        TO_FLOATS
        TO_SHORT
        TO(u32, to_u32(x))
        TO(i32, (u32)to_i32(x))
        TO(f32, gpu_bits<u32>(x))
    default: break;
    }
}

template <typename T>
GPU_FN void turn_put(const u32 (&r)[GPU_TURN_SLOTS], const struct gpu_turn &p, const struct gpu_turn_line &line) {
    T v[GPU_TURN_SLOTS];
    GPU_UNROLL for (int s = 0; s < GPU_TURN_SLOTS; s++) v[s] = (T)r[s];
    gpu_turn_put(v, p, line);
}

GPU_KERNEL_OF(cast_turn, struct gpu_cast_turn, GPU_BLOCK, GPU_TURN_BLOCKS) {
    GPU_SHARED gpu_16 shared[GPU_TURN_VECTORS];
    u32 in = size_of(p.from), out = size_of(p.to);
    struct gpu_turn_tile tile;
    if (!gpu_turn_begin(p.turn, &tile)) return;
    if (in == 1) gpu_turn_load<u8>(p.turn, tile, shared);
    if (in == 2) gpu_turn_load<u16>(p.turn, tile, shared);
    if (in == 4) gpu_turn_load<u32>(p.turn, tile, shared);
    gpu_sync();
    GPU_NO_UNROLL for (u32 n = 0; n < p.turn.lines; n++) {
        struct gpu_turn_line line = gpu_turn_line_of(p.turn, tile, n, out);
        GPU_NO_UNROLL for (; line.column < tile.left_i; gpu_turn_next(&line, p.turn)) {
            u32 r[GPU_TURN_SLOTS];
            f32 v[GPU_TURN_SLOTS];
            if (in == 1) gpu_turn_take<u8>(r, line, shared);
            if (in == 2) gpu_turn_take<u16>(r, line, shared);
            if (in == 4) gpu_turn_take<u32>(r, line, shared);
            turn_up(v, r, p.from);
            turn_down(r, v, p.to);
            if (out == 1) turn_put<u8>(r, p.turn, line);
            if (out == 2) turn_put<u16>(r, p.turn, line);
            if (out == 4) turn_put<u32>(r, p.turn, line);
        }
    }
}
