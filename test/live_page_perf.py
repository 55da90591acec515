#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
"""The perf commands of docs/tracing.md work as they are typed, one after the
other, and leave nothing behind."""

import os
import re
import shutil
import sys
import tempfile

import livelib as live
import pagelib

LINES = [
    "perf buildid-cache --add ./usdt_target",
    "perf probe -x ./usdt_target %sdt_xtc:msg__send",
    "perf record -e sdt_xtc:msg__send ./usdt_target",
    "perf script",
    "perf probe -d 'sdt_xtc:*'",
]


def main():
    live.need_perf()
    tracing = live.need_uprobes()
    fail = live.Failures()
    path = live.program("usdt_target")
    major = re.search(r"version (\d+)", live.run_ok(["perf", "--version"]))
    out = ""
    with tempfile.TemporaryDirectory() as directory:
        # Its cache and what it records go beside the build.
        shutil.copy(path, directory)
        env = dict(os.environ, HOME=directory, PERF_PAGER="cat")
        try:
            for line in pagelib.mine(["perf"], LINES, fail):
                if major and int(major.group(1)) >= 7:
                    line = line.replace("-e sdt_xtc:msg__",
                                        "-e sdt_xtc:msg_")
                print("$ " + line)
                out += live.run_ok(["sh", "-c", line], env=env,
                                   cwd=directory)
        finally:
            live.run(["perf", "probe", "-q", "-d", "sdt_xtc:*"], env=env)
    fail.between("messages that wake", len(re.findall(
        r"sdt_xtc:msg__?send: \S+ arg1=\d+ arg2=\d+", out)), 99, 100)
    with open(os.path.join(tracing, "uprobe_events"), encoding="utf-8") as f:
        fail.check("sdt_xtc" not in f.read(), "perf left probes behind")
    fail.done()


if __name__ == "__main__":
    sys.exit(main())
