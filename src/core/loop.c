/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * loop.c: which fiber runs next, and when the loop looks outside.
 *
 * THE NOUNS. The run queue is a FIFO of runnable fibers with one place
 * before it, next_up, for the fiber that a running one has just woken. The
 * inbox takes what other threads (and signal handlers) bring: fibers to run,
 * timers to arm or unlink. A visit is the loop looking at clock, inbox,
 * timers and poller.
 *
 * THE PATH. A fiber that leaves the CPU switches straight to the next one
 * (xtc__loop_switch); the loop's own stack is entered only when nothing is
 * runnable or the budget of switches between two visits is used up. Whatever
 * runs next first does the post-switch action of the fiber that was left:
 * says PARKED, queues a yielder, gives back the stack of a dead one. So
 * nothing that lets another thread touch a fiber happens while its stack is
 * in use. (The other order was considered and refused: to queue a yielding
 * fiber and then switch needs no action, until another loop steals it.)
 *
 * FAIRNESS. next_up may overtake the queue NEXT_BURST times in a row, so a
 * ping-pong pair does not starve a third. The budget is 64 switches, and
 * adapts so that a visit comes every 100 microseconds if fibers run longer
 * than that: after a visit that came late it shrinks in proportion, after
 * one that came early it doubles.
 *
 * SLEEP. The inbox is one word: the newest node, and two tags. A loop that
 * finds nothing to do swaps the empty word for SLEEPING and enters the
 * poller; if the word was not empty it does not sleep. That is the last
 * look, and it cannot miss anything, since it is the same word. Whoever
 * pushes, or stops the loop, takes SLEEPING out in the same swap, and then
 * owes one wake of the poller. The loop counts what it is owed (a wake may
 * come after the loop woke up by itself), and is not freed before all has
 * come: after its swap a waker touches nothing of the loop but the poller
 * that it owes a wake to.
 *
 *	loop				waker
 *	swap: empty -> SLEEPING
 *					swap: SLEEPING -> node
 *	timer due: out of the poller
 *	SLEEPING is gone: owed + 1
 *	runs the fiber; it was the last
 *	fini: waits for what it is owed
 *					wakes the poller
 *	frees the loop
 *
 * COST. A switch between two runnable fibers: no atomic, no lock, no clock.
 * A wake from another thread: one swap, and one system call only if the loop
 * sleeps.
 *
 * PROBES. loop-sleep and loop-awake in loop_sleep.
 */
#include "core/loop.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "xtc_base.h"
#include "arch/ctx.h"
#include "arch/rmw.h"
#include "base/assert.h"
#include "base/attr.h"
#include "base/plant.h"
#include "core/dump.h"
#include "core/exec.h"
#include "core/loop_impl.h"
#include "core/overflow.h"
#include "core/thread.h"
#include "mem/mem.h"
#include "os/os.h"
#include "trace/trace.h"

#define BUDGET_MAX	64
#define BUDGET_NS	100000
#define NEXT_BURST	16
#define SPIN_NS		20000
#define SHORT_SLEEP_NS	50000

static _Thread_local struct xtc_loop *loop_tls;

XTC__NOINLINE struct xtc_loop *
xtc__loop_self(void)
{
	XTC__COMPILER_BARRIER();
	return loop_tls;
}

#ifdef XTC_SIM
XTC__NOINLINE void
xtc__loop_self_set(struct xtc_loop *loop)
{
	loop_tls = loop;
	XTC__COMPILER_BARRIER();
}
#endif

int64_t
xtc__loop_clock(struct xtc_loop *loop)
{
	if (XTC__UNLIKELY(loop->seams != NULL))
		return loop->seams->now(loop->seams);
	return xtc__os_mono();
}

static struct xtc_task *
loop_task_of(struct xtc__inode *n)
{
	return XTC__CONTAINER_OF(n, struct xtc_task, run);
}

static inline void
loop_queue_last(struct xtc_loop *loop, struct xtc_task *t)
{
	t->run.next = NULL;
	if (loop->q_tail == NULL)
		loop->q_head = &t->run;
	else
		loop->q_tail->next = &t->run;
	loop->q_tail = &t->run;
}

static inline struct xtc_task *
loop_queue_first(struct xtc_loop *loop)
{
	struct xtc__inode *n = loop->q_head;

	if (n == NULL)
		return NULL;
	loop->q_head = n->next;
	if (n->next == NULL)
		loop->q_tail = NULL;
	return loop_task_of(n);
}

static inline int
loop_has_work(struct xtc_loop *loop)
{
	return loop->next_up != NULL || loop->q_head != NULL ||
	    (loop->exec != NULL && xtc__exec_has_work(loop));
}

/* The chooser of a simulator: any runnable fiber. */
static XTC__COLD struct xtc_task *
loop_pick_any(struct xtc_loop *loop)
{
	struct xtc__inode *n;
	struct xtc_task *t;
	unsigned i, len = 0;

	if (loop->next_up != NULL) {
		loop_queue_last(loop, loop->next_up);
		loop->next_up = NULL;
	}
	for (n = loop->q_head; n != NULL; n = n->next)
		len++;
	if (len == 0)
		return NULL;
	for (i = loop->seams->choose(loop->seams, len); i > 0; i--) {
		t = loop_queue_first(loop);
		loop_queue_last(loop, t);
	}
	return loop_queue_first(loop);
}

/* The next of the loop's own; NULL: none. */
static inline struct xtc_task *
loop_pick_pinned(struct xtc_loop *loop)
{
	struct xtc_task *t = loop->next_up;

	if (XTC__UNLIKELY(loop->seams != NULL))
		return loop_pick_any(loop);
	if (t != NULL) {
		loop->next_up = NULL;
		if (loop->next_left-- > 0 || loop->q_head == NULL)
			return t;
		loop_queue_last(loop, t);
	}
	loop->next_left = NEXT_BURST;
	return loop_queue_first(loop);
}

/* In an executor: the pinned and those that may migrate, by turns. */
static XTC__NOINLINE struct xtc_task *
loop_pick_shared(struct xtc_loop *loop)
{
	struct xtc_task *t = NULL;

	if (loop->turn++ % 2 == 0)
		t = loop_pick_pinned(loop);
	if (t == NULL)
		t = xtc__exec_pop(loop);
	if (t == NULL)
		t = loop_pick_pinned(loop);
	if (t == NULL)
		return NULL;
	/* Relaxed: a counter with one writer. */
	atomic_store_explicit(&loop->runs, atomic_load_explicit(&loop->runs,
	    memory_order_relaxed) + 1, memory_order_relaxed);
	if (atomic_load_explicit(&t->park.loop, memory_order_relaxed) != loop)
		xtc__exec_move(t, loop, 1);
	xtc__exec_feed_rest(loop);
	return t;
}

/* The next fiber to run, out of the queue; NULL: none. */
static inline struct xtc_task *
loop_pick(struct xtc_loop *loop)
{
	if (XTC__UNLIKELY(loop->exec != NULL))
		return loop_pick_shared(loop);
	return loop_pick_pinned(loop);
}

/* A fiber of this loop goes behind all others. */
static inline void
loop_requeue(struct xtc_loop *loop, struct xtc_task *t)
{
	if (XTC__UNLIKELY(t->migratable))
		xtc__exec_push(loop, t);
	else
		loop_queue_last(loop, t);
}

void
xtc__loop_post_switch(struct xtc_loop *loop)
{
	struct xtc_task *t = loop->left;
	uint64_t word;

	loop->left = NULL;
	switch ((enum xtc__post)loop->post) {
	case XTC__POST_NONE:
		break;
	case XTC__POST_PARK:
		word = atomic_load_explicit(&t->park.word,
		    memory_order_relaxed);
		XTC_SIM_POINT();
		while ((word & XTC__PARK_STATE) == XTC__PARK_ARMED) {
			/* release: its registers and stack; acquire: the
			 * claimer's doings */
			if (xtc__rmw_cas(&t->park.word, &word, word ^
			    (XTC__PARK_ARMED ^ XTC__PARK_PARKED)))
				return;
		}
		if (XTC_PLANT(POST_CLAIMED_IGNORED))
			return;
		XTC_SIM_POINT();
		xtc__park_wake(&t->park, (unsigned)(word & XTC__PARK_CAUSE) >>
		    XTC__PARK_CAUSE_SHIFT, NULL, XTC__WAKE_LAST);
		break;
	case XTC__POST_YIELD:
		XTC_SIM_POINT();
		loop_requeue(loop, t);
		break;
	case XTC__POST_EXIT:
		XTC_SIM_POINT();
		xtc__loop_count(&loop->alive, -1);
		xtc__task_put(t);
		break;
	}
}

/* Then, and only then, each switch looks at the clock. */
static inline int
loop_has_yield_budget(struct xtc_loop *loop)
{
	/* Relaxed: a number on its own. */
	return atomic_load_explicit(&loop->budget_ns, memory_order_relaxed) !=
	    0;
}

/* A fiber leaves the CPU, and there is a budget: did it keep to it? */
static XTC_PROBE_SITE_ATTR void
loop_stalled(struct xtc_loop *loop, struct xtc_task *me)
{
	int64_t ran_ns, now = xtc__loop_clock(loop);

	ran_ns = now - loop->on_ns;
	loop->on_ns = now;
	(void)me;
	/* Relaxed: a number on its own. */
	if (ran_ns <= atomic_load_explicit(&loop->budget_ns,
	    memory_order_relaxed))
		return;
	XTC_LOOP_STALL(loop->index, me, ran_ns);
}
XTC_PROBE_SITE(loop_stalled)

struct xtc_loop *
xtc__loop_switch(struct xtc_loop *loop, struct xtc_task *me,
    enum xtc__post post)
{
	struct xtc_task *next = NULL;
	void *sp;

	XTC_DEBUG_ASSERT(loop->cur == me);
	if (--loop->budget > 0)
		next = loop_pick(loop);
	if (XTC__UNLIKELY(loop_has_yield_budget(loop)))
		loop_stalled(loop, me);
	loop->left = me;
	loop->post = (uint8_t)post;
	loop->cur = next;
	if (XTC_PLANT(YIELD_QUEUES_FIRST) && post == XTC__POST_YIELD) {
		loop_requeue(loop, me);
		loop->post = XTC__POST_NONE;
	}
	XTC_SIM_POINT();
	sp = next != NULL ? next->sp : loop->sp;
	xtc__san_leave(&me->san, next != NULL ? &next->san : &loop->san,
	    post == XTC__POST_EXIT);
	loop = xtc__ctx_switch(&me->sp, sp, loop);
	xtc__san_enter(&me->san);
	xtc__loop_post_switch(loop);
	return loop;
}

/* From the loop's own stack into a fiber; back when the loop is due. */
static void
loop_enter(struct xtc_loop *loop, struct xtc_task *t)
{
	if (loop_has_yield_budget(loop))
		loop->on_ns = loop->now_ns;
	loop->told = 0;
	loop->left = NULL;
	loop->post = XTC__POST_NONE;
	loop->cur = t;
	XTC_SIM_POINT();
	xtc__san_leave(&loop->san, &t->san, 0);
	(void)xtc__ctx_switch(&loop->sp, t->sp, loop);
	xtc__san_enter(&loop->san);
	XTC_DEBUG_ASSERT(loop->cur == NULL);
	xtc__loop_post_switch(loop);
}

void
xtc__loop_post(struct xtc_loop *loop, struct xtc__inode *n)
{
	uintptr_t next, old;

	/* Relaxed: a guess; the swap tells. */
	old = atomic_load_explicit(&loop->inbox, memory_order_relaxed);
	XTC_SIM_POINT();
	do {
		n->next = (struct xtc__inode *)(old &
		    ~(uintptr_t)XTC__INBOX_TAGS);
		next = (uintptr_t)n | (old & XTC__INBOX_STOP);
	} while (!atomic_compare_exchange_weak_explicit(&loop->inbox, &old,
	    next, memory_order_acq_rel, memory_order_relaxed));
	XTC_SIM_POINT();
	if ((old & XTC__INBOX_SLEEPING) != 0)
		xtc__poll_wake(loop->poller);
}

void
xtc__loop_kick(struct xtc_loop *loop)
{
	uintptr_t old = atomic_load_explicit(&loop->inbox,
	    memory_order_relaxed);

	XTC_SIM_POINT();
	do {
		if ((old & XTC__INBOX_SLEEPING) == 0)
			return;
	} while (!atomic_compare_exchange_weak_explicit(&loop->inbox, &old,
	    old & ~(uintptr_t)XTC__INBOX_SLEEPING, memory_order_acq_rel,
	    memory_order_relaxed));
	xtc__poll_wake(loop->poller);
}

/* The same for a fiber that may migrate: its waker's loop takes it. */
static XTC__NOINLINE void
loop_ready_migratable(struct xtc_task *t, struct xtc_loop *loop,
    struct xtc_loop *self, enum xtc__wake_how how)
{
	if (self == NULL || self->exec != loop->exec ||
	    how == XTC__WAKE_INBOX) {
		xtc__exec_inject(loop->exec, t);
		return;
	}
	if (self != loop)
		xtc__exec_move(t, self, 2);
	xtc__exec_push(self, t);
}

void
xtc__loop_ready(struct xtc_task *t, enum xtc__wake_how how)
{
	/* Relaxed: the claim has acquired it. */
	struct xtc_loop *loop = atomic_load_explicit(&t->park.loop,
	    memory_order_relaxed);
	struct xtc_loop *self = xtc__loop_self();

	if (XTC__UNLIKELY(t->migratable)) {
		loop_ready_migratable(t, loop, self, how);
		return;
	}
	if (how == XTC__WAKE_INBOX || loop != self) {
		xtc__loop_post(loop, &t->run);
		return;
	}
	if (how == XTC__WAKE_LAST || loop->cur == NULL) {
		loop_queue_last(loop, t);
		return;
	}
	if (loop->next_up != NULL)
		loop_queue_last(loop, loop->next_up);
	loop->next_up = t;
}

void
xtc__loop_yield(struct xtc_loop *loop, struct xtc_task *me)
{
	if (loop->budget > 1 && !loop_has_work(loop)) {
		loop->budget--;
		return;
	}
	(void)xtc__loop_switch(loop, me, XTC__POST_YIELD);
}

/* Everything in the inbox, oldest first. */
static void
loop_take_inbox(struct xtc_loop *loop)
{
	struct xtc__inode *n, *next, *oldest = NULL;
	uintptr_t word;

	/* Relaxed: if it is not seen now it is seen by the sleeping swap. */
	word = atomic_load_explicit(&loop->inbox, memory_order_relaxed);
	if ((word & ~(uintptr_t)XTC__INBOX_TAGS) == 0)
		return;
	XTC_SIM_POINT();
	word = atomic_fetch_and_explicit(&loop->inbox, XTC__INBOX_TAGS,
	    memory_order_acq_rel);
	n = (struct xtc__inode *)(word & ~(uintptr_t)XTC__INBOX_TAGS);
	for (; n != NULL; n = next) {
		next = n->next;
		n->next = oldest;
		oldest = n;
	}
	for (n = oldest; n != NULL; n = next) {
		next = n->next;
		if (n->run == NULL)
			loop_queue_last(loop, loop_task_of(n));
		else
			n->run(loop, n);
	}
}

/* How many switches make 100 microseconds. */
static void
loop_adapt_budget(struct xtc_loop *loop, int64_t elapsed_ns)
{
	int64_t full = loop->budget_full;

	if (elapsed_ns > BUDGET_NS)
		full = full * BUDGET_NS / elapsed_ns;
	else
		full *= 2;
	if (full < 1)
		full = 1;
	loop->budget_full = full > BUDGET_MAX ? BUDGET_MAX : (int)full;
}

static void
loop_ask_poller(struct xtc_loop *loop, int64_t timeout_ns, int *events)
{
	struct xtc__poll_event ev[64];
	uint64_t before = loop->poller->woken;

	*events = xtc__poll_wait(loop->poller, timeout_ns, ev, 64);
	loop->awoken += loop->poller->woken - before;
	loop->polled_ns = loop->now_ns;
}

/* Look outside: clock, inbox, timers, and the poller if it is time. */
static void
loop_visit(struct xtc_loop *loop)
{
	int64_t now = xtc__loop_clock(loop);
	int events;

	if (loop->budget <= 0)
		loop_adapt_budget(loop, now - loop->now_ns);
	loop->now_ns = now;
	/* in this order: timers that come in late are due in their order */
	loop_take_inbox(loop);
	xtc__timer_run(loop);
	if (now - loop->polled_ns >= BUDGET_NS &&
	    xtc__poll_has_fds(loop->poller))
		loop_ask_poller(loop, 0, &events);
	loop->budget = loop->budget_full;
}

/*
 * Worth it only where the last sleep was short and another thread ended it:
 * look at the inbox for a while before sleeping. 1: something came.
 */
static int
loop_spin(struct xtc_loop *loop)
{
	int64_t until;
	int i;

	if (!loop->spin || loop->cpus == 1 || loop->seams != NULL)
		return 0;
	until = xtc__os_mono() + SPIN_NS;
	do {
		for (i = 0; i < 32; i++) {
			/* Relaxed: only a look; taking it acquires. */
			if (atomic_load_explicit(&loop->inbox,
			    memory_order_relaxed) != 0)
				return 1;
			xtc__os_cpu_relax();
		}
		if (loop->exec != NULL && xtc__exec_search(loop))
			return 1;
	} while (xtc__os_mono() < until);
	return 0;
}

/* The poller has returned, and perhaps somebody woke it. */
static void
loop_after_sleep(struct xtc_loop *loop, int64_t slept_from_ns)
{
	int woken;

	XTC_SIM_POINT();
	woken = (atomic_fetch_and_explicit(&loop->inbox,
	    ~(uintptr_t)XTC__INBOX_SLEEPING, memory_order_acq_rel) &
	    XTC__INBOX_SLEEPING) == 0;

	if (woken)
		loop->owed++;
	loop->spin = woken && xtc__loop_clock(loop) - slept_from_ns <
	    SHORT_SLEEP_NS;
	if (loop->exec != NULL)
		xtc__exec_sleep_end(loop);
}

/* In the poller; here are both probes of a sleep. */
static XTC_PROBE_SITE_ATTR void
loop_sleep(struct xtc_loop *loop, int64_t timeout_ns)
{
	int events = 0;

	XTC_LOOP_SLEEP(loop->index, timeout_ns);
	loop_ask_poller(loop, timeout_ns, &events);
	XTC_LOOP_AWAKE(loop->index, events);
}
XTC_PROBE_SITE(loop_sleep)

/* Once, until something runs again. */
static void
loop_tell_deadlock(struct xtc_loop *loop)
{
	if (loop->told || !xtc__deadlock_wanted())
		return;
	loop->told = 1;
	xtc__deadlock_report(loop);
}

/* Nothing to run: wait for a timer, an event or a waker. */
static void
loop_idle(struct xtc_loop *loop)
{
	uintptr_t empty = 0;
	int64_t from_ns, next, timeout_ns = -1;
	int hopeful;

	if (loop->exec != NULL && xtc__exec_search(loop))
		return;
	if (loop_spin(loop))
		return;
	next = xtc__wheel_next(&loop->wheel);
	from_ns = xtc__loop_clock(loop);
	if (next != INT64_MAX)
		timeout_ns = next > from_ns ? next - from_ns : 0;
	hopeful = timeout_ns >= 0 || xtc__poll_has_fds(loop->poller);
	/* Relaxed: read by those who have seen SLEEPING. */
	atomic_store_explicit(&loop->hopeful, (uint8_t)hopeful,
	    memory_order_relaxed);
	XTC_SIM_POINT();
	if (XTC_PLANT(LAST_LOOK_FIRST) && atomic_load_explicit(&loop->inbox,
	    memory_order_acquire) != 0)
		return;
	XTC_SIM_POINT();
	if (!XTC_PLANT(NO_LAST_LOOK) && !XTC_PLANT(LAST_LOOK_FIRST)) {
		if (!atomic_compare_exchange_strong_explicit(&loop->inbox,
		    &empty, XTC__INBOX_SLEEPING, memory_order_seq_cst,
		    memory_order_relaxed))
			return;
	} else {
		atomic_fetch_or_explicit(&loop->inbox, XTC__INBOX_SLEEPING,
		    memory_order_seq_cst);
	}
	XTC_SIM_POINT();
	if (loop->exec == NULL || !xtc__exec_sleep_begin(loop, &timeout_ns)) {
		if (loop->exec == NULL && !hopeful)
			loop_tell_deadlock(loop);
		loop_sleep(loop, timeout_ns);
	}
	loop_after_sleep(loop, from_ns);
}

/* Fibers that are alive, those still on their way here too. */
static int64_t
loop_alive(struct xtc_loop *loop)
{
	/* acquire: whoever counted one up posts it, or has posted it */
	return atomic_load_explicit(&loop->alive, memory_order_relaxed) +
	    atomic_load_explicit(&loop->alive_in, memory_order_acquire);
}

static int
loop_is_done(struct xtc_loop *loop)
{
	if (loop->exec != NULL)
		return xtc__exec_is_done(loop);
	/* Relaxed: its own. */
	if (loop_alive(loop) != 0 || (!loop->finishing &&
	    atomic_load_explicit(&loop->user_timers, memory_order_relaxed) !=
	    0))
		return 0;
	XTC_SIM_POINT();
	return (atomic_load_explicit(&loop->inbox, memory_order_acquire) &
	    ~(uintptr_t)XTC__INBOX_TAGS) == 0;
}

/* Asked to stop? One that is being finished only forgets it was asked. */
static int
loop_is_stopped(struct xtc_loop *loop)
{
	if ((atomic_load_explicit(&loop->inbox, memory_order_acquire) &
	    XTC__INBOX_STOP) == 0)
		return 0;
	if (!loop->finishing)
		return 1;
	/* the bit would keep it from sleeping */
	(void)atomic_fetch_and_explicit(&loop->inbox,
	    ~(uintptr_t)XTC__INBOX_STOP, memory_order_acq_rel);
	return 0;
}

/* Run until done or stopped. */
static void
loop_turns(struct xtc_loop *loop)
{
	struct xtc_task *t;

	for (;;) {
		XTC_SIM_POINT();
		if (loop_is_stopped(loop))
			break;
		loop_visit(loop);
		t = loop_pick(loop);
		if (t != NULL)
			loop_enter(loop, t);
		else if (loop_is_done(loop))
			break;
		else if (!loop->finishing || !xtc__task_kill_all(loop))
			loop_idle(loop);
	}
}

/* The calling thread becomes the loop's, for a run or the end. */
static int
loop_occupy(struct xtc_loop *loop)
{
	uint32_t idle = 0;

	if (loop_tls != NULL || !atomic_compare_exchange_strong_explicit(
	    &loop->running, &idle, 1, memory_order_acquire,
	    memory_order_relaxed))
		return XTC_E_INVAL;
	loop_tls = loop;
	loop->cur = NULL;
	loop->slack_ns = xtc__os_timer_slack_set(1);
	xtc__mags_enter(&loop->mags);
	xtc__san_thread(&loop->san);
	xtc__overflow_enter(loop);
	return XTC_OK;
}

static void
loop_vacate(struct xtc_loop *loop)
{
	if (loop->slack_ns > 0)
		(void)xtc__os_timer_slack_set(loop->slack_ns);
	xtc__overflow_leave(loop);
	xtc__mags_leave();
	loop_tls = NULL;
	/* release: the next thread to run it sees it all */
	atomic_store_explicit(&loop->running, 0, memory_order_release);
}

/* Who is running, for the message of a failed assertion. */
static void
loop_context(char *buf, size_t bytes)
{
	struct xtc_loop *loop = xtc__loop_self();
	struct xtc_task *t = loop == NULL ? NULL : loop->cur;

	if (loop == NULL)
		(void)snprintf(buf, bytes, "in a plain thread");
	else if (t == NULL)
		(void)snprintf(buf, bytes, "on loop %d's own stack",
		    loop->index);
	else
		(void)snprintf(buf, bytes, "in fiber %p \"%s\", pid %llu, "
		    "on loop %d", (void *)t, t->name,
		    (unsigned long long)t->pid, loop->index);
}

int
xtc_loop_init(xtc_loop_t **out)
{
	struct xtc_loop *loop;
	int r;

	if (out == NULL)
		return XTC_E_INVAL;
	XTC_PROBE_ANCHOR();
	atomic_store_explicit(&xtc__assert_context, loop_context,
	    memory_order_release);
	loop = xtc_aligned_alloc(_Alignof(struct xtc_loop), sizeof(*loop));
	if (loop == NULL)
		return XTC_E_NOMEM;
	memset(loop, 0, sizeof(*loop));
	loop->sigstack = xtc__mem_raw_alloc(xtc__overflow_stack_bytes(),
	    XTC_ALLOC_HEAP);
	r = loop->sigstack == NULL ? XTC_E_NOMEM :
	    xtc__poll_create(NULL, &loop->poller);
	if (r != XTC_OK) {
		xtc__mem_raw_free(loop->sigstack);
		xtc_aligned_free(loop);
		return r;
	}
	loop->now_ns = xtc__loop_clock(loop);
	loop->polled_ns = loop->now_ns;
	loop->budget_full = BUDGET_MAX;
	loop->index = xtc__loop_index_get();
	xtc__mags_init(&loop->mags);
	xtc__wheel_init(&loop->wheel, loop->now_ns);
	xtc__qlock_init(&loop->over_lock);
	xtc__deque_init(&loop->ring, XTC__DEQUE_CAP);
	loop->cpus = xtc__os_cpus();
	*out = loop;
	return XTC_OK;
}

int
xtc__loop_run(struct xtc_loop *loop)
{
	if (loop_occupy(loop) != XTC_OK)
		return XTC_E_INVAL;
	loop_turns(loop);
	(void)atomic_fetch_and_explicit(&loop->inbox,
	    ~(uintptr_t)XTC__INBOX_STOP, memory_order_acq_rel);
	loop_vacate(loop);
	return XTC_OK;
}

int
xtc_loop_run(xtc_loop_t *loop)
{
	if (loop == NULL || loop->exec != NULL)
		return XTC_E_INVAL;
	return xtc__loop_run(loop);
}

void
xtc__loop_stop(struct xtc_loop *loop)
{
	uintptr_t old;

	if (xtc__loop_self() == loop)
		loop->budget = 0;
	/* Relaxed: a guess; the swap tells. */
	old = atomic_load_explicit(&loop->inbox, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(&loop->inbox, &old,
	    (old | XTC__INBOX_STOP) & ~(uintptr_t)XTC__INBOX_SLEEPING,
	    memory_order_acq_rel, memory_order_relaxed))
		;
	if ((old & XTC__INBOX_SLEEPING) != 0)
		xtc__poll_wake(loop->poller);
}

int
xtc_loop_stop(xtc_loop_t *loop)
{
	if (loop == NULL)
		return XTC_E_INVAL;
	if (loop->exec != NULL)
		return xtc_exec_stop(loop->exec);
	xtc__loop_stop(loop);
	return XTC_OK;
}

/* Wakes that were announced and have not come: see SLEEP above. */
static void
loop_await_owed(struct xtc_loop *loop)
{
	int events;

	while (loop->awoken != loop->owed)
		loop_ask_poller(loop, -1, &events);
}

int
xtc__loop_finish(struct xtc_loop *loop)
{
	if (loop_occupy(loop) != XTC_OK)
		return XTC_E_INVAL;
	loop->finishing = 1;
	loop_take_inbox(loop);
	(void)xtc__task_kill_all(loop);
	loop_turns(loop);
	loop_vacate(loop);
	return XTC_OK;
}

void
xtc__loop_free(struct xtc_loop *loop)
{
	int r = loop_occupy(loop);

	XTC_ASSERT(r == XTC_OK);
	loop_take_inbox(loop);
	xtc__timer_drop_all(loop);
	loop_await_owed(loop);
	xtc__task_cache_flush(&loop->tasks);
	xtc__mags_flush(&loop->mags);
	loop_vacate(loop);
	xtc__poll_destroy(loop->poller);
	xtc__loop_index_put(loop->index);
	xtc__mem_raw_free(loop->sigstack);
	xtc_aligned_free(loop);
}

int
xtc_loop_fini(xtc_loop_t *loop)
{
	if (loop == NULL)
		return XTC_OK;
	if (loop->exec != NULL || xtc__loop_finish(loop) != XTC_OK)
		return XTC_E_INVAL;
	xtc__loop_free(loop);
	return XTC_OK;
}

xtc_loop_t *
xtc_loop_self(void)
{
	return xtc__loop_self();
}
