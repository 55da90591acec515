#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
"""Each D script gives the right answer about a program whose faults are
known, started by dtrace and attached to; and no probe of it stays behind."""

import os
import re
import sys

import livelib as live

TOOLS = os.path.join("tools", "dtrace")
US_PER_MS = 1000
ATTEMPTS = 5


def total(hist):
    return sum(hist.values())


def leftovers(tracing):
    with open(os.path.join(tracing, "uprobe_events"),
              encoding="utf-8") as f:
        return [line for line in f if "usdt_" in line or "drive_" in line]


class Dtrace:
    def __init__(self, path):
        self.path = path

    def on(self, name, command):
        return live.run_ok([self.path, "-qs",
                            os.path.join(TOOLS, name + ".d"), "-c", command])

    def attach(self, name):
        return lambda pid: [self.path, "-x", "ustackframes=32", "-qs",
                            os.path.join(TOOLS, name + ".d"), "-p", pid]


def rows(out, first):
    """The lines of the table whose heading begins so, as words."""
    m = re.search(r"^%s .*\n((?:.+\n)*)" % first, out, re.M)
    return [line.split() for line in m.group(1).splitlines()] if m else []


def check_contention(fail, out, what, itself):
    table = rows(out, "lock +kind")
    if not fail.equal(what + ": locks", len(table), 1):
        print(out)
        return
    lock, kind, waits, us, most = table[0]
    fail.equal(what + ": kind", kind, "amutex")
    n = int(waits)
    fail.between(what + ": contended", n, 158, 160)
    # See live_scripts.py for these bounds.
    fail.timely(what + ": ms waited", int(us) / US_PER_MS, 200, 320,
                live.printed(itself, "waited_ms"))
    hist = live.dtrace_quantize(out, "%s amutex" % lock)
    fail.equal(what + ": waits in the histogram", total(hist), n)
    fail.timely(what + ": waits from 1 to 2 ms", hist.get(1024, 0), 140, n,
                live.printed(itself, "waits_1_to_2_ms"))
    fail.check(int(us) / n <= int(most) <= int(us), "%s: maximum %s us of %s"
               % (what, most, us))
    holders = rows(out, "lock +holder")
    fail.equal(what + ": waits by holder",
               sum(int(row[-1]) for row in holders), n)
    names = {" ".join(row[2:-1]) for row in holders}
    fail.equal(what + ": holders by name", names,
               {"worker %d" % i for i in range(8)})


def check_stacks(fail, out, what):
    header, _, rest = out.partition("\n\n")
    fail.check(len(header.splitlines()) <= 3,
               what + ": more than three header lines")
    stacks = rest[:rest.index("\nlock ")]
    blocks = [b.split("\n") for b in re.split(r"\n\s*\n", stacks)
              if b.strip()]
    fail.check(blocks, what + ": no stack")
    for block in blocks:
        frames = [f.strip() for f in block if f.strip()]
        names = [re.sub(r"^[^`]*`|\+0x[0-9a-f]+$", "", f) for f in frames]
        fail.check(re.match(r"\d+$", frames[-1]),
                   "%s: no count: %s" % (what, frames))
        ok = "xtc_amutex_lock" in names
        if ok:
            at = names.index("xtc_amutex_lock")
            ok = at > 0 and names[at + 1] == "worker" and \
                names[at + 2].startswith("xtc__")
        fail.check(ok, "%s: a stack is %s" % (what, frames))
    # For a flame graph: these stacks and nothing else.
    fail.equal(what + ": folded", live.fold_dtrace(out), [
        (";".join(f.strip() for f in reversed(block[:-1])), int(block[-1]))
        for block in ([f for f in b if f.strip()] for b in blocks)])


def convoy_started(fail, d):
    out = d.on("xtc_lock_contention", "./usdt_convoy convoy")
    check_contention(fail, out, "convoy, started", out)


def convoy_attached(fail, d):
    out, printed = live.trace_held(d.attach("xtc_lock_contention"), "convoy",
                             r"^Microseconds waited")
    check_contention(fail, out, "convoy, attached", printed)
    check_stacks(fail, out, "convoy, attached")


def lost_answers(fail, d):
    out = d.on("xtc_park_latency", "./usdt_convoy lostwake")
    hist = live.dtrace_quantize(out, "mailbox")
    fail.equal("mailbox parks", total(hist), 80)
    itself = None if live.printed(out, "run_ms") < 90 else -1
    fail.timely("short ones", live.between(hist, -1, 8192), 73, 73,
                itself)
    fail.timely("long ones", live.between(hist, 16384, 32768), 7, 7, itself)


def timers(fail, d):
    out = d.on("xtc_timer_lateness", "./usdt_convoy lostwake")
    fail.equal("lostwake: timers", [row[-3:] for row in rows(out, "kind")],
               [["40", "36", "4"]])
    fail.equal("lostwake: lateness", total(
        live.dtrace_quantize(out, "timeout of a wait")), 4)
    out = d.on("xtc_timer_lateness", "./usdt_target")
    table = {row[0]: row[1:] for row in rows(out, "kind")}
    fail.equal("target: sleeps", table.get("sleep"), ["200", "0", "200"])
    late = live.dtrace_quantize(out, "sleep")
    fail.equal("target: lateness of sleeps", live.between(late, 0, 1 << 40),
               200)


def run_queue(fail, d):
    out = d.on("xtc_runq_latency", "./usdt_target")
    fail.between("wakes", total(live.dtrace_quantize(out, "loop 0")),
                 301, 402)
    fail.equal("loops with a maximum",
               [row[0] for row in rows(out, "loop +max")], ["0"])


def lost_wakes(fail, d):
    out = d.on("xtc_lost_wake", "./drive_parked stuck")
    lock = int(re.search(r"^lock (\d+)$", out, re.M).group(1))
    now = int(re.search(r"^now (\d+)$", out, re.M).group(1))
    table = [row for row in rows(out, "state") if row[0] != "0"]
    fail.equal("stuck fibers, the claimed one first",
               [(row[0], row[2], int(row[3], 0)) for row in table],
               [("2", "sync", lock), ("1", "mailbox", 0)])
    for row in table:
        fail.between("age in ns", now - int(row[4]), 1000000, 60 * 10 ** 9)
    fail.check("UNKNOWN" not in out, "events did not arrive")
    out = d.on("xtc_lost_wake", "./usdt_target")
    fail.equal("fibers parked after all have ended",
               [row for row in rows(out, "state") if row[0] != "0"], [])
    fail.check("UNKNOWN" not in out, "events did not arrive")


def many(fail, d):
    n = 20000
    out = d.on("xtc_park_latency", "./drive_parked many %d" % n)
    fail.equal("parks of many", total(live.dtrace_quantize(out, "mailbox")),
               n)


def main():
    d = Dtrace(live.need_dtrace())
    tracing = live.need_uprobes()
    fail = live.Failures()
    for name in ("usdt_convoy", "usdt_target", "drive_parked"):
        live.program(name)
    fail.patiently(ATTEMPTS, convoy_started, fail, d)
    fail.patiently(ATTEMPTS, convoy_attached, fail, d)
    fail.patiently(ATTEMPTS, lost_answers, fail, d)
    timers(fail, d)
    run_queue(fail, d)
    lost_wakes(fail, d)
    many(fail, d)
    fail.equal("probes left in the kernel", leftovers(tracing), [])
    fail.done()


if __name__ == "__main__":
    sys.exit(main())
