/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * darwin/futex.c: the word to sleep on of os.h by os_sync_wait_on_address(3),
 * from macOS 14.4. Its timeout is relative and must not be 0, so a deadline
 * that has passed is answered here.
 */
#include <os/os_sync_wait_on_address.h>

#include <errno.h>
#include <limits.h>

#include "base/assert.h"
#include "os/os.h"
#include "xtc_base.h"

static int
futex_address_sleep(_Atomic uint32_t *w, uint32_t expect, int64_t deadline_ns)
{
	int64_t left_ns;

	if (deadline_ns == INT64_MAX)
		return os_sync_wait_on_address((void *)w, expect, sizeof(*w),
		    OS_SYNC_WAIT_ON_ADDRESS_NONE);
	left_ns = deadline_ns < 0 ? 0 : deadline_ns - xtc__os_mono();
	if (left_ns <= 0) {
		errno = ETIMEDOUT;
		return -1;
	}
	return os_sync_wait_on_address_with_timeout((void *)w, expect,
	    sizeof(*w), OS_SYNC_WAIT_ON_ADDRESS_NONE,
	    OS_CLOCK_MACH_ABSOLUTE_TIME, (uint64_t)left_ns);
}

int
xtc__os_futex_wait(_Atomic uint32_t *w, uint32_t expect, int64_t deadline_ns)
{
	int saved = errno;
	int err = 0;

	/* relaxed: the caller looks again, in the order that it needs. */
	if (atomic_load_explicit(w, memory_order_relaxed) != expect)
		return XTC_OK;
	if (futex_address_sleep(w, expect, deadline_ns) == -1)
		err = errno;
	errno = saved;
	XTC_ASSERT(err == 0 || err == EINTR || err == ETIMEDOUT ||
	    err == EFAULT);
	/* EFAULT: the page was out when the kernel looked; look again. */
	if (err == ETIMEDOUT && xtc__os_mono() >= deadline_ns)
		return XTC_E_AGAIN;
	return XTC_OK;
}

void
xtc__os_futex_wake(_Atomic uint32_t *w, int n)
{
	int saved = errno;

	if (n == INT_MAX)
		(void)os_sync_wake_by_address_all((void *)w, sizeof(*w),
		    OS_SYNC_WAKE_BY_ADDRESS_NONE);
	/* It fails with ENOENT when nobody is left. */
	else
		while (n-- > 0 && os_sync_wake_by_address_any((void *)w,
		    sizeof(*w), OS_SYNC_WAKE_BY_ADDRESS_NONE) == 0)
			continue;
	errno = saved;
}
