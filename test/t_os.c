/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * The operating system as os.h promises it: clocks that do not go back,
 * sleeps that lose no wake and never end early, a lock whose unlock touches
 * nothing after its write, threads that take no signals of the program.
 *
 * With T_OS_OTHER the files of another system are under test (check_stubs.sh),
 * and what only Linux promises is left out.
 */
#define _GNU_SOURCE 1

#include "testlib.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>

#include "os/os.h"
#include "os/qlock.h"

static _Atomic uint32_t word;
static atomic_int ready;
static atomic_int done;

START_TEST(the_monotonic_clock_never_goes_back)
{
	int64_t before = xtc__os_mono();

	for (int i = t_count(1000000); i > 0; i--) {
		int64_t now = xtc__os_mono();

		T_TRUE(now >= before);
		before = now;
	}
	T_TRUE(before > 0);
}
END_TEST

START_TEST(the_real_clock_counts_from_1970)
{
	/* Two clocks of the system, read one after the other: seconds. */
	int64_t diff = xtc__os_real() / T_SEC - (int64_t)time(NULL);

	T_TRUE(diff >= -5 && diff <= 5);
}
END_TEST

START_TEST(a_word_that_differs_does_not_put_to_sleep)
{
	T_OK(xtc__os_futex_wait(&word, 1, INT64_MAX));
}
END_TEST

START_TEST(a_deadline_that_has_passed_is_a_look)
{
	T_RC(xtc__os_futex_wait(&word, 0, xtc__os_mono()), XTC_E_AGAIN);
	T_RC(xtc__os_futex_wait(&word, 0, 1), XTC_E_AGAIN);
	T_RC(xtc__os_futex_wait(&word, 0, 0), XTC_E_AGAIN);
	T_RC(xtc__os_futex_wait(&word, 0, -1), XTC_E_AGAIN);
	T_RC(xtc__os_futex_wait(&word, 0, INT64_MIN), XTC_E_AGAIN);
	T_OK(xtc__os_futex_wait(&word, 1, INT64_MIN));
}
END_TEST

START_TEST(a_sleep_never_ends_before_its_deadline)
{
	int n = t_count(1000), timeouts = 0;

	for (int i = 0; i < n; i++) {
		int64_t deadline = xtc__os_mono() + i % 200 * T_US + i;
		int rc = xtc__os_futex_wait(&word, 0, deadline);

		if (rc != XTC_E_AGAIN)
			continue;
		T_TRUE(xtc__os_mono() >= deadline);
		timeouts++;
	}
	/* Sleeps that end for no reason are allowed, not the rule. */
	T_TRUE(timeouts > n / 2);
}
END_TEST

START_TEST(sleeping_and_waking_leave_errno_alone)
{
	errno = EXDEV;
	T_RC(xtc__os_futex_wait(&word, 0, 0), XTC_E_AGAIN);
	T_OK(xtc__os_futex_wait(&word, 1, INT64_MAX));
	xtc__os_futex_wake(&word, 1);
	xtc__os_futex_wake(&word, INT_MAX);
	T_EQ(errno, EXDEV);
}
END_TEST

static void *
await_word(void *arg)
{
	uint32_t seen;

	t_add(&ready, 1);
	while ((seen = t_get(&word)) == 0)
		T_OK(xtc__os_futex_wait(&word, seen, INT64_MAX));
	t_add(&done, 1);
	return arg;
}

START_TEST(wake_all_wakes_all)
{
	pthread_t t[8];

	for (int i = 0; i < 8; i++)
		t[i] = t_thread(await_word, NULL);
	t_wait_for(&ready, 8);
	t_set(&word, 1);
	xtc__os_futex_wake(&word, INT_MAX);
	for (int i = 0; i < 8; i++)
		t_join(t[i]);
	T_EQ(t_get(&done), 8);
}
END_TEST

/* Even numbers are this thread's to add one to. */
static void *
play_even(void *arg)
{
	uint32_t rounds = *(uint32_t *)arg, seen;

	while ((seen = t_get(&word)) < 2 * rounds) {
		if (seen % 2 != 0) {
			T_OK(xtc__os_futex_wait(&word, seen, INT64_MAX));
			continue;
		}
		t_add(&word, 1);
		xtc__os_futex_wake(&word, 1);
	}
	return NULL;
}

START_TEST(no_wake_is_lost_between_the_look_and_the_sleep)
{
	uint32_t rounds = (uint32_t)t_count(100000), seen;
	pthread_t t = t_thread(play_even, &rounds);

	while ((seen = t_get(&word)) < 2 * rounds) {
		if (seen % 2 != 1) {
			T_OK(xtc__os_futex_wait(&word, seen, INT64_MAX));
			continue;
		}
		t_add(&word, 1);
		xtc__os_futex_wake(&word, 1);
	}
	t_join(t);
	T_EQ(t_get(&word), 2 * rounds);
}
END_TEST

#ifndef T_OS_OTHER
static void
wake_on_signal(int sig)
{
	(void)sig;
	t_set(&word, 1);
	xtc__os_futex_wake(&word, 1);
}

START_TEST(a_signal_handler_may_wake)
{
	struct sigaction sa = { .sa_handler = wake_on_signal };
	pthread_t t;

	T_EQ(sigaction(SIGUSR1, &sa, NULL), 0);
	t = t_thread(await_word, NULL);
	t_wait_for(&ready, 1);
	errno = EXDEV;
	T_EQ(raise(SIGUSR1), 0);
	T_EQ(errno, EXDEV);
	t_join(t);
}
END_TEST
#endif

static struct xtc__qlock lock;
static int64_t guarded;

static void *
count_under_lock(void *arg)
{
	for (int i = *(int *)arg; i > 0; i--) {
		xtc__qlock_lock(&lock);
		guarded++;
		xtc__qlock_unlock(&lock);
	}
	return NULL;
}

START_TEST(a_qlock_lets_one_in_at_a_time)
{
	int n = t_count(200000);
	pthread_t t[4];

	for (int i = 0; i < 4; i++)
		t[i] = t_thread(count_under_lock, &n);
	for (int i = 0; i < 4; i++)
		t_join(t[i]);
	T_EQ(guarded, 4 * (int64_t)n);
	T_TRUE(!xtc__qlock_is_held(&lock));
}
END_TEST

START_TEST(try_takes_a_free_qlock_and_no_other)
{
	T_TRUE(xtc__qlock_try(&lock));
	T_TRUE(!xtc__qlock_try(&lock));
	T_TRUE(xtc__qlock_is_held(&lock));
	xtc__qlock_unlock(&lock);
	T_TRUE(xtc__qlock_try(&lock));
	xtc__qlock_unlock(&lock);
}
END_TEST

START_TEST(waiters_for_a_long_section_sleep)
{
	int n = 1;
	pthread_t a, b;

	xtc__qlock_lock(&lock);
	a = t_thread(count_under_lock, &n);
	b = t_thread(count_under_lock, &n);
	t_wait_for(&lock.word, XTC__QLOCK_WAITED);
	T_EQ(guarded, 0);
	xtc__qlock_unlock(&lock);
	t_join(a);
	t_join(b);
	T_EQ(guarded, 2);
	T_EQ(t_get(&lock.word), XTC__QLOCK_FREE);
}
END_TEST

/* An object that the last of its two users frees, lock and all. */
struct shared {
	struct xtc__qlock lock;
	int users;
};

#define BATCH 1000

static struct shared *batch[BATCH];
static atomic_int batches;	/* put up for the other thread */
static atomic_int left;		/* that it is through with */

static void
leave_batch(void)
{
	for (int i = 0; i < BATCH; i++) {
		struct shared *s = batch[i];
		int users;

		xtc__qlock_lock(&s->lock);
		users = --s->users;
		xtc__qlock_unlock(&s->lock);
		if (users == 0)
			free(s);
	}
}

static void *
leave_batches(void *arg)
{
	int n = *(int *)arg;

	for (int i = 1; i <= n; i++) {
		t_wait_for(&batches, i);
		leave_batch();
		t_add(&left, 1);
	}
	return NULL;
}

/* A touch after unlock's write is a use after free here: see it with ASan. */
START_TEST(the_last_user_of_a_qlock_may_free_it)
{
	int n = t_count(300);
	pthread_t t = t_thread(leave_batches, &n);

	for (int i = 1; i <= n; i++) {
		for (int k = 0; k < BATCH; k++) {
			batch[k] = calloc(1, sizeof(*batch[k]));
			T_TRUE(batch[k] != NULL);
			batch[k]->users = 2;
		}
		t_add(&batches, 1);
		leave_batch();
		t_wait_for(&left, i);
	}
	t_join(t);
}
END_TEST

START_TEST(there_is_at_least_one_cpu)
{
	errno = EXDEV;
	T_TRUE(xtc__os_cpus() >= 1);
	T_TRUE(xtc__os_cpus() <= sysconf(_SC_NPROCESSORS_CONF));
	T_EQ(errno, EXDEV);
}
END_TEST

static sigset_t mask_inside;

static void *
look_at_mask(void *arg)
{
	T_EQ(pthread_sigmask(SIG_BLOCK, NULL, &mask_inside), 0);
	t_add(&done, 1);
	return arg;
}

START_TEST(a_new_thread_takes_no_signal_but_its_own_faults)
{
	static const int theirs[] = {
		SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCHLD, SIGALRM,
		SIGPIPE, SIGPROF
	};
	static const int own[] = {
		SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS
	};
	struct xtc__os_thread t;
	sigset_t before, after;

	T_EQ(pthread_sigmask(SIG_BLOCK, NULL, &before), 0);
	T_OK(xtc__os_thread_create(&t, look_at_mask, NULL, 0));
	T_OK(xtc__os_thread_join(&t));
	T_EQ(t_get(&done), 1);
	T_EQ(pthread_sigmask(SIG_BLOCK, NULL, &after), 0);
	for (size_t i = 0; i < sizeof(theirs) / sizeof(theirs[0]); i++)
		T_TRUE(sigismember(&mask_inside, theirs[i]) == 1);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		T_TRUE(sigismember(&mask_inside, own[i]) == 0);
	for (int i = 1; i < 32; i++)
		T_EQ(sigismember(&before, i), sigismember(&after, i));
}
END_TEST

static void *
use_stack(void *arg)
{
	/* More than the default on any system. */
	volatile char room[12 * 1024 * 1024];

	for (size_t i = 0; i < sizeof(room); i += 1024)
		room[i] = 1;
	t_add(&done, room[1024]);
	return arg;
}

START_TEST(a_thread_gets_the_stack_it_asks_for)
{
	struct xtc__os_thread t;

	/* An odd size is rounded up, a tiny one too. */
	T_OK(xtc__os_thread_create(&t, use_stack, NULL,
	    (16 << 20) + 1));
	T_OK(xtc__os_thread_join(&t));
	T_OK(xtc__os_thread_create(&t, look_at_mask, NULL, 1));
	T_OK(xtc__os_thread_join(&t));
	T_EQ(t_get(&done), 2);
}
END_TEST

static int fault_errno;

static int
fail_thread_create(const char *site)
{
	return strcmp(site, "os.thread_create") == 0 ? fault_errno : 0;
}

START_TEST(a_thread_that_cannot_be_made_says_why)
{
	struct xtc__os_thread t;

	xtc__os_fault_set(fail_thread_create);
	errno = EXDEV;
	fault_errno = EAGAIN;
	T_RC(xtc__os_thread_create(&t, look_at_mask, NULL, 0), XTC_E_RESOURCE);
	fault_errno = ENOMEM;
	T_RC(xtc__os_thread_create(&t, look_at_mask, NULL, 0), XTC_E_NOMEM);
	fault_errno = 0;
	T_OK(xtc__os_thread_create(&t, look_at_mask, NULL, 0));
	T_OK(xtc__os_thread_join(&t));
	xtc__os_fault_set(NULL);
	/* More than there is address space for. */
	T_TRUE(xtc__os_thread_create(&t, look_at_mask, NULL, SIZE_MAX / 4) < 0);
	T_RC(xtc__os_thread_create(&t, look_at_mask, NULL, SIZE_MAX),
	    XTC_E_INVAL);
	T_EQ(t_get(&done), 1);
	T_EQ(errno, EXDEV);
}
END_TEST

#if defined(__linux__) && !defined(T_OS_OTHER)
START_TEST(only_the_cpus_left_to_the_process_count)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	T_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
	T_EQ(xtc__os_cpus(), 1);
}
END_TEST

START_TEST(timer_slack_is_set_and_put_back)
{
	/* More than an int has, which is what an emulator makes of it. */
	int64_t old, long_ns = t_emulated() ? T_SEC : 5 * T_SEC;

	errno = EXDEV;
	old = xtc__os_timer_slack_set(1);
	T_TRUE(old > 1);
	T_EQ(xtc__os_timer_slack_set(7 * T_US), 1);
	T_EQ(xtc__os_timer_slack_set(old), 7 * T_US);
	T_EQ(xtc__os_timer_slack_set(long_ns), old);
	T_EQ(xtc__os_timer_slack_set(0), long_ns);
	T_EQ(xtc__os_timer_slack_set(-1), old);
	T_EQ(xtc__os_timer_slack_set(-1), old);
	T_EQ(errno, EXDEV);
}
END_TEST

START_TEST(a_thread_name_is_cut_to_what_the_kernel_keeps)
{
	char name[64];

	xtc__os_thread_name("a-name-that-is-too-long");
	T_EQ(pthread_getname_np(pthread_self(), name, sizeof(name)), 0);
	T_TRUE(strcmp(name, "a-name-that-is-") == 0);
	xtc__os_thread_name("short");
	T_EQ(pthread_getname_np(pthread_self(), name, sizeof(name)), 0);
	T_TRUE(strcmp(name, "short") == 0);
}
END_TEST
#endif

int
main(void)
{
	Suite *s = suite_create("os");

	t_case_bare(s, the_monotonic_clock_never_goes_back, 10);
	t_case_bare(s, the_real_clock_counts_from_1970, 10);
	t_case_bare(s, a_word_that_differs_does_not_put_to_sleep, 10);
	t_case_bare(s, a_deadline_that_has_passed_is_a_look, 10);
	t_case_bare(s, a_sleep_never_ends_before_its_deadline, 20);
	t_case_bare(s, sleeping_and_waking_leave_errno_alone, 10);
	t_case_bare(s, wake_all_wakes_all, 10);
	t_case_bare(s, no_wake_is_lost_between_the_look_and_the_sleep, 60);
	t_case_bare(s, a_qlock_lets_one_in_at_a_time, 60);
	t_case_bare(s, try_takes_a_free_qlock_and_no_other, 10);
	t_case_bare(s, waiters_for_a_long_section_sleep, 10);
	t_case_bare(s, the_last_user_of_a_qlock_may_free_it, 60);
	t_case_bare(s, there_is_at_least_one_cpu, 10);
	t_case_bare(s, a_new_thread_takes_no_signal_but_its_own_faults, 10);
	t_case_bare(s, a_thread_gets_the_stack_it_asks_for, 10);
	t_case_bare(s, a_thread_that_cannot_be_made_says_why, 10);
#ifndef T_OS_OTHER
	t_case_bare(s, a_signal_handler_may_wake, 10);
#endif
#if defined(__linux__) && !defined(T_OS_OTHER)
	t_case_bare(s, only_the_cpus_left_to_the_process_count, 10);
	t_case_bare(s, timer_slack_is_set_and_put_back, 10);
	t_case_bare(s, a_thread_name_is_cut_to_what_the_kernel_keeps, 10);
#endif
	return t_main(s);
}
