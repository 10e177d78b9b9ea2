"""Reads and writes GGUF files for the tests of the program. Standard library only."""
import struct

SIZES = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
U32, F32, STRING, ARRAY = 4, 6, 8, 9
# Number of a type: name, elements and bytes of a block.
TYPES = {0: ("f32", 1, 4), 1: ("f16", 1, 2), 30: ("bf16", 1, 2), 2: ("q4_0", 32, 18), 3: ("q4_1", 32, 20),
         6: ("q5_0", 32, 22), 7: ("q5_1", 32, 24), 8: ("q8_0", 32, 34), 10: ("q2_k", 256, 84), 11: ("q3_k", 256, 110),
         12: ("q4_k", 256, 144), 13: ("q5_k", 256, 176), 14: ("q6_k", 256, 210), 20: ("iq4_nl", 32, 18),
         23: ("iq4_xs", 256, 136), 34: ("tq1_0", 256, 54), 35: ("tq2_0", 256, 66), 39: ("mxfp4", 32, 17)}
ALIGNMENT = 32


class Reader:
    """keys: {name: value}; tensors: {name: (type, shape with the rows first, bytes)}"""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        self.at = 4
        assert self.data[:4] == b"GGUF" and self.number("I") == 3
        n_tensors, n_keys = self.number("Q"), self.number("Q")
        self.keys = {}
        for _ in range(n_keys):
            name = self.string()
            self.keys[name] = self.value(self.number("I"))
        entries = []
        for _ in range(n_tensors):
            name = self.string()
            dims = [self.number("Q") for _ in range(self.number("I"))]
            entries.append((name, dims[::-1], self.number("I"), self.number("Q")))
        self.end = self.at  # of what is before the tensors' bytes
        base = -(-self.at // ALIGNMENT) * ALIGNMENT
        self.tensors = {}
        for name, shape, kind, offset in entries:
            called, elements, size = TYPES[kind]
            total = 1
            for dim in shape:
                total *= dim
            start = base + offset
            self.tensors[name] = (called, shape, self.data[start:start + total // elements * size])

    def number(self, kind):
        value, = struct.unpack_from("<" + kind, self.data, self.at)
        self.at += struct.calcsize("<" + kind)
        return value

    def string(self):
        length = self.number("Q")
        self.at += length
        return self.data[self.at - length:self.at].decode()

    def value(self, kind):
        if kind == STRING:
            return self.string()
        if kind == ARRAY:
            inner = self.number("I")
            return [self.value(inner) for _ in range(self.number("Q"))]
        return self.number(SIZES[kind])


def string(text):
    return struct.pack("<Q", len(text.encode())) + text.encode()


def key(name, value):
    """A whole number becomes u32; lists are of strings, or of whole numbers as i32."""
    if isinstance(value, str):
        return string(name) + struct.pack("<I", STRING) + string(value)
    if isinstance(value, float):
        return string(name) + struct.pack("<If", F32, value)
    if isinstance(value, int):
        return string(name) + struct.pack("<II", U32, value)
    texts = isinstance(value[0], str)
    items = b"".join(string(x) if texts else struct.pack("<i", x) for x in value)
    return string(name) + struct.pack("<IIQ", ARRAY, STRING if texts else 5, len(value)) + items


def write_zeros(path, keys, tensors):
    """tensors: {name: (number of the type, shape)}, all of zeros, in a file with holes."""
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(keys)) + b"".join(key(*item) for item in keys.items())
    at = 0
    for name, (kind, shape) in tensors.items():
        total = TYPES[kind][2]
        for dim in shape:
            total *= dim
        head += string(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape[::-1], kind, at)
        at += -(-total // ALIGNMENT) * ALIGNMENT
    with open(path, "wb") as file:
        file.write(head + bytes(-len(head) % ALIGNMENT))
        file.truncate(len(head) + -len(head) % ALIGNMENT + at)


def write_floats(path, keys, tensors):
    """tensors: {name: (shape, numbers)}, all f32."""
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(keys)) + b"".join(key(*item) for item in keys.items())
    data = b""
    for name, (shape, numbers) in tensors.items():
        head += string(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape[::-1], 0, len(data))
        data += struct.pack(f"<{len(numbers)}f", *numbers)
        data += bytes(-len(data) % ALIGNMENT)
    with open(path, "wb") as file:
        file.write(head + bytes(-len(head) % ALIGNMENT) + data)


def add_key(source, path, name, value):
    """A copy of a file with one more key."""
    reader, one = Reader(source), key(name, value)
    head = reader.data[:16] + struct.pack("<Q", len(reader.keys) + 1) + one + reader.data[24:reader.end]
    with open(path, "wb") as file:
        file.write(head + bytes(-len(head) % ALIGNMENT) + reader.data[reader.end + -reader.end % ALIGNMENT:])
