#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
"""
The build system keeps its promises: a second make finds nothing to do, a
change is compiled and nothing else; what is asked for and impossible is an
error that names what is missing; installing puts every header, page, script
and library in place, and removing takes all of it away; an installed libxtc
compiles a program through pkg-config, shared and static; configure is what
autoconf makes of configure.ac.
"""

import glob
import os
import re
import shutil
import tempfile

from buildlib import BUILD_SECONDS, copy_tree
from livelib import Failures, SRC, run, skip

CONFIGURE = os.path.join(SRC, "dist", "configure")
PROGRAM = """#include <stdio.h>
#include <xtc.h>

int
main(void)
{
	printf("%s\\n", xtc_version_string());
	return 0;
}
"""

failures = Failures()


def make(build, *arguments):
    return run(["make", "-C", build, "--no-print-directory", *arguments],
               BUILD_SECONDS)


def configure(build, *arguments, **env):
    os.makedirs(build, exist_ok=True)
    return run([CONFIGURE, *arguments], BUILD_SECONDS, cwd=build,
               env=dict(os.environ, **env))


def compiled(out):
    """The sources that make compiled, by the command lines it printed."""
    return set(re.findall(r" -c -o \S+ (\S+)", out))


def tree_of(directory):
    return sorted(os.path.relpath(os.path.join(d, f), directory)
                  for d, _, names in os.walk(directory) for f in names)


def check_twice(build):
    code, out, err = make(build, "-j32")
    if not failures.check(code == 0, "make -j32: " + err[-2000:]):
        return
    sources = len(compiled(out))
    failures.check(sources > 20, "only %d sources were compiled" % sources)
    failures.check("warning" not in err, "warnings:\n" + err[-2000:])
    code, out, err = make(build, "-j32")
    failures.equal("what the second make compiled", compiled(out), set())
    failures.check("Nothing to be done" in out,
                   "the second make did something:\n" + out)


def check_changes(build, tree):
    """In a copy of the tree, for its files are touched."""
    source = os.path.join(tree, "src", "base", "error.c")
    os.utime(source)
    _, out, _ = make(build, "lib")
    failures.equal("compiled after a change of one source",
                   {os.path.basename(p) for p in compiled(out)}, {"error.c"})
    failures.check("libxtc.so" in out and "libxtc.a" in out,
                   "a changed source did not reach the libraries:\n" + out)
    os.utime(os.path.join(tree, "include", "xtc_sync.h"))
    _, out, _ = make(build, "lib")
    names = {os.path.basename(p) for p in compiled(out)}
    failures.check("amutex.c" in names, "a changed header compiled " +
                   " ".join(sorted(names)))
    os.utime(os.path.join(tree, "src", "xtc_probes.d"))
    _, out, _ = make(build, "lib")
    names = {os.path.basename(p) for p in compiled(out)}
    failures.check("park.c" in names, "a changed catalogue compiled " +
                   " ".join(sorted(names)))
    # A file that is new in the list is built without configure's being run.
    with open(os.path.join(tree, "src", "base", "extra.c"), "w",
              encoding="utf-8") as f:
        f.write("extern int xtc__extra;\nint xtc__extra;\n")
    with open(os.path.join(tree, "dist", "sources.txt"), "a",
              encoding="utf-8") as f:
        f.write("lib src/base/extra.c\n")
    _, out, err = make(build, "lib")
    failures.equal("compiled after a source was added",
                   {os.path.basename(p) for p in compiled(out)}, {"extra.c"})
    code, out, _ = make(build, "lib")
    failures.check(not compiled(out) and code == 0,
                   "make did not come to rest: " + out)


def refused(what, arguments, words, work, **env):
    build = os.path.join(work, "refused")
    shutil.rmtree(build, ignore_errors=True)
    code, out, err = configure(build, *arguments, **env)
    failures.check(code != 0, what + " was not refused")
    for word in words:
        failures.check(word in err, "%s: no %r in: %s" % (what, word, err))


def stand_in(work, name, text):
    path = os.path.join(work, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    os.chmod(path, 0o755)
    return path


def check_refusals(tree, work):
    linux = os.uname().sysname == "Linux"
    empty = os.path.join(work, "empty", "sys")
    os.makedirs(empty, exist_ok=True)
    with open(os.path.join(empty, "sdt.h"), "w", encoding="utf-8") as f:
        f.write("#define DTRACE_PROBE2(a, b, c, d) ((void)(c))\n")
    no_notes = "CPPFLAGS=-I" + os.path.dirname(empty)
    none = stand_in(work, "broken-dtrace", "#!/bin/sh\nexit 1\n")
    other = stand_in(work, "other-dtrace", """#!/bin/sh
while [ $# -gt 0 ]; do
	[ "$1" != -o ] || echo '#define X __dtrace_x___a' > "$2"
	shift
done
""")
    if linux:
        packages = ["systemtap-sdt-dev", "systemtap-sdt-devel"]
        refused("sdt without notes", ["--enable-dtrace=sdt", no_notes],
                packages, work)
        refused("yes with a dtrace of another kind",
                ["--enable-dtrace", "DTRACE=" + other],
                ["DTRACE=PATH"] + packages, work)
    refused("a dtrace that does not work",
            ["--enable-dtrace=yes", "DTRACE=" + none], ["DTRACE=PATH"], work)
    refused("a dtrace that is not there",
            ["--enable-dtrace=yes", "DTRACE=" + none + "x"],
            ["is no program"], work)
    refused("LTO with an object-rewriting dtrace",
            ["--enable-dtrace=yes", "DTRACE=" + other, "DTRACE_KIND=rewrite",
             "CFLAGS=-flto"], ["-flto"], work)
    refused("a mode that is none", ["--enable-dtrace=maybe"],
            ["yes, sdt, auto or no"], work)
    refused("a sanitizer that is none", ["--enable-sanitizer=water"],
            ["address,undefined or thread"], work)
    code, out, err = run(["./configure"], cwd=os.path.join(tree, "dist"))
    failures.check(code != 0 and "directory of its own" in err,
                   "a build in the source tree was not refused: " + err)
    script = os.path.join(SRC, "dist", "dtrace.sh")
    for system, word, wanted in (("windows", "yes", "no probes on Windows"),
                                 ("windows", "sdt", "no probes on Windows"),
                                 ("freebsd", "sdt", "for Linux only")):
        code, out, err = run(["sh", script, word, system, "no", "cc"])
        failures.check(code == 1 and out.startswith("error: ") and
                       wanted in out, "%s on %s: %s" % (word, system, out))
    code, out, err = run(["sh", script, "auto", "windows", "no", "cc"])
    failures.equal("auto on windows", (code, out), (0, "no - -\n"))
    # auto says what it chose.
    build = os.path.join(work, "auto")
    code, out, err = configure(build, "--enable-dtrace=auto", no_notes,
                               "DTRACE=" + none)
    failures.check(code == 0 and "probes: no" in out,
                   "auto without anything: " + out + err)


def listed(kind):
    with open(os.path.join(SRC, "dist", "sources.txt"),
              encoding="utf-8") as f:
        return [line.split()[1] for line in f
                if line.split()[:1] == [kind]]


def check_install(build, work):
    stage = os.path.join(work, "stage")
    code, out, err = make(build, "install", "DESTDIR=" + stage)
    if not failures.check(code == 0, "make install: " + err):
        return
    root = os.path.join(stage, "opt", "xtc")
    found = tree_of(root)
    wanted = ["lib/libxtc.a", "lib/libxtc.so", "lib/libxtc.so.0",
              "lib/pkgconfig/libxtc.pc"]
    wanted += ["include/" + os.path.basename(h) for h in listed("hdr")]
    wanted += ["share/man/man%s/%s" % (p[-1], os.path.basename(p))
               for p in listed("man")]
    for tool in listed("tool"):
        rest = tool.split("/", 1)[1]
        wanted.append(("share/libxtc/" if "/" in rest else "bin/") + rest)
    missing = [w for w in wanted if w not in found]
    failures.equal("not installed", missing, [])
    headers = sorted(os.path.basename(h) for h in
                     glob.glob(os.path.join(SRC, "include", "*.h")))
    failures.equal("headers in the list",
                   sorted(os.path.basename(h) for h in listed("hdr")),
                   headers)
    failures.equal("what lies outside of the prefix",
                   [f for f in tree_of(stage) if not f.startswith("opt/xtc/")],
                   [])
    page = os.path.join(root, "share", "man", "man3", "xtc_loop_run.3")
    with open(page, encoding="utf-8") as f:
        failures.equal("a page's other name", f.read(),
                       ".so man3/xtc_loop_init.3\n")
    use_installed(stage, root, work)
    make(build, "uninstall", "DESTDIR=" + stage)
    failures.equal("left by uninstall", tree_of(stage), [])


def use_installed(stage, root, work):
    if not shutil.which("pkg-config"):
        print("no pkg-config: no program was compiled through it")
        return
    source = os.path.join(work, "use.c")
    with open(source, "w", encoding="utf-8") as f:
        f.write(PROGRAM)
    env = dict(os.environ, PKG_CONFIG_SYSROOT_DIR=stage,
               PKG_CONFIG_PATH=os.path.join(root, "lib", "pkgconfig"))
    cc = os.environ.get("CC", "cc")
    lib = os.path.join(root, "lib")
    for what, options, end in (
            ("shared", "", "-Wl,-rpath," + lib),
            ("static", "--static", "-static")):
        program = os.path.join(work, "use-" + what)
        line = "%s -o %s %s $(pkg-config --cflags --libs %s libxtc) %s" % (
            cc, program, source, options, end)
        code, out, err = run(["sh", "-c", line], env=env)
        if not failures.check(code == 0, "%s: %s" % (line, err)):
            continue
        code, out, err = run([program])
        failures.check(code == 0 and re.fullmatch(r"\d+\.\d+\.\d+\n", out),
                       "the %s program printed %r" % (what, out))


def check_configure(work):
    if not shutil.which("autoconf"):
        print("no autoconf: configure was not made again")
        return
    with open(CONFIGURE, encoding="utf-8") as f:
        committed = f.read()
    version = re.search(r"Generated by GNU Autoconf ([\d.]+)", committed)
    _, out, _ = run(["autoconf", "--version"])
    if not version or version.group(1) not in out.splitlines()[0]:
        print("another autoconf than configure was made with")
        return
    fresh = os.path.join(work, "configure")
    code, out, err = run(["autoconf", "-o", fresh, os.path.join(
        SRC, "dist", "configure.ac")], cwd=work)
    failures.check(code == 0, "autoconf: " + err)
    with open(fresh, encoding="utf-8") as f:
        failures.check(f.read() == committed,
                       "configure is not what autoconf makes of configure.ac")


def main():
    if os.environ.get("XTC_SANITIZER"):
        skip("the plain build tests the build system")
    with tempfile.TemporaryDirectory() as work:
        tree = copy_tree(os.path.join(work, "tree"))
        build = os.path.join(tree, "b")
        os.makedirs(build)
        code, out, err = run(
            ["../dist/configure", "--prefix=/opt/xtc", "CFLAGS=-O0",
             "--enable-dtrace=" + os.environ.get("XTC_DTRACE", "no")],
            BUILD_SECONDS, cwd=build)
        if failures.check(code == 0, "configure: " + err):
            check_twice(build)
            check_install(build, work)
            check_changes(build, tree)
        check_refusals(tree, work)
        check_configure(work)
    failures.done()


main()
