/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * Wrong use gets the documented error, at once, and changes nothing: the
 * same call used rightly works afterwards.
 */
#include "testlib.h"

static atomic_int steps, quit;
static xtc_amutex_t *lock;

static void
nothing(void *arg)
{
	(void)arg;
}

static intptr_t
nothing_async(void *arg)
{
	(void)arg;
	return (0);
}

START_TEST(null_is_an_invalid_argument)
{
	xtc_mailbox_stats_t st;
	xtc_timer_t *tm = (xtc_timer_t *)&st;
	xtc_task_t *task = (xtc_task_t *)&st;
	xtc_pid_t pid = { 77 };

	T_RC(xtc_loop_init(NULL), XTC_E_INVAL);
	T_RC(xtc_loop_run(NULL), XTC_E_INVAL);
	T_RC(xtc_loop_stop(NULL), XTC_E_INVAL);
	T_OK(xtc_loop_fini(NULL));
	T_RC(xtc_timer_set(NULL, 0, nothing, NULL, &tm), XTC_E_INVAL);
	T_RC(xtc_timer_set(t_loop, 0, NULL, NULL, &tm), XTC_E_INVAL);
	T_TRUE(tm == (xtc_timer_t *)&st);
	T_RC(xtc_timer_cancel(NULL), XTC_E_INVAL);
	T_RC(xtc_waker_self(NULL), XTC_E_INVAL);
	T_RC(xtc_waker_wake(NULL), XTC_E_INVAL);
	T_RC(xtc_async(NULL, nothing_async, NULL, &task), XTC_E_INVAL);
	T_RC(xtc_async(t_loop, NULL, NULL, &task), XTC_E_INVAL);
	T_TRUE(task == (xtc_task_t *)&st);
	T_RC(xtc_await(NULL, NULL), XTC_E_INVAL);
	T_RC(xtc_task_detach(NULL), XTC_E_INVAL);
	T_RC(xtc_yield_set_budget(NULL, 1), XTC_E_INVAL);
	T_RC(xtc_yield_set_budget(t_loop, -1), XTC_E_INVAL);
	T_EQ(xtc_yield_due_count(NULL), 0);
	T_RC(xtc_proc_spawn(NULL, nothing, NULL, NULL, &pid), XTC_E_INVAL);
	T_RC(xtc_proc_spawn(t_loop, NULL, NULL, NULL, &pid), XTC_E_INVAL);
	T_EQ(pid.id, 77);
	T_RC(xtc_proc_mailbox_stats(XTC_PID_NONE, &st), XTC_E_INVAL);
	T_RC(xtc_amutex_create(NULL), XTC_E_INVAL);
	T_OK(xtc_amutex_destroy(NULL));
	T_RC(xtc_amutex_lock(NULL, 0), XTC_E_INVAL);
	T_RC(xtc_amutex_try_lock(NULL), XTC_E_INVAL);
	T_RC(xtc_amutex_unlock(NULL), XTC_E_INVAL);
	T_RC(xtc_set_allocator(NULL), XTC_E_INVAL);
	xtc_free(NULL);
	xtc_aligned_free(NULL);
	T_OK(xtc_loop_run(t_loop));
}
END_TEST

static void
null_in_a_process(void *arg)
{
	void *msg = arg;

	T_RC(xtc_recv(NULL, NULL, 0), XTC_E_INVAL);
	T_RC(xtc_recv_match(NULL, NULL, &msg, NULL, 0), XTC_E_INVAL);
	T_RC(xtc_proc_at_exit(NULL, NULL), XTC_E_INVAL);
	T_RC(xtc_proc_mailbox_stats(xtc_self(), NULL), XTC_E_INVAL);
	T_RC(xtc_send(xtc_self(), NULL, 4), XTC_E_INVAL);
	T_TRUE(msg == arg);
	T_OK(t_send_int(xtc_self(), 1));
	T_EQ(t_recv_int(0), 1);
	t_add(&steps, 1);
}

START_TEST(null_in_a_process_is_an_invalid_argument)
{
	t_run(null_in_a_process, &steps);
	T_EQ(t_get(&steps), 1);
}
END_TEST

static int
match_all(const void *data, size_t size, void *user)
{
	(void)data;
	(void)size;
	(void)user;
	return (1);
}

static void
not_a_process(void)
{
	void *msg = &steps;

	T_RC(xtc_recv(&msg, NULL, 0), XTC_E_INVAL);
	T_RC(xtc_recv(&msg, NULL, -1), XTC_E_INVAL);
	T_RC(xtc_recv_match(match_all, NULL, &msg, NULL, -1), XTC_E_INVAL);
	T_TRUE(msg == &steps);
	T_RC(t_send_int(xtc_self(), 1), XTC_E_INVAL);
}

static void
not_a_fiber(void)
{
	not_a_process();
	T_RC(xtc_proc_sleep(1), XTC_E_INVAL);
	T_RC(xtc_proc_sleep(0), XTC_E_INVAL);
	T_RC(xtc_exit_self(0), XTC_E_INVAL);
	T_RC(xtc_proc_at_exit(nothing, NULL), XTC_E_INVAL);
	T_RC(xtc_proc_critical_enter(), XTC_E_INVAL);
	T_RC(xtc_proc_critical_leave(), XTC_E_INVAL);
	xtc_yield();
}

static intptr_t
fiber_without_mailbox(void *arg)
{
	(void)arg;
	not_a_process();
	T_RC(xtc_proc_critical_leave(), XTC_E_INVAL);
	T_OK(xtc_proc_critical_enter());
	T_OK(xtc_proc_critical_leave());
	T_RC(xtc_proc_critical_leave(), XTC_E_INVAL);
	T_OK(xtc_proc_sleep(1));
	t_add(&steps, 1);
	return (0);
}

START_TEST(calls_of_processes_outside_one)
{
	not_a_fiber();
	T_OK(xtc_async(t_loop, fiber_without_mailbox, NULL, NULL));
	T_OK(xtc_loop_run(t_loop));
	not_a_fiber();
	T_EQ(t_get(&steps), 1);
}
END_TEST

static xtc_task_t *waiting_task;

/* All that would wait, with the lock held by somebody else. */
static void
wait_in_callback(void *arg)
{
	xtc_waker_t w = { 0 };

	(void)arg;
	not_a_fiber();
	T_RC(xtc_await(waiting_task, NULL), XTC_E_INVAL);
	T_RC(xtc_waker_self(&w), XTC_E_INVAL);
	T_RC(xtc_waker_wait(-1), XTC_E_INVAL);
	T_RC(xtc_waker_wait(0), XTC_E_INVAL);
	T_RC(xtc_amutex_lock(lock, -1), XTC_E_INVAL);
	T_RC(xtc_amutex_lock(lock, T_MS), XTC_E_INVAL);
	T_RC(xtc_amutex_try_lock(lock), XTC_E_AGAIN);
	T_RC(xtc_loop_run(t_loop), XTC_E_INVAL);
	T_RC(xtc_loop_fini(t_loop), XTC_E_INVAL);
	t_set(&quit, 1);
}

static intptr_t
hold_until_quit(void *arg)
{
	(void)arg;
	T_OK(xtc_amutex_lock(lock, -1));
	T_OK(xtc_timer_set(t_loop, T_MS, wait_in_callback, NULL, NULL));
	while (!t_get(&quit))
		T_OK(xtc_proc_sleep(100 * T_US));
	T_OK(xtc_amutex_unlock(lock));
	t_add(&steps, 1);
	return (0);
}

START_TEST(calls_that_would_wait_in_a_timer_callback)
{
	T_OK(xtc_amutex_create(&lock));
	T_OK(xtc_async(t_loop, hold_until_quit, NULL, &waiting_task));
	T_OK(xtc_loop_run(t_loop));
	T_EQ(t_get(&steps), 1);
	T_OK(xtc_await(waiting_task, NULL));
	T_OK(xtc_amutex_destroy(lock));
}
END_TEST

/* A lock that is free is no wait. */
static void
lock_in_callback(void *arg)
{
	(void)arg;
	T_OK(xtc_amutex_lock(lock, -1));
	T_RC(xtc_amutex_lock(lock, -1), XTC_E_DEADLK);
	T_OK(xtc_amutex_unlock(lock));
	T_RC(xtc_amutex_unlock(lock), XTC_E_INVAL);
	t_add(&steps, 1);
}

START_TEST(a_timer_callback_may_take_a_free_lock)
{
	T_OK(xtc_amutex_create(&lock));
	T_OK(xtc_timer_set(t_loop, 0, lock_in_callback, NULL, NULL));
	T_OK(xtc_loop_run(t_loop));
	T_OK(xtc_amutex_destroy(lock));
	T_EQ(t_get(&steps), 1);
}
END_TEST

static xtc_loop_t *second;

static void
run_inside_run(void *arg)
{
	(void)arg;
	T_RC(xtc_loop_run(t_loop), XTC_E_INVAL);
	T_RC(xtc_loop_run(second), XTC_E_INVAL);
	T_RC(xtc_loop_fini(t_loop), XTC_E_INVAL);
	T_RC(xtc_loop_fini(second), XTC_E_INVAL);
	xtc_yield();
	t_add(&steps, 1);
}

START_TEST(run_and_fini_inside_a_run)
{
	T_OK(xtc_loop_init(&second));
	t_run(run_inside_run, NULL);
	T_OK(xtc_loop_fini(second));
	T_EQ(t_get(&steps), 1);
}
END_TEST

static void *
run_elsewhere(void *arg)
{
	(void)arg;
	T_RC(xtc_loop_run(t_loop), XTC_E_INVAL);
	T_RC(xtc_loop_fini(t_loop), XTC_E_INVAL);
	return (NULL);
}

static void
have_it_run_elsewhere(void *arg)
{
	(void)arg;
	t_join(t_thread(run_elsewhere, NULL));
	t_add(&steps, 1);
}

START_TEST(a_loop_that_runs_cannot_be_run_or_finished_by_a_thread)
{
	t_run(have_it_run_elsewhere, NULL);
	T_EQ(t_get(&steps), 1);
}
END_TEST

static void
use_lock_of_another(void *arg)
{
	(void)arg;
	T_RC(xtc_amutex_unlock(lock), XTC_E_INVAL);
	T_RC(xtc_amutex_destroy(lock), XTC_E_INVAL);
	T_RC(xtc_amutex_try_lock(lock), XTC_E_AGAIN);
	T_RC(xtc_amutex_unlock(lock), XTC_E_INVAL);
	t_add(&steps, 1);
}

static void *
use_lock_in_thread(void *arg)
{
	use_lock_of_another(arg);
	return (NULL);
}

static void
wait_for_lock(void *arg)
{
	(void)arg;
	t_add(&quit, 1);
	T_OK(xtc_amutex_lock(lock, -1));
	/* Held by this one, waited for by the other one or not. */
	T_RC(xtc_amutex_destroy(lock), XTC_E_INVAL);
	T_OK(xtc_amutex_unlock(lock));
}

static void
own_lock(void *arg)
{
	(void)arg;
	T_RC(xtc_amutex_unlock(lock), XTC_E_INVAL);
	T_OK(xtc_amutex_lock(lock, -1));
	T_RC(xtc_amutex_lock(lock, -1), XTC_E_DEADLK);
	T_RC(xtc_amutex_lock(lock, 0), XTC_E_DEADLK);
	T_RC(xtc_amutex_lock(lock, T_MS), XTC_E_DEADLK);
	T_RC(xtc_amutex_try_lock(lock), XTC_E_DEADLK);
	t_spawn(use_lock_of_another, NULL);
	while (t_get(&steps) < 1)
		xtc_yield();
	t_join(t_thread(use_lock_in_thread, NULL));
	t_spawn(wait_for_lock, NULL);
	t_spawn(wait_for_lock, NULL);
	while (t_get(&quit) < 2)
		xtc_yield();
	xtc_yield();
	T_RC(xtc_amutex_destroy(lock), XTC_E_INVAL);
	T_OK(xtc_amutex_unlock(lock));
	T_RC(xtc_amutex_unlock(lock), XTC_E_INVAL);
	t_add(&steps, 1);
}

START_TEST(a_lock_is_used_by_others_than_its_owner)
{
	T_OK(xtc_amutex_create(&lock));
	t_run(own_lock, NULL);
	T_EQ(t_get(&steps), 3);
	T_OK(xtc_amutex_destroy(lock));
}
END_TEST

static xtc_task_t *own_task;

static intptr_t
await_itself(void *arg)
{
	(void)arg;
	T_RC(xtc_await(own_task, NULL), XTC_E_DEADLK);
	return (6);
}

static void
use_handles_again(void *arg)
{
	intptr_t r = 5;

	(void)arg;
	T_OK(xtc_async(t_loop, await_itself, NULL, &own_task));
	T_OK(xtc_await(own_task, &r));
	T_EQ(r, 6);
	T_RC(xtc_await(own_task, &r), XTC_E_INVAL);
	T_RC(xtc_task_detach(own_task), XTC_E_INVAL);
	T_OK(xtc_async(t_loop, nothing_async, NULL, &own_task));
	T_OK(xtc_task_detach(own_task));
	T_RC(xtc_task_detach(own_task), XTC_E_INVAL);
	T_RC(xtc_await(own_task, &r), XTC_E_INVAL);
	T_EQ(r, 6);
	t_add(&steps, 1);
}

START_TEST(handles_that_were_collected_or_given_up)
{
	t_run(use_handles_again, NULL);
	T_EQ(t_get(&steps), 1);
}
END_TEST

static void *
bad_malloc(size_t bytes)
{
	(void)bytes;
	return (NULL);
}

static void *
bad_realloc(void *p, size_t bytes)
{
	(void)p;
	return (bad_malloc(bytes));
}

START_TEST(the_allocator_is_set_too_late_or_in_part)
{
	xtc_allocator_t a = { 0, bad_malloc, bad_realloc, free };
	void *p;

	/* The loop of this test has allocated. */
	T_RC(xtc_set_allocator(&a), XTC_E_INVAL);
	p = xtc_malloc(1);
	T_TRUE(p != NULL);
	xtc_free(p);
}
END_TEST

START_TEST(the_allocator_is_set_in_part_before_use)
{
	xtc_allocator_t a = { 0, bad_malloc, NULL, free };

	T_RC(xtc_set_allocator(&a), XTC_E_INVAL);
	a = (xtc_allocator_t){ 0, NULL, bad_realloc, free };
	T_RC(xtc_set_allocator(&a), XTC_E_INVAL);
	a = (xtc_allocator_t){ 0, bad_malloc, bad_realloc, NULL };
	T_RC(xtc_set_allocator(&a), XTC_E_INVAL);
	t_setup();
	t_run(nothing, NULL);
	t_teardown();
}
END_TEST

/* A NULL first target: the empty waker that a program may have. */
START_TEST(an_empty_waker_is_stale)
{
	xtc_waker_t w = { 0 };

	T_RC(xtc_waker_wake(&w), XTC_E_INVAL);
}
END_TEST

/* Messages are not checked for what they are: a large one is no error. */
START_TEST(a_message_larger_than_memory_is_refused)
{
	xtc_pid_t pid = t_spawn(nothing, NULL);
	char byte = 0;

	T_RC(xtc_send(pid, &byte, SIZE_MAX), XTC_E_NOMEM);
	T_RC(xtc_send(pid, &byte, SIZE_MAX - 8), XTC_E_NOMEM);
	T_RC(xtc_send(pid, &byte, SIZE_MAX / 2), XTC_E_NOMEM);
	T_OK(xtc_send(pid, &byte, 1));
	T_OK(xtc_loop_run(t_loop));
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("wrong_use");

	t_case(s, null_is_an_invalid_argument, 5);
	t_case(s, null_in_a_process_is_an_invalid_argument, 5);
	t_case(s, calls_of_processes_outside_one, 5);
	t_case(s, calls_that_would_wait_in_a_timer_callback, 5);
	t_case(s, a_timer_callback_may_take_a_free_lock, 5);
	t_case(s, run_and_fini_inside_a_run, 5);
	t_case(s, a_loop_that_runs_cannot_be_run_or_finished_by_a_thread, 5);
	t_case(s, a_lock_is_used_by_others_than_its_owner, 5);
	t_case(s, handles_that_were_collected_or_given_up, 5);
	t_case(s, the_allocator_is_set_too_late_or_in_part, 5);
	t_case_bare(s, the_allocator_is_set_in_part_before_use, 5);
	t_case_bare(s, an_empty_waker_is_stale, 5);
	t_case(s, a_message_larger_than_memory_is_refused, 5);
	return (t_main(s));
}
