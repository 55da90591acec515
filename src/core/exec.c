/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * exec.c: several loops as one: who runs a fiber that may run anywhere, and
 * when all may go home.
 *
 * THE NOUNS. Each loop has a ring of fibers that may migrate (deque.c), with
 * an overflow list behind it; the executor has one list, inject, for those
 * that come from outside all its loops. A sleeper is a loop in its poller,
 * with its bit in sleepers. The searcher is a loop that somebody has woken
 * to look for work; there is at most one. The watcher is a sleeper that
 * looks again after a while; at most one too.
 *
 * THE PROMISE. A fiber that may migrate does not wait while a loop sleeps,
 * but for the bounded time said below; an executor with nothing to do does
 * nothing at all.
 *
 * WHO WAKES WHOM. A fiber is queued on the loop of whoever made it runnable
 * (it has his data in its cache), and he looks whether somebody sleeps. The
 * losing interleaving:
 *
 *	loop 0				loop 1
 *					looks at all rings: empty
 *	queues a fiber
 *	looks for sleepers: none
 *					sleeps
 *
 * so each side writes first and looks after, with a fence between: the
 * sleeper sets its bit and then looks once more (xtc__exec_sleep_begin); who
 * queues, queues and then looks at the bits (exec_feed). He takes the bit of
 * one sleeper, which makes that one the searcher, and wakes it. While there
 * is a searcher nobody wakes another: he may find the work that two have
 * queued. So the searcher, when he has found something, wakes the next one
 * to search, whatever is left; and when he has not, he looks once more
 * before he sleeps, like everybody.
 *
 * A loop that queues on its own stack (timers, inbox) wakes nobody: it runs
 * the first one itself, and whenever a loop starts a fiber and leaves others
 * queued it looks for sleepers again. Waking at queueing alone strands a
 * fiber: the one that is woken may be the owner itself, who then runs
 * another fiber first (models/park.pml, BUSY and FEED).
 *
 * ONE FIBER. Two fibers that wake each other in turn always leave one queued
 * for a moment. A thief who took it would make each message a trip between
 * two CPUs. So a thief takes a single fiber only if the loop has not
 * switched since he last looked; until then he is the watcher: he sleeps for
 * 20 microseconds, then 40, up to 1 millisecond, and looks again. While
 * there is a watcher, queueing a single fiber wakes nobody. That is the
 * bounded time of the promise. The watcher becomes an ordinary sleeper when
 * all others sleep, or nothing moves any more.
 *
 * ALL QUIET. A loop about to sleep looks whether all sleep, none is on its
 * way to any, no fiber is alive and no timer set. One look at each is not
 * enough: the first may have been woken by the last, which has gone to sleep
 * since. So each loop counts its naps, and two rounds of looks must find the
 * same counts; then between the two rounds all slept at once, and what the
 * first round has counted is true of that time.
 *
 * INJECT takes fibers from other threads and from signal handlers: a list
 * that is taken whole, so it needs no care about reuse. Once it is there the
 * fiber may run, be the last, and all go home, while he who has brought it
 * still looks for a sleeper: he is counted, and nothing is freed before he
 * has left.
 *
 * PROBE: fiber-steal in xtc__exec_move: when a fiber is placed by its waker
 * on his loop, and when it is about to run on another loop than before.
 */
#include "core/exec.h"

#include <string.h>

#include "base/assert.h"
#include "base/attr.h"
#include "base/bits.h"
#include "base/plant.h"
#include "core/dump.h"
#include "core/loop_impl.h"
#include "core/task.h"
#include "mem/mem.h"
#include "trace/trace.h"

#define WATCH_MIN_NS	20000
#define WATCH_MAX_NS	1000000
#define WATCH_LOOKS	8
#define INJECT_LOOK_NS	20000

/* A fiber's loop changes; it is runnable, and the caller's alone. */
XTC_PROBE_SITE_ATTR void
xtc__exec_move(struct xtc_task *t, struct xtc_loop *to, int how)
{
	XTC_PROBE_ONLY(struct xtc_loop *from = atomic_load_explicit(
	    &t->park.loop, memory_order_relaxed);)

	(void)how;
	XTC_FIBER_STEAL(t, from->index, to->index, how);
	/* Relaxed: a counter with one writer; and the fiber's own field. */
	atomic_store_explicit(&to->steals, atomic_load_explicit(&to->steals,
	    memory_order_relaxed) + 1, memory_order_relaxed);
	atomic_store_explicit(&t->park.loop, to, memory_order_relaxed);
}
XTC_PROBE_SITE(xtc__exec_move)

int
xtc__exec_has_loop(const struct xtc_exec *exec, const struct xtc_loop *loop)
{
	int i;

	for (i = 0; i < exec->n; i++)
		if (exec->loops[i] == loop)
			return 1;
	return 0;
}

/* Take some sleeper's bit; its index, or -1. */
static int
exec_take_sleeper(struct xtc_exec *exec)
{
	uint64_t bit, word;
	int w;

	for (w = 0; w * 64 < exec->n; w++) {
		word = atomic_load_explicit(&exec->sleepers[w],
		    memory_order_relaxed);
		while (word != 0) {
			bit = word & (0 - word);
			word = atomic_fetch_and_explicit(&exec->sleepers[w],
			    ~bit, memory_order_acq_rel);
			if ((word & bit) != 0)
				return w * 64 + (int)xtc__bits_lowest(bit);
		}
	}
	return -1;
}

static int
exec_has_sleepers(struct xtc_exec *exec)
{
	int w;

	for (w = 0; w * 64 < exec->n; w++)
		if (atomic_load_explicit(&exec->sleepers[w],
		    memory_order_relaxed) != 0)
			return 1;
	return 0;
}

/*
 * Something was queued that another loop may run: wake one that sleeps.
 * single: it is only one fiber, and a watcher will do.
 */
static void
exec_feed(struct xtc_exec *exec, int single)
{
	int i, none = 0;

	if (XTC_PLANT(NO_FEED))
		return;
	/* pairs with the fence in xtc__exec_sleep_begin */
	atomic_thread_fence(memory_order_seq_cst);
	XTC_SIM_POINT();
	if (!exec_has_sleepers(exec) || (single && atomic_load_explicit(
	    &exec->watching, memory_order_relaxed) != 0))
		return;
	if (!atomic_compare_exchange_strong_explicit(&exec->searching, &none,
	    1, memory_order_seq_cst, memory_order_relaxed))
		return;
	XTC_SIM_POINT();
	i = exec_take_sleeper(exec);
	XTC_SIM_POINT();
	if (i < 0) {
		atomic_store_explicit(&exec->searching, 0,
		    memory_order_seq_cst);
		return;
	}
	xtc__loop_kick(exec->loops[i]);
}

/* Behind the ring, when that is full. */
static void
exec_overflow(struct xtc_loop *loop, struct xtc_task *t)
{
	t->run.next = NULL;
	xtc__qlock_lock(&loop->over_lock);
	if (loop->over_head == NULL)
		loop->over_head = &t->run;
	else
		loop->over_tail->next = &t->run;
	loop->over_tail = &t->run;
	/* Relaxed: under the lock; others only guess by it. */
	atomic_fetch_add_explicit(&loop->over_n, 1, memory_order_relaxed);
	xtc__qlock_unlock(&loop->over_lock);
}

/* Fill the ring of `to` from the overflow of `from`: how many. */
static unsigned
exec_take_overflow(struct xtc_loop *from, struct xtc_loop *to)
{
	struct xtc__inode *n;
	unsigned got = 0;

	/* Relaxed: a guess; missed, it is found by the look before sleep. */
	if (atomic_load_explicit(&from->over_n, memory_order_relaxed) == 0)
		return 0;
	xtc__qlock_lock(&from->over_lock);
	while ((n = from->over_head) != NULL && got < to->ring.cap / 2) {
		struct xtc__inode *next = n->next;

		if (!xtc__deque_push(&to->ring, XTC__CONTAINER_OF(n,
		    struct xtc_task, run)))
			break;
		from->over_head = next;
		atomic_fetch_sub_explicit(&from->over_n, 1,
		    memory_order_relaxed);
		got++;
	}
	xtc__qlock_unlock(&from->over_lock);
	return got;
}

/* Queue without waking anybody. */
static void
exec_enqueue(struct xtc_loop *loop, struct xtc_task *t)
{
	/* the overflow is older than the ring is long: first come first */
	if (atomic_load_explicit(&loop->over_n, memory_order_relaxed) != 0 ||
	    !xtc__deque_push(&loop->ring, t))
		exec_overflow(loop, t);
}

void
xtc__exec_push(struct xtc_loop *loop, struct xtc_task *t)
{
	exec_enqueue(loop, t);
	if (loop->cur != NULL)
		exec_feed(loop->exec, xtc__deque_len(&loop->ring) <= 1);
}

void
xtc__exec_inject(struct xtc_exec *exec, struct xtc_task *t)
{
	uintptr_t old = atomic_load_explicit(&exec->inject,
	    memory_order_relaxed);

	XTC_SIM_POINT();
	/* Relaxed: the push below publishes it to whoever runs the fiber. */
	atomic_fetch_add_explicit(&exec->injecting, 1, memory_order_relaxed);
	do {
		t->run.next = (struct xtc__inode *)old;
	} while (!atomic_compare_exchange_weak_explicit(&exec->inject, &old,
	    (uintptr_t)&t->run, memory_order_acq_rel, memory_order_relaxed));
	exec_feed(exec, 0);
	XTC_SIM_POINT();
	/* release: what was done here is done before it is freed */
	atomic_fetch_sub_explicit(&exec->injecting, 1, memory_order_release);
}

/*
 * Wait for those threads. They do not tell (a signal handler could not
 * everywhere), but they are about to leave.
 */
static void
exec_await_injecting(struct xtc_exec *exec)
{
	uint32_t n;

	while ((n = atomic_load_explicit(&exec->injecting,
	    memory_order_acquire)) != 0)
		(void)xtc__os_futex_wait(&exec->injecting, n,
		    xtc__os_mono() + INJECT_LOOK_NS);
}

/* What came from outside, oldest first, into the loop's ring: how many. */
static unsigned
exec_take_injected(struct xtc_loop *loop)
{
	struct xtc__inode *n, *next, *oldest = NULL;
	unsigned got = 0;

	if (atomic_load_explicit(&loop->exec->inject,
	    memory_order_relaxed) == 0)
		return 0;
	XTC_SIM_POINT();
	n = (struct xtc__inode *)atomic_exchange_explicit(
	    &loop->exec->inject, 0, memory_order_acq_rel);
	for (; n != NULL; n = next) {
		next = n->next;
		n->next = oldest;
		oldest = n;
	}
	for (n = oldest; n != NULL; n = next) {
		next = n->next;
		exec_enqueue(loop, XTC__CONTAINER_OF(n, struct xtc_task,
		    run));
		got++;
	}
	return got;
}

struct xtc_task *
xtc__exec_pop(struct xtc_loop *loop)
{
	struct xtc_task *t;

	(void)exec_take_injected(loop);
	t = xtc__deque_pop(&loop->ring);
	if (t == NULL && exec_take_overflow(loop, loop) != 0)
		t = xtc__deque_pop(&loop->ring);
	return t;
}

int
xtc__exec_has_work(struct xtc_loop *loop)
{
	return xtc__deque_len(&loop->ring) != 0 ||
	    atomic_load_explicit(&loop->over_n, memory_order_relaxed) != 0 ||
	    atomic_load_explicit(&loop->exec->inject,
	    memory_order_relaxed) != 0;
}

void
xtc__exec_feed_rest(struct xtc_loop *loop)
{
	unsigned n = xtc__deque_len(&loop->ring) +
	    (atomic_load_explicit(&loop->over_n, memory_order_relaxed) != 0);

	if (n != 0)
		exec_feed(loop->exec, n <= 1);
}

static uint32_t
exec_runs(struct xtc_loop *loop)
{
	return (uint32_t)atomic_load_explicit(&loop->runs,
	    memory_order_relaxed);
}

/* Look at one other loop, and take from it: how many. */
static unsigned
exec_rob(struct xtc_loop *loop, struct xtc_loop *victim)
{
	unsigned len = xtc__deque_len(&victim->ring), got;
	uint32_t runs = exec_runs(victim);
	uint32_t *seen = &loop->seen[victim->exec_i];

	XTC_SIM_POINT();
	got = exec_take_overflow(victim, loop);
	if (got != 0)
		return got;
	if (len == 1 && *seen != runs) {
		*seen = runs;
		loop->saw_one = 1;
		return 0;
	}
	if (len == 0)
		return 0;
	return xtc__deque_steal(&victim->ring, &loop->ring);
}

int
xtc__exec_search(struct xtc_loop *loop)
{
	struct xtc_exec *exec = loop->exec;
	int i, k;

	loop->saw_one = 0;
	if (xtc__exec_has_work(loop))
		return 1;
	for (k = 1; k < exec->n; k++) {
		i = loop->exec_i + k;
		if (i >= exec->n)
			i -= exec->n;
		if (exec_rob(loop, exec->loops[i]) != 0)
			return 1;
	}
	return 0;
}

/* Before sleep: is there anything that would not be found by waiting? */
static int
exec_last_look(struct xtc_loop *loop, int *one)
{
	struct xtc_exec *exec = loop->exec;
	unsigned len;
	int i;

	*one = 0;
	if (xtc__exec_has_work(loop))
		return 1;
	for (i = 0; i < exec->n; i++) {
		if (i == loop->exec_i)
			continue;
		len = xtc__deque_len(&exec->loops[i]->ring);
		if (len > 1 || atomic_load_explicit(&exec->loops[i]->over_n,
		    memory_order_relaxed) != 0)
			return 1;
		*one |= len == 1;
	}
	return 0;
}

/* One round of looks: all asleep, nothing on its way; -1: not so. */
static int64_t
exec_collect(struct xtc_loop *me, int first, int *hopeful)
{
	struct xtc_exec *exec = me->exec;
	struct xtc_loop *l;
	int64_t alive = 0;
	uint64_t naps;
	int i;

	if (atomic_load_explicit(&exec->inject, memory_order_seq_cst) != 0)
		return -1;
	for (i = 0; i < exec->n; i++) {
		l = exec->loops[i];
		if (atomic_load_explicit(&l->inbox, memory_order_seq_cst) !=
		    XTC__INBOX_SLEEPING)
			return -1;
		naps = atomic_load_explicit(&l->naps, memory_order_acquire);
		if (first)
			me->collected[i] = naps;
		else if (me->collected[i] != naps)
			return -1;
		XTC_SIM_POINT();
		*hopeful |= atomic_load_explicit(&l->hopeful,
		    memory_order_relaxed);
		alive += atomic_load_explicit(&l->alive,
		    memory_order_relaxed) + atomic_load_explicit(
		    &l->alive_in, memory_order_acquire);
		if (!me->finishing)
			alive += atomic_load_explicit(&l->user_timers,
			    memory_order_relaxed);
	}
	return alive;
}

/* All quiet? Then everybody is sent home. */
static int
exec_is_quiet(struct xtc_loop *me)
{
	struct xtc_exec *exec = me->exec;
	int64_t alive, again;
	int i, hopeful = 0;

	alive = exec_collect(me, 1, &hopeful);
	if (alive < 0)
		return 0;
	XTC_SIM_POINT();
	/* a loop may wake as soon as it was looked at again, so the second
	 * sum is of many times; the first is that of the time between */
	again = exec_collect(me, 0, &hopeful);
	if (again < 0 && !XTC_PLANT(MISSED_QUIESCENCE))
		return 0;
	if (XTC_PLANT(SECOND_SUM))
		alive = again;
	if (alive > 0 && !hopeful && !me->told && xtc__deadlock_wanted()) {
		me->told = 1;
		xtc__deadlock_report(me);
	}
	if (alive != 0)
		return 0;
	atomic_store_explicit(&exec->done, 1, memory_order_seq_cst);
	for (i = 0; i < exec->n; i++)
		if (i != me->exec_i)
			xtc__loop_kick(exec->loops[i]);
	return 1;
}

/* Somebody has one fiber waiting; or had, and moves: keep an eye on it. */
static void
exec_watch(struct xtc_loop *loop, int one, int64_t *timeout_ns)
{
	struct xtc_exec *exec = loop->exec;
	int none = 0;

	if (one)
		loop->looks = WATCH_LOOKS;
	if (loop->looks == 0 || loop->finishing) {
		loop->watch_ns = WATCH_MIN_NS;
		return;
	}
	loop->looks--;
	XTC_SIM_POINT();
	if (!atomic_compare_exchange_strong_explicit(&exec->watching, &none,
	    1, memory_order_seq_cst, memory_order_relaxed))
		return;
	loop->is_watcher = 1;
	if (*timeout_ns < 0 || *timeout_ns > loop->watch_ns)
		*timeout_ns = loop->watch_ns;
	loop->watch_ns *= 2;
	if (loop->watch_ns > WATCH_MAX_NS)
		loop->watch_ns = WATCH_MAX_NS;
}

/*
 * release: whoever sees it asleep again sees that it was awake; so it is
 * counted before it can say SLEEPING again, not after
 */
static void
exec_count_nap(struct xtc_loop *loop)
{
	atomic_store_explicit(&loop->naps, atomic_load_explicit(&loop->naps,
	    memory_order_relaxed) + 1, memory_order_release);
}

int
xtc__exec_sleep_begin(struct xtc_loop *loop, int64_t *timeout_ns)
{
	struct xtc_exec *exec = loop->exec;
	int one;

	if (XTC_PLANT(NAP_TOO_LATE))
		exec_count_nap(loop);
	atomic_fetch_or_explicit(&exec->sleepers[loop->exec_i / 64],
	    UINT64_C(1) << loop->exec_i % 64, memory_order_seq_cst);
	/* pairs with the fence in exec_feed */
	atomic_thread_fence(memory_order_seq_cst);
	XTC_SIM_POINT();
	if (atomic_load_explicit(&exec->done, memory_order_seq_cst) != 0)
		return 1;
	if (exec_last_look(loop, &one) && !XTC_PLANT(NO_LAST_LOOK))
		return 1;
	if (exec_is_quiet(loop))
		return 1;
	exec_watch(loop, one, timeout_ns);
	return 0;
}

void
xtc__exec_sleep_end(struct xtc_loop *loop)
{
	struct xtc_exec *exec = loop->exec;
	uint64_t bit = UINT64_C(1) << loop->exec_i % 64;
	int found, searcher;

	if (!XTC_PLANT(NAP_TOO_LATE))
		exec_count_nap(loop);
	searcher = (atomic_fetch_and_explicit(
	    &exec->sleepers[loop->exec_i / 64], ~bit,
	    memory_order_acq_rel) & bit) == 0;
	if (!searcher && !loop->is_watcher)
		return;
	XTC_SIM_POINT();
	found = xtc__exec_search(loop);
	XTC_SIM_POINT();
	if (loop->is_watcher) {
		loop->is_watcher = 0;
		atomic_store_explicit(&exec->watching, 0,
		    memory_order_seq_cst);
	}
	XTC_SIM_POINT();
	if (searcher)
		atomic_store_explicit(&exec->searching, 0,
		    memory_order_seq_cst);
	if (found) {
		loop->watch_ns = WATCH_MIN_NS;
		exec_feed(exec, 0);
	}
}

int
xtc__exec_is_done(struct xtc_loop *loop)
{
	return atomic_load_explicit(&loop->exec->done,
	    memory_order_acquire) != 0;
}

/* Undo a half-made executor. */
static void
exec_free(struct xtc_exec *exec)
{
	int i;

	for (i = 0; exec->loops != NULL && i < exec->n; i++) {
		if (exec->loops[i] == NULL)
			continue;
		xtc__mem_raw_free(exec->loops[i]->seen);
		xtc__mem_raw_free(exec->loops[i]->collected);
		xtc__loop_free(exec->loops[i]);
	}
	xtc__mem_raw_free(exec->loops);
	xtc__mem_raw_free(exec->threads);
	xtc_aligned_free(exec);
}

/* The i-th loop and what it needs beyond a loop on its own. */
static int
exec_add_loop(struct xtc_exec *exec, int i)
{
	struct xtc_loop *l;
	int r;

	r = xtc_loop_init(&exec->loops[i]);
	if (r != XTC_OK) {
		exec->loops[i] = NULL;
		return r;
	}
	l = exec->loops[i];
	l->exec_i = i;
	l->watch_ns = WATCH_MIN_NS;
	l->seen = xtc__mem_raw_zalloc(sizeof(*l->seen) * (size_t)exec->n,
	    XTC_ALLOC_HEAP);
	l->collected = xtc__mem_raw_zalloc(sizeof(*l->collected) *
	    (size_t)exec->n, XTC_ALLOC_HEAP);
	l->exec = exec;
	return l->seen == NULL || l->collected == NULL ? XTC_E_NOMEM : XTC_OK;
}

int
xtc_exec_init(xtc_exec_t **out, int n_loops)
{
	struct xtc_exec *exec;
	int i, r = XTC_E_NOMEM;

	if (out == NULL)
		return XTC_E_INVAL;
	if (n_loops <= 0)
		n_loops = xtc__os_cpus();
	if (n_loops > XTC__EXEC_MAX)
		return XTC_E_RANGE;
	exec = xtc_aligned_alloc(_Alignof(struct xtc_exec), sizeof(*exec));
	if (exec == NULL)
		return XTC_E_NOMEM;
	memset(exec, 0, sizeof(*exec));
	exec->n = n_loops;
	exec->loops = xtc__mem_raw_zalloc(sizeof(*exec->loops) *
	    (size_t)n_loops, XTC_ALLOC_HEAP);
	exec->threads = xtc__mem_raw_zalloc(sizeof(*exec->threads) *
	    (size_t)n_loops, XTC_ALLOC_HEAP);
	if (exec->loops != NULL && exec->threads != NULL)
		for (i = 0, r = XTC_OK; r == XTC_OK && i < n_loops; i++)
			r = exec_add_loop(exec, i);
	if (r != XTC_OK) {
		exec_free(exec);
		return r;
	}
	*out = exec;
	return XTC_OK;
}

/* The threads of one run wait here until all of them exist. */
struct exec_start {
	struct xtc_exec *exec;
	int (*run)(struct xtc_loop *);
	_Atomic uint32_t gate;		/* 0 wait, 1 go, 2 go home */
	_Atomic int next;
};

static void *
exec_thread(void *arg)
{
	struct exec_start *s = arg;
	int i;

	while (atomic_load_explicit(&s->gate, memory_order_acquire) == 0)
		(void)xtc__os_futex_wait(&s->gate, 0, INT64_MAX);
	if (atomic_load_explicit(&s->gate, memory_order_acquire) != 1)
		return NULL;
	i = atomic_fetch_add_explicit(&s->next, 1, memory_order_relaxed);
	xtc__os_thread_name("xtc-loop");
	(void)s->run(s->exec->loops[i]);
	return NULL;
}

/* run() for all loops, each on its thread. */
static int
exec_run_all(struct xtc_exec *exec, int (*run)(struct xtc_loop *))
{
	struct exec_start s = { .exec = exec, .run = run };
	int i, n, idle = 0, r = XTC_OK;

	if (xtc__loop_self() != NULL)
		return XTC_E_INVAL;
	if (!atomic_compare_exchange_strong_explicit(&exec->running, &idle,
	    1, memory_order_acquire, memory_order_relaxed))
		return XTC_E_INVAL;
	atomic_store_explicit(&exec->done, 0, memory_order_relaxed);
	atomic_store_explicit(&s.next, 1, memory_order_relaxed);
	for (n = 1; n < exec->n; n++) {
		if (xtc__os_thread_create(&exec->threads[n], exec_thread, &s,
		    0) != 0) {
			r = XTC_E_RESOURCE;
			break;
		}
	}
	atomic_store_explicit(&s.gate, r == XTC_OK ? 1 : 2,
	    memory_order_release);
	xtc__os_futex_wake(&s.gate, XTC__EXEC_MAX);
	if (r == XTC_OK)
		(void)run(exec->loops[0]);
	for (i = 1; i < n; i++)
		(void)xtc__os_thread_join(&exec->threads[i]);
	atomic_store_explicit(&exec->running, 0, memory_order_release);
	return r;
}

int
xtc_exec_run(xtc_exec_t *exec)
{
	if (exec == NULL)
		return XTC_E_INVAL;
	return exec_run_all(exec, xtc__loop_run);
}

int
xtc_exec_stop(xtc_exec_t *exec)
{
	int i;

	if (exec == NULL)
		return XTC_E_INVAL;
	for (i = 0; i < exec->n; i++)
		xtc__loop_stop(exec->loops[i]);
	return XTC_OK;
}

int
xtc_exec_fini(xtc_exec_t *exec)
{
	int i, r;

	if (exec == NULL)
		return XTC_OK;
	if (xtc__loop_self() != NULL || atomic_load_explicit(&exec->running,
	    memory_order_acquire) != 0)
		return XTC_E_INVAL;
	for (i = 0; i < exec->n; i++)
		exec->loops[i]->finishing = 1;
	r = exec_run_all(exec, xtc__loop_finish);
	if (r != XTC_OK) {
		for (i = 0; i < exec->n; i++)
			exec->loops[i]->finishing = 0;
		return r;
	}
	if (!XTC_PLANT(FREED_UNDER_WAKER))
		exec_await_injecting(exec);
	exec_free(exec);
	return XTC_OK;
}

int
xtc_exec_n_loops(xtc_exec_t *exec)
{
	return exec == NULL ? XTC_E_INVAL : exec->n;
}

xtc_loop_t *
xtc_exec_loop(xtc_exec_t *exec, int i)
{
	return exec == NULL || i < 0 || i >= exec->n ? NULL : exec->loops[i];
}

/* A fiber on this loop, pinned or not. */
static int
exec_async(struct xtc_loop *loop, intptr_t (*fn)(void *), void *arg,
    int migratable, xtc_task_t **out)
{
	struct xtc__task_args args = {
		.async_fn = fn, .arg = arg, .joinable = out != NULL,
		.migratable = migratable
	};
	struct xtc_task *t;
	int r;

	if (fn == NULL)
		return XTC_E_INVAL;
	r = xtc__task_new(loop, &args, &t);
	if (r != XTC_OK)
		return r;
	if (out != NULL)
		*out = t;
	xtc__task_start(t);
	return XTC_OK;
}

int
xtc_exec_async(xtc_exec_t *exec, intptr_t (*fn)(void *), void *arg,
    xtc_task_t **out)
{
	struct xtc_loop *loop = xtc__loop_self();

	if (exec == NULL)
		return XTC_E_INVAL;
	if (loop == NULL || loop->exec != exec)
		/* Relaxed: any will do. */
		loop = exec->loops[atomic_fetch_add_explicit(&exec->next, 1,
		    memory_order_relaxed) % (unsigned)exec->n];
	return exec_async(loop, fn, arg, 1, out);
}

int
xtc_exec_async_on(xtc_exec_t *exec, int i, intptr_t (*fn)(void *),
    void *arg, xtc_task_t **out)
{
	struct xtc_loop *loop = xtc_exec_loop(exec, i);

	return loop == NULL ? XTC_E_INVAL : exec_async(loop, fn, arg, 0, out);
}

int
xtc_exec_loop_id(void)
{
	struct xtc_loop *loop = xtc__loop_self();

	return loop == NULL || loop->exec == NULL ? -1 : loop->exec_i;
}

int
xtc_shard_id(void)
{
	return xtc_exec_loop_id();
}

int
xtc_shard_count(void)
{
	struct xtc_loop *loop = xtc__loop_self();

	return loop == NULL || loop->exec == NULL ? 0 : loop->exec->n;
}

int
xtc_exec_loop_stats(xtc_exec_t *exec, int i, xtc_loop_stats_t *out)
{
	struct xtc_loop *loop = xtc_exec_loop(exec, i);

	if (loop == NULL || out == NULL)
		return XTC_E_INVAL;
	/* Relaxed: statistics. */
	out->tasks_run = atomic_load_explicit(&loop->runs,
	    memory_order_relaxed);
	out->steals = atomic_load_explicit(&loop->steals,
	    memory_order_relaxed);
	out->sleeps = atomic_load_explicit(&loop->naps,
	    memory_order_relaxed);
	return XTC_OK;
}
