#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
"""The dtrace commands of docs/tracing.md work as they are typed, from the
build directory, and their answers are right."""

import os
import re
import sys
import tempfile

import livelib as live
import pagelib

REASONS = live.kinds("WHY")


def listed(fail, out):
    fail.equal("probes listed", sorted(re.findall(
        r"^ *\d+ +xtc\d+ +\S+ +\S+ +(\S+)$", out, re.M)),
        sorted(name.replace("__", "-") for name, _ in live.catalogue()))


def sent_and_parked(fail, out):
    sent = re.search(r"^ +sent +(\d+)$", out, re.M)
    fail.between("messages that wake", int(sent.group(1)) if sent else 0,
                 99, 100)
    by_name = {REASONS[int(k)]: int(v) for k, v in
               re.findall(r"^ +(\d+) +(\d+)$", out, re.M)}
    fail.equal("sleeps", by_name.get("sleep"), 200)
    fail.between("receives", by_name.get("mailbox", 0), 100, 101)


def contention(fail, out):
    m = re.search(r"^0x[0-9a-f]+ +amutex +(\d+) ", out, re.M)
    fail.between("contended", int(m.group(1)) if m else 0, 158, 160)


def locks(fail, out):
    fail.equal("calls of xtc_amutex_lock",
               re.findall(r"^ +(\d+)$", out, re.M), ["200"])


CHECKS = {
    "dtrace -l -P 'xtc$target' -c ./usdt_target": listed,
    "dtrace -qn 'xtc$target:::msg-send { @[\"sent\"] = count(); }"
    " xtc$target:::fiber-park { @park[arg1] = count(); }'"
    " -c ./usdt_target": sent_and_parked,
    'dtrace -qs tools/dtrace/xtc_lock_contention.d'
    ' -p "$(pgrep server)"': contention,
    "dtrace -qs tools/dtrace/xtc_lock_contention.d"
    " -c './usdt_convoy convoy'": contention,
    "dtrace -x ustackframes=32 -qs tools/dtrace/xtc_lock_contention.d"
    " -c './usdt_convoy convoy' > stacks.out": contention,
    "dtrace -n 'pid$target::xtc_amutex_lock:entry { @ = count(); }'"
    " -c ./usdt_target": locks,
}


def typed(line, env):
    if "pgrep" in line:
        out, _ = live.trace_held(
            lambda pid: ["sh", "-c", 'PATH="%s"; exec %s' % (
                env["PATH"], line.replace("$(pgrep server)", pid))],
            "convoy", r"^Microseconds waited")
        return out
    # Whatever it writes goes beside the build, not into it.
    line = line.replace("> stacks.out", "> %s/stacks.out; cat %s/stacks.out"
                        % (env["TMPDIR"], env["TMPDIR"]))
    return live.run_ok(["sh", "-c", line], env=env)


def main():
    dtrace = live.need_dtrace()
    fail = live.Failures()
    for name in ("usdt_target", "usdt_convoy"):
        live.program(name)
    with tempfile.TemporaryDirectory() as directory:
        # SystemTap's script of the same name may come first in the PATH.
        os.symlink(dtrace, os.path.join(directory, "dtrace"))
        env = dict(os.environ, TMPDIR=directory,
                   PATH=directory + os.pathsep + os.environ["PATH"])
        for line in pagelib.mine(["dtrace"], CHECKS, fail):
            print("$ " + line)
            out = typed(line, env)
            before = len(fail.texts)
            CHECKS[line](fail, out)
            if len(fail.texts) > before:
                print(out)
    fail.done()


if __name__ == "__main__":
    sys.exit(main())
