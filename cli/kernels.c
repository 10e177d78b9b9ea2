/* wick kernels: the finite set of GPU kernels, by which route each device gets them, and packs of them. */
#include "cli/command.h"
#include "cli/json.h"
#include "cli/options.h"
#include "cli/output.h"

#include <stdio.h>
#include <string.h>

enum { MOST_DEVICES = 16, WIDTH = 100 };

struct wishes {
    const char *device, *export, *import;
    bool warm, json;
};

/* The devices whose routes are shown: the GPUs that open, or the one that was asked for. */
struct devices {
    struct wick_device *open[MOST_DEVICES];
    struct wick_device_info info[MOST_DEVICES];
    int count;
};

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

static bool open_devices(struct devices *devices, const struct wishes *wishes) {
    bool acts = wishes->warm || wishes->export;
    if (wishes->device || acts) return add(devices, wishes->device ? wishes->device : "auto", true);
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
    for (int i = 0; i < devices->count; i++) {
        printf("  %s (", devices->info[i].name);
        output_bytes(stdout, devices->info[i].isa, strcspn(devices->info[i].isa, ":"));
        printf(")");
    }
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
    json_t *modules = json_array(), *list = json_array();
    for (int module = 0; module < wick_kernels_modules(); module++) {
        json_t *names = json_array();
        for (int k = 0; k < wick_kernels_count(module); k++) json_add(names, json_string(wick_kernels_name(module, k)));
        json_add(modules, json_pack("{s:s, s:o}", "name", wick_kernels_module(module), "kernels", names));
    }
    for (int i = 0; i < devices->count; i++) {
        json_t *routes = json_object();
        for (int module = 0; module < wick_kernels_modules(); module++)
            json_object_set_new(routes, wick_kernels_module(module),
                                json_string(wick_route_name(wick_kernels_route(devices->open[i], module))));
        json_add(list, json_pack("{s:s, s:o, s:o}", "name", devices->info[i].name, "target",
                                 json_text(devices->info[i].isa), "routes", routes));
    }
    json_t *root = json_pack("{s:o, s:o}", "modules", modules, "devices", list);
    return json_print(root, JSON_INDENT(1)) ? 0 : command_fail("kernels", "out of memory");
}

static int act(const struct devices *devices, const struct wishes *wishes) {
    struct wick_device *device = devices->open[0];
    const char *name = devices->info[0].name;
    if (wishes->warm && wick_kernels_warm(device) != WICK_OK)
        return command_fail("kernels", "not all kernels can be loaded on %s", name);
    if (wishes->export && wick_kernels_export(device, wishes->export) != WICK_OK)
        return command_fail("kernels", "the kernels of %s can't be exported", name);
    return 0;
}

int command_kernels(int argc, char **argv) {
    struct wishes wishes = {0};
    struct devices devices = {.count = 0};
    const struct option list[] = {
        OPTIONS_TEXT("--device", "D", &wishes.device, "shows this device instead of every GPU"),
        OPTIONS_FLAG("--warm", &wishes.warm, "loads every module, and compiles it where necessary"),
        OPTIONS_TEXT("--export", "DIR", &wishes.export, "writes all kernels as a pack for this kind of GPU"),
        OPTIONS_TEXT("--import", "PATH", &wishes.import, "copies a pack, or a folder of packs, into the cache"),
        OPTIONS_FLAG("--json", &wishes.json, "writes JSON"),
        OPTIONS_END};
    const struct options options = {"kernels", list, 0};
    int n, status;
    if (!options_parse(&options, argc, argv, &n, &status)) return status;
    if (wishes.import && wick_kernels_import(wishes.import) != WICK_OK)
        return command_fail("kernels", "%s can't be imported", wishes.import);
    if (!open_devices(&devices, &wishes))
        return command_fail("kernels", "%s can't be opened", wishes.device ? wishes.device : "auto");
    if (devices.count > 0 && strcmp(devices.info[0].family, "cpu") == 0)
        status = command_fail("kernels", "%s is not a GPU, and has none of these kernels", devices.info[0].name);
    if (status == 0 && (wishes.warm || wishes.export)) status = act(&devices, &wishes);
    if (status == 0 && wishes.json)
        status = print_json(&devices);
    else if (status == 0)
        print_text(&devices, !wishes.warm && !wishes.export && !wishes.import);
    for (int i = 0; i < devices.count; i++) wick_device_close(devices.open[i]);
    return status;
}
