# The front door: what a person types. CMake does the work; see CMakePresets.json for the builds by name.

BUILD ?= build
JOBS  ?= $(shell nproc)

.PHONY: all demo test check check-full check-rocblas check-miopen check-miopen-driver kernels bench lint format fuzz install docs clean

all: $(BUILD)/build.ninja
	@cmake --build $(BUILD) -j $(JOBS)

$(BUILD)/build.ninja: CMakeLists.txt
	@tools/install-dependencies
	@cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release

# Fetches two models, asks questions of Wick's own documentation, and one of a language model.
demo: all
	@tools/demo $(BUILD)

# What a contributor needs while working: one build, and the tests that take seconds; ends with one line.
test:
	@tools/install-dependencies
	@cmake --preset test >/dev/null
	@cmake --build build-test -j $(JOBS)
	@JOBS=$(JOBS) tools/run-tests build-test -L quick -LE headers

# Every test, in every build that CI knows; ends with one line: N passed, N failed, N skipped.
check:
	@tools/install-dependencies --test
	@tools/check

# The whole op table, all layouts and sizes, on every simulated GPU: half an hour.
check-full: all
	@tools/install-dependencies --test
	@cmake --build $(BUILD) -j $(JOBS) --target gfxsim
	@tools/kernels --build $(BUILD) --target gfx90a,gfx942,gfx1030,gfx1100,gfx1201
	@tools/simulate $(BUILD) --full

# Products by the real rocBLAS on simulated GPUs, in a chroot of Debian unstable that takes 6 GB; needs root.
check-rocblas: all
	@tools/install-dependencies --kernels --rocblas
	@JOBS=$(JOBS) tools/check-rocblas $(BUILD)

# Convolutions by the real MIOpen, in the same chroot.
check-miopen: all
	@tools/install-dependencies --kernels --miopen
	@JOBS=$(JOBS) tools/check-miopen $(BUILD)

# MIOpen's own tests on simulated GPUs, in the same chroot.
check-miopen-driver: all
	@tools/install-dependencies --miopen
	@JOBS=$(JOBS) tools/check-miopen-driver $(BUILD)

# The GPU kernels compiled ahead of time, and what each uses; $(BUILD)/wick-kernels/report.txt has all of it.
kernels:
	@tools/install-dependencies --kernels
	@tools/kernels --build $(BUILD) --report

# Wick beside PyTorch, on this machine, in one run; writes docs/results/.
bench: all
	@tools/bench $(BUILD)

lint: all
	@tools/install-dependencies --test
	@tools/lint $(BUILD)

# kernels/ is left as it is written: clang-format 14 takes GPU_UNROLL and template arguments for something else.
format:
	@git ls-files '*.c' '*.h' ':!kernels' | xargs clang-format-14 -i

# Each fuzz target for FUZZ_SECONDS, on the corpus under tests/fuzz/corpus.
FUZZ_SECONDS ?= 600
fuzz:
	@tools/install-dependencies --test
	@tools/fuzz $(FUZZ_SECONDS)

# The pages that are made from the op table.
docs: all
	@tools/docs $(BUILD)

install: all
	@cmake --install $(BUILD) $(if $(PREFIX),--prefix $(PREFIX))

clean:
	@rm -rf build build-*
