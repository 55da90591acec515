#!/usr/sbin/dtrace -qs
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
