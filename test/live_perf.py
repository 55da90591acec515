#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
"""perf knows every probe, can enable all of them at once, and shows their
arguments."""

import os
import re
import sys
import tempfile

import livelib as live

TASK = 0xfedcba9876543210
BIG = 0xfffffffffffffff1
# What test/drive_probes.c passes, as perf prints it: from arg1, without the
# constants, which perf leaves out.
WANTED = {
    "fiber__exit": {1: TASK, 2: BIG, 3: -7},
    "fiber__park": {1: TASK, 4: -1},
    "fiber__resume": {1: TASK, 3: -7, 4: -300},
    "loop__awake": {1: 200, 2: -7},
    "msg__drop": {1: BIG, 2: TASK, 3: 255, 4: -7},
    "timer__fire": {2: -1, 3: -(1 << 63)},
}


def plain(name):
    """perf 7 writes one underscore where others have two."""
    return name.replace("__", "_")


class Perf:
    """perf with a cache of its own, so that nothing stays on the machine."""

    def __init__(self, directory):
        self.env = dict(os.environ, HOME=directory, PERF_PAGER="cat")
        self.data = os.path.join(directory, "perf.data")

    def run(self, *args):
        return live.run_ok(["perf", *args], env=self.env)

    def record(self, path):
        self.run("record", "-q", "-e", "sdt_xtc:*", "-o", self.data, path)
        out = self.run("script", "-i", self.data)
        return [(m.group(1), dict((int(k), int(v)) for k, v in
                                  re.findall(r"arg(\d)=(-?\d+)",
                                             m.group(2))))
                for m in re.finditer(r"sdt_xtc:(\w+): \S+(.*)$", out, re.M)]

    def delete(self):
        live.run(["perf", "probe", "-q", "-d", "sdt_xtc:*"], env=self.env)


def trace(fail, perf, path, names):
    """Every event that perf records of a program, all probes enabled."""
    perf.run("buildid-cache", "--add", path)
    try:
        listed = re.findall(r"sdt_xtc:(\w+)", perf.run("list", "sdt"))
        fail.equal("probes that perf lists in " + os.path.basename(path),
                   sorted(set(map(plain, listed))), sorted(map(plain, names)))
        for name in names:
            perf.run("probe", "-q", "-x", path, "%sdt_xtc:" + name)
        return perf.record(path)
    finally:
        perf.delete()
        live.run(["perf", "buildid-cache", "--remove", path], env=perf.env)


def check_arguments(fail, perf, names):
    events = trace(fail, perf, live.program("drive_probes"), names)
    fail.equal("events of drive_probes",
               sorted(plain(name) for name, _ in events),
               sorted(map(plain, names)))
    seen = {plain(name): args for name, args in events}
    for name, args in WANTED.items():
        for i, value in args.items():
            fail.equal("argument %d of %s" % (i, name),
                       seen.get(plain(name), {}).get(i), value)


def check_library(fail, perf, names):
    events = trace(fail, perf, live.program("usdt_target"), names)
    count = {}
    for name, _ in events:
        count[plain(name)] = count.get(plain(name), 0) + 1
    fail.equal("processes", (count.get("fiber_create"),
                             count.get("fiber_exit")), (2, 2))
    fail.equal("parks, wakes and resumes",
               count.get("fiber_park"), count.get("fiber_wake"))
    fail.equal("parks and resumes",
               count.get("fiber_park"), count.get("fiber_resume"))
    fail.equal("lock waits begun and ended", count.get("lock_wait_start"),
               count.get("lock_wait_done"))
    fail.between("messages that wake", count.get("msg_send", 0), 99, 100)


def main():
    live.need_perf()
    tracing = live.need_uprobes()
    fail = live.Failures()
    names = [name for name, _ in live.catalogue()]
    with tempfile.TemporaryDirectory() as directory:
        perf = Perf(directory)
        check_arguments(fail, perf, names)
        check_library(fail, perf, names)
    with open(os.path.join(tracing, "uprobe_events"), encoding="utf-8") as f:
        fail.check("sdt_xtc" not in f.read(), "perf left probes behind")
    fail.done()


if __name__ == "__main__":
    sys.exit(main())
