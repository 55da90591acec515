/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * posix/ppoll_ms.c: by poll(2), for systems without ppoll(2). Rounded up to
 * milliseconds: late by as much, but never early.
 */
#define _POSIX_C_SOURCE 200809L

#include "poll/ppoll_impl.h"

#include <limits.h>

int
xtc__ppoll(struct pollfd *fds, nfds_t n, int64_t timeout_ns)
{
	int64_t ms;

	if (timeout_ns < 0)
		return poll(fds, n, -1);
	ms = timeout_ns / 1000000 + (timeout_ns % 1000000 != 0);
	return poll(fds, n, ms > INT_MAX ? INT_MAX : (int)ms);
}
