#!/usr/bin/env bash
# Wick's ROCm family on simulated cards: what it finds, a few ops, counts, and what goes wrong on demand.
# Usage: tests/gfxsim/wick.sh WICK FOLDER PACK
#   FOLDER has gfxsim's libraries, PACK the kernel packs of gfx942 and gfx1100
# Exit status 77, with the reason, without packs, or with old ones.
set -uo pipefail
wick=$1 folder=$2 pack=$3
for target in gfx942 gfx1100; do
    [ -f "$pack/$target.pack" ] || { echo "skipped: there is no $pack/$target.pack"; exit 77; }
done
export WICK_HIP_PATH=$folder/libamdhip64.so.6 WICK_KERNEL_PACK=$pack WICK_COMPILE=never WICK_ROCBLAS_PATH=none
export GFXSIM_DEVICES=gfx942,gfx1100 GFXSIM_THREADS=3
unset GFXSIM_FAIL GFXSIM_SICK GFXSIM_MEMORY GFXSIM_DEFER GFXSIM_SEED GFXSIM_CHECK GFXSIM_TOLERATE GFXSIM_PROFILE GFXSIM_REPORT GFXSIM_RECORD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

check() { # NAME CONDITION...
    local name=$1
    shift
    "$@" || { echo "failed: $name"; sed 's/^/    /' "$work/out" | head -20; failed=$((failed + 1)); }
}
gives() { # STATUS ARGUMENT...
    local status=$1
    shift
    "$wick" "$@" >"$work/out" 2>&1
    [ $? = "$status" ]
}
has() { grep -Eq "$1" "$work/out"; }
verify() { gives "$1" verify --quick --layout contiguous --device "$2" --dtype f32 --op "$3"; }

check "devices: status" gives 0 devices
has 'made from other sources' && { echo "skipped: the packs in $pack are not current"; exit 77; }
check "devices: MI300X" has '^rocm:0 +AMD Instinct MI300X \(gfxsim\)'
check "devices: RX 7900 XTX" has '^rocm:1 +AMD Radeon RX 7900 XTX \(gfxsim\)'
for device in rocm:0 rocm:1; do
    for op in add sum softmax matmul sort; do check "$op on $device" verify 0 $device $op; done
done
WICK_HIP_PATH=$folder/libamdhip64.so.5 check "HIP 5" verify 0 rocm:0 add
GFXSIM_DEFER=1 GFXSIM_SEED=7 check "deferred, shuffled" verify 0 rocm:0 sum

GFXSIM_PROFILE=$work/profile check "profile: status" verify 0 rocm:0 add
cp "$work/profile" "$work/out"
check "profile: the kernel" has '^gfx942 binary_f32$'
check "profile: whole segments" has 'written [0-9]+ bytes in [0-9]+ segments of 64, useful (9|100)'
check "bench: status" gives 0 bench --device rocm:0 --op add --dtype u8 --quick --json
check "bench: counts" has '"segments": [1-9]'
check "bench: no times" test "$(grep -c '"us"' "$work/out")" = 0

GFXSIM_SICK=0:3 check "lost: status" verify 1 rocm:0 add
check "lost: text" has '719'
GFXSIM_SICK=0:3 check "lost: not the other" verify 0 rocm:1 add
GFXSIM_FAIL=hipModuleLoadData:1 check "fault on demand: status" verify 1 rocm:0 add
GFXSIM_MEMORY=4000000 check "memory: status" gives 1 bench --device rocm:0 --op add --quick
check "memory: text" has 'out of memory|OutOfMemory'
GFXSIM_DEVICES=gfx000 check "no such card: status" verify 1 rocm:0 add
check "no such card: text" has 'gfxsim: there is no device gfx000'
exit $((failed > 0))
