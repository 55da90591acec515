/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * amutex.c: a mutex with an owner, for fibers and threads: who gets it next.
 *
 * THE NOUNS. The word holds the owner's park record, or none, and two flags:
 * WAITERS, somebody is in the queue (so unlock must look), and DEAD, the
 * last owner ended while holding it and the next has not been told yet. The
 * queue is a FIFO of waiters under the short queue lock.
 *
 * FAST PATH. lock: one swap, none to me. unlock: one swap, me to none. Each
 * also puts the lock on, or takes it off, its owner's list of what he holds,
 * which is plain memory of the owner. Both stand in the public functions;
 * what waits has functions of its own.
 *
 * WHO IS NEXT. Two policies, and unlock chooses. Hand-off: the oldest waiter
 * becomes the owner before he runs; nobody can barge in, so the order is
 * first come first served, but the lock is idle until he runs. Barging: the
 * lock is freed and the oldest waiter (the heir) woken to try again; a runner
 * may take it before him, and then he waits again at the head of the queue.
 * Hand-off to a waiter of the unlocker's own loop costs nothing: nothing else
 * of that loop runs in between but what is queued anyhow. Hand-off to another
 * loop makes every tiny critical section as long as a wake-up between
 * threads. So: to a waiter of one's own loop, to one who has waited for 50
 * microseconds, and after 16 bargings in a row, the lock is handed; else it
 * is freed.
 *
 * HAND-OFF, in this order, under the queue lock: take the waiter out, write
 * him into the word, claim. If the claim says STALE he has timed out or was
 * killed: the next one is tried. A waiter who lost passes the queue lock on
 * his way out, so he never sees himself as owner by mistake. A woken heir
 * tries the lock before he looks at his deadline or his kill, else the lock
 * could be free with others asleep.
 *
 * DEATH. The end of an owner (fiber or thread) sets DEAD and unlocks for it.
 * The next owner clears DEAD and is told XTC_E_OWNERDEAD.
 *
 * DESTROY takes the queue lock, so that an unlocker who has just handed the
 * lock to the destroyer is out of it.
 *
 * Checked by models/lock.pml.
 */
#include <stdatomic.h>
#include <stddef.h>

#include "xtc_kinds.h"
#include "xtc_sync.h"
#include "arch/rmw.h"
#include "base/assert.h"
#include "base/attr.h"
#include "base/list.h"
#include "base/plant.h"
#include "core/loop.h"
#include "core/park.h"
#include "mem/pool.h"
#include "os/os.h"
#include "os/qlock.h"
#include "sync/lockwait.h"

#define AMUTEX_WAITERS	((uintptr_t)1)
#define AMUTEX_DEAD	((uintptr_t)2)
#define AMUTEX_FLAGS	((uintptr_t)3)

#define AMUTEX_OLD_NS	50000
#define AMUTEX_BARGES	16

#define AMUTEX_HEIR	1	/* amutex_queue: neither done nor failed */

/* (a) anybody; (q) under q; (o) the owner */
struct xtc_amutex {
	void *pool_link;
	_Atomic uintptr_t word;		/* (a) owner | flags */
	struct xtc__held held;		/* (o) on the owner's list */
	struct xtc__qlock q;
	unsigned barged;		/* (q) times in a row */
	struct xtc__list waiters;	/* (q) oldest first */
};

_Static_assert(sizeof(struct xtc_amutex) <= 128, "a pool object");

/* One who waits: on his stack, and his until he is claimed. */
struct amutex_waiter {
	struct xtc__list link;		/* (q) */
	struct xtc__park *rec;
	uint64_t epoch;
	int64_t since_ns;
};

static inline struct xtc__park *
amutex_owner(uintptr_t word)
{
	return (struct xtc__park *)(word & ~AMUTEX_FLAGS);
}

/* The time, as cheap as it is to be had. */
static int64_t
amutex_now(void)
{
	struct xtc_loop *loop = xtc__loop_self();

	return loop != NULL ? loop->now_ns : xtc__os_mono();
}

/* Is this waiter to get the lock, rather than to try for it? */
static int
amutex_is_due(struct xtc_amutex *m, struct amutex_waiter *w)
{
	struct xtc_loop *self = xtc__loop_self();

	/* Relaxed: a fiber that waits does not move. */
	if (self != NULL && atomic_load_explicit(&w->rec->loop,
	    memory_order_relaxed) == self)
		return 1;
	return m->barged >= AMUTEX_BARGES ||
	    amutex_now() - w->since_ns >= AMUTEX_OLD_NS;
}

/*
 * q is held and the word names an owner who lets go: the next one, or none.
 * The record to wake, or NULL; he has been claimed.
 */
static struct xtc__park *
amutex_pass_on(struct xtc_amutex *m)
{
	struct amutex_waiter *w;
	struct xtc__list *l;
	struct xtc__park *rec;
	uintptr_t flags, owner;
	uint64_t epoch;
	enum xtc__claim c;

	while ((l = xtc__list_pop_first(&m->waiters)) != NULL) {
		w = XTC__LIST_ENTRY(l, struct amutex_waiter, link);
		rec = w->rec;
		epoch = w->epoch;
		owner = 0;
		if (amutex_is_due(m, w))
			owner = (uintptr_t)rec;
		flags = xtc__list_is_empty(&m->waiters) ? 0 : AMUTEX_WAITERS;
		/* Relaxed: DEAD changes only by an owner, and that is us. */
		flags |= atomic_load_explicit(&m->word,
		    memory_order_relaxed) & AMUTEX_DEAD;
		if (owner == 0)
			break;
		if (!XTC_PLANT(OWNER_AFTER_CLAIM))
			atomic_store_explicit(&m->word, owner | flags,
			    memory_order_release);
		XTC_SIM_POINT();
		/* w is its waiter's stack: gone once he is claimed */
		c = xtc__park_claim(rec, epoch, XTC_CAUSE_EVENT);
		if (c == XTC__CLAIM_STALE && !XTC_PLANT(IGNORE_STALE))
			continue;
		if (XTC_PLANT(OWNER_AFTER_CLAIM))
			atomic_store_explicit(&m->word, owner | flags,
			    memory_order_release);
		m->barged = 0;
		return c == XTC__CLAIM_OWNED ? rec : NULL;
	}
	if (l == NULL) {
		flags = atomic_load_explicit(&m->word, memory_order_relaxed) &
		    AMUTEX_DEAD;
		atomic_store_explicit(&m->word, flags, memory_order_release);
		return NULL;
	}
	/* free it, and wake the heir: he first, then those behind him */
	m->barged++;
	XTC_SIM_POINT();
	atomic_store_explicit(&m->word, flags, memory_order_release);
	XTC_SIM_POINT();
	for (;;) {
		c = xtc__park_claim(rec, epoch, XTC_CAUSE_EVENT);
		if (c != XTC__CLAIM_STALE)
			return c == XTC__CLAIM_OWNED ? rec : NULL;
		l = xtc__list_pop_first(&m->waiters);
		if (l == NULL)
			break;
		w = XTC__LIST_ENTRY(l, struct amutex_waiter, link);
		rec = w->rec;
		epoch = w->epoch;
		if (xtc__list_is_empty(&m->waiters))
			atomic_fetch_and_explicit(&m->word, ~AMUTEX_WAITERS,
			    memory_order_relaxed);
	}
	atomic_fetch_and_explicit(&m->word, ~AMUTEX_WAITERS,
	    memory_order_relaxed);
	return NULL;
}

/* The owner lets go, and somebody waits. */
static XTC__NOINLINE void
amutex_unlock_slow(struct xtc_amutex *m)
{
	struct xtc__park *next;

	xtc__qlock_lock(&m->q);
	next = amutex_pass_on(m);
	xtc__qlock_unlock(&m->q);
	if (next != NULL)
		xtc__park_wake(next, XTC_CAUSE_EVENT, xtc__park_waker(),
		    XTC__WAKE_NEXT);
}

static void
amutex_owner_died(struct xtc__held *h, struct xtc__park *rec)
{
	struct xtc_amutex *m = XTC__CONTAINER_OF(h, struct xtc_amutex, held);
	uintptr_t word = (uintptr_t)rec;

	if (XTC_PLANT(NO_OWNER_DEATH))
		return;
	/* Relaxed: an owner's flag, published by the release below. */
	(void)atomic_fetch_or_explicit(&m->word, AMUTEX_DEAD,
	    memory_order_relaxed);
	word |= AMUTEX_DEAD;
	XTC_SIM_POINT();
	if (!atomic_compare_exchange_strong_explicit(&m->word, &word,
	    AMUTEX_DEAD, memory_order_release, memory_order_relaxed))
		amutex_unlock_slow(m);
}

/* The caller is the owner now. */
static inline int
amutex_got(struct xtc_amutex *m, struct xtc__park *me)
{
	uintptr_t word;

	xtc__held_push(me, &m->held);
	/* Relaxed: whoever made me the owner has released it. */
	word = atomic_load_explicit(&m->word, memory_order_relaxed);
	if (XTC__LIKELY((word & AMUTEX_DEAD) == 0))
		return XTC_OK;
	atomic_fetch_and_explicit(&m->word, ~AMUTEX_DEAD,
	    memory_order_relaxed);
	return XTC_E_OWNERDEAD;
}

/* Take it if nobody owns it. 1: taken. */
static int
amutex_take_free(struct xtc_amutex *m, struct xtc__park *me)
{
	/* Relaxed: a guess; the swap tells. */
	uintptr_t word = atomic_load_explicit(&m->word, memory_order_relaxed);

	XTC_SIM_POINT();
	while (amutex_owner(word) == NULL) {
		if (atomic_compare_exchange_weak_explicit(&m->word, &word,
		    word | (uintptr_t)me, memory_order_acquire,
		    memory_order_relaxed))
			return 1;
	}
	return 0;
}

/* q is held: take it, or say that somebody waits. 1: taken. */
static int
amutex_take_or_mark(struct xtc_amutex *m, struct xtc__park *me)
{
	uintptr_t next, word;

	word = atomic_load_explicit(&m->word, memory_order_relaxed);
	XTC_SIM_POINT();
	do {
		if (amutex_owner(word) == NULL)
			next = word | (uintptr_t)me;
		else
			next = word | AMUTEX_WAITERS;
	} while (!atomic_compare_exchange_weak_explicit(&m->word, &word,
	    next, memory_order_acquire, memory_order_relaxed));
	return amutex_owner(word) == NULL;
}

/* q is held: the queue may have become empty. */
static void
amutex_unmark(struct xtc_amutex *m)
{
	if (xtc__list_is_empty(&m->waiters))
		atomic_fetch_and_explicit(&m->word, ~AMUTEX_WAITERS,
		    memory_order_relaxed);
}

/*
 * Wait in the queue once: XTC_OK, the lock is mine; XTC_E_AGAIN, not in
 * time; XTC_E_ABORTED, killed; AMUTEX_HEIR, woken to try again.
 */
static int
amutex_queue(struct xtc_amutex *m, struct xtc__wait *w, int heir,
    int64_t since_ns)
{
	struct amutex_waiter me;
	unsigned cause;

	me.rec = w->rec;
	me.since_ns = since_ns;
	xtc__list_init(&me.link);
	xtc__qlock_lock(&m->q);
	if (amutex_take_or_mark(m, w->rec)) {
		xtc__qlock_unlock(&m->q);
		return XTC_OK;
	}
	if (XTC_PLANT(ENQUEUE_FIRST)) {
		/* the epoch that prepare will take */
		me.epoch = (atomic_load_explicit(&w->rec->word,
		    memory_order_relaxed) >> XTC__PARK_EPOCH_SHIFT) + 1;
		xtc__list_add_last(&m->waiters, &me.link);
		xtc__qlock_unlock(&m->q);
		XTC_SIM_POINT();
		xtc__qlock_lock(&m->q);
		xtc__list_remove(&me.link);
	}
	me.epoch = xtc__wait_prepare(w, XTC_WHY_SYNC, (uintptr_t)m);
	if (me.epoch == 0) {
		amutex_unmark(m);
		xtc__qlock_unlock(&m->q);
		return XTC_E_ABORTED;
	}
	if (heir)
		xtc__list_add_first(&m->waiters, &me.link);
	else
		xtc__list_add_last(&m->waiters, &me.link);
	xtc__qlock_unlock(&m->q);
	XTC_SIM_POINT();
	cause = xtc__wait_commit(w);
	XTC_SIM_POINT();
	if (cause == XTC_CAUSE_EVENT) {
		/* acquire: what the last owner wrote */
		return amutex_owner(atomic_load_explicit(&m->word,
		    memory_order_acquire)) == w->rec ? XTC_OK : AMUTEX_HEIR;
	}
	xtc__qlock_lock(&m->q);
	XTC_SIM_POINT();
	if (!XTC_PLANT(NO_REMOVE))
		xtc__list_remove(&me.link);
	amutex_unmark(m);
	xtc__qlock_unlock(&m->q);
	return cause == XTC_CAUSE_KILL ? XTC_E_ABORTED : XTC_E_AGAIN;
}

static struct xtc__park *
amutex_holder(uint64_t object)
{
	struct xtc_amutex *m = (struct xtc_amutex *)(uintptr_t)object;

	/* Relaxed: who holds it now; it may change at once. */
	return amutex_owner(atomic_load_explicit(&m->word,
	    memory_order_relaxed));
}

static XTC__NOINLINE int
amutex_lock_slow(struct xtc_amutex *m, struct xtc__park *me,
    int64_t timeout_ns)
{
	static const struct xtc__waited waited = { "amutex", amutex_holder };
	struct xtc__wait w;
	uintptr_t word;
	int heir = 0, r;
	int64_t since_ns;

	word = atomic_load_explicit(&m->word, memory_order_relaxed);
	if (amutex_owner(word) == me)
		return XTC_E_DEADLK;
	if (amutex_take_free(m, me))
		return amutex_got(m, me);
	if (timeout_ns == 0)
		return XTC_E_AGAIN;
	r = xtc__wait_init(&w, timeout_ns);
	if (r != XTC_OK)
		return r;
	w.waited = &waited;
	since_ns = amutex_now();
	/* Relaxed: who holds it now, for the tracer. */
	word = atomic_load_explicit(&m->word, memory_order_relaxed);
	xtc__lock_wait_begin(m, XTC_LOCK_AMUTEX, me, 0, amutex_owner(word));
	while ((r = amutex_queue(m, &w, heir, since_ns)) == AMUTEX_HEIR) {
		if (XTC_PLANT(HEIR_DIES) && xtc__park_killed(me)) {
			r = XTC_E_ABORTED;
			break;
		}
		if (XTC_PLANT(HEIR_TIMES_OUT) &&
		    w.deadline_ns <= amutex_now()) {
			r = XTC_E_AGAIN;
			break;
		}
		heir = 1;
		if (amutex_take_free(m, me)) {
			r = XTC_OK;
			break;
		}
		/* somebody owns it, and wakes the next: one may leave */
		r = xtc__wait_again(&w);
		if (r != XTC_OK)
			break;
	}
	if (r == XTC_OK)
		r = amutex_got(m, me);
	xtc__lock_wait_end(m, XTC_LOCK_AMUTEX, me, 0, r);
	if (r == XTC_E_ABORTED)
		xtc__wait_die(&w);
	xtc__wait_fini(&w);
	return r;
}

int
xtc_amutex_create(xtc_amutex_t **out)
{
	struct xtc_amutex *m;

	if (out == NULL)
		return XTC_E_INVAL;
	m = xtc__pool_get(xtc__mags_self(), XTC__POOL_AMUTEX);
	if (m == NULL)
		return XTC_E_NOMEM;
	atomic_store_explicit(&m->word, 0, memory_order_relaxed);
	m->held.owner_died = amutex_owner_died;
	xtc__list_init(&m->held.link);
	m->barged = 0;
	xtc__list_init(&m->waiters);
	*out = m;
	return XTC_OK;
}

int
xtc_amutex_destroy(xtc_amutex_t *m)
{
	int busy;

	if (m == NULL)
		return XTC_OK;
	xtc__qlock_lock(&m->q);
	busy = amutex_owner(atomic_load_explicit(&m->word,
	    memory_order_acquire)) != NULL ||
	    !xtc__list_is_empty(&m->waiters);
	xtc__qlock_unlock(&m->q);
	if (busy)
		return XTC_E_INVAL;
	xtc__pool_put(xtc__mags_self(), XTC__POOL_AMUTEX, m);
	return XTC_OK;
}

int
xtc_amutex_lock(xtc_amutex_t *m, int64_t timeout_ns)
{
	struct xtc__park *me = xtc__park_self();
	uintptr_t none = 0;

	if (m == NULL)
		return XTC_E_INVAL;
	XTC_SIM_POINT();
	if (XTC__UNLIKELY(me == NULL))
		return XTC_E_NOMEM;
	if (XTC__UNLIKELY(!xtc__rmw_cas_ptr(&m->word, &none, (uintptr_t)me)))
		return amutex_lock_slow(m, me, timeout_ns);
	xtc__held_push(me, &m->held);
	return XTC_OK;
}

int
xtc_amutex_try_lock(xtc_amutex_t *m)
{
	return xtc_amutex_lock(m, 0);
}

int
xtc_amutex_unlock(xtc_amutex_t *m)
{
	struct xtc__park *me = xtc__park_self();
	uintptr_t word;

	if (m == NULL || me == NULL)
		return XTC_E_INVAL;
	/* Relaxed: only the owner finds himself there. */
	word = atomic_load_explicit(&m->word, memory_order_relaxed);
	if (amutex_owner(word) != me)
		return XTC_E_INVAL;
	xtc__held_remove(&m->held);
	XTC_SIM_POINT();
	word = (uintptr_t)me;
	if (XTC__UNLIKELY(!xtc__rmw_cas_ptr(&m->word, &word, 0)))
		amutex_unlock_slow(m);
	return XTC_OK;
}
