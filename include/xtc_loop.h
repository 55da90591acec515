/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * xtc_loop.h: the event loop, its timers, and wakers.
 *
 * A loop runs fibers and processes on the thread that calls xtc_loop_run().
 * A program may have several loops, each run by a thread of its own; their
 * processes send to each other freely.
 *
 *	xtc_loop_t *loop;
 *
 *	if (xtc_loop_init(&loop) != XTC_OK)
 *		return 1;
 *	xtc_proc_spawn(loop, server, NULL, NULL, NULL);
 *	xtc_loop_run(loop);
 *	xtc_loop_fini(loop);
 *
 *	function		parks	alloc	called from
 *	xtc_loop_init		no	yes	any thread
 *	xtc_loop_run		blocks	yes	a thread that runs no loop
 *	xtc_loop_stop		no	no	any thread, signal handler
 *	xtc_loop_fini		blocks	no	a thread that runs no loop
 *	xtc_loop_self		no	no	anywhere
 *	xtc_loop_dump		no	no	the loop's thread
 *	xtc_set_deadlock_report	no	no	any thread
 *	xtc_timer_set		no	yes	any thread
 *	xtc_timer_cancel	no	no	any thread
 *	xtc_waker_self		no	no	fiber or plain thread
 *	xtc_waker_wait		yes	no	fiber or plain thread
 *	xtc_waker_wake		no	no	any thread, signal handler
 */
#ifndef XTC_LOOP_H
#define XTC_LOOP_H

#include "xtc_base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct xtc_loop xtc_loop_t;
typedef struct xtc_timer xtc_timer_t;

/*
 * Make a loop. XTC_E_INVAL: out is NULL. XTC_E_NOMEM: no memory.
 * XTC_E_RESOURCE: no descriptors for its poller. XTC_E_NOSYS: the backend
 * that XTC_IO_BACKEND names is not to be had.
 */
XTC_API int xtc_loop_init(xtc_loop_t **out);

/*
 * Run fibers until none is alive and no timer is pending, or until
 * xtc_loop_stop(). May be called again. XTC_E_INVAL: NULL, the loop runs
 * already, or this thread runs a loop.
 */
XTC_API int xtc_loop_run(xtc_loop_t *loop);

/*
 * Make xtc_loop_run() return: called on the loop, when the calling fiber
 * has left the CPU; called from elsewhere, after at most 64 switches more.
 * Fibers stay as they are for the next run. If the loop does not run, the
 * next run returns at once. XTC_E_INVAL: NULL.
 */
XTC_API int xtc_loop_stop(xtc_loop_t *loop);

/*
 * Kill every fiber that is still alive on the loop, run them to their exit
 * (at-exit functions run), drop pending timers without calling them, and
 * free the loop. NULL does nothing. XTC_E_INVAL: called in a fiber or a
 * timer callback, or the loop runs.
 */
XTC_API int xtc_loop_fini(xtc_loop_t *loop);

/* The loop that this thread runs, or NULL. */
XTC_API xtc_loop_t *xtc_loop_self(void);

/*
 * Write a line for each living fiber of the loop (of its executor, if it has
 * one) to fd: who it is, what it waits for, and who holds that. It only
 * reads. Called on the loop's thread, or while the loop does not run.
 * XTC_E_INVAL: loop is NULL. XTC_E_IO: it could not be written.
 */
XTC_API int xtc_loop_dump(xtc_loop_t *loop, int fd);

/*
 * On (not 0): when fibers are alive and no timer, no descriptor and no other
 * fiber of their loop or executor can wake them, list them on stderr, as
 * xtc_loop_dump() does. Other threads and signal handlers still can, so it
 * is only told. The environment's XTC_DEADLOCK_REPORT=1 turns it on too.
 * XTC_OK.
 */
XTC_API int xtc_set_deadlock_report(int on);

/*
 * Call fn(user) on the loop's own stack after delay_ns (0 or less: at the
 * loop's next turn, before the fibers of that turn), never early. The
 * callback must not wait: a call that would wait returns XTC_E_INVAL there.
 * A pending timer keeps xtc_loop_run() from returning.
 * out may be NULL; else the handle in it is valid until it is cancelled or
 * until the callback returns. XTC_E_INVAL: loop or fn is NULL.
 * XTC_E_NOMEM: no memory, nothing is set.
 */
XTC_API int xtc_timer_set(xtc_loop_t *loop, int64_t delay_ns,
    void (*fn)(void *), void *user, xtc_timer_t **out);

/*
 * XTC_OK: the callback will not run. XTC_E_AGAIN: it runs or has run.
 * XTC_E_INVAL: NULL, or no timer.
 */
XTC_API int xtc_timer_cancel(xtc_timer_t *timer);

/*
 * A waker is a ticket for one wait: made by the fiber (or thread) that is
 * going to wait, given to whoever will wake it, and stale once that wait
 * has returned. A wake that comes before the wait is not lost.
 */
typedef struct xtc_waker {
	void *target;
	uint64_t ticket;
} xtc_waker_t;

/*
 * XTC_E_INVAL: NULL, or on a loop's own stack. XTC_E_NOMEM: no memory for
 * the record of a thread that waits for the first time.
 */
XTC_API int xtc_waker_self(xtc_waker_t *out);

/*
 * Wait until somebody wakes the waker taken last. XTC_E_AGAIN: the timeout
 * ran out. XTC_E_INVAL: on a loop's own stack. XTC_E_NOMEM: no memory for
 * the timeout's timer or for a thread's first wait; it did not wait.
 */
XTC_API int xtc_waker_wait(int64_t timeout_ns);

/*
 * XTC_OK: the wait is, or will be, ended. XTC_E_INVAL: NULL, or the waker
 * is stale: no effect.
 */
XTC_API int xtc_waker_wake(const xtc_waker_t *waker);

#ifdef __cplusplus
}
#endif
#endif
