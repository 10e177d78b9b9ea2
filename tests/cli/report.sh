#!/usr/bin/env bash
# wick report where drivers crash, hang, exit or babble, and what must not be in it.
# Usage: tests/cli/report.sh WICK DRIVER [STANDIN [SHIM]]
#   DRIVER is the library made of driver.c, STANDIN the folder of the stand-in driver, if it is there, SHIM the library of
#   tests/faults
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
wick=$(realpath "$1") driver=$(realpath "$2") standin=${3:-} shim=${4:+$(realpath "$4")}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
evidence() { tail -n 25 report.txt; }
# Only what each case sets reaches the report.
clean=(env -i PATH="$PATH" HOME="$work/home-of-ada" USER=adalovelace LOGNAME=adalovelace
    WICK_CUDA_PATH=none WICK_HIP_PATH=none WICK_THREADS=2 "ASAN_OPTIONS=${ASAN_OPTIONS:-}")

report() { # SETTING=VALUE... -- ARGUMENT...
    local settings=()
    while [ "$1" != -- ]; do settings+=("$1"); shift; done
    shift
    rm -f report.txt
    timeout 400 "${clean[@]}" "${settings[@]}" "$wick" report "$@" report.txt >out 2>err
}
has() { grep -qE -- "$1" report.txt; }
lacks() { ! grep -qiE -- "$1" report.txt; }

for how in crash hang exit talk; do
    case $how in hang | talk) limit=1 ;; *) limit=5 ;; esac
    check "$how" report BROKEN_DRIVER=$how WICK_HIP_PATH="$driver" -- --seconds $limit --device rocm:0
    case $how in
    crash) said='crashed: Aborted' ;;
    exit) said='exit status 3' ;;
    *) said='took too long, and was ended after 1 s' ;;
    esac
    check "$how: the doctor" has "^---- doctor: $said"
    check "$how: verify" has "^verify rocm:0 .* s  $said"
    check "$how: bench" has "^bench rocm:0 .* s  $said"
    [ $how = exit ] || check "$how: the doctor without it" has "^---- doctor without AMD's runtime: exit status [01],"
    check "$how: it is named" grep -qx report.txt out
    check "$how: no escape" [ "$(grep -cP '\x1b' report.txt)" = 0 ]
    check "$how: no serial number" lacks '1650522003820|secret|someone'
    check "$how: not too long" [ "$(stat -c %s report.txt)" -lt 8000000 ]
done
check "devices that can't be listed" report BROKEN_DRIVER=crash WICK_CUDA_PATH="$driver" -- --seconds 1
check "are tried in turn" has '^verify rocm:0 '
check "and the processor" has '^verify cpu '

cp report.txt before
timeout 60 "${clean[@]}" "$wick" report --device cpu --seconds 1 report.txt >out 2>err
check "an older report stays" [ $? = 1 ]
check "as it was" cmp -s report.txt before

# A file that is not there, in folders whose names say whose they are; a card's UUID.
check "of the processor" report WICK_KERNEL_PACK="$work/project-x/packs" CUDA_VISIBLE_DEVICES=GPU-0a1b2c3d-1111-2222-3333-0123456789ab \
    ROCM_PATH=/home/adalovelace/rocm -- --seconds 1 --device cpu
check "no user" lacks 'adalovelace|home-of-ada'
check "no folders" lacks 'project-x|/home/|/tmp/|/usr/'
check "no UUID" lacks '0a1b2c3d'
host=$(uname -n)
case $host in localhost | '' | ?) ;; *) check "no machine's name" lacks "(^|[^[:alnum:]])$host([^[:alnum:]]|\$)" ;; esac
check "a library's own name" has 'libcuda'
check "a summary" has '^==== summary'

# The end of a part's output is not taken for all of it when a read fails.
if [ -n "$shim" ]; then
    check "a read fails" report LD_PRELOAD="$shim" FAULT=read:1=EIO -- --seconds 1 --device cpu
    check "the part says so" has "^---- doctor: was ended: its output can't be read: Input/output error"
    check "the summary, too" has '^doctor .* s  was ended: its output'
fi

if [ -n "$standin" ] && [ -f "$standin/libamdhip64.so.6" ]; then
    stand=(WICK_HIP_PATH="$standin/libamdhip64.so.6" WICK_KERNEL_PACK="$standin/pack" WICK_COMPILE=never STANDIN_DEVICES=gfx90a,gfx1100)
    check "one of two cards is sick" report "${stand[@]}" STANDIN_SICK=1 -- --seconds 2
    check "says so" has '"error": "rocm:1: '
    check "and tries the other" has '^verify rocm:0 '
    check "but not it" lacks '^verify rocm:1 '
    check "a card that fails later" report "${stand[@]}" STANDIN_FAIL=hipModuleLaunchKernel:40+ -- --seconds 5 --device rocm:0
    check "shows which ops" has 'BAD:|fails|Failure'
fi

end_checks
