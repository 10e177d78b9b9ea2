/* Picking elements by id, by the size of an element: gather, index_select, embedding; and looking for values. */
#include "dtype.h"
#include "layout.h"

#include "gather.h"

/* Elements that are loaded and stored together. */
template <typename T, int V> struct alignas(sizeof(T) * V > 16 ? 16 : sizeof(T) * V) pack {
    T v[V];
};

/* 16 bytes as an element; without an array, which some compilers would keep in memory. */
struct alignas(16) quad {
    u32 a, b, c, d;
};

template <typename T> GPU_FN T load(const T *p) { return *p; }
GPU_FN quad load(const quad *p) {
    gpu_16 x = *(const gpu_16 *)p;
    quad q = {x.word[0], x.word[1], x.word[2], x.word[3]};
    return q;
}

/* Offsets of elements in ids and x. The dims are gone through once for all of them, so that few sizes and strides are
 * held at a time. */
template <int U> struct places {
    i64 ids[U], x[U];
};

template <int U> GPU_FN places<U> locate(const u64 (&i)[U], const struct gpu_gather &p) {
    places<U> at;
    u64 rest[U];
    GPU_UNROLL for (int u = 0; u < U; u++) {
        at.ids[u] = at.x[u] = 0;
        rest[u] = i[u];
    }
    GPU_NO_UNROLL for (u32 d = 0; d < p.shape.rank; d++) {
        struct gpu_divisor by = p.shape.divisor[d];
        i64 size = p.shape.size[d], ids = p.layout[0].stride[d], x = p.layout[1].stride[d];
        GPU_UNROLL for (int u = 0; u < U; u++) {
            u64 quotient = p.shape.narrow ? gpu_divide((u32)rest[u], by) : rest[u] / (u64)size;
            i64 digit = (i64)(rest[u] - quotient * (u64)size);
            rest[u] = quotient;
            at.ids[u] += digit * ids;
            at.x[u] += digit * x;
        }
    }
    return at;
}

/* Takes U packs of V neighbours a thread, so that their loads are in flight together. */
template <typename T, typename ID, int V, int U> GPU_FN void gather_packs(const struct gpu_gather &p) {
    const T *x = (const T *)p.x;
    u64 packs = (u64)p.shape.count / V, stride = gpu_stride();
    for (u64 first = gpu_global(); first < packs; first += U * stride) {
        u64 i[U];
        pack<ID, V> id[U];
        pack<T, V> value[U];
        GPU_UNROLL for (int u = 0; u < U; u++) {
            u64 next = first + (u64)u * stride;
            i[u] = (next < packs ? next : first) * V;
        }
        places<U> at = locate<U>(i, p);
        GPU_UNROLL for (int u = 0; u < U; u++) id[u] = *(const pack<ID, V> *)((const ID *)p.ids.data + at.ids[u]);
        GPU_UNROLL for (int u = 0; u < U; u++) {
            GPU_UNROLL for (int j = 0; j < V; j++) {
                value[u].v[j] = gpu_id_valid<ID>(p.ids, id[u].v[j], at.ids[u] + j)
                                    ? load(x + at.x[u] + (i64)id[u].v[j] * p.step + j * p.layout[1].stride[0])
                                    : T{};
            }
        }
        GPU_UNROLL for (int u = 0; u < U; u++) {
            u64 next = first + (u64)u * stride;
            if (next < packs) ((pack<T, V> *)p.out)[next] = value[u];
        }
    }
}

template <typename T, typename ID> GPU_FN void gather_ids(const struct gpu_gather &p) {
    if (sizeof(T) < 16 && p.fourfold)
        gather_packs<T, ID, sizeof(T) < 16 ? 4 : 1, 2>(p);
    else
        gather_packs<T, ID, 1, 4>(p);
}

template <typename T> GPU_FN void gather_any(const struct gpu_gather &p) {
    if (p.ids.width == 8)
        gather_ids<T, u64>(p);
    else if (p.ids.width == 4)
        gather_ids<T, u32>(p);
    else if (p.ids.width == 2)
        gather_ids<T, u16>(p);
    else
        gather_ids<T, u8>(p);
}

GPU_KERNEL(gather_b1, struct gpu_gather) { gather_any<u8>(p); }
GPU_KERNEL(gather_b2, struct gpu_gather) { gather_any<u16>(p); }
GPU_KERNEL(gather_b4, struct gpu_gather) { gather_any<u32>(p); }
GPU_KERNEL(gather_b8, struct gpu_gather) { gather_any<u64>(p); }
GPU_KERNEL(gather_b16, struct gpu_gather) { gather_any<quad>(p); }

GPU_KERNEL(check_ids, struct gpu_check_ids) {
    for (u64 i = gpu_global(); i < (u64)p.shape.count; i += gpu_stride())
        gpu_id_at(p.ids, gpu_locate<1>(i, p.shape, p.layout).at[0]);
}

/* ---- searchsorted ---- */

/* Whether a comes before b: NaN is above all others. */
template <typename A> GPU_FN bool search_before(A a, A b) { return b != b ? a == a : a < b; }

template <typename T> GPU_FN void search_sorted(const struct gpu_search &p) {
    for (u64 i = gpu_global(); i < (u64)p.count; i += gpu_stride()) {
        const T *line = (const T *)p.sequence + (p.shared ? 0 : (i64)(i / (u64)p.m) * p.n);
        auto value = gpu_up(((const T *)p.values)[i]);
        i64 low = 0, high = p.n;
        GPU_NO_UNROLL while (low < high) {
            i64 middle = low + (high - low) / 2;
            auto x = gpu_up(line[middle]);
            if (p.right ? !search_before(value, x) : search_before(x, value))
                low = middle + 1;
            else
                high = middle;
        }
        p.out[i] = low;
    }
}

#define SEARCH(type)                                                                                                   \
    GPU_KERNEL(search_##type, struct gpu_search) { search_sorted<type>(p); }
GPU_ALL(SEARCH)
