#!/usr/sbin/dtrace -qs
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
