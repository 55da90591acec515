/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/* lockwait.c: the one site of each of the two probes of lock waits. */
#include "sync/lockwait.h"

#include "trace/trace.h"

XTC_PROBE_SITE_ATTR void
xtc__lock_wait_begin(void *lock, int kind, struct xtc__park *who, int mode,
    struct xtc__park *holder)
{
	(void)lock;
	(void)kind;
	(void)who;
	(void)mode;
	(void)holder;
	XTC_LOCK_WAIT_START(lock, kind, who, mode, holder);
}
XTC_PROBE_SITE(xtc__lock_wait_begin)

XTC_PROBE_SITE_ATTR void
xtc__lock_wait_end(void *lock, int kind, struct xtc__park *who, int mode,
    int result)
{
	(void)lock;
	(void)kind;
	(void)who;
	(void)mode;
	(void)result;
	XTC_LOCK_WAIT_DONE(lock, kind, who, mode, result);
}
XTC_PROBE_SITE(xtc__lock_wait_end)
