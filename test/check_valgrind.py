#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
"""
C tests run under valgrind's memcheck, which finds nothing: no use of memory
that is not ours or not set, no block that is lost, and no complaint of a
stack switch or of a system call that it does not know.

    check_valgrind.py [all | TEST...]

Without arguments those that are short and go through most of the library.
Not looked at are the deaths that tests cause on purpose (t_stack, t_mem).
"""

import os
import re
import shutil
import sys

from livelib import BUILD, Failures, program, run, skip

SHORT = ("t_ctx", "t_deque", "t_amutex", "t_mailbox", "t_kill", "t_exec_cross")
SECONDS = 250
MEMCHECK = ("valgrind", "-q", "--error-exitcode=99", "--leak-check=full",
            "--show-leak-kinds=definite", "--errors-for-leak-kinds=definite")

failures = Failures()


def tests():
    with open(os.path.join(BUILD, "selected.txt"), encoding="utf-8") as f:
        lines = [line.split() for line in f]
    there = [words[2] for words in lines if words[0] == "test"]
    wanted = sys.argv[1:] or SHORT
    return there if "all" in wanted else [t for t in there if t in wanted]


def check(name, env):
    code, out, err = run([*MEMCHECK, program(name)], SECONDS, env=env)
    print(name, *re.findall(r"^\d+%: Checks: .*", out, re.M))
    failures.check(code == 0 and "unhandled" not in err and
                   "client switching stacks" not in err,
                   "%s: exit code %d\n%s%s" % (name, code, out[-2000:],
                                               err[-4000:]))


def main():
    if os.environ.get("XTC_SANITIZER"):
        skip("valgrind and sanitizers do not go together")
    if not shutil.which("valgrind"):
        skip("no valgrind")
    if os.environ.get("XTC_CHECK") == "no":
        skip("the C tests are not built: no libcheck")
    env = dict(os.environ)
    # Tests divide their counts under valgrind by themselves.
    if not sys.argv[1:]:
        env.setdefault("XTC_TEST_DIV", "4")
    names = tests()
    failures.check(names, "no such test")
    for name in names:
        check(name, env)
    failures.done()


main()
