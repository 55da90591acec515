#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
"""Fibers that move to another thread are at home there also in builds in
which a compiler likes to keep the address of a thread-local: position
independent code and link-time optimisation, by gcc and by clang.

The library and t_migrate.c are built in each of these ways and run. Choices
that this machine does not have are told and left out."""

import concurrent.futures
import os
import shlex
import shutil
import subprocess
import sys
import tempfile

import livelib as live

LIBRARY_AND_TEST = "shared"
ONE_PROGRAM = "static"
BUILDS = [
    ("gcc", ONE_PROGRAM, "-O2"),
    ("gcc", LIBRARY_AND_TEST, "-O1 -fPIC"),
    ("gcc", LIBRARY_AND_TEST, "-O2 -fPIC"),
    ("gcc", ONE_PROGRAM, "-O2 -fPIC -flto"),
    ("clang", ONE_PROGRAM, "-O2"),
    ("clang", LIBRARY_AND_TEST, "-O2 -fPIC"),
    ("clang", ONE_PROGRAM, "-O2 -flto=thin -fuse-ld=lld"),
    ("clang", ONE_PROGRAM, "-O3 -fPIC -flto=thin -fuse-ld=lld"),
]
# Each run makes so much less than the million moves of the test by itself.
DIVISOR = "8"
BUILD_SECONDS = 250
RUN_SECONDS = 100
WARNINGS = ("-Wall", "-Wextra", "-Wshadow", "-Wstrict-prototypes",
            "-Wmissing-prototypes", "-Werror", "-g")


def run(command, seconds, **kw):
    p = subprocess.run(command, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                       text=True, errors="replace", timeout=seconds,
                       check=False, **kw)
    return p.returncode, p.stdout


def library_sources():
    with open(os.path.join(live.BUILD, "selected.txt"),
              encoding="utf-8") as f:
        return [os.path.join(live.SRC, line.split()[1]) for line in f
                if line.startswith("lib ")]


def can_build(compiler, flags, work):
    """None, or what is missing."""
    if not shutil.which(compiler):
        return compiler + " is not installed"
    source = os.path.join(work, "try.c")
    with open(source, "w", encoding="utf-8") as f:
        f.write("int main(void) { return 0; }\n")
    code, out = run([compiler, *flags, source, "-o", source + ".out"],
                    BUILD_SECONDS)
    return None if code == 0 else "it cannot link: " + out.strip()


def check_libs():
    p = subprocess.run(["pkg-config", "--cflags", "--libs", "check"],
                       capture_output=True, text=True, check=False)
    if p.returncode != 0:
        live.skip("libcheck is not installed")
    return p.stdout.split()


def build(compiler, kind, flags, work, libs):
    """(program, None), or (None, what went wrong)."""
    cppflags = shlex.split(os.environ.get("XTC_CPPFLAGS", ""))
    drop = ("-fsanitize", "-O", "-W")
    cflags = [f for f in shlex.split(os.environ.get("XTC_CFLAGS", ""))
              if not f.startswith(drop)]
    test = os.path.join(live.SRC, "test", "t_migrate.c")
    program = os.path.join(work, "t_migrate")
    compile_ = [compiler, *flags, *cppflags, *cflags]
    # The tests' own warnings are for the ordinary builds.
    tail = [*libs, *shlex.split(os.environ.get("XTC_LIBS", "-pthread"))]
    if kind == LIBRARY_AND_TEST:
        library = os.path.join(work, "libxtc_migrate.so")
        commands = [
            [*compile_, "-shared", "-fvisibility=default",
             *library_sources(), "-o", library, "-pthread"],
            [*compile_, test, "-o", program, library,
             "-Wl,-rpath," + work, *tail]]
    else:
        commands = [[*compile_, *library_sources(), test, "-o", program,
                     *tail]]
    for command in commands:
        code, out = run(command, BUILD_SECONDS)
        if code != 0:
            return None, out
    return program, None


def try_one(number, work, libs):
    """(number, what to print, what is wrong or None)."""
    compiler, kind, text = BUILDS[number]
    name = "%s %s, %s" % (compiler, text, kind)
    work = os.path.join(work, str(number))
    os.makedirs(work)
    flags = text.split()
    missing = can_build(compiler, flags, work)
    if missing:
        return False, "left out: %s: %s" % (name, missing), None
    program, wrong = build(compiler, kind, flags, work, libs)
    if wrong is not None:
        return True, name, "%s does not build:\n%s" % (name, wrong[:2000])
    env = dict(os.environ, XTC_TEST_DIV=DIVISOR)
    try:
        code, out = run([program], RUN_SECONDS, env=env)
    except subprocess.TimeoutExpired:
        return True, name, name + " hangs"
    moves = sum(int(line.split()[0]) for line in out.splitlines()
                if line.endswith(" moves"))
    return True, "%s: %d moves" % (name, moves), \
        None if code == 0 else "%s:\n%s" % (name, out)


def main():
    fail = live.Failures()
    libs = check_libs()
    tried = 0
    with tempfile.TemporaryDirectory(prefix="xtc-migrate.") as work, \
            concurrent.futures.ThreadPoolExecutor(2) as pool:
        for built, text, wrong in pool.map(
                lambda n: try_one(n, work, libs), range(len(BUILDS))):
            tried += built
            print(text)
            fail.check(wrong is None, wrong)
    if not tried:
        live.skip("no compiler here builds any of them")
    fail.done()


if __name__ == "__main__":
    sys.exit(main())
