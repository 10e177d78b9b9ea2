"""Rows drawn at random from a seed: op, dtype, layout and shape. RANGES is what the table says of them."""
import random
import re

import kinds
import plain_kinds as plain
from kinds import Convolution

RANGES = """Each kind of row is drawn equally often, its sizes log-uniformly, half of them whole multiples of 8.
Elements of an operand: up to 2^{elements}; operations of a product, convolution or attention: up to 2^{work}. Products
of 1 to 2048 rows; attention of heads of 32 to 128 elements, 1 to 1024 queries, up to 2048 keys, grouped heads, causal
or not; convolutions of 1 to 3 dims, windows of 1 to 7, stride and dilation 1 or 2, groups, depthwise, transposed;
pooling of windows of 2 and 3, resizing by 0.5 to 3; softmax, sums and running sums of rows of 3 to 60,000 elements
along any dim; layouts contiguous, transposed, heads moved, channels last, part of longer rows."""
LAYOUTS = ("", "", "transposed", "narrowed")


class Draw:
    def __init__(self, seed, on_gpu):
        self.random = random.Random(seed)
        self.elements, self.work = (26, 35) if on_gpu else (22, 30)
        self.dtype = "f32"

    def pick(self, *items):
        return self.random.choice(items)

    def size(self, low, high):
        n = round(low * (high / low) ** self.random.random())
        return max(low, min(high, (n + 4) // 8 * 8)) if high >= 16 and self.pick(True, False) else n

    def shape(self, rank=None, low=1, high=4096):
        """Of 2 to 4 dims, with 2^8 elements to the limit."""
        while True:
            shape = tuple(self.size(low, high) for _ in range(rank or self.pick(2, 3, 4)))
            if 1 << 8 <= kinds.product(shape) <= 1 << self.elements:
                return shape

    def within(self, flops):
        return 1 << 14 <= flops <= 1 << self.work

    # ---- kinds ----

    def matmul(self):
        while True:
            batch = self.pick((), (), (self.size(2, 64),))
            m, k, n = (self.size(*limits) for limits in ((1, 2048), (8, 4096), (8, 4096)))
            most = kinds.product(batch) * max(m * k, k * n, m * n)
            if self.within(2 * kinds.product(batch) * m * n * k) and most <= 1 << self.elements:
                break
        layouts = self.pick("", "", "transposed"), self.pick("", "transposed")
        return kinds.matmul((*batch, m, k), (*batch, k, n), self.dtype, layouts)

    def linear(self, rows=2048):
        while True:
            m, k, n = self.size(1, rows), self.size(16, 8192), self.size(16, 16384)
            if self.within(2 * m * n * k) and max(m * k, n * k, m * n) <= 1 << self.elements:
                return kinds.linear((m, k), n, self.dtype, self.pick(True, False))

    def few_rows(self):
        return self.linear(8)

    def attention(self, backward=False):
        while True:
            batch, kv_heads, group = self.size(1, 8), self.size(1, 16), self.pick(1, 1, 4)
            width, queries, keys = self.pick(32, 40, 64, 64, 80, 96, 128), self.size(1, 1024), self.size(16, 2048)
            causal = self.pick(True, False)
            if self.pick(True, False) or causal:
                keys = queries
            queries = 1 if self.pick(0, 0, 1) and not backward and not causal else queries
            if self.within(4 * batch * kv_heads * group * queries * keys * width):
                break
        q = (batch, kv_heads * group, queries, width)
        return kinds.attention(q, keys, kv_heads, self.dtype, causal, self.pick("", "moved"), backward=backward)

    def attention_backward(self):
        return self.attention(True)

    def convolution(self, way="y", transposed=False):
        while True:
            dims, stride, dilation = self.pick(1, 2, 2, 2, 3), self.pick(1, 1, 2), self.pick(1, 1, 1, 2)
            kernel = self.pick(1, 3, 3, 5, 7) if dims < 3 else self.pick(1, 3)
            cin, cout, groups = self.size(3, 512), self.size(4, 512), self.pick("one", "one", "some", "each")
            groups = cin if groups == "each" else self.pick(2, 4, 8) if groups == "some" else 1
            cin, cout = -(-cin // groups) * groups, -(-cout // groups) * groups
            cout = cin if groups == cin else cout
            side = {1: 4096, 2: 112, 3: 32}[dims]
            x = (self.size(1, 8), cin, *[self.size(7, side)] * dims)
            weight = (cin, cout // groups) if transposed else (cout, cin // groups)
            layer = Convolution(x, (*weight, *[kernel] * dims), stride, dilation * (kernel // 2), dilation, groups,
                                way == "y" and self.pick(True, False), transposed)
            if min(layer.out()[2:]) > 0 and self.within(layer.flops()) and max(
                    kinds.product(shape) for shape in (x, layer.weight, layer.out())) <= 1 << self.elements:
                return layer.case(way, self.dtype, self.pick("", "", "channels-last"))

    def convolution_dx(self):
        return self.convolution("dx")

    def convolution_dw(self):
        return self.convolution("dw")

    def convolution_transposed(self):
        return self.convolution(transposed=True)

    def image(self):
        while True:
            dims = self.pick(1, 2, 2, 3)
            x = (self.size(1, 16), self.size(3, 512), *[self.size(6, {1: 4096, 2: 224, 3: 32}[dims])] * dims)
            if kinds.product(x) <= 1 << self.elements:
                return x

    def pool(self, backward=False):
        kernel, layout = self.pick(2, 3), self.pick("", "", "channels-last")
        return kinds.pool(self.pick("max", "avg"), self.image(), kernel, 2, kernel // 3, self.dtype, layout=layout,
                          backward=backward)

    def pool_backward(self):
        return self.pool(True)

    def adaptive_pool(self):
        return kinds.adaptive_pool(self.pick("max", "avg"), self.image(), self.pick(1, 1, 2, 7), self.dtype)

    def resize(self, backward=False):
        while True:
            x, by = self.image(), self.pick(0.5, 1.5, 2, 2, 3)
            size = tuple(max(1, int(n * by)) for n in x[2:])
            if kinds.product((*x[:2], *size)) <= 1 << self.elements:
                kind = self.pick("nearest", "linear", "cubic") if len(x) == 4 else self.pick("nearest", "linear")
                return kinds.resize(kind, x, size, self.dtype, self.pick("", "", "channels-last"), backward)

    def resize_backward(self):
        return self.resize(True)

    def norm(self, backward=False):
        kind = self.pick("layer", "rms", "group", "batch")
        if kind == "batch":
            training, layout = backward or self.pick(True, False), self.pick("", "channels-last")
            return kinds.batch_norm(self.image(), training, self.dtype, layout, backward)
        if kind == "group":
            x, groups = self.image(), self.pick(1, 4, 8, 32)
            return kinds.norm(kind, (x[0], -(-x[1] // groups) * groups, *x[2:]), groups, self.dtype, backward=backward)
        return kinds.norm(kind, (*self.shape(2)[:1], self.size(16, 1 << 12)), 1, self.dtype, backward=backward)

    def norm_backward(self):
        return self.norm(True)

    def rows(self):
        """A shape and one of its dims, of 3 to 60,000 elements, the last one more often than another."""
        while True:
            shape = list(self.shape(high=1024))
            dim = self.pick(*range(len(shape)), len(shape) - 1)
            shape[dim] = self.size(3, 60000)
            if kinds.product(shape) <= 1 << self.elements:
                return tuple(shape), dim

    def softmax(self, backward=False):
        return plain.softmax(*self.rows(), self.dtype, log=self.pick(True, False), backward=backward)

    def softmax_backward(self):
        return self.softmax(True)

    def reduction(self):
        shape, dim = self.rows()
        others = [d for d in range(len(shape)) if d != dim and self.pick(0, 0, 1)]
        return plain.reduction(self.pick("sum", "sum", "mean", "max", "var"), shape, sorted([dim, *others]), self.dtype,
                               self.pick(*LAYOUTS))

    def argmax(self):
        return plain.argmax(*self.rows(), self.dtype)

    def cumsum(self):
        return plain.cumsum(*self.rows(), self.dtype)

    def unary(self):
        return plain.unary(self.pick(*plain.UNARY), self.shape(), self.dtype, self.pick(*LAYOUTS))

    def activation_backward(self):
        return plain.activation_backward(self.pick(*plain.BACKWARD), self.shape(), self.dtype)

    def binary(self):
        a, layout = self.shape(), self.pick(*LAYOUTS)
        b = [1 if self.pick(0, 0, 1) else n for n in a]
        b = b[self.random.randrange(len(b)):] if self.pick(0, 1) else b if self.pick(0, 1) else a
        layouts = layout, self.pick("", layout) if b == a else ""
        return plain.binary(self.pick(*plain.BINARY), a, tuple(b), self.dtype, layouts)

    def copy(self):
        shape = self.shape()
        dims = list(range(len(shape)))
        while dims == sorted(dims):
            self.random.shuffle(dims)
        return plain.copy(shape, dims, self.dtype, self.pick("", "", "narrowed"))

    def cast(self):
        to = self.pick("bf16", "f16") if self.dtype == "f32" else "f32"
        return plain.cast(self.shape(), self.dtype, to, self.pick(*LAYOUTS))

    def indices(self):
        shape = self.shape(2)
        make = self.pick(plain.gather, plain.index_select, plain.index_add)
        return make(shape, self.pick(0, 1), self.size(1, 2 * min(shape)), self.dtype)

    def embedding(self, backward=False):
        return kinds.embedding(self.size(100, 8192), self.size(32, 512), self.size(1, 4096), self.dtype, backward)

    def embedding_backward(self):
        return self.embedding(True)

    def cross_entropy(self, backward=False):
        while True:
            rows, classes = self.size(1, 2048), self.size(10, 60000)
            if rows * classes <= 1 << self.elements:
                return kinds.cross_entropy(rows, classes, self.dtype, backward)

    def cross_entropy_backward(self):
        return self.cross_entropy(True)

    def others(self):
        shape = self.shape(2)
        return self.pick(lambda: plain.sort(shape, self.dtype), lambda: plain.where(shape, self.dtype),
                         lambda: plain.pad(shape, self.size(1, 32), self.dtype))()


KINDS = ("matmul", "linear", "few_rows", "attention", "attention_backward", "convolution", "convolution_dx",
         "convolution_dw", "convolution_transposed", "pool", "pool_backward", "adaptive_pool", "resize",
         "resize_backward", "norm", "norm_backward", "softmax", "softmax_backward", "reduction", "argmax", "cumsum",
         "unary", "activation_backward", "binary", "copy", "cast", "indices", "embedding", "embedding_backward",
         "cross_entropy", "cross_entropy_backward", "others")

SEARCHED = 4096  # rows of a seed, for those that are chosen


def rows(seed, count, on_gpu, dtypes):
    """(kind, case) of each."""
    draw = Draw(seed, on_gpu)
    for i in range(count):
        kind = KINDS[i % len(KINDS)]
        draw.dtype = draw.pick(*dtypes)
        yield kind, getattr(draw, kind)()


def title(seed, dtypes):
    """What `chosen` reads of a table's heading."""
    return f"random rows of seed {seed} in {dtypes}"


def chosen(text, on_gpu):
    """(kind, case) of the rows that a text lists: headings with a `title`, and below each the rows of its seed, as a
    table begins them: | kind | op | size | dtype | layout |. They are drawn anew."""
    parts = re.split(r"random rows of seed (\d+) in ([\w,]+)", text)
    for seed, dtypes, lines in zip(parts[1::3], parts[2::3], parts[3::3]):
        cells = [[cell.strip() for cell in line.split("|")[1:6]] for line in lines.splitlines() if line.startswith("| ")]
        wanted = {tuple(row) for row in cells if row[0] in KINDS}
        for kind, case in rows(int(seed), SEARCHED, on_gpu, dtypes.split(",")):
            if not wanted:
                break
            found = (kind, case.kind, case.size, case.dtype, case.layout.strip())
            if found in wanted:
                wanted.remove(found)
                yield kind, case
        if wanted:
            raise ValueError(f"seed {seed} has no such rows: {sorted(wanted)}")


def ranges(seed, on_gpu):
    draw = Draw(seed, on_gpu)
    return RANGES.format(elements=draw.elements, work=draw.work)
