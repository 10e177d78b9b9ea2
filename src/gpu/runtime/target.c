/* The names of targets. */
#include "gpu/runtime/target.h"

#include <stdlib.h>
#include <string.h>

int wick__capability(const struct wick__gpu *gpu) {
    const char *target = gpu->properties.target;
    return strncmp(target, "sm_", 3) == 0 ? atoi(target + 3) : 0;
}

static bool is_target(const struct wick__gpu *gpu, const char *start) {
    return strncmp(gpu->properties.target, start, strlen(start)) == 0;
}

bool wick__mma_f8_is_fnuz(const struct wick__gpu *gpu) { return is_target(gpu, "gfx94"); }

bool wick__has_mma_f8(const struct wick__gpu *gpu) {
    return wick__mma_f8_is_fnuz(gpu) || is_target(gpu, "gfx950") || is_target(gpu, "gfx12");
}

bool wick__has_mma(const struct wick__gpu *gpu) {
    return wick__has_mma_f8(gpu) || is_target(gpu, "gfx90a") || is_target(gpu, "gfx11") || wick__capability(gpu) >= 80;
}

unsigned wick__mma_shared(const struct wick__gpu *gpu) {
    int sm = wick__capability(gpu);
    if (sm == 0) return 0;
    if (sm == 90 || sm == 100 || sm == 103) return 227 << 10;
    return sm == 80 || sm == 87 ? 163 << 10 : 99 << 10;
}

bool wick__has_tf32(const struct wick__gpu *gpu) {
    int sm = wick__capability(gpu);
    return sm == 80 || (sm >= 90 && sm < 110);
}
