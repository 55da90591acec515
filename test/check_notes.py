#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
"""The shared library and a static program carry each probe of the catalogue
exactly once, inside code, with arguments of the declared sizes and signs; and
a build without probes carries nothing."""

import glob
import os
import sys

import elf
import livelib as live

SIZES = {"int": (4, True), "int64_t": (8, True), "uint64_t": (8, False),
         "uintptr_t": (8, False), "char*": (8, False)}
# Two programs that use the loop and little else of what has a probe.
PROGRAMS = ("usdt_target", "hello")


def check_file(path, probes, fail):
    what = os.path.basename(path)
    f = elf.File(path)
    notes = f.notes("xtc")
    if live.MODE == "no":
        fail.equal("notes in " + what, len(notes), 0)
        left = [name for name, _, _ in f.symbols()
                if name.startswith(("xtc__site_", "xtc__trace_anchor"))]
        fail.equal("what probes left in " + what, left, [])
        return
    fail.equal("probes in " + what, sorted(n.name for n in notes),
               sorted(name for name, _ in probes))
    declared = dict(probes)
    for n in notes:
        fail.check(f.in_code(n.location),
                   "%s in %s is at %#x, which is not code" %
                   (n.name, what, n.location))
        if live.MODE == "sdt":
            fail.equal("semaphore of %s in %s" % (n.name, what),
                       n.semaphore, 0)
        fail.equal("arguments of %s in %s" % (n.name, what),
                   [(size, signed) for size, signed, _ in n.args],
                   [SIZES[kind] for _, kind in declared.get(n.name, [])])


def main():
    fail = live.Failures()
    if live.MODE not in ("no", "sdt", "yes"):
        live.skip("XTC_DTRACE does not say what was built")
    probes = live.catalogue()
    shared = sorted(glob.glob(os.path.join(live.BUILD, "libxtc.so*")))
    found = {os.path.realpath(p) for p in shared if os.path.isfile(p)}
    for name in PROGRAMS:
        path = os.path.join(live.BUILD, name)
        if os.path.exists(path):
            found.add(path)
    fail.check(len(found) >= 2, "no library or no program in " + live.BUILD)
    for path in sorted(found):
        try:
            check_file(path, probes, fail)
        except elf.NotElf:
            live.skip("the objects here are not 64-bit ELF")
    print("%d probes in %s" % (len(probes), ", ".join(
        os.path.basename(p) for p in sorted(found))))
    fail.done()


if __name__ == "__main__":
    sys.exit(main())
