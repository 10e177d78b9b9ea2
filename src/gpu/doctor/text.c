/* wick_doctor's report as text, and the call itself. */
#include "gpu/doctor/doctor.h"

#include "core/buffer.h"

#include <stdio.h>
#include <stdlib.h>

/* Appends; once memory has run out, nothing more. */
__attribute__((format(printf, 2, 3))) static void put(struct wick__buffer *out, const char *format, ...) {
    char line[2048];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (length < 0 || (out->nbytes == 0 && out->capacity == SIZE_MAX)) return;
    size_t size = (size_t)length < sizeof line ? (size_t)length : sizeof line - 1;
    if (wick__buffer_append(out, line, size) == WICK_OK) return;
    wick__buffer_free(out);
    out->capacity = SIZE_MAX;
}

static double gib(size_t nbytes) { return (double)nbytes / (1u << 30); }

static void put_host(struct wick__buffer *out, const struct wick__doctor *d) {
    put(out, "wick %s on %s%s\nuser %s, groups %s\n", wick_version(), d->system,
        d->container ? ", in a container"
        : d->wsl     ? ", in WSL"
                     : "",
        d->user, *d->groups ? d->groups : "none");
    for (int i = 0; i < d->variables; i++) put(out, "%s=%s\n", d->variable[i], wick__doctor_variable(d->variable[i]));
    put(out, "kernel cache: %s\n", *d->cache_fault ? d->cache_fault : d->cache);
}

static void put_node(struct wick__buffer *out, const struct wick__node *node) {
    static const char letters[] = "rwxrwxrwx";
    char mode[10];
    for (int i = 0; i < 9; i++) mode[i] = node->mode >> (8 - i) & 1 ? letters[i] : '-';
    mode[9] = 0;
    put(out, "  %-22s %s %s:%s%s\n", node->path, mode, node->owner, node->group,
        node->usable ? "" : "   can't be opened");
}

/* Most errors name the file already. */
static void put_attempt(struct wick__buffer *out, const struct wick__attempt *attempt) {
    if (!attempt->error) return;
    if (strncmp(attempt->error, attempt->path, strlen(attempt->path)) == 0)
        put(out, "    tried %s\n", attempt->error);
    else
        put(out, "    tried %s: %s\n", attempt->path, attempt->error);
}

static void put_family(struct wick__buffer *out, const struct wick__doctor *d, const struct wick__family_facts *family,
                       const char *title, const char *const *nodes) {
    put(out, "\n%s: ", title);
    if (family->hardware == 0)
        put(out, "no GPU on the PCI bus");
    else
        put(out, "%d GPU%s on the PCI bus", family->hardware, family->hardware == 1 ? "" : "s");
    put(out, ", kernel module %s%s%s\n", family->module ? "loaded" : "not loaded", *family->driver ? " " : "",
        family->driver);
    for (; *nodes; nodes++) {
        const struct wick__node *node;
        for (int i = 0; (node = wick__doctor_node(d, *nodes, i)); i++) put_node(out, node);
    }
    for (int kind = 0; kind < WICK__LIBRARIES; kind++) {
        const struct wick__library *library = &family->libraries[kind];
        if (!library->name) continue;
        put(out, "  %-22s %s\n", library->name, library->path ? library->path : library->fault);
        for (int i = 0; i < library->count; i++) put_attempt(out, &library->attempts[i]);
    }
    if (*family->fault && family->libraries[WICK__DRIVER].path) put(out, "  %s\n", family->fault);
}

static void put_gpu(struct wick__buffer *out, const struct wick__gpu_facts *gpu) {
    const struct wick__properties *p = &gpu->properties;
    put(out, "\n%s  %s\n", gpu->name, *p->name ? p->name : "unknown");
    if (!gpu->code) {
        put(out, "  %s, %d lanes in a wave, %d units%s, at %s\n", p->target, p->wave, p->units,
            p->integrated ? ", integrated" : "", p->bus);
        if (p->integrated && gpu->carve_out + gpu->shared)
            put(out, "  memory: %.1f GiB of its own (carve-out), %.1f GiB shared with the processor\n",
                gib(gpu->carve_out), gib(gpu->shared));
        else
            put(out, "  memory: %.1f GiB%s\n", gib(p->memory), p->integrated ? ", as the runtime counts it" : "");
        put(out, "  kernels from:");
        for (int route = 0; route < WICK__ROUTE_LIMIT; route++)
            if (gpu->routes >> route & 1) put(out, " %s", wick__route_name((enum wick__route)route));
        put(out, "\n");
        if (*gpu->blas) put(out, "  BLAS: %s\n", gpu->blas);
        for (const struct wick__route_facts *way = gpu->way; way < gpu->way + gpu->ways; way++)
            put(out, "  route of %ss, %s: %s: %s; used %lld, refused %lld\n", way->op, way->name,
                *way->library ? way->library : "none", way->text, (long long)way->used, (long long)way->refused);
    }
    put(out, "  %s%s\n", gpu->healthy ? "works" : "does not work: ", gpu->healthy ? "" : gpu->fault);
}

static void put_findings(struct wick__buffer *out, const struct wick__doctor *d) {
    int counts[3] = {0};
    put(out, "\n");
    for (int i = 0; i < d->findings; i++) {
        const struct wick__finding *finding = &d->finding[i];
        counts[finding->severity]++;
        put(out, "%s %s: %s\n    %s\n", wick__severity_name(finding->severity), finding->code, finding->text,
            finding->fix);
    }
    put(out, "%d fault%s, %d warning%s, %d note%s\n", counts[WICK__FAULT], counts[WICK__FAULT] == 1 ? "" : "s",
        counts[WICK__WARNING], counts[WICK__WARNING] == 1 ? "" : "s", counts[WICK__NOTE],
        counts[WICK__NOTE] == 1 ? "" : "s");
}

/* The text in a block of its own length + 1. */
static char *finish(struct wick__buffer *out) {
    if (out->nbytes == 0) return NULL;
    char *text = wick__alloc(out->nbytes + 1);
    if (text) {
        memcpy(text, out->data, out->nbytes);
        text[out->nbytes] = 0;
    }
    wick__buffer_free(out);
    return text;
}

char *wick__doctor_text(const struct wick__doctor *d) {
    static const char *const cuda_nodes[] = {"/dev/nvidia", NULL};
    static const char *const rocm_nodes[] = {"/dev/kfd", "/dev/dri/renderD", NULL};
    struct wick__buffer out = {0};
    put_host(&out, d);
    put_family(&out, d, &d->family[WICK__DOCTOR_CUDA], "NVIDIA", cuda_nodes);
    put_family(&out, d, &d->family[WICK__DOCTOR_ROCM], "AMD", rocm_nodes);
    for (int i = 0; i < d->gpus; i++) put_gpu(&out, &d->gpu[i]);
    put_findings(&out, d);
    return finish(&out);
}

char *wick_doctor(enum wick_doctor_format format, int *faults) {
    if (format != WICK_DOCTOR_TEXT && format != WICK_DOCTOR_JSON) {
        wick__fail(WICK_INVALID, "doctor: format %d", (int)format);
        return NULL;
    }
    struct wick__doctor *doctor = wick__calloc(1, sizeof *doctor);
    if (!doctor) return NULL;
    wick__doctor_host(doctor);
    wick__doctor_gpus(doctor);
    wick__doctor_find(doctor);
    char *report = format == WICK_DOCTOR_JSON ? wick__doctor_json(doctor) : wick__doctor_text(doctor);
    if (report && faults) {
        *faults = 0;
        for (int i = 0; i < doctor->findings; i++) *faults += doctor->finding[i].severity == WICK__FAULT;
    }
    wick__free(doctor, sizeof *doctor);
    return report;
}

void wick_doctor_free(char *report) {
    if (report) wick__free(report, strlen(report) + 1);
}
