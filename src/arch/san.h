/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * san.h: tells the sanitizers and valgrind about stacks and about switches
 * between them. Not an instruction in a build without sanitizers, but for
 * xtc__san_mapped, which is called once a slab.
 *
 * The promise: for each stack one record, and around each switch
 *
 *	xtc__san_leave(from, to, from_exits);
 *	carry = xtc__ctx_switch(&save_sp, to_sp, carry);
 *	xtc__san_enter(from);
 *
 * in one function, with nothing in between; a new fiber's entry begins with
 * xtc__san_enter(its own record). The functions, in life order:
 *
 *	mapped	n stacks of so many bytes, so far apart, have been mapped for
 *		good. (They lie close together: without this, valgrind takes
 *		a switch for a big frame.)
 *	reuse	memory that was a stack is about to be one, or something
 *		else, again
 *	init	a fiber is about to be made on this stack
 *	thread	fill in the record of the calling thread's own stack: before
 *		its first switch away, and again whenever another thread
 *		takes the record over
 *	leave, enter	as above
 *	fini	the fiber has exited; on another stack, before the next init
 *
 * The hard parts, which shape this file:
 * - ThreadSanitizer keeps a second call stack, and the compiler has each
 *   function push on entry and pop on return. Telling it of a switch in a
 *   function of its own would push on one fiber and pop on the other. So
 *   everything here is inlined into whoever switches, at -O0 too.
 * - That second stack of a fiber that has exited is not empty. So its
 *   context is destroyed (fini) and made anew (init) for the next fiber on
 *   the same memory.
 * - AddressSanitizer keeps frames of functions elsewhere, in a "fake stack",
 *   to catch their use after return. Leaving hands it over to asan_fake,
 *   entering gives it back; a fiber that exits passes NULL, which frees it.
 *   Finish must come after the switch, on the new stack.
 * - It needs the bounds of the stack it goes to. Those of a thread's own
 *   stack are only known to it: they are asked for by a switch to nowhere
 *   and back.
 * - The frames of an exited fiber stay poisoned: xtc__san_reuse.
 */
#ifndef XTC_ARCH_SAN_H
#define XTC_ARCH_SAN_H

#include <stddef.h>

#include "base/attr.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define XTC__SAN_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define XTC__SAN_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) && !defined(XTC__SAN_ASAN)
#define XTC__SAN_ASAN 1
#elif defined(__SANITIZE_THREAD__) && !defined(XTC__SAN_TSAN)
#define XTC__SAN_TSAN 1
#endif

#if defined(XTC__SAN_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#elif defined(XTC__SAN_TSAN)
#include <sanitizer/tsan_interface.h>
#endif
#if defined(__has_include)
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif
#endif

/* One a stack; belongs to whoever may switch to it. */
struct xtc__san {
	void *asan_fake;	/* while it does not run */
	const void *stack_low;
	size_t stack_bytes;
	void *tsan;
};

#if defined(XTC__SAN_ASAN)

static XTC__ALWAYS_INLINE void
xtc__san_reuse(void *low, size_t bytes)
{
	__asan_unpoison_memory_region(low, bytes);
}

static XTC__ALWAYS_INLINE void
xtc__san_init(struct xtc__san *me, const void *low, size_t bytes)
{
	me->asan_fake = NULL;
	me->stack_low = low;
	me->stack_bytes = bytes;
	me->tsan = NULL;
}

static XTC__ALWAYS_INLINE void
xtc__san_thread(struct xtc__san *me)
{
	static const char nowhere[16];

	__sanitizer_start_switch_fiber(&me->asan_fake, nowhere,
	    sizeof(nowhere));
	__sanitizer_finish_switch_fiber(me->asan_fake, &me->stack_low,
	    &me->stack_bytes);
	__sanitizer_start_switch_fiber(&me->asan_fake, me->stack_low,
	    me->stack_bytes);
	__sanitizer_finish_switch_fiber(me->asan_fake, NULL, NULL);
	me->tsan = NULL;
}

static XTC__ALWAYS_INLINE void
xtc__san_leave(struct xtc__san *from, const struct xtc__san *to,
    int from_exits)
{
	__sanitizer_start_switch_fiber(from_exits ? NULL : &from->asan_fake,
	    to->stack_low, to->stack_bytes);
}

static XTC__ALWAYS_INLINE void
xtc__san_enter(const struct xtc__san *me)
{
	__sanitizer_finish_switch_fiber(me->asan_fake, NULL, NULL);
}

static XTC__ALWAYS_INLINE void
xtc__san_fini(struct xtc__san *me)
{
	(void)me;
}

#elif defined(XTC__SAN_TSAN)

static XTC__ALWAYS_INLINE void
xtc__san_reuse(void *low, size_t bytes)
{
	(void)low;
	(void)bytes;
}

static XTC__ALWAYS_INLINE void
xtc__san_init(struct xtc__san *me, const void *low, size_t bytes)
{
	me->asan_fake = NULL;
	me->stack_low = low;
	me->stack_bytes = bytes;
	me->tsan = __tsan_create_fiber(0);
}

static XTC__ALWAYS_INLINE void
xtc__san_thread(struct xtc__san *me)
{
	me->tsan = __tsan_get_current_fiber();
}

/*
 * 0: what the one has done is seen by the other, which is true of fibers
 * that one thread runs one after the other.
 */
static XTC__ALWAYS_INLINE void
xtc__san_leave(struct xtc__san *from, const struct xtc__san *to,
    int from_exits)
{
	(void)from;
	(void)from_exits;
	__tsan_switch_to_fiber(to->tsan, 0);
}

static XTC__ALWAYS_INLINE void
xtc__san_enter(const struct xtc__san *me)
{
	(void)me;
}

static XTC__ALWAYS_INLINE void
xtc__san_fini(struct xtc__san *me)
{
	__tsan_destroy_fiber(me->tsan);
	me->tsan = NULL;
}

#else

static XTC__ALWAYS_INLINE void
xtc__san_reuse(void *low, size_t bytes)
{
	(void)low;
	(void)bytes;
}

static XTC__ALWAYS_INLINE void
xtc__san_init(struct xtc__san *me, const void *low, size_t bytes)
{
	(void)me;
	(void)low;
	(void)bytes;
}

static XTC__ALWAYS_INLINE void
xtc__san_thread(struct xtc__san *me)
{
	(void)me;
}

static XTC__ALWAYS_INLINE void
xtc__san_leave(struct xtc__san *from, const struct xtc__san *to,
    int from_exits)
{
	(void)from;
	(void)to;
	(void)from_exits;
}

static XTC__ALWAYS_INLINE void
xtc__san_enter(const struct xtc__san *me)
{
	(void)me;
}

static XTC__ALWAYS_INLINE void
xtc__san_fini(struct xtc__san *me)
{
	(void)me;
}

#endif

/* Valgrind complains of a system call that it does not know: not 0 there. */
#if defined(RUNNING_ON_VALGRIND)
#define XTC__SAN_VALGRIND()	RUNNING_ON_VALGRIND
#else
#define XTC__SAN_VALGRIND()	0
#endif

#if defined(VALGRIND_STACK_REGISTER)

static XTC__ALWAYS_INLINE void
xtc__san_mapped(void *low, size_t bytes, size_t stride_bytes, unsigned n)
{
	char *p = low;

	for (n = XTC__SAN_VALGRIND() ? n : 0; n > 0; n--) {
		(void)VALGRIND_STACK_REGISTER(p, p + bytes);
		p += stride_bytes;
	}
}

#else

static XTC__ALWAYS_INLINE void
xtc__san_mapped(void *low, size_t bytes, size_t stride_bytes, unsigned n)
{
	(void)low;
	(void)bytes;
	(void)stride_bytes;
	(void)n;
}

#endif

#endif
