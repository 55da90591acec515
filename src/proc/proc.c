/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/* proc.c: processes begin, sleep, and end. */
#include <stdatomic.h>
#include <stddef.h>

#include "xtc_kinds.h"
#include "xtc_proc.h"
#include "core/atexit.h"
#include "core/loop.h"
#include "core/park.h"
#include "core/task.h"
#include "proc/mailbox.h"

#define PROC_CAP_DEFAULT	4096u
#define PROC_CAP_MAX		4194303u

static int
proc_check_opts(const xtc_proc_opts_t *o)
{
	if (o->size != 0 && o->size < sizeof(*o))
		return XTC_E_INVAL;
	if (o->trap_exit || o->link_to_parent)
		return XTC_E_NOSYS;
	if (o->mailbox_cap > PROC_CAP_MAX || o->mailbox_watermark_pct > 100)
		return XTC_E_RANGE;
	if ((o->mailbox_watermark_pct != 0) !=
	    (o->mailbox_watermark_fn != NULL))
		return XTC_E_INVAL;
	return XTC_OK;
}

/* The depth at which the watermark is reached; 0: none. */
static uint32_t
proc_mark(const xtc_proc_opts_t *o, uint32_t cap)
{
	uint64_t mark = ((uint64_t)cap * o->mailbox_watermark_pct + 99) / 100;

	return (uint32_t)mark;
}

int
xtc_proc_spawn(xtc_loop_t *loop, void (*fn)(void *), void *arg,
    const xtc_proc_opts_t *opts, xtc_pid_t *out)
{
	static const xtc_proc_opts_t none = XTC_PROC_OPTS_DEFAULT;
	struct xtc__task_args args = { .proc_fn = fn, .arg = arg };
	struct xtc_task *t;
	uint32_t cap;
	int r;

	if (loop == NULL || fn == NULL)
		return XTC_E_INVAL;
	if (opts == NULL)
		opts = &none;
	r = proc_check_opts(opts);
	if (r != XTC_OK)
		return r;
	args.name = opts->name;
	args.stack_bytes = opts->stack_size;
	args.migratable = opts->migratable;
	r = xtc__task_new(loop, &args, &t);
	if (r != XTC_OK)
		return r;
	cap = opts->mailbox_cap == 0 ? PROC_CAP_DEFAULT : opts->mailbox_cap;
	t->watermark.fn = opts->mailbox_watermark_fn;
	t->watermark.user = opts->mailbox_watermark_user;
	t->on_exit = xtc__mbox_close;
	t->pid = xtc__mbox_open(t, cap, proc_mark(opts, cap));
	t->watermark.pid = t->pid;
	atomic_store_explicit(&t->watermark.above, 0, memory_order_relaxed);
	if (out != NULL)
		out->id = t->pid;
	xtc__task_start(t);
	return XTC_OK;
}

xtc_pid_t
xtc_self(void)
{
	struct xtc_task *me = xtc__task_self();
	xtc_pid_t pid = { me == NULL ? 0 : me->pid };

	return pid;
}

int
xtc_proc_sleep(int64_t ns)
{
	struct xtc__wait w;
	unsigned cause = XTC_CAUSE_KILL;
	int r;

	if (xtc__task_self() == NULL)
		return XTC_E_INVAL;
	if (ns <= 0) {
		xtc_yield();
		return XTC_OK;
	}
	r = xtc__wait_init(&w, ns);
	if (r != XTC_OK)
		return r;
	w.timer_kind = XTC_TIMER_SLEEP;
	if (xtc__wait_prepare(&w, XTC_WHY_SLEEP, 0) != 0)
		cause = xtc__wait_commit(&w);
	if (cause == XTC_CAUSE_KILL)
		xtc__wait_die(&w);
	xtc__wait_fini(&w);
	return XTC_OK;
}

int
xtc_exit_self(int reason)
{
	struct xtc_task *me = xtc__task_self();

	if (me == NULL || me->exiting || me->in_match)
		return XTC_E_INVAL;
	xtc__task_exit(me, reason, 1);
}

/* The first killer's reason counts. 0, or -1: that process is gone. */
static int
proc_set_reason(struct xtc_task *t, uint64_t pid, int reason)
{
	uint64_t gen = (pid >> XTC__BOX_GEN_SHIFT & 0x7fffffff) <<
	    XTC__REASON_GEN_SHIFT;
	uint64_t old = atomic_load_explicit(&t->mbox.kill_reason,
	    memory_order_acquire);

	do {
		if (old >> XTC__REASON_GEN_SHIFT << XTC__REASON_GEN_SHIFT !=
		    gen)
			return -1;
		if ((old & XTC__REASON_SET) != 0)
			return 0;
	} while (!atomic_compare_exchange_weak_explicit(&t->mbox.kill_reason,
	    &old, gen | XTC__REASON_SET | (uint32_t)reason,
	    memory_order_acq_rel, memory_order_acquire));
	return 0;
}

int
xtc_exit_pid(xtc_pid_t pid, int reason)
{
	struct xtc_task *t = xtc__mbox_find(pid.id);

	if (t == NULL || proc_set_reason(t, pid.id, reason) != 0)
		return XTC_E_INVAL;
	if (xtc__park_kill(&t->park, &t->mbox.box,
	    pid.id >> XTC__BOX_GEN_SHIFT) != 0)
		return XTC_E_INVAL;
	return XTC_OK;
}

int
xtc_proc_at_exit(void (*fn)(void *), void *arg)
{
	struct xtc_task *me = xtc__task_self();

	if (me == NULL || fn == NULL)
		return XTC_E_INVAL;
	return xtc__atexit_add(me, fn, arg);
}

int
xtc_proc_critical_enter(void)
{
	struct xtc_task *me = xtc__task_self();

	if (me == NULL)
		return XTC_E_INVAL;
	me->park.critical++;
	return XTC_OK;
}

int
xtc_proc_critical_leave(void)
{
	struct xtc_task *me = xtc__task_self();

	/* an exiting fiber never leaves its outermost section */
	if (me == NULL || me->park.critical == (me->exiting ? 1u : 0u))
		return XTC_E_INVAL;
	me->park.critical--;
	if (xtc__park_killed(&me->park))
		xtc__task_die(me);
	return XTC_OK;
}
