/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/* sim_stories.c: what all stories need. */
#define _POSIX_C_SOURCE 200809L
#include "sim_stories.h"

#include <stddef.h>
#include <string.h>
#include <time.h>

#include "core/loop.h"
#include "mem/pool.h"

const struct sim_story sim_stories[] = {
	{ "small", sim_story_small },
	{ "lock", sim_story_lock },
	{ "deque", sim_story_deque },
	{ "feed", sim_story_feed },
	{ "quiet", sim_story_quiet },
	{ "home", sim_story_home },
	{ "guard", sim_story_guard },
	{ NULL, NULL }
};

const struct sim_story *
sim_story_find(const char *name)
{
	const struct sim_story *s;

	for (s = sim_stories; s->name != NULL; s++)
		if (strcmp(s->name, name) == 0)
			return s;
	return NULL;
}

/* Nothing is left of a run: all that was taken is back in the depots. */
static void
sim_check_pools(void)
{
	struct xtc__pool_stat st;
	unsigned i;

	for (i = 0; i < XTC__POOL_COUNT; i++) {
		xtc__pool_stat(i, &st);
		XTC_SIM_CHECK(st.made == st.in_depot, "of %llu objects of "
		    "pool %u %llu are back", (unsigned long long)st.made, i,
		    (unsigned long long)st.in_depot);
	}
}

uint64_t
sim_story_play(const struct sim_story *s, uint64_t seed)
{
	uint64_t hash;

	xtc__sim_begin(s->name, seed);
	(void)xtc__sim_spawn("main", s->play, NULL);
	xtc__sim_run();
	hash = xtc__sim_end();
	sim_check_pools();
	return hash;
}

int64_t
sim_some_timeout(void)
{
	switch (xtc__sim_choose(4)) {
	case 0:
		return 0;
	case 1:
		return 1 + xtc__sim_choose(100);
	case 2:
		return 1 + xtc__sim_choose(3000);
	default:
		return -1;
	}
}

void
sim_dawdle(void)
{
	switch (xtc__sim_choose(5)) {
	case 0:
		xtc_yield();
		break;
	case 1:
		xtc__sim_spend(xtc__sim_choose(500));
		break;
	case 2:
		(void)xtc_proc_sleep(xtc__sim_choose(2000));
		break;
	default:
		XTC_SIM_POINT();
		break;
	}
}

void
sim_wait_for(const int *flag)
{
	while (!*(const volatile int *)flag)
		(void)xtc_waker_wait(500);
}

void
sim_use_seams(xtc_loop_t *loop)
{
	if (xtc__sim_chance(2))
		loop->seams = xtc__sim_seams();
}

/* What the guard is for. */
void
sim_story_guard(void *arg)
{
	struct timespec ts;

	(void)arg;
	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
}
