/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * Several threads and several loops: nothing sent, spawned or woken from
 * another thread is lost, however idle or busy the loop is, and a loop can
 * end while others still aim at it. Waits here have no timeout: what is lost
 * hangs the test.
 */
#include "testlib.h"

#include <semaphore.h>

static atomic_int steps, quit;
static xtc_loop_t *other;

static pthread_t
start_other(void)
{
	return (t_thread(t_run_loop, other));
}

static sem_t replied;

#define LAST (1 << 30)	/* added to the last number */

static void
post_for_each(void *arg)
{
	int n = 0, v;

	(void)arg;
	do {
		v = t_recv_int(-1);
		T_EQ(v % LAST, n);
		n++;
		T_EQ(sem_post(&replied), 0);
	} while (v < LAST);
}

static void
wait_replied(void)
{
	while (sem_wait(&replied) != 0)
		continue;
}

/*
 * The loop has nothing else to do: each message finds it on its way to
 * sleep, asleep, or on its way up, by a pause of random length.
 */
START_TEST(messages_of_a_thread_wake_an_idle_loop)
{
	int n = t_count(200000);
	int64_t end = t_seconds_from_now(10);
	uint64_t rnd = 9;
	pthread_t t;
	xtc_pid_t pid;

	T_EQ(sem_init(&replied, 0, 0), 0);
	pid = t_spawn(post_for_each, NULL);
	t = t_thread(t_run_loop, t_loop);
	for (int i = 0; i < n; i++) {
		if (!t_before(end))
			n = i + 1;
		T_OK(t_send_int(pid, i + (i == n - 1 ? LAST : 0)));
		wait_replied();
		if (i % 4 != 0)
			t_spin((int64_t)(t_rand(&rnd) % 2000));
		if (i % 1024 == 0)
			t_spin((int64_t)(t_rand(&rnd) % 200000));
	}
	t_join(t);
}
END_TEST

static xtc_pid_t pair[2];

static void
ping_pong(void *arg)
{
	int me = (int)(intptr_t)arg & 1, n = (int)((intptr_t)arg >> 1);
	int64_t end = t_seconds_from_now(10);
	int last = 0, v;

	for (int i = 0; !last; i++) {
		last = i == n - 1 || !t_before(end) ? LAST : 0;
		if (me == 0)
			T_OK(t_send_int(pair[1], i + last));
		v = t_recv_int(-1);
		T_EQ(v % LAST, i);
		if (me == 1)
			T_OK(t_send_int(pair[0], v));
		last = v >= LAST;
	}
	t_add(&steps, 1);
}

START_TEST(ping_pong_across_two_loops)
{
	intptr_t n = t_count(300000);
	pthread_t t;

	T_OK(xtc_loop_init(&other));
	pair[0] = t_spawn(ping_pong, (void *)(n << 1));
	pair[1] = t_spawn_on(other, ping_pong, (void *)(n << 1 | 1));
	t = start_other();
	T_OK(xtc_loop_run(t_loop));
	t_join(t);
	T_OK(xtc_loop_fini(other));
	T_EQ(t_get(&steps), 2);
}
END_TEST

/* Many pairs: the loops are sometimes idle and sometimes not. */
static xtc_pid_t pairs[20][2];

static void
ping_pong_in_crowd(void *arg)
{
	xtc_pid_t *p = arg, peer = p[xtc_pid_eq(p[0], xtc_self())];
	int first = xtc_pid_eq(p[0], xtc_self()), n = t_count(20000);
	uint64_t rnd = (uint64_t)(uintptr_t)arg | 1;

	for (int i = 0; i < n; i++) {
		if (first)
			T_OK(t_send_int(peer, i));
		T_EQ(t_recv_int(i % 3 ? -1 : 3600 * T_SEC), i);
		if (!first)
			T_OK(t_send_int(peer, i));
		if (t_rand(&rnd) % 64 == 0)
			T_OK(xtc_proc_sleep((int64_t)(t_rand(&rnd) % 30000)));
	}
	t_add(&steps, 1);
}

START_TEST(twenty_pairs_across_two_loops)
{
	pthread_t t;

	T_OK(xtc_loop_init(&other));
	for (int i = 0; i < 20; i++) {
		pairs[i][0] = t_spawn(ping_pong_in_crowd, pairs[i]);
		pairs[i][1] = t_spawn_on(other, ping_pong_in_crowd, pairs[i]);
	}
	t = start_other();
	T_OK(xtc_loop_run(t_loop));
	t_join(t);
	T_OK(xtc_loop_fini(other));
	T_EQ(t_get(&steps), 40);
}
END_TEST

static xtc_pid_t ring[12];
static atomic_int hops;

/* In the last round, of twelve hops, each one sees that it is the last. */
static void
pass_on(void *arg)
{
	int64_t end = t_seconds_from_now(10);
	int me = (int)(intptr_t)arg, v;

	do {
		v = t_recv_int(-1);
		T_EQ(v % 12, me);
		if (me == 0 && !t_before(end))
			t_set(&hops, v + 11);
		if (v < t_get(&hops))
			T_OK(t_send_int(ring[(me + 1) % 12], v + 1));
	} while (v + 12 <= t_get(&hops));
	t_add(&steps, 1);
}

START_TEST(a_ring_over_four_loops)
{
	xtc_loop_t *l[4];
	pthread_t t[4];

	t_set(&hops, t_count(50000));
	for (int i = 0; i < 4; i++)
		T_OK(xtc_loop_init(&l[i]));
	for (int i = 0; i < 12; i++)
		ring[i] = t_spawn_on(l[i % 4], pass_on, (void *)(intptr_t)i);
	T_OK(t_send_int(ring[0], 0));
	for (int i = 0; i < 4; i++)
		t[i] = t_thread(t_run_loop, l[i]);
	for (int i = 0; i < 4; i++)
		t_join(t[i]);
	for (int i = 0; i < 4; i++)
		T_OK(xtc_loop_fini(l[i]));
	T_EQ(t_get(&steps), 12);
}
END_TEST

static void
child(void *arg)
{
	T_TRUE(xtc_loop_self() == t_loop);
	T_TRUE(!xtc_pid_is_none(xtc_self()));
	t_add((atomic_int *)arg, 1);
}

static void
child_waits(void *arg)
{
	T_EQ(t_recv_int(-1), 3);
	child(arg);
}

static void *
spawn_in_thread(void *arg)
{
	int n = t_count(40000);

	for (int i = 0; i < n; i++) {
		if (i % 2 == 0)
			t_spawn(child, &steps);
		else
			T_OK(t_send_int(t_spawn(child_waits, &steps), 3));
		/* Let the loop run dry now and then. */
		if (i % 64 == 0)
			while (t_get(&steps) < i / 2)
				sched_yield();
	}
	(void)arg;
	return (NULL);
}

static void
stay(void *arg)
{
	(void)arg;
	while (t_recv_int(-1) != -99)
		continue;
}

START_TEST(threads_spawn_on_a_loop_that_runs)
{
	xtc_pid_t pid = t_spawn(stay, NULL);
	pthread_t t[3], runner;

	runner = t_thread(t_run_loop, t_loop);
	for (int i = 0; i < 3; i++)
		t[i] = t_thread(spawn_in_thread, NULL);
	for (int i = 0; i < 3; i++)
		t_join(t[i]);
	T_OK(t_send_int(pid, -99));
	t_join(runner);
	T_EQ(t_get(&steps), 3 * t_count(40000));
}
END_TEST

static void *
spawn_fifty(void *arg)
{
	(void)arg;
	for (int i = 0; i < 50; i++)
		t_spawn(child, &steps);
	return (NULL);
}

/* Onto a loop that does not run yet: all are there when it does. */
START_TEST(threads_spawn_on_a_loop_that_does_not_run)
{
	int n = t_count(300) + 2;
	pthread_t t[2];

	for (int i = 1; i <= n; i++) {
		for (int k = 0; k < 2; k++)
			t[k] = t_thread(spawn_fifty, NULL);
		for (int k = 0; k < 2; k++)
			t_join(t[k]);
		T_OK(xtc_loop_run(t_loop));
		T_EQ(t_get(&steps), 100 * i);
	}
}
END_TEST

static void
child_of_other(void *arg)
{
	T_TRUE(xtc_loop_self() == other);
	t_add((atomic_int *)arg, 1);
}

static void
spawn_on_the_other(void *arg)
{
	int n = *(int *)arg;
	xtc_loop_t *to = xtc_loop_self() == t_loop ? other : t_loop;

	for (int i = 0; i < n; i++) {
		t_spawn_on(to, to == t_loop ? child : child_of_other, &steps);
		if (i % 32 == 0)
			xtc_yield();
		if (i % 1000 == 0)
			T_OK(xtc_proc_sleep(T_MS));
	}
	while (t_get(&steps) < 2 * n)
		T_OK(xtc_proc_sleep(100 * T_US));
}

START_TEST(two_loops_spawn_on_each_other)
{
	int n = t_count(100000);
	pthread_t t;

	T_OK(xtc_loop_init(&other));
	t_spawn(spawn_on_the_other, &n);
	t_spawn_on(other, spawn_on_the_other, &n);
	t = start_other();
	T_OK(xtc_loop_run(t_loop));
	t_join(t);
	T_OK(xtc_loop_fini(other));
	T_EQ(t_get(&steps), 2 * n);
}
END_TEST

/* What comes in is freed by the receiver on another loop than it was made. */
static void
flood(void *arg)
{
	xtc_pid_t to = *(xtc_pid_t *)arg;
	char data[600] = { 0 };
	int n = t_count(200000), rc;

	for (int i = 0; i < n; i++) {
		while ((rc = xtc_send(to, data, (size_t)(i % 600))) ==
		    XTC_E_AGAIN)
			T_OK(xtc_proc_sleep(10 * T_US));
		T_OK(rc);
		if (i % 100 == 0)
			xtc_yield();
	}
}

static void
drain(void *arg)
{
	int n = t_count(200000);
	void *msg;
	size_t size;

	for (int i = 0; i < n; i++) {
		T_OK(xtc_recv(&msg, &size, -1));
		T_EQ(size, i % 600);
		xtc_free(msg);
	}
	t_add((atomic_int *)arg, 1);
}

/* Four times: were they kept on the wrong side, it would grow each time. */
START_TEST(messages_freed_on_another_loop_are_used_again)
{
	xtc_pid_t pid;
	pthread_t t;
	long rss = 0;

	T_OK(xtc_loop_init(&other));
	for (int i = 0; i < 4; i++) {
		pid = t_spawn(drain, &steps);
		t_spawn_on(other, flood, &pid);
		t = start_other();
		T_OK(xtc_loop_run(t_loop));
		t_join(t);
		if (i == 1)
			rss = t_maxrss_kib();
	}
	T_OK(xtc_loop_fini(other));
	T_EQ(t_get(&steps), 4);
	/* Never freed, two rounds would be 120,000 KiB. */
	if (t_slow() == 1)
		T_TRUE(t_maxrss_kib() - rss < 6000);
}
END_TEST

static _Atomic uint64_t late_target;
static xtc_waker_t late_waker;
static xtc_task_t *late_task;
static atomic_int round_no, in_round;

static void *
aim_at_a_dying_loop(void *arg)
{
	int me = (int)(intptr_t)arg;
	uint64_t rnd = (uint64_t)me + 1;

	for (int i = 1; !t_get(&quit); i++) {
		while (t_get(&round_no) < i)
			if (t_get(&quit))
				return (NULL);
			else
				sched_yield();
		for (int k = 0; k < 40; k++) {
			xtc_pid_t pid = { t_get(&late_target) };
			int rc = XTC_OK;

			switch (me) {
			case 0:
			case 1:
				rc = t_send_int(pid, k);
				break;
			case 2:
				rc = xtc_waker_wake(&late_waker);
				break;
			}
			T_TRUE(rc == XTC_OK || rc == XTC_E_INVAL);
			t_spin((int64_t)(t_rand(&rnd) % 2000));
		}
		if (me == 3)
			T_RC(xtc_await(late_task, NULL), XTC_E_ABORTED);
		t_add(&in_round, -1);
	}
	return (NULL);
}

static void
be_aimed_at(void *arg)
{
	void *msg;

	(void)arg;
	for (;;) {
		T_OK(xtc_recv(&msg, NULL, -1));
		xtc_free(msg);
	}
}

static void
be_woken(void *arg)
{
	xtc_waker_t w;

	(void)arg;
	for (;;) {
		T_OK(xtc_waker_self(&w));
		T_OK(xtc_waker_wait(-1));
	}
}

static void
take_waker(void *arg)
{
	T_OK(xtc_waker_self(&late_waker));
	T_OK(xtc_loop_stop(xtc_loop_self()));
	T_OK(xtc_waker_wait(-1));
	be_woken(arg);
}

static intptr_t
be_awaited(void *arg)
{
	(void)arg;
	xtc_proc_sleep(INT64_MAX);
	return (0);
}

/*
 * Senders, wakers and awaiters aim at a loop while it runs, while it is
 * finished, and after; signals hold them up between any two steps. Each wake
 * of the loop that was begun has to be over, and no byte of it touched, when
 * its memory is gone.
 */
START_TEST(a_loop_is_finished_under_late_senders)
{
	int64_t end = t_seconds_from_now(10);
	int n = t_count(3000);
	pthread_t t[4];
	uint64_t rnd = 4;
	xtc_loop_t *l;

	t_dawdle_setup();
	for (int k = 0; k < 4; k++)
		t[k] = t_thread(aim_at_a_dying_loop, (void *)(intptr_t)k);
	for (int i = 1; i <= n && t_before(end); i++) {
		T_OK(xtc_loop_init(&l));
		t_spawn_on(l, take_waker, NULL);
		T_OK(xtc_loop_run(l));
		t_set(&late_target, t_spawn_on(l, be_aimed_at, NULL).id);
		T_OK(xtc_async(l, be_awaited, NULL, &late_task));
		T_OK(xtc_timer_set(l, (int64_t)(t_rand(&rnd) % 60000),
		    t_stop, l, NULL));
		t_set(&in_round, 4);
		t_set(&round_no, i);
		for (int k = 0; k < 4; k++)
			t_dawdle(t[k]);
		T_OK(xtc_loop_run(l));
		T_OK(xtc_loop_fini(l));
		while (t_get(&in_round) > 0)
			sched_yield();
	}
	t_set(&quit, 1);
	for (int k = 0; k < 4; k++)
		t_join(t[k]);
}
END_TEST

/* Loops come and go in several threads at once. */
static void *
make_and_drop_loops(void *arg)
{
	int n = t_count(2000);

	for (int i = 0; i < n; i++) {
		xtc_loop_t *l;
		xtc_pid_t pid;

		T_OK(xtc_loop_init(&l));
		pid = t_spawn_on(l, post_for_each, NULL);
		T_OK(t_send_int(pid, LAST));
		t_spawn_on(l, be_aimed_at, NULL);
		T_OK(xtc_timer_set(l, 10 * T_US, t_stop, l, NULL));
		T_OK(xtc_loop_run(l));
		T_OK(xtc_loop_fini(l));
	}
	(void)arg;
	return (NULL);
}

START_TEST(loops_come_and_go_in_several_threads)
{
	pthread_t t[3];
	int posts;

	T_EQ(sem_init(&replied, 0, 0), 0);
	for (int i = 0; i < 3; i++)
		t[i] = t_thread(make_and_drop_loops, NULL);
	for (int i = 0; i < 3; i++)
		t_join(t[i]);
	T_EQ(sem_getvalue(&replied, &posts), 0);
	T_EQ(posts, 3 * t_count(2000));
}
END_TEST

/* Plain threads that are gone leave no memory behind. */
static void *
use_as_thread(void *arg)
{
	xtc_waker_t w;
	void *p;

	T_OK(t_send_int(*(xtc_pid_t *)arg, 1));
	T_OK(xtc_waker_self(&w));
	T_OK(xtc_waker_wake(&w));
	T_OK(xtc_waker_wait(-1));
	p = xtc_malloc(100);
	T_TRUE(p != NULL);
	xtc_free(p);
	return (NULL);
}

START_TEST(threads_that_end_leave_constant_memory)
{
	xtc_pid_t pid = t_spawn(be_aimed_at, NULL);
	pthread_t runner = t_thread(t_run_loop, t_loop);
	int n = t_count(5000);
	long rss = 0;

	for (int i = 0; i < n; i++) {
		t_join(t_thread(use_as_thread, &pid));
		if (i == n / 10)
			rss = t_maxrss_kib();
	}
	T_OK(xtc_loop_stop(t_loop));
	t_join(runner);
	/* A record of 256 bytes and an envelope each: 1,400 KiB. */
	if (t_slow() == 1)
		T_TRUE(t_maxrss_kib() - rss < 700);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("threads");

	t_case(s, messages_of_a_thread_wake_an_idle_loop, 60);
	t_case(s, ping_pong_across_two_loops, 60);
	t_case(s, twenty_pairs_across_two_loops, 60);
	t_case_bare(s, a_ring_over_four_loops, 60);
	t_case(s, threads_spawn_on_a_loop_that_runs, 30);
	t_case(s, threads_spawn_on_a_loop_that_does_not_run, 10);
	t_case(s, two_loops_spawn_on_each_other, 30);
	t_case(s, messages_freed_on_another_loop_are_used_again, 60);
	t_case_bare(s, a_loop_is_finished_under_late_senders, 60);
	t_case_bare(s, loops_come_and_go_in_several_threads, 30);
	t_case(s, threads_that_end_leave_constant_memory, 30);
	return (t_main(s));
}
