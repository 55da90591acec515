/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/* stack.c: many stacks in one mapping, with guards between them. */
#include "mem/stack.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#include "xtc_base.h"
#include "xtc_kinds.h"
#include "arch/san.h"
#include "base/assert.h"
#include "mem/mem.h"
#include "os/pages.h"

#define STACK_COLOURS	16u
#define STACK_COLOUR	128u

/* [guard][stack][guard][stack]... */
struct xtc__stack_slab {
	char *base;
	size_t page;
	size_t stride;
	unsigned n;
};

static _Atomic int stack_told;

const char *
xtc__stack_error_text(void)
{
	return "no more memory mappings for fiber stacks "
	    "(Linux: raise vm.max_map_count)";
}

int
xtc__stack_slab_create(size_t stack_bytes, unsigned n,
    struct xtc__stack_slab **out)
{
	size_t page = xtc__pages_size(), stride = stack_bytes + page;
	struct xtc__stack_slab *s;
	int r;

	XTC_ASSERT(stack_bytes % page == 0 && n > 0);
	if (stride > SIZE_MAX / n)
		return XTC_E_NOMEM;
	s = xtc__mem_raw_alloc(sizeof(*s), XTC_ALLOC_STACK);
	if (s == NULL)
		return XTC_E_NOMEM;
	s->base = xtc__pages_reserve(stride * n);
	s->page = page;
	s->stride = stride;
	s->n = n;
	r = s->base == NULL ? XTC_E_NOMEM :
	    xtc__pages_guard(s->base, stride, n);
	if (r != XTC_OK) {
		if (s->base != NULL)
			xtc__pages_release(s->base, stride * n);
		xtc__mem_raw_free(s);
		if (r == XTC_E_RESOURCE && atomic_exchange_explicit(
		    &stack_told, 1, memory_order_relaxed) == 0)
			fprintf(stderr, "libxtc: %s\n",
			    xtc__stack_error_text());
		return r;
	}
	xtc__san_mapped(s->base + page, stack_bytes, stride, n);
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
	char *stack = s->base + i * s->stride + s->page;
	char *end = stack + (s->stride - s->page);
	/* 128-byte aligned whatever the struct's size */
	size_t room = (struct_bytes + STACK_COLOUR - 1) / STACK_COLOUR *
	    STACK_COLOUR;
	char *at = end - room - i % STACK_COLOURS * STACK_COLOUR;

	XTC_DEBUG_ASSERT(i < s->n);
	*low = stack;
	*top = at;
	return at;
}
