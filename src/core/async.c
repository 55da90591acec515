/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * async.c: fibers that return a result, and yielding.
 *
 * A fiber with a handle has two references: its stack's and its handle's.
 * The handle's is dropped by whoever collects the result: the last of those
 * who waited when the fiber ended, if one of them got the result, else the
 * first to come later. So the struct is used again only after the fiber has
 * left its stack and everybody has read what he waited for.
 */
#include <stddef.h>

#include "xtc_async.h"
#include "xtc_kinds.h"
#include "core/loop.h"
#include "core/loop_impl.h"
#include "core/park.h"
#include "core/task.h"

int
xtc_async(xtc_loop_t *loop, intptr_t (*fn)(void *), void *arg,
    xtc_task_t **out)
{
	struct xtc__task_args args = {
		.async_fn = fn, .arg = arg, .joinable = out != NULL
	};
	struct xtc_task *t;
	int r;

	if (loop == NULL || fn == NULL)
		return XTC_E_INVAL;
	r = xtc__task_new(loop, &args, &t);
	if (r != XTC_OK)
		return r;
	if (out != NULL)
		*out = t;
	xtc__task_start(t);
	return XTC_OK;
}

void
xtc__async_finish(struct xtc_task *me)
{
	struct xtc__list *l;
	struct xtc__joiner *j;
	struct xtc__park *rec;
	uint64_t epoch;
	int last;

	xtc__qlock_lock(&me->join_lock);
	if (me->join == XTC__JOIN_LIVE)
		me->join = XTC__JOIN_DONE;
	while ((l = xtc__list_pop_first(&me->joiners)) != NULL) {
		j = XTC__LIST_ENTRY(l, struct xtc__joiner, link);
		/* j is its waiter's stack: gone once it is claimed */
		rec = j->rec;
		epoch = j->epoch;
		(void)xtc__park_unpark(rec, epoch, XTC_CAUSE_EVENT,
		    XTC__WAKE_LAST);
	}
	/* detached while somebody waited who was killed since */
	last = me->collected && me->join == XTC__JOIN_DONE &&
	    me->n_joiners == 0;
	if (last)
		me->join = XTC__JOIN_TAKEN;
	xtc__qlock_unlock(&me->join_lock);
	if (last)
		xtc__task_put(me);
}

/* join_lock is held, and let go. One who waited, or none, has the result. */
static void
async_collected(struct xtc_task *t)
{
	int last;

	t->collected = 1;
	last = t->join == XTC__JOIN_DONE && t->n_joiners == 0;
	if (last)
		t->join = XTC__JOIN_TAKEN;
	xtc__qlock_unlock(&t->join_lock);
	if (last)
		xtc__task_put(t);
}

/* join_lock is held, and let go. */
static int
async_take(struct xtc_task *t, intptr_t *result)
{
	int r = t->aborted ? XTC_E_ABORTED : XTC_OK;

	if (r == XTC_OK && result != NULL)
		*result = t->result;
	async_collected(t);
	return r;
}

/* join_lock is held, and let go: wait for a fiber that still runs. */
static int
async_wait(struct xtc_task *t, struct xtc__wait *w, intptr_t *result)
{
	struct xtc__joiner j;
	unsigned cause = XTC_CAUSE_KILL;

	j.rec = w->rec;
	xtc__list_init(&j.link);
	j.epoch = xtc__wait_prepare(w, XTC_WHY_FUTURE, (uintptr_t)t);
	if (j.epoch != 0) {
		t->n_joiners++;
		xtc__list_add_last(&t->joiners, &j.link);
		xtc__qlock_unlock(&t->join_lock);
		cause = xtc__wait_commit(w);
		xtc__qlock_lock(&t->join_lock);
		t->n_joiners--;
		if (cause == XTC_CAUSE_EVENT)
			return async_take(t, result);
		xtc__list_remove(&j.link);
		/* others may have the result, and left the rest to me */
		if (t->collected) {
			async_collected(t);
			xtc__wait_die(w);
		}
	}
	xtc__qlock_unlock(&t->join_lock);
	xtc__wait_die(w);
}

int
xtc_await(xtc_task_t *t, intptr_t *result)
{
	struct xtc__wait w;
	int may_wait, r;

	if (t == NULL)
		return XTC_E_INVAL;
	if (t == xtc__task_self())
		return XTC_E_DEADLK;
	may_wait = xtc__wait_init(&w, -1);
	xtc__qlock_lock(&t->join_lock);
	if (t->join == XTC__JOIN_DONE) {
		r = async_take(t, result);
	} else if (t->join == XTC__JOIN_LIVE && may_wait == XTC_OK) {
		r = async_wait(t, &w, result);
	} else {
		r = t->join == XTC__JOIN_LIVE ? may_wait : XTC_E_INVAL;
		xtc__qlock_unlock(&t->join_lock);
	}
	if (may_wait == XTC_OK)
		xtc__wait_fini(&w);
	return r;
}

int
xtc_task_detach(xtc_task_t *t)
{
	int last;

	if (t == NULL)
		return XTC_E_INVAL;
	xtc__qlock_lock(&t->join_lock);
	if (t->join == XTC__JOIN_DONE) {
		async_collected(t);
		return XTC_OK;
	}
	if (t->join != XTC__JOIN_LIVE || t->collected) {
		xtc__qlock_unlock(&t->join_lock);
		return XTC_E_INVAL;
	}
	/* those who wait get the result, and the last of them drops it */
	t->collected = 1;
	last = t->n_joiners == 0;
	if (last)
		t->join = XTC__JOIN_NONE;
	xtc__qlock_unlock(&t->join_lock);
	if (last)
		xtc__task_put(t);
	return XTC_OK;
}

void
xtc_yield(void)
{
	struct xtc_loop *loop = xtc__loop_self();
	struct xtc_task *me;

	if (loop == NULL || (me = loop->cur) == NULL || me->park.no_wait)
		return;
	if (xtc__park_killed(&me->park))
		xtc__task_die(me);
	xtc__loop_yield(loop, me);
}

int
xtc_yield_set_budget(xtc_loop_t *loop, int64_t budget_ns)
{
	if (loop == NULL || budget_ns < 0)
		return XTC_E_INVAL;
	if (xtc__loop_self() == loop)
		loop->on_ns = xtc__loop_clock(loop);
	/* Relaxed: a number on its own. */
	atomic_store_explicit(&loop->budget_ns, budget_ns,
	    memory_order_relaxed);
	return XTC_OK;
}

int
xtc_yield_check(void)
{
	struct xtc_loop *loop = xtc__loop_self();
	struct xtc_task *me;
	int64_t budget_ns;

	if (loop == NULL || (me = loop->cur) == NULL)
		return 0;
	if (xtc__park_killed(&me->park))
		xtc__task_die(me);
	budget_ns = atomic_load_explicit(&loop->budget_ns,
	    memory_order_relaxed);
	if (budget_ns == 0)
		return 0;
	if (xtc__loop_clock(loop) - loop->on_ns < budget_ns)
		return 0;
	/* Relaxed: a statistic. */
	atomic_fetch_add_explicit(&loop->due_count, 1, memory_order_relaxed);
	return 1;
}

int
xtc_yield_if_due(void)
{
	if (!xtc_yield_check())
		return 0;
	xtc_yield();
	return 1;
}

uint64_t
xtc_yield_due_count(xtc_loop_t *loop)
{
	return loop == NULL ? 0 : atomic_load_explicit(&loop->due_count,
	    memory_order_relaxed);
}

size_t
xtc_stack_size(void)
{
	return xtc__task_stack_size();
}

int
xtc_set_stack_size(size_t bytes)
{
	return xtc__task_set_stack_size(bytes);
}
