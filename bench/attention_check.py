#!/usr/bin/env python3
"""Checks random calls of attention in bf16 and f16 beside their definition in float64, by PyTorch, each call twice.

    bench/attention_check.py --build build --device cuda:0 --seed 7 --count 150

Calls have grouped heads, packed sequences, windows, causal masks from either end, two layouts, and NaN among values;
half of them have masks, to keep or to add, slopes or caps, and hidden keys with NaN; with --more, all have. A result is
right within 0.04, its log_sums within 0.02, if it has NaN where a key that the query sees has it. With --gradients, calls
have no masks, slopes, caps or NaN. Those of q, k and v are right within 0.02 of their largest element, and wrong starts of
packed sequences must end in an error. Of both runs all bits must be the same. The last line counts the calls; the status is 1 when one is bad."""
import argparse
import math
import pathlib
import random
import sys

import numpy
import torch

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from api import Api, Out  # noqa: E402
from case import Maker, upload  # noqa: E402
from wick import Wick  # noqa: E402

WIDTHS = (8, 16, 24, 32, 40, 48, 64, 64, 72, 80, 96, 100, 104, 112, 128, 128)


class Call:
    """Draws the sizes and options of a call."""

    def __init__(self, draw, more):
        pick = draw.choice
        self.dtype, self.packed = pick((torch.bfloat16, torch.float16)), draw.random() < 0.3
        self.depth = pick(WIDTHS)
        self.width = self.depth if draw.random() < 0.7 else pick((8, 40, 64, 72, 96, 128))
        self.kv_heads, self.group, self.batch = pick((1, 2, 3, 8)), pick((1, 1, 2, 4, 7)), pick((1, 1, 2, 5))
        self.queries = round(2 ** draw.uniform(4.2, 10))
        self.keys = self.queries if draw.random() < 0.4 else round(2 ** draw.uniform(3, 11))
        self.moved, self.nan = draw.random() < 0.5, draw.random() < 0.3
        windowed = draw.random() < 0.3
        self.options = {"causal": draw.random() < 0.5, "align_last": draw.random() < 0.4, "windowed": windowed,
                        "left": pick((-1, 0, 5, 100, 300)) if windowed else -1,
                        "right": pick((-1, 0, 5, 70, 200)) if windowed else -1}
        cuts = pick((0, 1, 2, 4))
        self.q_starts, self.k_starts = ([0, *sorted(draw.randint(0, n) for _ in range(cuts)), n]
                                        for n in (self.queries, self.keys))
        self.mask, self.slopes, self.layout, self.spread = "", False, "", (False, False, False)
        self.expanded = draw.random() < 0.1  # heads of keys and values are one
        if draw.random() < more:
            self.slopes, self.options["soft_cap"] = draw.random() < 0.25, pick((0, 0, 0, 2.0, 30.0))
            self.mask = "" if self.packed else pick(("keep", "keep", "add", "add", ""))
            self.layout = pick(("", "", "narrowed", "odd", "transposed"))
            self.spread = tuple(draw.random() < 0.5 for _ in range(3))  # over batches, heads, queries

    def keys_of(self, elements):
        """Keys or values."""
        return self.values(1 if self.expanded else self.kv_heads, self.keys, elements)

    def spread_out(self, *operands):
        """All heads of them."""
        return [x.expand(*x.shape[:-3], *((-1, self.kv_heads) if self.packed else (self.kv_heads, -1)), -1)
                for x in operands]

    def mask_of(self):
        """A mask: what it hides are whole runs of keys, from 0 to 300, and single ones."""
        shape = [1 if spread else n for spread, n in zip(self.spread, self.heads)] + [self.keys]
        extra = {"narrowed": 8, "odd": 3}.get(self.layout, 0)
        stored = [*shape[:2], shape[3], shape[2]] if self.layout == "transposed" else [*shape[:3], shape[3] + extra]
        runs = torch.rand(*stored[:3], stored[3] // 300 + 1, device=Maker.device).repeat_interleave(300, -1)
        keep = (torch.rand(stored, device=Maker.device) < 0.9) & (runs[..., :stored[3]] < 0.7)
        mask = keep.to(torch.uint8) * 2 if self.mask == "keep" else torch.where(
            keep, torch.randn(stored, device=Maker.device), -math.inf).to(self.dtype)
        return mask.transpose(2, 3) if self.layout == "transposed" else mask[..., extra - extra // 2:][..., :self.keys]

    @property
    def heads(self):
        return self.batch, self.kv_heads * self.group, self.queries

    def values(self, heads, positions, elements):
        """[positions, heads, elements] of packed sequences, or [batch, heads, positions, elements]."""
        def make(*shape):
            return torch.randn(*shape, device=Maker.device).to(self.dtype)
        if self.packed:
            return make(positions, heads, elements)
        return (make(self.batch, positions, heads, elements).transpose(1, 2) if self.moved else
                make(self.batch, heads, positions, elements))

    def seen(self, queries, keys):
        """Which keys a query sees: [queries, keys]."""
        options = self.options
        position = torch.arange(queries, device=Maker.device)[:, None]
        position = position + (keys - queries if options["align_last"] else 0)
        key = torch.arange(keys, device=Maker.device)[None]
        seen = key >= 0 if not options["causal"] else key <= position
        seen = seen.expand(queries, keys)
        if options["left"] >= 0:
            seen = seen & (key >= position - options["left"])
        if options["right"] >= 0:
            seen = seen & (key <= position + options["right"])
        return seen

    def of_sequence(self, q, k, v, mask=None):
        """Result and log_sums by definition, of [heads, queries, elements] and as many heads of keys as there are."""
        q, k, v = q.double(), k.double().repeat_interleave(self.group, 0), v.double().repeat_interleave(self.group, 0)
        seen = self.seen(q.shape[1], k.shape[1])
        scores = q @ k.transpose(1, 2) / math.sqrt(self.depth)
        cap = self.options.get("soft_cap", 0)
        scores = cap * torch.tanh(scores / cap) if cap else scores
        if self.slopes:
            position = torch.arange(q.shape[1], device=Maker.device)[:, None]
            position = position + (k.shape[1] - q.shape[1] if self.options["align_last"] else 0)
            away = (torch.arange(k.shape[1], device=Maker.device)[None] - position).abs()
            scores = scores - self.slope_values()[:, None, None] * away
        if mask is not None:
            seen = seen & (mask != 0 if self.mask == "keep" else mask != -math.inf)
            scores = scores + (0 if self.mask == "keep" else mask.double())
        scores = scores.masked_fill(~seen, -math.inf)
        blind = ~seen.any(-1, keepdim=True)
        weights = torch.softmax(scores.masked_fill(blind, 0.0), -1) * ~blind  # of a query that sees nothing 0
        touched = seen.double() @ v.isnan().double() > 0
        return torch.where(touched, math.nan, weights @ v.nan_to_num(0.0)), torch.logsumexp(scores, -1)

    def slope_values(self):
        heads = self.heads[1]
        return torch.tensor([2.0 ** (-8 * (i + 1) / heads) for i in range(heads)], device=Maker.device)

    def expected(self, q, k, v, mask=None):
        if not self.packed:
            masks = [None] * self.batch if mask is None else mask.expand(self.batch, *mask.shape[1:])
            pairs = [self.of_sequence(*operands) for operands in zip(q, k, v, masks)]
            return torch.stack([y for y, _ in pairs]), torch.stack([sums for _, sums in pairs])
        starts, pairs = zip(self.q_starts, self.q_starts[1:], self.k_starts, self.k_starts[1:]), []
        for q0, q1, k0, k1 in starts:
            parts = q[q0:q1], k[k0:k1], v[k0:k1]
            pairs.append([x.transpose(0, 1) for x in self.of_sequence(*[x.transpose(0, 1) for x in parts])])
        return torch.cat([y for y, _ in pairs]), torch.cat([sums for _, sums in pairs])

    def wrong_starts(self):
        """Starts of queries of as many sequences that go back, or that do not begin with 0."""
        first, *inner, last = self.q_starts
        return [first, last + 7, *sorted(inner[1:], reverse=True), last] if inner else [1, last]

    def starts(self, api, q_starts=None):
        """Of packed sequences, as operands."""
        starts = (q_starts or self.q_starts, self.k_starts) if self.packed else ()
        return [api.hold(api.wick.tensor(numpy.array(s, dtype=numpy.uint32), "u32")) for s in starts]

    @property
    def op(self):
        return "attention_packed" if self.packed else "scaled_dot_product_attention"

    def run(self, api, operands, mask=None):
        """Result and log_sums."""
        slopes = {"slopes": upload(api, self.slope_values())} if self.slopes else {}
        asked = api.options("attention", **self.options, **slopes, log_sums=Out())
        return api.made(self.op, *operands, *(self.starts(api) or [mask]), asked)

    def run_gradients(self, api, operands, gradient, q_starts=None):
        """The gradients of q, k and v; q_starts: others than those that the result was made with."""
        result, log_sums = self.run(api, operands)
        starts = dict(zip(("q_starts", "k_starts"), self.starts(api, q_starts)))
        asked = api.options("attention_backward", result=result, log_sums=log_sums, k_gradient=Out(), v_gradient=Out(),
                            function=api.options("attention", **self.options), **starts)
        return api.made(f"{self.op}_backward", gradient, *operands, asked)

    def expected_gradients(self, operands, gradient):
        operands = [x.double().requires_grad_() for x in operands]
        result, _ = self.expected(*operands)
        return torch.autograd.grad(result, operands, gradient.double())

    def text(self):
        what = {name: value for name, value in vars(self).items() if self.packed or not name.endswith("starts")}
        return ", ".join(f"{name} {value}" for name, value in what.items())


def numbers(api, made):
    return [torch.from_numpy(api.wick.numpy(x)).double() for x in made]


def differ(first, second):
    """Whether two runs have other bits."""
    return not all(torch.equal(*[x.nan_to_num(7.0) for x in both]) for both in zip(first, second))


def takes_wrong_starts(call, api, ours):
    try:
        numbers(api, call.run_gradients(api, ours[:3], ours[3], call.wrong_starts()))
    except RuntimeError as error:
        api.wick.library.wick_error_clear()
        return "q_starts" not in str(error)
    return True


def fault_of_gradients(call, api):
    """What is wrong with the gradients of a call, or ""."""
    heads = call.kv_heads * call.group
    operands = [call.values(heads, call.queries, call.depth), call.values(call.kv_heads, call.keys, call.depth),
                call.values(call.kv_heads, call.keys, call.width)]
    gradient = call.values(heads, call.queries, call.width)
    ours = [upload(api, x) for x in (*operands, gradient)]
    first, second = (numbers(api, call.run_gradients(api, ours[:3], ours[3])) for _ in range(2))
    wrong = []
    for name, value, right in zip("qkv", first, call.expected_gradients(operands, gradient)):
        right = right.cpu()
        error = float((value - right).abs().max()) / max(float(right.abs().max()), 1e-3) if right.numel() else 0.0
        if not error <= 0.02:
            wrong.append(f"gradient of {name}: off by {error:.3g} of its largest")
    if differ(first, second):
        wrong.append("two runs differ")
    if call.packed and takes_wrong_starts(call, api, ours):
        wrong.append(f"starts of queries {call.wrong_starts()} are no error")
    return "; ".join(wrong)


def fault(call, api, draw):
    """What is wrong with a call, or ""."""
    q = call.values(call.kv_heads * call.group, call.queries, call.depth)
    k, v = call.keys_of(call.depth), call.keys_of(call.width)
    if call.nan:
        v[tuple(draw.randrange(n) for n in v.shape)] = math.nan
    mask = call.mask_of() if call.mask else None
    if call.nan and call.mask:  # a key that nobody sees
        hidden = draw.randrange(call.keys)
        k[..., hidden, :], v[..., hidden, :] = math.nan, math.inf
        mask[..., hidden] = 0 if call.mask == "keep" else -math.inf
    k, v = call.spread_out(k, v)
    operands = [upload(api, x) for x in (q, k, v)]
    ours = None if mask is None else upload(api, mask)
    first, second = (numbers(api, call.run(api, operands, ours)) for _ in range(2))
    wrong = []
    for name, bound, value, right in zip(("result", "log_sums"), (0.04, 0.02), first, call.expected(q, k, v, mask)):
        right = right.cpu()
        plain = torch.isfinite(right)
        error = float((value - right)[plain].abs().max()) if plain.any() else 0.0
        same = torch.equal(value[~plain].nan_to_num(7.0), right[~plain].nan_to_num(7.0))
        if not (error <= bound and same):
            wrong.append(f"{name}: off by {error:.3g}, or not finite elsewhere")
    if differ(first, second):
        wrong.append("two runs differ")
    return "; ".join(wrong)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--build", default="build")
    arguments.add_argument("--device", default="cpu", help="Wick's")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--count", type=int, default=150)
    arguments.add_argument("--more", action="store_true", help="all calls have masks, slopes or caps")
    arguments.add_argument("--gradients", action="store_true", help="check gradients instead")
    options = arguments.parse_args()
    Maker.device = "cpu" if options.device == "cpu" else "cuda"
    api, draw, bad = Api(Wick(options.build, options.device)), random.Random(options.seed), 0
    for i in range(options.count):
        torch.manual_seed(i)
        call = Call(draw, 0 if options.gradients else 1 if options.more else 0.5)
        wrong = fault_of_gradients(call, api) if options.gradients else fault(call, api, draw)
        api.release()
        if wrong:
            bad += 1
            print(f"call {i}: {wrong}: {call.text()}", flush=True)
    print(f"{options.count} random calls of seed {options.seed}, {bad} bad")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
