#!/usr/sbin/dtrace -qs
/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * xtc_runq_latency: how long does a fiber that was woken wait until it runs?
 *
 * Usage, from the build directory:
 *	dtrace -qs tools/dtrace/xtc_runq_latency.d -p PID
 *	dtrace -qs tools/dtrace/xtc_runq_latency.d -c ./PROG
 * If dtrace reports dynamic variable drops, give it -x dynvarsize=256m.
 *
 * Sample, of usdt_convoy convoy:

Microseconds from wake to run, by loop. Ctrl-C ends.

loop 0
           value  ------------- Distribution ------------- count
              -1 |                                         0
               0 |@@@@@@@@@@@@@@@@@@@@@@@@                 190
               1 |@@@@@@@@@@@@@@@                          119
               2 |@                                        6
               4 |                                         2
               8 |                                         0
              16 |                                         1
              32 |                                         1
              64 |                                         0

loop     max us
   0         32

 * How to read it:
 * The time from the wake to the resume, by the loop on which the fiber ran
 * then. It is short while the loop is idle. A tail of milliseconds means that
 * the loop has more to run than it can, or that some fiber holds it for long
 * without a wait or a yield.
 */
#pragma D option quiet
#pragma D option dynvarsize=64m

BEGIN
{
	printf("Microseconds from wake to run, by loop. Ctrl-C ends.\n");
}

xtc$target:::fiber-wake
{
	woken[arg0] = timestamp;
}

xtc$target:::fiber-resume
/woken[arg0]/
{
	this->us = (timestamp - woken[arg0]) / 1000;
	@wait_us[(int)arg3] = quantize(this->us);
	@max_us[(int)arg3] = max(this->us);
	woken[arg0] = 0;
}

xtc$target:::fiber-exit
{
	woken[arg0] = 0;
}

END
{
	printa("loop %d%@d\n", @wait_us);
	printf("%4s %10s\n", "loop", "max us");
	printa("%4d %@10d\n", @max_us);
}
