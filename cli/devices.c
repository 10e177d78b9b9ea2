/* wick devices: what can be opened, and what it is. */
#include "cli/command.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static void print_json(const struct wick_device_info *info, bool first) {
    json_t *object = json_pack("{s:s, s:s, s:s, s:s, s:i, s:I}", "name", info->name, "family", info->family,
                               "description", info->description, "isa", info->isa, "threads", info->threads,
                               "memory_total", (json_int_t)info->memory_total);
    char *text = json_dumps(object, JSON_COMPACT);
    printf("%s%s", first ? "[" : ",\n ", text ? text : "null");
    json_decref(object);
    free(text);
}

int command_devices(int argc, char **argv) {
    bool json = argc == 1 && strcmp(argv[0], "--json") == 0;
    if (argc > 1 || (argc == 1 && !json)) return command_usage("devices", "unexpected argument '%s'", argv[json]);
    for (int i = 0; i < wick_device_count(); i++) {
        struct wick_device *device = wick_device_open(wick_device_list(i));
        struct wick_device_info info;
        if (!device || wick_device_describe(device, &info) != WICK_OK) {
            wick_device_close(device);
            return command_fail("devices", "%s can't be opened", wick_device_list(i));
        }
        if (json)
            print_json(&info, i == 0);
        else
            printf("%-8s %s, %s kernels on %d threads, %.1f GiB\n", info.name, info.description, info.isa, info.threads,
                   (double)info.memory_total / (1u << 30));
        wick_device_close(device);
    }
    if (json) printf("]\n");
    return 0;
}
