/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * deque.h: the fibers of a loop that others may steal: a bounded ring.
 * The theory is on top of deque.c.
 */
#ifndef XTC_CORE_DEQUE_H
#define XTC_CORE_DEQUE_H

#include <stdatomic.h>
#include <stdint.h>

struct xtc_task;

#define XTC__DEQUE_CAP	256u	/* at most; a power of two */

/* (o) written by the owner; (a) anybody */
struct xtc__deque {
	_Alignas(64) _Atomic uint32_t head;	/* (a) next to be taken */
	_Alignas(64) _Atomic uint32_t tail;	/* (o) next free place */
	uint32_t cap;				/* set once */
	_Atomic(struct xtc_task *) ring[XTC__DEQUE_CAP];	/* (o) */
};

void	xtc__deque_init(struct xtc__deque *, uint32_t cap);
/* Owner. 0: full, and nothing is done. */
int	xtc__deque_push(struct xtc__deque *, struct xtc_task *);
/* Owner: the oldest, or NULL. */
struct xtc_task *xtc__deque_pop(struct xtc__deque *);
/*
 * The owner of `to`, which is empty, takes half of `from`, rounded up: how
 * many it got.
 */
unsigned xtc__deque_steal(struct xtc__deque *from, struct xtc__deque *to);
/* Anybody: a guess. */
unsigned xtc__deque_len(struct xtc__deque *);

#endif
