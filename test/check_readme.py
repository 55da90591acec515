#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
"""What the README tells people to type works: the C program in it compiles
without a warning and prints what it says; the build commands are run in a
copy of the tree; the others stand word for word in the test that runs them.
"""

import os
import re
import shutil
import subprocess
import tempfile

from livelib import BUILD, Failures, SRC, run

BUILD_SECONDS = 400

# A block of commands is run by a function of this file or, command by
# command, by a test that has it in its text. The block's first line tells
# which.
BLOCKS = {
    "make demo": "targets",
    "cc -I ../include hello.c libxtc.a -lpthread": "compile",
    "mkdir build && cd build": "configure",
    "meson setup build -Ddtrace=sdt": "meson",
    "sudo bpftrace -e 'usdt:./usdt_target:xtc:fiber__park"
    " { @park[arg1] = count(); }' -c ./usdt_target": "live",
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


def shell(lines, directory, **env):
    return run(["sh", "-e", "-c", "\n".join(lines)], BUILD_SECONDS,
               cwd=directory, env=dict(os.environ, MAKEFLAGS="-j2", **env))


def without_sdt(lines):
    """Where sys/sdt.h is missing, sdt is an error; so it is not asked."""
    p = subprocess.run(compiler() + ["-E", "-x", "c", "-"],
                       input="#include <sys/sdt.h>\n", text=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if p.returncode == 0:
        return lines
    return [line.replace("=sdt", "=no") for line in lines]


def check_targets(lines, _):
    """make -n says what would be done; the rest is done by other tests."""
    for line in lines:
        name = line.split()[-1]
        seen = run(line.split()[:1] + ["-n"] + line.split()[1:], cwd=SRC)
        if expect_ok(line, seen):
            wanted = {"demo": "tools/demo.sh", "check": "check"}[name]
            failures.check(wanted in seen[1],
                           "%s does not run %s:\n%s" % (line, wanted, seen[1]))


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


def check_pkg_config(text, installed, directory):
    """The line for an installed library, with what make install put."""
    line = re.search(r"`cc (prog\.c .*)`", text).group(1)
    pc, = [os.path.join(d, n) for d, _, names in os.walk(installed)
           for n in names if n.endswith(".pc")]
    program, = blocks(text, "c")
    with open(os.path.join(directory, "prog.c"), "w", encoding="utf-8") as f:
        f.write(program)
    expect_ok(line, shell([" ".join(compiler()) + " " + line], directory,
                          PKG_CONFIG_PATH=os.path.dirname(pc),
                          PKG_CONFIG_SYSROOT_DIR=installed))


def check_configure(lines, text):
    with tempfile.TemporaryDirectory() as top:
        tree = os.path.join(top, "tree")
        installed = os.path.join(top, "installed")
        copy_tree(tree)
        if expect_ok("configure and make",
                     shell(without_sdt(lines), tree, DESTDIR=installed)):
            if shutil.which("pkg-config"):
                check_pkg_config(text, installed, top)


def check_meson(lines, _):
    if not shutil.which("meson"):
        print("meson is not installed: its commands were not run")
        return
    with tempfile.TemporaryDirectory() as top:
        tree = os.path.join(top, "tree")
        copy_tree(tree)
        expect_ok("meson", shell(without_sdt(lines), tree))


def check_live(lines, _):
    text = ""
    for name in sorted(os.listdir(os.path.join(SRC, "test"))):
        if name.startswith("live_"):
            with open(os.path.join(SRC, "test", name), encoding="utf-8") as f:
                text += f.read()
    for line in lines:
        failures.check(line in text, "no live test runs: " + line)


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
