/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * The amutex: one owner at a time, waiters served in order, none forgotten
 * when a timeout, a kill or the owner's death comes between.
 */
#include "testlib.h"

static xtc_amutex_t *lock;
static atomic_int steps, quit;
static atomic_llong acquired;
static int64_t counter;		/* the lock protects it */

static void
make_lock(void)
{
	T_OK(xtc_amutex_create(&lock));
}

/* The lock is free, and nobody who died has held it since. */
static void
drop_lock(void)
{
	T_OK(xtc_amutex_lock(lock, 0));
	T_OK(xtc_amutex_unlock(lock));
	T_OK(xtc_amutex_destroy(lock));
}

static void
add_under_lock(int n, int yields)
{
	int64_t end = t_seconds_from_now(5);

	for (int i = 0; i < n && t_before(end); i++) {
		int64_t seen;

		T_OK(xtc_amutex_lock(lock, -1));
		seen = counter;
		if (yields)
			xtc_yield();
		T_EQ(counter, seen);
		counter = seen + 1;
		T_OK(xtc_amutex_unlock(lock));
		t_add(&acquired, 1);
	}
	t_add(&steps, 1);
}

static void
add_in_fiber(void *arg)
{
	add_under_lock(*(int *)arg, 0);
}

static void
add_and_yield_in_fiber(void *arg)
{
	add_under_lock(*(int *)arg, 1);
}

static void *
add_in_thread(void *arg)
{
	add_under_lock(*(int *)arg, 0);
	return (NULL);
}

START_TEST(one_owner_at_a_time_on_one_loop)
{
	int n = 1000;

	make_lock();
	for (int i = 0; i < 100; i++)
		t_spawn(add_and_yield_in_fiber, &n);
	T_OK(xtc_loop_run(t_loop));
	T_EQ(t_get(&steps), 100);
	T_EQ(counter, t_get(&acquired));
	drop_lock();
}
END_TEST

START_TEST(one_owner_at_a_time_among_threads)
{
	int n = t_count(50000);
	pthread_t t[4];

	make_lock();
	for (int i = 0; i < 4; i++)
		t[i] = t_thread(add_in_thread, &n);
	for (int i = 0; i < 4; i++)
		t_join(t[i]);
	T_EQ(t_get(&steps), 4);
	T_EQ(counter, t_get(&acquired));
	drop_lock();
}
END_TEST

START_TEST(one_owner_at_a_time_among_loops_and_threads)
{
	int n = t_count(50000);
	xtc_loop_t *l;
	pthread_t t[3];

	make_lock();
	T_OK(xtc_loop_init(&l));
	for (int i = 0; i < 3; i++) {
		t_spawn(add_in_fiber, &n);
		t_spawn_on(l, add_and_yield_in_fiber, &n);
	}
	t[0] = t_thread(t_run_loop, l);
	t[1] = t_thread(add_in_thread, &n);
	t[2] = t_thread(add_in_thread, &n);
	T_OK(xtc_loop_run(t_loop));
	for (int i = 0; i < 3; i++)
		t_join(t[i]);
	T_OK(xtc_loop_fini(l));
	T_EQ(t_get(&steps), 8);
	T_EQ(counter, t_get(&acquired));
	drop_lock();
}
END_TEST

static int served[100], n_served, heirs_of_dead;

static void
wait_in_line(void *arg)
{
	int rc = xtc_amutex_lock(lock, (intptr_t)arg % 2 ? -1 :
	    3600 * T_SEC);

	if (rc != XTC_E_OWNERDEAD || !heirs_of_dead)
		T_OK(rc);
	served[n_served++] = (int)(intptr_t)arg;
	if ((intptr_t)arg % 3 == 0)
		xtc_yield();
	T_OK(xtc_amutex_unlock(lock));
}

/* It comes right back for the lock, and finds itself behind the others. */
static void
hold_and_return(void *arg)
{
	(void)arg;
	T_OK(xtc_amutex_lock(lock, -1));
	xtc_yield();
	T_RC(xtc_amutex_lock(lock, -1), XTC_E_DEADLK);
	T_OK(xtc_amutex_unlock(lock));
	T_RC(xtc_amutex_try_lock(lock), XTC_E_AGAIN);
	T_OK(xtc_amutex_lock(lock, -1));
	T_EQ(n_served, 99);
	T_OK(xtc_amutex_unlock(lock));
	t_add(&steps, 1);
}

START_TEST(first_come_first_served_on_one_loop)
{
	make_lock();
	t_spawn(hold_and_return, NULL);
	for (int i = 0; i < 99; i++)
		t_spawn(wait_in_line, (void *)(intptr_t)i);
	T_OK(xtc_loop_run(t_loop));
	for (int i = 0; i < 99; i++)
		T_EQ(served[i], i);
	T_EQ(t_get(&steps), 1);
	drop_lock();
}
END_TEST

static void
time_out(void *arg)
{
	static const int64_t timeouts[] = { 0, 1, T_US, 300 * T_US,
	    3 * T_MS };
	int64_t t0;

	(void)arg;
	T_RC(xtc_amutex_try_lock(lock), XTC_E_AGAIN);
	for (int i = 0; i < 5; i++) {
		t0 = xtc_clock_mono();
		T_RC(xtc_amutex_lock(lock, timeouts[i]), XTC_E_AGAIN);
		T_TRUE(xtc_clock_mono() - t0 >= timeouts[i]);
	}
	T_RC(xtc_amutex_unlock(lock), XTC_E_INVAL);
	t_add(&steps, 1);
}

static void *
time_out_in_thread(void *arg)
{
	time_out(arg);
	return (NULL);
}

static void
hold_until_2(void *arg)
{
	(void)arg;
	T_OK(xtc_amutex_lock(lock, -1));
	t_spawn(time_out, NULL);
	while (t_get(&steps) < 1)
		T_OK(xtc_proc_sleep(T_MS));
	t_join(t_thread(time_out_in_thread, NULL));
	T_OK(xtc_amutex_unlock(lock));
}

START_TEST(a_lock_times_out_and_not_early)
{
	make_lock();
	t_run(hold_until_2, NULL);
	T_EQ(t_get(&steps), 2);
	drop_lock();
}
END_TEST

static void
lock_and_return(void *arg)
{
	(void)arg;
	T_OK(xtc_amutex_lock(lock, -1));
}

static void
lock_and_leave(void *arg)
{
	(void)arg;
	T_OK(xtc_amutex_lock(lock, -1));
	xtc_exit_self(1);
}

static void
lock_and_be_killed(void *arg)
{
	(void)arg;
	T_OK(xtc_amutex_lock(lock, -1));
	T_OK(xtc_exit_pid(xtc_self(), 1));
	xtc_proc_sleep(INT64_MAX);
}

static intptr_t
fiber_locks_and_returns(void *arg)
{
	lock_and_return(arg);
	return (0);
}

static void *
lock_and_end_in_thread(void *arg)
{
	lock_and_return(arg);
	return (NULL);
}

/* Told once; held all the same; normal after the unlock. */
static void
inherit_free_lock(int try)
{
	if (try)
		T_RC(xtc_amutex_try_lock(lock), XTC_E_OWNERDEAD);
	else
		T_RC(xtc_amutex_lock(lock, -1), XTC_E_OWNERDEAD);
	T_RC(xtc_amutex_lock(lock, -1), XTC_E_DEADLK);
	T_RC(xtc_amutex_try_lock(lock), XTC_E_DEADLK);
	T_OK(xtc_amutex_unlock(lock));
	T_OK(xtc_amutex_lock(lock, -1));
	T_OK(xtc_amutex_unlock(lock));
}

START_TEST(the_next_owner_learns_once_that_the_owner_died)
{
	make_lock();
	for (int i = 0; i < 20; i++) {
		t_run(lock_and_return, NULL);
		inherit_free_lock(i % 2);
		t_run(lock_and_leave, NULL);
		inherit_free_lock(i % 2);
		t_run(lock_and_be_killed, NULL);
		inherit_free_lock(i % 2);
		T_OK(xtc_async(t_loop, fiber_locks_and_returns, NULL, NULL));
		T_OK(xtc_loop_run(t_loop));
		inherit_free_lock(i % 2);
		t_join(t_thread(lock_and_end_in_thread, NULL));
		inherit_free_lock(i % 2);
	}
	drop_lock();
}
END_TEST

/* Dead again before the unlock: told again. */
static void
inherit_and_die(void *arg)
{
	(void)arg;
	T_RC(xtc_amutex_lock(lock, -1), XTC_E_OWNERDEAD);
	t_add(&steps, 1);
}

START_TEST(an_heir_that_dies_too_is_told_of)
{
	make_lock();
	t_run(lock_and_return, NULL);
	for (int i = 0; i < 10; i++)
		t_run(inherit_and_die, NULL);
	T_EQ(t_get(&steps), 10);
	inherit_free_lock(0);
	drop_lock();
}
END_TEST

static void
hold_and_sleep(void *arg)
{
	(void)arg;
	T_OK(xtc_amutex_lock(lock, -1));
	t_add(&steps, 1);
	xtc_proc_sleep(INT64_MAX);
}

static void
wait_for_the_dead(void *arg)
{
	int nth, rc;

	rc = xtc_amutex_lock(lock, (intptr_t)arg % 2 ? -1 : 3600 * T_SEC);
	nth = t_add(&quit, 1);
	T_RC(rc, nth == 0 ? XTC_E_OWNERDEAD : XTC_OK);
	xtc_yield();
	T_OK(xtc_amutex_unlock(lock));
}

static void
kill_the_holder(void *arg)
{
	xtc_pid_t holder = t_spawn(hold_and_sleep, NULL);

	(void)arg;
	while (t_get(&steps) == 0)
		xtc_yield();
	for (int i = 0; i < 10; i++)
		t_spawn(wait_for_the_dead, (void *)(intptr_t)i);
	for (int i = 0; i < 10; i++)
		xtc_yield();
	T_OK(xtc_exit_pid(holder, 1));
}

START_TEST(a_killed_holders_lock_is_handed_to_the_first_waiter)
{
	make_lock();
	t_run(kill_the_holder, NULL);
	T_EQ(t_get(&quit), 10);
	drop_lock();
}
END_TEST

static void
inherit_from_thread(void *arg)
{
	(void)arg;
	/* Comes before or after the thread's end: both are in order. */
	t_set(&quit, 1);
	T_RC(xtc_amutex_lock(lock, -1), XTC_E_OWNERDEAD);
	T_OK(xtc_amutex_unlock(lock));
	t_add(&steps, 1);
}

static void *
hold_in_thread_and_end(void *arg)
{
	T_OK(xtc_amutex_lock(lock, -1));
	t_set((atomic_int *)arg, 1);
	t_wait_for(&quit, 1);
	t_spin((int64_t)(xtc_clock_mono() % 50000));
	return (NULL);
}

START_TEST(a_thread_that_ends_as_holder_hands_the_lock_on)
{
	make_lock();
	for (int i = 0; i < 200; i++) {
		atomic_int held = 0;
		pthread_t t;

		t_set(&quit, 0);
		t = t_thread(hold_in_thread_and_end, &held);
		t_wait_for(&held, 1);
		t_run(inherit_from_thread, NULL);
		t_join(t);
	}
	T_EQ(t_get(&steps), 200);
	drop_lock();
}
END_TEST

static void *
inherit_in_thread(void *arg)
{
	inherit_from_thread(arg);
	return (NULL);
}

START_TEST(a_thread_inherits_from_a_thread)
{
	make_lock();
	for (int i = 0; i < 200; i++) {
		atomic_int held = 0;
		pthread_t t, u;

		t_set(&quit, 0);
		t = t_thread(hold_in_thread_and_end, &held);
		t_wait_for(&held, 1);
		u = t_thread(inherit_in_thread, NULL);
		t_join(t);
		t_join(u);
	}
	T_EQ(t_get(&steps), 200);
	drop_lock();
}
END_TEST

static xtc_amutex_t *hundred[100];

static void
hold_a_hundred(void *arg)
{
	(void)arg;
	for (int i = 0; i < 100; i++)
		T_OK(xtc_amutex_lock(hundred[i], -1));
	/* Some given back, in another order. */
	for (int i = 0; i < 100; i += 3)
		T_OK(xtc_amutex_unlock(hundred[i]));
	t_add(&steps, 1);
	xtc_proc_sleep(INT64_MAX);
}

START_TEST(all_locks_that_a_victim_holds_are_released)
{
	xtc_pid_t pid;

	for (int i = 0; i < 100; i++)
		T_OK(xtc_amutex_create(&hundred[i]));
	pid = t_spawn(hold_a_hundred, NULL);
	t_run_until(t_loop, &steps, 1);
	T_OK(xtc_exit_pid(pid, 1));
	T_OK(xtc_loop_run(t_loop));
	for (int i = 0; i < 100; i++) {
		T_RC(xtc_amutex_lock(hundred[i], 0),
		    i % 3 == 0 ? XTC_OK : XTC_E_OWNERDEAD);
		T_OK(xtc_amutex_unlock(hundred[i]));
		T_OK(xtc_amutex_destroy(hundred[i]));
	}
}
END_TEST

static void
take_what_comes(void *arg)
{
	int rc;

	(void)arg;
	t_add(&steps, 1);
	rc = xtc_amutex_lock(lock, -1);
	T_TRUE(rc == XTC_OK || rc == XTC_E_OWNERDEAD);
	xtc_proc_sleep(INT64_MAX);
}

START_TEST(locks_held_when_the_loop_is_finished_are_released)
{
	xtc_loop_t *l;

	make_lock();
	T_OK(xtc_loop_init(&l));
	t_spawn_on(l, hold_and_sleep, NULL);
	for (int i = 0; i < 10; i++)
		t_spawn_on(l, take_what_comes, NULL);
	t_run_until(l, &steps, 11);
	T_OK(xtc_loop_fini(l));
	T_RC(xtc_amutex_lock(lock, 0), XTC_E_OWNERDEAD);
	T_OK(xtc_amutex_unlock(lock));
	drop_lock();
}
END_TEST

static void
unlock_at_exit(void *arg)
{
	T_OK(xtc_amutex_unlock(arg));
}

static void
exit_with_care(void *arg)
{
	T_OK(xtc_amutex_lock(lock, -1));
	T_OK(xtc_proc_at_exit(unlock_at_exit, lock));
	if (arg != NULL)
		xtc_exit_self(0);
}

/* at-exit functions come first: it did not die holding the lock. */
START_TEST(an_at_exit_function_can_still_unlock)
{
	make_lock();
	t_run(exit_with_care, NULL);
	t_run(exit_with_care, t_loop);
	drop_lock();
}
END_TEST

/* The grant may come before the kill: then it dies at its next wait. */
static void
be_killed_in_line(void *arg)
{
	int rc;

	(void)arg;
	t_add(&quit, 1);
	rc = xtc_amutex_lock(lock, -1);
	if (rc != XTC_E_OWNERDEAD)
		T_OK(rc);
	T_OK(xtc_amutex_unlock(lock));
	xtc_proc_sleep(INT64_MAX);
	t_fail("a killed fiber returned from its wait");
}

static void
kill_some_in_line(void *arg)
{
	xtc_pid_t pid[20];

	(void)arg;
	T_OK(xtc_amutex_lock(lock, -1));
	for (int i = 0; i < 20; i++)
		pid[i] = t_spawn(i % 2 ? wait_in_line : be_killed_in_line,
		    (void *)(intptr_t)i);
	while (t_get(&quit) < 10)
		xtc_yield();
	xtc_yield();
	/* Half before the unlock, half between the grant and its taking. */
	for (int i = 2; i < 20; i += 4)
		T_OK(xtc_exit_pid(pid[i], 1));
	T_OK(xtc_amutex_unlock(lock));
	for (int i = 0; i < 20; i += 4)
		T_OK(xtc_exit_pid(pid[i], 1));
}

/* Nothing of theirs remains in the queue, and no grant dies with them. */
START_TEST(waiters_killed_in_line_are_passed_by)
{
	int rc;

	make_lock();
	heirs_of_dead = 1;
	t_run(kill_some_in_line, NULL);
	T_EQ(n_served, 10);
	for (int i = 0; i < 10; i++)
		T_EQ(served[i], 2 * i + 1);
	/* Perhaps one held it when it died. */
	rc = xtc_amutex_lock(lock, 0);
	T_TRUE(rc == XTC_OK || rc == XTC_E_OWNERDEAD);
	T_OK(xtc_amutex_unlock(lock));
	drop_lock();
}
END_TEST

/* Timeouts of 0 to 2 us: each acquisition is one addition. */

static void
lock_impatiently(uint64_t rnd, int n)
{
	int64_t end = t_seconds_from_now(10);

	for (int i = 0; i < n && t_before(end); i++) {
		int rc = xtc_amutex_lock(lock, (int64_t)(t_rand(&rnd) %
		    2001));

		if (rc == XTC_E_AGAIN)
			continue;
		T_OK(rc);
		counter++;
		switch (t_rand(&rnd) % 16) {
		case 0:
			if (xtc_loop_self() != NULL)
				xtc_yield();
			break;
		case 1:
			t_spin((int64_t)(t_rand(&rnd) % 3000));
			break;
		}
		T_OK(xtc_amutex_unlock(lock));
		t_add(&acquired, 1);
	}
	t_add(&steps, 1);
}

static void
lock_impatiently_in_fiber(void *arg)
{
	lock_impatiently((uint64_t)t_add(&quit, 1) + 1, *(int *)arg);
}

static void *
lock_impatiently_in_thread(void *arg)
{
	lock_impatiently_in_fiber(arg);
	return (NULL);
}

START_TEST(timeouts_of_0_to_2_us_lose_no_lock_on_one_loop)
{
	int n = t_count(1000000) / 4;

	make_lock();
	for (int i = 0; i < 4; i++)
		t_spawn(lock_impatiently_in_fiber, &n);
	T_OK(xtc_loop_run(t_loop));
	T_EQ(t_get(&steps), 4);
	T_EQ(counter, t_get(&acquired));
	T_TRUE(counter > 0);
	drop_lock();
}
END_TEST

START_TEST(timeouts_of_0_to_2_us_lose_no_lock_across_loops_and_threads)
{
	int n = t_count(1000000) / 6;
	xtc_loop_t *l;
	pthread_t t[3];

	make_lock();
	T_OK(xtc_loop_init(&l));
	for (int i = 0; i < 2; i++) {
		t_spawn(lock_impatiently_in_fiber, &n);
		t_spawn_on(l, lock_impatiently_in_fiber, &n);
	}
	t[0] = t_thread(t_run_loop, l);
	t[1] = t_thread(lock_impatiently_in_thread, &n);
	t[2] = t_thread(lock_impatiently_in_thread, &n);
	T_OK(xtc_loop_run(t_loop));
	for (int i = 0; i < 3; i++)
		t_join(t[i]);
	T_OK(xtc_loop_fini(l));
	T_EQ(t_get(&steps), 6);
	T_EQ(counter, t_get(&acquired));
	T_TRUE(counter > 0);
	drop_lock();
}
END_TEST

static void
hammer(void *arg)
{
	(void)arg;
	while (!t_get(&quit)) {
		T_OK(xtc_amutex_lock(lock, -1));
		t_add(&acquired, 1);
		T_OK(xtc_amutex_unlock(lock));
		(void)xtc_yield_if_due();
	}
}

static void
take_now_and_then(void *arg)
{
	int64_t end = t_seconds_from_now(5);
	int n = *(int *)arg;

	for (int i = 0; i < n && t_before(end); i++) {
		T_OK(xtc_amutex_lock(lock, -1));
		t_add(&acquired, 1);
		T_OK(xtc_amutex_unlock(lock));
	}
	t_set(&quit, 1);
	t_add(&steps, 1);
}

static void *
take_now_and_then_in_thread(void *arg)
{
	take_now_and_then(arg);
	return (NULL);
}

/* A runner may barge, but not for ever: the test comes to its end. */
START_TEST(a_runner_of_another_loop_starves_no_waiter)
{
	int n = t_count(20000);
	xtc_loop_t *l;
	pthread_t t;

	make_lock();
	T_OK(xtc_loop_init(&l));
	t_spawn(take_now_and_then, &n);
	t_spawn_on(l, hammer, NULL);
	t = t_thread(t_run_loop, l);
	T_OK(xtc_loop_run(t_loop));
	t_join(t);
	t_set(&quit, 0);
	t_spawn_on(l, hammer, NULL);
	t = t_thread(take_now_and_then_in_thread, &n);
	T_OK(xtc_loop_run(l));
	t_join(t);
	T_OK(xtc_loop_fini(l));
	T_EQ(t_get(&steps), 2);
	drop_lock();
}
END_TEST

/*
 * Two loops, run in turn by this thread: one's fiber holds the lock, the
 * other's waits for it while its loop does not run. The code of a try_lock
 * right after the unlock.
 */
static int barge_rc;

static void
hold_over_two_runs(void *arg)
{
	T_OK(xtc_amutex_lock(lock, -1));
	T_OK(xtc_loop_stop(t_loop));
	xtc_yield();
	if (arg != NULL)
		T_OK(xtc_proc_sleep(T_MS));
	T_OK(xtc_amutex_unlock(lock));
	barge_rc = xtc_amutex_try_lock(lock);
	if (barge_rc == XTC_OK)
		T_OK(xtc_amutex_unlock(lock));
}

static void
wait_on_another_loop(void *arg)
{
	(void)arg;
	t_add(&quit, 1);
	T_OK(xtc_amutex_lock(lock, -1));
	T_OK(xtc_amutex_unlock(lock));
	t_add(&steps, 1);
}

static int
try_to_barge(void *after_a_while)
{
	xtc_loop_t *l;

	t_set(&quit, 0);
	T_OK(xtc_loop_init(&l));
	t_run(hold_over_two_runs, after_a_while);
	t_spawn_on(l, wait_on_another_loop, NULL);
	t_run_until(l, &quit, 1);
	T_OK(xtc_loop_run(t_loop));
	T_OK(xtc_loop_run(l));
	T_OK(xtc_loop_fini(l));
	return (barge_rc);
}

/* A millisecond is more than 50 us on any machine. */
START_TEST(a_waiter_of_another_loop_gets_the_lock_after_a_while)
{
	make_lock();
	for (int i = 1; i <= 20; i++) {
		T_RC(try_to_barge(t_loop), XTC_E_AGAIN);
		T_EQ(t_get(&steps), i);
	}
	drop_lock();
}
END_TEST

/* At once is less than 50 us, once in a thousand times at least. */
START_TEST(a_runner_barges_past_a_young_waiter_of_another_loop)
{
	int rc = XTC_E_AGAIN;

	make_lock();
	for (int i = 0; i < 1000 && rc == XTC_E_AGAIN; i++)
		rc = try_to_barge(NULL);
	T_OK(rc);
	drop_lock();
}
END_TEST

START_TEST(a_million_locks_in_constant_memory)
{
	xtc_amutex_t *m;
	int n = t_count(1000000);
	long rss = 0;

	for (int i = 0; i < n; i++) {
		T_OK(xtc_amutex_create(&m));
		T_OK(xtc_amutex_lock(m, 0));
		T_OK(xtc_amutex_unlock(m));
		T_OK(xtc_amutex_destroy(m));
		if (i == n / 10)
			rss = t_maxrss_kib();
	}
	if (t_slow() == 1)
		T_TRUE(t_maxrss_kib() - rss < 2000);
}
END_TEST

/* Destroyed by one who has just unlocked it after another's wait. */
static void
last_user(void *arg)
{
	xtc_amutex_t *m = arg;

	T_OK(xtc_amutex_lock(m, -1));
	T_OK(xtc_amutex_unlock(m));
	T_OK(xtc_amutex_destroy(m));
	t_add(&steps, 1);
}

static void
first_user(void *arg)
{
	xtc_amutex_t *m;
	int n = *(int *)arg;

	for (int i = 0; i < n; i++) {
		T_OK(xtc_amutex_create(&m));
		T_OK(xtc_amutex_lock(m, -1));
		t_spawn(last_user, m);
		xtc_yield();
		T_OK(xtc_amutex_unlock(m));
	}
}

START_TEST(the_last_user_destroys_it_after_a_hand_off)
{
	int n = t_count(20000);

	t_run(first_user, &n);
	T_EQ(t_get(&steps), n);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("amutex");

	t_case(s, one_owner_at_a_time_on_one_loop, 10);
	t_case_bare(s, one_owner_at_a_time_among_threads, 30);
	t_case(s, one_owner_at_a_time_among_loops_and_threads, 30);
	t_case(s, first_come_first_served_on_one_loop, 5);
	t_case(s, a_lock_times_out_and_not_early, 5);
	t_case(s, the_next_owner_learns_once_that_the_owner_died, 5);
	t_case(s, an_heir_that_dies_too_is_told_of, 5);
	t_case(s, a_killed_holders_lock_is_handed_to_the_first_waiter, 5);
	t_case(s, a_thread_that_ends_as_holder_hands_the_lock_on, 10);
	t_case_bare(s, a_thread_inherits_from_a_thread, 10);
	t_case(s, all_locks_that_a_victim_holds_are_released, 5);
	t_case_bare(s, locks_held_when_the_loop_is_finished_are_released, 5);
	t_case(s, an_at_exit_function_can_still_unlock, 5);
	t_case(s, waiters_killed_in_line_are_passed_by, 5);
	t_case(s, timeouts_of_0_to_2_us_lose_no_lock_on_one_loop, 30);
	t_case(s, timeouts_of_0_to_2_us_lose_no_lock_across_loops_and_threads,
	    60);
	t_case(s, a_runner_of_another_loop_starves_no_waiter, 60);
	t_case(s, a_waiter_of_another_loop_gets_the_lock_after_a_while, 5);
	t_case(s, a_runner_barges_past_a_young_waiter_of_another_loop, 10);
	t_case_bare(s, a_million_locks_in_constant_memory, 10);
	t_case(s, the_last_user_destroys_it_after_a_hand_off, 10);
	return (t_main(s));
}
