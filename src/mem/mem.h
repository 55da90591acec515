/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * mem.h: where the library's memory comes from, and what stands before a
 * block that the public family (xtc_malloc, messages) has given out.
 */
#ifndef XTC_MEM_MEM_H
#define XTC_MEM_MEM_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "xtc_base.h"
#include "xtc_kinds.h"
#include "base/attr.h"

/*
 * The library's own memory, without a header, 16-byte aligned, not cleared.
 * where: enum xtc_alloc_where, what the failure would be called. NULL: there
 * is none, and the alloc-fail probe has told.
 */
void	*xtc__mem_raw_alloc(size_t bytes, int where);
/* The same, cleared. */
void	*xtc__mem_raw_zalloc(size_t bytes, int where);
/* As realloc(3). p may be NULL. */
void	*xtc__mem_raw_realloc(void *p, size_t bytes, int where);
/* Takes what the three above gave; NULL too. */
void	xtc__mem_raw_free(void *p);

/*
 * The one place that an allocation failed, of whatever kind: the site of the
 * alloc-fail probe. The functions above have called it when they return NULL.
 */
void	xtc__mem_failed(size_t bytes, int where);

/*
 * For tests. n > 0: the n-th allocation from now fails, and, if `repeat`,
 * every n-th after it; n == 0: none does. Returns how many have failed by
 * the setting before, so that a test knows when it has failed them all.
 */
uint64_t xtc__mem_fail_nth(uint64_t n, int repeat);

#define XTC__MEM_USED		1u	/* something was allocated */
#define XTC__MEM_INJECT		2u	/* a test wants failures */
extern _Atomic unsigned xtc__mem_state;

/* 1 if this allocation has to fail. */
int	xtc__mem_first_or_injected(void);

/*
 * Every allocator of the library asks this before each attempt, those that
 * map pages too: 1 if the attempt has to fail. One load.
 */
static inline int
xtc__mem_inject(void)
{
	/* relaxed: a test sets it while nobody allocates, and a late look at
	 * USED only means setting it once more */
	if (XTC__LIKELY(atomic_load_explicit(&xtc__mem_state,
	    memory_order_relaxed) == XTC__MEM_USED))
		return 0;
	return xtc__mem_first_or_injected();
}

/*
 * The 16 bytes before a block of the public family. The header of a message
 * (struct xtc__env) has its last four bytes in the same places, so xtc_free()
 * can tell which it is, and a magic number that is none of these tells that
 * it is neither, or was freed already.
 */
struct xtc__mem_head {
	union {
		void *base;		/* ALIGNED: what was allocated */
		uint64_t width;		/* 8 bytes everywhere */
	} u;
	uint32_t unused;
	uint8_t unused2[2];
	uint16_t magic;
};

#define XTC__MEM_HEAD_BYTES	16u
#define XTC__MAGIC_HEAP		0xa11cu
#define XTC__MAGIC_ALIGNED	0xa716u
#define XTC__MAGIC_ENV		0xe27eu
#define XTC__MAGIC_FREE		0xdeadu

_Static_assert(sizeof(struct xtc__mem_head) == XTC__MEM_HEAD_BYTES,
    "the payload is 16-byte aligned");

/* A block came back that is not ours to take: says why, and aborts. */
_Noreturn void xtc__mem_bad_free(unsigned magic);

#endif
