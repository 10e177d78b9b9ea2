#!/usr/bin/env bash
# Compiles one file of this folder with a vendor's headers.
# Usage: tests/headers/check.sh CC FILE HEADER FOLDER...     FOLDER `unstable` is what tools/unpack-headers gives
# Exit status 77, with the reason, when HEADER is in none of the folders.
set -euo pipefail
cc=$1 file=$2 header=$3
shift 3
root=$(cd "$(dirname "$0")/../.." && pwd)
for folder in "$@"; do
    if [ "$folder" = unstable ]; then
        folder=$("$root/tools/unpack-headers") || { echo "skipped: the headers of ROCm 6 can't be had"; exit 77; }
    fi
    [ -f "$folder/$header" ] || continue
    "$cc" -std=gnu11 -fsyntax-only -Wall -Wno-deprecated-declarations -Werror -isystem "$folder" \
        -I"$root/src" -I"$root" "$root/tests/headers/$file"
    grep -rhoE '(CUDA_VERSION|(CUBLAS_VER|(HIP|ROCBLAS|MIOPEN)_VERSION)_(MAJOR|MINOR)) +[0-9]+' \
        "$folder/$(dirname "$header")" --include='hip_version.h' --include='cuda.h' --include='cublas_api.h' \
        --include='rocblas-version.h' --include='version.h' | sort -u
    exit 0
done
echo "skipped: $header is in none of: $*"
exit 77
