"""Other libraries beside PyTorch and Wick, where their Python packages are installed: ggml (ggml-python) and candle
(candle-nn), in the rows that they have the same op for.

ggml computes a graph that is built once, on a pool of threads that stays. It lays a product's right operand out by
columns, as weights are; that is how it is given here. Its layer norm is a norm, a product and a sum. candle is called
through its own Python module, which has fewer of its ops."""
import contextlib
import ctypes
import os
import tempfile
from importlib.metadata import version

import numpy
import torch


@contextlib.contextmanager
def quiet():
    """ggml's start and its pool of threads write to standard error."""
    saved, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 2)
    try:
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(nothing)


class Ggml:
    name, package = "ggml", "ggml-python"

    def __init__(self, threads):
        import ggml
        self.ggml, self.threads = ggml, threads
        self.pool = ggml.ggml_threadpool_new(ctypes.byref(ggml.ggml_threadpool_params_default(threads)))
        self.types = {torch.float32: ggml.GGML_TYPE_F32, torch.float16: ggml.GGML_TYPE_F16,
                      torch.bfloat16: ggml.GGML_TYPE_BF16}
        self.context = None

    def build(self, name, context, inputs):
        """The result's tensor in the graph; None where ggml has no such op."""
        g = self.ggml
        if name.startswith("matmul"):
            return g.ggml_mul_mat(context, self.tensor(context, inputs[1].transpose(-1, -2)), self.tensor(context, inputs[0]))
        known = {"add": lambda a, b: g.ggml_add(context, a, b),
                 "exp": lambda x: g.ggml_exp(context, x),
                 "cast f32→bf16": lambda x: g.ggml_cast(context, x, g.GGML_TYPE_BF16),
                 "transposing copy": lambda x: g.ggml_cont(context, g.ggml_transpose(context, x)),
                 "softmax": lambda x: g.ggml_soft_max(context, x),
                 "layer norm": lambda x, w, b: g.ggml_add(context, g.ggml_mul(context, g.ggml_norm(context, x, 1e-5), w), b),
                 "sum of rows": lambda x: g.ggml_sum_rows(context, x),
                 "argmax": lambda x: g.ggml_argmax(context, x)}
        if name not in known:
            return None
        return known[name](*[self.tensor(context, x) for x in inputs])

    def tensor(self, context, x):
        g, x = self.ggml, x.contiguous()
        shape = (ctypes.c_int64 * x.dim())(*reversed(x.shape))
        result = g.ggml_new_tensor(context, self.types[x.dtype], x.dim(), shape)
        ctypes.memmove(g.ggml_get_data(result), x.data_ptr(), x.numel() * x.element_size())
        return result

    def prepare(self, row):
        """A function that computes the row's op, or None."""
        g = self.ggml
        room = 4 * sum(x.numel() * 4 for x in row.inputs) + (64 << 20)
        self.context = g.ggml_init(g.ggml_init_params(mem_size=room, mem_buffer=None, no_alloc=False))
        result = self.build(row.name, self.context, row.inputs)
        if not result:
            return self.forget()
        graph = g.ggml_new_graph(self.context)
        g.ggml_build_forward_expand(graph, result)
        plan = g.ggml_graph_plan(graph, self.threads, self.pool)
        work = numpy.empty(max(plan.work_size, 1), numpy.uint8)
        plan.work_data = ctypes.cast(work.ctypes.data, type(plan.work_data))
        plan.keep = work
        return lambda: g.ggml_graph_compute(graph, ctypes.byref(plan))

    def forget(self):
        if self.context:
            self.ggml.ggml_free(self.context)
        self.context = None


class Candle:
    name, package = "candle", "candle-nn"
    TYPES = {torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16", torch.int64: "i64"}

    def __init__(self, threads):
        os.environ["RAYON_NUM_THREADS"] = str(threads)
        import candle
        import candle.functional
        import candle.utils
        self.candle = candle

    def tensors(self, inputs):
        """By a file: the module takes large data in no other way."""
        import safetensors.torch
        with tempfile.NamedTemporaryFile(suffix=".safetensors") as file:
            safetensors.torch.save_file({str(i): x.contiguous() for i, x in enumerate(inputs)}, file.name)
            loaded = self.candle.utils.load_safetensors(file.name)
        return [loaded[str(i)] for i in range(len(inputs))]

    def prepare(self, row):
        known = {"add": lambda a, b: a + b,
                 "exp": lambda x: x.exp(),
                 "cast f32→bf16": lambda x: x.to_dtype("bf16"),
                 "transposing copy": lambda x: x.t().contiguous(),
                 "softmax": lambda x: self.candle.functional.softmax(x, 1),
                 "sum of rows": lambda x: x.sum_keepdim(1),
                 "sum of columns": lambda x: x.sum_keepdim(0),
                 "argmax": lambda x: x.argmax_keepdim(1),
                 "gather": lambda x, ids: x.gather(ids, 1),
                 "matmul f32": lambda a, b: a.matmul(b),
                 "matmul f16": lambda a, b: a.matmul(b)}
        call = known.get(row.name)
        if not call:
            return None
        tensors = self.tensors(row.inputs)
        return lambda: call(*tensors)

    def forget(self):
        pass


def open_others(threads):
    """Those whose packages are installed."""
    found = []
    for library in (Ggml, Candle):
        try:
            with quiet():
                found.append(library(threads))
        except ImportError:
            pass
    return found


def describe(others):
    """What they are, as a sentence."""
    names = [f"{other.name} is that of the package {other.package} {version(other.package)}" for other in others]
    return f" {', '.join(names)}." if names else ""
