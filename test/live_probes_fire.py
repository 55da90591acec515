#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
"""Every probe of the library fires when the thing that it tells of happens,
with the right arguments, and the events of each fiber come in the order
create (park wake resume)* exit, with steals only where it is runnable."""

import re
import sys

import livelib as live

OK, AGAIN, ABORTED = 0, -5, -10
MS = 1000000
REFUSED_BYTES = 7777777
DEAD_PID = 0x8000000000000001
CAP = 128
REASON = -7
BUDGET_NS = 20 * MS
LIFE = re.compile(r"cs*(pws*rs*)*x$")
LETTER = {"fiber__create": "c", "fiber__park": "p", "fiber__wake": "w",
          "fiber__resume": "r", "fiber__exit": "x", "fiber__steal": "s"}
STOLEN = 8


class Event:
    def __init__(self, line, probes):
        when, self.name, *values = line.split("|")
        self.when = int(when)
        self.args = {}
        for (arg, kind), value in zip(probes[self.name], values):
            self.args[arg] = value if kind == "char*" else int(value)
        self.task = self.args.get("task")

    def __getitem__(self, arg):
        return self.args[arg]


def clause(path, name, args):
    formats, values = [], []
    for i, (_, kind) in enumerate(args):
        signed = kind in ("int", "int64_t")
        formats.append("%s" if kind == "char*" else
                       "%lld" if signed else "%llu")
        values.append("str(arg%d)" % i if kind == "char*" else
                      "(%s)arg%d" % ("int64" if signed else "uint64", i))
    return 'usdt:%s:xtc:%s { printf("%%lu|%s|%s\\n", nsecs, %s); }\n' % (
        path, name, name, "|".join(formats), ", ".join(values))


class Trace:
    def __init__(self, text, probes):
        self.facts = {}
        self.events = []
        for line in text.splitlines():
            if re.match(r"\d+\|\w+\|", line):
                self.events.append(Event(line, dict(probes)))
            elif re.match(r"\w+ \d+$", line):
                name, value = line.split()
                self.facts[name] = int(value)
        self.events.sort(key=lambda e: e.when)
        self.tasks = {}
        for e in self.of("fiber__create"):
            for name, value in self.facts.items():
                if e["pid"] and value == e["pid"]:
                    self.tasks[name] = e["task"]

    def of(self, name, **wanted):
        return [e for e in self.events if e.name == name and
                all(e[k] == v for k, v in wanted.items())]


def check_lives(t, fail, fibers):
    lives = {}
    for e in t.events:
        if e.name not in LETTER:
            continue
        life = lives.setdefault(e.task, [""])
        if life[-1].endswith("x"):
            life.append("")
        life[-1] += LETTER[e.name]
    for task, life in lives.items():
        for one in life:
            fail.check(LIFE.match(one), "the life of %#x is %s" % (task, one))
    fail.equal("fibers", sum(len(life) for life in lives.values()), fibers)


def check_fibers(t, fail):
    for name in ("receiver", "full", "greedy", "sender", "owner", "waiter",
                 "impatient", "killed"):
        made = t.of("fiber__create", pid=t.facts[name])
        if fail.equal("creations of " + name, len(made), 1):
            fail.equal("its name", made[0]["name"], name)
            fail.equal("its loop", made[0]["loop"], 0)
        ends = t.of("fiber__exit", pid=t.facts[name])
        if fail.equal("ends of " + name, len(ends), 1):
            fail.equal("its task at the end", ends[0].task, t.tasks[name])
    fail.equal("entries of the receiver",
               [e["entry"] for e in t.of("fiber__create",
                                         pid=t.facts["receiver"])],
               [t.facts["entry_receiver"]])
    plain = t.of("fiber__create", pid=0)
    fail.equal("fibers that are no process",
               [(e["entry"], e["name"]) for e in plain],
               [(t.facts["entry_fiber"], "")])
    for name, reason in (("receiver", REASON), ("full", 0)):
        fail.equal("reason of " + name, [e["reason"] for e in t.of(
            "fiber__exit", pid=t.facts[name])], [reason])
    for e in t.of("fiber__resume"):
        fail.equal("loop of a resume", e["loop"], 0)


def check_parks(t, fail):
    parks = [(e["why"], e["object"], e["timeout_ns"])
             for e in t.of("fiber__park", task=t.tasks["receiver"])]
    fail.equal("parks of the receiver", parks,
               [(1, 0, -1), (1, 0, 2 * MS), (1, 0, -1)])
    wakes = t.of("fiber__wake", task=t.tasks["receiver"])
    fail.equal("causes of its wakes", [(e["why"], e["cause"]) for e in wakes],
               [(1, 1), (1, 2), (1, 1)])
    if len(wakes) == 3:
        fail.equal("first waker", wakes[0]["waker"], t.tasks["sender"])
        fail.equal("waker at a timeout", wakes[1]["waker"], 0)
        fail.check(wakes[2]["waker"] and
                   wakes[2]["waker"] not in t.tasks.values(),
                   "the thread that wakes has the key %#x" %
                   wakes[2]["waker"])
    fail.equal("causes at its resumes",
               [(e["why"], e["cause"]) for e in
                t.of("fiber__resume", task=t.tasks["receiver"])],
               [(1, 1), (1, 2), (1, 1)])
    fail.equal("parks of the sender",
               [(e["why"], e["object"], e["timeout_ns"]) for e in
                t.of("fiber__park", task=t.tasks["sender"])],
               [(2, 0, MS)])
    fail.equal("parks of the waiter",
               [(e["why"], e["object"], e["timeout_ns"]) for e in
                t.of("fiber__park", task=t.tasks["waiter"])],
               [(6, t.facts["lock"], -1)])
    fail.equal("causes of the wakes of the killed one",
               [e["cause"] for e in
                t.of("fiber__wake", task=t.tasks["killed"])], [3])


def check_messages(t, fail):
    sends = t.of("msg__send", to=t.tasks["receiver"])
    fail.equal("sends that wake", [(e["bytes"], e["queued"])
                                   for e in sends], [(24, 1), (1, 1)])
    fail.equal("all sends that wake", len(t.of("msg__send")), len(sends))
    if len(sends) == 2:
        fail.equal("sender", sends[0]["from"], t.tasks["sender"])
        thread = sends[1]["from"]
        fail.check(thread and thread not in t.tasks.values(),
                   "the thread that sends has the key %#x" % thread)
    # Between the claim and the wake: the wake of the same park comes next.
    for e in sends:
        after = [x for x in t.events if x.when > e.when and
                 x.name == "fiber__wake" and x.task == e["to"]]
        fail.check(after, "a msg-send without a fiber-wake")
    fail.equal("drops", [(e["to_pid"], e["from"], e["bytes"], e["why"])
                         for e in t.of("msg__drop")],
               [(DEAD_PID, t.tasks["sender"], 3, 2),
                (t.facts["full"], t.tasks["sender"], 5, 1)])
    fail.equal("peaks", [(e["to"], e["depth"], e["cap"])
                         for e in t.of("mailbox__high")],
               [(t.tasks["full"], 64, CAP), (t.tasks["full"], 128, CAP)])


def check_timers(t, fail):
    fail.equal("user timers armed", len(t.of("timer__arm", kind=1)), 2)
    fail.equal("user timers fired", len(t.of("timer__fire", kind=1)), 1)
    fail.equal("user timers cancelled",
               len(t.of("timer__cancel", kind=1)), 1)
    # The sender sleeps once; two others until what they wait for is there.
    sleeps = len(t.of("timer__arm", kind=2))
    fail.check(sleeps >= 3, "sleeps armed: %d" % sleeps)
    fail.equal("sleeps fired", len(t.of("timer__fire", kind=2)), sleeps)
    fail.equal("timeouts of waits fired",
               len(t.of("timer__fire", kind=3)), 2)
    # Every end belongs to an arming with the same key, deadline and kind.
    armed = [(e["timer"], e["deadline_ns"], e["kind"])
             for e in t.of("timer__arm")]
    for e in t.of("timer__fire") + t.of("timer__cancel"):
        key = (e["timer"], e["deadline_ns"], e["kind"])
        if fail.check(key in armed, "%s of %s, which nobody armed" %
                      (e.name, key)):
            armed.remove(key)
        if e.name == "timer__fire":
            fail.check(e["now_ns"] >= e["deadline_ns"],
                       "a timer fired early")
    fail.equal("timers armed that neither fired nor were cancelled",
               armed, [])


def check_locks(t, fail):
    lock, owner = t.facts["lock"], t.tasks["owner"]
    starts = t.of("lock__wait__start")
    fail.equal("lock waits", [(e["lock"], e["kind"], e["mode"], e["holder"])
                              for e in starts], [(lock, 1, 0, owner)] * 3)
    for name, result in (("waiter", OK), ("impatient", AGAIN),
                         ("killed", ABORTED)):
        task = t.tasks[name]
        fail.equal("lock waits of " + name,
                   len(t.of("lock__wait__start", task=task)), 1)
        done = t.of("lock__wait__done", task=task)
        fail.equal("result of " + name,
                   [(e["lock"], e["kind"], e["mode"], e["result"])
                    for e in done], [(lock, 1, 0, result)])
        order = [e.name for e in t.events if e.task == task and
                 e.name.startswith(("lock", "fiber__park", "fiber__resume"))]
        fail.equal("order of " + name, order,
                   ["lock__wait__start", "fiber__park", "fiber__resume",
                    "lock__wait__done"])


def check_loop(t, fail):
    inside = False
    for e in t.events:
        if e.name not in ("loop__sleep", "loop__awake"):
            continue
        fail.equal("loop of a " + e.name, e["loop"], 0)
        fail.check((e.name == "loop__awake") == inside,
                   "%s out of turn" % e.name)
        inside = e.name == "loop__sleep"
        if e.name == "loop__awake":
            fail.check(0 <= e["events"] <= 1024,
                       "%d events" % e["events"])
        else:
            fail.check(-1 <= e["timeout_ns"] < 60 * 1000 * MS,
                       "a sleep of %d ns" % e["timeout_ns"])
    fail.check(not inside, "the loop never came back from its sleep")
    fail.check(t.of("loop__sleep", timeout_ns=-1),
               "the loop never slept without a timeout")
    fail.check([e for e in t.of("loop__sleep") if e["timeout_ns"] > 0],
               "the loop never slept with a timeout")


def check_stalls(t, fail):
    """Something else may have had the processor: a fiber that was preempted
    for long is a stall too, so only the planned one is looked for."""
    stalls = t.of("loop__stall", task=t.tasks["greedy"])
    if fail.equal("stalls by the greedy one", len(stalls), 1):
        fail.equal("its loop", stalls[0]["loop"], 0)
        fail.between("ns it ran", stalls[0]["ran_ns"], BUDGET_NS,
                     1000 * BUDGET_NS)


def check_failures(t, fail):
    fails = t.of("alloc__fail")
    if fail.equal("allocations that failed", len(fails), 1):
        fail.between("bytes", fails[0]["bytes"], REFUSED_BYTES,
                     REFUSED_BYTES + 64)
        fail.equal("where", fails[0]["where"], 3)


def check_steals(t, fail):
    """test/drive_steal.c: all go to loop 1 and are woken from loop 0."""
    check_lives(t, fail, STOLEN + 1)
    steals = t.of("fiber__steal")
    fail.equal("steals that the library counts", t.facts["steals"],
               len(steals))
    for e in steals:
        fail.check(e["from"] != e["to"] and {e["from"], e["to"]} == {0, 1}
                   and e["how"] in (1, 2), "a steal from %d to %d, how %d" %
                   (e["from"], e["to"], e["how"]))
    fail.check(len(t.of("fiber__steal", how=1, to=1)) >= STOLEN,
               "not all were stolen")
    fail.check(t.of("fiber__steal", how=2, to=0), "none was placed by its"
               " waker")
    # Where a fiber is said to be is where it runs.
    loop = {}
    for e in t.events:
        if e.name == "fiber__create":
            loop[e.task] = e["loop"]
        elif e.name == "fiber__steal":
            fail.equal("loop of %#x before a steal" % e.task, e["from"],
                       loop[e.task])
            loop[e.task] = e["to"]
        elif e.name == "fiber__resume":
            fail.equal("loop of %#x at a resume" % e.task, e["loop"],
                       loop[e.task])


def trace(fail, name, probes):
    path = live.program(name)
    text = "".join(clause(path, name, args) for name, args in probes)
    out = live.run_ok(["bpftrace", "-e", text, "-c", path])
    t = Trace(out, probes)
    if not fail.check("done" in t.facts, "the driver failed: " + out):
        fail.done()
    return t, out


def main():
    live.need_bpftrace()
    fail = live.Failures()
    probes = live.catalogue()
    stealing, text = trace(fail, "drive_steal", probes)
    t, out = trace(fail, "drive_library", probes)
    for name, _ in probes:
        fail.check(t.of(name) or stealing.of(name), name + " did not fire")
    if fail.texts:
        print(text, out)
        fail.done()
    check_steals(stealing, fail)
    if fail.texts:
        print(text)
    # Eight processes and one fiber that is none.
    check_lives(t, fail, 9)
    check_fibers(t, fail)
    check_parks(t, fail)
    check_messages(t, fail)
    check_timers(t, fail)
    check_locks(t, fail)
    check_loop(t, fail)
    check_stalls(t, fail)
    check_failures(t, fail)
    if fail.texts:
        print(out)
    print("%d events of %d probes" % (len(t.events), len(probes)))
    fail.done()


if __name__ == "__main__":
    sys.exit(main())
