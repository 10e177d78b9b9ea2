#!/usr/bin/env python3
"""Times convolutions and their gradients on one GPU by each of Wick's routes (docs/routes.md) beside PyTorch, in one process,
turn by turn.

    bench/convolutions.py --build build --device cuda:0 [--dtypes bf16,f16,f32] [--only PATTERN,...] [--minutes N]

A row is one layer, dtype and way: the result (y), the gradient by x (dx), by weight (dw). The columns are what WICK_DNN=auto,
own and vendor take, and which route auto took; each figure is the median over batches of the time of a call. First: what the
first call by the vendor's route took, with the search for a plan. Error: the largest difference from PyTorch's result in
float64, relative to its largest magnitude. PyTorch may not round f32 to TF32, and picks its algorithms without trying them."""
import argparse
import ctypes
import fnmatch
import pathlib
import sys
import time

import torch

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from routes import CHOICES, Routes, measure  # noqa: E402
from rows import INT, INT64, POINTER, TORCH, ConvOptions, to_wick  # noqa: E402
from wick import Wick  # noqa: E402

# name, x, weight (of one group's input channels; of a transposed one [Cin, Cout/groups, ...]), stride, padding, dilation, groups,
# bias, transposed
LAYERS = (
    ("ResNet-50 7x7", (64, 3, 224, 224), (64, 3, 7, 7), 2, 3, 1, 1, False, False),
    ("ResNet-50 1x1", (64, 64, 56, 56), (256, 64, 1, 1), 1, 0, 1, 1, False, False),
    ("ResNet-50 1x1", (64, 1024, 14, 14), (256, 1024, 1, 1), 1, 0, 1, 1, False, False),
    ("ResNet-50 1x1 s2", (64, 256, 56, 56), (512, 256, 1, 1), 2, 0, 1, 1, False, False),
    ("ResNet-50 3x3", (64, 64, 56, 56), (64, 64, 3, 3), 1, 1, 1, 1, False, False),
    ("ResNet-50 3x3", (64, 256, 14, 14), (256, 256, 3, 3), 1, 1, 1, 1, False, False),
    ("ResNet-50 3x3 s2", (64, 512, 14, 14), (512, 512, 3, 3), 2, 1, 1, 1, False, False),
    ("ResNet-50, one image", (1, 128, 28, 28), (128, 128, 3, 3), 1, 1, 1, 1, False, False),
    ("MobileNet depthwise", (32, 144, 56, 56), (144, 1, 3, 3), 1, 1, 1, 144, False, False),
    ("MobileNet depthwise s2", (32, 192, 28, 28), (192, 1, 3, 3), 2, 1, 1, 192, False, False),
    ("EfficientNet depthwise 5x5", (32, 672, 14, 14), (672, 1, 5, 5), 1, 2, 1, 672, False, False),
    ("ResNeXt grouped", (32, 256, 28, 28), (256, 8, 3, 3), 1, 1, 1, 32, False, False),
    ("UNet 3x3", (2, 320, 64, 64), (320, 320, 3, 3), 1, 1, 1, 1, True, False),
    ("UNet 3x3", (2, 1280, 16, 16), (640, 1280, 3, 3), 1, 1, 1, 1, True, False),
    ("UNet first", (2, 4, 64, 64), (320, 4, 3, 3), 1, 1, 1, 1, True, False),
    ("DeepLab dilated", (4, 512, 32, 32), (256, 512, 3, 3), 1, 6, 6, 1, False, False),
    ("DCGAN transposed", (64, 512, 8, 8), (512, 256, 4, 4), 2, 1, 1, 1, False, True),
    ("UNet transposed", (4, 128, 64, 64), (128, 64, 2, 2), 2, 0, 1, 1, True, True),
    ("Whisper first", (4, 80, 3000), (512, 80, 3), 1, 1, 1, 1, True, False),
    ("Whisper second", (4, 512, 3000), (512, 512, 3), 2, 1, 1, 1, True, False),
    ("video ResNet", (4, 64, 8, 56, 56), (64, 64, 3, 3, 3), 1, 1, 1, 1, False, False),
    ("video ResNet", (4, 256, 4, 14, 14), (256, 256, 3, 3, 3), 1, 1, 1, 1, False, False),
    ("LeNet first", (64, 1, 28, 28), (6, 1, 5, 5), 1, 2, 1, 1, True, False),
    ("small", (1, 16, 16, 16), (16, 16, 3, 3), 1, 1, 1, 1, False, False),
    ("ViT patches", (32, 3, 224, 224), (768, 3, 16, 16), 16, 0, 1, 1, True, False),
)


class Layer:
    """A layer's operands and its three calls, in PyTorch and in Wick."""

    def __init__(self, wick, layer, dtype):
        _, x, w, stride, padding, dilation, groups, biased, self.transposed = layer
        self.wick, self.spatial = wick, len(x) - 2
        each = lambda value: [value] * self.spatial  # noqa: E731
        self.geometry = each(stride), each(padding), each(dilation), self.transposed, each(0), groups
        self.x = torch.randn(x, device="cuda").to(TORCH[dtype])
        self.w = (torch.randn(w, device="cuda") / (torch.Size(w[1:]).numel()) ** 0.5).to(TORCH[dtype])
        self.b = torch.randn(w[1] * groups if self.transposed else w[0], device="cuda").to(TORCH[dtype]) if biased else None
        self.dy = torch.randn_like(self.forward())
        three = lambda value: (INT64 * 3)(*each(value))  # noqa: E731
        self.options = ctypes.byref(ConvOptions(three(stride), three(padding), three(dilation), three(0), groups, False))
        self.tensors = {name: to_wick(wick, t) if t is not None else None
                        for name, t in (("x", self.x), ("w", self.w), ("b", self.b), ("dy", self.dy))}

    def release(self):
        for tensor in self.tensors.values():
            if tensor:
                self.wick.release(tensor)

    def forward(self, double=False):
        x, w, b = [t.double() if double and t is not None else t for t in (self.x, self.w, self.b)]
        stride, padding, dilation, transposed, extra, groups = self.geometry
        return torch.convolution(x, w, b, stride, padding, dilation, transposed, extra, groups)

    def gradient(self, which, double=False):
        dy, x, w = [t.double() if double else t for t in (self.dy, self.x, self.w)]
        mask = [which == "dx", which == "dw", False]
        return torch.ops.aten.convolution_backward(dy, x, w, None, *self.geometry, mask)[0 if which == "dx" else 1]

    def theirs(self, way, double=False):
        return self.forward(double) if way == "y" else self.gradient(way, double)

    def ours(self, way):
        """A function that makes the call."""
        name = f"conv{'_transpose' if self.transposed else ''}{self.spatial}d"
        t, sizes = self.tensors, lambda shape: (INT64 * self.spatial)(*shape[2:])
        if way == "y":
            op = self.wick.op(name, POINTER, POINTER, POINTER, ctypes.POINTER(ConvOptions))
            return lambda: op(t["x"], t["w"], t["b"], self.options)
        op = self.wick.op(f"{name}_backward_{'input' if way == 'dx' else 'weight'}", POINTER, POINTER, INT,
                          ctypes.POINTER(INT64), ctypes.POINTER(ConvOptions))
        other, size = (t["w"], sizes(self.x.shape)) if way == "dx" else (t["x"], sizes(self.w.shape))
        return lambda: op(t["dy"], other, self.spatial, size, self.options)


def row(wick, routes, layer, way, options):
    call, errors, taken = layer.ours(way), {}, "own"
    exact = layer.theirs(way, double=True)
    scale, first = float(exact.abs().max()), 0.0
    for choice in reversed(CHOICES):
        routes.set_dnn(wick.device, CHOICES.index(choice))
        before = routes.used()
        wick.synchronize()
        began = time.perf_counter()
        result = call()
        wick.synchronize()
        if choice == "vendor":
            first = time.perf_counter() - began
        if choice != "own":
            taken = ", ".join(name for name, used in routes.used().items() if used > before[name]) or "own"
        errors[choice] = float((torch.from_numpy(wick.numpy(result)).cuda().double() - exact).abs().max()) / scale
        wick.release(result)
    errors["PyTorch"] = float((layer.theirs(way).double() - exact).abs().max()) / scale
    del exact
    sides = [(lambda: None, lambda: layer.theirs(way), torch.cuda.synchronize)]
    sides += [(lambda c=c: routes.set_dnn(wick.device, c), lambda: wick.release(call()), wick.synchronize) for c in range(3)]
    return measure(sides, options.repeats, options.batch), taken, first, errors


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--build", default="build")
    arguments.add_argument("--device", default="cuda:0")
    arguments.add_argument("--dtypes", default="bf16,f16,f32")
    arguments.add_argument("--ways", default="y,dx,dw")
    arguments.add_argument("--only", default="*")
    arguments.add_argument("--repeats", type=int, default=5)
    arguments.add_argument("--batch", type=float, default=0.004, help="seconds a batch takes")
    arguments.add_argument("--minutes", type=float, default=60, help="stop after this long")
    options = arguments.parse_args()
    torch.manual_seed(0)
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
    began = time.monotonic()
    wick = Wick(options.build, options.device)
    routes = Routes(wick)
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, its cuDNN {torch.backends.cudnn.version()}")
    for info in routes.all(check=True):
        print(f"{info.name.decode()}: {(info.library or info.fault).decode()}: {info.verdict.decode()}")
    print("| layer | dtype | way | PyTorch µs | auto | own | vendor | ratio | auto took | first ms | error PyTorch | own | vendor |\n"
          "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | --- | ---: | ---: | ---: | ---: |", flush=True)
    for dtype in options.dtypes.split(","):
        for case in LAYERS:
            label = f"{case[0]} {'×'.join(map(str, case[1]))} → {case[2][1] * case[6] if case[8] else case[2][0]}"
            wanted = [way for way in options.ways.split(",")
                      if any(fnmatch.fnmatch(f"{label} {dtype} {way}", p) for p in options.only.split(","))]
            if not wanted:
                continue
            with torch.inference_mode():
                layer = Layer(wick, case, dtype)
                for way in wanted:
                    if time.monotonic() - began > 60 * options.minutes:
                        print("stopped: out of time")
                        return
                    times, taken, first, errors = row(wick, routes, layer, way, options)
                    theirs, *ours = [t * 1e6 for t in times]
                    print(f"| {label} | {dtype} | {way} | {theirs:.1f} | {ours[0]:.1f} | {ours[1]:.1f} | {ours[2]:.1f} | "
                          f"{theirs / ours[0]:.2f} | {taken} | {first * 1e3:.0f} | {errors['PyTorch']:.0e} | "
                          f"{errors['own']:.0e} | {errors['vendor']:.0e} |", flush=True)
                layer.release()


if __name__ == "__main__":
    main()
