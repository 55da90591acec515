/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * One amutex, processes on two loops and a thread that want it with and
 * without a timeout, one of them killed wherever it is, another that ends as
 * its owner: nobody is in it with another, nobody waits for ever, and an
 * owner's death is told once.
 */
#include "sim_stories.h"

#include <string.h>

#include "sim_lock.h"

#define PROCS		4u
#define VICTIM		1u
#define LEAVER		2u
#define THREAD		(PROCS + 1)

static struct {
	struct sim_lock lock;
	xtc_loop_t *loop[2];
	xtc_pid_t victim;
	int slow;
} lk;

static void
contend(unsigned me, int rounds)
{
	while (rounds-- > 0) {
		if (xtc__sim_chance(3))
			sim_dawdle();
		if (!sim_lock_lock(&lk.lock, me, sim_some_timeout()))
			continue;
		if (xtc__sim_chance(2))
			sim_dawdle();
		/* so long that who waits is handed the lock */
		if (lk.slow && xtc__sim_chance(4))
			xtc__sim_spend(60000);
		if (me == LEAVER && rounds == 0 && xtc__sim_chance(2))
			return;
		sim_lock_unlock(&lk.lock, me);
	}
}

static void
ended(void *arg)
{
	lk.lock.dead |= 1u << (uintptr_t)arg;
}

static void
contender(void *arg)
{
	(void)xtc_proc_at_exit(ended, arg);
	contend((unsigned)(uintptr_t)arg, 1 + (int)xtc__sim_choose(3));
}

static void
thread(void *arg)
{
	(void)arg;
	contend(THREAD, (int)xtc__sim_choose(3));
}

static void
killer(void *arg)
{
	unsigned n = xtc__sim_choose(4);

	(void)arg;
	while (n-- > 0)
		xtc__sim_spend(xtc__sim_choose(1000));
	(void)xtc_exit_pid(lk.victim, 7);
	xtc__sim_note("kill", 0, 0);
}

static void
run_loop(void *arg)
{
	XTC_SIM_CHECK(xtc_loop_run(arg) == XTC_OK, "run");
}

void
sim_story_lock(void *arg)
{
	int t[4];
	unsigned i;

	(void)arg;
	memset(&lk, 0, sizeof(lk));
	sim_lock_init(&lk.lock);
	lk.slow = xtc__sim_chance(2);
	for (i = 0; i < 2; i++) {
		XTC_SIM_CHECK(xtc_loop_init(&lk.loop[i]) == XTC_OK, "init");
		sim_use_seams(lk.loop[i]);
	}
	for (i = 1; i <= PROCS; i++)
		XTC_SIM_CHECK(xtc_proc_spawn(lk.loop[i % 2], contender,
		    (void *)(uintptr_t)i, NULL, i == VICTIM ? &lk.victim :
		    NULL) == XTC_OK, "spawn");
	t[0] = xtc__sim_spawn("loop 0", run_loop, lk.loop[0]);
	t[1] = xtc__sim_spawn("loop 1", run_loop, lk.loop[1]);
	t[2] = xtc__sim_spawn("thread", thread, NULL);
	t[3] = xtc__sim_spawn("killer", killer, NULL);
	for (i = 0; i < 4; i++)
		xtc__sim_await(t[i]);
	sim_lock_fini(&lk.lock);
	for (i = 0; i < 2; i++)
		XTC_SIM_CHECK(xtc_loop_fini(lk.loop[i]) == XTC_OK, "fini");
}
