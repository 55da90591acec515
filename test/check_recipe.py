#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
"""
The recipe of dtrace -G, for the systems on which it rewrites objects, against
a stand-in that records how it was called: it is given all objects with a
probe site and no others, once for the archive and once for the shared library;
what it makes is joined with the anchor; a second make does nothing, and a
changed object runs it again; with both build systems. And where DTrace for
Linux is at hand, with its own -h and -G, which make a program that runs.
"""

import glob
import os
import re
import shutil
import tempfile

from buildlib import BUILD_SECONDS, copy_tree
from livelib import DTRACE_PLACES, Failures, catalogue, run, skip

# -h writes calls of functions that nobody has; -G has them, in its dof.o, and
# appends its arguments to a log.
DTRACE = """#!/bin/sh
log=%(log)s
args="$*"
mode='' out='' spec=''
while [ $# -gt 0 ]; do
	case $1 in
	-h | -G) mode=$1 ;;
	-s) spec=$2; shift ;;
	-o) out=$2; shift ;;
	esac
	shift
done
probes=$(sed -n 's/.*probe \\([a-z_]*\\)(.*/\\1/p' "$spec")
case $mode in
-h)
	for p in $probes; do
		upper=$(echo "$p" | sed 's/__/_/g' | tr a-z A-Z)
		echo "extern void __dtrace_xtc___$p();"
		echo "#define XTC_$upper(...)" \\
		    "((void (*)(const char *, ...))" \\
		    "__dtrace_xtc___$p)(\\"\\", __VA_ARGS__)"
	done > "$out"
	;;
-G)
	echo "$args" >> "$log"
	for p in $probes; do
		echo "void __dtrace_xtc___$p(void);"
		echo "void __dtrace_xtc___$p(void) { }"
	done > "$out.c"
	${CC:-cc} -fPIC -fvisibility=hidden -c -o "$out" "$out.c"
	;;
*)
	exit 1
	;;
esac
"""

failures = Failures()


def sources_with_sites(tree):
    found = []
    with open(os.path.join(tree, "dist", "sources.txt"),
              encoding="utf-8") as f:
        for line in f:
            words = line.split()
            if words[:1] != ["lib"] or words[1] == "src/trace/anchor.c":
                continue
            with open(os.path.join(tree, words[1]), encoding="utf-8") as g:
                if re.search(r"^XTC_PROBE_SITE\(", g.read(), re.M):
                    found.append(words[1])
    return sorted(found)


def calls(log):
    if not os.path.exists(log):
        return []
    with open(log, encoding="utf-8") as f:
        lines = f.read().splitlines()
    os.remove(log)
    return lines


def objects(line):
    """The objects of one call, and the file it writes."""
    words = line.split()
    out = words[words.index("-o") + 1]
    return out, sorted(w for w in words if w.endswith(".o") and w != out)


def check_calls(what, lines, number, wanted):
    failures.equal("%s: calls of dtrace -G" % what, len(lines), number)
    for line in lines:
        out, given = objects(line)
        failures.equal(what + ": what -G writes", os.path.basename(out),
                       "dof.o")
        # configure: DIR/src/core/park.o, meson: DIR/src_core_park.c.o
        flat = sorted(re.sub(r"(\.c)?\.o$", "", g[g.index("src"):])
                      .replace("/", "_") for g in given)
        failures.equal(what + ": objects given to -G", flat,
                       sorted(re.sub(r"\.c$", "", w).replace("/", "_")
                              for w in wanted))


def check_built(what, build):
    _, out, _ = run(["nm", os.path.join(build, "libxtc.a")])
    for name in ("xtc__trace_anchor_table",
                 "__dtrace_xtc___" + catalogue()[0][0]):
        failures.check(re.search(r" [A-TV-Z] %s$" % name, out, re.M),
                       "%s: the archive has no %s" % (what, name))
    code, out, err = run([os.path.join(build, "usdt_target")])
    failures.equal(what + ": the program printed", (code, out), (0, "done\n"))
    code, out, err = run(["nm", "-D", os.path.join(build, "libxtc.so")])
    failures.check("__dtrace" not in out, what + ": a probe is exported")


def check_configure(tree, wanted, dtrace, log):
    what = "configure"
    build = os.path.join(tree, "b")
    os.makedirs(build)
    code, out, err = run(
        ["../dist/configure", "--enable-dtrace=yes",
         "CFLAGS=-O0 -w", "DTRACE=" + dtrace, "DTRACE_KIND=rewrite"],
        BUILD_SECONDS, cwd=build)
    if not failures.check(code == 0, what + ": " + err):
        return

    def make():
        code, out, err = run(["make", "-j32", "-C", build, "lib", "programs"],
                             BUILD_SECONDS)
        return failures.check(code == 0,
                              "make: " + out[-1000:] + err[-2000:])

    if not make():
        return
    check_calls(what, calls(log), 2, wanted)
    check_built(what, build)
    joined = os.path.join(build, "probed", "static", "xtc_probes.o")
    _, out, _ = run(["nm", joined])
    failures.check("xtc__trace_anchor_table" in out and "__dtrace_" in out,
                   "xtc_probes.o is not dof.o and the anchor: " + out)
    make()
    failures.equal("calls in a second make", calls(log), [])
    os.remove(os.path.join(build, "shared", "src", "core", "park.o"))
    make()
    lines = calls(log)
    check_calls("after a changed object", lines, 1, wanted)
    failures.check("shared" in "".join(lines), "the other library's objects "
                   "were given: " + "".join(lines))
    os.remove(os.path.join(build, "static", "src", "core", "park.o"))
    make()
    check_calls("after a changed object", calls(log), 1, wanted)


def check_meson(tree, wanted, dtrace, log):
    if not shutil.which("meson"):
        print("meson is not here: its recipe was not run")
        return
    what = "meson"
    build = os.path.join(tree, "m")
    code, out, err = run(
        ["meson", "setup", build, tree, "-Ddtrace=yes", "-Dc_args=-w",
         "-Doptimization=0", "-Ddtrace_path=" + dtrace,
         "-Ddtrace_kind=rewrite"], BUILD_SECONDS)
    if not failures.check(code == 0, what + ": " + out + err):
        return

    def ninja():
        code, out, err = run(["meson", "compile", "-C", build,
                              "xtc:static_library", "xtc:shared_library",
                              "usdt_target"], BUILD_SECONDS)
        return failures.check(code == 0, "ninja: " + out[-3000:] + err)

    if not ninja():
        return
    check_calls(what, calls(log), 2, wanted)
    check_built(what, build)
    ninja()
    failures.equal("meson: calls in a second run", calls(log), [])
    os.remove(os.path.join(build, "libprobed.a.p", "src_core_park.c.o"))
    ninja()
    check_calls("meson: after a changed object", calls(log), 1, wanted)


def check_real(tree):
    for dtrace in DTRACE_PLACES:
        base = os.path.dirname(os.path.dirname(dtrace))
        include = [d for place in ("root/usr/lib", "lib") for d in glob.glob(
            os.path.join(base, place, "*", "dtrace", "include"))]
        if os.access(dtrace, os.X_OK) and include:
            break
    else:
        print("DTrace for Linux is not here: its -h and -G were not run")
        return
    what = "DTrace for Linux"
    build = os.path.join(tree, "real")
    os.makedirs(build)
    code, out, err = run(
        ["../dist/configure", "--enable-dtrace=yes", "CFLAGS=-O1 -w",
         "CPPFLAGS=-I" + include[0], "DTRACE=" + dtrace,
         "DTRACE_KIND=rewrite"], BUILD_SECONDS, cwd=build)
    if not failures.check(code == 0, what + ": " + err):
        return
    code, out, err = run(["make", "-j2", "-C", build, "lib", "programs"],
                         BUILD_SECONDS)
    if not failures.check(code == 0, what + ": " + err[-2000:]):
        return
    code, out, err = run([os.path.join(build, "usdt_target")])
    failures.equal(what + ": the program printed", (code, out), (0, "done\n"))
    for name in ("libxtc.so", "usdt_target"):
        _, out, _ = run(["nm", os.path.join(build, name)])
        failures.check("dtrace_dof_init" in out,
                       "%s: no probes came into %s" % (what, name))


def main():
    if os.environ.get("XTC_SANITIZER"):
        skip("the plain build tests the build system")
    if os.uname().sysname == "Darwin":
        skip("there is no dtrace -G on this system")
    with tempfile.TemporaryDirectory() as work:
        log = os.path.join(work, "log")
        dtrace = os.path.join(work, "dtrace")
        with open(dtrace, "w", encoding="utf-8") as f:
            f.write(DTRACE % {"log": log})
        os.chmod(dtrace, 0o755)
        tree = copy_tree(os.path.join(work, "tree"))
        wanted = sources_with_sites(tree)
        failures.check(len(wanted) > 3, "hardly any source has a site")
        check_configure(tree, wanted, dtrace, log)
        check_meson(tree, wanted, dtrace, log)
        check_real(tree)
    failures.done()


main()
