/* Handles of modules and their functions. */
#include "gfxsim/driver/driver.h"

#include <stdlib.h>
#include <string.h>

enum { MODULE = 0x6d6f64 };

static struct driver_module *modules;

int driver_module_load(struct driver_device *device, const void *image, size_t nbytes, struct driver_module **out) {
    *out = NULL;
    if (!image) return DRIVER_VALUE;
    struct driver_module *module = calloc(1, sizeof *module);
    if (!module) return DRIVER_MEMORY;
    int code = engine_load(device, image, nbytes, &module->code);
    if (code) {
        free(module);
        return code;
    }
    module->magic = MODULE;
    module->device = device;
    module->next = modules;
    modules = module;
    driver_live_of[DRIVER_MODULE]++;
    *out = module;
    return DRIVER_OK;
}

/* Compares addresses only, so that any value can be asked about. */
bool driver_is_module(const void *handle) {
    for (const struct driver_module *m = modules; m; m = m->next)
        if (m == handle) return m->magic == MODULE;
    return false;
}

bool driver_is_function(const void *handle) {
    for (const struct driver_module *m = modules; m; m = m->next)
        for (const struct driver_function *f = m->functions; f; f = f->next)
            if (f == handle) return m->magic == MODULE;
    return false;
}

/* What the module was is kept, so that its handles are told from new ones. */
int driver_module_unload(struct driver_module *module) {
    if (!driver_is_module(module)) return DRIVER_HANDLE;
    driver_device_synchronize(module->device);
    engine_unload(module->code);
    module->magic = DRIVER_DEAD;
    driver_live_of[DRIVER_MODULE]--;
    return DRIVER_OK;
}

int driver_module_function(struct driver_module *module, const char *name, struct driver_function **out) {
    *out = NULL;
    if (!driver_is_module(module)) return DRIVER_HANDLE;
    for (struct driver_function *f = module->functions; f; f = f->next)
        if (strcmp(f->name, name) == 0) {
            *out = f;
            return DRIVER_OK;
        }
    struct driver_function *function = calloc(1, sizeof *function + strlen(name) + 1);
    if (!function) return DRIVER_MEMORY;
    strcpy(function->name, name);
    function->module = module;
    if (!engine_function(module->code, function)) {
        free(function);
        return DRIVER_NOT_FOUND;
    }
    function->next = module->functions;
    module->functions = function;
    *out = function;
    return DRIVER_OK;
}
