#!/usr/bin/env python3
"""Writes tests/quantised/blocks.def: checksums of the floats that blocks of every quantised dtype stand for.

Usage: python3 tests/quantised/make.py > tests/quantised/blocks.def

The blocks are bytes of a generator that dequantise.c has too. The floats are what the package gguf (0.19, numpy) makes
of them; it does not read q8_1, q8_k, q1_0 and q2_0, whose formulas are written out here."""
import zlib

import numpy as np
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, quants

COUNT = 64
# Bytes of a block, and the upper bytes of its f16 or f32 scales, whose bit 6 is cleared: they are finite then.
TYPES = {"q4_0": (18, [1]), "q4_1": (20, [1, 3]), "q5_0": (22, [1]), "q5_1": (24, [1, 3]), "q8_0": (34, [1]),
         "q8_1": (36, [1]), "q2_k": (84, [81, 83]), "q3_k": (110, [109]), "q4_k": (144, [1, 3]), "q5_k": (176, [1, 3]),
         "q6_k": (210, [209]), "q8_k": (292, [3]), "iq2_xxs": (66, [1]), "iq2_xs": (74, [1]), "iq3_xxs": (98, [1]),
         "iq1_s": (50, [1]), "iq4_nl": (18, [1]), "iq3_s": (110, [1]), "iq2_s": (82, [1]), "iq4_xs": (136, [1]),
         "iq1_m": (56, [55]), "tq1_0": (54, [53]), "tq2_0": (66, [65]), "mxfp4": (17, []), "nvfp4": (36, []),
         "q1_0": (18, [1]), "q2_0": (18, [1])}


def noise(count):
    """Bytes of a linear congruential generator (Numerical Recipes)."""
    state, out = 1, bytearray()
    for _ in range(count):
        state = (state * 1664525 + 1013904223) % 2**32
        out.append(state >> 24)
    return np.frombuffer(bytes(out), np.uint8)


def dequantise(name, blocks):
    f16 = blocks[:, :2].copy().view(np.float16).astype(np.float32)
    bits = np.unpackbits(blocks[:, 2:], axis=1, bitorder="little")
    if name == "q8_1":
        return f16 * blocks[:, 4:].view(np.int8).astype(np.float32)
    if name == "q8_k":
        return blocks[:, :4].copy().view(np.float32) * blocks[:, 4:260].view(np.int8).astype(np.float32)
    if name == "q1_0":
        return np.where(bits == 1, f16, -f16)
    if name == "q2_0":
        return f16 * (bits[:, ::2] + 2.0 * bits[:, 1::2] - 1).astype(np.float32)
    kind = GGMLQuantizationType[name.upper()]
    assert GGML_QUANT_SIZES[kind][1] == blocks.shape[1]
    return quants.dequantize(blocks, kind)


print("/* tests/quantised/make.py wrote this file: BLOCKS(dtype, CRC-32 of the floats as f32, as f16). */")
for name, (nbytes, upper) in TYPES.items():
    blocks = noise(COUNT * nbytes).reshape(COUNT, nbytes).copy()
    blocks[:, upper] &= 0xbf
    values = np.ascontiguousarray(dequantise(name, blocks), dtype=np.float32)
    assert not np.isnan(values).any(), name
    with np.errstate(over="ignore"):
        half = values.astype(np.float16)
    print(f"BLOCKS({name}, 0x{zlib.crc32(values.tobytes()):08x}, 0x{zlib.crc32(half.tobytes()):08x})")
