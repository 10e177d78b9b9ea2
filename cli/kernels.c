/* wick kernels: the finite set of GPU kernels, by which route each device gets them, and packs of them. */
#include "cli/command.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

enum { MOST_DEVICES = 16, WIDTH = 100 };

struct options {
    const char *device, *export, *import;
    bool warm, json;
};

/* The devices whose routes are shown: those that open, the CPU left out unless it was asked for. */
struct devices {
    struct wick_device *open[MOST_DEVICES];
    struct wick_device_info info[MOST_DEVICES];
    int count;
};

static bool parse(int argc, char **argv, struct options *options) {
    for (int i = 0; i < argc; i++) {
        const char **value = strcmp(argv[i], "--device") == 0   ? &options->device
                             : strcmp(argv[i], "--export") == 0 ? &options->export
                             : strcmp(argv[i], "--import") == 0 ? &options->import
                                                                : NULL;
        if (value && i + 1 < argc)
            *value = argv[++i];
        else if (strcmp(argv[i], "--warm") == 0)
            options->warm = true;
        else if (strcmp(argv[i], "--json") == 0)
            options->json = true;
        else
            return command_usage("kernels", "unexpected argument '%s'", argv[i]), false;
    }
    return true;
}

static bool add(struct devices *devices, const char *name, bool wanted) {
    struct wick_device *device = wick_device_open(name);
    struct wick_device_info *info = &devices->info[devices->count];
    if (device && wick_device_describe(device, info) == WICK_OK && (wanted || strcmp(info->family, "cpu") != 0)) {
        devices->open[devices->count++] = device;
        return true;
    }
    wick_device_close(device);
    if (!wanted) wick_error_clear();
    return false;
}

static bool open_devices(struct devices *devices, const struct options *options) {
    bool acts = options->warm || options->export;
    if (options->device || acts) return add(devices, options->device ? options->device : "auto", true);
    for (int i = 0; i < wick_device_count() && devices->count < MOST_DEVICES; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s", wick_device_list(i));
        if (strcmp(name, "cpu") != 0) add(devices, name, false);
    }
    return true;
}

static void print_names(int module) {
    int column = 0;
    for (int k = 0; k < wick_kernels_count(module); k++) {
        const char *name = wick_kernels_name(module, k);
        if (column > 0 && column + 1 + (int)strlen(name) > WIDTH) {
            printf("\n");
            column = 0;
        }
        column += printf(column ? " %s" : "    %s", name);
    }
    printf("\n");
}

static void print_text(const struct devices *devices, bool names) {
    int total = 0;
    printf("%-14s %7s", "module", "kernels");
    for (int i = 0; i < devices->count; i++)
        printf("  %s (%.*s)", devices->info[i].name, (int)strcspn(devices->info[i].isa, ":"), devices->info[i].isa);
    printf("\n");
    for (int module = 0; module < wick_kernels_modules(); module++) {
        total += wick_kernels_count(module);
        printf("%-14s %7d", wick_kernels_module(module), wick_kernels_count(module));
        for (int i = 0; i < devices->count; i++) {
            const struct wick_device_info *info = &devices->info[i];
            int width = (int)(strlen(info->name) + strcspn(info->isa, ":") + 3);
            printf("  %-*s", width, wick_route_name(wick_kernels_route(devices->open[i], module)));
        }
        printf("\n");
        if (names) print_names(module);
    }
    printf("%d modules, %d kernels\n", wick_kernels_modules(), total);
}

static int print_json(const struct devices *devices) {
    json_t *root = json_object(), *modules = json_array(), *list = json_array();
    for (int module = 0; module < wick_kernels_modules(); module++) {
        json_t *names = json_array();
        for (int k = 0; k < wick_kernels_count(module); k++)
            json_array_append_new(names, json_string(wick_kernels_name(module, k)));
        json_array_append_new(modules, json_pack("{s:s, s:o}", "name", wick_kernels_module(module), "kernels", names));
    }
    for (int i = 0; i < devices->count; i++) {
        json_t *routes = json_object();
        for (int module = 0; module < wick_kernels_modules(); module++)
            json_object_set_new(routes, wick_kernels_module(module),
                                json_string(wick_route_name(wick_kernels_route(devices->open[i], module))));
        json_array_append_new(list, json_pack("{s:s, s:s, s:o}", "name", devices->info[i].name, "target",
                                              devices->info[i].isa, "routes", routes));
    }
    json_object_set_new(root, "modules", modules);
    json_object_set_new(root, "devices", list);
    char *text = json_dumps(root, JSON_INDENT(1));
    json_decref(root);
    if (!text) return command_fail("kernels", "out of memory");
    printf("%s\n", text);
    free(text);
    return 0;
}

static int act(const struct devices *devices, const struct options *options) {
    struct wick_device *device = devices->open[0];
    const char *name = devices->info[0].name;
    if (options->warm && wick_kernels_warm(device) != WICK_OK)
        return command_fail("kernels", "not all kernels can be loaded on %s", name);
    if (options->export && wick_kernels_export(device, options->export) != WICK_OK)
        return command_fail("kernels", "the kernels of %s can't be exported", name);
    return 0;
}

int command_kernels(int argc, char **argv) {
    struct options options = {0};
    struct devices devices = {.count = 0};
    int status = 0;
    if (!parse(argc, argv, &options)) return 2;
    if (options.import && wick_kernels_import(options.import) != WICK_OK)
        return command_fail("kernels", "%s can't be imported", options.import);
    if (!open_devices(&devices, &options))
        return command_fail("kernels", "%s can't be opened", options.device ? options.device : "auto");
    if (options.warm || options.export) status = act(&devices, &options);
    if (status == 0) {
        if (options.json)
            status = print_json(&devices);
        else
            print_text(&devices, !options.warm && !options.export && !options.import);
    }
    for (int i = 0; i < devices.count; i++) wick_device_close(devices.open[i]);
    return status;
}
