/* What wick_doctor finds out: first the facts, then the findings that follow from them, then a report of both. */
#ifndef WICK_GPU_DOCTOR_DOCTOR_H
#define WICK_GPU_DOCTOR_DOCTOR_H

#include "gpu/code/store.h"
#include "gpu/routes/route.h"

#include <wick/doctor.h>

#include <stdarg.h>

enum {
    WICK__DOCTOR_NODES = 32,
    WICK__DOCTOR_VARIABLES = 48,
    WICK__DOCTOR_GPUS = 32,
    WICK__DOCTOR_FINDINGS = 48,
    WICK__DOCTOR_FAMILIES = 2,
    WICK__DOCTOR_TEXT = 512
};

/* A device node of a driver. */
struct wick__node {
    char path[64];
    bool usable; /* this process may read and write it */
    bool member; /* its group's list has the user, though this process may not know yet */
    unsigned mode, gid;
    char owner[32], group[32];
};

/* A way through a vendor's library, after its self-check. */
struct wick__route_facts {
    char name[32], op[32], library[64], text[WICK__ROUTE_TEXT]; /* no library: why; or its verdicts */
    int64_t used, refused;
};

struct wick__gpu_facts {
    char name[24]; /* "rocm:0" */
    int code;      /* of reading the properties */
    struct wick__properties properties;
    bool healthy;
    char fault[WICK__DOCTOR_TEXT];
    size_t carve_out, shared; /* of an APU, from the kernel; 0: not known */
    size_t free;
    unsigned routes; /* bit r: some module takes route r */
    char blas[WICK__DOCTOR_TEXT];
    bool blas_usable;    /* for some dtype */
    char blas_wrong[32]; /* the dtypes it failed its self-check for */
    int ways;
    struct wick__route_facts way[WICK__VENDOR_ROUTES];
};

struct wick__family_facts {
    const struct wick__vendor *vendor;
    int hardware;    /* of the vendor's GPUs on the PCI bus */
    bool module;     /* its kernel module is loaded */
    char driver[64]; /* the module's version, "" when not known */
    int copies;      /* of the driver library in this process */
    bool loaded;
    char fault[WICK__DOCTOR_TEXT]; /* why it is not loaded */
    int count;
    struct wick__library libraries[WICK__LIBRARIES];
};

enum wick__severity { WICK__NOTE, WICK__WARNING, WICK__FAULT };
struct wick__finding {
    enum wick__severity severity;
    const char *code; /* "rocm-permission" */
    char text[WICK__DOCTOR_TEXT], fix[WICK__DOCTOR_TEXT];
};

struct wick__doctor {
    char system[96];       /* "Debian GNU/Linux 12 (bookworm)" */
    char distribution[32]; /* "debian" */
    bool container, wsl;
    char user[32], groups[256];
    int nodes;
    struct wick__node node[WICK__DOCTOR_NODES];
    int variables;
    const char *variable[WICK__DOCTOR_VARIABLES]; /* names of those that are set */
    char cache[256], cache_fault[WICK__DOCTOR_TEXT];
    struct wick__family_facts family[WICK__DOCTOR_FAMILIES];
    int gpus;
    struct wick__gpu_facts gpu[WICK__DOCTOR_GPUS];
    int findings;
    struct wick__finding finding[WICK__DOCTOR_FINDINGS];
};
enum { WICK__DOCTOR_CUDA, WICK__DOCTOR_ROCM }; /* places in `family` */

/* The machine, as the kernel shows it (host.c). For tests, WICK_DOCTOR_ROOT names a folder that is looked at in
 * place of /; its file `nodes` says what device nodes there are, who the user is, and which groups it belongs to. */
void wick__doctor_host(struct wick__doctor *doctor);
/* The text of a file of the machine, its first line; false when there is none. */
bool wick__doctor_line(const char *path, char *line, size_t size);
/* A node by the beginning of its path; the i-th such, NULL when there is none. */
const struct wick__node *wick__doctor_node(const struct wick__doctor *doctor, const char *path, int i);
/* A variable's value, NULL when it is not set or empty. */
const char *wick__doctor_variable(const char *name);

/* Libraries and GPUs (gpus.c). */
void wick__doctor_gpus(struct wick__doctor *doctor);

/* What follows (findings.c). */
void wick__doctor_find(struct wick__doctor *doctor);

/* Reports (text.c, json.c): wick__alloc memory of strlen + 1 bytes, or NULL with WICK_MEMORY. */
char *wick__doctor_text(const struct wick__doctor *doctor);
char *wick__doctor_json(const struct wick__doctor *doctor);

/* "fault", "pack". */
const char *wick__severity_name(enum wick__severity severity);
const char *wick__route_name(enum wick__route route);

#endif
