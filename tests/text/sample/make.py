#!/usr/bin/env python3
"""Makes cases.json.gz: chains of sampling steps over random logits, and what NumPy draws with them in float64.

    python3 -m pip install numpy && tests/text/sample/make.py

Each step sorts and filters by probabilities here, where the library keeps heaps of logits."""
import gzip
import io
import json
import pathlib

import numpy as np

HERE = pathlib.Path(__file__).parent
MASK = 0xFFFFFFFF


def philox(counter, key):
    """Philox4x32-10 (Salmon et al., 2011)."""
    c, k = list(counter), list(key)
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(b >> 32) ^ c[1] ^ k[0], b & MASK, (a >> 32) ^ c[3] ^ k[1], a & MASK]
        k = [(k[0] + 0x9E3779B9) & MASK, (k[1] + 0xBB67AE85) & MASK]
    return c


# The generator's published known answers.
assert philox([0] * 4, [0] * 2) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
assert philox([MASK] * 4, [MASK] * 2) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]


def uniform(seed, number):
    w = philox([number & MASK, number >> 32, 0, 0], [seed & MASK, seed >> 32])
    return ((w[0] | w[1] << 32) >> 11) / 2.0**53


def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


def pick(case, logits, text, number):
    """(id, how many were left, probability, log-probability)"""
    raw = np.array(logits, np.float64)
    x = raw.copy()
    for i, bias in zip(case.get("bias_ids", []), case.get("bias", [])):
        x[i] += bias
    window = case.get("window", 0)
    last = text if window < 0 else text[-(window or 64):]
    repeat = case.get("repeat", 0) or 1
    for i in set(last):
        x[i] = x[i] / repeat if x[i] > 0 else x[i] * repeat
        x[i] -= last.count(i) * case.get("frequency", 0) + case.get("presence", 0)
    ids = np.flatnonzero(x > -np.inf)

    def ranked(by):  # positions in ids, the highest first, equal ones by id
        return np.lexsort((ids, -by))
    k, typical, top_p, min_p = (case.get(key, 0) for key in ("top_k", "typical", "top_p", "min_p"))
    if 0 < k < len(ids):
        ids = ids[ranked(x[ids])[:k]]
    if 0 < typical < 1:
        p = softmax(x[ids])
        surprise = -np.log(p)
        order = ranked(-np.abs(surprise - (p * surprise).sum()))
        ids = ids[order[:int(np.count_nonzero(np.cumsum(p[order]) <= typical)) + 1]]
    if 0 < top_p < 1:
        p = softmax(x[ids])
        order = ranked(p)
        ids = ids[order[:int(np.count_nonzero(np.cumsum(p[order]) < top_p)) + 1]]
    if min_p > 0:
        p = softmax(x[ids])
        ids = ids[p >= min_p * p.max() * (1 - 1e-12)]
    ids = np.sort(ids)
    chosen, count, probability = ids[np.argmax(x[ids])], 1, 1.0
    if case.get("temperature", 0) > 0:
        p = softmax(x[ids] / case["temperature"])
        at = min(int(np.searchsorted(np.cumsum(p), uniform(case["seed"], number), side="right")), len(ids) - 1)
        chosen, count, probability = ids[at], len(ids), p[at]
    with np.errstate(divide="ignore"):
        return [int(chosen), int(count), float(probability), float(np.log(softmax(raw))[chosen])]


def random_case(draw):
    n = int(draw.integers(1, 120)) if draw.random() < 0.97 else 2000
    case = {"n": n, "seed": int(draw.integers(0, 2**63))}
    if draw.random() < 0.85:
        case["temperature"] = float(draw.choice([0.1, 0.7, 0.8, 1.0, 1.5, 30.0]))
    if draw.random() < 0.4:
        case["top_k"] = int(draw.choice([1, 2, 5, 40, 10000]))
    for key, values in {"typical": [0.2, 0.7, 0.95, 1.0], "top_p": [1e-9, 0.3, 0.9, 0.95, 0.9999, 1.0],
                        "min_p": [0.01, 0.05, 0.5, 1.0], "repeat": [0.5, 1.1, 1.3, 2.0], "frequency": [-0.5, 0.3, 2.0],
                        "presence": [-1.0, 0.5, 3.0], "window": [-1, 1, 5, 64, 100]}.items():
        if draw.random() < 0.4:
            case[key] = draw.choice(values).item()
    if draw.random() < 0.3:
        m = int(draw.integers(1, 6))
        case["bias_ids"] = draw.integers(0, n, m).tolist()
        case["bias"] = draw.choice([-100.0, -1.5, 0.25, 4.0, 100.0], m).tolist()
    grid = draw.choice([1, 64, 1024])  # a coarse one gives equal logits
    logits = (np.round(draw.normal(0, draw.choice([0.1, 1, 4, 20]), n) * grid) / grid).tolist()
    if draw.random() < 0.2 and n > 1:
        for i in draw.integers(1, n, n // 3):
            logits[i] = -1e30  # stands for -infinity, which JSON lacks
    case["logits"] = logits
    case["text"] = draw.integers(0, min(n, 20), int(draw.integers(0, 90))).tolist()
    return case


def main():
    draw = np.random.default_rng(20261)
    cases = []
    while len(cases) < 300:
        case = random_case(draw)
        logits = [-np.inf if x == -1e30 else x for x in case["logits"]]
        text, want = list(case["text"]), []
        for number in range(12):
            want.append(pick(case, logits, text, number))
            text.append(want[-1][0])
        case["want"] = want
        cases.append(case)
    with open(HERE / "cases.json.gz", "wb") as file, gzip.GzipFile("", "wb", 9, file, 0) as packed:
        json.dump(cases, io.TextIOWrapper(packed, "utf-8", write_through=True), separators=(",", ":"))


main()
