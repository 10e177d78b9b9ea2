#!/usr/bin/env bash
# wick tune on the stand-ins of libraries: models of each kind, what it prints, and that the next command goes by it.
# Usage: tests/cli/tune.sh WICK     in the environment of a stand-in (tests/standin)
set -uo pipefail
wick=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../checks.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WICK_CACHE_DIR=$work/cache STANDIN_SLOW=blas
python3 "$here/models.py" "$work" || exit 1
cd "$work" || exit 1
evidence() { head -n 20 out err; }

gives() { # STATUS ARGUMENT...: runs wick; the results are in out and err
    local status=$1
    shift
    timeout 60 "$wick" "$@" >out 2>err
    [ $? = "$status" ]
}
# Of each call one route is chosen, the fastest; those of a library have two ways.
good_json() { python3 - "$@" <<'END'
import json, sys
calls = json.load(open("out"))
assert {call["op"] for call in calls} == set(sys.argv[1:]), calls
for call in calls:
    best = min(call["routes"], key=lambda route: route["us"])
    assert [r for r in call["routes"] if r["chosen"]] == [best] and best["name"] != "BLAS", call
    assert len(call["routes"]) > 1 and all(r["ways"] == (2 if r["name"] in ("DNN", "BLASLt") else 1)
                                           for r in call["routes"]), call
END
}

check "an embedder" gives 0 tune bert --device cuda:0 -p 4 --batch 2 --json
check "its products" good_json product
printf 'a a a a\na a a a\n' >lines.txt
WICK_LOG=debug check "the next command" gives 0 embed --model bert --device cuda:0 lines.txt
small() { grep -q 'by BLASLt: the product is small' err; }
check "goes by it" eval '! small'
WICK_CACHE_DIR=$work/none WICK_LOG=debug check "without what is kept" gives 0 embed --model bert --device cuda:0 lines.txt
check "rules decide" small
check "a ResNet" gives 0 tune resnet --device cuda:0 --size 32 --json
check "its calls" good_json product convolution
check "a language model" gives 0 tune "$here/../model/llama.gguf" --device cuda:0 -p 2
check "as text" grep -qE '^  \* (own|BLASLt) +[0-9.]+ us' out
check "the processor" gives 1 tune bert --device cpu
check "has no routes" grep -q 'nothing to measure' err
check "no model" gives 2 tune
check "a model that is not there" gives 1 tune none --device cuda:0
check "two models" gives 2 tune bert bert
end_checks
