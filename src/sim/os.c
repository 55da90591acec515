/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/* os.c: os.h for simulated threads. The sleeps may end for no reason. */
#include "os/os.h"

#include <limits.h>
#include <string.h>

#include "xtc_base.h"
#include "base/plant.h"
#include "sim/sim_impl.h"

_Static_assert(sizeof(pthread_t) >= sizeof(int), "holds a number");

int64_t
xtc__os_mono(void)
{
	return xtc__sim_now();
}

int64_t
xtc__os_real(void)
{
	return xtc__sim_now();
}

int
xtc__os_futex_wait(_Atomic uint32_t *w, uint32_t expect, int64_t deadline_ns)
{
	XTC_SIM_POINT();
	/* No switch between look and sleep: that is the kernel's promise. */
	if (atomic_load_explicit(w, memory_order_acquire) != expect)
		return XTC_OK;
	if (deadline_ns <= xtc__sim_now())
		return XTC_E_AGAIN;
	if (xtc__sim_chance(16))
		return XTC_OK;
	return xtc__sim_sleep((const void *)w, deadline_ns) ? XTC_OK :
	    XTC_E_AGAIN;
}

void
xtc__os_futex_wake(_Atomic uint32_t *w, int n)
{
	XTC_SIM_POINT();
	xtc__sim_wake((const void *)w, n);
	XTC_SIM_POINT();
}

/* One: then nobody spins. */
int
xtc__os_cpus(void)
{
	return 1;
}

int64_t
xtc__os_timer_slack_set(int64_t ns)
{
	(void)ns;
	return -1;
}

void
xtc__os_thread_name(const char *name)
{
	(void)name;
}

int
xtc__os_thread_create(struct xtc__os_thread *t, void *(*fn)(void *),
    void *arg, size_t stack_bytes)
{
	int n;

	(void)stack_bytes;
	n = xtc__sim_spawn_thread("thread", fn, arg);
	memset(t, 0, sizeof(*t));
	memcpy(&t->handle, &n, sizeof(n));
	XTC_SIM_POINT();
	return XTC_OK;
}

int
xtc__os_thread_join(struct xtc__os_thread *t)
{
	int n;

	memcpy(&n, &t->handle, sizeof(n));
	xtc__sim_await(n);
	return XTC_OK;
}
