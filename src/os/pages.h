/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * pages.h: whole pages from the system, for fiber stacks.
 *
 * reserve maps zeroed pages, readable and writable, that take memory only
 * when touched, in small pages. guard makes one page each of n places, a
 * stride apart, inaccessible; where the system can it does so without
 * splitting the mapping. discard gives the memory of pages back; they read
 * as zero afterwards.
 */
#ifndef XTC_OS_PAGES_H
#define XTC_OS_PAGES_H

#include <stddef.h>

size_t	xtc__pages_size(void);
/* NULL: no memory or no address space. */
void	*xtc__pages_reserve(size_t bytes);
void	xtc__pages_release(void *p, size_t bytes);
/*
 * XTC_E_RESOURCE: the system's limit on mappings is reached (and some may be
 * guarded already). XTC_E_NOMEM.
 */
int	xtc__pages_guard(void *first, size_t stride, size_t n);
void	xtc__pages_discard(void *p, size_t bytes);

#endif
