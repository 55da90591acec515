/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * timer.c: the timers of loops: those a program sets, and the time-outs of
 * waits.
 *
 * A timer belongs to the loop that armed it: only that loop's thread touches
 * the wheel. Everybody else acts on the timer's word, and asks the loop
 * through its inbox to do the rest:
 *
 *	FREE -> ARMED		set, arm
 *	ARMED -> FIRED		the loop, when due
 *	ARMED -> DEAD		cancel, from any thread; a fiber that waited
 *				on one loop and runs on another
 *
 * with POSTED added while the timer's node is in the inbox. Whoever takes
 * the timer out of ARMED decides its fate; who frees it follows from that:
 * of a user timer the loop, always, but for a cancel on the loop's own
 * thread; of a wait's timer the waiter if it has FIRED or was unlinked by
 * the waiter itself, the loop if it is DEAD.
 *
 * Timers come from a type-stable pool; the word's generation tells a timer
 * from an earlier one in the same memory, and its low seven bits travel in
 * the handle, whose pointer is aligned to 128.
 *
 * Probes: timer-arm, timer-cancel and timer-fire, each where the change of
 * state is made.
 */
#include <limits.h>
#include <stddef.h>

#include "xtc_kinds.h"
#include "xtc_loop.h"
#include "arch/rmw.h"
#include "base/assert.h"
#include "base/attr.h"
#include "base/plant.h"
#include "core/loop.h"
#include "core/park.h"
#include "trace/trace.h"

#define TIMER_FREE	0u
#define TIMER_ARMED	1u
#define TIMER_FIRED	2u
#define TIMER_DEAD	3u
#define TIMER_STATE	3u
#define TIMER_POSTED	4u
#define TIMER_GEN_SHIFT	3
#define TIMER_TAG	127u

/* (a) anybody; (l) the loop that armed it; (s) set before it is armed */
struct xtc_timer {
	struct xtc__inode node;		/* in the inbox, or free */
	_Atomic uint64_t word;		/* (a) generation, POSTED, state */
	struct xtc__wheel_node wheel;	/* (l) */
	_Atomic int64_t deadline_ns;	/* (s) a canceller reads it */
	_Atomic(struct xtc_loop *) loop;	/* (s) a late cancel reads it */
	void (*fn)(void *);		/* (s) user timers */
	void *user;			/* (s) */
	struct xtc__park *rec;		/* (s) of the wait */
	uint64_t epoch;			/* (s) */
	uint8_t kind;			/* (s) enum xtc_timer_kind */
};

_Static_assert(sizeof(struct xtc_timer) <= 128, "a pool object");

/* The word with another state, not POSTED. */
static uint64_t
timer_with(uint64_t word, unsigned state)
{
	return (word >> TIMER_GEN_SHIFT << TIMER_GEN_SHIFT) | state;
}

struct xtc_timer *
xtc__timer_get(struct xtc_loop *loop)
{
	return xtc__pool_get(loop == NULL ? NULL : &loop->mags,
	    XTC__POOL_TIMER);
}

void
xtc__timer_put(struct xtc_timer *t)
{
	uint64_t word;

	/* Relaxed: free, so nobody else changes it; see xtc_timer_cancel. */
	word = atomic_load_explicit(&t->word, memory_order_relaxed);
	atomic_store_explicit(&t->word, ((word >> TIMER_GEN_SHIFT) + 1) <<
	    TIMER_GEN_SHIFT, memory_order_release);
	xtc__pool_put(xtc__mags_self(), XTC__POOL_TIMER, t);
}

/* Relaxed: the word publishes it; a late canceller may read another's. */
static inline void
timer_set_deadline(struct xtc_timer *t, int64_t deadline_ns)
{
	atomic_store_explicit(&t->deadline_ns, deadline_ns,
	    memory_order_relaxed);
}

static inline int64_t
timer_deadline(struct xtc_timer *t)
{
	return atomic_load_explicit(&t->deadline_ns, memory_order_relaxed);
}

/* The loop's thread puts a timer into its wheel. */
static XTC_PROBE_SITE_ATTR void
timer_armed(struct xtc_timer *t, struct xtc_loop *loop,
    int64_t deadline_ns)
{
	XTC_TIMER_ARM(t, deadline_ns, t->kind);
	xtc__wheel_add(&loop->wheel, &t->wheel, deadline_ns);
}
XTC_PROBE_SITE(timer_armed)

/*
 * Out of ARMED, before it fires. *word is what the caller has seen, and
 * gets what was there. 1: done; 0: it was no longer ARMED.
 */
static XTC_PROBE_SITE_ATTR int
timer_cancelled(struct xtc_timer *t, uint64_t *word, int post)
{
	uint64_t next, gen = *word >> TIMER_GEN_SHIFT;
	XTC_PROBE_ONLY(int64_t deadline_ns = timer_deadline(t);)
	XTC_PROBE_ONLY(int kind = t->kind;)

	XTC_SIM_POINT();
	do {
		if ((*word & TIMER_STATE) != TIMER_ARMED ||
		    *word >> TIMER_GEN_SHIFT != gen)
			return 0;
		next = (*word & ~(uint64_t)TIMER_STATE) | TIMER_DEAD |
		    (post ? TIMER_POSTED : 0);
	} while (!xtc__rmw_cas(&t->word, word, next));
	/* still on its way to the loop: it was never armed */
	if ((*word & TIMER_POSTED) != 0)
		return 1;
	XTC_TIMER_CANCEL(t, deadline_ns, kind);
	return 1;
}
XTC_PROBE_SITE(timer_cancelled)

/* Due: out of ARMED by its loop, and what it is for. */
static XTC_PROBE_SITE_ATTR void
timer_fired(struct xtc_timer *t, struct xtc_loop *loop)
{
	struct xtc__park *rec = t->rec;
	uint64_t epoch = t->epoch, word;
	int user = t->kind == XTC_TIMER_USER;
	XTC_PROBE_ONLY(int64_t deadline_ns = timer_deadline(t);)
	XTC_PROBE_ONLY(int kind = t->kind;)

	if (user)
		xtc__loop_count(&loop->user_timers, -1);
	word = atomic_load_explicit(&t->word, memory_order_acquire);
	XTC_SIM_POINT();
	if (user && loop->finishing) {
		if (timer_cancelled(t, &word, 0))
			xtc__timer_put(t);
		return;
	}
	do {
		/* cancelled from elsewhere: its node is on the way here */
		if ((word & TIMER_STATE) != TIMER_ARMED)
			return;
	} while (!xtc__rmw_cas(&t->word, &word,
	    (word & ~(uint64_t)TIMER_STATE) | TIMER_FIRED));
	XTC_SIM_POINT();
	/* a wait's timer may be somebody else's from here on */
	XTC_TIMER_FIRE(t, deadline_ns, loop->now_ns, kind);
	if (!user) {
		(void)xtc__park_unpark(rec, epoch, XTC_CAUSE_TIMEOUT,
		    XTC__WAKE_LAST);
		return;
	}
	t->fn(t->user);
	xtc__timer_put(t);
}
XTC_PROBE_SITE(timer_fired)

void
xtc__timer_arm_wait(struct xtc_timer *t, struct xtc_loop *loop,
    struct xtc__park *rec, uint64_t epoch, int64_t deadline_ns, unsigned kind)
{
	uint64_t word;

	/* Relaxed: the word publishes it. */
	atomic_store_explicit(&t->loop, loop, memory_order_relaxed);
	t->rec = rec;
	t->epoch = epoch;
	timer_set_deadline(t, deadline_ns);
	t->kind = (uint8_t)kind;
	/* Relaxed: the timer is the caller's alone until this store. */
	word = atomic_load_explicit(&t->word, memory_order_relaxed);
	atomic_store_explicit(&t->word, timer_with(word, TIMER_ARMED),
	    memory_order_release);
	timer_armed(t, loop, deadline_ns);
}

/* Through the inbox: a timer to arm, or one that is DEAD. */
static void
timer_from_inbox(struct xtc_loop *loop, struct xtc__inode *node)
{
	struct xtc_timer *t = XTC__CONTAINER_OF(node, struct xtc_timer, node);
	uint64_t word;

	XTC_SIM_POINT();
	word = atomic_fetch_and_explicit(&t->word, ~(uint64_t)TIMER_POSTED,
	    memory_order_acq_rel);
	if ((word & TIMER_STATE) == TIMER_ARMED) {
		xtc__loop_count(&loop->user_timers, 1);
		timer_armed(t, loop, timer_deadline(t));
		return;
	}
	XTC_ASSERT((word & TIMER_STATE) == TIMER_DEAD);
	if (t->wheel.on) {
		xtc__wheel_del(&loop->wheel, &t->wheel);
		if (t->kind == XTC_TIMER_USER)
			xtc__loop_count(&loop->user_timers, -1);
	}
	xtc__timer_put(t);
}

int
xtc__timer_disarm(struct xtc_timer *t, struct xtc_loop *loop)
{
	struct xtc_loop *owner;
	uint64_t word;

	word = atomic_load_explicit(&t->word, memory_order_acquire);
	if ((word & TIMER_STATE) != TIMER_ARMED)
		return 1;
	/* Relaxed: the caller armed it. */
	owner = atomic_load_explicit(&t->loop, memory_order_relaxed);
	if (owner == loop) {
		(void)timer_cancelled(t, &word, 0);
		xtc__wheel_del(&loop->wheel, &t->wheel);
		return 1;
	}
	t->node.run = timer_from_inbox;
	if (!timer_cancelled(t, &word, 1))
		return 1;
	XTC_SIM_POINT();
	xtc__loop_post(owner, &t->node);
	return 0;
}

void
xtc__timer_run(struct xtc_loop *loop)
{
	struct xtc__wheel_node *n;

	while ((n = xtc__wheel_expire(&loop->wheel, loop->now_ns)) != NULL)
		timer_fired(XTC__CONTAINER_OF(n, struct xtc_timer,
		    wheel), loop);
}

void
xtc__timer_drop_all(struct xtc_loop *loop)
{
	struct xtc__wheel_node *n;
	struct xtc_timer *t;
	uint64_t word;

	while ((n = xtc__wheel_expire(&loop->wheel, INT64_MAX)) != NULL) {
		t = XTC__CONTAINER_OF(n, struct xtc_timer, wheel);
		word = atomic_load_explicit(&t->word, memory_order_acquire);
		XTC_ASSERT(t->kind == XTC_TIMER_USER);
		xtc__loop_count(&loop->user_timers, -1);
		if (timer_cancelled(t, &word, 0))
			xtc__timer_put(t);
	}
}

int
xtc_timer_set(xtc_loop_t *loop, int64_t delay_ns, void (*fn)(void *),
    void *user, xtc_timer_t **out)
{
	struct xtc_loop *self = xtc__loop_self();
	struct xtc_timer *t;
	int64_t now;
	uint64_t word;

	if (loop == NULL || fn == NULL)
		return XTC_E_INVAL;
	t = xtc__timer_get(self);
	if (t == NULL)
		return XTC_E_NOMEM;
	now = xtc__loop_clock(loop);
	if (delay_ns < 0)
		delay_ns = 0;
	/* Relaxed: the word publishes it. */
	atomic_store_explicit(&t->loop, loop, memory_order_relaxed);
	t->fn = fn;
	t->user = user;
	t->rec = NULL;
	t->kind = XTC_TIMER_USER;
	timer_set_deadline(t, delay_ns > INT64_MAX - now ? INT64_MAX :
	    now + delay_ns);
	t->node.run = timer_from_inbox;
	/* Relaxed: the timer is the caller's alone until the store. */
	word = atomic_load_explicit(&t->word, memory_order_relaxed);
	word = timer_with(word, TIMER_ARMED);
	if (out != NULL)
		*out = (struct xtc_timer *)(void *)((char *)t +
		    (word >> TIMER_GEN_SHIFT & TIMER_TAG));
	if (self == loop) {
		atomic_store_explicit(&t->word, word, memory_order_release);
		xtc__loop_count(&loop->user_timers, 1);
		timer_armed(t, loop, timer_deadline(t));
		return XTC_OK;
	}
	atomic_store_explicit(&t->word, word | TIMER_POSTED,
	    memory_order_release);
	XTC_SIM_POINT();
	xtc__loop_post(loop, &t->node);
	return XTC_OK;
}

int
xtc_timer_cancel(xtc_timer_t *handle)
{
	uintptr_t tag = (uintptr_t)handle & TIMER_TAG;
	struct xtc_timer *t;
	struct xtc_loop *loop;
	uint64_t word;

	if (handle == NULL)
		return XTC_E_INVAL;
	t = (struct xtc_timer *)(void *)((char *)handle - tag);
	word = atomic_load_explicit(&t->word, memory_order_acquire);
	/* another generation: that timer has run, or was cancelled */
	if ((word >> TIMER_GEN_SHIFT & TIMER_TAG) != tag)
		return XTC_E_AGAIN;
	/* Relaxed: right if the swap below succeeds, else not used. */
	loop = atomic_load_explicit(&t->loop, memory_order_relaxed);
	if (xtc__loop_self() == loop) {
		if (!timer_cancelled(t, &word, 0))
			return XTC_E_AGAIN;
		if ((word & TIMER_POSTED) == 0) {
			xtc__wheel_del(&loop->wheel, &t->wheel);
			xtc__loop_count(&loop->user_timers, -1);
			xtc__timer_put(t);
		}
		return XTC_OK;
	}
	XTC_SIM_POINT();
	if (!timer_cancelled(t, &word, 1))
		return XTC_E_AGAIN;
	XTC_SIM_POINT();
	if ((word & TIMER_POSTED) == 0)
		xtc__loop_post(loop, &t->node);
	return XTC_OK;
}
