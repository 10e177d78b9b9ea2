#!/usr/bin/env python3
"""Makes candle with Wick from the releases that tools/candle knows, both ways, and looks at what came out: a device, and
the crates that patch.toml names. A source without an anchor has to end in an error that names the file.

Exit status 77 where there is no cargo, or no candle in its registry."""
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOOL = os.path.join(ROOT, "tools", "candle")
VERSIONS = ["0.10.2", "0.11.1", "0.11.0"]


def run(*arguments):
    result = subprocess.run([TOOL, *arguments], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if "can't be fetched" in result.stderr:
        print(f"skipped: {result.stderr.splitlines()[0]}")
        sys.exit(77)
    return result


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def check(good, text):
    if not good:
        sys.exit(f"FAIL  {text}")


def releases(work):
    for version in VERSIONS:
        for form, constructor in [([], "pub fn new_wick("), (["--as-cuda"], "pub fn new_cuda(")]:
            folder = os.path.join(work, "-".join([version, *form]))
            made = run(folder, "--version", version, *form)
            check(made.returncode == 0, f"{version} {form}: {made.stderr}")
            check(constructor in read(folder, "candle-core/src/device.rs"), f"{version} {form}: no {constructor}")
            for crate in ["candle-core", "candle-nn", "candle-flash-attn"]:
                check(f'version = "{version}"' in read(folder, crate, "Cargo.toml"), f"{version} {form}: the version of {crate}")
                check(f'{crate} = {{ path = "{folder}/{crate}" }}' in read(folder, "patch.toml"), f"patch.toml lacks {crate}")
            again = run(folder, "--version", version, *form)
            check(again.returncode == 1 and "is not empty" in again.stderr, "a folder in use is taken")
            print(f"ok    {version} {' '.join(form)}")


def missing_anchors(work):
    """Of a source from which one thing that the tool builds on is taken away."""
    for file, word, hidden in [("src/storage.rs", "Self::Metal(storage)", "Self::Other(storage)"),
                               ("src/conv.rs", "if groups == 1 {", "if 1 == groups {"),
                               ("src/error.rs", "#[from] MetalError", "#[from] OtherError"),
                               ("src/custom_op.rs", "pub trait CustomOp2 {", "pub trait Custom2 {")]:
        source = os.path.join(work, "source")
        shutil.copytree(os.path.join(work, VERSIONS[-1], "pristine"), source)
        text = read(source, "candle-core", file)
        check(word in text, f"{file} has no {word}")
        with open(os.path.join(source, "candle-core", file), "w", encoding="utf-8") as out:
            out.write(text.replace(word, hidden))
        made = run(os.path.join(work, "broken"), "--source", source)
        check(made.returncode == 1 and file in made.stderr and "expected" in made.stderr, f"{file} without {word}: {made.stderr}")
        shutil.rmtree(source)
        shutil.rmtree(os.path.join(work, "broken"))
        print(f"ok    stops at {file}")


def pristine(work):
    """The two published crates as a checkout has them."""
    sys.dont_write_bytecode = True
    from importlib.machinery import SourceFileLoader
    from importlib.util import module_from_spec, spec_from_loader
    loader = SourceFileLoader("candle", TOOL)
    tool = module_from_spec(spec_from_loader("candle", loader))
    loader.exec_module(tool)
    for crate, source in zip(["candle-core", "candle-nn"], tool.registry(VERSIONS[-1])):
        tool.copy(source, os.path.join(work, VERSIONS[-1], "pristine", crate))


def main():
    if not shutil.which("cargo"):
        print("skipped: no cargo")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as work:
        releases(work)
        pristine(work)
        missing_anchors(work)


if __name__ == "__main__":
    main()
