# conv: i is stride [3], padding [3], dilation [3], output_padding [3], groups, relu. softmax: i[0] is dim. normalize:
# i[0] is axes or groups, f[0] epsilon. linear: i[0] is the activation. sort: i is dim, descending, k, indices wanted.


def convolution(n, transposed):
    def run(c):
        stride, padding, dilation, extra = (c.i[3 * j:3 * j + n] for j in range(4))
        stride, dilation = [s or 1 for s in stride], [d or 1 for d in dilation]
        x, weight, bias = (None if t is None else t.double() for t in c.x)
        groups = c.i[12] or 1
        if transposed:
            function = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[n - 1]
            out = function(x, weight, bias, stride, padding, extra, groups, dilation)
        else:
            out = (F.conv1d, F.conv2d, F.conv3d)[n - 1](x, weight, bias, stride, padding, dilation, groups)
        return out.relu() if c.i[13] else out
    return run


for n in (1, 2, 3):
    op(f"conv{n}d")(convolution(n, False))
    op(f"conv_transpose{n}d")(convolution(n, True))

op("softmax")(lambda c: F.softmax(c.a, c.i[0]))
op("log_softmax")(lambda c: F.log_softmax(c.a, c.i[0]))
op("softmax_backward")(lambda c: torch.ops.aten._softmax_backward_data(c.a, c.b, c.i[0], torch.float64))
op("log_softmax_backward")(lambda c: torch.ops.aten._log_softmax_backward_data(c.a, c.b, c.i[0], torch.float64))
op("layer_norm")(lambda c: F.layer_norm(c.a, c.a.shape[c.a.dim() - c.i[0]:], c.x[1], c.x[2], c.f[0]))
op("rms_norm")(lambda c: F.rms_norm(c.a, c.a.shape[-1:], c.x[1], c.f[0]))
op("group_norm")(lambda c: F.group_norm(c.a, c.i[0], c.x[1], c.x[2], c.f[0]))
op("batch_norm")(lambda c: F.batch_norm(c.a, c.x[1], c.x[2], c.x[3], c.x[4], False, 0, c.f[0]))


def gradients(c, found):
    """Those of x, weight and bias, as far as the case wants them."""
    return [g if g is not None else torch.zeros(()) for g in found][:c.n_out]


@op("layer_norm_backward")
def layer_norm_backward(c):
    g, x, mean, inverse, weight = c.x
    shape = x.shape[x.dim() - c.i[0]:]
    if x.numel() == 0:
        return [torch.zeros_like(x), torch.zeros(shape), torch.zeros(shape)][:c.n_out]
    ones = torch.ones(shape, dtype=torch.float64)
    single = list(mean.shape) + [1] * c.i[0]
    return gradients(c, torch.ops.aten.native_layer_norm_backward(
        g, x, list(shape), mean.reshape(single), inverse.reshape(single), ones if weight is None else weight, ones,
        [True, True, True]))


@op("rms_norm_backward")
def rms_norm_backward(c):
    """By autograd, of a norm whose epsilon makes the given inverse deviation that of x."""
    g, x, inverse, weight = c.x
    x = x.clone().requires_grad_()
    w = (torch.ones(x.shape[-1], dtype=torch.float64) if weight is None else weight.clone()).requires_grad_()
    square = x.square().mean(-1)
    epsilon = (inverse ** -2 - square).detach()
    y = x * torch.rsqrt(square + epsilon).unsqueeze(-1) * w
    return gradients(c, torch.autograd.grad(y, (x, w), g))


@op("group_norm_backward")
def group_norm_backward(c):
    g, x, mean, inverse, weight = c.x
    n, channels = x.shape[:2]
    plane = x[0, 0].numel() if n * channels else 0
    if x.numel() == 0:
        return [torch.zeros_like(x), torch.zeros(channels), torch.zeros(channels)][:c.n_out]
    ones = torch.ones(channels, dtype=torch.float64)
    return gradients(c, torch.ops.aten.native_group_norm_backward(
        g, x, mean, inverse, ones if weight is None else weight, n, channels, plane, c.i[0], [True, True, True]))


def pool_backward(largest, n):
    """Positions are those that verify/pool_backward.c picks: element (7 o + 3) mod their number of window o."""
    def run(c):
        kernel, stride, padding, dilation, size = (c.i[3 * j:3 * j + n] for j in (0, 1, 2, 3, 5))
        stride = [s or k for s, k in zip(stride, kernel)]
        dilation = [d or 1 for d in dilation]
        flags = bool(c.i[12]), not c.i[13], c.i[14] or None
        x = torch.zeros(list(c.a.shape[:2]) + size, dtype=torch.float64)
        if not largest and n == 1:  # which has no divisor_override
            x = x.unsqueeze(2).requires_grad_()
            y = F.avg_pool2d(x, (1, kernel[0]), (1, stride[0]), (0, padding[0]), *flags)
            return torch.autograd.grad(y, x, c.a.unsqueeze(2))[0].squeeze(2)
        if not largest:
            x = x.requires_grad_()
            y = (F.avg_pool2d if n == 2 else F.avg_pool3d)(x, kernel, stride, padding, *flags)
            return torch.autograd.grad(y, x, c.a)[0]
        out = list(c.a.shape[2:])
        indices = torch.zeros(out, dtype=torch.int64)
        for o, at in enumerate(np.ndindex(*out)):
            grid = [[p for p in (a * s - m + k * d for k in range(w)) if 0 <= p < z]
                    for a, s, m, w, d, z in zip(at, stride, padding, kernel, dilation, size)]
            taps = [int(np.ravel_multi_index(tap, size)) for tap in itertools.product(*grid)]
            if not taps:
                return None  # PyTorch has no sign for a window without elements
            indices[at] = taps[(7 * o + 3) % len(taps)]
        indices = indices.expand(c.a.shape).contiguous()
        if n == 3:
            return torch.ops.aten.max_pool3d_with_indices_backward(
                c.a, x, kernel, stride, padding, dilation, flags[0], indices)
        if n == 1:
            return torch.ops.aten.max_pool2d_with_indices_backward(
                c.a.unsqueeze(2), x.unsqueeze(2), [1] + kernel, [1] + stride, [0] + padding, [1] + dilation, flags[0],
                indices.unsqueeze(2)).squeeze(2)
        return torch.ops.aten.max_pool2d_with_indices_backward(
            c.a, x, kernel, stride, padding, dilation, flags[0], indices)
    return run


for n in (1, 2, 3):
    op(f"max_pool{n}d_backward")(pool_backward(True, n))
    op(f"avg_pool{n}d_backward")(pool_backward(False, n))


def conv_backward(n, transposed, by_weight):
    """By autograd; the values of what the gradient is by do not matter. i[9:12] are the sizes of x or of the kernel."""
    def run(c):
        stride, padding, dilation, size, extra = (c.i[at:at + n] for at in (0, 3, 6, 9, 13))
        stride, dilation, groups = [s or 1 for s in stride], [d or 1 for d in dilation], c.i[12]
        g, other = c.x
        if 0 in g.shape or 0 in other.shape:
            return None
        if by_weight:
            rows, columns = (other.shape[1], g.shape[1]) if transposed else (g.shape[1], other.shape[1])
            made = torch.zeros([rows, columns // groups] + size, dtype=torch.float64)
        else:
            channels = other.shape[0] if transposed else other.shape[1] * groups
            made = torch.zeros([g.shape[0], channels] + size, dtype=torch.float64)
        made.requires_grad_()
        x, weight = (other, made) if by_weight else (made, other)
        if transposed:
            function = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[n - 1]
            y = function(x, weight, None, stride, padding, extra, groups, dilation)
        else:
            y = (F.conv1d, F.conv2d, F.conv3d)[n - 1](x, weight, None, stride, padding, dilation, groups)
        return torch.autograd.grad(y, made, g)[0]
    return run


for n in (1, 2, 3):
    op(f"conv{n}d_backward_input")(conv_backward(n, False, False))
    op(f"conv{n}d_backward_weight")(conv_backward(n, False, True))
    op(f"conv_transpose{n}d_backward_input")(conv_backward(n, True, False))
    op(f"conv_transpose{n}d_backward_weight")(conv_backward(n, True, True))
op("conv_backward_bias")(lambda c: c.a.sum([d for d in range(c.a.dim()) if d != 1]))


@op("batch_norm_train")
def batch_norm_train(c):
    x, weight, bias = c.x
    if x.numel() == 0:
        return None
    y, mean, inverse = torch.native_batch_norm(x, weight, bias, None, None, True, 0, c.f[0])
    return [y, inverse, mean][:c.n_out]


@op("batch_norm_backward")
def batch_norm_backward(c):
    """Given statistics that are not those of x go by their variance, inverse ** -2 with epsilon 0."""
    g, x, mean, inverse, weight = c.x
    if x.numel() == 0:
        return None
    ones = torch.ones(x.shape[1], dtype=torch.float64)
    return gradients(c, torch.ops.aten.native_batch_norm_backward(
        g, x, ones if weight is None else weight, mean, inverse ** -2, mean, inverse, bool(c.i[0]), 0,
        [True, True, True]))

op("matmul")(lambda c: torch.matmul(c.a, c.b))
op("dot")(lambda c: torch.dot(c.a, c.b))
op("mv")(lambda c: torch.matmul(c.a, c.b))
op("outer")(lambda c: torch.outer(c.a, c.b))
ACTIVATIONS = [lambda x: x, F.relu, F.gelu, lambda x: F.gelu(x, approximate="tanh"), F.silu, torch.tanh]
op("linear")(lambda c: ACTIVATIONS[c.i[0]](F.linear(c.a, c.b, c.x[2])))


def with_indices(c, values, indices):
    return (values, indices)[:c.n_out]


@op("sort")
def sort(c):
    if c.a.dim() == 0:
        return with_indices(c, c.a.clone(), torch.zeros((), dtype=torch.int64))
    return with_indices(c, *torch.sort(c.a, dim=c.i[0], descending=bool(c.i[1]), stable=True))


op("argsort")(lambda c: torch.argsort(c.a, dim=c.i[0], descending=bool(c.i[1]), stable=True))


@op("topk")
def topk(c):
    values, indices = torch.sort(c.a, dim=c.i[0], descending=bool(c.i[1]), stable=True)
    return with_indices(c, values.narrow(c.i[0], 0, c.i[2]), indices.narrow(c.i[0], 0, c.i[2]))


op("cumsum")(lambda c: torch.cumsum(c.a, c.i[0]))
op("cumprod")(lambda c: torch.cumprod(c.a, c.i[0]))


@op("rope", "rope_thd")
def rope(c):
    x, cosine, sine = c.x
    x = x.transpose(1, 2) if c.op == "rope_thd" else x
    if cosine.dim() == 3:
        cosine, sine = cosine.unsqueeze(1), sine.unsqueeze(1)
    pairs = torch.stack((x[..., 0::2], x[..., 1::2]) if c.i[0] else x.chunk(2, -1), -1)
    turned = torch.view_as_real(torch.view_as_complex(pairs.contiguous()) * torch.complex(cosine, sine))
    out = turned.flatten(-2) if c.i[0] else torch.cat((turned[..., 0], turned[..., 1]), -1)
    return out.transpose(1, 2) if c.op == "rope_thd" else out


# composed_slopes: see verify/slopes.c.
@op("prelu_backward")
def prelu_backward(c):
    x, weight = c.b.clone().requires_grad_(), c.x[2].clone().requires_grad_()
    # PyTorch counts channels in dim 1; a vector of n elements stands for a row of n channels.
    y = F.prelu(x.unsqueeze(0) if x.dim() == 1 else x, weight.reshape(-1))
    return torch.autograd.grad(y, (x, weight), c.a.reshape(y.shape))


@op("glu_backward", "swiglu_backward")
def gate_backward(c):
    x = c.b.clone().requires_grad_()
    if c.op == "glu_backward":
        y = F.glu(x, c.i[0])
    else:
        a, b = x.chunk(2, -1)
        y = F.silu(a) * b
    return torch.autograd.grad(y, x, c.a)[0]


# composed_bag: see verify/bag.c.
def bag_of(c, weight, ids, weights):
    mode, n, ends, padding = ["sum", "mean", "max"][c.i[0]], c.i[1], bool(c.i[2]), c.i[3]
    offsets = torch.tensor(c.i[5:5 + n]) if n else None
    return F.embedding_bag(ids, weight, offsets, mode=mode, per_sample_weights=weights, include_last_offset=ends,
                           padding_idx=padding if padding >= 0 else None)


@op("embedding_bag")
def embedding_bag(c):
    return bag_of(c, *c.x)


@op("embedding_bag_backward")
def embedding_bag_backward(c):
    gradient, weight, ids, weights = c.x
    leaves = [t.clone().requires_grad_() for t in (weight, weights) if t is not None]
    y = bag_of(c, leaves[0], ids, leaves[1] if weights is not None else None)
    found = torch.autograd.grad(y, leaves, gradient)
    return found[:c.n_out]


@op("embedding_backward")
def embedding_backward(c):
    weight = torch.zeros(c.i[0], c.a.shape[-1], dtype=c.a.dtype, requires_grad=True)
    y = F.embedding(c.b, weight, padding_idx=c.i[3] if c.i[3] >= 0 else None)
    return torch.autograd.grad(y, weight, c.a)[0]


# composed_heads: see verify/multi_head.c.
@op("multi_head_attention")
def multi_head_attention(c):
    q, k, v, w, o, mask = c.x
    heads, kind, apart, biased, causal, wanted = c.i[:6]
    if c.f[0]:
        return None  # PyTorch drops others
    e, m, n = q.shape[-1], q.shape[1], k.shape[1]
    seen = torch.zeros(q.shape[0], heads, m, n, dtype=torch.float64)
    if causal:
        seen += torch.full((m, n), -math.inf).triu(1)
    if kind == 1:
        seen = seen.masked_fill(mask == 0, -math.inf)
    elif kind == 2:
        seen += mask
    elif kind == 3:
        seen = seen.masked_fill(mask[:, None, None, :] == 0, -math.inf)
    y, weights = F.multi_head_attention_forward(
        q.transpose(0, 1), k.transpose(0, 1), v.transpose(0, 1), e, heads, None if apart else w,
        w[:, 0] if biased else None, None, None, False, 0.0, o, o[:, 0] if biased else None, training=False,
        need_weights=True, attn_mask=seen.flatten(0, 1), use_separate_proj_weight=bool(apart), q_proj_weight=w[:e],
        k_proj_weight=w[e:2 * e], v_proj_weight=w[2 * e:], average_attn_weights=wanted != 2)
    y = torch.where(torch.isnan(y), o[:, 0] if biased else 0.0, y)  # queries that see nothing
    return [y.transpose(0, 1), weights.nan_to_num()][:1 + (wanted > 0)]
