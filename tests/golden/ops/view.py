# What i holds for each op stands in the row of its case: dims, sizes, positions, in the order of the call's arguments.

BIG = 2 ** 62


@op("diagonal")
def diagonal(c):
    return torch.diagonal(c.a, c.i[0], c.i[1], c.i[2])


op("reshape")(lambda c: c.a.reshape(c.i[1:1 + c.i[0]]))
op("squeeze")(lambda c: c.a.squeeze() if c.i[0] == 99 else c.a.squeeze(c.i[0]))
op("unsqueeze")(lambda c: c.a.unsqueeze(c.i[0]))
op("flatten")(lambda c: c.a.flatten(c.i[0], c.i[1]))
op("transpose")(lambda c: c.a.t() if c.a.dim() == 2 else c.a.transpose(c.i[0], c.i[1]))
op("permute")(lambda c: c.a.permute(c.i[:c.a.dim()]))
op("narrow")(lambda c: c.a.narrow(c.i[0], c.i[1], c.i[2]))
op("select")(lambda c: c.a.select(c.i[0], c.i[1]))
op("broadcast_to")(lambda c: c.a.broadcast_to(c.i[1:1 + c.i[0]]))
op("expand")(lambda c: c.a.expand(c.i[1:1 + c.i[0]]))
op("unfold")(lambda c: c.a.unfold(c.i[0], c.i[1], c.i[2]))
op("meshgrid")(lambda c: torch.meshgrid(*c.x[:3], indexing="ij")[c.i[0]])


@op("slice")
def slice_(c):
    index = [slice(None)] * c.a.dim()
    index[c.i[0]] = slice(c.i[1], None if c.i[2] >= BIG else c.i[2], c.i[3])
    return c.a[tuple(index)]


op("chunk")(lambda c: torch.tensor_split(c.a, c.i[0], c.i[1])[c.i[2]])
op("split")(lambda c: torch.split(c.a, c.i[3:3 + c.i[0]], c.i[1])[c.i[2]])
op("as_strided")(lambda c: torch.as_strided(c.a, c.i[2:2 + c.i[1]], c.i[5:5 + c.i[1]], c.i[0]))
