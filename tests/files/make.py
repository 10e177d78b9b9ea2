#!/usr/bin/env python3
"""Makes the files of this folder with the official libraries of each format: safetensors, gguf, numpy, torch.

Run it in this folder. tests/format/files.c knows what each file holds."""
import json
import os
from collections import OrderedDict

import gguf
import numpy as np
import safetensors.torch
import torch


def ramp(shape, dtype):
    n = int(np.prod(shape))
    return torch.arange(n, dtype=torch.float32).reshape(shape).to(dtype)


def make_safetensors():
    dtypes = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.uint16, torch.float16, torch.bfloat16, torch.int32,
              torch.uint32, torch.float32, torch.float64, torch.int64, torch.uint64, torch.float8_e4m3fn,
              torch.float8_e5m2]
    tensors = {"t." + str(d).removeprefix("torch."): ramp((2, 3), d) for d in dtypes}
    tensors["scalar"] = torch.tensor(2.5)
    tensors["empty"] = torch.zeros(0, 4)
    tensors["größe"] = torch.ones(1)
    safetensors.torch.save_file(tensors, "types.safetensors", {"format": "pt", "note": "naïve\n"})
    shards = {"model-00001-of-00002.safetensors": {"a": ramp((2, 2), torch.float32)},
              "model-00002-of-00002.safetensors": {"b": ramp((3,), torch.int64), "c": ramp((4,), torch.bfloat16)}}
    os.makedirs("sharded", exist_ok=True)
    for name, part in shards.items():
        safetensors.torch.save_file(part, "sharded/" + name)
    index = {"metadata": {"total_size": 48}, "weight_map": {t: f for f, part in shards.items() for t in part}}
    with open("sharded/model.safetensors.index.json", "w") as file:
        json.dump(index, file, indent=2)


def make_gguf():
    writer = gguf.GGUFWriter("types.gguf", "llama")
    writer.add_uint8("k.u8", 200)
    writer.add_int8("k.i8", -100)
    writer.add_uint16("k.u16", 60000)
    writer.add_int16("k.i16", -30000)
    writer.add_uint32("k.u32", 4000000000)
    writer.add_int32("k.i32", -2000000000)
    writer.add_uint64("k.u64", 2**63 + 1)
    writer.add_int64("k.i64", -2**62)
    writer.add_float32("k.f32", 0.5)
    writer.add_float64("k.f64", 1e-300)
    writer.add_bool("k.bool", True)
    writer.add_string("k.string", "grüße")
    writer.add_array("k.strings", ["a", "bc", ""])
    writer.add_array("k.ints", [1, -2, 3])
    writer.add_tensor("f32", np.arange(6, dtype=np.float32).reshape(2, 3))
    writer.add_tensor("f16", np.arange(4, dtype=np.float16))
    writer.add_tensor("f64", np.arange(2, dtype=np.float64))
    for dtype in (np.int8, np.int16, np.int32, np.int64):
        writer.add_tensor(np.dtype(dtype).name, np.arange(5, dtype=dtype))
    blocks = gguf.quants.quantize(np.linspace(-1, 1, 128, dtype=np.float32).reshape(2, 64), gguf.GGMLQuantizationType.Q8_0)
    writer.add_tensor("q8_0", blocks, raw_dtype=gguf.GGMLQuantizationType.Q8_0)
    half = gguf.quants.quantize(np.arange(8, dtype=np.float32), gguf.GGMLQuantizationType.BF16)
    writer.add_tensor("bf16", half, raw_dtype=gguf.GGMLQuantizationType.BF16)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def make_blocks():
    """A tensor [3, two blocks] of each type of blocks that gguf-py knows, of bytes that tests/format/blocks.c makes again.
    gguf-py takes blocks of Q8_1 for 40 bytes, the struct of GGML has 36, and it lacks Q2_0: the test writes those."""
    writer = gguf.GGUFWriter("blocks.gguf", "llama")
    writer.add_uint32("llama.block_count", 7)
    writer.add_array("k.strings", ["a", "bc", ""])
    writer.add_array("k.ints", [1, -2, 3])
    for kind, (elements, nbytes) in gguf.GGML_QUANT_SIZES.items():
        if elements == 1 or kind.name == "Q8_1":
            continue
        blocks = (int(kind) * 31 + 3 + 7 * np.arange(3 * 2 * nbytes)).astype(np.uint8).reshape(3, 2 * nbytes)
        writer.add_tensor(kind.name.lower(), blocks, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def make_numpy():
    np.save("c.npy", np.arange(6, dtype="<f4").reshape(2, 3))
    np.save("fortran.npy", np.asfortranarray(np.arange(6, dtype="<f8").reshape(2, 3)))
    np.save("scalar.npy", np.int16(-7))
    with open("v2.npy", "wb") as file:
        np.lib.format.write_array(file, np.arange(3, dtype=np.uint8), version=(2, 0))
    with open("v3.npy", "wb") as file:
        np.lib.format.write_array(file, np.array([True, False]), version=(3, 0))
    arrays = {"f2": np.arange(5, dtype="<f2"), "i8": np.arange(200, dtype="<i8").reshape(10, 20),
              "fortran": np.asfortranarray(np.arange(12, dtype="<i4").reshape(3, 4)), "empty": np.zeros((0, 3), "<f4")}
    np.savez("stored.npz", **arrays)
    np.savez_compressed("deflated.npz", **arrays)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(3, 2)
        self.norm = torch.nn.BatchNorm1d(2)


def make_torch():
    torch.manual_seed(0)
    net = Net()
    with torch.no_grad():
        net.fc.weight.copy_(ramp((2, 3), torch.float32))
        net.fc.bias.copy_(torch.tensor([10.0, 20.0]))
    torch.save(net.state_dict(), "state_dict.pth")
    base = torch.arange(12, dtype=torch.float32)
    strided = {"base": base, "transposed": base.reshape(3, 4).t(), "every_other": base[1::2], "expanded": base[2:3].expand(4),
               "nested": {"list": [torch.tensor(1), torch.tensor([2.5], dtype=torch.float64)], "epoch": 7, "lr": 0.125,
                          "name": "x", "flag": True, "none": None, 3: torch.tensor([3], dtype=torch.int32)},
               "parameter": torch.nn.Parameter(torch.ones(2)), "empty": torch.zeros(0, 2)}
    torch.save(strided, "views.pth")
    dtypes = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.uint16, torch.float16, torch.bfloat16, torch.int32,
              torch.uint32, torch.float32, torch.float64, torch.int64, torch.uint64, torch.float8_e4m3fn,
              torch.float8_e5m2]
    torch.save(OrderedDict((str(d).removeprefix("torch."), ramp((2, 3), d)) for d in dtypes), "types.pth")
    torch.save({"w": base}, "protocol4.pth", pickle_protocol=4)
    torch.save({"w": base}, "legacy.pth", _use_new_zipfile_serialization=False)


if __name__ == "__main__":
    make_safetensors()
    make_gguf()
    make_blocks()
    make_numpy()
    make_torch()
