#!/usr/bin/env python3
"""Makes lstm.safetensors for lstm.c: an LSTM's weights, operands, result and gradients, computed by PyTorch.

Usage: lstm.py FILE      needs torch and numpy"""
import json
import sys

import torch

STEPS, BATCH, INPUTS, HIDDEN = 5, 3, 4, 3
WEIGHTS = ["Wi", "Wh", "bi", "bh"]


def save(path, tensors):
    """A safetensors file of f32."""
    header, data = {}, b""
    for name, tensor in tensors.items():
        nbytes = tensor.detach().to(torch.float32).contiguous().numpy().tobytes()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(nbytes)]}
        data += nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text + data)


def main():
    torch.manual_seed(1)
    net = torch.nn.LSTM(INPUTS, HIDDEN)
    x = torch.randn(STEPS, BATCH, INPUTS)
    gradient = torch.randn(STEPS, BATCH, HIDDEN)
    weights = [getattr(net, name) for name in net._flat_weights_names]
    tensors = {"x": x, "gradient": gradient, **{n: w.detach().clone() for n, w in zip(WEIGHTS, weights)}}
    net, leaf = net.double(), x.double().requires_grad_()
    weights = [getattr(net, name) for name in net._flat_weights_names]
    y, _ = net(leaf)
    found = torch.autograd.grad(y, [leaf] + weights, gradient.double())
    tensors["y"] = y
    for name, value in zip(["x"] + WEIGHTS, found):
        tensors["gradient of " + name] = value
    save(sys.argv[1], tensors)


main()
