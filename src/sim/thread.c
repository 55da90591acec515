/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * thread.c: core/thread.h for simulated threads: the record hangs off the
 * simulated thread and ends with it as core/thread.c has it. And signal
 * stacks, which simulated loops do without.
 */
#include "core/thread.h"

#include <stddef.h>

#include "base/list.h"
#include "core/overflow.h"
#include "core/park.h"
#include "mem/pool.h"
#include "sim/sim_impl.h"

/* As that of core/thread.c: two lines of which the record is the second. */
struct sim_thread_rec {
	void *pool_link;
	_Alignas(64) struct xtc__park park;
};

struct xtc__park *
xtc__thread_peek(void)
{
	struct xtc__park **at = xtc__sim_record();

	return at == NULL ? NULL : *at;
}

struct xtc__park *
xtc__thread_self(void)
{
	struct xtc__park **at = xtc__sim_record();
	struct sim_thread_rec *t;

	if (at == NULL)
		return NULL;
	if (*at == NULL) {
		t = xtc__pool_get(xtc__mags_self(), XTC__POOL_RECORD);
		if (t == NULL)
			return NULL;
		t->park.is_thread = 1;
		xtc__list_init(&t->park.held);
		*at = &t->park;
	}
	return *at;
}

void
xtc__sim_record_gone(struct xtc__park *rec)
{
	xtc__held_release_all(rec);
	xtc__waker_retire(rec);
	xtc__park_reset(rec, 0);
	xtc__pool_put(xtc__mags_self(), XTC__POOL_RECORD,
	    XTC__CONTAINER_OF(rec, struct sim_thread_rec, park));
}

size_t
xtc__overflow_stack_bytes(void)
{
	return 64;
}

void
xtc__overflow_enter(struct xtc_loop *loop)
{
	(void)loop;
}

void
xtc__overflow_leave(struct xtc_loop *loop)
{
	(void)loop;
}
