#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
"""What xtc-trace reports with DTrace is what it reports with bpftrace and
what the programs count themselves; without tracefs it says what to do."""

import os
import re
import shutil
import signal
import sys

import xtctracelib as lib
import livelib as live
from live_xtc_trace import convoy, older_fibers, stuck_before


def started(fail):
    convoy(fail, live.program("usdt_convoy"), "convoy", True)
    command = ["--", live.program("usdt_convoy"), "lostwake"]
    data, _ = lib.report(["park"] + command)
    row = data["reasons"][0]
    fail.equal("lostwake: parks", (row["why"], row["count"]),
               ("mailbox", 80))
    fail.equal("lostwake: ended by", row["ended_by"],
               {"event": 76, "timeout": 4})
    fail.equal("lostwake: functions", sorted(
        (f["function"], f["count"]) for f in row["functions"]),
        [("client", 40), ("server", 40)])
    fail.equal("lostwake: problems", data["problems"], [])
    data, _ = lib.report(["timers"] + command)
    fail.equal("lostwake: timers", [
        (k["kind"], k["armed"], k["cancelled"], k["fired"], k["early"])
        for k in data["kinds"]], [("timeout of a wait", 40, 36, 4, 0)])


def stuck_at_the_end(fail):
    data, printed = lib.report(["lost", "--", live.program("drive_parked"),
                                "stuck"])
    lock = int(re.search(r"^lock (\d+)$", printed, re.M).group(1))
    fail.equal("stuck", sorted(
        (f["fiber"]["function"], f["state"], f["why"], int(f["object"], 16))
        for f in data["fibers"]),
        [("heir", "woken", "sync", lock),
         ("receive_once", "parked", "mailbox", 0)])


def attached(fail):
    with lib.Target([live.program("drive_trace")]) as target:
        table = lib.has_table(fail, target.pid)
        older_fibers(fail, target, "attached", table)
        stuck_before(fail, target, "attached", table)
        data, _ = lib.report(["runq", "--seconds", "1", "-p", target.pid])
        fail.check(data["loops"] and data["loops"][0]["count"] > 0 and
                   not data["problems"], "runq: %r" % data)
        fail.equal("exit code of the program", target.leave(), 0)


def killed_tracer(fail, tracing):
    """What DTrace leaves behind when it is killed does not hinder the next
    one. The test takes it away."""
    with lib.Target([live.program("drive_trace")]) as target:
        with lib.Attached(["timers"], target) as t:
            tracer = lib.tracer_of(t.run.p.pid)
            os.kill(tracer, signal.SIGKILL)
            code, _, err = t.run.wait()
        fail.equal("killed DTrace: exit code", code, 1)
        fail.check("DTrace ended with signal 9 while the program goes on" in
                   err, "killed DTrace: " + err)
        data, _ = lib.report(["timers", "--seconds", "1", "-p", target.pid])
        fail.check(data["kinds"] and data["kinds"][0]["fired"] > 0,
                   "the trace after a killed one: %r" % data)
        fail.equal("killed DTrace: exit code of the program", target.leave(),
                   0)
    path = os.path.join(tracing, "uprobe_events")
    with open(path, encoding="utf-8") as f:
        left = [line.split()[0].split(":", 1)[1] for line in f
                if "dt_%d_" % tracer in line]
    for name in left:
        fd = os.open(path, os.O_WRONLY | os.O_APPEND)
        os.write(fd, b"-:%s\n" % name.encode())
        os.close(fd)


def no_tracefs(fail, dtrace):
    """Only DTrace is here, and tracefs is not mounted: mount it."""
    if not shutil.which("unshare"):
        return
    script = ("umount -l /sys/kernel/debug 2>/dev/null;"
              " umount -l /sys/kernel/tracing 2>/dev/null;"
              " export PATH=%s; exec %s %s doctor %s" % (
                  os.path.dirname(dtrace), sys.executable, lib.TOOL,
                  live.program("usdt_convoy")))
    code, out, err = live.run(["unshare", "-m", "sh", "-c", script])
    fail.equal("no tracefs: exit code", code, 1)
    fail.check(out.rstrip().endswith(
        "next: mount -t tracefs nodev /sys/kernel/tracing"),
        "no tracefs: " + out + err)
    env = dict(os.environ, PATH=os.path.dirname(dtrace))
    code, facts, step = lib.doctor([live.program("usdt_convoy")], env=env)
    fail.equal("only DTrace: exit code", code, 0)
    fail.equal("only DTrace: next", step, "%s park --tracer dtrace -- %s" % (
        lib.TOOL, live.program("usdt_convoy")))
    fail.equal("only DTrace", [s for s, t in facts["dtrace"]
                               if dtrace in t], ["good"])


def blind(fail):
    """DTrace does not see a file that was deleted; that is said."""
    path = os.path.join(live.BUILD, "drive_trace_copy")
    shutil.copy(live.program("drive_trace"), path)
    with lib.Target([path]) as target:
        os.unlink(path)
        code, _, err = lib.xtc_trace(["locks", "-p", target.pid])
        fail.equal("deleted: exit code", code, 1)
        fail.check("DTrace cannot trace it, bpftrace can" in err,
                   "deleted: " + err)
        fail.equal("deleted: exit code of the program", target.leave(), 0)


def main():
    dtrace = live.need_dtrace()
    lib.TRACER = dtrace
    tracing = live.need_uprobes()
    fail = live.Failures()
    started(fail)
    stuck_at_the_end(fail)
    attached(fail)
    blind(fail)
    killed_tracer(fail, tracing)
    if os.path.basename(dtrace) == "dtrace" and not os.access(
            os.path.join(os.path.dirname(dtrace), "bpftrace"), os.X_OK):
        no_tracefs(fail, dtrace)
    fail.done()


if __name__ == "__main__":
    main()
