/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * polllib.h: what the tests of the pollers share. To be included first.
 *
 * Each test runs once for each backend of this system (the number behind its
 * name in a failure is the place in `subjects`), and once more for epoll as
 * it is on kernels without epoll_pwait2.
 */
#ifndef POLLLIB_H
#define POLLLIB_H

#define _GNU_SOURCE 1

#include "testlib.h"

#include <errno.h>
#include <sys/socket.h>

#include "mem/mem.h"
#include "os/os.h"
#include "poll/poll.h"

#define R XTC__POLL_READABLE
#define W XTC__POLL_WRITABLE
#define HUP XTC__POLL_HUP
#define ERR XTC__POLL_ERR

struct subject {
	const char *name;
	int no_pwait2;
};

#define MAX_SUBJECTS 8
static struct subject subjects[MAX_SUBJECTS];
static int n_subjects;
static const struct subject *subject;

static struct xtc__poller *p;
static struct xtc__poll_event ev[256];

/* The failure that a test has asked for. */
static const char *fault_site;
static int fault_errno;
static int fault_calls;
static void (*fault_fn)(void);

static inline int
fault(const char *site)
{
	if (subject->no_pwait2 && strcmp(site, "poll.epoll_pwait2") == 0)
		return ENOSYS;
	if (fault_site == NULL || strcmp(site, fault_site) != 0)
		return 0;
	fault_calls++;
	if (fault_fn != NULL)
		fault_fn();
	return fault_errno;
}

static inline void
use_subject(int i)
{
	subject = &subjects[i];
	xtc__os_fault_set(fault);
}

static inline void
open_poller(int i)
{
	use_subject(i);
	T_OK(xtc__poll_create(subject->name, &p));
	T_TRUE(!xtc__poll_has_fds(p));
}

static inline void
close_poller(void)
{
	xtc__poll_destroy(p);
	p = NULL;
}

static inline int
is_epoll(void)
{
	return strcmp(subject->name, "epoll") == 0;
}

/* Wait without end until there are events; how many. */
static inline int
next_events(int max)
{
	int n;

	do
		n = xtc__poll_wait(p, -1, ev, max);
	while (n == 0);
	return n;
}

/* kqueue tells of one direction at a time, so some bits may be missing. */
static inline void
check_revents(uint32_t revents, uint32_t want)
{
	if (strcmp(subject->name, "kqueue") != 0)
		T_EQ(revents, want);
	T_TRUE(revents != 0);
	T_EQ(revents & ~want, 0);
}

/* Exactly this one event comes. */
static inline void
expect_event(int fd, uint64_t token, uint32_t revents)
{
	T_EQ(next_events(256), 1);
	T_EQ(ev[0].fd, fd);
	T_EQ(ev[0].token, token);
	check_revents(ev[0].revents, revents);
}

/* A look may be spent on something that is nobody's; three are not. */
static inline void
expect_none(void)
{
	for (int i = 0; i < 3; i++)
		T_EQ(xtc__poll_wait(p, 0, ev, 256), 0);
}

/* The poller comes to rest: one of a few waits lasts as long as it should. */
static inline void
expect_rest(void)
{
	for (int i = 0; i < 4; i++) {
		int64_t start = xtc__os_mono();

		T_EQ(xtc__poll_wait(p, 3 * T_MS, ev, 256), 0);
		if (xtc__os_mono() - start >= 3 * T_MS)
			return;
	}
	t_fail("four waits in a row ended before their time");
}

static inline void
put(int fd)
{
	T_EQ(write(fd, "x", 1), 1);
}

static inline void
take(int fd)
{
	char c;

	T_EQ(read(fd, &c, 1), 1);
}

static inline void
make_pipe(int fds[2])
{
	T_EQ(pipe(fds), 0);
}

static inline void
make_pair(int fds[2])
{
	T_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
}

static inline void
close_both(const int fds[2])
{
	close(fds[0]);
	close(fds[1]);
}

/* A test that runs for each subject. */
static inline void
each(Suite *s, const TTest *t, int seconds)
{
	TCase *tc = tcase_create(t->name);

	tcase_set_timeout(tc, (double)seconds * t_slow());
	tcase_add_loop_test(tc, t, 0, n_subjects);
	suite_add_tcase(s, tc);
}

static inline void
find_subjects(void)
{
	for (int i = 0; xtc__poll_backends[i] != NULL; i++) {
		const char *name = xtc__poll_backends[i]->name;

		T_TRUE(n_subjects < MAX_SUBJECTS - 1);
		subjects[n_subjects++].name = name;
		if (strcmp(name, "epoll") == 0) {
			subjects[n_subjects].name = name;
			subjects[n_subjects++].no_pwait2 = 1;
		}
	}
}

#endif
