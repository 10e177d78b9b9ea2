"""Wick's functions by the list of the API that the build makes (docs/api.md): no prototype is written twice."""
import ctypes
import json

SCALARS = {"bool": ctypes.c_bool, "int": ctypes.c_int, "int64_t": ctypes.c_int64, "uint64_t": ctypes.c_uint64,
           "size_t": ctypes.c_size_t, "double": ctypes.c_double, "float": ctypes.c_float}


class Out:
    """Where a call leaves a further tensor, or up to `count` of them."""

    def __init__(self, count=1):
        self.cells = (ctypes.c_void_p * count)()


class Api:
    def __init__(self, wick):
        listed = json.loads((wick.build / "api.json").read_text())
        self.wick = wick
        self.functions = {function["name"]: function for function in listed["functions"]}
        self.enums = {value["name"]: value["value"] for enum in listed["enums"] for value in enum["values"]}
        self.structs, self.held = {}, []
        for struct in listed["structs"]:
            try:
                fields = [(field["name"], self.type_of(field["type"], field.get("length")))
                          for field in struct.get("fields", [])]
            except KeyError:
                continue  # of callbacks and the like, which no op takes
            self.structs[struct["name"]] = type(struct["name"], (ctypes.Structure,), {"_fields_": fields})

    def type_of(self, text, length=None):
        if length:
            return self.type_of(text) * length
        if text.endswith("*"):
            return ctypes.c_void_p
        if text.startswith("enum "):
            return ctypes.c_int
        return SCALARS[text] if text in SCALARS else self.structs[text.removeprefix("struct ")]

    def options(self, name, **fields):
        """An options struct. A list fills the beginning of an array, an Out or another struct becomes its address."""
        struct = self.structs[f"wick_{name}_options" if f"wick_{name}_options" in self.structs else f"wick_{name}"]()
        struct.kept, struct.outs = fields, []
        for field, value in fields.items():
            if isinstance(value, list):
                getattr(struct, field)[:len(value)] = value
                continue
            if isinstance(value, Out):
                struct.outs.append(value)
                value = ctypes.addressof(value.cells)
            elif isinstance(value, ctypes.Structure):
                value = ctypes.addressof(value)
            setattr(struct, field, value)
        return struct

    def number(self, value):
        return self.structs["wick_number"](real=value, is_real=True)

    def bind(self, name, *values):
        """A function without arguments that calls wick_NAME and returns the result's tensor and those of Outs. The
        length of an array is not among the values."""
        listed = self.functions["wick_" + name]["arguments"]
        lengths = {argument["length"]: None for argument in listed if argument["role"] in ("array", "objects")}
        values, made, outs = iter(values), [], []
        for argument in listed:
            if argument["name"] in lengths:
                made.append(argument["name"])
                continue
            value = next(values)
            if isinstance(value, ctypes.Structure) and argument["type"].endswith("*"):
                outs += value.outs
                value = ctypes.byref(value)
            elif isinstance(value, Out):
                outs.append(value)
                value = ctypes.byref(value.cells)
            elif argument["role"] in ("array", "objects"):
                lengths[argument["length"]] = len(value)
                each = ctypes.c_void_p if argument["role"] == "objects" else self.type_of(
                    argument["type"].removeprefix("const ").removesuffix(" *"))
                value = (each * len(value))(*value)
            made.append(value)
        made = [lengths[value] if isinstance(value, str) else value for value in made]
        function = self.wick.function(name, ctypes.c_void_p, *[self.type_of(argument["type"]) for argument in listed])

        def call():
            result = function(*made)
            if not result:
                raise RuntimeError(self.wick.library.wick_error().decode())
            return (result, *[value for out in outs for value in out.cells if value]) if outs else (result,)
        return call

    def hold(self, address):
        """A tensor that release() gives back; returns it."""
        self.held.append(address)
        return address

    def made(self, name, *values):
        """What the call makes, held."""
        results = [self.hold(address) for address in self.bind(name, *values)()]
        return results[0] if len(results) == 1 else results

    def release(self):
        for address in self.held:
            self.wick.release(address)
        self.held = []
