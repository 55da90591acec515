/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * The small story: two loops, of an executor or each on its own, with a
 * little of everything. A receiver gets a known number of messages, with and
 * without timeouts and by choice of sender. A worker and a thread send them.
 * A victim receives, locks, sleeps and waits until the thread kills it, or it
 * leaves by itself; then the worker starts a child in its place. A waiter
 * waits for wakers that the thread wakes.
 *
 * In the end every message that a send accepted was received in its sender's
 * order, or went with its receiver; nothing reached a process that it was not
 * for; who was not killed has not died; the lock was held by one at a time.
 */
#include "sim_stories.h"

#include <string.h>

#include "sim_lock.h"

enum {
	NOBODY,
	RECEIVER,
	WORKER,
	VICTIM,
	CHILD,
	WAITER,
	THREAD,
	GUEST,
	N_WHO
};

struct message {
	uint64_t to;
	unsigned from;
	unsigned seq;
};

static struct {
	xtc_exec_t *exec;
	xtc_loop_t *loop[2];
	struct sim_lock lock;
	xtc_pid_t pid[N_WHO];
	unsigned to_come[N_WHO];	/* at the receiver */
	unsigned next_seq[N_WHO];	/* ... of each sender */
	unsigned sent[N_WHO];
	unsigned total;
	int cap;			/* the receiver's mailbox may be full */
	int over[N_WHO];
	xtc_waker_t waker;
	unsigned woken, waiting;	/* rounds of the waiter */
	xtc_timer_t *timer;
	int timer_set, timer_ran, timer_off;
} w;

static void
over(void *arg)
{
	w.over[(uintptr_t)arg] = 1;
	w.lock.dead |= 1u << (uintptr_t)arg;
}

/* One try; the library's answer. */
static int
tell(unsigned me, unsigned to)
{
	struct message m = { w.pid[to].id, me, w.sent[me] };
	int r = xtc_send(w.pid[to], &m, sizeof(m));

	xtc__sim_note("send", me << 8 | to, (uint64_t)(unsigned)-r);
	XTC_SIM_CHECK(r != XTC_E_AGAIN || to != RECEIVER || w.cap,
	    "a mailbox of 4096 is full");
	if (r == XTC_OK)
		w.sent[me]++;
	return r;
}

/* To the receiver, who is there until he has it. */
static void
tell_receiver(unsigned me)
{
	int r;

	while ((r = tell(me, RECEIVER)) != XTC_OK) {
		XTC_SIM_CHECK(r == XTC_E_AGAIN && w.cap, "%u cannot send to "
		    "the receiver: %s", me, xtc_strerror(r));
		if (me == THREAD)
			(void)xtc_waker_wait(1 + xtc__sim_choose(500));
		else
			(void)xtc_proc_sleep(xtc__sim_choose(500));
	}
}

static void
use_lock(unsigned me, int64_t timeout_ns)
{
	if (!sim_lock_lock(&w.lock, me, timeout_ns))
		return;
	if (me == THREAD || me == WAITER)
		XTC_SIM_POINT();
	else
		sim_dawdle();
	sim_lock_unlock(&w.lock, me);
}

static int
is_from(const void *data, size_t bytes, void *user)
{
	const struct message *m = data;

	XTC_SIM_CHECK(bytes == sizeof(*m), "%zu bytes", bytes);
	return m->from == *(const unsigned *)user;
}

/* A message was received; from whom. */
static unsigned
took(unsigned me, void *data, size_t bytes)
{
	struct message m;

	XTC_SIM_CHECK(bytes == sizeof(m), "%zu bytes", bytes);
	memcpy(&m, data, sizeof(m));
	xtc_free(data);
	XTC_SIM_CHECK(m.to == xtc_self().id, "%u has mail of another", me);
	XTC_SIM_CHECK(m.from < N_WHO, "a message from %u", m.from);
	xtc__sim_note("recv", me << 8 | m.from, m.seq);
	return m.seq << 8 | m.from;
}

static int
receive(unsigned me, unsigned from, int64_t timeout_ns, unsigned *who)
{
	size_t bytes = 0;
	void *data = NULL;
	int r;

	if (from == NOBODY)
		r = xtc_recv(&data, &bytes, timeout_ns);
	else
		r = xtc_recv_match(is_from, &from, &data, &bytes, timeout_ns);
	XTC_SIM_CHECK(r == XTC_OK || (r == XTC_E_AGAIN && timeout_ns >= 0),
	    "%u receives: %s", me, xtc_strerror(r));
	if (r != XTC_OK)
		return 0;
	*who = took(me, data, bytes);
	XTC_SIM_CHECK(from == NOBODY || from == (*who & 255),
	    "a match took another");
	return 1;
}

static void
receiver(void *arg)
{
	unsigned from, seq, who, have = 0;
	int64_t timeout_ns;

	(void)xtc_proc_at_exit(over, arg);
	while (have < w.total) {
		timeout_ns = sim_some_timeout();
		from = xtc__sim_chance(2) ? NOBODY : xtc__sim_choose(N_WHO);
		/* what is full of others' has no room for the one wanted */
		if (timeout_ns < 0 && (w.to_come[from] == 0 || w.cap))
			from = NOBODY;
		if (!receive(RECEIVER, from, timeout_ns, &who)) {
			if (xtc__sim_chance(4))
				use_lock(RECEIVER, sim_some_timeout());
			continue;
		}
		from = who & 255;
		seq = who >> 8;
		if (from == VICTIM) {
			XTC_SIM_CHECK(seq >= w.next_seq[from], "out of order");
			w.next_seq[from] = seq + 1;
			continue;
		}
		XTC_SIM_CHECK(seq >= w.next_seq[from] && w.to_come[from] > 0,
		    "message %u of %u, not %u", seq, from, w.next_seq[from]);
		w.next_seq[from] = seq + 1;
		w.to_come[from]--;
		have++;
	}
	while (receive(RECEIVER, NOBODY, 0, &who))
		XTC_SIM_CHECK((who & 255) == VICTIM, "one too many, of %u",
		    who & 255);
}

static void
victim_ends(void *arg)
{
	if (xtc__sim_chance(4))
		sim_dawdle();
	if (xtc__sim_chance(4) && w.lock.inside != VICTIM &&
	    sim_lock_lock(&w.lock, VICTIM, sim_some_timeout()) &&
	    xtc__sim_chance(2))
		sim_lock_unlock(&w.lock, VICTIM);
	over(arg);
}

static void
victim(void *arg)
{
	unsigned who;

	(void)xtc_proc_at_exit(victim_ends, arg);
	for (;;) {
		switch (xtc__sim_choose(8)) {
		case 0:
		case 1:
			(void)receive(VICTIM, NOBODY, sim_some_timeout(),
			    &who);
			break;
		case 2:
		case 3:
			use_lock(VICTIM, sim_some_timeout());
			break;
		case 4:
			(void)xtc_proc_critical_enter();
			sim_dawdle();
			(void)xtc_proc_critical_leave();
			break;
		case 5:
			if (!w.cap)
				(void)tell(VICTIM, RECEIVER);
			break;
		case 6:
			(void)xtc_waker_wait(sim_some_timeout());
			break;
		default:
			if (xtc__sim_chance(8))
				(void)xtc_exit_self(5);
			sim_dawdle();
			break;
		}
	}
}

static void
child(void *arg)
{
	unsigned who;

	(void)arg;
	if (xtc__sim_chance(2))
		(void)receive(CHILD, NOBODY, xtc__sim_choose(1000), &who);
	tell_receiver(CHILD);
	(void)receive(CHILD, NOBODY, xtc__sim_choose(1000), &who);
	w.over[CHILD] = 1;
}

static void
timer(void *arg)
{
	(void)arg;
	w.timer_ran = 1;
	xtc__sim_note("ran", 0, 0);
}

static intptr_t
double_it(void *arg)
{
	sim_dawdle();
	return 2 * (intptr_t)arg;
}

static void
worker_await(void)
{
	intptr_t result = 0;
	xtc_task_t *t;
	int r;

	if (w.exec != NULL && xtc__sim_chance(2))
		r = xtc_exec_async(w.exec, double_it, (void *)21, &t);
	else
		r = xtc_async(xtc_loop_self(), double_it, (void *)21, &t);
	XTC_SIM_CHECK(r == XTC_OK, "async");
	sim_dawdle();
	r = xtc_await(t, &result);
	XTC_SIM_CHECK(r == XTC_OK && result == 42, "await: %s, %d",
	    xtc_strerror(r), (int)result);
}

/* A child where the victim was: in the same struct, with luck. */
static void
worker_succeeds(void)
{
	xtc_proc_opts_t o = XTC_PROC_OPTS_DEFAULT;
	xtc_mailbox_stats_t st;

	while (xtc_proc_mailbox_stats(w.pid[VICTIM], &st) == XTC_OK)
		(void)xtc_proc_sleep(1 + xtc__sim_choose(300));
	while (xtc__sim_choose(3) != 0)
		sim_dawdle();
	o.migratable = (int)xtc__sim_choose(2);
	XTC_SIM_CHECK(xtc_proc_spawn(xtc_loop_self(), child, NULL, &o,
	    &w.pid[CHILD]) == XTC_OK, "child");
}

static void
worker(void *arg)
{
	unsigned left = w.to_come[WORKER];

	(void)xtc_proc_at_exit(over, arg);
	if (xtc__sim_chance(2)) {
		w.timer_set = 1;
		XTC_SIM_CHECK(xtc_timer_set(xtc_loop_self(),
		    xtc__sim_choose(2000), timer, NULL, &w.timer) == XTC_OK,
		    "timer");
	}
	while (left > 0) {
		switch (xtc__sim_choose(4)) {
		case 0:
			use_lock(WORKER, sim_some_timeout());
			break;
		case 1:
			sim_dawdle();
			break;
		default:
			tell_receiver(WORKER);
			left--;
			break;
		}
	}
	if (xtc__sim_chance(2))
		worker_await();
	worker_succeeds();
}

static intptr_t
waiter(void *arg)
{
	unsigned rounds = 1 + xtc__sim_choose(3);
	int64_t timeout_ns;
	int r;

	(void)arg;
	while (rounds-- > 0) {
		XTC_SIM_CHECK(xtc_waker_self(&w.waker) == XTC_OK, "waker");
		w.waiting++;
		if (xtc__sim_chance(4))
			sim_dawdle();
		timeout_ns = xtc__sim_chance(2) ? -1 : sim_some_timeout();
		r = xtc_waker_wait(timeout_ns);
		xtc__sim_note("waker", w.waiting, (uint64_t)(unsigned)-r);
		XTC_SIM_CHECK(r == XTC_OK || (r == XTC_E_AGAIN &&
		    timeout_ns >= 0), "waker: %s", xtc_strerror(r));
		XTC_SIM_CHECK(r != XTC_OK || w.woken == w.waiting,
		    "woken by nobody");
		if (xtc__sim_chance(4))
			use_lock(WAITER, sim_some_timeout());
	}
	w.over[WAITER] = 1;
	return 0;
}

static intptr_t
guest(void *arg)
{
	(void)arg;
	if (xtc__sim_chance(2))
		sim_dawdle();
	tell_receiver(GUEST);
	w.over[GUEST] = 1;
	return 0;
}

static void
thread_wakes(void)
{
	xtc_waker_t waker = w.waker;
	unsigned round = w.waiting;

	if (round == w.woken)
		return;
	XTC_SIM_POINT();
	w.woken = round;
	(void)xtc_waker_wake(&waker);
}

static void
thread_kills(void)
{
	int r;

	if (w.over[THREAD])
		return;
	w.over[THREAD] = 1;
	r = xtc_exit_pid(w.pid[VICTIM], 7);
	xtc__sim_note("kill", 0, (uint64_t)(unsigned)-r);
	XTC_SIM_CHECK(r == XTC_OK || r == XTC_E_INVAL, "kill: %s",
	    xtc_strerror(r));
}

static void
thread_one_thing(void)
{
	switch (xtc__sim_choose(7)) {
	case 0:
		thread_wakes();
		break;
	case 1:
		use_lock(THREAD, sim_some_timeout());
		break;
	case 2:
		xtc__sim_spend(xtc__sim_choose(1000));
		break;
	case 3:
	case 4:
		(void)tell(THREAD, VICTIM);
		break;
	case 5:
		if (w.pid[CHILD].id != 0)
			(void)tell(THREAD, CHILD);
		break;
	default:
		if (xtc__sim_chance(3))
			thread_kills();
		break;
	}
}

static void
thread_cancels(void)
{
	if (w.timer == NULL || w.timer_ran || w.timer_off)
		return;
	w.timer_off = xtc_timer_cancel(w.timer) == XTC_OK;
	xtc__sim_note("cancel", (uint64_t)w.timer_off, 0);
}

static void
thread(void *arg)
{
	unsigned left = w.to_come[THREAD];

	(void)arg;
	XTC_SIM_CHECK(xtc_async(w.loop[0], guest, NULL, NULL) == XTC_OK,
	    "guest");
	while (left > 0) {
		thread_one_thing();
		if (xtc__sim_chance(2))
			continue;
		tell_receiver(THREAD);
		left--;
	}
	if (xtc__sim_chance(2))
		thread_cancels();
	thread_kills();
	while (!w.over[WAITER]) {
		thread_wakes();
		(void)xtc_waker_wait(1 + xtc__sim_choose(500));
	}
}

/* Sends to the victim and to nobody else, whatever becomes of it. */
static void
sender(void *arg)
{
	struct message m = { w.pid[VICTIM].id, NOBODY, 0 };
	unsigned n = 1 + xtc__sim_choose(4);

	(void)arg;
	while (n-- > 0) {
		(void)xtc_send(w.pid[VICTIM], &m, sizeof(m));
		if (xtc__sim_chance(2))
			xtc__sim_spend(xtc__sim_choose(300));
	}
}

static void
run_loop(void *arg)
{
	XTC_SIM_CHECK(xtc_loop_run(arg) == XTC_OK, "run");
}

static void
run_exec(void *arg)
{
	XTC_SIM_CHECK(xtc_exec_run(arg) == XTC_OK, "run");
}

static void
spawn(xtc_loop_t *loop, unsigned who, void (*fn)(void *), unsigned cap)
{
	xtc_proc_opts_t o = XTC_PROC_OPTS_DEFAULT;

	o.migratable = (int)xtc__sim_choose(2);
	o.mailbox_cap = cap;
	XTC_SIM_CHECK(xtc_proc_spawn(loop, fn, (void *)(uintptr_t)who, &o,
	    &w.pid[who]) == XTC_OK, "spawn");
}

static void
set_up(void)
{
	unsigned cap = 2 + xtc__sim_choose(3);
	int i;

	memset(&w, 0, sizeof(w));
	if (xtc__sim_chance(2))
		XTC_SIM_CHECK(xtc_exec_init(&w.exec, 2) == XTC_OK, "init");
	for (i = 0; i < 2; i++) {
		if (w.exec != NULL)
			w.loop[i] = xtc_exec_loop(w.exec, i);
		else
			XTC_SIM_CHECK(xtc_loop_init(&w.loop[i]) == XTC_OK,
			    "init");
		sim_use_seams(w.loop[i]);
	}
	sim_lock_init(&w.lock);
	w.cap = xtc__sim_chance(2);
	w.to_come[WORKER] = xtc__sim_choose(4);
	w.to_come[THREAD] = xtc__sim_choose(4);
	w.to_come[CHILD] = 1;
	w.to_come[GUEST] = 1;
	for (i = 0; i < N_WHO; i++)
		w.total += w.to_come[i];
	spawn(w.loop[0], RECEIVER, receiver, w.cap ? cap : 0);
	spawn(w.loop[1], VICTIM, victim, 2);
	spawn(w.loop[1], WORKER, worker, 0);
	if (w.exec != NULL)
		(void)xtc_exec_async(w.exec, waiter, NULL, NULL);
	else
		(void)xtc_async(w.loop[xtc__sim_choose(2)], waiter, NULL,
		    NULL);
}

static void
check_end(void)
{
	unsigned i;

	for (i = RECEIVER; i < N_WHO; i++)
		XTC_SIM_CHECK(w.over[i] || i == VICTIM, "%u has not come to "
		    "its end", i);
	for (i = 0; i < N_WHO; i++)
		XTC_SIM_CHECK(w.to_come[i] == 0, "%u messages of %u are lost",
		    w.to_come[i], i);
	XTC_SIM_CHECK(w.timer_ran + w.timer_off == w.timer_set,
	    "a timer ran %d times, cancelled %d", w.timer_ran, w.timer_off);
}

void
sim_story_small(void *arg)
{
	int t[4], n = 0, i;

	(void)arg;
	set_up();
	if (w.exec != NULL) {
		t[n++] = xtc__sim_spawn("executor", run_exec, w.exec);
	} else {
		t[n++] = xtc__sim_spawn("loop 0", run_loop, w.loop[0]);
		t[n++] = xtc__sim_spawn("loop 1", run_loop, w.loop[1]);
	}
	t[n++] = xtc__sim_spawn("thread", thread, NULL);
	t[n++] = xtc__sim_spawn("sender", sender, NULL);
	for (i = 0; i < n; i++)
		xtc__sim_await(t[i]);
	check_end();
	sim_lock_fini(&w.lock);
	if (w.exec != NULL)
		XTC_SIM_CHECK(xtc_exec_fini(w.exec) == XTC_OK, "fini");
	else
		for (i = 0; i < 2; i++)
			XTC_SIM_CHECK(xtc_loop_fini(w.loop[i]) == XTC_OK,
			    "fini");
}
