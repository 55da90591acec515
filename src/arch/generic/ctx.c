/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * ctx.c: the switch for CPUs without an own one, by swapcontext(3); see
 * ../ctx.h.
 *
 * Slow (two system calls, for the signal mask), but it is right wherever the
 * C library has it. A context at rest points to a record on its own stack,
 * in the frame of the switch that left, or, of one that has not run yet, at
 * the top of its stack.
 */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif

#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "arch/ctx.h"
#include "base/assert.h"

struct ctx_record {
	ucontext_t uc;
	void *carry;		/* written by whoever switches to it */
	void (*entry)(void *carry, void *arg);
	void *arg;
};

#define CTX_RECORD_ALIGN	64

void *
xtc__ctx_switch(void **save_sp, void *to_sp, void *carry)
{
	struct ctx_record here, *to = to_sp;

	to->carry = carry;
	*save_sp = &here;
	if (swapcontext(&here.uc, &to->uc) != 0)
		XTC_FATAL("swapcontext failed");
	return here.carry;
}

/* makecontext passes ints: the record's address comes in two halves. */
static void
ctx_begin(unsigned high, unsigned low)
{
	struct ctx_record *r;

	r = (void *)(uintptr_t)((uint64_t)high << 32 | low);
	r->entry(r->carry, r->arg);
	XTC_FATAL("a fiber's entry returned");
}

void *
xtc__ctx_make(void *stack_top, size_t stack_bytes,
    void (*entry)(void *carry, void *arg), void *arg)
{
	struct ctx_record *r;
	uintptr_t at = (uintptr_t)stack_top - sizeof(*r);
	uintptr_t low = (uintptr_t)stack_top - stack_bytes;

	at -= at % CTX_RECORD_ALIGN;
	XTC_ASSERT(stack_bytes > sizeof(*r) + CTX_RECORD_ALIGN);
	r = (void *)at;
	r->entry = entry;
	r->arg = arg;
	if (getcontext(&r->uc) != 0)
		XTC_FATAL("getcontext failed");
	r->uc.uc_stack.ss_sp = (void *)low;
	r->uc.uc_stack.ss_size = at - low;
	r->uc.uc_link = NULL;
	makecontext(&r->uc, (void (*)(void))ctx_begin, 2,
	    (unsigned)((uint64_t)at >> 32), (unsigned)at);
	return r;
}
