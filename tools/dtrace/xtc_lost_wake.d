#!/usr/sbin/dtrace -qs
/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * xtc_lost_wake: which fibers are still parked when tracing ends, and did
 * anybody try to wake them?
 *
 * Usage, from the build directory:
 *	dtrace -qs tools/dtrace/xtc_lost_wake.d -p PID
 *	dtrace -qs tools/dtrace/xtc_lost_wake.d -c ./PROG
 * If dtrace reports dynamic variable drops, give it -x dynvarsize=256m.
 *
 * Sample, of drive_parked stuck, from the tests:

Fibers still parked when tracing ends. Ctrl-C ends.
now 2943833976901
state task               reason         object             parked since
    2 0x7fca94086d80     sync           0x5612f0abe680     2943828457204
    1 0x7fca94097d00     mailbox        0x0                2943828463896
    0 0x7fca94075e00     sleep          0x0                2943828447030

 * How to read it:
 * State 1: nothing ever tried to wake the fiber since it parked; look at the
 * reason, and at who should have sent, unlocked or completed. State 2: a waker
 * has claimed it, but it has not run since; its loop is busy with a fiber that
 * does not yield. "now" less "parked since" is the age in nanoseconds: a young
 * fiber is just waiting. The object is the lock, the descriptor and so on, 0
 * for messages and sleeps. Fibers that parked before tracing began are not
 * known. If events were lost the states are worth nothing, and the script says
 * so. State 0 is a fiber that was parked on this object at some time and is
 * not now; D cannot leave those out, so they come last.
 */
#pragma D option quiet
#pragma D option dynvarsize=64m
#pragma D option aggsortrev

BEGIN
{
	why[1] = "mailbox";
	why[2] = "sleep";
	why[3] = "fd";
	why[4] = "aio";
	why[5] = "blocking pool";
	why[6] = "sync";
	why[7] = "lwlock";
	why[8] = "lock manager";
	why[9] = "future";
	since[(uint64_t)0] = (uint64_t)0;
	printf("Fibers still parked when tracing ends. Ctrl-C ends.\n");
}

xtc$target:::fiber-park
/since[arg0]/
{
	@missed = count();
}

xtc$target:::fiber-park
{
	since[arg0] = timestamp;
	object[arg0] = arg2;
	@state[arg0, why[(int)arg1], arg2] = sum(1);
	@since[arg0, why[(int)arg1], arg2] = max(timestamp);
}

xtc$target:::fiber-wake
/since[arg0]/
{
	@state[arg0, why[(int)arg1], object[arg0]] = sum(1);
}

xtc$target:::fiber-resume
/since[arg0]/
{
	@state[arg0, why[(int)arg1], object[arg0]] = sum(-2);
	since[arg0] = 0;
	object[arg0] = 0;
}

xtc$target:::fiber-exit
/since[arg0]/
{
	@missed = count();
	since[arg0] = 0;
	object[arg0] = 0;
}

END
{
	printf("now %d\n", timestamp);
	printf("%5s %-18s %-14s %-18s %s\n", "state", "task", "reason",
	    "object", "parked since");
	printa("%@5d 0x%-16x %-14s 0x%-16x %@d\n", @state, @since);
	printa("STATES UNKNOWN: %@d events did not arrive\n", @missed);
}
