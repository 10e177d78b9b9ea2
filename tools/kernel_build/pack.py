"""Kernel packs: the file that src/gpu/code/pack.c reads, one for a target. docs/kernels.md gives the format."""
import ctypes
import hashlib
import os
import re
import struct
import zlib

MAGIC, VERSION = b"WICKPACK", 2
HEADER = struct.Struct("<8sIIQ64sII")  # magic, version, entries, bytes of the file, target, check of header and index, 0
ENTRY = struct.Struct("<48s32sQQQII")  # module, key of its sources, offset, packed and plain bytes, check, 0


def sources(folder, module):
    """Pairs of name and text: a module's source and the headers it includes, each once, in the order they are met."""
    found = {}

    def add(name):
        if name in found:
            return
        with open(os.path.join(folder, name), "rb") as file:
            found[name] = file.read()
        for include in re.findall(rb'^#include "([^"\n]*)"', found[name], re.MULTILINE):
            add(include.decode())

    add(module + ".hip")
    return list(found.items())


def source_key(texts):
    """SHA-256 over a module's sources."""
    digest = hashlib.sha256()
    for name, text in texts:
        digest.update(b"%s\n%d\n" % (name.encode(), len(text)))
        digest.update(text)
    return digest.digest()


LEVEL = 19  # of compression


def compressed(code):
    """A Zstandard frame of the code, by the library that Wick reads it with."""
    library = ctypes.CDLL("libzstd.so.1")
    size = ctypes.c_size_t
    library.ZSTD_compressBound.restype = library.ZSTD_compress.restype = size
    room = library.ZSTD_compressBound(size(len(code)))
    frame = ctypes.create_string_buffer(room)
    length = library.ZSTD_compress(frame, size(room), code, size(len(code)), LEVEL)
    if library.ZSTD_isError(size(length)):
        raise ValueError("Zstandard: error %d" % length)
    return frame.raw[:length]


MODE = 0o644  # whatever the umask: a pack that a group may write is not loaded


def write(path, target, modules):
    """Writes a pack of (module, key, code) and returns its size; the file stays untouched when it is the same."""
    packed = [compressed(code) for _, _, code in modules]
    offset = HEADER.size + ENTRY.size * len(modules)
    index = b""
    for (module, key, code), data in zip(modules, packed):
        if len(module) > 47:
            raise ValueError(module + ": a module's name has at most 47 letters")
        index += ENTRY.pack(module.encode(), key, offset, len(data), len(code), zlib.crc32(code), 0)
        offset += len(data)
    header = HEADER.pack(MAGIC, VERSION, len(modules), offset, target.encode(), 0, 0)
    check = zlib.crc32(index, zlib.crc32(header))
    whole = HEADER.pack(MAGIC, VERSION, len(modules), offset, target.encode(), check, 0) + index
    whole += b"".join(packed)
    try:
        with open(path, "rb") as file:
            if file.read() == whole:
                os.chmod(path, MODE)
                return len(whole)
    except FileNotFoundError:
        pass
    aside = "%s.%d" % (path, os.getpid())
    with open(aside, "wb") as file:
        file.write(whole)
    os.chmod(aside, MODE)
    os.replace(aside, path)
    return len(whole)
