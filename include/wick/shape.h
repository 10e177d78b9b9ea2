/* Views and copies: reshaping, slicing, broadcasting, joining. */
#ifndef WICK_SHAPE_H
#define WICK_SHAPE_H

#include <wick/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* x in row-major order without gaps: a view of x when it is so already. */
WICK_API struct wick_tensor *wick_contiguous(const struct wick_tensor *x);

#ifdef __cplusplus
}
#endif
#endif
