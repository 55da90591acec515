#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
"""What xtc-trace reports with bpftrace is what the programs count themselves,
with names also of fibers that are older than the trace; nothing that is
killed on the way harms the program or the next trace."""

import os
import re
import shutil
import signal
import sys
import tempfile
import time

import xtctracelib as lib
import livelib as live

# Of what a program measures around a call, what the probes inside it must
# see at least. The rest is their own cost, and a machine that is busy.
SHARE = 0.7


def convoy(fail, path, what, frames):
    """The convoy's own counters against the report."""
    data, printed = lib.report(["locks", "--", path, "convoy"])
    counted = lib.counters(printed)
    fail.equal(what + ": complete", (data["complete"], data["problems"]),
               (True, []))
    if not fail.equal(what + ": locks", len(data["locks"]), 1):
        return
    lock = data["locks"][0]
    n = int(counted["contended"])
    fail.equal(what + ": kind", lock["kind"], "amutex")
    fail.equal(what + ": waits", lock["count"], n)
    fail.equal(what + ": results", lock["results"], {"acquired": n})
    fail.equal(what + ": waits by holder",
               sum(h["waits"] for h in lock["holders"]), n)
    fail.equal(what + ": holders", sorted(h["name"] for h in lock["holders"]),
               ["worker %d" % i for i in range(8)])
    fail.equal(what + ": waits in the histogram",
               sum(b["count"] for b in lock["histogram_us"]), n)
    for name, field in (("total_ns", "waited_ms"), ("max_ns", "longest_ms")):
        own = float(counted[field]) * 1e6
        fail.between(what + ": " + name, lock[name], SHARE * own, own)
    fail.equal(what + ": still waiting", data["still_waiting"], [])
    if frames:
        for s in lock["stacks"]:
            fail.equal(what + ": stack", s["frames"][
                s["frames"].index("xtc_amutex_lock"):][:2]
                if "xtc_amutex_lock" in s["frames"] else s["frames"],
                ["xtc_amutex_lock", "worker"])
    fail.equal(what + ": exit", data["exit"], 0)


def convoys(fail, directory):
    convoy(fail, live.program("usdt_convoy"), "convoy", True)
    if not lib.SANITIZED:
        for what, path, frames in lib.convoys(directory):
            convoy(fail, path, what, frames)
    data, _ = lib.report(["locks", "--", live.program("usdt_convoy"),
                          "fixed"])
    fail.equal("fixed: locks", data["locks"], [])


def people(fail, directory):
    """The report for people has the same numbers; -o leaves the output to
    the program."""
    path = os.path.join(directory, "report")
    code, out, err = lib.xtc_trace(["locks", "-o", path, "--",
                                    live.program("usdt_convoy"), "convoy"])
    fail.equal("people: exit code", code, 0)
    n = lib.counters(out)["contended"]
    with open(path, encoding="utf-8") as f:
        text = f.read()
    fail.check(re.search(r"^amutex 0x[0-9a-f]+: %s waits, .*; %s acquired$" %
                         (n, n), text, re.M), "people: " + text)
    fail.check(re.search(r"in\n +xtc_amutex_lock\n +worker\n", text),
               "people: no stack: " + text)
    fail.check("worker 3" in text and "INCOMPLETE" not in text,
               "people: " + text)
    fail.check("ended with exit code 0" in err, "people: " + err)


def forgotten_requests(fail):
    """Of 80 receives 73 end at once and 7 not before the timeout; four of
    these are the client's own timeouts."""
    command = ["--", live.program("usdt_convoy"), "lostwake"]
    data, _ = lib.report(["park"] + command)
    rows = {r["why"]: r for r in data["reasons"]}
    fail.equal("lostwake: reasons", list(rows), ["mailbox"])
    row = rows["mailbox"]
    fail.equal("lostwake: parks", row["count"], 80)
    fail.equal("lostwake: ended by", row["ended_by"],
               {"event": 76, "timeout": 4})
    fail.equal("lostwake: long ones", sum(
        b["count"] for b in row["histogram_us"] if b["from"] >= 16384), 7)
    fail.equal("lostwake: functions", sorted(
        (f["function"], f["count"]) for f in row["functions"]),
        [("client", 40), ("server", 40)])
    data, _ = lib.report(["timers"] + command)
    fail.equal("lostwake: timers", [
        (k["kind"], k["armed"], k["cancelled"], k["fired"], k["early"])
        for k in data["kinds"]], [("timeout of a wait", 40, 36, 4, 0)])
    data, _ = lib.report(["runq"] + command)
    fail.equal("lostwake: wakes", [(r["loop"], r["count"])
                                   for r in data["loops"]], [(0, 80)])
    data, _ = lib.report(["lost"] + command)
    fail.equal("lostwake: parked at the end", data["fibers"], [])


def stuck_at_the_end(fail):
    """The program leaves by _exit; it is held, and its fibers are read."""
    data, printed = lib.report(["lost", "--", live.program("drive_parked"),
                                "stuck"])
    lock = int(re.search(r"^lock (\d+)$", printed, re.M).group(1))
    fail.equal("stuck", sorted(
        (f["fiber"]["function"], f["state"], f["why"], int(f["object"], 16),
         f["older"], f["overdue"]) for f in data["fibers"]),
        [("heir", "woken", "sync", lock, False, False),
         ("receive_once", "parked", "mailbox", 0, False, False)])
    fail.equal("stuck: complete", data["complete"], True)


def full_tables(fail):
    """What did not fit is told, and the exit code is another one."""
    command = ["--keys", "1000", "--json", "--",
               live.program("drive_parked"), "many", "20000"]
    for report in ("park", "runq"):
        code, data, _ = lib.report_code([report] + command)
        fail.equal(report + " with 1000 keys: exit code", code, 3)
        fail.equal(report + " with 1000 keys: complete", data["complete"],
                   False)
        fail.check("tables were full" in " ".join(data["problems"]),
                   "%s: %r" % (report, data["problems"]))
    code, data, _ = lib.report_code(["park", "--json"] + command[3:])
    fail.equal("20000 fibers: exit code", code, 0)
    fail.equal("20000 fibers: parks", data["reasons"][0]["count"], 20000)


# ---- a program that was there before

def older_fibers(fail, target, what, table, frames=True):
    """The turns with the lock, while the mayfly ends and young follows it in
    the same memory. Without frame pointers (frames) a stack may lack what is
    above the function that called the library."""
    with lib.Attached(["locks"], target) as t:
        target.p.send_signal(signal.SIGUSR1)
        target.wait_for(r"^young$")
        data = t.end()
    lock = data["locks"][0]
    fail.equal(what + ": problems", data["problems"], [])
    fail.equal(what + ": locks", len(data["locks"]), 1)
    holders = {h["name"]: h for h in lock["holders"] if h["name"]}
    wanted = {"older %d" % i for i in range(4)} | {"mayfly", "young"}
    if not table:
        fail.check("young" in holders, what + ": %r" % lock["holders"])
        fail.check("no table of fibers" in " ".join(data["notes"]),
                   what + ": notes %r" % data["notes"])
        return
    if fail.equal(what + ": holders", set(holders), wanted):
        fail.equal(what + ": young is where the mayfly was",
                   holders["young"]["task"], holders["mayfly"]["task"])
    fail.equal(what + ": threads", [h["name"] for h in lock["holders"]
                                    if h["thread"]], [""])
    functions = set()
    for s in lock["stacks"]:
        if "xtc_amutex_lock" not in s["frames"]:
            fail.check(False, "%s: stack %r" % (what, s["frames"]))
            continue
        functions.update(s["frames"])
    for name in ("take_turn", "older", "mayfly", "young",
                 "thread_main")[:None if frames else 1]:
        fail.check(name in functions, "%s: %s is in no stack" % (what, name))


def stuck_before(fail, target, what, table):
    """A fiber that was parked before the tracer came, and is still."""
    data, _ = lib.report(["lost", "--seconds", "1", "-p", target.pid])
    fail.equal(what + ": problems of lost", data["problems"], [])
    if table:
        fail.equal(what + ": lost", [
            (f["fiber"]["name"], f["state"], f["why"], f["older"])
            for f in data["fibers"]], [("stuck", "parked", "mailbox", True)])


def balances(fail, target, what):
    """Beginnings and ends agree although probes go on and off one after the
    other: what differs is what was under way, at most one a fiber."""
    data, _ = lib.report(["timers", "--seconds", "1", "-p", target.pid])
    sleeps = [k for k in data["kinds"] if k["kind"] == "sleep"][0]
    fail.between(what + ": armed and not fired",
                 sleeps["armed"] - sleeps["fired"], -8, 8)
    fail.equal(what + ": early", sleeps["early"], 0)
    for report in ("park", "runq"):
        data, _ = lib.report([report, "--seconds", "1", "-p", target.pid])
        fail.equal("%s: problems of %s" % (what, report), data["problems"],
                   [])


def attached(fail, path, what, frames):
    with lib.Target([path]) as target:
        table = lib.has_table(fail, target.pid)
        older_fibers(fail, target, what, table, frames)
        stuck_before(fail, target, what, table)
        balances(fail, target, what)
        fail.equal(what + ": exit code of the program", target.leave(), 0)


def deleted(fail, directory):
    """Replaced under the feet of the process, as an upgrade does it."""
    path = shutil.copy(live.program("drive_trace"), directory)
    with lib.Target([path]) as target:
        os.unlink(path)
        code, facts, step = lib.doctor(["-p", target.pid])
        fail.equal("deleted: doctor", code, 0)
        fail.check("deleted or replaced since" in facts["probes"][0][1],
                   "deleted: %r" % facts["probes"])
        older_fibers(fail, target, "deleted",
                     lib.has_table(fail, target.pid))
        fail.equal("deleted: exit code", target.leave(), 0)


def container(fail, directory):
    """In namespaces of its own for mounts and processes."""
    if not shutil.which("unshare"):
        return
    script = ("mount -t tmpfs none %s && cp %s %s/inner && exec %s/inner" %
              (directory, live.program("drive_trace"), directory, directory))
    with lib.Target(["unshare", "-m", "-p", "-f", "sh", "-c",
                     script]) as target:
        target.pid = lib.child_of(target.p.pid)
        code, facts, _ = lib.doctor(["-p", target.pid])
        fail.equal("container: doctor", code, 0)
        text = " ".join(t for _, t in facts.get("container", []))
        fail.check("mount namespace" in text and "process 1" in text,
                   "container: %r" % facts.get("container"))
        data, _ = lib.report(["locks", "--seconds", "1", "-p", target.pid])
        fail.check(data["locks"] and data["locks"][0]["count"] > 0,
                   "container: %r" % data)
        fail.equal("container: problems", data["problems"], [])
        os.kill(int(target.pid), signal.SIGUSR2)
        target.p.wait(live.LIMIT_SECONDS)


def stopped(fail):
    """A loop that does not run: its sleepers are overdue."""
    with lib.Target([live.program("drive_trace")]) as target:
        with lib.Attached(["lost"], target) as t:
            target.p.send_signal(signal.SIGSTOP)
            # The clock is the thing that is measured here: overdue means
            # that a second went by.
            time.sleep(2)
            data = t.end()
        fail.check([f for f in data["fibers"] if f["overdue"] and
                    f["why"] == "sleep"], "stopped: %r" % data["fibers"])
        _, facts, _ = lib.doctor(["-p", target.pid])
        fail.check("it is stopped" in " ".join(
            t for _, t in facts["process"]), "stopped: %r" % facts["process"])
        target.p.send_signal(signal.SIGCONT)
        fail.equal("stopped: exit code", target.leave(), 0)


# ---- what is killed on the way

def attaches_well(fail, target, what):
    data, _ = lib.report(["timers", "--seconds", "1", "-p", target.pid])
    fail.check(data["kinds"] and data["kinds"][0]["fired"] > 0 and
               not data["problems"], "%s: the next trace: %r" % (what, data))


def killed_tracer(fail):
    with lib.Target([live.program("drive_trace")]) as target:
        with lib.Attached(["locks"], target) as t:
            os.kill(lib.tracer_of(t.run.p.pid), signal.SIGKILL)
            code, _, err = t.run.wait()
        fail.equal("killed tracer: exit code", code, 1)
        fail.check("bpftrace ended with signal 9 while the program goes on" in
                   err, "killed tracer: " + err)
        attaches_well(fail, target, "killed tracer")
        fail.equal("killed tracer: exit code of the program", target.leave(),
                   0)


def killed_tool(fail):
    with lib.Target([live.program("drive_trace")]) as target:
        with lib.Attached(["locks"], target) as t:
            tracer = lib.tracer_of(t.run.p.pid)
            t.run.p.kill()
            t.run.p.wait()
            fail.check(lib.gone(tracer), "the tracer outlives xtc-trace")
        attaches_well(fail, target, "killed xtc-trace")
        fail.equal("killed xtc-trace: exit code of the program",
                   target.leave(), 0)


def killed_target(fail):
    with lib.Target([live.program("drive_trace")]) as target:
        with lib.Attached(["locks"], target) as t:
            target.p.kill()
            target.p.wait()
            code, data = t.result()
        fail.equal("killed program: exit code", code, 0)
        fail.check("the process has ended" in data["notes"],
                   "killed program: %r" % data["notes"])
        fail.check("xtc_amutex_lock" in data["locks"][0]["stacks"][0][
            "frames"], "killed program: no names in %r" %
            data["locks"][0]["stacks"])


def interrupted(fail):
    """Ctrl-C goes to both; the program is held until the report is made."""
    with live.Running([sys.executable, lib.TOOL, "locks", "--",
                       live.program("drive_trace")],
                      start_new_session=True) as t:
        t.wait_for(r"^\d+$")
        os.killpg(t.p.pid, signal.SIGINT)
        code, out, err = t.wait()
    fail.equal("interrupted: exit code", code, 0)
    fail.check(re.search(r"xtc_amutex_lock\n +take_turn", out),
               "interrupted: no names: " + out)
    fail.check("ended with signal" in err, "interrupted: " + err)


def ends_in_time(fail):
    with live.Running([sys.executable, lib.TOOL, "timers", "--seconds", "1",
                       "--", live.program("drive_trace")]) as t:
        code, _, err = t.wait()
    fail.equal("--seconds: exit code", code, 0)
    fail.check("ended with signal 15" in err, "--seconds: " + err)


def no_tracefs(fail):
    """bpftrace does without it."""
    if not shutil.which("unshare"):
        return
    script = ("umount -l /sys/kernel/debug 2>/dev/null;"
              " umount -l /sys/kernel/tracing 2>/dev/null;"
              " exec %s %s doctor %s" % (sys.executable, lib.TOOL,
                                         live.program("usdt_convoy")))
    code, out, err = live.run(["unshare", "-m", "sh", "-c", script])
    fail.equal("no tracefs: exit code", code, 0)
    fail.check("tracefs    not mounted: DTrace and perf need it, bpftrace"
               " does not" in out, "no tracefs: " + out + err)
    fail.check(re.search(r"^ready$", out, re.M), "no tracefs: " + out)


def main():
    live.need_bpftrace()
    fail = live.Failures()
    with tempfile.TemporaryDirectory(prefix="xtc-trace.") as directory:
        convoys(fail, directory)
        people(fail, directory)
        attached(fail, live.program("drive_trace"), "attached", True)
        if not lib.SANITIZED:
            attached(fail, lib.shared(directory), "attached, shared", False)
        deleted(fail, directory)
    with tempfile.TemporaryDirectory(prefix="xtc-trace.") as directory:
        container(fail, directory)
    forgotten_requests(fail)
    stuck_at_the_end(fail)
    full_tables(fail)
    stopped(fail)
    killed_tracer(fail)
    killed_tool(fail)
    killed_target(fail)
    interrupted(fail)
    ends_in_time(fail)
    no_tracefs(fail)
    fail.done()


if __name__ == "__main__":
    main()
