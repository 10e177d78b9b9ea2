#!/usr/bin/env python3
"""Makes resnet.safetensors: what transformers' ResNet answers, with weights anybody can make again from a seed.

Needs torch, transformers and safetensors. Weight i of the t-th tensor is splitmix64(SEED + (t << 32) + i), its upper
24 bits as a fraction u of 1, put into a range that keeps activations near 1:

    convolutions and the head   (2 u - 1) * sqrt(6 / fan_in)      norm weight  0.1 + 0.4 u  norm bias  0.2 u - 0.1
    norm mean                   0.2 u - 0.1                       norm var     0.5 + u      head bias  0.2 u - 0.1

Tensors are counted in the order stem, blocks (each: convolution, then its norm's weight, bias, mean, var; the shortcut
last), head weight, head bias. The picture is tensor 0xFFFF, 2 u - 1. tests/vision/resnet.c makes the same."""
import math
import pathlib

import numpy
import safetensors.numpy
import torch
import transformers

SEED = 2026
DEPTHS = {18: ("basic", (2, 2, 2, 2)), 34: ("basic", (3, 4, 6, 3)), 50: ("bottleneck", (3, 4, 6, 3)),
          101: ("bottleneck", (3, 4, 23, 3)), 152: ("bottleneck", (3, 8, 36, 3))}


def fractions(tensor, count):
    with numpy.errstate(over="ignore"):
        z = numpy.uint64(SEED) + (numpy.uint64(tensor) << numpy.uint64(32)) + numpy.arange(count, dtype=numpy.uint64)
        z = z + numpy.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
        z = z ^ (z >> numpy.uint64(31))
    return (z >> numpy.uint64(40)).astype(numpy.float64) / 2**24


def ordered(model):
    """Parameters and buffers in the order of the module, as (kind, tensor)."""
    for module in model.modules():
        if isinstance(module, torch.nn.Conv2d):
            yield "weight", module.weight
        elif isinstance(module, torch.nn.BatchNorm2d):
            yield from (("scale", module.weight), ("small", module.bias), ("small", module.running_mean),
                        ("variance", module.running_var))
        elif isinstance(module, torch.nn.Linear):
            yield from (("weight", module.weight), ("small", module.bias))


def block_order(model):
    """transformers lists a block's shortcut first; we want it last."""
    resnet = model.resnet
    parts = [resnet.embedder]
    for stage in resnet.encoder.stages:
        for layer in stage.layers:
            parts += [layer.layer, layer.shortcut]
    parts.append(model.classifier)
    for part in parts:
        yield from ordered(part)


def fill(model):
    with torch.no_grad():
        for number, (kind, tensor) in enumerate(block_order(model)):
            u = fractions(number, tensor.numel())
            if kind == "weight":
                values = (2 * u - 1) * math.sqrt(6 / (tensor.numel() / tensor.shape[0]))
            else:
                values = {"scale": 0.1 + 0.4 * u, "variance": 0.5 + u, "small": 0.2 * u - 0.1}[kind]
            tensor.copy_(torch.from_numpy(values.astype(numpy.float32)).reshape(tensor.shape))


def main():
    results = {}
    picture = torch.from_numpy((2 * fractions(0xFFFF, 3 * 32 * 32) - 1).astype(numpy.float32)).reshape(1, 3, 32, 32)
    for depth, (kind, blocks) in DEPTHS.items():
        widths = (64, 128, 256, 512) if kind == "basic" else (256, 512, 1024, 2048)
        config = transformers.ResNetConfig(depths=list(blocks), hidden_sizes=list(widths), layer_type=kind, num_labels=10)
        model = transformers.ResNetForImageClassification(config).eval()
        fill(model)
        with torch.no_grad():
            answer = model.double()(picture.double(), output_hidden_states=True)
        for stage, hidden in enumerate(answer.hidden_states):
            results[f"{depth}.stage{stage}"] = hidden.float().numpy()
        results[f"{depth}.logits"] = answer.logits.float().numpy()
        print(depth, [float(h.abs().max()) for h in answer.hidden_states])
    safetensors.numpy.save_file(results, pathlib.Path(__file__).parent / "resnet.safetensors",
                                metadata={"transformers": transformers.__version__, "torch": torch.__version__})


if __name__ == "__main__":
    main()
