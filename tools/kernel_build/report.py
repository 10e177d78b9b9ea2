"""What a compiled kernel uses: registers, LDS, spills, scratch, occupancy, and its widest load and store."""
import re
import subprocess

from .compile import HOST, tool

# Kernels that run over contiguous operands, so whose loads must be of 16 bytes; stores where they only write.
WIDE = re.compile(r"_flat|^(unary|binary|compare|where|math|cast|fill|affine|reduce_rows|reduce_columns|stats_rows|"
                  r"stats_columns|loss|loss_backward)_")
FIELDS = ["vgprs", "agprs", "sgprs", "lds", "spills", "scratch", "occupancy", "load", "store"]


def run(*command):
    return subprocess.run([tool(command[0]), *command[1:]], stdout=subprocess.PIPE, check=True).stdout.decode()


def widest(kernels, listing, start, load, store, width):
    """Notes in kernels[name] the widest load and store in bytes; `start` finds where a kernel begins in a listing. Each of
    the three is a word and a pattern: only lines that have the word, few of 100,000, are worth the pattern."""
    name = None
    for line in listing.splitlines():
        begins = start[0] in line and start[1].search(line)
        if begins:
            name = begins.group(1)
            continue
        for field, (word, pattern) in ("load", load), ("store", store):
            found = word in line and name in kernels and pattern.search(line)
            if found:
                kernels[name][field] = max(kernels[name][field], width(found.group(1) or ""))


AMD_WIDTHS = {"dwordx4": 16, "b128": 16, "dwordx3": 12, "b96": 12, "dwordx2": 8, "b64": 8, "dword": 4, "b32": 4}


def amd(path, log):
    kernels, block = {}, {}
    for line in run("llvm-readelf-19", "--notes", path).splitlines():
        if re.match(r"  - \.", line) or line.startswith("amdhsa.target"):
            block = {}
        match = re.match(r" {2}(?:- |  )\.(\w+): +(\S+)$", line)
        if not match:
            continue
        block[match.group(1)] = match.group(2)
        if match.group(1) == "wavefront_size":
            kernels[block["name"]] = {
                "vgprs": int(block["vgpr_count"]), "agprs": int(block.get("agpr_count", 0)),
                "sgprs": int(block["sgpr_count"]), "lds": int(block["group_segment_fixed_size"]),
                "spills": int(block["vgpr_spill_count"]) + int(block["sgpr_spill_count"]),
                "scratch": int(block["private_segment_fixed_size"]) + (block.get("uses_dynamic_stack") == "true"),
                "occupancy": "?", "load": 0, "store": 0}
    name = None
    for line in log.splitlines():
        match = re.search(r"remark: +(?:Function Name: (\S+)|Occupancy \[waves/SIMD\]: (\d+))", line)
        if match and match.group(1):
            name = match.group(1)
        elif match and name in kernels:
            kernels[name]["occupancy"] = match.group(2)
    widest(kernels, run("llvm-objdump-19", "-d", "--no-show-raw-insn", "--no-leading-addr", path),
           (">:", re.compile(r"^<(\w+)>:")), ("_load_", re.compile(r"\b(?:global|flat|buffer)_load_(\w+)")),
           ("_store_", re.compile(r"\b(?:global|flat|buffer)_store_(\w+)")),
           lambda text: AMD_WIDTHS.get(text, 2 if "16" in text or "short" in text else 1))
    return kernels


def nvidia_occupancy(registers, shared, target):
    """Warps resident on a multiprocessor with blocks of 256 threads, of 64."""
    per_warp = -(-max(registers, 1) * 32 // 256) * 256
    blocks = min(8, (65536 // per_warp) // 8)
    if shared:
        blocks = min(blocks, ((228 if target == "sm_90" else 164) * 1024) // (shared + 1024))
    return str(blocks * 8)


def short_of_registers(kernels, text):
    """Notes which kernels' groups would wait for ever: for more registers than the launch gave them, and others gave back.
    All but the last group of 128 threads take, and the last gives."""
    for entry in re.split(r"\.entry (?=\w+\()", text)[1:]:
        moved = {kind: int(count) for kind, count in re.findall(r"setmaxnreg\.(inc|dec)\.sync\.aligned\.u32 +(\d+)", entry)}
        name, threads = re.match(r"\w+", entry).group(), re.search(r"\.maxntid (\d+)", entry)
        if len(moved) < 2 or name not in kernels:
            continue
        groups = int(threads.group(1)) // 128
        given, wanted = groups * kernels[name]["vgprs"], (groups - 1) * moved["inc"] + moved["dec"]
        if wanted > given:
            kernels[name]["short"] = wanted - given


def nvidia(path, kept, log, target):
    kernels, name = {}, None
    serial = set(re.findall(r"wgmma.mma_async instructions are serialized .* function '(\w+)'", log))
    for line in log.splitlines():
        match = re.search(r"Compiling entry function '(\w+)'", line)
        if match:
            name = match.group(1)
            kernels[name] = dict.fromkeys(FIELDS, 0) | ({"serial": 1} if name in serial else {})
        match = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line)
        if match and name:
            kernels[name]["scratch"] = int(match.group(1))
            kernels[name]["spills"] = int(match.group(2)) + int(match.group(3))
        match = re.search(r"Used (\d+) registers", line)
        if match and name:
            shared = re.search(r"(\d+) bytes smem", line)
            kernels[name]["vgprs"] = int(match.group(1))
            kernels[name]["lds"] = int(shared.group(1)) if shared else 0
            kernels[name]["occupancy"] = nvidia_occupancy(int(match.group(1)), kernels[name]["lds"], target)
    with open(kept) as file:
        short_of_registers(kernels, file.read())
    if tool("cuobjdump"):
        width = lambda text: next((bits // 8 for bits in (128, 64, 16, 8) if str(bits) in text), 4)  # noqa: E731
        widest(kernels, run("cuobjdump", "-sass", path), ("Function :", re.compile(r"Function : (\w+)")),
               ("LD", re.compile(r"\bLDG?\.E((?:\.\w+)*)")), ("ST", re.compile(r"\bSTG?\.E((?:\.\w+)*)")), width)
    else:
        for name, use in ptx(kept).items():
            kernels[name].update(load=use["load"], store=use["store"])
    return kernels


def ptx(path):
    """What PTX says: how wide loads and stores are."""
    with open(path) as file:
        text = file.read()
    kernels = {name: dict(dict.fromkeys(FIELDS, 0), occupancy="") for name in re.findall(r"\.entry (\w+)\(", text)}

    def width(kind):
        lanes, size = re.search(r"\.v([24])", kind), re.search(r"(\d+)$", kind)
        return (int(lanes.group(1)) if lanes else 1) * int(size.group(1)) // 8

    space = r"\b%s(?!\.param|\.shared|\.local)((?:\.\w+)*?\.[bfus]\d+)\b"
    widest(kernels, text, (".entry", re.compile(r"\.entry (\w+)\(")), ("ld.", re.compile(space % "ld")),
           ("st.", re.compile(space % "st")), width)
    return kernels


def read(path, kept, log, target):
    """{kernel: {field: value}} of a compiled module; `kept` is the PTX that a cubin was made from."""
    if target in HOST:
        return {}
    if target.startswith("gfx"):
        return amd(path, log)
    return nvidia(path, kept, log, target)


def width(name, use):
    return use["load"] or use["store"]


def faults(name, use):
    """What is wrong with a kernel, as texts."""
    wrong = []
    if use.get("serial"):
        wrong.append("products of groups of waves wait for each other, for want of registers")
    if use.get("short"):
        wrong.append("groups of waves wait for %d registers a lane that nobody has" % use["short"])
    if use["spills"]:
        wrong.append("%d spills" % use["spills"])
    if use["scratch"]:
        wrong.append("%d bytes of scratch" % use["scratch"])
    if WIDE.search(name) and width(name, use) < 16:
        wrong.append("the widest load or store of a contiguous kernel is of %d bytes" % width(name, use))
    return wrong
