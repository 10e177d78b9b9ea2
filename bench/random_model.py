#!/usr/bin/env python3
"""Writes a language model of random weights as GGUF, to time what is not at hand as a file.

    bench/random_model.py SHAPE TYPE OUTPUT      SHAPE: 1B or 8B; TYPE: bf16, q8_0, q4_0, q6_k, iq4_xs or q4_k_m

The shapes are those of Llama 3.2 1B and Llama 3.1 8B. q4_k_m is the usual mixture: Q6_K for the output, and for
values and the second half of the feed-forward network in half of the layers, Q4_K for the rest. Bits of quants are random;
the scales of blocks are such that weights have about the deviation 0.02. The tokens have made-up names."""
import argparse
import pathlib
import struct
import sys

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "tests" / "cli"))
from gguf_files import ALIGNMENT, key, string  # noqa: E402

SHAPES = {"1B": (16, 2048, 8192, 32, 8, 64), "8B": (32, 4096, 14336, 32, 8, 128)}  # layers, hidden, wide, heads, kv, head
VOCAB, CONTEXT = 128256, 131072
# Type: its number in GGUF, elements and bytes of a block, {offset of an f16 scale: its value}.
TYPES = {"f32": (0, 1, 4, {}), "bf16": (30, 1, 2, {}), "q8_0": (8, 32, 34, {0: 0.02 / 74}),
         "q4_0": (2, 32, 18, {0: 0.02 / 4.6}), "q6_k": (14, 256, 210, {208: 0.02 / 1360}),
         "q4_k": (12, 256, 144, {0: 0.02 / 170, 2: 0.02 / 23}), "iq4_xs": (23, 256, 136, {0: 0.02 / 1300})}


def keys_of(shape):
    layers, hidden, wide, heads, kv_heads, head = SHAPES[shape]
    # The characters of byte-level BPE, as GPT-2 wrote them, and words nobody writes.
    seen = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters = [chr(x) for x in seen] + [chr(256 + i) for i in range(256 - len(seen))]
    words = letters + [f"<word {i}>" for i in range(VOCAB - len(letters))]
    return {"general.architecture": "llama", "general.name": f"random {shape}", "llama.block_count": layers,
            "llama.context_length": CONTEXT, "llama.embedding_length": hidden, "llama.feed_forward_length": wide,
            "llama.attention.head_count": heads, "llama.attention.head_count_kv": kv_heads,
            "llama.rope.dimension_count": head, "llama.rope.freq_base": 500000.0,
            "llama.attention.layer_norm_rms_epsilon": 1e-5, "llama.vocab_size": VOCAB,
            "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "gpt-2", "tokenizer.ggml.tokens": words,
            "tokenizer.ggml.token_type": [1] * VOCAB, "tokenizer.ggml.merges": ["! !"],
            "tokenizer.ggml.bos_token_id": VOCAB - 2, "tokenizer.ggml.eos_token_id": VOCAB - 1}


def tensors_of(shape, kind):
    layers, hidden, wide, heads, kv_heads, head = SHAPES[shape]
    mixed = kind == "q4_k_m"
    base = "q4_k" if mixed else kind
    yield "token_embd.weight", base, (VOCAB, hidden)
    for i in range(layers):
        better = "q6_k" if mixed and (i < layers // 8 or i >= 7 * layers // 8 or (i - layers // 8) % 3 == 2) else base
        for name, rows, columns, type_ in (("attn_q", heads * head, hidden, base), ("attn_k", kv_heads * head, hidden, base),
                                           ("attn_v", kv_heads * head, hidden, better),
                                           ("attn_output", hidden, heads * head, base), ("ffn_gate", wide, hidden, base),
                                           ("ffn_up", wide, hidden, base), ("ffn_down", hidden, wide, better)):
            yield f"blk.{i}.{name}.weight", type_, (rows, columns)
        yield f"blk.{i}.attn_norm.weight", "f32", (hidden,)
        yield f"blk.{i}.ffn_norm.weight", "f32", (hidden,)
    yield "output_norm.weight", "f32", (hidden,)
    yield "output.weight", "q6_k" if mixed else base, (VOCAB, hidden)


def size_of(kind, shape):
    _, elements, nbytes, _ = TYPES[kind]
    assert shape[-1] % elements == 0, (kind, shape)
    return int(numpy.prod(shape)) // elements * nbytes


def data_of(generator, kind, shape):
    count = int(numpy.prod(shape))
    if kind == "f32":
        return numpy.ones(count, "<f4").tobytes()
    if kind == "bf16":
        values = generator.standard_normal(count, numpy.float32)
        values *= 0.02
        return (values.view("<u4") >> 16).astype("<u2").tobytes()
    _, elements, nbytes, scales = TYPES[kind]
    blocks = numpy.frombuffer(generator.bytes(count // elements * nbytes), numpy.uint8).reshape(-1, nbytes).copy()
    for offset, value in scales.items():
        blocks[:, offset:offset + 2] = numpy.frombuffer(numpy.float16(value).tobytes(), numpy.uint8)
    return blocks.tobytes()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shape", choices=SHAPES)
    parser.add_argument("type", choices=["bf16", "q8_0", "q4_0", "q6_k", "iq4_xs", "q4_k_m"])
    parser.add_argument("output")
    options = parser.parse_args()
    keys, tensors = keys_of(options.shape), list(tensors_of(options.shape, options.type))
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(keys)) + b"".join(key(*item) for item in keys.items())
    at = 0
    for name, kind, shape in tensors:
        head += string(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape[::-1], TYPES[kind][0], at)
        at += -(-size_of(kind, shape) // ALIGNMENT) * ALIGNMENT
    generator = numpy.random.default_rng(1)
    with open(options.output, "wb") as file:
        file.write(head + bytes(-len(head) % ALIGNMENT))
        for _, kind, shape in tensors:
            data = data_of(generator, kind, shape)
            file.write(data + bytes(-len(data) % ALIGNMENT))


if __name__ == "__main__":
    main()
