#!/usr/bin/env bash
# Whole models on simulated cards: MiniLM of 2 layers beside the CPU, and a ResNet-18 on a picture of 32 x 32 beside what
# transformers answered.
# Usage: tests/gfxsim/models.sh WICK TEST-RESNET FOLDER PACK
#   FOLDER has gfxsim's libraries, PACK the kernel packs of gfx942 and gfx1100
# Exit status 77, with the reason, without packs or the model, or with old packs.
set -uo pipefail
cd "$(dirname "$0")/../.."
wick=$1 resnet=$2 folder=$3 pack=$4
model=${WICK_MODEL:-${XDG_CACHE_HOME:-$HOME/.cache}/wick/models/all-MiniLM-L6-v2}
[ -f "$model/model.safetensors" ] || { echo "skipped: the model is not there; tools/fetch-model fetches it"; exit 77; }
for target in gfx942 gfx1100; do
    [ -f "$pack/$target.pack" ] || { echo "skipped: there is no $pack/$target.pack"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WICK_HIP_PATH=$folder/libamdhip64.so.6 WICK_KERNEL_PACK=$pack WICK_COMPILE=never WICK_ROCBLAS_PATH=none
export WICK_POOL=off GFXSIM_DEVICES=gfx942,gfx1100
unset GFXSIM_FAIL GFXSIM_SICK GFXSIM_MEMORY GFXSIM_DEFER GFXSIM_SEED GFXSIM_CHECK GFXSIM_TOLERATE GFXSIM_PROFILE GFXSIM_TRACE GFXSIM_UNITS
"$wick" devices | grep -q 'made from other sources' && { echo "skipped: the packs in $pack are not current"; exit 77; }

cp -r "$model" "$work/model"
sed -i 's/"num_hidden_layers": *[0-9]*/"num_hidden_layers": 2/' "$work/model/config.json"
printf '%s\n' 'Errors are values.' 'how do I return an error without aborting' >"$work/lines"
failed=0
for device in cpu rocm:0 rocm:1; do
    "$wick" embed --model "$work/model" --device $device --output "$work/$device.jsonl" "$work/lines" || failed=1
done
python3 - "$work/cpu.jsonl" "$work/rocm:0.jsonl" "$work/rocm:1.jsonl" <<'END' || failed=1
import json
import sys

def vectors(path):
    return [json.loads(line)["embedding"] for line in open(path)]

want = vectors(sys.argv[1])
for path in sys.argv[2:]:
    worst = max(abs(a - b) for x, y in zip(want, vectors(path), strict=True) for a, b in zip(x, y, strict=True))
    print(f"MiniLM, 2 layers: {len(want)} vectors of {len(want[0])}, largest difference from the CPU {worst:.2g}")
    if not worst <= 1e-5:
        sys.exit(1)
END
for device in rocm:0 rocm:1; do
    "$resnet" "$wick" $device 18 || failed=1
done
exit $failed
