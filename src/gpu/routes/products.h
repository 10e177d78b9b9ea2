/* Products by vendors' libraries. */
#ifndef WICK_GPU_ROUTES_PRODUCTS_H
#define WICK_GPU_ROUTES_PRODUCTS_H

#include "gpu/routes/route.h"
#include "product.h"

/* A product that is offered to routes, as they know it and as libraries do. */
struct wick__product_offer {
    struct wick__offer offer;
    const struct wick__product *g;
    struct wick__blas_product b;
    bool described; /* b is: libraries can have the operands where they lie */
    bool left;      /* set by a route that leaves bias and activation to the caller */
};

/* Whether the product is small, or of a vector whose terms lie side by side: those are our own kernels' in any case. */
bool wick__product_is_small(const struct wick__product *g);

/* Makes the product by a vendor's library, if one has it, is chosen, and passed its check; *done says so. When *left is
 * set after that, bias and activation are left to the caller. */
enum wick_status wick__product_route(struct wick__gpu *gpu, const struct wick__product *g, bool *done, bool *left);

#endif
