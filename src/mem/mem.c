/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * mem.c: the way to the heap, and the public memory family on top of it.
 *
 * All heap memory of the library goes through mem_try() and mem_retry(), so
 * a test can make any allocation fail, and the alloc-fail probe misses none.
 */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "xtc_base.h"
#include "base/assert.h"
#include "base/bits.h"
#include "mem/env.h"
#include "mem/mem.h"
#include "mem/pool.h"
#include "trace/trace.h"

/* Larger alignments are somebody's error. */
#define MEM_ALIGN_MAX	((size_t)1 << 30)

_Atomic unsigned xtc__mem_state;

/* Written before the first allocation, read after it. */
static xtc_allocator_t mem_allocator = {
	sizeof(xtc_allocator_t), malloc, realloc, free
};

/* What a test asked for; set while nobody allocates. */
static struct {
	_Atomic uint64_t n;
	_Atomic int repeat;
	_Atomic uint64_t asked;		/* allocations since */
	_Atomic uint64_t failed;
} mem_inject;

XTC_PROBE_SITE_ATTR void
xtc__mem_failed(size_t bytes, int where)
{
	(void)bytes;
	(void)where;
	XTC_ALLOC_FAIL(bytes, where);
}
XTC_PROBE_SITE(xtc__mem_failed)

uint64_t
xtc__mem_fail_nth(uint64_t n, int repeat)
{
	uint64_t failed;

	/* relaxed, all of them: counters of a test, which makes its own order
	 * between this call and the allocations it is about */
	(void)atomic_fetch_and_explicit(&xtc__mem_state, ~XTC__MEM_INJECT,
	    memory_order_relaxed);
	failed = atomic_exchange_explicit(&mem_inject.failed, 0,
	    memory_order_relaxed);
	atomic_store_explicit(&mem_inject.n, n, memory_order_relaxed);
	atomic_store_explicit(&mem_inject.repeat, repeat, memory_order_relaxed);
	atomic_store_explicit(&mem_inject.asked, 0, memory_order_relaxed);
	if (n != 0)
		(void)atomic_fetch_or_explicit(&xtc__mem_state,
		    XTC__MEM_INJECT, memory_order_relaxed);
	return failed;
}

XTC__COLD int
xtc__mem_first_or_injected(void)
{
	uint64_t asked, n;

	/* relaxed: see xtc__mem_inject() and above */
	if (!(atomic_fetch_or_explicit(&xtc__mem_state, XTC__MEM_USED,
	    memory_order_relaxed) & XTC__MEM_INJECT))
		return 0;
	n = atomic_load_explicit(&mem_inject.n, memory_order_relaxed);
	asked = 1 + atomic_fetch_add_explicit(&mem_inject.asked, 1,
	    memory_order_relaxed);
	if (n == 0)
		return 0;
	if (atomic_load_explicit(&mem_inject.repeat, memory_order_relaxed)) {
		if (asked % n != 0)
			return 0;
	} else if (asked != n)
		return 0;
	(void)atomic_fetch_add_explicit(&mem_inject.failed, 1,
	    memory_order_relaxed);
	return 1;
}

static void *
mem_check_aligned(void *p)
{
	/* everything that is handed out promises it */
	XTC_ASSERT(((uintptr_t)p & 15) == 0);
	return p;
}

/*
 * 1 if an attempt need not be made: a test wants it so, or no object can be
 * that large (sanitizers end the program that asks for one).
 */
static inline int
mem_refused(size_t bytes)
{
	return xtc__mem_inject() || XTC__UNLIKELY(bytes > PTRDIFF_MAX);
}

static void *
mem_try(size_t bytes)
{
	if (mem_refused(bytes))
		return NULL;
	return mem_check_aligned(mem_allocator.malloc_fn(bytes));
}

static void *
mem_try_cleared(size_t bytes)
{
	void *p;

	if (mem_allocator.malloc_fn == malloc) {
		/* new pages from the system need no clearing */
		if (mem_refused(bytes))
			return NULL;
		return mem_check_aligned(calloc(1, bytes));
	}
	p = mem_try(bytes);
	if (p != NULL)
		memset(p, 0, bytes);
	return p;
}

static void *
mem_retry(void *p, size_t bytes)
{
	if (mem_refused(bytes))
		return NULL;
	return mem_check_aligned(mem_allocator.realloc_fn(p, bytes));
}

void *
xtc__mem_raw_alloc(size_t bytes, int where)
{
	void *p = mem_try(bytes);

	if (XTC__UNLIKELY(p == NULL))
		xtc__mem_failed(bytes, where);
	return p;
}

void *
xtc__mem_raw_zalloc(size_t bytes, int where)
{
	void *p = mem_try_cleared(bytes);

	if (XTC__UNLIKELY(p == NULL))
		xtc__mem_failed(bytes, where);
	return p;
}

void *
xtc__mem_raw_realloc(void *p, size_t bytes, int where)
{
	void *q = mem_retry(p, bytes);

	if (XTC__UNLIKELY(q == NULL))
		xtc__mem_failed(bytes, where);
	return q;
}

void
xtc__mem_raw_free(void *p)
{
	mem_allocator.free_fn(p);
}

/* From what was allocated to what the user sees. */
static void *
mem_give(struct xtc__mem_head *h, size_t bytes)
{
	if (XTC__UNLIKELY(h == NULL)) {
		xtc__mem_failed(bytes, XTC_ALLOC_HEAP);
		return NULL;
	}
	h->u.width = 0;
	h->unused = 0;
	h->unused2[0] = h->unused2[1] = 0;
	h->magic = XTC__MAGIC_HEAP;
	return h + 1;
}

void *
xtc_malloc(size_t bytes)
{
	size_t total;

	if (xtc__bits_add(bytes, XTC__MEM_HEAD_BYTES, &total) != 0)
		return mem_give(NULL, bytes);
	return mem_give(mem_try(total), bytes);
}

void *
xtc_calloc(size_t n, size_t bytes)
{
	size_t all, total;

	if (xtc__bits_mul(n, bytes, &all) != 0)
		return mem_give(NULL, SIZE_MAX);
	if (xtc__bits_add(all, XTC__MEM_HEAD_BYTES, &total) != 0)
		return mem_give(NULL, all);
	return mem_give(mem_try_cleared(total), all);
}

/* A message becomes a longer or shorter block. */
static void *
mem_realloc_env(struct xtc__env *e, size_t bytes)
{
	size_t old = e->bytes;
	void *p;

	if (e->pool != XTC__ENV_ON_HEAP && bytes <= xtc__env_room(e)) {
		xtc__env_resize(e, bytes);
		return xtc__env_payload(e);
	}
	p = xtc_malloc(bytes);
	if (p == NULL)
		return NULL;
	memcpy(p, xtc__env_payload(e), old < bytes ? old : bytes);
	xtc__env_put(xtc__mags_self(), e);
	return p;
}

void *
xtc_realloc(void *p, size_t bytes)
{
	struct xtc__mem_head *h;
	size_t total;

	if (p == NULL)
		return xtc_malloc(bytes);
	h = (struct xtc__mem_head *)p - 1;
	if (h->magic == XTC__MAGIC_ENV)
		return mem_realloc_env(xtc__env_of(p), bytes);
	if (XTC__UNLIKELY(h->magic != XTC__MAGIC_HEAP))
		xtc__mem_bad_free(h->magic);
	if (xtc__bits_add(bytes, XTC__MEM_HEAD_BYTES, &total) != 0)
		return mem_give(NULL, bytes);
	return mem_give(mem_retry(h, total), bytes);
}

void
xtc_free(void *p)
{
	struct xtc__mem_head *h;

	if (p == NULL)
		return;
	h = (struct xtc__mem_head *)p - 1;
	if (h->magic == XTC__MAGIC_ENV) {
		xtc__env_put(xtc__mags_self(), xtc__env_of(p));
		return;
	}
	if (XTC__UNLIKELY(h->magic != XTC__MAGIC_HEAP))
		xtc__mem_bad_free(h->magic);
	h->magic = XTC__MAGIC_FREE;
	mem_allocator.free_fn(h);
}

void *
xtc_aligned_alloc(size_t align, size_t bytes)
{
	struct xtc__mem_head *h;
	size_t total;
	char *base;

	if (!xtc__bits_is_pow2(align) || align > MEM_ALIGN_MAX)
		return NULL;
	if (align < XTC__MEM_HEAD_BYTES)
		align = XTC__MEM_HEAD_BYTES;
	/* the base is 16-byte aligned, so a header always fits before */
	if (xtc__bits_add(bytes, align, &total) != 0)
		return mem_give(NULL, bytes);
	base = mem_try(total);
	if (base == NULL)
		return mem_give(NULL, bytes);
	h = (struct xtc__mem_head *)(void *)(base +
	    (align - ((uintptr_t)base & (align - 1)))) - 1;
	(void)mem_give(h, bytes);
	h->u.base = base;
	h->magic = XTC__MAGIC_ALIGNED;
	return h + 1;
}

void
xtc_aligned_free(void *p)
{
	struct xtc__mem_head *h;

	if (p == NULL)
		return;
	h = (struct xtc__mem_head *)p - 1;
	if (XTC__UNLIKELY(h->magic != XTC__MAGIC_ALIGNED))
		xtc__mem_bad_free(h->magic);
	h->magic = XTC__MAGIC_FREE;
	mem_allocator.free_fn(h->u.base);
}

_Noreturn XTC__COLD void
xtc__mem_bad_free(unsigned magic)
{
	switch (magic) {
	case XTC__MAGIC_FREE:
		XTC_FATAL("this memory was freed already");
	case XTC__MAGIC_ALIGNED:
		XTC_FATAL("xtc_aligned_alloc() memory goes back with "
		    "xtc_aligned_free()");
	case XTC__MAGIC_HEAP:
	case XTC__MAGIC_ENV:
		XTC_FATAL("xtc_aligned_free() got memory of xtc_malloc() "
		    "or a message");
	default:
		XTC_FATAL("freed what libxtc never gave out, or the bytes "
		    "before it were overwritten");
	}
}

int
xtc_set_allocator(const xtc_allocator_t *a)
{
	if (a == NULL || (a->size != 0 && a->size != sizeof(*a)) ||
	    a->malloc_fn == NULL || a->realloc_fn == NULL ||
	    a->free_fn == NULL)
		return XTC_E_INVAL;
	/* relaxed: called before any other thread uses the library */
	if (atomic_load_explicit(&xtc__mem_state, memory_order_relaxed) &
	    XTC__MEM_USED)
		return XTC_E_INVAL;
	mem_allocator = *a;
	return XTC_OK;
}
