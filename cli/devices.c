/* wick devices: what there is, what it is, and why what can't be opened fails; on request its routes. */
#include "cli/command.h"
#include "cli/json.h"
#include "cli/options.h"
#include "cli/output.h"

#include <stdio.h>
#include <string.h>

static json_t *describe(const struct wick_device_info *info) {
    return json_pack("{s:s, s:s, s:o, s:o, s:i, s:I}", "name", info->name, "family", info->family, "description",
                     json_text(info->description), "isa", json_text(info->isa), "threads", info->threads,
                     "memory_total", (json_int_t)info->memory_total);
}

static void print_device(const struct wick_device_info *info) {
    printf("%-8s ", info->name);
    output_text(stdout, info->description);
    printf(", ");
    output_text(stdout, info->isa);
    if (strcmp(info->family, "cpu") == 0) printf(" kernels on %d threads", info->threads);
    printf(", %.1f GiB\n", (double)info->memory_total / (1u << 30));
}

/* The routes of a device, after their self-checks: into `list`, or printed where it is NULL. */
static void list_routes(struct wick_device *device, json_t *list) {
    for (int i = 0; i < wick_route_count(device); i++) {
        struct wick_route_info info;
        if (wick_route_describe(device, i, true, &info) != WICK_OK) continue;
        if (list) {
            json_add(list, json_pack("{s:s, s:s, s:o, s:o, s:o, s:I, s:I}", "op", info.op, "name", info.name, "library",
                                     json_text(info.library), "fault", json_text(info.fault), "verdict",
                                     json_text(info.library ? info.verdict : NULL), "used", (json_int_t)info.used,
                                     "refused", (json_int_t)info.refused));
            continue;
        }
        printf("         %ss by %s: ", info.op, info.name);
        output_text(stdout, info.library ? info.library : "none");
        printf(": ");
        output_text(stdout, info.library ? info.verdict : info.fault);
        printf("; used %lld, refused %lld\n", (long long)info.used, (long long)info.refused);
    }
}

static void print_sick(const char *name) {
    printf("%-8s does not work: ", name);
    output_text(stdout, wick_error());
    putchar('\n');
}

int command_devices(int argc, char **argv) {
    bool json = false, routes = false;
    const struct option list[] = {
        OPTIONS_FLAG("--json", &json, "writes JSON"),
        OPTIONS_FLAG("--routes", &routes, "lists each GPU's ways through vendors' libraries, after their self-checks"),
        OPTIONS_END};
    const struct options options = {"devices", list, 0};
    int n, status;
    if (!options_parse(&options, argc, argv, &n, &status)) return status;
    status = 0;
    json_t *all = json ? json_array() : NULL;
    for (int i = 0; i < wick_device_count(); i++) {
        wick_error_clear();
        const char *name = wick_device_list(i);
        struct wick_device *device = wick_device_open(name);
        struct wick_device_info info;
        bool works = device && wick_device_describe(device, &info) == WICK_OK;
        if (json) {
            json_t *one =
                works ? describe(&info) : json_pack("{s:s, s:o}", "name", name, "error", json_text(wick_error()));
            json_t *ways = works && routes ? json_array() : NULL;
            if (ways) list_routes(device, ways);
            if (ways) (void)json_object_set_new(one, "routes", ways);
            json_add(all, one);
        } else if (works) {
            print_device(&info);
            if (routes) list_routes(device, NULL);
        } else {
            print_sick(name);
        }
        /* A GPU may be sick. The processor is not: its memory has run out, and the list is not what it should be. */
        if (!works && strcmp(name, "cpu") == 0) status = command_fail("devices", "the processor can't be used");
        wick_device_close(device);
    }
    wick_error_clear();
    return json && !json_print(all, JSON_INDENT(1)) ? command_fail("devices", "out of memory") : status;
}
