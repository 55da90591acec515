/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * Processes have an identity that is theirs alone, end in order, and give
 * back all they used.
 */
#include "testlib.h"

static atomic_int steps;

static void
look_at_self(void *arg)
{
	T_TRUE(xtc_pid_eq(xtc_self(), *(xtc_pid_t *)arg));
	t_add(&steps, 1);
}

static void
self_is_none(void *arg)
{
	(void)arg;
	T_TRUE(xtc_pid_is_none(xtc_self()));
	t_add(&steps, 1);
}

static intptr_t
fiber_self_is_none(void *arg)
{
	self_is_none(arg);
	return (0);
}

START_TEST(self_is_the_pid_that_spawn_returned)
{
	static xtc_pid_t pid[100], none;

	T_TRUE(xtc_pid_is_none(none));
	T_TRUE(xtc_pid_eq(none, XTC_PID_NONE));
	for (int i = 0; i < 100; i++) {
		pid[i] = t_spawn(look_at_self, &pid[i]);
		for (int k = 0; k < i; k++)
			T_TRUE(!xtc_pid_eq(pid[i], pid[k]));
	}
	T_OK(xtc_loop_run(t_loop));
	T_EQ(t_get(&steps), 100);
}
END_TEST

START_TEST(self_is_none_outside_a_process)
{
	self_is_none(NULL);
	T_OK(xtc_async(t_loop, fiber_self_is_none, NULL, NULL));
	T_OK(xtc_timer_set(t_loop, 0, self_is_none, NULL, NULL));
	T_OK(xtc_loop_run(t_loop));
	self_is_none(NULL);
	T_EQ(t_get(&steps), 4);
}
END_TEST

static xtc_amutex_t *lock;

static intptr_t
yield_once(void *arg)
{
	xtc_yield();
	return ((intptr_t)arg);
}

static void
self_is(xtc_pid_t me)
{
	T_TRUE(xtc_pid_eq(xtc_self(), me));
	T_TRUE(xtc_loop_self() != NULL);
}

/* Each way to leave the CPU, among others that do the same. */
static void
switch_in_all_ways(void *arg)
{
	xtc_pid_t me = xtc_self();
	xtc_waker_t w;
	xtc_task_t *t;

	for (int i = 0; i < *(int *)arg; i++) {
		xtc_yield();
		self_is(me);
		T_OK(xtc_proc_sleep(i % 3 * T_US));
		self_is(me);
		T_RC(t_recv_int(T_US), XTC_E_AGAIN);
		self_is(me);
		T_OK(xtc_amutex_lock(lock, -1));
		self_is(me);
		xtc_yield();
		self_is(me);
		T_OK(xtc_amutex_unlock(lock));
		self_is(me);
		T_OK(xtc_waker_self(&w));
		T_RC(xtc_waker_wait(T_US), XTC_E_AGAIN);
		self_is(me);
		T_OK(xtc_async(xtc_loop_self(), yield_once, NULL, &t));
		T_OK(xtc_await(t, NULL));
		self_is(me);
	}
	t_add(&steps, 1);
}

START_TEST(self_is_right_after_every_kind_of_switch)
{
	int n = t_count(1000) + 10;
	xtc_loop_t *l;
	pthread_t t;

	T_OK(xtc_amutex_create(&lock));
	T_OK(xtc_loop_init(&l));
	for (int i = 0; i < 5; i++) {
		t_spawn(switch_in_all_ways, &n);
		t_spawn_on(l, switch_in_all_ways, &n);
	}
	t = t_thread(t_run_loop, l);
	T_OK(xtc_loop_run(t_loop));
	t_join(t);
	T_OK(xtc_loop_fini(l));
	T_OK(xtc_amutex_destroy(lock));
	T_EQ(t_get(&steps), 10);
}
END_TEST

static void
end(void *arg)
{
	(void)arg;
}

static void
is_stale(xtc_pid_t pid)
{
	xtc_mailbox_stats_t st;

	T_RC(t_send_int(pid, 1), XTC_E_INVAL);
	T_RC(xtc_exit_pid(pid, 1), XTC_E_INVAL);
	T_RC(xtc_proc_mailbox_stats(pid, &st), XTC_E_INVAL);
}

START_TEST(the_pid_of_a_dead_process_is_stale_for_ever)
{
	xtc_pid_t first = t_spawn(end, NULL), pid;

	T_OK(xtc_loop_run(t_loop));
	is_stale(first);
	for (int i = 0; i < 10000; i++) {
		pid = t_spawn(end, NULL);
		T_TRUE(!xtc_pid_eq(pid, first));
		is_stale(first);
		T_OK(xtc_loop_run(t_loop));
		is_stale(pid);
	}
	is_stale(XTC_PID_NONE);
	is_stale((xtc_pid_t){ UINT64_MAX });
	is_stale((xtc_pid_t){ 1 });
	is_stale((xtc_pid_t){ first.id ^ (UINT64_C(1) << 63) });
}
END_TEST

static void
use_everything(void *arg)
{
	void *msg;

	T_OK(xtc_proc_at_exit(end, arg));
	T_OK(t_send_int(xtc_self(), 1));
	T_OK(t_send_int(xtc_self(), 2));
	T_OK(xtc_recv(&msg, NULL, T_SEC));
	xtc_free(msg);
}

static void
spawn_in_sequence(void *arg)
{
	int n = *(int *)arg;
	long rss = 0;

	for (int i = 0; i < n; i++) {
		t_spawn(i % 2 ? use_everything : end, NULL);
		xtc_yield();
		if (i == n / 10)
			rss = t_maxrss_kib();
	}
	/* A leak of 16 bytes each would be 14,000 KiB. */
	if (t_slow() == 1)
		T_TRUE(t_maxrss_kib() - rss < 2000);
}

START_TEST(a_million_processes_one_after_another_in_constant_memory)
{
	int n = t_count(1000000);

	t_run(spawn_in_sequence, &n);
}
END_TEST

static atomic_int parked;

static void
park_until_told(void *arg)
{
	(void)arg;
	t_add(&parked, 1);
	T_EQ(t_recv_int(-1), 5);
	t_add(&steps, 1);
}

static xtc_pid_t *pids;

static void
wake_all(void *arg)
{
	int n = *(int *)arg;

	while (t_get(&parked) < n)
		xtc_yield();
	T_EQ(t_get(&steps), 0);
	for (int i = 0; i < n; i++)
		T_OK(t_send_int(pids[i], 5));
}

/*
 * More than the 32,000 at which guard pages that split mappings use up
 * the default map count. A system on which they do must say so.
 */
START_TEST(forty_thousand_parked_and_woken)
{
	xtc_proc_opts_t o = XTC_PROC_OPTS_DEFAULT;
	int n = t_count(40000), rc;

	pids = calloc((size_t)n, sizeof(*pids));
	o.stack_size = T_SLOW > 1 ? 0 : 16 * 1024;
	for (int i = 0; i < n; i++) {
		rc = xtc_proc_spawn(t_loop, park_until_told, NULL, &o,
		    &pids[i]);
		if (rc == XTC_E_RESOURCE) {
			printf("only %d of %d: the system's mappings ran "
			    "out\n", i, n);
			n = i;
			break;
		}
		T_OK(rc);
	}
	T_TRUE(n >= 1000 || t_slow() > 1);
	t_spawn(wake_all, &n);
	T_OK(xtc_loop_run(t_loop));
	T_EQ(t_get(&steps), n);
	free(pids);
}
END_TEST

static int trail[16], trail_len;

static void
leave_trail(void *arg)
{
	T_TRUE(!xtc_pid_is_none(xtc_self()));
	trail[trail_len++] = (int)(intptr_t)arg;
}

static void
leave_trail_slowly(void *arg)
{
	xtc_pid_t me = xtc_self();

	T_OK(xtc_proc_sleep(T_MS));
	xtc_yield();
	T_OK(t_send_int(me, 9));
	T_EQ(t_recv_int(T_SEC), 9);
	T_RC(t_recv_int(T_US), XTC_E_AGAIN);
	T_RC(xtc_exit_self(1), XTC_E_INVAL);
	T_TRUE(xtc_pid_eq(me, xtc_self()));
	leave_trail(arg);
}

static void
register_four(void)
{
	T_OK(xtc_proc_at_exit(leave_trail, (void *)1));
	T_OK(xtc_proc_at_exit(leave_trail_slowly, (void *)2));
	T_OK(xtc_proc_at_exit(leave_trail_slowly, (void *)3));
	T_OK(xtc_proc_at_exit(leave_trail, (void *)4));
}

static void
trail_is_4321(void)
{
	T_EQ(trail_len, 4);
	for (int i = 0; i < 4; i++)
		T_EQ(trail[i], 4 - i);
	trail_len = 0;
}

static void
end_by_return(void *arg)
{
	(void)arg;
	register_four();
}

static void
end_by_exit_self(void *arg)
{
	(void)arg;
	register_four();
	xtc_exit_self(-3);
	t_fail("xtc_exit_self returned");
}

static void
end_by_kill_of_itself(void *arg)
{
	(void)arg;
	register_four();
	T_OK(xtc_exit_pid(xtc_self(), 1));
	xtc_proc_sleep(INT64_MAX);
	t_fail("a killed fiber returned from its sleep");
}

START_TEST(at_exit_functions_run_last_first_and_may_wait)
{
	t_run(end_by_return, NULL);
	trail_is_4321();
	t_run(end_by_exit_self, NULL);
	trail_is_4321();
	t_run(end_by_kill_of_itself, NULL);
	trail_is_4321();
}
END_TEST

static intptr_t
fiber_at_exit(void *arg)
{
	T_OK(xtc_proc_at_exit(look_at_self, arg));
	return (0);
}

START_TEST(fibers_without_a_pid_have_at_exit_functions_too)
{
	xtc_pid_t none = XTC_PID_NONE;

	T_OK(xtc_async(t_loop, fiber_at_exit, &none, NULL));
	T_OK(xtc_loop_run(t_loop));
	T_EQ(t_get(&steps), 1);
}
END_TEST

static void
register_more(void *arg)
{
	intptr_t n = (intptr_t)arg;

	t_add(&steps, 1);
	if (n > 0)
		T_OK(xtc_proc_at_exit(register_more, (void *)(n - 1)));
}

static void
register_a_chain(void *arg)
{
	T_OK(xtc_proc_at_exit(register_more, arg));
}

START_TEST(an_at_exit_function_registers_another)
{
	t_run(register_a_chain, (void *)10);
	T_EQ(t_get(&steps), 11);
}
END_TEST

static void
register_many(void *arg)
{
	for (int i = 0; i < 1000; i++)
		T_OK(xtc_proc_at_exit(register_more, arg));
}

START_TEST(a_thousand_at_exit_functions)
{
	t_run(register_many, (void *)0);
	T_EQ(t_get(&steps), 1000);
}
END_TEST

static void
spawn_and_end(void *arg)
{
	int n = *(int *)arg;

	for (int i = 0; i < n; i++) {
		xtc_pid_t pid;

		/* The child outlives its parent. */
		pid = t_spawn(park_until_told, NULL);
		T_OK(t_send_int(pid, 5));
	}
}

START_TEST(children_outlive_their_parent)
{
	int n = 1000;

	t_run(spawn_and_end, &n);
	T_EQ(t_get(&steps), n);
}
END_TEST

static void
use_snprintf(void *arg)
{
	char buf[256];

	snprintf(buf, sizeof(buf), "%s %d %.3f", "text", 42, 1.5);
	T_EQ(strcmp(buf, "text 42 1.500"), 0);
	(void)arg;
	t_add(&steps, 1);
}

static int
use_stack(int kib)
{
	volatile char page[1024];

	memset((void *)(uintptr_t)page, kib, sizeof(page));
	if (kib <= 1)
		return (page[17]);
	return (use_stack(kib - 1) + page[0] - page[1023]);
}

static void
use_a_megabyte(void *arg)
{
	(void)arg;
	T_EQ(use_stack(1024), 1);
	t_add(&steps, 1);
}

START_TEST(options_choose_the_stack)
{
	xtc_proc_opts_t o = XTC_PROC_OPTS_DEFAULT;
	xtc_pid_t pid;

	o.stack_size = 16 * 1024;
	o.name = "small";
	T_OK(xtc_proc_spawn(t_loop, use_snprintf, NULL, &o, &pid));
	o.stack_size = 8 * 1024 * 1024;
	o.name = "a name that is much longer than thirty-one bytes";
	T_OK(xtc_proc_spawn(t_loop, use_a_megabyte, NULL, &o, &pid));
	o.size = 0;
	T_OK(xtc_proc_spawn(t_loop, use_a_megabyte, NULL, &o, NULL));
	T_OK(xtc_loop_run(t_loop));
	T_EQ(t_get(&steps), 3);
	for (int i = 0; i < 100; i++) {
		T_OK(xtc_proc_spawn(t_loop, use_a_megabyte, NULL, &o, NULL));
		T_OK(xtc_loop_run(t_loop));
	}
	T_EQ(t_get(&steps), 103);
}
END_TEST

START_TEST(options_that_make_no_sense_are_refused)
{
	xtc_proc_opts_t o = XTC_PROC_OPTS_DEFAULT;
	xtc_pid_t pid = XTC_PID_NONE;

	o.stack_size = 16 * 1024 - 1;
	T_RC(xtc_proc_spawn(t_loop, end, NULL, &o, &pid), XTC_E_RANGE);
	o.stack_size = SIZE_MAX;
	T_RC(xtc_proc_spawn(t_loop, end, NULL, &o, &pid), XTC_E_RANGE);
	o.stack_size = 0;
	o.mailbox_cap = 4194304;
	T_RC(xtc_proc_spawn(t_loop, end, NULL, &o, &pid), XTC_E_RANGE);
	o.mailbox_cap = UINT32_MAX;
	T_RC(xtc_proc_spawn(t_loop, end, NULL, &o, &pid), XTC_E_RANGE);
	o.mailbox_cap = 0;
	o.mailbox_watermark_pct = 101;
	T_RC(xtc_proc_spawn(t_loop, end, NULL, &o, &pid), XTC_E_RANGE);
	o.mailbox_watermark_pct = 50;
	T_RC(xtc_proc_spawn(t_loop, end, NULL, &o, &pid), XTC_E_INVAL);
	o.mailbox_watermark_pct = 0;
	o.trap_exit = 1;
	T_RC(xtc_proc_spawn(t_loop, end, NULL, &o, &pid), XTC_E_NOSYS);
	o.trap_exit = 0;
	o.link_to_parent = 1;
	T_RC(xtc_proc_spawn(t_loop, end, NULL, &o, &pid), XTC_E_NOSYS);
	T_TRUE(xtc_pid_is_none(pid));
	o.link_to_parent = 0;
	T_OK(xtc_proc_spawn(t_loop, end, NULL, &o, &pid));
	T_OK(xtc_loop_run(t_loop));
}
END_TEST

/* One child of each process lives on another loop; all come to an end. */
struct family {
	xtc_loop_t *here, *there;
	int depth;
};

static void
spawn_across(void *arg)
{
	struct family *f = arg, *next;

	T_TRUE(xtc_loop_self() == f->here);
	t_add(&steps, 1);
	for (int i = 0; i < 2 && f->depth > 0; i++) {
		next = xtc_malloc(sizeof(*next));
		T_TRUE(next != NULL);
		next->here = i == 0 ? f->here : f->there;
		next->there = i == 0 ? f->there : f->here;
		next->depth = f->depth - 1;
		t_spawn_on(next->here, spawn_across, next);
	}
	xtc_free(f);
}

static void
watch(void *arg)
{
	while (t_get(&steps) < *(int *)arg)
		T_OK(xtc_proc_sleep(T_MS));
}

START_TEST(processes_spawn_on_each_others_loops)
{
	int depth = t_slow() > 1 ? 9 : 14;
	int want = (1 << (depth + 1)) - 1;
	struct family *f = xtc_malloc(sizeof(*f));
	xtc_loop_t *l;
	pthread_t t;

	T_OK(xtc_loop_init(&l));
	*f = (struct family){ t_loop, l, depth };
	t_spawn(watch, &want);
	t_spawn_on(l, watch, &want);
	t_spawn(spawn_across, f);
	t = t_thread(t_run_loop, l);
	T_OK(xtc_loop_run(t_loop));
	t_join(t);
	T_OK(xtc_loop_fini(l));
	T_EQ(t_get(&steps), want);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("proc");

	t_case(s, self_is_the_pid_that_spawn_returned, 5);
	t_case(s, self_is_none_outside_a_process, 5);
	t_case(s, self_is_right_after_every_kind_of_switch, 30);
	t_case(s, the_pid_of_a_dead_process_is_stale_for_ever, 10);
	t_case(s, a_million_processes_one_after_another_in_constant_memory,
	    30);
	t_case(s, forty_thousand_parked_and_woken, 30);
	t_case(s, at_exit_functions_run_last_first_and_may_wait, 5);
	t_case(s, fibers_without_a_pid_have_at_exit_functions_too, 5);
	t_case(s, an_at_exit_function_registers_another, 5);
	t_case(s, a_thousand_at_exit_functions, 5);
	t_case(s, children_outlive_their_parent, 5);
	t_case(s, options_choose_the_stack, 5);
	t_case(s, options_that_make_no_sense_are_refused, 5);
	t_case(s, processes_spawn_on_each_others_loops, 20);
	return (t_main(s));
}
