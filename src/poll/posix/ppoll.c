/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/* posix/ppoll.c: by ppoll(2), which most systems have. */
#define _GNU_SOURCE 1
#define __EXTENSIONS__ 1

#include "poll/ppoll_impl.h"

#include <signal.h>
#include <stddef.h>
#include <time.h>

int
xtc__ppoll(struct pollfd *fds, nfds_t n, int64_t timeout_ns)
{
	struct timespec ts;

	ts.tv_sec = (time_t)(timeout_ns / 1000000000);
	ts.tv_nsec = (long)(timeout_ns % 1000000000);
	return ppoll(fds, n, timeout_ns < 0 ? NULL : &ts, NULL);
}
