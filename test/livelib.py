# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
"""What the live tests share: finding the tracers, running them, and reading
what they print."""

import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SKIP = 77
SRC = os.environ.get("XTC_SRC_DIR") or os.path.dirname(
    os.path.dirname(os.path.abspath(__file__)))
BUILD = os.environ.get("XTC_BUILD_DIR", os.getcwd())
MODE = os.environ.get("XTC_DTRACE", "")
BPFTRACE_DIR = os.path.join("tools", "bpftrace")
DTRACE_DIR = os.path.join("tools", "dtrace")

# A tracer that says nothing for so long hangs; no test comes near it.
LIMIT_SECONDS = 120

# Where DTrace for Linux is looked for besides the PATH, on which SystemTap's
# script of the same name usually stands.
DTRACE_PLACES = ("/opt/dtrace/bin/dtrace", "/usr/sbin/dtrace")


class Failures:
    """Collects what went wrong, so that a run shows all of it."""

    def __init__(self):
        self.texts = []
        self.late = []
        self.excused = False

    def timely(self, what, seen, low, high, itself=None):
        """A figure that holds where nothing else runs: see patiently().
        itself is what the program measured, if it did."""
        if not low <= seen <= high:
            self.late.append("%s: %r, expected %r to %r" %
                             (what, seen, low, high))
            self.excused |= itself is not None and not low <= itself <= high

    def patiently(self, attempts, fn, *args):
        """Calls fn until its figures in time are right. Something else may
        have had the processor, so one good attempt counts; but what it
        checks otherwise has to hold each time. Where the program itself
        measured such times too until the end, the tracer tells the truth,
        and the figures cannot be had on this machine now."""
        for _ in range(attempts):
            self.late, self.excused = [], False
            fn(*args)
            if not self.late or self.texts:
                break
        if self.excused:
            for text in self.late:
                print("too busy a machine for a figure: " + text)
        else:
            self.texts += self.late

    def check(self, condition, text):
        if not condition:
            self.texts.append(text)
        return condition

    def equal(self, what, seen, wanted):
        return self.check(seen == wanted,
                          "%s: %r, expected %r" % (what, seen, wanted))

    def between(self, what, seen, low, high):
        return self.check(low <= seen <= high, "%s: %r, expected %r to %r" %
                          (what, seen, low, high))

    def done(self):
        for text in self.texts:
            print("FAILED: " + text)
        sys.exit(1 if self.texts else 0)


def skip(reason):
    print("skip: " + reason)
    sys.exit(SKIP)


# The runner asks for the end with SIGTERM; a tracer that is running then has
# to be ended too, and `finally` does it.
signal.signal(signal.SIGTERM, lambda *_: sys.exit("asked to end"))


def catalogue():
    """The probes declared: [(name, [(argument, type), ...]), ...]."""
    out = subprocess.run(
        ["awk", "-v", "mode=list", "-f",
         os.path.join(SRC, "tools", "gen", "probes.awk"),
         os.path.join(SRC, "src", "xtc_probes.d")],
        check=True, stdout=subprocess.PIPE, text=True).stdout
    probes = []
    for line in out.splitlines():
        name, *args = line.split()
        probes.append((name, [tuple(a.split(":")) for a in args]))
    return probes


def kinds(table):
    """The numbers and texts of one table of xtc_kinds.h."""
    with open(os.path.join(SRC, "include", "xtc_kinds.h"),
              encoding="utf-8") as f:
        text = f.read().replace("\\\n", " ")
    body = re.search(r"#define XTC_%s_TABLE\(X\)(.*)" % table, text).group(1)
    return {int(n): t for n, t in
            re.findall(r'X\(\w+, (\d+), "([^"]+)"\)', body)}


def program(name):
    path = os.path.join(BUILD, name)
    if not os.access(path, os.X_OK):
        print("FAILED: %s is not built" % path)
        sys.exit(1)
    return path


def need_probes():
    if MODE == "no":
        skip("this build has no probes")


def mount(kind, where):
    """Where a run demands a tracer it also gets the file systems of one."""
    if os.environ.get("XTC_REQUIRE_TRACER") == "1" and os.path.isdir(where):
        subprocess.run(["mount", "-t", kind, "nodev", where],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def need_uprobes():
    if platform.system() != "Linux":
        skip("uprobes are a thing of Linux")
    if os.geteuid() != 0:
        skip("not root")
    places = ("/sys/kernel/tracing", "/sys/kernel/debug/tracing")
    if not any(os.path.exists(os.path.join(t, "uprobe_events"))
               for t in places):
        mount("tracefs", places[0])
    for t in places:
        if os.path.exists(os.path.join(t, "uprobe_events")):
            return t
    skip("tracefs is not mounted, or the kernel has no uprobes")
    return None


def need_bpftrace():
    need_probes()
    need_uprobes()
    if not shutil.which("bpftrace"):
        skip("bpftrace is not installed")
    p = subprocess.run(["bpftrace", "-e", "BEGIN { exit(); }"],
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       text=True, timeout=LIMIT_SECONDS)
    if p.returncode != 0:
        skip("bpftrace cannot run: " + (p.stdout.split("\n")[-2:] or [""])[0])


def need_perf():
    need_probes()
    need_uprobes()
    if not shutil.which("perf"):
        skip("perf is not installed")


def need_dtrace():
    """The path of a DTrace that traces here."""
    need_probes()
    tracing = need_uprobes()
    # DTrace looks there only.
    if not os.path.exists("/sys/kernel/debug/tracing"):
        mount("debugfs", "/sys/kernel/debug")
    for path in [os.environ.get("XTC_TRACING_DTRACE")] + \
            list(DTRACE_PLACES):
        if not path or not os.access(path, os.X_OK):
            continue
        p = subprocess.run([path, "-qn", "BEGIN { exit(0); }"],
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           text=True, timeout=LIMIT_SECONDS)
        if p.returncode == 0:
            return path
        skip("%s cannot trace here (%s; it wants %s)" %
             (path, p.stdout.strip(), tracing))
    skip("no DTrace here: its packages cannot be fetched, or"
         " XTC_TRACING_DTRACE does not name it")
    return None


def printed(text, name):
    """A number that usdt_convoy printed about itself; None: it did not."""
    m = re.search(r"^%s +([\d.]+)$" % name, text, re.M)
    return float(m.group(1)) if m else None


class Running:
    """A process whose output is collected in a file, ended by its id."""

    def __init__(self, command, **kw):
        self.command = command
        self.out = tempfile.NamedTemporaryFile(prefix="xtc-live.")
        self.err = tempfile.NamedTemporaryFile(prefix="xtc-live.")
        kw.setdefault("cwd", BUILD)
        self.p = subprocess.Popen(command, stdin=subprocess.DEVNULL,
                                  stdout=self.out, stderr=self.err, **kw)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.p.poll() is None:
            self.p.send_signal(signal.SIGINT)
            try:
                self.p.wait(20)
            except subprocess.TimeoutExpired:
                self.p.kill()
                self.p.wait()
        self.out.close()
        self.err.close()

    def text(self):
        with open(self.out.name, encoding="utf-8", errors="replace") as f:
            return f.read()

    def errors(self):
        with open(self.err.name, encoding="utf-8", errors="replace") as f:
            return f.read()

    def wait_for(self, pattern, seconds=LIMIT_SECONDS):
        """The match of a line that must come; the limit means a hang."""
        end = time.monotonic() + seconds
        while True:
            ended = self.p.poll() is not None
            m = re.search(pattern, self.text(), re.M)
            if m:
                return m
            if ended or time.monotonic() > end:
                raise RuntimeError("%r did not print %r but:\n%s%s" % (
                    self.command, pattern, self.text(), self.errors()))
            time.sleep(0.05)

    def interrupt(self):
        """Ends a tracer. bpftrace loses a signal that finds it at work, and
        has to be told again; dtrace must not be, it would just leave."""
        for _ in range(LIMIT_SECONDS // 10):
            self.p.send_signal(signal.SIGINT)
            try:
                return self.wait(10 if "bpftrace" in " ".join(self.command)
                                 else LIMIT_SECONDS)
            except subprocess.TimeoutExpired:
                continue
        raise RuntimeError("%r does not end" % self.command)

    def wait(self, seconds=LIMIT_SECONDS):
        code = self.p.wait(seconds)
        return code, self.text(), self.errors()


def run(command, seconds=LIMIT_SECONDS, **kw):
    """Runs a command from the build directory: (code, output, errors)."""
    with Running(command, **kw) as r:
        try:
            return r.wait(seconds)
        except subprocess.TimeoutExpired:
            raise RuntimeError("%r hangs: %s%s" % (
                command, r.text(), r.errors())) from None


def run_ok(command, **kw):
    code, out, err = run(command, **kw)
    if code != 0:
        raise RuntimeError("%r: exit code %d\n%s%s" %
                           (command, code, out, err))
    return out


def as_typed(line):
    """A command line of the manual, run as it stands from the build
    directory; "sudo" is left out, since the test is root already."""
    return run_ok(["sh", "-c", re.sub(r"^sudo ", "", line)])


def keys_env(n):
    return dict(os.environ, BPFTRACE_MAP_KEYS_MAX=str(n))


def script_for(name, target):
    """A bpftrace script in the form for -c: with the path of the program."""
    with open(os.path.join(SRC, BPFTRACE_DIR, name + ".bt"),
              encoding="utf-8") as f:
        return f.read().replace("usdt:*:", "usdt:%s:" % target)


def bpftrace_on(name, command, **kw):
    """What a script prints about a program that it starts."""
    target = command.split()[0]
    return run_ok(["bpftrace", "-e", script_for(name, target), "-c", command],
                  **kw)


def trace_held(tracer, mode, attached, path=None):
    """Traces usdt_convoy MODE --hold, alive until the tracer has printed.

    tracer makes the tracer's command from a pid; attached is the line by
    which it tells that it is ready. Returns its output and the program's.
    """
    path = path or program("usdt_convoy")
    with Running([path, mode, "--hold"]) as target:
        pid = target.wait_for(r"^(\d+)$").group(1)
        with Running(tracer(pid), env=keys_env(65536)) as t:
            t.wait_for(attached)
            target.p.send_signal(signal.SIGUSR1)
            target.wait_for(r"^run_ms")
            target.p.send_signal(signal.SIGSTOP)
            try:
                code, out, err = t.interrupt()
            finally:
                target.p.send_signal(signal.SIGCONT)
        target.p.send_signal(signal.SIGUSR1)
        text = target.wait()[1]
    if code != 0:
        raise RuntimeError("the tracer: exit code %d\n%s%s" %
                           (code, out, err))
    return out, text


def bpf_scalars(text):
    """Plain values of maps: {name: {key: text}}; the key "" is for none."""
    maps = {}
    for name, key, value in re.findall(
            r"^@(\w*)(?:\[([^\n]*)\])?: (\S.*)$", text, re.M):
        maps.setdefault(name, {})[key] = value
    return maps


def bpf_number(text):
    """A bound of a bucket: 512, 1K, 2M."""
    unit = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
    if text[-1] in unit:
        return int(text[:-1]) * unit[text[-1]]
    return int(text)


def bpf_hists(text):
    """{name: {key: {lower bound: count}}}; [0] and [1] are their own."""
    maps = {}
    now = None
    for line in text.splitlines():
        m = re.match(r"@(\w*)(?:\[(.*)\])?: $", line)
        if m:
            now = maps.setdefault(m.group(1), {}).setdefault(
                m.group(2) or "", {})
            continue
        m = re.match(r"[\[(](-?\w+)[,\])].* (\d+) \|[@ ]*\|$", line)
        if m and now is not None:
            now[bpf_number(m.group(1))] = int(m.group(2))
        elif not line.strip():
            now = None
    return maps


def bpf_stacks(text, name=""):
    """[(frames, value), ...] of a map keyed by a stack."""
    found = []
    for body, value in re.findall(
            r"^@%s\[\n((?:    .*\n)*)\]: (\d+)$" % name, text, re.M):
        found.append(([f.strip() for f in body.splitlines()], int(value)))
    return found


def fold_bpftrace(text):
    """What stackcollapse-bpftrace.pl makes of it: [("a;b;c", value), ...]"""
    folded, stack, inside = [], [], False
    for line in text.splitlines():
        if not inside:
            inside = line == "@["
            continue
        m = re.search(r",?\s?(.*)\]: (\d+)", line)
        if m:
            stack += [m.group(1)] if m.group(1) else []
            folded.append((";".join(reversed(stack)), int(m.group(2))))
            stack, inside = [], False
        else:
            stack.append(line.strip())
    return folded


def fold_dtrace(text):
    """What stackcollapse.pl makes of it; it skips three header lines."""
    folded, stack = [], []
    for line in text.splitlines()[3:]:
        if re.match(r"\s*\d+$", line):
            folded.append((";".join(reversed(stack)), int(line)))
            stack = []
        elif line.strip():
            stack.append(line.strip())
    return folded


def dtrace_quantize(text, title):
    """{lower bound: count} of the distribution printed under a title."""
    m = re.search(r"^\s*%s\s*\n\s+value  -+ Distribution -+ count\s*\n"
                  r"((?: +-?\d+ \|.*\n)*)" % re.escape(title), text, re.M)
    if not m:
        return {}
    return {int(v): int(n) for v, n in
            re.findall(r"^ +(-?\d+) \|[@ ]* (\d+) *$", m.group(1), re.M)}


def between(hist, low, high):
    """How many values lie in the buckets from low up to below high."""
    return sum(n for v, n in hist.items() if low <= v < high)
