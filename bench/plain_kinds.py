"""The kinds of rows of bench/beside.py: ops on elements, rows and indices. Each function makes a Case."""
import torch
from torch.nn import functional

from case import Case, by_autograd, call, ids, op, shape_text, values
from rows import TORCH
from wick import DTYPES

# Wick's names of PyTorch's functions of one operand, which may be negative but for those of POSITIVE.
UNARY = {"exp": torch.exp, "log": torch.log, "sin": torch.sin, "tanh": torch.tanh, "sqrt": torch.sqrt,
         "rsqrt": torch.rsqrt, "recip": torch.reciprocal, "abs": torch.abs, "neg": torch.neg, "sqr": torch.square,
         "floor": torch.floor,
         "round": torch.round, "erf": torch.erf, "sigmoid": torch.sigmoid, "relu": torch.relu,
         "relu6": functional.relu6, "gelu": functional.gelu, "silu": functional.silu,
         "softplus": functional.softplus, "mish": functional.mish,
         "hard_swish": functional.hardswish, "hard_sigmoid": functional.hardsigmoid,
         "log_sigmoid": functional.logsigmoid,
         "gelu_tanh": lambda x: functional.gelu(x, approximate="tanh")}
POSITIVE = {"log", "sqrt", "rsqrt"}
BINARY = {"add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div, "maximum": torch.maximum,
          "minimum": torch.minimum}
BACKWARD = ("relu", "gelu", "gelu_tanh", "silu", "hard_swish", "mish", "softplus", "log_sigmoid", "sigmoid", "tanh")
OF_RESULT = {"sigmoid", "tanh"}  # whose gradient Wick takes from the result


def unary(name, x, dtype="f32", layout=""):
    function = UNARY[name]

    def make():
        made = values(x, dtype, layout)
        return [made.abs_().add_(0.25) if name in POSITIVE else made]
    return Case(name, shape_text(x), dtype=dtype, layout=layout, make=make, theirs=call(function), ours=op(name))


def activation_backward(name, x, dtype="f32", layout=""):
    def ours(api, dy, x):
        more = [1.0, 20.0] if name == "softplus" else []
        return api.bind(f"{name}_backward", dy, api.made(name, x) if name in OF_RESULT else x, *more)
    return Case(f"{name}, backward", shape_text(x), dtype=dtype, layout=layout, gradient=True,
                make=lambda: [values(x, dtype, layout), values(x, dtype, layout)], ours=ours,
                theirs=by_autograd(UNARY[name], 1))


def binary(name, a, b, dtype="f32", layouts=("", "")):
    def make():
        rhs = values(b, dtype, layouts[1])
        return [values(a, dtype, layouts[0]), rhs.abs_().add_(0.25) if name == "div" else rhs]
    return Case(name, shape_text(a, b), dtype=dtype, layout=" · ".join(layouts) if any(layouts) else "", make=make,
                theirs=call(BINARY[name]), ours=op(name))


def copy(x, dims, dtype="f32", layout=""):
    """A contiguous copy of x with its dims permuted."""
    return Case("copy", f"{shape_text(x)} by {''.join(map(str, dims))}", dtype=dtype, layout=layout,
                make=lambda: [values(x, dtype, layout)], theirs=call(lambda x: x.permute(dims).contiguous()),
                ours=lambda api, x: api.bind("contiguous", api.made("permute", x, list(dims))))


def cast(x, dtype, to, layout=""):
    return Case(f"cast to {to}", shape_text(x), dtype=dtype, layout=layout, make=lambda: [values(x, dtype, layout)],
                theirs=call(lambda x: x.to(TORCH[to])), ours=op("cast", DTYPES[to]))


REDUCTIONS = {"sum": torch.sum, "mean": torch.mean, "max": torch.amax, "min": torch.amin}


def reduction(name, x, dims, dtype="f32", layout=""):
    """name: of REDUCTIONS, or var."""
    text = f"{shape_text(x)} over {', '.join(map(str, dims))}"
    if name == "var":
        theirs, ours = call(lambda x: torch.var(x, dims)), op("var", 1.0, list(dims), False)
    else:
        theirs, ours = call(lambda x: REDUCTIONS[name](x, dims)), op(name, list(dims), False)
    return Case(name, text, dtype=dtype, layout=layout, make=lambda: [values(x, dtype, layout)], theirs=theirs,
                ours=ours)


def argmax(x, dim, dtype="f32", layout=""):
    return Case("argmax", f"{shape_text(x)} over {dim}", dtype=dtype, layout=layout,
                make=lambda: [values(x, dtype, layout)], theirs=call(lambda x: torch.argmax(x, dim)),
                ours=op("argmax", [dim], False))


def cumsum(x, dim, dtype="f32", layout=""):
    return Case("cumsum", f"{shape_text(x)} along {dim}", dtype=dtype, layout=layout,
                make=lambda: [values(x, dtype, layout)], theirs=call(lambda x: torch.cumsum(x, dim)),
                ours=op("cumsum", dim))


def softmax(x, dim, dtype="f32", layout="", log=False, backward=False):
    name = "log_softmax" if log else "softmax"
    function = torch.log_softmax if log else torch.softmax
    text = f"{shape_text(x)} along {dim}"
    if backward:
        return Case(f"{name}, backward", text, dtype=dtype, layout=layout, gradient=True,
                    make=lambda: [values(x, dtype, layout), values(x, dtype, layout)],
                    theirs=by_autograd(lambda x: function(x, dim), 1),
                    ours=lambda api, dy, x: api.bind(f"{name}_backward", dy, api.made(name, x, dim), dim))
    return Case(name, text, dtype=dtype, layout=layout, make=lambda: [values(x, dtype, layout)],
                theirs=call(lambda x: function(x, dim)), ours=op(name, dim))


def gather(x, dim, count, dtype="f32", layout=""):
    """`count` elements along dim for each place of the other dims."""
    shape = [*x[:dim], count, *x[dim + 1:]]
    return Case("gather", f"{shape_text(x)} · {count} along {dim}", dtype=dtype, layout=layout,
                make=lambda: [values(x, dtype, layout), ids(x[dim], *shape)],
                theirs=call(lambda x, at: x.gather(dim, at)),
                ours=lambda api, x, at: api.bind("gather", x, dim, at))


def index_select(x, dim, count, dtype="f32", layout=""):
    return Case("index_select", f"{shape_text(x)} · {count} along {dim}", dtype=dtype, layout=layout,
                make=lambda: [values(x, dtype, layout), ids(x[dim], count)],
                theirs=call(lambda x, at: x.index_select(dim, at)),
                ours=lambda api, x, at: api.bind("index_select", x, dim, at))


def index_add(x, dim, count, dtype="f32"):
    shape = [*x[:dim], count, *x[dim + 1:]]
    return Case("index_add", f"{shape_text(x)} · {count} along {dim}", dtype=dtype,
                make=lambda: [values(x, dtype), ids(x[dim], count), values(shape, dtype)],
                theirs=call(lambda x, at, source: x.index_add(dim, at, source)),
                ours=lambda api, x, at, source: api.bind("index_add", x, dim, at, source))


def sort(x, dtype="f32"):
    """Along the last dim; the values."""
    return Case("sort", shape_text(x), dtype=dtype, make=lambda: [values(x, dtype)],
                theirs=call(lambda x: torch.sort(x, -1)[0]), ours=lambda api, x: api.bind("sort", x, -1, False, None))


def where(x, dtype="f32"):
    return Case("where", shape_text(x), dtype=dtype,
                make=lambda: [(values(x) > 0).to(torch.uint8), values(x, dtype), values(x, dtype)],
                theirs=lambda c, a, b: (lambda: torch.where(c.view(torch.bool), a, b)), ours=op("where"))


def pad(x, amount, dtype="f32"):
    """The last dim, at both ends, by zeros."""
    return Case("pad", f"{shape_text(x)} by {amount}", dtype=dtype, make=lambda: [values(x, dtype)],
                theirs=call(lambda x: functional.pad(x, (amount, amount))),
                ours=op("pad_with_zeros", -1, amount, amount))
