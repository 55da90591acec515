#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
"""
check_docs: what the texts point to exists.

    check_docs.py [SOURCE_DIR]

In every Markdown file of the tree: relative links lead to a file; a path in
backticks that begins with a directory of ours names one. docs/README.md
leads to every page in docs/. The glossary is sorted, and where it says a
word is defined the word occurs. Every directory with sources has a README.md.
"""

import glob
import os
import re
import sys

DIRECTORIES = ("src/", "test/", "docs/", "tools/", "dist/", "include/", "man/",
               "examples/", "bench/", "models/")
failures = []


def fail(where, text):
    failures.append("%s: %s" % (where, text))


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def markdown(top):
    for directory, below, files in os.walk(top):
        below[:] = sorted(d for d in below
                          if not d.startswith((".", "build")))
        for name in sorted(files):
            if name.endswith(".md"):
                yield os.path.relpath(os.path.join(directory, name), top)


def check_pointers(top, path):
    here = os.path.join(top, os.path.dirname(path))
    text = re.sub(r"^```.*?^```", "", read(os.path.join(top, path)),
                  flags=re.S | re.M)
    for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
        if "://" not in link and not os.path.exists(
                os.path.join(here, link)):
            fail(path, "link to %s, which is not there" % link)
    for name in re.findall(r"`([\w./-]+)`", text):
        if name.startswith(DIRECTORIES) and not (
                os.path.exists(os.path.join(top, name)) or
                os.path.exists(os.path.join(here, name))):
            fail(path, "%s is not there" % name)


def check_index(top):
    index = read(os.path.join(top, "docs/README.md"))
    for path in sorted(glob.glob(os.path.join(top, "docs/*.md"))):
        name = os.path.basename(path)
        if name != "README.md" and "(%s)" % name not in index:
            fail("docs/README.md", "does not lead to " + name)


def check_glossary(top):
    where = "docs/glossary.md"
    before = ""
    for line in read(os.path.join(top, where)).splitlines():
        m = re.match(r"\| \*\*(.+?)\*\* \|", line)
        if m is None:
            continue
        word = m.group(1)
        if word < before:
            fail(where, "%s stands after %s" % (word, before))
        before = word
        for name in re.findall(r"\[`([^`()]+)`\]", line):
            path = os.path.join(top, name if "/" in name else
                                "include/" + name)
            if not os.path.exists(path):
                fail(where, "%s: %s is not there" % (word, name))
            elif word.split()[-1].lower() not in read(path).lower():
                fail(where, "%s does not occur in %s" % (word, name))
        for name in re.findall(r"\[`(\w+)\(3\)`\]", line):
            if not any(re.search(r"^\.Nm %s\b" % name, read(p), re.M)
                       for p in glob.glob(os.path.join(top, "man/*.3"))):
                fail(where, "%s: no page %s" % (word, name))


def check_readmes(top):
    for directory in sorted(glob.glob(os.path.join(top, "src/*/"))):
        if not os.path.exists(os.path.join(directory, "README.md")):
            fail(os.path.relpath(directory, top), "has no README.md")


def main():
    top = sys.argv[1] if len(sys.argv) > 1 else os.environ.get(
        "XTC_SRC_DIR", os.path.dirname(os.path.dirname(
            os.path.abspath(__file__))))
    paths = list(markdown(top))
    for path in paths:
        check_pointers(top, path)
    check_index(top)
    check_glossary(top)
    check_readmes(top)
    for line in failures:
        print(line)
    print("%d pages, %d faults" % (len(paths), len(failures)))
    sys.exit(1 if failures else 0)


main()
