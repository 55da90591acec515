#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
"""
run.py: runs the bench programs of a build, and with --peers those of others
beside them, and prints what came out as tables.

    run.py [--peers] [--runs N] [--rows A,B,...] [--only PART,...] [--tiny]
           [BUILD_DIR]

Each figure of a program is the best of some hundred short batches, the same
in ours and in the peers'. The programs are started N times, each in its turn,
and what is judged is the best of the N: the machine may have other work to
do, which makes a run slower and never faster.

A goal is a number that was set on one machine beside figures of peers there.
What it means here is its ratio to such a peer, times what the peer does here
in this same call; that is the goal "here", where the peer is installed.

PART is one of floor, rows, scale, counts, attached; all, unless told
otherwise. --tiny is for a test: small counts, so that nothing is meant by
the figures.
"""

import argparse
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys

import peers as peer_programs

RUNS = 5
PARTS = ("floor", "rows", "scale", "counts", "attached")
LIMIT_SECONDS = 600
COUNTED = (2000, 8000)          # as many digits in both
TINY_COUNT = 200
TINY_SIZE = 16


class Row:
    """One line of the table. goal is what was set, refs what peers had
    where it was set, best first; the first that runs here makes the goal
    here. beside: a metric of our own program that stands for the peer, and
    how often it we may take."""

    def __init__(self, key, title, program, row, metric="ns", goal=None,
                 refs=(), high=False, beside=None, peer_rows=None, runs=None,
                 threads=False):
        self.key = key
        self.title = title
        self.program = program
        self.row = row
        self.metric = metric
        self.goal = goal
        self.refs = refs
        self.high = high
        self.beside = beside
        self.peer_rows = (row,) if peer_rows is None else peer_rows
        self.runs = runs
        self.threads = threads

    def best(self, values):
        return max(values) if self.high else min(values)


ROWS = (
    Row("switch", "raw switch, ns", "bench_switch", "switch", goal=5.6,
        refs=(("boost.context", 5.6),)),
    Row("yield", "yield between two fibers, ns", "bench_switch", "yield",
        goal=12, refs=(("State Threads", 18), ("Go", 36), ("Erlang", 75))),
    Row("yield_mixed", "the same, in two functions, ns", "bench_switch",
        "yield_mixed", peer_rows=()),
    Row("spawn_fiber", "spawn, run, finish a fiber, ns", "bench_spawn",
        "spawn_fiber", goal=60,
        refs=(("State Threads", 90), ("Go", 162), ("Erlang", 589)),
        peer_rows=("spawn_fiber", "spawn_process")),
    Row("spawn_process", "... a process with mailbox, ns", "bench_spawn",
        "spawn_process", goal=100,
        refs=(("State Threads", 90), ("Go", 162), ("Erlang", 589)),
        peer_rows=("spawn_process", "spawn_fiber")),
    Row("parked", "a million parked, resident bytes each", "bench_parked",
        "parked", "resident_bytes", goal=4300, runs=1),
    Row("parked_tables", "... page tables, bytes each", "bench_parked",
        "parked", "tables_bytes", runs=1),
    Row("parked_create", "... create, CPU ns each", "bench_parked",
        "parked", "create_ns", beside=("bare_ns", "bare guard and touch",
                                       1.3), runs=1),
    Row("parked_end", "... kill and end, CPU ns each", "bench_parked",
        "parked", "end_ns", peer_rows=(), runs=1),
    Row("pingpong", "message ping-pong, one loop, ns a message",
        "bench_message", "pingpong", goal=40,
        refs=(("State Threads", 19), ("Go", 101), ("Erlang", 196))),
    Row("pingpong_timeout", "... each wait with a timeout, ns",
        "bench_message", "pingpong_timeout", peer_rows=()),
    Row("pingpong_threads", "ping-pong across two threads, ns a message",
        "bench_message", "pingpong_threads", goal=300,
        refs=(("Erlang", 2231), ("POSIX threads", 16300),
              ("boost.fiber", 23600), ("Go", 35400))),
    Row("pingpong_futex", "... at most 1.1 of a futex pair, ns",
        "bench_message", "pingpong_threads",
        beside=("floor_futex_pair", "futex pair", 1.1), peer_rows=()),
    Row("fanin", "fan-in, 8 to 1, same loop, million/s", "bench_message",
        "fanin", "million_per_s", goal=46, high=True,
        refs=(("boost.fiber", 46), ("Go", 44), ("Erlang", 4))),
    Row("fanin_threads", "fan-in across threads, million/s",
        "bench_message", "fanin_threads", "million_per_s", goal=15,
        high=True, refs=(("boost.fiber", 7.8), ("Erlang", 4.6))),
    Row("ring", "ring of 1,000, ns a hop", "bench_message", "ring", goal=40,
        refs=(("State Threads", 24), ("Go", 110), ("Erlang", 192))),
    Row("mutex", "amutex uncontended, ns lock+unlock", "bench_mutex",
        "mutex", goal=8, refs=(("Go", 4.7), ("Erlang", 457)), threads=True),
    Row("mutex_normal", "... beside a normal pthread mutex", "bench_mutex",
        "mutex", beside=("pthread_normal_ns", "pthread normal", 8 / 6.0),
        peer_rows=(), threads=True),
    Row("mutex_errorcheck", "... at most an errorcheck one", "bench_mutex",
        "mutex", beside=("pthread_errorcheck_ns", "pthread errorcheck", 1.0),
        peer_rows=(), threads=True),
    Row("mutex_robust", "... beside a robust one", "bench_mutex", "mutex",
        beside=("pthread_robust_ns", "pthread robust", 8 / 8.5),
        peer_rows=(), threads=True),
    Row("mutex_handoff", "amutex, 8 fibers, yield inside, ns a hand-off",
        "bench_mutex", "mutex_handoff", goal=70,
        refs=(("Go", 107), ("Erlang", 511))),
    Row("timer", "timer arm + cancel, 100,000 outstanding, ns",
        "bench_timer", "timer", goal=30, refs=(("Go", 221),
                                               ("Erlang", 764))),
    Row("timer_oldest", "... cancelling the oldest, ns", "bench_timer",
        "timer_oldest"),
    Row("sleepers_p50", "100,000 sleepers, lateness p50, us", "bench_timer",
        "sleepers", "p50_us", goal=10,
        refs=(("boost.fiber", 43), ("Go", 555), ("Erlang", 1134))),
    Row("sleepers_p99", "... p99, us", "bench_timer", "sleepers", "p99_us",
        goal=30,
        refs=(("boost.fiber", 157), ("Go", 1097), ("Erlang", 2024))),
)

# What an operation costs with few and with very many: program, row, count.
SCALE = (
    ("yield", "bench_switch", "yield", 5000000, 100, 1000000),
    ("ring, a hop", "bench_message", "ring", 5000000, 100, 1000000),
    ("spawn, run, finish a process", "bench_spawn", "spawn_process", 500000,
     100, 1000000),
    ("timer arm + cancel", "bench_timer", "timer", 1000000, 100, 1000000),
    ("timer, cancelling the oldest", "bench_timer", "timer_oldest", 1000000,
     100, 1000000),
)

# Operations that one count of a path is.
PATH_OPS = {"yield": 2, "mutex_wait": 2}

FLOOR = (
    ("floor_plain", "load and store of one word"),
    ("floor_cas", "compare-and-swap, one after another"),
    ("floor_cas_loaded", "... after a load of the same word"),
    ("floor_cas_apart", "... of four words in turn"),
    ("floor_add", "fetch-and-add"),
    ("floor_exchange", "exchange"),
    ("floor_call", "call of an empty function"),
    ("floor_self", "xtc_loop_self()"),
    ("floor_clock", "xtc_clock_mono()"),
    ("floor_copy", "memcpy of 16 bytes"),
    ("floor_message", "the 8 atomics and the copy of a message"),
    ("floor_syscall", "getppid()"),
    ("floor_eventfd", "write and read of an eventfd"),
    ("floor_cache_hop", "a word's way to the other thread, spinning"),
    ("floor_futex_pair", "... through a futex, asleep in between"),
    ("floor_sleep", "lateness of nanosleep(), its median"),
)


class Bench:
    def __init__(self, options):
        self.options = options
        self.build = os.path.abspath(options.build)
        self.failed = 0
        self.cache = {}

    def limits(self, count, size):
        if not self.options.tiny:
            return count, size
        return min(count, TINY_COUNT), min(size, TINY_SIZE)

    def start(self, command, env=None):
        """The metrics that a program prints; {} and a word if it fails."""
        try:
            p = subprocess.run(command, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, env=env,
                               timeout=LIMIT_SECONDS, check=False)
            out, code = p.stdout, p.returncode
        except subprocess.TimeoutExpired:
            out, code = "took more than %d s" % LIMIT_SECONDS, 1
        if code != 0:
            self.failed += 1
            print("FAILED: %s: %s" % (" ".join(command), out.strip()[-300:]),
                  flush=True)
            return {}
        seen = {}
        for line in out.splitlines():
            words = line.split()
            if len(words) == 3:
                seen[words[0], words[1]] = float(words[2])
        return seen

    def ours(self, program, row, count=None, size=None, threads=False):
        path = os.path.join(self.build, program)
        if count is None:
            count, size = self.rows_of(program)[row]
        count, size = self.limits(count, size)
        env = dict(os.environ, XTC_BENCH_SECOND_THREAD="1") if threads \
            else None
        return self.start([path, row, str(count), str(size)], env)

    def rows_of(self, program):
        """The rows of a program of ours: {name: (count, size)}."""
        if program not in self.cache:
            path = os.path.join(self.build, program)
            self.cache[program] = rows = {}
            if os.access(path, os.X_OK):
                out = subprocess.run([path, "--rows"], check=True,
                                     stdout=subprocess.PIPE, text=True)
                for line in out.stdout.splitlines():
                    name, count, size = line.split()
                    rows[name] = int(count), int(size)
        return self.cache[program]


def figure(value):
    if value is None:
        return "-"
    if abs(value) >= 1000:
        return "{:,.0f}".format(value)
    return "%.3g" % value if abs(value) < 10 else "%.4g" % value


def table(head, lines):
    """The first column to the left, all else to the right, words apart."""
    lines = [head] + lines
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    for line in lines:
        print("  ".join(
            cell.ljust(w) if i == 0 else cell.rjust(w)
            for i, (cell, w) in enumerate(zip(line, widths))).rstrip())
    print(flush=True)


def cpu_model():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as f:
            m = re.search(r"model name\s*: (.*)", f.read())
            return m.group(1) if m else platform.processor()
    except OSError:
        return platform.processor()


def load():
    return "%.1f" % os.getloadavg()[0]


def print_floor(bench):
    values = {}
    for _ in range(bench.options.runs):
        for row, _ in FLOOR:
            if row not in bench.rows_of("bench_floor"):
                continue
            seen = bench.ours("bench_floor", row)
            values.setdefault(row, []).append(seen.get((row, "ns")))
    lines = []
    for row, title in FLOOR:
        got = [v for v in values.get(row, []) if v is not None]
        if got:
            lines.append([title, figure(min(got)),
                          figure(statistics.median(got)), figure(max(got))])
    print("What this machine charges, ns:")
    table(["", "min", "median", "max"], lines)


def contenders(bench, row):
    """The peers that have this row: [(name, command)]."""
    found = []
    for peer in bench.options.found_peers:
        for name in row.peer_rows:
            if name in peer.rows:
                found.append((peer.name, peer, name))
                break
    return found


# Who ran, besides the peers.
ALONE, THREADS = "one thread", "two threads"


def jobs_of(bench, row):
    """Whom to start for a row: [(who, program or peer, its row)]."""
    jobs = contenders(bench, row)
    if row.row in bench.rows_of(row.program):
        jobs = [(ALONE, row.program, row.row)] + jobs
        if not row.row.endswith("_threads") and row.runs is None:
            jobs.append((THREADS, row.program, row.row))
    if row.beside and row.beside[0].startswith("floor_"):
        jobs.append((ALONE, "bench_floor", row.beside[0]))
    return jobs


def collect(bench, rows):
    """{(who, row of the program, metric): [value of each run]}."""
    values = {}
    for run in range(bench.options.runs):
        done = set()
        for row in rows:
            if row.runs is not None and run >= row.runs:
                continue
            for who, what, name in jobs_of(bench, row):
                if (who, name) in done:
                    continue
                done.add((who, name))
                if isinstance(what, str):
                    seen = bench.ours(what, name, threads=who == THREADS)
                else:
                    count, size = bench.limits(*what.rows[name])
                    seen = bench.start(what.command(name, count, size),
                                       what.env)
                for (printed, metric), value in seen.items():
                    values.setdefault((who, printed, metric),
                                      []).append(value)
    return values


def beside_value(values, row):
    key, _, _ = row.beside
    if key.startswith("floor_"):
        return values.get((ALONE, key, "ns"))
    return values.get((THREADS if row.threads else ALONE, row.row, key))


def judge(row, ours, peers, values):
    """(best peer, goal, goal here, ratio to the best peer, met)."""
    own = row.best(ours)
    best_peer, best = "-", None
    for who, got in peers.items():
        if best is None or row.best([best, got]) == got:
            best_peer, best = who, got
    here = row.goal if not row.refs else None
    if row.beside:
        got = beside_value(values, row)
        if got:
            best_peer, best = row.beside[1], min(got)
            here = best * row.beside[2]
    for who, had in row.refs:
        if row.goal is not None and who in peers:
            here = row.goal * peers[who] / had
            break
    met = "-"
    if here is not None:
        met = "yes" if row.best([own, here]) == own else "no"
    elif row.goal is not None:
        met = "alone"
    return best_peer, best, here, met


def print_rows(bench):
    wanted = bench.options.rows
    rows = [r for r in ROWS if not wanted or r.key in wanted]
    values = collect(bench, rows)
    lines, missed, met_n = [], [], 0
    for row in rows:
        ours = values.get((THREADS if row.threads else ALONE, row.row,
                           row.metric))
        second = values.get((THREADS, row.row, row.metric))
        if not ours:
            continue
        peers = {}
        for who, _, name in contenders(bench, row):
            got = values.get((who, name, row.metric))
            if got:
                peers[who] = row.best(got)
        best_peer, best, here, met = judge(row, ours, peers, values)
        own = row.best(ours)
        met_n += met == "yes"
        if met == "no":
            missed.append(row.key)
        lines.append([
            row.title, best_peer, figure(best), figure(min(ours)),
            figure(statistics.median(ours)), figure(max(ours)),
            figure(row.best(second)) if second else "-", figure(row.goal), figure(here),
            figure(own / best) if best else "-", met])
    print("Best of %d runs in turn%s; load %s:" % (
        bench.options.runs, " with peers" if bench.options.peers else "",
        load()))
    table(["", "best peer", "it", "ours min", "median", "max",
           "2 threads", "goal", "goal here", "ours/peer", "met"], lines)
    if bench.options.peers:
        print_peers(bench, rows, values)
    print("%d goals met, %d not%s\n" % (
        met_n, len(missed), ": " + ", ".join(missed) if missed else ""))


def print_peers(bench, rows, values):
    names = [p.name for p in bench.options.found_peers]
    lines = []
    for row in rows:
        cells, any_peer = [], False
        for peer in bench.options.found_peers:
            cell = "-"
            for name in row.peer_rows:
                got = values.get((peer.name, name, row.metric))
                if got:
                    cell, any_peer = figure(row.best(got)), True
                    break
            cells.append(cell)
        if any_peer:
            lines.append([row.title] + cells)
    print("All peers, each its best:")
    table([""] + names, lines)
    for name, packages in bench.options.absent_peers:
        print("not here: %s (Debian: %s)" % (name, packages))
    if bench.options.absent_peers:
        print()


def print_scale(bench):
    lines = []
    for title, program, row, count, few, many in SCALE:
        if row not in bench.rows_of(program):
            continue
        cells = [title]
        for size in (few, many):
            count, size = bench.limits(count, size)
            got = bench.ours(program, row, count, size).get((row, "ns"))
            cells.append(figure(got))
        lines.append(cells)
    print("An operation among few and among very many, ns (what grows is "
          "cache and TLB misses):")
    table(["", "100", "1,000,000"], lines)


def instructions(path, row, count):
    p = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
         path, row, str(count)],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        timeout=LIMIT_SECONDS, check=False)
    m = re.search(r"Collected : (\d+)", p.stdout)
    if p.returncode != 0 or not m:
        raise RuntimeError("callgrind on %s %s: %s" %
                           (path, row, p.stdout.strip()[-300:]))
    return int(m.group(1))


def path_instructions(path, row):
    """What one operation of a path of bench_paths takes."""
    low, high = COUNTED
    return (instructions(path, row, high) - instructions(path, row, low)) / (
        (high - low) * PATH_OPS.get(row, 1))


def print_counts(bench):
    path = os.path.join(bench.build, "bench_paths")
    if shutil.which("valgrind") is None:
        print("no instruction counts: valgrind is not installed\n")
        return
    lines = []
    for row in bench.rows_of("bench_paths"):
        try:
            lines.append([row, "%.1f" % path_instructions(path, row)])
        except RuntimeError as e:
            bench.failed += 1
            print("FAILED: %s" % e)
    print("Instructions an operation (callgrind):")
    table(["", "instructions"], lines)


def print_attached(bench):
    """What a probe costs that somebody counts."""
    path = os.path.join(bench.build, "bench_message")
    if platform.system() != "Linux" or os.geteuid() != 0 or \
            shutil.which("bpftrace") is None:
        print("no cost of an attached probe: needs root and bpftrace\n")
        return
    with open(path, "rb") as f:
        if b"fiber__park" not in f.read():
            print("no cost of an attached probe: this build has none\n")
            return
    count = str(bench.limits(200000, 0)[0])
    free, held = [], []
    script = "usdt:%s:xtc:fiber__park { @ = count(); }" % path
    for _ in range(bench.options.runs):
        seen = bench.start([path, "pingpong", count])
        free.append(seen.get(("pingpong", "ns")))
        seen = bench.start(["bpftrace", "-e", script, "-c",
                            "%s pingpong %s" % (path, count)])
        held.append(seen.get(("pingpong", "ns")))
    if None in free or None in held:
        print("no cost of an attached probe: it could not be attached\n")
        return
    print("An attached probe, bpftrace counting: %s ns a hit (a message "
          "takes %s instead of %s ns)\n" % (
              figure(min(held) - min(free)), figure(min(held)),
              figure(min(free))))


def parse(arguments):
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--peers", action="store_true")
    p.add_argument("--runs", type=int, default=RUNS)
    p.add_argument("--rows", default="")
    p.add_argument("--only", default="")
    p.add_argument("--tiny", action="store_true")
    p.add_argument("build", nargs="?", default=".")
    options = p.parse_args(arguments)
    options.rows = [r for r in options.rows.split(",") if r]
    options.only = [r for r in options.only.split(",") if r] or PARTS
    unknown = [r for r in options.rows if r not in [x.key for x in ROWS]] + \
        [r for r in options.only if r not in PARTS]
    if unknown:
        p.error("no row or part " + ", ".join(unknown))
    return options


def main(arguments=None):
    options = parse(arguments)
    options.found_peers, options.absent_peers = [], []
    bench = Bench(options)
    print("%s, %d CPUs, %s %s; load %s at the start" % (
        cpu_model(), os.cpu_count(), platform.system(), platform.release(),
        load()))
    if options.peers:
        options.found_peers, options.absent_peers = \
            peer_programs.prepare(os.path.join(bench.build, "peers"))
        print("peers: " + (", ".join(p.name for p in options.found_peers) or
                           "none is installed"))
    print(flush=True)
    parts = {"floor": print_floor, "rows": print_rows, "scale": print_scale,
             "counts": print_counts, "attached": print_attached}
    for part in PARTS:
        if part in options.only:
            parts[part](bench)
    if bench.failed:
        print("%d programs failed" % bench.failed)
    return 1 if bench.failed else 0


if __name__ == "__main__":
    sys.exit(main())
