/* Elementwise launches that turn an operand as they read it. */
#ifndef WICK_GPU_OPS_TURN_H
#define WICK_GPU_OPS_TURN_H

#include "gpu/ops/elementwise.h"

/* Whether an operand is one to be turned, from the layouts of it and of the result it broadcasts to. */
bool wick__gpu_turns(const struct wick__layout *in, const struct wick__layout *out);

/* Fills a launch's parameters, of which `in`, `out` and `other` are set: from the layouts of these three, which have
 * one shape, and the bytes of an element of `in` and `out`. `other` may be `in` itself. False where the kernels can't
 * turn it. */
bool wick__gpu_turn_fill(struct gpu_turn *turn, const struct wick__layout *layouts, size_t in_size, size_t out_size);

/* The same of e->turn for operand `which`, false where that can't be done. Layouts are the operands', seen with the
 * result's shape, and the result's; e->walk has where they lie. */
bool wick__gpu_turn_plan(const struct wick__elements *e, const struct wick__layout *layouts, int which);

/* Launches e->turning by that plan. */
enum wick_status wick__gpu_turn(const struct wick__elements *e);

#endif
