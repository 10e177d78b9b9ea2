/* Depthwise convolutions of step 1 in f32, straight from the input; included by conv.c where there are masked loads.
 *
 * A masked load reads 0 where a tap lies beside the row, and rows above and below the input are a row of zeros, so no
 * image is made. Four result rows are made at a time, a strip of 16 columns after the other. */

enum { THIN_ROWS = 4, MAX_THIN_SIDE = 16, THIN_LINE = 64 };

/* The taps of a strip: their rows in the window of input rows, weights, masks and columns. */
struct thin {
    const struct conv *conv;
    const float *plane, *zeros, *weight;
    float *out;
    float bias;
    int64_t columns; /* of the strip, 1 .. 16 */
    int64_t x;       /* its first */
    __mmask16 mask[MAX_THIN_SIDE];
    uintptr_t ahead; /* what is asked for next, for each four rows of a strip so many lines of the cache */
    int64_t lines;
};

static inline __attribute__((always_inline)) void thin_strip(struct thin *thin, const int64_t tall,
                                                             const int64_t wide) {
    const struct conv_dim *h = &thin->conv->plan->dim[1], *w = &thin->conv->plan->dim[2];
    __mmask16 kept = (__mmask16)((1u << thin->columns) - 1);
    for (int64_t y = 0; y < h->out; y += THIN_ROWS) {
        /* The last rows are made twice rather than one by one. */
        int64_t top = wick__min(y, h->out - THIN_ROWS), k = 0;
        __m512 sum[THIN_ROWS];
        for (int64_t l = 0; l < thin->lines; l++, thin->ahead += THIN_LINE)
            __builtin_prefetch((const void *)thin->ahead, 0, 2);
        UNROLL for (int r = 0; r < THIN_ROWS; r++) sum[r] = _mm512_set1_ps(thin->bias);
        _Pragma("GCC unroll 3") for (int64_t i = 0; i < tall; i++) {
            const float *row[THIN_ROWS];
            UNROLL for (int r = 0; r < THIN_ROWS; r++) {
                int64_t from = top + r + h->tap[i].shift;
                row[r] = (uint64_t)from < (uint64_t)h->in ? thin->plane + from * w->in : thin->zeros;
            }
            UNROLL for (int64_t j = 0; j < wide; j++, k++) {
                __m512 weight = _mm512_set1_ps(thin->weight[k]);
                int64_t column = thin->x + w->tap[j].shift;
                UNROLL for (int r = 0; r < THIN_ROWS; r++) sum[r] =
                    _mm512_fmadd_ps(weight, _mm512_maskz_loadu_ps(thin->mask[j], row[r] + column), sum[r]);
            }
        }
        UNROLL for (int r = 0; r < THIN_ROWS; r++) {
            if (thin->conv->relu)
                sum[r] = _mm512_mask_mov_ps(sum[r], _mm512_cmp_ps_mask(sum[r], _mm512_setzero_ps(), _CMP_LT_OQ),
                                            _mm512_setzero_ps());
            _mm512_mask_storeu_ps(thin->out + (top + r) * w->out + thin->x, kept, sum[r]);
        }
    }
}

/* One result channel. `zeros` has as many as an input row. */
static void run_direct(const struct conv *conv, int64_t channel, const float *plane, const float *zeros, float *out) {
    const struct conv_plan *plan = conv->plan;
    const struct conv_dim *h = &plan->dim[1], *w = &plan->dim[2];
    int64_t parts = wick__div_up(w->out, 16) * wick__div_up(h->out, THIN_ROWS);
    struct thin thin = {.conv = conv,
                        .plane = plane,
                        .zeros = zeros,
                        .weight = (const float *)conv->weight + channel * plan->terms,
                        .out = out,
                        .ahead = (uintptr_t)plane + (uintptr_t)(h->in * w->in) * sizeof *plane,
                        .lines = wick__div_up(h->in * w->in * (int64_t)sizeof *plane / THIN_LINE, parts),
                        .bias = conv->bias ? ((const float *)conv->bias)[channel] : 0};
    for (int64_t x = 0; x < w->out; x += 16) {
        thin.x = x;
        thin.columns = wick__min(16, w->out - x);
        for (int64_t j = 0; j < w->taps; j++) {
            int64_t first = x + w->tap[j].shift, begin = wick__max(0, wick__min(16, -first));
            int64_t end = wick__max(begin, wick__min(16, w->in - first));
            thin.mask[j] = (__mmask16)((1u << end) - (1u << begin));
        }
        if (h->taps == 3 && w->taps == 3)
            thin_strip(&thin, 3, 3);
        else if (w->taps == 5)
            thin_strip(&thin, h->taps, 5);
        else if (w->taps == 7)
            thin_strip(&thin, h->taps, 7);
        else
            thin_strip(&thin, h->taps, w->taps);
    }
}
