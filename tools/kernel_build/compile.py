"""How a module is compiled for a target: AMD with clang-19 and Debian's device libraries, NVIDIA with nvcc, and the
processor that stands in for a GPU in tests with clang as C++."""
import os
import shutil
import subprocess

AMD = ["gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1151", "gfx1201"]
NVIDIA = ["sm_80", "sm_90", "ptx"]
# Waves of 32 with NVIDIA's matrix instructions, these with those of groups of waves too, waves of 32 with AMD's, of 64.
HOST = ["host32", "host90", "host12", "host64"]
HOST_DEFINES = {"host90": "GPU_HOST_GROUP", "host12": "GPU_HOST_WMMA"}
BITCODE_FOLDERS = ["/usr/lib/x86_64-linux-gnu/amdgcn/bitcode", "/usr/lib/aarch64-linux-gnu/amdgcn/bitcode",
                   "/opt/rocm/amdgcn/bitcode"]
# Modules in which clang would move the constants of f64 functions, or parameters, out of loops, into more scalar registers
# than there are.
# The others keep the pass: it shortens the loops around matrix instructions.
CONSTANTS_STAY = {"gemm", "gemv_few", "math", "special", "attention", "attention_backward", "attention_backward_plain", "reduce",
                  "reduce_stats", "resize", "cross_entropy", "ctc", "loss", "recurrent_layer", "conv_few"}
OWN = {"sm_90"}  # compiled with the instructions that no later GPU has: sm_90a
PTX = "sm_80"  # the oldest architecture that the PTX pack serves


# Where tools/fetch-nvcc unpacks NVIDIA's compiler.
FETCHED = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "wick", "nvcc")


def tool(name):
    """A program by its name, or by its path in a CUDA toolkit; None when it is not there."""
    toolkits = [os.environ.get("CUDA_PATH"), FETCHED, "/usr/local/cuda"]
    return shutil.which(name) or shutil.which(name, path=":".join(path + "/bin" for path in toolkits if path))


def bitcode_folder():
    return next((folder for folder in BITCODE_FOLDERS if os.path.exists(folder + "/ocml.bc")), None)


def wave(target):
    return 64 if target.startswith("gfx9") or target == "host64" else 32


def missing(target):
    """What a target needs and this machine lacks, or None."""
    if target in HOST:
        return None if tool("clang-19") else "clang-19"
    if target.startswith("gfx"):
        for name in "clang-19", "ld.lld-19", "llvm-readelf-19", "llvm-objdump-19":
            if not tool(name):
                return name
        return None if bitcode_folder() else "rocm-device-libs"
    if target in NVIDIA or target.startswith("sm_"):
        return None if tool("nvcc") else "nvcc"
    raise SystemExit("kernels: there is no target '%s'" % target)


def like(target, texts):
    """The target whose compilation gives the code of a module with these texts: PTX comes on the way to a cubin, and most
    modules know nothing of groups of waves or of matrix instructions."""
    if target == "ptx":
        return PTX
    define = HOST_DEFINES.get(target)
    return "host32" if define and not any(define.encode() in text for text in texts) else target


def isa_version(target):
    """gfx90a: 9010, gfx1151: 11501."""
    digits = target[3:]
    return int(digits[:-2]) * 1000 + int(digits[-2]) * 100 + int(digits[-1], 16)


def isa_bitcode(target, folder):
    """The device libraries' constant that names the architecture; Debian's have it for old ones only."""
    path = os.path.join(folder, "isa-%s.bc" % target)
    if not os.path.exists(path):
        source = ('__attribute__((address_space(4), visibility("hidden"))) const unsigned __oclc_ISA_version = %d;\n'
                  % isa_version(target))
        aside = "%s.%d" % (path, os.getpid())
        subprocess.run([tool("clang-19"), "-x", "c", "--target=amdgcn-amd-amdhsa", "-nogpulib", "-mcpu=" + target,
                        "-emit-llvm", "-c", "-o", aside, "-"], input=source.encode(), check=True)
        os.replace(aside, path)
    return path


def amd_command(target, folder):
    bitcode = bitcode_folder()
    libraries = ["hip", "ocml", "ockl", "oclc_daz_opt_off", "oclc_unsafe_math_off", "oclc_finite_only_off",
                 "oclc_correctly_rounded_sqrt_on", "oclc_wavefrontsize64_" + ("on" if wave(target) == 64 else "off"),
                 "oclc_abi_version_500"]
    command = [tool("clang-19"), "-x", "hip", "--cuda-device-only", "--offload-arch=" + target, "-nogpulib", "-nogpuinc",
               "-O3", "-std=c++14", "-ffp-contract=off", "-DGPU_WAVE=%d" % wave(target), "-mcode-object-version=5",
               "--no-gpu-bundle-output", "-Wall", "-Wextra", "-Werror", "-fno-caret-diagnostics",
               "-fno-color-diagnostics", "-Rpass-analysis=kernel-resource-usage"]
    for path in ["%s/%s.bc" % (bitcode, name) for name in libraries] + [isa_bitcode(target, folder)]:
        command += ["-Xclang", "-mlink-builtin-bitcode", "-Xclang", path]
    return command


def nvidia_command(target, folder):
    # The PTX on the way to a cubin is kept: the PTX pack has it, and report.py reads it where there is no cuobjdump.
    return [tool("nvcc"), "-x", "cu", "-std=c++14", "--fmad=false", "-cubin",
            "-gencode=arch=compute_%s,code=sm_%s" % ((target[3:] + ("a" if target in OWN else ""),) * 2), "-Xptxas", "-v",
            "--keep", "--keep-dir", folder, "-Werror", "all-warnings", "-Xcompiler", "-Wall,-Wextra"]


def host_features():
    """This processor's instructions for f16 and fused products, which would be calls of functions that take long."""
    try:
        with open("/proc/cpuinfo") as file:
            flags = next((line.split() for line in file if line.startswith("flags")), [])
    except OSError:
        flags = []
    return ["-m" + name for name in ("f16c", "fma") if name in flags]


def host_command(target):
    return [tool("clang-19"), "-x", "c++", "-std=c++14", "-O1", "-fPIC", "-shared", "-ffp-contract=off", "-DGPU_HOST",
            *host_features(), "-DGPU_WAVE=%d" % wave(target), *["-D" + HOST_DEFINES.get(target, "")] * (target in HOST_DEFINES),
            "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", "-Wno-pass-failed", "-Wl,--no-as-needed", "-lm"]


def command(module, target, folder, kernels):
    """The compiler's command line but for -o OUTPUT SOURCE; `folder` is for files that it needs on the way."""
    if target in HOST:
        line = host_command(target)
    elif target.startswith("gfx"):
        line = amd_command(target, folder)
        if module in CONSTANTS_STAY:
            line += ["-mllvm", "-disable-machine-licm"]
    else:
        line = nvidia_command(target, folder)
    return line + ["-I" + kernels]


def version(target):
    name = "nvcc" if target == "ptx" or target.startswith("sm_") else "clang-19"
    return subprocess.run([tool(name), "--version"], stdout=subprocess.PIPE, check=True).stdout.decode()
