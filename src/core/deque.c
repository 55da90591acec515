/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * deque.c: one owner puts fibers in at the tail; he and any thief take them
 * out at the head, oldest first. Each fiber that goes in comes out once.
 *
 * head and tail count for ever (modulo 2^32) and are masked to find a place;
 * tail - head is the length, whatever has wrapped. Only the owner moves
 * tail; everybody moves head, by compare-and-swap. A thief copies the oldest
 * half into his own ring, beyond his tail where nobody looks, and then swaps
 * head: if the swap fails, somebody was faster and the copies are worthless,
 * which costs nothing, for he has not moved his tail.
 *
 *	thief				owner
 *	reads head 3, tail 5
 *	copies places 3
 *					pops 3: head 4
 *	swap of head 3 fails
 *
 * Could a place be written again while a thief reads it? The owner writes
 * place i again only when head has passed i, and then the thief's swap
 * fails. A head that comes round to the same number needs 2^32 pops between
 * two steps of a thief.
 *
 * MEMORY ORDER. push: the place, then tail with release; whoever reads tail
 * with acquire sees the fiber. Taking is a swap of head with release, so
 * that the read of the place comes before the owner (head with acquire in
 * push) writes it again.
 *
 * The shape is that of the run queue of the Go runtime (runtime/proc.go,
 * runqput, runqget, runqgrab); a bounded ring instead of Chase and Lev's
 * growing array, "Dynamic circular work-stealing deque", SPAA 2005. What
 * does not fit goes to a list under a lock (exec.c).
 */
#include "core/deque.h"

#include <stddef.h>

#include "base/assert.h"
#include "base/bits.h"
#include "base/plant.h"

void
xtc__deque_init(struct xtc__deque *d, uint32_t cap)
{
	XTC_ASSERT(cap >= 2 && cap <= XTC__DEQUE_CAP &&
	    xtc__bits_is_pow2(cap));
	d->cap = cap;
	atomic_store_explicit(&d->head, 0, memory_order_relaxed);
	atomic_store_explicit(&d->tail, 0, memory_order_relaxed);
}

static inline _Atomic(struct xtc_task *) *
deque_at(struct xtc__deque *d, uint32_t i)
{
	return &d->ring[i & (d->cap - 1)];
}

int
xtc__deque_push(struct xtc__deque *d, struct xtc_task *t)
{
	/* Relaxed: the owner's own. */
	uint32_t tail = atomic_load_explicit(&d->tail, memory_order_relaxed);

	XTC_SIM_POINT();
	if (tail - atomic_load_explicit(&d->head, memory_order_acquire) >=
	    d->cap)
		return 0;
	/* Relaxed: tail publishes it. */
	atomic_store_explicit(deque_at(d, tail), t, memory_order_relaxed);
	XTC_SIM_POINT();
	atomic_store_explicit(&d->tail, tail + 1, memory_order_release);
	return 1;
}

struct xtc_task *
xtc__deque_pop(struct xtc__deque *d)
{
	uint32_t tail = atomic_load_explicit(&d->tail, memory_order_relaxed);
	uint32_t head = atomic_load_explicit(&d->head, memory_order_acquire);
	struct xtc_task *t;

	while (head != tail) {
		t = atomic_load_explicit(deque_at(d, head),
		    memory_order_relaxed);
		XTC_SIM_POINT();
		if (XTC_PLANT(DEQUE_POP_BLIND)) {
			atomic_store_explicit(&d->head, head + 1,
			    memory_order_release);
			return t;
		}
		if (atomic_compare_exchange_weak_explicit(&d->head, &head,
		    head + 1, memory_order_acq_rel, memory_order_acquire))
			return t;
	}
	return NULL;
}

unsigned
xtc__deque_steal(struct xtc__deque *from, struct xtc__deque *to)
{
	uint32_t head, i, n, tail, to_tail;

	to_tail = atomic_load_explicit(&to->tail, memory_order_relaxed);
	XTC_DEBUG_ASSERT(to_tail == atomic_load_explicit(&to->head,
	    memory_order_relaxed));
	head = atomic_load_explicit(&from->head, memory_order_acquire);
	for (;;) {
		tail = atomic_load_explicit(&from->tail,
		    memory_order_acquire);
		n = tail - head;
		if (n == 0)
			return 0;
		if (n > from->cap) {
			/* tail is newer than head by more than a round */
			head = atomic_load_explicit(&from->head,
			    memory_order_acquire);
			continue;
		}
		n -= n / 2;
		if (n > to->cap)
			n = to->cap;
		for (i = 0; i < n; i++)
			atomic_store_explicit(deque_at(to, to_tail + i),
			    atomic_load_explicit(deque_at(from, head + i),
			    memory_order_relaxed), memory_order_relaxed);
		XTC_SIM_POINT();
		if (atomic_compare_exchange_weak_explicit(&from->head, &head,
		    head + n, memory_order_acq_rel, memory_order_acquire))
			break;
	}
	XTC_SIM_POINT();
	atomic_store_explicit(&to->tail, to_tail + (XTC_PLANT(
	    DEQUE_STEAL_LOSES) && n > 1 ? n - 1 : n), memory_order_release);
	return n;
}

unsigned
xtc__deque_len(struct xtc__deque *d)
{
	uint32_t head = atomic_load_explicit(&d->head, memory_order_acquire);
	uint32_t n = atomic_load_explicit(&d->tail, memory_order_acquire) -
	    head;

	return n > d->cap ? 0 : n;
}
