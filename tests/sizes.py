#!/usr/bin/env python3
"""tools/sizes on texts whose functions were counted by hand: it must see what is over a limit, and nothing else."""
import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys
import tempfile

TOOL = pathlib.Path(__file__).resolve().parent.parent / "tools/sizes"
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("sizes", str(TOOL))
sizes = importlib.util.module_from_spec(importlib.util.spec_from_loader("sizes", loader))
loader.exec_module(sizes)

C = '''/* void comment(int a) { */
#define TABLE(x) { x, "}" }
struct s { int (*call)(int a, int b); };
static const int list[] = {1, 2, 3};
enum { A = sizeof(int) };
MACRO(one)
MACRO(two)
int none(void) { return '{'; }
extern "C" {
static inline __attribute__((always_inline)) void
seven(int a, int b, int c, int d, int (*e)(int, int), int f[2], int g) {
    if (a) { b = c; }
}
}
template <typename T, int N> GPU_FN void NAME(kernel)(const tile<T, N> &a, u32 b) __attribute__((noinline)) {
}
int after(struct s x) {
    struct s y = (struct s){0};

    return 0;
}
'''
# name, first line, lines, parameters
WANT = [("none", 8, 1, 0), ("seven", 11, 3, 7), ("kernel", 15, 2, 2), ("after", 17, 5, 1)]


def status_of(name, text):
    """(status, what it prints) of tools/sizes for a file of this text."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, name)
        path.write_text(text)
        run = subprocess.run([sys.executable, TOOL, path], capture_output=True, text=True)
        return run.returncode, run.stdout


def main():
    got = list(sizes.functions_of_c(C))
    assert got == WANT, got
    body = "    x++;\n"
    cases = [("long.c", "int f(void) {\n" + 59 * body + "}\n", "f has 61 lines"),
             ("long.py", "def f():\n" + 60 * "    pass\n", "f has 61 lines"),
             ("many.h", "static int f(int a, int b, int c, int d, int e, int g, int h) { return a; }\n", "takes 7"),
             ("many.py", "def f(a, b, c, d, e, g, h):\n    pass\n", "takes 7"),
             ("macro.hip", "#define M " + 60 * "\\\n    x " + "\n", "the macro M has 61 lines"),
             ("file.rs", 501 * "\n", "501 lines")]
    for name, text, want in cases:
        status, said = status_of(name, text)
        assert status == 1 and want in said, (name, said)
    fits = [("fits.c", "int f(int a, int b, int c, int d, int e, int g) {\n" + 58 * body + "}\n" + 440 * "\n"),
            ("fits.py", "def f(a, b, c, d, e, g, *, h):\n" + 59 * "    pass\n"),
            ("fits.sh", 500 * "\n")]
    for name, text in fits:
        assert status_of(name, text) == (0, ""), (name, status_of(name, text))
    print(f"{len(WANT) + len(cases) + len(fits)} checks, 0 failed")


if __name__ == "__main__":
    main()
