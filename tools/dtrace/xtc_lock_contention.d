#!/usr/sbin/dtrace -qs
/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * xtc_lock_contention: which locks make callers wait, for how long, from which
 * stacks, and who held them?
 *
 * Usage, from the build directory:
 *	dtrace -qs tools/dtrace/xtc_lock_contention.d -p PID
 *	dtrace -qs tools/dtrace/xtc_lock_contention.d -c ./PROG
 * If dtrace reports dynamic variable drops, give it -x dynvarsize=256m.
 *
 * Sample, of usdt_convoy convoy:

Microseconds waited, by stack; then by lock. Ctrl-C ends.

              usdt_convoy`xtc__lock_wait_end+0x4
              usdt_convoy`amutex_lock_slow+0x2bc
              usdt_convoy`xtc_amutex_lock+0x7e
              usdt_convoy`worker+0x6e
              usdt_convoy`xtc__fiber_entry+0x32
              usdt_convoy`xtc__ctx_start+0xc
           454885

lock               kind              waits   total us     max us
0x55c70a664b00     amutex              159     454885      14062

microseconds waited
0x55c70a664b00 amutex
           value  ------------- Distribution ------------- count
             512 |                                         0
            1024 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@      138
            2048 |                                         1
            4096 |@@                                       7
            8192 |@@@                                      13
           16384 |                                         0

lock               holder             name                    waits
0x55c70a664b00     0x7ff3b96a4c00     worker 1                   19
0x55c70a664b00     0x7ff3b96b5b80     worker 2                   19
0x55c70a664b00     0x7ff3b96c6b00     worker 3                   19
0x55c70a664b00     0x7ff3b96d7a80     worker 4                   19
0x55c70a664b00     0x7ff3b96e8a00     worker 5                   19
0x55c70a664b00     0x7ff3b96f9980     worker 6                   19
0x55c70a664b00     0x7ff3b970a900     worker 7                   19
0x55c70a664b00     0x7ff3b9693c80     worker 0                   26

 * How to read it:
 * Only acquisitions that had to wait are here. Each stack stands for the
 * microseconds that were waited under it: the public function called is named,
 * below it comes the function that called. Then for each lock: waits, total,
 * longest and histogram; and who held it when a wait began, with the name of
 * the process if the tracer saw it being spawned. 159 of 160 acquisitions
 * waited 1 to 2 ms for a lock that each holds for 0.2 ms: everybody waits for
 * all seven others, a convoy. A holder 0 is unknown. Stacks have names only
 * while the process lives; else use -p. For a flame graph add -x
 * ustackframes=32.
 */
#pragma D option quiet
#pragma D option dynvarsize=64m

BEGIN
{
	kind[1] = "amutex";
	kind[2] = "arwlock";
	kind[3] = "semaphore";
	kind[4] = "notify";
	kind[5] = "barrier";
	kind[6] = "gate";
	kind[7] = "lwlock";
	kind[8] = "lock manager";
	printf("Microseconds waited, by stack; then by lock. Ctrl-C ends.\n");
}

xtc$target:::fiber-create
{
	name[arg0] = copyinstr(arg4);
}

xtc$target:::fiber-exit
{
	name[arg0] = 0;
}

xtc$target:::lock-wait-start
{
	since[arg2, arg0] = timestamp;
	@holder[arg0, arg4, name[arg4]] = count();
}

xtc$target:::lock-wait-done
/since[arg2, arg0]/
{
	this->us = (timestamp - since[arg2, arg0]) / 1000;
	@stack[ustack()] = sum(this->us);
	@waits[arg0, kind[(int)arg1]] = count();
	@total_us[arg0, kind[(int)arg1]] = sum(this->us);
	@max_us[arg0, kind[(int)arg1]] = max(this->us);
	@hist_us[arg0, kind[(int)arg1]] = quantize(this->us);
	since[arg2, arg0] = 0;
}

END
{
	printa(@stack);
	printf("\n%-18s %-14s %8s %10s %10s\n", "lock", "kind", "waits",
	    "total us", "max us");
	printa("0x%-16x %-14s %@8d %@10d %@10d\n", @waits, @total_us, @max_us);
	printf("\nmicroseconds waited");
	printa("\n0x%x %s%@d", @hist_us);
	printf("\n%-18s %-18s %-20s %8s\n", "lock", "holder", "name", "waits");
	printa("0x%-16x 0x%-16x %-20s %@8d\n", @holder);
}
