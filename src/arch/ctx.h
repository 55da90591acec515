/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * ctx.h: the context switch: the CPU leaves one stack and goes on with
 * another. Nothing else; who runs next is the business of core.
 *
 * A context at rest is one pointer, its stack pointer: everything else lies
 * on its stack. What is kept across a switch is what the platform's calling
 * convention lets a function count on across a call:
 *
 *	x86-64	rbx, rbp, r12 to r15, rsp; the control bits of MXCSR and the
 *		x87 control word
 *	aarch64	x19 to x30, sp; d8 to d15; FPCR
 *	generic	what swapcontext(3) keeps, the signal mask among it
 *
 * So the rounding mode belongs to the fiber, and the floating-point status
 * flags ("inexact") belong to nobody: they may change across a switch. A new
 * context starts with the control state of whoever made it.
 *
 * Each directory below holds one implementation; the build takes the one of
 * the CPU. All of them must:
 * - keep what is listed, and pass the carry (in a register);
 * - call entry with the stack aligned as the convention asks, such that
 *   unwinding, by tables or by frame pointers, ends at entry's caller;
 * - be correct for any mixture of call sites, threads and stacks.
 *
 * Speed: best where the context that is left and the one that goes on went
 * through the same call of xtc__ctx_switch; so there should be one, in one
 * function that is not inlined. Then the CPU foretells the return from it,
 * and all further returns where the two fibers are in the same functions.
 * (A jump instead of the return, as most such libraries have, puts the CPU's
 * return stack one off, and each function that the fiber then returns from
 * pays: measured, a yield between two fibers takes 20 ns instead of 3.5.)
 *
 * Shadow stacks are not switched, so the assembly does not announce itself
 * as compatible with them, and a program that holds it runs without.
 */
#ifndef XTC_ARCH_CTX_H
#define XTC_ARCH_CTX_H

#include <stddef.h>

/*
 * Leave: save the caller's context on its stack, its stack pointer in
 * *save_sp, and go on with to_sp, whose switch returns carry. Returns, when
 * somebody switches back to *save_sp, the carry of that switch. A saved
 * context is good for one switch to it, from any thread.
 */
void	*xtc__ctx_switch(void **save_sp, void *to_sp, void *carry);

/*
 * A new context on the stack of so many bytes that ends below stack_top: its
 * stack pointer. The first switch to it calls entry(carry, arg), which must
 * not return. The stack needs no special contents; only its uppermost bytes
 * are written (64 on x86-64, 176 on aarch64; generic: about 1 KiB).
 */
void	*xtc__ctx_make(void *stack_top, size_t stack_bytes,
	    void (*entry)(void *carry, void *arg), void *arg);

#endif
