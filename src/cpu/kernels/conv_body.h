/* A convolution's work in one arithmetic, included by conv.c with
 *
 *   VALUE      what is computed with: float, double, uint64_t
 *   MULADD(x, y, z)  x y + z on vectors
 *   TO_VALUES(dtype, from, stride, to, n), FROM_VALUES(dtype, from, to, n)   rows of elements to VALUEs and back
 *   NAME(x)    x with the arithmetic's name
 *
 * The product is made tile by tile, of ROWS result channels by COLUMNS vectors of positions; each element of it is one
 * chain of multiplications and additions in the order of k, so its bits depend neither on the tile nor on the band. */

typedef VALUE NAME(vector) __attribute__((vector_size(WICK__CONV_LANES * 4)));
typedef VALUE NAME(loose) __attribute__((vector_size(WICK__CONV_LANES * 4), aligned(sizeof(VALUE)), may_alias));
enum { NAME(LANES) = WICK__CONV_LANES * 4 / (int)sizeof(VALUE) };

/* sum[m][n] += weight[m][0] * at[n], vectors, of rows of weights `terms` apart. */
static inline __attribute__((always_inline)) void NAME(add_term)(NAME(vector) sum[ROWS][COLUMNS], const VALUE *weight,
                                                                 int64_t terms, const VALUE *at, const int rows,
                                                                 const int columns) {
    NAME(vector) x[COLUMNS];
    UNROLL for (int n = 0; n < columns; n++) x[n] = *(const NAME(loose) *)(at + n * NAME(LANES));
    UNROLL for (int m = 0; m < rows; m++) {
        NAME(vector) w = SPLAT(weight[m * terms]);
        UNROLL for (int n = 0; n < columns; n++) sum[m][n] = MULADD(w, x[n], sum[m][n]);
    }
}

/* tile[m][n] = bias[m] + sum over k of weight[m][k] * image[offset[k] + n], vectors. */
static inline __attribute__((always_inline)) void NAME(multiply)(const VALUE *weight, int64_t terms, const VALUE *bias,
                                                                 const VALUE *image, const int64_t *offset, VALUE *tile,
                                                                 const int rows, const int columns) {
    NAME(vector) sum[ROWS][COLUMNS];
    int64_t k = 0;
    UNROLL for (int m = 0; m < rows; m++) UNROLL for (int n = 0; n < columns; n++) sum[m][n] =
        SPLAT(bias ? bias[m] : (VALUE)0);
    for (; k + rows <= terms; k += rows) UNROLL for (int m = 0; m < rows; m++) {
            __builtin_prefetch(weight + m * terms + k + WEIGHTS_AHEAD);
            NAME(add_term)(sum, weight + k + m, terms, image + offset[k + m], rows, columns);
        }
    for (; k < terms; k++) NAME(add_term)(sum, weight + k, terms, image + offset[k], rows, columns);
    UNROLL for (int m = 0; m < rows; m++) UNROLL for (int n = 0; n < columns; n++) *
        (NAME(vector) *)(void *)(tile + (m * COLUMNS + n) * NAME(LANES)) = sum[m][n];
}

#define WICK__TILE(m, n)                                                                                               \
    static void NAME(multiply_##m##_##n)(const VALUE *weight, int64_t terms, const VALUE *bias, const VALUE *image,    \
                                         const int64_t *offset, VALUE *tile) {                                         \
        NAME(multiply)(weight, terms, bias, image, offset, tile, m, n);                                                \
    }
#if WICK_ISA_LEVEL >= 2
#define WICK__TILE_ROW(m) WICK__TILE(m, 1) WICK__TILE(m, 2) WICK__TILE(m, 3)
#define WICK__TILES(m)                                                                                                 \
    { NAME(multiply_##m##_1), NAME(multiply_##m##_2), NAME(multiply_##m##_3) }
WICK__TILE_ROW(8)
#else
#define WICK__TILE_ROW(m) WICK__TILE(m, 1) WICK__TILE(m, 2)
#define WICK__TILES(m)                                                                                                 \
    { NAME(multiply_##m##_1), NAME(multiply_##m##_2) }
WICK__TILE_ROW(6)
#endif
WICK__TILE_ROW(1)
WICK__TILE_ROW(2)
WICK__TILE_ROW(4)
#undef WICK__TILE

typedef void NAME(tile_fn)(const VALUE *, int64_t, const VALUE *, const VALUE *, const int64_t *, VALUE *);

/* By kinds of rows and by columns. */
static NAME(tile_fn) *const NAME(tiles)[ROW_KINDS][COLUMNS] = {
    WICK__TILES(1),
    WICK__TILES(2),
    WICK__TILES(4),
#if WICK_ISA_LEVEL >= 2
    WICK__TILES(8),
#else
    WICK__TILES(6),
#endif
};
#undef WICK__TILE_ROW
#undef WICK__TILES

/* n elements of an input row from element `low` on, a step apart, as VALUEs; those outside 0 .. size-1 are 0. May write
 * up to a vector beyond n. */
static inline void NAME(copy_row)(const struct conv *conv, const char *row, int64_t size, int64_t low, int64_t step,
                                  VALUE *to, int64_t n) {
    int64_t begin = low < 0 ? wick__min(n, steps_over(-low, step)) : 0, end = n;
    if (low + (n - 1) * step >= size) end = size > low ? wick__min(n, steps_over(size - low, step)) : 0;
    if (!row || end <= begin) {
        memset(to, 0, (size_t)n * sizeof *to);
        return;
    }
    if (COPY_MASKED && step == 1 && conv->plain) {
        /* Element 0 may lie before the row, so its address is made of integers. */
        const float *from = (const float *)((uintptr_t)row + (uintptr_t)low * sizeof *from);
        copy_masked((float *)(void *)to, from, begin, end, n, conv->plan->ahead);
        return;
    }
    for (int64_t i = 0; i < begin; i++) to[i] = 0;
    const char *from = row + (size_t)(low + begin * step) * conv->size;
    if (conv->plain) {
        const VALUE *value = (const VALUE *)(const void *)from;
        enum { LINE = 64 / sizeof(VALUE) };
        for (int64_t i = 0; i < (end - begin) * step; i += LINE)
            __builtin_prefetch((const void *)((uintptr_t)(value + i) + (uintptr_t)conv->plan->ahead * sizeof *value));
        if (step == 1)
            for (int64_t i = 0; i < end - begin; i++) to[begin + i] = value[i];
        else if (step == 2)
            for (int64_t i = 0; i < end - begin; i++) to[begin + i] = value[2 * i];
        else
            for (int64_t i = 0; i < end - begin; i++) to[begin + i] = value[step * i];
    } else {
        TO_VALUES(conv->dtype, from, step, to + begin, end - begin);
    }
    for (int64_t i = end; i < n; i++) to[i] = 0;
}

/* Positions first .. first+length-1 of the image that shows input rows low[0], low[0] + step, ... from column low[1].
 */
static void NAME(fill_image)(const struct conv *conv, const char *plane, const int64_t low[2], int64_t first,
                             int64_t length, VALUE *image) {
    const struct conv_plan *plan = conv->plan;
    const struct conv_dim *h = &plan->dim[1], *w = &plan->dim[2];
    if (plane && plan->width == w->in && low[1] == 0 && w->step == 1 && h->step == 1) { /* rows without margins */
        NAME(copy_row)(conv, plane, h->in * w->in, low[0] * w->in + first, 1, image, length);
        return;
    }
    int64_t i = first / plan->width, j = first % plan->width, at = 0;
    while (at < length) {
        int64_t n = wick__min(plan->width - j, length - at), y = low[0] + i * h->step;
        const char *row = plane && y >= 0 && y < h->in ? plane + (size_t)(y * w->in) * conv->size : NULL;
        NAME(copy_row)(conv, row, w->in, low[1] + j * w->step, w->step, image + at, n);
        at += n;
        i++;
        j = 0;
    }
}

/* The same of a band of planes that follow each other, `step` bytes apart from one item of the batch to the next. */
static void NAME(fill_band)(const struct conv *conv, const char *plane, size_t step, const int64_t low[2],
                            int64_t first, VALUE *image) {
    const struct conv_plan *plan = conv->plan;
    if (plan->planes == 1) {
        NAME(fill_image)(conv, plane, low, first, plan->length, image);
        return;
    }
    int64_t item = first / plan->plane, at = 0;
    first -= item * plan->plane;
    for (; at < plan->length; item++, first = 0) {
        int64_t n = wick__min(plan->plane - first, plan->length - at);
        NAME(fill_image)
        (conv, plane && item < plan->planes ? plane + (size_t)item * step : NULL, low, first, n, image + at);
        at += n;
    }
}

/* All images of a band of the plane `depth` of the grid. */
static void NAME(fill_images)(const struct conv *conv, const char *in, int64_t depth, int64_t first, VALUE *image) {
    const struct conv_plan *plan = conv->plan;
    const struct conv_dim *d = &plan->dim[0], *h = &plan->dim[1], *w = &plan->dim[2];
    size_t step = (size_t)(conv->groups * conv->in_channels * conv->in_plane) * conv->size;
    int64_t rows = plan->gather ? h->taps : h->phases, columns = plan->gather ? w->taps : w->phases;
    for (int64_t c = 0; c < conv->in_channels; c++)
        for (int64_t t = 0; t < d->taps; t++) {
            int64_t z = (depth + d->tap[t].shift) * d->step + d->tap[t].residue;
            const char *plane = NULL;
            if (z >= 0 && z < d->in) plane = in + (size_t)(c * conv->in_plane + z * h->in * w->in) * conv->size;
            for (int64_t a = 0; a < rows; a++)
                for (int64_t b = 0; b < columns; b++, image += plan->length) {
                    int64_t low[2] = {h->low * h->step, w->low * w->step};
                    if (plan->gather) {
                        low[0] = h->tap[a].shift * h->step + h->tap[a].residue;
                        low[1] = w->tap[b].shift * w->step + w->tap[b].residue;
                    } else {
                        low[0] += h->residue[a];
                        low[1] += w->residue[b];
                    }
                    NAME(fill_band)(conv, plane, step, low, first, image);
                }
        }
}

/* A run of positions of a block that are kept, and where they go. */
struct NAME(run) {
    int64_t at, n, to;
};

/* The runs of positions first .. first+n-1; returns how many. */
static int NAME(find_runs)(const struct conv *conv, int64_t first, int64_t n, struct NAME(run) * run) {
    const struct conv_plan *plan = conv->plan;
    const struct conv_dim *h = &plan->dim[1], *w = &plan->dim[2];
    /* A plane of which all positions are kept is one row. Divisions only where there is something to divide. */
    int64_t width = plan->exact ? plan->plane : plan->width, out = plan->exact ? plan->plane : w->out;
    int64_t rows = plan->exact ? 1 : h->out, item = 0, y = 0, x = first, at = 0;
    int count = 0;
    if (x >= plan->plane) item = x / plan->plane, x -= item * plan->plane;
    if (x >= width) y = x / width, x -= y * width;
    while (at < n) {
        int64_t here = wick__min(width - x, n - at), kept = wick__min(out - x, here);
        int64_t to = (h->first + y * h->pitch) * w->full + w->first + x * w->pitch;
        if (kept > 0)
            run[count++] =
                (struct NAME(run)){at, kept, item * conv->groups * conv->out_channels * conv->out_plane + to};
        at += here;
        x = 0;
        if (++y == rows) item++, y = 0;
    }
    return count;
}

/* One row of a tile to its places in a result plane. */
static void NAME(store_row)(const struct conv *conv, const VALUE *tile, const struct NAME(run) * run, int runs,
                            char *plane) {
    int64_t pitch = conv->plan->dim[2].pitch;
    if (runs == 1 && run->n == COLUMNS * NAME(LANES) && pitch == 1 && conv->plain) {
        NAME(loose) *to = (void *)(plane + (size_t)run->to * conv->size);
        UNROLL for (int n = 0; n < COLUMNS; n++) to[n] = ((const NAME(vector) *)(const void *)tile)[n];
        return;
    }
    for (int r = 0; r < runs; r++) {
        char *to = plane + (size_t)run[r].to * conv->size;
        const VALUE *from = tile + run[r].at;
        if (pitch == 1 && conv->plain)
            for (int64_t i = 0; i < run[r].n; i++) ((VALUE *)(void *)to)[i] = from[i];
        else if (pitch == 1)
            FROM_VALUES(conv->dtype, from, to, run[r].n);
        else if (conv->plain)
            for (int64_t i = 0; i < run[r].n; i++) ((VALUE *)(void *)to)[i * pitch] = from[i];
        else
            for (int64_t i = 0; i < run[r].n; i++)
                FROM_VALUES(conv->dtype, from + i, to + (size_t)(i * pitch) * conv->size, 1);
    }
}

/* What an item is. */
struct NAME(item) {
    int64_t first;     /* its band's first position */
    int64_t row, rows; /* its result channels, counted over all groups */
    char *out;         /* the plane of the first of them */
    const VALUE *image;
};

/* Result channels row .. row+rows_of[kind]-1 of the item, at `columns` vectors of positions from `at` on. */
static void NAME(run_tile)(const struct conv *conv, const struct NAME(item) * item, int64_t row, int kind, int64_t at,
                           int columns) {
    const struct conv_plan *plan = conv->plan;
    _Alignas(64) VALUE tile[ROWS * COLUMNS * NAME(LANES)];
    struct NAME(run) run[COLUMNS * NAME(LANES)];
    int64_t n = wick__min((int64_t)columns * NAME(LANES), plan->positions - item->first - at);
    int64_t channel = item->row + row;
    int runs = NAME(find_runs)(conv, item->first + at, n, run);
    const VALUE *weight = conv->weight, *bias = conv->bias;
    for (int m = 0; runs > 0 && m < rows_of[kind]; m++) /* the lines to be written, which come while it computes */
        __builtin_prefetch(item->out + (size_t)((row + m) * conv->out_plane + run->to) * conv->size, 1);
    NAME(tiles)
    [kind][columns - 1](weight + channel * plan->terms, plan->terms, bias ? bias + channel : NULL, item->image + at,
                        plan->offset, tile);
    for (int m = 0; m < rows_of[kind]; m++) {
        VALUE *values = tile + m * COLUMNS * NAME(LANES);
        if (conv->relu) NAME(relu)(conv->dtype, values, n);
        NAME(store_row)(conv, values, run, runs, item->out + (size_t)((row + m) * conv->out_plane) * conv->size);
    }
}

/* Four vectors of sums of one result channel, `apart` elements of the image from one another. */
static inline __attribute__((always_inline)) void NAME(multiply_thin)(const VALUE *weight, VALUE bias,
                                                                      const VALUE *image, int64_t apart,
                                                                      const int64_t *offset, int64_t terms,
                                                                      NAME(vector) sum[4]) {
    UNROLL for (int r = 0; r < 4; r++) sum[r] = SPLAT(bias);
    UNROLL for (int64_t k = 0; k < terms; k++) {
        NAME(vector) w = SPLAT(weight[k]);
        UNROLL for (int r = 0; r < 4; r++) sum[r] =
            MULADD(w, *(const NAME(loose) *)(image + offset[k] + r * apart), sum[r]);
    }
}

/* n <= LANES elements of a vector to their place. */
static inline void NAME(put)(const struct conv *conv, NAME(vector) sum, char *to, int64_t n) {
    _Alignas(64) VALUE values[NAME(LANES)];
    if (conv->plain && !conv->relu && n == NAME(LANES)) {
        *(NAME(loose) *)(void *)to = sum;
        return;
    }
    if (COPY_MASKED && conv->plain && !conv->relu) {
        wick__vf_store_some((float *)(void *)to, wick__vf_load((const float *)(const void *)&sum), n);
        return;
    }
    *(NAME(vector) *)(void *)values = sum;
    if (conv->relu) NAME(relu)(conv->dtype, values, n);
    FROM_VALUES(conv->dtype, values, to, n);
}

/* One result channel of few terms, as in depthwise convolutions: row by row, four rows or four vectors at a time. */
static void NAME(run_thin)(const struct conv *conv, const struct NAME(item) * item, int64_t row) {
    const struct conv_plan *plan = conv->plan;
    const struct conv_dim *h = &plan->dim[1], *w = &plan->dim[2];
    int64_t channel = item->row + row, terms = plan->terms, lanes = NAME(LANES);
    const VALUE *weight = (const VALUE *)conv->weight + channel * terms;
    VALUE bias = conv->bias ? ((const VALUE *)conv->bias)[channel] : 0;
    char *plane = item->out + (size_t)(row * conv->out_plane) * conv->size;
    bool tall = h->out >= 4;
    int64_t apart = tall ? plan->width : lanes, columns = tall ? lanes : 4 * lanes;
    for (int64_t y = 0; y < h->out; y += tall ? 4 : 1)
        for (int64_t x = 0; x < w->out; x += columns) {
            NAME(vector) sum[4];
            int64_t top = tall ? wick__min(y, h->out - 4) : y; /* the last rows are made twice rather than one by one */
            const VALUE *image = item->image + top * plan->width + x;
            if (terms == 9)
                NAME(multiply_thin)(weight, bias, image, apart, plan->offset, 9, sum);
            else
                NAME(multiply_thin)(weight, bias, image, apart, plan->offset, terms, sum);
            for (int r = 0; r < 4; r++) {
                int64_t at = tall ? (top + r) * w->out + x : y * w->out + x + r * lanes;
                int64_t n = wick__min(w->out - x - (tall ? 0 : r * lanes), lanes);
                if (n > 0) NAME(put)(conv, sum[r], plane + (size_t)at * conv->size, n);
            }
        }
}

/* Result channels row .. end-1 of the item at positions from .. to-1 of its band. */
static void NAME(run_tiles)(const struct conv *conv, const struct NAME(item) * item, int64_t row, int64_t end,
                            int64_t from, int64_t to) {
    while (row < end) {
        int64_t rows = end - row;
        int kind = rows >= ROWS ? ROW_KINDS - 1 : rows >= 4 ? 2 : rows >= 2 ? 1 : 0;
        for (int64_t at = from; at < to;) {
            int64_t columns = (to - at + NAME(LANES) - 1) / NAME(LANES);
            columns = columns == COLUMNS + 1 ? (COLUMNS + 1) / 2 : wick__min(columns, COLUMNS);
            NAME(run_tile)(conv, item, row, kind, at, (int)columns);
            at += columns * NAME(LANES);
        }
        row += rows_of[kind];
    }
}

/* Of few terms the images of a few positions stay in the first level cache for all result channels whose weights the
 * second has room for; of more, the rows of weights of a tile do so in the second for all positions of the band. */
static void NAME(run_band)(const struct conv *conv, const struct NAME(item) * item) {
    int64_t left = wick__min(conv->plan->band, conv->plan->positions - item->first);
    if (conv->plan->thin) {
        for (int64_t row = 0; row < item->rows; row++) NAME(run_thin)(conv, item, row);
        return;
    }
    int64_t terms = wick__max(1, conv->plan->terms), chunk = left, block = item->rows;
    if (terms <= WICK__CONV_FEW) {
        chunk = COLUMNS * NAME(LANES) * (WICK__CONV_FEW / terms);
        int64_t blocks = (item->rows * terms + WICK__CONV_WEIGHTS - 1) / WICK__CONV_WEIGHTS;
        block = (item->rows + blocks * ROWS - 1) / (blocks * ROWS) * ROWS;
    }
    for (int64_t row = 0; row < item->rows; row += block)
        for (int64_t from = 0, to; from < left; from = to) {
            to = left - from <= chunk + NAME(LANES) ? left : from + chunk; /* no single vector is left over */
            NAME(run_tiles)(conv, item, row, wick__min(row + block, item->rows), from, to);
        }
}

/* Items: item of the batch unless its planes follow each other, group, plane of the grid, band, part of the group's
 * result channels; the last varies fastest. */
static void NAME(run_items)(void *context, int worker, int64_t begin, int64_t end) {
    const struct conv *conv = context;
    const struct conv_plan *plan = conv->plan;
    struct conv_scratch *scratch = (void *)(conv->scratch + (size_t)worker * conv->scratch_each);
    VALUE *image = (VALUE *)(void *)((char *)scratch + 64);
    const struct conv_dim *d = &plan->dim[0], *h = &plan->dim[1], *w = &plan->dim[2];
    for (int64_t i = begin; i < end; i++) {
        int64_t band = i / plan->parts, above = band / plan->bands, part = i % plan->parts * plan->part;
        int64_t depth = above % d->out, group = above / d->out % conv->groups, n = above / d->out / conv->groups;
        int64_t row = group * conv->out_channels + part, plane = n * conv->groups * conv->out_channels + row;
        plane = plane * conv->out_plane + (d->first + depth * d->pitch) * h->full * w->full;
        struct NAME(item) item = {.first = band % plan->bands * plan->band,
                                  .row = row,
                                  .rows = wick__min(plan->part, conv->out_channels - part),
                                  .out = conv->out + (size_t)plane * conv->size,
                                  .image = image};
        const char *in =
            conv->in + (size_t)((n * conv->groups + group) * conv->in_channels * conv->in_plane) * conv->size;
        if (plan->direct) {
            if (scratch->band < 0)
                for (int64_t z = 0; z < w->in; z++) image[z] = 0;
            scratch->band = 0;
            for (int64_t r = 0; r < item.rows; r++)
                run_direct(conv, row + r, (const void *)in, (const void *)image,
                           (void *)(item.out + (size_t)(r * conv->out_plane) * conv->size));
            continue;
        }
        if (scratch->band != band) {
            NAME(fill_images)(conv, in, depth, item.first, image);
            scratch->band = band;
        }
        NAME(run_band)(conv, &item);
    }
}

/* Result planes as they are where no term is added: their bias, or 0. For threads. */
static void NAME(fill_planes)(void *context, int worker, int64_t begin, int64_t end) {
    enum { CHUNK = 64 };
    const struct conv *conv = context;
    int64_t channels = conv->groups * conv->out_channels, n = conv->out_plane;
    VALUE values[CHUNK];
    char bytes[CHUNK * sizeof(double)];
    (void)worker;
    for (int64_t plane = begin; plane < end; plane++) {
        char *out = conv->out + (size_t)(plane * n) * conv->size;
        for (int i = 0; i < CHUNK; i++) values[i] = conv->bias ? ((const VALUE *)conv->bias)[plane % channels] : 0;
        if (conv->relu) NAME(relu)(conv->dtype, values, CHUNK);
        FROM_VALUES(conv->dtype, values, bytes, CHUNK);
        for (int64_t i = 0; i < n; i += CHUNK)
            memcpy(out + (size_t)i * conv->size, bytes, (size_t)wick__min(CHUNK, n - i) * conv->size);
    }
}

/* Rows `row` .. row+n-1 of one group of a transposed convolution's weight, n <= TAKEN: where neighbours in a row lie
 * far apart, those of neighbouring rows lie close. */
enum { NAME(TAKEN) = 16 };
static void NAME(take_transposed)(const struct conv *conv, const char *weight, int64_t row, int64_t n) {
    const struct conv_plan *plan = conv->plan;
    const int64_t *kernel = conv->kernel, volume = kernel[0] * kernel[1] * kernel[2];
    int64_t group = row / conv->out_channels, column = row % conv->out_channels;
    VALUE *to = (VALUE *)conv->taken + row * plan->terms, taken[NAME(TAKEN)];
    for (int64_t c = 0; c < conv->in_channels; c++) {
        int64_t start = ((group * conv->in_channels + c) * conv->out_channels + column) * volume;
        for (int64_t t = 0; t < plan->dim[0].taps; t++)
            for (int64_t i = 0; i < plan->dim[1].taps; i++)
                for (int64_t j = 0; j < plan->dim[2].taps; j++, to++) {
                    int64_t at = plan->dim[0].tap[t].kernel * kernel[1] + plan->dim[1].tap[i].kernel;
                    at = start + at * kernel[2] + plan->dim[2].tap[j].kernel;
                    TO_VALUES(conv->dtype, weight + (size_t)at * conv->size, volume, taken, n);
                    for (int64_t r = 0; r < n; r++) to[r * plan->terms] = taken[r];
                }
    }
}

/* Rows of weight as VALUEs, for threads. */
static void NAME(take_weight)(void *context, int worker, int64_t begin, int64_t end) {
    const struct conv *conv = context;
    int64_t terms = conv->plan->terms;
    const char *weight = wick__data(conv->call->in[1]);
    (void)worker;
    if (terms == 0) return;
    if (!conv->transposed) {
        TO_VALUES(conv->dtype, weight + (size_t)(begin * terms) * conv->size, 1, (VALUE *)conv->taken + begin * terms,
                  (end - begin) * terms);
        return;
    }
    for (int64_t row = begin, n; row < end; row += n) {
        n = wick__min(wick__min(NAME(TAKEN), end - row), conv->out_channels - row % conv->out_channels);
        NAME(take_transposed)(conv, weight, row, n);
    }
}

static void NAME(take_bias)(const struct conv *conv) {
    TO_VALUES(conv->dtype, wick__data(conv->call->in[2]), 1, conv->bias, conv->groups * conv->out_channels);
}
