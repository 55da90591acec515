#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
"""Each bpftrace script gives the right answer about a program whose faults
are known: started by the tracer, attached to, static and shared, with more
fibers than a map holds, and with fibers that parked before the tracer came."""

import os
import re
import subprocess
import sys
import tempfile

import livelib as live

TOOLS = os.path.join("tools", "bpftrace")
US_PER_MS = 1000
ATTEMPTS = 8


def attach(name):
    return lambda pid: ["bpftrace", os.path.join(TOOLS, name + ".bt"),
                        "-p", pid]


def total(hist):
    return sum(hist.values())


def check_contention(fail, out, what, itself):
    """The convoy: one lock, nearly every acquisition waits for all others."""
    maps, hists = live.bpf_scalars(out), live.bpf_hists(out)
    waits = maps.get("waits", {})
    if not fail.equal(what + ": locks", len(waits), 1):
        print(out)
        return
    key = next(iter(waits))
    fail.check(re.match(r"0x[0-9a-f]+, amutex$", key),
               "%s: the lock is called %s" % (what, key))
    n = int(waits[key])
    fail.between(what + ": contended", n, 158, 160)
    us = int(maps["total_us"][key])
    # Seven others sleep 200 us each inside the lock, never less.
    fail.timely(what + ": ms waited", us / US_PER_MS, 200, 320,
                live.printed(itself, "waited_ms"))
    hist = hists["hist_us"][key]
    fail.equal(what + ": waits in the histogram", total(hist), n)
    fail.timely(what + ": waits from 1 to 2 ms",
                live.between(hist, 1024, 2048), 140, n,
                live.printed(itself, "waits_1_to_2_ms"))
    longest = int(maps["max_us"][key])
    fail.check(us / n <= longest <= us, "%s: maximum %d us of %d" %
               (what, longest, us))
    holders = maps.get("holder", {})
    fail.equal(what + ": waits by holder",
               sum(int(v) for v in holders.values()), n)
    fail.equal(what + ": lost", "lost" in maps, False)
    return holders


def check_stacks(fail, out, what, entry):
    """[internal], xtc_amutex_lock, worker, the process entry: by name. A
    program without frame pointers may lack the last one."""
    before = out[:out.index("@[")]
    fail.check(len([x for x in before.splitlines() if x.strip()]) <= 3,
               what + ": more than three header lines")
    stacks = live.bpf_stacks(out)
    fail.check(stacks, what + ": no stack")
    for frames, _ in stacks:
        names = [f.split("+")[0] for f in frames]
        ok = "xtc_amutex_lock" in names
        if ok:
            at = names.index("xtc_amutex_lock")
            ok = at > 0 and names[at + 1:at + 2] == ["worker"]
        if ok and entry:
            ok = len(names) > at + 2 and names[at + 2].startswith("xtc__")
        fail.check(ok, "%s: a stack is %s" % (what, names))
    # For a flame graph: these stacks and nothing else.
    fail.equal(what + ": folded", live.fold_bpftrace(out),
               [(";".join(reversed(frames)), value)
                for frames, value in stacks])


def convoy_attached(fail, path=None):
    what = "convoy, attached" + (", shared" if path else "")
    out, printed = live.trace_held(attach("xtc_lock_contention"), "convoy",
                                   r"^Microseconds waited", path)
    holders = check_contention(fail, out, what, printed)
    check_stacks(fail, out, what, not path)
    # The tracer was there when the workers were spawned.
    named = set(re.findall(r"worker \d", " ".join(holders or {})))
    fail.equal(what + ": holders by name", len(named), 8)
    fail.equal(what + ": what the program counted",
               int(re.search(r"^contended +(\d+)", printed, re.M).group(1)),
               sum(int(v) for v in (holders or {}).values()))


def convoy_started(fail):
    out = live.bpftrace_on("xtc_lock_contention", "./usdt_convoy convoy")
    check_contention(fail, out, "convoy, started", out)
    out = live.bpftrace_on("xtc_lock_contention", "./usdt_convoy fixed")
    fail.equal("fixed: locks that made somebody wait",
               live.bpf_scalars(out).get("waits", {}), {})


def lost_answers(fail):
    """Of 80 receives 73 are answered and 7 are not before the timeout."""
    out = live.bpftrace_on("xtc_park_latency", "./usdt_convoy lostwake")
    hist = live.bpf_hists(out)["parked_us"]["mailbox"]
    fail.equal("mailbox parks", total(hist), 80)
    # The timeout is 20 ms, an answer takes some microseconds; with four
    # timeouts and nothing else to wait for that makes 80 ms.
    itself = None if live.printed(out, "run_ms") < 90 else -1
    fail.timely("short ones", live.between(hist, 0, 8192), 73, 73,
                itself)
    fail.timely("long ones", live.between(hist, 16384, 32768), 7, 7, itself)
    # The same by fiber: four timeouts of the client; three times (the last
    # forgotten request ends the server) the server waited as long.
    text = """
usdt:./usdt_convoy:xtc:fiber__park /arg1 == 1/ { @since[arg0] = nsecs; }
usdt:./usdt_convoy:xtc:fiber__resume
/@since[arg0] && nsecs - @since[arg0] > 10000000/ { @long[arg0] = count(); }
"""
    out = live.run_ok(["bpftrace", "-e", text, "-c",
                       "./usdt_convoy lostwake"])
    by_fiber = sorted(int(v) for v in
                      live.bpf_scalars(out).get("long", {}).values())
    itself = None if live.printed(out, "run_ms") < 90 else []
    fail.timely("long parks by fiber", by_fiber, [3, 4], [3, 4], itself)


def timers(fail):
    out = live.bpftrace_on("xtc_timer_lateness", "./usdt_convoy lostwake")
    maps, hists = live.bpf_scalars(out), live.bpf_hists(out)
    kind = "timeout of a wait"
    fail.equal("lostwake: timers", {
        m: maps.get(m, {}).get(kind) for m in ("armed", "fired", "cancelled")},
        {"armed": "40", "fired": "4", "cancelled": "36"})
    fail.equal("lostwake: lateness", total(hists["late_us"][kind]), 4)
    out = live.bpftrace_on("xtc_timer_lateness", "./usdt_target")
    maps, hists = live.bpf_scalars(out), live.bpf_hists(out)
    fail.equal("target: sleeps",
               (maps["armed"]["sleep"], maps["fired"]["sleep"]),
               ("200", "200"))
    late = hists["late_us"]["sleep"]
    fail.equal("target: lateness of sleeps", total(late), 200)
    fail.check(min(late) >= 0, "a timer fired early: %r" % late)


def run_queue(fail):
    out = live.bpftrace_on("xtc_runq_latency", "./usdt_target")
    hists = live.bpf_hists(out)["wait_us"]
    fail.equal("loops", list(hists), ["0"])
    # Two hundred sleeps, and pong's receives and lock waits.
    fail.between("wakes", total(hists["0"]), 301, 402)
    fail.check("0" in live.bpf_scalars(out)["max_us"], "no maximum")


def parked(out):
    return re.findall(r"^@parked\[(0x[0-9a-f]+)\]: "
                      r"\((\d), ([^,]*), (0x[0-9a-f]+|\d+), (\d+)\)$",
                      out, re.M)


def lost_wakes(fail):
    out = live.bpftrace_on("xtc_lost_wake", "./drive_parked stuck")
    lock = int(re.search(r"^lock (\d+)$", out, re.M).group(1))
    now = int(re.search(r"^now (\d+)$", out, re.M).group(1))
    seen = sorted((int(state), why, int(obj, 0))
                  for _, state, why, obj, _ in parked(out))
    fail.equal("stuck fibers", seen,
               [(1, "mailbox", 0), (2, "sync", lock)])
    for _, _, _, _, since in parked(out):
        fail.between("age in ns", now - int(since), 1000000, 60 * 10 ** 9)
    fail.check("UNKNOWN" not in out and "INCOMPLETE" not in out,
               "events were lost")
    out = live.bpftrace_on("xtc_lost_wake", "./usdt_target")
    fail.equal("fibers parked after all have ended", parked(out), [])
    fail.check("UNKNOWN" not in out, "events did not arrive")


def many(fail):
    n = 20000
    command = "./drive_parked many %d" % n
    roomy = live.keys_env(65536)
    out = live.bpftrace_on("xtc_park_latency", command, env=roomy)
    fail.equal("parks of many", total(
        live.bpf_hists(out)["parked_us"]["mailbox"]), n)
    fail.equal("lost", live.bpf_scalars(out).get("lost"), None)
    out = live.bpftrace_on("xtc_runq_latency", command, env=roomy)
    fail.equal("wakes of many",
               total(live.bpf_hists(out)["wait_us"]["0"]), n)
    out = live.bpftrace_on("xtc_lost_wake", command, env=roomy)
    fail.equal("stuck of many", parked(out), [])
    fail.check("UNKNOWN" not in out and "INCOMPLETE" not in out,
               "events of many were lost")
    # A map that is too small is noticed.
    small = live.keys_env(4096)
    out = live.bpftrace_on("xtc_park_latency", command, env=small)
    lost = int(live.bpf_scalars(out).get("lost", {"": 0})[""])
    found = total(live.bpf_hists(out)["parked_us"]["mailbox"])
    fail.equal("parks recorded and lost", found + lost, n)
    fail.check(lost > 0, "4096 keys hold 20000 fibers")
    out = live.bpftrace_on("xtc_lost_wake", command, env=small)
    fail.check("INCOMPLETE" in out, "a full map is not told")


def stealing(fail):
    """Eight fibers park twice on loop 1 and are woken from loop 0 in the end;
    a ninth sleeps."""
    command = "./drive_steal 8"
    out = live.bpftrace_on("xtc_park_latency", command)
    hists = live.bpf_hists(out)["parked_us"]
    fail.equal("parks of fibers that move",
               {why: total(hist) for why, hist in hists.items()},
               {"mailbox": 16, "sleep": 1})
    out = live.bpftrace_on("xtc_runq_latency", command)
    hists = live.bpf_hists(out)["wait_us"]
    fail.equal("wakes of fibers that move",
               sum(total(hist) for hist in hists.values()), 17)
    out = live.bpftrace_on("xtc_lost_wake", command)
    fail.equal("fibers that moved and stayed", parked(out), [])
    fail.check("UNKNOWN" not in out, "events of fibers that move were lost")


def parked_before(fail):
    """Fibers that parked before the tracer came are no nonsense in it."""
    n = 100
    for name, ready in (("xtc_park_latency", r"^Microseconds parked"),
                        ("xtc_lost_wake", r"^Fibers"),
                        ("xtc_runq_latency", r"^Microseconds from")):
        with live.Running([live.program("drive_parked"), "many", str(n),
                           "--hold"]) as target:
            pid = target.wait_for(r"^(\d+)$").group(1)
            with live.Running(attach(name)(pid)) as t:
                t.wait_for(ready)
                target.p.send_signal(live.signal.SIGUSR1)
                target.wait_for(r"^done")
                _, out, _ = t.interrupt()
        if name == "xtc_runq_latency":
            fail.equal("wakes seen after attaching", total(
                live.bpf_hists(out)["wait_us"]["0"]), n)
        elif name == "xtc_park_latency":
            fail.equal("parks whose begin was not seen",
                       live.bpf_hists(out).get("parked_us", {}), {})
        else:
            fail.equal("fibers stuck", parked(out), [])
            fail.check("UNKNOWN" not in out, "states unknown: " + out)


def build_shared(directory):
    """usdt_convoy with the shared library and without frame pointers."""
    path = os.path.join(directory, "usdt_convoy")
    subprocess.run(
        [os.environ.get("CC", "cc").split()[0], "-O2",
         "-fomit-frame-pointer", "-I", os.path.join(live.SRC, "include"),
         os.path.join(live.SRC, "examples", "15_usdt", "convoy.c"), "-o",
         path, "-L", live.BUILD, "-lxtc", "-Wl,-rpath," + live.BUILD],
        check=True)
    return path


def main():
    live.need_bpftrace()
    fail = live.Failures()
    for name in ("usdt_convoy", "usdt_target", "drive_parked"):
        live.program(name)
    fail.patiently(ATTEMPTS, convoy_attached, fail)
    fail.patiently(ATTEMPTS, convoy_started, fail)
    fail.patiently(ATTEMPTS, lost_answers, fail)
    timers(fail)
    run_queue(fail)
    lost_wakes(fail)
    many(fail)
    stealing(fail)
    parked_before(fail)
    with tempfile.TemporaryDirectory() as directory:
        fail.patiently(ATTEMPTS, convoy_attached, fail,
                       build_shared(directory))
    fail.done()


if __name__ == "__main__":
    sys.exit(main())
