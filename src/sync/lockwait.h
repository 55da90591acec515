/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * lockwait.h: a contended acquisition, of any kind of lock, as a tracer
 * sees it: begin and end, around the parks of the wait.
 */
#ifndef XTC_SYNC_LOCKWAIT_H
#define XTC_SYNC_LOCKWAIT_H

#include "xtc_kinds.h"

struct xtc__park;

void	xtc__lock_wait_begin(void *lock, int kind, struct xtc__park *who,
	    int mode, struct xtc__park *holder);
/* result: XTC_OK or the error; XTC_E_ABORTED: killed. */
void	xtc__lock_wait_end(void *lock, int kind, struct xtc__park *who,
	    int mode, int result);

#endif
