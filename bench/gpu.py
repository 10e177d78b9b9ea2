#!/usr/bin/env python3
"""Times Wick beside PyTorch on one GPU, in one process, turn by turn, and writes a table with errors.

    bench/gpu.py --build build --device cuda:0 --output docs/results/NAME.md [--only PATTERN,...] [--sizes 64MiB,1GiB]

A row is one op on one size and dtype. Each library queues a batch of calls and waits for the last. A batch takes some
milliseconds, so that starting it does not count. Inputs of up to 64 MiB change from call to call, so that they come from
memory and not from a cache. The figure is the median over batches of the time of a call. Small rows show what a call costs,
from Python in both. Peak: the best copy of 1 GiB within the device, bytes read and written. Error:
the largest difference from PyTorch's result in float64, relative to its largest magnitude. Ratio: PyTorch's time /
Wick's, more than 1 is faster than PyTorch."""
import argparse
import ctypes
import fnmatch
import functools
import math
import pathlib
import statistics
import subprocess
import sys
import time

import numpy
import torch

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from api import Api  # noqa: E402
from rows import BOOL, DOUBLE, INT, INT64, NAMES, POINTER, RESNET_50, TORCH, ConvOptions, Number, to_wick  # noqa: E402
from timing import Side, in_turns  # noqa: E402
from wick import DTYPES, Wick  # noqa: E402

SIZES = {"64KiB": 1 << 16, "4MiB": 1 << 22, "64MiB": 1 << 26, "1GiB": 1 << 30}
CACHE = 128 << 20  # bytes that are surely more than the GPU's last cache holds


def to_torch(wick, address):
    result = torch.from_numpy(numpy.ascontiguousarray(wick.numpy(address))).cuda()
    return result.view(TORCH["f8e4m3"]) if wick.dtype_of(address) == DTYPES["f8e4m3"] else result


class Row:
    def __init__(self, name, dtype, size, inputs, theirs, ours, moved=0, flops=0, exact=True):
        self.name, self.dtype, self.size, self.inputs = name, dtype, size, inputs
        self.theirs, self.ours, self.moved, self.flops, self.exact = theirs, ours, moved, flops, exact


def measure(row, wick, options):
    first = row.inputs()
    nbytes = sum(x.numel() * x.element_size() for x in first)
    copies = 1 if nbytes >= CACHE else max(1, min(options.sets, CACHE // max(nbytes, 1) + 1))
    torch_sets = [first] + [row.inputs() for _ in range(copies - 1)]
    wick_sets = [[to_wick(wick, x) for x in inputs] for inputs in torch_sets]
    ours_call = row.ours(wick)

    def ours(*tensors):
        wick.release(ours_call(*tensors))
    errors = (float("nan"), float("nan"))
    theirs_result = row.theirs(*first)
    ours_result = ours_call(*wick_sets[0])
    if row.exact and nbytes <= 1 << 28:
        exact = row.theirs(*[x.double() if x.is_floating_point() else x for x in first]).double()
        scale = max(float(exact.abs().max()), 1e-300) if exact.numel() else 1.0
        errors = tuple(float((value.double() - exact).abs().max()) / scale
                       for value in (theirs_result, to_torch(wick, ours_result)))
        del exact
    wick.release(ours_result)
    del theirs_result
    sides = [Side([functools.partial(call, *inputs) for inputs in sets], wait) for call, wait, sets in (
        (row.theirs, torch.cuda.synchronize, torch_sets), (ours, wick.synchronize, wick_sets))]
    times = in_turns(sides, options.repeats, options.batch)
    for tensors in wick_sets:
        for tensor in tensors:
            wick.release(tensor)
    return *times, errors


# ---- rows ----

def values(count, dtype, shape=None):
    shape = shape or (count,)
    if dtype == "u8":
        return torch.randint(0, 200, shape, dtype=torch.uint8, device="cuda")
    if dtype == "f8e4m3":  # small enough for products not to saturate
        return torch.empty(shape, device="cuda").normal_(std=0.5).to(TORCH[dtype])
    return torch.empty(shape, dtype=TORCH[dtype], device="cuda").normal_()


def element_rows(label, nbytes, dtype):
    size = torch.empty(0, dtype=TORCH[dtype]).element_size()
    n = nbytes // size
    side = 1 << int(math.log2(n)) // 2
    square = (n // side, side)

    def flat(name, theirs, ours, inputs=1, moved=None):
        return Row(name, dtype, label, lambda: [values(n, dtype) for _ in range(inputs)], theirs, ours,
                   moved or (inputs + 1) * nbytes)

    def op(name, *arguments):
        return lambda wick: wick.op(name, *arguments)
    floats = dtype != "u8"
    if floats:
        for name, theirs in (("exp", torch.exp), ("gelu", torch.nn.functional.gelu), ("tanh", torch.tanh)):
            yield flat(name, theirs, op(name, POINTER))
    yield flat("relu", torch.relu, op("relu", POINTER))
    yield flat("add", torch.add, op("add", POINTER, POINTER), 2)
    yield flat("mul_scalar", lambda x: x * 3, lambda wick: (lambda op: lambda x: op(x, Number.of(3.0)))(
        wick.op("mul_scalar", POINTER, Number)))
    yield Row("add row", dtype, label, lambda: [values(n, dtype, square), values(side, dtype)], torch.add,
              op("add", POINTER, POINTER), 2 * nbytes)
    yield Row("add column", dtype, label, lambda: [values(n, dtype, square), values(0, dtype, (n // side, 1))], torch.add,
              op("add", POINTER, POINTER), 2 * nbytes)
    yield Row("where", dtype, label, lambda: [values(n, "u8") % 2, values(n, dtype), values(n, dtype)],
              lambda c, a, b: torch.where(c.view(torch.bool), a, b),
              op("where", POINTER, POINTER, POINTER), 3 * nbytes + n)
    other = "bf16" if dtype == "f32" else "f32"
    yield Row(f"cast to {other}", dtype, label, lambda: [values(n, dtype)],
              lambda x: x.to(TORCH[other]) if x.dtype != torch.float64 else x,
              lambda wick: (lambda op: lambda x: op(x, DTYPES[other]))(wick.op("cast", POINTER, INT)),
              nbytes + n * torch.empty(0, dtype=TORCH[other]).element_size())

    def viewed(view, *arguments):
        def ours(wick):
            make, copy = wick.op(view, POINTER, *[kind for kind, _ in arguments]), wick.op("contiguous", POINTER)
            release = wick.release

            def call(x):
                y = make(x, *[value for _, value in arguments])
                result = copy(y)
                release(y)
                return result
            return call
        return ours
    yield Row("transposing copy", dtype, label, lambda: [values(n, dtype, square)], lambda x: x.t().contiguous(),
              viewed("transpose", (INT, 0), (INT, 1)), 2 * nbytes)
    yield Row("strided copy", dtype, label, lambda: [values(n, dtype, square)], lambda x: x[:, ::2].contiguous(),
              viewed("slice", (INT, 1), (INT64, 0), (INT64, 1 << 62), (INT64, 2)), 3 * nbytes // 2)
    yield Row("windowed copy", dtype, label, lambda: [values(n, dtype, square)],
              lambda x: x[:, : side // 2].contiguous(), viewed("narrow", (INT, 1), (INT64, 0), (INT64, side // 2)), nbytes)


def reduce_rows(label, nbytes, dtype):
    n = nbytes // torch.empty(0, dtype=TORCH[dtype]).element_size()
    width = 1024
    shape = (max(n // width, 1), width)

    def along(name, dims):
        def ours(wick):
            op, array = wick.op(name, POINTER, INT, ctypes.POINTER(INT), BOOL), (INT * len(dims))(*dims)
            return lambda x: op(x, len(dims), array, False)
        return ours

    def row(name, theirs, ours, moved=nbytes, extra=(), exact=True):
        return Row(name, dtype, label, lambda: [values(n, dtype, shape)] + [values(width, dtype) for _ in extra], theirs,
                   ours, moved, exact=exact)
    for name, dims in (("rows", [1]), ("columns", [0]), ("all", [0, 1])):
        if dtype != "u8":
            yield row(f"sum of {name}", lambda x, d=dims: x.sum(d), along("sum", dims))
        yield row(f"max of {name}", lambda x, d=dims: x.amax(d), along("max", dims))
    if dtype != "u8":
        yield row("var of rows", lambda x: x.var(1), lambda wick: (lambda op, d: lambda x: op(x, 1.0, 1, d, False))(
            wick.op("var", POINTER, DOUBLE, INT, ctypes.POINTER(INT), BOOL), (INT * 1)(1)))
    yield row("argmax", lambda x: x.argmax(1), along("argmax", [1]), exact=dtype != "u8")
    if dtype == "u8":
        return
    yield row("cumsum", lambda x: x.cumsum(1), lambda wick: (lambda op: lambda x: op(x, 1))(
        wick.op("cumsum", POINTER, INT)), 2 * nbytes)
    yield row("softmax", lambda x: torch.softmax(x, -1), lambda wick: (lambda op: lambda x: op(x, -1))(
        wick.op("softmax", POINTER, INT)), 2 * nbytes)
    yield row("layer norm", lambda x, w, b: torch.nn.functional.layer_norm(x, (width,), w, b),
              lambda wick: (lambda op: lambda x, w, b: op(x, 1, w, b, 1e-5))(
                  wick.op("layer_norm", POINTER, INT, POINTER, POINTER, DOUBLE)), 2 * nbytes, "wb")
    yield row("RMS norm", lambda x, w: torch.nn.functional.rms_norm(x, (width,), w, 1e-5),
              lambda wick: (lambda op: lambda x, w: op(x, w, 1e-5))(wick.op("rms_norm", POINTER, POINTER, DOUBLE)),
              2 * nbytes, "w")


def sort_call(wick):
    op = wick.op("sort", POINTER, INT, BOOL, ctypes.POINTER(POINTER))

    def call(x):
        indices = POINTER()
        result = op(x, -1, False, ctypes.byref(indices))
        wick.release(indices)
        return result
    return call


def index_rows(label, nbytes, dtype):
    n = nbytes // torch.empty(0, dtype=TORCH[dtype]).element_size()
    width = 1024
    count = max(n // width, 1)

    def ids(limit, *shape):
        return torch.randint(0, limit, shape, device="cuda")
    yield Row("gather", dtype, label, lambda: [values(n, dtype, (count, width)), ids(width, count, width)],
              lambda x, i: x.gather(1, i), lambda wick: (lambda op: lambda x, i: op(x, 1, i))(
                  wick.op("gather", POINTER, INT, POINTER)), 2 * nbytes + 8 * n)
    yield Row("index_select", dtype, label, lambda: [values(n, dtype, (count, width)), ids(count, count)],
              lambda x, i: x.index_select(0, i), lambda wick: (lambda op: lambda x, i: op(x, 0, i))(
                  wick.op("index_select", POINTER, INT, POINTER)), 2 * nbytes)
    if dtype == "u8":
        return
    yield Row("scatter", dtype, label, lambda: [values(n, dtype, (count, width)),
                                                torch.rand(count, width, device="cuda").argsort(1), values(n, dtype, (count, width))],
              lambda x, i, s: x.scatter(1, i, s), lambda wick: (lambda op: lambda x, i, s: op(x, 1, i, s))(
                  wick.op("scatter", POINTER, INT, POINTER, POINTER)), 4 * nbytes + 8 * n)
    yield Row("scatter_add", dtype, label, lambda: [values(n, dtype, (count, width)), ids(width, count, width),
                                                    values(n, dtype, (count, width))],
              lambda x, i, s: x.scatter_add(1, i, s), lambda wick: (lambda op: lambda x, i, s: op(x, 1, i, s))(
                  wick.op("scatter_add", POINTER, INT, POINTER, POINTER)), 4 * nbytes + 8 * n)
    yield Row("index_add", dtype, label, lambda: [values(n, dtype, (count, width)), ids(count, count),
                                                  values(n, dtype, (count, width))],
              lambda x, i, s: x.index_add(0, i, s), lambda wick: (lambda op: lambda x, i, s: op(x, 0, i, s))(
                  wick.op("index_add", POINTER, INT, POINTER, POINTER)), 4 * nbytes)
    wide = min(16384, n)
    yield Row("sort rows of 16384", dtype, label, lambda: [values(n, dtype, (n // wide, wide))],
              lambda x: x.sort(-1)[0], sort_call, 2 * nbytes)
    yield Row("sort one row", dtype, label, lambda: [values(n, dtype)], lambda x: x.sort(-1)[0], sort_call, 2 * nbytes)


def rope_rows(label, nbytes, dtype):
    n = nbytes // torch.empty(0, dtype=TORCH[dtype]).element_size()
    tokens = max(min(4096, n // (8 * 128)), 1)
    batch = n // (tokens * 8 * 128)

    def theirs(x, cosine, sine):
        half = x.shape[-1] // 2
        a, b = x[..., :half], x[..., half:]
        return torch.cat((a * cosine - b * sine, a * sine + b * cosine), -1)
    if batch:
        yield Row("rope", dtype, label, lambda: [values(n, dtype, (batch, 8, tokens, 128)), values(0, dtype, (tokens, 64)),
                                                 values(0, dtype, (tokens, 64))], theirs,
                  lambda wick: (lambda op: lambda x, c, s: op(x, c, s, False))(wick.op("rope", POINTER, POINTER, POINTER, BOOL)), 2 * nbytes)


def matmul_rows():
    def ours(wick):
        return wick.op("matmul", POINTER, POINTER)
    for dtype in ("f32", "bf16", "f16"):
        for n in (512, 1024, 2048, 4096, 8192):
            yield Row("matmul", dtype, f"{n}³", lambda n=n, d=dtype: [values(0, d, (n, n)), values(0, d, (n, n))],
                      torch.matmul, ours, flops=2 * n**3)
        for m, n, k in ((16, 4096, 4096), (1, 4096, 4096), (128, 128, 65536), (8192, 64, 8192)):
            yield Row("matmul", dtype, f"{m}×{n}×{k}", lambda m=m, n=n, k=k, d=dtype: [values(0, d, (m, k)), values(0, d, (k, n))],
                      torch.matmul, ours, flops=2 * m * n * k)
        yield Row("matmul", dtype, "384×128×64×128", lambda d=dtype: [values(0, d, (384, 128, 64)), values(0, d, (384, 64, 128))],
                  torch.matmul, ours, flops=2 * 384 * 128 * 128 * 64)


def f8_rows():
    """x w^T. PyTorch's is cuBLASLt's with scales of 1 and a result of bf16."""
    one = torch.ones((), device="cuda")

    def theirs(x, w):
        if x.dtype == torch.float64:
            return x @ w.t()
        return torch._scaled_mm(x, w.t(), one, one, out_dtype=torch.bfloat16)

    def ours(wick):
        linear = wick.op("linear", POINTER, POINTER, POINTER, INT)
        return lambda x, w: linear(x, w, None, 0)
    for m, n, k in (*((n, n, n) for n in (512, 1024, 2048, 4096, 8192)), (16, 4096, 4096), (1, 4096, 4096),
                    (64, 4096, 4096), (128, 4096, 4096), (256, 4096, 4096), (128, 128, 65536), (8192, 64, 8192)):
        yield Row("linear", "f8e4m3", f"{m}×{n}×{k}",
                  lambda m=m, n=n, k=k: [values(0, "f8e4m3", (m, k)), values(0, "f8e4m3", (n, k))], theirs, ours,
                  flops=2 * m * n * k)


def attention_rows():
    for dtype, (b, h, s, d), causal in (("bf16", (4, 32, 4096, 128), True), ("bf16", (4, 32, 4096, 128), False),
                                        ("f16", (32, 12, 128, 64), False), ("f32", (4, 16, 1024, 64), True)):
        yield Row("attention, causal" if causal else "attention", dtype, f"{b}×{h}×{s}×{d}",
                  lambda b=b, h=h, s=s, d=d, t=dtype: [values(0, t, (b, h, s, d)) for _ in range(3)],
                  lambda q, k, v, c=causal: torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=c),
                  lambda wick, c=causal: (lambda op, o: lambda q, k, v: op(q, k, v, None, ctypes.byref(o)))(
                      wick.op("scaled_dot_product_attention", POINTER, POINTER, POINTER, POINTER, POINTER),
                      Api(wick).options("attention", causal=c)),
                  flops=4 * b * h * s * s * d / (2 if causal else 1), exact=s <= 1024)


def conv_rows():
    for dtype in ("f32", "bf16"):
        for cin, cout, kernel, stride, side in RESNET_50:
            batch, padding = 64, kernel // 2
            options = ConvOptions(stride=(stride,) * 3, padding=(padding,) * 3, groups=1)
            out = (side + 2 * padding - kernel) // stride + 1
            yield Row(f"conv {kernel}×{kernel}", dtype, f"{batch}×{cin}→{cout} @{side}² s{stride}",
                      lambda a=(batch, cin, side, side), b=(cout, cin, kernel, kernel), d=dtype: [values(0, d, a), values(0, d, b)],
                      lambda x, w, s=stride, p=padding: torch.nn.functional.conv2d(x, w, None, s, p),
                      lambda wick, o=options: (lambda op: lambda x, w: op(x, w, None, o))(
                          wick.op("conv2d", POINTER, POINTER, POINTER, ctypes.POINTER(ConvOptions))),
                      flops=2 * batch * out * out * cout * cin * kernel * kernel, exact=side <= 28)


def all_rows(options):
    for label in options.sizes.split(","):
        for dtype in options.dtypes.split(","):
            for rows in (element_rows, reduce_rows, index_rows, rope_rows):
                if rows is rope_rows and dtype == "u8":
                    continue
                yield from rows(label, SIZES[label], dtype)
    yield from matmul_rows()
    yield from f8_rows()
    yield from attention_rows()
    yield from conv_rows()


def copy_peak():
    a, b = torch.empty(1 << 30, dtype=torch.uint8, device="cuda"), torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
    best = 1e9
    for _ in range(10):
        torch.cuda.synchronize()
        began = time.perf_counter()
        for _ in range(10):
            b.copy_(a)
        torch.cuda.synchronize()
        best = min(best, (time.perf_counter() - began) / 10)
    return 2 * (1 << 30) / best


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--build", default="build")
    arguments.add_argument("--device", default="cuda:0")
    arguments.add_argument("--output")
    arguments.add_argument("--only", default="*")
    arguments.add_argument("--sizes", default="64KiB,4MiB,64MiB,1GiB")
    arguments.add_argument("--dtypes", default="f32,bf16,f16,u8")
    arguments.add_argument("--repeats", type=int, default=7)
    arguments.add_argument("--batch", type=float, default=0.004, help="seconds a batch takes")
    arguments.add_argument("--sets", type=int, default=8)
    arguments.add_argument("--minutes", type=float, default=60, help="stop after this long")
    options = arguments.parse_args()
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    began = time.monotonic()
    wick = Wick(options.build, options.device)
    peak = copy_peak()
    lines = ["| op | dtype | size | PyTorch µs | Wick µs | ratio | rate | of peak | error, PyTorch | error, Wick |",
             "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"]
    print(f"copy peak {peak / 1e12:.2f} TB/s, {torch.cuda.get_device_name()}, PyTorch {torch.__version__}")
    print("\n".join(lines), flush=True)
    ratios = []
    for row in all_rows(options):
        names = (row.name, f"{row.name} {row.dtype} {row.size}")
        if not any(fnmatch.fnmatch(name, pattern) for pattern in options.only.split(",") for name in names):
            continue
        if time.monotonic() - began > 60 * options.minutes:
            lines.append("| stopped: out of time | | | | | | | | | |")
            break
        with torch.inference_mode():
            try:
                theirs, ours, errors = measure(row, wick, options)
            except Exception as error:  # a row that can't be run is a row that says so
                lines.append(f"| {row.name} | {row.dtype} | {row.size} | {type(error).__name__}: {str(error)[:100]} | | | | | | |")
                print(lines[-1], flush=True)
                wick.library.wick_error_clear()
                continue
            torch.cuda.empty_cache()
        rate = f"{row.flops / ours / 1e12:.1f} TFLOP/s" if row.flops else f"{row.moved / ours / 1e12:.2f} TB/s"
        share = "" if row.flops else f"{100 * row.moved / ours / peak:.0f} %"
        ratios.append((theirs / ours, f"{row.name} {row.dtype} {row.size}"))
        lines.append(f"| {row.name} | {row.dtype} | {row.size} | {theirs * 1e6:.1f} | {ours * 1e6:.1f} | "
                     f"{theirs / ours:.2f} | {rate} | {share} | {errors[0]:.0e} | {errors[1]:.0e} |")
        print(lines[-1], flush=True)
    if ratios:
        mean = math.exp(statistics.fmean(math.log(ratio) for ratio, _ in ratios))
        lines += ["", f"{len(ratios)} rows, geometric mean of the ratios {mean:.2f}, lowest {min(ratios)[0]:.2f} ({min(ratios)[1]})."]
        print(lines[-1])
    if options.output:
        driver = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                                capture_output=True, text=True).stdout.strip()
        head = ["# Wick beside PyTorch on a GPU", "", f"Made by bench/gpu.py ({time.strftime('%Y-%m-%d')}) on {driver}; "
                f"Wick {wick.library.wick_version().decode()}, PyTorch {torch.__version__}. Copy of 1 GiB: {peak / 1e12:.2f} TB/s.", "",
                *[line for line in __doc__.split("\n\n")[-1].splitlines()], ""]
        pathlib.Path(options.output).write_text("\n".join(head + lines) + "\n")


if __name__ == "__main__":
    main()
