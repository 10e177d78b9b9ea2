"""The rows of the comparison: what is run, on what, in both libraries."""
import copy
import ctypes
import math
import tempfile

import numpy
import torch

from wick import DTYPES

POINTER, INT, INT64, DOUBLE, BOOL = ctypes.c_void_p, ctypes.c_int, ctypes.c_int64, ctypes.c_double, ctypes.c_bool
SIZES = (("64 KiB", 1 << 16), ("4 MiB", 1 << 22), ("256 MiB", 1 << 28))


TORCH = {"f32": torch.float32, "f64": torch.float64, "bf16": torch.bfloat16, "f16": torch.float16, "u8": torch.uint8,
         "i32": torch.int32, "i64": torch.int64, "f8e4m3": torch.float8_e4m3fn}
NAMES = {dtype: name for name, dtype in TORCH.items()}
BITS = {"bf16": torch.uint16, "f8e4m3": torch.uint8}  # those that NumPy has no type for


def to_wick(wick, tensor):
    """A Wick tensor of the CPU with the elements of a torch tensor."""
    name = NAMES[tensor.dtype]
    tensor = tensor.contiguous().cpu()
    return wick.tensor(tensor.view(BITS.get(name, tensor.dtype)).numpy(), name)


def to_double(value):
    return value.double() if isinstance(value, torch.Tensor) and value.is_floating_point() else value


class Row:
    """One line of the table. `torch_call(inputs)` and `wick_call(wick, tensors)` run it; the latter returns a function
    without arguments that returns a tensor to release."""

    def __init__(self, name, size, inputs, torch_call, wick_call, nbytes=0, flops=0, cold=True):
        self.name, self.size, self.make_inputs = name, size, inputs
        self.torch_call, self.wick_call = torch_call, wick_call
        self.nbytes, self.flops, self.cold = nbytes, flops, cold

    def prepare(self, wick):
        self.inputs = self.make_inputs()
        self.tensors = [to_wick(wick, x) for x in self.inputs]
        return (self.wick_call(wick, *self.tensors), lambda: self.torch_call(*self.inputs),
                lambda: self.torch_call(*[to_double(x) for x in self.inputs]))

    def errors(self, wick, ours, theirs, exact):
        exact = exact.double().numpy()
        scale = max(float(numpy.abs(exact).max()), 1e-300) if exact.size else 1.0
        result = (float(numpy.abs(theirs.double().numpy() - exact).max()) / scale,
                  float(numpy.abs(wick.numpy(ours).astype(numpy.float64) - exact).max()) / scale)
        return result

    def forget(self, wick):
        for tensor in self.tensors:
            wick.release(tensor)
        self.inputs = self.tensors = None


def unary(name, function):
    def wick_call(wick, x):
        op = wick.op(name, POINTER)
        return lambda: op(x)
    for label, nbytes in SIZES:
        yield Row(name, label, lambda n=nbytes // 4: [torch.randn(n)], function, wick_call, 2 * nbytes)


def elementwise_rows():
    def add(wick, a, b):
        op = wick.op("add", POINTER, POINTER)
        return lambda: op(a, b)
    for label, nbytes in SIZES:
        yield Row("add", label, lambda n=nbytes // 4: [torch.randn(n), torch.randn(n)], torch.add, add, 3 * nbytes)
    yield from unary("exp", torch.exp)
    yield from unary("gelu", torch.nn.functional.gelu)
    yield from unary("erf", torch.erf)

    def cast(wick, x):
        op = wick.op("cast", POINTER, INT)
        return lambda: op(x, DTYPES["bf16"])
    for label, nbytes in SIZES:
        yield Row("cast f32→bf16", label, lambda n=nbytes // 4: [torch.randn(n)],
                  lambda x: x.to(torch.bfloat16) if x.dtype == torch.float32 else x, cast, nbytes * 3 // 2)


def copy_rows():
    def transposed(wick, x):
        view = wick.op("transpose", POINTER, INT, INT)(x, 0, 1)
        op = wick.op("contiguous", POINTER)
        return lambda: op(view)

    def strided(wick, x):
        view = wick.op("slice", POINTER, INT, INT64, INT64, INT64)(x, 1, 0, 1 << 62, 2)
        op = wick.op("contiguous", POINTER)
        return lambda: op(view)
    for label, nbytes in SIZES:
        side = math.isqrt(nbytes // 4)
        yield Row("transposing copy", label, lambda n=side: [torch.randn(n, n)],
                  lambda x: x.t().contiguous(), transposed, 2 * nbytes)
        yield Row("strided copy", label, lambda n=side: [torch.randn(n, 2 * n)],
                  lambda x: x[:, ::2].contiguous(), strided, 3 * nbytes)


def rows_of(nbytes, width=1024):
    return lambda: [torch.randn(nbytes // 4 // width, width)]


def reduction_rows():
    def along(name, dim):
        def wick_call(wick, x):
            op = wick.op(name, POINTER, INT, ctypes.POINTER(INT), BOOL)
            dims = (INT * 1)(dim)
            return lambda: op(x, 1, dims, False)
        return wick_call

    def softmax(wick, x):
        op = wick.op("softmax", POINTER, INT)
        return lambda: op(x, -1)


    def layer_norm(wick, x, weight, bias):
        op = wick.op("layer_norm", POINTER, INT, POINTER, POINTER, DOUBLE)
        return lambda: op(x, 1, weight, bias, 1e-5)
    for label, nbytes in SIZES:
        inputs = rows_of(nbytes)
        yield Row("softmax", label, inputs, lambda x: torch.softmax(x, -1), softmax, 2 * nbytes)
        yield Row("layer norm", label, lambda make=inputs: make() + [torch.randn(1024), torch.randn(1024)],
                  lambda x, w, b: torch.nn.functional.layer_norm(x, (1024,), w, b), layer_norm, 2 * nbytes)
        yield Row("sum of rows", label, inputs, lambda x: x.sum(1), along("sum", 1), nbytes)
        yield Row("sum of columns", label, inputs, lambda x: x.sum(0), along("sum", 0), nbytes)
        yield Row("argmax", label, inputs, lambda x: x.argmax(1), along("argmax", 1), nbytes)


def index_rows():
    def gather(wick, x, ids):
        op = wick.op("gather", POINTER, INT, POINTER)
        return lambda: op(x, 1, ids)

    def index_add(wick, x, ids, source):
        op = wick.op("index_add", POINTER, INT, POINTER, POINTER)
        return lambda: op(x, 0, ids, source)

    def sort(wick, x):
        op = wick.op("sort", POINTER, INT, BOOL, POINTER)
        indices = POINTER()

        def call():
            result = op(x, -1, False, ctypes.byref(indices))
            wick.release(indices)
            return result
        return call
    for label, nbytes in SIZES:
        count = nbytes // 4 // 1024
        yield Row("gather", label, lambda n=count: [torch.randn(n, 1024), torch.randint(0, 1024, (n, 1024))],
                  lambda x, ids: x.gather(1, ids), gather, 4 * nbytes)
        yield Row("index_add", label,
                  lambda n=count: [torch.randn(n, 1024), torch.randint(0, n, (n,)), torch.randn(n, 1024)],
                  lambda x, ids, source: x.index_add(0, ids, source), index_add, 4 * nbytes)
        yield Row("sort", label, rows_of(nbytes, 4096 if nbytes > 1 << 16 else 1024),
                  lambda x: x.sort(-1)[0], sort, 2 * nbytes)


def matmul_rows():
    def matmul(wick, a, b):
        op = wick.op("matmul", POINTER, POINTER)
        return lambda: op(a, b)
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        short = {torch.float32: "f32", torch.bfloat16: "bf16", torch.float16: "f16"}[dtype]
        for n in (256, 1024, 2048):
            yield Row(f"matmul {short}", f"{n}³",
                      lambda n=n, dtype=dtype: [torch.randn(n, n).to(dtype), torch.randn(n, n).to(dtype)],
                      torch.matmul, matmul, flops=2 * n**3)
        for batch in (12, 384):
            yield Row(f"matmul {short}", f"{batch}×128×64×128",
                      lambda b=batch, dtype=dtype: [torch.randn(b, 128, 64).to(dtype), torch.randn(b, 64, 128).to(dtype)],
                      torch.matmul, matmul, flops=2 * batch * 128 * 128 * 64)


class ConvOptions(ctypes.Structure):
    """struct wick_conv_options of conv.h."""
    _fields_ = [("stride", INT64 * 3), ("padding", INT64 * 3), ("dilation", INT64 * 3), ("output_padding", INT64 * 3),
                ("groups", INT64), ("relu", BOOL), ("reserved", ctypes.c_uint64 * 8)]


class Number(ctypes.Structure):
    """struct wick_number of number.h."""
    _fields_ = [("integer", INT64), ("real", DOUBLE), ("is_real", BOOL)]

    @staticmethod
    def of(value):
        return Number(real=value, is_real=True)


# The convolutions of ResNet-50, each shape once: channels in, out, kernel, stride, side of the input.
RESNET_50 = ((3, 64, 7, 2, 224), (64, 64, 1, 1, 56), (64, 64, 3, 1, 56), (64, 256, 1, 1, 56), (256, 64, 1, 1, 56),
             (256, 128, 1, 1, 56), (128, 128, 3, 2, 56), (128, 512, 1, 1, 28), (256, 512, 1, 2, 56),
             (512, 128, 1, 1, 28), (128, 128, 3, 1, 28), (512, 256, 1, 1, 28), (256, 256, 3, 2, 28),
             (256, 1024, 1, 1, 14), (512, 1024, 1, 2, 28), (1024, 256, 1, 1, 14), (256, 256, 3, 1, 14),
             (1024, 512, 1, 1, 14), (512, 512, 3, 2, 14), (512, 2048, 1, 1, 7), (1024, 2048, 1, 2, 14),
             (2048, 512, 1, 1, 7), (512, 512, 3, 1, 7))


def conv_row(name, shape, kernel, stride, groups=1):
    batch, cin, cout, side = shape
    padding = kernel // 2
    options = ConvOptions(stride=(stride,) * 3, padding=(padding,) * 3, groups=groups)
    out = (side + 2 * padding - kernel) // stride + 1

    def wick_call(wick, x, weight):
        op = wick.op("conv2d", POINTER, POINTER, POINTER, ctypes.POINTER(ConvOptions))
        return lambda: op(x, weight, None, options)

    def inputs():
        fan = cin // groups * kernel * kernel
        return [torch.randn(batch, cin, side, side), torch.randn(cout, cin // groups, kernel, kernel) / math.sqrt(fan)]
    return Row(name, f"{batch}×{cin}→{cout} @{side}² s{stride}", inputs,
               lambda x, w: torch.nn.functional.conv2d(x, w, None, stride, padding, 1, groups), wick_call,
               flops=2 * batch * out * out * cout * (cin // groups) * kernel * kernel)


def conv_rows():
    for batch in (1, 8):
        for cin, cout, kernel, stride, side in RESNET_50:
            yield conv_row(f"conv {kernel}×{kernel}", (batch, cin, cout, side), kernel, stride)
        yield conv_row("depthwise 3×3", (batch, 144, 144, 56), 3, 1, 144)
        yield conv_row("depthwise 3×3", (batch, 256, 256, 28), 3, 1, 256)


def resnet_rows():
    import torchvision
    torch.manual_seed(1)
    model = torchvision.models.resnet50(weights=None).eval()
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            torch.nn.init.uniform_(module.weight, 0.1, 0.5)
    exact = copy.deepcopy(model).double()
    file = tempfile.NamedTemporaryFile(suffix=".pth")
    torch.save(model.state_dict(), file.name)

    def wick_call(wick, x):
        resnet = wick.op("resnet_open", ctypes.c_char_p, POINTER)(file.name.encode(), wick.device)
        op = wick.op("resnet_forward", POINTER, POINTER)
        return lambda: op(resnet, x)
    for batch in (1, 8):
        yield Row("ResNet-50", f"{batch}×3×224×224", lambda b=batch: [torch.randn(b, 3, 224, 224)],
                  lambda x: (exact if x.dtype == torch.float64 else model)(x), wick_call, flops=2 * 4.09e9 * batch,
                  cold=False)


def minilm_rows(folder):
    import transformers
    model = transformers.AutoModel.from_pretrained(folder, attn_implementation="sdpa").eval().float()
    exact = copy.deepcopy(model).double()

    def embed(ids):
        network = exact if ids.dtype == torch.int64 else model  # the exact call gets wider ids
        states = network(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state
        return torch.nn.functional.normalize(states.mean(1), dim=1)

    class EmbedderRow(Row):
        def prepare(self, wick):
            ours, theirs, _ = super().prepare(wick)
            return ours, theirs, lambda: embed(self.inputs[0].long())

    def wick_call(wick, ids, shape):
        embedder = wick.op("embedder_open", ctypes.c_char_p, POINTER)(str(folder).encode(), wick.device)
        op = wick.op("embedder_encode_ids", POINTER, INT64, POINTER, POINTER)
        values = (ctypes.c_int32 * (shape[0] * shape[1])).from_buffer_copy(wick.numpy(ids).astype("int32").tobytes())
        lengths = (INT64 * shape[0])(*[shape[1]] * shape[0])
        return lambda: op(embedder, shape[0], values, lengths)
    for shape in ((1, 16), (32, 128)):
        yield EmbedderRow("MiniLM", f"{shape[0]}×{shape[1]} tokens",
                          lambda s=shape: [torch.randint(1000, 20000, s, dtype=torch.int32)], embed,
                          lambda wick, ids, s=shape: wick_call(wick, ids, s), flops=2 * 10.6e6 * shape[0] * shape[1],
                          cold=False)


def all_rows(model):
    yield from elementwise_rows()
    yield from copy_rows()
    yield from reduction_rows()
    yield from index_rows()
    yield from matmul_rows()
    yield from conv_rows()
    yield from resnet_rows()
    if model:
        yield from minilm_rows(model)
