/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * rmw.h: read-modify-writes that cost a lock on the bus only where there is
 * somebody to lock out.
 *
 * A locked compare-and-swap takes 5 to 10 ns even in one's own cache; a wait
 * takes several. While a process has one thread, nobody is there to race
 * with but a signal handler on that thread, and an instruction without the
 * lock prefix is atomic to it. glibc tells by __libc_single_threaded, which
 * is false before a second thread can run. Elsewhere, and under
 * ThreadSanitizer, which must see C11 atomics, these are just those.
 *
 * All are acq_rel on success and acquire on failure: whoever may do with
 * less loses nothing on the processors where it would matter little.
 */
#ifndef XTC_ARCH_RMW_H
#define XTC_ARCH_RMW_H

#include <stdatomic.h>
#include <stdint.h>

#include "arch/san.h"
#include "base/attr.h"

#if defined(__x86_64__) && defined(__LP64__) && defined(__GLIBC__) && \
    defined(__has_include) && !defined(XTC__SAN_TSAN) && !defined(XTC_SIM)
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define XTC__RMW_ALONE()	XTC__LIKELY(__libc_single_threaded)
#endif
#endif

#ifdef XTC__RMW_ALONE

static inline int
xtc__rmw_cas_alone(volatile void *p, uint64_t *expected, uint64_t desired)
{
	uint64_t seen = *expected;
	unsigned char ok;

	__asm__ __volatile__("cmpxchgq %3, %1\n\tsete %2"
	    : "+a" (seen), "+m" (*(volatile uint64_t *)p), "=q" (ok)
	    : "r" (desired) : "memory", "cc");
	*expected = seen;
	return ok;
}

static inline uint64_t
xtc__rmw_add_alone(volatile void *p, uint64_t by)
{
	__asm__ __volatile__("xaddq %0, %1"
	    : "+r" (by), "+m" (*(volatile uint64_t *)p) : : "memory", "cc");
	return by;
}

#else

#define XTC__RMW_ALONE()	0

static inline int
xtc__rmw_cas_alone(volatile void *p, uint64_t *expected, uint64_t desired)
{
	(void)p;
	(void)expected;
	(void)desired;
	return 0;
}

static inline uint64_t
xtc__rmw_add_alone(volatile void *p, uint64_t by)
{
	(void)p;
	return by;
}

#endif

/* 1 if *p was *expected and is desired now; else *expected is what it was. */
static XTC__ALWAYS_INLINE int
xtc__rmw_cas(_Atomic uint64_t *p, uint64_t *expected, uint64_t desired)
{
	if (XTC__RMW_ALONE())
		return xtc__rmw_cas_alone(p, expected, desired);
	return atomic_compare_exchange_strong_explicit(p, expected, desired,
	    memory_order_acq_rel, memory_order_acquire);
}

static XTC__ALWAYS_INLINE int
xtc__rmw_cas_ptr(_Atomic uintptr_t *p, uintptr_t *expected, uintptr_t desired)
{
	uint64_t seen;
	int ok;

	if (XTC__RMW_ALONE()) {
		seen = *expected;
		ok = xtc__rmw_cas_alone(p, &seen, desired);
		*expected = (uintptr_t)seen;
		return ok;
	}
	return atomic_compare_exchange_strong_explicit(p, expected, desired,
	    memory_order_acq_rel, memory_order_acquire);
}

/* What it was. */
static XTC__ALWAYS_INLINE uintptr_t
xtc__rmw_swap_ptr(_Atomic uintptr_t *p, uintptr_t desired)
{
	uintptr_t seen;

	if (!XTC__RMW_ALONE())
		return atomic_exchange_explicit(p, desired,
		    memory_order_acq_rel);
	/* (xchg locks the bus whether asked to or not) */
	seen = atomic_load_explicit(p, memory_order_relaxed);
	while (!xtc__rmw_cas_ptr(p, &seen, desired))
		continue;
	return seen;
}

#endif
