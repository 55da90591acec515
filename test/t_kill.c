/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * A kill ends its victim, whatever it waits for, and nobody else; its
 * at-exit functions run and what it held goes on.
 */
#include "testlib.h"

static atomic_int steps, exits, quit, begun;
static xtc_amutex_t *lock;
static xtc_task_t *task;

static void
count_exit(void *arg)
{
	(void)arg;
	t_add(&exits, 1);
}

static void
begin_victim(void)
{
	T_OK(xtc_proc_at_exit(count_exit, NULL));
	t_add(&steps, 1);
}

static void
victim_sleeps(void *arg)
{
	(void)arg;
	begin_victim();
	xtc_proc_sleep(3600 * T_SEC);
	t_fail("a killed fiber returned from its wait");
}

static void
victim_receives(void *arg)
{
	void *msg;

	(void)arg;
	begin_victim();
	xtc_recv(&msg, NULL, -1);
	t_fail("a killed fiber returned from its wait");
}

static void
victim_receives_in_time(void *arg)
{
	void *msg;

	(void)arg;
	begin_victim();
	xtc_recv(&msg, NULL, 3600 * T_SEC);
	t_fail("a killed fiber returned from its wait");
}

static int
match_none(const void *data, size_t size, void *user)
{
	(void)data;
	(void)size;
	(void)user;
	return (0);
}

static void
victim_matches(void *arg)
{
	void *msg;

	(void)arg;
	T_OK(t_send_int(xtc_self(), 1));
	begin_victim();
	xtc_recv_match(match_none, NULL, &msg, NULL, -1);
	t_fail("a killed fiber returned from its wait");
}

static void
victim_locks(void *arg)
{
	(void)arg;
	begin_victim();
	xtc_amutex_lock(lock, -1);
	t_fail("a killed fiber returned from its wait");
}

static void
victim_locks_in_time(void *arg)
{
	(void)arg;
	begin_victim();
	xtc_amutex_lock(lock, 3600 * T_SEC);
	t_fail("a killed fiber returned from its wait");
}

static void
victim_waits_for_a_wake(void *arg)
{
	xtc_waker_t w;

	(void)arg;
	T_OK(xtc_waker_self(&w));
	begin_victim();
	xtc_waker_wait(-1);
	t_fail("a killed fiber returned from its wait");
}

static void
victim_awaits(void *arg)
{
	(void)arg;
	begin_victim();
	xtc_await(task, NULL);
	t_fail("a killed fiber returned from its wait");
}

static void
victim_yields(void *arg)
{
	(void)arg;
	begin_victim();
	for (;;)
		xtc_yield();
}

static void
victim_checks(void *arg)
{
	(void)arg;
	begin_victim();
	xtc_yield();
	/* Killed now, and never again yields. */
	for (;;)
		(void)xtc_yield_check();
}

static void
victim_yields_if_due(void *arg)
{
	(void)arg;
	begin_victim();
	xtc_yield();
	for (;;)
		(void)xtc_yield_if_due();
}

static void (*const victims[])(void *) = { victim_sleeps, victim_receives,
    victim_receives_in_time, victim_matches, victim_locks,
    victim_locks_in_time, victim_waits_for_a_wake, victim_awaits,
    victim_yields, victim_checks, victim_yields_if_due };
#define N_VICTIMS ((int)(sizeof(victims) / sizeof(victims[0])))

static intptr_t
await_the_end(void *arg)
{
	while (!t_get(&quit))
		T_OK(xtc_proc_sleep(100 * T_US));
	return ((intptr_t)arg);
}

static void
dies_now(xtc_pid_t pid, int exits_before)
{
	int64_t t0 = xtc_clock_mono();

	T_OK(xtc_exit_pid(pid, 1));
	while (xtc_exit_pid(pid, 2) != XTC_E_INVAL)
		xtc_yield();
	T_EQ(t_get(&exits), exits_before + 1);
	/* An hour early; a minute is room for any machine. */
	T_TRUE(xtc_clock_mono() - t0 < 60 * T_SEC);
}

static void
kill_each_kind(void *arg)
{
	xtc_pid_t pid;

	(void)arg;
	T_OK(xtc_async(t_loop, await_the_end, NULL, &task));
	T_OK(xtc_amutex_lock(lock, -1));
	for (int i = 0; i < 10 * N_VICTIMS; i++) {
		pid = t_spawn(victims[i % N_VICTIMS], NULL);
		while (t_get(&steps) <= i)
			xtc_yield();
		dies_now(pid, i);
	}
	T_OK(xtc_amutex_unlock(lock));
	t_set(&quit, 1);
	T_OK(xtc_await(task, NULL));
}

START_TEST(a_kill_ends_every_kind_of_wait_at_once)
{
	T_OK(xtc_amutex_create(&lock));
	t_run(kill_each_kind, NULL);
	T_EQ(t_get(&exits), 10 * N_VICTIMS);
	T_OK(xtc_amutex_lock(lock, 0));
	T_OK(xtc_amutex_unlock(lock));
	T_OK(xtc_amutex_destroy(lock));
}
END_TEST

static void
killer_of_another_loop(void *arg)
{
	xtc_loop_t *l = arg;
	int64_t end = t_seconds_from_now(5);
	uint64_t rnd = 2463534242;
	int n = t_count(20000);
	xtc_pid_t pid;

	for (int i = 0; i < n && t_before(end); i++) {
		pid = t_spawn_on(l, victims[i % N_VICTIMS], NULL);
		if (i % 2 == 0)
			while (t_get(&steps) <= i)
				xtc_yield();
		t_spin((int64_t)(t_rand(&rnd) % 3000));
		T_OK(xtc_exit_pid(pid, 1));
		while (xtc_exit_pid(pid, 2) != XTC_E_INVAL)
			xtc_yield();
		/* One killed before it began may or may not begin. */
		t_set(&steps, i + 1);
		t_set(&exits, 0);
	}
	t_set(&quit, 1);
	T_OK(xtc_loop_stop(l));
}

static void
hold_lock(void *arg)
{
	(void)arg;
	T_OK(xtc_amutex_lock(lock, -1));
	xtc_proc_sleep(INT64_MAX);
}

START_TEST(a_kill_from_another_loop_ends_every_kind_of_wait)
{
	xtc_loop_t *l;
	pthread_t t;

	T_OK(xtc_amutex_create(&lock));
	T_OK(xtc_loop_init(&l));
	t_spawn_on(l, hold_lock, NULL);
	T_OK(xtc_async(l, await_the_end, NULL, &task));
	t = t_thread(t_run_loop, l);
	t_run(killer_of_another_loop, l);
	t_join(t);
	T_OK(xtc_loop_fini(l));
	T_RC(xtc_amutex_lock(lock, 0), XTC_E_OWNERDEAD);
	T_OK(xtc_amutex_unlock(lock));
	T_OK(xtc_amutex_destroy(lock));
}
END_TEST

static void
kill_myself(void *arg)
{
	void *msg;

	(void)arg;
	T_OK(xtc_proc_at_exit(count_exit, NULL));
	T_OK(xtc_exit_pid(xtc_self(), 1));
	t_add(&steps, 1);
	xtc_recv(&msg, NULL, 0);
	t_add(&steps, 1);
	xtc_yield();
	t_fail("a killed fiber went on");
}

/* A receive of 0 is no wait: it may or may not be the end. */
START_TEST(one_that_kills_itself_dies_at_its_next_wait)
{
	t_run(kill_myself, NULL);
	T_TRUE(t_get(&steps) == 1 || t_get(&steps) == 2);
	T_EQ(t_get(&exits), 1);
}
END_TEST

static void
kill_unborn(void *arg)
{
	xtc_pid_t pid;

	(void)arg;
	for (int i = 0; i < 1000; i++) {
		pid = t_spawn(victims[i % N_VICTIMS], NULL);
		T_OK(xtc_exit_pid(pid, 1));
		while (xtc_exit_pid(pid, 1) != XTC_E_INVAL)
			xtc_yield();
	}
	T_EQ(t_get(&steps), t_get(&exits));
	T_OK(xtc_amutex_unlock(lock));
	t_set(&quit, 1);
	T_OK(xtc_await(task, NULL));
}

static void
lock_and_kill_unborn(void *arg)
{
	T_OK(xtc_async(t_loop, await_the_end, NULL, &task));
	T_OK(xtc_amutex_lock(lock, -1));
	kill_unborn(arg);
}

START_TEST(one_that_has_not_run_yet_can_be_killed)
{
	T_OK(xtc_amutex_create(&lock));
	t_run(lock_and_kill_unborn, NULL);
	T_OK(xtc_amutex_destroy(lock));
}
END_TEST

static void
critical_inside(void *arg)
{
	void *msg;

	(void)arg;
	T_OK(xtc_proc_at_exit(count_exit, NULL));
	T_OK(xtc_proc_critical_enter());
	T_OK(xtc_proc_critical_enter());
	t_set(&steps, 1);
	while (t_get(&quit) == 0)
		xtc_yield();
	/* The kill is pending, and no wait sees it. */
	T_OK(xtc_proc_sleep(T_MS));
	xtc_yield();
	(void)xtc_yield_check();
	T_RC(xtc_recv(&msg, NULL, T_US), XTC_E_AGAIN);
	T_OK(xtc_amutex_lock(lock, -1));
	T_OK(xtc_amutex_unlock(lock));
	T_OK(xtc_proc_critical_leave());
	T_OK(xtc_proc_sleep(T_US));
	T_EQ(t_get(&exits), 0);
	t_set(&steps, 2);
	xtc_proc_critical_leave();
	t_fail("the outermost leave returned");
}

static void
kill_in_critical(void *arg)
{
	xtc_pid_t pid = *(xtc_pid_t *)arg;

	while (t_get(&steps) == 0)
		xtc_yield();
	T_OK(xtc_exit_pid(pid, 1));
	t_set(&quit, 1);
}

START_TEST(a_critical_section_defers_the_kill_to_its_outermost_leave)
{
	xtc_pid_t pid;

	T_OK(xtc_amutex_create(&lock));
	pid = t_spawn(critical_inside, NULL);
	t_spawn(kill_in_critical, &pid);
	T_OK(xtc_loop_run(t_loop));
	T_OK(xtc_amutex_destroy(lock));
	T_EQ(t_get(&steps), 2);
	T_EQ(t_get(&exits), 1);
}
END_TEST

static void
not_killed(void *arg)
{
	(void)arg;
	for (int i = 0; i < 100; i++) {
		T_OK(xtc_proc_critical_enter());
		xtc_yield();
		T_OK(xtc_proc_critical_leave());
		xtc_yield();
	}
	t_add(&steps, 1);
}

START_TEST(a_critical_section_without_a_kill_changes_nothing)
{
	t_run(not_killed, NULL);
	T_EQ(t_get(&steps), 1);
}
END_TEST

static void
exit_under_fire(void *arg)
{
	xtc_pid_t me = xtc_self();

	(void)arg;
	for (int i = 0; i < 10; i++) {
		/* Kill it again; it may say that there is none any more. */
		(void)xtc_exit_pid(me, 2);
		T_OK(xtc_proc_sleep(10 * T_US));
		xtc_yield();
	}
	t_add(&exits, 1);
}

static void
end_under_fire(void *arg)
{
	T_OK(xtc_proc_at_exit(exit_under_fire, NULL));
	T_OK(xtc_proc_at_exit(exit_under_fire, NULL));
	t_add(&begun, 1);
	if (arg != NULL)
		xtc_proc_sleep(INT64_MAX);
}

START_TEST(an_at_exit_function_cannot_be_killed)
{
	xtc_pid_t pid;

	t_run(end_under_fire, NULL);
	T_EQ(t_get(&exits), 2);
	pid = t_spawn(end_under_fire, t_loop);
	t_run_until(t_loop, &begun, 2);
	T_OK(xtc_exit_pid(pid, 1));
	T_OK(xtc_loop_run(t_loop));
	T_EQ(t_get(&exits), 4);
}
END_TEST

/*
 * A thread kills whatever pid it reads, while processes end and their
 * structs serve new ones at once, and signals hold it up between looking and
 * killing. Only one whose pid was killed with XTC_OK may die by it.
 */
#define SLOTS 4
static pthread_t killer;
static _Atomic uint64_t targets[SLOTS];
static atomic_int killed_ok, ended, spawned;

static void
live_a_little(void *arg)
{
	_Atomic uint64_t *slot = arg;

	t_add(&steps, 1);
	t_set(slot, xtc_self().id);
	xtc_yield();
	if (xtc_self().id % 3 == 0)
		T_OK(xtc_proc_sleep(T_US));
	xtc_yield();
	/* From here on nobody dies: no waits. */
	t_add(&ended, 1);
}

static void
live_unseen(void *arg)
{
	(void)arg;
	for (int i = 0; i < 4; i++)
		xtc_yield();
	t_add(&exits, 1);
}

static void
spawn_targets(void *arg)
{
	int64_t end = t_seconds_from_now(5);
	int n = *(int *)arg;

	for (int i = 0; i < n && t_before(end); i++) {
		t_add(&spawned, 1);
		t_spawn(live_a_little, &targets[i % SLOTS]);
		t_spawn(live_unseen, NULL);
		xtc_yield();
		if (i % 4 == 0)
			t_dawdle(killer);
		if (i % 64 == 0)
			T_OK(xtc_proc_sleep(20 * T_US));
	}
}

static void *
kill_targets(void *arg)
{
	uint64_t counted[SLOTS] = { 0 };

	(void)arg;
	while (!t_get(&quit))
		for (int i = 0; i < SLOTS; i++) {
			xtc_pid_t pid = { t_get(&targets[i]) };

			/* Again and again, but counted as one victim. */
			if (xtc_exit_pid(pid, 1) != XTC_OK ||
			    pid.id == counted[i])
				continue;
			counted[i] = pid.id;
			t_add(&killed_ok, 1);
		}
	return (NULL);
}

START_TEST(a_kill_never_hits_the_next_incarnation)
{
	int n = t_count(300000);

	t_dawdle_setup();
	killer = t_thread(kill_targets, NULL);
	t_run(spawn_targets, &n);
	t_set(&quit, 1);
	t_join(killer);
	n = t_get(&spawned);
	T_EQ(t_get(&steps), n);
	/* Nobody ever knew the pids of these. */
	T_EQ(t_get(&exits), n);
	/* One killed between its last wait and its end ends by itself. */
	T_TRUE(n - t_get(&ended) <= t_get(&killed_ok));
}
END_TEST

static void
all_wait(void *arg)
{
	T_OK(xtc_proc_at_exit(count_exit, NULL));
	t_add(&steps, 1);
	victims[(intptr_t)arg % 8](NULL);
}

static void
kill_a_thousand(void *arg)
{
	static xtc_pid_t pid[1000];

	T_OK(xtc_async(t_loop, await_the_end, arg, &task));
	T_OK(xtc_amutex_lock(lock, -1));
	for (int i = 0; i < 1000; i++)
		pid[i] = t_spawn(all_wait, (void *)(intptr_t)i);
	while (t_get(&steps) < 2000)
		xtc_yield();
	for (int i = 0; i < 1000; i++)
		T_OK(xtc_exit_pid(pid[(i * 37) % 1000], 1));
	while (t_get(&exits) < 2000)
		xtc_yield();
	T_OK(xtc_amutex_unlock(lock));
	T_OK(xtc_amutex_lock(lock, 0));
	T_OK(xtc_amutex_unlock(lock));
	t_set(&quit, 1);
	T_OK(xtc_await(task, NULL));
}

START_TEST(a_thousand_waiters_of_one_object_are_killed)
{
	T_OK(xtc_amutex_create(&lock));
	t_run(kill_a_thousand, NULL);
	T_OK(xtc_amutex_destroy(lock));
}
END_TEST

static void
spawn_at_exit(void *arg)
{
	xtc_loop_t *l = xtc_loop_self();

	t_add(&exits, 1);
	/* What a loop does with it while it is finished is its affair. */
	(void)xtc_proc_spawn(l, victim_sleeps, arg, NULL, NULL);
	(void)xtc_timer_set(l, T_MS, count_exit, NULL, NULL);
}

static void
sleep_then_spawn(void *arg)
{
	T_OK(xtc_proc_at_exit(spawn_at_exit, arg));
	t_add(&steps, 1);
	xtc_proc_sleep(INT64_MAX);
}

START_TEST(fini_ends_though_an_at_exit_function_spawns)
{
	xtc_loop_t *l;

	for (int i = 1; i <= 10; i++) {
		T_OK(xtc_loop_init(&l));
		t_spawn_on(l, sleep_then_spawn, NULL);
		t_run_until(l, &steps, i);
		T_OK(xtc_loop_fini(l));
	}
	T_TRUE(t_get(&exits) >= 10);
}
END_TEST

static void
await_killed(void *arg)
{
	T_RC(xtc_await(arg, NULL), XTC_E_ABORTED);
	t_add(&steps, 1);
}

static intptr_t
fiber_sleeps(void *arg)
{
	(void)arg;
	t_add(&begun, 1);
	xtc_proc_sleep(INT64_MAX);
	t_fail("a killed fiber returned from its wait");
	return (0);
}

static void
sleep_and_await_at_exit(void *arg)
{
	T_OK(xtc_proc_at_exit(await_killed, arg));
	t_add(&begun, 1);
	xtc_proc_sleep(INT64_MAX);
}

/* fini kills both, whatever the order, and neither waits for ever. */
START_TEST(an_at_exit_function_awaits_another_victim_of_fini)
{
	xtc_task_t *t[2];
	xtc_loop_t *l;

	T_OK(xtc_loop_init(&l));
	T_OK(xtc_async(l, fiber_sleeps, NULL, &t[0]));
	t_spawn_on(l, sleep_and_await_at_exit, t[0]);
	T_OK(xtc_async(l, fiber_sleeps, NULL, &t[1]));
	t_spawn_on(l, sleep_and_await_at_exit, t[1]);
	t_run_until(l, &begun, 4);
	T_OK(xtc_loop_fini(l));
	T_EQ(t_get(&steps), 2);
}
END_TEST

static void
deep_exit(int depth)
{
	volatile char pad[64];

	memset((void *)(uintptr_t)pad, depth, sizeof(pad));
	if (depth > 0)
		deep_exit(depth - 1);
	else
		xtc_exit_self(0);
	T_EQ(pad[0], 0);
}

static void
exit_from_the_depth(void *arg)
{
	(void)arg;
	T_OK(xtc_proc_at_exit(count_exit, NULL));
	T_OK(xtc_amutex_lock(lock, -1));
	deep_exit(100);
	t_fail("xtc_exit_self returned");
}

START_TEST(exit_self_ends_the_fiber_from_any_depth)
{
	T_OK(xtc_amutex_create(&lock));
	t_run(exit_from_the_depth, NULL);
	T_EQ(t_get(&exits), 1);
	T_RC(xtc_amutex_lock(lock, 0), XTC_E_OWNERDEAD);
	T_OK(xtc_amutex_unlock(lock));
	T_OK(xtc_amutex_destroy(lock));
}
END_TEST

/* A kill and a timeout, a message or a grant at the same moment. */
static void
wait_briefly(void *arg)
{
	uint64_t rnd = (uint64_t)(uintptr_t)arg + 77;
	int rc;

	for (;;) {
		rc = xtc_amutex_lock(lock, (int64_t)(t_rand(&rnd) % 2000));
		T_TRUE(rc == XTC_OK || rc == XTC_E_AGAIN ||
		    rc == XTC_E_OWNERDEAD);
		if (rc != XTC_E_AGAIN) {
			if (t_rand(&rnd) % 2 == 0)
				xtc_yield();
			T_OK(xtc_amutex_unlock(lock));
		}
		rc = t_recv_int((int64_t)(t_rand(&rnd) % 2000));
		T_TRUE(rc == XTC_E_AGAIN || rc == 8);
		T_OK(xtc_proc_sleep((int64_t)(t_rand(&rnd) % 2000)));
	}
}

static void *
kill_those_who_wait(void *arg)
{
	uint64_t rnd = 1;
	int64_t end = t_seconds_from_now(5);
	xtc_pid_t pid[8] = { { 0 } };
	int n = t_count(40000);

	for (int i = 0; i < n && t_before(end); i++) {
		xtc_pid_t *p = &pid[t_rand(&rnd) % 8];

		t_spin((int64_t)(t_rand(&rnd) % 4000));
		(void)t_send_int(*p, 8);
		if (!xtc_pid_is_none(*p))
			T_OK(xtc_exit_pid(*p, 1));
		*p = t_spawn(wait_briefly, (void *)(uintptr_t)i);
	}
	for (int i = 0; i < 8; i++)
		if (!xtc_pid_is_none(pid[i]))
			T_OK(xtc_exit_pid(pid[i], 1));
	T_OK(xtc_timer_cancel(arg));
	return (NULL);
}

START_TEST(kills_race_timeouts_messages_and_grants)
{
	xtc_timer_t *keep;
	pthread_t t;
	int rc;

	T_OK(xtc_amutex_create(&lock));
	T_OK(xtc_timer_set(t_loop, INT64_MAX, t_stop, NULL, &keep));
	t = t_thread(kill_those_who_wait, keep);
	T_OK(xtc_loop_run(t_loop));
	t_join(t);
	rc = xtc_amutex_lock(lock, 0);
	T_TRUE(rc == XTC_OK || rc == XTC_E_OWNERDEAD);
	T_OK(xtc_amutex_unlock(lock));
	T_OK(xtc_amutex_destroy(lock));
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("kill");

	t_case(s, a_kill_ends_every_kind_of_wait_at_once, 10);
	t_case(s, a_kill_from_another_loop_ends_every_kind_of_wait, 30);
	t_case(s, one_that_kills_itself_dies_at_its_next_wait, 5);
	t_case(s, one_that_has_not_run_yet_can_be_killed, 10);
	t_case(s, a_critical_section_defers_the_kill_to_its_outermost_leave,
	    5);
	t_case(s, a_critical_section_without_a_kill_changes_nothing, 5);
	t_case(s, an_at_exit_function_cannot_be_killed, 5);
	t_case(s, a_kill_never_hits_the_next_incarnation, 60);
	t_case(s, a_thousand_waiters_of_one_object_are_killed, 10);
	t_case_bare(s, fini_ends_though_an_at_exit_function_spawns, 5);
	t_case_bare(s, an_at_exit_function_awaits_another_victim_of_fini, 5);
	t_case(s, exit_self_ends_the_fiber_from_any_depth, 5);
	t_case(s, kills_race_timeouts_messages_and_grants, 60);
	return (t_main(s));
}
