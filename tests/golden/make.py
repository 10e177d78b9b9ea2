#!/usr/bin/env python3
"""Makes tests/golden/FAMILY.safetensors: expected results of small cases, computed by PyTorch in float64.

Usage: make.py BUILD [FAMILY...]      needs torch and numpy; the tests themselves need neither

BUILD/tests/golden-cases prints the cases (operands and arguments) of the verify families; what i and f mean stands in
verify/FAMILY.c. Each op has a function here that computes it with PyTorch's own operators, and is told nothing else.
"""
import itertools
import json
import math
import os
import subprocess
import sys

import numpy as np
import torch
import torch.nn.functional as F

HERE = os.path.dirname(os.path.abspath(__file__))
OPS = {}


class Case:
    """i and f: the op's arguments; x: its operands, None where one is left out; isint: whether it is of integers."""

    def __init__(self, line):
        self.op, self.k, self.n_out = line["op"], line["case"], line["n_out"]
        self.isint = line["dtype"] == "i32"
        self.i = [int(v) for v in line["i"]]
        self.f = [float(v) for v in line["f"]]
        self.dtype, self.x, self.stored = line["dtype"], [], []
        for operand in line["in"]:
            if operand is None:
                self.x.append(None)
                self.stored.append(None)
                continue
            shape = [int(n) for n in operand["shape"]]
            kind = operand["dtype"]
            torch_dtype = {"id": torch.int64, "u8": torch.uint8, "f32": torch.float64}.get(
                kind, torch.int64 if self.isint else torch.float64)
            store = {"id": np.int64, "u8": np.uint8, "f32": np.float32}.get(kind, np.int32 if self.isint else np.float16)
            data = np.array(operand["data"], dtype=np.float64).reshape(shape)
            self.x.append(torch.tensor(data).to(torch_dtype))
            self.stored.append(data.astype(store))
            assert (self.stored[-1].astype(np.float64) == data).all()

    @property
    def a(self):
        return self.x[0]

    @property
    def b(self):
        return self.x[1]


def op(*names):
    def add(function):
        for name in names:
            OPS[name] = function
        return function
    return add


for module in sorted(os.listdir(os.path.join(HERE, "ops"))):
    if module.endswith(".py"):
        with open(os.path.join(HERE, "ops", module)) as source:
            exec(compile(source.read(), module, "exec"))


def number(value):
    return "inf" if value == math.inf else "-inf" if value == -math.inf else repr(value)


def trimmed(values):
    values = list(values)
    while values and values[-1] == 0:
        values.pop()
    return values


def save(path, tensors, metadata):
    """A safetensors file, always the same for the same contents."""
    names = {"float16": "F16", "float32": "F32", "float64": "F64", "int8": "I8", "int32": "I32", "int64": "I64",
             "uint8": "U8"}
    header, data = {"__metadata__": metadata}, b""
    for name, array in sorted(tensors.items(), key=lambda item: (-item[1].itemsize, item[0])):
        nbytes = array.tobytes()
        header[name] = {"dtype": names[str(array.dtype)], "shape": list(array.shape),
                        "data_offsets": [len(data), len(data) + len(nbytes)]}
        data += nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text + data)


def main():
    build, only = sys.argv[1], sys.argv[2:]
    lines = subprocess.run([os.path.join(build, "tests", "golden-cases")], capture_output=True, text=True, check=True)
    tensors, metadata, missing = {}, {}, set()
    for text in lines.stdout.splitlines():
        text = text.replace("-inf", "-Infinity").replace(" inf", " Infinity").replace("[inf", "[Infinity")
        line = json.loads(text)
        family = line["family"]
        if only and family not in only:
            continue
        case = Case(line)
        if case.op not in OPS:
            missing.add(case.op)
            continue
        try:
            outs = OPS[case.op](case)
        except Exception as error:
            raise SystemExit(f"{case.op} case {case.k} {case.dtype} i={case.i} f={case.f}: {error!r}")
        if outs is None:
            continue
        outs = [outs] if isinstance(outs, torch.Tensor) else list(outs)
        name = f"{case.op}.{case.k}.{'i' if case.isint else 'f'}"
        bundle, notes = tensors.setdefault(family, {}), metadata.setdefault(family, {})
        for n, stored in enumerate(case.stored):
            if stored is not None:
                bundle[f"{name}.in{n}"] = stored
        for n, out in enumerate(outs):
            array = out.to(torch.float64).numpy()
            for narrow in (np.int8, np.float16, np.float32):  # the narrowest that loses nothing
                with np.errstate(all="ignore"):
                    if narrow != np.int8 or np.isfinite(array).all():
                        if np.array_equal(array.astype(narrow).astype(np.float64), array, equal_nan=True):
                            array = array.astype(narrow)
                            break
            bundle[f"{name}.out{n}"] = array
        notes[name] = " ".join([case.dtype, str(len(case.x)), str(len(outs))] + [str(v) for v in trimmed(case.i)]) + \
            " ;" + "".join(" " + number(v) for v in trimmed(case.f))
    for family in tensors:
        path = os.path.join(HERE, family + ".safetensors")
        save(path, tensors[family], metadata[family])
        print(f"{family}: {len(metadata[family])} cases, {os.path.getsize(path)} bytes")
    if missing:
        print("no function for:", " ".join(sorted(missing)))


main()
