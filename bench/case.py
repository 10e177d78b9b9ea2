"""A row of bench/beside.py: one op on one dtype, layout and shape, in PyTorch and in Wick."""
import math

import torch

from rows import TORCH, to_wick


class Case:
    """`make()` gives the operands. `theirs(*operands)` and `ours(api, *operands)` prepare a call and return it; theirs
    gives a tensor or several, ours the same ones' addresses. `gradient` says that theirs is a gradient by autograd."""

    def __init__(self, kind, size, *, make, theirs, ours, dtype="f32", layout="", gradient=False):
        self.kind, self.size, self.dtype, self.layout = kind, size, dtype, layout
        self.make, self.theirs, self.ours, self.gradient = make, theirs, ours, gradient

    @property
    def name(self):
        return " ".join(part for part in (self.kind, self.size, self.dtype, self.layout) if part)

    def context(self):
        return torch.enable_grad() if self.gradient else torch.inference_mode()


class Maker:
    """Makes operands on PyTorch's device."""
    device = "cpu"


def values(shape, dtype="f32", layout="", scale=1.0):
    """Normal numbers. Layouts: transposed (of the last two dims), moved (of dims 1 and 2, as heads are), channels-last,
    narrowed (a part of longer rows)."""
    dims = list(range(len(shape)))
    if layout == "transposed":
        dims[-2:] = dims[:-3:-1]
    elif layout == "moved":
        dims[1:3] = [2, 1]
    elif layout == "channels-last":
        dims = [0, *dims[2:], 1]
    stored = [shape[d] for d in dims]
    if not shape:
        return torch.randn((), device=Maker.device).to(TORCH[dtype])
    extra = 16 if layout == "narrowed" else 0
    stored[-1] += extra
    x = torch.randn(stored, device=Maker.device).mul_(scale).to(TORCH[dtype])
    return x.narrow(-1, extra // 2, stored[-1] - extra).permute([dims.index(d) for d in range(len(shape))])


def ids(limit, *shape):
    return torch.randint(0, limit, shape, device=Maker.device)


def upload(api, x):
    """A Wick tensor, held, with the elements and the layout of a torch tensor."""
    if x.is_contiguous() and x.storage_offset() == 0:
        return api.hold(to_wick(api.wick, x))
    whole = x.as_strided((x.untyped_storage().nbytes() // x.element_size(),), (1,), 0)
    base = api.hold(to_wick(api.wick, whole))
    return api.hold(api.bind("as_strided", base, list(x.shape), list(x.stride()), x.storage_offset())()[0])


def call(function):
    """Of a function of operands, one that prepares its call."""
    return lambda *operands: lambda: function(*operands)


def op(name, *arguments):
    """Wick's op of that name on all operands and then these arguments."""
    return lambda api, *operands: api.bind(name, *operands, *arguments)


def by_autograd(function, count):
    """The gradients of the first `count` operands behind dy, by autograd."""
    def prepare(dy, *operands):
        leaves = [x.detach().requires_grad_() for x in operands[:count]]
        y = function(*leaves, *operands[count:])
        return lambda: torch.autograd.grad(y, leaves, dy, retain_graph=True)
    return prepare


def shape_text(*shapes):
    return " · ".join("×".join(map(str, shape)) for shape in shapes)


def product(shape):
    return math.prod(shape)
