#!/usr/bin/env python3
"""Times whole models on a GPU beside PyTorch, eager and as a captured graph, and compares with the CPU.

    bench/gpu_models.py --build build --device cuda:0 --model FOLDER

FOLDER holds all-MiniLM-L6-v2; without its model.safetensors the network gets random weights of the same shapes, so the
figures are the same and only the meaning of the vectors is lost. ResNet-50 has random weights. f32 without TF32; bf16 is
wick_embedder_options.fast, and PyTorch's network in bf16."""
import argparse
import copy
import ctypes
import pathlib
import shutil
import statistics
import sys
import tempfile
import time

import numpy
import torch
import torchvision
import transformers

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from rows import INT64, POINTER  # noqa: E402
from wick import Wick  # noqa: E402


def timed(call, wait, count=20, repeats=7):
    for _ in range(3):
        call()
    wait()
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        for _ in range(count):
            call()
        wait()
        times.append((time.perf_counter() - began) / count)
    return statistics.median(times)


def captured(model, *inputs):
    """A PyTorch CUDA graph of a call."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            model(*inputs)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        model(*inputs)
    return graph.replay


class Model:
    """A forward function of Wick on one device, from its own input tensor to a result."""

    def __init__(self, wick, forward, x):
        self.wick, self.forward, self.x = wick, forward, x
        self.begin = wick.function("graph_begin", ctypes.c_int, POINTER)
        self.end = wick.function("graph_end", POINTER, POINTER)
        self.launch = wick.function("graph_launch", ctypes.c_int, POINTER)

    def eager(self):
        self.wick.release(self.forward(self.x))

    def graph(self):
        self.eager()
        if self.begin(self.wick.device) != 0:
            raise RuntimeError(self.wick.library.wick_error().decode())
        self.out = self.forward(self.x)
        graph = self.end(self.wick.device)
        if not graph:
            raise RuntimeError(self.wick.library.wick_error().decode())
        return lambda: self.launch(graph)


def report(name, theirs, replay, model, wait):
    rows = [("PyTorch eager", timed(theirs, torch.cuda.synchronize)), ("PyTorch captured", timed(replay, torch.cuda.synchronize)),
            ("Wick eager", timed(model.eager, wait)), ("Wick captured", timed(model.graph(), wait))]
    for label, seconds in rows:
        print(f"| {name} | {label} | {seconds * 1e6:.0f} µs | {rows[0][1] / seconds:.2f} |", flush=True)


def minilm(wick, cpu, folder):
    source = pathlib.Path(folder)
    work = tempfile.mkdtemp()
    shutil.copytree(source, work, dirs_exist_ok=True)
    torch.manual_seed(0)
    if not (source / "model.safetensors").exists():
        network = transformers.BertModel(transformers.BertConfig.from_pretrained(folder))
        network.save_pretrained(work, safe_serialization=True)
    network = transformers.AutoModel.from_pretrained(work, attn_implementation="sdpa").eval().float().cuda()
    ids = torch.randint(1000, 20000, (32, 128), dtype=torch.int32)

    def embed(x):
        states = network(input_ids=x, attention_mask=torch.ones_like(x)).last_hidden_state
        return torch.nn.functional.normalize(states.mean(1), dim=1)
    x = ids.cuda()

    class Options(ctypes.Structure):
        _fields_ = [("fast", ctypes.c_bool), ("others", ctypes.c_uint8 * 1023)]  # zeros

    def model(where, fast=False):
        opened = where.op("embedder_open_with", ctypes.c_char_p, POINTER, POINTER)(
            work.encode(), where.device, ctypes.byref(Options(fast)))
        forward = where.op("embedder_forward", POINTER, POINTER)
        return Model(where, lambda x: forward(opened, x), where.tensor(ids.numpy(), "i32"))
    ours, fast = model(wick), model(wick, True)
    with torch.inference_mode():
        theirs = embed(x)
        exact = copy.deepcopy(network).double()(input_ids=x, attention_mask=torch.ones_like(x)).last_hidden_state
        exact = torch.nn.functional.normalize(exact.mean(1), dim=1).cpu().numpy()
        results = {"PyTorch": theirs.cpu().numpy(), "Wick": wick.numpy(ours.forward(ours.x)), "Wick fast": wick.numpy(fast.forward(fast.x))}
        reference = model(cpu)
        results["Wick on the CPU"] = cpu.numpy(reference.forward(reference.x))
        for name, values in results.items():
            print(f"MiniLM 32x128, {name}: largest difference from float64 {numpy.abs(values - exact).max():.1e}")
        report("MiniLM 32×128, f32", lambda: embed(x), captured(embed, x), ours, wick.synchronize)
        network = network.bfloat16()
        report("MiniLM 32×128, bf16", lambda: embed(x), captured(embed, x), fast, wick.synchronize)


def resnet(wick, cpu):
    torch.manual_seed(1)
    network = torchvision.models.resnet50(weights=None).eval()
    for module in network.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            torch.nn.init.uniform_(module.weight, 0.1, 0.5)
    file = tempfile.NamedTemporaryFile(suffix=".pth")
    torch.save(network.state_dict(), file.name)
    images = torch.randn(64, 3, 224, 224)
    network = network.cuda()
    x = images.cuda()

    def model(where, images):
        opened = where.op("resnet_open", ctypes.c_char_p, POINTER)(file.name.encode(), where.device)
        forward = where.op("resnet_forward", POINTER, POINTER)
        return Model(where, lambda x: forward(opened, x), where.tensor(images.numpy(), "f32"))
    ours = model(wick, images)
    with torch.inference_mode():
        exact = copy.deepcopy(network).double()(x[:4].double()).cpu().numpy()
        scale = numpy.abs(exact).max()
        reference = model(cpu, images[:4])
        results = {"PyTorch": network(x).cpu().numpy()[:4], "Wick": wick.numpy(ours.forward(ours.x))[:4],
                   "Wick on the CPU": cpu.numpy(reference.forward(reference.x))}
        for name, values in results.items():
            print(f"ResNet-50, {name}: largest relative difference from float64 {numpy.abs(values - exact).max() / scale:.1e}")
        report("ResNet-50 64×3×224×224", lambda: network(x), captured(network, x), ours, wick.synchronize)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--build", default="build")
    arguments.add_argument("--device", default="cuda:0")
    arguments.add_argument("--model", required=True)
    options = arguments.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    wick, cpu = Wick(options.build, options.device), Wick(options.build)
    print("| model | how | time | PyTorch eager / this |\n| --- | --- | ---: | ---: |")
    minilm(wick, cpu, options.model)
    resnet(wick, cpu)


if __name__ == "__main__":
    main()
