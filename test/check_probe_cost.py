#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
"""Compiled in and watched by nobody, probes cost nothing on the fast paths,
and on the others at most six instructions each.

The library is built with and without probes, with the same flags otherwise;
callgrind counts instructions; a third build counts the sites passed. What
frame pointers cost is printed on its own.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import livelib as live

ROUNDS = 1000
PER_PROBE = 6
# Where nothing waits, wakes, arms or fails: not one instruction.
FREE = ("lock", "yield", "send", "malloc")
# The others depend a little on the clock: the least of some runs counts.
PROBED = ("message", "contended", "spawn", "timer")
RUNS = 5
FRAMES = ["-fno-omit-frame-pointer", "-fno-optimize-sibling-calls"]
NO_FRAMES = ["-fomit-frame-pointer"]


def sources():
    with open(os.path.join(live.BUILD, "selected.txt"),
              encoding="utf-8") as f:
        paths = [line.split()[1] for line in f if line.startswith("lib ")]
    return [p for p in paths if p != "src/trace/anchor.c"]


def header(mode):
    text = subprocess.run(
        ["awk", "-v", "mode=" + ("no" if mode == "hits" else mode), "-f",
         os.path.join(live.SRC, "tools", "gen", "probes.awk"),
         os.path.join(live.SRC, "src", "xtc_probes.d")],
        check=True, stdout=subprocess.PIPE, text=True).stdout
    if mode == "hits":
        text = re.sub(r"^(#define XTC_(?!PROBE)\w+\(.*\)) \(\(void\)0\)$",
                      r"\1 ((void)xtc__probe_hits++)", text, flags=re.M)
        text = text.replace("#define XTC_PROBES_ON 0",
                            "extern unsigned long xtc__probe_hits;\n"
                            "#define XTC_PROBES_ON 0")
    return text


def build(work, name, mode, frames):
    """The program that goes the paths, of a library built so."""
    directory = os.path.join(work, name)
    shutil.copytree(os.path.join(live.BUILD, "include-generated"), directory)
    with open(os.path.join(directory, "xtc_probes.h"), "w",
              encoding="utf-8") as f:
        f.write(header(mode))
    paths = sources() + ["test/drive_paths.c"]
    if mode == "sdt":
        paths.append("src/trace/anchor.c")
    words = shlex.split(os.environ.get("XTC_CFLAGS", "-std=c11"))
    flags = [w for w in words if w.startswith(("-D", "-std", "-f")) and
             w not in FRAMES]
    objects = []
    for path in paths:
        objects.append(os.path.join(directory, path.replace("/", "_") + ".o"))
        subprocess.run(
            ["gcc", *flags, *frames, "-O2", "-I", directory, "-I",
             os.path.join(live.SRC, "src"), "-I",
             os.path.join(live.SRC, "include"),
             *(["-DXTC_COUNT_HITS"] if mode == "hits" else []),
             "-c", os.path.join(live.SRC, path), "-o", objects[-1]],
            check=True)
    out = os.path.join(directory, "drive_paths")
    subprocess.run(["gcc", *objects, "-o", out, "-pthread",
                    *shlex.split(os.environ.get("XTC_LIBS", ""))],
                   check=True)
    return out


def instructions(path, name, runs):
    """Of ROUNDS rounds: what twice as many take more."""
    return collected(path, name, 2 * ROUNDS, runs) - \
        collected(path, name, ROUNDS, runs)


def collected(path, name, rounds, runs):
    counts = []
    for _ in range(runs):
        p = subprocess.run(
            ["valgrind", "--tool=callgrind",
             "--callgrind-out-file=/dev/null", path, name, str(rounds)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        m = re.search(r"Collected : (\d+)", p.stdout)
        if p.returncode != 0 or not m:
            live.skip("callgrind cannot count here: " +
                      (p.stdout.strip().splitlines() or [""])[-1])
        counts.append(int(m.group(1)))
    return min(counts)


def hits(path, name):
    def of(rounds):
        p = subprocess.run([path, name, str(rounds)], check=True,
                           stdout=subprocess.PIPE, text=True)
        return int(re.search(r"^hits (\d+)$", p.stdout, re.M).group(1))
    return of(2 * ROUNDS) - of(ROUNDS)


def main():
    for tool in ("gcc", "valgrind"):
        if not shutil.which(tool):
            live.skip(tool + " is not here")
    if live.MODE not in ("no", "sdt") or \
            os.environ.get("XTC_SANITIZER", "no") not in ("", "no"):
        live.skip("this is asked of plain builds")
    fail = live.Failures()
    with tempfile.TemporaryDirectory() as work:
        p = subprocess.run(["gcc", "-E", "-xc", "-include", "sys/sdt.h",
                            os.devnull], stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
        if p.returncode != 0:
            live.skip("there is no sys/sdt.h")
        off = build(work, "off", "no", FRAMES)
        on = build(work, "on", "sdt", FRAMES)
        count = build(work, "hits", "hits", FRAMES)
        bare = build(work, "bare", "no", NO_FRAMES)
        print("%-12s %12s %12s %8s %10s %14s" % (
            "path", "off", "on", "probes", "each", "frames a round"))
        for name in FREE + PROBED:
            runs = RUNS if name == "yield" or name in PROBED else 1
            a, b = instructions(off, name, runs), instructions(on, name, runs)
            n = hits(count, name)
            each = (b - a) / n if n else 0
            frames = (a - instructions(bare, name, runs)) / ROUNDS
            print("%-12s %12d %12d %8d %10.2f %14.1f" % (
                name, a, b, n, each, frames))
            if name in FREE:
                # Between yields the loop looks at the clock, and how often
                # depends on what the clock says: that is noise, not probes.
                noise = a // 50 if name == "yield" else 0
                if abs(b - a) > noise:
                    fail.equal("instructions of " + name, b, a)
                fail.equal("sites that %s passes" % name, n, 0)
            else:
                fail.check(n >= ROUNDS, "%s passes %d sites only" % (name, n))
                fail.check(each <= PER_PROBE,
                           "%s: %.2f instructions a probe" % (name, each))
    fail.done()


if __name__ == "__main__":
    sys.exit(main())
