#!/usr/bin/env python3
"""Makes candle with Wick from the releases that tools/candle knows, both ways, and looks at what came out: a device, and
the crates that patch.toml names. A source without an anchor has to end in an error that names the file.

Exit status 77 where there is no cargo, or no candle in its registry."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader

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


WORKSPACE = """[workspace]
members = ["candle-core", "candle-nn"]

[workspace.package]
version = "{version}"
edition = "2021"
description = "Minimalist ML framework."
repository = "https://github.com/huggingface/candle"
keywords = ["blas", "tensor", "machine-learning"]
categories = ["science"]
license = "MIT OR Apache-2.0"

[workspace.dependencies]
candle = {{ path = "./candle-core", package = "candle-core", version = "{version}" }}
candle-kernels = {{ path = "./candle-kernels", version = "{version}" }}
half = {{ version = "2.5.0", features = ["num-traits"] }}
rayon = "1.7.0"
"""


def checkout(work):
    """A checkout inherits versions from its workspace; the crates written for a program must not."""
    source = os.path.join(work, "checkout")
    shutil.copytree(os.path.join(work, VERSIONS[-1], "pristine"), source)
    workspace, names = WORKSPACE.format(version=VERSIONS[-1]), set()
    for crate in "candle-core", "candle-nn":
        manifest = os.path.join(source, crate, "Cargo.toml")
        os.replace(manifest + ".orig", manifest)
        names |= set(re.findall(r"^([\w-]+) = \{ workspace = true", read(manifest), re.M))
    workspace += "".join(f'{name} = "1"\n' for name in sorted(names) if f"\n{name} =" not in workspace)
    with open(os.path.join(source, "Cargo.toml"), "w", encoding="utf-8") as out:
        out.write(workspace)
    folder = os.path.join(work, "settled")
    made = run(folder, "--source", source)
    check(made.returncode == 0, f"a checkout: {made.stderr}")
    core, nn = (tomllib.loads(read(folder, crate, "Cargo.toml")) for crate in ("candle-core", "candle-nn"))
    check("workspace = true" not in read(folder, "candle-core", "Cargo.toml"), "a manifest still needs its workspace")
    check(core["package"]["version"] == VERSIONS[-1], f"the version of a checkout: {core['package']}")
    check(core["package"]["keywords"] == ["blas", "tensor", "machine-learning"], "the keywords of a checkout")
    check(core["dependencies"]["half"]["features"] == ["num-traits", "zerocopy"], f"features: {core['dependencies']['half']}")
    check(core["dependencies"]["rayon"]["version"] == "1.7.0", "a version without a table")
    check(core["dependencies"]["candle-kernels"] == {"path": os.path.join(source, "candle-kernels"), "version": VERSIONS[-1],
                                                     "optional": True, "features": []}, "a crate of the checkout")
    check(nn["dependencies"]["candle"]["path"] == "../candle-core", f"candle-core of candle-nn: {nn['dependencies']['candle']}")
    with open(os.path.join(source, "Cargo.toml"), "w", encoding="utf-8") as out:
        out.write(workspace.replace("rayon =", "crayon ="))
    made = run(os.path.join(work, "broken"), "--source", source)
    check(made.returncode == 1 and "expected 'rayon' in the workspace" in made.stderr, f"a workspace without rayon: {made.stderr}")
    made = run(os.path.join(work, "none"), "--source", os.path.join(work, "nothing"))
    check(made.returncode == 1 and "expected a folder of candle's" in made.stderr, f"no checkout: {made.stderr}")
    print("ok    a checkout")


def pristine(work):
    """The two published crates as a checkout has them."""
    sys.dont_write_bytecode = True
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
        checkout(work)


if __name__ == "__main__":
    main()
