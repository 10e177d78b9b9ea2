#!/usr/bin/env python3
"""Writes a C program that calls every function of the API with NULL, extreme and ordinary arguments.

Usage: extreme.py API.json > extreme.c

Which argument is what comes from the list of the API (tools/api). The program draws the arguments of each call at random
from short lists, with a fixed seed, and looks at nothing but that the library survives: it is for builds with sanitizers.
An array has ROOM entries, so lengths stay below that, but for ranks, which are checked before anything is read.
"""
import json
import re
import sys

ROOM = 16

# Called in another way, or not at all.
ONLY_NULL = re.compile(r"_(close|free|release)$")
SKIPPED = {
    "wick_scope_begin": "every call has a scope of its own",
    "wick_scope_end": "every call has a scope of its own",
    "wick_keep": "it would outlive the scope of the call",
    "wick_allocator_set": "memory is in use",
    "wick_memory_set_limit": "a limit is what keeps large shapes from being made",
    "wick_doctor": "examines the machine, which takes seconds",
    "wick_graph_begin": "calls after it would be recorded, not made",
    "wick_record_begin": "ended by wick_record_end alone",
    "wick_threads_set": "starts 256 threads",
}

VALUES = {
    "bool": ["false", "true"],
    "int": ["INT_MIN", "-2", "-1", "0", "1", "2", "3", "9", "INT_MAX"],
    "unsigned": ["0", "1", "UINT_MAX"],
    "int32_t": ["INT32_MIN", "-1", "0", "1", "INT32_MAX"],
    "int64_t": ["INT64_MIN", "INT64_MIN + 1", "-1", "0", "1", "2", "3", "(int64_t)1 << 40", "INT64_MAX - 1", "INT64_MAX"],
    "uint32_t": ["0", "1", "UINT32_MAX"],
    "uint64_t": ["0", "1", "UINT64_MAX"],
    "size_t": ["0", "1", "24", "SIZE_MAX"],
    "float": ["0", "-1", "1.5f", "NAN", "INFINITY", "-INFINITY"],
    "double": ["0", "-1", "1", "2.5", "5e-324", "1e300", "-1e300", "0x1p63", "-0x1p63", "NAN", "INFINITY", "-INFINITY"],
}
LENGTHS = ["-1", "0", "1", "2", "3", "4"]
RANKS = ["INT_MIN", "-1", "0", "1", "2", "3", "4", "5", "8", "9", "INT_MAX"]


def values_of(kind):
    if kind.startswith("enum "):
        return [f"({kind})-1"] + [f"({kind}){n}" for n in (0, 1, 2, 5, 7, 8, 9, 13, 100, "INT_MAX")]
    return VALUES[kind]


class Program:
    def __init__(self, api):
        self.api = api
        self.structs = {struct["name"]: struct for struct in api["structs"]}
        self.lines = []

    def choice(self, kind, values):
        return f"(({kind}[]){{{', '.join(values)}}})[draw({len(values)})]"

    def value(self, kind):
        return f"make_{kind[7:]}()" if kind.startswith("struct ") else self.choice(kind, values_of(kind))

    def fill(self, struct, target):
        """Statements that fill a struct: now and then a member gets a value, the others stay 0."""
        for field in struct["fields"]:
            kind, name = field["type"], field["name"]
            if name == "reserved":
                self.lines.append(f"    if (draw(20) == 0) {target}reserved[draw(8)] = 1;")
            elif kind.startswith("struct ") and "*" not in kind:
                self.fill(self.structs[kind[7:]], f"{target}{name}.")
            elif kind == "const struct wick_tensor *":
                self.lines.append(f"    if (draw(2)) {target}{name} = tensors[draw(N_TENSORS)];")
            elif "*" in kind:
                if name == "data":
                    self.lines.append(f"    if (draw(2)) {target}{name} = bytes + draw(3);")
            elif name == "nbytes":
                self.lines.append(f"    {target}{name} = (size_t)draw(200);")
            elif field.get("length"):
                self.lines.append(f"    for (int i = 0; i < {field['length']}; i++)\n"
                                  f"        if (draw(3) == 0) {target}{name}[i] = {self.value(kind)};")
            else:
                self.lines.append(f"    if (draw(3) == 0) {target}{name} = {self.value(kind)};")

    def struct_makers(self):
        wanted = {a["type"] for f in self.api["functions"] for a in f["arguments"]
                  if a["role"] == "struct" or (a["role"] == "value" and a["type"].startswith("struct "))}
        for kind in sorted(wanted):
            name = re.search(r"wick_\w+", kind)[0]
            self.lines.append(f"__attribute__((unused)) static struct {name} make_{name}(void) {{")
            self.lines.append(f"    struct {name} it = {{0}};")
            self.fill(self.structs[name], "it.")
            self.lines.append("    return it;\n}\n")

    def argument(self, function, argument, lengths):
        """An expression, after the statements it needs."""
        kind, role, name = argument["type"], argument["role"], argument["name"]
        base = re.sub(r"^const ", "", kind).rstrip("* ").replace(" *const", "")
        if ONLY_NULL.search(function["name"]):
            return "NULL"
        if role == "value":
            if name in lengths:
                return self.choice(kind, RANKS if name in ("rank", "n_dims") and kind == "int" else LENGTHS)
            if name in self.sizes:
                return f"(size_t)draw({4096})"
            return self.value(kind)
        if role == "object":
            if base == "struct wick_tensor":
                return "tensors[draw(N_TENSORS)]"
            return "devices[draw(2)]" if base == "struct wick_device" else "NULL"
        if role == "string":
            return "strings[draw(N_STRINGS)]"
        if role in ("bytes", "out_bytes"):
            return f"(draw(4) ? ({kind})bytes : NULL)"
        if role == "array":
            return f"(draw(6) ? arrays_{base.replace(' ', '_')}() : NULL)"
        if role == "objects":
            return f"(draw(6) ? ({kind})several() : NULL)" if base == "struct wick_tensor" else "NULL"
        if role == "struct":
            name = re.search(r"wick_\w+", kind)[0]
            self.lines.append(f"    struct {name} s_{argument['name']} = make_{name}();")
            return f"(draw(4) ? &s_{argument['name']} : NULL)"
        if role in ("out", "out_text", "out_object", "out_struct"):
            plain = kind[:-1].strip()
            self.lines.append(f"    {plain} o_{name} = {{0}};")
            return f"(draw(4) ? &o_{name} : NULL)"
        if role == "out_array":
            self.lines.append(f"    {base} o_{name}[{ROOM}];")
            return f"(draw(4) ? o_{name} : NULL)"
        if role == "out_objects":
            self.lines.append(f"    {kind[:-1].strip()} o_{name}[{ROOM}];")
            return f"(draw(6) ? o_{name} : NULL)"
        return "NULL"  # callbacks, their contexts, streams, lists of strings

    def function(self, function):
        lengths = {a.get("length") for a in function["arguments"]}
        self.sizes = {a.get("size") for a in function["arguments"]}
        name = function["name"]
        self.lines.append(f"static void call_{name}(void) {{")
        call = f"{name}({', '.join(self.argument(function, a, lengths) for a in function['arguments'])})"
        ending = re.search(r"\b(wick_\w+_(?:close|free))\b", function["comment"])
        if function.get("ownership") == "owned" and function["returns"] != "struct wick_tensor *":
            self.lines.append(f"    {ending[1]}({call});")
        elif name == "wick_retain":
            self.lines.append(f"    wick_release({call});")
        elif function["returns"] == "void":
            self.lines.append(f"    {call};")
        else:
            self.lines.append(f"    {function['returns']} result = {call};\n    (void)result;")
        self.lines.append("}\n")

    def text(self):
        functions = [f for f in self.api["functions"] if f["name"] not in SKIPPED]
        arrays = sorted({re.sub(r"^const |[ *]+$", "", a["type"]) for f in functions for a in f["arguments"]
                         if a["role"] == "array"})
        for kind in arrays:
            self.lines.append(f"static const {kind} *arrays_{kind.replace(' ', '_')}(void) {{\n"
                              f"    static {kind} array[{ROOM}];\n"
                              f"    int form = draw(4);\n"
                              f"    {kind} same = form == 1 ? ({kind})1 : {self.value(kind)};\n"
                              f"    for (int i = 0; i < {ROOM}; i++)\n"
                              f"        array[i] = form == 0 ? ({kind})draw(4) : form < 3 ? same : {self.value(kind)};\n"
                              f"    return array;\n}}\n")
        self.struct_makers()
        for function in functions:
            self.function(function)
        self.lines.append("static const struct {\n    const char *name;\n    void (*call)(void);\n} functions[] = {")
        self.lines += [f"    {{\"{f['name']}\", call_{f['name']}}}," for f in functions]
        self.lines.append("};")
        return "/* Made by tests/api/extreme.py. */\n#include \"tests/api/extreme.h\"\n\n" + "\n".join(self.lines) + MAIN


MAIN = """

int main(int argc, char **argv) {
    set_up();
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
        if (argc > 1 && strcmp(argv[1], functions[f].name) != 0) continue;
        for (int i = 0; i < CALLS; i++) {
            begin(functions[f].name, i);
            functions[f].call();
            end();
        }
    }
    return test_end();
}
"""


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        api = json.load(file)
    missing = set(SKIPPED) - {f["name"] for f in api["functions"]}
    if missing:
        sys.exit(f"extreme.py: skipped, but not in the API: {', '.join(sorted(missing))}")
    sys.stdout.write(Program(api).text())


main()
