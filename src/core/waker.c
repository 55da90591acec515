/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * waker.c: the simplest use of the park record, and one that works from a
 * signal handler.
 *
 * A record's waker word is {sequence, WAITING, FIRED}. A waker is a ticket
 * for the sequence it was made in; each wait that returns begins the next
 * sequence, so an old waker finds a number that does not match. FIRED is the
 * condition and WAITING the published ticket: one word, so no wake is lost
 * between the two looks.
 */
#include <stdatomic.h>
#include <stddef.h>

#include "xtc_kinds.h"
#include "xtc_loop.h"
#include "arch/rmw.h"
#include "base/plant.h"
#include "core/loop.h"
#include "core/loop_impl.h"
#include "core/park.h"

#define WAKER_FIRED	1u
#define WAKER_WAITING	2u
#define WAKER_SEQ_SHIFT	2

/* Begin the next sequence; the word that was there. */
static uint64_t
waker_next(struct xtc__park *rec)
{
	uint64_t next, word;

	/* Relaxed: a guess; the swap tells. */
	word = atomic_load_explicit(&rec->waker, memory_order_relaxed);
	XTC_SIM_POINT();
	do {
		next = ((word >> WAKER_SEQ_SHIFT) + 1) << WAKER_SEQ_SHIFT;
	} while (!xtc__rmw_cas(&rec->waker, &word, next));
	return word;
}

void
xtc__waker_retire(struct xtc__park *rec)
{
	(void)waker_next(rec);
}

int
xtc_waker_self(xtc_waker_t *out)
{
	struct xtc_loop *loop = xtc__loop_self();
	struct xtc__park *rec;

	if (out == NULL || (loop != NULL && loop->cur == NULL))
		return XTC_E_INVAL;
	rec = xtc__park_self();
	if (rec == NULL)
		return XTC_E_NOMEM;
	out->target = rec;
	/* Relaxed: the sequence is the caller's own. */
	out->ticket = atomic_load_explicit(&rec->waker,
	    memory_order_relaxed) >> WAKER_SEQ_SHIFT;
	return XTC_OK;
}

/* One park; the cause, or 0: the wake was there before. */
static unsigned
waker_park(struct xtc__wait *w)
{
	struct xtc__park *rec = w->rec;
	uint64_t epoch, word;

	if (XTC_PLANT(ARM_LAST)) {
		/* the epoch that prepare will take */
		epoch = (atomic_load_explicit(&rec->word,
		    memory_order_relaxed) >> XTC__PARK_EPOCH_SHIFT) + 1;
		atomic_store_explicit(&rec->waker_epoch, epoch,
		    memory_order_relaxed);
		word = atomic_fetch_or_explicit(&rec->waker, WAKER_WAITING,
		    memory_order_acq_rel);
		if (xtc__wait_prepare(w, XTC_WHY_SYNC, 0) == 0)
			return XTC_CAUSE_KILL;
		return (word & WAKER_FIRED) != 0 ? xtc__wait_cancel(w) :
		    xtc__wait_commit(w);
	}
	epoch = xtc__wait_prepare(w, XTC_WHY_SYNC, 0);
	if (epoch == 0)
		return XTC_CAUSE_KILL;
	/* Relaxed: published by the swap of the word. */
	atomic_store_explicit(&rec->waker_epoch, epoch, memory_order_relaxed);
	XTC_SIM_POINT();
	if (XTC_PLANT(RECHECK_FIRST) && (atomic_load_explicit(&rec->waker,
	    memory_order_acquire) & WAKER_FIRED) != 0)
		return xtc__wait_cancel(w);
	XTC_SIM_POINT();
	word = atomic_fetch_or_explicit(&rec->waker, WAKER_WAITING,
	    memory_order_acq_rel);
	if ((word & WAKER_FIRED) != 0 && !XTC_PLANT(RECHECK_FIRST))
		return xtc__wait_cancel(w);
	return xtc__wait_commit(w);
}

int
xtc_waker_wait(int64_t timeout_ns)
{
	struct xtc_loop *loop = xtc__loop_self();
	struct xtc__wait w;
	unsigned cause;
	int fired, r;

	if (loop != NULL && loop->cur == NULL)
		return XTC_E_INVAL;
	if (timeout_ns == 0) {
		w.rec = xtc__park_self();
		if (w.rec == NULL)
			return XTC_E_NOMEM;
		return (waker_next(w.rec) & WAKER_FIRED) != 0 ? XTC_OK :
		    XTC_E_AGAIN;
	}
	r = xtc__wait_init(&w, timeout_ns);
	if (r != XTC_OK)
		return r;
	do {
		cause = waker_park(&w);
		XTC_SIM_POINT();
		/* Relaxed: the claim, or the swap, has acquired. */
		fired = (atomic_load_explicit(&w.rec->waker,
		    memory_order_relaxed) & WAKER_FIRED) != 0;
		/* a late waker of the last sequence: wait on */
		r = xtc__wait_again(&w);
	} while (cause == XTC_CAUSE_EVENT && !fired && r == XTC_OK);
	fired = (waker_next(w.rec) & WAKER_FIRED) != 0;
	if (cause == XTC_CAUSE_KILL)
		xtc__wait_die(&w);
	xtc__wait_fini(&w);
	if (fired)
		return XTC_OK;
	return cause == XTC_CAUSE_TIMEOUT ? XTC_E_AGAIN : r;
}

int
xtc_waker_wake(const xtc_waker_t *waker)
{
	struct xtc__park *rec;
	uint64_t epoch, word;

	if (waker == NULL || waker->target == NULL)
		return XTC_E_INVAL;
	rec = waker->target;
	word = atomic_load_explicit(&rec->waker, memory_order_acquire);
	do {
		if (word >> WAKER_SEQ_SHIFT != waker->ticket)
			return XTC_E_INVAL;
		if ((word & WAKER_FIRED) != 0)
			return XTC_OK;
		/* Relaxed: the swap of a WAITING word has acquired it. */
		epoch = atomic_load_explicit(&rec->waker_epoch,
		    memory_order_relaxed);
		XTC_SIM_POINT();
	} while (!atomic_compare_exchange_weak_explicit(&rec->waker, &word,
	    word | WAKER_FIRED, memory_order_acq_rel, memory_order_acquire));
	if ((word & WAKER_WAITING) != 0)
		(void)xtc__park_unpark(rec, epoch, XTC_CAUSE_EVENT,
		    XTC__WAKE_INBOX);
	return XTC_OK;
}
