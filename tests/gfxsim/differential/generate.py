#!/usr/bin/env python3
"""Writes random C functions, the same ones for the host and for a GPU.

    generate.py SEED COUNT > functions.h

functions.h is included by host.c and device.hip, which say what FN, LDS and the like are. Each function reads 8 words of
its thread and a table, and writes 8 words; some also use atomics on global memory, or LDS in phases between barriers.
Whatever C leaves open is guarded: shifts, divisions, conversions out of range, and the bits of NaN (x86 makes negative
NaNs, AMD's GPUs positive ones), which are only looked at after CANON. Floats are subtracted by functions that hide what
the first operand is: clang for AMD takes 0 - x for -x, which differ for x = 0."""
import random
import sys

INTS = ["u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64"]
FLOATS = ["f16", "f32", "f64"]
BITS = {"u8": 8, "i8": 8, "u16": 16, "i16": 16, "u32": 32, "i32": 32, "u64": 64, "i64": 64, "f16": 16, "f32": 32,
        "f64": 64}

# What functions are made of, in turn. Types are weighted by how often they are listed.
KINDS = [
    {"name": "words", "types": ["u32", "i32", "u32"]},
    {"name": "small", "types": ["u8", "i8", "u16", "i16", "u32"]},
    {"name": "longs", "types": ["u64", "i64", "u32"]},
    {"name": "single", "types": ["f32", "f32", "i32"]},
    {"name": "double", "types": ["f64", "f64", "i64"]},
    {"name": "half", "types": ["f16", "f16", "f32", "i16"]},
    {"name": "convert", "types": INTS + FLOATS + FLOATS},
    {"name": "control", "types": ["u32", "i32", "f32", "u64"], "control": 3},
    {"name": "choose", "types": ["i32", "u16", "f64", "u32"], "control": 1, "switch": 3},
    {"name": "scratch", "types": ["u32", "i16", "f32", "u64", "u8"], "arrays": True, "control": 1},
    {"name": "memory", "types": ["u32", "i8", "u16", "u64", "f32"], "table": True, "atomics": True},
    {"name": "lds", "types": ["u32", "i16", "f32", "u64", "u8", "f64"], "lds": True},
    {"name": "packed", "types": ["i16", "u16", "f16", "u32"], "packed": True},
    {"name": "calls", "types": ["u32", "f32", "i64", "f64"], "calls": True, "control": 1, "arrays": True},
]


class Function:
    def __init__(self, rng, number, kind, helpers):
        self.rng, self.number, self.kind, self.helpers = rng, number, kind, helpers
        self.scopes = [[]]  # variables by scope: (name, type, may be written)
        self.arrays = []
        self.lines, self.depth, self.names = [], 1, 0
        self.shared = None  # the type of `lds`, in the phase that reads it

    # ---- expressions ----

    def pick(self, *choices):
        return self.rng.choice(choices)

    def type(self):
        return self.rng.choice(self.kind["types"])

    def variables(self, of, written=False):
        return [name for scope in self.scopes for name, t, w in scope if t == of and (w or not written)]

    def constant(self, t):
        r = self.rng
        if t in FLOATS:
            value = r.choice([0.0, 1.0, -1.0, 0.5, 3.0, -2.75, 1024.0, 1e-3, 65504.0, r.uniform(-100, 100),
                              r.uniform(-1, 1)])
            return "((%s)%r)" % (t, value)
        bits = BITS[t]
        value = r.choice([0, 1, 2, 3, 7, 16, 255, 1 << (bits - 1), (1 << bits) - 1, (1 << (bits - 1)) - 1,
                          r.getrandbits(bits), r.getrandbits(bits), r.getrandbits(min(bits, 6))]) & ((1 << bits) - 1)
        return "((%s)0x%x%s)" % (t, value, "ull" if bits == 64 else "u")

    def leaf(self, t):
        r = self.rng
        names = self.variables(t)
        if names and r.random() < 0.75:
            return r.choice(names)
        others = [name for scope in self.scopes for name, _, _ in scope]
        if others and r.random() < 0.5:
            name = r.choice(others)
            of = next(o for scope in self.scopes for n, o, _ in scope if n == name)
            return self.convert(name, of, t)
        return self.constant(t)

    def convert(self, text, of, to):
        if of == to:
            return text
        if of in FLOATS and to in INTS:
            return "%s_from_%s(%s)" % (to, of, text)
        return "(%s)(%s)" % (to, text)

    def condition(self, depth):
        r = self.rng
        t = self.type()
        text = "%s %s %s" % (self.expression(t, depth - 1), r.choice(["<", "<=", ">", ">=", "==", "!="]),
                             self.expression(t, depth - 1))
        if depth > 1 and r.random() < 0.3:
            text = "(%s) %s %s" % (text, r.choice(["&&", "||"]), self.condition(depth - 1))
        return ("(%s)" if r.random() < 0.85 else "!(%s)") % text

    def expression(self, t, depth=None):
        r = self.rng
        if depth is None:
            depth = r.choice([1, 2, 2, 3])
        if depth <= 0 or r.random() < 0.12:
            return self.leaf(t)
        if self.shared and r.random() < 0.15:
            return self.convert("lds[%s %% BLOCK]" % self.expression("u32", depth - 1), self.shared, t)
        if self.arrays and r.random() < 0.15:
            name, of, length = r.choice(self.arrays)
            return self.convert("%s[%s & %d]" % (name, self.expression("u32", depth - 1), length - 1), of, t)
        if self.kind.get("table") and t in INTS and r.random() < 0.15:
            return "((const %s *)table)[%s & %d]" % (t, self.expression("u32", depth - 1), 4096 * 8 // BITS[t] - 1)
        if self.kind.get("calls") and self.helpers and r.random() < 0.15:
            name, result, parameters = r.choice(self.helpers)
            call = "%s(%s)" % (name, ", ".join(self.expression(p, depth - 1) for p in parameters))
            return self.convert(call, result, t)
        if self.kind.get("packed") and t in ("i16", "u16", "f16") and r.random() < 0.4:
            return self.packed(t, depth)
        if r.random() < 0.1:
            return "(%s ? %s : %s)" % (self.condition(depth - 1), self.expression(t, depth - 1),
                                       self.expression(t, depth - 1))
        if r.random() < 0.12:
            of = self.type()
            return self.convert(self.expression(of, depth - 1), of, t)
        a, b = self.expression(t, depth - 1), self.expression(t, depth - 1)
        if t in FLOATS:
            return self.floating(t, a, b, depth)
        return self.integer(t, a, b)

    def floating(self, t, a, b, depth):
        r = self.rng
        n = r.random()
        if n < 0.18:
            return "sub_%s(%s, %s)" % (t, a, b)
        if n < 0.55:
            return "(%s %s %s)" % (a, r.choice(["+", "*"]), b)
        if n < 0.62:
            return "(%s / %s)" % (a, b)
        if n < 0.70 and t != "f16":
            return "FMA_%s(%s, %s, %s)" % (t, a, b, self.expression(t, depth - 1))
        if n < 0.75 and t != "f16":
            return "SQRT_%s(ABS(%s))" % (t, a)
        if n < 0.83:
            return "%s(%s)" % (r.choice(["FLOOR", "CEIL", "TRUNC", "RINT"]), a)
        if n < 0.88:
            return "ABS(%s)" % a
        if n < 0.93:
            return "(-%s)" % a
        if n < 0.97:
            return "%s_%s(%s, %s)" % (r.choice(["min", "max"]), t, a, b)
        return "COPYSIGN(%s, CANON(%s, %s))" % (a, t, b)

    def integer(self, t, a, b):
        r = self.rng
        bits = BITS[t]
        n = r.random()
        if n < 0.45:
            return "(%s)(%s %s %s)" % (t, a, r.choice(["+", "-", "*", "&", "|", "^"]), b)
        if n < 0.60:
            return "(%s)(%s %s ((u32)%s & %d))" % (t, a, r.choice(["<<", ">>"]), b, bits - 1)
        if n < (0.65 if bits < 64 else 0.61):
            return "%s_%s(%s, %s)" % (r.choice(["div", "mod"]), t, a, b)
        if n < 0.72:
            return "%s_%s(%s, %s)" % (r.choice(["min", "max"]), t, a, b)
        if n < 0.77:
            return "(%s)%s(%s, %s)" % (t, r.choice(["ADD_SAT", "SUB_SAT"]), a, b)
        if n < 0.82:
            return "rotate_%s(%s, %s)" % (t, a, b)
        if n < 0.87:
            return "(%s)%s((u64)(u%d)%s)" % (t, r.choice(["POPCOUNT", "CLZ", "CTZ"]), bits, a)
        if n < 0.91:
            return "(%s)%s(%s)" % (t, r.choice(["REVERSE", "SWAP"]) + (str(bits) if bits > 8 else "8"), a)
        if n < 0.95:
            return "high_%s(%s, %s)" % (t, a, b)
        return "(%s)%s%s" % (t, r.choice(["~", "-", "!"]), a)

    def packed(self, t, depth):
        r = self.rng
        e = [self.expression(t, depth - 2) for _ in range(4)]
        a, b = "(%s_2){%s, %s}" % (t, e[0], e[1]), "(%s_2){%s, %s}" % (t, e[2], e[3])
        if t == "f16":
            text = r.choice(["(%s + %s)", "(%s * %s)", "sub_f16_2(%s, %s)"]) % (a, b)
        else:
            text = r.choice(["(%s + %s)", "(%s - %s)", "(%s * %s)", "(%s >> (%s & (%s_2)15))", "MAX2(%s, %s)",
                             "MIN2(%s, %s)", "ADD_SAT(%s, %s)"])
            text = text % ((a, b, t) if text.count("%s") == 3 else (a, b))
        if r.random() < 0.5:
            more = "(%s_2){%s, %s}" % (t, self.leaf(t), self.leaf(t))
            text = r.choice(["(%s + %s)", "(%s * %s)", "sub_f16_2(%s, %s)" if t == "f16" else "(%s - %s)"]) % (text, more)
        return "%s.%s" % (text, r.choice("xy"))

    # ---- statements ----

    def line(self, text):
        self.lines.append("    " * self.depth + text)

    def declare(self, t, text, written=True):
        name = "v%d" % self.names
        self.names += 1
        self.line("%s %s = %s;" % (t, name, text))
        self.scopes[-1].append((name, t, written))
        return name

    def block(self, statements, level):
        self.scopes.append([])
        self.depth += 1
        for _ in range(statements):
            self.statement(level)
        self.depth -= 1
        self.scopes.pop()

    def assign(self):
        t = self.type()
        names = self.variables(t, True)
        if names:
            self.line("%s = %s;" % (self.rng.choice(names), self.expression(t)))
        else:
            self.declare(t, self.expression(t))

    def statement(self, level):
        r, kind = self.rng, self.kind
        control = kind.get("control", 0)
        n = r.random()
        if level < 3 and n < 0.12 * control:
            self.loop(level)
        elif level < 3 and n < 0.20 * control + 0.06:
            self.line("if (%s) {" % self.condition(2))
            self.block(r.randint(1, 3), level + 1)
            if r.random() < 0.5:
                self.line("} else {")
                self.block(r.randint(1, 3), level + 1)
            self.line("}")
        elif level < 2 and n > 1 - 0.12 * kind.get("switch", 0):
            self.switch(level)
        elif self.arrays and n > 0.75:
            name, of, length = r.choice(self.arrays)
            self.line("%s[%s & %d] = %s;" % (name, self.expression("u32", 2), length - 1, self.expression(of)))
        elif kind.get("atomics") and n > 0.9:
            self.line("ATOMIC_%s(&g[%s & 15], %s);" % (self.atomic(), self.expression("u32", 1),
                                                       self.expression("u32", 2)))
        elif r.random() < 0.5:
            t = self.type()
            self.declare(t, self.expression(t))
        else:
            self.assign()

    def atomic(self):
        # one operation a function, so that the order of threads does not matter
        if not hasattr(self, "operation"):
            self.operation = self.pick("ADD", "MIN", "MAX", "AND", "OR", "XOR")
        return self.operation

    def loop(self, level):
        r = self.rng
        count = "n%d" % self.names
        self.names += 1
        form = r.randrange(3)
        if form == 0:
            self.line("for (u32 %s = 0; %s < (%s & %d); %s++) {" % (count, count, self.expression("u32", 1),
                                                                  r.choice([3, 7, 15]), count))
        elif form == 1:
            self.line("for (u32 %s = %s & 0xff; %s; %s >>= 1) {" % (count, self.expression("u32", 2), count, count))
        else:
            self.line("u32 %s = 0;" % count)
            self.line("do {")
        self.scopes.append([(count, "u32", False)])
        self.depth += 1
        for _ in range(r.randint(1, 3)):
            self.statement(level + 1)
        if r.random() < 0.4:
            self.line("if (%s) %s;" % (self.condition(2), "break" if form == 2 else r.choice(["break", "continue"])))
        self.assign()
        self.depth -= 1
        self.scopes.pop()
        self.line("} while (++%s < 9 && %s);" % (count, self.condition(2)) if form == 2 else "}")

    def switch(self, level):
        r = self.rng
        cases = r.randint(3, 9)
        self.line("switch (%s %% %d) {" % (self.expression("u32", 2), cases + 1))
        for case in range(cases):
            self.line("case %d: {" % case)
            self.block(r.randint(1, 2), level + 1)
            self.line("}")
            self.line("break;" if r.random() < 0.8 else "/* falls through */")
        self.line("default: {")
        self.block(1, level + 1)
        self.line("}")
        self.line("}")

    # ---- the function ----

    def inputs(self):
        for i, t in enumerate(self.rng.sample(self.kind["types"] * 4, 6)):
            raw = "RAW" if t in FLOATS and self.rng.random() < 0.4 else "IN"
            self.declare(t, "%s_%s(in[%d])" % (raw, t, i))

    def body(self):
        r = self.rng
        self.inputs()
        if self.kind.get("arrays"):
            for i in range(r.randint(1, 2)):
                of, length = self.type(), r.choice([8, 32, 64])
                name = "a%d" % i
                self.line("%s %s[%d];" % (of, name, length))
                self.line("for (u32 i = 0; i < %d; i++) %s[i] = (%s)(i * %d + (u32)in[i & 7] %% 97);" %
                          (length, name, of, r.randint(1, 99)))
                self.arrays.append((name, of, length))
        for _ in range(r.randint(5, 8)):
            self.statement(0)

    def outputs(self):
        known = [(name, t) for name, t, _ in self.scopes[0]]
        for i in range(8):
            name, t = known[-1 - i] if i < len(known) else known[0]
            if i > 5 and self.arrays:
                array, t, length = self.rng.choice(self.arrays)
                name = "%s[%s & %d]" % (array, self.expression("u32", 1), length - 1)
            self.line("out[%d] = OUT_%s(%s);" % (i, t, name))

    def text(self):
        n = self.number
        self.body()
        self.outputs()
        return ("static FN void test%d(const u64 *in, u64 *out, const u8 *table, u32 *g, u32 t) {\n"
                "    (void)table, (void)g, (void)t;\n%s\n}\nKERNEL(test%d)\n\n" % (n, "\n".join(self.lines), n))

    def lds_text(self):
        """Three phases with barriers between them: a value of every thread into LDS, each to its own place; results from
        anyone's values, and counts by atomics; the counts."""
        r, n = self.rng, self.number
        of = self.type()
        parts = []
        self.inputs()
        for _ in range(3):
            self.statement(0)
        self.line("lds[(t * %d + %d) %% BLOCK] = %s;" % (r.choice([1, 5, 7, 25, 95]), r.randrange(96), self.expression(of)))
        self.line("if (t < 16) counts[t] = %d * t;" % r.randrange(1000))
        parts.append(self.lines)
        self.lines, self.scopes, self.names, self.shared = [], [[]], 0, of
        self.inputs()
        for _ in range(6):
            self.statement(0)
        self.outputs()
        self.line("ATOMIC_LDS_%s(&counts[%s & 15], %s);" % (self.atomic(), self.expression("u32", 2),
                                                            self.expression("u32", 2)))
        parts.append(self.lines)
        self.lines = []
        self.line("out[%d] = OUT_u32(counts[((u32)in[1] + t) & 15]);" % r.randrange(8))
        parts.append(self.lines)
        text = ""
        for i, lines in enumerate(parts):
            text += ("static %s void test%d_%d(const u64 *in, u64 *out, LDS(%s) *lds, LDS(u32) *counts, u32 t) {\n"
                     "    (void)in, (void)out, (void)lds, (void)counts, (void)t;\n%s\n}\n" %
                     ("FN" if r.random() < 0.7 else "CALLED", n, i, of, "\n".join(lines)))
        return text + "KERNEL_LDS(test%d, %s)\n\n" % (n, of)


def helper(rng, number, helpers):
    """A function that is called, with a stack of its own."""
    f = Function(rng, number, KINDS[-1], helpers[:number // 3 * 3 and 3])  # calls two deep
    parameters = [f.type() for _ in range(rng.randint(1, 4))]
    result = f.type()
    f.scopes[0] = [("p%d" % i, t, True) for i, t in enumerate(parameters)]
    for _ in range(rng.randint(1, 3)):
        f.statement(1)
    f.line("return %s;" % f.expression(result))
    head = "static CALLED %s h%d(%s)" % (result, number, ", ".join("%s p%d" % (t, i) for i, t in enumerate(parameters)))
    return "%s {\n%s\n}\n\n" % (head, "\n".join(f.lines)), ("h%d" % number, result, parameters)


def main():
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    rng = random.Random(seed)
    out, helpers = ["/* Made by generate.py, seed %d. */\n" % seed], []
    for i in range(12):
        text, row = helper(rng, i, helpers)
        out.append(text)
        helpers.append(row)
    kinds = []
    for i in range(count):
        kind = KINDS[i % len(KINDS)]
        function = Function(rng, i, kind, helpers)
        out.append("/* %s */\n" % kind["name"] + (function.lds_text() if kind.get("lds") else function.text()))
        kinds.append(kind["name"])
    out.append("#define FUNCTIONS(X) %s\n" % " ".join("X(test%d, \"%s\")" % (i, k) for i, k in enumerate(kinds)))
    sys.stdout.write("".join(out))


main()
