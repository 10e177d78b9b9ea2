"""Columns of 64 operands, with the edges of each type first."""
from emit import LANES
from floats import BF16, F16, F32, F64


class Random:
    """xorshift64*, so that the files are the same everywhere."""

    def __init__(self, seed):
        self.s = seed * 0x9E3779B97F4A7C15 + 1 & (1 << 64) - 1

    def next(self, n):
        self.s ^= self.s >> 12
        self.s = (self.s ^ self.s << 25) & (1 << 64) - 1
        self.s ^= self.s >> 27
        return (self.s * 0x2545F4914F6CDD1D & (1 << 64) - 1) >> 11 & (1 << 48) - 1 if n is None else self.next(None) % n

    def bits(self, n):
        v = 0
        for _ in range((n + 31) // 32):
            v = v << 32 | self.next(None) & 0xffffffff
        return v & (1 << n) - 1

    def shuffle(self, items):
        items = list(items)
        for i in range(len(items) - 1, 0, -1):
            j = self.next(i + 1)
            items[i], items[j] = items[j], items[i]
        return items


def float_edges(f):
    one, s = f.bias << f.m, f.sign
    half, two = one - (1 << f.m), one + (1 << f.m)
    small = [0, 1, (1 << f.m) - 1, 1 << f.m, half, one - 1, one, one + 1, two, two + (1 << f.m - 1), f.max, f.inf]
    return small + [x | s for x in small] + [f.nan, f.nan | s | 5, f.inf | 1, f.inf | s | (f.qbit >> 1)]


def float_random(f, r, spread=None):
    spread = spread or min(12, (f.emax >> 1) - 2)
    e = f.bias + r.next(2 * spread + 1) - spread
    return r.bits(1) << f.e + f.m | e << f.m | r.bits(f.m)


def columns(edges, random, n, seed):
    """n columns: every edge meets others, then random operands."""
    r = Random(seed)
    out = []
    for k in range(n):
        c = (edges if k == 0 else r.shuffle(edges))[:LANES]
        if k and len(edges) < LANES:
            # a second turn of edges, against another order
            c += r.shuffle(edges)[:max(0, min(len(edges), LANES - len(c) - 16))]
        elif len(edges) < LANES:
            c = c + edges[:max(0, min(len(edges), LANES - len(c) - 16))]
        while len(c) < LANES:
            c.append(random(r))
        out.append(c)
    return out


def int_edges(n):
    top = 1 << n - 1
    return [0, 1, 2, 3, 7, n - 1, n, n + 1, 2 * n - 1, 255, top - 1, top, top + 1, 2 * top - 1, 2 * top - 2,
            0x5555555555555555 & 2 * top - 1, 0xAAAAAAAAAAAAAAAA & 2 * top - 1, 0x00ff00ff00ff00ff & 2 * top - 1]


def of_ints(n, count=3, seed=1):
    return columns(int_edges(n), lambda r: r.bits(n), count, seed + n)


def of_floats(f, count=3, seed=1, spread=None):
    return columns(float_edges(f), lambda r: float_random(f, r, spread), count, seed + f.bits + f.m)


def pack(lo, hi):
    return [a | b << 16 for a, b in zip(lo, hi)]


def rotate(column, n):
    return column[n:] + column[:n]


A32, B32, C32 = of_ints(32)
A64, B64, C64 = of_ints(64)
A16, B16, C16 = of_ints(16)
FA32, FB32, FC32 = of_floats(F32)
FA64, FB64, FC64 = of_floats(F64)
FA16, FB16, FC16 = of_floats(F16)
BA16, BB16, BC16 = of_floats(BF16)
# Halves with something else above them, which a 16-bit operation must not see.
HI = [0x7c01 ^ l * 0x1234 & 0xffff for l in range(LANES)]
GA16, GB16, GC16 = pack(FA16, HI), pack(FB16, rotate(HI, 3)), pack(FC16, rotate(HI, 7))
IA16, IB16, IC16 = pack(A16, HI), pack(B16, rotate(HI, 3)), pack(C16, rotate(HI, 7))
PA16, PB16, PC16 = pack(FA16, rotate(FB16, 5)), pack(FB16, rotate(FC16, 9)), pack(FC16, rotate(FA16, 13))
QA16, QB16, QC16 = pack(A16, rotate(B16, 5)), pack(B16, rotate(C16, 9)), pack(C16, rotate(A16, 13))
# Shift counts up to and past the width.
SHIFT = [(l * 7 + 3) % 71 if l % 4 else 0xffffffe0 + l for l in range(LANES)]
SHIFT16 = pack([s & 0xffff for s in SHIFT], rotate([s & 0xffff for s in SHIFT], 11))
FLAGS = [l * 0x9E3779B9 >> 13 & 1 for l in range(LANES)]  # lanes of a partial EXEC, or a carry
