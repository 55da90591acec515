/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * park.c: who may wake a waiting fiber, and that exactly one does.
 *
 * THE NOUNS. A fiber (or a plain thread) that waits does so through its park
 * record. A ticket is {record, epoch}: the right to end one wait. A waker is
 * anybody with a ticket: a sender, an unlocker, a timer, a killer. To claim
 * is to use the ticket; the cause of the claim travels in the record's word
 * and is what the wait returns.
 *
 * THE PROMISE. A wait ends by exactly one claim. A claim that was made in
 * time is never lost; one that comes late (the wait is over, the fiber has
 * ended, its memory serves another fiber) has no effect. Nobody runs a fiber
 * whose stack is still in use.
 *
 * THE HARD PROBLEM. Between "I have looked and must wait" and "I am off my
 * stack" a waker may come, on another thread, and the killer at any time.
 * The losing interleaving, of the naive way with a flag:
 *
 *	fiber				waker
 *	looks: no message
 *					puts a message
 *					looks: nobody waits
 *	says: I wait
 *	sleeps for ever
 *
 * and the right one, which rests on the fiber's announcement (1) and the
 * waker's condition (2) being written before either looks at the other's:
 *
 *	(1) prepare: ARMED
 *	publishes its ticket
 *					(2) puts a message
 *					finds the ticket, claims: EARLY
 *	looks again: a message; cancel
 *	finds CLAIMED and takes it
 *
 * THE PATH OF ONE WAIT. prepare takes the next epoch and says ARMED. The
 * primitive publishes the ticket where its wakers look, and looks at its
 * condition once more: if it has come true it cancels. Else commit: the
 * fiber switches straight to the next one, whose first act (the post-switch
 * action) is to say PARKED on behalf of the fiber that was left; only now is
 * the stack free, and only a claim from PARKED lets the waker queue the
 * fiber. If the action finds CLAIMED instead, somebody came in between, and
 * the action queues the fiber itself. When the fiber runs again it takes
 * back what it published, whoever woke it.
 *
 * STATES. RUNNING -> ARMED: prepare. ARMED -> PARKED: the post-switch action
 * (a thread: commit). ARMED, PARKED -> CLAIMED: claim, kill. ARMED ->
 * CLAIMED with no cause: cancel. CLAIMED -> ARMED: the next prepare. The
 * state stays CLAIMED after the wait; a claimer cannot tell that from
 * RUNNING and need not: both mean "not waiting". It saves a
 * read-modify-write a wait.
 *
 * KILL. The mark is a bit of the same word, so prepare cannot miss it and
 * the killer cannot miss an ARMED fiber. A pid names an incarnation; exit
 * changes the incarnation first and the word after, so a killer that has
 * read the word, then found the incarnation still right, swaps only if the
 * word has not changed since: it cannot hit the next fiber in this memory.
 * Hence every change of the word is a read-modify-write. A fiber in a
 * critical section, or exiting, says MASKED in prepare: kill then leaves the
 * mark and does not claim.
 *
 * GRANTS AND HINTS. A waker that has taken the ticket out of a queue under
 * the primitive's lock knows that its claim ends that very wait, and why: a
 * grant. Any other event is a hint: the epoch is right but the condition may
 * be gone. So a condition wait that was woken without its condition waits
 * again with the time left.
 *
 * INVARIANTS, each asserted: only ARMED becomes PARKED; at most one claim an
 * epoch (the compare-and-swap); a wait that returns was claimed.
 *
 * MEMORY ORDER. prepare is a read-modify-write with acquire and release:
 * what was published after it is seen by nobody who does not also see ARMED.
 * The post-switch action releases the saved registers and the stack; claim
 * acquires them and hands them on through the queue. A primitive whose
 * ticket and condition are two words needs the store-load order of the
 * picture above: its stores and loads of the two are seq_cst, or one word,
 * or under one lock. (The mailbox and the waker use one word, the locks a
 * lock.)
 *
 * COST of a wait: three atomic read-modify-writes of one cache line
 * (prepare, post-switch, claim); no lock, no system call unless the loop
 * sleeps.
 *
 * PROBES. fiber-park and fiber-resume in park_commit, fiber-wake in
 * xtc__park_wake. A claim before the fiber has left the CPU: if commit
 * itself finds it there is no park, no event at all; if the post-switch
 * action finds it, that one emits the wake, with waker 0.
 *
 * Checked by models/park.pml and models/kill.pml beside this file.
 */
#include "core/park.h"

#include <limits.h>
#include <stddef.h>

#include "xtc_base.h"
#include "arch/rmw.h"
#include "base/assert.h"
#include "base/plant.h"
#include "core/loop.h"
#include "core/task.h"
#include "core/thread.h"
#include "os/os.h"
#include "trace/trace.h"

static inline unsigned
park_state(uint64_t word)
{
	return (unsigned)word & XTC__PARK_STATE;
}

static inline unsigned
park_cause(uint64_t word)
{
	return ((unsigned)word & XTC__PARK_CAUSE) >> XTC__PARK_CAUSE_SHIFT;
}

/* The word of the same epoch, claimed with a cause. */
static inline uint64_t
park_claimed(uint64_t word, unsigned cause)
{
	word &= ~(uint64_t)(XTC__PARK_STATE | XTC__PARK_CAUSE);
	return word | XTC__PARK_CLAIMED |
	    (uint64_t)cause << XTC__PARK_CAUSE_SHIFT;
}

/* A task is its record: park is its first member. */
static inline struct xtc_task *
park_task(struct xtc__park *rec)
{
	XTC_DEBUG_ASSERT(!rec->is_thread);
	return (struct xtc_task *)(void *)rec;
}

/* The end of now + timeout, for ever if that does not fit. */
static int64_t
park_deadline(int64_t now_ns, int64_t timeout_ns)
{
	return timeout_ns > INT64_MAX - now_ns ? INT64_MAX :
	    now_ns + timeout_ns;
}

struct xtc__park *
xtc__park_waker(void)
{
	struct xtc_loop *loop = xtc__loop_self();

	if (loop != NULL)
		return loop->cur != NULL ? &loop->cur->park : NULL;
	return xtc__thread_peek();
}

struct xtc__park *
xtc__park_self(void)
{
	struct xtc_loop *loop = xtc__loop_self();

	if (loop != NULL && loop->cur != NULL)
		return &loop->cur->park;
	return xtc__thread_self();
}

int
xtc__wait_init(struct xtc__wait *w, int64_t timeout_ns)
{
	struct xtc_loop *loop = xtc__loop_self();

	w->timer = NULL;
	w->timeout_ns = timeout_ns;
	w->deadline_ns = INT64_MAX;
	w->timer_kind = XTC_TIMER_TIMEOUT;
	w->waited = NULL;
	if (loop != NULL && (loop->cur == NULL || loop->cur->park.no_wait))
		return XTC_E_INVAL;
	w->rec = xtc__park_self();
	if (w->rec == NULL)
		return XTC_E_NOMEM;
	if (timeout_ns < 0)
		return XTC_OK;
	if (loop == NULL) {
		w->deadline_ns = park_deadline(xtc__os_mono(), timeout_ns);
		return XTC_OK;
	}
	w->timer = xtc__timer_get(loop);
	if (w->timer == NULL)
		return XTC_E_NOMEM;
	w->deadline_ns = park_deadline(xtc__loop_clock(loop), timeout_ns);
	return XTC_OK;
}

int
xtc__wait_again(struct xtc__wait *w)
{
	if (w->timer != NULL || w->timeout_ns < 0 || w->rec->is_thread)
		return XTC_OK;
	w->timer = xtc__timer_get(xtc__loop_self());
	return w->timer == NULL ? XTC_E_NOMEM : XTC_OK;
}

void
xtc__wait_fini(struct xtc__wait *w)
{
	if (w->timer != NULL)
		xtc__timer_put(w->timer);
	w->timer = NULL;
}

int
xtc__park_killed(struct xtc__park *rec)
{
	/* Relaxed: only the bit matters; a later look sees it too. */
	return rec->critical == 0 && (atomic_load_explicit(&rec->word,
	    memory_order_relaxed) & XTC__PARK_KILL) != 0;
}

uint64_t
xtc__wait_prepare(struct xtc__wait *w, unsigned why, uint64_t object)
{
	struct xtc__park *rec = w->rec;
	uint64_t next, word;
	unsigned mask = rec->critical > 0 ? XTC__PARK_MASKED : 0;

	rec->why = (uint8_t)why;
	rec->object = object;
	rec->waited = w->waited;
	/* Relaxed: only a guess; the swap tells. */
	word = atomic_load_explicit(&rec->word, memory_order_relaxed);
	XTC_SIM_POINT();
	do {
		XTC_DEBUG_ASSERT(park_state(word) == XTC__PARK_RUNNING ||
		    park_state(word) == XTC__PARK_CLAIMED);
		if ((word & XTC__PARK_KILL) != 0 && mask == 0 &&
		    !XTC_PLANT(SKIP_KILL_LOOK))
			return 0;
		next = ((word >> XTC__PARK_EPOCH_SHIFT) + 1) <<
		    XTC__PARK_EPOCH_SHIFT;
		next |= (word & XTC__PARK_KILL) | mask | XTC__PARK_ARMED;
	} while (!xtc__rmw_cas(&rec->word, &word, next));
	XTC_SIM_POINT();
	return next >> XTC__PARK_EPOCH_SHIFT;
}

unsigned
xtc__wait_cancel(struct xtc__wait *w)
{
	struct xtc__park *rec = w->rec;
	uint64_t word;

	word = atomic_load_explicit(&rec->word, memory_order_acquire);
	XTC_SIM_POINT();
	while (park_state(word) == XTC__PARK_ARMED) {
		/* acquire on failure: the claimer's grant is read next */
		if (xtc__rmw_cas(&rec->word, &word, park_claimed(word, 0)))
			return 0;
	}
	XTC_ASSERT(park_state(word) == XTC__PARK_CLAIMED);
	return park_cause(word);
}

/*
 * A fiber leaves the CPU. The one place where it does so to wait: both
 * probes stand here, and what lies above this frame is the wait's stack.
 */
static XTC_PROBE_SITE_ATTR unsigned
park_commit(struct xtc_task *me, struct xtc_loop *loop,
    int64_t timeout_ns)
{
	uint64_t word;

	(void)timeout_ns;
	/* acquire: an early claimer's grant is read next */
	word = atomic_load_explicit(&me->park.word, memory_order_acquire);
	if (park_state(word) == XTC__PARK_CLAIMED)
		return park_cause(word);
	XTC_FIBER_PARK(me, me->park.why, me->park.object, timeout_ns);
	XTC_SIM_POINT();
	if (XTC_PLANT(POST_BEFORE_SWITCH) && xtc__rmw_cas(&me->park.word,
	    &word, word ^ (XTC__PARK_ARMED ^ XTC__PARK_PARKED)))
		loop = xtc__loop_switch(loop, me, XTC__POST_NONE);
	else
		loop = xtc__loop_switch(loop, me, XTC__POST_PARK);
	word = atomic_load_explicit(&me->park.word, memory_order_acquire);
	XTC_ASSERT(park_state(word) == XTC__PARK_CLAIMED);
	XTC_FIBER_RESUME(me, me->park.why, park_cause(word), loop->index);
	(void)loop;
	return park_cause(word);
}
XTC_PROBE_SITE(park_commit)

/* A thread waits: the futex is its CPU. */
static unsigned
park_commit_thread(struct xtc__park *rec, uint64_t epoch, int64_t deadline_ns)
{
	uint64_t word;

	/* Relaxed: the release of the swap below publishes it. */
	atomic_store_explicit(&rec->go, 0, memory_order_relaxed);
	word = atomic_load_explicit(&rec->word, memory_order_acquire);
	XTC_SIM_POINT();
	while (park_state(word) == XTC__PARK_ARMED) {
		if (atomic_compare_exchange_weak_explicit(&rec->word, &word,
		    word ^ (XTC__PARK_ARMED ^ XTC__PARK_PARKED),
		    memory_order_acq_rel, memory_order_acquire)) {
			while (atomic_load_explicit(&rec->go,
			    memory_order_acquire) == 0) {
				if (xtc__os_futex_wait(&rec->go, 0,
				    deadline_ns) == XTC_E_AGAIN) {
					/* its own waker; another may win */
					(void)xtc__park_claim(rec, epoch,
					    XTC_CAUSE_TIMEOUT);
					deadline_ns = INT64_MAX;
					word = atomic_load_explicit(&rec->word,
					    memory_order_acquire);
					if (park_cause(word) ==
					    XTC_CAUSE_TIMEOUT)
						break;
				}
			}
			word = atomic_load_explicit(&rec->word,
			    memory_order_acquire);
			break;
		}
	}
	XTC_ASSERT(park_state(word) == XTC__PARK_CLAIMED);
	return park_cause(word);
}

unsigned
xtc__wait_commit(struct xtc__wait *w)
{
	struct xtc__park *rec = w->rec;
	uint64_t epoch;
	unsigned cause;
	struct xtc_loop *loop;

	/* Relaxed: the epoch is the owner's. */
	epoch = atomic_load_explicit(&rec->word, memory_order_relaxed) >>
	    XTC__PARK_EPOCH_SHIFT;
	if (rec->is_thread)
		return park_commit_thread(rec, epoch, w->deadline_ns);
	loop = xtc__loop_self();
	if (w->timer != NULL)
		xtc__timer_arm_wait(w->timer, loop, rec, epoch,
		    w->deadline_ns, w->timer_kind);
	cause = park_commit(park_task(rec), loop, w->timeout_ns);
	if (w->timer != NULL && !xtc__timer_disarm(w->timer, xtc__loop_self()))
		w->timer = NULL;
	return cause;
}

void
xtc__wait_die(struct xtc__wait *w)
{
	struct xtc_task *me = park_task(w->rec);

	xtc__wait_fini(w);
	xtc__task_die(me);
}

enum xtc__claim
xtc__park_claim(struct xtc__park *rec, uint64_t epoch, unsigned cause)
{
	uint64_t word;
	unsigned state;

	XTC_SIM_POINT();
	/* acquire: STALE must not be decided on an old word (see README) */
	word = atomic_load_explicit(&rec->word, memory_order_acquire);
	for (;;) {
		XTC_SIM_POINT();
		state = park_state(word);
		if ((word >> XTC__PARK_EPOCH_SHIFT != epoch &&
		    !XTC_PLANT(NO_EPOCH)) ||
		    (state != XTC__PARK_ARMED && state != XTC__PARK_PARKED))
			return XTC__CLAIM_STALE;
		if (xtc__rmw_cas(&rec->word, &word,
		    park_claimed(word, cause)))
			break;
		if (XTC_PLANT(CLAIM_ONE_SHOT))
			return XTC__CLAIM_STALE;
	}
	XTC_SIM_POINT();
	return state == XTC__PARK_PARKED || XTC_PLANT(EARLY_QUEUES) ?
	    XTC__CLAIM_OWNED : XTC__CLAIM_EARLY;
}

/*
 * The owner of a claimed fiber makes it run. Emits before it queues: once
 * it is queued another thread may run it, and it would resume before its
 * wake in the trace.
 */
XTC_PROBE_SITE_ATTR void
xtc__park_wake(struct xtc__park *rec, unsigned cause, struct xtc__park *waker,
    enum xtc__wake_how how)
{
	(void)cause;
	(void)waker;
	if (rec->is_thread) {
		atomic_store_explicit(&rec->go, 1, memory_order_release);
		XTC_SIM_POINT();
		xtc__os_futex_wake(&rec->go, 1);
		return;
	}
	if (XTC_PLANT(WAKE_AFTER_QUEUE))
		xtc__loop_ready(park_task(rec), how);
	XTC_FIBER_WAKE(rec, rec->why, cause, waker);
	XTC_SIM_POINT();
	if (!XTC_PLANT(WAKE_AFTER_QUEUE))
		xtc__loop_ready(park_task(rec), how);
}
XTC_PROBE_SITE(xtc__park_wake)

int
xtc__park_unpark(struct xtc__park *rec, uint64_t epoch, unsigned cause,
    enum xtc__wake_how how)
{
	enum xtc__claim c = xtc__park_claim(rec, epoch, cause);

	if (c == XTC__CLAIM_OWNED)
		xtc__park_wake(rec, cause, xtc__park_waker(), how);
	return c != XTC__CLAIM_STALE;
}

int
xtc__park_kill(struct xtc__park *rec, const _Atomic uint64_t *inc_word,
    uint64_t inc)
{
	uint64_t next, word;
	unsigned state;

	XTC_SIM_POINT();
	word = atomic_load_explicit(&rec->word, memory_order_acquire);
	do {
		XTC_SIM_POINT();
		/* acquire, and after the word: see KILL above */
		if (inc_word != NULL && !XTC_PLANT(NO_SECOND_LOOK) &&
		    atomic_load_explicit(inc_word, memory_order_acquire) >>
		    24 != inc)
			return -1;
		XTC_SIM_POINT();
		state = park_state(word);
		next = word | XTC__PARK_KILL;
		if ((word & XTC__PARK_MASKED) != 0 ||
		    (state != XTC__PARK_ARMED && state != XTC__PARK_PARKED))
			state = XTC__PARK_RUNNING;
		else
			next = park_claimed(next, XTC_CAUSE_KILL);
	} while (!atomic_compare_exchange_weak_explicit(&rec->word, &word,
	    next, memory_order_acq_rel, memory_order_acquire));
	if (state == XTC__PARK_PARKED) {
		/* the killer gets a record, so that a tracer can name it */
		if (xtc__loop_self() == NULL)
			(void)xtc__thread_self();
		xtc__park_wake(rec, XTC_CAUSE_KILL, xtc__park_waker(),
		    XTC__WAKE_NEXT);
	}
	return 0;
}

void
xtc__park_reset(struct xtc__park *rec, int born_killed)
{
	uint64_t next, word;

	/* Relaxed: a guess; the swap tells. */
	word = atomic_load_explicit(&rec->word, memory_order_relaxed);
	XTC_SIM_POINT();
	do {
		next = ((word >> XTC__PARK_EPOCH_SHIFT) + 1) <<
		    XTC__PARK_EPOCH_SHIFT;
		if (born_killed)
			next |= XTC__PARK_KILL;
	} while (!xtc__rmw_cas(&rec->word, &word, next));
}

void
xtc__held_push(struct xtc__park *rec, struct xtc__held *h)
{
	xtc__list_add_first(&rec->held, &h->link);
}

void
xtc__held_remove(struct xtc__held *h)
{
	xtc__list_remove(&h->link);
}

void
xtc__held_release_all(struct xtc__park *rec)
{
	struct xtc__held *h;

	while (!xtc__list_is_empty(&rec->held)) {
		h = XTC__LIST_ENTRY(rec->held.next, struct xtc__held, link);
		xtc__list_remove(&h->link);
		h->owner_died(h, rec);
	}
}
