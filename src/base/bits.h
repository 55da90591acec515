/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * bits.h: arithmetic on bits and sizes that C11 has no operator for.
 */
#ifndef XTC_BASE_BITS_H
#define XTC_BASE_BITS_H

#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"

#if defined(__GNUC__)

/* The lowest set bit, 0 to 63. x is not 0. */
static inline unsigned
xtc__bits_lowest(uint64_t x)
{
	XTC_DEBUG_ASSERT(x != 0);
	return (unsigned)__builtin_ctzll(x);
}

/* The highest set bit, 0 to 63. x is not 0. */
static inline unsigned
xtc__bits_highest(uint64_t x)
{
	XTC_DEBUG_ASSERT(x != 0);
	return 63u ^ (unsigned)__builtin_clzll(x);
}

static inline unsigned
xtc__bits_count(uint64_t x)
{
	return (unsigned)__builtin_popcountll(x);
}

#else

static inline unsigned
xtc__bits_highest(uint64_t x)
{
	unsigned step, n = 0;

	XTC_DEBUG_ASSERT(x != 0);
	for (step = 32; step != 0; step /= 2) {
		if (x >> step != 0) {
			x >>= step;
			n += step;
		}
	}
	return n;
}

static inline unsigned
xtc__bits_lowest(uint64_t x)
{
	return xtc__bits_highest(x & (0 - x));
}

static inline unsigned
xtc__bits_count(uint64_t x)
{
	unsigned n;

	for (n = 0; x != 0; x &= x - 1)
		n++;
	return n;
}

#endif

static inline int
xtc__bits_is_pow2(uint64_t x)
{
	return x != 0 && (x & (x - 1)) == 0;
}

/* The smallest power of two that is at least x; x is 1 to 2^63. */
static inline uint64_t
xtc__bits_ceil_pow2(uint64_t x)
{
	XTC_DEBUG_ASSERT(x != 0 && x <= UINT64_C(1) << 63);
	return x == 1 ? 1 : UINT64_C(2) << xtc__bits_highest(x - 1);
}

/* n up to a multiple of align, a power of two. The caller knows it fits. */
static inline size_t
xtc__bits_round_up(size_t n, size_t align)
{
	XTC_DEBUG_ASSERT(xtc__bits_is_pow2(align));
	XTC_DEBUG_ASSERT(n <= SIZE_MAX - (align - 1));
	return (n + (align - 1)) & ~(align - 1);
}

/* a + b into *out; 0, or -1: it does not fit and *out is untouched. */
static inline int
xtc__bits_add(size_t a, size_t b, size_t *out)
{
	if (a > SIZE_MAX - b)
		return -1;
	*out = a + b;
	return 0;
}

/* a * b, likewise. */
static inline int
xtc__bits_mul(size_t a, size_t b, size_t *out)
{
	if (b != 0 && a > SIZE_MAX / b)
		return -1;
	*out = a * b;
	return 0;
}

#endif
