/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * pages.c (POSIX): guards by mprotect. Each may cost a mapping; systems
 * differ in how many they allow.
 */
#define _DEFAULT_SOURCE
#define __EXTENSIONS__ 1
#include "os/pages.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "xtc_base.h"
#include "os/os.h"

/* Without it some systems set swap space aside for every stack. */
#if defined(MAP_NORESERVE)
#define PAGES_NORESERVE	MAP_NORESERVE
#else
#define PAGES_NORESERVE	0
#endif

/* Only there it is what it says; on FreeBSD it is memory that grows. */
#if defined(__OpenBSD__)
#define PAGES_STACK	MAP_STACK
#else
#define PAGES_STACK	0
#endif

size_t
xtc__pages_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

int
xtc__pages_reserve(size_t bytes, void **out)
{
	void *p;

	if (xtc__os_fault("mmap") != 0)
		return XTC_E_NOMEM;
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANON | PAGES_NORESERVE | PAGES_STACK, -1, 0);
	if (p == MAP_FAILED)
		return XTC_E_NOMEM;
	*out = p;
	return XTC_OK;
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

	for (i = 0; i < n; i++)
		if (xtc__os_fault("mprotect") != 0 ||
		    mprotect((char *)first + i * stride, page,
		    PROT_NONE) != 0)
			return XTC_E_RESOURCE;
	return XTC_OK;
}

void
xtc__pages_touch(void *first, size_t stride, size_t n)
{
	(void)first;
	(void)stride;
	(void)n;
}

#if defined(MADV_FREE)

void
xtc__pages_discard(void *p, size_t bytes)
{
	(void)madvise(p, bytes, MADV_FREE);
}

#else

void
xtc__pages_discard(void *p, size_t bytes)
{
	(void)posix_madvise(p, bytes, POSIX_MADV_DONTNEED);
}

#endif

const char *
xtc__pages_limit_text(void)
{
	return "no more memory mappings for fiber stacks, each of which takes "
	    "two: raise the system's limit (vm.max_map_count or its like)";
}
