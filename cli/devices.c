/* wick devices: what there is, what it is, and what is wrong with what can't be opened. */
#include "cli/command.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static void print_json(json_t *object, bool first) {
    char *text = json_dumps(object, JSON_COMPACT);
    printf("%s%s", first ? "[" : ",\n ", text ? text : "null");
    json_decref(object);
    free(text);
}

static void print_device(const struct wick_device_info *info, bool json, bool first) {
    const double gib = (double)info->memory_total / (1u << 30);
    if (json)
        print_json(json_pack("{s:s, s:s, s:s, s:s, s:i, s:I}", "name", info->name, "family", info->family,
                             "description", info->description, "isa", info->isa, "threads", info->threads,
                             "memory_total", (json_int_t)info->memory_total),
                   first);
    else if (strcmp(info->family, "cpu") == 0)
        printf("%-8s %s, %s kernels on %d threads, %.1f GiB\n", info->name, info->description, info->isa, info->threads,
               gib);
    else
        printf("%-8s %s, %s, %.1f GiB\n", info->name, info->description, info->isa, gib);
}

static void print_sick(const char *name, bool json, bool first) {
    if (json)
        print_json(json_pack("{s:s, s:s}", "name", name, "error", wick_error()), first);
    else
        printf("%-8s does not work: %s\n", name, wick_error());
}

int command_devices(int argc, char **argv) {
    bool json = argc == 1 && strcmp(argv[0], "--json") == 0;
    if (argc > 1 || (argc == 1 && !json)) return command_usage("devices", "unexpected argument '%s'", argv[json]);
    for (int i = 0; i < wick_device_count(); i++) {
        wick_error_clear();
        struct wick_device *device = wick_device_open(wick_device_list(i));
        struct wick_device_info info;
        if (device && wick_device_describe(device, &info) == WICK_OK)
            print_device(&info, json, i == 0);
        else
            print_sick(wick_device_list(i), json, i == 0);
        wick_device_close(device);
    }
    if (json) printf("]\n");
    return 0;
}
