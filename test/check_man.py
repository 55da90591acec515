#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
"""
check_man: the manual pages say what the headers say, and their examples run.

    check_man.py [SOURCE_DIR [BUILD_DIR]]

Every public function has a page, and a link by which man(1) finds it; a page
names no other function; prototypes, structs, error codes and numbers are those
of the headers; the errors of a function are those of its header comment; the
table of contexts agrees with the header's; the probe table is the generated
one; every environment variable is in xtc(7); pages render without a warning;
every program under EXAMPLES compiles, and with a build directory runs and
prints what the page says.
"""

import concurrent.futures
import fnmatch
import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

OVERVIEWS = {"libxtc", "xtc", "xtc_usdt", "xtc-trace"}
# (pages about no one function)
WARNINGS = ["-std=c11", "-pedantic", "-Wall", "-Wextra", "-Wshadow",
            "-Wstrict-prototypes", "-Wmissing-prototypes", "-Werror"]
RUN_SECONDS = 60            # a bound for a hang, not a measurement

failures = []


def fail(where, text):
    failures.append("%s: %s" % (where, text))


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def normal(text):
    """C without comments and without optional white space."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"\s+", " ", text)
    text = re.sub(r" ?([(){}\[\],;*]) ?", r"\1", text)
    return text.strip(" ;")


class Function:
    def __init__(self, name, proto, header):
        self.name = name
        self.proto = proto
        self.header = header


class Group:
    """The functions below one comment."""

    def __init__(self, comment, before):
        self.functions = []
        self.errors = set(re.findall(r"\bXTC_E_[A-Z]+", comment))
        words = re.sub(r"[/*\s]+", " ", comment).strip()
        if before is not None and words.startswith("The same"):
            self.errors |= before.errors


PIECE = re.compile(
    r"(?P<comment>/\*.*?\*/)"
    r"|(?P<blank>\n[ \t]*\n)"
    r"|(?P<inline>static inline\b[^{;]*?(?P<iname>xtc_\w+)\([^{;]*\)\s*\{)"
    r"|(?P<api>\nXTC_API\b(?P<decl>[^;]*?(?P<name>xtc_\w+)\([^;]*\));)", re.S)


def read_functions(headers):
    functions, groups = {}, []
    for path in headers:
        # A directive is no declaration, whatever it defines.
        text = re.sub(r"(?m)^#(.*\\\n)*.*$", "", read(path))
        group = last = None
        at = 0
        while True:
            m = PIECE.search(text, at)
            if m is None:
                break
            # A blank line is two newlines; the second begins what follows.
            at = m.end() - 1 if m.group("blank") else m.end()
            if m.group("blank"):
                group = None
            elif m.group("comment"):
                group = Group(m.group("comment"), last)
            else:
                name = m.group("name") or m.group("iname")
                decl = m.group("decl") or m.group("inline")
                decl = re.sub(r"static inline|XTC_API|\{", " ", decl)
                f = Function(name, normal(decl), os.path.basename(path))
                functions[name] = f
                if group is None:
                    group = Group("", None)
                if not group.functions:
                    groups.append(group)
                group.functions.append(f)
                last = group
    return functions, groups


def read_structs(headers):
    structs = {}
    for path in headers:
        for m in re.finditer(r"^typedef struct \w+ \{.*?^\} (\w+);",
                             read(path), re.S | re.M):
            structs[m.group(1)] = normal(m.group(0))
    return structs


def read_numbers(headers):
    numbers = {}
    for path in headers:
        for m in re.finditer(r'X\((XTC_\w+), (-?\d+), "([^"]*)"\)',
                             read(path)):
            numbers[m.group(1)] = (m.group(2), m.group(3))
    return numbers


def read_contexts(headers):
    """{pattern: (may park, allocates, called from)} of the header tables."""
    rows = {}
    for path in headers:
        inside = False
        for line in read(path).splitlines():
            if re.match(r" \*\tfunction\t", line):
                inside = True
            elif inside and not line.startswith(" *\t"):
                inside = False
            elif inside:
                cells = re.split(r"\t+", line[3:].rstrip())
                if len(cells) == 4 and cells[0]:
                    for name in cells[0].split(", "):
                        rows[name.split()[0]] = cells[1:]
    return rows


def macro_words(line):
    """The macro of a line and its arguments, quotes taken off."""
    words = re.findall(r'"((?:[^"]|"")*)"|(\S+)', line[1:])
    words = [a or b for a, b in words]
    return (words[0], words[1:]) if words else ("", [])


def plain(text):
    """A literal block as it is printed."""
    for code, char in ((r"\-", "-"), (r"\(aq", "'"), (r"\(ga", "`"),
                       (r"\(ha", "^"), (r"\(ti", "~"), (r"\&", "")):
        text = text.replace(code, char)
    return text.replace(r"\e", "\\")


class Page:
    def __init__(self, path):
        self.path = path
        self.base = os.path.basename(path)
        self.name, self.section = self.base.rsplit(".", 1)
        self.names = []
        self.protos = {}        # name: normal C
        self.errors = {}        # name: set of codes
        self.contexts = {}      # name: (park, allocates, from)
        self.mentions = []      # functions and pages of ours that it names
        self.lists = []         # of the section FUNCTIONS
        self.numbers = {}       # name: (value, text)
        self.variables = set()
        self.blocks = []        # (section, text)
        self.title = ""
        self.long = None        # the function that .Fo has opened
        self.parse(read(path).splitlines())

    def parse(self, lines):
        section = block = returns = None
        about = []
        for line in lines:
            if block is not None:
                if line == ".Ed":
                    self.blocks.append((section, plain("\n".join(block))))
                    block = None
                else:
                    block.append(line)
                continue
            if not line.startswith("."):
                continue
            macro, args = macro_words(line)
            if macro == "Sh":
                section = " ".join(args)
            elif macro == "Dt":
                self.title = " ".join(args)
            elif macro == "Bd" and args and args[0] == "-literal":
                block = []
            elif section == "NAME" and macro == "Nm":
                self.names.append(args[0].rstrip(","))
            elif section == "SYNOPSIS":
                returns = self.synopsis(macro, args, returns)
            else:
                if section == "ERRORS":
                    about = self.error(macro, args, about)
                self.text(section, macro, args)
        for m in re.finditer(r"\b(?:Fn|Fo) (xtc_\w+)|\bXr ((?:lib)?xtc\w*) \d",
                             "\n".join(lines)):
            self.mentions.append(m.group(1) or m.group(2))

    def synopsis(self, macro, args, returns):
        """.Ft type, then .Fn name args, or .Fo name, .Fa arg..., .Fc"""
        if macro == "Ft":
            return " ".join(args)
        if macro == "Fn":
            self.protos[args[0]] = normal("%s %s(%s)" % (
                returns, args[0], ",".join(args[1:])))
        elif macro == "Fo":
            self.long = (args[0], [])
        elif macro == "Fa":
            self.long[1].append(" ".join(args))
        elif macro == "Fc":
            name, parameters = self.long
            self.protos[name] = normal("%s %s(%s)" % (
                returns, name, ",".join(parameters)))
        return returns

    def error(self, macro, args, about):
        if macro == "Fn":
            self.errors.setdefault(args[0], set())
            return about + [args[0]]
        if macro == "It" and args[:2] == ["Bq", "Er"]:
            if not about:
                fail(self.base, "%s is an error of no function" % args[2])
            for name in about:
                self.errors[name].add(args[2])
        return [] if macro == "El" else about

    def text(self, section, macro, args):
        if macro == "Ev":
            self.variables.add(args[0])
        if macro != "It" or not args:
            return
        cells = [c.strip() for c in " ".join(args).split(" Ta ")]
        if section == "CALLING CONTEXT" and args[0] == "Fn":
            self.contexts[args[1]] = cells[1:]
        elif section == "FUNCTIONS" and args[0] == "Xr":
            self.lists.append(args[1])
        elif args[0] == "Dv" and len(cells) == 3:
            self.numbers[args[1]] = (cells[1], cells[2])
        elif args[0] == "Ev":
            self.variables.add(args[1])

    def programs(self):
        """(text, expected output or None) of the C under EXAMPLES."""
        found = []
        blocks = [b for s, b in self.blocks if s == "EXAMPLES"]
        for i, text in enumerate(blocks):
            if re.search(r"^main\(", text, re.M):
                out = blocks[i + 1] + "\n" if i + 1 < len(blocks) and \
                    "#include" not in blocks[i + 1] else None
                found.append((text + "\n", out))
        return found


def check_names(pages, functions):
    owner = {}
    for page in pages:
        if page.name not in page.names:
            fail(page.base, "its own name is not in NAME")
        if page.title != "%s %s" % (page.name.upper(), page.section):
            fail(page.base, ".Dt says " + page.title)
        for name in page.names:
            if name in owner:
                fail(page.base, "%s is in %s too" % (name, owner[name]))
            owner[name] = page.base
            if name not in functions and name not in OVERVIEWS:
                fail(page.base, "%s is not in a header" % name)
        for name in set(page.names) ^ (set(page.protos) | (
                OVERVIEWS & set(page.names))):
            fail(page.base, "%s: NAME and SYNOPSIS differ" % name)
    for name in functions:
        if name not in owner:
            fail(name, "has no page")
    for page in pages:
        for name in page.mentions:
            if name not in owner:
                fail(page.base, "names %s, which does not exist" % name)
        if page.name == "libxtc":
            for name in set(functions) ^ set(page.lists):
                fail(page.base, "FUNCTIONS and the headers differ: " + name)


def check_against_headers(pages, functions, structs, numbers):
    documented = {}
    for page in pages:
        for name, proto in page.protos.items():
            f = functions.get(name)
            if f is not None and f.proto != proto:
                fail(page.base, "prototype\n    %s\n  %s has\n    %s" % (
                    proto, f.header, f.proto))
        for section, text in page.blocks:
            for m in re.finditer(r"^typedef struct .*?^\} (\w+);", text,
                                 re.S | re.M):
                if section != "EXAMPLES" and \
                        structs.get(m.group(1)) != normal(m.group(0)):
                    fail(page.base, "struct %s is not the header's" %
                         m.group(1))
        for name, row in page.numbers.items():
            if numbers.get(name) != row:
                fail(page.base, "%s is %s, in the header %s" % (
                    name, row, numbers.get(name)))
            documented[name] = row
    for name in numbers:
        if name not in documented:
            fail(name, "is in no table of a page")


def check_errors(pages, groups):
    said = {}
    for page in pages:
        for name, codes in page.errors.items():
            if name not in page.names:
                fail(page.base, "ERRORS about %s" % name)
            said[name] = codes
    for group in groups:
        names = [f.name for f in group.functions]
        codes = set().union(*(said.get(n, set()) for n in names))
        for code in sorted(codes ^ group.errors):
            fail(", ".join(names), "%s is only in the %s" % (
                code, "page" if code in codes else
                "comment of " + group.functions[0].header))


def check_contexts(pages, functions, rows):
    for page in pages:
        for name in page.names:
            if name in OVERVIEWS:
                continue
            cells = page.contexts.get(name)
            if cells is None or len(cells) != 3:
                fail(page.base, "no row for %s in CALLING CONTEXT" % name)
                continue
            row = rows.get(name) or next((rows[p] for p in sorted(
                rows, reverse=True) if fnmatch.fnmatch(name, p)), None)
            if row is None:
                continue
            for header, ours in zip(row[:2], cells[:2]):
                if not header.startswith("as ") and \
                        header.split()[0] != ours.split()[0]:
                    fail(page.base, "%s: context '%s', in %s '%s'" % (
                        name, ours, functions[name].header, header))
            if not cells[2].startswith(row[2]):
                fail(page.base, "%s: called from '%s', in %s '%s'" % (
                    name, cells[2], functions[name].header, row[2]))


def check_generated(top, pages):
    page = next(p for p in pages if p.name == "xtc_usdt")
    m = re.search(r'^\.\\" BEGIN [^\n]*\n(.*?)^\.\\" END$', read(page.path),
                  re.S | re.M)
    want = subprocess.run(
        [os.environ.get("AWK", "awk"), "-v", "mode=man", "-f",
         os.path.join(top, "tools/gen/probes.awk"),
         os.path.join(top, "src/xtc_probes.d")],
        capture_output=True, text=True, check=True).stdout
    if m is None or m.group(1) != want:
        fail(page.base, "the probe table is not what tools/gen/probes.awk "
             "makes; run it with mode=man and put its output between the "
             "markers")


def check_variables(top, pages):
    overview = next(p for p in pages if p.base == "xtc.7")
    used = set()
    for path in glob.glob(os.path.join(top, "src/**/*.c"), recursive=True):
        used |= set(re.findall(r'getenv\("(XTC_\w+)"\)', read(path)))
    for name in used ^ overview.variables:
        fail(overview.base, "%s is only %s" % (
            name, "read by the code" if name in used else "documented"))
    for page in pages:
        for name in page.variables - overview.variables:
            fail(page.base, "%s is not in xtc(7)" % name)


def check_listed(top, pages):
    listed = set()
    for line in read(os.path.join(top, "dist/sources.txt")).splitlines():
        if line.startswith("man\t") or line.startswith("man "):
            listed.add(line.split()[1])
    for path in listed ^ {"man/" + p.base for p in pages}:
        fail(path, "is not both in man/ and in dist/sources.txt")


def check_rendering(top, pages, functions, stage):
    """Lint each page, and find each function by man(1). 1 if checked."""
    tools = []
    if shutil.which("mandoc"):
        tools.append(["mandoc", "-T", "lint", "-W", "warning"])
    if shutil.which("groff"):
        tools.append(["groff", "-ww", "-mdoc", "-Tascii", "-z"])
    for page in pages:
        for tool in tools:
            p = subprocess.run(tool + [page.path], capture_output=True,
                               text=True, check=False)
            for line in (p.stdout + p.stderr).splitlines():
                fail(page.base, "%s: %s" % (tool[0], line))
        # As `make install` does it: the page, and a link for each other name.
        directory = os.path.join(stage, "man" + page.section)
        os.makedirs(directory, exist_ok=True)
        shutil.copy(page.path, directory)
        names = subprocess.run(
            [os.environ.get("AWK", "awk"), "-f",
             os.path.join(top, "dist/manlinks.awk"), page.path],
            capture_output=True, text=True, check=True).stdout.split()
        for name in names:
            with open(os.path.join(directory, name + "." + page.section),
                      "w", encoding="utf-8") as f:
                f.write(".so man%s/%s\n" % (page.section, page.base))
    for name in functions:
        if not os.path.exists(os.path.join(stage, "man3", name + ".3")):
            fail(name, "man(1) would not find it")
    return bool(tools)


def build_and_run(top, build, stage, name, text, expected):
    """Returns what is wrong with a program, or None."""
    source = os.path.join(stage, name + ".c")
    program = os.path.join(stage, name)
    with open(source, "w", encoding="utf-8") as f:
        f.write(text)
    command = shlex.split(os.environ.get("CC") or "cc") + WARNINGS + \
        ["-I", os.path.join(top, "include")]
    if os.environ.get("XTC_SANITIZER", "no") not in ("", "no"):
        command += ["-g", "-fsanitize=" + os.environ["XTC_SANITIZER"]]
    library = build and os.path.join(build, "libxtc.a")
    if library:
        command += [source, "-o", program, library, "-pthread"] + \
            shlex.split(os.environ.get("XTC_LIBS", ""))
    else:
        command += ["-fsyntax-only", source]
    p = subprocess.run(command, capture_output=True, text=True, check=False)
    if p.returncode != 0:
        return "does not compile:\n" + p.stderr
    if not library:
        return None
    try:
        p = subprocess.run([program], capture_output=True, text=True,
                           stdin=subprocess.DEVNULL, timeout=RUN_SECONDS,
                           check=False)
    except subprocess.TimeoutExpired:
        return "does not end"
    if p.returncode != 0 or p.stderr:
        return "exit code %d\n%s" % (p.returncode, p.stderr)
    if expected is not None and p.stdout != expected:
        return "printed\n%sinstead of\n%s" % (p.stdout, expected)
    return None


def check_examples(top, build, pages, stage):
    todo = []
    for page in pages:
        programs = page.programs()
        if not programs and page.name not in ("xtc", "xtc_usdt",
                                               "xtc-trace"):
            fail(page.base, "no program under EXAMPLES")
        for i, (text, expected) in enumerate(programs):
            todo.append((page.base, "%s_%d" % (page.name, i), text, expected))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = pool.map(lambda t: build_and_run(
            top, build, stage, t[1], t[2], t[3]), todo)
        for (base, _, _, _), wrong in zip(todo, results):
            if wrong is not None:
                fail(base, "example " + wrong)
    return len(todo)


def main():
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    args = sys.argv[1:]
    top = args[0] if args else os.environ.get("XTC_SRC_DIR", here)
    build = args[1] if len(args) > 1 else os.environ.get("XTC_BUILD_DIR")
    headers = sorted(glob.glob(os.path.join(top, "include/*.h")))
    functions, groups = read_functions(headers)
    pages = [Page(p) for p in sorted(glob.glob(
        os.path.join(top, "man/*.[0-9]")))]
    if not functions or not pages:
        sys.exit("check_man: no headers or no pages in " + top)
    check_names(pages, functions)
    check_against_headers(pages, functions, read_structs(headers),
                          read_numbers(headers))
    check_errors(pages, groups)
    check_contexts(pages, functions, read_contexts(headers))
    check_generated(top, pages)
    check_variables(top, pages)
    check_listed(top, pages)
    with tempfile.TemporaryDirectory() as stage:
        rendered = check_rendering(top, pages, functions, stage)
        programs = check_examples(top, build, pages, stage)
    for line in failures:
        print(line)
    print("%d functions, %d pages, %d programs %s, %d faults" % (
        len(functions), len(pages), programs,
        "run" if build else "compiled", len(failures)))
    if failures:
        sys.exit(1)
    if not rendered:
        print("skip: neither mandoc nor groff is here to render the pages")
        sys.exit(77)


main()
