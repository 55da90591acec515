#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
"""DTrace lists every probe of the catalogue, of a program and of no other,
and every argument arrives in it with its sign and width."""

import re
import sys

import live_probe_arguments as values
import livelib as live


def clause(name, args):
    formats, words = [], []
    for i, (_, kind) in enumerate(args):
        if kind == "char*":
            formats.append("%s")
            words.append("copyinstr(arg%d)" % i)
        elif kind == "int":
            formats.append("%d")
            words.append("(int)arg%d" % i)
        elif kind == "int64_t":
            formats.append("%d")
            words.append("(int64_t)arg%d" % i)
        else:
            formats.append("%u")
            words.append("(uint64_t)arg%d" % i)
    return 'xtc$target:::%s { printf("%s|%s\\n", %s); }\n' % (
        name.replace("__", "-"), name, "|".join(formats), ", ".join(words))


def main():
    dtrace = live.need_dtrace()
    fail = live.Failures()
    path = live.program("drive_probes")
    probes = live.catalogue()
    out = live.run_ok([dtrace, "-l", "-P", "xtc$target", "-c", path])
    fail.equal("probes listed", sorted(re.findall(
        r"^ *\d+ +xtc\d+ +\S+ +\S+ +(\S+)$", out, re.M)),
        sorted(name.replace("__", "-") for name, _ in probes))
    text = "".join(clause(name, args) for name, args in probes)
    out = live.run_ok([dtrace, "-qn", text, "-c", path])
    driver = re.search(r"^(\d+) (\d+) (\d+)$", out, re.M)
    if not fail.check(driver, "the driver did not print its addresses"):
        fail.done()
    wanted = values.wanted(*map(int, driver.groups()))
    for name, args in probes:
        seen = re.findall(r"^%s\|(.*)$" % name, out, re.M)
        if not fail.equal("times that %s fired" % name, len(seen), 1):
            continue
        for (arg, kind), got, want in zip(args, seen[0].split("|"),
                                          wanted[name]):
            fail.equal("%s, %s (%s)" % (name, arg, kind), got, str(want))
    fail.done()


if __name__ == "__main__":
    sys.exit(main())
