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
import statistics
import sys
import time

import torch
from torch.nn import functional

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from rows import BOOL, INT, INT64, POINTER, TORCH, to_wick  # noqa: E402
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
    ("few rows", (16, 4096, 4096), True, "none gelu_tanh"), ("odd", (4095, 4095, 4095), False, "none"),
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


def batch_time(call, count, wait):
    began = time.perf_counter()
    for _ in range(count):
        call()
    wait()
    return (time.perf_counter() - began) / count


def measure(sides, repeats, seconds):
    """Medians of the sides, (prepare, call, wait) each, timed in turns."""
    counts, times = [], [[] for _ in sides]
    for prepare, call, wait in sides:
        prepare()
        batch_time(call, 2, wait)
        counts.append(max(3, min(200, int(seconds / max(batch_time(call, 3, wait), 1e-7)))))
    for _ in range(repeats):
        for i, (prepare, call, wait) in enumerate(sides):
            prepare()
            times[i].append(batch_time(call, counts[i], wait))
    return [statistics.median(side) for side in times]


def row(wick, routes, case, options):
    dtype, (m, n, k), biased, activation = case
    code, theirs_activation = ACTIVATIONS[activation]
    inputs = [torch.randn(m, k, device="cuda"), torch.randn(n, k, device="cuda") / k**0.5, torch.randn(n, device="cuda")]
    x, w, b = [tensor.to(TORCH[dtype]) for tensor in inputs]
    b = b if biased else None
    tensors = [to_wick(wick, tensor) if tensor is not None else None for tensor in (x, w, b)]
    linear = wick.op("linear", POINTER, POINTER, POINTER, INT)
    exact = theirs_activation(functional.linear(x.double(), w.double(), None if b is None else b.double()))
    scale = float(exact.abs().max())
    errors, taken = {}, "own"
    for choice in CHOICES:
        routes.set(wick.device, CHOICES.index(choice))
        before = routes.used()
        result = linear(*tensors, code)
        if choice == "auto":
            taken = ", ".join(name for name, used in routes.used().items() if used > before[name]) or "own"
        errors[choice] = float((torch.from_numpy(wick.numpy(result)).cuda().double() - exact).abs().max()) / scale
        wick.release(result)
    errors["PyTorch"] = float((theirs_activation(functional.linear(x, w, b)).double() - exact).abs().max()) / scale
    del exact
    sides = [(lambda: None, lambda: theirs_activation(functional.linear(x, w, b)), torch.cuda.synchronize)]
    sides += [(lambda c=c: routes.set(wick.device, c), lambda: wick.release(linear(*tensors, code)), wick.synchronize)
              for c in range(3)]
    times = measure(sides, options.repeats, options.batch)
    for tensor in tensors:
        if tensor:
            wick.release(tensor)
    return times, taken, errors


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--build", default="build")
    arguments.add_argument("--device", default="cuda:0")
    arguments.add_argument("--dtypes", default="bf16,f16,f32")
    arguments.add_argument("--only", default="*")
    arguments.add_argument("--repeats", type=int, default=5)
    arguments.add_argument("--batch", type=float, default=0.004, help="seconds a batch takes")
    arguments.add_argument("--log", action="store_true", help="print what the library says of its routes")
    arguments.add_argument("--minutes", type=float, default=60, help="stop after this long")
    options = arguments.parse_args()
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    began = time.monotonic()
    wick = Wick(options.build, options.device)
    routes = Routes(wick)
    line = ctypes.CFUNCTYPE(None, POINTER, INT, ctypes.c_char_p)(lambda _, level, text: print(text.decode(), flush=True))
    if options.log:
        wick.function("log_set", None, type(line), POINTER, INT)(line, None, 3)
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}")
    for info in routes.all(check=True):
        print(f"{info.name.decode()}: {(info.library or info.fault).decode()}: {info.verdict.decode()}")
    if options.log:
        wick.function("log_set", None, POINTER, POINTER, INT)(None, None, 0)
    print("| size | dtype | bias | activation | PyTorch µs | auto | own | vendor | ratio | auto took | error PyTorch | auto | vendor |\n"
          "| --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | --- | ---: | ---: | ---: |", flush=True)
    for dtype in options.dtypes.split(","):
        for name, size, biased, activations in SIZES:
            for activation in activations.split():
                label = f"{name} {'×'.join(map(str, size))}"
                if not any(fnmatch.fnmatch(f"{label} {dtype} {activation}", p) for p in options.only.split(",")):
                    continue
                if time.monotonic() - began > 60 * options.minutes:
                    print("stopped: out of time")
                    return
                with torch.inference_mode():
                    times, taken, errors = row(wick, routes, (dtype, size, biased, activation), options)
                theirs, *ours = [t * 1e6 for t in times]
                print(f"| {label} | {dtype} | {'yes' if biased else 'no'} | {activation} | {theirs:.1f} | {ours[0]:.1f} | "
                      f"{ours[1]:.1f} | {ours[2]:.1f} | {theirs / ours[0]:.2f} | {taken} | {errors['PyTorch']:.0e} | "
                      f"{errors['auto']:.0e} | {errors['vendor']:.0e} |", flush=True)


if __name__ == "__main__":
    main()
