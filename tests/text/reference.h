/* Reading reference files: gzipped bytes, and lists of texts with their ids. */
#ifndef WICK_TESTS_TEXT_REFERENCE_H
#define WICK_TESTS_TEXT_REFERENCE_H

#include "tests/test.h"

#include <jansson.h>
#include <zlib.h>

/* All bytes of a file, gzipped or not, with a 0 behind them; ends the test when it can't be read. */
static inline char *read_file(const char *path, size_t *nbytes) {
    gzFile file = gzopen(path, "rb");
    size_t capacity = 1 << 16;
    char *data = malloc(capacity);
    int got;
    *nbytes = 0;
    while (file && data && (got = gzread(file, data + *nbytes, (unsigned)(capacity - *nbytes - 1))) > 0) {
        *nbytes += (size_t)got;
        if (*nbytes + 1 == capacity) data = realloc(data, capacity *= 2);
    }
    if (!file || !data) {
        printf("%s can't be read\n", path);
        exit(1);
    }
    gzclose(file);
    data[*nbytes] = '\0';
    return data;
}

/* Encodes the text of {"text", "ids"} and compares. */
static inline void check_case(const struct wick_tokenizer *tokenizer, const char *name, const json_t *item) {
    static int32_t ids[1 << 16];
    const json_t *text = json_object_get(item, "text"), *want = json_object_get(item, "ids");
    size_t n_want = json_array_size(want), first = 0;
    int64_t n = 0;
    CHECK_OK(wick_tokenizer_encode(tokenizer, json_string_value(text), json_string_length(text), 1 << 16, ids, &n));
    while (first < n_want && (int64_t)first < n && json_integer_value(json_array_get(want, first)) == ids[first])
        first++;
    if (!test_result((size_t)n == n_want && first == n_want, __FILE__, __LINE__, name))
        printf(": '%.60s' gave %d ids, should be %zu; the first that differs is number %zu: %d, should be %d\n",
               json_string_value(text), (int)n, n_want, first, (int64_t)first < n ? ids[first] : -1,
               (int)json_integer_value(json_array_get(want, first)));
}

#endif
