/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * attr.h: what we tell the compiler beyond C11, each with a fallback that
 * means nothing.
 */
#ifndef XTC_BASE_ATTR_H
#define XTC_BASE_ATTR_H

#include <stdatomic.h>
#include <stddef.h>

#if defined(__GNUC__)
#define XTC__LIKELY(cond)	__builtin_expect(!!(cond), 1)
#define XTC__UNLIKELY(cond)	__builtin_expect(!!(cond), 0)
#define XTC__NOINLINE		__attribute__((__noinline__))
#define XTC__ALWAYS_INLINE	inline __attribute__((__always_inline__))
#define XTC__COLD		__attribute__((__noinline__, __cold__))
#define XTC__UNUSED		__attribute__((__unused__))
#define XTC__PREFETCH(p)	__builtin_prefetch(p)
#else
#define XTC__LIKELY(cond)	(cond)
#define XTC__UNLIKELY(cond)	(cond)
#define XTC__NOINLINE
#define XTC__ALWAYS_INLINE	inline
#define XTC__COLD
#define XTC__UNUSED
#define XTC__PREFETCH(p)	((void)(p))
#endif

/*
 * In a noinline function: keeps the compiler from working out that the
 * function has no side effects and from calling it once instead of twice.
 */
#define XTC__COMPILER_BARRIER()	atomic_signal_fence(memory_order_seq_cst)

/* Keeps fields of different writers apart (two lines: they come in pairs). */
#define XTC__CACHE_LINE		64
#define XTC__CACHE_PAIR		128

/* The struct of the given type whose member ptr points to. */
#define XTC__CONTAINER_OF(ptr, type, member) \
	((type *)(void *)((char *)(ptr) - offsetof(type, member)))

#endif
