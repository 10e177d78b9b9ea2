#!/usr/bin/env python3
"""Times Wick beside PyTorch in one process, turn by turn, and writes a table with errors.

    bench/compare.py --build build --output docs/results/NAME.md [--only PATTERN] [--repeats 20]

A row is one op on one size. Each repeat runs PyTorch and then Wick once, each after the caches were emptied (rows of
256 MiB empty them by themselves); the figures are medians. The error is the largest difference from PyTorch's result
in float64, relative to the largest magnitude in it. How to read a row: ratio = PyTorch's time / Wick's, so more than
1 is faster than PyTorch."""
import argparse
import fnmatch
import math
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

import torch

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import rows  # noqa: E402
import others  # noqa: E402
from timing import empty_caches  # noqa: E402
from wick import Wick  # noqa: E402

BLOCKS = 4


def block(call, finish, cold, count, warm_up=True):
    """Seconds of `count` calls in a row, after one that does not count unless told otherwise. The pause before them lets the other
    library's threads go to sleep: PyTorch's spin for some 10 ms after a call, on the cores the next call needs."""
    times = []
    time.sleep(0.03)
    if warm_up:
        finish(call())
    for _ in range(count):
        if cold:
            empty_caches()
        began = time.perf_counter()
        result = call()
        times.append(time.perf_counter() - began)
        finish(result)
    return times


def measure_other(row, other, count):
    """Median seconds; None where the library has no such op."""
    call = other.prepare(row)
    if not call:
        return None
    began = time.perf_counter()
    call()
    first = time.perf_counter() - began
    if first > 1:  # candle's products of 16 bits take minutes; the figure is there to be seen beside, not for the bar
        other.forget()
        return first
    count = min(count, max(3, int(1 / first)))
    times = block(call, lambda result: None, row.cold, count, count > 1)
    other.forget()
    return statistics.median(times)


def measure(row, wick, beside, repeats):
    """Median seconds of both, the error of both against float64, runs, and the median seconds of the others."""
    ours, theirs, reference = row.prepare(wick)
    release = wick.release
    with torch.inference_mode():
        started = time.perf_counter()
        their_result = theirs()
        slow = time.perf_counter() - started > 1  # PyTorch's f16 matmul takes up to a minute: one run says enough
        our_result = ours()
        exact = reference()
        errors = row.errors(wick, our_result, their_result, exact)
        release(our_result)
        del their_result, exact
        blocks, each = (1, 1) if slow else (BLOCKS, -(-repeats // BLOCKS))
        times = ([], [])
        for _ in range(blocks):
            times[0].extend(block(theirs, lambda result: None, row.cold, each, not slow))
            times[1].extend(block(ours, release, row.cold, each, not slow))
    seconds = [measure_other(row, other, blocks * each) for other in beside]
    row.forget(wick)
    return statistics.median(times[0]), statistics.median(times[1]), errors, blocks * each, seconds


def time_text(seconds):
    return f"{seconds * 1e6:.1f} µs" if seconds < 1e-3 else f"{seconds * 1e3:.2f} ms" if seconds < 1 else f"{seconds:.2f} s"


def rate_text(row, seconds):
    if row.flops:
        return f"{row.flops / seconds / 1e9:.0f} GFLOP/s"
    return f"{row.nbytes / seconds / 1e9:.1f} GB/s" if row.nbytes else ""


def program_lines(options):
    """What one call costs, and `wick search` from start to first answer over 100 passages without an index."""
    build = pathlib.Path(options.build).resolve()
    overhead = subprocess.run([build / "bench" / "wick-overhead"], capture_output=True, text=True, check=True)
    scalar = torch.tensor(1.5)
    with torch.inference_mode():
        began = time.perf_counter()
        for _ in range(100000):
            scalar + scalar
        theirs = (time.perf_counter() - began) * 1e4
    yield f"A scalar add, called, run and released: {int(overhead.stdout)} ns (PyTorch, from Python: {theirs:.0f} ns)."
    if not options.model:
        return
    for what, file, length in (("English prose (the licence)", "LICENSE", 25), ("the README", "README.md", 25),
                               ("the README", "README.md", 60)):
        seconds, peak = search_cost(build, options, file, length)
        yield (f"`wick search` over 100 passages of {length} words of {what}, no index, from process start to the "
               f"first answer: {seconds:.2f} s, {peak:.0f} MiB peak.")


# Runs its arguments and prints the seconds until their first line and their peak memory in KiB. A process of its own,
# since a child's peak counts the memory of the process that started it.
WATCH = """import os, subprocess, sys, time
began = time.perf_counter()
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE)
child.stdout.readline()
took = time.perf_counter() - began
child.stdout.read()
print(took, os.wait4(child.pid, 0)[2].ru_maxrss)"""


def search_cost(build, options, file, length):
    times, peaks = [], []
    with tempfile.TemporaryDirectory() as folder:
        words = (pathlib.Path(__file__).parent.parent / file).read_text().split()
        text = "\n\n".join(" ".join(words[(7 * i) % 400:][:length]) for i in range(100))
        pathlib.Path(folder, "passages.txt").write_text(text)
        for run in range(5):
            environment = dict(os.environ, XDG_CACHE_HOME=f"{folder}/cache{run}", WICK_MODEL=options.model,
                               WICK_THREADS=str(options.threads))
            command = [build / "cli" / "wick", "search", "an error without aborting", f"{folder}/passages.txt"]
            watched = subprocess.run([sys.executable, "-c", WATCH, *command], env=environment, capture_output=True,
                                     text=True, check=True)
            took, peak = watched.stdout.split()
            times.append(float(took))
            peaks.append(int(peak) / 1024)
    return statistics.median(times), max(peaks)


def processor():
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return platform.processor()


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--build", default="build")
    arguments.add_argument("--output")
    arguments.add_argument("--only", default="*")
    arguments.add_argument("--repeats", type=int, default=20)
    arguments.add_argument("--threads", type=int, default=2)
    arguments.add_argument("--model", default=None, help="folder of all-MiniLM-L6-v2, for the model rows")
    options = arguments.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    wick = Wick(options.build)
    wick.function("threads_set", rows.INT, rows.INT)(options.threads)
    revision = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    beside = others.open_others(options.threads)
    lines = ["# Wick beside PyTorch on a CPU", "",
             f"Made by `make bench` ({time.strftime('%Y-%m-%d')}): Wick {wick.library.wick_version().decode()} at "
             f"{revision}, PyTorch {torch.__version__} ({torch.backends.cpu.get_cpu_capability()}), "
             f"{options.threads} threads each, {processor()}."
             + others.describe(beside), "",
             f"Medians of {options.repeats} runs in {BLOCKS} blocks, the two libraries taking turns block by block, caches "
             "emptied before each run but those of whole models; rows marked with * have one run, since PyTorch "
             "needs more than a second for it. Ratio: PyTorch's time / Wick's, more than "
             "1 is faster. Error: the largest difference from PyTorch in float64, relative to its largest magnitude.", "",
             f"| op | size | PyTorch | {''.join(other.name + ' | ' for other in beside)}Wick | ratio | Wick's rate | "
             "error, PyTorch | error, Wick |",
             f"| --- | --- | {'---: | ' * len(beside)}---: | ---: | ---: | ---: | ---: | ---: |"]
    print("\n".join(lines[-2:]), flush=True)
    ratios = []
    for row in rows.all_rows(options.model):
        if not fnmatch.fnmatch(row.name, options.only):
            continue
        theirs, ours, errors, count, seconds = measure(row, wick, beside, options.repeats)
        ratios.append((theirs / ours, f"{row.name} {row.size}"))
        lines.append(f"| {row.name} | {row.size}{'*' if count < options.repeats else ''} | {time_text(theirs)} | "
                     f"{''.join((time_text(x) if x else '') + ' | ' for x in seconds)}"
                     f"{time_text(ours)} | {theirs / ours:.2f} | {rate_text(row, ours)} | {errors[0]:.1e} | {errors[1]:.1e} |")
        print(lines[-1], flush=True)
    if not ratios:
        sys.exit(f"compare.py: no row is called {options.only}")
    mean = math.exp(statistics.fmean(math.log(ratio) for ratio, _ in ratios))
    worst = min(ratios)
    lines += ["", f"{len(ratios)} rows, geometric mean of the ratios {mean:.2f}, lowest {worst[0]:.2f} ({worst[1]}).", "", *program_lines(options), ""]
    print("\n".join(lines[-6:]))
    if options.output:
        pathlib.Path(options.output).write_text("\n".join(lines))


if __name__ == "__main__":
    main()
