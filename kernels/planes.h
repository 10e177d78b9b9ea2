/* Planes of few lines side by side, whose rows follow each other without a gap: read as one run, by vectors of N. As the
 * vectors of all threads together are whole rows, what a thread has at a place of a vector is of one line, whatever vector
 * it is. */
#ifndef WICK_KERNELS_PLANES_H
#define WICK_KERNELS_PLANES_H

#include "wave.h"

/* What the threads have at their places, `n` of them, of which every `width`th is of a line, becomes one value of each
 * line: the first `width` are left. `width` is at most the block's threads, and n at least as many. */
template <typename J, typename P> GPU_FN void gpu_planes_join(P *room, u32 n, u32 width) {
    enum { EACH = 8 };
    u32 most = gpu_threads() / width, rows = n / width, mine = gpu_thread();
    GPU_NO_UNROLL while (rows > 1) {
        u32 next = (rows + EACH - 1) / EACH;
        if (next > most) next = most;
        if (mine < next * width) { /* nobody else reads room[mine] */
            P q = room[mine];
            for (u32 i = mine + next * width; i < rows * width; i += next * width) q = J::of(q, room[i]);
            room[mine] = q;
        }
        rows = next;
        gpu_sync();
    }
}

#endif
