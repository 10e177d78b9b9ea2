# loss: i is the reduction, log_target, whether the target's gradient is wanted; f[0] is beta or delta. cross_entropy: i is
# the reduction, whether an id is ignored, which, whether another result is wanted; f[0] is the smoothing. composed_loss: i
# is the reduction, swap, whether other gradients are wanted; f is margin, p, epsilon. ctc: i is the reduction, blank,
# zero_infinity, the longest target, input lengths from 4, target lengths from 10. Gradients are autograd's.
REDUCTIONS = ["mean", "sum", "none", "batchmean"]


def loss_reduced(c, losses):
    """losses by a reduction that PyTorch's function lacks for the shape."""
    return [losses.mean, losses.sum, lambda: losses, losses.sum][c.i[0]]()


def element_loss(name):
    def run(c, x, target, *weights):
        r = REDUCTIONS[c.i[0]]
        if name == "kl_div_loss":
            y = F.kl_div(x, target, reduction="none", log_target=bool(c.i[1]))
            return y.sum() / (x.shape[0] if x.dim() else 1) if r == "batchmean" else loss_reduced(c, y)
        if name == "smooth_l1_loss":
            return F.smooth_l1_loss(x, target, reduction=r, beta=c.f[0])
        if name == "huber_loss":
            return F.huber_loss(x, target, reduction=r, delta=c.f[0])
        if name == "binary_cross_entropy":
            return F.binary_cross_entropy(x, target, weights[0], reduction=r)
        if name == "binary_cross_entropy_with_logits":
            return F.binary_cross_entropy_with_logits(x, target, weights[0], reduction=r, pos_weight=weights[1])
        return {"mse_loss": F.mse_loss, "l1_loss": F.l1_loss}[name](x, target, reduction=r)
    return run


def class_loss(name):
    def run(c, x, target, weight):
        ignored = c.i[2] if c.i[1] else -100
        if name == "nll_loss":
            x, view = (x[None], target[None]) if x.dim() == 1 else (x, target)
            y = F.nll_loss(x, view, weight, ignore_index=ignored, reduction=REDUCTIONS[c.i[0]])
            return y.reshape(target.shape) if c.i[0] == 2 else y
        options = {} if target.is_floating_point() else {"ignore_index": ignored}
        return F.cross_entropy(x, target, weight, reduction=REDUCTIONS[c.i[0]], label_smoothing=c.f[0], **options)
    return run


def cosine_loss(c, a, b, y):
    sign = torch.where(y > 0, 1.0, -1.0).to(torch.float64)
    return F.cosine_embedding_loss(a, b, sign, margin=c.f[0], reduction=REDUCTIONS[c.i[0]])


def triplet_loss(c, anchor, positive, negative):
    if anchor.dim() == 1:
        y = triplet_loss(c, anchor[None], positive[None], negative[None])
        return y[0] if c.i[0] == 2 else y
    return F.triplet_margin_loss(anchor, positive, negative, margin=c.f[0], p=c.f[1], eps=c.f[2], swap=bool(c.i[1]),
                                 reduction=REDUCTIONS[c.i[0]])


def ctc_loss(c, x, targets):
    n = x.shape[1] if x.dim() == 3 else 1
    inputs, labels = tuple(c.i[4:4 + n]), tuple(c.i[10:10 + n])
    if x.dim() == 2:
        y = F.ctc_loss(x[:, None], targets, inputs, labels, c.i[1], REDUCTIONS[c.i[0]], bool(c.i[2]))
        return y[0] if c.i[0] == 2 else y
    return F.ctc_loss(x, targets, inputs, labels, c.i[1], REDUCTIONS[c.i[0]], bool(c.i[2]))


def loss_of(name, function, operands):
    """The loss, and by autograd the gradients of its first operands, as far as the case wants them."""
    @op(name)
    def forward(c):
        if 0 in c.a.shape and name not in ("mse_loss", "l1_loss"):
            return None
        y = function(c, *c.x)
        if c.n_out > 1:
            return [y, torch.logsumexp(c.a, 1 if c.a.dim() > 1 else 0)]
        return y

    @op(name + "_backward")
    def backward(c):
        g, x = c.x[0], list(c.x[1:])
        if 0 in x[0].shape:
            return None
        varied = [t.clone().requires_grad_() for t in x[:min(operands, c.n_out)]]
        y = function(c, *varied, *x[len(varied):])
        return list(torch.autograd.grad(y, varied, g.reshape(y.shape)))


for name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "kl_div_loss", "binary_cross_entropy",
             "binary_cross_entropy_with_logits"):
    loss_of(name, element_loss(name), 2)
for name in ("cross_entropy", "cross_entropy_soft", "nll_loss"):
    loss_of(name, class_loss(name), 2)
loss_of("cosine_embedding_loss", cosine_loss, 2)
loss_of("triplet_margin_loss", triplet_loss, 3)
loss_of("ctc_loss", ctc_loss, 1)
