/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * stack.c: many fiber stacks in one mapping, with guards between them.
 *
 * A slab, upwards:
 *
 *	[guard][stack 0][guard][stack 1] ... [guard][stack n - 1]
 *
 * and the top page of a stack:
 *
 *	first frames <- top | struct of the fiber | 0 to 15 times 128 bytes
 *
 * The promise: a parked fiber costs one page, its frames and its struct
 * together; and 1,000,000 of them are possible (how guards can be had for
 * that is told in os/linux/pages.c).
 *
 * The last part of the page is the colour. Pages begin at the same cache
 * sets, so a loop that goes over its fibers would find all their structs in
 * a few sets: 1,000 of them cost 43 ns a visit where sixteen colours cost 9.
 * Neighbours have different colours, and slabs begin with different ones.
 *
 * Stack 0 never has the colour 0 first: the slab's own description lies in
 * the 128 bytes above its struct. So a slab is one mapping and nothing else,
 * and it comes into being or fails as a whole.
 *
 * A mapping is only undone when it could not be guarded: before anybody has
 * seen it.
 */
#include "mem/stack.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#include "xtc_base.h"
#include "arch/san.h"
#include "base/assert.h"
#include "base/attr.h"
#include "base/bits.h"
#include "mem/mem.h"
#include "os/pages.h"

#define STACK_COLOURS	16u
#define STACK_COLOUR	XTC__CACHE_PAIR

/* Written once, before it is handed out. */
struct xtc__stack_slab {
	char *base;
	size_t page;
	size_t stride;		/* guard and stack */
	unsigned n;
	unsigned colour;	/* of stack 0: 1 to 15 */
};

_Static_assert(sizeof(struct xtc__stack_slab) <= STACK_COLOUR,
    "the description fits above the first struct");
_Static_assert(XTC__STACK_STRUCT_MAX + (STACK_COLOURS - 1) * STACK_COLOUR +
    1024 <= 4096, "the first frames fit into the smallest page there is");

static _Atomic int stack_told;

const char *
xtc__stack_error_text(void)
{
	return xtc__pages_limit_text();
}

/* Once. Not by printf, which on stderr takes 8 KiB of the caller's stack. */
static XTC__COLD void
stack_tell(void)
{
	/* Relaxed: the flag guards nothing but itself. */
	if (atomic_exchange_explicit(&stack_told, 1, memory_order_relaxed))
		return;
	(void)fputs("libxtc: ", stderr);
	(void)fputs(xtc__stack_error_text(), stderr);
	(void)fputs("\n", stderr);
}

static XTC__COLD int
stack_undo(char *base, size_t bytes, int error)
{
	if (base != NULL)
		xtc__pages_release(base, bytes);
	if (error == XTC_E_RESOURCE)
		stack_tell();
	return error;
}

/* The first byte above the i-th stack. */
static char *
stack_end(const struct xtc__stack_slab *s, unsigned i)
{
	return s->base + (i + 1) * s->stride;
}

int
xtc__stack_slab_create(size_t stack_bytes, unsigned n,
    struct xtc__stack_slab **out)
{
	struct xtc__stack_slab slab, *s;
	size_t bytes;
	void *base;
	int r;

	XTC_ASSERT(stack_bytes > 0 && n > 0);
	slab.page = xtc__pages_size();
	if (xtc__mem_inject() || stack_bytes > SIZE_MAX - 2 * slab.page)
		return XTC_E_NOMEM;
	slab.stride = xtc__bits_round_up(stack_bytes, slab.page) + slab.page;
	slab.n = n;
	if (xtc__bits_mul(slab.stride, n, &bytes) != 0)
		return XTC_E_NOMEM;
	r = xtc__pages_reserve(bytes, &base);
	if (r != XTC_OK)
		return stack_undo(NULL, 0, r);
	r = xtc__pages_guard(base, slab.stride, n);
	if (r != XTC_OK)
		return stack_undo(base, bytes, r);
	slab.base = base;
	slab.colour = (unsigned)((uintptr_t)base / slab.page %
	    (STACK_COLOURS - 1)) + 1;
	xtc__san_mapped(slab.base + slab.page, slab.stride - slab.page,
	    slab.stride, n);
	s = (void *)(stack_end(&slab, 0) - STACK_COLOUR);
	*s = slab;
	*out = s;
	return XTC_OK;
}

unsigned
xtc__stack_slab_count(const struct xtc__stack_slab *s)
{
	return s->n;
}

void *
xtc__stack_struct_at(const struct xtc__stack_slab *s, unsigned i,
    size_t struct_bytes, void **low, void **top)
{
	size_t room = xtc__bits_round_up(struct_bytes, STACK_COLOUR);
	size_t colour = (s->colour + i) % STACK_COLOURS * STACK_COLOUR;
	char *at = stack_end(s, i) - colour - room;

	XTC_ASSERT(i < s->n);
	XTC_ASSERT(struct_bytes <= XTC__STACK_STRUCT_MAX);
	*low = s->base + i * s->stride + s->page;
	*top = at;
	return at;
}

void
xtc__stack_warm(const struct xtc__stack_slab *s, unsigned first, unsigned n)
{
	XTC_ASSERT(first <= s->n && n <= s->n - first);
	xtc__pages_touch(stack_end(s, first) - s->page, s->stride, n);
}

void
xtc__stack_discard(void *low, void *top)
{
	size_t bytes = (size_t)((char *)top - (char *)low);
	size_t page = xtc__pages_size();

	XTC_ASSERT((uintptr_t)low % page == 0 && top > low);
	/* The page that top lies in is the struct's. */
	bytes -= bytes % page;
	if (bytes > 0)
		xtc__pages_discard(low, bytes);
}
