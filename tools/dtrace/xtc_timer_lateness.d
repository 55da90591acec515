#!/usr/sbin/dtrace -qs
/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * xtc_timer_lateness: how late do timers fire, and how many are armed only to
 * be cancelled?
 *
 * Usage, from the build directory:
 *	dtrace -qs tools/dtrace/xtc_timer_lateness.d -p PID
 *	dtrace -qs tools/dtrace/xtc_timer_lateness.d -c ./PROG
 *
 * Sample, of usdt_convoy lostwake:

Timers by kind: microseconds late, and what became of them. Ctrl-C ends.

kind                      armed  cancelled      fired
timeout of a wait            40         36          4

microseconds late
timeout of a wait
           value  ------------- Distribution ------------- count
               8 |                                         0
              16 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 4
              32 |                                         0

 * How to read it:
 * Lateness is what the loop's own clock said when it acted on the timer, less
 * the deadline. Tens of microseconds come from the kernel; milliseconds mean
 * that the loop had no time, because fibers run for long without a wait or a
 * yield. Timeouts that are nearly all cancelled are as it should be; timers
 * armed and cancelled by the thousand a second are work for nothing.
 */
#pragma D option quiet

BEGIN
{
	kind[1] = "user timer";
	kind[2] = "sleep";
	kind[3] = "timeout of a wait";
	printf("Timers by kind: microseconds late, and what became of them. ");
	printf("Ctrl-C ends.\n");
}

xtc$target:::timer-arm
{
	@armed[kind[(int)arg2]] = count();
}

xtc$target:::timer-cancel
{
	@cancelled[kind[(int)arg2]] = count();
}

xtc$target:::timer-fire
{
	@fired[kind[(int)arg3]] = count();
	@late_us[kind[(int)arg3]] =
	    quantize(((int64_t)arg2 - (int64_t)arg1) / 1000);
}

END
{
	printf("%-20s %10s %10s %10s\n", "kind", "armed", "cancelled", "fired");
	printa("%-20s %@10d %@10d %@10d\n", @armed, @cancelled, @fired);
	printf("\nmicroseconds late");
	printa("\n%s%@d", @late_us);
}
