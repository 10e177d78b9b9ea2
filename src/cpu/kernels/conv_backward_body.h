/* The product of conv_backward.c in one arithmetic, included with
 *
 *   VALUE      what is multiplied: float, double
 *   MULADD(x, y, z)  x y + z on vectors
 *   TO_VALUES(dtype, from, stride, to, n)   elements as VALUEs
 *   NAME(x)    x with the arithmetic's name: vector, a type, and
 *   NAME(add_totals)(x, n, sums)   adds those of n vectors */

typedef VALUE NAME(loose) __attribute__((vector_size(BYTES), aligned(sizeof(VALUE)), may_alias));
enum { NAME(LANES) = BYTES / (int)sizeof(VALUE) };

/* sums[m][c] += sum over the band's terms i of row[m][i] column[c][i]. */
static inline __attribute__((always_inline)) void NAME(multiply)(const VALUE *row, int64_t pitch,
                                                                 const VALUE *const *column, const struct band *band,
                                                                 double *sums, int64_t across, const int rows,
                                                                 const int columns) {
    const int64_t n = band->n, image = band->image, images = band->images;
    NAME(vector) sum[ROWS][COLUMNS];
    UNROLL for (int m = 0; m < rows; m++) UNROLL for (int c = 0; c < columns; c++) sum[m][c] = (NAME(vector)){0};
    for (int64_t k = 0; k < images; k++) {
        for (int64_t i = k * image; i < k * image + n; i += NAME(LANES)) {
            NAME(vector) x[COLUMNS];
            UNROLL for (int c = 0; c < columns; c++) x[c] = *(const NAME(loose) *)(column[c] + i);
            UNROLL for (int m = 0; m < rows; m++) {
                NAME(vector) w = *(const NAME(loose) *)(row + m * pitch + i);
                UNROLL for (int c = 0; c < columns; c++) sum[m][c] = MULADD(w, x[c], sum[m][c]);
            }
        }
    }
    UNROLL for (int m = 0; m < rows; m++) NAME(add_totals)(sum[m], columns, sums + m * across);
}

/* Rows row .. row+rows-1 with a block of columns. */
static inline __attribute__((always_inline)) void NAME(multiply_rows)(const VALUE *row, int64_t pitch,
                                                                      const VALUE *const *column,
                                                                      const struct band *band,
                                                                      const struct block *block, const int rows) {
    int64_t c = 0;
    for (; c + COLUMNS <= block->columns; c += COLUMNS)
        NAME(multiply)(row, pitch, column + c, band, block->sums + c, block->across, rows, COLUMNS);
    for (; c < block->columns; c++)
        NAME(multiply)(row, pitch, column + c, band, block->sums + c, block->across, rows, 1);
}

typedef void NAME(rows_fn)(const VALUE *row, int64_t pitch, const VALUE *const *column, const struct band *band,
                           const struct block *block);
#undef OF_ROWS
#define OF_ROWS(rows)                                                                                                  \
    static void NAME(multiply_##rows)(const VALUE *row, int64_t pitch, const VALUE *const *column,                     \
                                      const struct band *band, const struct block *block) {                            \
        NAME(multiply_rows)(row, pitch, column, band, block, rows);                                                    \
    }
OF_ROWS(1)
OF_ROWS(2)
OF_ROWS(3)
OF_ROWS(4)
#if WICK_ISA_LEVEL >= 2
OF_ROWS(5)
OF_ROWS(6)
static NAME(rows_fn) *const NAME(of_rows)[] = {NAME(multiply_1), NAME(multiply_2), NAME(multiply_3),
                                               NAME(multiply_4), NAME(multiply_5), NAME(multiply_6)};
#else
static NAME(rows_fn) *const NAME(of_rows)[] = {NAME(multiply_1), NAME(multiply_2), NAME(multiply_3), NAME(multiply_4)};
#endif
/* What a row of windows meets in a row of the large side, NULL for one beyond it. `to` has room for a whole vector more
 * than it needs. */
static inline void NAME(copy_windows)(const struct conv_backward *s, const char *row, const struct windows *w,
                                      VALUE *to) {
    int64_t begin = wick__min(w->n, steps(-w->low, w->stride)),
            end = wick__min(w->n, steps(w->large - w->low, w->stride));
    if (!row || end <= begin) { /* to load no lanes from nowhere would take a hundred cycles */
        memset(to, 0, sizeof *to * (size_t)w->n);
        return;
    }
    if (s->size == sizeof(VALUE) && NAME(copy_masked)(row, w, begin, end, to)) return;
    for (int64_t i = 0; i < begin; i++) to[i] = 0;
    const char *from = row + (w->low + begin * w->stride) * (int64_t)s->size;
    if (s->size == sizeof(VALUE) && w->stride == 1)
        memcpy(to + begin, from, sizeof *to * (size_t)(end - begin));
    else
        TO_VALUES(s->dtype, from, w->stride, to + begin, end - begin);
    for (int64_t i = end; i < w->n; i++) to[i] = 0;
}

/* Column `column` of a group at terms begin .. end-1, and zeros up to a whole vector. */
static void NAME(copy_column)(const struct conv_backward *s, int64_t group, int64_t column, int64_t begin, int64_t end,
                              VALUE *to) {
    const struct axis *a = s->axis;
    int64_t tap = column % s->taps, channel = group * s->channels + column / s->taps;
    int64_t k[3] = {tap / a[2].kernel / a[1].kernel, tap / a[2].kernel % a[1].kernel, tap % a[2].kernel};
    struct place p = place_of(s, begin);
    int64_t at = begin;
    while (at < end) {
        int64_t n = wick__min(a[2].small - p.at[2], end - at);
        struct windows w = {p.at[2] * a[2].stride + k[2] * a[2].dilation - a[2].padding, a[2].stride, a[2].large, n};
        int64_t line[2];
        for (int d = 0; d < 2; d++) line[d] = p.at[d] * a[d].stride + k[d] * a[d].dilation - a[d].padding;
        NAME(copy_windows)(s, large_row(s, p.image, channel, line), &w, to + at - begin);
        at += n;
        next_row(s, &p);
    }
    for (; (at - begin) % NAME(LANES) != 0; at++) to[at - begin] = 0;
}

/* A block of columns of one group, over the bands of a part. */
static void NAME(run_item)(const struct conv_backward *s, int64_t item, VALUE *room) {
    int64_t block = item % s->blocks, group = item / s->blocks % s->groups, part = item / s->blocks / s->groups;
    int64_t first = block * BLOCK, columns = wick__min(BLOCK, s->across - first), tiles = (s->rows + ROWS - 1) / ROWS;
    double *sums = s->sums + (part * s->groups + group) * s->rows * s->across + first;
    for (int64_t m = 0; m < s->rows; m++) memset(sums + m * s->across, 0, sizeof *sums * (size_t)columns);
    for (int64_t band = part * s->bands / s->parts; band < (part + 1) * s->bands / s->parts; band++) {
        struct band terms = band_of(s, band, NAME(LANES));
        struct block b = {.sums = sums, .across = s->across, .columns = columns};
        const VALUE *row = (const VALUE *)(void *)s->packed + group * s->rows * s->pitch + terms.begin;
        const VALUE *column[BLOCK];
        for (int64_t i = 0; i < columns; i++) {
            if (s->grid) {
                column[i] = NAME(grid_column)(s, group, first + i) + terms.begin;
            } else {
                int64_t end = wick__min(terms.begin + BAND, s->terms);
                NAME(copy_column)(s, group, first + i, terms.begin, end, room + i * STEP);
                column[i] = room + i * STEP;
            }
        }
        for (int64_t t = 0, m = 0, rows; t < tiles; t++, m += rows, b.sums += rows * s->across) {
            rows = s->rows * (t + 1) / tiles - m; /* tiles differ by at most one row */
            NAME(of_rows)[rows - 1](row + m * s->pitch, s->pitch, column, &terms, &b);
        }
    }
}

/* Items: part, group, block of columns; the last varies fastest. */
static void NAME(items)(void *context, int worker, int64_t begin, int64_t end) {
    const struct conv_backward *s = context;
    VALUE *room = (VALUE *)(void *)(s->room + (size_t)worker * s->room_each);
    for (int64_t item = begin; item < end; item++) NAME(run_item)(s, item, room);
}

/* Rows of the small side with all their terms beside each other. */
static void NAME(pack)(void *context, int worker, int64_t begin, int64_t end) {
    const struct conv_backward *s = context;
    int64_t all = s->groups * s->rows, plane = s->small_plane;
    (void)worker;
    for (int64_t row = begin; row < end; row++) {
        VALUE *to = (VALUE *)(void *)s->packed + row * s->pitch;
        for (int64_t n = 0; n < s->batch && s->terms > 0; n++)
            TO_VALUES(s->dtype, s->small + (n * all + row) * plane * (int64_t)s->size, 1, to + n * plane, plane);
        for (int64_t i = s->terms; i < s->pitch; i++) to[i] = 0;
    }
}
