/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * stack.h: slabs of fiber stacks, each stack above a guard page. The pages
 * are never unmapped.
 */
#ifndef XTC_MEM_STACK_H
#define XTC_MEM_STACK_H

#include <stddef.h>

struct xtc__stack_slab;

/*
 * n stacks of so many bytes (whole pages). XTC_E_NOMEM; XTC_E_RESOURCE: the
 * map count has run out, which is also said once on stderr. Nothing stays
 * mapped then.
 */
int	xtc__stack_slab_create(size_t stack_bytes, unsigned n,
	    struct xtc__stack_slab **out);
unsigned xtc__stack_slab_count(const struct xtc__stack_slab *);
/*
 * The place of a fiber's struct on the i-th stack: in the top page, at an
 * offset that differs from stack to stack in steps of 128 bytes, so that
 * structs do not all fall on the same cache sets. The stack is what lies
 * below it: [*low, *top).
 */
void	*xtc__stack_struct_at(const struct xtc__stack_slab *, unsigned i,
	    size_t struct_bytes, void **low, void **top);
/* What to tell an administrator about XTC_E_RESOURCE. */
const char *xtc__stack_error_text(void);

#endif
