/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/* freebsd/futex.c: the word to sleep on of os.h by _umtx_op(2). */
#include <sys/types.h>
#include <sys/umtx.h>

#include <errno.h>
#include <time.h>

#include "base/assert.h"
#include "os/os.h"
#include "xtc_base.h"

int
xtc__os_futex_wait(_Atomic uint32_t *w, uint32_t expect, int64_t deadline_ns)
{
	struct _umtx_time ut;
	void *bytes = NULL, *tp = NULL;
	int saved = errno;
	int err = 0;

	if (deadline_ns != INT64_MAX) {
		if (deadline_ns < 0)
			deadline_ns = 0;
		ut._timeout.tv_sec = (time_t)(deadline_ns / 1000000000);
		ut._timeout.tv_nsec = (long)(deadline_ns % 1000000000);
		ut._flags = UMTX_ABSTIME;
		ut._clockid = CLOCK_MONOTONIC;
		bytes = (void *)(uintptr_t)sizeof(ut);
		tp = &ut;
	}
	if (_umtx_op((void *)w, UMTX_OP_WAIT_UINT_PRIVATE, expect, bytes,
	    tp) == -1)
		err = errno;
	errno = saved;
	XTC_ASSERT(err == 0 || err == EINTR || err == ETIMEDOUT);
	return err == ETIMEDOUT ? XTC_E_AGAIN : XTC_OK;
}

void
xtc__os_futex_wake(_Atomic uint32_t *w, int n)
{
	int saved = errno;

	(void)_umtx_op((void *)w, UMTX_OP_WAKE_PRIVATE, (unsigned long)n, NULL,
	    NULL);
	errno = saved;
}
