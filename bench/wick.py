"""The part of Wick's C API that the comparison needs, through ctypes."""
import ctypes
import pathlib

import numpy

DTYPES = {"u8": 0, "u32": 1, "i16": 2, "i32": 3, "i64": 4, "bf16": 5, "f16": 6, "f32": 7, "f64": 8, "f8e4m3": 9}
NUMPY = {"u8": numpy.uint8, "u32": numpy.uint32, "i16": numpy.int16, "i32": numpy.int32, "i64": numpy.int64,
         "f16": numpy.float16, "f8e4m3": numpy.uint8, "f32": numpy.float32, "f64": numpy.float64}


class Wick:
    """Functions of libwick by name, without the prefix. Results that are tensors are raw addresses: release them."""

    def __init__(self, build, device="cpu"):
        self.build = pathlib.Path(build)
        self.library = ctypes.CDLL(str(self.build / "src" / "libwick.so"))
        self.library.wick_error.restype = ctypes.c_char_p
        self.library.wick_version.restype = ctypes.c_char_p
        self.device = self.function("device_open", ctypes.c_void_p, ctypes.c_char_p)(device.encode())
        if not self.device:
            raise RuntimeError(self.library.wick_error().decode())
        self.device_sync = self.function("device_sync", ctypes.c_int, ctypes.c_void_p)
        self.release = self.function("release", None, ctypes.c_void_p)
        self.shape_of = self.function("tensor_shape", ctypes.POINTER(ctypes.c_int64), ctypes.c_void_p)
        self.rank_of = self.function("tensor_rank", ctypes.c_int, ctypes.c_void_p)
        self.dtype_of = self.function("tensor_dtype", ctypes.c_int, ctypes.c_void_p)
        self.read = self.function("read", ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
        self.from_data = self.function("from_data", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int,
                                       ctypes.POINTER(ctypes.c_int64), ctypes.c_void_p, ctypes.c_size_t)

    def synchronize(self):
        if self.device_sync(self.device) != 0:
            raise RuntimeError(self.library.wick_error().decode())

    def function(self, name, result, *arguments):
        function = getattr(self.library, "wick_" + name)
        function.restype = result
        function.argtypes = list(arguments)
        return function

    def op(self, name, *arguments):
        """A function of tensors and other arguments that returns a tensor; a failure raises wick_error()."""
        function = self.function(name, ctypes.c_void_p, *arguments)

        def call(*values):
            result = function(*values)
            if not result:
                raise RuntimeError(self.library.wick_error().decode())
            return result

        return call

    def tensor(self, array, dtype):
        """A tensor of a NumPy array; bf16 arrays come as uint16 bit patterns."""
        array = numpy.asarray(array, order="C")
        shape = (ctypes.c_int64 * array.ndim)(*array.shape)
        result = self.from_data(self.device, DTYPES[dtype], array.ndim, shape, array.ctypes.data,
                                array.nbytes)
        if not result:
            raise RuntimeError(self.library.wick_error().decode())
        return result

    def numpy(self, tensor):
        """The elements as a NumPy array; bf16 widened to float32."""
        shape = self.shape_of(tensor)[:self.rank_of(tensor)]
        dtype = {code: name for name, code in DTYPES.items()}[self.dtype_of(tensor)]
        array = numpy.empty(shape, numpy.uint16 if dtype == "bf16" else NUMPY[dtype])
        if self.read(tensor, array.ctypes.data, array.nbytes) != 0:
            raise RuntimeError(self.library.wick_error().decode())
        if dtype == "bf16":
            wide = numpy.zeros((*shape, 2), numpy.uint16)  # the lower halves stay 0
            wide[..., 1] = array
            array = wide.view(numpy.float32).reshape(shape)
        return array
