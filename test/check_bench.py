#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
"""Every row of every bench program runs, with tiny counts, and says what it
should; so does the driver, with every peer that is installed.

What the figures are is of no interest here, but that none is negative: no
sleeper woke early.
"""

import os
import shutil
import subprocess
import sys
import tempfile

import livelib as live

COUNT = 200
SIZE = 16
LIMIT_SECONDS = 120
DRIVER_SECONDS = 250

failures = live.Failures()


def bench_programs():
    names = []
    with open(os.path.join(live.BUILD, "selected.txt"),
              encoding="utf-8") as f:
        for line in f:
            kind, _, name = line.split()[:3]
            if kind == "bench":
                names.append(name)
    return names


def build(names):
    """They are not part of `make all`."""
    if os.path.exists(os.path.join(live.BUILD, "build.ninja")):
        command = ["ninja", *names]
    else:
        command = [os.environ.get("MAKE", "make"), "benches"]
    env = {k: v for k, v in os.environ.items()
           if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    p = subprocess.run(command, cwd=live.BUILD, env=env, text=True,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       check=False)
    if p.returncode != 0:
        print(p.stdout[-3000:])
        sys.exit("FAILED: %s" % " ".join(command))


def check_row(name, row, size):
    command = [live.program(name), row, str(COUNT), str(min(size, SIZE))]
    code, out, err = live.run(command, LIMIT_SECONDS)
    what = " ".join([name] + command[1:])
    if not failures.check(code == 0 and err == "", "%s: code %s, %s%s" %
                          (what, code, out, err)):
        return
    for line in out.splitlines():
        words = line.split()
        # counting instructions, a program prints nothing
        failures.check(len(words) == 3 and words[0] == row and
                       float(words[2]) >= 0, "%s: %s" % (what, line))
    failures.check(out != "" or name == "bench_paths",
                   what + " printed nothing")


def check_programs(names):
    for name in names:
        code, out, err = live.run([live.program(name), "--rows"],
                                  LIMIT_SECONDS)
        failures.check(code == 0 and out != "", "%s --rows: %s" %
                       (name, err))
        for line in out.splitlines():
            row, _, size = line.split()
            check_row(name, row, int(size))
        code, _, err = live.run([live.program(name), "no-such-row"],
                                LIMIT_SECONDS)
        failures.check(code == 2 and "no row" in err, "%s: no such row: %s" %
                       (name, err))


def check_driver(where):
    """In a directory of its own, so that it leaves none here."""
    for name in os.listdir(live.BUILD):
        if name.startswith("bench_"):
            os.symlink(os.path.join(live.BUILD, name),
                       os.path.join(where, name))
    p = subprocess.run(
        [sys.executable, os.path.join(live.SRC, "bench", "run.py"), "--tiny",
         "--peers", "--runs", "1", "--only", "floor,rows,scale", where],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        timeout=DRIVER_SECONDS, check=False)
    failures.check(p.returncode == 0 and "FAILED" not in p.stdout,
                   "run.py: code %d\n%s" % (p.returncode, p.stdout))
    for text in ("raw switch", "page tables", "fan-in across threads",
                 "sleepers", "1,000,000", "goals met"):
        failures.check(text in p.stdout, "run.py says nothing of " + text)
    for line in p.stdout.splitlines():
        if line.startswith(("peers:", "not here:")):
            print(line)


def main():
    names = bench_programs()
    failures.check(len(names) >= 7, "bench programs: %s" % names)
    build(names)
    check_programs(names)
    where = tempfile.mkdtemp()
    try:
        check_driver(where)
    finally:
        shutil.rmtree(where)
    failures.done()


main()
