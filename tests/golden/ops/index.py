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


@op("scaled_dot_product_attention")
def attention(c):
    q, k, v, mask = c.x
    k, v = (t.repeat_interleave(q.shape[1] // t.shape[1], 1) for t in (k, v))
    score = q @ k.transpose(-1, -2) * (c.f[0] or 1 / math.sqrt(max(q.shape[-1], 1)))
    if c.f[1]:
        score = c.f[1] * torch.tanh(score / c.f[1])
    if mask is not None:
        score = score.masked_fill(mask == 0, -math.inf) if mask.dtype == torch.uint8 else score + mask
    if c.i[0]:
        score = score.masked_fill(torch.ones(score.shape[-2:]).triu(1) != 0, -math.inf)
    return torch.softmax(score, -1).nan_to_num() @ v
