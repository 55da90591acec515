#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
"""
The library on what other platforms are at hand: Linux on aarch64, by a cross
compiler and qemu's user mode, and Linux with musl for its C library. On each
all of the library, the examples and the C tests are built from nothing, by
CC=... alone, and run, the tests with small counts and with the stand-in for
libcheck. configure refuses Windows in words.

qemu translates for this processor: of its memory order an x86-64 has more
than an aarch64 promises, so what only a weaker order breaks is not seen here.
"""

import concurrent.futures
import os
import platform
import re
import shutil
import sys
import tempfile

from buildlib import BUILD_SECONDS
from livelib import Failures, SRC, run, skip

# Everything is slower under qemu, and this machine may have more to do.
DIV = {"aarch64": "60", "musl": "60"}
SLOW = {"aarch64": "20", "musl": "4"}
TEST_SECONDS = 150
HERE = os.path.join(SRC, "test")

failures = Failures()


class Platform:
    def __init__(self, name, cc, emulator, packages, mark):
        self.name = name
        self.cc = cc
        self.emulator = emulator
        self.packages = packages
        self.mark = mark    # in any program of it, and in no other

    def missing(self):
        for tool in (self.cc, *self.emulator[:1]):
            if not shutil.which(tool):
                return "%s: no %s (%s)" % (self.name, tool, self.packages)
        return ""


PLATFORMS = (
    Platform("aarch64", "aarch64-linux-gnu-gcc",
             ("qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"),
             "gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user",
             b"ld-linux-aarch64.so"),
    Platform("musl", "musl-gcc", (), "musl-tools", b"/lib/ld-musl-"),
)
EXAMPLES = (
    ("hello", r"hello, world, from process \d+\n"
              r"slept at least 1 ms\nlibxtc [\d.]+\n"),
    ("pingpong", r"100000 round trips, \d+ ns a message\n"),
    ("usdt_target", r"done\n"),
)


def environment():
    """This test's own is that of another build."""
    ours = ("CC", "CXX", "CFLAGS", "LIBS", "CPPFLAGS", "LDFLAGS", "DTRACE")
    return {k: v for k, v in os.environ.items()
            if k not in ours and not k.startswith(("XTC_", "MAKE"))}


def build(p, work):
    os.mkdir(work)
    env = environment()
    code, out, err = run(
        [os.path.join(SRC, "dist", "configure"), "CC=" + p.cc, "CFLAGS=-g0",
         "--enable-werror", "CHECK_LIBS=-lm",
         "CHECK_CFLAGS=-I" + os.path.join(HERE, "standin")],
        BUILD_SECONDS, cwd=work, env=env)
    if not failures.check(code == 0, "%s: configure: %s%s" % (p.name, out[-500:],
                                                              err)):
        return False
    code, out, err = run(["make", "-s", "-j2", "lib", "programs", "tests"],
                         BUILD_SECONDS, cwd=work, env=env)
    if not failures.check(code == 0, "%s: make: %s" % (p.name, err[-4000:])):
        return False
    with open(os.path.join(work, "t_loop"), "rb") as f:
        return failures.check(p.mark in f.read(),
                              "%s: made for another platform" % p.name)


def run_examples(p, work):
    for name, wanted in EXAMPLES:
        code, out, err = run([*p.emulator, os.path.join(work, name)])
        failures.check(code == 0 and err == "" and re.fullmatch(wanted, out),
                       "%s: %s: %r" % (p.name, name, (code, out, err)))


def c_tests(work):
    """All but the simulator's, whose runs want libcheck itself."""
    with open(os.path.join(work, "selected.txt"), encoding="utf-8") as f:
        rows = [line.split() for line in f]
    return [r[2] for r in rows if r[0] == "test" and r[2] != "t_sim"]


def run_tests(p, work):
    env = environment()
    env["XTC_TEST_DIV"] = DIV[p.name]
    env["XTC_TEST_SLOW"] = SLOW[p.name]
    if p.emulator:
        env["XTC_EMULATOR"] = " ".join(p.emulator)
    _, out, err = run([sys.executable,
                       os.path.join(SRC, "tools", "build", "runtests"),
                       "--jobs", "2", "--seconds", str(TEST_SECONDS), work,
                       *c_tests(work)], BUILD_SECONDS, env=env)
    print("%s:\n%s%s" % (p.name, out, err))
    m = re.search(r"^(\d+) passed, 0 failed, 0 skipped$", out, re.M)
    failures.check(m and int(m.group(1)) > 15,
                   p.name + ": not all tests passed")


def try_platform(p, top):
    work = os.path.join(top, p.name)
    if build(p, work):
        run_examples(p, work)
        run_tests(p, work)


def refuse_windows(top):
    work = os.path.join(top, "windows")
    os.mkdir(work)
    code, _, err = run([os.path.join(SRC, "dist", "configure"),
                        "CC=cc -U__linux__ -D_WIN32"], BUILD_SECONDS,
                       cwd=work, env=environment())
    failures.check(code != 0 and "does not run on Windows" in err,
                   "configure on Windows: %r" % ((code, err[-300:]),))


def main():
    if os.environ.get("XTC_SANITIZER"):
        skip("the plain build tests the other platforms")
    if platform.system() != "Linux":
        skip("the other platforms are looked at on Linux")
    absent = [p.missing() for p in PLATFORMS if p.missing()]
    with tempfile.TemporaryDirectory() as top:
        with concurrent.futures.ThreadPoolExecutor(len(PLATFORMS)) as pool:
            jobs = [pool.submit(try_platform, p, top) for p in PLATFORMS
                    if not p.missing()]
            refuse_windows(top)
            for job in jobs:
                job.result()
    if absent and not failures.texts:
        skip("; ".join(absent))
    failures.done()


main()
