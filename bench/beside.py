#!/usr/bin/env python3
"""Times rows that nobody tuned for, in PyTorch and in Wick, in one process, in turns, and writes a table with errors.

    bench/beside.py --build build --rows networks              layers of real networks, forward and backward
    bench/beside.py --build build --rows random --seed 7       ops, dtypes, layouts and shapes from a seed
    bench/beside.py --build build --rows random --seed 7 --device cuda:0 --dtypes f32,bf16,f16
    bench/beside.py --build build --rows FILE              those of a file's rows, as random tables print them

Warm: batches of the same call on the same operands. Cold: on a CPU single calls, with the caches emptied before each;
on a GPU the operands change from call to call, so that up to 8 sets of them fill its cache. A figure is the time of a
call with its result released, from Python in both: on a CPU the least of all batches, as machines are shared, on a GPU
their median. Ratio: PyTorch's time / Wick's, more than 1 is faster than PyTorch. Error: the largest difference from
PyTorch's result in float64, relative to its largest magnitude. A row whose error is neither within its dtype's
tolerance nor within 4 times PyTorch's is wrong, and in no mean."""
import argparse
import fnmatch
import math
import pathlib
import statistics
import subprocess
import sys
import time

import torch

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import networks  # noqa: E402
import random_rows  # noqa: E402
from api import Api  # noqa: E402
from case import Maker, upload  # noqa: E402
from compare import processor  # noqa: E402
from rows import to_double  # noqa: E402
from timing import Side, cold_in_turns, in_turns  # noqa: E402
from wick import Wick  # noqa: E402

TOLERANCE = {"f32": 1e-5, "bf16": 2e-2, "f16": 4e-3}
CACHE, SETS = 128 << 20, 8  # bytes that are surely more than a GPU's last cache holds; the most sets of operands
BARS = {False: 0.8, True: 0.9}  # on a CPU, on a GPU
PAUSE, BATCHES, COLD_CALLS = 0.03, 10, 2  # on a CPU: seconds before a turn, and what is timed in it


def as_list(results):
    return list(results) if isinstance(results, (tuple, list)) else [results]


class Prepared:
    """A case with one set of operands."""

    def __init__(self, case, api):
        self.operands = case.make()
        self.theirs = case.theirs(*self.operands)
        self.ours = case.ours(api, *[upload(api, x) for x in self.operands])
        self.release = api.wick.release

    def run_ours(self):
        for address in self.ours():
            self.release(address)


def errors(case, api, prepared):
    """Of PyTorch and of Wick: the worst of their results."""
    exact = as_list(case.theirs(*[to_double(x) for x in prepared.operands])())
    theirs, ours = as_list(prepared.theirs()), prepared.ours()
    worst = [0.0, 0.0]
    largest = max(float(x.detach().abs().max()) for x in exact if x.numel())
    for right, *values in zip(exact, theirs, ours, strict=True):
        right = right.detach().cpu().double()
        both = values[0].detach().cpu().double(), torch.from_numpy(api.wick.numpy(values[1])).double()
        scale = max(float(right.abs().max()), 1e-6 * largest) if right.numel() else 1.0
        for i, value in enumerate(both):
            if value.shape != right.shape:
                raise ValueError(f"shape {list(value.shape)} instead of {list(right.shape)}")
            error = float((value - right).abs().max()) / scale if right.numel() else 0.0
            worst[i] = max(worst[i], math.inf if math.isnan(error) else error)
    for address in ours:
        api.wick.release(address)
    return worst


def measure(case, api, options):
    """Seconds of PyTorch and Wick warm, then cold, and their errors."""
    with case.context():
        sets = [Prepared(case, api)]
        wrong = errors(case, api, sets[0])
        nbytes = sum(x.nbytes for x in sets[0].operands)
        while options.on_gpu and len(sets) < SETS and len(sets) * nbytes < CACHE:
            sets.append(Prepared(case, api))
        waits = options.wait, api.wick.synchronize
        both = [[s.theirs for s in sets], [s.run_ours for s in sets]]
        warm = [Side(calls[:1], wait) for calls, wait in zip(both, waits)]
        cold = [Side(calls, wait) for calls, wait in zip(both, waits)]
        if options.on_gpu:
            times = in_turns(warm, options.repeats, options.batch), in_turns(cold, options.repeats, options.batch)
        else:
            times = (in_turns(warm, options.repeats, options.batch / BATCHES, pause=PAUSE, batches=BATCHES, figure=min),
                     cold_in_turns(cold, options.repeats, COLD_CALLS, PAUSE, min))
    return *times, wrong


def row_text(origin, case, cells):
    return f"| {origin} | {case.kind} | {case.size} | {case.dtype} | {case.layout} | {' | '.join(cells)} |"


def run_row(origin, case, api, options):
    """The line of a row, and its ratios (warm, cold), or None where it is void."""
    try:
        warm, cold, (theirs, ours) = measure(case, api, options)
    except Exception as error:  # a row that can't be run is a row that says so
        api.wick.library.wick_error_clear()
        told = f"{type(error).__name__}: {str(error)[:100]}".replace("\n", " ")
        return row_text(origin, case, [told, *[""] * 7]), None
    finally:
        api.release()
    ratios = warm[0] / warm[1], cold[0] / cold[1]
    cells = [cell for times in (warm, cold) for cell in (f"{times[0] * 1e6:.1f}", f"{times[1] * 1e6:.1f}",
                                                         f"{times[0] / times[1]:.2f}")]
    right = ours <= max(TOLERANCE[case.dtype], 4 * theirs)
    line = row_text(origin, case, [*cells, f"{theirs:.0e}", f"{ours:.0e}{'' if right else ', wrong'}"])
    return line, ratios if right else None


def geometric_mean(ratios):
    return math.exp(statistics.fmean(math.log(ratio) for ratio in ratios))


def summary(done, void, on_gpu):
    """done: (origin, name, ratios) of each row that counts."""
    bar = BARS[on_gpu]
    for i, state in enumerate(("Warm", "Cold")):
        ratios = [row[2][i] for row in done]
        worst = min(done, key=lambda row: row[2][i])
        above = sum(ratio >= bar for ratio in ratios)
        share = 100 * above / len(ratios)
        yield (f"{state}: {len(ratios)} rows, geometric mean of the ratios {geometric_mean(ratios):.2f}, {above} "
               f"({share:.1f} %) at least {bar}, lowest {worst[2][i]:.2f} ({worst[0]}: {worst[1]}).")
    yield f"Void: {void} rows."
    kinds = sorted({row[0] for row in done})
    yield "Geometric means, warm and cold: " + ", ".join(
        f"{kind} {' '.join(f'{geometric_mean([row[2][i] for row in done if row[0] == kind]):.2f}' for i in (0, 1))}"
        for kind in kinds) + "."


def parse():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--build", default="build")
    arguments.add_argument("--device", default="cpu", help="Wick's")
    arguments.add_argument("--torch", help="PyTorch's device: cuda, unless Wick's is cpu")
    arguments.add_argument("--rows", default="networks", help="networks, random, or a file of random rows")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--count", type=int, default=224, help="of random rows")
    arguments.add_argument("--dtypes", default="f32")
    arguments.add_argument("--only", default="*", help="patterns of rows' names")
    arguments.add_argument("--output")
    arguments.add_argument("--threads", type=int, default=2)
    arguments.add_argument("--repeats", type=int, default=4)
    arguments.add_argument("--batch", type=float, default=0.006, help="seconds a batch takes")
    arguments.add_argument("--minutes", type=float, default=60, help="stop after this long")
    options = arguments.parse_args()
    options.on_gpu = options.device != "cpu"
    options.torch = options.torch or ("cuda" if options.on_gpu else "cpu")
    options.wait = torch.cuda.synchronize if options.torch == "cuda" else lambda: None
    return options


def heading(options, wick):
    revision = subprocess.run("git rev-parse --short HEAD || echo unknown", shell=True, capture_output=True,
                              text=True).stdout.strip()
    where = (torch.cuda.get_device_name() if options.torch == "cuda" else
             f"{processor()}, threads of each: {options.threads}, PyTorch with {torch.backends.cpu.get_cpu_capability()}")
    what = {"networks": "layers of networks", "random": random_rows.title(options.seed, options.dtypes)}.get(
        options.rows, f"random rows chosen by {pathlib.Path(options.rows).name}")
    yield (f"Made by bench/beside.py ({time.strftime('%Y-%m-%d')}): {what}; Wick "
           f"{wick.library.wick_version().decode()} at {revision}, PyTorch {torch.__version__}, {where}.")
    if options.rows == "random":
        yield random_rows.ranges(options.seed, options.on_gpu)


def main():
    options = parse()
    torch.set_num_threads(options.threads)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    Maker.device = options.torch
    wick = Wick(options.build, options.device)
    api, began, done, void = Api(wick), time.monotonic(), [], 0
    wick.library.wick_threads_set(options.threads)
    dtypes = options.dtypes.split(",")
    if options.rows == "networks":
        cases = networks.rows(options.on_gpu, dtypes)
    elif options.rows == "random":
        cases = random_rows.rows(options.seed, options.count, options.on_gpu, dtypes)
    else:
        cases = random_rows.chosen(pathlib.Path(options.rows).read_text(), options.on_gpu)
    head = list(heading(options, wick))
    lines = ["| row | op | size | dtype | layout | PyTorch µs | Wick µs | ratio | PyTorch µs, cold | Wick µs, cold "
             "| ratio, cold | error, PyTorch | error, Wick |", "| --- " * 5 + "| ---: " * 8 + "|"]
    print("\n".join([*head, "", *lines]), flush=True)
    for i, (origin, case) in enumerate(cases):
        if not any(fnmatch.fnmatch(f"{origin}: {case.name}", pattern) for pattern in options.only.split(",")):
            continue
        if time.monotonic() - began > 60 * options.minutes:
            lines.append(f"| stopped: out of time {'| ' * 12}|")
            break
        torch.manual_seed(options.seed + i)
        line, ratios = run_row(origin, case, api, options)
        void += ratios is None
        done += [(origin, case.name, ratios)] if ratios else []
        lines.append(line)
        print(line, flush=True)
    if not done:
        sys.exit(f"beside.py: no row of {options.only} can be compared")
    lines += ["", *summary(done, void, options.on_gpu)]
    print("\n".join(lines[-5:]))
    if options.output:
        pathlib.Path(options.output).write_text("\n".join([*head, "", *lines]) + "\n")


if __name__ == "__main__":
    main()
