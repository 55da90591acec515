/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/* posix/clock.c: the clocks of os.h by clock_gettime(2). */
#define _POSIX_C_SOURCE 200809L

#include <time.h>

#include "os/os.h"

/* It cannot fail: the clocks exist and the pointer is good. */
static int64_t
clock_read(clockid_t id)
{
	struct timespec ts;

	(void)clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

int64_t
xtc__os_mono(void)
{
	return clock_read(CLOCK_MONOTONIC);
}

int64_t
xtc__os_real(void)
{
	return clock_read(CLOCK_REALTIME);
}
