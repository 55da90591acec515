/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * asm.h: what differs between object formats, for the .S files.
 *
 *	func_begin NAME		a function of the library, not exported
 *	func_end NAME
 *	address_of REG, NAME	the address of one, in a register
 *	file_end		the last line of the file; announces what the
 *				file allows to be checked of its branches
 *				(on x86-64 not the shadow stack, see ctx.h)
 */
#if defined(__APPLE__)

.macro func_begin name
	.text
	.globl	_\name
	.private_extern _\name
	.p2align 6
_\name:
	.cfi_startproc
.endm

.macro func_end name
	.cfi_endproc
.endm

.macro address_of reg, name
#if defined(__aarch64__)
	adrp	\reg, _\name@PAGE
	add	\reg, \reg, _\name@PAGEOFF
#else
	leaq	_\name(%rip), \reg
#endif
.endm

.macro file_end
	.subsections_via_symbols
.endm

#else

/* NT_GNU_PROPERTY_TYPE_0 with one property, a set of features. */
.macro gnu_property kind, features
	.section .note.gnu.property, "a"
	.p2align 3
	.long	4, 16, 5
	.asciz	"GNU"
	.long	\kind, 4, \features, 0
.endm

.macro func_begin name
	.text
	.globl	\name
	.hidden	\name
	.type	\name, %function
	.p2align 6
\name:
	.cfi_startproc
.endm

.macro func_end name
	.cfi_endproc
	.size	\name, . - \name
.endm

.macro address_of reg, name
#if defined(__aarch64__)
	adr	\reg, \name
#else
	leaq	\name(%rip), \reg
#endif
.endm

.macro file_end
#if defined(__CET__) && (__CET__ & 1)
	gnu_property 0xc0000002, 1
#elif defined(__ARM_FEATURE_BTI_DEFAULT)
	gnu_property 0xc0000000, 1
#endif
	.section .note.GNU-stack, "", %progbits
.endm

#endif
