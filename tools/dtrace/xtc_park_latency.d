#!/usr/sbin/dtrace -qs
/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * xtc_park_latency: how long do fibers stay parked, and for which reason?
 *
 * Usage, from the build directory:
 *	dtrace -qs tools/dtrace/xtc_park_latency.d -p PID
 *	dtrace -qs tools/dtrace/xtc_park_latency.d -c ./PROG
 * If dtrace reports dynamic variable drops, give it -x dynvarsize=256m.
 *
 * Sample, of usdt_convoy lostwake:

Microseconds parked, by reason. Ctrl-C ends.

  mailbox
           value  ------------- Distribution ------------- count
               1 |                                         0
               2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@          62
               4 |@@@@                                     8
               8 |@                                        2
              16 |                                         0
              32 |@                                        1
              64 |                                         0
             128 |                                         0
             256 |                                         0
             512 |                                         0
            1024 |                                         0
            2048 |                                         0
            4096 |                                         0
            8192 |                                         0
           16384 |@@@@                                     7
           32768 |                                         0

 * How to read it:
 * The histogram of each reason counts parks by their length, in powers of two.
 * Two hills in one histogram are two different things. Here 73 receives were
 * answered at once and 7 lasted until a timeout of 20 ms: somebody waits for
 * messages that do not come. xtc_lost_wake tells who. Fibers that are parked
 * when tracing ends, or were when it began, are not counted.
 */
#pragma D option quiet
#pragma D option dynvarsize=64m

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
	printf("Microseconds parked, by reason. Ctrl-C ends.\n");
}

xtc$target:::fiber-park
{
	since[arg0] = timestamp;
}

xtc$target:::fiber-resume
/since[arg0]/
{
	@parked_us[why[(int)arg1]] = quantize((timestamp - since[arg0]) / 1000);
	since[arg0] = 0;
}

xtc$target:::fiber-exit
{
	since[arg0] = 0;
}
