#!/usr/bin/env python3
"""Times `wick embed` beside sentence-transformers: passages of text to vectors, with one model on one device.

    bench/embed.py --wick build/cli/wick --model DIR --device cuda:0 --text FILE... --output docs/results/embed.md

Passages are made from the words of the text files, with a seed: their lengths spread around 25 words, as sentences of
documents do. `wick embed` counts from process start to the file on disk; sentence-transformers counts its encode alone
(the model is loaded and warm) in the best of three batch sizes, and its whole process from start to file as well. A
figure is the least of --repeats runs. The vectors are compared in float64."""
import argparse
import json
import os
import pathlib
import platform
import random
import subprocess
import sys
import tempfile
import time

import numpy

THEIRS = """
import sys, time
import numpy, torch
from sentence_transformers import SentenceTransformer
model, device, dtype, source, output, repeats = sys.argv[1:7]
model = SentenceTransformer(model, device=device, model_kwargs={"torch_dtype": getattr(torch, dtype)})
texts = open(source, encoding="utf-8").read().splitlines()
model.encode(texts[:256], batch_size=256)
for batch in 32, 256, 1024:
    for _ in range(int(repeats)):
        began = time.perf_counter()
        vectors = model.encode(texts, batch_size=batch, normalize_embeddings=True, show_progress_bar=False)
        print("ENCODE", batch, time.perf_counter() - began, flush=True)
numpy.save(output, numpy.asarray(vectors, dtype=numpy.float32))
"""


def passages(files, count, seed):
    words = " ".join(pathlib.Path(path).read_text(encoding="utf-8") for path in files).split()
    draw = random.Random(seed)
    lines = []
    for _ in range(count):
        length = min(120, max(4, int(draw.lognormvariate(3.2, 0.45))))  # median 25 words
        at = draw.randrange(len(words) - length)
        lines.append(" ".join(words[at:at + length]))
    return lines


def timed(command):
    began = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        raise SystemExit("%s\n%s" % (" ".join(command), done.stdout.decode(errors="replace")))
    return time.perf_counter() - began, done.stdout.decode(errors="replace")


def ours(options, source, folder, name, extra):
    output = os.path.join(folder, name + ".npy")
    command = [options.wick, "embed", "--model", options.model, "--device", options.device, "--output", output, *extra,
               source]
    seconds = min(timed(command)[0] for _ in range(options.repeats + 1))
    return seconds, numpy.load(output)


def theirs(options, source, folder, dtype):
    output = os.path.join(folder, dtype + ".npy")
    device = "cpu" if options.device == "cpu" else "cuda"
    whole, text = timed([sys.executable, "-c", THEIRS, options.model, device, dtype, source, output,
                         str(options.repeats)])
    best = {}
    for line in text.splitlines():
        if line.startswith("ENCODE"):
            _, batch, seconds = line.split()
            best[int(batch)] = min(best.get(int(batch), 1e9), float(seconds))
    return best, whole, numpy.load(output)


def difference(a, b):
    return float(numpy.abs(a.astype(numpy.float64) - b.astype(numpy.float64)).max())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wick", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--text", nargs="+", required=True)
    parser.add_argument("--passages", type=int, default=40000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--output")
    options = parser.parse_args()
    lines = passages(options.text, options.passages, options.seed)
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "passages.txt")
        pathlib.Path(source).write_text("\n".join(lines) + "\n", encoding="utf-8")
        rows, exact = [], None
        seconds, exact = ours(options, source, folder, "f32", [])
        rows.append(["`wick embed`, f32", "process start to file", seconds, 0.0])
        seconds, vectors = ours(options, source, folder, "bf16", ["--fast"])
        rows.append(["`wick embed --fast`, bf16", "process start to file", seconds, difference(vectors, exact)])
        for dtype in "float32", "bfloat16":
            best, _, vectors = theirs(options, source, folder, dtype)
            for batch, seconds in sorted(best.items()):
                rows.append(["sentence-transformers, %s, batch %d" % (dtype, batch), "encode alone, model loaded", seconds,
                             difference(vectors, exact)])
    import sentence_transformers
    import torch
    card = torch.cuda.get_device_name() if options.device != "cpu" else platform.processor()
    words = sum(len(line.split()) for line in lines)
    table = ["%d passages (%d words, seed %d), all-MiniLM-L6-v2, %s; sentence-transformers %s, PyTorch %s." % (
        len(lines), words, options.seed, card, sentence_transformers.__version__, torch.__version__), "",
        "| what | counted | seconds | largest difference from `wick embed` in f32 |", "| --- | --- | ---: | ---: |"]
    table += ["| %s | %s | %.2f | %s |" % (what, counted, seconds, "%.1e" % far if far else "") for what, counted, seconds, far
              in rows]
    text = "\n".join(table) + "\n"
    print(text)
    if options.output:
        pathlib.Path(options.output).write_text(text)
    print(json.dumps([[what, round(seconds, 3)] for what, _, seconds, _ in rows]))


main()
