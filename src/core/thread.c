/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * thread.c: plain threads wait through a park record too. It comes from a
 * type-stable pool and not from the thread's own storage: a late claim may
 * come after the thread has ended. When the thread ends, what it still
 * holds is let go as if it were a fiber, and the record is used again; its
 * epoch goes on.
 */
#include "core/thread.h"

#include <pthread.h>
#include <stddef.h>

#include "base/assert.h"
#include "base/attr.h"
#include "core/loop_impl.h"
#include "core/park.h"
#include "mem/pool.h"

struct thread_rec {
	void *pool_link;
	struct thread_rec *self;
	_Alignas(64) struct xtc__park park;
};

static pthread_once_t thread_once = PTHREAD_ONCE_INIT;
static pthread_key_t thread_key;
static int thread_key_ok;

static _Thread_local struct xtc__park *thread_tls;

static void
thread_gone(void *p)
{
	struct xtc__park *rec = p;
	struct thread_rec *t = XTC__CONTAINER_OF(rec, struct thread_rec, park);

	/* Later key destructors may still lock: they see a fresh record. */
	xtc__held_release_all(rec);
	xtc__waker_retire(rec);
	xtc__park_reset(rec, 0);
	thread_tls = NULL;
	xtc__pool_put(xtc__mags_self(), XTC__POOL_RECORD, t);
}

static void
thread_make_key(void)
{
	thread_key_ok = pthread_key_create(&thread_key, thread_gone) == 0;
}

XTC__NOINLINE struct xtc__park *
xtc__thread_peek(void)
{
	XTC__COMPILER_BARRIER();
	return thread_tls;
}

static XTC__COLD struct xtc__park *
thread_self_slow(void)
{
	struct thread_rec *t;

	(void)pthread_once(&thread_once, thread_make_key);
	if (!thread_key_ok)
		return NULL;
	t = xtc__pool_get(xtc__mags_self(), XTC__POOL_RECORD);
	if (t == NULL)
		return NULL;
	if (pthread_setspecific(thread_key, &t->park) != 0) {
		xtc__pool_put(xtc__mags_self(), XTC__POOL_RECORD, t);
		return NULL;
	}
	t->park.is_thread = 1;
	xtc__list_init(&t->park.held);
	thread_tls = &t->park;
	return &t->park;
}

struct xtc__park *
xtc__thread_self(void)
{
	struct xtc__park *rec = xtc__thread_peek();

	return XTC__LIKELY(rec != NULL) ? rec : thread_self_slow();
}
