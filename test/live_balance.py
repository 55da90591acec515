#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
"""In a storm of locks, messages, timeouts, kills, steals and a shutdown in
the middle the events of each fiber keep to create (park wake resume)* exit,
and whatever begins also ends."""

import os
import sys

import livelib as live

# The life of a fiber in the tracer: 1 may run, 2 parked, 3 woken. A step that
# does not belong there is counted by what it was and where.
SCRIPT = """
usdt:%(path)s:xtc:fiber__create {
	if (@s[arg0] != 0) { @bad["create", @s[arg0]] = count(); }
	@s[arg0] = 1; @n["create"] = count();
}
usdt:%(path)s:xtc:fiber__park {
	if (@s[arg0] != 1) { @bad["park", @s[arg0]] = count(); }
	if (@l[arg0] > 0) { @n["park in a lock wait"] = count(); }
	@s[arg0] = 2; @n["park"] = count();
}
usdt:%(path)s:xtc:fiber__wake {
	if (@s[arg0] != 2) { @bad["wake", @s[arg0]] = count(); }
	@s[arg0] = 3; @n["wake"] = count(); @cause[arg2] = count();
}
usdt:%(path)s:xtc:fiber__resume {
	if (@s[arg0] != 3) { @bad["resume", @s[arg0]] = count(); }
	@s[arg0] = 1; @n["resume"] = count();
}
usdt:%(path)s:xtc:fiber__steal {
	if (@s[arg0] != 1 && @s[arg0] != 3) {
		@bad["steal", @s[arg0]] = count();
	}
	@n["steal"] = count();
}
usdt:%(path)s:xtc:fiber__exit {
	if (@s[arg0] != 1) { @bad["exit", @s[arg0]] = count(); }
	if (@l[arg0] > 0) { @bad["exit in a lock wait", 0] = count(); }
	delete(@s[arg0]); delete(@l[arg0]); @n["exit"] = count();
}
usdt:%(path)s:xtc:lock__wait__start {
	if (@l[arg2] != 0) { @bad["lock wait in a lock wait", 0] = count(); }
	@l[arg2] = arg0; @n["lock start"] = count();
}
usdt:%(path)s:xtc:lock__wait__done {
	if (@l[arg2] != arg0) { @bad["end of another lock wait", 0] = count(); }
	delete(@l[arg2]); @n["lock done"] = count();
	@result[(int32)arg4] = count();
}
usdt:%(path)s:xtc:timer__arm { @n["arm"] = count(); }
usdt:%(path)s:xtc:timer__fire { @n["fire"] = count(); }
usdt:%(path)s:xtc:timer__cancel { @n["cancel"] = count(); }
usdt:%(path)s:xtc:loop__sleep {
	if (@p[arg0]) { @bad["sleep in a sleep", arg0] = count(); }
	@p[arg0] = 1; @n["loop sleep"] = count();
}
usdt:%(path)s:xtc:loop__awake {
	if (!@p[arg0]) { @bad["awake and not asleep", arg0] = count(); }
	delete(@p[arg0]); @n["loop awake"] = count();
}
usdt:%(path)s:xtc:msg__send { @n["msg-send"] = count(); }
usdt:%(path)s:xtc:msg__drop { @n["msg-drop"] = count(); }
"""


def storm(fail, seed):
    # A fiber that ends in wake or park at the end of the program is left in
    # the maps and printed; nothing may be.
    out = live.run_ok(["bpftrace", "-e", SCRIPT % {"path": "./drive_storm"},
                       "-c", "./drive_storm 30000 %d" % seed],
                      env=live.keys_env(65536))
    maps = live.bpf_scalars(out)
    n = {k: int(v) for k, v in maps.get("n", {}).items()}
    before = len(fail.texts)
    fail.check("done" in out, "the storm did not end")
    fail.equal("steps out of order", maps.get("bad", {}), {})
    for name in ("s", "l", "p"):
        fail.equal("left in @" + name, maps.get(name, {}), {})
    fail.equal("ends", n.get("exit"), n.get("create"))
    fail.equal("wakes", n.get("wake"), n.get("park"))
    fail.equal("resumes", n.get("resume"), n.get("park"))
    fail.equal("lock waits ended", n.get("lock done"), n.get("lock start"))
    fail.equal("timers ended", n.get("fire", 0) + n.get("cancel", 0),
               n.get("arm"))
    fail.equal("loops awake", n.get("loop awake"), n.get("loop sleep"))
    if len(fail.texts) > before:
        print("seed %d" % seed)
        print(out)
    return set(n) | {"cause " + c for c in maps.get("cause", {})} | \
        {"result " + r for r in maps.get("result", {})}


def main():
    live.need_bpftrace()
    fail = live.Failures()
    live.program("drive_storm")
    seen = set()
    for seed in os.environ.get("XTC_STORM_SEEDS", "1 2 3").split():
        seen |= storm(fail, int(seed))
    # What a single storm may happen not to have, all of them do.
    wanted = {"steal", "msg-send", "msg-drop", "park in a lock wait", "fire",
              "cancel", "cause 1", "cause 2", "cause 3", "result 0",
              "result -5", "result -10"}
    fail.equal("what no storm had", sorted(wanted - seen), [])
    fail.done()


if __name__ == "__main__":
    sys.exit(main())
