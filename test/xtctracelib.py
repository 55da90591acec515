# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
"""What the tests of xtc-trace with a tracer share."""

import importlib.machinery
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import time

import livelib as live

TOOL = os.path.join(live.SRC, "tools", "xtc-trace")
DRIVER = os.path.join(live.SRC, "test", "drive_trace.c")
CONVOY = os.path.join(live.SRC, "examples", "15_usdt", "convoy.c")
TRACER = "bpftrace"             # what xtc-trace is told to take
SANITIZED = os.environ.get("XTC_SANITIZER", "no") not in ("", "no")

# The leak checker cannot do its work in a program that xtc-trace holds.
os.environ["ASAN_OPTIONS"] = ":".join(
    filter(None, [os.environ.get("ASAN_OPTIONS"), "detect_leaks=0"]))


def load_tool(path=TOOL):
    """xtc-trace as a module."""
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("xtc_trace", path)
    spec = importlib.util.spec_from_loader("xtc_trace", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def command(args):
    return [sys.executable, TOOL, args[0], "--tracer", TRACER] + args[1:]


def xtc_trace(args):
    return live.run(command(args), seconds=2 * live.LIMIT_SECONDS)


def report_code(args):
    """(exit code, report, what the program printed)"""
    code, out, err = xtc_trace(args)
    try:
        return code, json.loads(out), err
    except ValueError:
        raise RuntimeError("%s: %s%s" % (args, out, err)) from None


def report(args):
    code, data, err = report_code([args[0], "--json"] + args[1:])
    if code not in (0, 3):
        raise RuntimeError("%s: exit code %d: %s" % (args, code, err))
    return data, err


def doctor(args, **kw):
    """(exit code, facts by topic, next step)"""
    code, out, err = live.run([sys.executable, TOOL, "doctor", "--json"] +
                              args, **kw)
    try:
        data = json.loads(out)
    except ValueError:
        raise RuntimeError("doctor %s: %s%s" % (args, out, err)) from None
    facts = {}
    for f in data["facts"]:
        facts.setdefault(f["topic"], []).append((f["state"], f["text"]))
    return code, facts, data["next"]


def counters(text):
    return dict(re.findall(r"^(\w+) +(\S+)$", text, re.M))


class Target(live.Running):
    """A drive_trace at work."""

    def __init__(self, argv):
        super().__init__(argv)
        try:
            self.pid = self.wait_for(r"^(\d+)$").group(1)
        except BaseException:
            self.__exit__()
            raise

    def leave(self):
        self.p.send_signal(signal.SIGUSR2)
        return self.wait()[0]


class Attached:
    """xtc-trace at work on a target until it is told to end."""

    def __init__(self, args, target):
        self.run = live.Running(command(
            [args[0], "--json"] + args[1:] + ["-p", target.pid]))

    def __enter__(self):
        end = time.monotonic() + live.LIMIT_SECONDS
        while "tracing process" not in self.run.errors():
            if self.run.p.poll() is not None or time.monotonic() > end:
                text = self.run.errors()
                self.run.__exit__()
                raise RuntimeError("xtc-trace did not attach: " + text)
            time.sleep(0.02)
        return self

    def __exit__(self, *_):
        self.run.__exit__()

    def result(self):
        code, out, err = self.run.wait(2 * live.LIMIT_SECONDS)
        try:
            return code, json.loads(out)
        except ValueError:
            raise RuntimeError("xtc-trace: " + out + err) from None

    def end(self):
        self.run.p.send_signal(signal.SIGINT)
        return self.result()[1]


def has_table(fail, pid):
    """Can names of older fibers be read? They can where the library has the
    description; where its source is, it must be found."""
    tool = load_tool()
    process = tool.Process(int(pid))
    known = tool.Peek(process, process.modules()).known()
    if os.path.exists(os.path.join(live.SRC, "src", "core", "peek.h")):
        fail.check(known, "the table of fibers is not found")
    return known


def compile_with(source, path, flags):
    subprocess.run(
        [os.environ.get("CC", "cc").split()[0], "-O2",
         "-fomit-frame-pointer", "-I", os.path.join(live.SRC, "include"),
         source, "-o", path] + flags + ["-pthread"], check=True)
    return path


SHARED = ["-L", live.BUILD, "-lxtc", "-Wl,-rpath," + live.BUILD]


def shared(directory):
    """drive_trace with libxtc.so."""
    return compile_with(DRIVER, os.path.join(directory, "drive_trace_so"),
                        SHARED)


def convoys(directory):
    """[(what, path, can frames be named)] without frame pointers."""
    archive = os.path.join(live.BUILD, "libxtc.a")
    made = []
    for what, flags, frames in (
            ("shared", SHARED, True), ("static", [archive, "-static"], True),
            ("static-pie", [archive, "-static-pie"], True),
            ("stripped static", [archive, "-static", "-s"], False)):
        path = os.path.join(directory, what.replace(" ", "_"))
        made.append((what, compile_with(CONVOY, path, flags), frames))
    return made


def children_of(pid):
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open("/proc/%s/stat" % name, encoding="utf-8",
                          errors="replace") as f:
                    words = f.read().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(words[1]) == pid:
                found.append(int(name))
    return found


def child_of(pid):
    return str(children_of(pid)[0])


def tracer_of(pid):
    """The tracer that a running xtc-trace has started."""
    found = children_of(pid)
    if len(found) != 1:
        raise RuntimeError("children of xtc-trace: %r" % found)
    return found[0]


def gone(pid):
    """Does a process of somebody else end? The limit means that it hangs."""
    end = time.monotonic() + live.LIMIT_SECONDS
    while time.monotonic() < end:
        try:
            with open("/proc/%d/stat" % pid, encoding="utf-8",
                      errors="replace") as f:
                if f.read().rsplit(")", 1)[1].split()[0] in "XZ":
                    return True
        except OSError:
            return True
        time.sleep(0.02)
    return False
