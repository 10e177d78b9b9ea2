"""The kinds of rows of bench/beside.py: layers of networks, forward and backward. Each function makes a Case."""
import copy
import ctypes

import torch
from torch.nn import functional

from api import Out
from case import Case, by_autograd, call, ids, op, product, shape_text, values

ATEN = torch.ops.aten


# ---- products ----

def matmul(a, b, dtype="f32", layouts=("", "")):
    return Case("matmul", shape_text(a, b), dtype=dtype, layout=" · ".join(layouts) if any(layouts) else "",
                make=lambda: [values(a, dtype, layouts[0]), values(b, dtype, layouts[1], b[-2] ** -0.5)],
                theirs=call(torch.matmul), ours=op("matmul"))


def linear(x, n, dtype="f32", bias=True, layout=""):
    def make():
        more = [values((n,), dtype)] if bias else []
        return [values(x, dtype, layout), values((n, x[-1]), dtype, scale=x[-1] ** -0.5), *more]
    return Case("linear", f"{shape_text(x)} → {n}", dtype=dtype, layout=layout, make=make,
                theirs=call(functional.linear), ours=lambda api, x, w, b=None: api.bind("linear", x, w, b, 0))


# ---- attention ----

def attention(q, keys, kv_heads, dtype="f32", causal=False, layout="moved", *, backward=False):
    """q [batch, heads, queries, elements]; layout "moved": as a projection leaves it, [batch, queries, heads, ...]."""
    batch, heads, queries, width = q
    k = (batch, kv_heads, keys, width)

    def function(q, k, v):
        return functional.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=heads != kv_heads)

    def ours_backward(api, dy, q, k, v):
        asked = api.options("attention", causal=causal, log_sums=Out())
        result, log_sums = api.made("scaled_dot_product_attention", q, k, v, None, asked)
        return api.bind("scaled_dot_product_attention_backward", dy, q, k, v, api.options(
            "attention_backward", result=result, log_sums=log_sums, function=api.options("attention", causal=causal),
            k_gradient=Out(), v_gradient=Out()))
    operands = [q, k, k]
    kind = f"attention{', causal' if causal else ''}{', backward' if backward else ''}"
    size = f"{shape_text(q)} · {kv_heads}×{keys}"
    if backward:
        return Case(kind, size, dtype=dtype, layout=layout, gradient=True, ours=ours_backward,
                    theirs=by_autograd(function, 3),
                    make=lambda: [values(q, dtype)] + [values(shape, dtype, layout) for shape in operands])
    return Case(kind, size, dtype=dtype, layout=layout, theirs=call(function),
                make=lambda: [values(shape, dtype, layout) for shape in operands],
                ours=lambda api, q, k, v: api.bind("scaled_dot_product_attention", q, k, v, None,
                                                   api.options("attention", causal=causal)))


def rope(x, dtype="f32"):
    def theirs(x, cosine, sine):
        a, b = x.chunk(2, -1)
        return torch.cat((a * cosine - b * sine, a * sine + b * cosine), -1)
    table = (x[-2], x[-1] // 2)
    return Case("rope", shape_text(x), dtype=dtype, make=lambda: [values(shape, dtype) for shape in (x, table, table)],
                theirs=call(theirs), ours=op("rope", False))


# ---- convolutions ----

class Convolution:
    """x, weight (of one group's input channels; of a transposed one [Cin, Cout/groups, ...]) and how they meet, the
    same in every dim."""

    def __init__(self, x, weight, stride=1, padding=0, dilation=1, groups=1, bias=False, transposed=False):
        self.x, self.weight, self.groups, self.bias, self.transposed = x, weight, groups, bias, transposed
        self.stride, self.padding, self.dilation, self.spatial = stride, padding, dilation, len(x) - 2

    def of_batch(self, batch):
        layer = copy.copy(self)
        layer.x = (batch, *self.x[1:])
        return layer

    @property
    def channels(self):
        return self.weight[1] * self.groups if self.transposed else self.weight[0]

    def out(self):
        reach = [self.dilation * (taps - 1) + 1 for taps in self.weight[2:]]
        sizes = zip(self.x[2:], reach)
        if self.transposed:
            return (self.x[0], self.channels, *[(n - 1) * self.stride - 2 * self.padding + r for n, r in sizes])
        return (self.x[0], self.channels, *[(n + 2 * self.padding - r) // self.stride + 1 for n, r in sizes])

    def flops(self):
        places = self.x if self.transposed else self.out()
        return 2 * product(places) * product(self.weight[1:])

    def name(self):
        grouped = "" if self.groups == 1 else "depthwise " if self.groups == self.x[1] else "grouped "
        return f"{grouped}conv{'_transpose' if self.transposed else ''}{self.spatial}d"

    def size(self):
        parts = [shape_text(self.x), "→", str(self.channels), "×".join(map(str, self.weight[2:]))]
        parts += [f"s{self.stride}"] * (self.stride > 1) + [f"d{self.dilation}"] * (self.dilation > 1)
        return " ".join(parts + [f"g{self.groups}"] * (self.groups > 1))

    def geometry(self):
        each = lambda value: [value] * self.spatial  # noqa: E731
        return each(self.stride), each(self.padding), each(self.dilation), self.transposed, each(0), self.groups

    def case(self, way="y", dtype="f32", layout=""):
        """way: the result (y), the gradient by x (dx), by the weight (dw)."""
        geometry, mask = self.geometry(), [way == "dx", way == "dw", False]
        name = f"conv{'_transpose' if self.transposed else ''}{self.spatial}d"

        def make():
            x = values(self.x, dtype, layout)
            w = values(self.weight, dtype, scale=product(self.weight[1:]) ** -0.5)
            if way == "y":
                return [x, w, values((self.channels,), dtype)] if self.bias else [x, w]
            return [values(self.out(), dtype, layout), x, w]

        def ours(api, *operands):
            stride, padding, dilation = geometry[:3]
            options = api.options("conv", stride=stride, padding=padding, dilation=dilation, groups=self.groups)
            if way == "y":
                return api.bind(name, *operands[:2], operands[2] if self.bias else None, options)
            dy, x, w = operands
            if way == "dx":
                return api.bind(f"{name}_backward_input", dy, w, list(self.x[2:]), options)
            return api.bind(f"{name}_backward_weight", dy, x, list(self.weight[2:]), options)
        if way == "y":
            theirs = call(lambda x, w, b=None: torch.convolution(x, w, b, *geometry))
        else:
            theirs = call(lambda dy, x, w: ATEN.convolution_backward(dy, x, w, None, *geometry, mask)[way == "dw"])
        return Case(self.name() + ("" if way == "y" else f", {way}"), self.size(), dtype=dtype, layout=layout,
                    make=make, theirs=theirs, ours=ours)


# ---- pooling and resizing ----

def pool(kind, x, kernel, stride=None, padding=0, dtype="f32", *, layout="", backward=False):
    """kind: max or avg."""
    n, stride = len(x) - 2, stride or kernel
    out = (*x[:2], *[(size + 2 * padding - kernel) // stride + 1 for size in x[2:]])
    name, each = f"{kind}_pool{n}d", lambda value: [value] * n
    function = getattr(functional, name)
    tail = (kernel, stride, padding)

    def options(api, **more):
        return api.options("pool", stride=each(stride), padding=each(padding), **more)

    def ours_backward(api, dy, x):
        if kind == "avg":
            return api.bind(name + "_backward", dy, list(size), each(kernel), options(api))
        indices = api.made(name, x, each(kernel), options(api, indices=Out()))[1]
        return api.bind(name + "_backward", dy, indices, list(size), each(kernel), options(api))
    size = x[2:]
    text = f"{shape_text(x)} k{kernel} s{stride}"
    if backward:
        return Case(name + ", backward", text, dtype=dtype, layout=layout, gradient=True, ours=ours_backward,
                    make=lambda: [values(out, dtype, layout), values(x, dtype, layout)],
                    theirs=by_autograd(lambda x: function(x, *tail), 1))
    return Case(name, text, dtype=dtype, layout=layout, make=lambda: [values(x, dtype, layout)],
                theirs=call(lambda x: function(x, *tail)),
                ours=lambda api, x: api.bind(name, x, each(kernel), options(api)))


def adaptive_pool(kind, x, size, dtype="f32", layout=""):
    name = f"adaptive_{kind}_pool{len(x) - 2}d"
    function = getattr(functional, name)
    return Case(name, f"{shape_text(x)} → {size}", dtype=dtype, layout=layout, make=lambda: [values(x, dtype, layout)],
                theirs=call(lambda x: function(x, size)), ours=op(name, [size] * (len(x) - 2)))


RESIZES = {("nearest", 1): "nearest1d", ("nearest", 2): "nearest2d", ("nearest", 3): "nearest3d",
           ("linear", 1): "linear1d", ("linear", 2): "bilinear2d", ("linear", 3): "trilinear3d",
           ("cubic", 2): "bicubic2d"}
MODES = {"linear1d": "linear", "bilinear2d": "bilinear", "trilinear3d": "trilinear", "bicubic2d": "bicubic"}


def resize(kind, x, size, dtype="f32", layout="", backward=False):
    """kind: nearest, linear or cubic; size of each spatial dim."""
    name = RESIZES[kind, len(x) - 2]
    mode = MODES.get(name, "nearest")
    gradient = f"upsample_{name if kind == 'cubic' else kind}_backward"

    def function(x):
        return functional.interpolate(x, size=list(size), mode=mode)
    text = f"{shape_text(x)} → {shape_text(size)}"
    if backward:
        return Case(f"{name}, backward", text, dtype=dtype, layout=layout, gradient=True,
                    theirs=by_autograd(function, 1),
                    make=lambda: [values((*x[:2], *size), dtype, layout), values(x, dtype, layout)],
                    ours=lambda api, dy, _: api.bind(gradient, dy, list(x[2:]), None))
    return Case(name, text, dtype=dtype, layout=layout, make=lambda: [values(x, dtype, layout)], theirs=call(function),
                ours=op(f"upsample_{name}", list(size), None))


# ---- norms ----

def norm(kind, x, groups=1, dtype="f32", layout="", backward=False):
    """kind: layer or rms (over the last dim), or group (of x [N,C,...])."""
    axis = 1 if kind == "group" else -1
    weight = (x[axis],)

    def function(x, w, b):
        if kind == "layer":
            return functional.layer_norm(x, w.shape, w, b)
        return functional.rms_norm(x, w.shape, w, 1e-5) if kind == "rms" else functional.group_norm(x, groups, w, b)
    first = [groups] if kind == "group" else [1] if kind == "layer" else []

    def forward(api, x, w, b):
        return api.bind(f"{kind}_norm", x, *first, w, *[b] * (kind != "rms"), 1e-5)

    def ours_backward(api, dy, x, w, b):
        statistics = {"inverse_deviation": Out()} if kind == "rms" else {"mean": Out(), "inverse_deviation": Out()}
        saved = api.made(f"{kind}_norm_with", x, *first, api.options("norm", weight=w, epsilon=1e-5, **statistics))[1:]
        gradients = {"weight_gradient": Out()} if kind == "rms" else {"weight_gradient": Out(), "bias_gradient": Out()}
        options = api.options("norm_backward", weight=w, **gradients)
        return api.bind(f"{kind}_norm_backward", dy, x, *saved, *first, options)
    text = shape_text(x) + (f" g{groups}" if kind == "group" else "")
    operands = lambda: [values(x, dtype, layout), values(weight, dtype), values(weight, dtype)]  # noqa: E731
    if backward:
        return Case(f"{kind} norm, backward", text, dtype=dtype, layout=layout, gradient=True, ours=ours_backward,
                    make=lambda: [values(x, dtype, layout), *operands()],
                    theirs=by_autograd(function, 2 if kind == "rms" else 3))
    return Case(f"{kind} norm", text, dtype=dtype, layout=layout, make=operands, theirs=call(function), ours=forward)


def batch_norm(x, training=False, dtype="f32", layout="", backward=False):
    """backward: of training."""
    channels = (x[1],)

    def make():
        affine = [values(x, dtype, layout), values(channels, dtype), values(channels, dtype)]
        return affine if training else [*affine, values(channels, dtype), values(channels, dtype).abs() + 0.5]

    def function(x, w, b, mean=None, variance=None):
        return functional.batch_norm(x, mean, variance, w, b, training=training)

    def ours(api, x, w, b, mean=None, variance=None):
        if not training:
            return api.bind("batch_norm", x, mean, variance, api.options("batch_norm", weight=w, bias=b, epsilon=1e-5))
        return api.bind("batch_norm_train", x, api.options("batch_norm_train", weight=w, bias=b, epsilon=1e-5))

    def ours_backward(api, dy, x, w, b):
        saved = api.made("batch_norm_train", x, api.options(
            "batch_norm_train", weight=w, bias=b, epsilon=1e-5, mean=Out(), inverse_deviation=Out()))[1:]
        return api.bind("batch_norm_backward", dy, x, *saved, True, api.options(
            "norm_backward", weight=w, weight_gradient=Out(), bias_gradient=Out()))
    kind = f"batch norm{', training' if training else ''}{', backward' if backward else ''}"
    if backward:
        return Case(kind, shape_text(x), dtype=dtype, layout=layout, gradient=True, ours=ours_backward,
                    make=lambda: [values(x, dtype, layout), *make()], theirs=by_autograd(function, 3))
    return Case(kind, shape_text(x), dtype=dtype, layout=layout, make=make, theirs=call(function), ours=ours)


# ---- recurrent layers ----

def recurrent(mode, x, hidden, layers=1, directions=1, dtype="f32", *, training=False, backward=False):
    """mode: lstm, gru or rnn; x [T,N,I]. backward: the gradients of x and of the weights, behind a forward pass."""
    each = []
    for layer in range(layers):
        inputs = x[2] if layer == 0 else hidden * directions
        gates = {"lstm": 4, "gru": 3, "rnn": 1}[mode] * hidden
        each += [(gates, inputs), (gates, hidden), (gates,), (gates,)] * directions
    states = layers * directions

    def make():
        weights = [values(shape, dtype, scale=hidden ** -0.5) for shape in each]
        return [*[values((*x[:2], hidden * directions), dtype)] * backward, values(x, dtype), *weights]

    def function(x, *weights):
        first = torch.zeros(states, x.shape[1], hidden, dtype=x.dtype, device=x.device)
        run = getattr(torch, "rnn_tanh" if mode == "rnn" else mode)
        return run(x, (first, first) if mode == "lstm" else first, weights, True, layers, 0.0, training or backward,
                   directions == 2, False)[0]

    def options(api, **more):
        name = "WICK_RNN_TANH" if mode == "rnn" else f"WICK_{mode.upper()}"
        return api.options("recurrent", mode=api.enums[name], hidden=hidden, layers=layers,
                           bidirectional=directions == 2, **more)

    def ours(api, x, *weights):
        if not training:
            return api.bind("recurrent", x, weights, options(api))
        run = api.bind("recurrent", x, weights, options(api, reserve=Out(3)))

        def result_alone():
            y, *reserve = run()
            for address in reserve:
                api.wick.release(address)
            return [y]
        return result_alone

    def ours_backward(api, dy, x, *weights):
        reserve = Out(3)
        api.made("recurrent", x, weights, options(api, reserve=reserve))
        kept = options(api, reserve=ctypes.addressof(reserve.cells))
        kept.reserve_cells = reserve
        return api.bind("recurrent_backward", x, dy, weights, kept,
                        api.options("recurrent_backward", weights=Out(len(weights))))
    kind = f"{mode}{', training' if training else ''}{', backward' if backward else ''}"
    size = f"{shape_text(x)} → {hidden}" + f" l{layers}" * (layers > 1) + " both ways" * (directions == 2)
    if backward:
        return Case(kind, size, dtype=dtype, make=make, gradient=True, ours=ours_backward,
                    theirs=by_autograd(function, 1 + len(each)))
    return Case(kind, size, dtype=dtype, make=make, theirs=call(function), ours=ours)


# ---- losses and embeddings ----

def cross_entropy(rows, classes, dtype="f32", backward=False):
    def ours_backward(api, dy, x, target):
        options = api.options("cross_entropy", log_sums=Out(), total_weight=Out())
        saved = api.made("cross_entropy", x, target, options)[1:]
        return api.bind("cross_entropy_backward", dy, x, target, *saved, None)
    text, function = shape_text((rows, classes)), functional.cross_entropy
    operands = lambda: [values((rows, classes), dtype), ids(classes, rows)]  # noqa: E731
    if backward:
        return Case("cross entropy, backward", text, dtype=dtype, gradient=True, ours=ours_backward,
                    make=lambda: [values((), dtype), *operands()], theirs=by_autograd(function, 1))
    return Case("cross entropy", text, dtype=dtype, make=operands, theirs=call(function),
                ours=op("cross_entropy", None))


def embedding(rows, width, count, dtype="f32", backward=False):
    text = f"{shape_text((rows, width))} · {count}"
    if backward:
        return Case("embedding, backward", text, dtype=dtype,
                    make=lambda: [values((count, width), dtype), ids(rows, count)],
                    theirs=call(lambda dy, at: ATEN.embedding_dense_backward(dy, at, rows, -1, False)),
                    ours=op("embedding_backward", rows, -1))
    return Case("embedding", text, dtype=dtype, make=lambda: [values((rows, width), dtype), ids(rows, count)],
                theirs=call(lambda w, at: functional.embedding(at, w)), ours=op("embedding"))
