#!/usr/bin/env python3
"""Times convolutions and their gradients on one GPU by each of Wick's routes (docs/routes.md) beside PyTorch, in one process,
turn by turn.

    bench/convolutions.py --build build --device cuda:0 [--dtypes bf16,f16,f32] [--only PATTERN,...] [--minutes N]

A row is one layer, dtype and way: the result (y), the gradient by x (dx), by weight (dw). The columns are what WICK_DNN=auto,
own and vendor take, and which route auto took; each figure is the median over batches of the time of a call. First: what the
first call by the vendor's route took, with the search for a plan. Error: the largest difference from PyTorch's result in
float64, relative to its largest magnitude. PyTorch may not round f32 to TF32, and picks its algorithms without trying them."""
import argparse
import pathlib
import sys
import time

import torch

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from api import Api  # noqa: E402
from case import Maker, upload  # noqa: E402
from networks import CONVOLUTIONS  # noqa: E402
from routes import CHOICES, Run  # noqa: E402
from rows import to_double  # noqa: E402


def row(run, api, case):
    wick, routes = run.wick, run.routes
    operands, errors, taken, first = case.make(), {}, "own", 0.0
    theirs, call = case.theirs(*operands), case.ours(api, *[upload(api, x) for x in operands])
    exact = case.theirs(*[to_double(x) for x in operands])()
    scale = float(exact.abs().max())
    for choice in reversed(CHOICES):
        routes.set_dnn(wick.device, CHOICES.index(choice))
        before = routes.used()
        wick.synchronize()
        began = time.perf_counter()
        result, = call()
        wick.synchronize()
        if choice == "vendor":
            first = time.perf_counter() - began
        if choice != "own":
            taken = routes.taken_since(before)
        errors[choice] = float((torch.from_numpy(wick.numpy(result)).cuda().double() - exact).abs().max()) / scale
        wick.release(result)
    errors["PyTorch"] = float((theirs().double() - exact).abs().max()) / scale
    del exact
    times = run.times(theirs, lambda: call()[0], lambda i: routes.set_dnn(wick.device, i))
    api.release()
    return times, taken, first, errors


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--ways", default="y,dx,dw")
    run, Maker.device = Run(arguments), "cuda"
    api = Api(run.wick)
    run.begin("layer | dtype | way | PyTorch µs | auto | own | vendor | ratio | auto took | first ms | error PyTorch "
              "| own | vendor", 3)
    for dtype in run.options.dtypes.split(","):
        for name, layer in CONVOLUTIONS:
            for way in run.options.ways.split(","):
                label = f"{name} {layer.size()}"
                if not run.wanted(f"{label} {dtype} {way}"):
                    continue
                if run.is_over():
                    return
                with torch.inference_mode():
                    times, taken, first, errors = row(run, api, layer.case(way, dtype))
                theirs, *ours = [t * 1e6 for t in times]
                print(f"| {label} | {dtype} | {way} | {theirs:.1f} | {ours[0]:.1f} | {ours[1]:.1f} | {ours[2]:.1f} | "
                      f"{theirs / ours[0]:.2f} | {taken} | {first * 1e3:.0f} | {errors['PyTorch']:.0e} | "
                      f"{errors['own']:.0e} | {errors['vendor']:.0e} |", flush=True)


if __name__ == "__main__":
    main()
