/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * The ring of fibers that may be stolen, alone: an owner that puts in and
 * takes out, two thieves with rings of their own, capacities of 2 and 4.
 * What goes in comes out once, and each taker sees its items in order.
 */
#include "sim_stories.h"

#include <string.h>

#include "core/deque.h"

#define ITEMS	10

static struct xtc__deque rings[3];
static int seen[ITEMS + 1];
static unsigned pushed, taken;
static int done;

static void
take(struct xtc_task *t, uintptr_t *last)
{
	uintptr_t item = (uintptr_t)t;

	XTC_SIM_CHECK(item >= 1 && item <= ITEMS, "no item: %lu",
	    (unsigned long)item);
	XTC_SIM_CHECK(!seen[item], "item %lu came out twice",
	    (unsigned long)item);
	XTC_SIM_CHECK(item > *last, "item %lu came after %lu",
	    (unsigned long)item, (unsigned long)*last);
	*last = item;
	seen[item] = 1;
	taken++;
	xtc__sim_note("take", item, (uint64_t)taken);
}

static void
owner(void *arg)
{
	uintptr_t last = 0;
	struct xtc_task *t;

	(void)arg;
	while (pushed < ITEMS || xtc__deque_len(&rings[0]) != 0) {
		XTC_SIM_POINT();
		if (pushed < ITEMS && xtc__sim_choose(3) != 0 &&
		    xtc__deque_push(&rings[0], (struct xtc_task *)
		    (uintptr_t)(pushed + 1)))
			pushed++;
		if (xtc__sim_chance(3) &&
		    (t = xtc__deque_pop(&rings[0])) != NULL)
			take(t, &last);
	}
	done = 1;
}

static void
thief(void *arg)
{
	struct xtc__deque *mine = arg;
	uintptr_t last = 0;
	struct xtc_task *t;

	while (!done || xtc__deque_len(&rings[0]) != 0) {
		XTC_SIM_POINT();
		(void)xtc__deque_steal(&rings[0], mine);
		while ((t = xtc__deque_pop(mine)) != NULL)
			take(t, &last);
	}
}

void
sim_story_deque(void *arg)
{
	uint32_t start;
	int t[3], i;

	(void)arg;
	memset(seen, 0, sizeof(seen));
	pushed = taken = 0;
	done = 0;
	for (i = 0; i < 3; i++) {
		xtc__deque_init(&rings[i], xtc__sim_chance(2) ? 2 : 4);
		/* the counts wrap in the middle of it */
		start = 0u - xtc__sim_choose(8);
		atomic_store_explicit(&rings[i].head, start,
		    memory_order_relaxed);
		atomic_store_explicit(&rings[i].tail, start,
		    memory_order_relaxed);
	}
	t[0] = xtc__sim_spawn("owner", owner, NULL);
	t[1] = xtc__sim_spawn("thief 1", thief, &rings[1]);
	t[2] = xtc__sim_spawn("thief 2", thief, &rings[2]);
	for (i = 0; i < 3; i++)
		xtc__sim_await(t[i]);
	XTC_SIM_CHECK(taken == ITEMS, "%u of %d items came out", taken,
	    ITEMS);
}
