/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * darwin/clock.c: the clocks of os.h.
 *
 * CLOCK_MONOTONIC counts microseconds here; CLOCK_UPTIME_RAW is the counter
 * that kqueue(2) and os_sync_wait_on_address(3) measure with.
 */
#include <time.h>

#include "os/os.h"

int64_t
xtc__os_mono(void)
{
	return (int64_t)clock_gettime_nsec_np(CLOCK_UPTIME_RAW);
}

int64_t
xtc__os_real(void)
{
	return (int64_t)clock_gettime_nsec_np(CLOCK_REALTIME);
}
