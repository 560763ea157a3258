# Five commands do everything, each from a bare machine, each safe to repeat and quick when nothing changed:
#   make build   system packages, .venv, the C++ build      make test    everything that can fail
#   make demo    the main job on real data                  make bench   us and the peers, in turn, and a sweep (of SWEEP=gemm)
#   make soak    the long rest, which test has no time for; SLICE=2/11 is the second of eleven parts
# What others install: make deb and make wheel, in dist/; test-deb and test-wheel try them in a bare Debian in BARE (as root).
# And for those who change things: make lint, format, asan, tsan, minimal, clean; test-clients runs others' programs through our
# symbols and installs them, test-mutations shows that our tests notice deliberate faults, docs builds the site into build/site.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build
JOBS ?= $(shell nproc)
BENCH_SIZES ?= 1024,2048,4096,8192
SWEEP ?= all
OUTPUT ?= demo-output
BARE ?= /var/tmp/trencadis-bare
# Parts of the sanitizers' tests, as patterns over the names of test programs: a program is where most of what it links is linked
# by the others, too, so that each part compiles what it looks at. A program that is new is in asan-sessions. ThreadSanitizer runs
# what has threads of ours; the numerics would only cost time.
asan-threads := base|graph|threads|glt_.*
asan-engines := machine|observe|scheduling|memory|devices|engines
asan-numerics := matrix|blas|estimates|kernels|algorithms|choices|drivers
asan-calls := blas_face|nodes|routines|interfaces_c|interfaces_cxx
asan-sessions := !$(asan-threads)|$(asan-engines)|$(asan-numerics)|$(asan-calls)
tsan-threads := graph|threads|observe|scheduling|glt_threads|glt_native|glt_os|glt_forms
tsan-engines := devices|engines
tsan-calls := nodes|routines|interfaces_c
tsan-sessions := choices|session|simulation|runtime|device_workers
PARTS := $(addprefix asan-,threads engines numerics calls sessions) $(addprefix tsan-,threads engines calls sessions)
ASAN_TESTS ?= .*
TSAN_TESTS ?= $(tsan-threads)|$(tsan-engines)|$(tsan-calls)|$(tsan-sessions)
# One of the parts has its turn in a test, by the commit; soak runs both sanitizers, whole.
SANITIZERS ?= $(shell scripts/turn.sh $(PARTS))

.PHONY: build demo test soak bench lint format asan tsan minimal clean system venv tests layers ctest pytest install-check
.PHONY: pytest-beside pytest-alone $(PARTS) $(addsuffix -compiled,$(PARTS) asan tsan)
.PHONY: test-clients clients-packages test-mutations docs deb test-deb wheel test-wheel packaging-packages

system:
	@scripts/system_packages.sh build
	@scripts/system_packages.sh peers
venv: system
	@scripts/make_venv.sh

build/build.ninja: | venv
	cmake --preset release
build: venv build/build.ninja
	@cmake --build build -j $(JOBS)

demo: build
	.venv/bin/trencadis demo
	.venv/bin/trencadis demo wind

bench: build
	.venv/bin/trencadis compare potrf --against mkl,openblas,blis --n $(BENCH_SIZES) --repeat 7
	.venv/bin/trencadis compare tasks --against libgomp,libomp,starpu --n 40 --repeat 7
	.venv/bin/trencadis sweep $(SWEEP) --against mkl,openblas,blis -o build/sweep.svg

tests: build
	@cmake --build build -j $(JOBS) --target tests
layers:
	python3 scripts/check_layers.py
ctest: tests
	scripts/unit_tests.sh build $(JOBS)
pytest: pytest-beside pytest-alone
pytest-beside: tests
	.venv/bin/python -m pytest -n $(JOBS) --dist loadfile --max-worker-restart 0 -m 'not thorough and not alone'
pytest-alone: tests
	.venv/bin/python -m pytest -m 'alone and not thorough'
# What the sanitizers' turn needs is compiled on cores that tests leave idle: those of Python, which start processes and wait.
# Beside those of C++ it would take from them what it gains.
test: venv
	$(call timed,layers)
	$(call timed,tests)
	$(call timed,ctest)
	$(call timed,pytest-beside,scripts/meanwhile.sh '$(MAKE) $(SANITIZERS:=-compiled)')
	$(call timed,$(SANITIZERS))
	$(call timed,pytest-alone)
timed = +@TIMEFORMAT='make $(1): %1R s, of the processor %1U + %1S'; time $(2) $(MAKE) --no-print-directory $(1)

# .ci/run gives one part its turn.
soak: tests
	scripts/soak.py --jobs $(JOBS) $(if $(SLICE),--slice $(SLICE))
asan := $(ASAN_TESTS)
tsan := $(TSAN_TESTS)
$(PARTS) asan tsan: venv
	scripts/sanitized_tests.sh $(firstword $(subst -, ,$@)) $(JOBS) '$($@)'
$(addsuffix -compiled,$(PARTS) asan tsan): venv
	scripts/sanitized_tests.sh $(firstword $(subst -, ,$@)) $(JOBS) '$($(@:-compiled=))' compile
minimal: venv
	cmake --preset minimal
	cmake --build build-minimal -j $(JOBS) --target all tests
	scripts/unit_tests.sh build-minimal $(JOBS)

clients-packages:
	@scripts/system_packages.sh clients
test-clients: build clients-packages
	@scripts/lapack_testers.sh || echo "note: the larger testers of the reference LAPACK are left out" >&2
	.venv/bin/python -m pytest -m '' tests/clients tests/test_blas_face.py tests/test_lapack_testers.py tests/test_scalapack.py
deb: system build-deb/build.ninja
	@cmake --build build-deb -j $(JOBS)
	@scripts/make_deb.sh build-deb
build-deb/build.ninja: | system
	cmake --preset deb
test-deb: deb packaging-packages
	scripts/bare_system.sh $(BARE) deb.sh python3-numpy r-base-core libblas3 liblapack3 libopenblas0-pthread
packaging-packages:
	@scripts/system_packages.sh packaging
wheel: system
	@CMAKE_BUILD_PARALLEL_LEVEL=$(JOBS) scripts/make_wheel.sh
test-wheel: wheel packaging-packages
	build-wheel/venv/bin/python -m pip download --quiet --only-binary :all: -d dist/needs --find-links dist -c requirements/constraints.txt trencadis
	scripts/bare_system.sh $(BARE) wheel.sh python3-venv
test-mutations: venv
	python3 scripts/mutations.py --jobs $(JOBS)

docs:
	@scripts/make_venv.sh docs
	@rm -rf build/site
	build/docs-venv/bin/sphinx-build --fresh-env --fail-on-warning --keep-going --quiet -d build/docs-doctrees docs build/site
	python3 scripts/check_pages.py --built build/site
	@echo "build/site/index.html"

lint: venv
	@scripts/system_packages.sh lint
	scripts/lint.sh
format: venv
	@scripts/system_packages.sh lint
	scripts/lint.sh --fix

clean:
	rm -rf build build-* python/trencadis/_core*.so
