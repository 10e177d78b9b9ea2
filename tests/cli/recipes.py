#!/usr/bin/env python3
"""The type that wick quantize gives each tensor, beside those that llama.cpp gave (recipes.txt), on models of zeros.
Standard library only.

Usage: recipes.py WICK
       recipes.py --make LIBRARY     writes recipes.txt by llama.cpp's llama_model_quantize, from that shared library:
                                     _llama_cpp_cpu*.so of the PyPI package llama-cpp-cffi 0.4.42

That version has older rules in two places, for which NEWER has what a reader of llama.cpp's source of 2026 expects.

A line of recipes.txt is a model, a type, and for each kind of tensor the types in the order of the layers, as
attn_v=2*q6_k,q4_k.
"""
import ctypes
import os
import subprocess
import sys
import tempfile

import gguf_files

HERE = os.path.dirname(os.path.abspath(__file__))
HIDDEN, VOCAB, F16, F32 = 256, 64, 1, 0
# llama.cpp's numbers of file types
TYPES = {"F32": 0, "F16": 1, "BF16": 32, "Q4_0": 2, "Q4_1": 3, "Q5_0": 8, "Q5_1": 9, "Q8_0": 7, "Q2_K": 10, "Q3_K_S": 11,
         "Q3_K_M": 12, "Q3_K_L": 13, "Q4_K_S": 14, "Q4_K_M": 15, "Q5_K_S": 16, "Q5_K_M": 17, "Q6_K": 18, "IQ4_NL": 25,
         "IQ4_XS": 30, "TQ1_0": 36, "TQ2_0": 37}
# family, layers, heads, heads of keys and values, experts, whether the embedding gives the logits, width of the network
MODELS = {"plain": ("llama", 16, 4, 2, 0, False, 256), "grouped": ("llama", 32, 4, 1, 0, True, 256),
          "experts": ("llama", 17, 4, 2, 8, False, 256), "fused": ("phi3", 11, 4, 4, 0, False, 256),
          "large": ("llama", 80, 8, 4, 0, False, 256), "narrow": ("llama", 16, 4, 2, 0, True, 96)}


# Matrices of queries, keys and values in one follow the rule of values; q2_k falls back to q4_0, where it was iq4_nl.
NEWER = {("fused", "Q2_K"): ("attn_qkv", "11*q3_k"), ("fused", "Q3_K_M"): ("attn_qkv", "2*q5_k,9*q4_k"),
         ("fused", "Q3_K_L"): ("attn_qkv", "11*q5_k"), ("fused", "Q4_K_S"): ("attn_qkv", "4*q5_k,7*q4_k"),
         ("fused", "Q4_K_M"): ("attn_qkv", "q6_k,2*q4_k,q6_k,2*q4_k,q6_k,2*q4_k,2*q6_k"),
         ("fused", "Q5_K_M"): ("attn_qkv", "q6_k,2*q5_k,q6_k,2*q5_k,q6_k,2*q5_k,2*q6_k"),
         ("narrow", "Q2_K"): ("ffn_down", "16*q4_0")}


def write_model(path, model, more=()):
    family, layers, heads, kv, experts, tied, wide = MODELS[model]
    rows = kv * HIDDEN // heads
    keys = {"general.architecture": family, "general.quantization_version": 2}
    for name, value in {"block_count": layers, "context_length": 64, "embedding_length": HIDDEN, "feed_forward_length": wide,
                        "attention.head_count": heads, "attention.head_count_kv": kv,
                        "attention.layer_norm_rms_epsilon": 1e-5, "rope.freq_base": 10000.0,
                        "rope.dimension_count": HIDDEN // heads}.items():
        keys[f"{family}.{name}"] = value
    if family == "phi3":
        keys["phi3.attention.sliding_window"] = 64
    if experts:
        keys.update({f"{family}.expert_count": experts, f"{family}.expert_used_count": 2})
    keys.update({"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "gpt-2",
                 "tokenizer.ggml.tokens": ["<unk>", "<s>", "</s>"] + [chr(65 + i) for i in range(VOCAB - 4)] + ["ab"],
                 "tokenizer.ggml.token_type": [2, 3, 3] + [1] * (VOCAB - 3), "tokenizer.ggml.merges": ["a b"],
                 "tokenizer.ggml.eos_token_id": 2, "tokenizer.ggml.bos_token_id": 1})
    keys.update(more)
    tensors = {"token_embd.weight": (F16, [VOCAB, HIDDEN]), "output_norm.weight": (F32, [HIDDEN])}
    if not tied:
        tensors["output.weight"] = (F16, [VOCAB, HIDDEN])
    for layer in sorted(range(layers), key=str):  # as files have them: 1, 10, 11, 2
        block = {"attn_norm": (F32, [HIDDEN]), "ffn_norm": (F32, [HIDDEN]), "attn_output": (F16, [HIDDEN, HIDDEN])}
        if family == "phi3":
            block.update({"attn_qkv": (F16, [3 * HIDDEN, HIDDEN]), "ffn_up": (F16, [2 * wide, HIDDEN]),
                          "ffn_down": (F16, [HIDDEN, wide])})
        else:
            block.update({"attn_q": (F16, [HIDDEN, HIDDEN]), "attn_k": (F16, [rows, HIDDEN]), "attn_v": (F16, [rows, HIDDEN])})
            end, more = ("_exps", [experts]) if experts else ("", [])
            block.update({"ffn_gate" + end: (F16, more + [wide, HIDDEN]), "ffn_up" + end: (F16, more + [wide, HIDDEN]),
                          "ffn_down" + end: (F16, more + [HIDDEN, wide])})
        if experts:
            block["ffn_gate_inp"] = (F32, [experts, HIDDEN])
        tensors.update({f"blk.{layer}.{name}.weight": entry for name, entry in block.items()})
    gguf_files.write_zeros(path, keys, tensors)


def line_of(model, name, types):
    """types: {tensor: type}"""
    kinds = {}
    for tensor, kind in types.items():
        parts = tensor.split(".")
        layer = int(parts[1]) if parts[0] == "blk" else 0
        kinds.setdefault(parts[2] if parts[0] == "blk" else parts[0], []).append((layer, kind))
    columns = []
    for part, found in sorted(kinds.items()):
        runs = []
        for _, kind in sorted(found):
            if runs and runs[-1][1] == kind:
                runs[-1][0] += 1
            else:
                runs.append([1, kind])
        columns.append(part + "=" + ",".join(kind if n == 1 else f"{n}*{kind}" for n, kind in runs))
    return " ".join([model, name] + columns)


def ours(wick, path, name):
    result = subprocess.run([wick, "quantize", "--dry-run", path, "none", name], capture_output=True, text=True, timeout=60,
                            check=True, stdin=subprocess.DEVNULL)
    return dict(line.split()[::2] for line in result.stdout.splitlines()[:-1])


class Parameters(ctypes.Structure):
    """The first fields of llama_model_quantize_params, and room for the others."""
    _fields_ = [("threads", ctypes.c_int32), ("type", ctypes.c_int32), ("rest", ctypes.c_uint8 * 248)]


def theirs(library, path, name):
    library.llama_model_quantize_default_params.restype = Parameters
    parameters = library.llama_model_quantize_default_params()
    parameters.threads, parameters.type = 2, TYPES[name]
    assert library.llama_model_quantize(path.encode(), (path + ".out").encode(), ctypes.byref(parameters)) == 0
    return {tensor: entry[0] for tensor, entry in gguf_files.Reader(path + ".out").tensors.items()}


def main():
    lists, failed = os.path.join(HERE, "recipes.txt"), 0
    with tempfile.TemporaryDirectory() as folder:
        for model in MODELS:
            write_model(os.path.join(folder, model), model)
        if sys.argv[1] == "--make":
            library = ctypes.CDLL(sys.argv[2], mode=os.RTLD_LAZY)
            library.llama_backend_init()
            with open(lists, "w", encoding="utf-8") as file:
                for model in MODELS:
                    names = ["Q4_K_M", "Q6_K", "Q2_K", "IQ4_XS"] if model == "narrow" else TYPES
                    for name in names:
                        print(line_of(model, name, theirs(library, os.path.join(folder, model), name)), file=file)
            return
        with open(lists, encoding="utf-8") as file:
            expected = file.read().splitlines()
        assert len(expected) > 100
        for line in expected:
            model, name = line.split()[:2]
            if (model, name) in NEWER:
                part, kinds = NEWER[model, name]
                line = " ".join(f"{part}={kinds}" if x.startswith(part + "=") else x for x in line.split())
            got = line_of(model, name, ours(os.path.abspath(sys.argv[1]), os.path.join(folder, model), name))
            if got != line:
                print(f"failed:\n  {got}\n  {line}")
                failed += 1
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
