/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * pages.c (Linux): pages for fiber stacks, with guards between them.
 *
 * The hard problem is the guard. mprotect cuts the mapping in two at each,
 * and a process may have 65,530 mappings (vm.max_map_count): 32,750 fibers.
 * Linux 6.13 can mark single pages of a mapping instead, in the page table,
 * and 6.15 takes the marks of many in one call. So three ways, in this order,
 * each for what the one before has left undone:
 *
 *	process_madvise on ourselves, MADV_GUARD_INSTALL, PAGES_VECTOR pages
 *		a call: 0.2 us a guard
 *	madvise, MADV_GUARD_INSTALL, a page a call: 0.3 us
 *	mprotect: 0.7 us, and the limit
 *
 * A kernel that does not know the marks refuses, as does one that is asked
 * to put them into locked memory. Emulators have been seen to say yes and do
 * nothing, so the first mark of a process is looked at.
 *
 * Mappings made one after the other lie side by side and the kernel joins
 * them, also those with a name. A million stacks: about 25 mappings.
 */
#define _GNU_SOURCE
#include "os/pages.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "xtc_base.h"
#include "arch/san.h"
#include "os/os.h"

/* Of the kernel's headers, which may be older than the kernel. */
#define PAGES_POPULATE_READ	22
#define PAGES_POPULATE_WRITE	23
#define PAGES_GUARD_INSTALL	102
#define PAGES_PIDFD_SELF	(-10001)
#define PAGES_SET_VMA		0x53564d41
#define PAGES_SET_VMA_NAME	0

#define PAGES_VECTOR		64u	/* 1 KiB of a fiber's stack */

size_t
xtc__pages_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

#if defined(SYS_process_madvise)

/* Like the system call: how many bytes were advised, or -1. */
static long
pages_advise_vector(const struct iovec *v, size_t n, int advice)
{
	static atomic_int unknown;
	long r;

	/* Relaxed: asking once more does no harm. */
	if (XTC__SAN_VALGRIND() ||
	    atomic_load_explicit(&unknown, memory_order_relaxed))
		return -1;
	r = syscall(SYS_process_madvise, PAGES_PIDFD_SELF, v, n, advice, 0u);
	if (r < 0 && errno == ENOSYS)
		atomic_store_explicit(&unknown, 1, memory_order_relaxed);
	return r;
}

#else

static long
pages_advise_vector(const struct iovec *v, size_t n, int advice)
{
	(void)v;
	(void)n;
	(void)advice;
	return -1;
}

#endif

/* One page each at n places, many a call: for how many it was done. */
static size_t
pages_advise_many(char *first, size_t stride, size_t n, int advice)
{
	struct iovec v[PAGES_VECTOR];
	size_t i, m, done = 0, page = xtc__pages_size();
	long bytes;

	while (done < n) {
		m = n - done < PAGES_VECTOR ? n - done : PAGES_VECTOR;
		for (i = 0; i < m; i++) {
			v[i].iov_base = first + (done + i) * stride;
			v[i].iov_len = page;
		}
		bytes = pages_advise_vector(v, m, advice);
		if (bytes < (long)page)
			break;
		done += (size_t)bytes / page;
	}
	return done;
}

/*
 * Was the limit on mappings why mmap failed? The errno is the same for want
 * of memory and of address space; but one more page without memory fails
 * for nothing else.
 */
static int
pages_mappings_used_up(void)
{
	size_t page = xtc__pages_size();
	void *p;

	p = mmap(NULL, page, PROT_NONE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return 1;
	(void)munmap(p, page);
	return 0;
}

int
xtc__pages_reserve(size_t bytes, void **out)
{
	void *p;

	if (xtc__os_fault("mmap") != 0)
		return XTC_E_NOMEM;
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	if (p == MAP_FAILED)
		return errno == ENOMEM && pages_mappings_used_up() ?
		    XTC_E_RESOURCE : XTC_E_NOMEM;
	/* One page a parked fiber is the promise; a kernel without huge
	 * pages refuses this, and that is as good. */
	(void)madvise(p, bytes, MADV_NOHUGEPAGE);
	/* For who reads /proc/PID/maps; not every kernel has it. */
	(void)prctl(PAGES_SET_VMA, PAGES_SET_VMA_NAME, p, bytes,
	    "xtc fiber stacks");
	*out = p;
	return XTC_OK;
}

void
xtc__pages_release(void *p, size_t bytes)
{
	(void)munmap(p, bytes);
}

/*
 * Is the mark there? Reading a marked page into memory is EFAULT; whoever
 * does not know that either has not made the mark.
 */
static int
pages_mark_is_real(void *p)
{
	static atomic_int known;	/* 1 yes, -1 no */
	int k;

	/* Relaxed: everybody who asks the kernel gets the same answer. */
	k = atomic_load_explicit(&known, memory_order_relaxed);
	if (k == 0) {
		k = madvise(p, xtc__pages_size(), PAGES_POPULATE_READ) != 0 &&
		    errno == EFAULT ? 1 : -1;
		atomic_store_explicit(&known, k, memory_order_relaxed);
	}
	return k > 0;
}

/* As many guards as there can be by marks; *why says why no more. */
static size_t
pages_mark(char *first, size_t stride, size_t n, int *why)
{
	size_t done = 0, page = xtc__pages_size();

	*why = 0;
	if (xtc__os_fault("guard-vector") == 0)
		done = pages_advise_many(first, stride, n,
		    PAGES_GUARD_INSTALL);
	for (; done < n; done++) {
		*why = xtc__os_fault("guard");
		if (*why == 0 && madvise(first + done * stride, page,
		    PAGES_GUARD_INSTALL) != 0)
			*why = errno;
		if (*why != 0)
			break;
	}
	return done > 0 && !pages_mark_is_real(first) ? 0 : done;
}

int
xtc__pages_guard(void *first, size_t stride, size_t n)
{
	size_t i, page = xtc__pages_size();
	int why;

	i = pages_mark(first, stride, n, &why);
	if (why == ENOMEM)
		return XTC_E_NOMEM;
	for (; i < n; i++)
		if (xtc__os_fault("mprotect") != 0 ||
		    mprotect((char *)first + i * stride, page,
		    PROT_NONE) != 0)
			return XTC_E_RESOURCE;
	return XTC_OK;
}

void
xtc__pages_touch(void *first, size_t stride, size_t n)
{
	(void)pages_advise_many(first, stride, n, PAGES_POPULATE_WRITE);
}

void
xtc__pages_discard(void *p, size_t bytes)
{
	(void)madvise(p, bytes, MADV_DONTNEED);
}

const char *
xtc__pages_limit_text(void)
{
	return "no more memory mappings for fiber stacks, each of which may "
	    "take two: raise vm.max_map_count (sysctl)";
}
