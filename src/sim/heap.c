/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * heap.c: the library's heap in the simulator. What is freed in a run stays
 * untouched, filled with a pattern, until the run is over: then nobody may
 * have written to it. (AddressSanitizer sees reads too, and at once: there it
 * is freed.)
 */
#include <stdlib.h>
#include <string.h>

#include "xtc_base.h"
#include "arch/san.h"
#include "sim/sim_impl.h"

#ifdef XTC__SAN_ASAN
#define HEAP_KEEPS	0
#else
#define HEAP_KEEPS	1
#endif

#define HEAP_PATTERN	0xdb

struct heap_head {
	size_t bytes;
	struct heap_head *next;		/* of those that were freed */
};

_Static_assert(sizeof(struct heap_head) % 16 == 0 || sizeof(size_t) < 8,
    "keeps the alignment");

static struct heap_head *heap_freed;
static int heap_is_set;

static void *
heap_alloc(size_t bytes)
{
	struct heap_head *h = malloc(sizeof(*h) + bytes);

	if (h == NULL)
		return NULL;
	h->bytes = bytes;
	h->next = NULL;
	return h + 1;
}

static void
heap_free(void *p)
{
	struct heap_head *h = p;

	if (p == NULL)
		return;
	h--;
	if (!HEAP_KEEPS) {
		free(h);
		return;
	}
	memset(p, HEAP_PATTERN, h->bytes);
	h->next = heap_freed;
	heap_freed = h;
}

static void *
heap_realloc(void *p, size_t bytes)
{
	struct heap_head *h = p;
	void *q = heap_alloc(bytes);

	if (q == NULL || p == NULL)
		return q;
	h--;
	memcpy(q, p, h->bytes < bytes ? h->bytes : bytes);
	heap_free(p);
	return q;
}

void
xtc__sim_heap_begin(void)
{
	static const xtc_allocator_t a = { sizeof(a), heap_alloc,
	    heap_realloc, heap_free };

	if (heap_is_set)
		return;
	XTC_SIM_CHECK(xtc_set_allocator(&a) == XTC_OK, "the library was used "
	    "before the simulator");
	heap_is_set = 1;
}

/* Is it all pattern? If each byte is as the one before it, and the first. */
static int
heap_is_untouched(const struct heap_head *h)
{
	const unsigned char *p = (const unsigned char *)(h + 1);

	return h->bytes == 0 || (p[0] == HEAP_PATTERN &&
	    memcmp(p, p + 1, h->bytes - 1) == 0);
}

void
xtc__sim_heap_end(void)
{
	struct heap_head *h;

	while ((h = heap_freed) != NULL) {
		XTC_SIM_CHECK(heap_is_untouched(h), "somebody has written to "
		    "memory that was freed, %zu bytes of it", h->bytes);
		heap_freed = h->next;
		free(h);
	}
}
