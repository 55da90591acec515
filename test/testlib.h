/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * testlib.h: what the behaviour tests share. To be included first.
 *
 * Each test is a libcheck test in a process of its own with a loop of its
 * own (t_loop), which is finished when the test returns; a test that hangs
 * is killed by check's timeout. Because each test starts in a fresh process,
 * tests keep their state in file variables and count on zero in them.
 *
 * The T_ assertions may be used in fibers, callbacks and threads: a failure
 * is reported and ends the test's process on the spot, it never jumps from
 * one stack to another. They cost a comparison when they hold, so they may
 * stand in loops of millions.
 *
 * Environment: XTC_TEST_DIV=n divides the counts of the long tests;
 * XTC_TEST_SLOW=n widens the bounds of time, for emulators;
 * CK_RUN_CASE=name runs one test; XTC_TEST_NOFORK=1 runs it in this process,
 * for a debugger (one test only).
 */
#ifndef TESTLIB_H
#define TESTLIB_H

#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif

#include <check.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <xtc.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define T_TSAN 1
#elif __has_feature(address_sanitizer)
#define T_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define T_TSAN 1
#elif defined(__SANITIZE_ADDRESS__)
#define T_ASAN 1
#endif

/* T_SLOW: how many times slower this build may be, for bounds of time. */
#if defined(T_TSAN)
#define T_SLOW 15
#define T_DIV 20
#elif defined(T_ASAN)
#define T_SLOW 6
#define T_DIV 10
#else
#define T_SLOW 1
#define T_DIV 1
#endif

#define T_US ((int64_t)1000)
#define T_MS ((int64_t)1000000)
#define T_SEC ((int64_t)1000000000)

static int t_nofork;

#define t_fail(...) \
	t_fail_at(__FILE__, __LINE__, __VA_ARGS__)
#define t_fail_at(file, line, ...) do { \
	if (t_nofork) { \
		fprintf(stderr, "%s:%d: ", (file), (line)); \
		fprintf(stderr, __VA_ARGS__); \
		fprintf(stderr, "\n"); \
		abort(); \
	} \
	_ck_assert_failed((file), (line), "Failed", __VA_ARGS__); \
} while (0)

/* The expression must be true. */
#define T_TRUE(e) do { \
	if (!(e)) \
		t_fail("not true: %s", #e); \
} while (0)

/* Two integers must be equal; each is evaluated once. */
#define T_EQ(a, b) do { \
	int64_t t_a = (int64_t)(a), t_b = (int64_t)(b); \
	if (t_a != t_b) \
		t_fail("%s is %" PRId64 ", not %s, which is %" PRId64, \
		    #a, t_a, #b, t_b); \
} while (0)

/* A call must return the code. */
#define T_RC(call, code) do { \
	int t_rc = (call), t_code = (code); \
	if (t_rc != t_code) \
		t_fail("%s returned %d (%s), not %s", #call, t_rc, \
		    xtc_strerror(t_rc), #code); \
} while (0)
#define T_OK(call) T_RC(call, XTC_OK)

/* Valgrind is told by what it preloads: no header of it is needed. */
static inline int
t_valgrind(void)
{
	const char *p = getenv("LD_PRELOAD");

	return (p != NULL && strstr(p, "vgpreload") != NULL);
}

/* Under an emulator of another processor, see tools/build/runtests. */
static inline int
t_emulated(void)
{
	return (getenv("XTC_EMULATOR") != NULL);
}

/* A count for this build: n, or less where everything is slower. */
static inline int
t_count(int n)
{
	const char *p = getenv("XTC_TEST_DIV");
	int div = T_DIV;

	if (t_valgrind())
		div *= 50;
	if (p != NULL && atoi(p) > 0)
		div *= atoi(p);
	return (n / div > 0 ? n / div : 1);
}

/*
 * Bounds of time are this many times wider here. Where it is not 1, the
 * memory of the process is not ours alone either.
 */
static inline int
t_slow(void)
{
	const char *p = getenv("XTC_TEST_SLOW");
	int slow = t_valgrind() ? 40 : T_SLOW;

	if (p != NULL && atoi(p) > 0)
		slow *= atoi(p);
	return (slow);
}

static inline uint64_t
t_rand(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	*state = x;
	return (x * UINT64_C(0x2545f4914f6cdd1d));
}

/* Use the CPU for ns nanoseconds. */
static inline void
t_spin(int64_t ns)
{
	int64_t end = xtc_clock_mono() + ns;

	while (xtc_clock_mono() < end)
		continue;
}

/*
 * For loops in which threads wait for each other: on a machine with other
 * work a round may take milliseconds, so they end after some seconds too.
 */
static inline int64_t
t_seconds_from_now(int seconds)
{
	return (xtc_clock_mono() + seconds * T_SEC);
}

static inline int
t_before(int64_t end_ns)
{
	return (xtc_clock_mono() < end_ns);
}

/* In a plain thread: wait until an atomic is at least n. */
#define t_wait_for(p, n) do { \
	while (atomic_load_explicit((p), memory_order_acquire) < (n)) \
		sched_yield(); \
} while (0)

#define t_get(p) atomic_load_explicit((p), memory_order_acquire)
#define t_set(p, v) atomic_store_explicit((p), (v), memory_order_release)
#define t_add(p, v) atomic_fetch_add_explicit((p), (v), memory_order_acq_rel)

/* The most memory this process has had resident so far, in KiB. */
static inline long
t_maxrss_kib(void)
{
	struct rusage ru;

	T_EQ(getrusage(RUSAGE_SELF, &ru), 0);
	return (ru.ru_maxrss);
}

/* CPU time of the process. */
static inline int64_t
t_cpu_ns(void)
{
	struct timespec ts;

	T_EQ(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts), 0);
	return (ts.tv_sec * T_SEC + ts.tv_nsec);
}

/* The lowest descriptor that is free: grows if descriptors leak. */
static inline int
t_lowest_fd(void)
{
	int fd = open("/dev/null", O_RDONLY);

	T_TRUE(fd >= 0);
	close(fd);
	return (fd);
}

static inline int
t_cmp_ns(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return ((x > y) - (x < y));
}

static inline int64_t
t_median(int64_t *ns, int n)
{
	qsort(ns, (size_t)n, sizeof(*ns), t_cmp_ns);
	return (ns[n / 2]);
}

static inline pthread_t
t_thread(void *(*fn)(void *), void *arg)
{
	pthread_t t;

	T_EQ(pthread_create(&t, NULL, fn, arg), 0);
	return (t);
}

static inline void
t_join(pthread_t t)
{
	T_EQ(pthread_join(t, NULL), 0);
}

/* A thread's function: run the loop in arg until it returns. */
static inline void *
t_run_loop(void *arg)
{
	T_OK(xtc_loop_run(arg));
	return (NULL);
}

/* A timer's function: stop the loop in arg. */
static inline void
t_stop(void *arg)
{
	T_OK(xtc_loop_stop(arg));
}

static xtc_loop_t *t_loop;

static inline void
t_setup(void)
{
	T_OK(xtc_loop_init(&t_loop));
}

static inline void
t_teardown(void)
{
	T_OK(xtc_loop_fini(t_loop));
	t_loop = NULL;
}

static inline xtc_pid_t
t_spawn_on(xtc_loop_t *loop, void (*fn)(void *), void *arg)
{
	xtc_pid_t pid;

	T_OK(xtc_proc_spawn(loop, fn, arg, NULL, &pid));
	T_TRUE(!xtc_pid_is_none(pid));
	return (pid);
}

static inline xtc_pid_t
t_spawn(void (*fn)(void *), void *arg)
{
	return (t_spawn_on(t_loop, fn, arg));
}

/* Run fn as a process of the test's loop, and the loop to its end. */
static inline void
t_run(void (*fn)(void *), void *arg)
{
	t_spawn(fn, arg);
	T_OK(xtc_loop_run(t_loop));
}

static inline void
t_dawdle_handler(int sig)
{
	(void)sig;
	t_spin(3000);
	sched_yield();
}

/*
 * After this SIGUSR2 keeps a thread for some microseconds wherever it is.
 * Sent often, it opens windows of a few instructions between two threads
 * that else are hit once in a million times.
 */
static inline void
t_dawdle_setup(void)
{
	struct sigaction sa;

	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = t_dawdle_handler;
	sa.sa_flags = SA_RESTART;
	sigemptyset(&sa.sa_mask);
	T_EQ(sigaction(SIGUSR2, &sa, NULL), 0);
}

static inline void
t_dawdle(pthread_t t)
{
	T_EQ(pthread_kill(t, SIGUSR2), 0);
}

struct t_until {
	atomic_int *counter;
	int n;
};

static inline void
t_stop_when(void *arg)
{
	struct t_until *u = arg;

	while (t_get(u->counter) < u->n)
		xtc_yield();
	T_OK(xtc_loop_stop(xtc_loop_self()));
}

/*
 * Run the loop until its fibers have counted up to n. What each does
 * between its counting and its next wait is then done too.
 */
static inline void
t_run_until(xtc_loop_t *loop, atomic_int *counter, int n)
{
	struct t_until u = { counter, n };

	t_spawn_on(loop, t_stop_when, &u);
	T_OK(xtc_loop_run(loop));
}

/* Receive an int with a timeout; its value, or the negative code. */
static inline int
t_recv_int(int64_t timeout_ns)
{
	void *msg;
	size_t size;
	int rc, value;

	rc = xtc_recv(&msg, &size, timeout_ns);
	if (rc != XTC_OK)
		return (rc);
	T_EQ(size, sizeof(value));
	memcpy(&value, msg, sizeof(value));
	xtc_free(msg);
	return (value);
}

static inline int
t_send_int(xtc_pid_t to, int value)
{
	return (xtc_send(to, &value, sizeof(value)));
}

/* Add a test that may take so many seconds in a plain build. */
static inline void
t_case(Suite *s, const TTest *t, int seconds)
{
	TCase *tc = tcase_create(t->name);

	tcase_add_checked_fixture(tc, t_setup, t_teardown);
	tcase_set_timeout(tc, (double)seconds * t_slow());
	tcase_add_test(tc, t);
	suite_add_tcase(s, tc);
}

/* The same for a test that makes its loops, if any, itself. */
static inline void
t_case_bare(Suite *s, const TTest *t, int seconds)
{
	TCase *tc = tcase_create(t->name);

	tcase_set_timeout(tc, (double)seconds * t_slow());
	tcase_add_test(tc, t);
	suite_add_tcase(s, tc);
}

/* Run the suite: 0, or 1 if a test failed. */
static inline int
t_main(Suite *s)
{
	SRunner *sr = srunner_create(s);
	int failed;

	t_nofork = getenv("XTC_TEST_NOFORK") != NULL;
	srunner_set_fork_status(sr, t_nofork ? CK_NOFORK : CK_FORK);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return (failed != 0);
}

#endif
