/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * ctx.S: the switch for x86-64, System V calling convention; see ../ctx.h.
 *
 * A context at rest, from its stack pointer upwards, one cache line:
 *
 *	0 MXCSR, 4 x87 control word, 8 r15, 16 r14, 24 r13, 32 r12, 40 rbx,
 *	48 rbp, 56 return address
 *
 * The control words are always stored, and loaded only if they differ from
 * the ones in force, which is rare: a load costs as much as all the rest.
 * The lower six bits of MXCSR are status, which a call may change; they do
 * not count.
 *
 * There are two ways out. If the context left through the same call as the
 * one that is being left, a return: the CPU foretells it right, and its
 * return stack stays in step with ours. Otherwise a return would be foretold
 * wrong, and a jump is not. (notrack: the place after a call has no mark for
 * those who check where jumps lead.)
 */
#include "arch/asm.h"

/* void *xtc__ctx_switch(void **save_sp, void *to_sp, void *carry) */
func_begin xtc__ctx_switch
	endbr64
	leaq	-56(%rsp), %rsp
	.cfi_adjust_cfa_offset 56
	stmxcsr	(%rsp)
	fnstcw	4(%rsp)
	movq	%r15, 8(%rsp)
	.cfi_rel_offset %r15, 8
	movq	%r14, 16(%rsp)
	.cfi_rel_offset %r14, 16
	movq	%r13, 24(%rsp)
	.cfi_rel_offset %r13, 24
	movq	%r12, 32(%rsp)
	.cfi_rel_offset %r12, 32
	movq	%rbx, 40(%rsp)
	.cfi_rel_offset %rbx, 40
	movq	%rbp, 48(%rsp)
	.cfi_rel_offset %rbp, 48
	movq	%rsp, (%rdi)
	movq	56(%rsp), %rdi

	movl	(%rsi), %eax
	xorl	(%rsp), %eax
	testl	$0xffffffc0, %eax
	jne	3f
1:	movzwl	4(%rsi), %eax
	cmpw	4(%rsp), %ax
	jne	4f
2:
	.cfi_remember_state
	movq	8(%rsi), %r15
	movq	16(%rsi), %r14
	movq	24(%rsi), %r13
	movq	32(%rsi), %r12
	movq	40(%rsi), %rbx
	movq	48(%rsi), %rbp
	movq	56(%rsi), %rcx
	/* Up to here the unwinder sees the old stack, from here the new. */
	leaq	56(%rsi), %rsp
	.cfi_adjust_cfa_offset -56
	.cfi_restore %r15
	.cfi_restore %r14
	.cfi_restore %r13
	.cfi_restore %r12
	.cfi_restore %rbx
	.cfi_restore %rbp
	movq	%rdx, %rax
	cmpq	%rcx, %rdi
	jne	5f
	ret

5:	leaq	8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	.cfi_register %rip, %rcx
	notrack jmp *%rcx

	.cfi_restore_state
3:	ldmxcsr	(%rsi)
	jmp	1b
4:	fldcw	4(%rsi)
	jmp	2b
func_end xtc__ctx_switch

/*
 * void *xtc__ctx_make(void *stack_top, size_t stack_bytes,
 *     void (*entry)(void *, void *), void *arg)
 */
func_begin xtc__ctx_make
	endbr64
	andq	$-16, %rdi
	leaq	-64(%rdi), %rax
	stmxcsr	(%rax)
	fnstcw	4(%rax)
	xorl	%esi, %esi
	movq	%rsi, 8(%rax)
	movq	%rsi, 16(%rax)
	movq	%rsi, 24(%rax)
	movq	%rcx, 32(%rax)
	movq	%rdx, 40(%rax)
	movq	%rsi, 48(%rax)
	address_of %rcx, xtc__ctx_start
	movq	%rcx, 56(%rax)
	ret
func_end xtc__ctx_make

/*
 * The outermost frame of a fiber: rbp is 0 here and the return address
 * undefined, so both ways of walking the stack end with this name. It is
 * called rather than jumped from, because walkers by frame pointer print
 * what they find above entry, and a name is better than 0.
 */
func_begin xtc__ctx_start
	.cfi_undefined %rip
	endbr64
	movq	%rax, %rdi
	movq	%r12, %rsi
	call	*%rbx
	ud2
func_end xtc__ctx_start

file_end
