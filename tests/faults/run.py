#!/usr/bin/env python3
"""Runs commands of the wick program with one system or library call after the other failing, and looks at what they leave.

Usage: tests/faults/run.py WICK SHIM [COMMAND...] [--most N] [--kind KIND]... [--jobs N] [--standin FOLDER]

A command that ends with status 0 has to have written what it writes without a fault, to the byte; where it warns that a
kernel pack can't be read, but for rounding, as the next route's code of that kernel may be of another target. Otherwise
it says why on stderr, ends with status 1, and leaves a file that was there before as it was. It must not end by a
signal, hang, or leave a file of another name. Status 0 is wrong where a file could not be flushed, closed or renamed.
Of wick bench the figures are not compared, nor are the timings of wick generate; wick doctor and wick report tell what
they could find, which has to be whole. With --standin, commands run on the driver that stands in for GPUs too; "gpu"
names all of these. Commands that only read a model may not map it: a mapping ends them by SIGBUS when the file is cut
short. Calls are tried one by one for a third of --most from the first on and up to the last, as files are written at
the end, and spread evenly between."""

import argparse
import concurrent.futures
import math
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "cli"))
import gguf_files  # noqa: E402
FILES = os.path.join(HERE, "..", "files")
SLOW = ("bench", "bench-json", "report")  # they measure for a while
GROWING = ("verify", "report")  # they write their files bit by bit, and replace none
COPYING = ("embed", "search", "classify")  # they read their models into memory
BEFORE = b"what was there before"
NO_GPU = {"WICK_HIP_PATH": "/proc/self/none.so", "WICK_CUDA_PATH": "/proc/self/none.so"}
# A kind of call, and how it fails: what is tried, and whether a program has to get over it unharmed.
KINDS = {
    "alloc": [("", False), ("+", False)],
    "open": [("=EACCES", False), ("=EIO", False)],
    "read": [("=EIO", False), ("=EINTR", True), ("=short", True)],
    "write": [("=ENOSPC", False), ("+=ENOSPC", False), ("=EIO", False), ("=EINTR", True), ("=short", True)],
    "close": [("=EIO", False)],
    "fsync": [("=EIO", False)],
    "rename": [("=EIO", False)],
    "mmap": [("=ENOMEM", True)],
}


# ---- small models ----

def safetensors(path, tensors):
    """Writes f32 tensors of a formula."""
    header, data = [], b""
    for name, shape in tensors:
        n = math.prod(shape)
        values = struct.pack("<%df" % n, *(math.sin(len(data) // 4 + i) / 2 for i in range(n)))
        if name.endswith("running_var"):
            values = struct.pack("<%df" % n, *([1.0] * n))
        header.append('"%s":{"dtype":"F32","shape":%s,"data_offsets":[%d,%d]}'
                      % (name, list(shape), len(data), len(data) + len(values)))
        data += values
    text = ("{" + ",".join(header) + "}").encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def bert(folder):
    hidden, wide, vocab, places = 8, 16, 52, 12
    os.mkdir(folder)
    for name in ("vocab.txt", "tokenizer_config.json"):
        shutil.copy(os.path.join(HERE, "..", "text", "tiny-vocab", name), folder)
    with open(os.path.join(folder, "config.json"), "w") as file:
        file.write('{"model_type":"bert","hidden_size":8,"intermediate_size":16,"num_hidden_layers":1,'
                   '"num_attention_heads":2,"max_position_embeddings":12,"vocab_size":52,"type_vocab_size":2,'
                   '"hidden_act":"gelu"}')
    names = [("embeddings.word_embeddings.weight", (vocab, hidden)),
             ("embeddings.position_embeddings.weight", (places, hidden)),
             ("embeddings.token_type_embeddings.weight", (2, hidden)),
             ("embeddings.LayerNorm.weight", (hidden,)), ("embeddings.LayerNorm.bias", (hidden,))]
    for part, out, width in (("attention.self.query", hidden, hidden), ("attention.self.key", hidden, hidden),
                             ("attention.self.value", hidden, hidden), ("attention.output.dense", hidden, hidden),
                             ("intermediate.dense", wide, hidden), ("output.dense", hidden, wide)):
        names += [("encoder.layer.0.%s.weight" % part, (out, width)), ("encoder.layer.0.%s.bias" % part, (out,))]
    for part in ("attention.output.LayerNorm", "output.LayerNorm"):
        names += [("encoder.layer.0.%s.weight" % part, (hidden,)), ("encoder.layer.0.%s.bias" % part, (hidden,))]
    safetensors(os.path.join(folder, "model.safetensors"), names)


def resnet(folder):
    """A ResNet-18 of few channels, on pictures of 32 x 32."""
    os.mkdir(folder)
    names = []

    def layer(conv, norm, out, width, size):
        names.append((conv + ".weight", (out, width, size, size)))
        names.extend(("%s.%s" % (norm, part), (out,)) for part in ("weight", "bias", "running_mean", "running_var"))

    layer("conv1", "bn1", 4, 3, 7)
    width = 4
    for stage in range(4):
        out = 4 * 2**stage
        for block in range(2):
            prefix = "layer%d.%d." % (stage + 1, block)
            layer(prefix + "conv1", prefix + "bn1", out, width if block == 0 else out, 3)
            layer(prefix + "conv2", prefix + "bn2", out, out, 3)
            if block == 0 and stage > 0:
                layer(prefix + "downsample.0", prefix + "downsample.1", out, width, 1)
        width = out
    names += [("fc.weight", (10, width)), ("fc.bias", (10,))]
    safetensors(os.path.join(folder, "model.safetensors"), names)
    with open(os.path.join(folder, "config.json"), "w") as file:
        file.write('{"id2label":{%s}}' % ",".join('"%d":"label %d"' % (i, i) for i in range(10)))
    with open(os.path.join(folder, "preprocessor_config.json"), "w") as file:
        file.write('{"size":{"shortest_edge":36},"crop_size":{"height":32,"width":32},"image_mean":[0.5,0.5,0.5],'
                   '"image_std":[0.5,0.5,0.5],"resample":2}')


# ---- commands ----

def commands(work):
    """Name: arguments, and the output file, which stands for OUT in them."""
    def of(name):
        return os.path.join(FILES, name)

    texts, letters, embedder, vision = (os.path.join(work, name) for name in ("texts.txt", "letters.txt", "bert", "resnet"))
    with open(texts, "w") as file:
        file.write("hello world\n\nhello\nworld hello world\n")
    with open(letters, "w") as file:
        file.write("bcadefghijkl")
    bert(embedder)
    resnet(vision)
    talker = os.path.join(work, "talker.gguf")
    gguf_files.add_key(os.path.join(HERE, "..", "model", "llama.gguf"), talker, "tokenizer.chat_template",
                       "{{ messages[0]['content'] }}")
    picture, model = os.path.join(HERE, "..", "vision"), os.path.join(HERE, "..", "model", "llama.gguf")
    table = {"inspect-" + name: (["inspect", of(name)], None)
             for name in ("types.safetensors", "types.gguf", "c.npy", "deflated.npz", "state_dict.pth", "sharded")}
    table.update({
        "inspect-json-gguf": (["inspect", "--json", of("types.gguf")], None),
        "inspect-json-safetensors": (["inspect", "--json", of("types.safetensors")], None),
        "embed-jsonl": (["embed", "--model", embedder, "--device", "cpu", "--output", "OUT.jsonl", texts], ".jsonl"),
        "embed-stdout": (["embed", "--model", embedder, "--device", "cpu", texts], None),
        "embed-npy": (["embed", "--model", embedder, "--device", "cpu", "--output", "OUT.npy", texts], ".npy"),
        "embed-safetensors": (["embed", "--model", embedder, "--device", "cpu", "--output", "OUT.safetensors", texts],
                              ".safetensors"),
        "search": (["search", "--model", embedder, "--device", "cpu", "hello", texts], None),
        "classify-jpeg": (["classify", "--model", vision, "--device", "cpu", os.path.join(picture, "grey.jpg")], None),
        "classify-json": (["classify", "--model", vision, "--device", "cpu", "--json",
                           os.path.join(picture, "small.png")], None),
        "generate": (["generate", model, "bca", "-n", "4", "--device", "cpu"], None),
        "generate-no-mmap": (["generate", model, "bca", "-n", "4", "--no-mmap", "--device", "cpu"], None),
        "generate-folder": (["generate", of("../model/hub/mixtral"), "bca", "-n", "4", "--device", "cpu"], None),
        "generate-json": (["generate", model, "bca", "-n", "4", "--json", "--device", "cpu"], None),
        "chat": (["chat", talker, "--device", "cpu"], None),
        "perplexity": (["perplexity", model, letters, "-c", "8", "--device", "cpu"], None),
        "perplexity-json": (["perplexity", model, letters, "-c", "8", "--against", model, "--json", "--device", "cpu"], None),
        "quantize": (["quantize", model, "OUT.gguf", "q4_0"], ".gguf"),
        "devices": (["devices"], None),
        "devices-json": (["devices", "--json"], None),
        "kernels-json": (["kernels", "--json"], None),
        "verify": (["verify", "--cut", "--op", "add"], None),
        "verify-json": (["verify", "--cut", "--op", "sum", "--dtype", "f32", "--json"], None),
        "verify-log": (["verify", "--cut", "--op", "abs", "--dtype", "f32", "--log", "OUT.log"], ".log"),
        "bench": (["bench", "--quick", "--op", "abs", "--device", "cpu"], None),
        "bench-json": (["bench", "--quick", "--op", "abs", "--device", "cpu", "--json"], None),
        "bench-model": (["bench", "--model", model, "-p", "4", "-n", "2", "-r", "2", "--depth", "0,3"], None),
        "bench-model-json": (["bench", "--model", model, "-p", "4", "-n", "2", "-r", "2", "--json"], None),
        "doctor": (["doctor"], None),
        "doctor-json": (["doctor", "--json"], None),
        "report": (["report", "--device", "cpu", "--seconds", "1", "OUT.txt"], ".txt"),
    })
    return table


def on_standin(table):
    """The commands that compute, on the stand-in's GPUs."""
    return {"%s-%s" % (name, family): ([family + ":0" if word == "cpu" else word for word in table[name][0]]
                                       + ([] if "cpu" in table[name][0] else ["--device", family + ":0"]), table[name][1])
            for family in ("cuda", "rocm") for name in ("verify", "embed-npy", "classify-json", "search")}


def standin(folder):
    """The settings by which it is found."""
    names = {"WICK_HIP_PATH": "libamdhip64.so.6", "WICK_CUDA_PATH": "libcuda.so.1", "WICK_ROCBLAS_PATH": "librocblas.so.4",
             "WICK_CUBLAS_PATH": "libcublas.so.13", "WICK_CUBLASLT_PATH": "libcublasLt.so.13",
             "WICK_HIPBLASLT_PATH": "libhipblaslt.so.0", "WICK_CUDNN_PATH": "libcudnn.so.9",
             "WICK_MIOPEN_PATH": "libMIOpen.so.1",
             "WICK_KERNEL_PACK": "pack"}
    return dict({name: os.path.join(os.path.abspath(folder), file) for name, file in names.items()}, WICK_COMPILE="never")


def comparable(command, text):
    """What of an output is the same in every run: without the processor's name, which comes from /proc/cpuinfo and may
    stay unknown, without measured figures, and for those that tell what they could find only whether it is whole."""
    if command == "devices":
        return re.sub(rb'(?m)"description": ?"[^"]*"|^cpu +[^,]*,', b"", text)
    if command == "bench":
        text = re.sub(rb'"description": ?"[^"]*"', b"", text)
        return re.sub(rb"[-+.0-9e ]+", b"#", re.sub(rb"(?m)^cpu: .*\n", b"", text))
    if command == "generate":
        return re.sub(rb'(_per_second": )[-+.0-9e]+', rb"\1#", text)
    if command == "report":
        return b"whole" if b"\n==== summary\n" in text and text.endswith(b"\n") else b"partial"
    if command == "doctor":
        return b"whole" if text.endswith((b"}\n", b"\n")) else b"partial"
    return text


def numbers(output):
    """The floats of an output, and what lies between them."""
    if output.startswith(b"\x93NUMPY"):
        begin = 10 + struct.unpack_from("<H", output, 8)[0]
        return [value for value, in struct.iter_unpack("<f", output[begin:])], output[:begin]
    number = rb"-?\d+\.\d+(?:e[-+]?\d+)?"
    return [float(value) for value in re.findall(number, output)], re.split(number, output)


def is_same(output, sound, warnings):
    """Whether an output is that of the run without a fault."""
    if output == sound or b"warning: kernel pack: " not in warnings:
        return output == sound
    (ours, text), (theirs, same) = numbers(output), numbers(sound)
    return (text == same and len(ours) == len(theirs)
            and all(math.isclose(a, b, rel_tol=1e-5, abs_tol=1e-6) for a, b in zip(ours, theirs)))


class Bench:
    def __init__(self, wick, shim, work, gpus):
        self.wick, self.shim, self.work, self.gpus = wick, shim, work, gpus

    def run(self, arguments, output, fault):
        """(status, stdout, stderr, output file, names left, counts); status is None for a hang."""
        with tempfile.TemporaryDirectory(dir=self.work) as folder:
            out = os.path.join(folder, "out", "result")
            os.mkdir(os.path.dirname(out))
            os.mkdir(os.path.join(folder, "home"))
            path = out + (output or "")
            if output and arguments[0] not in GROWING:
                with open(path, "wb") as file:
                    file.write(BEFORE)
            counts = os.path.join(folder, "counts")
            environment = {"PATH": os.environ.get("PATH", ""), "HOME": os.path.join(folder, "home"), "TZ": "UTC",
                           "LD_PRELOAD": self.shim, "FAULT_COUNT": counts, "WICK_THREADS": "1"}
            environment.update(self.gpus if re.search("(cuda|rocm):", " ".join(arguments)) else NO_GPU)
            if fault:
                environment["FAULT"] = fault
            line = [self.wick] + [argument.replace("OUT", out) for argument in arguments]
            try:
                done = subprocess.run(line, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=30)
            except subprocess.TimeoutExpired:
                return None, b"", b"", b"", [], {}
            content = open(path, "rb").read() if output and os.path.exists(path) else b""
            left = sorted(os.listdir(os.path.dirname(out)))
            tally = dict(row.split() for row in open(counts)) if os.path.exists(counts) else {}
            stdout = done.stdout.replace(folder.encode(), b"FOLDER")
            if arguments[0] == "report":
                content = comparable("report", content)
            else:
                stdout = comparable(arguments[0], stdout)
            if arguments[0] == "verify":  # the seconds of each check
                content = re.sub(rb" [0-9.]+\n", b"\n", content)
            return done.returncode, stdout, done.stderr, content, left, {kind: int(n) for kind, n in tally.items()}

    def judge(self, arguments, output, fault, harmless, sound):
        """What is wrong with a run under a fault; None for nothing."""
        status, stdout, stderr, content, left, _ = self.run(arguments, output, fault)
        if status is None:
            return "hangs"
        if status < 0:
            return "ends by signal %d: %s" % (-status, stderr.decode(errors="replace")[-300:])
        if status == 0:
            if output and fault.partition(":")[0] in ("close", "fsync", "rename"):
                return "status 0, though the file was not kept for sure"
            if not is_same(stdout, sound[1], stderr):
                return "status 0, and stdout differs: %r" % stdout[-200:]
            if left != sound[4] or not is_same(content, sound[3], stderr):
                return "status 0, and the output file differs: %s" % left
            return None
        if harmless and status != sound[0]:
            return "status %d, though it can go on: %s" % (status, stderr.decode(errors="replace")[-300:])
        if status != 1:
            return "status %d, not 1" % status
        if arguments[0] == "doctor" and not stderr and stdout != sound[1]:
            return "findings are lost without a word: %r" % stdout[-200:]
        if not stderr and not (arguments[0] in ("verify", "bench", "doctor") and stdout):  # BAD, WRONG, findings
            return "status 1 without a word"
        if output and arguments[0] not in GROWING and (content not in (BEFORE, sound[3]) or len(left) != 1):
            return "status 1, and the file that was there is not as before: %s" % left
        return None


def places(count, most):
    if count <= most:
        return range(1, count + 1)
    part = max(1, most // 3)
    between = {part + (count - 2 * part) * i // (part + 1) for i in range(1, part + 1)}
    return sorted(set(range(1, part + 1)) | between | set(range(count - part + 1, count + 1)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("wick")
    parser.add_argument("shim")
    parser.add_argument("--most", type=int, default=60)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--kind", action="append", choices=KINDS)
    parser.add_argument("--standin")
    parser.add_argument("command", nargs="*")
    options = parser.parse_args()
    bad = runs = 0
    with tempfile.TemporaryDirectory() as work, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        gpus = standin(options.standin) if options.standin else NO_GPU
        bench = Bench(os.path.abspath(options.wick), os.path.abspath(options.shim), work, gpus)
        table = commands(work)
        gpu = on_standin(table) if options.standin else {}
        table.update(gpu)
        names = [name for word in options.command or table for name in (gpu if word == "gpu" else [word])]
        for name in names:
            arguments, output = table[name]
            sound = bench.run(arguments, output, None)
            if sound[0] not in ((0, 1) if arguments[0] == "doctor" else (0,)) or not sound[5]:
                print("%s: fails without a fault, status %s: %s" % (name, sound[0], sound[2].decode(errors="replace")))
                bad += 1
                continue
            if (arguments[0] in COPYING or "--no-mmap" in arguments) and sound[5]["mmap"]:
                print("%s: maps a file" % name)
                bad += 1
            most = options.most // 4 if name in SLOW else options.most
            faults = [("%s:%d%s" % (kind, n, how), harmless) for kind in options.kind or KINDS
                      for how, harmless in KINDS[kind] for n in places(sound[5][kind], most)]
            results = pool.map(lambda fault: bench.judge(arguments, output, fault[0], fault[1], sound), faults)
            wrong = [(fault[0], verdict) for fault, verdict in zip(faults, results) if verdict]
            runs += len(faults)
            bad += len(wrong)
            print("%-26s %5d runs, %d wrong" % (name, len(faults), len(wrong)), flush=True)
            for fault, verdict in wrong[:8]:
                print("    FAULT=%s: %s" % (fault, verdict))
    print("%d runs, %d wrong" % (runs, bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
