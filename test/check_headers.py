#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
"""
Every header compiles alone: the public ones as C11 without extensions and as
C++, without a warning; the internal ones as the library is compiled. What they
export is what the shared library exports, under names that C++ finds too, and
nothing in the archive has a name that is not ours.
"""

import concurrent.futures
import glob
import os
import re
import shlex
import shutil
import sys
import tempfile

from livelib import BUILD, Failures, SRC, run

STRICT = ["-Wall", "-Wextra", "-Wshadow", "-Werror", "-pedantic"]
C11 = ["-std=c11", "-Wstrict-prototypes", "-Wmissing-prototypes"] + STRICT
SANITIZER = os.environ.get("XTC_SANITIZER", "")
# Directories of src/ that hold what one system or processor alone has.
SYSTEMS = ("linux", "freebsd", "netbsd", "openbsd", "dragonfly", "bsd",
           "darwin", "sunos", "illumos", "windows")

failures = Failures()


def compilers(variable, usual):
    first = os.environ.get(variable, usual[0]).split()
    return first if shutil.which(first[0]) else None


def cxx():
    """The C++ compiler beside the C compiler of this build."""
    command = os.environ.get("CC", "cc").split()
    beside = {"gcc": "g++", "clang": "clang++", "cc": "c++"}
    name = os.environ.get("CXX") or beside.get(command[0], "c++")
    return name.split() if shutil.which(name.split()[0]) else None


def compile_alone(command, header, suffix, work):
    source = os.path.join(work, re.sub(r"\W", "_", header) + suffix)
    with open(source, "w", encoding="utf-8") as f:
        f.write('#include "%s"\n' % header)
        if suffix != ".S":
            # It must also bear being included again.
            f.write('#include "%s"\nextern int xtc_nothing;\n' % header)
    code, out, err = run(command + ["-c", "-o", os.devnull, source])
    failures.check(code == 0, "%s does not compile alone with %s\n%s%s" % (
        header, " ".join(command), out, err))


def for_assembler(name):
    """Only assembler sources include it."""
    users = set()
    for path in glob.glob(os.path.join(SRC, "src", "**", "*.[chS]"),
                          recursive=True):
        with open(path, encoding="utf-8") as f:
            if '#include "%s"' % name in f.read():
                users.add(path[-1])
    return users == {"S"}


def check_alone(work):
    cc = compilers("CC", ["cc"])
    include = ["-I", os.path.join(SRC, "include")]
    cpp = cxx()
    if not cpp:
        print("no C++ compiler: headers were not tried as C++")
    internal = cc + shlex.split(os.environ.get("XTC_CPPFLAGS", "")) + \
        shlex.split(os.environ.get("XTC_CFLAGS", "")) + ["-Werror"]
    jobs = []
    for path in sorted(glob.glob(os.path.join(SRC, "include", "*.h"))):
        name = os.path.basename(path)
        jobs.append((cc + C11 + include, name, ".c"))
        for std in ("c++11", "c++17") if cpp else ():
            jobs.append((cpp + ["-std=" + std] + STRICT + include, name,
                         "_%s.cc" % std[-2:]))
    here = sys.platform.rstrip("0123456789")
    for path in sorted(glob.glob(os.path.join(SRC, "src", "**", "*.h"),
                                 recursive=True)):
        name = os.path.relpath(path, os.path.join(SRC, "src"))
        parts = set(os.path.dirname(name).split("/"))
        if parts & set(SYSTEMS) - {here}:
            continue
        jobs.append((internal, name, ".S" if for_assembler(name) else ".c"))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda job: compile_alone(*job, work), jobs))
    print("%d compilations of headers alone" % len(jobs))


def exported():
    headers = sorted(glob.glob(os.path.join(SRC, "include", "*.h")))
    code, out, err = run(["awk", "-v", "format=names", "-f",
                          os.path.join(SRC, "dist", "exports.awk")] + headers)
    failures.check(code == 0, "exports.awk: " + err)
    return out.split()


def symbols(arguments):
    code, out, err = run(["nm", "-g"] + arguments)
    failures.check(code == 0, "nm: " + err)
    found = set()
    for line in out.splitlines():
        m = re.match(r"[0-9a-f]+ ([A-TV-Z]) (\S+)$", line)
        if m and m.group(1) not in "w":
            found.add(m.group(2).split("@")[0])
    return found


def check_symbols(names):
    library = os.path.join(BUILD, "libxtc.so")
    if not os.path.exists(library):
        failures.check(False, "there is no libxtc.so")
        return
    seen = {s for s in symbols(["-D", library]) if s != "XTC_0"}
    failures.equal("exported, but in no header", sorted(seen - set(names)), [])
    failures.equal("in a header, but not exported", sorted(set(names) - seen),
                   [])
    archive = symbols([os.path.join(BUILD, "libxtc.a")])
    # What the sanitizers and <sys/sdt.h> add begins with an underscore.
    ours = {s for s in archive if not s.startswith("_")}
    failures.equal("names in libxtc.a that are not ours",
                   sorted(s for s in ours if not s.startswith("xtc_")), [])
    # SystemTap's dtrace names one semaphore a probe: xtc_PROBE_semaphore.
    public = {s for s in ours if not s.startswith("xtc__")}
    if os.environ.get("XTC_DTRACE") == "yes":
        public = {s for s in public if not s.endswith("_semaphore")}
    failures.equal("public names in libxtc.a that are in no header",
                   sorted(public - set(names)), [])


def check_cxx_link(names, work):
    """A C++ program links against every name, so none has a C++ one."""
    cpp = cxx()
    if not cpp:
        return
    source = os.path.join(work, "all.cc")
    with open(source, "w", encoding="utf-8") as f:
        f.write("#include <xtc.h>\n#include <cstdio>\n"
                "typedef void (*function)(void);\n"
                "static volatile function all[] = {\n")
        for name in names:
            f.write("\treinterpret_cast<function>(%s),\n" % name)
        f.write("};\nint\nmain()\n{\n\tstd::printf(\"%d\\n\", "
                "static_cast<int>(sizeof(all) / sizeof(all[0])));\n"
                "\treturn all[0] == nullptr;\n}\n")
    program = os.path.join(work, "all")
    flags = ["-fsanitize=" + SANITIZER] if SANITIZER else []
    code, out, err = run(cpp + flags + [
        "-std=c++11", "-I", os.path.join(SRC, "include"), "-o", program,
        source, "-L", BUILD, "-Wl,-rpath," + BUILD, "-lxtc", "-pthread"])
    if not failures.check(code == 0, "a C++ program does not link\n" + err):
        return
    code, out, err = run([program])
    failures.equal("what the C++ program printed", (code, out),
                   (0, "%d\n" % len(names)))


def main():
    with tempfile.TemporaryDirectory() as work:
        check_alone(work)
        names = exported()
        failures.check(len(names) > 10, "hardly anything is exported")
        check_symbols(names)
        check_cxx_link(names, work)
    failures.done()


main()
