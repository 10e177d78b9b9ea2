#!/usr/bin/env bash
# wick bench: rows, what is left out, and wrong usage.
# Usage: tests/bench.sh WICK
set -uo pipefail
wick=$1
failed=0

check() { # NAME CONDITION...
    local name=$1
    shift
    "$@" || { echo "failed: $name"; failed=$((failed + 1)); }
}
has() { grep -Eq "$1" <<<"$text"; }
gives() { # STATUS ARGUMENT...
    local status=$1
    shift
    "$wick" bench "$@" >/dev/null 2>&1
    [ $? = "$status" ]
}

text=$("$wick" bench --op add --quick --json)
check "json: status" [ $? = 0 ]
check "json: an array" has '^\['
check "json: one row" [ "$(grep -c '"op":' <<<"$text")" = 1 ]
check "json: shapes and dtype" has '"shapes": "\[4096,1024\] \[4096,1024\]"'
for key in us rate percent_of_peak; do
    check "json: $key is a positive number" has "\"$key\": [0-9.]*[1-9]"
done
check "json: unit" has '"unit": "GB/s"'
check "json: right" has '"good": true'

text=$("$wick" bench --op "*_inplace" --quick --dtype bf16)
check "table: status" [ $? = 0 ]
for op in copy fill slice_set scatter scatter_add; do check "table: $op" has "^${op}_inplace .* bf16 .* GB/s "; done
check "table: rows are counted" has '^5 rows, 0 ops not timed$'

text=$("$wick" bench --op "[mr]e*" --quick --dtype f8e5m2)
check "left out: status" [ $? = 0 ]
check "left out: views" has '^not timed .*reshape'

check "unknown op" gives 2 --op nosuch
check "unknown dtype" gives 2 --dtype f33
check "unknown argument" gives 2 --nosuch
check "unknown device" gives 1 --device nosuch
exit $((failed > 0))
