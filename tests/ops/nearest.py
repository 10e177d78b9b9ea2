#!/usr/bin/env python3
"""Prints tests/ops/nearest.def: which elements PyTorch's nearest interpolation takes, for all sizes from 1 to 257.

A line NEAREST(in, hash) for each size of the operand; the hash is FNV-1a of 64 bits over the indices taken for result
sizes 1, 2, ... 257, each as two bytes, the low one first. PyTorch computes in f64 here: in f32 it rounds its step, and is
one element off in 1218 of the 66,049 pairs.
"""
import torch

SIZES = 257
OFFSET, PRIME, MASK = 0xCBF29CE484222325, 0x100000001B3, (1 << 64) - 1

torch.set_num_threads(1)
print('/* NEAREST(in, hash of the indices): made by nearest.py with PyTorch %s. */' % torch.__version__.split('+')[0])
for size in range(1, SIZES + 1):
    x = torch.arange(size, dtype=torch.float64).reshape(1, 1, size)
    h = OFFSET
    for out in range(1, SIZES + 1):
        for index in torch.nn.functional.interpolate(x, size=out, mode='nearest').flatten().tolist():
            for byte in (int(index) & 255, int(index) >> 8):
                h = ((h ^ byte) * PRIME) & MASK
    print('NEAREST(%d, 0x%016x)' % (size, h))
