#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
"""Probes cost nothing when they are off: each object with a site is byte for
byte what the compiler makes of the source without the probe lines."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import elf
import livelib as live

COMPILERS = ("gcc", "clang")
LEVELS = ("-O0", "-O2")
# What a source holds for the probes' sake, other than the probes themselves.
OTHERS = ("XTC_PROBE_ONLY", "XTC_PROBE_SITE", "XTC_PROBE_ANCHOR",
          "XTC_PROBE_FRAME")


def macros():
    return ["XTC_" + name.replace("__", "_").upper()
            for name, _ in live.catalogue()]


def closing(text, start):
    """The index after the parenthesis that closes the one at start."""
    depth = 0
    for i in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if depth == 0:
            return i + 1
    raise ValueError("a parenthesis is never closed: " + text[start:][:60])


def without_probes(text, names):
    """The source without probe lines, each line where it was."""
    text = re.sub(r'^#include "trace/trace\.h"$', "", text, flags=re.M)
    pattern = re.compile(r"\b(?:%s)\(" % "|".join(names))
    pos = 0
    while True:
        m = pattern.search(text, pos)
        if not m:
            return text
        line = text[text.rfind("\n", 0, m.start()) + 1:m.start()]
        if line.lstrip().startswith(("*", "/*", "#")):
            pos = m.end()
            continue
        end = closing(text, m.end() - 1)
        if m.group(0) not in ("XTC_PROBE_ONLY(", "XTC_PROBE_SITE("):
            end += text[end:end + 1] == ";"
        gone = "\n" * text.count("\n", m.start(), end)
        text = text[:m.start()] + gone + text[end:]
        pos = m.start()


def contents(path):
    """All that of an object which ends up in memory."""
    f = elf.File(path)
    return [(s.name, s.flags, s.data, s.size, f.relocations(i))
            for i, s in enumerate(f.sections) if s.flags & elf.SHF_ALLOC]


def flags():
    """The definitions and includes of this build, without its header."""
    words = shlex.split(os.environ.get("XTC_CPPFLAGS", "")) + \
        shlex.split(os.environ.get("XTC_CFLAGS", ""))
    return [w for w in words if w.startswith(("-D", "-std", "-f"))] or \
        ["-std=c11"]


def compile_tree(cc, level, tree, path, header):
    out = os.path.join(tree, "o.o")
    extra = []
    if not os.path.exists(os.path.join(tree, "src", "trace")):
        # A function that does some slow work is a function in any case.
        extra = ["-DXTC_PROBE_SITE_ATTR=__attribute__((__%s__))" %
                 ("noipa" if cc == "gcc" else "noinline")]
    p = subprocess.run(
        [cc, *flags(), *extra, level, "-fno-lto", "-I", header, "-I", "src",
         "-I", os.path.join(live.BUILD, "include-generated"),
         "-I", os.path.join(live.SRC, "include"), "-c", path, "-o", out],
        cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return out if p.returncode == 0 else None, p.stdout


def sources():
    """The sources of this build's library that know the probe macros."""
    found = []
    with open(os.path.join(live.BUILD, "selected.txt"),
              encoding="utf-8") as f:
        paths = [line.split()[1] for line in f if line.startswith("lib ")]
    for path in paths:
        with open(os.path.join(live.SRC, path), encoding="utf-8") as f:
            if '#include "trace/trace.h"' in f.read() and \
                    not path.startswith("src/trace/"):
                found.append(path)
    return sorted(found)


def strip_tree(tree, names):
    for d, _, files in os.walk(tree):
        for name in files:
            if not name.endswith((".c", ".h")):
                continue
            path = os.path.join(d, name)
            with open(path, encoding="utf-8") as f:
                text = f.read()
            with open(path, "w", encoding="utf-8") as f:
                f.write(without_probes(text, names))


def main():
    fail = live.Failures()
    compilers = [c for c in COMPILERS if shutil.which(c)]
    if not compilers:
        live.skip("neither gcc nor clang is here")
    names = macros() + list(OTHERS)
    compared = 0
    with tempfile.TemporaryDirectory() as work:
        trees = [os.path.join(work, t) for t in ("off", "deleted")]
        for tree in trees:
            shutil.copytree(os.path.join(live.SRC, "src"),
                            os.path.join(tree, "src"))
        shutil.rmtree(os.path.join(trees[1], "src", "trace"))
        strip_tree(trees[1], names)
        header = os.path.join(work, "header")
        os.mkdir(header)
        with open(os.path.join(header, "xtc_probes.h"), "w",
                  encoding="utf-8") as f:
            subprocess.run(
                ["awk", "-v", "mode=no", "-f",
                 os.path.join(live.SRC, "tools", "gen", "probes.awk"),
                 os.path.join(live.SRC, "src", "xtc_probes.d")],
                check=True, stdout=f)
        for path in sources():
            for cc in compilers:
                for level in LEVELS:
                    what = "%s with %s %s" % (path, cc, level)
                    made = [compile_tree(cc, level, tree, path, header)
                            for tree in trees]
                    if not fail.check(made[0][0] and made[1][0],
                                      "%s does not compile:\n%s" %
                                      (what, made[0][1] or made[1][1])):
                        continue
                    try:
                        off, deleted = [contents(m[0]) for m in made]
                    except elf.NotElf:
                        live.skip("the objects here are not ELF")
                    fail.check(off == deleted, what + " is not the same")
                    compared += 1
    print("%d objects are the same with probes off and deleted" % compared)
    fail.check(compared or fail.texts, "there was nothing to compare")
    fail.done()


if __name__ == "__main__":
    sys.exit(main())
