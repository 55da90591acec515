#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
"""The demo fails when the tracer's report is wrong, and when no tracer can
run it says why and answers from inside.

A stand-in takes the place of bpftrace; what the real one does is the affair
of live_demo.py.
"""

import os
import sys
import tempfile

from livelib import BUILD, Failures, SRC, run, skip

DEMO = os.path.join(SRC, "tools", "demo.sh")

# Answers the two questions of the demo, then attaches to nothing, and prints
# at the signal what FAKE_REPORT says in the place of MODE.
STAND_IN = """#!%s
import os, signal, sys
if sys.argv[1] == "-l":
    print("usdt:x:xtc:" + os.environ.get("FAKE_PROBE", "lock__wait__start"))
    sys.exit(0)
if sys.argv[1] == "-e":
    print("Attaching 2 probes...\\nattached")
    sys.exit(0)
if "FAKE_ATTACH_ERROR" in os.environ:
    print(os.environ["FAKE_ATTACH_ERROR"], file=sys.stderr)
    sys.exit(1)
pid = sys.argv[sys.argv.index("-p") + 1]
with open("/proc/%%s/cmdline" %% pid) as f:
    mode = f.read().split("\\0")[1]
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
print("Attaching 4 probes...\\nMicroseconds waited.", flush=True)
signal.sigwait([signal.SIGINT])
print(os.environ["FAKE_" + mode])
""" % sys.executable

STACK = """@[
    xtc__park_wait+1
    xtc_amutex_lock+2
    worker+3
    xtc__proc_main+4
]: 250000
"""
TABLES = """@waits[0x1000, amutex]: %(waits)d
@total_us[0x1000, amutex]: 250000
@max_us[0x1000, amutex]: 1700
@hist_us[0x1000, amutex]:
[512, 1K)              3 |@                                    |
[1K, 2K)             %(most)d |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|

@holder[0x1000, 0x2000, worker 1]: 19
"""


def tables(waits):
    return TABLES % {"waits": waits, "most": waits - 3}


def unnamed(text):
    lines = [line if "+" not in line else "    0x5566778899aa"
             for line in text.splitlines()]
    return "\n".join(lines) + "\n"


GOOD = STACK + tables(159)

# What the report is: (convoy, fixed, exit code, what the output has).
REPORTS = (
    ("a right report", GOOD, "", 0, "One lock: 159 of 160"),
    ("too few waits", STACK + tables(157), "", 1, "waits is 157"),
    ("too many waits", STACK + tables(161), "", 1, "waits is 161"),
    ("nothing", "", "", 1, "number of locks is 0"),
    ("no stack", tables(159), "", 1, "xtc_amutex_lock, worker"),
    ("addresses for names", unnamed(STACK) + tables(159), "", 1,
     "other stacks is 250000"),
    ("another function", STACK.replace("worker", "helper") + tables(159), "",
     1, "other stacks"),
    ("a stack that ends at worker",
     STACK.replace("    xtc__proc_main+4\n", "") + tables(159), "", 1,
     "other stacks"),
    ("two locks", GOOD + tables(159).replace("0x1000", "0x3000"), "", 1,
     "number of locks is 2"),
    ("another kind", GOOD.replace("amutex,", "x").replace("amutex]", "gate]"),
     "", 1, "number of amutexes is 0"),
    ("waits in the mended program", GOOD, GOOD, 1,
     "mended program is 159"),
)

failures = Failures()


def demo(directory, *arguments, **extra):
    env = {k: v for k, v in os.environ.items() if k != "XTC_REQUIRE_TRACER"}
    env["PATH"] = directory + os.pathsep + env["PATH"]
    env.update(extra)
    code, out, err = run(["sh", DEMO, *arguments], env=env)
    return code, out + err


def expect(what, seen, code, *texts):
    failures.check(seen[0] == code and all(t in seen[1] for t in texts),
                   "%s: expected exit %d and %s, got exit %d and\n%s" %
                   (what, code, texts, seen[0], seen[1]))


def put(directory, name, text):
    path = os.path.join(directory, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    os.chmod(path, 0o755)


def say_id(uid):
    return "#!/bin/sh\necho %d\n" % uid


def check_reports(tools):
    put(tools, "bpftrace", STAND_IN)
    put(tools, "id", say_id(0))
    for what, convoy, fixed, code, text in REPORTS:
        expect(what, demo(tools, BUILD, FAKE_convoy=convoy, FAKE_fixed=fixed),
               code, text)
    expect("a script that does not attach",
           demo(tools, BUILD, FAKE_ATTACH_ERROR="ERROR: no such probe"), 1,
           "ERROR: no such probe", "did not attach the script")


def check_no_tracer(tools):
    put(tools, "bpftrace", STAND_IN)
    put(tools, "id", say_id(1000))
    inside = ("No kernel tracer can run here:", "contended       159",
              "contended       0", "untraced: convoy")
    expect("not root", demo(tools, BUILD), 0, "you are not root (uid 1000)",
           *inside)
    expect("not root, but required",
           demo(tools, BUILD, XTC_REQUIRE_TRACER="1"), 1,
           "XTC_REQUIRE_TRACER")
    put(tools, "id", say_id(0))
    expect("no probes", demo(tools, BUILD, FAKE_PROBE="other"), 0,
           "this build has no probes", *inside)
    put(tools, "bpftrace", "#!/bin/sh\necho 'ERROR: not permitted' >&2\n"
        "exit 1\n")
    expect("not permitted", demo(tools, BUILD), 0,
           "bpftrace cannot attach to a program: ERROR: not permitted",
           *inside)
    put(tools, "uname", "#!/bin/sh\necho OtherOS\n")
    expect("another system", demo(tools, BUILD), 0,
           "on OtherOS use dtrace", *inside)


def check_usage(tools):
    expect("no argument", demo(tools), 2, "usage: tools/demo.sh BUILD_DIR")
    expect("no directory", demo(tools, os.path.join(BUILD, "nowhere")), 2,
           "no such directory")
    expect("nothing built", demo(tools, tools), 2, "not built yet")


def main():
    if not os.path.isdir("/proc/self"):
        skip("the stand-in reads /proc")
    with tempfile.TemporaryDirectory() as tools:
        check_usage(tools)
        check_reports(tools)
        check_no_tracer(tools)
    failures.done()


main()
