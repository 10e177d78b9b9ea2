#!/usr/bin/env bash
# wick kernels on the stand-in driver: routes, export, import, what is missing.
# Usage: tests/gpu/kernels.sh WICK ENVIRONMENT     (exit status 77: skipped, the stand-in is not built)
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
wick=$1
[ -f "$2" ] && . "$2"
[ -f "${WICK_HIP_PATH:-}" ] && [ -f "${WICK_KERNEL_PACK:-}/gfx90a.pack" ] ||
    { echo "skipped: the stand-in driver is not built; ninja standin builds it"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export STANDIN_DEVICES=gfx90a,gfx1100 WICK_CACHE_DIR=$work/cache WICK_COMPILE=never
mkdir "$work/empty" "$work/nothing"

says() { # TEXT FILE
    grep -qF -- "$1" "$2" || { cat "$2"; false; }
}
run() { # runs wick with an output file
    "$wick" "$@" >"$work/out" 2>"$work/err"
}

check "lists" run kernels
check "names kernels" says copy_strided_b4 "$work/out"
check "shows the first device" says "rocm:0 (gfx90a)" "$work/out"
check "shows the second device" says "rocm:1 (gfx1100)" "$work/out"
check "as JSON" run kernels --json
check "JSON is JSON" python3 -m json.tool "$work/out" /dev/null
check "exports" run kernels --device rocm:1 --export "$work/packs"
check "under the target's name" [ -f "$work/packs/gfx1100.pack" ]
check "what was exported is a pack" cmp -n 12 "$work/packs/gfx1100.pack" "$WICK_KERNEL_PACK/gfx1100.pack"

export WICK_KERNEL_PACK=$work/absent
run kernels --device rocm:1
check "a missing folder of packs is said" says "WICK_KERNEL_PACK=$work/absent: No such file or directory" "$work/err"
check "once" [ "$(grep -c WICK_KERNEL_PACK= "$work/err")" -eq 1 ]
export WICK_KERNEL_PACK=$work/empty
run kernels --device rocm:1
check "without a pack the device does not open" [ $? -eq 1 ]
check "and says why" says "no code of kernel module copy for gfx1100: pack: no gfx1100.pack" "$work/err"
export WICK_KERNEL_PACK=$work/packs
check "the exported pack serves" run kernels --device rocm:1 --warm
export WICK_KERNEL_PACK=$work/empty
check "imports where no device opens" run kernels --import "$work/packs"
check "the imported pack serves" run kernels --device rocm:1 --warm
check "by the route pack" says pack "$work/out"
check "computes with it" run verify --device rocm:1 --op contiguous --quick
run kernels --import "$work/nothing"
check "an empty folder can't be imported" [ $? -eq 1 ]
printf 'rubbish' >"$work/rubbish"
run kernels --import "$work/rubbish"
check "rubbish can't be imported" [ $? -eq 1 ]
check "and says why" says "rubbish is cut short" "$work/err"
check "and nothing changed" run kernels --device rocm:1 --warm
run kernels --device cpu --export "$work/cpu"
check "the CPU has no packs" says "cpu is not a GPU" "$work/err"
run kernels --frobnicate
check "wrong usage" [ $? -eq 2 ]
end_checks
