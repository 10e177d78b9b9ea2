#!/usr/bin/env bash
# Every op on each real GPU that opens here, against the references. Usage: tests/gpu/device.sh WICK
# Exit status 77: skipped, there is none.
set -uo pipefail
wick=$1 found=0 failed=0
for device in $("$wick" devices | sed -nE 's/^((cuda|rocm):[0-9]+) .*/\1/p'); do
    "$wick" devices | grep -q "^$device .*does not work" && continue
    found=$((found + 1))
    "$wick" verify --device "$device" --quick || failed=$((failed + 1))
done
[ "$found" -gt 0 ] || { echo "skipped: there is no GPU here"; exit 77; }
[ "$failed" -eq 0 ]
