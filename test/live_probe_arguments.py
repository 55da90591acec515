#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
"""Every argument of every probe arrives with its sign and width: negative
ints, -1 timeouts, 64-bit values above 2^63, as bpftrace reads them."""

import sys

import livelib as live

TASK = 0xfedcba9876543210
BIG = 0xfffffffffffffff1
LEAST = -(1 << 63)


def wanted(record, entry, size):
    """What test/drive_probes.c passes, by probe."""
    return {
        "fiber__create": [TASK, BIG, entry, 200, "driver"],
        "fiber__exit": [TASK, BIG, -7],
        "fiber__park": [TASK, 3, 200, -1],
        "fiber__wake": [TASK, -300, 2, 0],
        "fiber__resume": [TASK, 3, -7, -300],
        "fiber__steal": [TASK, 200, -300, -7],
        "loop__sleep": [200, -1],
        "loop__awake": [200, -7],
        "loop__stall": [-300, record, -15],
        "msg__send": [TASK, record, size, BIG],
        "msg__drop": [BIG, TASK, 255, -7],
        "mailbox__high": [TASK, 64, 1 << 63],
        "timer__arm": [record, LEAST, -300],
        "timer__cancel": [TASK, (1 << 63) - 1, -(1 << 31)],
        "timer__fire": [record, -1, LEAST, 1],
        "lock__wait__start": [TASK, 200, record, (1 << 31) - 1, TASK],
        "lock__wait__done": [TASK, 200, record, 0, -11],
        "alloc__fail": [BIG, 200],
    }


def clause(path, name, args):
    """Prints each argument as its declared type."""
    formats, values = [], []
    for i, (_, kind) in enumerate(args):
        if kind == "char*":
            formats.append("%s")
            values.append("str(arg%d)" % i)
        elif kind in ("int", "int64_t"):
            formats.append("%lld")
            values.append("(int64)arg%d" % i)
        else:
            formats.append("%llu")
            values.append("(uint64)arg%d" % i)
    return 'usdt:%s:xtc:%s { printf("%s|%s\\n", %s); }\n' % (
        path, name, name, "|".join(formats), ", ".join(values))


def main():
    live.need_bpftrace()
    fail = live.Failures()
    path = live.program("drive_probes")
    probes = live.catalogue()
    # 16 clauses and their formats; the driver's own line comes last.
    text = "".join(clause(path, name, args) for name, args in probes)
    out = live.run_ok(["bpftrace", "-e", text, "-c", path])
    print(out)
    lines = [line.split("|") for line in out.splitlines()]
    driver = next((line[0].split() for line in lines
                   if len(line[0].split()) == 3 and
                   line[0].split()[0].isdigit()), None)
    if not fail.check(driver, "the driver did not print its addresses"):
        fail.done()
    values = wanted(*map(int, driver))
    fail.equal("the probes that this test knows", sorted(values),
               sorted(name for name, _ in probes))
    for name, args in probes:
        seen = [line[1:] for line in lines if line[0] == name]
        if not fail.equal("times that %s fired" % name, len(seen), 1):
            continue
        for (arg, kind), got, want in zip(args, seen[0], values[name]):
            fail.equal("%s, %s (%s)" % (name, arg, kind), got, str(want))
    fail.done()


if __name__ == "__main__":
    sys.exit(main())
