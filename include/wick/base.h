/* What every public header needs: integer types, symbol visibility, the version. */
#ifndef WICK_BASE_H
#define WICK_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WICK_VERSION_MAJOR 0
#define WICK_VERSION_MINOR 1
#define WICK_VERSION_PATCH 0
#define WICK_VERSION "0.1.0"

/* The highest number of dims a tensor can have. */
#define WICK_MAX_RANK 8

#if defined(__GNUC__)
#define WICK_API __attribute__((visibility("default")))
#define WICK_CHECKED __attribute__((warn_unused_result))
#else
#define WICK_API
#define WICK_CHECKED
#endif

/* The end of a struct that may grow: room for members of later versions, which will change neither its size nor the
 * places of the others. Leave it zero in structs that you fill; a library that finds anything else fails with
 * WICK_INVALID, so it never ignores an option of a later version. The library leaves it zero in structs that it
 * fills. */
#define WICK_RESERVED uint64_t reserved[8]

/* Says that a returned pointer is lent. A pointer to const is always lent; the function's comment names its owner. Any
 * other returned pointer is the caller's to give back, unless the declaration has WICK_LENT. The list of the API
 * (docs/api.md) carries this. */
#define WICK_LENT

/* A shape as the two arguments `int rank, const int64_t *shape`: WICK_SHAPE(2, 3) is a matrix of 2 rows and 3
 * columns; a scalar is `0, NULL`. */
#ifdef __cplusplus
#include <initializer_list>
#define WICK_SHAPE(...)                                                                                                \
    static_cast<int>(std::initializer_list<int64_t>{__VA_ARGS__}.size()),                                              \
        std::initializer_list<int64_t>{__VA_ARGS__}.begin()
#else
#define WICK_SHAPE(...)                                                                                                \
    (int)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[]) { __VA_ARGS__ }
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library that runs, as "major.minor.patch". A static string. */
WICK_API const char *wick_version(void);

#ifdef __cplusplus
}
#endif
#endif
