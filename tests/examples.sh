#!/usr/bin/env bash
# Runs the programs of examples/ and compares what they print with what it must be, worked out by hand.
# Usage: tests/examples.sh FOLDER     where they were built, as example-NAME
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
python3 "$here/cli/models.py" models || exit 1
failed=0

prints() { # NAME ARGUMENT... : the lines on standard input, each somewhere in the output, in order
    local name=$1 out line rest
    shift
    out=$(timeout 60 "$folder/example-$name" "$@" 2>&1) || { echo "failed: $name: exit status $?"; echo "$out"; failed=1; }
    rest=$out
    while IFS= read -r line; do
        case $rest in
        *"$line"*) rest=${rest#*"$line"} ;;
        *) echo "failed: $name does not print: $line"; echo "$out"; failed=1 ;;
        esac
    done
}

prints tensors <<'TEXT'
  1.000  2.000  3.000
  4.000  5.000  6.000
its transpose
  1.000  4.000
 -1.000  0.000  1.000
 14.000 32.000
 32.000 77.000
the largest element: 6
as expected: matmul: lhs [2,3] f32, rhs [2,3] f32
TEXT
prints files made.safetensors <<'TEXT'
bias: f32 of rank 1, 16 bytes
weight: f16 of rank 2, 24 bytes
sum of weight: 66
TEXT
prints loop <<'TEXT'
the largest eigenvalue: 3.6180
TEXT
prints threads <<'TEXT'
the sum of 0 to 3999: 7998000
handed over: 500
TEXT
prints model models/bert "a cat" "a cat" "the mat" <<'TEXT'
1.0000  a cat
  the mat
TEXT
prints quantised <<'TEXT'
f32: 256 bytes, q8_0: 68 bytes
exact products: 592.00 5.92
8-bit products: 592.00 5.92
the largest error: 0.0003
TEXT
prints template " What is a tensor? " <<'TEXT'
<|im_start|>system
Be brief.<|im_end|>
<|im_start|>user
What is a tensor?<|im_end|>
<|im_start|>assistant
TEXT
prints generate "$here/model/llama.gguf" bca <<'TEXT'
VTf`XnVS
TEXT
prints lstm "$here/../examples/lstm.safetensors" <<'TEXT'
y               0.272397  0.046052 -0.098555 ...  as PyTorch's
gradient of x   0.606094 -0.399755 -0.214646 ...  as PyTorch's
gradient of Wi -0.297273 -0.132087 -0.007798 ...  as PyTorch's
gradient of Wh -0.047597 -0.012185  0.003106 ...  as PyTorch's
gradient of bi -0.120393  0.084308 -0.139230 ...  as PyTorch's
gradient of bh -0.120393  0.084308 -0.139230 ...  as PyTorch's
TEXT
prints regression <<'TEXT'
slope 2.
TEXT
for source in "$here"/../examples/*.c; do
    name=$(basename "$source" .c)
    grep -q "^prints $name " "$here/examples.sh" || { echo "failed: nothing checks examples/$name.c"; failed=1; }
done
exit $failed
