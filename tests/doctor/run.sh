#!/usr/bin/env bash
# wick doctor on simulated machines: each case below makes one, and what is reported is compared with golden/CASE.txt.
# Usage: tests/doctor/run.sh WICK STANDIN COMPILER [--update] [CASE...]
#   STANDIN is the folder of the stand-in driver, COMPILER the library made of compiler.c; --update rewrites golden/
# Exit status 77, with the reason, without the stand-in driver.
set -uo pipefail
wick=$1 standin=$2 compiler=$3
shift 3
update=
[ "${1:-}" != --update ] || { update=1; shift; }
here=$(cd "$(dirname "$0")" && pwd)
[ -f "$standin/libamdhip64.so.6" ] && [ -d "$standin/pack" ] || { echo "skipped: there is no stand-in driver"; exit 77; }
# Nothing of the caller's environment reaches the machines.
for name in $(compgen -e); do
    case $name in PATH | HOME | TMPDIR | ASAN_OPTIONS) ;; *) unset "$name" ;; esac
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root none=$work/none.so

# ---- parts of machines ----

file() { mkdir -p "$root/$(dirname "$1")" && printf '%s\n' "$2" >"$root/$1"; }
node() { echo "$*" >>"$root/nodes"; } # PATH MODE OWNER GROUP GID
# Every machine is a Debian whose user ada is in group users. The runtimes are there and show no GPU; other libraries are not.
machine() {
    rm -rf "$root" && mkdir -p "$root"
    file etc/os-release $'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian'
    node user ada "${1:-users}"
    export WICK_HIP_PATH=$standin/libamdhip64.so.6 WICK_HIPRTC_PATH=$none WICK_ROCBLAS_PATH=$none WICK_HIPBLASLT_PATH=$none \
        WICK_MIOPEN_PATH=$none \
        WICK_CUDA_PATH=$standin/libcuda.so.1 STANDIN_DEVICES= WICK_NVRTC_PATH=$none WICK_CUBLAS_PATH=$none WICK_CUBLASLT_PATH=$none WICK_CUDNN_PATH=$none WICK_COMPILE=never WICK_KERNEL_PACK=$standin/pack \
        WICK_CACHE_DIR=$work WICK_DOCTOR_ROOT=$root
}
pci() { file "sys/bus/pci/devices/$1/vendor" "$2"; file "sys/bus/pci/devices/$1/class" "$3"; }
amd_card() { pci 0000:c1:00.0 0x1002 0x038000; }
amd_module() { file sys/module/amdgpu/version 6.12.12; }
amd_nodes() { node /dev/kfd "${1:-660}" root render 992; node /dev/dri/renderD128 "${1:-660}" root render 992; }
amd_runtime() { export WICK_ROCBLAS_PATH=$standin/librocblas.so.4 WICK_HIPBLASLT_PATH=$standin/libhipblaslt.so.0 STANDIN_DEVICES=gfx90a; }
amd() { machine "$@"; amd_card; amd_module; amd_nodes; amd_runtime; }
nvidia_card() { pci 0000:c1:00.0 0x10de 0x030200; }
nvidia_module() { file sys/module/nvidia/version 580.65.06; }
nvidia_nodes() { node /dev/nvidiactl "${1:-666}" root root 0; node /dev/nvidia0 "${1:-666}" root root 0; }
nvidia_memory() { node /dev/nvidia-uvm 666 root root 0; }
nvidia_runtime() { export WICK_CUBLAS_PATH=$standin/libcublas.so.13 WICK_CUBLASLT_PATH=$standin/libcublasLt.so.13 WICK_CUDNN_PATH=$standin/libcudnn.so.9 STANDIN_DEVICES=sm_90; }
nvidia() { machine "$@"; nvidia_card; nvidia_module; nvidia_nodes; nvidia_memory; nvidia_runtime; }
container() { file .dockerenv ""; }

# ---- the cases ----

nothing() { machine; }
healthy() {
    amd "users render"
    pci 0000:41:00.0 0x10de 0x030200
    nvidia_module; nvidia_nodes; nvidia_memory; nvidia_runtime
    export STANDIN_DEVICES=gfx90a,sm_90
}
amd_no_module() { machine; amd_card; amd_runtime; export STANDIN_DEVICES=; }
amd_no_kfd() { machine; amd_card; amd_module; amd_runtime; export STANDIN_DEVICES=; }
amd_container() { amd_no_kfd; container; }
amd_group() { amd users; export STANDIN_DEVICES=; }
amd_login() { amd_group; sed -i '1a member render' "$root/nodes"; }
amd_container_group() { amd_group; container; }
amd_mode() { machine "users render"; amd_card; amd_module; amd_nodes 600; amd_runtime; export STANDIN_DEVICES=; }
amd_no_render() { amd "users render"; sed -i /renderD/d "$root/nodes"; export STANDIN_DEVICES=; }
amd_wrong_path() { amd "users render"; export WICK_HIP_PATH=$none; }
amd_not_hip() { amd "users render"; export WICK_HIP_PATH=$compiler; }
amd_damaged() {
    amd "users render"
    unset WICK_HIP_PATH WICK_ROCBLAS_PATH
    mkdir -p "$work/lib"
    for end in .7 .6 .5 ""; do echo "not a library" >"$work/lib/libamdhip64.so$end"; done
    export LD_LIBRARY_PATH=$work/lib
}
amd_old_runtime() { amd "users render"; export STANDIN_DEVICES= WICK_HIP_PATH=$standin/libamdhip64.so.5; }
amd_init() { amd "users render"; export STANDIN_FAIL=hipInit:1+=719; }
amd_hidden() { amd "users render"; export STANDIN_DEVICES= HIP_VISIBLE_DEVICES=-1; }
amd_override() { amd "users render"; export HSA_OVERRIDE_GFX_VERSION=10.3.0; }
amd_sick() { amd "users render"; pci 0000:c2:00.0 0x1002 0x038000; export STANDIN_DEVICES=gfx942,gfx1100 STANDIN_SICK=1; }
amd_apu() {
    amd "users render"
    file sys/bus/pci/devices/0000:c1:00.0/mem_info_vram_total 536870912
    file sys/bus/pci/devices/0000:c1:00.0/mem_info_gtt_total 33285996544
    export STANDIN_DEVICES=gfx1100 STANDIN_INTEGRATED=0
}
amd_no_kernels() { amd "users render"; export STANDIN_DEVICES=gfx1201; }
amd_no_blas_files() { amd "users render"; export ROCBLAS_TENSILE_LIBPATH=$root; }
amd_blas_wrong() { amd "users render"; export STANDIN_BLAS=wrong; }
amd_blas_refuses() { amd "users render"; export STANDIN_BLAS=refuse; }
amd_blas_flushes() { amd "users render"; export STANDIN_BLAS=flush; }
# MIOpen, where it is not chosen, where it is, and where the compiler that it starts is not there.
amd_dnn() { amd "users render"; export WICK_MIOPEN_PATH=$standin/libMIOpen.so.1; }
amd_dnn_chosen() { amd_dnn; export WICK_DNN=vendor; }
amd_dnn_compiler() { amd_dnn_chosen; export WICK_MIOPEN_PATH=$standin/libMIOpen-starts.so.1; }
# Which of several runtimes is taken: the newest name; one that is loaded already, before all; of wheels, rocBLAS.
offer() { # FOLDER FILE...: the stand-in's files there
    mkdir -p "$1"
    for name in "${@:2}"; do ln -sf "$standin/$name" "$1/$name"; done
}
amd_newest() {
    amd "users render"
    offer "$work/newest" libamdhip64.so.5 libamdhip64.so.6 libamdhip64.so.7
    unset WICK_HIP_PATH
    export LD_LIBRARY_PATH=$work/newest
}
amd_loaded() { amd_newest; export LD_PRELOAD=$standin/libamdhip64.so.5; }
amd_two() { amd "users render"; unset WICK_HIP_PATH; export LD_PRELOAD="$standin/libamdhip64.so.5 $standin/libamdhip64.so.6"; }
amd_wheel() {
    amd "users render"
    offer "$work/venv/lib/python3.11/site-packages/_rocm_sdk_libraries_gfx94X/lib" librocblas.so.4
    unset WICK_ROCBLAS_PATH
    export VIRTUAL_ENV=$work/venv
}
nvidia_no_module() { machine; nvidia_card; nvidia_runtime; export STANDIN_FAIL=cuInit:1+=100; }
nvidia_container() { machine; nvidia_card; nvidia_module; container; nvidia_runtime; export STANDIN_FAIL=cuInit:1+=100; }
nvidia_mode() { machine; nvidia_card; nvidia_module; nvidia_nodes 660; nvidia_runtime; export STANDIN_FAIL=cuInit:1+=100; }
nvidia_no_uvm() { machine; nvidia_card; nvidia_module; nvidia_nodes; nvidia_runtime; export STANDIN_FAIL=cuInit:1+=999; }
nvidia_mismatch() { nvidia; export STANDIN_FAIL=cuInit:1+=803; }
nvidia_fabric() { nvidia; export STANDIN_FAIL=cuInit:1+=802; }
nvidia_hidden() { nvidia; export STANDIN_DEVICES= CUDA_VISIBLE_DEVICES=-1; }
nvidia_memory_full() { nvidia; export STANDIN_MEMORY=4096; }
nvidia_compiler() {
    nvidia
    unset WICK_COMPILE
    export WICK_NVRTC_PATH=$compiler WICK_KERNEL_PACK=$work/no-pack WICK_CACHE_DIR=/dev/null/cache
}

cases=(nothing healthy amd_no_module amd_no_kfd amd_container amd_group amd_login amd_container_group amd_mode amd_no_render
    amd_wrong_path amd_not_hip amd_damaged amd_old_runtime amd_init amd_hidden amd_override amd_sick amd_apu amd_no_kernels
    amd_no_blas_files amd_blas_wrong amd_blas_refuses amd_blas_flushes amd_dnn amd_dnn_chosen
    amd_dnn_compiler amd_newest amd_loaded amd_two amd_wheel nvidia_no_module nvidia_container nvidia_mode nvidia_no_uvm nvidia_mismatch nvidia_fabric
    nvidia_hidden nvidia_memory_full nvidia_compiler)

# ---- running them ----

normalise() { sed -e "s|$standin|STANDIN|g" -e "s|$compiler|COMPILER|g" -e "s|$work|WORK|g" -e '1s/^wick [^ ]*/wick VERSION/' \
    -e 's/"version": "[^"]*"/"version": "VERSION"/'; }
run() { # CASE [--json]: in an environment of its own
    (
        clean=(env -i PATH="$PATH" HOME=/proc/self/nonexistent "ASAN_OPTIONS=${ASAN_OPTIONS:-}")
        before=$(compgen -e | sort)
        "$1"
        for name in $(comm -13 <(echo "$before") <(compgen -e | sort)); do clean+=("$name=${!name}"); done
        "${clean[@]}" "$wick" doctor "${@:2}" 2>"$work/log"
        echo "exit status $?"
    ) | normalise
}
compare() { # GOLDEN CASE [--json]
    run "${@:2}" >"$work/report"
    [ -z "$update" ] || cp "$work/report" "$here/golden/$1"
    diff -u "$here/golden/$1" "$work/report" && return
    echo "FAIL $1"
    failed=$((failed + 1))
}

failed=0
[ $# -gt 0 ] || set -- "${cases[@]}"
for name in "$@"; do
    compare "$name.txt" "$name"
    case $name in amd_sick | nvidia_mode) compare "$name.json" "$name" --json ;; esac
done
echo "$# machines, $failed differ"
[ "$failed" -eq 0 ]
