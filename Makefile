# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
#
# A thin front: it configures a build directory and does everything there.
# B=DIR names it. CONFIGURE_ARGS='...' are for dist/configure; BUILD=meson
# takes meson instead, with MESON_ARGS='...'. TESTS='t_loop live_' picks
# tests. Without arguments the probes are built in where that is possible.

B = build
FRONT = MAKE="$(MAKE)" sh tools/build/front.sh $(B)
DEPS = sh tools/build/install-deps.sh

all:
	+@$(FRONT) all

demo:
	@$(DEPS) demo
	+@$(FRONT) all
	@sh tools/demo.sh $(B)

check:
	@$(DEPS) check
	+@$(FRONT) check

bench soak install uninstall clean:
	+@$(FRONT) $@

model:
	@sh tools/model.sh quick

distclean:
	rm -rf build

.PHONY: all demo check bench soak install uninstall clean model distclean
