# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
"""The commands of docs/tracing.md, typed as they stand: each sh block is a
list of lines, and every line has to be known to one of the tests."""

import os
import re

import livelib as live


def lines():
    with open(os.path.join(live.SRC, "docs", "tracing.md"),
              encoding="utf-8") as f:
        text = f.read()
    found = []
    for block in re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S):
        found += block.splitlines()
    return found


def tool(line):
    """Which tracer a line is for."""
    return re.sub(r"^sudo ", "", line).split()[0]


def mine(tools, known, fail):
    """The lines for these tools, all of which `known` must know."""
    found = [line for line in lines() if tool(line) in tools]
    for line in found:
        fail.check(line in known, "the page has a command that no test"
                   " knows: " + line)
    for line in known:
        fail.check(line in found, "the page does not have: " + line)
    others = [line for line in lines()
              if tool(line) not in ("bpftrace", "dtrace", "perf")]
    fail.equal("commands for tools without a test", others, [])
    return [line for line in found if line in known]
