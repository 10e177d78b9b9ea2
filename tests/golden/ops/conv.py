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
    mode = ("constant", "reflect", "edge")[c.i[0]]
    if c.a.dim() == 0:
        return c.a.clone()
    if any(n == 0 for n in c.a.shape) and mode != "constant":
        return None
    extra = {"constant_values": c.f[0]} if mode == "constant" else {}
    return torch.from_numpy(np.array(np.pad(c.a.numpy(), width, mode=mode, **extra)))


op("pixel_shuffle")(lambda c: F.pixel_shuffle(c.a, c.i[0]))
op("pixel_unshuffle")(lambda c: F.pixel_unshuffle(c.a, c.i[0]))
