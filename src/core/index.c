/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/* index.c: the small numbers by which tracers tell loops apart. */
#include <stdatomic.h>
#include <stdint.h>

#include "base/bits.h"
#include "core/loop_impl.h"

#define INDEX_WORDS	16

static _Atomic uint64_t index_taken[INDEX_WORDS];

int
xtc__loop_index_get(void)
{
	uint64_t word;
	unsigned bit;
	int i;

	for (i = 0; i < INDEX_WORDS; i++) {
		word = atomic_load_explicit(&index_taken[i],
		    memory_order_relaxed);
		while (word != UINT64_MAX) {
			bit = xtc__bits_lowest(~word);
			/* Relaxed: the number orders nothing. */
			if (atomic_compare_exchange_weak_explicit(
			    &index_taken[i], &word, word | UINT64_C(1) << bit,
			    memory_order_relaxed, memory_order_relaxed))
				return i * 64 + (int)bit;
		}
	}
	return INDEX_WORDS * 64;	/* all the rest share one number */
}

void
xtc__loop_index_put(int index)
{
	if (index < INDEX_WORDS * 64)
		atomic_fetch_and_explicit(&index_taken[index / 64],
		    ~(UINT64_C(1) << index % 64), memory_order_relaxed);
}
