/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * pollbits_impl.h: our bits and those of poll(2), for the backends whose
 * system call speaks poll(2)'s.
 */
#ifndef XTC_POLL_POLLBITS_IMPL_H
#define XTC_POLL_POLLBITS_IMPL_H

#include <poll.h>
#include <stdint.h>

#include "poll/regs_impl.h"

/* Not in POSIX, but on most systems. */
#ifdef POLLRDHUP
#define XTC__POLLBITS_PEER_SHUT POLLRDHUP
#else
#define XTC__POLLBITS_PEER_SHUT 0
#endif

static inline int
xtc__pollbits_events(uint32_t want)
{
	int events = 0;

	if (want & XTC__POLL_READABLE)
		events |= POLLIN;
	if (want & XTC__POLL_WRITABLE)
		events |= POLLOUT;
	if (want & XTC__POLL_HUP)
		events |= XTC__POLLBITS_PEER_SHUT;
	return events;
}

static inline uint32_t
xtc__pollbits_reported(int revents)
{
	uint32_t reported = 0;

	if (revents & POLLIN)
		reported |= XTC__POLL_READABLE;
	if (revents & POLLOUT)
		reported |= XTC__POLL_WRITABLE;
	if (revents & POLLHUP)
		reported |= XTC__POLL_HUP;
	if (revents & POLLERR)
		reported |= XTC__POLL_ERR;
	if (revents & XTC__POLLBITS_PEER_SHUT)
		reported |= XTC__REGS_PEER_SHUT;
	return reported;
}

#endif
