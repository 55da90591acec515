# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
"""What the tests of the build system share."""

import os
import shutil

from livelib import SRC

BUILD_SECONDS = 400
PARTS = ("dist", "include", "src", "tools", "man", "test", "bench", "examples",
         "docs", "meson.build", "meson_options.txt")


def parts():
    """What a build needs: the build systems, and all that is listed."""
    found = {"dist", "meson.build", "meson_options.txt"}
    with open(os.path.join(SRC, "dist", "sources.txt"),
              encoding="utf-8") as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                found.add(line.split()[1].split("/")[0])
    return sorted(found)


def copy_tree(to):
    """The sources in a place where they may be touched."""
    os.makedirs(to)
    for name in parts():
        path = os.path.join(SRC, name)
        if os.path.isdir(path):
            shutil.copytree(path, os.path.join(to, name), symlinks=True,
                            ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(path, to)
    return to
