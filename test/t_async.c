/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * Fibers return their results to everybody who awaits them, yield fairly,
 * and keep what is theirs across switches.
 */
#include "testlib.h"

#include <fenv.h>

static xtc_task_t *task;
static atomic_int steps;

static intptr_t
give_back(void *arg)
{
	return ((intptr_t)arg);
}

static intptr_t
give_back_later(void *arg)
{
	T_OK(xtc_proc_sleep(T_MS));
	return ((intptr_t)arg);
}

static void
await_before_and_after(void *arg)
{
	static const intptr_t values[] = { 0, 1, -1, INTPTR_MAX, INTPTR_MIN };
	intptr_t r;

	(void)arg;
	for (int i = 0; i < 5; i++) {
		T_OK(xtc_async(t_loop, give_back_later, (void *)values[i],
		    &task));
		T_OK(xtc_await(task, &r));
		T_TRUE(r == values[i]);
		T_OK(xtc_async(t_loop, give_back, (void *)values[i], &task));
		xtc_yield();
		xtc_yield();
		T_OK(xtc_await(task, &r));
		T_TRUE(r == values[i]);
	}
	t_add(&steps, 1);
}

START_TEST(await_returns_the_result_before_and_after_the_end)
{
	t_run(await_before_and_after, NULL);
	T_EQ(t_get(&steps), 1);
}
END_TEST

static void
await_without_result(void *arg)
{
	(void)arg;
	T_OK(xtc_async(t_loop, give_back, NULL, &task));
	T_OK(xtc_await(task, NULL));
	t_add(&steps, 1);
}

START_TEST(the_result_may_be_left)
{
	t_run(await_without_result, NULL);
	T_EQ(t_get(&steps), 1);
}
END_TEST

static void
await_the_task(void *arg)
{
	intptr_t r;

	(void)arg;
	T_OK(xtc_await(task, &r));
	T_EQ(r, 77);
	t_add(&steps, 1);
}

static void *
await_in_thread(void *arg)
{
	await_the_task(arg);
	return (NULL);
}

static intptr_t
end_when_told(void *arg)
{
	while (!t_get((atomic_int *)arg))
		T_OK(xtc_proc_sleep(10 * T_US));
	return (77);
}

static void
tell(void *arg)
{
	/* By now each fiber of this loop has come to its await. */
	for (int i = 0; i < 20; i++)
		xtc_yield();
	t_set((atomic_int *)arg, 1);
}

START_TEST(all_fibers_that_wait_get_the_result)
{
	atomic_int end = 0;

	T_OK(xtc_async(t_loop, end_when_told, &end, &task));
	for (int i = 0; i < 100; i++)
		t_spawn(await_the_task, NULL);
	t_spawn(tell, &end);
	T_OK(xtc_loop_run(t_loop));
	T_EQ(t_get(&steps), 100);
}
END_TEST

/*
 * Of awaiters that cannot be known to wait yet one may come after the
 * result was collected, so each thread has a task of its own.
 */
START_TEST(plain_threads_await)
{
	atomic_int end = 0;
	pthread_t t, runner;

	for (int i = 0; i < 500; i++) {
		T_OK(xtc_async(t_loop, end_when_told, &end, &task));
		t_set(&end, i % 2);
		runner = t_thread(t_run_loop, t_loop);
		t = t_thread(await_in_thread, NULL);
		t_set(&end, 1);
		t_join(runner);
		t_join(t);
	}
	T_EQ(t_get(&steps), 500);
}
END_TEST

START_TEST(a_result_outlives_its_loop)
{
	xtc_task_t *left;
	xtc_loop_t *l;
	intptr_t r;

	T_OK(xtc_loop_init(&l));
	T_OK(xtc_async(l, give_back, (void *)5, &task));
	T_OK(xtc_async(l, give_back, (void *)6, &left));
	T_OK(xtc_loop_run(l));
	T_OK(xtc_await(task, &r));
	T_EQ(r, 5);
	T_OK(xtc_loop_fini(l));
	T_OK(xtc_await(left, &r));
	T_EQ(r, 6);
	T_RC(xtc_await(left, &r), XTC_E_INVAL);
}
END_TEST

static intptr_t
leave(void *arg)
{
	xtc_exit_self((int)(intptr_t)arg);
	t_fail("xtc_exit_self returned");
	return (0);
}

static intptr_t
wait_for_ever(void *arg)
{
	(void)arg;
	xtc_proc_sleep(INT64_MAX);
	t_fail("a killed fiber returned from its sleep");
	return (0);
}

static void
await_one_that_leaves(void *arg)
{
	(void)arg;
	T_OK(xtc_async(t_loop, leave, (void *)3, &task));
	T_RC(xtc_await(task, NULL), XTC_E_ABORTED);
	T_OK(xtc_async(t_loop, leave, (void *)0, &task));
	xtc_yield();
	xtc_yield();
	T_RC(xtc_await(task, NULL), XTC_E_ABORTED);
	t_add(&steps, 1);
}

START_TEST(await_of_one_that_left_by_exit_self_is_aborted)
{
	t_run(await_one_that_leaves, NULL);
	T_EQ(t_get(&steps), 1);
}
END_TEST

static void *
await_aborted(void *arg)
{
	T_RC(xtc_await(arg, NULL), XTC_E_ABORTED);
	t_add(&steps, 1);
	return (NULL);
}

/* Begun before the loop is finished or after. */
START_TEST(await_of_one_killed_with_its_loop_is_aborted)
{
	int n = t_count(2000);

	for (int i = 0; i < n; i++) {
		xtc_loop_t *l;
		xtc_task_t *a, *b;
		pthread_t t;

		T_OK(xtc_loop_init(&l));
		T_OK(xtc_async(l, wait_for_ever, NULL, &a));
		T_OK(xtc_async(l, wait_for_ever, NULL, &b));
		T_OK(xtc_timer_set(l, 0, t_stop, l, NULL));
		if (i % 2 == 0)
			T_OK(xtc_loop_run(l));
		t = t_thread(await_aborted, a);
		if (i % 4 < 2)
			t_spin(30 * T_US);
		T_OK(xtc_loop_fini(l));
		t_join(t);
		await_aborted(b);
	}
	T_EQ(t_get(&steps), 2 * n);
}
END_TEST

static void
await_for_ever(void *arg)
{
	t_add(&steps, 1);
	xtc_await(arg, NULL);
	t_fail("a killed fiber returned from its await");
}

static void
kill_an_awaiter(void *arg)
{
	atomic_int end = 0;
	intptr_t r;
	xtc_pid_t pid;

	(void)arg;
	T_OK(xtc_async(t_loop, end_when_told, &end, &task));
	pid = t_spawn(await_for_ever, task);
	while (t_get(&steps) == 0)
		xtc_yield();
	T_OK(xtc_exit_pid(pid, 1));
	while (xtc_exit_pid(pid, 1) != XTC_E_INVAL)
		xtc_yield();
	t_set(&end, 1);
	T_OK(xtc_await(task, &r));
	T_EQ(r, 77);
	t_add(&steps, 1);
}

START_TEST(a_killed_awaiter_leaves_the_result_to_others)
{
	t_run(kill_an_awaiter, NULL);
	T_EQ(t_get(&steps), 2);
}
END_TEST

static intptr_t
count_and_yield(void *arg)
{
	(void)arg;
	xtc_yield();
	t_add(&steps, 1);
	return (1);
}

static void
detach(void *arg)
{
	(void)arg;
	T_OK(xtc_async(t_loop, count_and_yield, NULL, NULL));
	T_OK(xtc_async(t_loop, count_and_yield, NULL, &task));
	T_OK(xtc_task_detach(task));
	T_OK(xtc_async(t_loop, count_and_yield, NULL, &task));
	while (t_get(&steps) < 3)
		xtc_yield();
	xtc_yield();
	T_OK(xtc_task_detach(task));
}

START_TEST(a_detached_fiber_goes_on)
{
	t_run(detach, NULL);
	T_EQ(t_get(&steps), 3);
}
END_TEST

static void
a_million_fibers(void *arg)
{
	int n = *(int *)arg;
	long rss = 0;

	for (int i = 0; i < n; i++) {
		intptr_t r;

		T_OK(xtc_async(t_loop, give_back, (void *)(intptr_t)i,
		    &task));
		if (i % 4 == 0)
			T_OK(xtc_task_detach(task));
		else if (i % 4 == 1) {
			xtc_yield();
			T_OK(xtc_task_detach(task));
		} else {
			T_OK(xtc_await(task, &r));
			T_EQ(r, i);
		}
		if (i == n / 10)
			rss = t_maxrss_kib();
	}
	/* A leak of one page in ten fibers would be 360,000 KiB. */
	if (t_slow() == 1)
		T_TRUE(t_maxrss_kib() - rss < 2000);
}

START_TEST(a_million_fibers_one_after_another_in_constant_memory)
{
	int n = t_count(1000000);

	t_run(a_million_fibers, &n);
}
END_TEST

static intptr_t
fibonacci(void *arg)
{
	intptr_t n = (intptr_t)arg, a, b;
	xtc_task_t *ta, *tb;

	if (n < 2)
		return (n);
	T_OK(xtc_async(t_loop, fibonacci, (void *)(n - 1), &ta));
	T_OK(xtc_async(t_loop, fibonacci, (void *)(n - 2), &tb));
	T_OK(xtc_await(ta, &a));
	T_OK(xtc_await(tb, &b));
	return (a + b);
}

START_TEST(a_tree_of_fibers_adds_up)
{
	intptr_t r;

	T_OK(xtc_async(t_loop, fibonacci, (void *)16, &task));
	T_OK(xtc_loop_run(t_loop));
	T_OK(xtc_await(task, &r));
	T_EQ(r, 987);
}
END_TEST

struct other {
	xtc_loop_t *loop;
	int n;
};

static void
await_on_other(void *arg)
{
	int64_t end = t_seconds_from_now(5);
	struct other *o = arg;
	intptr_t r;

	for (int i = 0; i < o->n && t_before(end); i++) {
		xtc_task_t *t;

		T_OK(xtc_async(o->loop, give_back, (void *)(intptr_t)i, &t));
		T_OK(xtc_await(t, &r));
		T_EQ(r, i);
		T_TRUE(xtc_loop_self() == t_loop);
	}
	t_add(&steps, 1);
	T_OK(xtc_loop_stop(o->loop));
}

static void
stay(void *arg)
{
	(void)arg;
	xtc_proc_sleep(INT64_MAX);
}

START_TEST(fibers_of_one_loop_await_those_of_another)
{
	struct other o = { NULL, t_count(50000) };
	pthread_t t;

	T_OK(xtc_loop_init(&o.loop));
	t_spawn_on(o.loop, stay, NULL);
	t = t_thread(t_run_loop, o.loop);
	t_run(await_on_other, &o);
	t_join(t);
	T_OK(xtc_loop_fini(o.loop));
	T_EQ(t_get(&steps), 1);
}
END_TEST

static xtc_pid_t pair[2];
static atomic_int pings, third, pair_done;

static void
ping_pong(void *arg)
{
	int me = *(int *)arg;

	for (int i = 0; i < 20000; i++) {
		if (me == 0)
			T_OK(t_send_int(pair[1], i));
		T_EQ(t_recv_int(-1), i);
		if (me == 1)
			T_OK(t_send_int(pair[0], i));
		t_add(&pings, 1);
	}
	t_add(&pair_done, 1);
}

static void
count_turns(void *arg)
{
	(void)arg;
	while (t_get(&pair_done) < 2) {
		xtc_yield();
		t_add(&third, 1);
	}
}

/*
 * The fiber just woken runs next, but only so often: of 40,000 messages a
 * third fiber sees its turn at least once in 1,000.
 */
START_TEST(a_pair_that_wakes_each_other_does_not_starve_a_third)
{
	int zero = 0, one = 1;

	pair[0] = t_spawn(ping_pong, &zero);
	pair[1] = t_spawn(ping_pong, &one);
	t_spawn(count_turns, NULL);
	T_OK(xtc_loop_run(t_loop));
	T_EQ(t_get(&pings), 40000);
	if (t_get(&third) < 40)
		t_fail("%d turns only", t_get(&third));
}
END_TEST

static int turns[10];

static void
take_turns(void *arg)
{
	int *mine = arg;

	for (int i = 0; i < 1000; i++) {
		for (int k = 0; k < 10; k++)
			T_TRUE(abs(turns[k] - *mine) <= 1);
		++*mine;
		xtc_yield();
	}
}

START_TEST(yield_is_round_robin)
{
	for (int i = 0; i < 10; i++)
		t_spawn(take_turns, &turns[i]);
	T_OK(xtc_loop_run(t_loop));
	for (int i = 0; i < 10; i++)
		T_EQ(turns[i], 1000);
}
END_TEST

static void
use_budget(void *arg)
{
	uint64_t count;

	(void)arg;
	T_EQ(xtc_yield_check(), 0);
	T_EQ(xtc_yield_if_due(), 0);
	T_OK(xtc_yield_set_budget(t_loop, 2 * T_MS));
	count = xtc_yield_due_count(t_loop);
	xtc_yield();
	T_EQ(xtc_yield_check(), 0);
	T_EQ(xtc_yield_due_count(t_loop), count);
	t_spin(3 * T_MS);
	T_EQ(xtc_yield_check(), 1);
	T_TRUE(xtc_yield_due_count(t_loop) > count);
	T_EQ(t_get(&steps), 0);
	T_EQ(xtc_yield_if_due(), 1);
	T_EQ(t_get(&steps), 1);
	T_OK(xtc_yield_set_budget(t_loop, 3600 * T_SEC));
	xtc_yield();
	T_EQ(xtc_yield_check(), 0);
	t_spin(T_MS);
	T_EQ(xtc_yield_check(), 0);
	T_EQ(xtc_yield_if_due(), 0);
	T_OK(xtc_yield_set_budget(t_loop, 0));
	t_spin(T_MS);
	T_EQ(xtc_yield_check(), 0);
	t_add(&steps, 1);
}

static void
one_step(void *arg)
{
	(void)arg;
	xtc_yield();
	t_add(&steps, 1);
}

START_TEST(a_fiber_that_used_its_budget_is_told_to_yield)
{
	t_spawn(use_budget, NULL);
	t_spawn(one_step, NULL);
	T_OK(xtc_loop_run(t_loop));
	T_EQ(t_get(&steps), 2);
}
END_TEST

START_TEST(yield_outside_a_fiber_does_nothing)
{
	xtc_yield();
	T_EQ(xtc_yield_check(), 0);
	T_EQ(xtc_yield_if_due(), 0);
}
END_TEST

static int
use_stack(int kib)
{
	volatile char page[1024];

	memset((void *)(uintptr_t)page, kib, sizeof(page));
	if (kib <= 1)
		return (page[17]);
	return (use_stack(kib - 1) + page[0] - page[1023]);
}

static intptr_t
use_stack_of(void *arg)
{
	T_EQ(use_stack((int)(intptr_t)arg), 1);
	xtc_yield();
	T_EQ(use_stack((int)(intptr_t)arg), 1);
	t_add(&steps, 1);
	return (0);
}

/* A quarter is left to frames, which are larger under sanitizers. */
START_TEST(stacks_are_as_large_as_asked_for)
{
	T_EQ(xtc_stack_size(), 64 * 1024);
	T_RC(xtc_set_stack_size(16 * 1024 - 1), XTC_E_RANGE);
	T_RC(xtc_set_stack_size(0), XTC_E_RANGE);
	T_RC(xtc_set_stack_size((size_t)1024 * 1024 * 1024 + 1),
	    XTC_E_RANGE);
	T_EQ(xtc_stack_size(), 64 * 1024);
	T_OK(xtc_async(t_loop, use_stack_of, (void *)(48 / T_SLOW), NULL));
	T_OK(xtc_set_stack_size(1024 * 1024));
	T_TRUE(xtc_stack_size() >= 1024 * 1024);
	T_OK(xtc_async(t_loop, use_stack_of, (void *)(768 / T_SLOW), NULL));
	T_OK(xtc_set_stack_size(16 * 1024));
	T_EQ(xtc_stack_size(), 16 * 1024);
	T_OK(xtc_async(t_loop, use_stack_of, (void *)(8 / T_SLOW + 1), NULL));
	T_OK(xtc_loop_run(t_loop));
	T_EQ(t_get(&steps), 3);
}
END_TEST

static int modes[] = { FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST };

static void
keep_rounding(void *arg)
{
	volatile double one = 1, three = 3, q;
	volatile long double lone = 1, lthree = 3, lq;
	int *mode = arg;

	T_EQ(fesetround(*mode), 0);
	q = one / three;
	lq = lone / lthree;
	for (int i = 0; i < 100; i++) {
		if (i % 10 == 0)
			T_OK(xtc_proc_sleep(i));
		else
			xtc_yield();
		T_EQ(fegetround(), *mode);
		T_TRUE(one / three == q);
		T_TRUE(lone / lthree == lq);
	}
	t_add(&steps, 1);
}

START_TEST(each_fiber_keeps_its_rounding_mode)
{
	for (int i = 0; i < 4; i++)
		t_spawn(keep_rounding, &modes[i]);
	T_OK(xtc_loop_run(t_loop));
	T_EQ(t_get(&steps), 4);
	T_EQ(fegetround(), FE_TONEAREST);
}
END_TEST

static void *
async_in_thread(void *arg)
{
	int64_t end = t_seconds_from_now(5);
	int n = t_count(5000);
	intptr_t r;

	(void)arg;
	for (int i = 0; i < n && t_before(end); i++) {
		xtc_task_t *t;

		T_OK(xtc_async(t_loop, give_back, (void *)(intptr_t)i, &t));
		T_OK(xtc_await(t, &r));
		T_EQ(r, i);
	}
	return (NULL);
}

START_TEST(threads_start_fibers_and_await_them)
{
	pthread_t t[3], runner;

	t_spawn(stay, NULL);
	runner = t_thread(t_run_loop, t_loop);
	for (int i = 0; i < 3; i++)
		t[i] = t_thread(async_in_thread, NULL);
	for (int i = 0; i < 3; i++)
		t_join(t[i]);
	T_OK(xtc_loop_stop(t_loop));
	t_join(runner);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("async");

	t_case(s, await_returns_the_result_before_and_after_the_end, 5);
	t_case(s, the_result_may_be_left, 5);
	t_case(s, all_fibers_that_wait_get_the_result, 5);
	t_case(s, plain_threads_await, 10);
	t_case_bare(s, a_result_outlives_its_loop, 5);
	t_case(s, await_of_one_that_left_by_exit_self_is_aborted, 5);
	t_case_bare(s, await_of_one_killed_with_its_loop_is_aborted, 20);
	t_case(s, a_killed_awaiter_leaves_the_result_to_others, 5);
	t_case(s, a_detached_fiber_goes_on, 5);
	t_case(s, a_million_fibers_one_after_another_in_constant_memory, 30);
	t_case(s, a_tree_of_fibers_adds_up, 5);
	t_case(s, fibers_of_one_loop_await_those_of_another, 30);
	t_case(s, a_pair_that_wakes_each_other_does_not_starve_a_third, 10);
	t_case(s, yield_is_round_robin, 5);
	t_case(s, a_fiber_that_used_its_budget_is_told_to_yield, 5);
	t_case(s, yield_outside_a_fiber_does_nothing, 5);
	t_case(s, stacks_are_as_large_as_asked_for, 5);
	t_case(s, each_fiber_keeps_its_rounding_mode, 5);
	t_case(s, threads_start_fibers_and_await_them, 30);
	return (t_main(s));
}
