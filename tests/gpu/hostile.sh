#!/usr/bin/env bash
# Drivers that lie about how many devices there are, and a machine without the device nodes of a driver.
# Usage: tests/gpu/hostile.sh WICK STANDIN     (exit status 77: skipped, the stand-in is not built)
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
wick=$1 standin=$2
[ -f "$standin/libamdhip64.so.6" ] && [ -f "$standin/libcuda.so.1" ] ||
    { echo "skipped: the stand-in driver is not built; ninja standin builds it"; exit 77; }
for name in $(compgen -e); do
    case $name in PATH | HOME | TMPDIR | ASAN_OPTIONS) ;; *) unset "$name" ;; esac
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
evidence() { cat "$work/out"; }
says() { grep -qF -- "$1" "$work/out"; }
says_not() { ! says "$1"; }
none=$work/none.so

# A number that can't be is not believed: the processor stays, the command is quick, and doctor tells.
for count in -5 -2147483648 257 100000 2147483647; do
    for family in rocm cuda; do
        export WICK_HIP_PATH=$none WICK_CUDA_PATH=$none STANDIN_COUNT=$count
        [ $family = rocm ] && WICK_HIP_PATH=$standin/libamdhip64.so.6 || WICK_CUDA_PATH=$standin/libcuda.so.1
        timeout 5 "$wick" devices >"$work/out" 2>&1
        check "devices, $family counts $count" [ $? -eq 0 ]
        check "the processor is listed, $family counts $count" says cpu
        check "no GPU is listed, $family counts $count" says_not "$family:"
        timeout 10 "$wick" verify --op add --quick --device $family:0 >"$work/out" 2>&1
        check "$family:0 does not open, the driver counts $count" [ $? -eq 1 ]
        check "the error says why, $family counts $count" says "the driver reports $count devices"
    done
done
# As many as are believed, of which one is there: the others fail one by one.
export WICK_HIP_PATH=$standin/libamdhip64.so.6 WICK_CUDA_PATH=$none STANDIN_COUNT=256
timeout 20 "$wick" devices >"$work/out" 2>&1
check "devices, 256 of which one is there" says cpu
unset STANDIN_COUNT

# Without a node HIP is not looked for, unless its file is named: loading it takes time, and its failures end the process.
if [ ! -e /dev/kfd ] && [ ! -e /dev/dxg ]; then
    unset WICK_HIP_PATH
    export LD_LIBRARY_PATH=$standin WICK_KERNEL_PACK=$standin/pack
    "$wick" devices >"$work/out" 2>&1
    check "no AMD GPU without /dev/kfd" says_not rocm:
    "$wick" verify --op add --quick --device rocm:0 >"$work/out" 2>&1
    check "the error names /dev/kfd" says "libamdhip64 is not looked for: there is no /dev/kfd"
    WICK_HIP_PATH=$standin/libamdhip64.so.6 "$wick" devices >"$work/out" 2>&1
    check "a file that is named is loaded all the same" says rocm:0
fi

# A set-uid program loads nothing that its caller's environment names.
if [ "$(id -u)" = 0 ]; then
    unset LD_LIBRARY_PATH
    export WICK_HIP_PATH=$standin/libamdhip64.so.6 WICK_CUDA_PATH=$standin/libcuda.so.1 WICK_KERNEL_PACK=$standin/pack
    chmod 755 "$work" && cp "$wick" "$work/wick"
    "$work/wick" devices >"$work/out" 2>&1
    check "the caller's own program loads them" says rocm:0
    chown 65534 "$work/wick" && chmod 4755 "$work/wick"
    "$work/wick" devices >"$work/out" 2>&1
    if grep -q nosuid <(findmnt -T "$work" -no OPTIONS); then
        echo "set-uid programs can't run in $work: not checked"
    else
        check "a set-uid program does not" says_not "stand-in"
        check "nor lists their GPUs" says_not "gfx90a"
    fi
fi

end_checks
