/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * qlock.c: the slow halves of qlock.h.
 *
 * The three-state mutex of Ulrich Drepper's "Futexes are tricky" (his
 * "mutex, take 3"). The hard part is that a lock word of one bit cannot say
 * whether unlock owes a wake; two bits can:
 *
 *	FREE --try--> HELD --lock_slow--> WAITED --unlock--> FREE, wake one
 *	                  `--unlock--> FREE, nobody to wake
 *
 * Who has slept takes the lock as WAITED, because others may sleep still and
 * it cannot know: at worst one wake too many at its unlock. The losing
 * interleaving, a sleeper that nobody wakes, would need a word that is not
 * WAITED while somebody sleeps. A sleeper sets WAITED before it sleeps, and
 * the kernel lets it sleep only while the word is WAITED; only unlock takes
 * WAITED away, and then it wakes one, who sets it again.
 *
 * Spinning takes the lock as HELD past sleepers. That is barging, and starves
 * nobody for long: the sections are short, and WAITED is set again by the one
 * that was woken.
 *
 * Cost without contention: one compare-and-swap, one exchange.
 */
#include "os/qlock.h"

#include <limits.h>

#include "os/os.h"

/* About a microsecond; a section that lasts longer is worth the sleep. */
#define QLOCK_SPINS 40

XTC__COLD void
xtc__qlock_lock_slow(struct xtc__qlock *l)
{
	int i;

	for (i = 0; i < QLOCK_SPINS; i++) {
		/* relaxed: a look before the swap, which acquires. */
		uint32_t word = atomic_load_explicit(&l->word,
		    memory_order_relaxed);

		if (word == XTC__QLOCK_FREE && xtc__qlock_try(l))
			return;
		/* Others sleep already: the section is not a short one. */
		if (word == XTC__QLOCK_WAITED)
			break;
		xtc__os_cpu_relax();
	}
	/* acquire: as in xtc__qlock_try(). */
	while (atomic_exchange_explicit(&l->word, XTC__QLOCK_WAITED,
	    memory_order_acquire) != XTC__QLOCK_FREE)
		(void)xtc__os_futex_wait(&l->word, XTC__QLOCK_WAITED,
		    INT64_MAX);
}

XTC__COLD void
xtc__qlock_unlock_slow(struct xtc__qlock *l)
{
	xtc__os_futex_wake(&l->word, 1);
}
