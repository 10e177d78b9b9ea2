/* A model: how near the first of some texts is to the others, by a sentence embedder.
 *
 *     cc model.c -o model $(pkg-config --cflags --libs wick) -lm
 *     ./model ~/.cache/wick/models/all-MiniLM-L6-v2 "a cat on a mat" "ein Kater auf der Matte" "the stock market" */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <wick/wick.h>

static double cosine(const float *a, const float *b, int64_t n) {
    double ab = 0, aa = 0, bb = 0;
    for (int64_t i = 0; i < n; i++) {
        ab += (double)a[i] * (double)b[i];
        aa += (double)a[i] * (double)a[i];
        bb += (double)b[i] * (double)b[i];
    }
    return ab / sqrt(aa * bb);
}

int main(int argc, char **argv) {
    if (argc < 4) return fprintf(stderr, "usage: model FOLDER TEXT TEXT...\n"), 2;
    int n = argc - 2;
    struct wick_device *device = wick_device_open("auto");
    struct wick_embedder *embedder = device ? wick_embedder_open(argv[1], device) : NULL;
    int64_t dim = wick_embedder_dim(embedder);
    size_t nbytes = (size_t)n * (size_t)dim * sizeof(float);
    float *values = embedder ? malloc(nbytes) : NULL;

    /* [n, dim], one row for each text. */
    struct wick_tensor *vectors =
        values ? wick_embedder_encode(embedder, n, (const char *const *)argv + 2, NULL) : NULL;
    int failed = !vectors || wick_read(vectors, values, nbytes) != WICK_OK;
    for (int i = 1; i < n && !failed; i++) printf("%.4f  %s\n", cosine(values, values + i * dim, dim), argv[2 + i]);
    if (failed) fprintf(stderr, "%s\n", wick_error());

    wick_release(vectors);
    free(values);
    wick_embedder_close(embedder);
    wick_device_close(device);
    return failed;
}
