# pool: i is kernel or size [3], stride [3], padding [3], dilation [3], ceil_mode, exclude_padding, divisor, whether indices are wanted.
# resize: i is size [3], whether it is given, align_corners; f is scale [3]. pad: i is mode, before [8], after [8].


def pool_arguments(c, n):
    kernel, stride, padding, dilation = (c.i[3 * j:3 * j + n] for j in range(4))
    stride = [s or k for s, k in zip(stride, kernel)]
    return kernel, stride, padding, [d or 1 for d in dilation], bool(c.i[12])


def max_pool(n):
    def run(c):
        kernel, stride, padding, dilation, ceil = pool_arguments(c, n)
        if any(2 * p > k for p, k in zip(padding, kernel)):
            return None  # PyTorch refuses what we take
        pool = (F.max_pool1d, F.max_pool2d, F.max_pool3d)[n - 1]
        return pool(c.a.double(), kernel, stride, padding, dilation, ceil, return_indices=bool(c.i[15]))
    return run


def avg_pool(n):
    def run(c):
        kernel, stride, padding, dilation, ceil = pool_arguments(c, n)
        if c.isint or any(d != 1 for d in dilation) or any(2 * p > k for p, k in zip(padding, kernel)):
            return None
        if n == 1:
            return None if c.i[14] else F.avg_pool1d(c.a, kernel, stride, padding, ceil, not c.i[13])
        pool = (F.avg_pool2d, F.avg_pool3d)[n - 2]
        return pool(c.a, kernel, stride, padding, ceil, not c.i[13], c.i[14] or None)
    return run


for n in (1, 2, 3):
    op(f"max_pool{n}d")(max_pool(n))
    op(f"avg_pool{n}d")(avg_pool(n))
    op(f"adaptive_max_pool{n}d")(
        lambda c, n=n: (F.adaptive_max_pool1d, F.adaptive_max_pool2d, F.adaptive_max_pool3d)[n - 1](
            c.a.double(), c.i[:n]))
    op(f"adaptive_avg_pool{n}d")(
        lambda c, n=n: None if c.isint else
        (F.adaptive_avg_pool1d, F.adaptive_avg_pool2d, F.adaptive_avg_pool3d)[n - 1](c.a, c.i[:n]))


def upsample(n, mode):
    def run(c):
        if c.isint and mode != "nearest":
            return None
        align = {} if mode == "nearest" else {"align_corners": bool(c.i[4])}
        scale, size = c.f[:n], c.i[:n]
        if c.i[3] and any(scale):
            return None  # PyTorch takes one of the two
        if mode == "nearest" and n != 2 and not c.i[3] and any(math.floor(a * s) == a for a, s in zip(c.a.shape[2:], scale)):
            return None  # PyTorch copies a dim that keeps its size in 2 dims alone
        return F.interpolate(c.a.double(), size=size if c.i[3] else None, scale_factor=None if c.i[3] else scale,
                             mode=mode, recompute_scale_factor=False, **align)
    return run


for n, mode in ((1, "linear"), (2, "bilinear"), (3, "trilinear")):
    op(f"upsample_nearest{n}d")(upsample(n, "nearest"))
    op(f"upsample_{mode}{n}d")(upsample(n, mode))


@op("pad")
def pad(c):
    width = [(c.i[1 + d], c.i[9 + d]) for d in range(c.a.dim())]
    mode = ("constant", "reflect", "edge", "wrap")[c.i[0]]
    if c.a.dim() == 0:
        return c.a.clone()
    if any(n == 0 for n in c.a.shape) and mode != "constant" or any(v < 0 for v in c.i[1:17]):
        return None
    extra = {"constant_values": c.f[0]} if mode == "constant" else {}
    return torch.from_numpy(np.array(np.pad(c.a.numpy(), width, mode=mode, **extra)))


op("pixel_shuffle")(lambda c: F.pixel_shuffle(c.a, c.i[0]))
op("pixel_unshuffle")(lambda c: F.pixel_unshuffle(c.a, c.i[0]))


# resize_cubic, resize_backward: i is size of x [3], align_corners, size of the result [3]; f is scale [3]. pad_backward:
# as pad. fold, composed_columns: i is kernel [3], stride [3], padding [3], dilation [3], size of the image [3].


def resized(x, op, c):
    """What upsampling makes of x, in the sizes of the case."""
    n = x.dim() - 2
    size, scale = c.i[4:4 + n], c.f[:n]
    if any(scale):
        if [math.floor(a * s) for a, s in zip(x.shape[2:], scale)] != size:
            return None
        size = None
    mode = {"nearest": "nearest", "nearest_exact": "nearest-exact", "bicubic2d": "bicubic",
            "linear": ("linear", "bilinear", "trilinear")[n - 1]}[op]
    align = {} if "nearest" in op else {"align_corners": bool(c.i[3])}
    return F.interpolate(x, size=size, scale_factor=None if size else scale, mode=mode, recompute_scale_factor=False,
                         **align)


op("upsample_bicubic2d")(lambda c: resized(c.a, "bicubic2d", c))


@op("upsample_nearest_exact")
def nearest_exact(c):
    n = c.a.dim() - 2
    size, scale = c.i[:n], c.f[:n]
    if c.i[3] and any(scale):
        return None  # PyTorch takes one of the two
    if not c.i[3] and any(math.floor(a * s) == a for a, s in zip(c.a.shape[2:], scale)):
        return None  # PyTorch does not copy a dim that keeps its size
    return F.interpolate(c.a.double(), size=size if c.i[3] else None, scale_factor=None if c.i[3] else scale,
                         mode="nearest-exact", recompute_scale_factor=False)


def resize_backward(name):
    def run(c):
        n = c.a.dim() - 2
        x = torch.zeros(list(c.a.shape[:2]) + c.i[:n], dtype=torch.float64, requires_grad=True)
        if name == "adaptive":
            y = (F.adaptive_avg_pool1d, F.adaptive_avg_pool2d, F.adaptive_avg_pool3d)[n - 1](x, c.i[4:4 + n])
        else:
            y = resized(x, name, c)
        return None if y is None else torch.autograd.grad(y, x, c.a)[0]
    return run


op("adaptive_avg_pool_backward")(resize_backward("adaptive"))
for name in ("nearest", "nearest_exact", "linear", "bicubic2d"):
    op(f"upsample_{name}_backward")(resize_backward(name))


@op("adaptive_max_pool_backward")
def adaptive_max_pool_backward(c):
    """Positions are those that verify/resize_backward.c picks: element (7 o + 3) mod their number of window o."""
    n = c.a.dim() - 2
    size, out = c.i[:n], c.i[4:4 + n]
    indices = torch.zeros(out, dtype=torch.int64)
    for o, at in enumerate(np.ndindex(*out)):
        grid = [range(a * z // m, -(-(a + 1) * z // m)) for a, z, m in zip(at, size, out)]
        taps = [int(np.ravel_multi_index(tap, size)) for tap in itertools.product(*grid)]
        indices[at] = taps[(7 * o + 3) % len(taps)]
    indices = indices.expand(c.a.shape).contiguous()
    x = torch.zeros(list(c.a.shape[:2]) + size, dtype=torch.float64)
    if n == 3:
        return torch.ops.aten.adaptive_max_pool3d_backward(c.a, x, indices)
    if n == 2:
        return torch.ops.aten.adaptive_max_pool2d_backward(c.a, x, indices)
    return torch.ops.aten.adaptive_max_pool2d_backward(c.a.unsqueeze(2), x.unsqueeze(2), indices.unsqueeze(2)).squeeze(2)


@op("pad_backward")
def pad_backward(c):
    """By autograd, dim by dim: PyTorch pads the last dims alone, but for constants."""
    rank = c.a.dim()
    if rank == 0:
        return c.a.clone()
    x = torch.zeros([n - c.i[1 + d] - c.i[9 + d] for d, n in enumerate(c.a.shape)], dtype=torch.float64)
    x.requires_grad_()
    y, mode = x, ("constant", "reflect", "replicate", "circular")[c.i[0]]
    if mode != "constant" and (x.numel() == 0 or mode == "circular" and any(v < 0 for v in c.i[1:17])):
        return None
    for d in range(rank):
        before, after = c.i[1 + d], c.i[9 + d]
        if mode == "constant":
            y = F.pad(y.movedim(d, -1), (before, after)).movedim(-1, d)
        elif mode == "circular" and max(before, after) > x.shape[d]:
            return None  # PyTorch goes around once
        elif before or after:
            lines = y.movedim(d, -1)
            y = F.pad(lines.reshape(1, -1, lines.shape[-1]), (before, after), mode=mode)
            y = y.reshape(list(lines.shape[:-1]) + [y.shape[-1]]).movedim(-1, d)
    return torch.autograd.grad(y, x, c.a)[0]


@op("im2col")
def im2col(c):
    if c.isint or c.a.dim() != 4 or c.a.shape[0] == 0:
        return None
    return F.unfold(c.a, c.i[0:2], c.i[9:11], c.i[6:8], c.i[3:5])


@op("col2im")
def col2im(c):
    if c.i[1] == 0 or c.i[2] or c.a.shape[0] == 0:
        return None
    return F.fold(c.a, c.i[12:14], c.i[0:2], c.i[9:11], c.i[6:8], c.i[3:5])


# composed_unpool: i is the size of the other side [3]. composed_lp_pool: i is kernel [3], stride [3], padding [3],
# ceil_mode, f is p. composed_response: i is size, within_channels, f is alpha, beta, k.


def unpool_indices(shape, plane):
    """Those that verify/unpool.c makes; None where it leaves an element out."""
    small = math.prod(shape[2:])
    if small > 5:
        return None
    return torch.tensor([(7 * e + 3) % plane for e in range(small)]).reshape(shape[2:]).expand(shape).contiguous()


@op("max_unpool")
def max_unpool(c):
    n = c.a.dim() - 2
    size = c.i[:n]
    indices = unpool_indices(list(c.a.shape), math.prod(size))
    if indices is None or c.a.numel() == 0:
        return None
    y = torch.zeros(list(c.a.shape[:2]) + [math.prod(size)], dtype=c.a.dtype)
    y.scatter_(2, indices.flatten(2), c.a.flatten(2))
    return y.reshape(list(c.a.shape[:2]) + size)


@op("max_unpool_backward")
def max_unpool_backward(c):
    n = c.a.dim() - 2
    shape = list(c.a.shape[:2]) + c.i[:n]
    indices = unpool_indices(shape, math.prod(c.a.shape[2:]))
    return None if indices is None else c.a.flatten(2).gather(2, indices.flatten(2)).reshape(shape)


def lp_pool(x, c):
    n = x.dim() - 2
    kernel, stride = c.i[:n], [s or k for s, k in zip(c.i[3:3 + n], c.i[:n])]
    if any(c.i[6:9]) or x.numel() == 0:
        return None
    return (F.lp_pool1d, F.lp_pool2d, F.lp_pool3d)[n - 1](x, c.f[0], kernel if n > 1 else kernel[0],
                                                          stride if n > 1 else stride[0], bool(c.i[9]))


op("lp_pool")(lambda c: lp_pool(c.a, c))


@op("lp_pool_backward")
def lp_pool_backward(c):
    g, x = c.x
    x = x.clone().requires_grad_()
    y = lp_pool(x, c)
    return None if y is None else torch.autograd.grad(y, x, g)[0]


def response(x, c):
    if c.i[1] or x.dim() < 3:
        return None  # PyTorch has no such
    return F.local_response_norm(x, c.i[0], c.f[0], c.f[1], c.f[2])


op("local_response_norm")(lambda c: response(c.a, c))


@op("local_response_norm_backward")
def local_response_norm_backward(c):
    g, x = c.x
    x = x.clone().requires_grad_()
    y = response(x, c)
    return None if y is None or x.numel() == 0 else torch.autograd.grad(y, x, g)[0]


# grid_sample: i is mode, padding, align_corners, size of x [3].


def sampled(x, grid, c):
    return F.grid_sample(x, grid, mode=("bilinear", "nearest", "bicubic")[c.i[0]],
                         padding_mode=("zeros", "border", "reflection")[c.i[1]], align_corners=bool(c.i[2]))


op("grid_sample")(lambda c: None if 0 in c.b.shape else sampled(c.a, c.b, c))


def grid_sample_backward(by_grid):
    def run(c):
        g, grid = c.a, c.x[-1].clone().requires_grad_()
        if 0 in grid.shape:
            return None
        size = list(g.shape[:2]) + c.i[3:3 + grid.shape[-1]]
        x = (c.b.clone() if by_grid else torch.zeros(size, dtype=torch.float64)).requires_grad_()
        return torch.autograd.grad(sampled(x, grid, c), grid if by_grid else x, g)[0]
    return run


op("grid_sample_backward_input")(grid_sample_backward(False))
op("grid_sample_backward_grid")(grid_sample_backward(True))
