#include "gfxsim.h"

#include <string.h>

static const struct {
    const char *name;
    enum sim_target target;
} targets[] = {
    {"gfx90a", SIM_GFX90A},   {"gfx942", SIM_GFX942},   {"gfx1030", SIM_GFX1030},
    {"gfx1100", SIM_GFX1100}, {"gfx1151", SIM_GFX1100}, {"gfx1201", SIM_GFX1201},
};

enum sim_target sim_target_of(const char *name) {
    size_t length = strcspn(name, ":");
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        if (strlen(targets[i].name) == length && !memcmp(targets[i].name, name, length)) return targets[i].target;
    }
    return 0;
}

const char *sim_target_name(enum sim_target target) {
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        if (targets[i].target == target) return targets[i].name;
    }
    return "no target";
}
