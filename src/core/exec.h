/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/* exec.h: what the loops of an executor share; the theory is in exec.c. */
#ifndef XTC_CORE_EXEC_H
#define XTC_CORE_EXEC_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "xtc_exec.h"
#include "core/loop.h"
#include "os/os.h"

#define XTC__EXEC_MAX	1024
#define XTC__EXEC_WORDS	(XTC__EXEC_MAX / 64)

/* (a) anybody; all else is set once. A bit a sleeping loop. */
struct xtc_exec {
	int n;
	struct xtc_loop **loops;
	struct xtc__os_thread *threads;
	_Alignas(64) _Atomic uint64_t sleepers[XTC__EXEC_WORDS]; /* (a) */
	_Atomic int searching;		/* (a) 1: one looks for work */
	_Atomic int watching;		/* (a) 1: one sleeps with one eye */
	_Atomic int done;		/* (a) all is quiet: go home */
	_Atomic int running;		/* (a) */
	_Atomic unsigned next;		/* (a) round robin of spawns */
	_Alignas(64) _Atomic uintptr_t inject;	/* (a) fibers from outside */
	_Atomic uint32_t injecting;	/* (a) threads at it */
};

/* Owner of the loop: queue a migratable fiber; somebody may be woken. */
void	xtc__exec_push(struct xtc_loop *, struct xtc_task *);
/* Anybody: likewise, to whoever comes first. */
void	xtc__exec_inject(struct xtc_exec *, struct xtc_task *);
/* Owner: the oldest of the loop's migratable fibers, or NULL. */
struct xtc_task *xtc__exec_pop(struct xtc_loop *);
/* Owner: has it any? */
int	xtc__exec_has_work(struct xtc_loop *);
/* It is about to run one and leaves others: somebody else may want them. */
void	xtc__exec_feed_rest(struct xtc_loop *);
/* A fiber's loop changes. */
void	xtc__exec_move(struct xtc_task *, struct xtc_loop *, int how);
/* Look for work elsewhere: 1, there is some now. */
int	xtc__exec_search(struct xtc_loop *);
/*
 * Around a sleep. begin: SLEEPING is set; 1: do not sleep after all;
 * *timeout_ns may be shortened. end: SLEEPING is gone.
 */
int	xtc__exec_sleep_begin(struct xtc_loop *, int64_t *timeout_ns);
void	xtc__exec_sleep_end(struct xtc_loop *);
/* Is it one of the executor's? (By address: it may be gone.) */
int	xtc__exec_has_loop(const struct xtc_exec *, const struct xtc_loop *);
/* Its run is over: all is quiet. */
int	xtc__exec_is_done(struct xtc_loop *);

#endif
