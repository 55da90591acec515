/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * linux/futex.c: the word to sleep on of os.h by futex(2).
 *
 * FUTEX_WAIT_BITSET, because its deadline is absolute: a sleeper that is
 * woken for nothing sleeps on with the same number. Without the flag
 * FUTEX_CLOCK_REALTIME that number is CLOCK_MONOTONIC, as os.h wants it.
 * A system call is a signal-safe thing once errno is put back.
 */
#define _GNU_SOURCE 1

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/assert.h"
#include "os/os.h"
#include "xtc_base.h"

/* The kernel's headers, which have these, need not come with a C library. */
#define FUTEX_WAKE_PRIVATE_OP		(1 | 128)
#define FUTEX_WAIT_BITSET_PRIVATE_OP	(9 | 128)
#define FUTEX_BITSET_ANY		0xffffffffu

/* Only 32-bit systems have the second name; there it takes 64-bit times. */
#ifdef SYS_futex_time64
#define FUTEX_NR SYS_futex_time64
#else
#define FUTEX_NR SYS_futex
#endif

/* The kernel's own timespec: not the C library's, on 32 bits. */
struct futex_time {
	int64_t sec;
	int64_t nsec;
};

int
xtc__os_futex_wait(_Atomic uint32_t *w, uint32_t expect, int64_t deadline_ns)
{
	struct futex_time ts, *tp = NULL;
	int saved = errno;
	int err = 0;

	if (deadline_ns != INT64_MAX) {
		/* The kernel refuses times before its start. */
		if (deadline_ns < 0)
			deadline_ns = 0;
		ts.sec = deadline_ns / 1000000000;
		ts.nsec = deadline_ns % 1000000000;
		tp = &ts;
	}
	if (syscall(FUTEX_NR, (void *)w, FUTEX_WAIT_BITSET_PRIVATE_OP, expect,
	    tp, NULL, FUTEX_BITSET_ANY) == -1)
		err = errno;
	errno = saved;
	XTC_ASSERT(err == 0 || err == EAGAIN || err == EINTR ||
	    err == ETIMEDOUT);
	return err == ETIMEDOUT ? XTC_E_AGAIN : XTC_OK;
}

void
xtc__os_futex_wake(_Atomic uint32_t *w, int n)
{
	int saved = errno;

	(void)syscall(FUTEX_NR, (void *)w, FUTEX_WAKE_PRIVATE_OP, n, NULL,
	    NULL, 0);
	errno = saved;
}
