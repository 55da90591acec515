#!/usr/sbin/dtrace -qs
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
