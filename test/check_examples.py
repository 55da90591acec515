#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
"""The example programs run, count what they should, and refuse wrong usage.

Times are only bounded from below: a sleep is never early.
"""

import re
import select
import shutil
import signal
import subprocess

from livelib import Failures, LIMIT_SECONDS, program, run

QUIET_SECONDS = 0.3

failures = Failures()


def expect(what, holds, seen):
    failures.check(holds, "%s: %s" % (what, seen))


def example(name, *arguments):
    return run([program(name), *arguments], LIMIT_SECONDS)


def counters(text):
    return dict(line.split() for line in text.splitlines()
                if len(line.split()) == 2)


def check_small_programs():
    for command, wanted in (
            ("hello", r"hello, world, from process \d+\n"
                      r"slept at least 1 ms\n"
                      r"libxtc \d+\.\d+\.\d+\n"),
            ("pingpong", r"100000 round trips, \d+ ns a message\n"),
            ("usdt_target", r"done\n")):
        code, out, err = example(command)
        expect(command, code == 0 and err == "" and
               re.fullmatch(wanted, out), (code, out, err))


def convoy_counters(text):
    c = counters(text)
    return (c.get("mode"), int(c.get("acquisitions", -1)),
            int(c.get("contended", -1)), float(c.get("waited_ms", -1)),
            float(c.get("run_ms", -1)))


def expect_convoy(what, text):
    mode, acquisitions, contended, waited, ran = convoy_counters(text)
    # 160 sleeps of 0.2 ms one after another; seven of eight wait.
    expect(what, mode == "convoy" and acquisitions == 160 and
           158 <= contended <= 160 and waited >= 190 and ran >= 32, text)


def check_modes():
    code, out, err = example("usdt_convoy", "convoy")
    expect("convoy", code == 0 and err == "", (code, err))
    expect_convoy("convoy", out)

    code, out, err = example("usdt_convoy", "fixed")
    expect("fixed", code == 0 and err == "", (code, err))
    mode, acquisitions, contended, waited, ran = convoy_counters(out)
    expect("fixed", mode == "fixed" and acquisitions == 160 and
           contended == 0 and waited == 0 and ran >= 4, out)

    code, out, err = example("usdt_convoy", "lostwake")
    expect("lostwake", code == 0 and err == "", (code, err))
    c = counters(out)
    expect("lostwake", c.get("mode") == "lostwake" and
           c.get("requests") == "40" and c.get("answered") == "36" and
           c.get("timed_out") == "4" and float(c["run_ms"]) >= 80, out)


def check_usage():
    for arguments, wanted in (
            ((), "no mode given"),
            (("--hold",), "no mode given"),
            (("rowboat",), "no such mode: rowboat"),
            (("convoy", "fixed"), "one mode at a time, not also fixed"),
            (("convoy", "--held"), "one mode at a time, not also --held")):
        code, out, err = example("usdt_convoy", *arguments)
        expect("usage %s" % (arguments,), code == 2 and out == "" and
               wanted in err and "usage: usdt_convoy" in err,
               (code, out, err))
    code, out, err = example("usdt_convoy", "--help")
    expect("--help", code == 0 and err == "" and
           out.startswith("usage: usdt_convoy"), (code, out, err))


def start_held():
    p = subprocess.Popen([program("usdt_convoy"), "convoy", "--hold"],
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         text=True, bufsize=1)
    first = p.stdout.readline()
    expect("--hold: first line", first == "%d\n" % p.pid, first)
    return p


def read_counters(p):
    text = ""
    while "run_ms" not in text:
        line = p.stdout.readline()
        if not line:
            break
        text += line
    return text


def check_hold_signals():
    p = start_held()
    ready, _, _ = select.select([p.stdout], [], [], QUIET_SECONDS)
    expect("--hold: waits for the signal", not ready and p.poll() is None,
           p.poll())
    p.send_signal(signal.SIGUSR1)
    expect_convoy("--hold", read_counters(p))
    ready, _, _ = select.select([p.stdout], [], [], QUIET_SECONDS)
    expect("--hold: stays at the end", not ready and p.poll() is None,
           p.poll())
    p.send_signal(signal.SIGUSR1)
    code = p.wait(LIMIT_SECONDS)
    expect("--hold: exit code after the second signal", code == 0, code)


def check_worker_is_a_function():
    """A stack can name it: it is neither inlined nor renamed."""
    if shutil.which("nm") is None:
        return
    code, out, _ = run(["nm", program("usdt_convoy")])
    if code == 0:
        expect("symbol worker", re.search(r" t _?worker$", out, re.M),
               "not in the symbol table")


def main():
    # This one is left alone after its start, and must end by itself.
    left_alone = start_held()
    left_alone.send_signal(signal.SIGUSR1)
    check_small_programs()
    check_modes()
    check_usage()
    check_hold_signals()
    check_worker_is_a_function()
    text = read_counters(left_alone)
    expect_convoy("--hold, left alone", text)
    code = left_alone.wait(LIMIT_SECONDS)
    expect("--hold, left alone: exit code", code == 0, code)
    failures.done()


main()
