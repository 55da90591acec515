/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * As much of <sys/event.h> of the BSDs as the library uses, written from
 * kqueue(2). kqueue.c beside it does what this declares.
 */
#ifndef STUB_SYS_EVENT_H
#define STUB_SYS_EVENT_H

#include <stdint.h>
#include <time.h>

#define EVFILT_READ (-1)
#define EVFILT_WRITE (-2)

#define EV_ADD 0x0001
#define EV_DELETE 0x0002
#define EV_ONESHOT 0x0010
#define EV_CLEAR 0x0020
#define EV_EOF 0x8000

#define NOTE_LOWAT 0x0001

struct kevent {
	uintptr_t ident;
	short filter;
	unsigned short flags;
	unsigned int fflags;
	int64_t data;
	void *udata;
};

#define EV_SET(kevp, a, b, c, d, e, f) do { \
	struct kevent *kevp_ = (kevp); \
	kevp_->ident = (a); \
	kevp_->filter = (short)(b); \
	kevp_->flags = (unsigned short)(c); \
	kevp_->fflags = (unsigned int)(d); \
	kevp_->data = (e); \
	kevp_->udata = (f); \
} while (0)

int kqueue(void);
int kevent(int kq, const struct kevent *changes, int n_changes,
    struct kevent *events, int n_events, const struct timespec *timeout);

#endif
