/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/* dump.h: who is parked, why, on what, held by whom. */
#ifndef XTC_CORE_DUMP_H
#define XTC_CORE_DUMP_H

struct xtc_loop;

/* Is the report of deadlocks asked for? */
int	xtc__deadlock_wanted(void);
/*
 * Nothing of this loop, or of its executor, can wake its fibers: tell, on
 * stderr. All its loops sleep, but for the caller.
 */
void	xtc__deadlock_report(struct xtc_loop *);

#endif
