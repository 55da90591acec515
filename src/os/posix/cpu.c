/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/* posix/cpu.c: the CPUs that are there, for systems that do not tell more. */
#define _DEFAULT_SOURCE
#define __EXTENSIONS__ 1

#include <limits.h>
#include <unistd.h>

#include "os/os.h"

int
xtc__os_cpus(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n < 1 ? 1 : n > INT_MAX ? INT_MAX : (int)n;
}
