# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
#
# A thin front: it configures a build directory and does everything there.
# B=DIR names it. CONFIGURE_ARGS='...' are for dist/configure; BUILD=meson
# takes meson instead, with MESON_ARGS='...'. TESTS='t_loop live_' picks
# tests; BENCH_ARGS='...' are for bench/run.py. Without arguments the probes
# are built in where that is possible.

B = build
FRONT = MAKE="$(MAKE)" sh tools/build/front.sh $(B)
DEPS = sh tools/build/install-deps.sh

all:
	+@$(FRONT) all

demo:
	@$(DEPS) demo
	+@QUIET=1 $(FRONT) all
	@sh tools/demo.sh $(B)

check:
	@$(DEPS) check
	+@QUIET=1 $(FRONT) all
	+@$(FRONT) check

bench bench-peers soak install uninstall clean:
	+@$(FRONT) $@

model:
	@sh tools/model.sh quick

distclean:
	rm -rf build

.PHONY: all demo check bench bench-peers soak install uninstall clean model \
    distclean
