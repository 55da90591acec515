#!/usr/sbin/dtrace -qs
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
