# place: i is dim, start or shift or k, repeats. index: i[0] is dim, operands x, ids, source. masked_fill: f[0] value.


def sliced(c):
    out = c.a.clone()
    out.narrow(c.i[0], c.i[1], c.b.shape[c.i[0]]).copy_(c.b)
    return out


@op("flip")
def flip(c):
    dim, rank = c.i[0], c.a.dim()
    return torch.flip(c.a, [dim, 0 if dim % rank > 0 else rank - 1] if rank > 1 else [dim])


op("cat")(lambda c: torch.cat(c.x, c.i[0]))
op("stack")(lambda c: torch.stack(c.x, c.i[0]))
op("slice_set_inplace", "slice_scatter")(sliced)
op("roll")(lambda c: torch.roll(c.a, c.i[1], c.i[0]))
op("repeat")(lambda c: c.a.repeat(c.i[2:2 + max(c.a.dim(), 1) + (c.a.dim() < 3)]))
op("tril")(lambda c: torch.tril(c.a, c.i[1]))
op("triu")(lambda c: torch.triu(c.a, c.i[1]))
op("eye")(lambda c: torch.eye(c.i[0], c.i[1], dtype=torch.float64) if c.i[0] * c.i[1] <= 150 else None)

op("index_select")(lambda c: torch.index_select(c.a, c.i[0], c.b))
op("embedding")(lambda c: F.embedding(c.b, c.a))
op("gather")(lambda c: torch.gather(c.a, c.i[0], c.b))
op("scatter_add", "scatter_add_inplace")(lambda c: c.a.clone().scatter_add_(c.i[0], c.b, c.x[2]))
op("index_add")(lambda c: c.a.clone().index_add_(c.i[0], c.b, c.x[2]))
op("masked_fill")(lambda c: c.a.masked_fill(c.b != 0, c.f[0])
                  if not c.isint or c.f[0] == int(c.f[0] if abs(c.f[0]) < 1e9 else 0) else None)
op("one_hot")(lambda c: F.one_hot(c.a, c.i[0]))


@op("scatter", "scatter_inplace")
def scatter(c):
    """In the order of the ids, so that the last of equal ones stays, which PyTorch leaves open."""
    out, dim = c.a.clone(), c.i[0]
    for place in np.ndindex(*c.b.shape):
        to = list(place)
        to[dim] = int(c.b[place])
        out[tuple(to)] = c.x[2][place]
    return out


def attended(c, q, k, v, mask, slopes):
    """Attention and log-sum-exp by head: q [B,H,M,D], slopes [B,H,1,1] or None."""
    k, v = (t.repeat_interleave(q.shape[1] // t.shape[1], 1) for t in (k, v))
    causal, last, windowed, left, right = c.i[:5]
    m, n = q.shape[-2], k.shape[-2]
    seen = torch.ones(m, n, dtype=torch.bool)
    offset = n - m if last else 0  # the diagonal of each query's own key
    if causal:
        seen &= torch.ones(m, n).tril(offset) != 0
    if windowed and left >= 0:
        seen &= torch.ones(m, n).triu(offset - left) != 0
    if windowed and right >= 0:
        seen &= torch.ones(m, n).tril(offset + right) != 0
    score = q @ k.transpose(-1, -2) * (c.f[0] or 1 / math.sqrt(max(q.shape[-1], 1)))
    if c.f[1]:
        score = c.f[1] * torch.tanh(score / c.f[1])
    bias = torch.zeros(m, n, dtype=torch.float64)
    if slopes is not None:
        bias = bias - slopes * (torch.arange(m).unsqueeze(1) + offset - torch.arange(n)).abs()
    if mask is not None:
        bias = bias.masked_fill(mask == 0, -math.inf) if mask.dtype == torch.uint8 else bias + mask
    bias = bias.masked_fill(~seen, -math.inf)
    total = torch.logsumexp(score + bias, -1)
    if c.f[1]:  # PyTorch's own operator has no soft cap
        return torch.softmax(score + bias, -1).nan_to_num() @ v, total
    out = F.scaled_dot_product_attention(q, k, v, bias.expand(score.shape), scale=c.f[0] or None)
    return torch.where(torch.isinf(total).unsqueeze(-1), 0.0, out), total


@op("scaled_dot_product_attention")
def attention(c):
    q, k, v, mask, slopes = c.x
    if c.f[2]:
        return None  # PyTorch drops others
    if slopes is not None:
        slopes = slopes.expand(q.shape[:2])[..., None, None]
    return attended(c, q, k, v, mask, slopes)[:1 + c.i[5]]


@op("attention_packed")
def attention_packed(c):
    q, k, v, _, slopes = c.x
    n = c.i[6]
    starts, keys, outs, totals = c.i[7:8 + n], c.i[8 + n:9 + 2 * n], [], []
    if slopes is not None:
        slopes = slopes.expand(n, q.shape[1])[..., None, None]
    for s in range(n):
        one = [x[a[s]:a[s + 1]].transpose(0, 1).unsqueeze(0) for x, a in ((q, starts), (k, keys), (v, keys))]
        out, total = attended(c, *one, None, None if slopes is None else slopes[s:s + 1])
        outs.append(out[0].transpose(0, 1))
        totals.append(total[0].transpose(0, 1))
    return [torch.cat(outs), torch.cat(totals)][:1 + c.i[5]]

# composed_pick: see verify/pick.c. NumPy writes equal ids in order, which PyTorch leaves open.
op("nonzero")(lambda c: torch.nonzero(c.a))
op("masked_select")(lambda c: torch.masked_select(c.a, c.b != 0))
op("unique")(lambda c: torch.unique(c.a, return_inverse=True, return_counts=True))
op("bincount")(lambda c: torch.bincount(c.a, c.b, c.i[0]))
op("index")(lambda c: c.a[tuple(c.x[1:1 + c.i[0]])])
op("searchsorted")(lambda c: torch.searchsorted(torch.sort(c.a).values, c.b, right=bool(c.i[0])))
op("repeat_interleave")(lambda c: torch.repeat_interleave(c.a, int(c.b) if c.b.dim() == 0 else c.b, c.i[0]))
op("roll_dims")(lambda c: torch.roll(c.a, c.i[1:1 + c.i[0]], c.i[4:4 + c.i[0]]) if c.i[0] else c.a)


@op("index_put")
def index_put(c):
    out, ids = c.a.numpy().copy(), tuple(t.numpy() for t in c.x[2:2 + c.i[0]])
    if c.i[1]:
        np.add.at(out, ids, c.b.numpy())
    else:
        out[ids] = c.b.numpy()
    return torch.from_numpy(out)


@op("index_copy")
def index_copy(c):
    out = c.a.numpy().copy()
    np.moveaxis(out, c.i[0], 0)[c.b.numpy()] = np.moveaxis(c.x[2].numpy(), c.i[0], 0)
    return torch.from_numpy(out)


# composed_einsum: verify/einsum.c has the same texts.
EINSUM = ["ij,jk->ik", "bij,bjk->bik", "ij->ji", "ij->", "ii->i", "i,j->ij", "ij,ij", "bhqd,bhkd->bhqk", "ab,bc,cd->ad",
          "aab,b->a", "i,i->", "ijz,jk->ik", "...ab,...bc->...ac", "...a,a...", "...ab,bc", "b...,...a->...a", "a...->a",
          "aba...b->...ab"]
op("einsum")(lambda c: torch.einsum(EINSUM[c.i[0]], *c.x))
KINDS = ["sum", "prod", "mean", "amax", "amin"]
op("scatter_reduce")(lambda c: torch.scatter_reduce(c.a, c.i[0], c.b, c.x[2], kind_of(c), include_self=bool(c.i[1])))


def kind_of(c):
    return "sum" if c.isint and c.i[2] == 2 else KINDS[c.i[2]]


@op("index_reduce")
def index_reduce(c):
    """PyTorch's own lacks the sum."""
    ids = c.b.reshape([-1 if d == c.i[0] % c.a.dim() else 1 for d in range(c.a.dim())]).expand(c.x[2].shape)
    if kind_of(c) == "sum":
        return torch.scatter_reduce(c.a, c.i[0], ids, c.x[2], "sum", include_self=bool(c.i[1]))
    return torch.index_reduce(c.a, c.i[0], c.b, c.x[2], kind_of(c), include_self=bool(c.i[1]))


for name in ("prod", "amax", "amin", "mean"):
    op("scatter_" + name)(lambda c, name=name: torch.scatter_reduce(c.a, c.i[0], c.b, c.x[2], name,
                                                                    include_self=bool(c.i[1])))


def attention_gradients(c, operands, mask, slopes):
    """By autograd, of q, k and v [B,H,M,D], and of the mask if wanted; operands: the gradient and these."""
    g, q, k, v = (t.clone().requires_grad_() for t in operands)
    if c.n_out > 3:
        mask = mask.clone().requires_grad_()
    of = [q, k, v, mask][:c.n_out]
    out, _ = attended(c, q, k, v, mask, slopes)
    found = torch.autograd.grad(out, of, g.detach(), allow_unused=True)
    return [torch.zeros_like(t) if d is None else d for d, t in zip(found, of)]


@op("scaled_dot_product_attention_backward")
def attention_backward(c):
    g, q, k, v, mask, slopes = c.x
    if c.f[2]:
        return None
    if slopes is not None:
        slopes = slopes.expand(q.shape[:2])[..., None, None]
    return attention_gradients(c, (g, q, k, v), mask, slopes)


@op("attention_packed_backward")
def attention_packed_backward(c):
    g, q, k, v, _, slopes = c.x
    n = c.i[6]
    starts, keys, found = c.i[7:8 + n], c.i[8 + n:9 + 2 * n], []
    if slopes is not None:
        slopes = slopes.expand(n, q.shape[1])[..., None, None]
    for s in range(n):
        one = [x[a[s]:a[s + 1]].transpose(0, 1).unsqueeze(0)
               for x, a in ((g, starts), (q, starts), (k, keys), (v, keys))]
        found.append(attention_gradients(c, one, None, None if slopes is None else slopes[s:s + 1]))
    return [torch.cat([d[i][0].transpose(0, 1) for d in found]) for i in range(3)]
