#!/usr/bin/env python3
"""wick perplexity beside sums in float64 over the logits that transformers computed of the small models in tests/model, and
wick bench --model beside a clock; wick quantize beside the formulas of GGML's simple types. Standard library only.

Usage: lm.py WICK
"""
import json
import math
import os
import re
import struct
import subprocess
import sys
import tempfile
import time

import gguf_files

MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "model")
WICK = sys.argv[1]
failed = 0


def check(name, good, *shown):
    global failed
    if not good:
        print("failed:", name, *shown)
        failed += 1


def near(name, got, want, bound=1e-4):
    check(name, abs(got - want) <= bound * max(1, abs(want)), got, want)


def model(name):
    return os.path.join(MODELS, name + ".gguf")


def safetensors(path):
    """All tensors, as rows of numbers."""
    with open(path, "rb") as file:
        data = file.read()
    size, = struct.unpack_from("<Q", data)
    found = {}
    for name, entry in json.loads(data[8:8 + size]).items():
        start, end = entry["data_offsets"]
        kind = {"F32": "f", "I32": "i"}[entry["dtype"]]
        numbers = struct.unpack(f"<{(end - start) // 4}{kind}", data[8 + size + start:8 + size + end])
        width = entry["shape"][-1]
        found[name] = [numbers[i:i + width] for i in range(0, len(numbers), width)]
    return found


def run(*arguments, status=0):
    result = subprocess.run([WICK, *arguments], capture_output=True, text=True, timeout=60, check=False,
                            stdin=subprocess.DEVNULL)
    check(" ".join(arguments), result.returncode == status, result.returncode, result.stderr)
    return result


def perplexity(*arguments):
    return json.loads(run("perplexity", "--device", "cpu", "--json", *arguments).stdout)


def log_softmax(row):
    most = max(row)
    total = most + math.log(math.fsum(math.exp(x - most) for x in row))
    return [x - total for x in row]


def mean(values):
    average = math.fsum(values) / len(values)
    variance = math.fsum((x - average) ** 2 for x in values) / len(values)
    return average, math.sqrt(variance / (len(values) - 1))


def text_of(ids):
    return "".join(chr(62 + i) for i in ids)  # make.py's vocabulary: the characters from A on have the ids from 3 on


def check_perplexity(logits, ids, folder):
    """One window of all 24 tokens, and the same one twice."""
    path, first = os.path.join(folder, "text"), len(ids) // 2
    rows = range(first, len(ids) - 1)
    for family in sorted(set(logits) - {"ids"}):
        nll = [-log_softmax(logits[family][t])[ids[t + 1]] for t in rows]
        for times in (1, 2):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text_of(ids) * times)
            got = perplexity(model(family), path, "-c", "24")
            average, error = mean(nll * times)
            check(family, (got["tokens"], got["windows"], got["scored"]) == (24 * times, times, len(nll) * times), got)
            near(f"{family}: perplexity", got["perplexity"]["mean"], math.exp(average))
            near(f"{family}: error", got["perplexity"]["error"], math.exp(average) * error)
            check("no base", "against" not in got)


def check_against(logits, ids, folder, family, other):
    path, rows = os.path.join(folder, "text"), range(len(ids) // 2, len(ids) - 1)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text_of(ids))
    p = [log_softmax(logits[family][t]) for t in rows]
    q = [log_softmax(logits[other][t]) for t in rows]
    right = [ids[t + 1] for t in rows]
    divergence = [math.fsum(math.exp(b) * (b - a) for a, b in zip(x, y)) for x, y in zip(p, q)]
    change = [math.exp(x[i]) - math.exp(y[i]) for x, y, i in zip(p, q, right)]
    nll, base = [-x[i] for x, i in zip(p, right)], [-y[i] for y, i in zip(q, right)]
    same = [float(x.index(max(x)) == y.index(max(y))) for x, y in zip(p, q)]
    ratio = mean([a - b for a, b in zip(nll, base)])
    whole = perplexity(model(family), path, "-c", "24", "--against", model(other))
    got, name = whole["against"], f"{family} against {other}: "
    near(name + "perplexity", whole["perplexity"]["mean"], math.exp(mean(nll)[0]))
    near(name + "base", got["perplexity"]["mean"], math.exp(mean(base)[0]))
    near(name + "ratio", got["ratio"]["mean"], math.exp(ratio[0]))
    near(name + "ratio's error", got["ratio"]["error"], math.exp(ratio[0]) * ratio[1])
    for key, values in (("divergence", divergence), ("change", change), ("same_top", same)):
        near(name + key, got[key]["mean"], mean(values)[0])
        near(name + key + "'s error", got[key]["error"], mean(values)[1])
    near(name + "root mean square", got["change"]["root_mean_square"], math.sqrt(mean([x * x for x in change])[0]))
    ordered, average = sorted(divergence), [mean(x)[0] for x in (nll, base)]
    near(name + "median", got["divergence"]["median"], ordered[len(ordered) // 2])
    near(name + "90 %", got["divergence"]["p90"], ordered[9])  # 11 values: the 90th percentile is one of them
    near(name + "largest", got["divergence"]["largest"], ordered[-1])
    both = math.fsum((a - average[0]) * (b - average[1]) for a, b in zip(nll, base))
    squares = [math.fsum((a - average[i]) ** 2 for a in x) for i, x in enumerate((nll, base))]
    near(name + "correlation", got["correlation"], both / math.sqrt(squares[0] * squares[1]))
    check(name + "table", "same likeliest, %" in run("perplexity", model(family), path, "-c", "24", "--against",
                                                     model(other), "--device", "cpu").stdout)


def check_memory():
    """A model that does not fit is refused before it is loaded, with figures that add up."""
    if os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") > 2e11:
        return  # all of it might fit
    told = run("generate", model("llama"), "bca", "-c", "1000000000", "--device", "cpu", status=1).stderr
    found = re.search(r"([0-9.]+) MB of memory are needed on cpu: ([0-9.]+) MB for weights, ([0-9.]+) MB for keys and "
                      r"values, ([0-9.]+) MB to compute with; ([0-9.]+) MB are available, ([0-9.]+) MB too few", told)
    check("figures", found and "--any-size" in told, told)
    needed, weights, cache, work, available, missing = (float(x) for x in found.groups())
    check("sum", abs(weights + cache + work - needed) < 0.2 and abs(needed - available - missing) < 0.2, told)
    check("cache", cache == 1e9 * 2 * 2 * 2 * 8 * 4 / 1e6, cache)
    plain = ["generate", model("llama"), "bca", "--device", "cpu", "-n", "3", "--ignore-end", "--temp", "0"]
    check("--any-size", run(*plain, "-c", "1000000000", "--any-size").stdout == run(*plain).stdout)
    check("short answers need little", run(*plain, "-c", "1000000000").stdout == run(*plain).stdout)
    told = run(*plain, "--cache", "q8_0", status=1).stderr
    check("heads of 8", "heads of 8 are no whole number of blocks of 32" in told, told)


def check_begin(ids, folder):
    """Where a model wants a token before each text, it replaces the first of each window: that one has no effect."""
    path, changed = os.path.join(folder, "begin.gguf"), list(ids)
    changed[11] = ids[11] + 1
    with open(model("llama"), "rb") as file:
        data = file.read()
    key = b"tokenizer.ggml.add_bos_token"
    at = data.index(key) + len(key) + 4
    check("the key is false", data[at] == 0)
    with open(path, "wb") as file:
        file.write(data[:at] + b"\1" + data[at + 1:])
    found = []
    for which in (path, model("llama")):
        for tokens in (ids, changed):
            with open(os.path.join(folder, "text"), "w", encoding="utf-8") as file:
                file.write(text_of(tokens + tokens[:12]))
            found.append(perplexity(which, os.path.join(folder, "text"), "-c", "12", "--chunks", "2"))
    check("25 tokens and 12", found[0]["tokens"] == 37 and found[0]["windows"] == 2, found[0])
    check("the first token of a window has no effect", found[0] == found[1], found[:2])
    check("but without such a token it has", found[2] != found[3])


def check_refusals(ids, folder):
    path = os.path.join(folder, "text")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text_of(ids))
    check("too short", "less than a window of 25" in run("perplexity", model("llama"), path, "-c", "25", status=1).stderr)
    check("no text", "nosuch" in run("perplexity", model("llama"), os.path.join(folder, "nosuch"), status=1).stderr)
    check("no model", "nosuch" in run("perplexity", "nosuch.gguf", path, status=1).stderr)
    check("usage", "needs a model and a text" in run("perplexity", model("llama"), status=2).stderr)
    check("cache", "not 'q8'" in run("perplexity", model("llama"), path, "--cache", "q8", status=2).stderr)


def half(data):
    return struct.unpack("<e", data)[0]


def nibbles(data):
    return [x & 15 for x in data] + [x >> 4 for x in data]


def block_values(kind, block):
    """The values of a block, and the distance of neighbours."""
    d = half(block[:2])
    if kind == "q8_0":
        return [d * x for x in struct.unpack("<32b", block[2:])], abs(d)
    if kind == "q4_0":
        return [d * (x - 8) for x in nibbles(block[2:])], abs(d)
    if kind == "q4_1":
        return [d * x + half(block[2:4]) for x in nibbles(block[4:])], abs(d)
    at = 2 if kind == "q5_0" else 4
    fifth, = struct.unpack("<I", block[at:at + 4])
    whole = [x + 16 * (fifth >> i & 1) for i, x in enumerate(nibbles(block[at + 4:]))]
    return [d * (x - 16) if kind == "q5_0" else d * x + half(block[2:4]) for x in whole], abs(d)


def rounded(x):
    return half(struct.pack("<e", x))


def ggml_values(kind, values):
    """What GGML's own quantisers make of a block."""
    low, high, levels = min(values), max(values), 15 if kind[1] == "4" else 31
    if kind == "q8_0":
        d = max(abs(x) for x in values) / 127
        return [rounded(d) * math.floor(x / d + 0.5) for x in values]
    if kind[-1] == "1":
        d = (high - low) / levels
        return [rounded(d) * min(levels, int((x - low) / d + 0.5)) + rounded(low) for x in values]
    middle = (levels + 1) // 2
    d = max(values, key=abs) / -middle
    return [rounded(d) * (min(levels, int(x / d + middle + 0.5)) - middle) for x in values]


def check_values(name, kind, shape, before, after):
    """Errors no larger than those of GGML's quantisers, in the sum of squares, and no value far off."""
    size = next(bytes_ for called, _, bytes_ in gguf_files.TYPES.values() if called == kind)
    want, worst, squares, theirs = struct.unpack(f"<{len(before) // 4}f", before), 0.0, 0.0, 0.0
    for i in range(0, len(after) // size):
        (got, step), x = block_values(kind, after[i * size:(i + 1) * size]), want[32 * i:32 * i + 32]
        worst = max(worst, max(abs(a - b) / step for a, b in zip(x, got)))
        squares += math.fsum((a - b) ** 2 for a, b in zip(x, got))
        theirs += math.fsum((a - b) ** 2 for a, b in zip(x, ggml_values(kind, x)))
    check(f"{name} {kind} {shape}: {worst} steps, squares {squares}, GGML's {theirs}",
          0 < worst <= 2 and squares <= 1.001 * theirs and len(after) // size * 32 == len(want))


def check_quantize(logits, ids, folder):
    path, text = os.path.join(folder, "out.gguf"), os.path.join(folder, "text")
    with open(text, "w", encoding="utf-8") as file:
        file.write(text_of(ids))
    before = gguf_files.Reader(model("llama"))
    average, _ = mean([-log_softmax(logits["llama"][t])[ids[t + 1]] for t in range(12, 23)])
    for kind, number, bound in (("q8_0", 7, 0.01), ("q5_1", 9, 0.1), ("q5_0", 8, 0.1), ("q4_1", 3, 0.2), ("q4_0", 2, 0.2)):
        with open(path, "wb") as file:
            file.write(b"before")
        said = run("quantize", model("llama"), path, kind).stdout
        after = gguf_files.Reader(path)
        keys = dict(before.keys)
        keys.update({"general.file_type": number, "general.quantization_version": 2})
        check(f"{kind}: keys", {k: v for k, v in after.keys.items() if k != "general.alignment"} == keys)
        check(f"{kind}: names", list(after.tensors) == list(before.tensors))
        for name, (called, shape, data) in after.tensors.items():
            old, old_shape, old_data = before.tensors[name]
            want = "f32" if len(shape) == 1 else "f16" if "ffn_down" in name else "q8_0" if name == "output.weight" else kind
            check(f"{kind}: {name} is {called}", called == want and shape == old_shape and old == "f32")
            if called == "f32":
                check(f"{kind}: {name} is a copy", data == old_data)
            elif called == "f16":  # 48 columns are no whole number of blocks
                pairs = zip(struct.unpack(f"<{len(data) // 2}e", data), struct.unpack(f"<{len(data) // 2}f", old_data))
                check(f"{kind}: {name} is near", all(abs(x - y) <= 2 ** -11 * abs(y) + 2 ** -25 for x, y in pairs))
            else:
                check_values(name, called, shape, old_data, data)
        check(f"{kind}: counts", "2 tensors f16" in said and "5 tensors f32" in said, said)
        near(f"{kind}: perplexity", math.log(perplexity(path, text, "-c", "24", "--exact")["perplexity"]["mean"]), average,
             bound)
        check(f"{kind}: generates", run("generate", path, "bca", "-n", "4", "--ignore-end", "--temp", "0").stdout[:3] == "bca")
    half_way = os.path.join(folder, "f16.gguf")
    run("quantize", model("llama"), half_way, "F16")
    check("f16", gguf_files.Reader(half_way).tensors["token_embd.weight"][0] == "f16")
    run("quantize", half_way, path, "Q8_0")
    told = run("quantize", path, half_way, "q4_0", status=1).stderr
    check("already quantised", "is q8_0 already; --allow-requantize" in told, told)
    run("quantize", "--allow-requantize", path, half_way, "q4_0")
    check("twice", gguf_files.Reader(half_way).tensors["token_embd.weight"][0] == "q4_0")
    run("quantize", model("llama3"), path, "q4_k_m")  # its embedding gives the logits
    check("tied", gguf_files.Reader(path).tensors["token_embd.weight"][0] == "q8_0")
    for kind, told in (("iq2_xs", "IQ2_XS needs a quantiser"), ("Q2_K_S", "Q2_K_S needs"), ("q9", "there is no type 'q9'")):
        check(kind, told in run("quantize", model("llama"), path, kind, status=2).stderr)
    check("no file", "nosuch" in run("quantize", "nosuch.gguf", path, "q8_0", status=1).stderr)
    check("no model", "out.npy" in run("quantize", "out.npy", path, "q8_0", status=1).stderr)
    check("no folder", "nosuch" in run("quantize", model("llama"), os.path.join(folder, "nosuch", "x"), "q8_0", status=1).stderr)
    check("usage", "needs a model" in run("quantize", model("llama"), path, status=2).stderr)


def weighted_squares(name, kind, before, after, weights):
    old, blocks = before.tensors[name][2], after.tensors[name][2]
    want, size, total = struct.unpack(f"<{len(old) // 4}f", old), len(blocks) * 32 // (len(old) // 4), 0.0
    for i in range(len(blocks) // size):
        got, _ = block_values(kind, blocks[i * size:(i + 1) * size])
        total += math.fsum(w * (a - b) ** 2 for w, a, b in zip(weights, want[32 * i:32 * i + 32], got))
    return total


def check_importance(folder):
    """Columns that matter more are nearer; tensors that the matrix does not know stay as without one."""
    out, plain, matrix = (os.path.join(folder, name) for name in ("out.gguf", "plain.gguf", "imatrix.gguf"))
    keys = {"general.type": "imatrix", "imatrix.datasets": ["text"], "imatrix.chunk_count": 2, "imatrix.chunk_size": 512}
    weights = [1000.0 if i % 8 == 3 else 0.5 for i in range(32)]
    known = ["blk.0.attn_q.weight", "blk.1.ffn_up.weight"]

    def write(sums, counts, shape=(32,)):
        tensors = {}
        for name in known:
            tensors[name + ".in_sum2"], tensors[name + ".counts"] = (shape, sums), ((len(counts),), counts)
        gguf_files.write_floats(matrix, keys, tensors)

    run("quantize", model("llama"), plain, "q4_0")
    before, unweighed = gguf_files.Reader(model("llama")), gguf_files.Reader(plain)
    write([w * 4 for w in weights], [4.0])
    said = run("quantize", model("llama"), out, "q4_0", "--imatrix", matrix).stdout
    check("told", "2 of them by importance" in said, said)
    after = gguf_files.Reader(out)
    check("keys", after.keys["quantize.imatrix.file"] == matrix and after.keys["quantize.imatrix.entries_count"] == 2)
    for name, (kind, _, data) in after.tensors.items():
        if name not in known:
            check(f"{name} is the same", data == unweighed.tensors[name][2])
            continue
        better, worse = (weighted_squares(name, kind, before, x, weights) for x in (after, unweighed))
        check(f"{name}: {better} instead of {worse}", better < 0.9 * worse)
    write([0.0] * 32, [0.0])
    run("quantize", model("llama"), out, "q4_0", "--imatrix", matrix)
    check("no numbers, no preference", gguf_files.Reader(out).tensors[known[0]][2] == unweighed.tensors[known[0]][2])
    for sums, counts, shape, told in (([1.0] * 31, [1.0], (31,), "is not 32 f32"), ([math.nan] * 32, [1.0], (32,), "finite"),
                                      ([-1.0] * 32, [1.0], (32,), "below 0"), ([1.0] * 32, [math.inf], (32,), "finite"),
                                      ([1.0] * 32, [1.0] * 2, (32,), "is not 1 f32")):
        write(sums, counts, shape)
        got = run("quantize", model("llama"), out, "q4_0", "--imatrix", matrix, status=1).stderr
        check(f"{told}", told in got and "imatrix.gguf" in got, got)
    gguf_files.write_floats(matrix, keys, {"blk.0.gate.weight.in_sum2": ((32,), [1.0] * 32), known[0] + ".counts": ((1,), [1.0])})
    got = run("quantize", model("llama"), out, "q4_0", "--imatrix", matrix, status=1).stderr
    check("half of an entry", "not both" in got, got)
    got = run("quantize", model("llama"), out, "q4_0", "--imatrix", model("llama"), status=1).stderr
    check("a model", "not an importance matrix" in got, got)
    known[:] = ["blk.0.ffn_up_exps.weight"]  # each of 4 experts has weights of its own
    write([8 * w for w in weights] + [1.0] * 32 + [0.0] * 32 + weights, [8.0, 1.0, 0.0, 1.0], (4, 32))
    run("quantize", model("mixtral"), plain, "q4_0")
    run("quantize", model("mixtral"), out, "q4_0", "--imatrix", matrix)
    one, two = (gguf_files.Reader(x).tensors[known[0]][2] for x in (out, plain))
    quarter = len(one) // 4
    same = [one[i * quarter:(i + 1) * quarter] == two[i * quarter:(i + 1) * quarter] for i in range(4)]
    check("experts", len(one) == len(two) and same == [False, True, True, False], same)


def floats(reader, name):
    _, shape, data = reader.tensors[name]
    numbers, width = struct.unpack(f"<{len(data) // 4}f", data), shape[-1]
    return [numbers[i:i + width] for i in range(0, len(numbers), width)]


def check_imatrix(ids, folder):
    """The first layer's sums follow from the embeddings; the others must fit together."""
    text, path, out = (os.path.join(folder, name) for name in ("text", "imatrix.gguf", "out.gguf"))
    with open(text, "w", encoding="utf-8") as file:
        file.write(text_of(ids))
    said = run("imatrix", "--device", "cpu", model("llama"), text, "-c", "12", "-o", path).stdout
    check("told", said == "14 weights, 2 windows of 12 tokens\n", said)
    got, weights = gguf_files.Reader(path), gguf_files.Reader(model("llama"))
    check("keys", {k: v for k, v in got.keys.items() if k != "general.alignment"} == {
        "general.type": "imatrix", "imatrix.datasets": [text], "imatrix.chunk_count": 2, "imatrix.chunk_size": 12}, got.keys)
    embedding, (norm,) = floats(weights, "token_embd.weight"), floats(weights, "blk.0.attn_norm.weight")
    want = [0.0] * 32
    for i in ids:
        scale = 1 / (math.fsum(x * x for x in embedding[i]) / 32 + 1e-5)
        want = [a + scale * (x * w) ** 2 for a, x, w in zip(want, embedding[i], norm)]
    for part in "qkv":
        name = f"blk.0.attn_{part}.weight"
        for a, b in zip(floats(got, name + ".in_sum2")[0], want):
            near(name, a, b, 1e-4 * max(want))
        check(name + " counts", floats(got, name + ".counts") == [(24.0,)])
    run("imatrix", "--device", "cpu", model("mixtral"), text, "-c", "12", "-o", path)
    got, name = gguf_files.Reader(path), "blk.1.ffn_up_exps.weight"
    counts, sums = floats(got, name + ".counts"), floats(got, name + ".in_sum2")
    check("counts of experts", len(counts) == 4 and sum(x for x, in counts) == 48, counts)
    for a, *b in zip(floats(got, "blk.1.ffn_gate_inp.weight.in_sum2")[0], *sums):
        near("two experts take each row", math.fsum(b), 2 * a, 1e-3 * a)
    down = floats(got, "blk.1.ffn_down_exps.weight.counts")
    check("of all parts", down == counts and min(x for row in sums for x in row) >= 0)
    run("imatrix", "--device", "cpu", model("phi3"), text, "-c", "12", "--chunks", "1", "-o", path)
    got = gguf_files.Reader(path)
    check("fused", sorted(x for x in got.tensors if x.startswith("blk.0") and x.endswith("counts")) == [
        f"blk.0.{x}.weight.counts" for x in ("attn_output", "attn_qkv", "ffn_down", "ffn_up")], list(got.tensors))
    said = run("quantize", model("phi3"), out, "q8_0", "--imatrix", path).stdout
    check("taken", "6 of them by importance" in said, said)  # 48 columns of ffn_down are no whole number of blocks
    told = run("imatrix", model("llama"), text, "-c", "25", "-o", path, status=1).stderr
    check("too short", "less than a window of 25" in told, told)
    check("usage", "needs a model and a text" in run("imatrix", model("llama"), status=2).stderr)
    told = run("imatrix", model("llama"), text, "-c", "12", "-o", os.path.join(folder, "nosuch", "x"), status=1).stderr
    check("no folder", "nosuch" in told, told)


def check_bench():
    began = time.monotonic()
    rows = json.loads(run("bench", "--model", model("llama"), "-p", "8,40", "-n", "20,0", "--depth", "0,24", "-r", "200",
                          "--batch", "16", "-t", "1", "--json").stdout)
    wall = time.monotonic() - began
    tests = [(row["n_prompt"], row["n_gen"], row["n_depth"]) for row in rows]
    check("tests", tests == [(8, 0, 0), (40, 0, 0), (0, 20, 0), (8, 0, 24), (40, 0, 24), (0, 20, 24)], tests)
    spent = 0
    for row in rows:
        speeds = row["samples_ts"]
        average = math.fsum(speeds) / len(speeds)
        near("average", row["avg_ts"], average)
        near("deviation", row["stddev_ts"], math.sqrt(math.fsum((x - average) ** 2 for x in speeds) / (len(speeds) - 1)))
        check("samples", len(speeds) == 200 and min(speeds) > 0)
        check("settings", (row["n_batch"], row["n_threads"], row["cache"], row["exact"]) == (16, 1, "f32", False), row)
        spent += math.fsum((row["n_prompt"] + row["n_gen"]) / x for x in speeds)
    check("what was timed took most of the time, and no more", 0.4 * wall < spent < wall, spent, wall)
    table = run("bench", "--model", model("llama"), "-p", "4", "-n", "2", "-r", "1", "--depth", "3").stdout.splitlines()
    check("table", [line.split(" | ")[5] for line in table] == ["test", "---", "pp4 @ d3", "tg2 @ d3"], table)
    for said, *arguments in (("--depth needs", "--depth", "1,x"), ("-p needs", "-p", "1,"), ("-n needs", "-n", "-1"),
                             ("no tokens", "-p", "0", "-n", "0"), ("not for models", "--op", "add")):
        check(said, said in run("bench", "--model", model("llama"), *arguments, status=2).stderr)
    check("needs a model", "need a --model" in run("bench", "-p", "4", status=2).stderr)
    check("no model", "nosuch" in run("bench", "--model", "nosuch.gguf", status=1).stderr)


def check_prompt_cache(folder):
    """The text is the same with and without a cache; files that are none are refused."""
    path, plain = os.path.join(folder, "prompt"), ["--device", "cpu", "-n", "6", "--ignore-end", "--temp", "0"]
    want = run("generate", *plain, model("llama"), "bcabd").stdout
    for prompt in ("bcabd", "bcabd", "bc", "bcabd"):
        got = run("generate", *plain, model("llama"), prompt, "--prompt-cache", path).stdout
        check("prompt cache", got == want if prompt == "bcabd" else got.startswith(prompt), got, want)
    told = run("generate", *plain, model("qwen3"), "bc", "--prompt-cache", path, status=1).stderr
    check("of another model", "of another model" in told, told)
    told = run("generate", *plain, "--cache", "f16", model("llama"), "bc", "--prompt-cache", path, status=1).stderr
    check("of another dtype", "f16" in told, told)
    with open(path, "r+b") as file:
        file.truncate(100)
    told = run("generate", *plain, model("llama"), "bc", "--prompt-cache", path, status=1).stderr
    check("cut short", path in told, told)
    check("stays", os.path.getsize(path) == 100)


def check_shift():
    plain = ["--device", "cpu", "-n", "30", "-c", "8", "--ignore-end", "--temp", "0", model("llama"), "bca"]
    told = run("generate", *plain, status=1).stderr
    check("full", "the context of 8 tokens is full" in told, told)
    run("generate", "--context-shift", "--keep", "2", *plain)
    told = run("generate", "--context-shift", "--keep", "8", *plain, status=1).stderr
    check("keep", "keep is 8" in told, told)


def main():
    logits = safetensors(os.path.join(MODELS, "logits.safetensors"))
    ids = list(logits.pop("ids")[0])
    with tempfile.TemporaryDirectory() as folder:
        check_perplexity(logits, ids, folder)
        check_against(logits, ids, folder, "qwen2", "yarn")
        check_against(logits, ids, folder, "gemma2", "llama")
        check_begin(ids, folder)
        check_refusals(ids, folder)
        check_quantize(logits, ids, folder)
        check_importance(folder)
        check_imatrix(ids, folder)
        check_prompt_cache(folder)
    check_memory()
    check_shift()
    check_bench()
    sys.exit(failed > 0)


main()
