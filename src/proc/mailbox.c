/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * mailbox.c: how a message gets to a process that may be on another thread,
 * full, waiting or just dying, and never to the one that comes after it.
 *
 * THE NOUNS. The box word is {generation, closed, sent}: who lives here,
 * whether he still takes mail, how many places were ever taken; the receiver
 * counts in taken how many he has given back. The difference (both modulo
 * 2^23) is the count of messages on their way or in the box. top is the
 * newest message, or EMPTY, or WAITING: the receiver sleeps.
 * The taken list is what the receiver has already taken from top, oldest
 * first; messages that xtc_recv_match() passed over stay in it.
 *
 * THE PATH of a message. The sender finds the task by the pid's slot (no
 * lock: tasks are never unmapped), copies into an envelope, and reserves:
 * one swap of the box word that checks generation, closed and room, and
 * counts one up. taken is read after the box word: it belongs to it only if
 * that has not changed since, which the swap finds out, and a second look
 * before it says FULL (many may have come and gone in between). Then it
 * links the envelope to what top was and swaps top. If top was WAITING it
 * claims the receiver's ticket and wakes it. The receiver takes all of top
 * with one exchange, turns it round, and delivers one by one; with each it
 * gives a place back.
 *
 * WHY ONE SWAP AND NOT TWO STORES. With exchange-then-link a sender that is
 * preempted between the two hides those behind it, and a receive that starts
 * after a send returned could come back empty. Here a message is there from
 * its one swap on.
 *
 * WAITING. The receiver, ARMED, swaps EMPTY for WAITING: publication and
 * last look are one step. If it fails there is a message. The sender that
 * finds WAITING is the only one that does, and claims.
 *
 * CLOSE. Exit sets closed; from then on nobody reserves. Those who have
 * reserved will push; the dying process empties the box until the count is
 * 0 (it yields meanwhile, it does not spin), then takes the next generation.
 * A sentinel in top instead is not enough: a sender that sleeps from before
 * the close until after the reopening would push into the new mailbox.
 *
 * CAPACITY and taken are read before the swap that proves that they were
 * the right process's.
 *
 * COST of a message: three atomic read-modify-writes (reserve, push, take
 * all) and the copy; of a wake one more and the park protocol's.
 *
 * FULL: XTC_E_AGAIN and msg-drop. No memory for an envelope: XTC_E_NOMEM.
 *
 * PROBES: msg-send between claim and wake; msg-drop; mailbox-high.
 *
 * Checked by models/mailbox.pml (-DCASPUSH).
 */
#include "proc/mailbox.h"

#include <stdatomic.h>
#include <string.h>

#include "xtc_kinds.h"
#include "xtc_proc.h"
#include "arch/rmw.h"
#include "base/assert.h"
#include "base/attr.h"
#include "base/bits.h"
#include "base/plant.h"
#include "core/loop.h"
#include "core/park.h"
#include "core/task.h"
#include "core/thread.h"
#include "mem/env.h"
#include "trace/trace.h"

#define MBOX_EMPTY	((uintptr_t)0)
#define MBOX_WAITING	((uintptr_t)1)
#define MBOX_HIGH_FROM	64u

/* How many are on their way or in the box. */
static inline uint32_t
mbox_depth(uint64_t box, uint32_t taken)
{
	return (uint32_t)(box - taken) & (uint32_t)XTC__BOX_SENT;
}

/* The box with one more place taken. */
static inline uint64_t
mbox_sent_one(uint64_t box)
{
	return (box & ~XTC__BOX_SENT) | ((box + 1) & XTC__BOX_SENT);
}

struct xtc_task *
xtc__mbox_find(uint64_t pid)
{
	struct xtc_task *t;
	uint64_t box;

	t = xtc__task_at((uint32_t)pid & (XTC__BOX_GEN - 1));
	if (t == NULL)
		return NULL;
	box = atomic_load_explicit(&t->mbox.box, memory_order_acquire);
	if (box >> XTC__BOX_GEN_SHIFT != pid >> XTC__BOX_GEN_SHIFT ||
	    (box & XTC__BOX_CLOSED) != 0)
		return NULL;
	return t;
}

uint64_t
xtc__mbox_open(struct xtc_task *t, uint32_t cap, uint32_t mark)
{
	struct xtc__mbox *m = &t->mbox;
	uint64_t gen;

	/* Relaxed: closed, so nobody else writes; published by the box. */
	gen = atomic_load_explicit(&m->box, memory_order_relaxed) >>
	    XTC__BOX_GEN_SHIFT;
	XTC_ASSERT(atomic_load_explicit(&m->top, memory_order_relaxed) ==
	    MBOX_EMPTY);
	atomic_store_explicit(&m->cap, cap, memory_order_relaxed);
	atomic_store_explicit(&m->mark, mark, memory_order_relaxed);
	atomic_store_explicit(&m->peak, 0, memory_order_relaxed);
	atomic_store_explicit(&m->taken, 0, memory_order_relaxed);
	atomic_store_explicit(&m->saved, 0, memory_order_relaxed);
	atomic_store_explicit(&m->recv_total, 0, memory_order_relaxed);
	atomic_store_explicit(&m->drop_total, 0, memory_order_relaxed);
	atomic_store_explicit(&m->kill_reason, (gen & 0x7fffffff) <<
	    XTC__REASON_GEN_SHIFT, memory_order_relaxed);
	m->first = m->last = NULL;
	/* release: whoever may send finds the mailbox as it should be */
	atomic_store_explicit(&m->box, gen << XTC__BOX_GEN_SHIFT,
	    memory_order_release);
	return gen << XTC__BOX_GEN_SHIFT | t->slot;
}

/* A send failed. */
static XTC_PROBE_SITE_ATTR int
mbox_dropped(uint64_t pid, struct xtc__park *from, size_t bytes, int why,
    struct xtc_task *full)
{
	static const int error[] = {
		[XTC_DROP_FULL] = XTC_E_AGAIN,
		[XTC_DROP_NO_PROCESS] = XTC_E_INVAL,
		[XTC_DROP_NO_MEMORY] = XTC_E_NOMEM
	};

	(void)pid;
	(void)from;
	(void)bytes;
	/* Relaxed: a statistic. */
	if (full != NULL)
		atomic_fetch_add_explicit(&full->mbox.drop_total, 1,
		    memory_order_relaxed);
	XTC_MSG_DROP(pid, from, bytes, why);
	return error[why];
}
XTC_PROBE_SITE(mbox_dropped)

/* The mailbox has never been as full as now. */
static XTC_PROBE_SITE_ATTR void
mbox_new_peak(struct xtc_task *t, uint32_t depth, uint32_t cap)
{
	/* Relaxed: a statistic. */
	uint32_t peak = atomic_load_explicit(&t->mbox.peak,
	    memory_order_relaxed);

	(void)cap;
	do {
		if (depth <= peak)
			return;
	} while (!atomic_compare_exchange_weak_explicit(&t->mbox.peak, &peak,
	    depth, memory_order_relaxed, memory_order_relaxed));
	if (depth < MBOX_HIGH_FROM || !xtc__bits_is_pow2(depth))
		return;
	XTC_MAILBOX_HIGH(t, depth, cap);
}
XTC_PROBE_SITE(mbox_new_peak)

/* Claimed while parked: make it run. */
static XTC_PROBE_SITE_ATTR void
mbox_wake_receiver(struct xtc_task *to, struct xtc__park *from,
    size_t bytes, uint32_t queued)
{
	(void)bytes;
	(void)queued;
	XTC_MSG_SEND(to, from, bytes, queued);
	xtc__park_wake(&to->park, XTC_CAUSE_EVENT, from, XTC__WAKE_NEXT);
}
XTC_PROBE_SITE(mbox_wake_receiver)

/* On the loop's own stack: tell the owner that the mailbox fills up. */
static void
mbox_watermark(struct xtc_loop *loop, struct xtc__inode *node)
{
	struct xtc__watermark *wm = XTC__CONTAINER_OF(node,
	    struct xtc__watermark, node);
	struct xtc_task *t = XTC__CONTAINER_OF(wm, struct xtc_task,
	    watermark);
	xtc_pid_t pid = { wm->pid };
	uint32_t taken;
	uint64_t box;

	(void)loop;
	/* taken first: a newer one would make the depth negative */
	taken = atomic_load_explicit(&t->mbox.taken, memory_order_acquire);
	box = atomic_load_explicit(&t->mbox.box, memory_order_acquire);
	if (xtc__mbox_find(pid.id) == t && wm->fn != NULL)
		wm->fn(pid, mbox_depth(box, taken), atomic_load_explicit(
		    &t->mbox.cap, memory_order_relaxed), wm->user);
	/* release, and last: close waits for it before the struct goes on */
	atomic_store_explicit(&wm->queued, 0, memory_order_release);
}

static XTC__COLD void
mbox_mark_reached(struct xtc_task *t)
{
	if (atomic_exchange_explicit(&t->watermark.above, 1,
	    memory_order_acq_rel) != 0 || atomic_exchange_explicit(
	    &t->watermark.queued, 1, memory_order_acq_rel) != 0)
		return;
	t->watermark.node.run = mbox_watermark;
	/* Relaxed: a place is reserved, so the process has not ended. */
	xtc__loop_post(atomic_load_explicit(&t->park.loop,
	    memory_order_relaxed), &t->watermark.node);
}

/* Reserve a place: the new depth, or 0 and why not. */
static inline uint32_t
mbox_reserve(struct xtc_task *t, uint64_t pid, uint32_t *cap, int *why)
{
	uint64_t box, seen;
	uint32_t depth;

	box = atomic_load_explicit(&t->mbox.box, memory_order_acquire);
	for (;;) {
		XTC_SIM_POINT();
		if (box >> XTC__BOX_GEN_SHIFT != pid >> XTC__BOX_GEN_SHIFT ||
		    (box & XTC__BOX_CLOSED) != 0) {
			*why = XTC_DROP_NO_PROCESS;
			return 0;
		}
		/* Relaxed: right if the swap succeeds. */
		*cap = atomic_load_explicit(&t->mbox.cap,
		    memory_order_relaxed);
		depth = mbox_depth(box, atomic_load_explicit(&t->mbox.taken,
		    memory_order_acquire));
		XTC_SIM_POINT();
		if (XTC_PLANT(CHECK_THEN_PUSH) && depth < *cap) {
			(void)atomic_fetch_add_explicit(&t->mbox.box, 1,
			    memory_order_acquire);
			return depth + 1;
		}
		seen = box;
		if (depth < *cap) {
			if (xtc__rmw_cas(&t->mbox.box, &box,
			    mbox_sent_one(box)))
				return depth + 1;
			continue;
		}
		/* full at one time, or box before many came and went? */
		box = atomic_load_explicit(&t->mbox.box,
		    memory_order_acquire);
		if (box == seen || XTC_PLANT(FULL_AT_TWO_TIMES)) {
			*why = XTC_DROP_FULL;
			return 0;
		}
	}
}

int
xtc_send(xtc_pid_t to, const void *data, size_t bytes)
{
	struct xtc_loop *loop = xtc__loop_self();
	struct xtc__mags *mags = NULL;
	struct xtc__park *from;
	struct xtc_task *t;
	struct xtc__env *e;
	uint64_t epoch;
	uintptr_t top;
	uint32_t cap, depth, mark;
	int why = XTC_DROP_NO_PROCESS;

	if (data == NULL && bytes > 0)
		return XTC_E_INVAL;
	if (XTC__LIKELY(loop != NULL)) {
		mags = &loop->mags;
		from = loop->cur != NULL ? &loop->cur->park : NULL;
	} else {
		from = xtc__thread_self();
	}
	t = xtc__mbox_find(to.id);
	if (t == NULL)
		return mbox_dropped(to.id, from, bytes, why, NULL);
	e = xtc__env_get(mags, bytes);
	if (e == NULL)
		return mbox_dropped(to.id, from, bytes, XTC_DROP_NO_MEMORY,
		    NULL);
	if (bytes > 0)
		memcpy(xtc__env_payload(e), data, bytes);
	XTC_SIM_POINT();
	depth = mbox_reserve(t, to.id, &cap, &why);
	if (depth == 0) {
		xtc__env_put(mags, e);
		return mbox_dropped(to.id, from, bytes, why,
		    why == XTC_DROP_FULL ? t : NULL);
	}
	/* Relaxed: a statistic, and a number set at spawn. */
	if (depth > atomic_load_explicit(&t->mbox.peak, memory_order_relaxed))
		mbox_new_peak(t, depth, cap);
	mark = atomic_load_explicit(&t->mbox.mark, memory_order_relaxed);
	if (XTC__UNLIKELY(mark != 0 && depth >= mark))
		mbox_mark_reached(t);
	XTC_SIM_POINT();
	top = atomic_load_explicit(&t->mbox.top, memory_order_relaxed);
	XTC_SIM_POINT();
	do {
		e->next = top == MBOX_WAITING ? NULL : (struct xtc__env *)top;
		/* the message may be taken, and the process gone, from the
		 * swap on; but a ticket that is stale claims nothing */
	} while (!xtc__rmw_cas_ptr(&t->mbox.top, &top, (uintptr_t)e));
	XTC_SIM_POINT();
	if (top == MBOX_WAITING) {
		/* Relaxed: acquired with WAITING. */
		epoch = atomic_load_explicit(&t->mbox.ticket,
		    memory_order_relaxed);
		if (xtc__park_claim(&t->park, epoch, XTC_CAUSE_EVENT) ==
		    XTC__CLAIM_OWNED)
			mbox_wake_receiver(t, from, bytes, depth);
	}
	return XTC_OK;
}

/* Move what has come to the taken list; 0: nothing. */
static int
mbox_take_all(struct xtc__mbox *m)
{
	struct xtc__env *e, *next, *oldest = NULL, *newest;
	uintptr_t top;

	/* Relaxed: what is missed here is found by the swap to WAITING. */
	if (atomic_load_explicit(&m->top, memory_order_relaxed) == MBOX_EMPTY)
		return 0;
	XTC_SIM_POINT();
	top = xtc__rmw_swap_ptr(&m->top, MBOX_EMPTY);
	XTC_ASSERT(top != MBOX_WAITING);
	newest = e = (struct xtc__env *)top;
	for (; e != NULL; e = next) {
		next = e->next;
		e->next = oldest;
		oldest = e;
	}
	if (m->last == NULL)
		m->first = oldest;
	else
		m->last->next = oldest;
	m->last = newest;
	return 1;
}

/* A place was given back: is it below the mark again? */
static XTC__COLD void
mbox_mark_left(struct xtc_task *me, uint32_t mark)
{
	struct xtc__mbox *m = &me->mbox;
	uint64_t box = atomic_load_explicit(&m->box, memory_order_relaxed);

	/* Relaxed: a sender who sees it late tells it once less. */
	if (mbox_depth(box, atomic_load_explicit(&m->taken,
	    memory_order_relaxed)) < mark)
		atomic_store_explicit(&me->watermark.above, 0,
		    memory_order_relaxed);
}

/* Unlink the message behind prev (NULL: the first), and its place is free. */
static struct xtc__env *
mbox_deliver(struct xtc_task *me, struct xtc__env *prev)
{
	struct xtc__mbox *m = &me->mbox;
	struct xtc__env *e = prev == NULL ? m->first : prev->next;
	uint32_t mark;

	if (prev == NULL)
		m->first = e->next;
	else
		prev->next = e->next;
	if (m->last == e)
		m->last = prev;
	/* release: a sender that finds the place finds it free */
	atomic_store_explicit(&m->taken, atomic_load_explicit(&m->taken,
	    memory_order_relaxed) + 1, memory_order_release);
	/* Relaxed: set at spawn. */
	mark = atomic_load_explicit(&m->mark, memory_order_relaxed);
	if (XTC__UNLIKELY(mark != 0))
		mbox_mark_left(me, mark);
	return e;
}

void
xtc__mbox_close(struct xtc_task *me)
{
	struct xtc__mbox *m = &me->mbox;
	struct xtc__mags *mags;
	uint64_t box;

	box = atomic_fetch_or_explicit(&m->box, XTC__BOX_CLOSED,
	    memory_order_acq_rel);
	for (;;) {
		XTC_SIM_POINT();
		(void)mbox_take_all(m);
		mags = xtc__mags_self();
		while (m->first != NULL)
			xtc__env_put(mags, mbox_deliver(me, NULL));
		box = atomic_load_explicit(&m->box, memory_order_acquire);
		/* Relaxed: its own. */
		if (mbox_depth(box, atomic_load_explicit(&m->taken,
		    memory_order_relaxed)) == 0 || XTC_PLANT(DRAIN_VISIBLE))
			break;
		/* somebody has reserved and not yet pushed */
		xtc_yield();
	}
	while (atomic_load_explicit(&me->watermark.queued,
	    memory_order_acquire) != 0) {
		XTC_SIM_POINT();
		xtc_yield();
	}
	XTC_SIM_POINT();
	/* the next generation, still closed: the pid is stale from here on */
	box = ((box >> XTC__BOX_GEN_SHIFT) + 1) << XTC__BOX_GEN_SHIFT;
	atomic_store_explicit(&m->box, box | XTC__BOX_CLOSED,
	    memory_order_release);
}

/* What xtc_recv and xtc_recv_match look for. */
struct mbox_want {
	int (*match)(const void *, size_t, void *);	/* NULL: any */
	void *user;
	struct xtc__env *seen;	/* the last one that did not match */
	uint32_t n_seen;
};

/* Relaxed: a statistic with one writer. */
static inline void
mbox_set_saved(struct xtc__mbox *m, uint32_t n)
{
	atomic_store_explicit(&m->saved, n, memory_order_relaxed);
}

static inline uint32_t
mbox_get_saved(struct xtc__mbox *m)
{
	return atomic_load_explicit(&m->saved, memory_order_relaxed);
}

/* The first wanted message, delivered; NULL: none there. */
static struct xtc__env *
mbox_search(struct xtc_task *me, struct mbox_want *want)
{
	struct xtc__mbox *m = &me->mbox;
	struct xtc__env *e, *prev = want->seen;
	uint32_t n = want->n_seen, saved = mbox_get_saved(m);
	int yes;

	if (want->match == NULL) {
		if (m->first == NULL && !mbox_take_all(m))
			return NULL;
		if (saved > 0)
			mbox_set_saved(m, saved - 1);
		return mbox_deliver(me, NULL);
	}
	for (;;) {
		e = prev == NULL ? m->first : prev->next;
		if (e == NULL && !mbox_take_all(m))
			break;
		if (e == NULL)
			continue;
		me->in_match = 1;
		me->park.no_wait = 1;
		yes = want->match(xtc__env_payload(e), e->bytes, want->user);
		me->in_match = 0;
		me->park.no_wait = 0;
		if (yes) {
			mbox_set_saved(m, saved > n ? saved - 1 : n);
			return mbox_deliver(me, prev);
		}
		prev = e;
		n++;
	}
	want->seen = prev;
	want->n_seen = n;
	mbox_set_saved(m, n);
	return NULL;
}

/* One park for a message; its cause, or 0: one came before. */
static unsigned
mbox_park(struct xtc_task *me, struct xtc__wait *w)
{
	uintptr_t top = MBOX_EMPTY;
	uint64_t epoch;
	unsigned cause;

	epoch = xtc__wait_prepare(w, XTC_WHY_MAILBOX, 0);
	if (epoch == 0)
		return XTC_CAUSE_KILL;
	/* Relaxed: published by the swap to WAITING. */
	atomic_store_explicit(&me->mbox.ticket, epoch, memory_order_relaxed);
	XTC_SIM_POINT();
	if (!xtc__rmw_cas_ptr(&me->mbox.top, &top, MBOX_WAITING) &&
	    !XTC_PLANT(SKIP_RECHECK))
		return xtc__wait_cancel(w);
	cause = xtc__wait_commit(w);
	/* take back the ticket, if no sender has. Relaxed: once it is gone it
	 * stays gone, since only we put it there */
	top = atomic_load_explicit(&me->mbox.top, memory_order_relaxed);
	XTC_SIM_POINT();
	if (top == MBOX_WAITING)
		(void)atomic_compare_exchange_strong_explicit(&me->mbox.top,
		    &top, MBOX_EMPTY, memory_order_acq_rel,
		    memory_order_relaxed);
	return cause;
}

/* Nothing was there: wait for it. */
static XTC__NOINLINE int
mbox_wait(struct xtc_task *me, struct mbox_want *want, int64_t timeout_ns,
    struct xtc__env **out)
{
	struct xtc__env *e;
	struct xtc__wait w;
	unsigned cause;
	int r;

	if (timeout_ns == 0)
		return XTC_E_AGAIN;
	r = xtc__wait_init(&w, timeout_ns);
	if (r != XTC_OK)
		return r;
	do {
		cause = mbox_park(me, &w);
		if (cause == XTC_CAUSE_KILL)
			xtc__wait_die(&w);
		e = mbox_search(me, want);
		r = cause == XTC_CAUSE_TIMEOUT ? XTC_E_AGAIN :
		    xtc__wait_again(&w);
	} while (e == NULL && r == XTC_OK);
	xtc__wait_fini(&w);
	*out = e;
	return e != NULL ? XTC_OK : r;
}

static inline int
mbox_recv(struct xtc_task *me, struct mbox_want *want, void **out,
    size_t *size, int64_t timeout_ns)
{
	struct xtc__mbox *m = &me->mbox;
	struct xtc__env *e;
	int r;

	e = mbox_search(me, want);
	if (e == NULL) {
		r = mbox_wait(me, want, timeout_ns, &e);
		if (r != XTC_OK)
			return r;
	}
	/* Relaxed: a statistic with one writer. */
	atomic_store_explicit(&m->recv_total, atomic_load_explicit(
	    &m->recv_total, memory_order_relaxed) + 1, memory_order_relaxed);
	*out = xtc__env_payload(e);
	if (size != NULL)
		*size = e->bytes;
	return XTC_OK;
}

/* The calling process, if it may receive now. */
static inline struct xtc_task *
mbox_receiver(void)
{
	struct xtc_task *me = xtc__task_self();

	return me == NULL || me->pid == 0 || me->in_match ? NULL : me;
}

int
xtc_recv(void **out, size_t *size, int64_t timeout_ns)
{
	struct xtc_task *me = mbox_receiver();
	struct mbox_want want = { NULL, NULL, NULL, 0 };

	if (out == NULL || me == NULL)
		return XTC_E_INVAL;
	return mbox_recv(me, &want, out, size, timeout_ns);
}

int
xtc_recv_match(int (*match)(const void *, size_t, void *), void *user,
    void **out, size_t *size, int64_t timeout_ns)
{
	struct xtc_task *me = mbox_receiver();
	struct mbox_want want = { match, user, NULL, 0 };

	if (out == NULL || match == NULL || me == NULL)
		return XTC_E_INVAL;
	return mbox_recv(me, &want, out, size, timeout_ns);
}

int
xtc_proc_mailbox_stats(xtc_pid_t pid, xtc_mailbox_stats_t *out)
{
	struct xtc_task *t = xtc__mbox_find(pid.id);
	xtc_mailbox_stats_t s;
	struct xtc__mbox *m;
	uint32_t taken;
	uint64_t box;

	if (t == NULL || out == NULL)
		return XTC_E_INVAL;
	m = &t->mbox;
	/* Relaxed: numbers; right if the generation is still the same. */
	s.saved = atomic_load_explicit(&m->saved, memory_order_relaxed);
	s.peak = atomic_load_explicit(&m->peak, memory_order_relaxed);
	s.cap = atomic_load_explicit(&m->cap, memory_order_relaxed);
	s.recv_total = atomic_load_explicit(&m->recv_total,
	    memory_order_relaxed);
	s.drop_total = atomic_load_explicit(&m->drop_total,
	    memory_order_relaxed);
	taken = atomic_load_explicit(&m->taken, memory_order_relaxed);
	atomic_thread_fence(memory_order_acquire);
	box = atomic_load_explicit(&m->box, memory_order_relaxed);
	if (box >> XTC__BOX_GEN_SHIFT != pid.id >> XTC__BOX_GEN_SHIFT ||
	    (box & XTC__BOX_CLOSED) != 0)
		return XTC_E_INVAL;
	s.depth = mbox_depth(box, taken);
	*out = s;
	return XTC_OK;
}
