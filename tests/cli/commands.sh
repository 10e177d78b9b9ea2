#!/usr/bin/env bash
# The program as a whole, on files that are damaged, hostile or not there: what it prints, what it writes, how it exits.
# Usage: tests/cli/commands.sh WICK [SHIM]     SHIM: the library of tests/faults/shim.c
set -uo pipefail
wick=$(realpath "$1") shim=$(realpath "${2:-/dev/null}")
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../checks.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset WICK_MODEL WICK_INDEX_LIMIT WICK_THREADS WICK_ISA
export XDG_CACHE_HOME=$work/cache LC_ALL=C
python3 "$here/models.py" "$work" || exit 1
cd "$work" || exit 1
evidence() { head -n 12 out err; }

gives() { # STATUS ARGUMENT...: runs wick; the results are in out and err
    local status=$1
    shift
    timeout 60 "$wick" "$@" >out 2>err
    [ $? = "$status" ]
}
shows() { grep -qF -- "$1" out; }
says() { [ "$(grep -cF -- "$1" err)" = 1 ]; }   # in one line of stderr
tame() { ! grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' out err; } # nothing that a terminal obeys
good_json() { python3 -c 'import json, sys
def refuse(word): raise ValueError(word)
for line in open("out"): json.loads(line, parse_constant=refuse)'; }

# ---- text from elsewhere is shown escaped ----

wild=$'esc\e[31m c1\xc2\x9b bad\xff bell\a turn\xe2\x80\xae.jpg'
cp good.jpg "$wild"
printf 'red\e[31m\nlatin \xe9\nc1 \xc2\x9b31m\nfour\nfive\n' >labels.txt
check "a wild file name" gives 0 classify --model resnet --labels labels.txt "$wild"
check "is shown escaped" shows 'esc\x1b[31m c1\u009b bad\xff bell\x07 turn\u202e.jpg'
check "as labels are" shows 'red\x1b[31m'
check "in Latin-1, too" shows 'latin \xe9'
check "no terminal obeys it" tame
check "a wild name that is not there" gives 1 classify --model resnet $'none\e[2J.jpg'
check "is shown escaped, too" says 'none\x1b[2J.jpg'
check "and tame" tame
printf 'a cat \e]0;title\a on \xc2\x9b5m the mat\n' >"passage.txt"
check "search" gives 0 search --model bert --no-index cat passage.txt
check "passages are tame" tame
check "and whole" shows 'a cat \x1b]0;title\x07 on \u009b5m the mat'
cp bert/model.safetensors $'w\e[1m.safetensors'
check "inspect" gives 0 inspect $'w\e[1m.safetensors'
check "its file name" shows 'w\x1b[1m.safetensors: safetensors'
check "an option" gives 2 inspect $'--\e[1m'
check "is tame" tame
check "a command" gives 2 $'\e[1m'
check "is tame, too" tame
check "a device" gives 1 verify --device $'\e[1m' --op add
check "is tame as well" tame

# ---- JSON is JSON ----

check "json: a wild file name" gives 0 classify --json --model resnet --labels labels.txt "$wild"
check "json: good" good_json
check "json: no class is lost" python3 -c '
import json
[row] = map(json.loads, open("out"))
assert len(row["classes"]) == 5 and "latin \ufffd" in [c["label"] for c in row["classes"]]
assert row["file"].startswith("esc\x1b[31m c1\x9b bad\ufffd")'
check "json: inspect" gives 0 inspect --json $'w\e[1m.safetensors'
check "json: its file name" python3 -c 'import json; assert json.load(open("out"))["file"] == "w\x1b[1m.safetensors"'
check "devices --routes" gives 0 devices --routes
check "json: devices" gives 0 devices --json --routes
check "json: a list of devices" python3 -c 'import json; assert json.load(open("out"))[-1]["name"] == "cpu"'

# ---- NaN is not an answer ----

check "nan: classify" gives 1 classify --model resnet-nan good.jpg
check "nan: names the tensor" says 'layer2.0.conv1.weight holds NaN'
check "nan: shows nothing" [ ! -s out ]
check "nan: classify, wanted" gives 0 classify --json --allow-nan --model resnet-nan good.jpg
check "nan: is null" good_json
check "nan: each class once" python3 -c '
import json
[row] = map(json.loads, open("out"))
assert sorted(c["class"] for c in row["classes"]) == [0, 1, 2, 3, 4]
assert all(c["probability"] is None for c in row["classes"])'
printf 'a cat\nthe mat\n' >lines.txt
check "nan: embed" gives 1 embed --model bert-nan lines.txt
check "nan: embed names the tensor" says 'encoder.layer.0.output.dense.bias holds NaN'
check "nan: embed, from finite weights" gives 1 embed --model bert-large lines.txt
check "nan: names the first result" says 'of linear with encoder.layer.0.intermediate.dense.weight is the first that holds'
check "nan: search, from finite weights" gives 1 search --exact --no-index --model bert-large cat lines.txt
check "nan: names it, too" says 'of linear with encoder.layer.0.intermediate.dense.weight is the first that holds'
check "nan: embed, wanted" gives 0 embed --allow-nan --model bert-nan lines.txt
check "nan: embed: good JSON" good_json
check "nan: embed to npy" gives 1 embed --output nan.npy --model bert-nan lines.txt
check "nan: writes none" [ ! -e nan.npy ]
check "nan: search" gives 1 search --model bert-nan cat lines.txt
check "nan: search names the tensor" says 'encoder.layer.0.output.dense.bias holds NaN'
check "nan: search keeps no index" [ -z "$(ls cache/wick/index 2>/dev/null)" ]
check "nan: search, wanted" gives 0 search --allow-nan --json --model bert-nan cat lines.txt
check "nan: search: good JSON" good_json
check "nan: search: each passage once, without a score" python3 -c '
import json
hits = json.load(open("out"))
assert [(h["line"], h["score"]) for h in hits] == [(1, None)], hits'
check "nan: search keeps no index of it" [ -z "$(ls cache/wick/index 2>/dev/null)" ]
check "nan: search, as text" gives 0 search --allow-nan --model bert-nan cat lines.txt
check "nan: search shows nan" grep -qx 'lines.txt:1  nan' out

# ---- what was written before stays until all is well ----

for kind in npy safetensors jsonl; do
    check "$kind: embed" gives 0 embed --model bert --output good.$kind lines.txt
    cp good.$kind before
    check "$kind: a file is missing" gives 1 embed --model bert --output good.$kind missing.txt
    check "$kind: stays" cmp good.$kind before
    check "$kind: one of two is missing" gives 1 embed --model bert --output good.$kind lines.txt missing.txt
    check "$kind: still stays" cmp good.$kind before
    check "$kind: the model fails" gives 1 embed --model bert-nan --output good.$kind lines.txt
    check "$kind: stays as well" cmp good.$kind before
    (ulimit -f 0; trap '' XFSZ; timeout 60 "$wick" embed --model bert --output good.$kind lines.txt >out 2>err)
    check "$kind: no room" [ $? = 1 ]
    check "$kind: stays after all" cmp good.$kind before
    check "$kind: nothing is left behind" [ -z "$(ls | grep tmp)" ]
done
ln -s good.jsonl link.jsonl
check "a link" gives 0 embed --model bert --output link.jsonl passage.txt
check "stays a link" [ -L link.jsonl ]
check "to what was written" grep -q title good.jsonl
mkfifo pipe.jsonl
timeout 20 cat pipe.jsonl >piped &
check "to a pipe" gives 0 embed --model bert --output pipe.jsonl lines.txt
wait $!
check "all of it" [ "$(wc -l <piped)" = 2 ]

# ---- output that can't be written ----

full() { # ARGUMENT...: to a full device
    timeout 60 "$wick" "$@" >/dev/full 2>err
    [ $? = 1 ] && [ "$(wc -l <err)" = 1 ] && says "the output can't be written"
}
check "full: --version" full --version
check "full: --help" full --help
check "full: a command's --help" full search --help
check "full: classify" full classify --model resnet good.jpg
check "full: classify --json" full classify --json --model resnet good.jpg
check "full: devices" full devices
check "full: devices --json" full devices --json
check "full: doctor" full doctor
check "full: embed" full embed --model bert lines.txt
check "full: inspect" full inspect bert
check "full: inspect --json" full inspect --json bert
check "full: kernels" full kernels
check "full: kernels --json" full kernels --json
check "full: search" full search --model bert --no-index cat lines.txt
check "full: verify" full verify --op neg --quick
check "full: verify --json" full verify --op neg --quick --json
check "full: verify --table" full verify --table
check "full: bench" full bench --op neg --quick
timeout 60 "$wick" inspect bert >&- 2>err
check "closed" [ $? = 1 ]
"$wick" embed --model bert --output closed.jsonl lines.txt >&- 2>err
check "closed, with nothing to print" [ $? = 0 ]
check "and a file that stays clean" [ "$(wc -l <closed.jsonl)" = 2 ]

# ---- files beside a model ----

broken() { # NAME FILE TEXT MESSAGE
    cp -r resnet changed
    printf '%s' "$3" >"changed/$2"
    check "$1: fails" gives 1 classify --model changed good.jpg
    check "$1: is explained" says "$4"
    check "$1: shows nothing" [ ! -s out ]
    rm -r changed
}
broken "no JSON" preprocessor_config.json $'{"size": 224,\n "crop_pct" 0.5}' 'preprocessor_config.json: line 2, column 15: '
broken "a size of words" preprocessor_config.json '{"size": "big"}' "preprocessor_config.json: 'size'"
broken "a size of another kind" preprocessor_config.json '{"size": {"width": 9, "height": 9}}' "preprocessor_config.json: 'size'"
broken "two means" preprocessor_config.json '{"image_mean": [0, 1]}' "'image_mean' is not an array of 3 numbers"
broken "an infinite mean" preprocessor_config.json '{"image_mean": [1e300, 0, 0]}' "'image_mean' is not an array of 3 numbers"
broken "a deviation of 0" preprocessor_config.json '{"image_std": [1, 0, 1]}' "'image_std' has a number that is not above 0"
broken "another filter" preprocessor_config.json '{"resample": 1}' "'resample'"
broken "no config" config.json $'{"id2label":\n{"0": }}' 'config.json: line 2, column 7: '
broken "names with a hole" config.json '{"id2label": {"0": "a", "2": "b"}}' "'id2label' does not name classes"
broken "a stride of words" config.json '{"downsample_in_bottleneck": "yes"}' "'downsample_in_bottleneck' is neither true nor false"
check "labels that are not there" gives 1 classify --model resnet --labels nolabels.txt good.jpg
check "are named" says 'nolabels.txt: No such file'
check "and nothing is shown" [ ! -s out ]
check "no labels at all" gives 0 classify --model resnet/model.safetensors good.jpg
check "is said" says 'classes have no names'
check "too few labels" gives 0 classify --model resnet --labels lines.txt good.jpg
check "are counted" says '2 names for 5 classes'

check "half a picture" gives 0 classify --model resnet half.jpg
check "is warned of" says 'half.jpg: warning: Premature end of JPEG file'
check "half a picture, strictly" gives 1 classify --strict --model resnet half.jpg good.jpg
check "is refused" says 'half.jpg: Premature end'
check "but not a whole one" shows good.jpg

# ---- numbers, pipes ----

check "a number of 33 bits" gives 2 classify --model resnet --top 4294967297 good.jpg
check "is no 1" says "not '4294967297'"
for value in 0 -1 1x '' ' 1' 0x10 99999999999999999999; do
    check "--top '$value'" gives 2 search --model bert --top "$value" cat lines.txt
done
check "no check runs" gives 1 verify --op add --case 999999
check "no check runs: --list" gives 1 verify --list /dev/null
check "--log in no folder" gives 1 verify --op neg --quick --dtype f32 --log nowhere/log
check "--model ''" gives 1 embed --model '' lines.txt
check "help embed" gives 0 help embed
check "help nonsense" gives 2 help nonsense
check "-h" gives 0 -h
check "-V" gives 0 -V
check "--case of 33 bits" gives 2 verify --case 4294967297
check "--seed of 65 bits" gives 2 verify --seed 18446744073709551616
check "--seed=3" gives 0 verify --op neg --quick --dtype f32 --seed=3
for question in '' ' ' $'\t\n'; do
    check "search '$question'" gives 2 search --model bert "$question" lines.txt
    check "'$question' is said to be empty" says 'the question is empty'
done
check "kernels of the processor" gives 1 kernels --device cpu
check "are none" says 'cpu is not a GPU'
check "and are not listed" [ ! -s out ]
check "nor as JSON" gives 1 kernels --device cpu --json
mkfifo fifo.jpg
timeout 20 cat good.jpg >fifo.jpg &
check "a picture from a pipe" gives 0 classify --model resnet fifo.jpg
wait $!
check "is a picture" shows '%     0  class 0'
check "a picture from standard input" bash -c '"$1" classify --model resnet - <good.jpg >out' - "$wick"
check "is one, too" shows '%     0  class 0'
check "inspect refuses a pipe" gives 1 inspect fifo.jpg

# ---- files that are cut short while they are in use: a command that maps one ends by SIGBUS ----

copies() { # STATUS ARGUMENT...: runs wick, which maps no file
    local status=$1
    shift
    rm -f counts
    timeout 60 env FAULT_COUNT=counts LD_PRELOAD="$shim" "$wick" "$@" >out 2>err
    [ $? = "$status" ] && grep -qx 'mmap 0' counts
}
if [ $# -ge 2 ]; then
    check "embed maps no file" copies 0 embed --model bert --device cpu lines.txt
    check "nor does classify" copies 0 classify --model resnet --device cpu good.jpg
    check "nor when scores are not finite" copies 1 classify --model resnet-nan --device cpu good.jpg
    check "nor does search" copies 0 search --model bert --device cpu cat lines.txt
    check "nor with an index" copies 0 search --model bert --device cpu cat lines.txt
    rm cache/wick/index/*
fi

# ---- the index: whose it is, how large it grows ----

search() { gives "$1" search --model bert cat lines.txt; }
check "an index" search 0
index=$(ls "$work"/cache/wick/index/*)
chmod g+w "$index"
check "that others can write" search 0
check "is not used" says 'can be written by others; not used'
rm "$index"
chmod o+w cache/wick/index
check "a folder that others can write" search 0
check "gets none" says 'the index is not kept'
check "indeed" [ ! -e "$index" ]
chmod o-w cache/wick/index
truncate -s 2M cache/wick/index/{old,older}.safetensors
truncate -s 1M cache/wick/index/new.safetensors
touch -d '3 days ago' cache/wick/index/older.safetensors cache/wick/index/x.safetensors.1-0.tmp
touch -d '2 days ago' cache/wick/index/old.safetensors
touch cache/wick/index/y.safetensors.2-0.tmp
WICK_INDEX_LIMIT=4 check "a full folder" search 0
check "the oldest goes" [ ! -e cache/wick/index/older.safetensors ]
check "the others stay" [ -e cache/wick/index/old.safetensors -a -e cache/wick/index/new.safetensors -a -e "$index" ]
check "what was left behind goes" [ ! -e cache/wick/index/x.safetensors.1-0.tmp ]
check "but not at once" [ -e cache/wick/index/y.safetensors.2-0.tmp ]
touch -d '9 days ago' "$index"
check "an index that is used" search 0
check "is young again" [ -n "$(find "$index" -mtime -1)" ]
rm "$index"
WICK_INDEX_LIMIT=lots check "a limit of words" search 0
check "is said" says 'WICK_INDEX_LIMIT=lots'

# ---- the library's log ----

WICK_THREADS=many check "WICK_THREADS=many" gives 0 devices
check "is said once" says 'warning: WICK_THREADS=many is not a number from 1 to 256'
WICK_ISA=avx3 check "WICK_ISA=avx3" gives 0 devices
check "is said once, too" says 'warning: WICK_ISA=avx3 is none of baseline, avx2, avx512'
WICK_LOG=all check "WICK_LOG=all" gives 0 devices
check "is said, too" says 'warning: WICK_LOG=all is none of error, warning, info, debug; ignored'
WICK_LOG=error WICK_THREADS=many check "WICK_LOG=error" gives 0 devices
check "leaves warnings out" [ ! -s err ]
WICK_THREADS=$'\e[1m' check "WICK_THREADS of escapes" gives 0 devices
check "is tame" tame

# ---- help ----

for command in $("$wick" --help | sed -nE 's/^  ([a-z]+) .*/\1/p'); do
    check "$command --help" gives 0 "$command" --help
    cp out "help.$command"
    check "$command: an unknown option" gives 2 "$command" --no-such-option
done
check "the manual has every option" python3 "$here/manual.py" "$here/../../packaging/wick.1" help.*

end_checks
