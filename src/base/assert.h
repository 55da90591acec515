/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * assert.h: an invariant that does not hold ends the program at once, with
 * what, where and which fiber.
 *
 * Three tiers: XTC_ASSERT is in every build; XTC_DEBUG_ASSERT where XTC_DEBUG
 * is defined; XTC_COSTLY_ASSERT, which may walk a list, where XTC_COSTLY is.
 * A condition that is compiled out is not evaluated. XTC_FATAL is for what
 * needs a sentence of its own.
 */
#ifndef XTC_BASE_ASSERT_H
#define XTC_BASE_ASSERT_H

#include <stdatomic.h>
#include <stddef.h>

#include "base/attr.h"

#define XTC_ASSERT(cond) \
	(XTC__LIKELY(cond) ? (void)0 : \
	    xtc__assert_fail("assertion failed: " #cond, \
	    __FILE__, __LINE__, __func__))

#define XTC_FATAL(text) \
	xtc__assert_fail("" text, __FILE__, __LINE__, __func__)

#define XTC__ASSERT_OFF(cond)	((void)sizeof(!(cond)))

#ifdef XTC_DEBUG
#define XTC_DEBUG_ASSERT(cond)	XTC_ASSERT(cond)
#else
#define XTC_DEBUG_ASSERT(cond)	XTC__ASSERT_OFF(cond)
#endif

#ifdef XTC_COSTLY
#define XTC_COSTLY_ASSERT(cond)	XTC_ASSERT(cond)
#else
#define XTC_COSTLY_ASSERT(cond)	XTC__ASSERT_OFF(cond)
#endif

/*
 * Writes one line about who is running (the fiber, the loop) into buf, with
 * its terminating 0; it may not allocate or lock.
 */
typedef void xtc__assert_context_fn(char *buf, size_t bytes);

/* Set by core; NULL: nobody knows. Called at most once a process. */
extern _Atomic(xtc__assert_context_fn *) xtc__assert_context;

_Noreturn XTC__COLD void xtc__assert_fail(const char *what, const char *file,
	    int line, const char *function);

#endif
