#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
"""
check_style: the rules of STYLE.md that a machine can hold.

    check_style.py [SOURCE_DIR [BUILD_DIR]]

Each file begins with its licence; sources keep to 80 columns and tabs; a
function's definition begins its line with the name; statics are unique in the
library; includes go from a room to those before it, and an _impl.h stays in
its directory; every atomic access names its memory order; nothing is left to
be done later, and no path of somebody's machine is written down.
"""

import os
import re
import sys

ROOMS = {"base": 0, "arch": 1, "os": 1, "mem": 2, "trace": 2, "poll": 3,
         "core": 4, "proc": 5, "sync": 5, "io": 5, "sup": 6, "sim": 7}
C_SUFFIXES = (".c", ".h", ".S", ".def")
HEADED = C_SUFFIXES + (".d", ".bt", ".awk", ".sh", ".py", ".pml", ".ac",
                       "Makefile", "meson.build", "meson_options.txt",
                       "sources.txt")
COLUMNS = 80
failures = []


def fail(where, text):
    failures.append("%s: %s" % (where, text))


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def files(top):
    """The files of the tree, without what was built in it."""
    for directory, below, names in os.walk(top):
        below[:] = sorted(
            d for d in below if d not in (".git", "__pycache__")
            and not os.path.exists(os.path.join(directory, d, "xtc.env"))
            and not os.path.exists(os.path.join(directory, d, "config.log")))
        for name in sorted(names):
            path = os.path.join(directory, name)
            if not os.path.islink(path):
                yield os.path.relpath(path, top)


def check_head(path, lines):
    if lines and lines[0].startswith("#!"):
        lines = lines[1:]
    top = lines[:2] + ["", ""]
    if "SPDX-License-Identifier: ISC" not in top[0]:
        fail(path, "does not begin with the SPDX line")
    elif "Copyright (c) 2026 The libxtc authors" not in top[1]:
        fail(path, "has no copyright line after the SPDX line")


def check_layout(path, lines):
    for n, line in enumerate(lines, 1):
        where = "%s:%d" % (path, n)
        if len(line.expandtabs(8)) > COLUMNS:
            fail(where, "more than %d columns" % COLUMNS)
        if line != line.rstrip():
            fail(where, "ends in white space")
        if line.startswith("        "):
            fail(where, "indented by spaces, not by a tab")


def definitions(lines):
    """(line number, name or None, text before) of each function body."""
    for n, line in enumerate(lines):
        if line != "{":
            continue
        start = n - 1
        while start > 0 and re.match(r"[ \t]", lines[start]):
            start -= 1
        m = re.match(r"([A-Za-z_]\w*)\(", lines[start])
        before = lines[start - 1] if start else ""
        yield start + 1, m and m.group(1), before


def check_definitions(path, lines):
    for n, name, before in definitions(lines):
        if not name:
            fail("%s:%d" % (path, n), "the name does not begin the line")


def check_includes(path, lines):
    room = path.split("/")[1]
    for n, line in enumerate(lines, 1):
        m = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        if not m:
            continue
        where = "%s:%d" % (path, n)
        header = m.group(1)
        first = header.split("/")[0]
        if "/" in header and first in ROOMS and room in ROOMS and \
                ROOMS[first] > ROOMS[room]:
            fail(where, "%s may not include %s, a later room" %
                 (room, header))
        if header.endswith("_impl.h"):
            here = os.path.dirname(path)
            there = os.path.dirname(header)
            if there and "src/" + there != here and not \
                    here.startswith("src/" + there + "/"):
                fail(where, "%s belongs to its own directory" % header)


# Generic functions of <stdatomic.h> that have a form with a memory order.
ATOMIC = re.compile(
    r"\batomic_(load|store|exchange|compare_exchange_(strong|weak)"
    r"|fetch_(add|sub|or|xor|and)|flag_test_and_set|flag_clear)\s*\(")


def without_comments(text):
    """The text with comments blanked, line for line."""
    def blank(m):
        return re.sub(r"[^\n]", " ", m.group(0))
    return re.sub(r"/\*.*?\*/", blank, text, flags=re.S)


def check_atomics(path, text):
    for n, line in enumerate(without_comments(text).split("\n"), 1):
        if ATOMIC.search(line):
            fail("%s:%d" % (path, n), "an atomic without its memory order")


def check_words(path, lines):
    # Put together here, so that this file does not fail its own test.
    later = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
    paths = re.compile(r"(?<![\w.])/(wo" r"rk|ro" r"ot|ho" r"me)/")
    for n, line in enumerate(lines, 1):
        if later.search(line):
            fail("%s:%d" % (path, n), "something is left to be done")
        if paths.search(line):
            fail("%s:%d" % (path, n), "a path of somebody's machine")


def check_statics(top, build):
    """A name in a stack tells one function. Files that never come into one
    library, those of two systems, may share names."""
    sources = None
    if build and os.path.exists(os.path.join(build, "selected.txt")):
        lines = read(os.path.join(build, "selected.txt")).splitlines()
        sources = {line.split()[1] for line in lines
                   if line.startswith("lib ")}
    seen = {}
    for path in files(os.path.join(top, "src")):
        path = "src/" + path
        if not path.endswith((".c", ".h")) or \
                (path.endswith(".c") and sources is not None
                 and path not in sources):
            continue
        lines = read(os.path.join(top, path)).split("\n")
        for n, name, before in definitions(lines):
            if not name or not before.startswith("static"):
                continue
            # Twice in one file are two branches of the preprocessor.
            if seen.get(name, path) != path:
                fail("%s:%d" % (path, n), "static %s is in %s too" %
                     (name, seen[name]))
            seen[name] = path


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    top = os.environ.get("XTC_SRC_DIR") or os.path.dirname(here)
    build = os.environ.get("XTC_BUILD_DIR")
    if len(sys.argv) > 1:
        top = sys.argv[1]
        build = sys.argv[2] if len(sys.argv) > 2 else None
    for path in files(top):
        if os.path.basename(path) == "configure":
            continue                        # made by autoconf
        try:
            text = read(os.path.join(top, path))
        except UnicodeDecodeError:
            fail(path, "is not UTF-8")
            continue
        lines = text.split("\n")
        check_words(path, lines)
        if path.endswith(HEADED):
            check_head(path, lines)
        if path.endswith(C_SUFFIXES):
            check_layout(path, lines)
        if path.endswith((".c", ".h")):
            check_definitions(path, lines)
        if path.startswith("src/") and path.endswith(C_SUFFIXES):
            check_includes(path, lines)
        if path.startswith(("src/", "test/")) and \
                path.endswith((".c", ".h")):
            check_atomics(path, text)
    check_statics(top, build)
    for text in failures:
        print(text)
    print("%d faults of style" % len(failures))
    sys.exit(1 if failures else 0)


main()
