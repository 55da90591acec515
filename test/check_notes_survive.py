#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
"""Whatever compiler, level, kind of output and linker: a program that uses
the loop, and the shared library, carry each probe once and inside code.

Every pair of choices occurs in some link (a pairwise covering set). Choices
that this machine does not have are told and left out; gcc's -flto with lld is
not promised.
"""

import itertools
import os
import shlex
import shutil
import subprocess
import sys
import tempfile

import elf
import livelib as live

CHOICES = [
    ("compiler", ["gcc", "clang"]),
    ("level", ["-O0", "-O1", "-O2", "-O3"]),
    ("lto", ["", "-flto"]),
    ("sections", ["", "gc"]),
    ("strip", ["", "-s"]),
    ("output", ["pie", "no-pie", "static", "static-pie", "shared"]),
    ("linker", ["bfd", "gold", "lld", "mold"]),
]
COMPILE = {"pie": ["-fPIE"], "no-pie": ["-fno-pie"], "static": ["-fno-pie"],
           "static-pie": ["-fPIE"], "shared": ["-fPIC"]}
LINK = {"pie": ["-pie"], "no-pie": ["-no-pie"], "static": ["-static"],
        "static-pie": ["-static-pie"], "shared": ["-shared"]}
PROGRAM = os.path.join("examples", "01_hello", "hello.c")


def run(command, **kw):
    return subprocess.run(command, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, **kw)


def archiver(row):
    if not row["lto"]:
        return shutil.which("ar")
    if row["compiler"] == "gcc":
        return shutil.which("gcc-ar")
    # Debian calls it by its version only; it stands beside the compiler.
    p = run(["clang", "--print-prog-name=llvm-ar"])
    return shutil.which(p.stdout.strip()) or shutil.which("llvm-ar")


def link_flags(row):
    flags = [row["level"], row["lto"], row["strip"], *LINK[row["output"]],
             "-fuse-ld=" + row["linker"]]
    if row["sections"]:
        flags.append("-Wl,--gc-sections")
    return [f for f in flags if f]


def promised(row):
    return not (row["compiler"] == "gcc" and row["lto"] and
                row["linker"] == "lld")


class Machine:
    """What can be linked here at all, asked with a program of one line."""

    def __init__(self, work):
        self.source = os.path.join(work, "try.c")
        self.out = os.path.join(work, "try")
        self.known = {}
        with open(self.source, "w", encoding="utf-8") as f:
            f.write("int main(void) { return 0; }\n")

    def can(self, row):
        key = tuple(row[k] for k in ("compiler", "lto", "output", "linker"))
        if key not in self.known:
            self.known[key] = bool(
                promised(row) and shutil.which(row["compiler"]) and
                archiver(row) and
                run([row["compiler"], *COMPILE[row["output"]],
                     *link_flags(row), self.source,
                     "-o", self.out]).returncode == 0)
        return self.known[key]


def covering(machine):
    """A small set of rows in which every possible pair occurs."""
    names = [name for name, _ in CHOICES]
    rows = [dict(zip(names, values)) for values in
            itertools.product(*[values for _, values in CHOICES])]
    rows = [row for row in rows if machine.can(row)]

    def pairs(row):
        return set(itertools.combinations(sorted(row.items()), 2))

    todo = set().union(*map(pairs, rows)) if rows else set()
    chosen = []
    while todo:
        best = max(rows, key=lambda row: len(pairs(row) & todo))
        chosen.append(best)
        todo -= pairs(best)
    return chosen


def sources():
    with open(os.path.join(live.BUILD, "selected.txt"),
              encoding="utf-8") as f:
        return [line.split()[1] for line in f if line.startswith("lib ")]


class Build:
    """The library's archive, made once for the same way of compiling."""

    def __init__(self, work):
        self.work = work
        self.made = {}
        words = shlex.split(os.environ.get("XTC_CPPFLAGS", "")) + \
            shlex.split(os.environ.get("XTC_CFLAGS", ""))
        self.flags = [w for w in words if w.startswith(("-D", "-std", "-f"))]
        self.libs = shlex.split(os.environ.get("XTC_LIBS", "")) + ["-pthread"]
        self.header = os.path.join(work, "include-generated")
        shutil.copytree(os.path.join(live.BUILD, "include-generated"),
                        self.header)
        with open(os.path.join(self.header, "xtc_probes.h"), "w",
                  encoding="utf-8") as f:
            subprocess.run(
                ["awk", "-v", "mode=sdt", "-f",
                 os.path.join(live.SRC, "tools", "gen", "probes.awk"),
                 os.path.join(live.SRC, "src", "xtc_probes.d")],
                check=True, stdout=f)

    def compile(self, row, path, out):
        command = [row["compiler"], *(self.flags or ["-std=c11"]),
                   "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls",
                   "-fvisibility=hidden", row["level"],
                   *COMPILE[row["output"]], "-I", self.header, "-I",
                   os.path.join(live.SRC, "src"), "-I",
                   os.path.join(live.SRC, "include"), "-c",
                   os.path.join(live.SRC, path), "-o", out]
        if row["lto"]:
            command.append(row["lto"])
        if row["sections"]:
            command += ["-ffunction-sections", "-fdata-sections"]
        p = run(command)
        if p.returncode != 0:
            raise RuntimeError("%s: %s" % (path, p.stdout))
        return out

    def archive(self, row):
        key = (row["compiler"], row["level"], row["lto"], row["sections"],
               *COMPILE[row["output"]])
        if key not in self.made:
            directory = tempfile.mkdtemp(dir=self.work)
            paths = sources()
            if "src/trace/anchor.c" not in paths:
                paths.append("src/trace/anchor.c")
            objects = [self.compile(row, path, os.path.join(
                directory, path.replace("/", "_") + ".o")) for path in paths]
            library = os.path.join(directory, "libxtc.a")
            subprocess.run([archiver(row), "crs", library, *objects],
                           check=True)
            self.made[key] = (library, objects)
        return self.made[key]

    def link(self, row):
        library, objects = self.archive(row)
        out = os.path.join(self.work, "out")
        command = [row["compiler"], *link_flags(row), "-o", out]
        if row["output"] == "shared":
            command += [*objects, "-Wl,--version-script=" +
                        os.path.join(live.BUILD, "libxtc.map")]
        else:
            main = self.compile(row, PROGRAM,
                                os.path.join(self.work, "main.o"))
            command += [main, library]
        p = run(command + self.libs)
        if p.returncode != 0:
            raise RuntimeError("link: " + p.stdout)
        return out


def check(fail, what, path, names):
    f = elf.File(path)
    notes = f.notes("xtc")
    fail.equal(what + ": probes", sorted(n.name for n in notes),
               sorted(names))
    for n in notes:
        fail.check(f.in_code(n.location), "%s: %s is at %#x, which is no"
                   " code" % (what, n.name, n.location))


def main():
    if live.MODE not in ("no", "sdt") or \
            os.environ.get("XTC_SANITIZER", "no") not in ("", "no"):
        live.skip("this is asked of plain builds")
    fail = live.Failures()
    names = [name for name, _ in live.catalogue()]
    with tempfile.TemporaryDirectory() as work:
        machine = Machine(work)
        rows = covering(machine)
        if not rows:
            live.skip("nothing can be linked here")
        used = {(k, v) for row in rows for k, v in row.items()}
        for name, values in CHOICES:
            for value in values:
                if (name, value) not in used:
                    print("not on this machine: %s %s" % (name, value))
        try:
            build = Build(work)
        except OSError as e:
            live.skip(str(e))
        for row in rows:
            what = " ".join(v for v in row.values() if v)
            try:
                check(fail, what, build.link(row), names)
            except elf.NotElf:
                live.skip("the objects here are not 64-bit ELF")
            except RuntimeError as e:
                fail.check(False, "%s: %s" % (what, e))
    print("%d links, %d probes each" % (len(rows), len(names)))
    fail.done()


if __name__ == "__main__":
    sys.exit(main())
