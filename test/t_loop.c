/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * The loop runs what it is given, ends when nothing is left or when it is
 * told to, and takes everything with it when it is finished.
 */
#include "testlib.h"

#include <signal.h>

static atomic_int steps;

static void
count_step(void *arg)
{
	(void)arg;
	t_add(&steps, 1);
}

static void
count_and_yield(void *arg)
{
	for (int i = *(int *)arg; i > 0; i--) {
		t_add(&steps, 1);
		xtc_yield();
	}
}

static void
wait_for_ever(void *arg)
{
	void *msg;

	(void)arg;
	T_OK(xtc_recv(&msg, NULL, -1));
	xtc_free(msg);
	t_add(&steps, 1);
}

START_TEST(an_empty_loop_returns_at_once)
{
	T_OK(xtc_loop_run(t_loop));
	T_OK(xtc_loop_run(t_loop));
}
END_TEST

static void
spawn_tree(void *arg)
{
	intptr_t depth = (intptr_t)arg;

	t_add(&steps, 1);
	if (depth == 0)
		return;
	t_spawn(spawn_tree, (void *)(depth - 1));
	t_spawn(spawn_tree, (void *)(depth - 1));
}

START_TEST(run_ends_when_the_last_of_all_descendants_has_ended)
{
	t_run(spawn_tree, (void *)(intptr_t)10);
	T_EQ(t_get(&steps), (1 << 11) - 1);
}
END_TEST

START_TEST(a_loop_can_run_again)
{
	for (int i = 1; i <= 100; i++) {
		t_run(count_step, NULL);
		T_EQ(t_get(&steps), i);
	}
}
END_TEST

static void
look_at_loop(void *arg)
{
	T_TRUE(xtc_loop_self() == arg);
	xtc_yield();
	T_TRUE(xtc_loop_self() == arg);
	T_OK(xtc_proc_sleep(1000));
	T_TRUE(xtc_loop_self() == arg);
	count_step(NULL);
}

static void
look_at_loop_in_callback(void *arg)
{
	T_TRUE(xtc_loop_self() == arg);
	count_step(NULL);
}

START_TEST(loop_self_names_the_loop_and_only_where_one_runs)
{
	T_TRUE(xtc_loop_self() == NULL);
	t_spawn(look_at_loop, t_loop);
	T_OK(xtc_timer_set(t_loop, 0, look_at_loop_in_callback, t_loop,
	    NULL));
	T_OK(xtc_loop_run(t_loop));
	T_TRUE(xtc_loop_self() == NULL);
	T_EQ(t_get(&steps), 2);
}
END_TEST

static void
stop_in_the_middle(void *arg)
{
	int *at_stop = arg;

	xtc_yield();
	T_OK(xtc_loop_stop(xtc_loop_self()));
	*at_stop = t_get(&steps);
	xtc_yield();
	t_add(&steps, 1);
}

/* Nobody else gets the CPU between the stop and the return of the run. */
START_TEST(stop_in_a_fiber_returns_when_it_leaves_the_cpu)
{
	int n = 1000, at_stop = -1;

	t_spawn(count_and_yield, &n);
	t_spawn(stop_in_the_middle, &at_stop);
	t_spawn(count_and_yield, &n);
	T_OK(xtc_loop_run(t_loop));
	T_TRUE(at_stop >= 0);
	T_EQ(t_get(&steps), at_stop);
	T_TRUE(t_get(&steps) < 2 * n);
	T_OK(xtc_loop_run(t_loop));
	T_EQ(t_get(&steps), 2 * n + 1);
}
END_TEST

START_TEST(stop_before_run_makes_one_run_return_at_once)
{
	t_spawn(count_step, NULL);
	T_OK(xtc_loop_stop(t_loop));
	T_OK(xtc_loop_run(t_loop));
	T_EQ(t_get(&steps), 0);
	T_OK(xtc_loop_run(t_loop));
	T_EQ(t_get(&steps), 1);
}
END_TEST

START_TEST(stop_in_a_timer_callback)
{
	xtc_pid_t pid = t_spawn(wait_for_ever, NULL);

	T_OK(xtc_timer_set(t_loop, T_MS, t_stop, t_loop, NULL));
	T_OK(xtc_loop_run(t_loop));
	T_EQ(t_get(&steps), 0);
	T_OK(t_send_int(pid, 1));
	T_OK(xtc_loop_run(t_loop));
	T_EQ(t_get(&steps), 1);
}
END_TEST

static atomic_int round_started, round_ended, quit;

static void
tell_round(void *arg)
{
	(void)arg;
	t_add(&round_started, 1);
}

static void
yield_for_ever(void *arg)
{
	(void)arg;
	for (;;)
		xtc_yield();
}

/* Stops the loop once in each round, at any moment after its start. */
static void *
stopper(void *arg)
{
	uint64_t rnd = 88172645463325252u;

	for (int i = 1; !t_get(&quit); i++) {
		while (t_get(&round_started) < i && !t_get(&quit))
			sched_yield();
		if (t_get(&quit))
			break;
		t_spin((int64_t)(t_rand(&rnd) % 30000));
		T_OK(xtc_loop_stop(arg));
		while (t_get(&round_ended) < i && !t_get(&quit))
			sched_yield();
	}
	return (NULL);
}

static void
stop_rounds(int n)
{
	pthread_t t = t_thread(stopper, t_loop);
	int64_t end = t_seconds_from_now(5);

	for (int i = 0; i < n && t_before(end); i++) {
		T_OK(xtc_timer_set(t_loop, 0, tell_round, NULL, NULL));
		T_OK(xtc_loop_run(t_loop));
		T_EQ(t_get(&round_started), i + 1);
		t_add(&round_ended, 1);
	}
	t_set(&quit, 1);
	t_join(t);
}

/* The loop sleeps without a time limit: a lost stop hangs. */
START_TEST(stop_from_a_thread_ends_an_idle_loop)
{
	t_spawn(wait_for_ever, NULL);
	stop_rounds(t_count(20000));
	T_EQ(t_get(&steps), 0);
}
END_TEST

START_TEST(stop_from_a_thread_ends_a_busy_loop)
{
	t_spawn(yield_for_ever, NULL);
	t_spawn(yield_for_ever, NULL);
	stop_rounds(t_count(5000));
}
END_TEST

static void
stop_in_handler(int sig)
{
	(void)sig;
	/* The result is looked at by what the loop does. */
	(void)xtc_loop_stop(t_loop);
}

static void
handle_usr1(void)
{
	struct sigaction sa;

	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = stop_in_handler;
	sigemptyset(&sa.sa_mask);
	T_EQ(sigaction(SIGUSR1, &sa, NULL), 0);
}

static void
raise_usr1(void *arg)
{
	(void)arg;
	T_EQ(raise(SIGUSR1), 0);
	xtc_yield();
	t_add(&steps, 1);
}

START_TEST(stop_from_a_signal_handler_in_a_fiber)
{
	handle_usr1();
	t_spawn(raise_usr1, NULL);
	T_OK(xtc_loop_run(t_loop));
	T_EQ(t_get(&steps), 0);
	T_OK(xtc_loop_run(t_loop));
	T_EQ(t_get(&steps), 1);
}
END_TEST

static void *
signaller(void *arg)
{
	pthread_t runner = *(pthread_t *)arg;
	uint64_t rnd = 362436069;

	for (int i = 1; !t_get(&quit); i++) {
		while (t_get(&round_started) < i && !t_get(&quit))
			sched_yield();
		if (t_get(&quit))
			break;
		t_spin((int64_t)(t_rand(&rnd) % 30000));
		T_EQ(pthread_kill(runner, SIGUSR1), 0);
		while (t_get(&round_ended) < i && !t_get(&quit))
			sched_yield();
	}
	return (NULL);
}

/* The signal hits the loop anywhere between its start and its sleep. */
START_TEST(stop_from_a_signal_handler_in_an_idle_loop)
{
	pthread_t self = pthread_self(), t;
	int64_t end = t_seconds_from_now(5);
	int n = t_count(10000);

	handle_usr1();
	t_spawn(wait_for_ever, NULL);
	t = t_thread(signaller, &self);
	for (int i = 0; i < n && t_before(end); i++) {
		T_OK(xtc_timer_set(t_loop, 0, tell_round, NULL, NULL));
		T_OK(xtc_loop_run(t_loop));
		t_add(&round_ended, 1);
	}
	t_set(&quit, 1);
	t_join(t);
	T_EQ(t_get(&steps), 0);
}
END_TEST

START_TEST(a_pending_timer_keeps_the_loop_running)
{
	int64_t t0 = xtc_clock_mono();

	T_OK(xtc_timer_set(t_loop, 20 * T_MS, count_step, NULL, NULL));
	T_OK(xtc_loop_run(t_loop));
	T_EQ(t_get(&steps), 1);
	T_TRUE(xtc_clock_mono() - t0 >= 20 * T_MS);
}
END_TEST

START_TEST(stop_leaves_timers_for_the_next_run)
{
	T_OK(xtc_timer_set(t_loop, 300 * T_MS, count_step, NULL, NULL));
	T_OK(xtc_timer_set(t_loop, 0, t_stop, t_loop, NULL));
	T_OK(xtc_loop_run(t_loop));
	T_EQ(t_get(&steps), 0);
	T_OK(xtc_loop_run(t_loop));
	T_EQ(t_get(&steps), 1);
}
END_TEST

static void
sleep_300_ms(void *arg)
{
	(void)arg;
	T_OK(xtc_proc_sleep(300 * T_MS));
}

/*
 * No polling while idle. One fifteenth of the time leaves room for the
 * start, a short spin before sleep, and a slow machine; a loop that polls
 * each 100 us or spins uses much more.
 */
START_TEST(an_idle_loop_uses_no_cpu)
{
	int64_t cpu;

	t_spawn(sleep_300_ms, NULL);
	cpu = t_cpu_ns();
	T_OK(xtc_loop_run(t_loop));
	cpu = t_cpu_ns() - cpu;
	if (cpu >= 20 * T_MS * t_slow())
		t_fail("%" PRId64 " ns of CPU in an idle loop", cpu);
}
END_TEST

static void *
run_and_look(void *arg)
{
	(void)arg;
	T_TRUE(xtc_loop_self() == NULL);
	T_OK(xtc_loop_run(t_loop));
	T_TRUE(xtc_loop_self() == NULL);
	return (NULL);
}

static void
stop_each_time(void *arg)
{
	int *n = arg;

	for (int i = 0; i < *n; i++) {
		T_TRUE(xtc_loop_self() == t_loop);
		T_OK(xtc_loop_stop(t_loop));
		if (i % 3 == 0)
			T_OK(xtc_proc_sleep(i * 100));
		else
			xtc_yield();
	}
	t_add(&steps, 1);
}

START_TEST(another_thread_can_run_the_loop_next)
{
	int n = 50;

	t_spawn(stop_each_time, &n);
	for (int i = 0; t_get(&steps) == 0; i++) {
		T_TRUE(i < 2 * n);
		if (i % 2 == 0)
			t_join(t_thread(run_and_look, NULL));
		else
			run_and_look(NULL);
	}
}
END_TEST

static void
set_flag(void *arg)
{
	*(int *)arg += 1;
}

static void
exit_slowly(void *arg)
{
	T_OK(xtc_proc_sleep(T_MS));
	xtc_yield();
	*(int *)arg += 1;
	T_OK(xtc_proc_sleep(T_MS));
	*(int *)arg += 1;
}

static void
sleep_long(void *arg)
{
	T_OK(xtc_proc_at_exit(exit_slowly, arg));
	T_OK(xtc_proc_at_exit(set_flag, arg));
	t_add(&steps, 1);
	xtc_proc_sleep(INT64_MAX);
	t_fail("a killed fiber returned from its sleep");
}

static void
recv_long(void *arg)
{
	void *msg;

	T_OK(xtc_proc_at_exit(set_flag, arg));
	T_OK(xtc_proc_at_exit(exit_slowly, arg));
	t_add(&steps, 1);
	xtc_recv(&msg, NULL, -1);
	t_fail("a killed fiber returned from its receive");
}

static void
yield_long(void *arg)
{
	T_OK(xtc_proc_at_exit(exit_slowly, arg));
	T_OK(xtc_proc_at_exit(set_flag, arg));
	t_add(&steps, 1);
	yield_for_ever(NULL);
}

static intptr_t
fiber_long(void *arg)
{
	sleep_long(arg);
	return (0);
}

START_TEST(fini_runs_the_at_exit_functions_of_live_fibers)
{
	xtc_loop_t *l;
	int flags[4] = { 0 };

	T_OK(xtc_loop_init(&l));
	t_spawn_on(l, sleep_long, &flags[0]);
	t_spawn_on(l, recv_long, &flags[1]);
	t_spawn_on(l, yield_long, &flags[2]);
	T_OK(xtc_async(l, fiber_long, &flags[3], NULL));
	t_run_until(l, &steps, 4);
	T_OK(xtc_loop_fini(l));
	for (int i = 0; i < 4; i++)
		T_EQ(flags[i], 3);
}
END_TEST

START_TEST(fini_of_a_loop_that_never_ran)
{
	xtc_loop_t *l;
	int flag = 0;
	xtc_pid_t pid;

	T_OK(xtc_loop_init(&l));
	T_OK(xtc_loop_fini(l));
	T_OK(xtc_loop_init(&l));
	pid = t_spawn_on(l, sleep_long, &flag);
	T_OK(t_send_int(pid, 1));
	T_OK(xtc_timer_set(l, 0, set_flag, &flag, NULL));
	T_OK(xtc_loop_fini(l));
	T_RC(t_send_int(pid, 1), XTC_E_INVAL);
	T_TRUE(flag == 0 || flag == 3);
}
END_TEST

START_TEST(fini_drops_timers_without_calling_them)
{
	xtc_loop_t *l;

	T_OK(xtc_loop_init(&l));
	for (int i = 0; i < 1000; i++)
		T_OK(xtc_timer_set(l, i * T_MS, count_step, NULL, NULL));
	T_OK(xtc_loop_stop(l));
	T_OK(xtc_loop_run(l));
	T_OK(xtc_loop_fini(l));
	T_EQ(t_get(&steps), 0);
	T_OK(xtc_loop_fini(NULL));
}
END_TEST

/* Descriptors and memory of a loop go with it. */
START_TEST(a_thousand_loops_one_after_another)
{
	int fd = t_lowest_fd(), n = t_count(1000), waste = 0;
	long rss = 0;

	for (int i = 0; i < n; i++) {
		xtc_loop_t *l;

		T_OK(xtc_loop_init(&l));
		t_spawn_on(l, recv_long, &waste);
		t_run_until(l, &steps, i + 1);
		T_OK(xtc_loop_fini(l));
		T_EQ(t_lowest_fd(), fd);
		if (i == n / 4)
			rss = t_maxrss_kib();
	}
	T_EQ(waste, 3 * n);
	/* A leak of a page a loop would be 3,000 KiB. */
	if (t_slow() == 1)
		T_TRUE(t_maxrss_kib() - rss < 2000);
}
END_TEST

START_TEST(several_loops_alive_at_once)
{
	xtc_loop_t *l[20];

	for (int i = 0; i < 20; i++) {
		T_OK(xtc_loop_init(&l[i]));
		t_spawn_on(l[i], look_at_loop, l[i]);
	}
	for (int i = 19; i >= 0; i--)
		T_OK(xtc_loop_run(l[i]));
	for (int i = 0; i < 20; i++)
		T_OK(xtc_loop_fini(l[i]));
	T_EQ(t_get(&steps), 20);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("loop");

	t_case(s, an_empty_loop_returns_at_once, 5);
	t_case(s, run_ends_when_the_last_of_all_descendants_has_ended, 5);
	t_case(s, a_loop_can_run_again, 5);
	t_case(s, loop_self_names_the_loop_and_only_where_one_runs, 5);
	t_case(s, stop_in_a_fiber_returns_when_it_leaves_the_cpu, 5);
	t_case(s, stop_before_run_makes_one_run_return_at_once, 5);
	t_case(s, stop_in_a_timer_callback, 5);
	t_case(s, stop_from_a_thread_ends_an_idle_loop, 30);
	t_case(s, stop_from_a_thread_ends_a_busy_loop, 30);
	t_case(s, stop_from_a_signal_handler_in_a_fiber, 5);
	t_case(s, stop_from_a_signal_handler_in_an_idle_loop, 30);
	t_case(s, a_pending_timer_keeps_the_loop_running, 5);
	t_case(s, stop_leaves_timers_for_the_next_run, 5);
	t_case(s, an_idle_loop_uses_no_cpu, 5);
	t_case(s, another_thread_can_run_the_loop_next, 5);
	t_case_bare(s, fini_runs_the_at_exit_functions_of_live_fibers, 5);
	t_case_bare(s, fini_of_a_loop_that_never_ran, 5);
	t_case_bare(s, fini_drops_timers_without_calling_them, 5);
	t_case_bare(s, a_thousand_loops_one_after_another, 20);
	t_case_bare(s, several_loops_alive_at_once, 5);
	return (t_main(s));
}
