#!/usr/bin/env python3
"""Random C functions on this machine and on simulated GPUs.

    differential.py PROGRAM [--seed N] [--count N] [--target GFX]... [--keep FOLDER]

PROGRAM is differential.c's. The functions come from generate.py; clang-19 compiles them for this machine and for each
target, two at a time, and PROGRAM runs both on the same inputs. Exit status 77 without clang-19 and lld-19."""
import argparse
import concurrent.futures
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TARGETS = ["gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201"]
# Each operation rounds once, integers wrap, and nothing is assumed of what pointers point to, on both sides.
COMMON = ["-O2", "-ffp-contract=off", "-fwrapv", "-fno-strict-aliasing", "-Wno-everything", "-I" + HERE]


def host_command(folder):
    return ["clang-19", "-x", "c", "-std=gnu11", "-fPIC", "-shared", *COMMON, "-Xclang",
            "-ffloat16-excess-precision=none", "-I" + folder, HERE + "/host.c", "-o", folder + "/host.so", "-lm"]


def device_command(folder, target):
    return ["clang-19", "-x", "hip", "-std=c++14", "--cuda-device-only", "--offload-arch=" + target, "-nogpulib",
            "-nogpuinc", "-mcode-object-version=5", "--no-gpu-bundle-output", *COMMON, "-I" + folder,
            HERE + "/device.hip", "-o", "%s/%s.o" % (folder, target)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=112)
    parser.add_argument("--target", action="append")
    parser.add_argument("--keep", help="write the functions and objects here")
    options = parser.parse_args()
    targets = options.target or TARGETS
    for tool in "clang-19", "ld.lld-19":
        if not shutil.which(tool):
            print("skipped: %s is not installed" % tool)
            return 77
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or temporary
        os.makedirs(folder, exist_ok=True)
        with open(folder + "/functions.h", "w") as out:
            subprocess.run([sys.executable, HERE + "/generate.py", str(options.seed), str(options.count)], stdout=out,
                           check=True)
        commands = [host_command(folder)] + [device_command(folder, target) for target in targets]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for job in [pool.submit(subprocess.run, command, check=True) for command in commands]:
                job.result()
        return subprocess.run([options.program, folder + "/host.so"] +
                              ["%s=%s/%s.o" % (target, folder, target) for target in targets]).returncode


sys.exit(main())
