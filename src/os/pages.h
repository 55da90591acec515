/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * pages.h: whole pages from the system, for fiber stacks.
 *
 * What a system must supply; posix/pages.c is the least that will do, and
 * linux/pages.c shows what a better one can:
 *
 * reserve	maps pages, readable and writable, that read as zero, cost
 *		memory only one by one as they are touched, and are not
 *		joined into huge pages. XTC_E_NOMEM: no memory or no
 *		address space; XTC_E_RESOURCE: no more mappings.
 * release	unmaps them; only for what failed half way.
 * guard	makes one page each at n places, a stride apart, such that
 *		touching it is a SIGSEGV. XTC_E_RESOURCE: the system's limit
 *		on mappings is reached; XTC_E_NOMEM. Some of them may be
 *		guarded then: release it all. A million guards should not
 *		make a million mappings, where the system has a way.
 * touch	may back one page each at n places with memory now, cheaper
 *		than faults would. Advice: nothing depends on it.
 * discard	gives the memory of pages back. They stay mapped and can be
 *		used at once; what they contain is undefined.
 * limit_text	what to tell an administrator about XTC_E_RESOURCE: which
 *		limit, by name.
 *
 * All addresses and sizes are whole pages. Safe from any thread.
 *
 * Failures on order (xtc__os_fault): "mmap", "guard-vector" and "guard"
 * (refused by the kernel, ENOMEM apart: the next way is tried), "mprotect".
 */
#ifndef XTC_OS_PAGES_H
#define XTC_OS_PAGES_H

#include <stddef.h>

size_t	xtc__pages_size(void);
int	xtc__pages_reserve(size_t bytes, void **out);
void	xtc__pages_release(void *p, size_t bytes);
int	xtc__pages_guard(void *first, size_t stride, size_t n);
void	xtc__pages_touch(void *first, size_t stride, size_t n);
void	xtc__pages_discard(void *p, size_t bytes);
const char *xtc__pages_limit_text(void);

#endif
