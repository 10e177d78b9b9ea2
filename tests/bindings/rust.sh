#!/usr/bin/env bash
# Tests the Rust crates against this build: linked, loaded at run time, their documentation and, where clippy is
# installed, its opinion. Usage: tests/bindings/rust.sh BUILD     exit status 77 where there is no cargo
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(realpath "$1")
command -v cargo > /dev/null || { echo "skipped: no cargo"; exit 77; }
export WICK_LIB_DIR=$build/src WICK_INCLUDE=$root/include:$build/include
export LD_LIBRARY_PATH=$build/src${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
# A folder that no other test compiles in: cargo waits for whoever holds its lock.
export CARGO_TARGET_DIR=$build/rust-crates CARGO_NET_OFFLINE=true CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0
cd "$root/bindings/rust"
cargo test --quiet
cargo test --quiet --features dlopen -p wick -p wick-sys
WICK_LIB=/proc/self/none/library.so cargo test --quiet --features dlopen -p wick --test missing -- --ignored
RUSTDOCFLAGS="-D warnings" cargo doc --quiet --no-deps
! cargo fmt --version > /dev/null 2>&1 || cargo fmt --check
! cargo clippy --version > /dev/null 2>&1 || cargo clippy --quiet --all-targets -- -D warnings
