/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * overflow.h: a fiber that overflows its stack hits the guard page; the
 * program then says whose stack it was before it dies. See overflow.c.
 */
#ifndef XTC_CORE_OVERFLOW_H
#define XTC_CORE_OVERFLOW_H

#include <stddef.h>

struct xtc_loop;

/* Bytes of the signal stack that a thread needs. */
size_t	xtc__overflow_stack_bytes(void);
/*
 * The calling thread begins, or ends, to run the loop. The handler is
 * installed by the first, unless the program has one of its own; a thread
 * that has a signal stack keeps it.
 */
void	xtc__overflow_enter(struct xtc_loop *);
void	xtc__overflow_leave(struct xtc_loop *);

#endif
