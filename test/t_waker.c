/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * A waker ends the one wait it was made for: before it, during it, from
 * anywhere, and never another.
 */
#include "testlib.h"

#include <signal.h>

static atomic_int steps, quit;
static xtc_waker_t shared;

static void
wake_first(void *arg)
{
	xtc_waker_t w;

	(void)arg;
	T_OK(xtc_waker_self(&w));
	T_OK(xtc_waker_wake(&w));
	T_OK(xtc_waker_wait(-1));
	T_OK(xtc_waker_self(&w));
	T_OK(xtc_waker_wake(&w));
	T_OK(xtc_waker_wait(0));
	T_OK(xtc_waker_self(&w));
	T_OK(xtc_waker_wake(&w));
	T_OK(xtc_waker_wait(T_US));
	t_add(&steps, 1);
}

static void *
wake_first_in_thread(void *arg)
{
	wake_first(arg);
	return (NULL);
}

START_TEST(a_wake_before_the_wait_is_not_lost)
{
	t_run(wake_first, NULL);
	wake_first(NULL);
	t_join(t_thread(wake_first_in_thread, NULL));
	T_EQ(t_get(&steps), 3);
}
END_TEST

static void
nobody_wakes(void *arg)
{
	int64_t t0;
	xtc_waker_t w;

	(void)arg;
	for (int64_t ns = 0; ns < 5 * T_MS; ns = ns * 10 + 1) {
		t0 = xtc_clock_mono();
		T_OK(xtc_waker_self(&w));
		T_RC(xtc_waker_wait(ns), XTC_E_AGAIN);
		T_TRUE(xtc_clock_mono() - t0 >= ns);
	}
	t_add(&steps, 1);
}

START_TEST(a_wait_times_out_and_not_early)
{
	t_run(nobody_wakes, NULL);
	nobody_wakes(NULL);
	T_EQ(t_get(&steps), 2);
}
END_TEST

static void
make_stale(void *arg)
{
	xtc_waker_t old, w;
	int64_t t0;
	void *msg;

	(void)arg;
	T_OK(xtc_waker_self(&old));
	T_OK(xtc_waker_wake(&old));
	T_OK(xtc_waker_wait(-1));
	T_RC(xtc_waker_wake(&old), XTC_E_INVAL);
	T_OK(xtc_waker_self(&w));
	T_RC(xtc_waker_wake(&old), XTC_E_INVAL);
	T_RC(xtc_waker_wait(T_US), XTC_E_AGAIN);
	T_RC(xtc_waker_wake(&w), XTC_E_INVAL);
	T_RC(xtc_waker_wake(&old), XTC_E_INVAL);
	T_RC(xtc_waker_wait(0), XTC_E_AGAIN);
	/* Nor does it end another kind of wait. */
	T_OK(xtc_waker_self(&w));
	T_OK(xtc_waker_wake(&w));
	T_OK(xtc_waker_wait(-1));
	shared = w;
	if (xtc_pid_is_none(xtc_self())) {
		t_add(&steps, 1);
		return;
	}
	t0 = xtc_clock_mono();
	T_OK(xtc_proc_sleep(3 * T_MS));
	T_TRUE(xtc_clock_mono() - t0 >= 3 * T_MS);
	T_RC(xtc_recv(&msg, NULL, 3 * T_MS), XTC_E_AGAIN);
	T_TRUE(xtc_clock_mono() - t0 >= 6 * T_MS);
	t_add(&steps, 1);
}

static void
wake_stale(void *arg)
{
	(void)arg;
	while (t_get(&steps) == 0) {
		if (shared.target != NULL)
			T_RC(xtc_waker_wake(&shared), XTC_E_INVAL);
		xtc_yield();
	}
}

START_TEST(a_stale_waker_has_no_effect)
{
	t_spawn(make_stale, NULL);
	t_spawn(wake_stale, NULL);
	T_OK(xtc_loop_run(t_loop));
	make_stale(NULL);
	T_EQ(t_get(&steps), 2);
}
END_TEST

static void
leave_waker(void *arg)
{
	T_OK(xtc_waker_self(arg));
}

static void
wait_in_new_incarnation(void *arg)
{
	xtc_waker_t w;

	T_OK(xtc_waker_self(&w));
	T_RC(xtc_waker_wake(arg), XTC_E_INVAL);
	T_RC(xtc_waker_wait(0), XTC_E_AGAIN);
	t_add(&steps, 1);
}

/* The dead fiber's struct serves the next one. */
START_TEST(the_waker_of_a_dead_fiber_is_stale)
{
	xtc_waker_t w;

	for (int i = 0; i < 1000; i++) {
		t_run(leave_waker, &w);
		T_RC(xtc_waker_wake(&w), XTC_E_INVAL);
		t_run(wait_in_new_incarnation, &w);
	}
	T_EQ(t_get(&steps), 1000);
}
END_TEST

static void *
leave_waker_in_thread(void *arg)
{
	T_OK(xtc_waker_self(arg));
	return (NULL);
}

/* XTC_OK would be a promise to a wait that cannot come. */
START_TEST(the_waker_of_a_dead_thread_is_stale)
{
	xtc_waker_t w;

	for (int i = 0; i < 100; i++) {
		t_join(t_thread(leave_waker_in_thread, &w));
		T_RC(xtc_waker_wake(&w), XTC_E_INVAL);
	}
}
END_TEST

/* Ping-pong by wakers: turn says whose, token is what both may touch. */
struct side {
	xtc_waker_t waker;
	atomic_int ready;	/* waker is valid */
};

static struct side sides[2];
static atomic_int turn, rounds;
static int token;

static int
take_ready(int side)
{
	return (atomic_exchange_explicit(&sides[side].ready, 0,
	    memory_order_seq_cst));
}

static void
play(int me)
{
	int64_t end = t_seconds_from_now(5);

	for (int i = 0; i < t_get(&rounds); i++) {
		while (t_get(&turn) != me) {
			T_OK(xtc_waker_self(&sides[me].waker));
			atomic_store_explicit(&sides[me].ready, 1,
			    memory_order_seq_cst);
			/* Seq_cst on both sides: store, then look. */
			if (atomic_load_explicit(&turn,
			    memory_order_seq_cst) != me)
				T_OK(xtc_waker_wait(-1));
			else if (take_ready(me) == 0)
				T_OK(xtc_waker_wait(-1));
		}
		T_EQ(token % 2, me);
		token++;
		if (me == 0 && !t_before(end))
			t_set(&rounds, i + 1);
		atomic_store_explicit(&turn, 1 - me, memory_order_seq_cst);
		if (take_ready(1 - me) == 1)
			T_OK(xtc_waker_wake(&sides[1 - me].waker));
	}
	t_add(&steps, 1);
}

static void
play_in_fiber(void *arg)
{
	play((int)(intptr_t)arg);
}

static void *
play_in_thread(void *arg)
{
	play((int)(intptr_t)arg);
	return (NULL);
}

START_TEST(two_fibers_wake_each_other)
{
	t_set(&rounds, t_count(200000));
	t_spawn(play_in_fiber, (void *)0);
	t_spawn(play_in_fiber, (void *)1);
	T_OK(xtc_loop_run(t_loop));
	T_EQ(t_get(&steps), 2);
	T_EQ(token, 2 * t_get(&rounds));
}
END_TEST

/* No timeout anywhere: one wake lost hangs it. */
START_TEST(a_fiber_and_a_thread_wake_each_other)
{
	pthread_t t;

	t_set(&rounds, t_count(50000));
	t_spawn(play_in_fiber, (void *)0);
	t = t_thread(play_in_thread, (void *)1);
	T_OK(xtc_loop_run(t_loop));
	t_join(t);
	T_EQ(t_get(&steps), 2);
	T_EQ(token, 2 * t_get(&rounds));
}
END_TEST

START_TEST(fibers_of_two_loops_wake_each_other)
{
	xtc_loop_t *l;
	pthread_t t;

	t_set(&rounds, t_count(50000));
	T_OK(xtc_loop_init(&l));
	t_spawn(play_in_fiber, (void *)0);
	t_spawn_on(l, play_in_fiber, (void *)1);
	t = t_thread(t_run_loop, l);
	T_OK(xtc_loop_run(t_loop));
	t_join(t);
	T_OK(xtc_loop_fini(l));
	T_EQ(t_get(&steps), 2);
	T_EQ(token, 2 * t_get(&rounds));
}
END_TEST

START_TEST(two_threads_wake_each_other)
{
	pthread_t t;

	t_set(&rounds, t_count(20000));
	t = t_thread(play_in_thread, (void *)1);
	play(0);
	t_join(t);
	T_EQ(t_get(&steps), 2);
	T_EQ(token, 2 * t_get(&rounds));
}
END_TEST

/*
 * One wake a round, at any moment of waits of 0 to 2 us. XTC_OK is a
 * promise: that very wait returned XTC_OK; else it returned XTC_E_AGAIN.
 */
static atomic_int round_no, woken_no;
static int wake_rc;

static void
wait_impatiently(void *arg)
{
	int64_t end = t_seconds_from_now(5);
	int n = *(int *)arg;
	uint64_t rnd = 41;

	for (int i = 1; i <= n && t_before(end); i++) {
		int rc;

		T_OK(xtc_waker_self(&shared));
		t_set(&round_no, i);
		rc = xtc_waker_wait((int64_t)(t_rand(&rnd) % 2001));
		/* Its verdict is needed: a short busy wait. */
		while (t_get(&woken_no) < i)
			if (xtc_loop_self() != NULL)
				xtc_yield();
			else
				sched_yield();
		T_RC(wake_rc, rc == XTC_OK ? XTC_OK : XTC_E_INVAL);
	}
	t_set(&quit, 1);
	t_add(&steps, 1);
}

static void
wake_at_any_moment(void *arg)
{
	uint64_t rnd = 43;

	(void)arg;
	for (int i = 1; ; i++) {
		while (t_get(&round_no) < i) {
			if (t_get(&quit))
				return;
			if (xtc_loop_self() != NULL)
				xtc_yield();
			else
				sched_yield();
		}
		t_spin((int64_t)(t_rand(&rnd) % 2500));
		wake_rc = xtc_waker_wake(&shared);
		t_set(&woken_no, i);
	}
}

static void *
wake_at_any_moment_in_thread(void *arg)
{
	wake_at_any_moment(arg);
	return (NULL);
}

START_TEST(a_wake_that_said_ok_ended_the_wait_from_a_thread)
{
	int n = t_count(300000);
	pthread_t t = t_thread(wake_at_any_moment_in_thread, NULL);

	t_run(wait_impatiently, &n);
	t_join(t);
	T_EQ(t_get(&steps), 1);
}
END_TEST

START_TEST(a_wake_that_said_ok_ended_the_wait_from_a_loop)
{
	int n = t_count(300000);
	xtc_loop_t *l;
	pthread_t t;

	T_OK(xtc_loop_init(&l));
	t_spawn_on(l, wake_at_any_moment, NULL);
	t = t_thread(t_run_loop, l);
	t_run(wait_impatiently, &n);
	t_join(t);
	T_OK(xtc_loop_fini(l));
	T_EQ(t_get(&steps), 1);
}
END_TEST

START_TEST(a_wake_that_said_ok_ended_the_wait_of_a_thread)
{
	int n = t_count(100000);
	pthread_t t = t_thread(wake_at_any_moment_in_thread, NULL);

	wait_impatiently(&n);
	t_join(t);
	T_EQ(t_get(&steps), 1);
}
END_TEST

static void
wake_in_handler(int sig)
{
	(void)sig;
	(void)xtc_waker_wake(&shared);
}

static void
handle_usr1(void)
{
	struct sigaction sa;

	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = wake_in_handler;
	sigemptyset(&sa.sa_mask);
	T_EQ(sigaction(SIGUSR1, &sa, NULL), 0);
}

static void
raise_and_wait(void *arg)
{
	(void)arg;
	for (int i = 0; i < 1000; i++) {
		T_OK(xtc_waker_self(&shared));
		T_EQ(raise(SIGUSR1), 0);
		T_OK(xtc_waker_wait(-1));
	}
	t_add(&steps, 1);
}

static void *
raise_and_wait_in_thread(void *arg)
{
	raise_and_wait(arg);
	return (NULL);
}

START_TEST(a_signal_handler_wakes_the_fiber_it_interrupted)
{
	handle_usr1();
	t_run(raise_and_wait, NULL);
	t_join(t_thread(raise_and_wait_in_thread, NULL));
	T_EQ(t_get(&steps), 2);
}
END_TEST

static void
wait_for_signals(void *arg)
{
	int64_t end = t_seconds_from_now(5);
	int n = *(int *)arg;

	for (int i = 1; i <= n && t_before(end); i++) {
		T_OK(xtc_waker_self(&shared));
		t_set(&round_no, i);
		T_OK(xtc_waker_wait(-1));
	}
	t_set(&quit, 1);
	t_add(&steps, 1);
}

/* Another fiber keeps the run queue busy while signals push to the loop. */
static void
yield_until_quit(void *arg)
{
	(void)arg;
	while (!t_get(&quit))
		xtc_yield();
}

static void *
send_signals(void *arg)
{
	pthread_t runner = *(pthread_t *)arg;
	uint64_t rnd = 3;

	for (int i = 1; ; i++) {
		while (t_get(&round_no) < i) {
			if (t_get(&quit))
				return (NULL);
			sched_yield();
		}
		t_spin((int64_t)(t_rand(&rnd) % 20000));
		T_EQ(pthread_kill(runner, SIGUSR1), 0);
	}
}

static void
wake_by_signals(int n)
{
	pthread_t self = pthread_self(), t;

	handle_usr1();
	t = t_thread(send_signals, &self);
	t_run(wait_for_signals, &n);
	t_join(t);
	T_EQ(t_get(&steps), 1);
}

START_TEST(a_signal_handler_wakes_a_fiber_of_an_idle_loop)
{
	wake_by_signals(t_count(20000));
}
END_TEST

/*
 * ThreadSanitizer keeps a signal with the fiber that it came to until that one
 * calls something intercepted, and these only yield: it would never come.
 */
START_TEST(a_signal_handler_wakes_a_fiber_of_a_busy_loop)
{
#if defined(T_TSAN)
	return;
#endif
	t_spawn(yield_until_quit, NULL);
	t_spawn(yield_until_quit, NULL);
	wake_by_signals(t_count(20000));
}
END_TEST

static xtc_amutex_t *lock;

static void
wait_otherwise_between(void *arg)
{
	(void)arg;
	T_OK(xtc_waker_self(&shared));
	t_set(&round_no, 1);
	/* Waits of another kind: for the lock, for time, for a message. */
	T_OK(xtc_amutex_lock(lock, -1));
	T_OK(xtc_amutex_unlock(lock));
	T_OK(xtc_proc_sleep(T_MS));
	T_EQ(t_recv_int(-1), 1);
	T_OK(xtc_waker_wait(-1));
	t_add(&steps, 1);
}

static void
hold_wake_and_send(void *arg)
{
	T_OK(xtc_amutex_lock(lock, -1));
	while (t_get(&round_no) == 0)
		xtc_yield();
	xtc_yield();
	T_OK(xtc_waker_wake(&shared));
	xtc_yield();
	T_OK(xtc_amutex_unlock(lock));
	T_OK(t_send_int(*(xtc_pid_t *)arg, 1));
}

/* A registry under a lock: one takes a waker, locks, registers, waits. */
START_TEST(waits_of_another_kind_between_taking_and_waiting_lose_nothing)
{
	xtc_pid_t pid;

	T_OK(xtc_amutex_create(&lock));
	t_spawn(hold_wake_and_send, &pid);
	pid = t_spawn(wait_otherwise_between, NULL);
	T_OK(xtc_loop_run(t_loop));
	T_OK(xtc_amutex_destroy(lock));
	T_EQ(t_get(&steps), 1);
}
END_TEST

static void *
wake_for_ever(void *arg)
{
	(void)arg;
	while (!t_get(&quit)) {
		xtc_waker_t w;

		if (!t_get(&sides[0].ready))
			continue;
		w = sides[0].waker;
		for (int i = 0; i < 10; i++)
			(void)xtc_waker_wake(&w);
	}
	return (NULL);
}

static void
take_waker_and_park(void *arg)
{
	(void)arg;
	T_OK(xtc_waker_self(&sides[0].waker));
	t_set(&sides[0].ready, 1);
	T_OK(xtc_waker_wait(-1));
	xtc_proc_sleep(INT64_MAX);
}

/* The wakers of a loop are used while it is finished, and after. */
START_TEST(wakers_outlive_their_loop)
{
	int64_t end = t_seconds_from_now(5);
	int n = t_count(2000);
	pthread_t t;

	for (int i = 0; i < n && t_before(end); i++) {
		xtc_loop_t *l;

		T_OK(xtc_loop_init(&l));
		t_spawn_on(l, take_waker_and_park, NULL);
		t_set(&quit, 0);
		t_set(&sides[0].ready, 0);
		t = t_thread(wake_for_ever, NULL);
		T_OK(xtc_timer_set(l, 20 * T_US, t_stop, l, NULL));
		T_OK(xtc_loop_run(l));
		T_OK(xtc_loop_fini(l));
		t_set(&quit, 1);
		t_join(t);
	}
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("waker");

	t_case(s, a_wake_before_the_wait_is_not_lost, 5);
	t_case(s, a_wait_times_out_and_not_early, 5);
	t_case(s, a_stale_waker_has_no_effect, 5);
	t_case(s, the_waker_of_a_dead_fiber_is_stale, 5);
	t_case_bare(s, the_waker_of_a_dead_thread_is_stale, 5);
	t_case(s, two_fibers_wake_each_other, 10);
	t_case(s, a_fiber_and_a_thread_wake_each_other, 30);
	t_case(s, fibers_of_two_loops_wake_each_other, 30);
	t_case_bare(s, two_threads_wake_each_other, 30);
	t_case(s, a_wake_that_said_ok_ended_the_wait_from_a_thread, 60);
	t_case(s, a_wake_that_said_ok_ended_the_wait_from_a_loop, 60);
	t_case_bare(s, a_wake_that_said_ok_ended_the_wait_of_a_thread, 60);
	t_case(s, a_signal_handler_wakes_the_fiber_it_interrupted, 5);
	t_case(s, a_signal_handler_wakes_a_fiber_of_an_idle_loop, 30);
	t_case(s, a_signal_handler_wakes_a_fiber_of_a_busy_loop, 30);
	t_case(s, waits_of_another_kind_between_taking_and_waiting_lose_nothing,
	    5);
	t_case_bare(s, wakers_outlive_their_loop, 30);
	return (t_main(s));
}
