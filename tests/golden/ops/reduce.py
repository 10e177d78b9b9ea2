# i[0]: mask of the reduced dims, 0 for all; i[1]: keepdim; f[0]: correction, or the p of the norm.


def reduced(c):
    mask = c.i[0] or (1 << c.a.dim()) - 1
    return [d for d in range(c.a.dim()) if mask >> d & 1]


def over_dims(function):
    """Applies a reduction of one dim to all reduced dims, moved to the end and flattened to one."""
    def run(c):
        dims = reduced(c)
        rest = [d for d in range(c.a.dim()) if d not in dims]
        flat = c.a.permute(rest + dims).reshape([c.a.shape[d] for d in rest] + [-1])
        out = function(c, flat)
        if c.i[1]:
            for d in dims:
                out = out.unsqueeze(d)
        return out
    return run


op("sum")(over_dims(lambda c, x: x.sum(-1)))
op("prod")(over_dims(lambda c, x: x.prod(-1)))
op("min")(over_dims(lambda c, x: x.amin(-1)))
op("max")(over_dims(lambda c, x: x.amax(-1)))
op("any")(over_dims(lambda c, x: (x != 0).any(-1)))
op("all")(over_dims(lambda c, x: (x != 0).all(-1)))
op("mean")(over_dims(lambda c, x: x.mean(-1)))
op("var")(over_dims(lambda c, x: x.var(-1, correction=c.f[0])))
op("std")(over_dims(lambda c, x: x.std(-1, correction=c.f[0])))
op("norm")(over_dims(lambda c, x: torch.linalg.vector_norm(x, c.f[0], dim=-1)))
op("log_sum_exp")(over_dims(lambda c, x: x.logsumexp(-1)))
op("argmin")(over_dims(lambda c, x: torch.from_numpy(np.array(np.argmin(x.numpy(), -1)))))
op("argmax")(over_dims(lambda c, x: torch.from_numpy(np.array(np.argmax(x.numpy(), -1)))))

# composed_along: i[0] is the dim, i[1] keepdim, i[2] a dtype; f[0] the q of quantile.


def along(c, values, at):
    return [t if c.i[1] or c.a.dim() == 0 else t.squeeze(c.i[0]) for t in (values, at)]


@op("max_along", "min_along")
def extreme(c):
    if c.a.dim() == 0:
        return along(c, c.a, torch.zeros((), dtype=torch.int64))
    find = np.argmax if c.op == "max_along" else np.argmin
    at = torch.from_numpy(find(c.a.numpy(), c.i[0], keepdims=True))
    return along(c, c.a.gather(c.i[0], at), at)


@op("median")
def median(c):
    if c.a.dim() == 0:
        return along(c, c.a, torch.zeros((), dtype=torch.int64))
    values, at = torch.sort(c.a, dim=c.i[0], stable=True)
    k = (c.a.shape[c.i[0]] - 1) // 2
    return along(c, values.narrow(c.i[0], k, 1), at.narrow(c.i[0], k, 1))


op("quantile")(lambda c: torch.quantile(c.a, c.f[0], c.i[0], bool(c.i[1])))


def in_dtype(c):
    """The elements cast; those that are i64 already are so in int64."""
    if TORCH[c.i[2]] != torch.int64:
        return converted(c.a, TORCH[c.i[2]]).double()
    return c.a if c.isint else torch.trunc(c.a).long()


op("sum_in")(lambda c: in_dtype(c).sum(c.i[0], bool(c.i[1])))
op("mean_in")(lambda c: in_dtype(c).mean(c.i[0], bool(c.i[1])))
op("logcumsumexp")(lambda c: torch.logcumsumexp(c.a, c.i[0]))
op("cummax")(lambda c: list(torch.cummax(c.a, c.i[0])))
op("cummin")(lambda c: list(torch.cummin(c.a, c.i[0])))
