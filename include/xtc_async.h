/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * xtc_async.h: fibers that return a result.
 *
 *	static intptr_t
 *	twice(void *arg)
 *	{
 *		return (2 * (intptr_t)arg);
 *	}
 *	...
 *	xtc_task_t *t;
 *	intptr_t r;
 *
 *	xtc_async(xtc_loop_self(), twice, (void *)21, &t);
 *	xtc_await(t, &r);
 *
 * A fiber started without a handle (out NULL) ends by itself. One started
 * with a handle keeps its result until it is awaited: everybody who waits
 * when it ends gets the result; if nobody waits then, the first await to
 * come collects it. After that, or after xtc_task_detach(), the handle is
 * no longer valid. It outlives the loop: until then its stack stays taken.
 *
 *	function		parks	alloc	called from
 *	xtc_async		no	yes	any thread
 *	xtc_await		yes	no	fiber or plain thread
 *	xtc_task_detach		no	no	any thread
 *	xtc_yield		no	no	anywhere
 *	xtc_yield_*		no	no	fiber
 *	xtc_stack_size		no	no	any thread
 *	xtc_set_stack_size	no	no	any thread
 */
#ifndef XTC_ASYNC_H
#define XTC_ASYNC_H

#include "xtc_base.h"
#include "xtc_loop.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct xtc_task xtc_task_t;

/*
 * Start a fiber on the loop. XTC_E_INVAL: loop or fn is NULL. XTC_E_NOMEM,
 * XTC_E_RESOURCE: no memory, or no mappings, for its stack.
 */
XTC_API int xtc_async(xtc_loop_t *loop, intptr_t (*fn)(void *), void *arg,
    xtc_task_t **out);

/*
 * Wait for the fiber's end; result may be NULL. XTC_E_ABORTED: it was
 * killed (its loop was finished) or left by xtc_exit_self().
 * XTC_E_DEADLK: it is the caller. XTC_E_INVAL: NULL, a handle that was
 * collected, or it still runs and this is a loop's own stack. XTC_E_NOMEM:
 * no memory for a thread's first wait.
 */
XTC_API int xtc_await(xtc_task_t *task, intptr_t *result);

/* Give up the handle; the fiber goes on. XTC_E_INVAL: NULL, no handle. */
XTC_API int xtc_task_detach(xtc_task_t *task);

/* Let the others run. A killed fiber dies here. */
XTC_API void xtc_yield(void);

/*
 * A budget for fibers that compute: budget_ns since they last came on (0:
 * none, the default; with one, each switch reads the clock). A fiber that
 * sets one starts its own anew. xtc_yield_check(): 1 if it is used up.
 * xtc_yield_if_due(): yields then, and returns 1. The count is how often it
 * was found used up on this loop. XTC_E_INVAL: loop NULL, budget negative.
 */
XTC_API int xtc_yield_set_budget(xtc_loop_t *loop, int64_t budget_ns);
XTC_API int xtc_yield_check(void);
XTC_API int xtc_yield_if_due(void);
XTC_API uint64_t xtc_yield_due_count(xtc_loop_t *loop);

/*
 * Bytes of stack of fibers started from now on, unless their options say
 * otherwise. Default 64 KiB. XTC_E_RANGE: under 16 KiB or over 1 GiB.
 */
XTC_API size_t xtc_stack_size(void);
XTC_API int xtc_set_stack_size(size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
