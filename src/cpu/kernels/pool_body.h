/* Pooling one output row in one arithmetic, included by pool.c with
 *
 *   VALUE   what elements are turned into: float, double, int64_t
 *   SUM     what averages are summed in
 *   IS_NAN  whether a VALUE is NaN
 *   LOWEST  the VALUE below all others
 *   ROW     wick__row_to_* of VALUE
 *   NAME(x) x with the arithmetic's name; NAME(add_pair) is there
 *
 * A row is pooled in two steps: the input rows of the window are combined element by element into one row, which runs
 * at the width of the vectors, and then the windows along that row. */

/* The elements of an input row as VALUEs: the row itself where they are that already. */
static inline const VALUE *NAME(row)(const struct pool *pool, int64_t offset, VALUE *buffer) {
    const char *from = pool->in + (size_t)offset * pool->size;
    if (pool->plain) return (const VALUE *)(const void *)from;
    ROW(pool->dtype, from, 1, buffer, pool->axis[2].in);
    return buffer;
}

static inline VALUE NAME(larger)(VALUE a, VALUE b) { return ((b > a) | IS_NAN(b)) ? b : a; }

/* out[o] = op(out[o], in[(first + o) stride]), the strides that matter known to the compiler. */
static inline void NAME(max_taps)(const VALUE *restrict in, int64_t stride, VALUE *restrict out, int64_t n) {
    if (stride == 1)
        for (int64_t o = 0; o < n; o++) out[o] = NAME(larger)(out[o], in[o]);
    else if (stride == 2)
        for (int64_t o = 0; o < n; o++) out[o] = NAME(larger)(out[o], in[2 * o]);
    else
        for (int64_t o = 0; o < n; o++) out[o] = NAME(larger)(out[o], in[stride * o]);
}

static inline void NAME(sum_taps)(const SUM *restrict in, int64_t stride, SUM *restrict out, int64_t n) {
    if (stride == 1)
        for (int64_t o = 0; o < n; o++) out[o] += in[o];
    else if (stride == 2)
        for (int64_t o = 0; o < n; o++) out[o] += in[2 * o];
    else
        for (int64_t o = 0; o < n; o++) out[o] += in[stride * o];
}

/* The sum of a run, halved until it is short, so that the error grows with the logarithm of n. */
static SUM NAME(sum_run)(const SUM *in, int64_t n) {
    if (n > 64) {
        int64_t half = (n / 2 + 7) / 8 * 8;
        return NAME(sum_run)(in, half) + NAME(sum_run)(in + half, n - half);
    }
    SUM lane[8] = {0}, sum = 0;
    int64_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int l = 0; l < 8; l++) lane[l] += in[i + l];
    for (; i < n; i++) lane[i % 8] += in[i];
    for (int l = 0; l < 8; l++) sum += lane[l];
    return sum;
}

static void NAME(max_row)(const struct pool *pool, const struct place *place, VALUE *out, VALUE *scratch) {
    const struct axis *axis = &pool->axis[2];
    const struct window *d = place->d, *h = place->h;
    VALUE *column = scratch, *buffer = scratch + axis->in;
    for (int64_t i = 0; i < axis->in; i++) column[i] = LOWEST;
    for (int64_t kd = 0; kd < d->count; kd++)
        for (int64_t kh = 0; kh < h->count; kh++) {
            int64_t row = (place->plane * pool->axis[0].in + d->start + kd * pool->axis[0].step) * pool->axis[1].in +
                          h->start + kh * pool->axis[1].step;
            const VALUE *in = NAME(row)(pool, row * axis->in, buffer);
            for (int64_t i = 0; i < axis->in; i++) column[i] = NAME(larger)(column[i], in[i]);
        }
    for (int64_t o = 0; o < axis->out; o++) out[o] = LOWEST;
    for (int64_t o = 0; o < axis->out; o++) {
        if (o == axis->even_begin && axis->even_end > o) {
            for (int64_t k = 0; k < axis->window[o].count; k++) NAME(max_taps)
            (column + axis->window[o].start + k * axis->step, axis->stride, out + o, axis->even_end - o);
            o = axis->even_end - 1;
            continue;
        }
        const struct window *w = &axis->window[o];
        for (int64_t k = 0; k < w->count; k++) out[o] = NAME(larger)(out[o], column[w->start + k * axis->step]);
    }
}

/* Where the largest elements of a row of windows lie in their plane: the first among equals, or the last NaN. */
static void NAME(index_row)(const struct pool *pool, const struct place *place, uint32_t *index, VALUE *scratch) {
    const struct axis *axis = &pool->axis[2];
    VALUE *most = scratch, *buffer = scratch + axis->out;
    for (int64_t o = 0; o < axis->out; o++) index[o] = UINT32_MAX;
    for (int64_t kd = 0; kd < place->d->count; kd++)
        for (int64_t kh = 0; kh < place->h->count; kh++) {
            int64_t line = (place->d->start + kd * pool->axis[0].step) * pool->axis[1].in + place->h->start +
                           kh * pool->axis[1].step;
            int64_t above = place->plane * pool->axis[0].in * pool->axis[1].in;
            const VALUE *in = NAME(row)(pool, (above + line) * axis->in, buffer);
            for (int64_t o = 0; o < axis->out; o++)
                for (int64_t k = 0; k < axis->window[o].count; k++) {
                    int64_t i = axis->window[o].start + k * axis->step;
                    if (index[o] != UINT32_MAX && !(in[i] > most[o]) && !IS_NAN(in[i])) continue;
                    most[o] = in[i];
                    index[o] = (uint32_t)(line * axis->in + i);
                }
        }
}

/* What the sum of a window is divided by. */
static inline SUM NAME(divisor)(const struct pool *pool, const struct place *place, const struct window *w) {
    const struct window *d = place->d, *h = place->h;
    return (SUM)(pool->divisor > 0     ? pool->divisor
                 : pool->count_padding ? d->full * h->full * w->full
                                       : d->count * h->count * w->count);
}

/* The sum of the input rows of the windows, element by element: by pairs, as each sum is read and written again. */
static void NAME(sum_rows)(const struct pool *pool, const struct place *place, SUM *restrict column, VALUE *buffer) {
    const struct window *d = place->d, *h = place->h;
    int64_t rows = d->count * h->count, n = pool->axis[2].in;
    const VALUE *pair[2];
    if (rows % 2 == 0)
        for (int64_t i = 0; i < n; i++) column[i] = 0;
    for (int64_t r = 0; r < rows; r++) {
        int64_t line = (place->plane * pool->axis[0].in + d->start + r / h->count) * pool->axis[1].in + h->start;
        bool second = (rows - r) % 2 == 1; /* of a pair; or the first row of an odd number */
        pair[second] = NAME(row)(pool, (line + r % h->count) * n, second ? buffer + n : buffer);
        if (second && r > 0)
            NAME(add_pair)(pair[0], pair[1], column, n);
        else if (second)
            for (int64_t i = 0; i < n; i++) column[i] = pair[1][i];
    }
}

static void NAME(avg_row)(const struct pool *pool, const struct place *place, VALUE *out, SUM *scratch) {
    const struct axis *axis = &pool->axis[2];
    SUM *column = scratch, *total = scratch + axis->in;
    NAME(sum_rows)(pool, place, column, (VALUE *)(void *)(total + axis->out));
    int64_t begin = axis->even_begin, end = axis->even_end;
    for (int64_t o = begin; o < end; o++) total[o] = 0;
    for (int64_t k = 0; begin < end && k < axis->window[begin].count; k++)
        NAME(sum_taps)(column + axis->window[begin].start + k, axis->stride, total + begin, end - begin);
    /* Complete windows have one divisor, and the loop is one of vectors. */
    SUM n = begin < end ? NAME(divisor)(pool, place, &axis->window[begin]) : 1;
    for (int64_t o = begin; o < end; o++) out[o] = (VALUE)(total[o] / n);
    for (int64_t o = 0; o < axis->out; o++) {
        if (o == begin && begin < end) o = end;
        if (o == axis->out) break;
        const struct window *w = &axis->window[o];
        out[o] = (VALUE)(NAME(sum_run)(column + w->start, w->count) / NAME(divisor)(pool, place, w));
    }
}
