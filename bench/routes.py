#!/usr/bin/env python3
"""Times `linear` on one GPU by each of Wick's routes (docs/routes.md) beside PyTorch, in one process, turn by turn.

    bench/routes.py --build build --device cuda:0 [--dtypes bf16,f16,f32] [--only PATTERN,...] [--minutes N]

A row is one size, dtype, bias and activation: x [m,k] and w [n,k]. PyTorch's is F.linear, then the activation. The columns
are what WICK_BLAS=auto, own and vendor take, and which route auto took. Each figure is the median over batches of the time of
a call. Error: the largest difference from PyTorch's result in float64, relative to its largest magnitude, of auto and of
vendor."""
import argparse
import ctypes
import fnmatch
import pathlib
import sys
import time

import torch
from torch.nn import functional

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from rows import BOOL, INT, INT64, POINTER, TORCH, to_wick  # noqa: E402
from timing import Side, in_turns  # noqa: E402
from wick import Wick  # noqa: E402

CHOICES = ("auto", "own", "vendor")  # in the order of enum wick_blas
ACTIVATIONS = {"none": (0, lambda y: y), "relu": (1, functional.relu), "gelu": (2, functional.gelu),
               "gelu_tanh": (3, lambda y: functional.gelu(y, approximate="tanh")), "silu": (4, functional.silu)}
# name, (m, n, k), with a bias or without, activations
SIZES = (
    ("MiniLM up", (4096, 1536, 384), True, "none gelu gelu_tanh relu"), ("MiniLM down", (4096, 384, 1536), True, "none"),
    ("BERT-large up", (4096, 4096, 1024), True, "none gelu gelu_tanh relu"),
    ("BERT-large down", (4096, 1024, 4096), True, "none"), ("Llama up", (2048, 11008, 4096), False, "none silu"),
    ("Llama down", (2048, 4096, 11008), False, "none"), ("square", (4096, 4096, 4096), True, "none relu gelu_tanh gelu silu"),
    ("square, k 2048", (4096, 4096, 2048), True, "gelu"), ("square, k 8192", (4096, 4096, 8192), True, "gelu"),
    ("small", (256, 256, 256), True, "none gelu_tanh"), ("middle", (1024, 1024, 1024), True, "none gelu_tanh gelu"),
    ("few rows", (16, 4096, 4096), True, "none gelu_tanh"), ("few rows", (32, 4096, 4096), True, "none"),
    ("few rows", (64, 4096, 4096), True, "none"), ("odd", (4095, 4095, 4095), False, "none"),
    ("odd", (4095, 4095, 4095), True, "gelu_tanh"), ("odd k", (4096, 4096, 4095), False, "none"),
    ("odd n", (4096, 4095, 4096), False, "none"), ("odd n", (4096, 4095, 4096), True, "gelu_tanh"),
    ("even k", (4096, 4096, 4098), False, "none"), ("k of 4", (4096, 4096, 4100), False, "none"),
    ("odd, small", (511, 511, 511), False, "none"))


class Route(ctypes.Structure):
    """struct wick_route_info of device.h."""
    _fields_ = [("name", ctypes.c_char_p), ("op", ctypes.c_char_p), ("library", ctypes.c_char_p), ("fault", ctypes.c_char_p),
                ("verdict", ctypes.c_char_p), ("used", INT64), ("refused", INT64), ("reserved", ctypes.c_uint64 * 8)]


class Routes:
    def __init__(self, wick):
        self.wick = wick
        self.set = wick.function("blas_set", INT, POINTER, INT)
        self.set_dnn = wick.function("dnn_set", INT, POINTER, INT)
        self.count = wick.function("route_count", INT, POINTER)(wick.device)
        self.describe = wick.function("route_describe", INT, POINTER, INT, BOOL, ctypes.POINTER(Route))

    def all(self, check=False):
        infos = [Route() for _ in range(self.count)]
        for i, info in enumerate(infos):
            self.describe(self.wick.device, i, check, ctypes.byref(info))
        return infos

    def used(self):
        return {info.name.decode(): info.used for info in self.all()}

    def taken_since(self, before):
        return ", ".join(name for name, used in self.used().items() if used > before[name]) or "own"


class Run:
    """One run over rows, by the options that all such scripts have."""

    def __init__(self, arguments):
        arguments.add_argument("--build", default="build")
        arguments.add_argument("--device", default="cuda:0")
        arguments.add_argument("--dtypes", default="bf16,f16,f32")
        arguments.add_argument("--only", default="*", help="patterns of rows' names")
        arguments.add_argument("--repeats", type=int, default=5)
        arguments.add_argument("--batch", type=float, default=0.004, help="seconds a batch takes")
        arguments.add_argument("--log", action="store_true", help="print what the library says of its routes")
        arguments.add_argument("--minutes", type=float, default=60, help="stop after this long")
        self.options = arguments.parse_args()
        self.began = time.monotonic()
        torch.manual_seed(0)
        torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
        torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
        self.wick = Wick(self.options.build, self.options.device)
        self.routes = Routes(self.wick)

    def begin(self, columns, texts):
        """Prints what takes part, and the head of a table of which the first `texts` columns are no numbers."""
        heard = ctypes.CFUNCTYPE(None, POINTER, INT, ctypes.c_char_p)
        line = heard(lambda _, level, text: print(text.decode(), flush=True))
        if self.options.log:
            self.wick.function("log_set", None, type(line), POINTER, INT)(line, None, 3)
        print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, "
              f"its cuDNN {torch.backends.cudnn.version()}")
        for info in self.routes.all(check=True):
            print(f"{info.name.decode()}: {(info.library or info.fault).decode()}: {info.verdict.decode()}")
        if self.options.log:
            self.wick.function("log_set", None, POINTER, POINTER, INT)(None, None, 0)
        print(f"| {columns} |\n{'| --- ' * texts}{'| ---: ' * (columns.count('|') + 1 - texts)}|", flush=True)

    def wanted(self, name):
        return any(fnmatch.fnmatch(name, pattern) for pattern in self.options.only.split(","))

    def is_over(self):
        over = time.monotonic() - self.began > 60 * self.options.minutes
        if over:
            print("stopped: out of time")
        return over

    def times(self, theirs, ours, choose):
        """Seconds of PyTorch and of each choice of Wick's; choose(i) makes the choice."""
        def released():
            self.wick.release(ours())
        sides = [Side([theirs], torch.cuda.synchronize)]
        sides += [Side([released], self.wick.synchronize, lambda i=i: choose(i)) for i in range(len(CHOICES))]
        return in_turns(sides, self.options.repeats, self.options.batch)


def row(run, dtype, size, biased, activation):
    wick, routes, (m, n, k) = run.wick, run.routes, size
    code, theirs_activation = ACTIVATIONS[activation]
    inputs = [torch.randn(m, k, device="cuda"), torch.randn(n, k, device="cuda") / k**0.5, torch.randn(n, device="cuda")]
    x, w, b = [tensor.to(TORCH[dtype]) for tensor in inputs]
    b = b if biased else None
    tensors = [to_wick(wick, tensor) if tensor is not None else None for tensor in (x, w, b)]
    linear = wick.op("linear", POINTER, POINTER, POINTER, INT)
    exact = theirs_activation(functional.linear(x.double(), w.double(), None if b is None else b.double()))
    scale = float(exact.abs().max())
    errors, taken = {}, "own"
    for i, choice in enumerate(CHOICES):
        routes.set(wick.device, i)
        before = routes.used()
        result = linear(*tensors, code)
        if choice == "auto":
            taken = routes.taken_since(before)
        errors[choice] = float((torch.from_numpy(wick.numpy(result)).cuda().double() - exact).abs().max()) / scale
        wick.release(result)
    errors["PyTorch"] = float((theirs_activation(functional.linear(x, w, b)).double() - exact).abs().max()) / scale
    del exact
    times = run.times(lambda: theirs_activation(functional.linear(x, w, b)), lambda: linear(*tensors, code),
                      lambda i: routes.set(wick.device, i))
    for tensor in tensors:
        if tensor:
            wick.release(tensor)
    return times, taken, errors


def main():
    run = Run(argparse.ArgumentParser(description=__doc__.split("\n")[0]))
    run.begin("size | dtype | bias | activation | PyTorch µs | auto | own | vendor | ratio | auto took | error PyTorch "
              "| auto | vendor", 4)
    for dtype in run.options.dtypes.split(","):
        for name, size, biased, activations in SIZES:
            for activation in activations.split():
                label = f"{name} {'×'.join(map(str, size))}"
                if not run.wanted(f"{label} {dtype} {activation}"):
                    continue
                if run.is_over():
                    return
                with torch.inference_mode():
                    times, taken, errors = row(run, dtype, size, biased, activation)
                theirs, *ours = [t * 1e6 for t in times]
                print(f"| {label} | {dtype} | {'yes' if biased else 'no'} | {activation} | {theirs:.1f} | {ours[0]:.1f} | "
                      f"{ours[1]:.1f} | {ours[2]:.1f} | {theirs / ours[0]:.2f} | {taken} | {errors['PyTorch']:.0e} | "
                      f"{errors['auto']:.0e} | {errors['vendor']:.0e} |", flush=True)


if __name__ == "__main__":
    main()
