#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
"""xtc-trace without a tracer: it refuses wrong use, reads every kind of
program, names what is missing and the next step, holds a program at its entry
and at its exit, reads what tracers printed, and says what it does not know."""

import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import elf
import livelib as live
import xtctracelib as lib

TOOL = lib.TOOL
NOBODY = 65534


tool = lib.load_tool()


def run(args, **kw):
    return live.run([sys.executable, TOOL] + args, **kw)


doctor = lib.doctor


# ---- wrong use

WRONG = [
    ([], "no command"),
    (["frob"], "no such command: frob"),
    (["park"], "park needs -p PID or -- PROG"),
    (["park", "--"], "no program after --"),
    (["park", "-p", "1", "--", "prog"], "not both"),
    (["park", "./prog"], "what to trace is -p PID or -- PROG"),
    (["park", "-p", "-3"], "-p"),
    (["park", "-p", "some"], "process id"),
    (["locks", "--seconds", "0", "-p", "1"], "--seconds"),
    (["locks", "--seconds", "soon", "-p", "1"], "--seconds"),
    (["locks", "--tracer", "perf", "-p", "1"], "--tracer"),
    (["locks", "--tracer", "/nowhere/dtrace", "-p", "1"],
     "/nowhere/dtrace is not a program"),
    (["timers", "--frob", "-p", "1"], "--frob"),
    (["doctor", "--", "prog"], "doctor takes"),
    (["doctor", "-p", "1", "prog"], "not both"),
    (["list", "--seconds", "1"], "list takes"),
    (["list", "/nowhere/prog"], "No such file"),
    (["list", TOOL], "is not an ELF file"),
    (["doctor", "/nowhere/prog"], "No such file"),
    (["doctor", TOOL], "is not an ELF file"),
]


def wrong_use(fail):
    for args, text in WRONG:
        code, out, err = run(args)
        fail.equal("%s: exit code" % args, code, 2)
        fail.equal("%s: output" % args, out, "")
        fail.check(err.startswith("xtc-trace: ") and text in err,
                   "%s says %r" % (args, err))
    code, out, _ = run(["--help"])
    fail.equal("--help: exit code", code, 0)
    for command in list(tool.QUESTIONS) + ["doctor", "list"]:
        fail.check(re.search(r"^  %s " % command, out, re.M),
                   "--help does not explain " + command)


# ---- the catalogue

def catalogue(fail):
    c = tool.Catalogue()
    seen = [(p.name, [(n, k.replace(" ", "")) for n, k in p.arguments])
            for p in c.probes.values()]
    fail.equal("probes as probes.awk reads them", seen, live.catalogue())
    for p in c.probes.values():
        fail.check(p.fires.startswith("Fires ") and p.fires.endswith("."),
                   "%s fires: %r" % (p.name, p.fires))
        for n, _ in p.arguments:
            fail.check(n in p.explained, "%s: %s is not explained in %r" %
                       (p.name, n, p.explained))
    for table in ("WHY", "CAUSE", "LOCK", "TIMER", "DROP", "ALLOC"):
        fail.equal("table " + table, c.tables.get(table), live.kinds(table))
    fail.equal("a number without a name", c.word("WHY", 99), "why 99")
    # What the programs for the tracers say is in the catalogue.
    for q in tool.QUESTIONS.values():
        for text in (q.bt, q.d):
            made = tool.with_arguments(text, c, lambda p: "SITE",
                                       lambda i, _: "arg%d" % i)
            fail.check(not re.search(r"probe:|<\w+>", made),
                       "%s is not complete: %s" % (q.name, made))
        fail.equal(q.name + ": the same probes for both tracers",
                   q.probes(), sorted(set(re.findall(r"probe:(\w+)", q.d))))
    code, out, _ = run(["list"])
    fail.equal("list: exit code", code, 0)
    fail.equal("list", [line.split("(")[0] for line in out.splitlines()
                        if re.match(r"[a-z-]+\(", line)],
               [p.dashed() for p in c.probes.values()])


def missing_catalogue(fail, directory):
    """A copy of the tool that has lost its catalogue says so; one with the
    places of `make install` finds it."""
    bin_dir = os.path.join(directory, "prefix", "bin")
    data = os.path.join(directory, "prefix", "share", "libxtc", "catalogue")
    os.makedirs(bin_dir)
    copy = shutil.copy(TOOL, bin_dir)
    for command in (["list"], ["park", "-p", "1"]):
        code, _, err = live.run([sys.executable, copy] + command)
        fail.equal("%s without a catalogue: exit code" % command, code, 1)
        fail.check("the catalogue of probes is missing" in err and
                   "next: install libxtc completely" in err,
                   "%s without a catalogue: %r" % (command, err))
    os.makedirs(data)
    shutil.copy(os.path.join(live.SRC, "src", "xtc_probes.d"), data)
    code, out, _ = live.run([sys.executable, copy, "list"])
    fail.equal("list with an installed catalogue: exit code", code, 0)
    fail.check("fiber-park(" in out, "list with an installed catalogue")


# ---- programs of every kind

def compile_convoy(directory, name, flags):
    path = os.path.join(directory, name)
    subprocess.run(
        [os.environ.get("CC", "cc").split()[0], "-O2", "-I",
         os.path.join(live.SRC, "include"),
         os.path.join(live.SRC, "examples", "15_usdt", "convoy.c"), "-o",
         path] + flags + ["-pthread"], check=True)
    return path


def programs(fail, directory):
    """{what: path} of programs with the library in them."""
    archive = os.path.join(live.BUILD, "libxtc.a")
    shared = ["-L", live.BUILD, "-lxtc", "-Wl,-rpath," + live.BUILD]
    made = {}
    for name, flags in (
            ("program", [archive]),
            ("stripped program", [archive, "-s"]),
            ("static program", [archive, "-static"]),
            ("stripped static program", [archive, "-static", "-s"]),
            ("shared library", shared)):
        if lib.SANITIZED:
            break
        made[name] = compile_convoy(directory, name.replace(" ", "_"), flags)
    if not made:
        made["program"] = live.program("usdt_convoy")
    return made


def check_notes(fail, path, what):
    """The same probes as the other reader of ELF in this tree."""
    found = sorted((n.name, n.pc, len(n.operands))
                   for n in tool.Elf(path).notes())
    fail.equal("%s: probes" % what, found, sorted(
        (n.name, n.location, len(n.args))
        for n in elf.File(path).notes("xtc")))


def kinds_of_programs(fail, directory):
    names = sorted(name for name, _ in live.catalogue())
    for what, path in programs(fail, directory).items():
        code, facts, step = doctor([path])
        state, text = facts["probes"][0]
        if live.MODE == "no":
            fail.equal("%s: state" % what, state, "bad")
            fail.check("without probes" in text or "nothing in it" in text,
                       "%s: %s" % (what, text))
            fail.check("--enable-dtrace=sdt" in step or code == 1,
                       "%s: next step %s" % (what, step))
            fail.equal("%s: list" % what, run(["list", path])[0], 1)
            continue
        fail.equal("%s: state" % what, state, "good")
        fail.check(what in text, "%s is called %s" % (what, text))
        check_notes(fail, path if what != "shared library" else
                    os.path.join(live.BUILD, "libxtc.so"), what)
        code, out, err = run(["list", "--json", path])
        fail.equal("%s: list" % what, code, 0)
        rows = json.loads(out)["probes"] if code == 0 else []
        fail.equal("%s: probes listed" % what, sorted(
            r["probe"].replace("-", "__") for r in rows if r["present"]),
            sorted(n.name for n in elf.File(
                path if what != "shared library" else os.path.join(
                    live.BUILD, "libxtc.so")).notes("xtc")))
        fail.check(set(names) >= {r["probe"].replace("-", "__")
                                  for r in rows}, "unknown probes")


def without_probes(fail, directory):
    """A program that uses the library, but a build without probes; and one
    that has nothing to do with it."""
    code, facts, step = doctor([shutil.which("true")])
    fail.equal("true: exit code", code, 1)
    fail.check("nothing in it tells that it uses libxtc" in
               facts["probes"][0][1], "true: %r" % facts["probes"])
    fail.check("--enable-dtrace=sdt" in step, "true: next: " + step)
    if not shutil.which("objcopy"):
        return
    path = os.path.join(directory, "bare")
    subprocess.run(["objcopy", "--remove-section=.note.stapsdt",
                    live.program("usdt_convoy"), path], check=True)
    code, facts, step = doctor([path])
    fail.equal("without notes: exit code", code, 1)
    fail.check("uses libxtc, but a build without probes" in
               facts["probes"][0][1], "without notes: %r" % facts["probes"])
    fail.check(step.startswith("rebuild libxtc with dist/configure"
                               " --enable-dtrace=sdt and link"),
               "without notes: next: " + step)
    code, _, err = run(["list", path])
    fail.equal("list without notes: exit code", code, 1)
    fail.check("a build without probes" in err, "list: " + err)


def damaged_files(fail, directory):
    """A file cut anywhere, or with garbage in its headers, is refused or has
    no probes; it is no crash."""
    with open(live.program("usdt_convoy"), "rb") as f:
        data = f.read()
    path = os.path.join(directory, "damaged")
    shapes = [data[:n] for n in (0, 3, 63, 64, 200, 4096, len(data) // 2,
                                 len(data) - 1)]
    for at in range(16, 64):
        shapes.append(data[:at] + b"\xff\xff" + data[at + 2:])
    shoff = int.from_bytes(data[40:48], "little")
    for at in range(shoff, len(data) - 8, 24):
        shapes.append(data[:at] + b"\xff" * 8 + data[at + 8:])
    for section in elf.File(live.program("usdt_convoy")).sections:
        if section.name == ".dynamic":
            for at in range(section.offset + 8, section.offset +
                            section.size, 16):
                shapes.append(data[:at] + b"\xff" * 8 + data[at + 8:])
    for n, shape in enumerate(shapes):
        with open(path, "wb") as f:
            f.write(shape)
        try:
            e = tool.Elf(path)
            e.notes()
            e.needed()
            e.function(4096)
            e.names_libxtc()
        except tool.NotElf:
            pass
        except Exception as error:
            fail.check(False, "damaged file %d: %r" % (n, error))
            return


# ---- diagnoses

def as_nobody(copy, args):
    """What the tool says to somebody who is not root. Forked, since nobody
    may not be allowed to run this interpreter."""
    module = lib.load_tool(copy)
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.dup2(w, 1)
            os.dup2(w, 2)
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            sys.argv = ["xtc-trace"] + args
            sys.stdout = os.fdopen(1, "w")
            code = module.main()
            sys.stdout.flush()
            os._exit(code)
        finally:
            os._exit(99)
    os.close(w)
    with os.fdopen(r) as f:
        text = f.read()
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), text


def not_root(fail, directory):
    if os.geteuid() != 0 or live.MODE == "no":
        return
    os.chmod(directory, 0o755)
    home = os.path.join(directory, "tools")
    shutil.copytree(os.path.join(live.SRC, "tools", "catalogue"),
                    os.path.join(home, "catalogue"))
    copy = shutil.copy(TOOL, home)
    with live.Running([live.program("usdt_convoy"), "convoy",
                       "--hold"]) as target:
        pid = target.wait_for(r"^(\d+)$").group(1)
        code, text = as_nobody(copy, ["doctor", "-p", pid])
        fail.equal("nobody, root's process: exit code", code, 1)
        fail.check("may not be read" in text and "not root" in text,
                   "nobody: " + text)
        fail.equal("nobody: next", text.splitlines()[-1],
                   "next: sudo xtc-trace doctor -p " + pid)
        code, text = as_nobody(copy, ["locks", "--seconds", "1", "-p", pid])
        fail.equal("nobody traces: exit code", code, 1)
        fail.check("next: sudo xtc-trace locks --seconds 1 -p " + pid in
                   text, "nobody traces: " + text)
    path = shutil.copy(live.program("usdt_convoy"), directory)
    os.chmod(path, 0o755)
    code, text = as_nobody(copy, ["doctor", path])
    fail.equal("nobody, a file: exit code", code, 1)
    fail.check(re.search(r"^  probes +\d+ probes in", text, re.M),
               "nobody, a file: " + text)
    fail.equal("nobody, a file: next", text.splitlines()[-1],
               "next: sudo xtc-trace doctor " + path)


def no_tracer(fail, directory):
    """PATH without any tracer."""
    if os.geteuid() != 0 or live.MODE == "no" or any(
            os.access(os.path.join(d, "dtrace"), os.X_OK) and
            not tool.is_systemtaps(os.path.join(d, "dtrace"))
            for d in ("/usr/sbin", "/sbin", "/usr/local/sbin")):
        return
    empty = os.path.join(directory, "empty")
    os.mkdir(empty)
    env = dict(os.environ, PATH=empty)
    path = live.program("usdt_convoy")
    code, facts, step = doctor([path], env=env)
    fail.equal("no tracer: exit code", code, 1)
    fail.equal("no tracer: bpftrace", facts["bpftrace"],
               [("note", "not found in PATH")])
    fail.check("install" in step or step.startswith("run it"),
               "no tracer: next: " + step)
    code, out, err = run(["locks", "--", path, "convoy"], env=env)
    fail.equal("locks without a tracer: exit code", code, 1)
    fail.check("there is no tracer" in err, "locks without a tracer: " + err)
    fail.equal("locks without a tracer: the program did not run", out, "")


def systemtaps_dtrace(fail, directory):
    """SystemTap's dtrace is told from DTrace."""
    if os.geteuid() != 0:
        return
    place = os.path.join(directory, "stap")
    os.mkdir(place)
    path = os.path.join(place, "dtrace")
    with open(path, "w", encoding="utf-8") as f:
        f.write("#!/bin/sh\n# This handles the systemtap equivalent of\n"
                "exit 1\n")
    os.chmod(path, 0o755)
    code, facts, _ = doctor([], env=dict(os.environ, PATH=place))
    fail.equal("SystemTap's dtrace", [s for s, t in facts["dtrace"]
                                      if path in t], ["note"])
    fail.check("SystemTap" in " ".join(t for _, t in facts["dtrace"]),
               "SystemTap's dtrace: %r" % facts["dtrace"])


def processes(fail):
    code, facts, step = doctor(["-p", "4194305"])
    fail.equal("no such process: exit code", code, 1)
    fail.check("there is no process" in facts["process"][0][1],
               "no such process: %r" % facts)
    fail.check("pgrep" in step, "no such process: next: " + step)
    code, _, err = run(["list", "-p", str(os.getpid())])
    fail.equal("list of a process without probes: exit code", code, 1)
    fail.check("has no probes of libxtc" in err, "this process: " + err)


# ---- holding a program

def run_held(held, bell):
    """Runs a held program to its exit, where it is held again."""
    held.go()
    end = time.monotonic() + live.LIMIT_SECONDS
    while not held.at_exit and held.code is None and \
            time.monotonic() < end:
        held.serve()
        bell.wait(0.01)


def holding(fail, directory):
    if platform.machine() not in tool.Held.BREAKPOINTS:
        return
    bell = tool.Bell()
    for what, path in programs(fail, directory).items():
        out = os.open(os.path.join(directory, "out"),
                      os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        held = tool.Held([path, "convoy"], out)
        held.to_entry()
        process = tool.Process(held.pid)
        fail.equal(what + " at its entry: state",
                   process.status()["State"][0], "t")
        if live.MODE != "no":
            fail.equal(what + " at its entry: modules",
                       len(process.modules()), 1)
        fail.equal(what + " at its entry: output", os.pread(out, 100, 0), b"")
        run_held(held, bell)
        fail.check(held.at_exit, what + " was not held at its exit")
        fail.check(process.files(), what + " at its exit: no maps")
        fail.check(b"contended" in os.pread(out, 1000, 0),
                   what + " was not run")
        held.finish(False, bell)
        fail.equal(what + ": exit code", held.code, 0)
        os.close(out)


def held_to_the_end(fail, directory):
    """However a program ends it is held there, and its end is its own."""
    bell = tool.Bell()
    if platform.machine() not in tool.Held.BREAKPOINTS:
        return
    for script, code in (("exit 3", 3), ("kill -TERM $$", -signal.SIGTERM),
                         ("kill -ABRT $$", -signal.SIGABRT),
                         ("trap 'exit 4' USR1; kill -USR1 $$; exit 5", 4)):
        held = tool.Held(["sh", "-c", script])
        held.to_entry()
        run_held(held, bell)
        fail.check(held.at_exit, script + ": not held")
        held.finish(False, bell)
        fail.equal(script, held.code, code)
    for command, text in ((["/nowhere/prog"], "cannot be run"),
                          ([directory], "cannot be run")):
        try:
            tool.Held(command)
            fail.check(False, "%s was started" % command)
        except tool.Fault as e:
            fail.check(text in str(e), "%s: %s" % (command, e))
    # Killed before it began, it has done nothing.
    witness = os.path.join(directory, "witness")
    held = tool.Held(["touch", witness])
    held.to_entry()
    held.destroy()
    fail.equal("destroyed at its entry", held.code, -signal.SIGKILL)
    fail.check(not os.path.exists(witness), "it ran after all")


def killed_holder(fail):
    """If we are killed, a program that has begun goes on."""
    if platform.machine() not in tool.Held.BREAKPOINTS:
        return
    r, w = os.pipe()
    os.set_inheritable(w, True)
    pid = os.fork()
    if pid == 0:
        held = tool.Held(["sh", "-c", "read x; echo went on >&%d" % w])
        held.to_entry()
        held.go()
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(w)
    with os.fdopen(r) as f:
        fail.equal("a program whose holder was killed", f.read(),
                   "went on\n")


# ---- what tracers printed

BPFTRACE = r'''{"type": "attached_probes", "data": {"probes": 7}}
{"type": "printf", "data": "go 4301505392902\n"}
{"type": "printf", "data": "stop 4302505392902\n"}

{"type": "map", "data": {"@gone": {"-81985529216486896": 4301605392902}}}
{"type": "stats", "data": {"@time": {"94091269335808,1": {"count": 3, "average": 5, "total": 15}}}}
{"type": "map", "data": {"@max": {"94091269335808,1": 9}}}
{"type": "hist", "data": {"@hist": {"94091269335808,1": [{"max": -1, "count": 1}, {"min": 0, "max": 0, "count": 2}, {"min": 1024, "max": 2047, "count": 3}]}}}
{"type": "map", "data": {"@holder": {"94091269335808,-81985529216486896,94091260000000,na\"me, \uffffffc3\uffffffa9": 2, "94091269335808,0,0,": 1}}}
{"type": "map", "data": {"@result": {"94091269335808,-5": 1, "94091269335808,0": 2}}}
{"type": "stats", "data": {"@stack": {"94091269335808,\n    xtc__lock_wait_end+4\n    xtc_amutex_lock+94\n    worker+10\n": {"count": 3, "average": 5, "total": 15}}}}
{"type": "map", "data": {"@since": {"-81985529216486896,94091269335808": [4302405392902,1,0]}}}
{"type": "map", "data": {"@lost": 0}}
{"type": "map", "data": {"@ended": 3}}
{"type": "map", "data": {"@go": 4301505392902}}
'''
LOCK = 94091269335808
TASK = 0xfedcba9876543210

DTRACE = """go 4301505392902
stop 4302505392902
gone\t4301605392902\tfedcba9876543210
time\t3\t15\t5593595e3f00\t1
max\t9\t5593595e3f00\t1
hist\t0\t5593595e3f00\t1

           value  ------------- Distribution ------------- count
              -1 |                                         0
               0 |@@                                       2
             512 |                                         0
            1024 |@@@@@@@@@@@@                             3
            2048 |                                         0

holder\t2\t5593595e3f00\tfedcba9876543210\t5593590fd700\tna"me, \u00e9
holder\t1\t5593595e3f00\t0\t0\t
result\t1\t5593595e3f00\t-5
result\t2\t5593595e3f00\t0
stack\t3\t15\t5593595e3f00

prog`xtc__lock_wait_end+0x4
prog`xtc_amutex_lock+0x5e
prog`worker+0xa

ended\t3
"""


def parsers(fail):
    for kind, text in ((tool.Bpftrace, BPFTRACE), (tool.Dtrace, DTRACE)):
        t = kind("/bin/true")
        t.question = tool.QUESTIONS["locks"]
        t.parse(text)
        maps = t.maps
        lock = LOCK if kind is tool.Bpftrace else 0x5593595e3f00
        fail.equal(t.word + ": gone", maps.get("gone"),
                   {(TASK,): 4301605392902})
        fail.equal(t.word + ": time", maps.get("time"), {(lock, 1): (3, 15)})
        hist = maps.get("hist", {}).get((lock, 1), [])
        fail.equal(t.word + ": histogram", [h for h in hist if h[1] > 0],
                   [(0, 1, 2), (1024, 2048, 3)])
        fail.equal(t.word + ": holders", sorted(
            (k[1], k[3], n) for k, n in maps.get("holder", {}).items()),
            [(0, "", 1), (TASK, "na\"me, \u00e9", 2)])
        fail.equal(t.word + ": results", maps.get("result"),
                   {(lock, -5): 1, (lock, 0): 2})
        frames = next(iter(maps["stack"]))[1]
        fail.equal(t.word + ": frames", len(frames), 3)
        fail.equal(t.word + ": counter", t.count("ended"), 3)
        fail.equal(t.word + ": problems", t.problems, [])
        t.out.write(text.encode())
        t.out.flush()
        fail.equal(t.word + ": clock", (t.clock("go"), t.clock("stop")),
                   (4301505392902, 4302505392902))
    t = tool.Bpftrace("/bin/true")
    t.question = tool.QUESTIONS["locks"]
    t.parse('{"type": "lost_events", "data": {"events": 3}}\n{"torn')
    fail.equal("bpftrace: a loss and a torn line", len(t.problems), 2)
    t.complain("Lost 12 events\n")
    fail.equal("bpftrace: a loss on its error output", len(t.problems), 3)
    t = tool.Dtrace("/bin/true")
    t.complain("dtrace: 4 dynamic variable drops\n"
               "dtrace: 2 aggregation drops on CPU 0\n")
    fail.equal("DTrace: drops", len(t.problems), 2)


# ---- what is not known is not said

class FakeSymbols:
    @staticmethod
    def name(address):
        return "fn_%x" % address

    frame = staticmethod(lambda text: text)


def fake_trace(maps, before=None, late=None, after=None):
    t = tool.Trace.__new__(tool.Trace)
    t.tracer = tool.Bpftrace("/bin/true")
    t.tracer.maps = maps
    t.symbols = FakeSymbols()
    t.catalogue = tool.Catalogue()
    t.problems = []
    t.notes = []
    t.before, t.late, t.after = before, late, after
    t.ended = 5 * 10 ** 9
    t.seconds = 2.0
    return t


def look(fibers, parked=(), done_at=10 ** 9):
    """A snapshot: {task: (name, entry)}; parked: {task: epoch}."""
    s = tool.Snapshot.__new__(tool.Snapshot)
    s.known = s.whole = True
    s.fibers = {task: tool.Fiber(task, 7, name, entry, 0, 1, 0)
                for task, (name, entry) in fibers.items()}
    s.structs = set(fibers)
    s.parked = dict(parked)
    s.waiting = {task: 1 for task in fibers if task not in s.parked}
    s.done_at = done_at
    return s


def names(fail):
    before = look({0x10: ("older", 0x99)})
    call = tool.call_it
    t = fake_trace({}, before, before, before)
    fail.equal("an older fiber", call(t.fiber(0x10)), "older")
    fail.equal("a key of no struct", call(t.fiber(0x20)), "a thread (0x20)")
    fail.equal("nobody", call(t.fiber(0)), "unknown, or several")
    fail.equal("a new one with a name", call(t.fiber(0x10, 0x77, "new")),
               "new")
    fail.equal("a new one without", call(t.fiber(0x10, 0x77)), "fn_77()")
    # It ended before its name was read: what is there now is another one.
    t = fake_trace({"gone": {(0x10,): before.done_at - 1}}, before, before,
                   before)
    fail.equal("ended before the look", call(t.fiber(0x10)), "fiber 0x10")
    t = fake_trace({"gone": {(0x10,): before.done_at + 1}}, before, before,
                   before)
    fail.equal("ended after the look", call(t.fiber(0x10)), "older")
    # A table was full: who is not in it may be new.
    t = fake_trace({"nameless": {(): 1}}, before, before, before)
    fail.equal("a full table", call(t.fiber(0x10)), "fiber 0x10")
    t = fake_trace({})
    fail.equal("no table in the library", call(t.fiber(0x10)), "fiber 0x10")


def lost_report(fail):
    def states(t):
        data = tool.report_lost(t)
        return [(r["fiber"]["task"], r["state"], r["older"], r["overdue"])
                for r in data["fibers"]]

    fibers = {0x10: ("a", 1), 0x20: ("b", 1), 0x30: ("c", 1),
              0x40: ("d", 1)}
    parked = {"parked": {(0x10,): (1, 1, 0, tool.U64, 10 ** 9),
                         (0x20,): (2, 6, 0x55, tool.U64, 10 ** 9)}}
    # Number 0x40 is in another wait at the end than at the beginning.
    late = look(fibers, {0x10: 4, 0x30: 8, 0x40: 6})
    t = fake_trace(parked, look(fibers, {0x10: 3, 0x30: 8, 0x40: 5}), late,
                   late)
    fail.equal("parked, woken, and parked all the time", states(t), [
        ("0x20", "woken", False, False), ("0x30", "parked", True, False),
        ("0x10", "parked", False, False)])
    # It has moved on between the looks, so it was not stuck.
    t = fake_trace(parked, look(fibers, {}), late,
                   look(fibers, {0x10: 5}))
    fail.equal("moved on", [s[0] for s in states(t)], ["0x20"])
    # After a loss only memory is believed, and without it nothing.
    t = fake_trace(parked, None, late, late)
    t.problems = ["events were lost"]
    fail.equal("a loss, with memory", states(t),
               [("0x20", "woken", False, False),
                ("0x10", "parked", False, False)])
    t = fake_trace(parked)
    t.problems = ["events were lost"]
    fail.equal("a loss, without memory", [s[1] for s in states(t)],
               ["unknown", "unknown"])
    out = []
    tool.show_lost(tool.report_lost(t), out)
    fail.check("UNKNOWN" in "\n".join(out), "a loss is not told: %r" % out)
    # A timeout that has long run out.
    t = fake_trace({"parked": {(0x10,): (1, 2, 0, 100000, 10 ** 9)}}, None,
                   late, late)
    fail.equal("overdue", states(t), [("0x10", "parked", False, True)])


def sums(fail):
    """What a full table kept from the report is told."""
    maps = {"time": {(0x55, 1): (10, 100)}, "max": {(0x55, 1): 20},
            "hist": {(0x55, 1): [(0, 1, 10)]},
            "stack": {(0x55, ("a", "xtc_amutex_lock", "f")): (7, 70)},
            "ended": {(): 12}}
    t = fake_trace(maps)
    tool.report_locks(t)
    fail.equal("stacks and locks that were not kept", t.problems,
               ["the stacks of 3 waits were not kept",
                "the locks of 2 waits were not kept"])
    fail.equal("frames for people", tool.user_frames(
        ["xtc__x", "slow", "xtc_amutex_lock", "f", "xtc__fiber_entry"]),
        ["xtc_amutex_lock", "f"])
    fail.equal("frames without a public function",
               tool.user_frames(["f", "g"]), ["f", "g"])


def main():
    if platform.system() != "Linux":
        live.skip("xtc-trace is a thing of Linux")
    fail = live.Failures()
    wrong_use(fail)
    catalogue(fail)
    parsers(fail)
    names(fail)
    lost_report(fail)
    sums(fail)
    processes(fail)
    for test in (missing_catalogue, kinds_of_programs, without_probes,
                 damaged_files, not_root, no_tracer, systemtaps_dtrace,
                 holding, held_to_the_end):
        with tempfile.TemporaryDirectory(prefix="xtc-trace.") as directory:
            test(fail, directory)
    killed_holder(fail)
    fail.done()


if __name__ == "__main__":
    main()
