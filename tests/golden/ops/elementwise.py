# scalar: numbers f[0], f[1]. cast: i[0] is the dtype. fill: value f[0], or start, end, step; i is rank and shape.

FLOAT_UNARY = {
    "exp": torch.exp, "exp2": torch.exp2, "expm1": torch.expm1, "log": torch.log, "log2": torch.log2,
    "log10": torch.log10, "log1p": torch.log1p, "sin": torch.sin, "cos": torch.cos, "tan": torch.tan,
    "asin": torch.asin, "acos": torch.acos, "atan": torch.atan, "sinh": torch.sinh, "cosh": torch.cosh,
    "asinh": torch.asinh, "acosh": torch.acosh, "atanh": torch.atanh, "erfc": torch.erfc, "erfinv": torch.erfinv,
    "lgamma": torch.lgamma,
    "tanh": torch.tanh, "erf": torch.erf, "sqrt": torch.sqrt, "rsqrt": torch.rsqrt, "recip": torch.reciprocal,
    "relu2": lambda x: F.relu(x).square(), "relu6": F.relu6, "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"), "sigmoid": torch.sigmoid, "silu": F.silu,
    "softplus": lambda x: torch.logaddexp(x, torch.zeros_like(x)), "mish": F.mish, "hard_sigmoid": F.hardsigmoid,
    "hard_swish": F.hardswish, "selu": F.selu, "isnan": torch.isnan, "isinf": torch.isinf, "isfinite": torch.isfinite,
    "abs": torch.abs, "neg": torch.neg, "sqr": torch.square, "sign": torch.sign, "floor": torch.floor,
    "ceil": torch.ceil, "round": torch.round, "trunc": torch.trunc, "relu": F.relu, "logical_not": torch.logical_not,
    "bitwise_not": torch.bitwise_not, "softsign": F.softsign, "tanhshrink": F.tanhshrink, "log_sigmoid": F.logsigmoid,
}
for name, function in FLOAT_UNARY.items():
    op(name)(lambda c, function=function: function(c.a))

op("affine")(lambda c: c.a * c.f[0] + c.f[1] if not c.isint or all(v == int(v) for v in c.f) else None)
op("add_scalar")(lambda c: c.a + c.f[0] if not c.isint or c.f[0] == int(c.f[0]) else None)
op("sub_scalar")(lambda c: c.a - c.f[0] if not c.isint or c.f[0] == int(c.f[0]) else None)
op("mul_scalar")(lambda c: c.a * c.f[0] if not c.isint or c.f[0] == int(c.f[0]) else None)
op("div_scalar")(lambda c: c.a / c.f[0] if not c.isint else None)
op("powf")(lambda c: torch.pow(c.a, c.f[0]))
op("elu")(lambda c: F.elu(c.a, c.f[0]))
op("celu")(lambda c: F.celu(c.a, c.f[0]))
op("leaky_relu")(lambda c: F.leaky_relu(c.a, c.f[0]))
op("clamp")(lambda c: torch.clamp(c.a, c.f[0], c.f[1]) if not c.isint or all(v == int(v) for v in c.f) else None)

op("hardtanh")(lambda c: F.hardtanh(c.a, c.f[0], c.f[1]))
op("softplus_beta")(lambda c: F.softplus(c.a, c.f[0], c.f[1]))
op("glu")(lambda c: F.glu(c.a, c.i[0]))


def backward(name, function):
    """The gradient at x of what `function` makes of x and the case, by autograd."""
    @op(name)
    def gradient(c):
        x = c.b.clone().requires_grad_()
        return torch.autograd.grad(function(x, c), x, c.a)[0]


ACTIVATIONS = {
    "relu": F.relu, "relu6": F.relu6,
    "hard_sigmoid": lambda x: F.relu6(x + 3) / 6,  # hardsigmoid's gradient has 1/6 in f32
    "hard_swish": F.hardswish, "softsign": F.softsign,
    "tanhshrink": F.tanhshrink, "gelu": F.gelu, "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"), "silu": F.silu,
    "mish": F.mish, "log_sigmoid": F.logsigmoid, "selu": F.selu, "relu2": lambda x: F.relu(x).square(),
}
for name, function in ACTIVATIONS.items():
    backward(name + "_backward", lambda x, c, function=function: function(x))
backward("leaky_relu_backward", lambda x, c: F.leaky_relu(x, c.f[0]))
backward("hardtanh_backward", lambda x, c: F.hardtanh(x, c.f[0], c.f[1]))
backward("softplus_backward", lambda x, c: F.softplus(x, c.f[0], c.f[1]))
backward("elu_backward", lambda x, c: F.elu(x, c.f[0]))
backward("celu_backward", lambda x, c: F.celu(x, c.f[0]))
op("sigmoid_backward")(lambda c: torch.ops.aten.sigmoid_backward(c.a, c.b))
op("tanh_backward")(lambda c: torch.ops.aten.tanh_backward(c.a, c.b))

op("add")(lambda c: c.a + c.b)
op("sub")(lambda c: c.a - c.b)
op("mul")(lambda c: c.a * c.b)
op("div")(lambda c: torch.div(c.a, c.b, rounding_mode="trunc") if c.isint else c.a / c.b)
op("maximum")(lambda c: torch.maximum(c.a, c.b))
op("minimum")(lambda c: torch.minimum(c.a, c.b))
op("remainder")(lambda c: torch.remainder(c.a, c.b))
op("fmod")(lambda c: torch.fmod(c.a, c.b))
op("floor_divide")(lambda c: torch.div(c.a, c.b, rounding_mode="floor"))
op("trunc_divide")(lambda c: torch.div(c.a, c.b, rounding_mode="trunc"))
op("atan2")(lambda c: torch.atan2(c.a, c.b))
op("bitwise_and")(lambda c: c.a & c.b)
op("bitwise_or")(lambda c: c.a | c.b)
op("bitwise_xor")(lambda c: c.a ^ c.b)
op("shift_left")(lambda c: c.a << c.b)
op("shift_right")(lambda c: c.a >> c.b)
op("pow")(lambda c: torch.pow(c.a, c.b) if not c.isint or (c.b >= 0).all() else None)
for name in ("eq", "ne", "lt", "le", "gt", "ge"):
    op(name)(lambda c, name=name: getattr(torch, name)(c.a, c.b))
    op(name + "_scalar")(lambda c, name=name: getattr(torch, name)(c.a, c.f[0]))
for name in ("logical_and", "logical_or", "logical_xor"):
    op(name)(lambda c, name=name: getattr(torch, name)(c.a, c.b))
op("round_ties_away")(lambda c: torch.trunc(c.a + torch.sign(c.a) / 2) if not c.isint else c.a)  # PyTorch has none


@op("prelu")
def prelu(c):
    x, weight = c.a, c.b
    if weight.numel() > 1 and x.dim() > 1:
        weight = weight.reshape([1, -1] + [1] * (x.dim() - 2))
    return torch.where(x > 0, x, weight * x)


@op("swiglu")
def swiglu(c):
    a, b = c.a.chunk(2, -1)
    return F.silu(a) * b


op("where")(lambda c: torch.where(c.x[2] != 0, c.a, c.b))

TORCH = [torch.uint8, torch.uint32, torch.int16, torch.int32, torch.int64, torch.bfloat16, torch.float16, torch.float32,
         torch.float64, torch.float8_e4m3fn]


def converted(x, dtype):
    if dtype.is_floating_point:
        return x.double().clamp(-448, 448).to(dtype) if dtype == torch.float8_e4m3fn else x.to(dtype)
    if not x.is_floating_point():
        bits = torch.iinfo(dtype).bits
        wrapped = x & (1 << bits) - 1 if bits < 64 else x
        return torch.where(wrapped >= 1 << bits - 1, wrapped - (1 << bits), wrapped) if torch.iinfo(dtype).min else wrapped
    limits = torch.iinfo(dtype)
    return torch.from_numpy(np.asarray(np.clip(np.trunc(x.numpy()), limits.min, limits.max)))


@op("cast")
def cast(c):
    dtype = TORCH[c.i[0]]
    if not c.isint and dtype.is_floating_point and dtype not in (torch.float32, torch.float64):
        return converted(c.a, dtype)  # exact here: operands are exact in the narrowest
    return converted(c.a, dtype)


op("full")(lambda c: torch.full(c.i[1:1 + c.i[0]], c.f[0], dtype=torch.float64)
           if c.f[0] in (0, 1) or not c.isint and abs(c.f[0]) < 400 else None)
op("fill_inplace")(lambda c: torch.full_like(c.a, c.f[0]) if abs(c.f[0]) < 128 and (not c.isint or c.f[0] == int(c.f[0]))
                   else None)
op("arange")(lambda c: torch.from_numpy(np.arange(*c.f[:3])) if not c.isint and c.f[1] < 1000 else None)

# composed_blend: see verify/blend.c.
op("nan_to_num")(lambda c: torch.nan_to_num(c.a, *c.f[:3]))
op("lerp")(lambda c: torch.lerp(c.a, c.b, c.x[2]))
op("isclose")(lambda c: torch.isclose(c.a.double(), c.b.double(), c.f[0], c.f[1], bool(c.i[0])))
op("linspace")(lambda c: torch.linspace(c.f[0], c.f[1], c.i[0], dtype=torch.float64) if not c.isint else
               torch.from_numpy(np.trunc(np.linspace(c.f[0], c.f[1], c.i[0]))))
op("addmm")(lambda c: torch.addmm(c.a, c.b, c.x[2], beta=c.f[0], alpha=c.f[1]))
op("baddbmm")(lambda c: torch.baddbmm(c.a, c.b, c.x[2], beta=c.f[0], alpha=c.f[1]))
