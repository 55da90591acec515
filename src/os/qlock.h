/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * os/qlock.h: a four-byte lock for critical sections of a few instructions:
 * a queue's links, a table's slot. Zero bytes are an unlocked qlock.
 *
 * The holder must not park, must not be inside a signal handler, and must
 * give it back on the same thread; it is not recursive. A waiter spins for
 * about as long as such a section lasts and then sleeps in the kernel, so a
 * holder that lost its CPU costs its waiters nothing.
 *
 * unlock() writes the lock once. After that write only the address is used,
 * so whoever takes the lock next may free the memory it lies in.
 */
#ifndef XTC_OS_QLOCK_H
#define XTC_OS_QLOCK_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/assert.h"
#include "base/attr.h"
#include "base/plant.h"

enum {
	XTC__QLOCK_FREE = 0,
	XTC__QLOCK_HELD = 1,	/* nobody sleeps */
	XTC__QLOCK_WAITED = 2	/* somebody may sleep: unlock wakes one */
};

struct xtc__qlock {
	_Atomic uint32_t word;
};

#define XTC__QLOCK_INIT { XTC__QLOCK_FREE }

XTC__COLD void xtc__qlock_lock_slow(struct xtc__qlock *l);
XTC__COLD void xtc__qlock_unlock_slow(struct xtc__qlock *l);

static inline void
xtc__qlock_init(struct xtc__qlock *l)
{
	atomic_init(&l->word, XTC__QLOCK_FREE);
}

static inline int
xtc__qlock_try(struct xtc__qlock *l)
{
	uint32_t free_word = XTC__QLOCK_FREE;

	/* acquire: what the last holder wrote is seen; a failure sees none. */
	return atomic_compare_exchange_strong_explicit(&l->word, &free_word,
	    XTC__QLOCK_HELD, memory_order_acquire, memory_order_relaxed);
}

static inline void
xtc__qlock_lock(struct xtc__qlock *l)
{
	if (XTC__UNLIKELY(!xtc__qlock_try(l)))
		xtc__qlock_lock_slow(l);
}

static inline void
xtc__qlock_unlock(struct xtc__qlock *l)
{
	/* release: what this holder wrote is seen by the next. */
	uint32_t old = atomic_exchange_explicit(&l->word, XTC__QLOCK_FREE,
	    memory_order_release);

	XTC_DEBUG_ASSERT(old != XTC__QLOCK_FREE);
	if (XTC__UNLIKELY(old == XTC__QLOCK_WAITED)) {
		XTC_SIM_POINT();
		xtc__qlock_unlock_slow(l);
	}
}

/* For asserts: somebody holds it. */
static inline int
xtc__qlock_is_held(struct xtc__qlock *l)
{
	/* relaxed: the holder asks, and sees its own write. */
	return atomic_load_explicit(&l->word, memory_order_relaxed) !=
	    XTC__QLOCK_FREE;
}

#endif
