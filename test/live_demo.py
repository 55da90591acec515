#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
"""The demo attaches a real tracer to a live program and the report is right;
it looks like the sample in the README."""

import os
import re

from livelib import BUILD, Failures, SRC, run, skip

LIMIT_SECONDS = 240

WANTED = (
    ("the tracer's command",
     r"^\$ bpftrace tools/bpftrace/xtc_lock_contention\.bt -p \d+$"),
    ("the lock with its kind and count",
     r"^ +@waits\[0x[0-9a-f]+, amutex\]: 1(58|59|60)$"),
    ("a stack with the user's function and its caller",
     r"^ +xtc_amutex_lock\+\d+\n +worker\+\d+\n +\S+\+\d+$"),
    ("a histogram", r"^ +\[1K, 2K\) +\d+ \|@"),
    ("the answer in one sentence",
     r"^ +One lock: 1(58|59|60) of 160 acquisitions waited, \d+ ms in total"),
    ("the mended program", r"^ +0 of 160 acquisitions waited\.$"),
    ("the comparison", r"untraced: convoy [\d.]+ ms, fixed [\d.]+ ms: "),
)


def shape(line):
    """A line without what differs from run to run."""
    line = re.sub(r"[|][@ ]*[|]", "|", line.strip())
    return re.sub(r"0x[0-9a-f]+|[0-9.]+", "0", line)


def check_sample(failures, out):
    """Which buckets of the histogram are empty differs too."""
    with open(os.path.join(SRC, "README.md"), encoding="utf-8") as f:
        sample = re.search(r"^```console\n(.*?)^```$", f.read(), re.M | re.S)
    if not failures.check(sample, "the README has no sample"):
        return
    shapes = {shape(line) for line in out.splitlines()}
    for line in sample.group(1).splitlines():
        failures.check(shape(line) in shapes or line.strip().startswith("["),
                       "the README's sample has: " + line)


def main():
    failures = Failures()
    code, out, err = run(["sh", os.path.join(SRC, "tools", "demo.sh"), BUILD],
                         LIMIT_SECONDS)
    print(out + err)
    reason = re.search(r"No kernel tracer can run here:\n  - (.*)", out)
    if reason:
        skip(reason.group(1))
    failures.equal("exit code", code, 0)
    for what, pattern in WANTED:
        failures.check(re.search(pattern, out, re.M),
                       what + " is not in the output")
    check_sample(failures, out)
    failures.done()


main()
