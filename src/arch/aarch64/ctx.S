/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * ctx.S: the switch for aarch64, AAPCS64; see ../ctx.h.
 *
 * A context at rest, from its stack pointer upwards, 176 bytes:
 *
 *	0 x19 to x28, 80 x29, 88 x30 (where it goes on), 96 d8 to d15,
 *	160 FPCR, 168 free
 *
 * FPCR is always stored, and loaded only if it differs from the one in
 * force: writing it drains the pipeline.
 *
 * "hint #34" is `bti c`, the mark of a place that may be called through a
 * pointer; the number, because assemblers know the name only when they are
 * told of a CPU that has it.
 */
#include "arch/asm.h"

/* void *xtc__ctx_switch(void **save_sp, void *to_sp, void *carry) */
func_begin xtc__ctx_switch
	hint	#34
	sub	sp, sp, #176
	.cfi_adjust_cfa_offset 176
	stp	x19, x20, [sp, #0]
	.cfi_rel_offset x19, 0
	.cfi_rel_offset x20, 8
	stp	x21, x22, [sp, #16]
	.cfi_rel_offset x21, 16
	.cfi_rel_offset x22, 24
	stp	x23, x24, [sp, #32]
	.cfi_rel_offset x23, 32
	.cfi_rel_offset x24, 40
	stp	x25, x26, [sp, #48]
	.cfi_rel_offset x25, 48
	.cfi_rel_offset x26, 56
	stp	x27, x28, [sp, #64]
	.cfi_rel_offset x27, 64
	.cfi_rel_offset x28, 72
	stp	x29, x30, [sp, #80]
	.cfi_rel_offset x29, 80
	.cfi_rel_offset x30, 88
	stp	d8, d9, [sp, #96]
	stp	d10, d11, [sp, #112]
	stp	d12, d13, [sp, #128]
	stp	d14, d15, [sp, #144]
	mrs	x9, fpcr
	str	x9, [sp, #160]
	mov	x11, sp
	str	x11, [x0]

	ldr	x10, [x1, #160]
	cmp	x9, x10
	b.ne	2f
1:
	.cfi_remember_state
	ldp	d8, d9, [x1, #96]
	ldp	d10, d11, [x1, #112]
	ldp	d12, d13, [x1, #128]
	ldp	d14, d15, [x1, #144]
	ldp	x19, x20, [x1, #0]
	ldp	x21, x22, [x1, #16]
	ldp	x23, x24, [x1, #32]
	ldp	x25, x26, [x1, #48]
	ldp	x27, x28, [x1, #64]
	ldp	x29, x30, [x1, #80]
	/* Up to here the unwinder sees the old stack, from here the new. */
	add	sp, x1, #176
	.cfi_adjust_cfa_offset -176
	.cfi_restore x19
	.cfi_restore x20
	.cfi_restore x21
	.cfi_restore x22
	.cfi_restore x23
	.cfi_restore x24
	.cfi_restore x25
	.cfi_restore x26
	.cfi_restore x27
	.cfi_restore x28
	.cfi_restore x29
	.cfi_restore x30
	mov	x0, x2
	ret

	.cfi_restore_state
2:	msr	fpcr, x10
	b	1b
func_end xtc__ctx_switch

/*
 * void *xtc__ctx_make(void *stack_top, size_t stack_bytes,
 *     void (*entry)(void *, void *), void *arg)
 */
func_begin xtc__ctx_make
	hint	#34
	and	x0, x0, #-16
	sub	x0, x0, #176
	stp	x2, x3, [x0, #0]
	stp	xzr, xzr, [x0, #16]
	stp	xzr, xzr, [x0, #32]
	stp	xzr, xzr, [x0, #48]
	stp	xzr, xzr, [x0, #64]
	address_of x9, xtc__ctx_start
	stp	xzr, x9, [x0, #80]
	stp	xzr, xzr, [x0, #96]
	stp	xzr, xzr, [x0, #112]
	stp	xzr, xzr, [x0, #128]
	stp	xzr, xzr, [x0, #144]
	mrs	x9, fpcr
	stp	x9, xzr, [x0, #160]
	ret
func_end xtc__ctx_make

/*
 * The outermost frame of a fiber: x29 is 0 here and the return address
 * undefined, so both ways of walking the stack end with this name. It comes
 * here by a return; the mark is for those who would jump.
 */
func_begin xtc__ctx_start
	.cfi_undefined x30
	hint	#34
	mov	x1, x20
	blr	x19
	brk	#1
func_end xtc__ctx_start

file_end
