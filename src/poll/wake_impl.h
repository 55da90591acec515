/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * wake_impl.h: the wakes of a poller by a pipe, for backends whose system has
 * no eventfd.
 */
#ifndef XTC_POLL_WAKE_IMPL_H
#define XTC_POLL_WAKE_IMPL_H

#include <stdatomic.h>
#include <stdint.h>

struct xtc__wake {
	int rfd;			/* readable: there are wakes */
	int wfd;
	_Atomic uint64_t overflow;	/* wakes that found the pipe full */
	_Atomic uint32_t inside;	/* callers busy with such a wake */
};

/* 0 or an errno, and nothing is open then. */
int xtc__wake_init(struct xtc__wake *w);
void xtc__wake_fini(struct xtc__wake *w);
/* As wake() of poll.h. */
void xtc__wake_send(struct xtc__wake *w);
/* The wakes that have come, each once. */
uint64_t xtc__wake_take(struct xtc__wake *w);

#endif
