/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * pages.c (Linux): guards by MADV_GUARD_INSTALL (6.13), which marks the page
 * table and leaves the mapping in one piece; by mprotect where the kernel
 * refuses it, which splits the mapping and so is bounded by
 * vm.max_map_count.
 */
#define _GNU_SOURCE
#include "os/pages.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "xtc_base.h"
#include "os/os.h"

#define PAGES_GUARD_INSTALL	102

/* 1 once the kernel has refused it; then it is not asked again. */
static _Atomic int pages_no_guard;

size_t
xtc__pages_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

void *
xtc__pages_reserve(size_t bytes)
{
	void *p;

	if (xtc__os_fault("mmap") != 0)
		return NULL;
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	/* one page a parked fiber is the promise; a kernel without huge
	 * pages refuses this, and that is as good */
	(void)madvise(p, bytes, MADV_NOHUGEPAGE);
	return p;
}

void
xtc__pages_release(void *p, size_t bytes)
{
	(void)munmap(p, bytes);
}

int
xtc__pages_guard(void *first, size_t stride, size_t n)
{
	size_t i, page = xtc__pages_size();
	char *p = first;

	for (i = 0; i < n; i++, p += stride) {
		/* Relaxed: a hint; asking once more does no harm. */
		if (!atomic_load_explicit(&pages_no_guard,
		    memory_order_relaxed) && xtc__os_fault("guard") == 0) {
			if (madvise(p, page, PAGES_GUARD_INSTALL) == 0)
				continue;
			if (errno == ENOMEM)
				return XTC_E_NOMEM;
			atomic_store_explicit(&pages_no_guard, 1,
			    memory_order_relaxed);
		}
		if (xtc__os_fault("mprotect") != 0 ||
		    mprotect(p, page, PROT_NONE) != 0)
			return XTC_E_RESOURCE;
	}
	return XTC_OK;
}

void
xtc__pages_discard(void *p, size_t bytes)
{
	(void)madvise(p, bytes, MADV_DONTNEED);
}
