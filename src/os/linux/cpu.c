/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * linux/cpu.c: the CPUs this process may use: those that taskset(1) or a
 * cpuset left it, which in a container are fewer than there are. The CPU
 * quota of a control group is a share of time, not a set; it is not looked
 * at.
 */
#define _GNU_SOURCE 1

#include <errno.h>
#include <sched.h>
#include <unistd.h>

#include "os/os.h"

/* More than any kernel is built for; the search below ends there. */
#define CPU_SET_MOST 65536

/* The size of the kernel's own mask is unknown: double until it fits. */
static int
cpu_affinity(void)
{
	int n;

	for (n = CPU_SETSIZE; n <= CPU_SET_MOST; n *= 2) {
		cpu_set_t *set = CPU_ALLOC((size_t)n);
		size_t bytes = CPU_ALLOC_SIZE((size_t)n);
		int count = 0;

		if (set == NULL)
			return 0;
		if (sched_getaffinity(0, bytes, set) == 0)
			count = CPU_COUNT_S(bytes, set);
		CPU_FREE(set);
		if (count > 0 || errno != EINVAL)
			return count;
	}
	return 0;
}

int
xtc__os_cpus(void)
{
	int saved = errno;
	int n = cpu_affinity();

	if (n < 1)
		n = (int)sysconf(_SC_NPROCESSORS_ONLN);
	errno = saved;
	return n < 1 ? 1 : n;
}
