# recurrent_cell: i is relu, whether gates are a result. gates_reorder: i is mode, from, to. composed_recurrent: i is
# mode, layers, two directions, batch_first, projection, no_bias, hidden, whether there are lengths, the lengths from
# i[8] on; i[20] of a gradient: whether c is looked at instead of h.


def rnn_step(c, x, hidden):
    return (x + hidden).relu() if c.i[0] else torch.tanh(x + hidden)


def lstm_step(x, hidden, state):
    i, f, g, o = (x + hidden).chunk(4, 1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    after = f * state + i * g
    return o * after.tanh(), after, torch.cat([i, f, g, o], 1)


def gru_step(x, hidden, h):
    xr, xz, xn = x.chunk(3, 1)
    hr, hz, hn = hidden.chunk(3, 1)
    r, z = (xr + hr).sigmoid(), (xz + hz).sigmoid()
    n = (xn + r * hn).tanh()
    return (1 - z) * n + z * h, torch.cat([r, z, n, hn], 1)


op("rnn_cell")(lambda c: rnn_step(c, c.a, c.b))
op("lstm_cell")(lambda c: lstm_step(c.a, c.b, c.x[2].double())[:c.n_out])
op("gru_cell")(lambda c: gru_step(*c.x)[:c.n_out])


def whole(c, *parts):
    """The sum of a gradient's parts, of which some are left out."""
    return sum(part.double() for part in parts if part is not None)


@op("rnn_cell_backward")
def rnn_cell_backward(c):
    d, y = whole(c, c.a, c.b), c.x[2]
    if c.i[0]:
        return torch.ops.aten.threshold_backward(d, y, 0)
    return torch.ops.aten.tanh_backward(d, y)


@op("lstm_cell_backward")
def lstm_cell_backward(c):
    """By autograd, through the gates as they are given."""
    gates, before, after = (x.double().clone().requires_grad_() for x in c.x[3:])
    i, f, g, o = gates.chunk(4, 1)
    carry = torch.zeros_like(after) if c.x[2] is None else c.x[2].double()
    h = o * after.tanh()
    by_o, by_after = torch.autograd.grad(h, (gates, after), whole(c, c.a, c.b))
    by_gates, by_before = torch.autograd.grad(f * before + i * g, (gates, before), by_after + carry)
    i, f, g, o = (by_o + by_gates).chunk(4, 1)
    a, b, d, e = gates.detach().chunk(4, 1)
    slope = torch.ops.aten.sigmoid_backward
    return torch.cat([slope(i, a), slope(f, b), torch.ops.aten.tanh_backward(g, d), slope(o, e)], 1), by_before


@op("gru_cell_backward")
def gru_cell_backward(c):
    """By autograd, through the gates as they are given."""
    gates, h = (x.double().clone().requires_grad_() for x in c.x[3:])
    r, z, n, part = gates.chunk(4, 1)
    by_gates, by_h = torch.autograd.grad((1 - z) * n + z * h, (gates, h), whole(c, *c.x[:3]))
    a, b, d, e = gates.detach().chunk(4, 1)
    _, of_z, of_n, _ = by_gates.chunk(4, 1)
    of_n = torch.ops.aten.tanh_backward(of_n, d)
    of_r = torch.ops.aten.sigmoid_backward(of_n * e, a)
    of_z = torch.ops.aten.sigmoid_backward(of_z, b)
    return torch.cat([of_r, of_z, of_n], 1), torch.cat([of_r, of_z, of_n * a], 1), by_h


@op("gates_reorder")
def gates_reorder(c):
    orders = {2: ("ifgo", "iofg", "ifog"), 3: ("rzn", "zrn", "zrn"), 0: ("h", "h", "h")}[c.i[0]]
    parts = dict(zip(orders[c.i[1]], c.a.chunk(len(orders[0]), 0)))
    return torch.cat([parts[gate] for gate in orders[c.i[2]]], 0)


def network(c):
    """PyTorch's layer, with the weights of operand 1."""
    mode, layers, both, batch_first, projection, no_bias, hidden = c.i[:7]
    kind = {0: torch.nn.RNN, 1: torch.nn.RNN, 2: torch.nn.LSTM, 3: torch.nn.GRU}[mode]
    more = {"nonlinearity": ("tanh", "relu")[mode]} if mode < 2 else {"proj_size": projection} if mode == 2 else {}
    net = kind(c.a.shape[2], hidden, layers, bias=not no_bias, batch_first=bool(batch_first), bidirectional=bool(both),
               dtype=torch.float64, **more)
    at = 0
    for name in net._flat_weights_names:
        weight = getattr(net, name)
        weight.data = c.b[at:at + weight.numel()].reshape(weight.shape).clone()
        at += weight.numel()
    assert at == c.b.numel()
    return net


def forward(c, net, x, h, cell):
    """The result, last_h and last_c; None for lengths that PyTorch refuses."""
    batch_first, mode = c.i[3], c.i[0]
    steps, batch = x.shape[batch_first], x.shape[1 - batch_first]
    lengths = torch.tensor(c.i[8:8 + batch]) if c.i[7] else None
    if steps * batch == 0 or (c.i[7] and lengths.min() == 0):
        return None
    given = x
    if c.i[7]:
        given = torch.nn.utils.rnn.pack_padded_sequence(x, lengths, bool(batch_first), enforce_sorted=False)
    y, last = net(given, (h, cell) if mode == 2 else h)
    if c.i[7]:
        y, _ = torch.nn.utils.rnn.pad_packed_sequence(y, bool(batch_first), total_length=steps)
    return (y, *last) if mode == 2 else (y, last, None)


def states(c, net, h, cell):
    """The first states, 0 where they are left out."""
    batch, ld = c.a.shape[1 - c.i[3]], c.i[1] * (1 + c.i[2])
    state = c.i[4] or c.i[6]
    h = torch.zeros(ld, batch, state, dtype=torch.float64) if h is None else h
    cell = torch.zeros(ld, batch, c.i[6], dtype=torch.float64) if cell is None else cell.double()
    return h.clone().requires_grad_(), cell.clone().requires_grad_()


@op("recurrent")
def recurrent(c):
    net = network(c)
    outs = forward(c, net, c.a, *states(c, net, c.x[2], c.x[3]))
    return None if outs is None else [out.detach() for out in outs[:c.n_out]]


@op("recurrent_backward")
def recurrent_backward(c):
    net, x = network(c), c.a.clone().requires_grad_()
    h, cell = states(c, net, c.x[3], c.x[4])
    outs = forward(c, net, x, h, cell)
    if outs is None:
        return None
    last, first = (outs[2], cell) if c.i[20] else (outs[1], h)
    loss = (outs[0] * c.x[2]).sum() + (last * c.x[5].double()).sum()
    weights = [getattr(net, name) for name in net._flat_weights_names]
    found = torch.autograd.grad(loss, [x, first] + weights)
    return found[0], torch.cat([g.reshape(-1) for g in found[2:]]), found[1]
