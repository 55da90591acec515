/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/* sleep.c: see sleep_impl.h. */
#include "poll/sleep_impl.h"

#include "os/os.h"

#define SLEEP_LONG_NS ((int64_t)10000000)
/* 1/256: a rest whose own 1/1000 is some millionths of the whole. */
#define SLEEP_REST_SHIFT 8

int
xtc__sleep(xtc__sleep_fn *fn, void *arg, int64_t timeout_ns)
{
	int64_t now_ns, end_ns, left_ns = timeout_ns;
	int n;

	if (timeout_ns <= 0)
		return fn(arg, timeout_ns);
	now_ns = xtc__os_mono();
	end_ns = timeout_ns > INT64_MAX - now_ns ? INT64_MAX :
	    now_ns + timeout_ns;
	do {
		if (left_ns > SLEEP_LONG_NS)
			left_ns -= left_ns >> SLEEP_REST_SHIFT;
		if (left_ns > XTC__SLEEP_MOST_NS)
			left_ns = XTC__SLEEP_MOST_NS;
		n = fn(arg, left_ns);
		if (n != 0)
			return n;
		left_ns = end_ns - xtc__os_mono();
	} while (left_ns > 0);
	return 0;
}
