#!/usr/bin/env bash
# wick embed and wick search as they are used: output formats, the index and what can happen to it, bad files.
# Usage: tests/text/commands.sh WICK     (exit status 77: skipped, the model is not there)
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
wick=$(realpath "$1")
model=${WICK_MODEL:-${XDG_CACHE_HOME:-$HOME/.cache}/wick/models/all-MiniLM-L6-v2}
[ -f "$model/model.safetensors" ] || { echo "skipped: the model is not there; tools/fetch-model fetches it"; exit 77; }
export WICK_MODEL=$model
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache

cat >"$work/a.md" <<'TEXT'
# Cooking

Boil the potatoes in salted water for twenty minutes.

# Errors

A function that fails returns NULL and keeps a message;
it never aborts the process.

---
TEXT
printf 'Katzen schlafen viel.\n\n猫はよく眠る。\n' >"$work/b.txt"
printf 'PK\0\1\2' >"$work/c.bin"
cd "$work"
search() { "$wick" search "$@" >out 2>err; }

search "how are failures reported" a.md b.txt
check "status 0" [ $? -eq 0 ]
check "the best passage, with the line of its heading" grep -q '^a.md:5  0\.' out
check "quiet in a pipe" [ ! -s err ]
check "an index for each file" [ "$(ls cache/wick/index | wc -l)" -eq 2 ]
cp out first
before=$(stat -c %Y.%i cache/wick/index/*)
search "how are failures reported" a.md b.txt
check "the index gives the same answer" cmp -s out first
check "the index is reused" [ "$before" = "$(stat -c %Y.%i cache/wick/index/*)" ]
for file in cache/wick/index/*; do printf 'junk' >"$file"; done
search "how are failures reported" a.md b.txt
check "a damaged index is made anew" cmp -s out first
check "and reported in a line each" [ "$(grep -c 'damaged, made anew' err)" -eq 2 ]
for file in cache/wick/index/*; do printf '\1' | dd of="$file" bs=1 seek=$(($(stat -c %s "$file") - 3)) conv=notrunc status=none; done
search "how are failures reported" a.md b.txt
check "a changed byte is noticed" [ "$(grep -c 'damaged, made anew' err)" -eq 2 ]
check "and harmless" cmp -s out first
sed -i 's/never aborts/does not abort/' a.md
search "how are failures reported" a.md b.txt
check "a changed file is read again" grep -q 'does not abort' out
XDG_CACHE_HOME=/dev/null search "how are failures reported" a.md b.txt
check "works without a cache" [ $? -eq 0 ]
check "and says so once" [ "$(grep -c 'the index is not kept' err)" -eq 1 ]
search --no-index "cats" b.txt
check "no index wanted" grep -q '^b.txt:[13]  0\.' out
search --exact --json --top 1 "cats" b.txt
check "f32 gives the same passage" python3 -c 'import json; [hit] = json.load(open("out")); assert hit["line"] in (1, 3)'
search "cats" c.bin b.txt
check "binary files are skipped" grep -q 'c.bin: skipped' err
search "cats" none.txt b.txt
check "a missing file is a failure" [ $? -eq 1 ]
check "but the others are searched" grep -q '^b.txt:' out
check "with a message" grep -q 'none.txt: No such file' err
search --json --top 1 "cats" b.txt
check "JSON" python3 -c 'import json; [hit] = json.load(open("out")); assert hit["file"] == "b.txt" and hit["line"] in (1, 3)'
search "cats" - <b.txt
check "standard input" grep -q '^(standard input):' out
search "cats"
check "no file" [ $? -eq 2 ]
search --top 0 "cats" b.txt
check "a bad number" [ $? -eq 2 ]
search --model "$work/nothing" "cats" b.txt
check "no model" [ $? -eq 1 ]
check "its error names the file" grep -q 'nothing/config.json: can.t be opened' err

printf 'one\ntwo\r\n\n\377\n' | "$wick" embed >out 2>err
check "a JSON line for each line" [ "$(wc -l <out)" -eq 4 ]
check "embed: good JSON" python3 -c 'import json; r = [json.loads(l) for l in open("out")]; assert [x["text"] for x in r] == ["one", "two", "", "\ufffd"] and len(r[0]["embedding"]) == 384'
"$wick" embed --batch 1 --output e.npy b.txt && "$wick" embed --output e.safetensors b.txt
"$wick" inspect e.npy >out 2>err
check "npy: three lines" grep -q '3.*384' out
"$wick" inspect e.safetensors >out 2>err
check "safetensors: three lines" grep -q 'embeddings.*3.*384' out
"$wick" embed --fast b.txt >out 2>err
check "embed --fast: a JSON line for each line" [ "$(wc -l <out)" -eq 3 ]
"$wick" embed --output e.txt b.txt >out 2>err
check "an unknown output format" [ $? -eq 2 ]
: | "$wick" embed >out 2>err
check "no text at all" [ $? -eq 0 ]

end_checks
