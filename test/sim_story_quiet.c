/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * An executor goes home when all is done and not before: chains of fibers,
 * each of which starts the next on some other loop and ends, and timers set
 * across loops. When the run is over, every one has run; and it is over.
 */
#include "sim_stories.h"

#include <string.h>

static struct {
	xtc_exec_t *exec;
	int made, ended, timers, fired;
} q;

static void
timer(void *arg)
{
	(void)arg;
	q.fired++;
}

static intptr_t
link_of_chain(void *arg)
{
	intptr_t left = (intptr_t)arg;
	/* a choice a statement: compilers differ in the order of arguments */
	unsigned n = (unsigned)xtc_exec_n_loops(q.exec);
	int on = (int)xtc__sim_choose(n), r = XTC_OK;

	if (xtc__sim_chance(3))
		sim_dawdle();
	if (left == 0 && xtc__sim_chance(2))
		(void)xtc_proc_sleep(1 + xtc__sim_choose(3000));
	if (left > 0) {
		q.made++;
		if (xtc__sim_chance(3))
			r = xtc_exec_async(q.exec, link_of_chain,
			    (void *)(left - 1), NULL);
		else
			r = xtc_exec_async_on(q.exec, on, link_of_chain,
			    (void *)(left - 1), NULL);
	} else if (xtc__sim_chance(2)) {
		q.timers++;
		r = xtc_timer_set(xtc_exec_loop(q.exec, on),
		    xtc__sim_choose(3000), timer, NULL, NULL);
	}
	XTC_SIM_CHECK(r == XTC_OK, "start: %s", xtc_strerror(r));
	q.ended++;
	return 0;
}

static void
make_loops(int n)
{
	int i;

	memset(&q, 0, sizeof(q));
	XTC_SIM_CHECK(xtc_exec_init(&q.exec, n) == XTC_OK, "init");
	for (i = 0; i < n; i++)
		sim_use_seams(xtc_exec_loop(q.exec, i));
}

static void
start_chain(int on, unsigned more)
{
	q.made++;
	XTC_SIM_CHECK(xtc_exec_async_on(q.exec, on, link_of_chain,
	    (void *)(intptr_t)more, NULL) == XTC_OK, "start");
}

static void
run_and_check(void)
{
	XTC_SIM_CHECK(xtc_exec_run(q.exec) == XTC_OK, "run");
	XTC_SIM_CHECK(q.ended == q.made, "home with %d of %d fibers ended",
	    q.ended, q.made);
	XTC_SIM_CHECK(q.fired == q.timers, "home with %d of %d timers fired",
	    q.fired, q.timers);
}

void
sim_story_quiet(void *arg)
{
	unsigned n = xtc__sim_chance(3) ? 2 : 3, chains, runs;
	int on;

	(void)arg;
	make_loops((int)n);
	for (runs = 1 + xtc__sim_choose(2); runs > 0; runs--) {
		for (chains = xtc__sim_choose(3); chains > 0; chains--) {
			on = (int)xtc__sim_choose(n);
			start_chain(on, xtc__sim_choose(5));
		}
		run_and_check();
	}
	XTC_SIM_CHECK(xtc_exec_fini(q.exec) == XTC_OK, "fini");
}

/* As short as can be: one loop has nothing to do but to look at the others. */
void
sim_story_home(void *arg)
{
	(void)arg;
	make_loops(3);
	start_chain(2, 1);
	run_and_check();
	XTC_SIM_CHECK(xtc_exec_fini(q.exec) == XTC_OK, "fini");
}
