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
