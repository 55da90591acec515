/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * sim_lock.h: an amutex and who is known to be inside, so that whoever gets
 * it knows whether he may: after XTC_OK nobody is in it, after
 * XTC_E_OWNERDEAD one who has ended, and he is told of once.
 */
#ifndef SIM_LOCK_H
#define SIM_LOCK_H

#include "sim_stories.h"

struct sim_lock {
	xtc_amutex_t *m;
	unsigned inside;	/* 0: nobody */
	unsigned dead;		/* bits: who has ended */
};

static inline void
sim_lock_init(struct sim_lock *l)
{
	XTC_SIM_CHECK(xtc_amutex_create(&l->m) == XTC_OK, "create");
	l->inside = 0;
	l->dead = 0;
}

/* 1: it is mine. */
static inline int
sim_lock_lock(struct sim_lock *l, unsigned me, int64_t timeout_ns)
{
	int r = xtc_amutex_lock(l->m, timeout_ns);

	xtc__sim_note("lock", me, (uint64_t)(unsigned)-r);
	if (r == XTC_E_AGAIN && timeout_ns >= 0)
		return 0;
	if (r == XTC_E_OWNERDEAD)
		XTC_SIM_CHECK((1u << l->inside & l->dead) != 0,
		    "%u is told that the owner, %u, is dead", me, l->inside);
	else
		XTC_SIM_CHECK(r == XTC_OK && l->inside == 0,
		    "%u: lock says %s, and %u is inside", me, xtc_strerror(r),
		    l->inside);
	l->inside = me;
	return 1;
}

static inline void
sim_lock_unlock(struct sim_lock *l, unsigned me)
{
	int r;

	XTC_SIM_CHECK(l->inside == me, "%u is inside with %u", l->inside, me);
	l->inside = 0;
	r = xtc_amutex_unlock(l->m);
	XTC_SIM_CHECK(r == XTC_OK, "%u unlocks: %s", me, xtc_strerror(r));
}

/* All others have ended: it is free, or its owner has died, once. */
static inline void
sim_lock_fini(struct sim_lock *l)
{
	int died = l->inside != 0;

	XTC_SIM_CHECK(xtc_amutex_try_lock(l->m) == (died ? XTC_E_OWNERDEAD :
	    XTC_OK), "the lock is not free in the end");
	XTC_SIM_CHECK(xtc_amutex_unlock(l->m) == XTC_OK, "the last unlock");
	XTC_SIM_CHECK(xtc_amutex_destroy(l->m) == XTC_OK, "destroy");
}

#endif
