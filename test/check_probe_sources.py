#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
"""The catalogue, the sites in the sources, the anchor's list and the scripts
agree: one site a probe, in a function that is marked and listed; scripts that
name only what exists, in pairs, by the names that xtc_kinds.h has."""

import glob
import os
import re
import shutil
import subprocess
import sys

import livelib as live

AWKS = (["awk"], ["mawk"], ["gawk", "--posix"], ["busybox", "awk"],
        ["original-awk"])
MODES = ("no", "sdt", "dtrace", "sim", "list", "table", "man")


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def in_source(*parts):
    return os.path.join(live.SRC, *parts)


def relative(path):
    return os.path.relpath(path, live.SRC)


def without_comments(text):
    return re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group(0).count("\n"),
                  text, flags=re.S)


def check_arguments(fail, where, text, args):
    """Nothing is called to compute an argument, but what is inline."""
    for called in re.findall(r"\b([a-z_]\w*)\(", args):
        fail.check(re.search(r"^static inline .*\n%s\(" % called, text,
                             re.M),
                   "%s calls %s for an argument" % (where, called))


def check_sites(fail, probes):
    macros = {"XTC_" + name.replace("__", "_").upper(): name
              for name, _ in probes}
    used = {m: [] for m in macros}
    pattern = re.compile(r"\b(%s)(_ENABLED)?\(" % "|".join(
        sorted(macros, key=len, reverse=True)))
    for path in sorted(glob.glob(in_source("src", "**", "*.[ch]"),
                                 recursive=True)):
        text = without_comments(read(path))
        marked = re.findall(r"^XTC_PROBE_SITE\((\w+)\)$", text, re.M)
        functions = [(m.start(), m.group(1)) for m in
                     re.finditer(r"^([a-z]\w+)\([^;]*?\)\n\{", text, re.M)]
        for m in pattern.finditer(text):
            where = "%s, %s" % (relative(path), m.group(1))
            fail.check(not m.group(2), where + " is asked if it is enabled")
            before = text[text.rfind("\n", 0, m.start()) + 1:m.start()]
            fail.check(not before.strip(), where +
                       " does not stand on a line of its own")
            inside = [name for at, name in functions if at < m.start()]
            function = inside[-1] if inside else None
            fail.check(function in marked, "%s is in %s, which no"
                       " XTC_PROBE_SITE marks" % (where, function))
            used[m.group(1)].append(where)
            check_arguments(fail, where, text,
                            text[m.end():text.index(";", m.end())])
        for function in marked:
            fail.check(re.search(r"^(static )?XTC_PROBE_SITE_ATTR .*\n%s\(" %
                                 function, text, re.M),
                       "%s in %s has no XTC_PROBE_SITE_ATTR" %
                       (function, relative(path)))
    for macro, places in used.items():
        fail.check(len(places) == 1, "%s has %d sites: %s" %
                   (macro, len(places), "; ".join(places)))
    for path in glob.glob(in_source("include", "*.h")):
        fail.check(not re.search(r"\bXTC_PROBE_|xtc_probes\.h",
                                 without_comments(read(path))),
                   relative(path) + " has to do with probes")


def check_list(fail):
    sources = sorted(glob.glob(in_source("src", "**", "*.c"),
                               recursive=True))
    p = subprocess.run(
        ["awk", "-f", in_source("tools", "gen", "sites.awk"), *sources],
        check=True, stdout=subprocess.PIPE, text=True)
    fail.check(p.stdout == read(in_source("src", "trace", "sites.def")),
               "src/trace/sites.def is not what tools/gen/sites.awk makes")


def check_generator(fail):
    for mode in MODES:
        outputs = {}
        for awk in AWKS:
            if not shutil.which(awk[0]):
                continue
            p = subprocess.run(
                [*awk, "-v", "mode=" + mode, "-f",
                 in_source("tools", "gen", "probes.awk"),
                 in_source("src", "xtc_probes.d")],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            fail.equal("exit code of %s, mode %s" % (awk, mode),
                       p.returncode, 0)
            outputs.setdefault(p.stdout, []).append(" ".join(awk))
        fail.check(len(outputs) == 1, "mode %s differs: %s" %
                   (mode, list(outputs.values())))


def script_tables(path, text):
    """(name, {number: text}) of each table that a script fills."""
    tables = {}
    for name, number, value in re.findall(
            r'^\t@?(\w+)\[(\d+)\] = "([^"]*)";$', text, re.M):
        tables.setdefault(name, {})[int(number)] = value
    return tables


def check_tables(fail, path, text):
    known = [live.kinds(t) for t in
             ("WHY", "CAUSE", "LOCK", "TIMER", "DROP", "ALLOC")]
    for name, table in script_tables(path, text).items():
        fail.check(table in known, "the table %s of %s is none of"
                   " xtc_kinds.h" % (name, relative(path)))


def check_scripts(fail, probes):
    names = [name for name, _ in probes]
    dashed = [name.replace("__", "-") for name in names]
    uses = {}
    for path in sorted(glob.glob(in_source("tools", "bpftrace", "*.bt"))):
        text = without_comments(read(path))
        found = re.findall(r"^usdt:\*:xtc:(\w+)", text, re.M)
        fail.check(found, relative(path) + " traces nothing")
        for name in found:
            fail.check(name in names, "%s traces %s, which does not exist" %
                       (relative(path), name))
        check_tables(fail, path, text)
        uses[os.path.basename(path)[:-3]] = {n.replace("__", "-")
                                             for n in found}
    twins = {}
    for path in sorted(glob.glob(in_source("tools", "dtrace", "*.d"))):
        text = without_comments(read(path))
        found = re.findall(r"^xtc\$target:::([\w-]+)", text, re.M)
        fail.check(found, relative(path) + " traces nothing")
        for name in found:
            fail.check(name in dashed, "%s traces %s, which does not exist" %
                       (relative(path), name))
        check_tables(fail, path, text)
        twins[os.path.basename(path)[:-2]] = set(found)
    fail.equal("scripts in D", sorted(twins), sorted(uses))
    for name, found in sorted(uses.items()):
        if name in twins:
            fail.equal("probes of %s.d" % name, sorted(twins[name]),
                       sorted(found))


def check_page(fail):
    """What the page has from the generators is what they make."""
    text = read(in_source("docs", "tracing.md"))
    for mark, command in (
            ("tools/gen/probes.awk mode=table",
             ["awk", "-v", "mode=table", "-f",
              in_source("tools", "gen", "probes.awk"),
              in_source("src", "xtc_probes.d")]),
            ("tools/gen/kinds.awk",
             ["awk", "-f", in_source("tools", "gen", "kinds.awk"),
              in_source("include", "xtc_kinds.h")])):
        made = subprocess.run(command, check=True, text=True,
                              stdout=subprocess.PIPE).stdout
        fail.check("<!-- BEGIN %s: do not edit by hand -->\n%s<!-- END -->"
                   % (mark, made) in text,
                   "docs/tracing.md does not have what %s makes" % mark)


def check_headings(fail):
    """Each script opens with its question, usage, sample and reading."""
    for path in sorted(glob.glob(in_source("tools", "*trace", "xtc_*.*"))):
        heading = re.search(r"/\*\n \* xtc_.*?\*/", read(path), re.S)
        if not fail.check(heading, relative(path) + " has no heading"):
            continue
        for part in ("?", "\n * Usage", "\n * Sample", "\n * How to read"):
            fail.check(part in heading.group(0), "%s: nothing with %r" %
                       (relative(path), part.strip()))


def main():
    fail = live.Failures()
    probes = live.catalogue()
    check_sites(fail, probes)
    check_list(fail)
    check_generator(fail)
    check_scripts(fail, probes)
    check_page(fail)
    check_headings(fail)
    fail.done()


if __name__ == "__main__":
    sys.exit(main())
