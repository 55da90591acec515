/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * sim_stories.h: the stories that t_sim plays. A story is the function of a
 * run's first thread; it makes what it needs, and when it returns all it made
 * has ended.
 */
#ifndef SIM_STORIES_H
#define SIM_STORIES_H

#include <stdint.h>

#include <xtc.h>

#include "base/plant.h"
#include "sim/sim.h"

struct sim_story {
	const char *name;
	void (*play)(void *);
};

extern const struct sim_story sim_stories[];

const struct sim_story *sim_story_find(const char *name);
/* Play it once; its hash. */
uint64_t sim_story_play(const struct sim_story *, uint64_t seed);

/* At once, without end, or something between. */
int64_t	sim_some_timeout(void);
/* Leave the CPU in one way or another, or not at all. */
void	sim_dawdle(void);
/* Wait until somebody else has set it; for threads. */
void	sim_wait_for(const int *flag);
/* Two loops of an executor, or on their own. */
void	sim_use_seams(xtc_loop_t *);

void	sim_story_small(void *);
void	sim_story_lock(void *);
void	sim_story_deque(void *);
void	sim_story_feed(void *);
void	sim_story_quiet(void *);
void	sim_story_home(void *);
void	sim_story_guard(void *);

#endif
