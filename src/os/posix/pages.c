/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/* pages.c (POSIX): guards by mprotect. */
#define _DEFAULT_SOURCE
#include "os/pages.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "xtc_base.h"
#include "os/os.h"

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
	    MAP_PRIVATE | MAP_ANON, -1, 0);
	return p == MAP_FAILED ? NULL : p;
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

	for (i = 0; i < n; i++, p += stride)
		if (xtc__os_fault("mprotect") != 0 ||
		    mprotect(p, page, PROT_NONE) != 0)
			return XTC_E_RESOURCE;
	return XTC_OK;
}

void
xtc__pages_discard(void *p, size_t bytes)
{
	/* what is advisory here may keep its contents */
	(void)posix_madvise(p, bytes, POSIX_MADV_DONTNEED);
}
