# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
"""
The peers: other people's ways to do the same work, each a program of ours
under bench/peers, built where what it needs is installed.
"""

import os
import shutil
import subprocess

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers")
BUILD_SECONDS = 300
C_FLAGS = ["-O2", "-g", "-std=c11", "-D_GNU_SOURCE"]
CXX_FLAGS = ["-O2", "-g", "-std=c++17"]


class Peer:
    """packages: what Debian calls what is needed."""

    def __init__(self, name, packages, source, tool):
        self.name = name
        self.packages = packages
        self.source = os.path.join(HERE, source)
        self.tool = tool
        self.env = None
        self.rows = {}
        self.program = None

    def build_command(self):
        raise NotImplementedError

    def command(self, row, count, size):
        return [self.program, row, str(count), str(size)]

    def list_command(self):
        return [self.program, "--rows"]

    def prepare(self, where):
        """Builds it if that can be; whether it is there."""
        self.program = os.path.join(where, os.path.basename(
            os.path.dirname(self.source)) + "_" + os.path.splitext(
                os.path.basename(self.source))[0])
        if shutil.which(self.tool) is None:
            return False
        if not self.is_built():
            p = subprocess.run(self.build_command(), env=self.env,
                               stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True,
                               timeout=BUILD_SECONDS, check=False)
            if p.returncode != 0:
                if os.environ.get("XTC_BENCH_VERBOSE"):
                    print(p.stdout)
                return False
        p = subprocess.run(self.list_command(), env=self.env, check=True,
                           stdout=subprocess.PIPE, text=True)
        for line in p.stdout.splitlines():
            name, count, size = line.split()
            self.rows[name] = int(count), int(size)
        return True

    def is_built(self):
        newest = max(os.path.getmtime(p) for p in (
            self.source, os.path.join(HERE, "peer.h")))
        return os.path.exists(self.program) and \
            os.path.getmtime(self.program) >= newest


class CPeer(Peer):
    def __init__(self, name, packages, source, libs):
        cxx = source.endswith(".cpp")
        super().__init__(name, packages, source, "c++" if cxx else "cc")
        self.flags = CXX_FLAGS if cxx else C_FLAGS
        self.libs = libs

    def build_command(self):
        return [self.tool, *self.flags, "-o", self.program, self.source,
                *self.libs]


class GoPeer(Peer):
    def __init__(self):
        super().__init__("Go", "golang-go", "go/bench.go", "go")

    def build_command(self):
        where = os.path.dirname(self.program)
        self.env = dict(os.environ, GO111MODULE="off", GOFLAGS="",
                        GOCACHE=os.path.join(where, "go-cache"))
        return ["go", "build", "-o", self.program, self.source]


class ErlangPeer(Peer):
    def __init__(self):
        super().__init__("Erlang", "erlang-base", "erlang/xtc_peer.erl",
                         "erlc")

    def prepare(self, where):
        self.where = where
        self.env = dict(os.environ, ERL_CRASH_DUMP_SECONDS="0")
        return super().prepare(where)

    def build_command(self):
        return ["erlc", "-o", self.where, self.source]

    def is_built(self):
        beam = os.path.join(self.where, "xtc_peer.beam")
        return os.path.exists(beam) and \
            os.path.getmtime(beam) >= os.path.getmtime(self.source)

    def start(self, schedulers, *arguments):
        return ["erl", "-noshell", "+S", str(schedulers), "+P", "2000000",
                "-pa", self.where, "-run", "xtc_peer", "main", *arguments]

    def list_command(self):
        return self.start(1, "rows")

    def command(self, row, count, size):
        return self.start(2 if row.endswith("_threads") else 1, row,
                          str(count), str(size))


def prepare(where):
    """(the peers that can run, [(name, packages)] of those that cannot)."""
    os.makedirs(where, exist_ok=True)
    found, absent = [], []
    for peer in (
            CPeer("boost.context", "g++ libboost-context-dev",
                  "boost/context.cpp", ["-lboost_context"]),
            CPeer("boost.fiber", "g++ libboost-fiber-dev", "boost/fiber.cpp",
                  ["-lboost_fiber", "-lboost_context", "-pthread"]),
            CPeer("State Threads", "libst-dev", "st/bench.c", ["-lst"]),
            CPeer("libuv", "libuv1-dev", "libuv/bench.c", ["-luv"]),
            CPeer("POSIX threads", "libc6-dev linux-libc-dev",
                  "pthread/bench.c", ["-pthread"]),
            GoPeer(),
            ErlangPeer()):
        if peer.prepare(where):
            found.append(peer)
        else:
            absent.append((peer.name, peer.packages))
    return found, absent
