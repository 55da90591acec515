/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * Every poller keeps the contract of poll.h in its times, its wakes and their
 * count, any number of waiters on an fd, and failures that leave nothing
 * behind. (Descriptors that are closed: t_poll_fds.c.)
 */
#include "polllib.h"

#include <arpa/inet.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>

/* Time and wakes. */

START_TEST(a_look_returns_at_once)
{
	open_poller(_i);
	expect_none();
	T_EQ(p->woken, 0);
	close_poller();
}
END_TEST

START_TEST(a_timeout_is_kept_to_the_microsecond_and_never_early)
{
	int64_t best = INT64_MAX;

	open_poller(_i);
	for (int i = 0; i < 200; i++) {
		int64_t start = xtc__os_mono(), took;

		T_EQ(xtc__poll_wait(p, 100 * T_US, ev, 256), 0);
		took = xtc__os_mono() - start;
		T_TRUE(took >= 100 * T_US);
		best = took < best ? took : best;
	}
#ifndef T_POLL_MS
	/* Rounded to milliseconds, the best would be 1 ms at least. */
	T_TRUE(best < 900 * T_US);
#endif
	close_poller();
}
END_TEST

START_TEST(a_long_timeout_is_never_early)
{
	open_poller(_i);
	for (int64_t ms = 9; ms < 150; ms *= 2) {
		int64_t start = xtc__os_mono();

		T_EQ(xtc__poll_wait(p, ms * T_MS, ev, 256), 0);
		T_TRUE(xtc__os_mono() - start >= ms * T_MS);
	}
	close_poller();
}
END_TEST

static void *
wake_once(void *arg)
{
	(void)arg;
	xtc__poll_wake(p);
	return NULL;
}

START_TEST(a_wake_ends_the_longest_wait)
{
	static const int64_t longest[] = { -1, INT64_MIN, INT64_MAX };

	open_poller(_i);
	for (uint64_t i = 0; i < 3; i++) {
		pthread_t t = t_thread(wake_once, NULL);
		int waits = 0;

		while (p->woken == i) {
			T_EQ(xtc__poll_wait(p, longest[i], ev, 256), 0);
			waits++;
		}
		T_EQ(p->woken, i + 1);
		T_TRUE(waits <= 3);
		t_join(t);
	}
	close_poller();
}
END_TEST

START_TEST(a_wake_before_the_wait_ends_it)
{
	open_poller(_i);
	for (uint64_t i = 1; i < 100; i++) {
		xtc__poll_wake(p);
		T_EQ(xtc__poll_wait(p, -1, ev, 256), 0);
		T_EQ(p->woken, i);
	}
	expect_rest();
	close_poller();
}
END_TEST

static int wakes_each;

static void *
wake_often(void *arg)
{
	(void)arg;
	for (int i = 0; i < wakes_each; i++) {
		errno = EXDEV;
		xtc__poll_wake(p);
		T_EQ(errno, EXDEV);
	}
	return NULL;
}

START_TEST(wakes_of_four_threads_are_counted_once_each)
{
	pthread_t t[4];

	open_poller(_i);
	wakes_each = t_count(25000);
	for (int i = 0; i < 4; i++)
		t[i] = t_thread(wake_often, NULL);
	while (p->woken < 4 * (uint64_t)wakes_each)
		T_EQ(xtc__poll_wait(p, -1, ev, 256), 0);
	/* All have been counted, so nobody touches it any more. */
	T_EQ(p->woken, 4 * (uint64_t)wakes_each);
	close_poller();
	for (int i = 0; i < 4; i++)
		t_join(t[i]);
}
END_TEST

START_TEST(more_wakes_than_a_pipe_holds_are_counted_once_each)
{
	/* Nobody reads meanwhile: a wake that waited would wait for ever. */
	uint64_t n = 200000;

	open_poller(_i);
	for (uint64_t i = 0; i < n; i++)
		xtc__poll_wake(p);
	while (p->woken < n)
		T_EQ(xtc__poll_wait(p, -1, ev, 256), 0);
	T_EQ(p->woken, n);
	expect_rest();
	T_EQ(p->woken, n);
	close_poller();
}
END_TEST

/* Take all wakes at the moment at which one has found the pipe full. */
static void
take_wakes(void)
{
	fault_site = NULL;
	do
		(void)xtc__poll_wait(p, 0, ev, 256);
	while (p->woken == 0);
}

START_TEST(a_wake_that_overflows_is_not_slept_over)
{
	uint64_t n = 0;

	open_poller(_i);
	fault_site = "poll.wake_full";
	fault_fn = take_wakes;
	/* An eventfd does not fill up. */
	while (fault_site != NULL && n < 200000) {
		xtc__poll_wake(p);
		n++;
	}
	while (p->woken < n)
		(void)xtc__poll_wait(p, -1, ev, 256);
	T_EQ(p->woken, n);
	expect_rest();
	close_poller();
}
END_TEST

START_TEST(wakes_that_overflow_from_four_threads_are_counted_too)
{
	pthread_t t[4];
	uint64_t before = 70000;

	open_poller(_i);
	for (uint64_t i = 0; i < before; i++)
		xtc__poll_wake(p);
	wakes_each = t_count(50000);
	for (int i = 0; i < 4; i++)
		t[i] = t_thread(wake_often, NULL);
	while (p->woken < before + 4 * (uint64_t)wakes_each)
		T_EQ(xtc__poll_wait(p, -1, ev, 256), 0);
	T_EQ(p->woken, before + 4 * (uint64_t)wakes_each);
	close_poller();
	for (int i = 0; i < 4; i++)
		t_join(t[i]);
}
END_TEST

static pthread_t waiter_thread;
static atomic_int handled;

static void
wake_on_signal(int sig)
{
	int saved = errno;

	(void)sig;
	errno = EXDEV;
	xtc__poll_wake(p);
	if (errno == EXDEV)
		t_add(&handled, 1);
	errno = saved;
}

static void *
send_signals(void *arg)
{
	int n = *(int *)arg;

	for (int i = 1; i <= n; i++) {
		T_EQ(pthread_kill(waiter_thread, SIGUSR1), 0);
		t_wait_for(&handled, i);
	}
	return NULL;
}

START_TEST(a_signal_handler_may_wake)
{
	struct sigaction sa = { .sa_handler = wake_on_signal };
	int n = t_count(2000);
	pthread_t t;

	open_poller(_i);
	T_EQ(sigaction(SIGUSR1, &sa, NULL), 0);
	waiter_thread = pthread_self();
	t = t_thread(send_signals, &n);
	while (p->woken < (uint64_t)n)
		T_EQ(xtc__poll_wait(p, -1, ev, 256), 0);
	t_join(t);
	T_EQ(p->woken, n);
	close_poller();
}
END_TEST

/* Readiness. */

START_TEST(what_is_ready_already_comes_with_the_next_wait)
{
	int fds[2];

	open_poller(_i);
	make_pipe(fds);
	put(fds[1]);
	errno = EXDEV;
	T_OK(xtc__poll_add(p, fds[0], R, 7));
	T_OK(xtc__poll_add(p, fds[1], W, UINT64_MAX));
	T_TRUE(xtc__poll_has_fds(p));
	T_EQ(xtc__poll_wait(p, -1, ev, 256), 2);
	T_EQ(errno, EXDEV);
	T_EQ(ev[0].token + ev[1].token, 6);
	for (int i = 0; i < 2; i++) {
		T_EQ(ev[i].fd, ev[i].token == 7 ? fds[0] : fds[1]);
		T_EQ(ev[i].revents, ev[i].token == 7 ? R : W);
	}
	T_TRUE(!xtc__poll_has_fds(p));
	close_both(fds);
	close_poller();
}
END_TEST

START_TEST(an_event_takes_its_registration_away)
{
	int fds[2];

	open_poller(_i);
	make_pipe(fds);
	put(fds[1]);
	for (uint64_t i = 0; i < 10; i++) {
		T_OK(xtc__poll_add(p, fds[0], R, i));
		expect_event(fds[0], i, R);
		expect_rest();
	}
	close_both(fds);
	close_poller();
}
END_TEST

static void *
put_later(void *arg)
{
	put(*(int *)arg);
	return NULL;
}

START_TEST(a_wait_ends_when_the_fd_gets_ready)
{
	int fds[2];

	open_poller(_i);
	make_pipe(fds);
	for (uint64_t i = 0; i < 100; i++) {
		pthread_t t;

		T_OK(xtc__poll_add(p, fds[0], R, i));
		T_EQ(xtc__poll_wait(p, 0, ev, 256), 0);
		t = t_thread(put_later, &fds[1]);
		expect_event(fds[0], i, R);
		t_join(t);
		take(fds[0]);
	}
	close_both(fds);
	close_poller();
}
END_TEST

START_TEST(any_number_may_wait_on_one_fd)
{
	int fds[2];

	open_poller(_i);
	make_pair(fds);
	T_OK(xtc__poll_add(p, fds[0], R, 1));
	T_OK(xtc__poll_add(p, fds[0], R | W, 2));
	T_OK(xtc__poll_add(p, fds[0], R, 3));
	T_OK(xtc__poll_add(p, fds[0], W, 4));
	T_OK(xtc__poll_add(p, fds[0], 0, 5));
	T_EQ(p->n_waiters, 5);
	/* Writers come at once, oldest first, and readers stay. */
	T_EQ(next_events(256), 2);
	T_EQ(ev[0].token, 2);
	T_EQ(ev[1].token, 4);
	T_EQ(ev[0].revents, W);
	T_EQ(ev[1].revents, W);
	expect_rest();
	put(fds[1]);
	T_EQ(next_events(256), 2);
	T_EQ(ev[0].token, 1);
	T_EQ(ev[1].token, 3);
	T_EQ(ev[0].revents, R);
	expect_rest();
	close(fds[1]);
	T_EQ(next_events(256), 1);
	T_EQ(ev[0].token, 5);
	T_TRUE(ev[0].revents & HUP);
	T_EQ(p->n_waiters, 0);
	close(fds[0]);
	close_poller();
}
END_TEST

START_TEST(no_event_comes_after_del)
{
	int fds[2];

	open_poller(_i);
	make_pipe(fds);
	T_RC(xtc__poll_del(p, fds[0], 1), XTC_E_INVAL);
	T_RC(xtc__poll_del(p, -1, 1), XTC_E_INVAL);
	T_RC(xtc__poll_del(p, INT_MAX, 1), XTC_E_INVAL);
	T_OK(xtc__poll_add(p, fds[0], R, 1));
	T_OK(xtc__poll_add(p, fds[0], R, 2));
	T_RC(xtc__poll_del(p, fds[0], 3), XTC_E_INVAL);
	T_RC(xtc__poll_del(p, fds[1], 1), XTC_E_INVAL);
	T_OK(xtc__poll_del(p, fds[0], 1));
	T_RC(xtc__poll_del(p, fds[0], 1), XTC_E_INVAL);
	put(fds[1]);
	expect_event(fds[0], 2, R);
	T_RC(xtc__poll_del(p, fds[0], 2), XTC_E_INVAL);
	/* With nobody left the fd, still ready, must not keep us awake. */
	T_OK(xtc__poll_add(p, fds[0], R, 3));
	T_OK(xtc__poll_del(p, fds[0], 3));
	T_TRUE(!xtc__poll_has_fds(p));
	expect_rest();
	/* One who waits for less than those who left is not disturbed. */
	T_OK(xtc__poll_add(p, fds[0], R, 4));
	T_OK(xtc__poll_add(p, fds[0], 0, 5));
	T_OK(xtc__poll_del(p, fds[0], 4));
	expect_rest();
	T_OK(xtc__poll_del(p, fds[0], 5));
	close_both(fds);
	close_poller();
}
END_TEST

START_TEST(a_half_closed_socket_is_readable_and_no_more)
{
	int fds[2];

	open_poller(_i);
	make_pair(fds);
	T_EQ(shutdown(fds[1], SHUT_WR), 0);
	T_OK(xtc__poll_add(p, fds[0], R, 1));
	expect_event(fds[0], 1, R);
	T_OK(xtc__poll_add(p, fds[0], W, 2));
	expect_event(fds[0], 2, W);
	T_OK(xtc__poll_add(p, fds[0], 0, 3));
	expect_rest();
#ifdef POLLRDHUP
	/* Who asks is told. */
	T_OK(xtc__poll_add(p, fds[0], HUP, 4));
	expect_event(fds[0], 4, HUP);
	T_OK(xtc__poll_add(p, fds[0], R | W | HUP, 5));
	expect_event(fds[0], 5, R | W | HUP);
	expect_rest();
#endif
	T_OK(xtc__poll_del(p, fds[0], 3));
	close_both(fds);
	close_poller();
}
END_TEST

START_TEST(a_hangup_comes_unasked)
{
	int fds[2];

	open_poller(_i);
	make_pair(fds);
	T_OK(xtc__poll_add(p, fds[0], R, 1));
	T_OK(xtc__poll_add(p, fds[0], HUP, 2));
	expect_none();
	close(fds[1]);
	T_EQ(next_events(256), 2);
	T_EQ(ev[0].token, 1);
	T_EQ(ev[1].token, 2);
	T_TRUE(ev[0].revents & R);
	T_TRUE(ev[1].revents & HUP);
	expect_rest();
	close(fds[0]);
	/* A pipe whose reader is gone: whatever one waits for, it is over. */
	make_pipe(fds);
	T_OK(xtc__poll_add(p, fds[1], W, 3));
	close(fds[0]);
	T_EQ(next_events(256), 1);
	T_EQ(ev[0].token, 3);
	T_TRUE(ev[0].revents & (HUP | ERR));
	expect_rest();
	close(fds[1]);
	close_poller();
}
END_TEST

START_TEST(a_refused_connection_is_an_error_event)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t len = sizeof(a);
	int none = socket(AF_INET, SOCK_STREAM, 0);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	open_poller(_i);
	/* A port that is taken, and nobody listens. */
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	T_EQ(bind(none, (struct sockaddr *)&a, len), 0);
	T_EQ(getsockname(none, (struct sockaddr *)&a, &len), 0);
	T_EQ(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	T_EQ(connect(fd, (struct sockaddr *)&a, len), -1);
	if (errno == EINPROGRESS || errno == ECONNREFUSED) {
		T_OK(xtc__poll_add(p, fd, W, 1));
		T_EQ(next_events(256), 1);
		T_EQ(ev[0].token, 1);
		T_TRUE(ev[0].revents & (ERR | HUP));
	}
	close(fd);
	close(none);
	close_poller();
}
END_TEST

START_TEST(what_cannot_be_waited_for_is_always_ready)
{
	FILE *file = tmpfile();
	int fd = fileno(file);

	open_poller(_i);
	for (uint64_t i = 0; i < 3; i++) {
		T_OK(xtc__poll_add(p, fd, R, 3 * i));
		T_OK(xtc__poll_add(p, fd, W, 3 * i + 1));
		T_OK(xtc__poll_add(p, fd, R | W, 3 * i + 2));
		T_EQ(p->n_waiters, 3);
		T_OK(xtc__poll_del(p, fd, 3 * i));
		T_EQ(xtc__poll_wait(p, -1, ev, 256), 2);
		T_EQ(ev[0].token, 3 * i + 1);
		T_EQ(ev[0].revents, W);
		T_EQ(ev[1].token, 3 * i + 2);
		T_EQ(ev[1].revents, R | W);
		T_EQ(ev[1].fd, fd);
		expect_rest();
	}
	fclose(file);
	fd = open("/dev/null", O_RDWR);
	T_OK(xtc__poll_add(p, fd, R | W, 9));
	expect_event(fd, 9, R | W);
	close(fd);
	close_poller();
}
END_TEST

START_TEST(a_bad_argument_has_no_effect)
{
	int fds[2];

	open_poller(_i);
	make_pipe(fds);
	T_RC(xtc__poll_add(p, -1, R, 1), XTC_E_INVAL);
	T_RC(xtc__poll_add(p, INT_MIN, R, 1), XTC_E_INVAL);
	/* Without a table up to there: no memory is asked for. */
	xtc__mem_fail_nth(1, 1);
	T_RC(xtc__poll_add(p, INT_MAX, R, 1), XTC_E_INVAL);
	xtc__mem_fail_nth(0, 0);
	T_RC(xtc__poll_add(p, fds[0], R | ERR, 1), XTC_E_INVAL);
	T_RC(xtc__poll_add(p, fds[0], 1u << 31, 1), XTC_E_INVAL);
	/* Closed, once without and once with a record of its own. */
	close(fds[0]);
	errno = EXDEV;
	T_RC(xtc__poll_add(p, fds[0], R, 1), XTC_E_INVAL);
	T_OK(xtc__poll_add(p, fds[1], W, 2));
	T_EQ(next_events(256), 1);
	close(fds[1]);
	T_RC(xtc__poll_add(p, fds[1], W, 3), XTC_E_INVAL);
	T_RC(xtc__poll_add_kept(p, fds[1], W, 3, 5), XTC_E_INVAL);
	T_EQ(errno, EXDEV);
	T_EQ(p->n_waiters, 0);
	expect_rest();
	close_poller();
}
END_TEST

/* More than fits. */

START_TEST(what_does_not_fit_is_kept_in_order)
{
	int fds[2];
	uint64_t next = 0;

	open_poller(_i);
	make_pipe(fds);
	for (uint64_t i = 0; i < 50; i++)
		T_OK(xtc__poll_add(p, fds[0], R, i));
	put(fds[1]);
	while (next < 50) {
		int n = next_events(7);

		T_TRUE(n <= 7);
		for (int i = 0; i < n; i++)
			T_EQ(ev[i].token, next++);
		/* Also of those whose event has come but not been returned. */
		if (next == 14) {
			T_OK(xtc__poll_del(p, fds[0], 14));
			T_OK(xtc__poll_del(p, fds[0], 49));
			next++;
		}
		T_EQ(p->n_waiters, next < 14 ? 50 - next : 49 - next);
		if (p->n_waiters == 0)
			break;
	}
	T_EQ(next, 49);
	expect_rest();
	close_both(fds);
	close_poller();
}
END_TEST

START_TEST(what_is_always_ready_starves_nobody)
{
	FILE *file = tmpfile();
	int fds[2], seen = 0;

	open_poller(_i);
	make_pipe(fds);
	put(fds[1]);
	xtc__poll_wake(p);
	for (uint64_t i = 1; i <= 8; i++)
		T_OK(xtc__poll_add(p, fileno(file), R, i));
	T_OK(xtc__poll_add(p, fds[0], R, 100));
	/* The file's waiters come back as soon as they have had theirs. */
	for (int turn = 0; turn < 10; turn++) {
		int n = next_events(4);

		for (int i = 0; i < n; i++) {
			if (ev[i].token == 100)
				seen++;
			else
				T_OK(xtc__poll_add(p, fileno(file), R,
				    ev[i].token));
		}
	}
	T_EQ(seen, 1);
	T_EQ(p->woken, 1);
	fclose(file);
	close_both(fds);
	close_poller();
}
END_TEST

#define MANY 5000

static int many[MANY];
static uint8_t many_seen[MANY];

/* Events until n have come; each of every third or, if not, of the rest. */
static void
collect_many(int n, int third)
{
	while (n > 0) {
		int got = next_events(64);

		for (int i = 0; i < got; i++) {
			uint64_t k = ev[i].token;

			T_TRUE(k < MANY);
			T_EQ(many[k], ev[i].fd);
			T_EQ(k % 3 == 0, third);
			T_EQ(many_seen[k]++, 0);
		}
		n -= got;
	}
	T_EQ(n, 0);
	expect_none();
}

START_TEST(five_thousand_fds)
{
	struct rlimit rl;

	T_EQ(getrlimit(RLIMIT_NOFILE, &rl), 0);
	rl.rlim_cur = rl.rlim_max;
	T_EQ(setrlimit(RLIMIT_NOFILE, &rl), 0);
	if (rl.rlim_cur < MANY + 100) {
		fprintf(stderr, "skipped: at most %llu descriptors\n",
		    (unsigned long long)rl.rlim_cur);
		return;
	}
	open_poller(_i);
	for (int i = 0; i < MANY; i += 2)
		make_pair(&many[i]);
	for (int i = 0; i < MANY; i++)
		T_OK(xtc__poll_add(p, many[i], R, (uint64_t)i));
	expect_none();
	for (int i = 0; i < MANY; i += 3)
		put(many[i ^ 1]);
	collect_many((MANY + 2) / 3, 1);
	for (int i = 0; i < MANY; i++)
		if (i % 3 != 0)
			put(many[i ^ 1]);
	collect_many(MANY - (MANY + 2) / 3, 0);
	T_EQ(p->n_waiters, 0);
	close_poller();
}
END_TEST

/* Failures. */

START_TEST(a_poller_that_cannot_be_made_leaves_nothing)
{
	static const char *const sites[] = {
		"poll.epoll_create", "poll.eventfd", "poll.timerfd",
		"poll.pipe", "poll.kqueue", "poll.port_create",
		"poll.epoll_ctl"
	};
	int lowest, failures = 0;

	use_subject(_i);
	lowest = t_lowest_fd();
	for (size_t i = 0; i < sizeof(sites) / sizeof(sites[0]); i++) {
		fault_site = sites[i];
		fault_errno = EMFILE;
		fault_calls = 0;
		errno = EXDEV;
		if (xtc__poll_create(subject->name, &p) == XTC_OK) {
			T_EQ(fault_calls, 0);
			close_poller();
			continue;
		}
		T_TRUE(p == NULL);
		T_RC(xtc__poll_create(subject->name, &p), XTC_E_RESOURCE);
		fault_errno = ENOMEM;
		T_RC(xtc__poll_create(subject->name, &p), XTC_E_NOMEM);
		T_EQ(errno, EXDEV);
		T_EQ(t_lowest_fd(), lowest);
		failures++;
	}
	T_TRUE(failures > 0);
}
END_TEST

START_TEST(running_out_of_descriptors_is_a_resource_error)
{
	struct rlimit old, rl;
	int lowest, rc = XTC_E_RESOURCE, n;

	use_subject(_i);
	lowest = t_lowest_fd();
	T_EQ(getrlimit(RLIMIT_NOFILE, &old), 0);
	for (n = 0; rc != XTC_OK; n++) {
		rl = old;
		rl.rlim_cur = (rlim_t)(lowest + n);
		T_EQ(setrlimit(RLIMIT_NOFILE, &rl), 0);
		rc = xtc__poll_create(subject->name, &p);
		T_TRUE(rc == XTC_OK || rc == XTC_E_RESOURCE);
		T_EQ(setrlimit(RLIMIT_NOFILE, &old), 0);
		if (rc != XTC_OK)
			T_EQ(t_lowest_fd(), lowest);
	}
	T_TRUE(n >= 3 && n <= 6);
	close_poller();
	T_EQ(t_lowest_fd(), lowest);
}
END_TEST

START_TEST(memory_that_runs_out_has_no_effect)
{
	int rc = XTC_E_NOMEM, fds[2];
	uint64_t n;

	use_subject(_i);
	for (n = 1; rc != XTC_OK; n++) {
		xtc__mem_fail_nth(n, 0);
		rc = xtc__poll_create(subject->name, &p);
		T_TRUE(rc == XTC_OK || rc == XTC_E_NOMEM);
	}
	T_TRUE(n > 2);
	xtc__mem_fail_nth(0, 0);
	make_pair(fds);
	/* Enough to need more of everything now and then. */
	for (uint64_t i = 0; i < 300; i++) {
		int fd = i % 2 == 0 ? dup(fds[0]) : fds[0];

		xtc__mem_fail_nth(1, 1);
		rc = xtc__poll_add(p, fd, R, i);
		T_TRUE(rc == XTC_OK || rc == XTC_E_NOMEM);
		xtc__mem_fail_nth(0, 0);
		if (rc != XTC_OK)
			T_OK(xtc__poll_add(p, fd, R, i));
		T_EQ(p->n_waiters, i + 1);
	}
	put(fds[1]);
	for (int seen = 0; seen < 300;)
		seen += next_events(256);
	T_EQ(p->n_waiters, 0);
	close_poller();
}
END_TEST

START_TEST(a_registration_that_the_kernel_refuses_is_none)
{
	int fds[2];

	open_poller(_i);
	if (!is_epoll())
		return;
	make_pair(fds);
	fault_site = "poll.epoll_ctl";
	for (uint32_t gen = 0; gen < 2; gen++) {
		errno = EXDEV;
		fault_errno = ENOSPC;
		T_RC(xtc__poll_add_kept(p, fds[0], R, 1, gen), XTC_E_RESOURCE);
		fault_errno = ENOMEM;
		T_RC(xtc__poll_add_kept(p, fds[0], R, 1, gen), XTC_E_NOMEM);
		T_EQ(errno, EXDEV);
		T_EQ(p->n_waiters, 0);
		fault_errno = 0;
		T_OK(xtc__poll_add_kept(p, fds[0], R, 1, gen));
		/* One that fails does not disturb one that waits. */
		fault_errno = ENOMEM;
		T_RC(xtc__poll_add_kept(p, fds[0], R | W, 2, gen),
		    XTC_E_NOMEM);
		fault_errno = 0;
		expect_none();
		put(fds[1]);
		expect_event(fds[0], 1, R);
		take(fds[0]);
		expect_rest();
	}
	close_both(fds);
	close_poller();
}
END_TEST

START_TEST(a_poller_goes_with_all_that_waits)
{
	int lowest, fds[2];

	use_subject(_i);
	make_pair(fds);
	lowest = t_lowest_fd();
	open_poller(_i);
	for (uint64_t i = 0; i < 100; i++)
		T_OK(xtc__poll_add(p, fds[0], i % 2 ? R : W, i));
	T_EQ(next_events(10), 10);
	xtc__poll_wake(p);
	close_poller();
	xtc__poll_destroy(NULL);
	T_EQ(t_lowest_fd(), lowest);
	close_both(fds);
}
END_TEST

/* Which one. */

START_TEST(the_environment_chooses)
{
	for (int i = 0; i < n_subjects; i++) {
		use_subject(i);
		T_EQ(setenv("XTC_IO_BACKEND", subject->name, 1), 0);
		T_OK(xtc__poll_create(NULL, &p));
		T_TRUE(strcmp(p->ops->name, subject->name) == 0);
		close_poller();
	}
	/* Empty is as good as unset: the first. */
	T_EQ(setenv("XTC_IO_BACKEND", "", 1), 0);
	T_OK(xtc__poll_create(NULL, &p));
	T_TRUE(p->ops == xtc__poll_backends[0]);
	close_poller();
	T_EQ(unsetenv("XTC_IO_BACKEND"), 0);
	T_OK(xtc__poll_create(NULL, &p));
	T_TRUE(p->ops == xtc__poll_backends[0]);
	close_poller();
}
END_TEST

START_TEST(an_impossible_backend_is_told_once)
{
	char text[1024];
	int fds[2], old = dup(STDERR_FILENO);
	ssize_t n;

	use_subject(0);
	make_pipe(fds);
	T_EQ(dup2(fds[1], STDERR_FILENO), STDERR_FILENO);
	T_RC(xtc__poll_create("carrier-pigeon", &p), XTC_E_NOSYS);
	T_TRUE(p == NULL);
	T_EQ(setenv("XTC_IO_BACKEND", "smoke", 1), 0);
	T_RC(xtc__poll_create(NULL, &p), XTC_E_NOSYS);
	T_EQ(dup2(old, STDERR_FILENO), STDERR_FILENO);
	close(fds[1]);
	n = read(fds[0], text, sizeof(text) - 1);
	T_TRUE(n > 0);
	text[n] = '\0';
	T_TRUE(strstr(text, "carrier-pigeon") != NULL);
	T_TRUE(strstr(text, xtc__poll_backends[0]->name) != NULL);
	T_TRUE(strstr(text, "smoke") == NULL);
	T_TRUE(strchr(text, '\n') == text + n - 1);
}
END_TEST

START_TEST(a_backend_that_is_forbidden_gives_way_to_the_next)
{
	use_subject(0);
	if (!is_epoll())
		return;
	fault_site = "poll.epoll_create";
	fault_errno = ENOSYS;
	T_OK(xtc__poll_create(NULL, &p));
	T_TRUE(strcmp(p->ops->name, "poll") == 0);
	close_poller();
	/* But not when it is only out of descriptors, */
	fault_errno = EMFILE;
	T_RC(xtc__poll_create(NULL, &p), XTC_E_RESOURCE);
	/* nor when it is asked for. */
	fault_errno = ENOSYS;
	T_RC(xtc__poll_create("epoll", &p), XTC_E_NOSYS);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("poll");

	find_subjects();
	each(s, a_look_returns_at_once, 10);
	each(s, a_timeout_is_kept_to_the_microsecond_and_never_early, 20);
	each(s, a_long_timeout_is_never_early, 20);
	each(s, a_wake_ends_the_longest_wait, 10);
	each(s, a_wake_before_the_wait_ends_it, 10);
	each(s, wakes_of_four_threads_are_counted_once_each, 30);
	each(s, more_wakes_than_a_pipe_holds_are_counted_once_each, 30);
	each(s, a_wake_that_overflows_is_not_slept_over, 30);
	each(s, wakes_that_overflow_from_four_threads_are_counted_too, 30);
	each(s, a_signal_handler_may_wake, 30);
	each(s, what_is_ready_already_comes_with_the_next_wait, 10);
	each(s, an_event_takes_its_registration_away, 10);
	each(s, a_wait_ends_when_the_fd_gets_ready, 20);
	each(s, any_number_may_wait_on_one_fd, 10);
	each(s, no_event_comes_after_del, 10);
	each(s, a_half_closed_socket_is_readable_and_no_more, 10);
	each(s, a_hangup_comes_unasked, 10);
	each(s, a_refused_connection_is_an_error_event, 10);
	each(s, what_cannot_be_waited_for_is_always_ready, 10);
	each(s, a_bad_argument_has_no_effect, 10);
	each(s, what_does_not_fit_is_kept_in_order, 10);
	each(s, what_is_always_ready_starves_nobody, 10);
	each(s, five_thousand_fds, 30);
	each(s, a_poller_that_cannot_be_made_leaves_nothing, 10);
	each(s, running_out_of_descriptors_is_a_resource_error, 10);
	each(s, memory_that_runs_out_has_no_effect, 10);
	each(s, a_registration_that_the_kernel_refuses_is_none, 10);
	each(s, a_poller_goes_with_all_that_waits, 10);
	t_case_bare(s, the_environment_chooses, 10);
	t_case_bare(s, an_impossible_backend_is_told_once, 10);
	t_case_bare(s, a_backend_that_is_forbidden_gives_way_to_the_next, 10);
	return t_main(s);
}
