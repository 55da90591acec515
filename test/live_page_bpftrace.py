#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
"""The bpftrace commands of docs/tracing.md work as they are typed, from the
build directory, and their answers are right."""

import re
import sys

import livelib as live
import pagelib

REASONS = live.kinds("WHY")


def number(out, name, key=""):
    return int(live.bpf_scalars(out).get(name, {}).get(key, 0))


def park_reasons(fail, out):
    fail.check("done" in out, "the program did not end well: " + out)
    by_name = {REASONS[int(k)]: int(v) for k, v in
               live.bpf_scalars(out).get("park", {}).items()}
    # ping sleeps twice a round; pong waits for a hundred messages and one
    # timeout, and for the lock, which ping holds.
    fail.equal("sleeps", by_name.pop("sleep", 0), 200)
    fail.between("receives", by_name.pop("mailbox", 0), 100, 101)
    fail.between("lock waits", by_name.pop("sync", 0), 99, 100)
    fail.equal("other reasons", by_name, {})


def listed(fail, out):
    fail.equal("probes listed",
               sorted(re.findall(r"^usdt:\./usdt_target:xtc:(\w+)$", out,
                                 re.M)),
               sorted(name for name, _ in live.catalogue()))


def locks(fail, out):
    # Each of ping and pong locks once a round.
    fail.equal("calls of xtc_amutex_lock", number(out, ""), 200)


def lateness(fail, out):
    kind = "timeout of a wait"
    fail.equal("timeouts armed, fired and cancelled",
               [number(out, m, kind) for m in
                ("armed", "fired", "cancelled")], [40, 4, 36])


def parks(fail, out):
    hist = live.bpf_hists(out).get("parked_us", {}).get("mailbox", {})
    fail.equal("mailbox parks", sum(hist.values()), 80)


CHECKS = {
    "sudo bpftrace -e 'usdt:./usdt_target:xtc:fiber__park"
    " { @park[arg1] = count(); }' -c ./usdt_target": park_reasons,
    "sudo bpftrace -l 'usdt:./usdt_target:xtc:*'": listed,
    "sudo bpftrace -e 'uprobe:./usdt_target:xtc_amutex_lock"
    " { @ = count(); }' -c ./usdt_target": locks,
    'sudo bpftrace tools/bpftrace/xtc_timer_lateness.bt'
    ' -p "$(pgrep server)"': lateness,
    "sudo bpftrace -e \"$(sed 's,usdt:\\*,usdt:./usdt_convoy,'"
    " tools/bpftrace/xtc_park_latency.bt)\""
    " -c './usdt_convoy lostwake'": parks,
}


def attached(line):
    """A command with -p, on a program in the place of `server`."""
    out, _ = live.trace_held(
        lambda pid: ["sh", "-c", "exec " + re.sub(
            r"^sudo ", "", line).replace("$(pgrep server)", pid)],
        "lostwake", r"^Timers by kind")
    return out


def main():
    live.need_bpftrace()
    fail = live.Failures()
    for name in ("usdt_target", "usdt_convoy"):
        live.program(name)
    for line in pagelib.mine(["bpftrace"], CHECKS, fail):
        print("$ " + line)
        out = attached(line) if "pgrep" in line else live.as_typed(line)
        before = len(fail.texts)
        CHECKS[line](fail, out)
        if len(fail.texts) > before:
            print(out)
    fail.done()


if __name__ == "__main__":
    sys.exit(main())
