#!/usr/bin/env python3
"""Counts of kernels on simulated cards: how much of each 64-byte segment that they touch they asked for, and cycles of
LDS lost to its banks, of one run of `wick bench` on operands of about 4 Mi elements.

    tests/gfxsim/counts.py WICK FOLDER PACK [--target T]... [--dtype D]...

FOLDER has gfxsim's libraries, PACK the kernel packs. Exit status 77, with the reason, without packs or with old ones."""
import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

TARGETS = ["gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201"]
ELEMENTWISE, TRANSPOSED = 95, 85  # percent useful
BARS = {
    **dict.fromkeys(["exp", "add", "eq", "where", "cast", "sum", "max", "argmax", "softmax", "layer_norm"], ELEMENTWISE),
    "contiguous": TRANSPOSED,  # of a matrix by its columns
}
DTYPES = ["f32", "bf16", "f64", "u8"]


def environment(options, target):
    left_out = [name for name in os.environ if name.startswith(("GFXSIM_", "WICK_"))]
    return {**{name: value for name, value in os.environ.items() if name not in left_out},
            "WICK_HIP_PATH": str(options.folder / "libamdhip64.so.6"), "WICK_KERNEL_PACK": str(options.pack),
            "WICK_COMPILE": "never", "WICK_ROCBLAS_PATH": "none",
            "GFXSIM_DEVICES": target, "GFXSIM_THREADS": "1", "GFXSIM_CHECK": "off"}


def measure(options, target, op, dtype):
    """What is to be printed, and whether it is good; None where the op has no such dtype."""
    command = [options.wick, "bench", "--device", "rocm:0", "--op", op, "--dtype", dtype, "--json"]
    run = subprocess.run(command, env=environment(options, target), capture_output=True, text=True, timeout=300)
    if run.returncode:
        return f"{target} {op} {dtype}: {run.stderr.strip()}", False
    rows = json.loads(run.stdout)
    if not rows:
        return None
    row = rows[0]
    useful = 100 * row["bytes"] / (64 * row["segments"])
    good = row["good"] and useful >= BARS[op] and row["conflicts"] == 0
    return (f"{target} {op} {dtype} {row['shapes']}: {row['launches']} launches, {useful:.1f} % useful, "
            f"{row['conflicts']} cycles of conflicts{'' if good else ', must be ' + str(BARS[op]) + ' % and 0'}"), good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wick")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("pack", type=pathlib.Path)
    parser.add_argument("--target", action="append", choices=TARGETS)
    parser.add_argument("--dtype", action="append", help="these dtypes instead of f32 and one of " + ", ".join(DTYPES[1:]))
    options = parser.parse_args()
    targets = options.target or TARGETS
    for target in targets:
        if not (options.pack / f"{target}.pack").is_file():
            print(f"skipped: there is no {options.pack}/{target}.pack")
            return 77
    devices = subprocess.run([options.wick, "devices"], env=environment(options, ",".join(targets)),
                             capture_output=True, text=True)
    if "made from other sources" in devices.stdout:
        print(f"skipped: the packs in {options.pack} are not current")
        return 77
    # f32 everywhere, and one more dtype, which changes from op to op and from target to target.
    jobs = [(target, op, dtype) for t, target in enumerate(targets) for o, op in enumerate(BARS)
            for dtype in options.dtype or (DTYPES[0], DTYPES[1 + (t + o) % (len(DTYPES) - 1)])]
    measured = bad = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for result in pool.map(lambda job: measure(options, *job), jobs):
            if result:
                print(result[0] if result[1] else "BAD " + result[0], flush=True)
                measured += 1
                bad += not result[1]
    print(f"{measured} measured, {bad} bad")
    return 1 if bad or not measured else 0


sys.exit(main())
