/* wick_doctor's report as JSON: the same facts under the names that doctor.h gives them. */
#include "gpu/doctor/doctor.h"

#include "core/dump.h"
#include "core/memory.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Whether memory ran out: then what was made lacks something. */
static _Thread_local bool lost;

static void add(json_t *list, json_t *value) {
    if (json_array_append_new(list, value) != 0) lost = true;
}

static void set(json_t *object, const char *key, json_t *value) {
    if (json_object_set_new(object, key, value) != 0) lost = true;
}

/* Values that came from files and the environment may be anything but UTF-8, which json_string refuses. */
static json_t *string(const char *text) {
    if (!text) return json_null();
    json_t *value = json_string(text);
    if (value) return value;
    value = json_string_nocheck(text);
    if (!value) lost = true;
    json_decref(value);
    return json_string("?");
}

static json_t *nodes_of(const struct wick__doctor *d) {
    json_t *list = json_array();
    for (int i = 0; i < d->nodes; i++) {
        const struct wick__node *node = &d->node[i];
        add(list, json_pack("{s:o, s:b, s:i, s:o, s:o}", "path", string(node->path), "usable", node->usable, "mode",
                            (int)node->mode, "owner", string(node->owner), "group", string(node->group)));
    }
    return list;
}

static json_t *library_of(const struct wick__library *library) {
    json_t *tried = json_array();
    for (int i = 0; i < library->count; i++)
        add(tried, json_pack("{s:o, s:o}", "path", string(library->attempts[i].path), "error",
                             string(library->attempts[i].error)));
    return json_pack("{s:o, s:o, s:o, s:o}", "name", string(library->name), "path", string(library->path), "fault",
                     string(library->path ? NULL : library->fault), "tried", tried);
}

static json_t *family_of(const struct wick__family_facts *family) {
    static const char *const kinds[WICK__LIBRARIES] = {"driver", "compiler", "blas", "blas_lt", "dnn"};
    json_t *libraries = json_object();
    for (int kind = 0; kind < WICK__LIBRARIES; kind++)
        if (family->libraries[kind].name) set(libraries, kinds[kind], library_of(&family->libraries[kind]));
    return json_pack("{s:i, s:b, s:o, s:b, s:o, s:i, s:i, s:o}", "hardware", family->hardware, "module", family->module,
                     "module_version", string(*family->driver ? family->driver : NULL), "loaded", family->loaded,
                     "fault", string(*family->fault ? family->fault : NULL), "devices", family->count, "copies",
                     family->copies, "libraries", libraries);
}

static json_t *ways_of(const struct wick__gpu_facts *gpu) {
    json_t *ways = json_array();
    for (const struct wick__route_facts *way = gpu->way; way < gpu->way + gpu->ways; way++)
        add(ways,
            json_pack("{s:s, s:s, s:o, s:o, s:o, s:I, s:I}", "op", way->op, "name", way->name, "library",
                      string(*way->library ? way->library : NULL), "fault", string(*way->library ? NULL : way->text),
                      "verdict", string(*way->library ? way->text : NULL), "used", (json_int_t)way->used, "refused",
                      (json_int_t)way->refused));
    return ways;
}

static json_t *gpu_of(const struct wick__gpu_facts *gpu) {
    const struct wick__properties *p = &gpu->properties;
    json_t *routes = json_array();
    for (int route = 0; route < WICK__ROUTE_LIMIT; route++)
        if (gpu->routes >> route & 1) add(routes, string(wick__route_name((enum wick__route)route)));
    json_t *object = json_pack("{s:o, s:o, s:o, s:o, s:i, s:i, s:b, s:I, s:I, s:i, s:i}", "device", string(gpu->name),
                               "name", string(p->name), "target", string(p->target), "bus", string(p->bus), "wave",
                               p->wave, "units", p->units, "integrated", p->integrated, "memory", (json_int_t)p->memory,
                               "memory_free", (json_int_t)gpu->free, "driver", p->driver, "runtime", p->runtime);
    if (!object) return NULL;
    if (gpu->carve_out) set(object, "memory_carve_out", json_integer((json_int_t)gpu->carve_out));
    if (gpu->shared) set(object, "memory_shared", json_integer((json_int_t)gpu->shared));
    set(object, "kernels", routes);
    set(object, "blas", string(*gpu->blas ? gpu->blas : NULL));
    set(object, "routes", ways_of(gpu));
    set(object, "works", json_boolean(gpu->healthy));
    set(object, "fault", string(*gpu->fault ? gpu->fault : NULL));
    return object;
}

static json_t *findings_of(const struct wick__doctor *d) {
    json_t *list = json_array();
    for (int i = 0; i < d->findings; i++) {
        const struct wick__finding *finding = &d->finding[i];
        add(list, json_pack("{s:s, s:s, s:o, s:o}", "severity", wick__severity_name(finding->severity), "code",
                            finding->code, "text", string(finding->text), "fix", string(finding->fix)));
    }
    return list;
}

static json_t *whole(const struct wick__doctor *d) {
    json_t *variables = json_object(), *gpus = json_array();
    for (int i = 0; i < d->variables; i++)
        set(variables, d->variable[i], string(wick__doctor_variable(d->variable[i])));
    for (int i = 0; i < d->gpus; i++) add(gpus, gpu_of(&d->gpu[i]));
    return json_pack("{s:s, s:o, s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:{s:o, s:o}, s:o, s:o}", "version",
                     wick_version(), "system", string(d->system), "container", d->container, "wsl", d->wsl, "user",
                     string(d->user), "groups", string(d->groups), "variables", variables, "cache",
                     string(*d->cache ? d->cache : NULL), "cache_fault",
                     string(*d->cache_fault ? d->cache_fault : NULL), "nodes", nodes_of(d), "families", "cuda",
                     family_of(&d->family[WICK__DOCTOR_CUDA]), "rocm", family_of(&d->family[WICK__DOCTOR_ROCM]), "gpus",
                     gpus, "findings", findings_of(d));
}

char *wick__doctor_json(const struct wick__doctor *d) {
    lost = false;
    json_t *object = whole(d);
    char *dump = object && !lost ? wick__json_dump(object, JSON_INDENT(2)) : NULL, *text = NULL;
    json_decref(object);
    if (!dump) {
        wick__fail(WICK_MEMORY, "doctor: out of memory");
        return NULL;
    }
    size_t nbytes = strlen(dump) + 1;
    text = wick__alloc(nbytes);
    if (text) memcpy(text, dump, nbytes);
    free(dump);
    return text;
}
