#!/usr/bin/env python3
"""wick perplexity beside sums in float64 over the logits that transformers computed of the small models in tests/model, and
wick bench --model beside a clock. Standard library only.

Usage: lm.py WICK
"""
import json
import math
import os
import struct
import subprocess
import sys
import tempfile
import time

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


def main():
    logits = safetensors(os.path.join(MODELS, "logits.safetensors"))
    ids = list(logits.pop("ids")[0])
    with tempfile.TemporaryDirectory() as folder:
        check_perplexity(logits, ids, folder)
        check_against(logits, ids, folder, "qwen2", "yarn")
        check_against(logits, ids, folder, "gemma2", "llama")
        check_begin(ids, folder)
        check_refusals(ids, folder)
    check_bench()
    sys.exit(failed > 0)


main()
