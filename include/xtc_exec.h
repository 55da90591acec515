/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * xtc_exec.h: several loops as one system, each on a thread of its own.
 *
 * Fibers and processes that may migrate go to whichever loop has nothing to
 * do; pinned ones stay where they were started.
 *
 *	xtc_exec_t *exec;
 *
 *	xtc_exec_init(&exec, 0);
 *	xtc_exec_async(exec, work, NULL, NULL);
 *	xtc_exec_run(exec);
 *	xtc_exec_fini(exec);
 *
 *	function		parks	alloc	called from
 *	xtc_exec_init		no	yes	any thread
 *	xtc_exec_run		blocks	yes	a thread that runs no loop
 *	xtc_exec_stop		no	no	any thread, signal handler
 *	xtc_exec_fini		blocks	yes	a thread that runs no loop
 *	xtc_exec_async*		no	yes	any thread
 *	the others		no	no	any thread
 */
#ifndef XTC_EXEC_H
#define XTC_EXEC_H

#include "xtc_async.h"
#include "xtc_base.h"
#include "xtc_loop.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct xtc_exec xtc_exec_t;

/*
 * n_loops 0 or less: as many as there are CPUs; at most 1024.
 * XTC_E_INVAL: out is NULL. XTC_E_RANGE: more than 1024. XTC_E_NOMEM.
 * XTC_E_RESOURCE: no descriptors for the pollers.
 */
XTC_API int xtc_exec_init(xtc_exec_t **out, int n_loops);

/*
 * Run all loops, the first on the calling thread, until no fiber is alive
 * and no timer pending on any of them, or until xtc_exec_stop(). May be
 * called again. XTC_E_INVAL: NULL, it runs already, or this thread runs a
 * loop. XTC_E_RESOURCE: a thread could not be created; nothing was run to
 * its end, and it may be tried again.
 */
XTC_API int xtc_exec_run(xtc_exec_t *exec);

/* As xtc_loop_stop(), for all loops. XTC_E_INVAL: NULL. */
XTC_API int xtc_exec_stop(xtc_exec_t *exec);

/*
 * As xtc_loop_fini(), for all loops. NULL does nothing. XTC_E_INVAL: it
 * runs, or the caller runs a loop. XTC_E_RESOURCE: its threads could not be
 * created; it stays.
 */
XTC_API int xtc_exec_fini(xtc_exec_t *exec);

/* How many loops; XTC_E_INVAL: NULL. */
XTC_API int xtc_exec_n_loops(xtc_exec_t *exec);

/*
 * The i-th loop, for xtc_proc_spawn() and xtc_timer_set(); NULL: no such
 * loop. It is not run or finished by itself: XTC_E_INVAL.
 */
XTC_API xtc_loop_t *xtc_exec_loop(xtc_exec_t *exec, int i);

/* xtc_async() of a fiber that may migrate, or of one pinned to loop i. */
XTC_API int xtc_exec_async(xtc_exec_t *exec, intptr_t (*fn)(void *),
    void *arg, xtc_task_t **out);
XTC_API int xtc_exec_async_on(xtc_exec_t *exec, int i,
    intptr_t (*fn)(void *), void *arg, xtc_task_t **out);

/* The index of the loop this runs on, in its executor; -1: on none. */
XTC_API int xtc_exec_loop_id(void);
/* The same under the name that sharded data structures use. */
XTC_API int xtc_shard_id(void);
/* How many there are, 0 outside an executor. */
XTC_API int xtc_shard_count(void);

typedef struct xtc_loop_stats {
	uint64_t tasks_run;	/* times a fiber came onto its CPU */
	uint64_t steals;	/* fibers that came from another loop */
	uint64_t sleeps;	/* times it slept in its poller */
} xtc_loop_stats_t;

/* XTC_E_INVAL: NULL, or no such loop. */
XTC_API int xtc_exec_loop_stats(xtc_exec_t *exec, int i,
    xtc_loop_stats_t *out);

#ifdef __cplusplus
}
#endif
#endif
