#!/usr/sbin/dtrace -qs
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
