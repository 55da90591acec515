/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * A fiber that may migrate does not wait while a loop sleeps: one fiber keeps
 * its loop's CPU until those that it has started, or that were woken beside
 * it, have run. The other loop has to come and fetch them, and within the
 * time that exec.c promises.
 */
#include "sim_stories.h"

#include <string.h>

#define PROMISED_NS	5000000

static struct {
	xtc_exec_t *exec;
	int to_run, have_run;
	int n_waiting;
	xtc_waker_t waker[4];
} feed;

static intptr_t
may_migrate(void *arg)
{
	(void)arg;
	feed.have_run++;
	return 0;
}

static intptr_t
waits_to_migrate(void *arg)
{
	(void)arg;
	XTC_SIM_CHECK(xtc_waker_self(&feed.waker[feed.n_waiting]) == XTC_OK,
	    "waker");
	feed.n_waiting++;
	XTC_SIM_CHECK(xtc_waker_wait(-1) == XTC_OK, "wait");
	feed.have_run++;
	return 0;
}

static void
wake_all(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < feed.n_waiting; i++)
		(void)xtc_waker_wake(&feed.waker[i]);
}

static intptr_t
keeps_the_cpu(void *arg)
{
	unsigned n = 1 + xtc__sim_choose(3), i;
	int64_t until;

	while (feed.n_waiting < (int)(intptr_t)arg)
		(void)xtc_proc_sleep(1 + xtc__sim_choose(3000));
	if (xtc__sim_chance(2))
		(void)xtc_proc_sleep(xtc__sim_choose(3000));
	if (xtc__sim_chance(2)) {
		feed.to_run += (int)n;
		for (i = 0; i < n; i++)
			(void)xtc_exec_async(feed.exec, may_migrate, NULL,
			    NULL);
	}
	if (xtc__sim_chance(2))
		wake_all(NULL);
	else
		(void)xtc__sim_spawn("waker", wake_all, NULL);
	until = xtc__sim_now() + PROMISED_NS;
	while (feed.have_run < feed.to_run) {
		xtc__sim_spend(1000);
		XTC_SIM_CHECK(xtc__sim_now() < until, "%d of %d fibers wait "
		    "for a loop while one sleeps", feed.to_run -
		    feed.have_run, feed.to_run);
	}
	return 0;
}

void
sim_story_feed(void *arg)
{
	unsigned i, n = xtc__sim_choose(3);

	(void)arg;
	memset(&feed, 0, sizeof(feed));
	XTC_SIM_CHECK(xtc_exec_init(&feed.exec, 2) == XTC_OK, "init");
	sim_use_seams(xtc_exec_loop(feed.exec, 0));
	sim_use_seams(xtc_exec_loop(feed.exec, 1));
	feed.to_run = (int)n;
	for (i = 0; i < n; i++)
		(void)xtc_exec_async(feed.exec, waits_to_migrate, NULL, NULL);
	(void)xtc_exec_async_on(feed.exec, (int)xtc__sim_choose(2),
	    keeps_the_cpu, (void *)(intptr_t)n, NULL);
	XTC_SIM_CHECK(xtc_exec_run(feed.exec) == XTC_OK, "run");
	XTC_SIM_CHECK(feed.have_run == feed.to_run, "%d of %d ran",
	    feed.have_run, feed.to_run);
	XTC_SIM_CHECK(xtc_exec_fini(feed.exec) == XTC_OK, "fini");
}
