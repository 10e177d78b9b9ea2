"""Makes tiny models for the tests of the program: a ResNet-18 of 4 channels and a BERT of one layer, with weights of no
meaning, and pictures. Standard library only.

Usage: models.py FOLDER     makes FOLDER/{resnet,resnet-nan,bert,bert-nan,bert-large} and FOLDER/{good,half}.jpg
"""
import json
import math
import os
import shutil
import struct
import sys


def values(n, seed):
    """n small numbers, the same each time."""
    out = []
    for i in range(n):
        seed = (seed * 6364136223846793005 + 1442695040888963407) % 2**64
        out.append((seed >> 40) / 2**24 - 0.5)
    return out


def safetensors(path, tensors):
    header, data = {}, b""
    for name, (shape, numbers) in tensors.items():
        blob = struct.pack(f"<{len(numbers)}f", *numbers)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(blob)]}
        data += blob
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def add(tensors, name, shape, scale=1.0, shift=0.0):
    numbers = values(math.prod(shape), len(tensors) + 1)
    tensors[name] = (shape, [scale * x + shift for x in numbers])


def resnet(folder, nan=None, classes=5):
    tensors, channels = {}, 4
    os.makedirs(folder)

    def conv_norm(conv, norm, out, inside, kernel):
        add(tensors, conv + ".weight", [out, inside, kernel, kernel])
        for part in ("weight", "bias", "running_mean", "running_var"):
            add(tensors, f"{norm}.{part}", [out], 0.2, 1.0 if part in ("weight", "running_var") else 0.0)

    conv_norm("conv1", "bn1", channels, 3, 7)
    for stage in range(1, 5):
        for block in range(2):
            name = f"layer{stage}.{block}"
            conv_norm(name + ".conv1", name + ".bn1", channels, channels, 3)
            conv_norm(name + ".conv2", name + ".bn2", channels, channels, 3)
            if stage > 1 and block == 0:
                conv_norm(name + ".downsample.0", name + ".downsample.1", channels, channels, 1)
    add(tensors, "fc.weight", [classes, channels])
    add(tensors, "fc.bias", [classes])
    if nan:
        tensors[nan][1][0] = math.nan
    safetensors(os.path.join(folder, "model.safetensors"), tensors)
    names = {str(i): f"class {i}" for i in range(classes)}
    write(os.path.join(folder, "config.json"), json.dumps({"id2label": names}))


def bert(folder, nan=None, large=None, hidden=8, inner=16, positions=32):
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "cat", "mat", "on", "the"]
    tensors = {}
    os.makedirs(folder)
    add(tensors, "embeddings.word_embeddings.weight", [len(words), hidden])
    add(tensors, "embeddings.position_embeddings.weight", [positions, hidden])
    add(tensors, "embeddings.token_type_embeddings.weight", [2, hidden])

    def norm(name):
        add(tensors, name + ".weight", [hidden], 0.2, 1.0)
        add(tensors, name + ".bias", [hidden], 0.2)

    def linear(name, out, inside):
        add(tensors, name + ".weight", [out, inside])
        add(tensors, name + ".bias", [out])

    norm("embeddings.LayerNorm")
    layer = "encoder.layer.0."
    for part in ("query", "key", "value"):
        linear(f"{layer}attention.self.{part}", hidden, hidden)
    linear(layer + "attention.output.dense", hidden, hidden)
    norm(layer + "attention.output.LayerNorm")
    linear(layer + "intermediate.dense", inner, hidden)
    linear(layer + "output.dense", hidden, inner)
    norm(layer + "output.LayerNorm")
    if nan:
        tensors[nan][1][:] = [math.nan] * len(tensors[nan][1])
    if large:
        tensors[large][1][:] = [3e38] * len(tensors[large][1])
    safetensors(os.path.join(folder, "model.safetensors"), tensors)
    write(os.path.join(folder, "config.json"), json.dumps({
        "model_type": "bert", "hidden_size": hidden, "intermediate_size": inner, "num_hidden_layers": 1,
        "num_attention_heads": 2, "max_position_embeddings": positions, "vocab_size": len(words),
        "type_vocab_size": 2, "hidden_act": "gelu", "layer_norm_eps": 1e-12}))
    write(os.path.join(folder, "vocab.txt"), "\n".join(words) + "\n")
    write(os.path.join(folder, "tokenizer_config.json"), json.dumps({"do_lower_case": True}))


def main(folder):
    here = os.path.dirname(os.path.abspath(__file__))
    resnet(os.path.join(folder, "resnet"))
    resnet(os.path.join(folder, "resnet-nan"), nan="layer2.0.conv1.weight")
    bert(os.path.join(folder, "bert"))
    bert(os.path.join(folder, "bert-nan"), nan="encoder.layer.0.output.dense.bias")
    bert(os.path.join(folder, "bert-large"), large="encoder.layer.0.intermediate.dense.weight")
    shutil.copy(os.path.join(here, "../vision/tall.jpg"), os.path.join(folder, "good.jpg"))
    with open(os.path.join(folder, "good.jpg"), "rb") as whole, open(os.path.join(folder, "half.jpg"), "wb") as half:
        data = whole.read()
        half.write(data[: len(data) // 2])


main(sys.argv[1])
