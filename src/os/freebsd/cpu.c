/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/* freebsd/cpu.c: the CPUs that cpuset(1) left this process. */
#include <sys/param.h>
#include <sys/cpuset.h>

#include <errno.h>
#include <unistd.h>

#include "os/os.h"

int
xtc__os_cpus(void)
{
	cpuset_t set;
	int saved = errno;
	int n;

	if (cpuset_getaffinity(CPU_LEVEL_WHICH, CPU_WHICH_PID, -1,
	    sizeof(set), &set) == 0)
		n = (int)CPU_COUNT(&set);
	else
		n = (int)sysconf(_SC_NPROCESSORS_ONLN);
	errno = saved;
	return n < 1 ? 1 : n;
}
