#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
"""What the README tells people to type works: the C program in it compiles
without a warning and prints what it says; the build commands are run in a
copy of the tree; the tracing commands are among those of docs/tracing.md, which
the live_page tests run; the targets are rules of the Makefile.
"""

import os
import re
import shutil
import subprocess
import tempfile

import pagelib
from livelib import BUILD, Failures, SRC, run

BUILD_SECONDS = 400

# Which function sees to a block of commands, by the block's first line.
BLOCKS = {
    "make demo": "targets",
    "cc -I ../include hello.c libxtc.a -lpthread": "compile",
    "mkdir build-sdt && cd build-sdt": "build",
    "meson setup build-meson -Ddtrace=sdt": "build",
    "sudo bpftrace -e 'usdt:./usdt_target:xtc:fiber__park"
    " { @park[arg1] = count(); }' -c ./usdt_target": "tracing",
}

failures = Failures()


def blocks(text, language):
    return re.findall(r"^```%s\n(.*?)^```$" % language, text, re.M | re.S)


def compiler():
    """The compiler of this build, with the sanitizer it was built with."""
    command = os.environ.get("CC", "cc").split()
    sanitizer = os.environ.get("XTC_SANITIZER", "")
    if sanitizer not in ("", "no"):
        command.append("-fsanitize=" + sanitizer)
    return command


def expect_ok(what, seen):
    code, out, err = seen
    return failures.check(code == 0, "%s: exit code %d\n%s%s" %
                          (what, code, out[-2000:], err[-2000:]))


def copy_tree(to):
    """The sources without what was built in them."""
    def left_out(directory, names):
        return [n for n in names if n == ".git" or any(
            os.path.exists(os.path.join(directory, n, mark))
            for mark in ("config.status", "build.ninja"))]
    shutil.copytree(SRC, to, symlinks=True, ignore=left_out)


def without_sdt(lines):
    """Where sys/sdt.h is missing, sdt is an error; so it is not asked."""
    p = subprocess.run(compiler() + ["-E", "-x", "c", "-"],
                       input="#include <sys/sdt.h>\n", text=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if p.returncode == 0:
        return lines
    return [line.replace("=sdt", "=no") for line in lines]


def check_targets(lines, _):
    """What they do is tested by live_demo.py, and by whoever runs this."""
    with open(os.path.join(SRC, "Makefile"), encoding="utf-8") as f:
        makefile = f.read()
    for line in lines:
        target = line.split()[1]
        rule = re.search(r"^%s:.*\n((?:\t.*\n)+)" % target, makefile, re.M)
        wanted = {"demo": "tools/demo.sh", "check": "check"}[target]
        failures.check(rule and wanted in rule.group(1),
                       "the Makefile has no rule for: " + line)


def check_compile(lines, text):
    """The program, as the command says, with all warnings."""
    program, = blocks(text, "c")
    output, = blocks(text, "text")
    with tempfile.TemporaryDirectory() as top:
        os.symlink(os.path.join(SRC, "include"), os.path.join(top, "include"))
        directory = os.path.join(top, "build")
        os.mkdir(directory)
        os.symlink(os.path.join(BUILD, "libxtc.a"),
                   os.path.join(directory, "libxtc.a"))
        with open(os.path.join(directory, "hello.c"), "w",
                  encoding="utf-8") as f:
            f.write(program)
        line, = lines
        command = compiler() + ["-std=c11", "-Wall", "-Wextra", "-Werror"] + \
            line.split()[1:]
        if expect_ok(line, run(command, cwd=directory)):
            seen = run(["./a.out"], cwd=directory)
            failures.equal("the program", seen, (0, output, ""))


def check_build(lines, _):
    tool = lines[0].split()[0]
    if tool == "meson" and not shutil.which("meson"):
        print("meson is not installed: its commands were not run")
        return
    with tempfile.TemporaryDirectory() as top:
        tree = os.path.join(top, "tree")
        copy_tree(tree)
        env = dict(os.environ, MAKEFLAGS="-j2",
                   DESTDIR=os.path.join(top, "installed"))
        expect_ok(lines[0], run(
            ["sh", "-e", "-c", "\n".join(without_sdt(lines))],
            BUILD_SECONDS, cwd=tree, env=env))


def check_tracing(lines, _):
    run_elsewhere = pagelib.lines()
    for line in lines:
        failures.check(line in run_elsewhere,
                       "docs/tracing.md does not have: " + line)


def main():
    with open(os.path.join(SRC, "README.md"), encoding="utf-8") as f:
        text = f.read()
    done = set()
    for block in blocks(text, "sh"):
        lines = block.splitlines()
        how = BLOCKS.get(lines[0])
        if failures.check(how, "no test for: " + lines[0]):
            globals()["check_" + how](lines, text)
            done.add(lines[0])
    failures.equal("blocks that are gone from the README",
                   set(BLOCKS) - done, set())
    failures.done()


main()
