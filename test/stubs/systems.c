/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * systems.c: the small calls of other systems, by those of Linux, so that
 * src/os of those systems can be linked and run here.
 */
#define _GNU_SOURCE 1

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <os/os_sync_wait_on_address.h>
#include <pthread_np.h>
#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/umtx.h>
#include <time.h>
#include <unistd.h>

#undef CPU_COUNT
#include <sys/cpuset.h>

uint64_t stub_clock_ns(clockid_t id);
int stub_set_name(const char *name);

static int
futex(void *w, int op, uint32_t value, const struct timespec *ts)
{
	return (int)syscall(SYS_futex, w, op | FUTEX_PRIVATE_FLAG, value, ts,
	    NULL, FUTEX_BITSET_MATCH_ANY);
}

/* Asleep or not any more: a word that differs is no error there. */
static int
futex_wait(void *w, int op, uint32_t value, const struct timespec *ts)
{
	int rc = futex(w, op, value, ts);

	return rc == -1 && errno == EAGAIN ? 0 : rc;
}

int
_umtx_op(void *obj, int op, unsigned long val, void *uaddr, void *uaddr2)
{
	struct _umtx_time *ut = uaddr2;

	if (op == UMTX_OP_WAKE_PRIVATE)
		return futex(obj, FUTEX_WAKE, (uint32_t)val, NULL) == -1 ?
		    -1 : 0;
	if (op != UMTX_OP_WAIT_UINT_PRIVATE || (ut != NULL &&
	    ((uintptr_t)uaddr != sizeof(*ut) || ut->_flags != UMTX_ABSTIME ||
	    ut->_clockid != CLOCK_MONOTONIC))) {
		errno = EINVAL;
		return -1;
	}
	return futex_wait(obj, FUTEX_WAIT_BITSET, (uint32_t)val,
	    ut == NULL ? NULL : &ut->_timeout);
}

int
stub_cpu_count(const cpuset_t *set)
{
	int n = 0;

	for (size_t i = 0; i < sizeof(set->bits) / sizeof(set->bits[0]); i++)
		n += __builtin_popcountll(set->bits[i]);
	return n;
}

int
cpuset_getaffinity(int level, int which, int64_t id, size_t bytes,
    cpuset_t *mask)
{
	if (level != CPU_LEVEL_WHICH || which != CPU_WHICH_PID || id != -1) {
		errno = EINVAL;
		return -1;
	}
	return sched_getaffinity(0, bytes, (cpu_set_t *)mask);
}

void
pthread_set_name_np(pthread_t thread, const char *name)
{
	(void)thread;
	(void)name;
}

int
os_sync_wait_on_address(void *addr, uint64_t value, size_t size,
    os_sync_wait_on_address_flags_t flags)
{
	(void)size;
	(void)flags;
	return futex_wait(addr, FUTEX_WAIT, (uint32_t)value, NULL);
}

int
os_sync_wait_on_address_with_timeout(void *addr, uint64_t value, size_t size,
    os_sync_wait_on_address_flags_t flags, os_clockid_t clock,
    uint64_t timeout_ns)
{
	struct timespec ts = {
		(time_t)(timeout_ns / 1000000000),
		(long)(timeout_ns % 1000000000)
	};

	(void)flags;
	if (size != 4 || clock != OS_CLOCK_MACH_ABSOLUTE_TIME ||
	    timeout_ns == 0) {
		errno = EINVAL;
		return -1;
	}
	return futex_wait(addr, FUTEX_WAIT, (uint32_t)value, &ts);
}

int
os_sync_wake_by_address_any(void *addr, size_t size,
    os_sync_wake_by_address_flags_t flags)
{
	(void)size;
	(void)flags;
	if (futex(addr, FUTEX_WAKE, 1, NULL) > 0)
		return 0;
	errno = ENOENT;
	return -1;
}

int
os_sync_wake_by_address_all(void *addr, size_t size,
    os_sync_wake_by_address_flags_t flags)
{
	(void)size;
	(void)flags;
	if (futex(addr, FUTEX_WAKE, INT_MAX, NULL) > 0)
		return 0;
	errno = ENOENT;
	return -1;
}

uint64_t
stub_clock_ns(clockid_t id)
{
	struct timespec ts;

	(void)clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

int
stub_set_name(const char *name)
{
	(void)name;
	return 0;
}
